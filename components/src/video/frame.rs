//! Views on the bytes of one picture: planes and rows, read or written. Padding
//! is never handed out by the row accessors.

use thiserror::Error;

use super::layout::{Layout, MAX_PLANES, PlaneLayout};

/// Why bytes cannot be seen as a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Fewer bytes than the layout needs.
    #[error("a frame of {need} bytes was expected, {got} bytes are there")]
    TooShort {
        /// Bytes that the layout needs.
        need: usize,
        /// Bytes given.
        got: usize,
    },
}

/// A picture that is read.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    layout: &'a Layout,
    data: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Sees the first [`Layout::size`] bytes of `data` as a picture.
    ///
    /// # Errors
    /// [`FrameError::TooShort`] if `data` is shorter than the layout.
    pub fn new(layout: &'a Layout, data: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        match data.get(..layout.size()) {
            Some(data) => Ok(Frame { layout, data }),
            None => Err(FrameError::TooShort {
                need: layout.size(),
                got: data.len(),
            }),
        }
    }

    /// The layout of the bytes.
    pub const fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// All bytes, padding included.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// One plane in memory order, if the format has it.
    pub fn plane(&self, index: usize) -> Option<Plane<'a>> {
        let layout = self.layout.plane(index)?;
        let data = self.data.get(layout.offset()..layout.end())?;
        Some(Plane {
            layout: *layout,
            data,
        })
    }

    /// The planes in memory order.
    pub fn planes(&self) -> impl Iterator<Item = Plane<'a>> + use<'a> {
        let frame = *self;
        (0..MAX_PLANES).map_while(move |i| frame.plane(i))
    }

    /// Whether two frames of equal format and size show the same: padding and
    /// strides do not count.
    pub fn same_pixels(&self, other: &Frame<'_>) -> bool {
        let key = |l: &Layout| (l.format(), l.width(), l.height());
        key(self.layout) == key(other.layout)
            && self
                .planes()
                .zip(other.planes())
                .all(|(a, b)| a.rows().eq(b.rows()))
    }
}

/// A plane that is read: exactly rows x stride bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    layout: PlaneLayout,
    data: &'a [u8],
}

impl<'a> Plane<'a> {
    /// Stride, rows and visible bytes.
    pub const fn layout(&self) -> &PlaneLayout {
        &self.layout
    }

    /// All bytes of the plane, rows x stride.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The visible bytes of each row, top to bottom.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &'a [u8]> + ExactSizeIterator + use<'a> {
        let visible = self.layout.row_bytes();
        self.data
            .chunks_exact(self.layout.stride())
            .map(move |row| row.get(..visible).unwrap_or(row))
    }

    /// The visible bytes of row `y`; empty if there is no such row.
    pub fn row(&self, y: usize) -> &'a [u8] {
        let start = y.saturating_mul(self.layout.stride());
        let end = start.saturating_add(self.layout.row_bytes());
        self.data.get(start..end).unwrap_or(&[])
    }
}

/// A picture that is written.
#[derive(Debug)]
pub struct FrameMut<'a> {
    layout: &'a Layout,
    data: &'a mut [u8],
}

impl<'a> FrameMut<'a> {
    /// Sees the first [`Layout::size`] bytes of `data` as a picture.
    ///
    /// # Errors
    /// [`FrameError::TooShort`] if `data` is shorter than the layout.
    pub fn new(layout: &'a Layout, data: &'a mut [u8]) -> Result<FrameMut<'a>, FrameError> {
        let got = data.len();
        match data.get_mut(..layout.size()) {
            Some(data) => Ok(FrameMut { layout, data }),
            None => Err(FrameError::TooShort {
                need: layout.size(),
                got,
            }),
        }
    }

    /// The layout of the bytes.
    pub const fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// All bytes, padding included.
    pub fn data_mut(&mut self) -> &mut [u8] {
        self.data
    }

    /// The same picture, read.
    pub fn as_frame(&self) -> Frame<'_> {
        Frame {
            layout: self.layout,
            data: self.data,
        }
    }

    /// One plane in memory order, if the format has it.
    pub fn plane_mut(&mut self, index: usize) -> Option<PlaneMut<'_>> {
        let layout = *self.layout.plane(index)?;
        let data = self.data.get_mut(layout.offset()..layout.end())?;
        Some(PlaneMut { layout, data })
    }

    /// All planes in memory order at once; `None` for those that the format
    /// does not have.
    pub fn planes_mut(&mut self) -> [Option<PlaneMut<'_>>; MAX_PLANES] {
        let mut rest: &mut [u8] = self.data;
        let mut at = 0usize;
        let mut out = [const { None }; MAX_PLANES];
        for (layout, slot) in self.layout.planes().iter().zip(&mut out) {
            // Planes ascend without overlap (an invariant of Layout).
            let (Some(skip), len) = (layout.offset().checked_sub(at), layout.len()) else {
                break;
            };
            let Some((_, tail)) = rest.split_at_mut_checked(skip) else {
                break;
            };
            let Some((data, tail)) = tail.split_at_mut_checked(len) else {
                break;
            };
            *slot = Some(PlaneMut {
                layout: *layout,
                data,
            });
            rest = tail;
            at = layout.end();
        }
        out
    }

    /// Sets every byte that is not part of a visible row (row padding, room
    /// between and after planes) to `value`.
    pub fn fill_padding(&mut self, value: u8) {
        let mut at = 0usize;
        for plane in self.layout.planes() {
            for y in 0..plane.rows() {
                let row = plane.offset() + y * plane.stride();
                if let Some(gap) = self.data.get_mut(at..row) {
                    gap.fill(value);
                }
                at = row + plane.row_bytes();
            }
        }
        if let Some(gap) = self.data.get_mut(at..) {
            gap.fill(value);
        }
    }
}

/// A plane that is written: exactly rows x stride bytes.
#[derive(Debug)]
pub struct PlaneMut<'a> {
    layout: PlaneLayout,
    data: &'a mut [u8],
}

impl<'a> PlaneMut<'a> {
    /// Stride, rows and visible bytes.
    pub const fn layout(&self) -> &PlaneLayout {
        &self.layout
    }

    /// All bytes of the plane, rows x stride.
    pub fn data_mut(&mut self) -> &mut [u8] {
        self.data
    }

    /// The same plane, read.
    pub fn as_plane(&self) -> Plane<'_> {
        Plane {
            layout: self.layout,
            data: self.data,
        }
    }

    /// The visible bytes of each row, top to bottom.
    pub fn rows_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut [u8]> + ExactSizeIterator {
        let visible = self.layout.row_bytes();
        self.data
            .chunks_exact_mut(self.layout.stride())
            .map(move |row| {
                let visible = visible.min(row.len());
                row.split_at_mut(visible).0
            })
    }

    /// The visible bytes of row `y`; empty if there is no such row.
    pub fn row_mut(&mut self, y: usize) -> &mut [u8] {
        let start = y.saturating_mul(self.layout.stride());
        let end = start.saturating_add(self.layout.row_bytes());
        self.data.get_mut(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::video::format::VideoFormat;

    #[test]
    fn planes_are_rows_times_stride_and_rows_are_visible_only() {
        let layout =
            Layout::custom(VideoFormat::I420, 3, 3, &[(1, 5), (17, 4), (30, 3)], 40).unwrap();
        let data: Vec<u8> = (0..40).collect();
        let frame = Frame::new(&layout, &data).unwrap();
        let p: Vec<_> = frame.planes().map(|p| p.data().to_vec()).collect();
        assert_eq!(p.len(), 3);
        assert_eq!(p[0], (1..16).collect::<Vec<u8>>());
        assert_eq!(p[1], (17..25).collect::<Vec<u8>>());
        assert_eq!(p[2], (30..36).collect::<Vec<u8>>());
        let rows: Vec<_> = frame.plane(1).unwrap().rows().collect();
        assert_eq!(rows, [&[17, 18][..], &[21, 22][..]]);
        assert_eq!(frame.plane(0).unwrap().row(2), [11, 12, 13]);
        assert!(frame.plane(0).unwrap().row(3).is_empty());
        assert!(frame.plane(3).is_none());
    }

    #[test]
    fn mutable_planes_come_together_and_padding_is_apart() {
        let layout =
            Layout::custom(VideoFormat::I420, 3, 3, &[(1, 5), (17, 4), (30, 3)], 40).unwrap();
        let mut data = vec![7u8; 40];
        let mut frame = FrameMut::new(&layout, &mut data).unwrap();
        frame.fill_padding(0xff);
        for plane in frame.planes_mut().iter_mut().flatten() {
            for row in plane.rows_mut() {
                assert!(row.iter().all(|&b| b == 7));
                row.fill(1);
            }
        }
        frame.plane_mut(2).unwrap().row_mut(1).fill(2);
        assert!(frame.plane_mut(2).unwrap().row_mut(2).is_empty());
        assert_eq!(data.iter().filter(|&&b| b == 1).count(), 15);
        assert_eq!(data.iter().filter(|&&b| b == 2).count(), 2);
        assert_eq!(data.iter().filter(|&&b| b == 0xff).count(), 23);
    }

    #[test]
    fn equal_pixels_in_unequal_layouts() {
        let a = Layout::packed(VideoFormat::Nv12, 5, 3).unwrap();
        let b = Layout::aligned(VideoFormat::Nv12, 5, 3, 16).unwrap();
        let (mut da, mut db) = (vec![9u8; a.size()], vec![9u8; b.size()]);
        FrameMut::new(&b, &mut db).unwrap().fill_padding(0);
        assert!(
            Frame::new(&a, &da)
                .unwrap()
                .same_pixels(&Frame::new(&b, &db).unwrap())
        );
        FrameMut::new(&a, &mut da)
            .unwrap()
            .plane_mut(1)
            .unwrap()
            .row_mut(1)[5] = 8;
        assert!(
            !Frame::new(&a, &da)
                .unwrap()
                .same_pixels(&Frame::new(&b, &db).unwrap())
        );
    }

    #[test]
    fn too_few_bytes_are_refused() {
        let layout = Layout::packed(VideoFormat::I420, 19, 19).unwrap();
        let err = Frame::new(&layout, &[0; 560]).unwrap_err();
        assert_eq!(
            err,
            FrameError::TooShort {
                need: 561,
                got: 560
            }
        );
        assert!(FrameMut::new(&layout, &mut [0; 560]).is_err());
        assert_eq!(Frame::new(&layout, &[0; 600]).unwrap().data().len(), 561);
    }
}
