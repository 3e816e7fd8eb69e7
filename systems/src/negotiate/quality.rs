//! How much a value holds: colour and depth of formats, and sizes, rates and channels on a scale on
//! which a doubling counts 65536. Facts of GStreamer's and FFmpeg's format lists; integers only.

use tickpipe_components::caps::Value;

/// What a doubling counts.
const DOUBLING: u64 = 65_536;

/// Colour and depth of a format: a class of colour (2 for each of grey, 4:1:0, 4:1:1, 4:2:0, 4:2:2,
/// 4:4:4 or RGB, and 1 for alpha), and bits of a sample. `None` if the name says nothing.
pub(super) fn format(name: &str) -> Option<(u64, u64)> {
    if let Some(bits) = audio_bits(name) {
        return Some((0, bits));
    }
    let (stem, bits) = depth(name);
    let colour = match stem {
        "GRAY" => 0,
        "YVU9" | "YUV9" => 2,
        "Y41B" | "IYU1" => 4,
        "I420" | "YV12" | "NV12" | "NV21" | "P010" | "P012" | "P016" => 6,
        "A420" | "AV12" => 7,
        "Y42B" | "NV16" | "NV61" | "VYUY" | "UYVY" | "YVYU" | "YUY2" | "UYVP" | "v210" | "v216"
        | "Y210" | "Y212" | "I422" => 8,
        "A422" => 9,
        "Y444" | "NV24" | "IYU2" | "v308" | "RGB" | "BGR" | "GBR" | "RGBP" | "BGRP" | "RGBx"
        | "BGRx" | "xRGB" | "xBGR" | "r210" | "RGB16" | "BGR16" | "RGB15" | "BGR15" | "RGB8P" => 10,
        "RGBA" | "BGRA" | "ARGB" | "ABGR" | "AYUV" | "VUYA" | "GBRA" | "A444" | "Y410" | "Y412"
        | "RGB10A2" | "BGR10A2" => 11,
        _ => return None,
    };
    Some((colour, bits))
}

/// The stem of a raw video format's name, and the bits of its samples.
fn depth(name: &str) -> (&str, u64) {
    match name {
        "v210" | "Y210" | "UYVP" | "r210" | "Y410" => return (name, 10),
        "v216" => return (name, 16),
        "RGB16" | "BGR16" | "RGB15" | "BGR15" => return (name, 5),
        "RGB8P" => return (name, 3),
        "GRAY8" => return ("GRAY", 8),
        _ => {}
    }
    // Endianness and tiling say nothing of what is held.
    let stem = name.split('_').next().unwrap_or(name);
    let tail = &name[stem.len()..];
    let digits = |text: &str| -> u64 {
        let number: String = text
            .chars()
            .skip_while(|c| !c.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        number.parse().unwrap_or(8)
    };
    match stem {
        "Y212" | "Y412" => (stem, 12),
        "P010" | "RGB10A2" | "BGR10A2" => (stem, 10),
        "P012" => (stem, 12),
        "P016" => (stem, 16),
        "GRAY16" => ("GRAY", 16),
        "GRAY10" => ("GRAY", 10),
        "AYUV64" => ("AYUV", 16),
        "ARGB64" | "RGBA64" | "BGRA64" | "ABGR64" => (&stem[..4], 16),
        // `_10LE` is depth, `_8L128` and the like are tiles.
        _ if tail.contains("LE") || tail.contains("BE") => (stem, digits(tail)),
        _ => (stem, 8),
    }
}

/// Bits of a raw audio sample; of floats those of the significand.
fn audio_bits(name: &str) -> Option<u64> {
    let rest = name.strip_prefix(['S', 'U', 'F'])?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let bits: u64 = rest[..digits].parse().ok()?;
    if !matches!(&rest[digits..], "" | "LE" | "BE" | "_32LE" | "_32BE") {
        return None;
    }
    Some(match (name.as_bytes()[0], bits) {
        (b'F', 32) => 25,
        (b'F', 64) => 54,
        _ => bits,
    })
}

/// A number on the scale; `None` if it is none, or not above zero.
pub(super) fn scale(value: &Value) -> Option<u64> {
    match value {
        Value::Int(v) => logarithm(u64::try_from(*v).ok()?, 1),
        Value::Uint(v) => logarithm(u64::from(*v), 1),
        Value::Fraction(f) => logarithm(u64::try_from(f.num()).ok()?, u64::try_from(f.den()).ok()?),
        _ => None,
    }
}

/// `65536 · (32 + log2(num / den))`, rounded down.
fn logarithm(num: u64, den: u64) -> Option<u64> {
    if num == 0 || den == 0 || num > u64::from(u32::MAX) || den > u64::from(u32::MAX) {
        return None;
    }
    // The ratio as a number in [1, 2) with 62 bits after the point, and its exponent.
    let mut ratio = (u128::from(num) << 64) / u128::from(den);
    let exponent = ratio.ilog2();
    ratio = if exponent > 62 {
        ratio >> (exponent - 62)
    } else {
        ratio << (62 - exponent)
    };
    let mut fraction = 0;
    for _ in 0..DOUBLING.ilog2() {
        ratio = (ratio * ratio) >> 62;
        fraction *= 2;
        if ratio >> 63 != 0 {
            ratio >>= 1;
            fraction += 1;
        }
    }
    Some((u64::from(exponent) - 32) * DOUBLING + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickpipe_components::caps::{audio_formats, video_formats};

    #[test]
    fn every_known_raw_format_has_colour_and_depth() {
        let not_raw = ["ENCODED", "DMA_DRM"];
        for name in video_formats().iter().filter(|n| !not_raw.contains(n)) {
            assert!(format(name).is_some(), "{name}");
        }
        for name in audio_formats() {
            assert!(format(name).is_some(), "{name}");
        }
        assert_eq!(format("ENCODED"), None);
        assert_eq!(format("Sx"), None);
        assert_eq!(format(""), None);
    }

    #[test]
    fn formats_hold_what_their_names_say() {
        let cases = [
            ("I420", (6, 8)),
            ("I420_10LE", (6, 10)),
            ("NV12_10LE32", (6, 10)),
            ("NV12_8L128", (6, 8)),
            ("NV12_10BE_8L128", (6, 10)),
            ("ABGR64_LE", (11, 16)),
            ("ARGB64", (11, 16)),
            ("Y444_16LE", (10, 16)),
            ("GRAY8", (0, 8)),
            ("GRAY16_BE", (0, 16)),
            ("RGB", (10, 8)),
            ("RGB16", (10, 5)),
            ("RGB10A2_LE", (11, 10)),
            ("A422_10LE", (9, 10)),
            ("S16LE", (0, 16)),
            ("S24_32LE", (0, 24)),
            ("F32LE", (0, 25)),
            ("U8", (0, 8)),
        ];
        for (name, held) in cases {
            assert_eq!(format(name), Some(held), "{name}");
        }
    }

    #[test]
    fn a_doubling_counts_65536() {
        let of = |v: i64| scale(&Value::Int(v)).unwrap();
        assert_eq!(of(2) - of(1), 65_536);
        assert_eq!(of(1920) - of(960), 65_536);
        assert!(of(32_767) > of(32_766));
        assert!(of(1300) > of(1280));
        assert_eq!(scale(&Value::Int(0)), None);
        assert_eq!(scale(&Value::Int(-5)), None);
        let half = tickpipe_components::caps::Fraction::new(1, 2).unwrap();
        assert_eq!(of(1) - scale(&Value::Fraction(half)).unwrap(), 65_536);
    }
}
