//! `blocks`: a source that sends a file's bytes and cannot be asked for them before: as an application
//! would. Its blocks count from 0, and may have times. It reads its file when it is opened.

use bevy_ecs::component::Component;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::pool::PoolConfig;
use tickpipe_systems::element::{
    Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work,
};
use tickpipe_systems::field;

/// Settings of `blocks`.
#[derive(Component, Clone, Debug)]
pub struct Blocks {
    location: String,
    size: u32,
    /// Nanoseconds from one block's time to the next; 0: they have none.
    step: i64,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks {
            location: String::new(),
            size: 100,
            step: 0,
        }
    }
}

impl Element for Blocks {
    const NAME: &'static str = "blocks";
    const SUMMARY: &'static str = "Sends the bytes of a file, as an application would";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            field!(Text, "location", "The file", location),
            field!(Int(1, 1 << 30), "size", "Bytes of a block", size),
            field!(
                Int(0, i64::MAX),
                "step",
                "Nanoseconds from one to the next",
                step
            ),
        ]
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let size = self.size as usize;
        Ok(Buffers::Own(PoolConfig { size, ..downstream }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let read = std::fs::read(&self.location);
        let read = read.map_err(|e| ElementError::new(Domain::Resource, Code::Read, e))?;
        let size = self.size as usize;
        Ok(Box::new(Sending {
            blocks: read.chunks(size).map(<[u8]>::to_vec).collect(),
            step: self.step,
            next: 0,
        }))
    }
}

struct Sending {
    blocks: Vec<Vec<u8>>,
    step: i64,
    next: usize,
}

impl Work for Sending {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            let Some(block) = self.blocks.get(self.next) else {
                process.finish();
                break;
            };
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            buffer.memory.as_mut_slice()[..block.len()].copy_from_slice(block);
            buffer.meta.len = block.len();
            buffer.meta.index = self.next as u64;
            if self.step > 0 {
                buffer.meta.pts = Some(self.step * self.next as i64);
            }
            self.next += 1;
            process.push(0, buffer);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("next", self.next as u64);
    }
}
