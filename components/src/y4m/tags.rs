//! The values that Y4M fields may take: `C` chroma tags with the geometry of their planes, `I`
//! interlacing, `XCOLORRANGE`.
//!
//! Sources: yuv4mpeg(5) of mjpegtools for the original tags; the high-bit-depth, `mono9`…`mono16`
//! and `XCOLORRANGE` extensions are what FFmpeg writes; `440` and `422jpeg` are libvpx's.
//! Pure data: no I/O, no allocation.

use std::fmt;

/// Most planes that a Y4M frame has (luma, two chroma, alpha).
pub const MAX_PLANES: usize = 4;

/// How chroma is subsampled. Chroma planes are `ceil(width / x)` by `ceil(height / y)` samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Luma only.
    Mono,
    /// Halved in both directions.
    S420,
    /// Halved horizontally.
    S422,
    /// Full resolution.
    S444,
    /// Quartered horizontally.
    S411,
    /// Halved vertically.
    S440,
}

impl Sampling {
    /// Horizontal and vertical divisors of chroma; `None` if there is no chroma.
    pub const fn divisors(self) -> Option<(u32, u32)> {
        match self {
            Sampling::Mono => None,
            Sampling::S420 => Some((2, 2)),
            Sampling::S422 => Some((2, 1)),
            Sampling::S444 => Some((1, 1)),
            Sampling::S411 => Some((4, 1)),
            Sampling::S440 => Some((1, 2)),
        }
    }
}

/// Where chroma samples lie, as far as a Y4M tag can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Siting {
    /// The tag says nothing, or there is no subsampled chroma.
    Unstated,
    /// Centred between luma samples (JPEG, MPEG-1): `420jpeg`, `422jpeg`.
    Center,
    /// On the left luma column, centred vertically (MPEG-2): `420mpeg2`; `422` and `411` too.
    Left,
    /// DV PAL: Cb and Cr on the left column, on alternate lines: `420paldv`.
    PalDv,
}

/// A known `C` tag, supported by tickpipe's raw formats or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChromaTag {
    text: &'static str,
    sampling: Sampling,
    bits: u8,
    siting: Siting,
    alpha: bool,
}

const fn tag(text: &'static str, sampling: Sampling, bits: u8, siting: Siting) -> ChromaTag {
    ChromaTag {
        text,
        sampling,
        bits,
        siting,
        alpha: false,
    }
}

use Sampling::{Mono, S411, S420, S422, S440, S444};
use Siting::{Center, Left, PalDv, Unstated};

/// The tag that stands for a header without `C` (yuv4mpeg(5): 4:2:0, 8 bit, JPEG siting).
pub const DEFAULT_TAG: ChromaTag = tag("420jpeg", S420, 8, Center);

/// Every tag that is known, in the order in which a guess prefers them.
static KNOWN: [ChromaTag; 33] = [
    tag("mono", Mono, 8, Unstated),
    tag("420", S420, 8, Unstated),
    DEFAULT_TAG,
    tag("420mpeg2", S420, 8, Left),
    tag("420paldv", S420, 8, PalDv),
    tag("422", S422, 8, Left),
    tag("444", S444, 8, Unstated),
    tag("420p10", S420, 10, Unstated),
    tag("422jpeg", S422, 8, Center),
    tag("411", S411, 8, Left),
    tag("440", S440, 8, Unstated),
    ChromaTag {
        text: "444alpha",
        sampling: S444,
        bits: 8,
        siting: Unstated,
        alpha: true,
    },
    tag("mono10", Mono, 10, Unstated),
    tag("422p10", S422, 10, Unstated),
    tag("444p10", S444, 10, Unstated),
    tag("440p10", S440, 10, Unstated),
    tag("mono9", Mono, 9, Unstated),
    tag("420p9", S420, 9, Unstated),
    tag("422p9", S422, 9, Unstated),
    tag("444p9", S444, 9, Unstated),
    tag("mono12", Mono, 12, Unstated),
    tag("420p12", S420, 12, Unstated),
    tag("422p12", S422, 12, Unstated),
    tag("444p12", S444, 12, Unstated),
    tag("440p12", S440, 12, Unstated),
    tag("mono14", Mono, 14, Unstated),
    tag("420p14", S420, 14, Unstated),
    tag("422p14", S422, 14, Unstated),
    tag("444p14", S444, 14, Unstated),
    tag("mono16", Mono, 16, Unstated),
    tag("420p16", S420, 16, Unstated),
    tag("422p16", S422, 16, Unstated),
    tag("444p16", S444, 16, Unstated),
];

/// The `C` tags that tickpipe's raw formats can hold, as an error message lists them.
pub const SUPPORTED_TAGS: &str =
    "420jpeg, 420mpeg2, 420paldv, 420, 422, 422jpeg, 444, mono, 420p10";

impl ChromaTag {
    /// All known tags.
    pub fn known() -> impl Iterator<Item = ChromaTag> {
        KNOWN.iter().copied()
    }

    /// The tag written exactly so (without the letter `C`; case matters), if it is known.
    pub fn find(text: &[u8]) -> Option<ChromaTag> {
        KNOWN.iter().copied().find(|t| t.text.as_bytes() == text)
    }

    /// The tag that an `XYSCSS=` comment names (upper case, as FFmpeg and mjpegtools write it).
    pub fn find_xyscss(text: &[u8]) -> Option<ChromaTag> {
        KNOWN
            .iter()
            .copied()
            .find(|t| !t.alpha && t.text.as_bytes().eq_ignore_ascii_case(text))
    }

    /// The first known tag with these properties; siting must match exactly.
    pub fn with(sampling: Sampling, bits: u8, siting: Siting) -> Option<ChromaTag> {
        KNOWN
            .iter()
            .copied()
            .find(|t| t.sampling == sampling && t.bits == bits && t.siting == siting && !t.alpha)
    }

    /// The tag's text, without `C`.
    pub const fn text(self) -> &'static str {
        self.text
    }

    /// How chroma is subsampled.
    pub const fn sampling(self) -> Sampling {
        self.sampling
    }

    /// Significant bits of a sample, 8 to 16; above 8 each sample takes two bytes, little endian.
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// The siting that the tag states.
    pub const fn siting(self) -> Siting {
        self.siting
    }

    /// Whether a fourth plane, of luma's size, holds alpha.
    pub const fn has_alpha(self) -> bool {
        self.alpha
    }

    /// Whether one of tickpipe's raw formats holds such frames (see [`SUPPORTED_TAGS`]).
    pub const fn is_supported(self) -> bool {
        match self.sampling {
            Sampling::S420 => self.bits == 8 || self.bits == 10,
            Sampling::Mono | Sampling::S422 | Sampling::S444 => self.bits == 8 && !self.alpha,
            Sampling::S411 | Sampling::S440 => false,
        }
    }

    /// The comment that FFmpeg writes beside the tag (`420JPEG` beside `420jpeg`), without
    /// `XYSCSS=`; mono has none.
    pub fn xyscss(self) -> Option<String> {
        match (self.sampling, self.alpha) {
            (Sampling::Mono, _) => None,
            (_, true) => Some("444".to_owned()),
            _ => Some(self.text.to_ascii_uppercase()),
        }
    }

    /// The planes of a frame of `width` by `height` luma samples, in file order.
    pub fn planes(self, width: u32, height: u32) -> Planes {
        let bytes = if self.bits > 8 { 2 } else { 1 };
        let plane = |x: u32, y: u32| PlaneShape {
            row_bytes: width.div_ceil(x) as usize * bytes,
            rows: height.div_ceil(y) as usize,
        };
        let mut planes = Planes::default();
        planes.push(plane(1, 1));
        if let Some((x, y)) = self.sampling.divisors() {
            planes.push(plane(x, y));
            planes.push(plane(x, y));
        }
        if self.alpha {
            planes.push(plane(1, 1));
        }
        planes
    }
}

impl fmt::Display for ChromaTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "C{}", self.text)
    }
}

/// One plane in a file: `rows` rows of `row_bytes` bytes, without padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneShape {
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Number of rows.
    pub rows: usize,
}

impl PlaneShape {
    /// Bytes of the plane in the file.
    pub const fn bytes(self) -> u64 {
        self.row_bytes as u64 * self.rows as u64
    }
}

/// The planes of a frame, at most [`MAX_PLANES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planes {
    shapes: [PlaneShape; MAX_PLANES],
    len: usize,
}

impl Planes {
    fn push(&mut self, shape: PlaneShape) {
        if let Some(slot) = self.shapes.get_mut(self.len) {
            *slot = shape;
            self.len += 1;
        }
    }

    /// The planes, in file order.
    pub fn as_slice(&self) -> &[PlaneShape] {
        self.shapes.get(..self.len).unwrap_or(&[])
    }

    /// Bytes of a frame in the file, without its `FRAME` line.
    pub fn bytes(&self) -> u64 {
        self.as_slice().iter().map(|p| p.bytes()).sum()
    }
}

/// What the `I` field says of the whole stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interlacing {
    /// `I?`, or no `I`: unknown. Read as progressive, *assumed*.
    #[default]
    Unknown,
    /// `Ip`.
    Progressive,
    /// `It`: interlaced, top field first.
    TopFirst,
    /// `Ib`: interlaced, bottom field first.
    BottomFirst,
    /// `Im`: each `FRAME` line says for itself.
    Mixed,
}

impl Interlacing {
    /// The letter after `I`.
    pub const fn letter(self) -> u8 {
        match self {
            Interlacing::Unknown => b'?',
            Interlacing::Progressive => b'p',
            Interlacing::TopFirst => b't',
            Interlacing::BottomFirst => b'b',
            Interlacing::Mixed => b'm',
        }
    }

    /// The meaning of the letter after `I`.
    pub const fn from_letter(letter: u8) -> Option<Interlacing> {
        Some(match letter {
            b'?' => Interlacing::Unknown,
            b'p' => Interlacing::Progressive,
            b't' => Interlacing::TopFirst,
            b'b' => Interlacing::BottomFirst,
            b'm' => Interlacing::Mixed,
            _ => return None,
        })
    }
}

/// What `XCOLORRANGE` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// `LIMITED`: luma 16 to 235.
    Limited,
    /// `FULL`: 0 to 255.
    Full,
}

impl Range {
    /// The comment's value.
    pub const fn text(self) -> &'static str {
        match self {
            Range::Limited => "LIMITED",
            Range::Full => "FULL",
        }
    }

    /// The meaning of the comment's value.
    pub fn from_text(text: &[u8]) -> Option<Range> {
        match text {
            b"LIMITED" => Some(Range::Limited),
            b"FULL" => Some(Range::Full),
            _ => None,
        }
    }
}
