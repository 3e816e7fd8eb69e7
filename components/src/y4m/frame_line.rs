//! The `FRAME` line: its parameters, read and written. Pure functions on bytes.
//!
//! Nothing in it changes where the payload lies, so what is not understood is no error: it is
//! reported once per line as [`FrameLine::odd`] and otherwise ignored.

use super::tags::Interlacing;

/// Longest `FRAME` line that is read, its end of line included (FFmpeg stops at 80 bytes).
pub const MAX_FRAME_LINE_BYTES: usize = 4096;

/// The line of a frame without parameters.
pub const FRAME_LINE: &[u8] = b"FRAME\n";

/// How the fields of one frame are shown: the first letter of a frame's `I`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presentation {
    /// `t`: top field first.
    TopFirst,
    /// `T`: top field first, and again.
    TopFirstRepeat,
    /// `b`: bottom field first.
    BottomFirst,
    /// `B`: bottom field first, and again.
    BottomFirstRepeat,
    /// `1`: one progressive frame.
    Single,
    /// `2`: a progressive frame shown twice.
    Double,
    /// `3`: a progressive frame shown three times.
    Triple,
}

impl Presentation {
    const ALL: [(u8, Presentation); 7] = [
        (b't', Presentation::TopFirst),
        (b'T', Presentation::TopFirstRepeat),
        (b'b', Presentation::BottomFirst),
        (b'B', Presentation::BottomFirstRepeat),
        (b'1', Presentation::Single),
        (b'2', Presentation::Double),
        (b'3', Presentation::Triple),
    ];

    /// The letter in the file.
    pub fn letter(self) -> u8 {
        let mut all = Self::ALL.iter();
        all.find(|(_, p)| *p == self).map_or(b'1', |(l, _)| *l)
    }
}

/// A frame's `Ixyz` parameter (yuv4mpeg(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameInterlacing {
    /// x: how the fields are shown.
    pub presentation: Presentation,
    /// y: whether both fields were sampled at one instant (`p`) or not (`i`).
    pub progressive: bool,
    /// z: whether chroma was subsampled over the frame (`p`), by field (`i`), or nobody knows
    /// (`?`).
    pub chroma_progressive: Option<bool>,
}

impl FrameInterlacing {
    /// Reads the value after `I`.
    pub fn parse(value: &[u8]) -> Option<FrameInterlacing> {
        let [x, y, z] = value else { return None };
        let (_, presentation) = Presentation::ALL.into_iter().find(|(l, _)| l == x)?;
        let progressive = match y {
            b'p' => true,
            b'i' => false,
            _ => return None,
        };
        let chroma_progressive = match z {
            b'p' => Some(true),
            b'i' => Some(false),
            b'?' => None,
            _ => return None,
        };
        Some(FrameInterlacing {
            presentation,
            progressive,
            chroma_progressive,
        })
    }

    /// The three letters after `I`.
    pub fn letters(self) -> [u8; 3] {
        let p = |progressive: bool| if progressive { b'p' } else { b'i' };
        [
            self.presentation.letter(),
            p(self.progressive),
            self.chroma_progressive.map_or(b'?', p),
        ]
    }

    /// What a stream of such frames alone would say in its header.
    pub fn as_stream(self) -> Interlacing {
        match self.presentation {
            Presentation::TopFirst | Presentation::TopFirstRepeat => Interlacing::TopFirst,
            Presentation::BottomFirst | Presentation::BottomFirstRepeat => Interlacing::BottomFirst,
            Presentation::Single | Presentation::Double | Presentation::Triple => {
                Interlacing::Progressive
            }
        }
    }
}

/// A `FRAME` line, seen in the reader's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLine<'a> {
    text: &'a [u8],
}

impl<'a> FrameLine<'a> {
    /// Sees a line, with or without its end.
    pub(super) fn new(line: &'a [u8]) -> FrameLine<'a> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        FrameLine {
            text: line.strip_suffix(b"\r").unwrap_or(line),
        }
    }

    /// The line without its end of line.
    pub const fn text(self) -> &'a [u8] {
        self.text
    }

    /// The parameters as written, in order; empty ones left out.
    pub fn parameters(self) -> impl Iterator<Item = &'a [u8]> {
        let parameters = self.text.split(|b| *b == b' ').skip(1);
        parameters.filter(|p| !p.is_empty())
    }

    /// The last `I` parameter that can be read.
    pub fn interlacing(self) -> Option<FrameInterlacing> {
        self.parameters()
            .filter_map(|p| FrameInterlacing::parse(p.strip_prefix(b"I")?))
            .last()
    }

    /// The first parameter that is neither a comment (`X`) nor an `I` that can be read; it was
    /// ignored, and a caller may want to say so.
    pub fn odd(self) -> Option<&'a [u8]> {
        self.parameters().find(|p| match p.split_first() {
            Some((b'X', _)) => false,
            Some((b'I', value)) => FrameInterlacing::parse(value).is_none(),
            _ => true,
        })
    }
}
