//! The streams of an AVI file by the names of their pads, and their caps by GStreamer's names. Pure.

use super::audio_caps::{self, template};
use super::avi_raw::Raw;
use super::heading::{frame_bytes, framerate, number, sized};
use thiserror::Error;
use tickpipe_components::avi::{Header, Kind, Picture, Stream, StreamFormat};
use tickpipe_components::caps::{Caps, Structure, Value, ValueSet};
use tickpipe_components::cut::FourCc;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::time::TimeBase;

/// What the names of pads begin with.
pub(super) const VIDEO: &str = "video_";
/// The same, of sound.
pub(super) const AUDIO: &str = "audio_";
/// The same, of text.
pub(super) const TEXT: &str = "subtitle_";

/// Pictures that nobody has a name for.
const UNKNOWN_VIDEO: &str = "video/x-avi-unknown";
/// Sound that nobody has a name for.
const UNKNOWN_AUDIO: &str = "audio/x-avi-unknown";
/// Text.
const SUBTITLES: &str = "application/x-subtitle-avi";

/// Bytes of a buffer of sound, at least.
const SOUND: u64 = 256 << 10;
/// Bytes of a buffer of text.
const WORDS: u64 = 64 << 10;

/// A pad without a stream.
#[derive(Debug, Error)]
#[error("there is no {pad}: of that kind the file has {count} streams")]
pub(super) struct NoStream {
    /// The pad.
    pad: String,
    /// How many streams of its kind there are.
    count: usize,
}

impl From<NoStream> for ElementError {
    fn from(error: NoStream) -> ElementError {
        ElementError::new(Domain::Stream, Code::NotFound, error)
    }
}

/// Whether a stream gets a pad whose name begins so.
fn is_of(stream: &Stream, stem: &str) -> bool {
    match stream.kind {
        Kind::Video => stem == VIDEO,
        Kind::Audio => stem == AUDIO,
        Kind::Text => stem == TEXT,
        _ => false,
    }
}

/// The stream of a pad: `audio_1` is the second one of sound.
///
/// # Errors
/// [`NoStream`].
pub(super) fn stream_of<'h>(header: &'h Header, pad: &str) -> Result<(u16, &'h Stream), NoStream> {
    let stems = [VIDEO, AUDIO, TEXT];
    let stem = stems.into_iter().find(|stem| pad.starts_with(stem));
    let number = stem.and_then(|stem| pad.strip_prefix(stem)?.parse::<usize>().ok());
    let of_kind = || {
        let streams = (0u16..).zip(&header.streams);
        streams.filter(|(_, stream)| stem.is_some_and(|stem| is_of(stream, stem)))
    };
    let found = number.and_then(|number| of_kind().nth(number));
    found.ok_or_else(|| NoStream {
        pad: pad.to_owned(),
        count: of_kind().count(),
    })
}

/// The unit of a stream's times.
pub(super) fn tick_of(stream: &Stream) -> Option<TimeBase> {
    let rate = stream.rate?;
    TimeBase::new(rate.scale, rate.rate)
}

fn int(value: impl Into<i64>) -> ValueSet {
    ValueSet::int(value.into())
}

fn yes(value: bool) -> ValueSet {
    ValueSet::One(Value::Bool(value))
}

fn text(word: &str) -> ValueSet {
    ValueSet::One(Value::text(word))
}

/// Media types of pictures, for the template.
const PICTURES: [&str; 25] = [
    "image/jpeg",
    "image/png",
    "video/x-raw",
    "video/mpeg",
    "video/x-divx",
    "video/x-msmpeg",
    "video/x-h263",
    "video/x-h264",
    "video/x-h265",
    "video/x-dv",
    "video/x-huffyuv",
    "video/x-ffv",
    "video/x-wmv",
    "video/x-cinepak",
    "video/x-msvideocodec",
    "video/x-indeo",
    "video/x-vp3",
    "video/x-vp6",
    "video/x-vp8",
    "video/x-vp9",
    "video/x-av1",
    "video/x-theora",
    "video/x-camstudio",
    "video/x-lagarith",
    UNKNOWN_VIDEO,
];

/// What pads of pictures can have.
pub(super) fn pictures() -> Caps {
    sized(&PICTURES)
}

/// What pads of sound can have.
pub(super) fn sound() -> Caps {
    template(&[UNKNOWN_AUDIO])
}

/// What pads of text can have.
pub(super) fn words() -> Caps {
    Caps::from(Structure::new(SUBTITLES))
}

/// The caps of a stream.
pub(super) fn caps_of(stream: &Stream) -> Structure {
    match (&stream.kind, &stream.format) {
        (Kind::Audio, StreamFormat::Audio(format)) => audio_caps::caps_of(format)
            .unwrap_or_else(|| Structure::new(UNKNOWN_AUDIO).with("codec_id", int(format.tag))),
        (Kind::Audio, _) => Structure::new(UNKNOWN_AUDIO),
        (Kind::Text, _) => Structure::new(SUBTITLES),
        (_, StreamFormat::Video(picture)) => {
            let caps = match Raw::of(picture) {
                Some(raw) => Structure::new("video/x-raw").with("format", text(raw.name())),
                None => coded(picture.codec),
            };
            with_picture(caps, picture, stream)
        }
        _ => coded(stream.handler),
    }
}

/// Size and rate.
fn with_picture(mut caps: Structure, picture: &Picture, stream: &Stream) -> Structure {
    let sides = [("width", picture.width), ("height", picture.height)];
    for (name, side) in sides {
        if let Ok(side) = i32::try_from(side.unsigned_abs())
            && side > 0
        {
            caps = caps.with(name, int(side));
        }
    }
    match stream
        .rate
        .and_then(|rate| framerate(rate.rate, rate.scale))
    {
        Some(rate) => caps.with("framerate", rate),
        None => caps,
    }
}

/// The caps of a codec, whatever the case of its letters.
fn coded(codec: FourCc) -> Structure {
    let is = |media: &str| Structure::new(media);
    let mpeg = |version: i64| {
        is("video/mpeg")
            .with("mpegversion", int(version))
            .with("systemstream", yes(false))
    };
    let upper = codec.0.map(|b| b.to_ascii_uppercase());
    match &upper {
        b"MJPG" | b"AVRN" | b"AVDJ" | b"IJPG" | b"JPGL" | b"DMB1" | b"SLMJ" | b"CJPG" | b"QIVG"
        | b"JPEG" | b"MJPA" => is("image/jpeg"),
        b"PNG " | b"PNG1" | b"MPNG" => is("image/png"),
        b"XVID" | b"DIVX" | b"DX50" | b"DIV5" | b"FMP4" | b"MP4V" | b"M4S2" | b"MP4S" | b"RMP4"
        | b"SEDG" | b"UMP4" | b"WV1F" | b"BLZ0" | b"FVFW" | b"FFDS" | b"FXVD" | b"SMP4"
        | b"3IV2" | b"3IVD" | b"3IV1" | b"HDX4" | b"DXGM" => mpeg(4),
        b"MPG1" | b"PIM1" => mpeg(1),
        b"MPG2" | b"MPEG" | b"MMES" | b"LMP2" | b"SLIF" | b"EM2V" | b"VCR2" => mpeg(2),
        b"DIV3" | b"DIV4" | b"DVX3" | b"DIV6" => is("video/x-divx").with("divxversion", int(3)),
        b"MPG4" | b"MP41" | b"DIV1" => is("video/x-msmpeg").with("msmpegversion", int(41)),
        b"MP42" | b"DIV2" => is("video/x-msmpeg").with("msmpegversion", int(42)),
        b"MP43" | b"COL1" | b"AP41" => is("video/x-msmpeg").with("msmpegversion", int(43)),
        b"H263" | b"U263" | b"X263" | b"S263" | b"L263" | b"M263" => is("video/x-h263"),
        b"AVC1" => is("video/x-h264").with("stream-format", text("avc")),
        b"H264" | b"X264" | b"VSSH" => {
            is("video/x-h264").with("stream-format", text("byte-stream"))
        }
        b"HEVC" | b"H265" | b"X265" | b"HEV1" => {
            is("video/x-h265").with("stream-format", text("byte-stream"))
        }
        b"DVSD" | b"DVHD" | b"DVSL" | b"DV25" | b"CDVC" => {
            is("video/x-dv").with("systemstream", yes(false))
        }
        b"HFYU" | b"FFVH" => is("video/x-huffyuv"),
        b"FFV1" => is("video/x-ffv").with("ffvversion", int(1)),
        b"WMV1" => is("video/x-wmv").with("wmvversion", int(1)),
        b"WMV2" => is("video/x-wmv").with("wmvversion", int(2)),
        b"WMV3" | b"WVC1" | b"WMVA" => is("video/x-wmv").with("wmvversion", int(3)),
        b"CVID" => is("video/x-cinepak"),
        b"MSVC" | b"CRAM" | b"WHAM" => is("video/x-msvideocodec").with("msvideoversion", int(1)),
        b"IV31" | b"IV32" => is("video/x-indeo").with("indeoversion", int(3)),
        b"IV41" => is("video/x-indeo").with("indeoversion", int(4)),
        b"IV50" => is("video/x-indeo").with("indeoversion", int(5)),
        b"VP31" | b"VP30" => is("video/x-vp3"),
        b"VP60" | b"VP61" | b"VP62" => is("video/x-vp6"),
        b"VP80" => is("video/x-vp8"),
        b"VP90" => is("video/x-vp9"),
        b"AV01" => is("video/x-av1"),
        b"THEO" => is("video/x-theora"),
        b"CSCD" => is("video/x-camstudio"),
        b"LAGS" => is("video/x-lagarith"),
        _ => {
            let number = i32::from_le_bytes(codec.0);
            is(UNKNOWN_VIDEO).with("fourcc", int(number))
        }
    }
}

/// Bytes of a buffer for what a pad has: as many as are asked for, or as its caps tell.
pub(super) fn bytes_of(asked: u32, caps: Option<&Structure>) -> usize {
    let media = caps.map_or("", Structure::media);
    if media == "video/x-raw" {
        let exact = caps.and_then(Raw::bytes_of_caps).unwrap_or(0);
        return exact.max(asked as usize).max(1);
    }
    let at_least = match media {
        SUBTITLES => WORDS,
        _ if media.starts_with("audio/") => {
            let block = caps.and_then(audio_caps::block_of).unwrap_or(0);
            // A second of it.
            let rate = caps.and_then(|caps| number(caps, "rate")).unwrap_or(0);
            SOUND.max(block.saturating_mul(rate))
        }
        _ => return frame_bytes(asked, caps, 3),
    };
    match asked {
        0 => usize::try_from(at_least.min(32 << 20)).unwrap_or(usize::MAX),
        asked => asked as usize,
    }
}
