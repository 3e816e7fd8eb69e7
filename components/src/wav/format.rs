//! The `fmt ` chunk: read leniently, with what is believed where it contradicts itself. Pure
//! functions on bytes.

use crate::cut::{u16_at, u32_at};

use super::error::{WavError, WavWarning};

/// The tag of whole numbers.
pub const TAG_PCM: u16 = 1;
/// The tag of floating-point numbers.
pub const TAG_FLOAT: u16 = 3;
/// The tag that says that the tag comes later.
pub(super) const TAG_EXTENSIBLE: u16 = 0xFFFE;
/// What follows the tag in a subformat that is made of one.
pub(super) const SUBFORMAT: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71];
/// Bytes of the chunk that are looked at.
pub(crate) const LOOKED_AT: usize = 40;
/// Bytes of the widest sample.
const MAX_SAMPLE_BYTES: u32 = 8;

/// How one sample of one channel is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Samples {
    /// 8 bits without sign, 128 is silence.
    U8,
    /// 16 bits.
    S16,
    /// 24 bits in 3 bytes.
    S24,
    /// 32 bits.
    S32,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
}

impl Samples {
    /// All of them.
    pub const ALL: [Samples; 6] = [
        Samples::U8,
        Samples::S16,
        Samples::S24,
        Samples::S32,
        Samples::F32,
        Samples::F64,
    ];

    /// Bytes of a sample.
    pub const fn bytes(self) -> u16 {
        match self {
            Samples::U8 => 1,
            Samples::S16 => 2,
            Samples::S24 => 3,
            Samples::S32 | Samples::F32 => 4,
            Samples::F64 => 8,
        }
    }

    /// [`TAG_PCM`] or [`TAG_FLOAT`].
    pub const fn tag(self) -> u16 {
        match self {
            Samples::F32 | Samples::F64 => TAG_FLOAT,
            _ => TAG_PCM,
        }
    }
}

/// What the samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The codec's tag, the one of the subformat where there is one.
    pub tag: u16,
    /// Whether the format is written as WAVE_FORMAT_EXTENSIBLE.
    pub extensible: bool,
    /// Number of channels, 1 or more.
    pub channels: u16,
    /// Samples a second, 1 or more.
    pub rate: u32,
    /// Bytes of a sample of all channels, 1 or more. What a codec other than PCM and float calls a
    /// block.
    pub block_align: u32,
    /// Bytes of a sample of one channel; 0 if a block is no whole number of them.
    pub sample_bytes: u16,
    /// Bits of a sample that count, the upper ones of its bytes.
    pub valid_bits: u16,
    /// Which speakers the channels are for, if it is said.
    pub mask: Option<u32>,
}

impl Format {
    /// The plain format of these samples; `None` for 0 channels or a rate of 0.
    pub fn plain(samples: Samples, channels: u16, rate: u32) -> Option<Format> {
        let sample_bytes = samples.bytes();
        (channels > 0 && rate > 0).then(|| Format {
            tag: samples.tag(),
            extensible: false,
            channels,
            rate,
            block_align: u32::from(channels) * u32::from(sample_bytes),
            sample_bytes,
            valid_bits: sample_bytes * 8,
            mask: None,
        })
    }

    /// How a sample is stored, if it is one of the common ways.
    pub fn samples(&self) -> Option<Samples> {
        Samples::ALL
            .into_iter()
            .find(|s| s.tag() == self.tag && s.bytes() == self.sample_bytes)
    }

    /// Bytes a second.
    pub const fn byte_rate(&self) -> u64 {
        self.rate as u64 * self.block_align as u64
    }

    /// Reads the chunk whose head is at byte `offset` and whose size is `len`; of its body, the
    /// first 40 bytes or all are in `body`. Warnings are added to `warnings`.
    pub(crate) fn parse(
        body: &[u8],
        len: u32,
        offset: u64,
        warnings: &mut Vec<WavWarning>,
    ) -> Result<Format, WavError> {
        let short = || WavError::FormatTooShort { offset, len };
        let wide = |at| u16_at(body, at).ok_or_else(short);
        let at = |field: u64| offset + 8 + field;
        let written_tag = wide(0)?;
        let channels = positive(u32::from(wide(2)?), at(2), "channels", u32::from(u16::MAX))?;
        let rate = positive(u32_at(body, 4).ok_or_else(short)?, at(4), "rate", u32::MAX)?;
        let written_rate = u32_at(body, 8).ok_or_else(short)?;
        let align = wide(12)?;
        let bits = u16_at(body, 14).unwrap_or(0);

        let mut format = Format {
            tag: written_tag,
            extensible: written_tag == TAG_EXTENSIBLE,
            channels: channels as u16,
            rate,
            block_align: u32::from(align),
            sample_bytes: 0,
            valid_bits: bits,
            mask: None,
        };
        let mut valid = None;
        if format.extensible {
            match extension(body) {
                Some((bits, mask, tag, known)) => {
                    valid = (bits > 0).then_some(bits);
                    format.mask = Some(mask);
                    format.tag = tag;
                    let offset = at(24);
                    if !known {
                        warnings.push(WavWarning::SubFormat { offset, tag });
                    }
                    if mask != 0 && mask.count_ones() != channels {
                        warnings.push(WavWarning::Mask {
                            offset: at(20),
                            mask,
                            channels: format.channels,
                        });
                    }
                }
                None => {
                    format.tag = TAG_PCM;
                    format.extensible = false;
                    warnings.push(WavWarning::NoExtension { offset, len });
                }
            }
        }
        format.measure(align, bits, offset, warnings)?;
        format.valid_bits = valid.unwrap_or(format.valid_bits);
        if format.is_linear() {
            let container = format.sample_bytes * 8;
            format.valid_bits = match format.valid_bits {
                0 => container,
                bits => bits.min(container),
            };
            let believed = format.byte_rate();
            if u64::from(written_rate) != believed {
                warnings.push(WavWarning::ByteRate {
                    offset: at(8),
                    written: written_rate,
                    believed,
                });
            }
        }
        Ok(format)
    }

    const fn is_linear(&self) -> bool {
        matches!(self.tag, TAG_PCM | TAG_FLOAT)
    }

    /// Block align and bytes of a sample, as believed.
    fn measure(
        &mut self,
        align: u16,
        bits: u16,
        offset: u64,
        warnings: &mut Vec<WavWarning>,
    ) -> Result<(), WavError> {
        let channels = u32::from(self.channels);
        let whole = u32::from(align).is_multiple_of(channels);
        let each = if whole {
            u32::from(align) / channels
        } else {
            0
        };
        if !self.is_linear() {
            positive(
                u32::from(align),
                offset + 20,
                "block align",
                u32::from(u16::MAX),
            )?;
            self.sample_bytes = each as u16;
            return Ok(());
        }
        let needed = u32::from(bits).div_ceil(8);
        if (needed.max(1)..=MAX_SAMPLE_BYTES).contains(&each) {
            self.sample_bytes = each as u16;
            return Ok(());
        }
        let max = MAX_SAMPLE_BYTES * 8;
        positive(u32::from(bits), offset + 22, "bits", max)?;
        self.sample_bytes = needed as u16;
        self.block_align = channels * needed;
        warnings.push(WavWarning::BlockAlign {
            offset: offset + 20,
            written: align,
            believed: self.block_align,
        });
        Ok(())
    }
}

fn positive(value: u32, offset: u64, field: &'static str, max: u32) -> Result<u32, WavError> {
    if (1..=max).contains(&value) {
        Ok(value)
    } else {
        Err(WavError::OutOfRange {
            offset,
            field,
            value,
            max,
        })
    }
}

/// Valid bits, mask, tag, and whether the subformat is made of the tag.
fn extension(body: &[u8]) -> Option<(u16, u32, u16, bool)> {
    let known = body.get(26..40)? == SUBFORMAT;
    Some((
        u16_at(body, 18)?,
        u32_at(body, 20)?,
        u16_at(body, 24)?,
        known,
    ))
}
