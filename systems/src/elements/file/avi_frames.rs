//! What becomes of the frames of an AVI file, sent or read by position: on which pad each goes, with which
//! times. Pure, but for the names of pads that it looks at.

use super::avi_caps::{NoStream, caps_of, stream_of, tick_of};
use super::avi_raw::{Raw, TooShort};
use super::parser::{Deal, Frame, Offers};
use crate::element::Process;
use tickpipe_components::avi::{AviError, FrameInfo, Header, Kind, StreamFormat};
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::cut::Span;
use tickpipe_components::event::Gap;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::time::TimeBase;

/// What is wrong with the stream.
pub(super) fn avi_failed(error: AviError) -> ElementError {
    let code = match &error {
        AviError::Empty => Code::Empty,
        AviError::NoMovie { .. } | AviError::Unfinished { .. } => Code::Truncated,
        _ => Code::Damaged,
    };
    ElementError::new(Domain::Stream, code, error)
}

/// A pad and its stream.
#[derive(Clone, Debug)]
struct Leg {
    name: String,
    /// The stream, once the header was read.
    stream: Option<u16>,
    raw: Option<Raw>,
}

/// Which pads are linked, and what each is for.
#[derive(Clone, Debug, Default)]
pub(super) struct Legs {
    of: Vec<Leg>,
}

impl Legs {
    /// Looks at the names of the linked pads; whether there are others than before.
    pub(super) fn look(&mut self, process: &Process<'_>) -> bool {
        let count = process.outputs();
        if count == self.of.len() {
            return false;
        }
        let named = |pad: usize| Leg {
            name: process.source_name(pad).unwrap_or_default().to_owned(),
            stream: None,
            raw: None,
        };
        self.of = (0..count).map(named).collect();
        true
    }

    /// Gives each pad its stream.
    ///
    /// # Errors
    /// [`NoStream`]; the others have theirs.
    pub(super) fn attach(&mut self, header: &Header) -> Result<(), NoStream> {
        let mut outcome = Ok(());
        for leg in &mut self.of {
            match stream_of(header, &leg.name) {
                Ok((number, stream)) => {
                    leg.stream = Some(number);
                    leg.raw = match &stream.format {
                        StreamFormat::Video(picture) => Raw::of(picture),
                        _ => None,
                    };
                }
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    }

    /// How many pads there are.
    pub(super) fn len(&self) -> usize {
        self.of.len()
    }

    /// The stream of a pad.
    pub(super) fn stream(&self, pad: usize) -> Option<u16> {
        self.of.get(pad)?.stream
    }

    /// The pad of a stream.
    pub(super) fn pad(&self, stream: u16) -> Option<usize> {
        self.of.iter().position(|leg| leg.stream == Some(stream))
    }

    /// The raw pictures of a pad, if it has such.
    pub(super) fn raw(&self, pad: usize) -> Option<&Raw> {
        self.of.get(pad)?.raw.as_ref()
    }

    /// The streams that have no pad, a bit each.
    pub(super) fn passed(&self) -> u128 {
        let streams = self.of.iter().filter_map(|leg| leg.stream);
        let bits = streams.map(|stream| 1u128.checked_shl(stream.into()).unwrap_or(0));
        !bits.fold(0, |all, bit| all | bit)
    }

    /// The caps of the pads.
    pub(super) fn offers(&self, header: &Header) -> Offers {
        let streams = (0..).zip(&self.of);
        let caps = streams.filter_map(|(pad, leg)| {
            let stream = header.streams.get(usize::from(leg.stream?))?;
            Some((pad, caps_of(stream)))
        });
        caps.collect()
    }

    /// Writes a frame into a buffer.
    ///
    /// # Errors
    /// A raw picture that is too short.
    pub(super) fn fill(
        &self,
        frame: &Frame,
        payload: &[u8],
        to: &mut [u8],
    ) -> Result<(), ElementError> {
        if let Some(raw) = self.raw(frame.pad) {
            let short = |short| TooShort {
                offset: frame.span.offset,
                ..short
            };
            return raw
                .fill(payload, to)
                .map_err(|error| ElementError::new(Domain::Stream, Code::Damaged, short(error)));
        }
        if to.len() == payload.len() {
            to.copy_from_slice(payload);
        }
        Ok(())
    }
}

/// What becomes of a frame of `len` bytes, and the time behind it.
///
/// # Errors
/// A raw picture that is too short.
pub(super) fn deal(
    header: &Header,
    legs: &Legs,
    info: &FrameInfo,
    span: Span,
    len: usize,
) -> Result<(Deal, Option<(i64, TimeBase)>), ElementError> {
    let stream = header.streams.get(usize::from(info.stream));
    let (Some(stream), Some(pad)) = (stream, legs.pad(info.stream)) else {
        return Ok((Deal::Pass, None));
    };
    let mut meta = BufferMeta {
        index: info.number,
        ..BufferMeta::default()
    };
    let mut end = None;
    if let Some(tick) = tick_of(stream) {
        let time = i64::try_from(info.time).ok();
        let lasts = i64::try_from(info.ticks).ok();
        meta.time_base = tick;
        (meta.pts, meta.dts, meta.duration) = (time, time, lasts);
        let behind = time
            .zip(lasts)
            .and_then(|(time, lasts)| time.checked_add(lasts));
        end = behind.map(|behind| (behind, tick));
    }
    // A picture without a byte shows the one before it again.
    if len == 0 && stream.kind == Kind::Video {
        let gap = Gap {
            start: meta.pts.unwrap_or_default(),
            duration: meta.duration,
            time_base: meta.time_base,
        };
        return Ok((Deal::Gap(pad, gap), end));
    }
    if let Some(raw) = legs.raw(pad)
        && len < raw.bytes()
    {
        let error = TooShort {
            offset: span.offset,
            have: len as u64,
            need: raw.bytes() as u64,
        };
        return Err(ElementError::new(Domain::Stream, Code::Damaged, error));
    }
    if info.key == Some(true) {
        meta.flags |= BufferFlags::KEY;
    }
    let frame = Frame {
        pad,
        range: 0..len,
        span,
        meta,
        caps: None,
    };
    Ok((Deal::Emit(frame), end))
}
