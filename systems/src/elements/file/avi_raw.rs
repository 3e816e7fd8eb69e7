//! Raw pictures in AVI, and as they lie in buffers: rows of RGB from the bottom up and aligned to 4 bytes,
//! planes of YUV without padding. Pure.

use super::heading::number;
use thiserror::Error;
use tickpipe_components::avi::Picture;
use tickpipe_components::caps::Structure;
use tickpipe_components::video::{Frame, FrameMut, Layout, VideoFormat, VideoInfo};

/// Rows of RGB begin at a multiple of this.
const ALIGN: usize = 4;

/// How pictures of a format come.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// One that this engine knows: as it lies in the file, and in a buffer.
    Known(Box<Lies>),
    /// One that has a name only: so many bytes a row, and rows.
    Named { row: usize, rows: usize },
}

/// Where the planes of a picture lie.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lies {
    file: Layout,
    buffer: Layout,
}

/// Raw pictures.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Raw {
    name: &'static str,
    kind: Kind,
    /// The bottom row comes first.
    turned: bool,
}

/// A picture with too few bytes.
#[derive(Debug, Error)]
#[error("a raw picture of {have} bytes at byte {offset}, and one of its size has {need}")]
pub(super) struct TooShort {
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub have: u64,
    /// What it should have.
    pub need: u64,
}

/// Codecs of raw YUV, and their formats.
const YUV: [(&[u8; 4], VideoFormat); 15] = [
    (b"I420", VideoFormat::I420),
    (b"IYUV", VideoFormat::I420),
    (b"YV12", VideoFormat::Yv12),
    (b"NV12", VideoFormat::Nv12),
    (b"NV21", VideoFormat::Nv21),
    (b"YUY2", VideoFormat::Yuy2),
    (b"YUYV", VideoFormat::Yuy2),
    (b"YUNV", VideoFormat::Yuy2),
    (b"UYVY", VideoFormat::Uyvy),
    (b"Y422", VideoFormat::Uyvy),
    (b"UYNV", VideoFormat::Uyvy),
    (b"Y42B", VideoFormat::Y42b),
    (b"Y800", VideoFormat::Gray8),
    (b"Y8  ", VideoFormat::Gray8),
    (b"GREY", VideoFormat::Gray8),
];

impl Raw {
    /// Of pictures of this kind; `None` if they are coded, or of a size that no picture has.
    pub(super) fn of(picture: &Picture) -> Option<Raw> {
        let width = u32::try_from(picture.width).ok().filter(|w| *w > 0)?;
        let height = picture.height.unsigned_abs();
        if height == 0 {
            return None;
        }
        if let Some((_, format)) = YUV.iter().find(|yuv| *yuv.0 == picture.codec.0) {
            let file = Layout::packed(*format, width, height).ok()?;
            return Raw::known(*format, file, false);
        }
        // No codec, or bit fields: 0 and 3.
        if !matches!(picture.codec.0, [0 | 3, 0, 0, 0] | [b'D', b'I', b'B', b' ']) {
            return None;
        }
        let turned = picture.height > 0;
        let name = match picture.bits {
            24 => {
                let format = VideoFormat::Bgr;
                let file = Layout::aligned(format, width, height, ALIGN).ok()?;
                return Raw::known(format, file, turned);
            }
            32 => "BGRx",
            16 if picture.codec.0 == [3, 0, 0, 0] => "RGB16",
            16 => "RGB15",
            _ => return None,
        };
        let bytes = usize::from(picture.bits / 8);
        let row = (width as usize)
            .checked_mul(bytes)?
            .checked_next_multiple_of(ALIGN)?;
        let rows = height as usize;
        row.checked_mul(rows)?;
        let kind = Kind::Named { row, rows };
        Some(Raw { name, kind, turned })
    }

    fn known(format: VideoFormat, file: Layout, turned: bool) -> Option<Raw> {
        let buffer = Layout::gstreamer(format, file.width(), file.height()).ok()?;
        Some(Raw {
            name: format.name(),
            kind: Kind::Known(Box::new(Lies { file, buffer })),
            turned,
        })
    }

    /// The format's name.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes of a picture in a buffer.
    pub(super) fn size(&self) -> usize {
        match &self.kind {
            Kind::Known(lies) => lies.buffer.size(),
            Kind::Named { row, rows } => row * rows,
        }
    }

    /// Bytes of a picture in the file.
    pub(super) fn bytes(&self) -> usize {
        match &self.kind {
            Kind::Known(lies) => lies.file.size(),
            Kind::Named { row, rows } => row * rows,
        }
    }

    /// Bytes of a picture in a buffer, by its caps.
    pub(super) fn bytes_of_caps(caps: &Structure) -> Option<usize> {
        if let Ok(info) = VideoInfo::from_structure(caps) {
            return Some(info.layout.size());
        }
        let side = |name| number(caps, name).and_then(|side| usize::try_from(side).ok());
        let (width, height) = (side("width")?, side("height")?);
        let bytes = match caps.string("format")? {
            "BGRx" => 4,
            _ => 2,
        };
        let row = width.checked_mul(bytes)?.checked_next_multiple_of(ALIGN)?;
        row.checked_mul(height)
    }

    /// Writes the picture that lies in `from` as it lies in the file.
    ///
    /// # Errors
    /// [`TooShort`]; its offset is 0.
    pub(super) fn fill(&self, from: &[u8], to: &mut [u8]) -> Result<(), TooShort> {
        let short = || TooShort {
            offset: 0,
            have: from.len() as u64,
            need: self.bytes() as u64,
        };
        match &self.kind {
            Kind::Known(lies) => {
                let Lies { file, buffer } = &**lies;
                let from = Frame::new(file, from).map_err(|_| short())?;
                let mut to = FrameMut::new(buffer, to).map_err(|_| short())?;
                for plane in 0..buffer.planes().len() {
                    let (Some(from), Some(mut to)) = (from.plane(plane), to.plane_mut(plane))
                    else {
                        continue;
                    };
                    let turned = self.turned;
                    let rows = from.rows();
                    let put = |(to, from): (&mut [u8], &[u8])| {
                        let most = to.len().min(from.len());
                        if let (Some(to), Some(from)) = (to.get_mut(..most), from.get(..most)) {
                            to.copy_from_slice(from);
                        }
                    };
                    match turned {
                        true => to.rows_mut().zip(rows.rev()).for_each(put),
                        false => to.rows_mut().zip(rows).for_each(put),
                    }
                }
            }
            Kind::Named { row, .. } => {
                let from = from.get(..self.bytes()).ok_or_else(short)?;
                let rows = from.chunks_exact(*row);
                let to = to.chunks_exact_mut(*row);
                match self.turned {
                    true => to
                        .zip(rows.rev())
                        .for_each(|(to, from)| to.copy_from_slice(from)),
                    false => to.zip(rows).for_each(|(to, from)| to.copy_from_slice(from)),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickpipe_components::cut::FourCc;

    fn picture(codec: [u8; 4], width: i32, height: i32, bits: u16) -> Picture {
        Picture {
            width,
            height,
            bits,
            codec: FourCc(codec),
        }
    }

    #[test]
    fn rows_of_rgb_are_turned() {
        let raw = Raw::of(&picture([0; 4], 1, 2, 24)).expect("raw");
        assert_eq!((raw.name(), raw.bytes(), raw.size()), ("BGR", 8, 8));
        let mut to = [9; 8];
        raw.fill(&[1, 2, 3, 0, 4, 5, 6, 0], &mut to).expect("whole");
        assert_eq!((&to[..3], &to[4..7]), (&[4, 5, 6][..], &[1, 2, 3][..]));
        let raw = Raw::of(&picture([0; 4], 1, -2, 24)).expect("raw");
        raw.fill(&[1, 2, 3, 0, 4, 5, 6, 0], &mut to).expect("whole");
        assert_eq!((&to[..3], &to[4..7]), (&[1, 2, 3][..], &[4, 5, 6][..]));
        let raw = Raw::of(&picture([0; 4], 1, 2, 32)).expect("raw");
        raw.fill(&[1, 2, 3, 0, 4, 5, 6, 0], &mut to).expect("whole");
        assert_eq!(to, [4, 5, 6, 0, 1, 2, 3, 0]);
    }

    #[test]
    fn planes_get_their_padding() {
        let raw = Raw::of(&picture(*b"I420", 2, 2, 12)).expect("raw");
        assert_eq!((raw.bytes(), raw.size()), (6, 16));
        let mut to = [0; 16];
        raw.fill(&[1, 2, 3, 4, 5, 6], &mut to).expect("whole");
        assert_eq!(to, [1, 2, 0, 0, 3, 4, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0]);
        let error = raw.fill(&[1, 2, 3], &mut to).expect_err("too few");
        assert_eq!((error.have, error.need), (3, 6));
    }

    #[test]
    fn what_no_picture_is() {
        for (codec, width, height, bits) in [
            ([0; 4], 0, 2, 24),
            ([0; 4], 2, 0, 24),
            ([0; 4], -2, 2, 24),
            ([0; 4], 2, 2, 8),
            (*b"MJPG", 2, 2, 24),
            ([0; 4], i32::MAX, i32::MIN, 24),
        ] {
            assert_eq!(Raw::of(&picture(codec, width, height, bits)), None);
        }
        // It has a name, and no memory has room for it: that is for the pool to say.
        assert!(Raw::of(&picture([0; 4], i32::MAX, i32::MAX, 32)).is_some());
    }
}
