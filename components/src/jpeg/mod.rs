//! JPEG frames in a byte stream (motion JPEG): where each begins and ends. Cuts only: nothing is
//! decoded, nothing is changed; no I/O.
//!
//! A frame goes from `FF D8` (SOI) to its own `FF D9` (EOI):
//!
//! - segments with a length are passed over whole, so that the `FF D9` of a thumbnail in an
//!   APPn segment, or two such bytes in a table or a comment, end nothing;
//! - in entropy-coded data `FF 00` is a byte of data, `FF D0` to `FF D7` are restarts, and repeated
//!   `FF` are fill; any other marker ends the scan, and the next scan follows (progressive);
//! - bytes before `FF D8`, and between frames (drivers pad), are junk, told with their place;
//! - an `FF D8` where a marker stands within a frame begins the next frame: what was before it lacks
//!   its end and is [`Part::Unfinished`]; a segment whose length is below 2 makes it so too;
//! - bytes between segments where none should be are passed over and counted
//!   ([`FrameInfo::extraneous`]), as decoders do.
//!
//! # The plain rule
//!
//! A parser of mpipe's kind cuts after every `FF D9`, whatever is around it. On frames without
//! thumbnails that follow each other without gaps, as cameras send them, both rules give the same.
//! They differ so:
//!
//! | bytes | plain rule | here |
//! |---|---|---|
//! | `FF D9` in a segment (thumbnail, comment, table) | the frame is cut in two | one frame |
//! | bytes before `FF D8` | part of the frame | junk, told |
//! | a frame that lost its end | grows together with the next | told; the next is whole |
//! | the stream's end within a frame | kept, dropped when the element stops | told as truncated |
//! | a frame larger than the limit | refused | refused |
//! | size of the picture | not known | from SOF, or DNL |

mod split;

pub use split::{FrameInfo, Part, Process, Size, Splitter};

/// No stream of JPEG frames is so wrong that it cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Never {}
