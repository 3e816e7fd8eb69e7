//! A WAV header to be written before the samples. Bytes only.

use super::format::{Format, SUBFORMAT, TAG_EXTENSIBLE, TAG_PCM};

/// The samples do not fit in a RIFF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{len} bytes of samples do not fit in a WAV file, allowed are {max}")]
pub struct DataTooLong {
    /// Bytes given.
    pub len: u64,
    /// Most bytes.
    pub max: u64,
}

/// The header of a file with `data_len` bytes of samples; `None` if that is not known, as in a
/// stream: both sizes are 4294967295 then.
///
/// 44 bytes for PCM; other tags have a `fact` chunk too. Behind samples of odd length one byte of
/// [`padding`] is to be written.
///
/// # Errors
/// [`DataTooLong`].
pub fn header_bytes(format: &Format, data_len: Option<u64>) -> Result<Vec<u8>, DataTooLong> {
    let fmt = fmt(format);
    let fact = format.tag != TAG_PCM;
    let before = 4 + 8 + fmt.len() as u64 + if fact { 12 } else { 0 } + 8;
    let max = u64::from(u32::MAX) - 1 - before - 1;
    let (riff_size, size, samples) = match data_len {
        None => (u32::MAX, u32::MAX, u32::MAX),
        Some(len) if len > max => return Err(DataTooLong { len, max }),
        Some(len) => (
            (before + len + padding(len) as u64) as u32,
            len as u32,
            (len / u64::from(format.block_align.max(1))) as u32,
        ),
    };
    let mut out = Vec::with_capacity(before as usize + 8);
    out.extend(b"RIFF");
    out.extend(riff_size.to_le_bytes());
    out.extend(b"WAVEfmt ");
    out.extend((fmt.len() as u32).to_le_bytes());
    out.extend(fmt);
    if fact {
        out.extend(b"fact");
        out.extend(4u32.to_le_bytes());
        out.extend(samples.to_le_bytes());
    }
    out.extend(b"data");
    out.extend(size.to_le_bytes());
    Ok(out)
}

/// Zeros to write behind so many bytes of samples: 0 or 1.
pub const fn padding(data_len: u64) -> usize {
    (data_len % 2) as usize
}

/// The body of the `fmt ` chunk.
fn fmt(format: &Format) -> Vec<u8> {
    let tag = if format.extensible {
        TAG_EXTENSIBLE
    } else {
        format.tag
    };
    // A codec's blocks may be so large that their bits are no such number: then it is as it was read.
    let container = format.sample_bytes.checked_mul(8).filter(|bits| *bits > 0);
    let bits = match container {
        Some(container) if format.extensible => container,
        _ => format.valid_bits,
    };
    let mut out = Vec::with_capacity(40);
    out.extend(tag.to_le_bytes());
    out.extend(format.channels.to_le_bytes());
    out.extend(format.rate.to_le_bytes());
    let byte_rate = u32::try_from(format.byte_rate()).unwrap_or(u32::MAX);
    out.extend(byte_rate.to_le_bytes());
    let align = u16::try_from(format.block_align).unwrap_or(0);
    out.extend(align.to_le_bytes());
    out.extend(bits.to_le_bytes());
    if format.extensible {
        out.extend(22u16.to_le_bytes());
        out.extend(format.valid_bits.to_le_bytes());
        out.extend(format.mask.unwrap_or(0).to_le_bytes());
        out.extend(format.tag.to_le_bytes());
        out.extend(SUBFORMAT);
    } else if format.tag != TAG_PCM {
        out.extend(0u16.to_le_bytes());
    }
    out
}
