//! Test pictures: the patterns of GStreamer's `videotestsrc` drawn into frames of any
//! format, in the colours that its colorimetry asks for.
//!
//! A picture is a function of pattern, size, seed and frame index alone. Colours are
//! given in R, G, B and become samples through [`super::colour_matrix`]; chroma is
//! averaged by the rule of [`super::chroma`], as if a 4:4:4 picture were converted.
//! Three colours of the lower SMPTE strip (-I, +Q, below black) lie outside what R,
//! G, B can say: in limited-range YUV and grey they have GStreamer's levels.
//!
//! Positions are those of GStreamer 1.22. Differences: noise is this module's own
//! (seeded, the same for one frame index), the ball's path is computed with an
//! integer sine (its centre is within a tenth of a pixel), and grey formats follow
//! their colorimetry (GStreamer draws limited range whatever it says).

use thiserror::Error;
use tickpipe_components::video::{
    ChromaSite, Colorimetry, Family, FrameMut, Range, VideoFormat, VideoInfo,
};

use super::colour_matrix::{Meaning, apply, matrix};
use super::convert::stages::{Shape, Stages};
use super::convert::{key, meaning};
use super::cpu::Cpu;
use picture::{Colour, Picture};

mod ball;
mod picture;

/// A test picture. Names and numbers are those of `videotestsrc`'s `pattern`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// `smpte`: seven bars, a strip of colours between black, and below it -I, white,
    /// +Q, below black, black, dark grey, and noise.
    #[default]
    Smpte,
    /// `snow`: grey noise, new in each frame.
    Snow,
    /// `black`.
    Black,
    /// `white`.
    White,
    /// `red`.
    Red,
    /// `green`.
    Green,
    /// `blue`.
    Blue,
    /// `checkers-1`: red and green squares of one pixel.
    Checkers1,
    /// `checkers-2`: of two pixels.
    Checkers2,
    /// `checkers-4`: of four pixels.
    Checkers4,
    /// `checkers-8`: of eight pixels.
    Checkers8,
    /// `blink`: black and white frames in turn.
    Blink,
    /// `ball`: a white ball of radius 20 on black; across it takes 200 frames a
    /// swing, down `200 / sqrt(2)`.
    Ball,
    /// `gradient`: rows from black to white, `255 * row / height`.
    Gradient,
}

impl Pattern {
    /// All patterns with name and number.
    pub const ALL: [(Pattern, &'static str, u8); 14] = [
        (Pattern::Smpte, "smpte", 0),
        (Pattern::Snow, "snow", 1),
        (Pattern::Black, "black", 2),
        (Pattern::White, "white", 3),
        (Pattern::Red, "red", 4),
        (Pattern::Green, "green", 5),
        (Pattern::Blue, "blue", 6),
        (Pattern::Checkers1, "checkers-1", 7),
        (Pattern::Checkers2, "checkers-2", 8),
        (Pattern::Checkers4, "checkers-4", 9),
        (Pattern::Checkers8, "checkers-8", 10),
        (Pattern::Blink, "blink", 12),
        (Pattern::Ball, "ball", 18),
        (Pattern::Gradient, "gradient", 23),
    ];

    /// The pattern of that name (exact case).
    pub fn from_name(name: &str) -> Option<Pattern> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, n, _)| *n == name).map(|(p, _, _)| p)
    }

    /// The pattern of that number.
    pub fn from_number(number: u8) -> Option<Pattern> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, _, n)| *n == number).map(|(p, _, _)| p)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(p, _, _)| *p == self).map_or("", |(_, n, _)| n)
    }
}

/// Why a picture cannot be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The frame is not of the format and size that the painter was made for.
    #[error("a {} {}x{} frame was given to a painter made for {} {}x{}",
        .got.0, .got.1, .got.2, .made_for.0, .made_for.1, .made_for.2)]
    Frame {
        /// Format, width and height of the frame.
        got: (VideoFormat, u32, u32),
        /// Format, width and height that were configured.
        made_for: (VideoFormat, u32, u32),
    },
}

/// Draws one pattern into frames of one stream. [`PatternPainter::paint`] allocates
/// nothing.
#[derive(Debug)]
pub struct PatternPainter {
    made_for: (VideoFormat, u32, u32),
    cpu: Cpu,
    stages: Stages,
    picture: Picture,
}

impl PatternPainter {
    /// Prepares `pattern` for streams of `info`; `seed` starts the noise.
    pub fn new(info: &VideoInfo, pattern: Pattern, seed: u64) -> PatternPainter {
        Self::with_cpu(info, pattern, seed, Cpu::detect())
    }

    /// The same for a given instruction set; the pictures are the same.
    pub fn with_cpu(info: &VideoInfo, pattern: Pattern, seed: u64, cpu: Cpu) -> PatternPainter {
        let meaning = meaning(info);
        let shape = Shape {
            meaning,
            sub: (0, 0),
            // Not subsampled: the destination's siting counts.
            site: ChromaSite::Jpeg,
            fields_apart: false,
        };
        let (width, height) = (info.width() as usize, info.height() as usize);
        PatternPainter {
            made_for: key(&info.layout),
            cpu,
            stages: Stages::new(&shape, info, &meaning),
            picture: Picture::new(pattern, width, height, seed, |c| colour(cpu, c, &meaning)),
        }
    }

    /// Draws the picture of `frame_index`. Alpha is opaque; padding is not touched.
    ///
    /// # Errors
    /// [`PatternError::Frame`] if the frame is not of the format and size configured.
    pub fn paint(
        &mut self,
        frame_index: u64,
        frame: &mut FrameMut<'_>,
    ) -> Result<(), PatternError> {
        let (got, made_for) = (key(frame.layout()), self.made_for);
        if got != made_for {
            return Err(PatternError::Frame { got, made_for });
        }
        self.picture.set_frame(frame_index);
        self.stages.run(self.cpu, &self.picture, frame);
        Ok(())
    }
}

/// The samples of a colour.
fn colour(cpu: Cpu, colour: Colour, to: &Meaning) -> [i16; 3] {
    let limited = to.colorimetry.range == Range::Limited;
    if let Some(studio) = colour
        .studio
        .filter(|_| limited && to.family != Family::Rgb)
    {
        return studio.map(|s| s << to.bits.saturating_sub(8));
    }
    let from = Meaning {
        family: Family::Rgb,
        bits: 8,
        colorimetry: Colorimetry::SRGB,
    };
    let inputs = [0, 1, 2].map(|c| from.input(c));
    let [r, g, b] = colour.rgb.map(|v| [i16::from(v)]);
    matrix(&from, to).map(|row| {
        let mut out = [0];
        apply(cpu, &row, [&r, &g, &b], inputs, &mut out);
        out[0]
    })
}
