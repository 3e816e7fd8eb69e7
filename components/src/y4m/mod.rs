//! YUV4MPEG2 (Y4M), the file format of raw video: read and written as pure code. Bytes in, bytes
//! out; no I/O, no world, and no allocation per frame.
//!
//! - [`header`]: the header line, with [`fields`] (what it says), [`tags`] (the values) and
//!   [`error`] (what is wrong or odd, with byte offsets);
//! - [`style`]: how a header was written, so that it can be written so again;
//! - [`info`]: from and to [`VideoInfo`](crate::video::VideoInfo);
//! - [`frame_line`]: the line before each frame;
//! - [`reader`]: a state machine that takes bytes in pieces of any size;
//! - [`spacing`]: what fits a file whose frames are not what its header says;
//! - [`writer`]: packed frames.
//!
//! Written after yuv4mpeg(5) of mjpegtools, and what FFmpeg 5.1 and GStreamer 1.22 write and read.
//!
//! # A header on its way through caps
//!
//! Caps carry [`VideoInfo`](crate::video::VideoInfo) and, only if needed, one text: what
//! [`Header::style`] returns.
//!
//! ```
//! use tickpipe_components::y4m::{Facts, Header};
//!
//! let line = b"YUV4MPEG2 C420 W176 H144 Ip F30:1 A1:1 Xmade=here\n";
//! let (header, _) = Header::parse(line)?.unwrap();
//! let info = header.to_info()?;
//! let (carried, _) = Facts::from_info(&info)?;
//! let style = header.style(&carried).unwrap();
//! assert_eq!(style, "C420 W H I F A Xmade=here");
//!
//! let (facts, losses) = Facts::from_info(&info)?;
//! assert!(losses.is_empty());
//! assert_eq!(Header::from_style(&facts, &style)?.to_bytes(), line);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod error;
pub mod fields;
pub mod frame_line;
pub mod header;
pub mod info;
pub mod reader;
pub mod spacing;
pub mod style;
pub mod tags;
pub mod writer;

pub use error::{Found, HeaderError, HeaderProblem, HeaderWarning};
pub use fields::{Facts, MAX_DIMENSION, Ratio};
pub use frame_line::{FRAME_LINE, FrameInterlacing, FrameLine, MAX_FRAME_LINE_BYTES, Presentation};
pub use header::{Assumed, ChromaSource, Header, MAGIC, MAX_HEADER_BYTES};
pub use info::{Loss, SUPPORTED_FORMATS, UnsupportedHeader, UnsupportedInfo};
pub use reader::{Event, Filled, ReadError, Reader};
pub use spacing::{Fit, SpacingHint};
pub use tags::{
    ChromaTag, DEFAULT_TAG, Interlacing, PlaneShape, Planes, Range, SUPPORTED_TAGS, Sampling,
    Siting,
};
pub use writer::{TooShort, frame_len, frame_line as frame_line_with, payload, write_frame};
