//! Cuts a byte stream into frames: one machine for all formats, bytes in, frames out; no I/O.
//!
//! A format is a [`Split`]: it looks at a window of bytes and says what stands at its start, or how
//! many bytes it must see to tell. Around it stand
//!
//! - [`Cutter`]: takes bytes in chunks of any size (push), keeps only the incomplete rest;
//! - [`Walker`]: reads a positional source ([`ReadAt`]) from any place on (pull), and does not read
//!   what is only passed over.
//!
//! Both give the same [`Cut`]s in the same order whatever the chunks, and every byte is in exactly
//! one of them: a frame, a part (header, chunk of structure), junk, or the rest at the end.
//!
//! **Bounds.** No more than `limit` bytes are kept, and a frame that needs more is
//! [`CutError::TooLarge`], told as soon as its size is known. Junk and parts that are passed over
//! are counted, not kept. The one buffer is used again for every frame, and a frame that lies whole
//! in a chunk is given from there, without a copy.
//!
//! **The end.** Bytes that make no whole frame are [`Cut::Rest`], never a clean end.

mod cutter;
mod fourcc;
mod source;
mod walker;

use std::fmt::Debug;
use std::ops::Range;

pub use cutter::Cutter;
pub use fourcc::FourCc;
pub(crate) use fourcc::{u16_at, u32_at, u64_at};
pub use source::{FnSource, ReadAt, ReadFault, read_exact_at};
pub use walker::{WalkError, Walker};

/// Bytes of the stream: where they begin, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte from the stream's start.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Span {
    /// Offset of the byte after the last.
    pub const fn end(self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}

/// What a format sees at the start of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<I, P> {
    /// It takes a longer window to tell. At the stream's end: what is in the window is the rest.
    More {
        /// Bytes that the window must have, counted from its start; more than it has.
        need: u64,
        /// Whether `need` is the whole of what is due, not only the next step towards it.
        exact: bool,
        /// What is due, for the error that says that it is truncated or too large.
        what: &'static str,
    },
    /// A frame.
    Frame {
        /// Bytes of it, its head and padding included; all are in the window.
        len: usize,
        /// Its payload within the window.
        data: Range<usize>,
        /// What the format knows of it.
        info: I,
    },
    /// Bytes that belong to nothing; all are in the window. Runs of them are joined.
    Junk {
        /// Number of bytes, 1 or more.
        len: usize,
    },
    /// Something other than a frame: a header, a chunk that is passed over, or, with no bytes, a
    /// remark.
    Part {
        /// Bytes of it; may be more than the window has.
        len: u64,
        /// What it is.
        part: P,
    },
}

/// A longer window is needed: `need` is the whole of what is due.
pub(crate) const fn more<I, P>(need: u64, what: &'static str) -> Step<I, P> {
    Step::More {
        need,
        exact: true,
        what,
    }
}

/// Something other than a frame, of `len` bytes.
pub(crate) const fn part<I, P>(len: u64, part: P) -> Step<I, P> {
    Step::Part { len, part }
}

/// A format, as a state machine over windows.
///
/// The answer may depend on the window's first bytes and on the machine's state alone: an answer
/// other than [`Step::More`] must be the same for every longer window. Then it does not matter how
/// the stream is chunked. A step that takes no bytes must change the state.
pub trait Split {
    /// What is known of a frame.
    type Info: Clone + Debug + Send + Sync + 'static;
    /// What there is besides frames.
    type Part: Clone + Debug + Send + Sync + 'static;
    /// Why the stream cannot be read on.
    type Error: Clone + std::error::Error + Send + Sync + 'static;

    /// What stands at the start of `window`, which begins at byte `at` of the stream. `last` says
    /// that no byte comes after the window.
    ///
    /// # Errors
    /// What makes it senseless to go on.
    fn step(
        &mut self,
        window: &[u8],
        at: u64,
        last: bool,
    ) -> Result<Step<Self::Info, Self::Part>, Self::Error>;

    /// What a part is called when it is truncated.
    fn name(part: &Self::Part) -> &'static str;
}

/// One piece of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut<'a, I, P> {
    /// All input is used up: give more, or ask for the [`last`](Cutter::last).
    NeedInput,
    /// A frame.
    Frame {
        /// All its bytes, head and padding included.
        span: Span,
        /// Offset of its payload.
        data_offset: u64,
        /// Its payload.
        data: &'a [u8],
        /// What the format knows of it.
        info: I,
    },
    /// Bytes that belong to nothing. Told when the run of them is over.
    Junk(Span),
    /// Something other than a frame, told when it is complete.
    Part {
        /// Its bytes.
        span: Span,
        /// What it is.
        part: P,
    },
    /// The stream ends within something.
    Rest(Truncated),
    /// The stream is over.
    End,
}

/// What a cutter of the format `S` answers.
pub type CutResult<'a, S> =
    Result<Cut<'a, <S as Split>::Info, <S as Split>::Part>, CutError<<S as Split>::Error>>;

/// What a walker of the format `S` answers.
pub type WalkResult<'a, S> =
    Result<Cut<'a, <S as Split>::Info, <S as Split>::Part>, WalkError<<S as Split>::Error>>;

/// The stream ends within something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("truncated: {what} at byte {offset}, {have}{} bytes", of(.need))]
pub struct Truncated {
    /// What is cut off.
    pub what: &'static str,
    /// Where it begins.
    pub offset: u64,
    /// Bytes of it that are there, 1 or more.
    pub have: u64,
    /// Bytes that it has, if that can be told.
    pub need: Option<u64>,
}

impl Truncated {
    /// The bytes that are there.
    pub const fn span(&self) -> Span {
        Span {
            offset: self.offset,
            len: self.have,
        }
    }
}

fn of(need: &Option<u64>) -> String {
    need.map_or_else(String::new, |need| format!(" of {need}"))
}

/// Why a stream cannot be cut further. The same error is given for ever then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CutError<E> {
    /// Something takes more bytes than may be kept.
    #[error("{what} at byte {offset} takes {}{size} bytes, allowed are {limit}", at_least(.exact))]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Bytes that it takes.
        size: u64,
        /// Whether `size` is all of it; else it is at least that.
        exact: bool,
        /// The cutter's limit.
        limit: usize,
    },
    /// The format's own.
    #[error(transparent)]
    Format(#[from] E),
}

fn at_least(exact: &bool) -> &'static str {
    if *exact { "" } else { "at least " }
}
