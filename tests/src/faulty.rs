//! A transform that misbehaves when it is told to, for tests of the element `remote`. It may end, block or
//! bloat its process.

use bevy_ecs::component::Component;
use std::fs::OpenOptions;
use thiserror::Error;
use tickpipe::systems::field;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_systems::element::{
    Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work,
};

/// Settings of `faulty`: inverts bytes of GRAY8 pictures, and does `deed` at the frames from `from` to `to`,
/// of which the last is not one.
#[derive(Component, Clone, Debug, Default)]
pub struct Faulty {
    from: u64,
    to: u64,
    deed: String,
    marker: String,
    at_caps: bool,
}

/// As it was told.
#[derive(Debug, Error)]
#[error("it fails at frame {0}, as it was told")]
struct ToldTo(u64);

impl Element for Faulty {
    const NAME: &'static str = "faulty";
    const SUMMARY: &'static str = "Misbehaves as it is told";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Wire;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        let caps: Caps = "video/x-raw,format=GRAY8".parse().expect("caps");
        vec![
            PadTemplate::sink("sink", caps.clone()),
            PadTemplate::source("src", caps),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            field!(Int(0, i64::MAX), "from", "The first frame", from),
            field!(Int(0, i64::MAX), "to", "The first frame that is none", to),
            field!(Text, "deed", "What it does", deed),
            field!(
                Text,
                "marker",
                "A file that it makes; once it is there it does nothing",
                marker
            ),
            field!(Bool, "at-caps", "It does it when caps are agreed", at_caps),
        ]
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let of = |name| {
            pads.source(0)
                .and_then(|s: &Structure| s.int(name))
                .unwrap_or(1)
        };
        let size = usize::try_from(of("width") * of("height")).unwrap_or(1);
        let own = PoolConfig {
            size,
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        if self.deed == "refuse" {
            return Err(ElementError::new(Domain::Resource, Code::Open, ToldTo(0)));
        }
        Ok(Box::new(Inverting {
            settings: self.clone(),
            seen: 0,
        }))
    }
}

struct Inverting {
    settings: Faulty,
    seen: u64,
}

impl Inverting {
    fn misbehave(&self, frame: u64) -> Result<(), ElementError> {
        let marker = &self.settings.marker;
        if !marker.is_empty() {
            let made = OpenOptions::new().write(true).create_new(true).open(marker);
            if made.is_err() {
                return Ok(());
            }
        }
        match self.settings.deed.as_str() {
            "exit" => std::process::exit(7),
            "abort" => std::process::abort(),
            "panic" => panic!("it panics at frame {frame}, as it was told"),
            "hang" => loop {
                std::thread::park();
            },
            "spin" => loop {
                std::hint::spin_loop();
            },
            "memory" => {
                let mut all: Vec<Vec<u8>> = Vec::new();
                loop {
                    all.push(vec![1; 16 << 20]);
                }
            }
            "talk" => {
                for n in 0..20_000 {
                    eprintln!("line {n} of many");
                }
                std::process::exit(9)
            }
            "orphan" => {
                // A process of its own that would outlive it, and that holds what it inherited.
                let _ = std::process::Command::new("sleep").arg("600").spawn();
                std::process::exit(8)
            }
            "error" => Err(ElementError::new(
                Domain::Stream,
                Code::Damaged,
                ToldTo(frame),
            )),
            _ => Ok(()),
        }
    }
}

impl Work for Inverting {
    fn set_caps(&mut self, _pads: &PadCapsOf) -> Result<(), ElementError> {
        match self.settings.at_caps {
            true => self.misbehave(0),
            false => Ok(()),
        }
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        loop {
            if process.end_is_next(0) {
                process.finish();
                return Ok(());
            }
            if process.room(0) == 0 || process.granted() == 0 {
                return Ok(());
            }
            let Some(buffer) = process.next(0).and_then(|i| i.as_buffer()) else {
                return Ok(());
            };
            let meta = *process.meta(buffer);
            let at = self.settings.from..self.settings.to;
            if at.contains(&meta.index) && !self.settings.at_caps {
                let fails = self.misbehave(meta.index);
                if fails.is_err() {
                    process.release(buffer);
                    return fails;
                }
            }
            self.seen += 1;
            let Some(mut granted) = process.acquire() else {
                process.release(buffer);
                return Ok(());
            };
            let from = process.bytes(buffer).to_vec();
            let to = granted.memory.as_mut_slice();
            for (to, from) in to.iter_mut().zip(&from) {
                *to = !from;
            }
            granted.meta = meta;
            process.push(0, granted);
            process.release(buffer);
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("seen", self.seen);
    }
}
