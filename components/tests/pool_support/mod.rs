//! A pool with a scripted owner, which notes what it is asked.

#![allow(dead_code)]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use tickpipe_components::fabric::BufferTable;
use tickpipe_components::id::{LaneId, PoolId};
use tickpipe_components::memory::Memory;
use tickpipe_components::pool::{Backing, Heap, NotExportable, PoolConfig, Refused};

/// A table with one pool on the heap, of which nothing is said yet.
pub fn pool() -> (BufferTable, PoolId) {
    let mut table = BufferTable::default();
    let id = table.add_pool(LaneId(1), Box::new(Heap));
    (table, id)
}

/// Size, alignment and number.
pub fn asked(size: usize, align: usize, count: u32) -> PoolConfig {
    PoolConfig {
        size,
        align,
        count,
        ..PoolConfig::default()
    }
}

/// What a scripted owner does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// Most buffers that it grants when it is asked for a run.
    pub clamp: Option<u32>,
    /// Most buffers that it makes, whatever it granted.
    pub makes: Option<u32>,
    /// The largest size that it does not refuse.
    pub refuse_above: Option<usize>,
    /// Bytes that each buffer is short of.
    pub short: usize,
    /// Buffers that it makes beyond what it should.
    pub beyond: u32,
    /// It wants to know of each buffer.
    pub follow: bool,
    /// Its memory is a file.
    pub exports: bool,
}

impl Script {
    /// What it says to a size that it does not take.
    pub fn refused(config: PoolConfig, script: Script) -> Refused {
        Refused::Value {
            what: "size",
            value: config.size as u64,
            min: 0,
            max: script.refuse_above.unwrap_or(0) as u64,
        }
    }
}

/// What a scripted owner was asked.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<(Vec<String>, usize)>>);

impl Seen {
    /// The calls.
    pub fn calls(&self) -> Vec<String> {
        self.0.lock().expect("no panic").0.clone()
    }

    /// How many buffers are out, as it was told.
    pub fn out(&self) -> usize {
        self.0.lock().expect("no panic").1
    }

    fn note(&self, call: String, out: isize) {
        let mut seen = self.0.lock().expect("no panic");
        seen.0.push(call);
        seen.1 = seen.1.checked_add_signed(out).expect("never below none");
    }
}

#[derive(Debug)]
struct Owner {
    script: Script,
    seen: Seen,
}

/// A scripted owner, and what it sees.
pub fn scripted(script: Script) -> (Box<dyn Backing>, Seen) {
    let seen = Seen::default();
    let owner = Owner {
        script,
        seen: seen.clone(),
    };
    (Box::new(owner), seen)
}

impl Owner {
    fn check(&self, config: PoolConfig) -> Result<(), Refused> {
        match self.script.refuse_above {
            Some(most) if config.size > most => Err(Script::refused(config, self.script)),
            _ => Ok(()),
        }
    }
}

impl Backing for Owner {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn configure(&mut self, asked: PoolConfig) -> Result<PoolConfig, Refused> {
        self.seen.note(format!("configure {}", asked.count), 0);
        self.check(asked)?;
        Ok(asked)
    }

    fn set_config(&mut self, wanted: PoolConfig) -> Result<PoolConfig, Refused> {
        self.seen.note(format!("set {}", wanted.count), 0);
        self.check(wanted)?;
        let count = self.script.clamp.unwrap_or(u32::MAX).min(wanted.count);
        Ok(PoolConfig { count, ..wanted })
    }

    fn start(&mut self, live: &PoolConfig) -> Result<Vec<Memory>, Refused> {
        self.seen.note(format!("start {}", live.count), 0);
        let count = self.script.makes.unwrap_or(u32::MAX).min(live.count);
        let size = live.size.saturating_sub(self.script.short);
        let made = (0..count + self.script.beyond)
            .map(|_| Memory::with_prefix(size, live.align, live.prefix));
        Ok(made.collect())
    }

    fn stop(&mut self) {
        self.seen.note("stop".to_owned(), 0);
    }

    fn follows_buffers(&self) -> bool {
        self.script.follow
    }

    fn acquire(&mut self, slot: u32) {
        self.seen.note(format!("acquire {slot}"), 1);
    }

    fn release(&mut self, slot: u32) {
        self.seen.note(format!("release {slot}"), -1);
    }

    fn export(&self, slot: u32) -> Result<OwnedFd, NotExportable> {
        let backing = self.name();
        if !self.script.exports || slot > 0 {
            return Err(NotExportable { backing });
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let file = File::open(file).map_err(|_| NotExportable { backing })?;
        Ok(file.into())
    }
}
