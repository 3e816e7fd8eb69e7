//! The arithmetic of raw video: plain functions on slices, without world or I/O.
//!
//! - [`convert`]: any pixel format to any other, with colour and chroma siting;
//! - [`scale`]: other picture sizes;
//! - [`pattern`]: test pictures;
//! - [`blit`]: one picture laid on another;
//! - [`colour_matrix`], [`chroma`], [`rows`]: the rules and row kernels that they share;
//! - [`cpu`]: the choice of machine code, which never changes a result.
//!
//! Everything here is integer arithmetic: results depend on the pixels and the
//! described formats alone. Padding is never read and never written.

pub mod blit;
pub mod chroma;
pub mod colour_matrix;
pub mod convert;
pub mod cpu;
pub mod pattern;
pub mod repack;
pub mod rows;
pub mod scale;

pub use blit::{BlitError, overlay_opaque};
pub use convert::{ConvertError, Converter};
pub use cpu::Cpu;
pub use pattern::{Pattern, PatternError, PatternPainter};
pub use scale::{Method, ScaleError, Scaler};
