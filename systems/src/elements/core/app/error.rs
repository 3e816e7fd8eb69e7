//! Why a call of the application is refused.

use thiserror::Error;
use tickpipe_components::fault::{Code, Domain};

/// Why a call of the application is refused. Nothing was done then, and a buffer stays with the caller.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AppError {
    /// No buffer has that many bytes (mpipe: `EINVAL`).
    #[error("{len} bytes are asked for, and a buffer has 1..={max}")]
    Size {
        /// What was asked for.
        len: usize,
        /// The bytes of a buffer.
        max: usize,
    },
    /// A picture of these caps has another number of bytes.
    #[error("a picture of {caps} has {want} bytes, not {len}")]
    Picture {
        /// The caps.
        caps: String,
        /// How many it has.
        want: usize,
        /// How many were given.
        len: usize,
    },
    /// The application has all buffers that it may have (mpipe: `ENOBUFS`).
    #[error("the application has {out} buffers, which are all that it may have")]
    NoBuffers {
        /// How many it has, those in the queue included.
        out: u32,
    },
    /// The queue is full (mpipe: `EAGAIN`).
    #[error("the queue is full: {buffers} buffers of {bytes} bytes")]
    Full {
        /// Buffers in it.
        buffers: usize,
        /// Bytes in it.
        bytes: usize,
    },
    /// Nothing came in time (mpipe: `EAGAIN`).
    #[error("nothing came in time")]
    TimedOut,
    /// What is on its way is being discarded (mpipe: `EPIPE`).
    #[error("the element is flushing")]
    Flushing,
    /// The pipeline is in READY (mpipe: `EPIPE`).
    #[error("the element is stopped")]
    Stopped,
    /// The end was given before: nothing comes behind it.
    #[error("the end was given before")]
    Ended,
    /// The pipeline failed.
    #[error("the pipeline failed ({}/{})", .0.name(), .1.name())]
    Failed(Domain, Code),
    /// The element is of another kind, or in no engine.
    #[error("{0} is no {1}")]
    NotThat(String, &'static str),
}
