//! The cutter for a source that is read by position: reads what a format asks for, and not what
//! it only passes over. No I/O of its own.

use super::cutter::Found;
use super::{CutError, Cutter, ReadAt, ReadFault, Split, WalkResult, read_exact_at};

/// Bytes read at a time when nobody knows how many are missing.
const BLOCK: u64 = 4096;
/// Most bytes read at a time.
const MOST: u64 = 1 << 20;

/// Why a source cannot be walked further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError<E> {
    /// The source cannot be read.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// What was read cannot be cut.
    #[error(transparent)]
    Cut(#[from] CutError<E>),
}

/// Cuts a positional source, from any place on. Gives what a [`Cutter`] gives.
#[derive(Debug)]
pub struct Walker<'s, S: Split, R: ReadAt + ?Sized> {
    source: &'s R,
    cutter: Cutter<S>,
    /// Where the next read begins.
    next: u64,
    /// Bytes read, of which those before `used` are used up.
    block: Vec<u8>,
    used: usize,
}

impl<'s, S: Split, R: ReadAt + ?Sized> Walker<'s, S, R> {
    /// A walker at byte `offset` of the source; `limit` is the cutter's.
    pub fn new(source: &'s R, split: S, limit: usize, offset: u64) -> Self {
        Walker {
            source,
            cutter: Cutter::starting_at(split, limit, offset),
            next: offset,
            block: Vec::new(),
            used: 0,
        }
    }

    /// The format's machine.
    pub const fn split(&self) -> &S {
        self.cutter.split()
    }

    /// The next cut, never [`NeedInput`](super::Cut::NeedInput); [`End`](super::Cut::End) at the end, again and again.
    ///
    /// # Errors
    /// [`WalkError`]. A format's error is given for ever; a failed read can be tried again.
    pub fn next_cut(&mut self) -> WalkResult<'_, S> {
        let (from, found) = loop {
            let from = self.used;
            let input = self.block.get(from..).unwrap_or(&[]);
            let (used, found) = self.cutter.find(input, false)?;
            self.used += used;
            if !matches!(found, Found::NeedInput) {
                break (from, found);
            }
            let left = self.source.size().saturating_sub(self.next);
            let passed = self.cutter.pass(left);
            self.next += passed;
            if passed > 0 {
                continue;
            }
            if !self.read(left)? {
                break (0, self.cutter.find(&[], true)?.1);
            }
        };
        let input = self.block.get(from..).unwrap_or(&[]);
        Ok(self.cutter.give(input, found))
    }

    /// Reads a block; false at the end of the source.
    fn read(&mut self, left: u64) -> Result<bool, ReadFault> {
        let least = if self.cutter.wanted_is_exact() {
            1
        } else {
            BLOCK
        };
        let count = self.cutter.wanted().max(least).min(MOST).min(left);
        self.used = 0;
        self.block.resize(count as usize, 0);
        let got = read_exact_at(self.source, self.next, &mut self.block);
        self.block.truncate(*got.as_ref().unwrap_or(&0));
        self.next += got? as u64;
        Ok(!self.block.is_empty())
    }
}
