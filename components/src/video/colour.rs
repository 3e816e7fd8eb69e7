//! What the numbers of pixels mean: range, matrix, transfer and primaries as in
//! GStreamer's `colorimetry` text, and where chroma samples sit (`chroma-site`).
//! Names and numbers only; the arithmetic is in the converters.
//!
//! Names, numbers and round trips are those of GStreamer 1.22
//! (`gst_video_colorimetry_from_string`, `gst_video_chroma_site_from_string`).

use std::fmt;

use thiserror::Error;

/// Which part of the number range the samples use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Range {
    /// Not stated.
    #[default]
    Unknown = 0,
    /// 0 to 255 (0 to 1023 in 10 bit).
    Full = 1,
    /// Luma and RGB 16 to 235, chroma 16 to 240 (times 4 in 10 bit).
    Limited = 2,
}

impl Range {
    /// All values; a value's index is its number in a colorimetry text.
    pub const ALL: [Range; 3] = [Range::Unknown, Range::Full, Range::Limited];

    /// The number that stands for it in a colorimetry text (0 to 2).
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The value of that number.
    pub fn from_number(number: u8) -> Option<Range> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// How luma and colour differences are made from R, G, B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Matrix {
    /// Not stated.
    #[default]
    Unknown = 0,
    /// Identity: the components are R, G, B.
    Rgb = 1,
    /// FCC title 47, 73.682: Kr 0.30, Kb 0.11.
    Fcc = 2,
    /// ITU-R BT.709: Kr 0.2126, Kb 0.0722.
    Bt709 = 3,
    /// ITU-R BT.601, SMPTE 170M: Kr 0.299, Kb 0.114.
    Bt601 = 4,
    /// SMPTE 240M: Kr 0.212, Kb 0.087.
    Smpte240m = 5,
    /// ITU-R BT.2020 non-constant luminance: Kr 0.2627, Kb 0.0593.
    Bt2020 = 6,
}

impl Matrix {
    /// All values; a value's index is its number in a colorimetry text.
    pub const ALL: [Matrix; 7] = [
        Matrix::Unknown,
        Matrix::Rgb,
        Matrix::Fcc,
        Matrix::Bt709,
        Matrix::Bt601,
        Matrix::Smpte240m,
        Matrix::Bt2020,
    ];

    /// The number that stands for it in a colorimetry text (0 to 6).
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The value of that number.
    pub fn from_number(number: u8) -> Option<Matrix> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// The transfer function between light and sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Transfer {
    /// Not stated.
    #[default]
    Unknown = 0,
    /// Linear.
    Gamma10 = 1,
    /// Gamma 1.8.
    Gamma18 = 2,
    /// Gamma 2.0.
    Gamma20 = 3,
    /// Gamma 2.2.
    Gamma22 = 4,
    /// ITU-R BT.709.
    Bt709 = 5,
    /// SMPTE 240M.
    Smpte240m = 6,
    /// IEC 61966-2-1 (sRGB).
    Srgb = 7,
    /// Gamma 2.8.
    Gamma28 = 8,
    /// Logarithmic, 100:1.
    Log100 = 9,
    /// Logarithmic, 316.22777:1.
    Log316 = 10,
    /// ITU-R BT.2020, 12 bit.
    Bt2020Depth12 = 11,
    /// Adobe RGB, gamma 2.19921875.
    AdobeRgb = 12,
    /// ITU-R BT.2020, 10 bit.
    Bt2020Depth10 = 13,
    /// SMPTE ST 2084 (PQ).
    Smpte2084 = 14,
    /// ARIB STD-B67 (HLG).
    AribStdB67 = 15,
    /// ITU-R BT.601.
    Bt601 = 16,
}

impl Transfer {
    /// All values; a value's index is its number in a colorimetry text.
    pub const ALL: [Transfer; 17] = [
        Transfer::Unknown,
        Transfer::Gamma10,
        Transfer::Gamma18,
        Transfer::Gamma20,
        Transfer::Gamma22,
        Transfer::Bt709,
        Transfer::Smpte240m,
        Transfer::Srgb,
        Transfer::Gamma28,
        Transfer::Log100,
        Transfer::Log316,
        Transfer::Bt2020Depth12,
        Transfer::AdobeRgb,
        Transfer::Bt2020Depth10,
        Transfer::Smpte2084,
        Transfer::AribStdB67,
        Transfer::Bt601,
    ];

    /// The number that stands for it in a colorimetry text (0 to 16).
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The value of that number.
    pub fn from_number(number: u8) -> Option<Transfer> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// The chromaticities of R, G, B and white.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Primaries {
    /// Not stated.
    #[default]
    Unknown = 0,
    /// ITU-R BT.709.
    Bt709 = 1,
    /// ITU-R BT.470 system M.
    Bt470M = 2,
    /// ITU-R BT.470 systems B and G.
    Bt470Bg = 3,
    /// SMPTE 170M.
    Smpte170m = 4,
    /// SMPTE 240M.
    Smpte240m = 5,
    /// Generic film.
    Film = 6,
    /// ITU-R BT.2020.
    Bt2020 = 7,
    /// Adobe RGB.
    AdobeRgb = 8,
    /// SMPTE ST 428 (XYZ).
    SmpteSt428 = 9,
    /// SMPTE RP 431 (DCI P3).
    SmpteRp431 = 10,
    /// SMPTE EG 432 (Display P3).
    SmpteEg432 = 11,
    /// EBU 3213.
    Ebu3213 = 12,
}

impl Primaries {
    /// All values; a value's index is its number in a colorimetry text.
    pub const ALL: [Primaries; 13] = [
        Primaries::Unknown,
        Primaries::Bt709,
        Primaries::Bt470M,
        Primaries::Bt470Bg,
        Primaries::Smpte170m,
        Primaries::Smpte240m,
        Primaries::Film,
        Primaries::Bt2020,
        Primaries::AdobeRgb,
        Primaries::SmpteSt428,
        Primaries::SmpteRp431,
        Primaries::SmpteEg432,
        Primaries::Ebu3213,
    ];

    /// The number that stands for it in a colorimetry text (0 to 12).
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The value of that number.
    pub fn from_number(number: u8) -> Option<Primaries> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// Why a colour text is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ColourError {
    /// Neither a name nor four numbers.
    #[error(
        "colorimetry \"{text}\" is neither one of bt601, bt709, smpte240m, sRGB, bt2020, \
         bt2020-10, bt2100-pq, bt2100-hlg nor range:matrix:transfer:primaries"
    )]
    Colorimetry {
        /// The text.
        text: String,
    },
    /// One of the four numbers is not known.
    #[error("colorimetry \"{text}\": {field} must be 0 to {max}")]
    Number {
        /// The text.
        text: String,
        /// `range`, `matrix`, `transfer` or `primaries`.
        field: &'static str,
        /// Largest number known.
        max: usize,
    },
    /// Not a chroma siting.
    #[error(
        "chroma-site \"{text}\" is none of jpeg, mpeg2, dv, cosited, none, h-cosited, \
         v-cosited, alt-line or several of the last three joined by +"
    )]
    ChromaSite {
        /// The text.
        text: String,
    },
}

/// Range, matrix, transfer and primaries of a video signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Colorimetry {
    /// Part of the number range that is used.
    pub range: Range,
    /// How luma and colour differences are made.
    pub matrix: Matrix,
    /// Transfer function.
    pub transfer: Transfer,
    /// Chromaticities.
    pub primaries: Primaries,
}

impl Colorimetry {
    /// Nothing stated: `0:0:0:0`.
    pub const UNKNOWN: Colorimetry = known(
        Range::Unknown,
        Matrix::Unknown,
        Transfer::Unknown,
        Primaries::Unknown,
    );
    /// `bt601`.
    pub const BT601: Colorimetry = known(
        Range::Limited,
        Matrix::Bt601,
        Transfer::Bt601,
        Primaries::Smpte170m,
    );
    /// `bt709`.
    pub const BT709: Colorimetry = known(
        Range::Limited,
        Matrix::Bt709,
        Transfer::Bt709,
        Primaries::Bt709,
    );
    /// `smpte240m`.
    pub const SMPTE240M: Colorimetry = known(
        Range::Limited,
        Matrix::Smpte240m,
        Transfer::Smpte240m,
        Primaries::Smpte240m,
    );
    /// `sRGB`.
    pub const SRGB: Colorimetry = known(Range::Full, Matrix::Rgb, Transfer::Srgb, Primaries::Bt709);
    /// `bt2020`.
    pub const BT2020: Colorimetry = known(
        Range::Limited,
        Matrix::Bt2020,
        Transfer::Bt2020Depth12,
        Primaries::Bt2020,
    );
    /// `bt2020-10`.
    pub const BT2020_10: Colorimetry = known(
        Range::Limited,
        Matrix::Bt2020,
        Transfer::Bt2020Depth10,
        Primaries::Bt2020,
    );
    /// `bt2100-pq`.
    pub const BT2100_PQ: Colorimetry = known(
        Range::Limited,
        Matrix::Bt2020,
        Transfer::Smpte2084,
        Primaries::Bt2020,
    );
    /// `bt2100-hlg`.
    pub const BT2100_HLG: Colorimetry = known(
        Range::Limited,
        Matrix::Bt2020,
        Transfer::AribStdB67,
        Primaries::Bt2020,
    );
    /// `1:4:0:0`, GStreamer's default for grey formats.
    pub const GRAY: Colorimetry = known(
        Range::Full,
        Matrix::Bt601,
        Transfer::Unknown,
        Primaries::Unknown,
    );

    const NAMED: [(&'static str, Colorimetry); 8] = [
        ("bt601", Self::BT601),
        ("bt709", Self::BT709),
        ("smpte240m", Self::SMPTE240M),
        ("sRGB", Self::SRGB),
        ("bt2020", Self::BT2020),
        ("bt2020-10", Self::BT2020_10),
        ("bt2100-pq", Self::BT2100_PQ),
        ("bt2100-hlg", Self::BT2100_HLG),
    ];

    /// Reads a `colorimetry` text: a name, or `range:matrix:transfer:primaries`
    /// in numbers.
    ///
    /// Stricter than GStreamer, which also takes numbers that mean nothing, signs,
    /// spaces and anything after the fourth number.
    ///
    /// # Errors
    /// [`ColourError::Colorimetry`], [`ColourError::Number`].
    pub fn parse(text: &str) -> Result<Colorimetry, ColourError> {
        if let Some((_, value)) = Self::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*value);
        }
        let unknown = || ColourError::Colorimetry {
            text: text.to_owned(),
        };
        let mut numbers = [0u8; 4];
        let mut parts = text.split(':');
        for slot in &mut numbers {
            let part = parts.next().ok_or_else(unknown)?;
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(unknown());
            }
            // A number that does not fit is out of every field's range.
            *slot = part.parse().unwrap_or(u8::MAX);
        }
        if parts.next().is_some() {
            return Err(unknown());
        }
        let bad = |field, max: usize| ColourError::Number {
            text: text.to_owned(),
            field,
            max: max - 1,
        };
        let [range, matrix, transfer, primaries] = numbers;
        Ok(Colorimetry {
            range: Range::from_number(range).ok_or_else(|| bad("range", Range::ALL.len()))?,
            matrix: Matrix::from_number(matrix).ok_or_else(|| bad("matrix", Matrix::ALL.len()))?,
            transfer: Transfer::from_number(transfer)
                .ok_or_else(|| bad("transfer", Transfer::ALL.len()))?,
            primaries: Primaries::from_number(primaries)
                .ok_or_else(|| bad("primaries", Primaries::ALL.len()))?,
        })
    }

    /// The short name, if these four have one.
    pub fn short_name(&self) -> Option<&'static str> {
        let mut named = Self::NAMED.iter();
        named.find(|(_, c)| c == self).map(|(name, _)| *name)
    }

    /// The `colorimetry` text as GStreamer 1.22 writes it: the short name, or four
    /// numbers; `None` if nothing is known.
    pub fn name(&self) -> Option<String> {
        (*self != Self::UNKNOWN).then(|| self.to_string())
    }
}

const fn known(
    range: Range,
    matrix: Matrix,
    transfer: Transfer,
    primaries: Primaries,
) -> Colorimetry {
    Colorimetry {
        range,
        matrix,
        transfer,
        primaries,
    }
}

impl fmt::Display for Colorimetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.short_name() {
            Some(name) => f.write_str(name),
            None => write!(
                f,
                "{}:{}:{}:{}",
                self.range.number(),
                self.matrix.number(),
                self.transfer.number(),
                self.primaries.number()
            ),
        }
    }
}

/// Where chroma samples sit among the luma samples (`chroma-site`).
///
/// Centred means halfway between the two luma columns (rows) that a chroma sample
/// covers; cosited means on the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChromaSite {
    /// `jpeg` (also `none`): centred both ways (JPEG, MPEG-1).
    Jpeg,
    /// `mpeg2` (also `h-cosited`): cosited horizontally, centred vertically.
    Mpeg2,
    /// `v-cosited`: centred horizontally, cosited vertically.
    VCosited,
    /// `cosited`: cosited both ways.
    Cosited,
    /// `alt-line`: chroma of alternate lines belongs to alternate fields.
    AltLine,
    /// `h-cosited+alt-line`.
    HCositedAltLine,
    /// `v-cosited+alt-line`.
    VCositedAltLine,
    /// `dv`: cosited both ways, alternate lines.
    Dv,
}

impl ChromaSite {
    /// All sitings.
    pub const ALL: [ChromaSite; 8] = [
        ChromaSite::Jpeg,
        ChromaSite::Mpeg2,
        ChromaSite::VCosited,
        ChromaSite::Cosited,
        ChromaSite::AltLine,
        ChromaSite::HCositedAltLine,
        ChromaSite::VCositedAltLine,
        ChromaSite::Dv,
    ];

    /// GStreamer's name.
    pub const fn name(self) -> &'static str {
        match self {
            ChromaSite::Jpeg => "jpeg",
            ChromaSite::Mpeg2 => "mpeg2",
            ChromaSite::VCosited => "v-cosited",
            ChromaSite::Cosited => "cosited",
            ChromaSite::AltLine => "alt-line",
            ChromaSite::HCositedAltLine => "h-cosited+alt-line",
            ChromaSite::VCositedAltLine => "v-cosited+alt-line",
            ChromaSite::Dv => "dv",
        }
    }

    /// Whether chroma sits on the first of two luma columns (else between them).
    pub const fn h_cosited(self) -> bool {
        use ChromaSite::{Cosited, Dv, HCositedAltLine, Mpeg2};
        matches!(self, Mpeg2 | Cosited | HCositedAltLine | Dv)
    }

    /// Whether chroma sits on the first of two luma rows (else between them).
    pub const fn v_cosited(self) -> bool {
        use ChromaSite::{Cosited, Dv, VCosited, VCositedAltLine};
        matches!(self, VCosited | Cosited | VCositedAltLine | Dv)
    }

    /// Whether chroma of alternate lines belongs to alternate fields.
    pub const fn alt_line(self) -> bool {
        use ChromaSite::{AltLine, Dv, HCositedAltLine, VCositedAltLine};
        matches!(self, AltLine | HCositedAltLine | VCositedAltLine | Dv)
    }

    /// Reads a `chroma-site` text: a name, or flags joined by `+` in any order.
    ///
    /// # Errors
    /// [`ColourError::ChromaSite`]; also for `unknown`, which callers express as
    /// the absence of a siting.
    pub fn parse(text: &str) -> Result<ChromaSite, ColourError> {
        if let Some(site) = Self::ALL.into_iter().find(|s| s.name() == text) {
            return Ok(site);
        }
        if text == "none" {
            return Ok(ChromaSite::Jpeg);
        }
        let (mut h, mut v, mut alt) = (false, false, false);
        for flag in text.split('+') {
            match flag {
                "h-cosited" => h = true,
                "v-cosited" => v = true,
                "alt-line" => alt = true,
                _ => {
                    return Err(ColourError::ChromaSite {
                        text: text.to_owned(),
                    });
                }
            }
        }
        Ok(match (h, v, alt) {
            (false, false, false) => ChromaSite::Jpeg,
            (true, false, false) => ChromaSite::Mpeg2,
            (false, true, false) => ChromaSite::VCosited,
            (true, true, false) => ChromaSite::Cosited,
            (false, false, true) => ChromaSite::AltLine,
            (true, false, true) => ChromaSite::HCositedAltLine,
            (false, true, true) => ChromaSite::VCositedAltLine,
            (true, true, true) => ChromaSite::Dv,
        })
    }
}

impl fmt::Display for ChromaSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
#[path = "colour_tests.rs"]
mod tests;
