//! What an element pulls: blocks of what was granted, in order, as if they were sent. It asks for some
//! ahead; in whatever order those are done, the element sees the same.

use crate::element::PadCapsOf;
use std::sync::Arc;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pull::{
    Available, BLOCK, BLOCKS, Block, Bytes, PullError, Reader, Step, Worker,
};

/// What is there to be read.
#[derive(Debug)]
pub(super) enum Pulled {
    /// A block, or what is left of one. It is to be given back.
    Block(Part),
    /// Nothing before the next tick.
    Wait,
    /// The end.
    End,
}

/// A block and how much of it was used.
#[derive(Debug)]
pub(super) struct Part {
    block: Block,
    used: usize,
}

impl Part {
    /// What was not used yet.
    pub(super) fn bytes(&self) -> &[u8] {
        self.block.bytes().get(self.used..).unwrap_or_default()
    }
}

/// What was granted to an element, and where it reads.
#[derive(Debug)]
pub(super) struct Pulling {
    worker: Worker,
    part: Option<Part>,
    /// Where the next byte that is not used stands.
    position: u64,
}

impl Pulling {
    /// From the first byte on.
    pub(super) fn new(bytes: Arc<dyn Bytes>) -> Pulling {
        let mut worker = Worker::new(Reader::new(bytes, BLOCKS), BLOCKS, BLOCK);
        worker.go_to(0, u64::MAX);
        Pulling {
            worker,
            part: None,
            position: 0,
        }
    }

    /// Bytes that it takes, of an element with these linked pads over which buffers are sent: none
    /// where those are sent to it.
    pub(super) fn memory(pads: &PadCapsOf) -> u64 {
        match pads.sinks.is_empty() {
            true => (BLOCKS * BLOCK) as u64,
            false => 0,
        }
    }

    /// What was granted.
    pub(super) fn bytes(&self) -> &Arc<dyn Bytes> {
        self.worker.reader().bytes()
    }

    /// How much there is.
    pub(super) fn length(&self) -> Available {
        self.worker.reader().length()
    }

    /// What comes next. A block must be [given back](Pulling::used).
    ///
    /// # Errors
    /// The medium's, with the place.
    pub(super) fn next(&mut self) -> Result<Pulled, ElementError> {
        if let Some(part) = self.part.take() {
            return Ok(Pulled::Block(part));
        }
        // The first step asks, the second sees what is done of that.
        let mut asked = false;
        loop {
            match self.worker.step().map_err(failed)? {
                Step::Block(block) => return Ok(Pulled::Block(Part { block, used: 0 })),
                Step::End => return Ok(Pulled::End),
                Step::Wait if asked => return Ok(Pulled::Wait),
                Step::Wait => self.worker.complete(),
            }
            asked = true;
        }
    }

    /// So many more bytes of a block were used.
    pub(super) fn used(&mut self, mut part: Part, count: usize) {
        self.position += count as u64;
        part.used += count;
        match part.bytes().is_empty() {
            true => self.worker.give_back(part.block),
            false => self.part = Some(part),
        }
    }

    /// Goes on elsewhere: what is out is cancelled.
    pub(super) fn go_to(&mut self, start: u64) {
        if let Some(part) = self.part.take() {
            self.worker.give_back(part.block);
        }
        self.worker.go_to(start, u64::MAX);
        self.position = start;
    }

    /// What can make a difference later.
    pub(super) fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("pulled", self.position);
        visitor.unsigned("turns", self.worker.turns());
    }
}

/// A read that failed.
pub(super) fn failed(error: PullError) -> ElementError {
    let code = match &error {
        PullError::Cut { .. } => Code::Truncated,
        PullError::Io { .. } => Code::Read,
        _ => Code::Refused,
    };
    ElementError::new(Domain::Resource, code, error)
}
