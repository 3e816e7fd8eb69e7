//! `filesrc`: the bytes of a file, in blocks, or read by position.
//!
//! Who can pull reads a regular file by position, unless blocks of a size or a number of them are asked
//! for. Everyone else is sent blocks.
//!
//! Regular files, pipes and devices alike; a pipe's first bytes are read once, for the caps of
//! what follows, and then handed on.
//!
//! `tickpipe launch 'filesrc location=a.y4m ! y4mdec ! fakesink'`

use super::errors::FileError;
use super::served::FileBytes;
use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Seeking, Work,
};
use bevy_ecs::component::Component;
use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{PropertyKind, PropertyValue};
use tickpipe_components::pull::{Bytes, Order};
use tickpipe_components::seek::{Answer, Query, Seek, SeekFormat};
use tickpipe_components::time::{Rate, Segment};

/// Bytes of a block unless set or asked for by what follows, as in GStreamer.
const BLOCK: u32 = 4096;

/// Settings of `filesrc`.
#[derive(Component, Clone, Debug)]
pub struct FileSrc {
    /// The file.
    pub location: String,
    /// Bytes of a block.
    pub blocksize: u32,
    /// Blocks to read; -1 for all.
    pub num_buffers: i32,
    /// Who can pull reads it by position.
    pub serve: bool,
    /// In which order requests of who pulls are done, and the seed if that is by one.
    pub request_order: Order,
    /// The seed.
    pub request_seed: u32,
    /// The file, while the element is not in READY.
    opened: Arc<Mutex<Option<Opened>>>,
}

impl Default for FileSrc {
    fn default() -> Self {
        FileSrc {
            location: String::new(),
            blocksize: BLOCK,
            num_buffers: -1,
            serve: true,
            request_order: Order::Asked,
            request_seed: 0,
            opened: Arc::default(),
        }
    }
}

/// An open file, and what was read of it in advance.
#[derive(Debug)]
struct Opened {
    file: File,
    head: Vec<u8>,
}

impl FileSrc {
    fn open_file(&self) -> Result<File, ElementError> {
        if self.location.is_empty() {
            return Err(FileError::NoLocation.into());
        }
        let open = |error| FileError::io("open", &self.location, error);
        let file = File::open(&self.location).map_err(open)?;
        if file.metadata().map_err(open)?.is_dir() {
            return Err(FileError::Folder(self.location.clone()).into());
        }
        Ok(file)
    }
}

impl Element for FileSrc {
    const NAME: &'static str = "filesrc";
    const SUMMARY: &'static str = "The bytes of a file";
    const KLASS: &'static str = "Source/File";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const READY_ONLY: &'static [&'static str] = &["location"];
    const IGNORED: &'static [&'static str] = &["do-timestamp", "name", "parent", "typefind"];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any()).pulls()]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(Text, "location", "The file to read", location),
            crate::field!(
                Int(1, u32::MAX as i64),
                "blocksize",
                "Bytes of a block; at its default, what follows may ask for larger ones",
                blocksize
            ),
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Blocks to read before the end; -1 for all",
                num_buffers
            ),
            crate::field!(
                Bool,
                "serve",
                "Whether who can pull reads it by position",
                serve
            ),
            Property::new(
                "request-order",
                "In which order requests of who pulls are done",
                PropertyKind::Choice(Order::CHOICES),
                |s: &FileSrc| PropertyValue::from(s.request_order.name()),
                |s, v| {
                    let orders = [Order::Asked, Order::Newest, Order::Shuffled(0)];
                    let named = |o: &Order| v == PropertyValue::from(o.name());
                    s.request_order = orders.into_iter().find(named).unwrap_or_default();
                },
            ),
            crate::field!(
                Int(0, u32::MAX as i64),
                "request-seed",
                "The seed of the order `shuffled`",
                request_seed
            ),
        ]
    }

    fn peek(&self, max: usize) -> Result<Option<Vec<u8>>, ElementError> {
        let read = |error| FileError::io("read", &self.location, error);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.as_mut() {
            let missing = max.saturating_sub(opened.head.len());
            let part = opened.file.by_ref().take(missing as u64);
            read_all(part, &mut opened.head).map_err(read)?;
            return Ok(Some(opened.head[..opened.head.len().min(max)].to_vec()));
        }
        let path = std::path::Path::new(&self.location);
        // Opening a pipe would wait for its writer, and reading it would take from the run.
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Err(FileError::NotRegular(self.location.clone()).into());
        }
        let mut head = Vec::new();
        read_all(self.open_file()?.take(max as u64), &mut head).map_err(read)?;
        Ok(Some(head))
    }

    fn serves(&self) -> bool {
        let whole = self.blocksize == BLOCK && self.num_buffers == -1;
        let regular = || std::fs::metadata(&self.location).is_ok_and(|m| m.is_file());
        self.serve && whole && regular()
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let size = match self.blocksize {
            BLOCK => downstream.size.max(BLOCK as usize),
            set => set as usize,
        };
        Ok(Buffers::Own(PoolConfig { size, ..downstream }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let file = self.open_file()?;
        // Held until READY, so that no `filesink` writes what is being read. Where locks are
        // not to be had there is only no protection.
        let _ = file.try_lock_shared();
        let regular = file.metadata().ok().filter(|m| m.is_file());
        let len = regular.map(|m| m.len());
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        *opened = Some(Opened {
            file,
            head: Vec::new(),
        });
        Ok(Box::new(Reading {
            opened: Arc::clone(&self.opened),
            location: self.location.clone(),
            left: u64::try_from(self.num_buffers).ok(),
            len,
            position: 0,
            head_used: 0,
            stop: None,
            failed: None,
            order: match self.request_order {
                Order::Shuffled(_) => Order::Shuffled(self.request_seed.into()),
                order => order,
            },
        }))
    }
}

fn read_all(mut from: impl Read, to: &mut Vec<u8>) -> std::io::Result<()> {
    from.read_to_end(to).map(drop)
}

struct Reading {
    opened: Arc<Mutex<Option<Opened>>>,
    location: String,
    left: Option<u64>,
    /// Bytes of a regular file when it was opened.
    len: Option<u64>,
    position: u64,
    head_used: usize,
    /// The first byte that a seek leaves out.
    stop: Option<u64>,
    /// Going elsewhere failed.
    failed: Option<std::io::Error>,
    /// In which order requests are done.
    order: Order,
}

impl Reading {
    /// Fills `block` as far as the file goes.
    fn fill(&mut self, block: &mut [u8]) -> Result<usize, ElementError> {
        if let Some(error) = self.failed.take() {
            return Err(FileError::io("seek", &self.location, error));
        }
        let left = self.stop.map(|stop| stop.saturating_sub(self.position));
        let most = left.map_or(block.len(), |left| block.len().min(left as usize));
        let block = &mut block[..most];
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = opened.as_mut() else {
            return Ok(0);
        };
        let head = &opened.head[self.head_used.min(opened.head.len())..];
        let mut filled = head.len().min(block.len());
        block[..filled].copy_from_slice(&head[..filled]);
        self.head_used += filled;
        while filled < block.len() {
            match opened.file.read(&mut block[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(FileError::io("read", &self.location, error)),
            }
        }
        Ok(filled)
    }

    /// Whether a regular file has no more. It is told with the last block, and needs none of its
    /// own; what a pipe has still is not known before it is read.
    fn at_end(&self) -> Result<bool, ElementError> {
        if self.len.is_none_or(|len| self.position < len) {
            return Ok(false);
        }
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = opened.as_ref() else {
            return Ok(true);
        };
        let metadata = opened.file.metadata();
        let metadata = metadata.map_err(|error| FileError::io("read", &self.location, error))?;
        Ok(metadata.is_file() && self.position >= metadata.len())
    }
}

impl Work for Reading {
    fn serve(&mut self) -> Result<Arc<dyn Bytes>, ElementError> {
        let not_whole = || FileError::NotSeekable {
            location: self.location.clone(),
        };
        let len = self.len.ok_or_else(not_whole)?;
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let file = opened.as_ref().map(|opened| opened.file.try_clone());
        let file = file.ok_or_else(not_whole)?;
        let file = file.map_err(|error| FileError::io("open", &self.location, error))?;
        Ok(Arc::new(FileBytes::new(file, len, self.order)))
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            if self.left == Some(0) {
                process.finish();
                break;
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            let read = match self.fill(buffer.memory.as_mut_slice()) {
                Ok(read) => read,
                Err(error) => {
                    process.discard(buffer);
                    return Err(error);
                }
            };
            if read == 0 {
                process.discard(buffer);
                process.finish();
                break;
            }
            buffer.meta.len = read;
            // Where it stands in the file: what was lost on the way is seen by that.
            buffer.meta.index = self.position;
            self.position += read as u64;
            self.left = self.left.map(|n| n - 1);
            process.push(0, buffer);
            if self.left == Some(0) || self.at_end()? {
                process.finish();
                break;
            }
        }
        Ok(())
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        // Where nothing was read yet, a pipe too is at its start.
        let begins = self.position == 0 && seek.start == 0 && seek.stop.is_none();
        if begins && seek.format == SeekFormat::Bytes && seek.rate == Rate::ONE {
            return Ok(Seeking::Here(Segment::default()));
        }
        let len = self.len.ok_or_else(|| FileError::NotSeekable {
            location: self.location.clone(),
        })?;
        if seek.format != SeekFormat::Bytes || seek.rate != Rate::ONE {
            return Err(FileError::BytesOnly.into());
        }
        if seek.start.unsigned_abs() > len {
            return Err(FileError::Beyond {
                location: self.location.clone(),
                byte: seek.start.unsigned_abs(),
                len,
            }
            .into());
        }
        Ok(Seeking::Here(Segment::default()))
    }

    fn seek(&mut self, seek: &Seek) {
        if self.position == 0 && seek.start == 0 && seek.stop.is_none() {
            return;
        }
        self.position = seek.start.unsigned_abs();
        self.stop = seek.stop.map(i64::unsigned_abs);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = opened.as_mut().map(|opened| {
            self.head_used = opened.head.len();
            opened.file.seek(SeekFrom::Start(self.position))
        });
        // Told when it is read.
        self.failed = moved.and_then(Result::err);
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        (*query == Query::Seeking).then_some(Answer::Seeking(self.len.is_some()))
    }

    fn close(&mut self) -> Result<(), ElementError> {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("position", self.position);
    }
}
