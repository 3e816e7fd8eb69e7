//! Which frames can be decoded without others, as far as the first bytes of VP8, VP9 and AV1 frames
//! tell. Pure functions on bytes.

use crate::cut::FourCc;

/// Bytes of a frame that are enough to tell, whatever stands before what is looked at.
pub const KEY_BYTES: usize = 256;

/// Whether a frame of this codec, of which these are the first bytes, can be decoded without others;
/// `None` if that cannot be told.
///
/// - VP8 (RFC 6386, 9.1): the lowest bit of the first byte is 0;
/// - VP9 (its bitstream specification, 6.2): `show_existing_frame` and `frame_type` are 0;
/// - AV1 (its specification, 5.9): the first frame header has `show_existing_frame` 0 and `frame_type`
///   `KEY_FRAME`, or it is a still picture's.
pub fn is_key(codec: FourCc, frame: &[u8]) -> Option<bool> {
    match &codec.0 {
        b"VP80" => frame.first().map(|first| first & 1 == 0),
        b"VP90" => vp9(*frame.first()?),
        b"AV01" => av1(frame),
        _ => None,
    }
}

/// From the first byte: marker 2 bits, profile 2 bits (low, high), a reserved bit with profile 3, then
/// what is asked for.
fn vp9(first: u8) -> Option<bool> {
    if first >> 6 != 0b10 {
        return None;
    }
    let rest = match (first >> 4) & 0b11 {
        0b11 => first << 5,
        _ => first << 4,
    };
    Some(rest & 0b1100_0000 == 0)
}

const SEQUENCE_HEADER: u8 = 1;
const FRAME_HEADER: u8 = 3;
const FRAME: u8 = 6;

/// From unit to unit (OBU) up to the first frame header.
fn av1(mut frame: &[u8]) -> Option<bool> {
    let mut still = false;
    loop {
        let (head, rest) = frame.split_first()?;
        let kind = (head >> 3) & 0b1111;
        let rest = match head & 0b100 {
            0 => rest,
            _ => rest.get(1..)?,
        };
        let (len, rest) = match head & 0b10 {
            0 => (rest.len(), rest),
            _ => leb128(rest)?,
        };
        match kind {
            // Profile 3 bits, still picture, reduced still picture header.
            SEQUENCE_HEADER => still = rest.first()? & 0b1000 != 0,
            FRAME_HEADER | FRAME if still => return Some(true),
            FRAME_HEADER | FRAME => return Some(rest.first()? & 0b1110_0000 == 0),
            _ => {}
        }
        frame = rest.get(len..)?;
    }
}

/// A number of 7 bits a byte, the lowest first, and what stands behind it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        value |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{FourCc, is_key};

    #[test]
    fn of_each_codec_the_bits_that_say_it() {
        let of = |codec: &[u8; 4], frame: &[u8]| is_key(FourCc(*codec), frame);
        assert_eq!(of(b"VP80", &[0x50]), Some(true));
        assert_eq!(of(b"VP80", &[0x51]), Some(false));
        assert_eq!(of(b"VP80", &[]), None);
        assert_eq!(of(b"VP90", &[0x82]), Some(true));
        assert_eq!(of(b"VP90", &[0x86]), Some(false));
        // An existing frame is shown; profile 3; no VP9.
        assert_eq!(of(b"VP90", &[0x88]), Some(false));
        assert_eq!(of(b"VP90", &[0xB0]), Some(true));
        assert_eq!(of(b"VP90", &[0xB2]), Some(false));
        assert_eq!(of(b"VP90", &[0x12]), None);
        // Temporal delimiter, sequence header, frame.
        assert_eq!(
            of(b"AV01", &[0x12, 0, 0x0A, 1, 0, 0x32, 2, 0x10, 0]),
            Some(true)
        );
        assert_eq!(of(b"AV01", &[0x12, 0, 0x32, 2, 0x30, 0]), Some(false));
        assert_eq!(of(b"AV01", &[0x0A, 1, 0x18, 0x32, 1, 0xFF]), Some(true));
        assert_eq!(of(b"AV01", &[0x12, 0]), None);
        assert_eq!(
            of(
                b"AV01",
                &[0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
            ),
            None
        );
        assert_eq!(of(b"H264", &[0]), None);
    }
}
