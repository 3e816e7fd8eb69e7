//! One picture laid opaquely on another, in place. Copies visible bytes only.
//!
//! **The rule** (that of FFmpeg's `overlay` filter for pictures without alpha): the
//! position is rounded down to the chroma grid, `x & !1` where chroma is halved
//! across, `y & !1` where it is halved down; then each plane of the smaller picture
//! is copied to its place in the larger one's plane, clipped to it. Sizes of chroma
//! planes are rounded up, so at an odd right or lower edge of the overlay one
//! chroma sample covers a luma column or row beyond it.

use thiserror::Error;
use tickpipe_components::video::{Frame, FrameMut, VideoFormat};

/// Why a picture cannot be laid on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BlitError {
    /// The formats differ; a converter brings them together.
    #[error("cannot lay a {overlay} picture on a {main} picture: formats must be equal")]
    Format {
        /// Format of the picture below.
        main: VideoFormat,
        /// Format of the picture above.
        overlay: VideoFormat,
    },
    /// The format has alpha, which an opaque copy would not respect.
    #[error("{format} has alpha: an opaque overlay takes formats without")]
    Alpha {
        /// The format.
        format: VideoFormat,
    },
}

/// Copies `src` onto `dst` with its upper left pixel at (`x`, `y`), which may be
/// negative or beyond `dst`: what lies outside is left out.
///
/// # Errors
/// [`BlitError`] if the formats differ or have alpha; nothing is drawn then.
pub fn overlay_opaque(
    dst: &mut FrameMut<'_>,
    src: &Frame<'_>,
    x: i64,
    y: i64,
) -> Result<(), BlitError> {
    let (main, overlay) = (dst.layout().format(), src.layout().format());
    if main != overlay {
        return Err(BlitError::Format { main, overlay });
    }
    if main.has_alpha() {
        return Err(BlitError::Alpha { format: main });
    }
    let (h_sub, v_sub) = main.chroma_subsampling();
    let (x, y) = (x & !((1 << h_sub) - 1), y & !((1 << v_sub) - 1));
    let (dst_width, src_width) = (dst.layout().width(), src.layout().width());
    for (index, plane) in main.info().planes.iter().enumerate() {
        let (Some(from), Some(mut to)) = (src.plane(index), dst.plane_mut(index)) else {
            continue;
        };
        let group = usize::from(plane.group_bytes);
        let groups = |bytes: usize| bytes / group;
        let (Some(across), Some(down)) = (
            Span::new(
                x >> plane.h_sub,
                groups(from.layout().row_bytes()),
                groups(to.layout().row_bytes()),
            ),
            Span::new(y >> plane.v_sub, from.layout().rows(), to.layout().rows()),
        ) else {
            continue;
        };
        let shared = Shared::new(main, across, src_width, dst_width);
        let bytes = across.len * group;
        let rows = to.rows_mut().skip(down.dst).take(down.len);
        for (out, row) in rows.zip(from.rows().skip(down.src)) {
            let (start, first) = (across.dst * group, across.src * group);
            let out = out.get_mut(start..start + bytes).unwrap_or_default();
            let row = row.get(first..first + bytes).unwrap_or_default();
            let kept = shared.save(out);
            out.copy_from_slice(row);
            shared.settle(out, kept);
        }
    }
    Ok(())
}

/// The part of a row (or column) that both pictures share.
#[derive(Clone, Copy)]
struct Span {
    src: usize,
    dst: usize,
    len: usize,
}

impl Span {
    fn new(at: i64, src_len: usize, dst_len: usize) -> Option<Span> {
        let start = at.max(0);
        let end = at.saturating_add(src_len as i64).min(dst_len as i64);
        let len = usize::try_from(end.checked_sub(start)?).ok()?;
        Some(Span {
            src: usize::try_from(start.checked_sub(at)?).ok()?,
            dst: usize::try_from(start).ok()?,
            len,
        })
    }
}

/// The last group of a packed 4:2:2 row where a picture of odd width ends in it: its
/// second luma is no pixel of that picture.
#[derive(Clone, Copy)]
struct Shared {
    /// Byte of the first and second luma in a group; `None` if nothing is to be done.
    second: Option<(usize, usize)>,
    /// Whether the second luma is a pixel of the picture below, to be kept.
    keep: bool,
}

impl Shared {
    fn new(format: VideoFormat, across: Span, src_width: u32, dst_width: u32) -> Shared {
        let luma = match format {
            VideoFormat::Yuy2 => (0, 2),
            VideoFormat::Uyvy => (1, 3),
            _ => {
                return Shared {
                    second: None,
                    keep: false,
                };
            }
        };
        let src_ends = src_width % 2 == 1 && across.src + across.len > src_width as usize / 2;
        let dst_ends = dst_width % 2 == 1 && across.dst + across.len > dst_width as usize / 2;
        Shared {
            second: (src_ends || dst_ends).then_some(luma),
            keep: src_ends && !dst_ends,
        }
    }

    fn save(&self, out: &[u8]) -> u8 {
        match (self.second, out.last_chunk::<4>()) {
            (Some((_, second)), Some(group)) => group[second],
            _ => 0,
        }
    }

    fn settle(&self, out: &mut [u8], kept: u8) {
        if let (Some((first, second)), Some(group)) = (self.second, out.last_chunk_mut::<4>()) {
            group[second] = if self.keep { kept } else { group[first] };
        }
    }
}
