//! An IVF file's header and a frame's head, read and written. Pure functions on bytes.

use crate::cut::{FourCc, u16_at, u32_at, u64_at};
use crate::y4m::Found;

/// What an IVF file begins with.
pub const MAGIC: [u8; 4] = *b"DKIF";
/// Bytes of a header as everybody writes it.
pub const HEADER_BYTES: usize = 32;
/// Bytes before each frame: its size and its time.
pub const FRAME_HEAD_BYTES: usize = 12;

/// Ticks a second of the time stamps, `num / den`, not reduced; both at least 1. A tick lasts
/// `den / num` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The number at byte 16 (25 in a file of 25 frames a second).
    pub num: u32,
    /// The number at byte 20 (1 in that file).
    pub den: u32,
}

/// What an IVF header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The codec: `VP80`, `VP90`, `AV01` and others.
    pub fourcc: FourCc,
    /// Width in pixels as written; may be 0, the stream itself counts.
    pub width: u16,
    /// Height in pixels as written; may be 0.
    pub height: u16,
    /// Ticks a second; `None` if a part is 0.
    pub rate: Option<Rate>,
    /// Number of frames as written. Not to be relied on; `None` if it is 0 or 4294967295, which
    /// writers that do not know it leave.
    pub frames: Option<u32>,
    /// Bytes before the first frame: [`HEADER_BYTES`] or more.
    pub bytes: u16,
}

/// Why an IVF stream cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IvfError {
    /// There is not one byte.
    #[error("empty: no IVF header")]
    Empty,
    /// It begins with something else.
    #[error("not an IVF file: expected \"DKIF\" at byte 0, found {found}")]
    Magic {
        /// The first bytes, up to and including the first wrong one.
        found: Found,
    },
}

/// Something odd in a header that can be read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IvfWarning {
    /// A version other than 0; read as 0.
    #[error("byte 4: version {version}, read as version 0")]
    Version {
        /// The version as written.
        version: u16,
    },
    /// The header says that it is shorter than its own fields; taken for 32 bytes.
    #[error("byte 6: a header of {written} bytes, taken for {HEADER_BYTES}")]
    HeaderLength {
        /// The length as written.
        written: u16,
    },
    /// A part of the time base is 0: times are unknown.
    #[error("byte 16: time base {den}/{num} has a part of 0; the times of frames mean nothing")]
    NoRate {
        /// The number at byte 16.
        num: u32,
        /// The number at byte 20.
        den: u32,
    },
}

/// Checks as many bytes of the magic as there are.
pub(super) fn check_magic(bytes: &[u8]) -> Result<(), IvfError> {
    let wrong = bytes.iter().zip(MAGIC).position(|(a, b)| *a != b);
    wrong.map_or(Ok(()), |at| {
        let found = Found::new(bytes.get(..=at).unwrap_or(bytes));
        Err(IvfError::Magic { found })
    })
}

impl Header {
    /// Reads the first [`HEADER_BYTES`] of a file; `None` if there are fewer.
    ///
    /// # Errors
    /// [`IvfError::Magic`].
    pub fn parse(bytes: &[u8]) -> Result<Option<(Header, Vec<IvfWarning>)>, IvfError> {
        check_magic(bytes)?;
        Ok(Header::fields(bytes))
    }

    fn fields(bytes: &[u8]) -> Option<(Header, Vec<IvfWarning>)> {
        let mut warnings = Vec::new();
        let version = u16_at(bytes, 4)?;
        if version != 0 {
            warnings.push(IvfWarning::Version { version });
        }
        let written = u16_at(bytes, 6)?;
        if usize::from(written) < HEADER_BYTES {
            warnings.push(IvfWarning::HeaderLength { written });
        }
        let (num, den) = (u32_at(bytes, 16)?, u32_at(bytes, 20)?);
        if num == 0 || den == 0 {
            warnings.push(IvfWarning::NoRate { num, den });
        }
        let frames = u32_at(bytes, 24)?;
        u32_at(bytes, 28)?;
        let header = Header {
            fourcc: FourCc::at(bytes, 8)?,
            width: u16_at(bytes, 12)?,
            height: u16_at(bytes, 14)?,
            rate: (num > 0 && den > 0).then_some(Rate { num, den }),
            frames: (frames != 0 && frames != u32::MAX).then_some(frames),
            bytes: written.max(HEADER_BYTES as u16),
        };
        Some((header, warnings))
    }

    /// The header's 32 bytes. [`bytes`](Header::bytes) is not looked at.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let (num, den) = self.rate.map_or((0, 0), |r| (r.num, r.den));
        let mut out = [0; HEADER_BYTES];
        let fields = [
            &MAGIC[..],
            &0u16.to_le_bytes(),
            &(HEADER_BYTES as u16).to_le_bytes(),
            &self.fourcc.0,
            &self.width.to_le_bytes(),
            &self.height.to_le_bytes(),
            &num.to_le_bytes(),
            &den.to_le_bytes(),
            &self.frames.unwrap_or(0).to_le_bytes(),
            &[0; 4],
        ];
        for (to, from) in out.iter_mut().zip(fields.into_iter().flatten()) {
            *to = *from;
        }
        out
    }
}

/// What stands before a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of the frame, without this head.
    pub size: u32,
    /// Its presentation time in ticks of [`Header::rate`].
    pub pts: u64,
}

impl FrameHead {
    /// Reads a head; `None` if there are fewer than [`FRAME_HEAD_BYTES`].
    pub fn parse(bytes: &[u8]) -> Option<FrameHead> {
        Some(FrameHead {
            size: u32_at(bytes, 0)?,
            pts: u64_at(bytes, 4)?,
        })
    }

    /// The head's bytes.
    pub fn to_bytes(self) -> [u8; FRAME_HEAD_BYTES] {
        let mut out = [0; FRAME_HEAD_BYTES];
        let (size, pts) = (self.size.to_le_bytes(), self.pts.to_le_bytes());
        for (to, from) in out.iter_mut().zip(size.into_iter().chain(pts)) {
            *to = from;
        }
        out
    }

    /// Bytes of head and frame.
    pub const fn span(self) -> u64 {
        FRAME_HEAD_BYTES as u64 + self.size as u64
    }
}
