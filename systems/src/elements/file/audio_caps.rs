//! The caps of sound as WAV and AVI name it, by GStreamer's names. Pure.

use super::heading::number;
use tickpipe_components::caps::{Caps, Structure, Value, ValueSet};
use tickpipe_components::time::TimeBase;
use tickpipe_components::wav::{Format, Samples};

/// Samples as GStreamer names them, with their bytes.
const RAW: [(Samples, &str); 6] = [
    (Samples::U8, "U8"),
    (Samples::S16, "S16LE"),
    (Samples::S24, "S24LE"),
    (Samples::S32, "S32LE"),
    (Samples::F32, "F32LE"),
    (Samples::F64, "F64LE"),
];

const ALAW: u16 = 6;
const MULAW: u16 = 7;
const MS_ADPCM: u16 = 2;
const DVI_ADPCM: u16 = 0x11;

/// Media types that sound can be here.
const MEDIA: [&str; 14] = [
    "audio/x-raw",
    "audio/x-alaw",
    "audio/x-mulaw",
    "audio/x-adpcm",
    "audio/mpeg",
    "audio/x-ac3",
    "audio/x-dts",
    "audio/x-wma",
    "audio/x-flac",
    "audio/x-vorbis",
    "audio/x-truespeech",
    "audio/ms-gsm",
    "audio/AMR",
    "audio/x-opus",
];

fn int(value: impl Into<i64>) -> ValueSet {
    ValueSet::int(value.into())
}

fn text(word: &str) -> ValueSet {
    ValueSet::One(Value::text(word))
}

/// Any number from 1 on.
fn any(most: i64) -> ValueSet {
    ValueSet::int_range(1, most, 1).unwrap_or(ValueSet::int(1))
}

/// What sound can be, for templates; `more` are media types besides.
pub(super) fn template(more: &[&str]) -> Caps {
    let mut caps = Caps::empty();
    for media in MEDIA.iter().chain(more) {
        let mut structure = Structure::new(media)
            .with("rate", any(i32::MAX.into()))
            .with("channels", any(u16::MAX.into()));
        if *media == "audio/x-raw"
            && let Ok(formats) = ValueSet::list(RAW.iter().map(|raw| Value::of(raw.1)))
        {
            structure = structure
                .with("format", formats)
                .with("layout", text("interleaved"));
        }
        // There are fewer than a list of caps holds.
        let _ = caps.push(structure);
    }
    caps
}

/// The caps of a format; `None` if nobody has a name for it.
pub(super) fn caps_of(format: &Format) -> Option<Structure> {
    let with = |media: &str| Structure::new(media);
    let of = match format.tag {
        1 | 3 => {
            let samples = format.samples()?;
            let raw = RAW.iter().find(|raw| raw.0 == samples)?;
            with("audio/x-raw")
                .with("format", text(raw.1))
                .with("layout", text("interleaved"))
        }
        ALAW => with("audio/x-alaw"),
        MULAW => with("audio/x-mulaw"),
        MS_ADPCM | DVI_ADPCM => with("audio/x-adpcm")
            .with(
                "layout",
                text(match format.tag {
                    MS_ADPCM => "microsoft",
                    _ => "dvi",
                }),
            )
            .with("block_align", int(format.block_align)),
        0x22 => with("audio/x-truespeech"),
        0x31 => with("audio/ms-gsm"),
        0x38 => with("audio/AMR"),
        0x50 | 0x55 => with("audio/mpeg")
            .with("mpegversion", int(1))
            .with("layer", int(if format.tag == 0x50 { 2 } else { 3 })),
        0xFF | 0x1600 | 0x1601 | 0x706D => {
            let kind = if format.tag == 0x1600 { "adts" } else { "raw" };
            with("audio/mpeg")
                .with("mpegversion", int(4))
                .with("stream-format", text(kind))
        }
        0x160..=0x162 => with("audio/x-wma").with("wmaversion", int(i64::from(format.tag) - 0x15F)),
        0x2000 => with("audio/x-ac3"),
        0x2001 => with("audio/x-dts"),
        0x566F | 0x674F..=0x6751 | 0x676F..=0x6771 => with("audio/x-vorbis"),
        0x704F => with("audio/x-opus"),
        0xF1AC => with("audio/x-flac"),
        _ => return None,
    };
    let rate = i32::try_from(format.rate).ok()?;
    let mut caps = of
        .with("rate", int(rate))
        .with("channels", int(format.channels));
    let mask = format
        .mask
        .filter(|mask| mask.count_ones() == u32::from(format.channels));
    if let Some(mask) = mask.filter(|mask| *mask > 0) {
        caps = caps.with("channel-mask", ValueSet::One(Value::Bitmask(mask.into())));
    }
    Some(caps)
}

/// Bytes of a block of the sound that caps describe, as far as they tell.
pub(super) fn block_of(caps: &Structure) -> Option<u64> {
    let channels = number(caps, "channels")?;
    match caps.media() {
        "audio/x-raw" => {
            let name = caps.string("format")?;
            let raw = RAW.iter().find(|raw| raw.1 == name)?;
            channels.checked_mul(raw.0.bytes().into())
        }
        "audio/x-alaw" | "audio/x-mulaw" => Some(channels),
        _ => number(caps, "block_align"),
    }
}

/// Samples of one channel in a block, where every block has as many.
pub(super) fn samples_of(format: &Format) -> Option<u64> {
    let channels = u64::from(format.channels);
    let bytes = u64::from(format.block_align);
    match format.tag {
        1 | 3 => Some(1),
        ALAW | MULAW => (bytes == channels).then_some(1),
        // A head of 4 bytes a channel with the first sample; then 4 bits each.
        DVI_ADPCM => Some(bytes.checked_sub(4 * channels)? * 2 / channels + 1),
        // A head of 7 bytes a channel with two.
        MS_ADPCM => Some(bytes.checked_sub(7 * channels)? * 2 / channels + 2),
        _ => None,
    }
}

/// The unit of a format's times: a sample.
pub(super) fn sample_time(rate: u32) -> Option<TimeBase> {
    TimeBase::new(1, rate)
}
