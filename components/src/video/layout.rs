//! Where the bytes of a picture lie: offset, stride and rows of each plane for
//! one format and size. Checked arithmetic on sizes; touches no pixels.

use thiserror::Error;

use super::format::VideoFormat;

/// Largest width and height of a raw picture, in pixels (limit `max-dimension`).
pub const MAX_DIMENSION: u32 = 32767;

/// Largest size of a raw picture, in bytes (limit `max-frame-bytes`): what a
/// signed 32-bit size can say, as in the interfaces around.
pub const MAX_FRAME_BYTES: usize = 0x7fff_ffff;

/// Largest stride alignment accepted, in bytes.
pub const MAX_STRIDE_ALIGN: usize = 4096;

/// GStreamer's default stride alignment, in bytes.
pub const GSTREAMER_STRIDE_ALIGN: usize = 4;

/// Most planes that a format has.
pub const MAX_PLANES: usize = 3;

/// Why a layout cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// Width or height is 0 or above [`MAX_DIMENSION`].
    #[error(
        "{format} {width}x{height}: width and height must be 1 to {MAX_DIMENSION} (limit max-dimension)"
    )]
    Dimension {
        /// Format asked for.
        format: VideoFormat,
        /// Width asked for, in pixels.
        width: u32,
        /// Height asked for, in pixels.
        height: u32,
    },
    /// The picture would be larger than [`MAX_FRAME_BYTES`].
    #[error(
        "{format} {width}x{height} needs more than {MAX_FRAME_BYTES} bytes (limit max-frame-bytes)"
    )]
    TooLarge {
        /// Format asked for.
        format: VideoFormat,
        /// Width asked for, in pixels.
        width: u32,
        /// Height asked for, in pixels.
        height: u32,
    },
    /// The alignment is not a power of two from 1 to [`MAX_STRIDE_ALIGN`].
    #[error("stride alignment {align} is not a power of two from 1 to {MAX_STRIDE_ALIGN}")]
    Align {
        /// Alignment asked for, in bytes.
        align: usize,
    },
    /// The wrong number of planes was described.
    #[error("{format} has {} planes, {got} were described", .format.n_planes())]
    Planes {
        /// Format asked for.
        format: VideoFormat,
        /// Planes described.
        got: usize,
    },
    /// A stride is smaller than the visible bytes of a row.
    #[error("{format} plane {plane}: stride {stride} is below the {row_bytes} bytes of a row")]
    Stride {
        /// Format asked for.
        format: VideoFormat,
        /// Plane index, in memory order.
        plane: usize,
        /// Stride described, in bytes.
        stride: usize,
        /// Least stride that is possible, in bytes.
        row_bytes: usize,
    },
    /// A plane starts before the one that precedes it in memory order has ended.
    #[error("{format} plane {plane} starts at byte {offset}, the plane before it ends at {end}")]
    Overlap {
        /// Format asked for.
        format: VideoFormat,
        /// Plane index, in memory order.
        plane: usize,
        /// Offset described, in bytes.
        offset: usize,
        /// End of the plane before, in bytes.
        end: usize,
    },
    /// The planes end after the frame.
    #[error("{format}: the planes end at byte {end}, the frame at {size}")]
    Outside {
        /// Format asked for.
        format: VideoFormat,
        /// End of the last plane, in bytes.
        end: usize,
        /// Size described, in bytes.
        size: usize,
    },
}

/// Where one plane lies.
///
/// Invariants (kept by [`Layout`]'s constructors): `1 <= row_bytes <= stride`,
/// `rows >= 1`, `offset + rows * stride <= Layout::size()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneLayout {
    offset: usize,
    stride: usize,
    rows: usize,
    row_bytes: usize,
}

impl PlaneLayout {
    const EMPTY: PlaneLayout = PlaneLayout {
        offset: 0,
        stride: 0,
        rows: 0,
        row_bytes: 0,
    };

    /// Byte offset of the first row from the start of the frame.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes from one row to the next; at least [`PlaneLayout::row_bytes`].
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Visible bytes per row; what follows up to the stride is padding.
    pub const fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Bytes of the plane: rows x stride, the last row's padding included.
    pub const fn len(&self) -> usize {
        self.rows * self.stride
    }

    /// Never true: a plane has at least one row of at least one byte.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Offset just after the plane, in bytes.
    pub const fn end(&self) -> usize {
        self.offset + self.len()
    }
}

/// Offsets and strides of a picture of one format and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    format: VideoFormat,
    width: u32,
    height: u32,
    size: usize,
    planes: [PlaneLayout; MAX_PLANES],
}

impl Layout {
    /// Tight rows, planes one after the other: what a Y4M frame or a raw file
    /// holds. Chroma is ceil everywhere, so I420 of 19x19 is 561 bytes; a row of
    /// YUY2 or UYVY is `ceil(width / 2) * 4` bytes.
    ///
    /// # Errors
    /// [`LayoutError::Dimension`], [`LayoutError::TooLarge`].
    pub fn packed(format: VideoFormat, width: u32, height: u32) -> Result<Layout, LayoutError> {
        Self::build(format, width, height, 1, false)
    }

    /// Each stride rounded up to a multiple of `stride_align` bytes (a power of
    /// two, 1 to [`MAX_STRIDE_ALIGN`]), and, in formats whose chroma is halved
    /// vertically, room for an even number of luma rows, as GStreamer does.
    ///
    /// # Errors
    /// [`LayoutError::Dimension`], [`LayoutError::TooLarge`], [`LayoutError::Align`].
    pub fn aligned(
        format: VideoFormat,
        width: u32,
        height: u32,
        stride_align: usize,
    ) -> Result<Layout, LayoutError> {
        if !stride_align.is_power_of_two() || stride_align > MAX_STRIDE_ALIGN {
            return Err(LayoutError::Align {
                align: stride_align,
            });
        }
        Self::build(format, width, height, stride_align, true)
    }

    /// GStreamer 1.22's default strides and offsets (`gst_video_info_set_format`):
    /// [`Layout::aligned`] to 4 bytes.
    ///
    /// # Errors
    /// [`LayoutError::Dimension`], [`LayoutError::TooLarge`].
    pub fn gstreamer(format: VideoFormat, width: u32, height: u32) -> Result<Layout, LayoutError> {
        Self::build(format, width, height, GSTREAMER_STRIDE_ALIGN, true)
    }

    /// Offsets and strides as a device or file states them, in bytes, one pair
    /// `(offset, stride)` per plane in memory order; `size` is the whole frame's.
    ///
    /// # Errors
    /// Any [`LayoutError`]: planes must be as many as the format has, ascending,
    /// without overlap, and end within `size`.
    pub fn custom(
        format: VideoFormat,
        width: u32,
        height: u32,
        planes: &[(usize, usize)],
        size: usize,
    ) -> Result<Layout, LayoutError> {
        check_dimensions(format, width, height)?;
        let too_large = LayoutError::TooLarge {
            format,
            width,
            height,
        };
        if planes.len() != format.n_planes() {
            return Err(LayoutError::Planes {
                format,
                got: planes.len(),
            });
        }
        let mut out = [PlaneLayout::EMPTY; MAX_PLANES];
        let mut end = 0usize;
        let described = planes.iter().zip(format.info().planes).enumerate();
        for ((plane, (&(offset, stride), info)), slot) in described.zip(&mut out) {
            let row_bytes = groups(width, info.h_sub) * usize::from(info.group_bytes);
            let rows = groups(height, info.v_sub);
            if stride < row_bytes {
                return Err(LayoutError::Stride {
                    format,
                    plane,
                    stride,
                    row_bytes,
                });
            }
            if offset < end {
                return Err(LayoutError::Overlap {
                    format,
                    plane,
                    offset,
                    end,
                });
            }
            end = rows
                .checked_mul(stride)
                .and_then(|len| len.checked_add(offset))
                .ok_or(too_large)?;
            *slot = PlaneLayout {
                offset,
                stride,
                rows,
                row_bytes,
            };
        }
        if size > MAX_FRAME_BYTES {
            return Err(too_large);
        }
        if end > size {
            return Err(LayoutError::Outside { format, end, size });
        }
        Ok(Layout {
            format,
            width,
            height,
            size,
            planes: out,
        })
    }

    fn build(
        format: VideoFormat,
        width: u32,
        height: u32,
        align: usize,
        even_rows: bool,
    ) -> Result<Layout, LayoutError> {
        check_dimensions(format, width, height)?;
        let too_large = LayoutError::TooLarge {
            format,
            width,
            height,
        };
        let v_sub = format.chroma_subsampling().1;
        let mut out = [PlaneLayout::EMPTY; MAX_PLANES];
        let mut size = 0usize;
        for (info, slot) in format.info().planes.iter().zip(&mut out) {
            let row_bytes = groups(width, info.h_sub) * usize::from(info.group_bytes);
            let rows = groups(height, info.v_sub);
            let stride = row_bytes.checked_next_multiple_of(align).ok_or(too_large)?;
            let room = if even_rows && v_sub > info.v_sub {
                rows.next_multiple_of(2)
            } else {
                rows
            };
            *slot = PlaneLayout {
                offset: size,
                stride,
                rows,
                row_bytes,
            };
            size = stride
                .checked_mul(room)
                .and_then(|len| len.checked_add(size))
                .filter(|&size| size <= MAX_FRAME_BYTES)
                .ok_or(too_large)?;
        }
        Ok(Layout {
            format,
            width,
            height,
            size,
            planes: out,
        })
    }

    /// The format.
    pub const fn format(&self) -> VideoFormat {
        self.format
    }

    /// Width in pixels, 1 to [`MAX_DIMENSION`].
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels, 1 to [`MAX_DIMENSION`].
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Bytes of the whole frame, padding included; at most [`MAX_FRAME_BYTES`].
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Visible bytes of the whole frame, padding left out.
    pub fn visible_bytes(&self) -> usize {
        self.planes().iter().map(|p| p.rows * p.row_bytes).sum()
    }

    /// The planes in memory order.
    pub fn planes(&self) -> &[PlaneLayout] {
        self.planes.get(..self.format.n_planes()).unwrap_or(&[])
    }

    /// One plane in memory order, if the format has it.
    pub fn plane(&self, index: usize) -> Option<&PlaneLayout> {
        self.planes().get(index)
    }
}

fn check_dimensions(format: VideoFormat, width: u32, height: u32) -> Result<(), LayoutError> {
    let allowed = 1..=MAX_DIMENSION;
    if allowed.contains(&width) && allowed.contains(&height) {
        Ok(())
    } else {
        Err(LayoutError::Dimension {
            format,
            width,
            height,
        })
    }
}

/// `ceil(length / 2^sub)`; `length` is at most [`MAX_DIMENSION`].
fn groups(length: u32, sub: u8) -> usize {
    let cell = 1u32 << sub;
    length.div_ceil(cell) as usize
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
