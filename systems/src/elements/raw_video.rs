//! Raw video in elements: caps templates, frames of buffers, pools of frames.

use tickpipe_components::caps::{Caps, Fraction, Structure, Value, ValueSet};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::video::{
    Frame, GSTREAMER_STRIDE_ALIGN, Layout, MAX_DIMENSION, RAW_VIDEO, VideoCapsError, VideoFormat,
    VideoInfo,
};

/// All formats in the order in which elements offer them: what most elements take first.
#[cfg(feature = "video")]
pub(crate) const FORMATS: [VideoFormat; 16] = {
    use VideoFormat as F;
    [
        F::I420,
        F::Yv12,
        F::Nv12,
        F::Nv21,
        F::Y42b,
        F::Y444,
        F::Yuy2,
        F::Uyvy,
        F::Gray8,
        F::Rgb,
        F::Bgr,
        F::Rgba,
        F::Bgra,
        F::Argb,
        F::Abgr,
        F::I42010Le,
    ]
};

/// Raw video of these formats, in order of preference, of any size and rate.
pub(crate) fn raw_video_caps(formats: &[VideoFormat]) -> Caps {
    let words = formats.iter().map(|f| Value::text(f.name()));
    let size = || ValueSet::int_range(1, MAX_DIMENSION.into(), 1).unwrap_or(ValueSet::int(1));
    let rates = Fraction::new(0, 1)
        .zip(Fraction::new(i32::MAX, 1))
        .and_then(|(low, high)| ValueSet::fraction_range(low, high).ok());
    let mut structure = Structure::new(RAW_VIDEO);
    if let Ok(list) = ValueSet::list(words) {
        structure = structure.with("format", list);
    }
    structure = structure.with("width", size()).with("height", size());
    if let Some(rates) = rates {
        structure = structure.with("framerate", rates);
    }
    Caps::from(structure)
}

/// The stream that agreed caps describe.
///
/// # Errors
/// What is missing or unknown, as a refusal of caps.
pub(crate) fn stream_info(caps: Option<&Structure>) -> Result<VideoInfo, ElementError> {
    caps.ok_or(VideoCapsError::Missing("format"))
        .and_then(VideoInfo::from_structure)
        .map_err(|error| ElementError::new(Domain::Caps, Code::Refused, error))
}

/// The frame that a buffer holds, whose planes lie as [`picture`](crate::element::Process::picture)
/// says.
///
/// # Errors
/// A buffer that is too short for it.
pub(crate) fn frame_of<'a>(layout: &'a Layout, bytes: &'a [u8]) -> Result<Frame<'a>, ElementError> {
    Frame::new(layout, bytes)
        .map_err(|error| ElementError::new(Domain::Stream, Code::Truncated, error))
}

/// A pool of frames with these caps that suits downstream too; rows are aligned as downstream asks,
/// at least as usual.
///
/// # Errors
/// As [`stream_info`]; an alignment of rows that is no power of two, or too large.
pub(crate) fn frame_pool(
    caps: Option<&Structure>,
    downstream: PoolConfig,
) -> Result<PoolConfig, ElementError> {
    let info = stream_info(caps)?;
    let align = match downstream.stride_align {
        // Of two powers of two the larger does for both.
        align if align.is_power_of_two() => align.max(GSTREAMER_STRIDE_ALIGN),
        align => align,
    };
    let layout = info
        .layout_aligned(align)
        .map_err(|error| ElementError::new(Domain::Pool, Code::Refused, error))?;
    let own = PoolConfig {
        size: layout.size(),
        align: 32,
        ..PoolConfig::default()
    };
    Ok(PoolConfig {
        stride_align: align,
        ..own.merge(downstream)
    })
}
