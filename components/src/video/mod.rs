//! Raw video as data: pixel formats, where their bytes lie, what their colours
//! mean, and views on frames. Plain values and slices; no world, no I/O.
//!
//! - [`mod@format`]: the pixel formats and their description;
//! - [`layout`]: offsets and strides of the planes of one picture size;
//! - [`frame`]: a layout together with bytes, read or written row by row;
//! - [`colour`]: range, matrix, transfer, primaries, chroma siting;
//! - [`interlace`]: how fields lie in frames;
//! - [`info`]: all of it for one stream.

pub mod caps;
pub mod colour;
pub mod format;
pub mod frame;
pub mod info;
pub mod interlace;
pub mod layout;

pub use caps::{RAW_VIDEO, VideoCapsError};
pub use colour::{ChromaSite, Colorimetry, ColourError, Matrix, Primaries, Range, Transfer};
pub use format::{ComponentInfo, Family, FormatInfo, PlaneInfo, VideoFormat};
pub use frame::{Frame, FrameError, FrameMut, Plane, PlaneMut};
pub use info::VideoInfo;
pub use interlace::{FieldOrder, InterlaceMode};
pub use layout::{
    GSTREAMER_STRIDE_ALIGN, Layout, LayoutError, MAX_DIMENSION, MAX_FRAME_BYTES, PlaneLayout,
};
