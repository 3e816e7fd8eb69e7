//! What the header of an AVI file says of it and of its streams, and the time of each frame. Pure
//! functions on bytes.

use crate::cut::{FourCc, Span, u16_at, u32_at};
use crate::wav::{self, WavError, WavWarning};

/// Most streams: frames name theirs with two digits.
pub const MAX_STREAMS: usize = 100;
/// Most bytes of a stream's name that are kept.
pub(super) const MAX_NAME: usize = 255;

/// Ticks a second: `rate / scale`, not reduced, both at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The numerator.
    pub rate: u32,
    /// The denominator.
    pub scale: u32,
}

/// What a stream holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `vids`
    Video,
    /// `auds`
    Audio,
    /// `txts`
    Text,
    /// Something else, as written.
    Other(FourCc),
    /// Its `strh` says nothing.
    #[default]
    Unknown,
}

/// What the pictures of a stream are, from BITMAPINFOHEADER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels as written.
    pub width: i32,
    /// Height in pixels as written; raw RGB of negative height has its top row first.
    pub height: i32,
    /// Bits of a pixel.
    pub bits: u16,
    /// The codec; all zeros is raw RGB.
    pub codec: FourCc,
}

/// A stream's `strf`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamFormat {
    /// Pictures.
    Video(Picture),
    /// Sound.
    Audio(wav::Format),
    /// There is none, or it says nothing that is known.
    #[default]
    Unknown,
}

/// What is said of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// What it holds.
    pub kind: Kind,
    /// The codec as `strh` has it.
    pub handler: FourCc,
    /// Ticks a second; `None` if it cannot be told.
    pub rate: Option<Rate>,
    /// Time of its first frame, in ticks.
    pub start: u32,
    /// Length in ticks as written; not to be relied on.
    pub length: u32,
    /// Bytes of a sample; 0 where each chunk is a frame.
    pub sample_size: u32,
    /// What its frames are.
    pub format: StreamFormat,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The body of its `indx`, if there is one.
    pub index: Option<Span>,
}

/// What is said of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Microseconds of a frame as `avih` has it; 0 if it says nothing.
    pub frame_micros: u32,
    /// Number of frames as `avih` has it; not to be relied on.
    pub frames: u32,
    /// Width as `avih` has it.
    pub width: u32,
    /// Height as `avih` has it.
    pub height: u32,
    /// The streams.
    pub streams: Vec<Stream>,
}

/// What is known of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameInfo {
    /// Its stream's number, from 0.
    pub stream: u16,
    /// Its number in the stream, from 0.
    pub number: u64,
    /// Its time in ticks of the stream. The order is the file's, so it is a decoding time.
    pub time: u64,
    /// Its duration in ticks.
    pub ticks: u64,
    /// Whether it can be decoded without others, if that is known.
    pub key: Option<bool>,
}

/// Codecs whose every frame is a key frame. Raw ones are told by their bits or by these codes.
const INTRA: [[u8; 4]; 15] = [
    [0; 4], *b"MJPG", *b"mjpg", *b"I420", *b"IYUV", *b"YV12", *b"YUY2", *b"UYVY", *b"Y422",
    *b"NV12", *b"Y800", *b"GREY", *b"HFYU", *b"FFVH", *b"MJPA",
];

impl Header {
    /// Reads the body of `avih`; false if it is too short.
    pub(super) fn read_avih(&mut self, body: &[u8]) -> bool {
        let mut read = || {
            self.frame_micros = u32_at(body, 0)?;
            self.frames = u32_at(body, 16)?;
            self.width = u32_at(body, 32)?;
            self.height = u32_at(body, 36)?;
            Some(())
        };
        read().is_some()
    }
}

/// Bytes of an `avih` that says something.
pub(super) const AVIH_BYTES: usize = 40;
/// Bytes of a `strh` that says something.
pub(super) const STRH_BYTES: usize = 48;
/// Bytes of a `strf` of pictures that says something.
pub(super) const BITMAP_BYTES: usize = 20;

impl Stream {
    /// Reads the body of `strh`, and rate and scale as they are written; `None` if it is too short.
    pub(super) fn read_strh(body: &[u8]) -> Option<(Stream, (u32, u32))> {
        let kind = FourCc::at(body, 0)?;
        let (scale, rate) = (u32_at(body, 20)?, u32_at(body, 24)?);
        let kind = match &kind.0 {
            b"vids" => Kind::Video,
            b"auds" => Kind::Audio,
            b"txts" => Kind::Text,
            _ => Kind::Other(kind),
        };
        let sample_size = u32_at(body, 44)?;
        let stream = Stream {
            kind,
            handler: FourCc::at(body, 4)?,
            rate: (rate > 0 && scale > 0).then_some(Rate { rate, scale }),
            start: u32_at(body, 28)?,
            length: u32_at(body, 32)?,
            // Each chunk is a picture, whatever is said.
            sample_size: if kind == Kind::Audio { sample_size } else { 0 },
            ..Stream::default()
        };
        Some((stream, (rate, scale)))
    }

    /// Reads `strf`, whose head is at byte `offset` and whose size is `len`.
    pub(super) fn read_strf(
        &mut self,
        body: &[u8],
        len: u32,
        offset: u64,
        oddities: &mut Vec<WavWarning>,
    ) -> Result<(), WavError> {
        match self.kind {
            Kind::Audio => {
                let format = wav::Format::parse(body, len, offset, oddities)?;
                self.format = StreamFormat::Audio(format);
            }
            Kind::Video => {
                let read = || {
                    Some(Picture {
                        width: u32_at(body, 4)?.cast_signed(),
                        height: u32_at(body, 8)?.cast_signed(),
                        bits: u16_at(body, 14)?,
                        codec: FourCc::at(body, 16)?,
                    })
                };
                self.format = read().map_or(StreamFormat::Unknown, StreamFormat::Video);
            }
            _ => {}
        }
        Ok(())
    }

    /// What is taken for a rate of 0.
    pub(super) fn assumed_rate(&self, frame_micros: u32) -> Option<Rate> {
        match (self.kind, &self.format) {
            (Kind::Video, _) if frame_micros > 0 => Some(Rate {
                rate: 1_000_000,
                scale: frame_micros,
            }),
            (_, StreamFormat::Audio(f)) if f.block_align == self.sample_size => Some(Rate {
                rate: f.rate,
                scale: 1,
            }),
            _ => None,
        }
    }

    /// Whether its every frame is a key frame, as far as its format tells.
    pub fn is_intra(&self) -> bool {
        match (self.kind, &self.format) {
            (Kind::Audio | Kind::Text, _) => true,
            (_, StreamFormat::Video(p)) => INTRA.contains(&p.codec.0),
            _ => false,
        }
    }
}

/// Counts the frames and the time of each stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Frames, and bytes or ticks, of each stream so far.
    counts: Vec<(u64, u64)>,
}

impl Clock {
    /// The next frame, of `len` bytes; `None` if there is no such stream.
    pub(super) fn next(
        &mut self,
        header: &Header,
        stream: u16,
        len: u32,
        key: Option<bool>,
    ) -> Option<FrameInfo> {
        let said = header.streams.get(usize::from(stream))?;
        self.counts.resize(header.streams.len(), (0, 0));
        let (frames, count) = self.counts.get_mut(usize::from(stream))?;
        let number = *frames;
        *frames += 1;
        let before = *count;
        let (time, ticks) = match (u64::from(said.sample_size), &said.format) {
            (size @ 1.., _) => {
                *count = before.saturating_add(u64::from(len));
                (before / size, *count / size - before / size)
            }
            (0, StreamFormat::Audio(format)) => {
                let ticks = len.div_ceil(format.block_align.max(1));
                *count = before.saturating_add(u64::from(ticks));
                (before, u64::from(ticks))
            }
            (0, _) => {
                *count = before.saturating_add(1);
                (before, 1)
            }
        };
        Some(FrameInfo {
            stream,
            number,
            time: time.saturating_add(u64::from(said.start)),
            ticks,
            key: if said.is_intra() { Some(true) } else { key },
        })
    }
}

/// The stream that a frame's id names, and whether its last two letters are those of a frame.
pub(super) fn frame_id(id: FourCc) -> Option<(u16, bool)> {
    let [tens, ones, a, b] = id.0;
    let digit = |b: u8| b.is_ascii_digit().then(|| u16::from(b - b'0'));
    let stream = digit(tens)? * 10 + digit(ones)?;
    let letters = a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric();
    // A change of palette, and an index, are no frames.
    let other = matches!(&[a, b], b"pc" | b"ix");
    letters.then_some((stream, !other))
}
