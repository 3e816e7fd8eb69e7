//! Pulls a stretch of a source from one end to the other, some requests ahead: what the worker of a
//! DirectShow pull pin does. Blocks come out in order, in whatever order the requests are done.

use super::order::Order;
use super::reader::{Outcome, PullError, Reader, Request};
use crate::memory::Memory;
use std::collections::BTreeMap;

/// Bytes of a block unless something else is asked for.
pub const BLOCK: usize = 1 << 16;

/// Blocks unless something else is asked for (DirectShow asks for 3 of 64 KiB).
pub const BLOCKS: usize = 3;

/// What comes next of the stretch.
#[derive(Debug)]
pub enum Step {
    /// A block: its bytes are those of the stretch only.
    Block(Block),
    /// Nothing yet: requests are out.
    Wait,
    /// The end of the stretch. It does not come after a flush.
    End,
}

/// A block of the stretch.
#[derive(Debug)]
pub struct Block {
    /// The position of its first byte.
    pub start: u64,
    /// Where in the memory the stretch begins and ends.
    pub range: core::ops::Range<usize>,
    memory: Memory,
}

impl Block {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.memory
            .as_slice()
            .get(self.range.clone())
            .unwrap_or_default()
    }
}

/// Pulls a stretch.
#[derive(Debug)]
pub struct Worker {
    reader: Reader,
    /// Memory that no request has.
    free: Vec<Memory>,
    blocks: usize,
    block: usize,
    /// The stretch that is left to be asked for, rounded down at its start to the alignment.
    next: u64,
    start: u64,
    stop: u64,
    /// What was done before its turn.
    early: BTreeMap<u64, (Memory, u64)>,
    /// The position of the block whose turn it is.
    turn: u64,
    failed: bool,
    flushed: bool,
    /// Requests that were done one at a time.
    turns: u64,
}

impl Worker {
    /// A worker with so many blocks of so many bytes, each rounded up to the source's alignment;
    /// at least one of each.
    pub fn new(reader: Reader, blocks: usize, block: usize) -> Worker {
        let align = reader.align() as usize;
        let block = block.max(1).next_multiple_of(align);
        let blocks = blocks.max(1);
        let memory = || Memory::new(block, align);
        Worker {
            free: (0..blocks).map(|_| memory()).collect(),
            reader,
            blocks,
            block,
            next: 0,
            start: 0,
            stop: u64::MAX,
            early: BTreeMap::new(),
            turn: 0,
            failed: false,
            flushed: false,
            turns: 0,
        }
    }

    /// The source, for reads at once.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The same, to say which requests are done.
    pub fn reader_mut(&mut self) -> &mut Reader {
        &mut self.reader
    }

    /// Goes on at `start`, up to `stop`: cancels what is out, and collects it.
    pub fn go_to(&mut self, start: u64, stop: u64) {
        self.flush();
        self.reader.end_flush();
        let align = u64::from(self.reader.align());
        self.start = start;
        self.stop = stop;
        self.next = start - start % align;
        self.turn = self.next;
        (self.failed, self.flushed) = (false, false);
    }

    /// Cancels what is out, and collects it. Nothing more comes, no end either, until
    /// [`Worker::go_to`].
    pub fn flush(&mut self) {
        self.reader.begin_flush();
        while let Ok(Some(done)) = self.reader.collect() {
            self.free.push(done.memory);
        }
        for (_, (memory, _)) in core::mem::take(&mut self.early) {
            self.free.push(memory);
        }
        self.flushed = true;
    }

    /// Where the stretch ends: at its stop, or at the end of the source.
    fn end(&self) -> u64 {
        self.stop.min(self.reader.length().total)
    }

    /// Asks for more, as far ahead as it has blocks: two, where it has more than one.
    fn ask(&mut self) -> Result<(), PullError> {
        let ahead = self.blocks.min(2);
        while self.start < self.end()
            && self.reader.requests_out() + self.reader.to_collect() + self.early.len() < ahead
            && self.next < self.end()
        {
            let Some(memory) = self.free.pop() else { break };
            let start = self.next;
            let request = Request {
                start,
                len: self.block as u64,
                memory,
                user: start,
            };
            self.next = start.saturating_add(self.block as u64);
            if let Err((error, request)) = self.reader.request(request) {
                self.free.push(request.memory);
                self.failed = true;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The next block of the stretch, if it is there; asks for more.
    ///
    /// # Errors
    /// Any of a request; nothing more comes then until [`Worker::go_to`].
    pub fn step(&mut self) -> Result<Step, PullError> {
        if self.flushed || self.failed {
            return Ok(Step::Wait);
        }
        self.ask()?;
        while let Ok(Some(done)) = self.reader.collect() {
            match done.outcome {
                Outcome::Read(got) => {
                    self.early.insert(done.start, (done.memory, got));
                }
                Outcome::Cancelled => self.free.push(done.memory),
                Outcome::Failed(error) => {
                    self.free.push(done.memory);
                    self.failed = true;
                    return Err(error);
                }
            }
        }
        let end = self.end();
        if let Some((memory, got)) = self.early.remove(&self.turn) {
            let at = self.turn;
            self.turn = at.saturating_add(self.block as u64);
            let from = self.start.saturating_sub(at).min(got);
            let to = end.saturating_sub(at).min(got).max(from);
            return Ok(Step::Block(Block {
                start: at + from,
                range: from as usize..to as usize,
                memory,
            }));
        }
        match self.turn >= end || self.start >= end {
            true => Ok(Step::End),
            false => Ok(Step::Wait),
        }
    }

    /// Has requests done that are out, in the source's order: all of them, or one.
    pub fn complete(&mut self) {
        let order = self.reader.bytes().order();
        if order == Order::Asked {
            while self.reader.complete(0) {}
            return;
        }
        let which = order.next(self.reader.requests_out(), self.turns);
        self.turns += u64::from(self.reader.complete(which));
    }

    /// How many requests were done one at a time: what an order by a seed goes by.
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// Gives a block back, so that its memory is read into again.
    pub fn give_back(&mut self, block: Block) {
        self.free.push(block.memory);
    }
}
