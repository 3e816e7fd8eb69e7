//! AVI: its streams, and the frames of each with their times. Read as pure code; no I/O.
//!
//! - [`header`]: what `avih`, `strh`, `strf`, `strn` say;
//! - [`error`]: what is wrong, and what is merely odd, each with its place;
//! - [`split`]: cuts a stream that comes in chunks, without an index;
//! - [`index`]: `idx1`, and OpenDML's `indx` and `ix##`;
//! - [`movie`]: a file by position: every frame's place, checked, from an index or from a walk over
//!   the chunks' heads.
//!
//! By position and by chunks the same frames come in the same order. Only whether a frame is a key
//! frame is known from an index alone, except in streams where every frame is one.
//!
//! # What is believed
//!
//! The heads of chunks, one after the other. The sizes of lists are not relied on: they are 0 in
//! files that were never finished. An index counts only if each frame stands where it says, none
//! overlap, and no frame stands between them that it does not list; else the heads are walked, and [`Built::Walk`] says why. An `idx1` may count from `movi` or
//! from the file's start; its first entry decides.
//!
//! Something that is no chunk is junk; reading goes on at the next frame's head.
//!
//! # Times
//!
//! A stream's ticks are `scale / rate` seconds. A frame of a stream with a sample size takes as many
//! ticks as it holds samples; an audio frame of another as many as it has blocks (of the block align,
//! the last one whole or not); any other frame takes one, an empty one too, which stands for the
//! frame before, shown again.

pub mod error;
pub mod header;
pub mod index;
pub mod movie;
pub mod split;

pub use error::{AviError, AviWarning};
pub use header::{FrameInfo, Header, Kind, MAX_STREAMS, Picture, Rate, Stream, StreamFormat};
pub use index::IndexFault;
pub use movie::{Built, Entry, Movie, MovieError};
pub use split::{MAX_DEPTH, Part, Splitter};
