//! WAV (RIFF/WAVE, RF64): what its header says, blocks of samples, and a plain header to write.
//! Pure code; no I/O.
//!
//! - [`format`](mod@format): the `fmt ` chunk, with what is believed where it contradicts itself;
//! - [`error`]: what is wrong, and what is merely odd, each with its place;
//! - [`split`]: cuts a stream that comes in chunks into blocks of samples;
//! - [`file`](mod@file): the same by position, with any sample's place;
//! - [`writer`]: a header.
//!
//! # What is believed
//!
//! Chunks may stand in any order before `data`, as long as `fmt ` is among them. Headers of streams,
//! and of writers that crashed or counted wrong, lie about sizes; samples are never lost for it:
//!
//! | said | believed |
//! |---|---|
//! | the RIFF size is 0, 4294967295, or too short for `data` | the `data` size; one warning |
//! | the `data` size is 0 or 4294967295 without `ds64` | the stream's end; one warning |
//! | the `data` size goes beyond the file | the file; one warning |
//! | `RF64` and `BW64`: 4294967295 | `ds64` |
//! | `data` is no whole number of samples | the whole samples; the rest is told |
//! | block align does not fit channels and bits | channels and bits; a wider container than the bits need is fine |
//! | bytes a second | never: rate and block align |
//! | a second `fmt ` | the first |
//! | an odd chunk without its pad byte | that the next chunk follows, if an id stands there |
//! | what is behind `data` | skipped chunk by chunk, then junk; never an error |
//!
//! Times are counted in samples (of all channels together), exactly.

pub mod error;
pub mod file;
pub mod format;
pub mod split;
pub mod writer;

pub use error::{WavError, WavWarning};
pub use file::{OpenError, WavFile};
pub use format::{Format, Samples, TAG_FLOAT, TAG_PCM};
pub use split::{Block, Header, Part, Splitter};
pub use writer::{DataTooLong, header_bytes, padding};
