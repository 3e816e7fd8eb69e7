//! Reads of a granted byte source: at once, aligned, or asked for and collected later.
//!
//! DirectShow's `IAsyncReader`, with its rules and without its threads: a request is out until
//! somebody says that it is done, in any order; what it read is then there to be collected.

use super::source::{Available, Bytes};
use crate::memory::Memory;
use crate::pool::PoolConfig;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use thiserror::Error;

/// Why a read or a request is refused, or failed.
#[derive(Debug, Error)]
pub enum PullError {
    /// A position, a length or an address is not a multiple of the alignment.
    #[error("{what} {value} is not a multiple of {align}, the alignment of the source")]
    BadAlign {
        /// Which of them.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The alignment.
        align: u32,
    },
    /// The reader is flushing.
    #[error("the reader is flushing")]
    Flushing,
    /// It begins behind the end.
    #[error("position {start} lies behind the end at {total}")]
    BehindEnd {
        /// Where it begins.
        start: u64,
        /// Bytes of the source.
        total: u64,
    },
    /// It would end beyond what a number can say.
    #[error("{len} bytes from position {start} on are more than can be counted")]
    TooLong {
        /// Where it begins.
        start: u64,
        /// Its length.
        len: u64,
    },
    /// Too many requests are out.
    #[error("{0} requests are out already, which is the limit")]
    TooMany(usize),
    /// Less came than was asked for, and not because the source ends there.
    #[error(
        "only {got} of {len} bytes came from position {start} on, and the source does not end there"
    )]
    Cut {
        /// Where it began.
        start: u64,
        /// What was asked for.
        len: u64,
        /// What came.
        got: u64,
    },
    /// The medium failed.
    #[error("position {start} could not be read: {error}")]
    Io {
        /// Where it began.
        start: u64,
        /// Its error.
        error: io::Error,
    },
}

/// Whether a read at once gave all that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// All (DirectShow: `S_OK`).
    No(usize),
    /// Less: the source ends there (DirectShow: `S_FALSE`).
    Yes(usize),
}

impl Short {
    /// How many bytes came.
    pub const fn len(self) -> usize {
        match self {
            Short::No(n) | Short::Yes(n) => n,
        }
    }

    /// Whether none came.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A read that is asked for and collected later.
#[derive(Debug)]
pub struct Request {
    /// The first byte.
    pub start: u64,
    /// How many; at most what the memory holds.
    pub len: u64,
    /// Where they go.
    pub memory: Memory,
    /// Whatever the asker knows it by.
    pub user: u64,
}

/// What became of a request.
#[derive(Debug)]
pub enum Outcome {
    /// So many bytes are there. Fewer than were asked for only at the end of the source.
    Read(u64),
    /// A flush cancelled it.
    Cancelled,
    /// It failed.
    Failed(PullError),
}

/// A request that is done, with its memory.
#[derive(Debug)]
pub struct Completion {
    /// The first byte that was asked for. Its time is the byte position (DirectShow: times 10⁷).
    pub start: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// The memory.
    pub memory: Memory,
    /// What the asker knows it by.
    pub user: u64,
}

/// What remains to be read of a request: how many bytes, cut at the end of the source.
#[derive(Debug)]
struct Out {
    request: Request,
    len: u64,
}

/// A granted byte source and what was asked of it.
#[derive(Debug)]
pub struct Reader {
    bytes: Arc<dyn Bytes>,
    align: u32,
    /// Requests that are out, in the order in which they were made.
    out: VecDeque<Out>,
    /// Requests that are done and not collected, in the order in which they were.
    done: VecDeque<Completion>,
    most: usize,
    flushing: bool,
}

impl Reader {
    /// Of a source, with so many requests out at most.
    pub fn new(bytes: Arc<dyn Bytes>, most: usize) -> Reader {
        let align = bytes.align().max(1);
        Reader {
            bytes,
            align,
            out: VecDeque::new(),
            done: VecDeque::new(),
            most,
            flushing: false,
        }
    }

    /// The source.
    pub fn bytes(&self) -> &Arc<dyn Bytes> {
        &self.bytes
    }

    /// Its alignment.
    pub fn align(&self) -> u32 {
        self.align
    }

    /// Bytes in all, and those that are there now.
    pub fn length(&self) -> Available {
        self.bytes.available()
    }

    /// Requests that are out.
    pub fn requests_out(&self) -> usize {
        self.out.len()
    }

    /// Requests that are done and wait to be collected.
    pub fn to_collect(&self) -> usize {
        self.done.len()
    }

    /// The end of the source, rounded up to its alignment.
    fn aligned_total(&self) -> u64 {
        let total = self.length().total;
        total
            .checked_next_multiple_of(self.align.into())
            .unwrap_or(u64::MAX)
    }

    fn aligned(&self, what: &'static str, value: u64) -> Result<(), PullError> {
        match value.is_multiple_of(self.align.into()) {
            true => Ok(()),
            false => Err(PullError::BadAlign {
                what,
                value,
                align: self.align,
            }),
        }
    }

    /// Asks for a read, which is collected when it is done. Several may be out.
    ///
    /// # Errors
    /// [`PullError::BadAlign`], [`PullError::Flushing`], [`PullError::BehindEnd`],
    /// [`PullError::TooLong`], [`PullError::TooMany`]; the memory comes back with it.
    pub fn request(&mut self, request: Request) -> Result<(), (PullError, Request)> {
        match self.admit(&request) {
            Ok(len) => {
                self.out.push_back(Out { request, len });
                Ok(())
            }
            Err(error) => Err((error, request)),
        }
    }

    /// How many bytes of a request there are to be read.
    fn admit(&self, request: &Request) -> Result<u64, PullError> {
        let Request { start, memory, .. } = request;
        let (start, len) = (*start, request.len.min(memory.as_slice().len() as u64));
        if self.flushing {
            return Err(PullError::Flushing);
        }
        self.aligned("position", start)?;
        self.aligned("length", len)?;
        self.aligned("address", memory.as_slice().as_ptr().addr() as u64)?;
        if self.out.len() + self.done.len() >= self.most {
            return Err(PullError::TooMany(self.most));
        }
        let total = self.aligned_total();
        if start >= total {
            let total = self.length().total;
            return Err(PullError::BehindEnd { start, total });
        }
        let end = start.checked_add(len);
        let end = end.ok_or(PullError::TooLong { start, len })?;
        Ok(end.min(total) - start)
    }

    /// The `which`-th of the requests that are out is done: it is read. Which one comes first is
    /// whoever's choice that drives this. Whether there is one.
    pub fn complete(&mut self, which: usize) -> bool {
        let Some(Out { request, len }) = self.out.remove(which) else {
            return false;
        };
        let Request {
            start,
            mut memory,
            user,
            ..
        } = request;
        let to = &mut memory.as_mut_slice()[..len as usize];
        let outcome = match self.bytes.read_at(start, to) {
            Ok(got) => self.judge(start, len, got as u64),
            Err(error) => Outcome::Failed(PullError::Io { start, error }),
        };
        self.done.push_back(Completion {
            start,
            outcome,
            memory,
            user,
        });
        true
    }

    /// Short data is right only where it reaches the end of the source.
    fn judge(&self, start: u64, len: u64, got: u64) -> Outcome {
        let reached = start.saturating_add(got) >= self.length().total;
        match got == len || reached {
            true => Outcome::Read(got),
            false => Outcome::Failed(PullError::Cut { start, len, got }),
        }
    }

    /// Collects the request that was done first. `None` if none is done yet.
    ///
    /// # Errors
    /// [`PullError::Flushing`] if none is left and the reader is flushing.
    pub fn collect(&mut self) -> Result<Option<Completion>, PullError> {
        match self.done.pop_front() {
            Some(completion) => Ok(Some(completion)),
            None if self.flushing && self.out.is_empty() => Err(PullError::Flushing),
            None => Ok(None),
        }
    }

    /// Reads at once, with position, length and address aligned. What lies beyond the end, rounded
    /// up to the alignment, is not asked for: it gives nothing, and is not short.
    ///
    /// # Errors
    /// [`PullError::BadAlign`], [`PullError::TooLong`], [`PullError::Cut`], [`PullError::Io`].
    pub fn read_aligned(&self, start: u64, to: &mut [u8]) -> Result<Short, PullError> {
        let len = to.len() as u64;
        self.aligned("position", start)?;
        self.aligned("length", len)?;
        self.aligned("address", to.as_ptr().addr() as u64)?;
        let end = start.checked_add(len);
        let end = end.ok_or(PullError::TooLong { start, len })?;
        let wanted = end.min(self.aligned_total()).saturating_sub(start) as usize;
        let got = self.read_whole(start, &mut to[..wanted])?;
        Ok(match got < wanted {
            true => Short::Yes(got),
            false => Short::No(got),
        })
    }

    /// Reads at once, at any position.
    ///
    /// # Errors
    /// [`PullError::Cut`], [`PullError::Io`].
    pub fn read(&self, start: u64, to: &mut [u8]) -> Result<Short, PullError> {
        let wanted = to.len();
        let got = self.read_whole(start, to)?;
        Ok(match got < wanted {
            true => Short::Yes(got),
            false => Short::No(got),
        })
    }

    fn read_whole(&self, start: u64, to: &mut [u8]) -> Result<usize, PullError> {
        let got = self.bytes.read_at(start, to);
        let got = got.map_err(|error| PullError::Io { start, error })?;
        match self.judge(start, to.len() as u64, got as u64) {
            Outcome::Failed(error) => Err(error),
            _ => Ok(got),
        }
    }

    /// Cancels all requests that are out: each is to be collected, and until the flush is over no
    /// other is taken. Reads at once go on.
    pub fn begin_flush(&mut self) {
        self.flushing = true;
        for Out { request, .. } in self.out.drain(..) {
            self.done.push_back(Completion {
                start: request.start,
                outcome: Outcome::Cancelled,
                memory: request.memory,
                user: request.user,
            });
        }
    }

    /// Takes requests again.
    pub fn end_flush(&mut self) {
        self.flushing = false;
    }
}

/// The alignment of buffers that are read into: what is wanted, where that is a multiple of the
/// source's; else the source's.
pub fn agree_align(wanted: usize, source: u32) -> usize {
    let source = source.max(1) as usize;
    match wanted {
        0 => source,
        wanted if wanted.is_multiple_of(source) => wanted,
        _ => source,
    }
}

/// The buffers that are read into: as wanted, with an alignment that the source can do. The pool of
/// who pulls is tried before one that the source would make.
///
/// # Errors
/// [`PullError::BadAlign`] if neither can.
pub fn agree_buffers(
    wanted: PoolConfig,
    source: u32,
    preferred: impl FnOnce(PoolConfig) -> Option<PoolConfig>,
    own: impl FnOnce(PoolConfig) -> Option<PoolConfig>,
) -> Result<PoolConfig, PullError> {
    let asked = PoolConfig {
        align: agree_align(wanted.align, source),
        ..wanted
    };
    let fits = |c: &PoolConfig| c.align.is_multiple_of(source.max(1) as usize) && c.align > 0;
    let found = preferred(asked)
        .filter(fits)
        .or_else(|| own(asked).filter(fits));
    found.ok_or(PullError::BadAlign {
        what: "the buffers' alignment",
        value: asked.align as u64,
        align: source.max(1),
    })
}
