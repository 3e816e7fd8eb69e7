//! IVF, the plain container of VP8, VP9 and AV1 frames: read and written as pure code; no I/O.
//!
//! - [`header`]: the 32 bytes of a file and the 12 bytes of a frame, read and written;
//! - [`split`]: cuts a stream that comes in chunks ([`Cutter`](crate::cut::Cutter)) or lies in a
//!   positional source ([`Walker`](crate::cut::Walker));
//! - [`index`]: where the frames lie, without reading them;
//! - [`keys`]: which frames can be decoded without others, from their first bytes.
//!
//! Written after what libvpx and FFmpeg 5.1 write and read. All numbers are little endian. Two
//! things differ from what their names in libvpx suggest, and are so in all files: the first number
//! of the time base is the *denominator* (ticks a second), the second the numerator; and the number
//! of frames is often 0, or what was intended before writing began, so it is never relied on.
//!
//! A stream that goes wrong cannot be resynchronised: frames have no mark to be found by.

pub mod header;
pub mod index;
pub mod keys;
pub mod split;

pub use header::{
    FRAME_HEAD_BYTES, FrameHead, HEADER_BYTES, Header, IvfError, IvfWarning, MAGIC, Rate,
};
pub use index::{Entry, Index, IndexError};
pub use keys::{KEY_BYTES, is_key};
pub use split::{FrameInfo, Part, Splitter};
