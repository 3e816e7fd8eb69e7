//! `jpegparse`: whole JPEG frames out of a stream of bytes (motion JPEG). Frames are cut, not decoded.
//!
//! It is sent blocks of any size, or reads a file by position: the same frames come out. What belongs to no
//! frame is told with its place, and it goes on at the next frame, after a loss too. Width and height are
//! those of the frames, and change with them; the rate is the one that comes from upstream. A frame has
//! the time of the block that it begins in; where blocks have none, times count frames, if there is a
//! rate. A stream that ends within a frame is an error that says where; the whole frames before it are
//! passed on.
//!
//! `tickpipe launch 'filesrc location=a.mjpeg ! image/jpeg,framerate=25/1 ! jpegparse ! fakesink'`

use super::arriving::Stamp;
use super::cutting::Seen;
use super::heading::{
    Head, blocks, blocks_for, frame_bytes, kept, open, pool_of, read_head, sized,
};
use super::parse_error::{ParseError, TOLD, tell_bytes};
use super::parser::{Deal, Frame, Offers, Parser, Start};
use super::parsing::Parsing;
use crate::element::{
    Buffers, CapsQuery, Element, Fields, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property,
    Proposal, Seeking, Transformed, Work,
};
use bevy_ecs::component::Component;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::caps::{FieldName, Structure, Value, ValueSet};
use tickpipe_components::cut::Span;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::jpeg::{FrameInfo, Never, Part, Size, Splitter};
use tickpipe_components::occurrence::Reason;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::Seek;
use tickpipe_components::time::{Rounding, TimeBase};

/// What a frame is, in caps.
const JPEG: &str = "image/jpeg";
/// Bytes of the stream that planning looks at, for the size of the picture.
const HEAD: usize = 1 << 18;
/// Half bytes of a pixel that a buffer has room for.
const HALVES: u64 = 6;
/// Fields that are the parser's own.
const OWN: [&str; 3] = ["parsed", "width", "height"];

/// Settings of `jpegparse`.
#[derive(Component, Clone, Debug, Default)]
pub struct JpegParse {
    /// Most bytes of a frame; 0 follows from the size of the picture.
    pub frame_bytes: u32,
}

#[derive(Debug, Error)]
#[error("where frames of a JPEG stream stand is not known, so that it cannot go elsewhere")]
struct NoPlaces;

/// The caps of frames of a size; without one that is not said.
fn caps_of(size: Option<Size>) -> Structure {
    let mut caps = Structure::new(JPEG).with("parsed", ValueSet::One(Value::Bool(true)));
    let Some(size) = size else { return caps };
    let sides = [("width", size.width), ("height", size.height)];
    for (name, side) in sides.into_iter().filter(|side| side.1 > 0) {
        caps = caps.with(name, ValueSet::int(side.into()));
    }
    caps
}

fn failed(error: Never) -> ElementError {
    match error {}
}

impl Element for JpegParse {
    const NAME: &'static str = "jpegparse";
    const SUMMARY: &'static str = "Whole JPEG frames out of a stream of bytes";
    const KLASS: &'static str = "Video/Parser/Codec";
    const FLOW: Flow = Flow::Convert;
    const PROPOSED: bool = false;
    const OWNS_POOL: bool = true;
    const READY_ONLY: &'static [&'static str] = &["frame-bytes"];
    const IGNORED: &'static [&'static str] = &["disable-passthrough", "name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        let mut parsed = sized(&[JPEG]);
        for structure in parsed.structures_mut() {
            // A field more is within what a structure has.
            let _ = structure.set("parsed", ValueSet::One(Value::Bool(true)));
        }
        vec![
            PadTemplate::sink("sink", sized(&[JPEG])).pulls(),
            PadTemplate::source("src", parsed),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Int(0, 1 << 30),
            "frame-bytes",
            "Most bytes of a frame; 0 follows from the size of the picture",
            frame_bytes
        )]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        if pad.is_sink() {
            return Ok(open(query.template, index));
        }
        if index > 0 {
            return Ok(None);
        }
        let size = |split: &Splitter, head: Head<'_, Splitter>| match head {
            Head::Frame(info) => Some(info.size),
            _ => split.size().filter(|size| size.height > 0).map(Some),
        };
        // What ends within a frame has had whole ones before, or has none: the run says so.
        let size = read_head(query, Splitter::new(), HEAD, failed, size);
        let size = match size {
            Err(error) if error.code == Code::Truncated => None,
            size => size?.flatten(),
        };
        Ok(Some(caps_of(size)))
    }

    fn transform_caps(
        &self,
        from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let mut caps = caps.clone();
        for own in OWN {
            caps.remove(own);
        }
        if from.is_sink() {
            caps = caps.with("parsed", ValueSet::One(Value::Bool(true)));
        }
        let free = OWN.iter().map(|name| FieldName::new(name)).collect();
        (index == 0).then(|| Transformed {
            caps,
            free: Fields::These(free),
            cost: 0,
        })
    }

    fn propose_pool(&self, _pad: PadAt, _pads: &PadCapsOf) -> Proposal {
        blocks()
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let bytes = frame_bytes(self.frame_bytes, pads.source(0), HALVES);
        Ok(pool_of(bytes, downstream))
    }

    /// The block that a frame is read from.
    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    fn takes_for(&self, _pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        let frame = frame_bytes(self.frame_bytes, pads.source(0), HALVES);
        blocks_for(outputs, frame, 0, bytes)
    }

    fn memory(&self, pads: &PadCapsOf) -> u64 {
        kept(frame_bytes(self.frame_bytes, pads.source(0), HALVES), pads)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let jpeg = Jpeg {
            asked: self.frame_bytes,
            limit: frame_bytes(self.frame_bytes, None, HALVES),
            frame: None,
            size: None,
            frames: 0,
            last: None,
            apart: false,
            told: 0,
        };
        Ok(Box::new(Parsing::new(jpeg, Splitter::new())))
    }
}

/// JPEG as a format to be parsed.
struct Jpeg {
    asked: u32,
    limit: usize,
    /// How long a frame lasts, where the caps have a rate.
    frame: Option<TimeBase>,
    /// The size of the last frame.
    size: Option<Size>,
    frames: u64,
    /// The time of the last frame, where blocks have times.
    last: Option<Stamp>,
    /// What comes next does not follow what was before.
    apart: bool,
    /// Frames without an end that were told.
    told: u64,
}

impl Jpeg {
    /// How long a frame lasts, in units of `base`.
    fn lasts(&self, base: TimeBase) -> Option<i64> {
        self.frame?.convert(1, base, Rounding::Nearest)
    }

    /// The times of a frame whose block has none: one frame after the one before.
    fn after(&self, last: &Stamp) -> Option<Stamp> {
        let lasts = self.lasts(last.time_base)?;
        Some(Stamp {
            pts: last.pts.checked_add(lasts)?,
            dts: last.dts.and_then(|dts| dts.checked_add(lasts)),
            ..*last
        })
    }
}

impl Parser for Jpeg {
    type Split = Splitter;
    const HEAD: usize = 0;

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.limit = frame_bytes(self.asked, pads.source(0), HALVES);
        let rate = pads.source(0).and_then(|caps| caps.fraction("framerate"));
        self.frame = rate.and_then(|rate| TimeBase::of_rate(rate.num(), rate.den()));
        Ok(())
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn part(
        &mut self,
        process: &mut Process<'_>,
        _split: &mut Splitter,
        span: Span,
        _part: Part,
    ) -> Result<Offers, ElementError> {
        self.told += 1;
        self.apart = true;
        tell_bytes(process, Reason::Unfinished, span, self.told <= TOLD);
        Ok(Offers::new())
    }

    fn frame(&mut self, seen: &Seen<'_, FrameInfo>) -> Result<Deal, ElementError> {
        let FrameInfo { number, size, .. } = seen.info;
        self.frames = number.saturating_add(1);
        let mut flags = BufferFlags::KEY;
        flags.set(BufferFlags::DISCONTINUITY, core::mem::take(&mut self.apart));
        // Caps are looked at where they may be others.
        let changed = size.is_some() && self.size != size;
        self.size = size.or(self.size);
        Ok(Deal::Emit(Frame {
            pad: 0,
            range: 0..seen.data.len(),
            span: seen.span,
            meta: BufferMeta {
                index: number,
                flags,
                ..BufferMeta::default()
            },
            caps: changed.then(|| Box::new(caps_of(size))),
        }))
    }

    fn stamp(&mut self, frame: &mut Frame, stamp: Option<Stamp>) {
        let meta = &mut frame.meta;
        let derived = || self.last.as_ref().and_then(|last| self.after(last));
        match (stamp, &self.last, self.frame) {
            (None, None, Some(base)) => {
                meta.time_base = base;
                meta.pts = i64::try_from(meta.index).ok();
                meta.duration = Some(1);
                return;
            }
            (None, Some(_), _) => meta.flags |= BufferFlags::DERIVED,
            _ => {}
        }
        let Some(stamp) = stamp.or_else(derived) else {
            meta.flags.remove(BufferFlags::DERIVED);
            return;
        };
        meta.time_base = stamp.time_base;
        (meta.pts, meta.dts) = (Some(stamp.pts), stamp.dts);
        meta.duration = self.lasts(stamp.time_base).or(stamp.duration);
        self.last = Some(stamp);
    }

    fn failed(&self, error: Never) -> ElementError {
        failed(error)
    }

    fn end(&mut self, _process: &mut Process<'_>, bytes: u64) -> Result<(), ElementError> {
        let what = "JPEG frame";
        match self.frames {
            0 => Err(ParseError::Nothing { what, bytes }.into()),
            _ => Ok(()),
        }
    }

    /// The next frame is found by its mark.
    fn resume(&mut self, at: Option<u64>, next: u64) -> Result<Start<Splitter>, &'static str> {
        Ok((Splitter::after(self.frames), at.unwrap_or(next)))
    }

    /// A demuxer upstream may be able to.
    fn plan_seek(
        &self,
        _seek: &Seek,
        bytes: Option<&Arc<dyn Bytes>>,
    ) -> Result<Seeking, ElementError> {
        match bytes {
            None => Ok(Seeking::Pass),
            Some(_) => Err(ElementError::new(Domain::Flow, Code::Unsupported, NoPlaces)),
        }
    }

    fn seek(&mut self, _seek: &Seek, _bytes: Option<&Arc<dyn Bytes>>) -> Option<Start<Splitter>> {
        None
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        match &self.last {
            Some(last) => {
                let lasts = self.lasts(last.time_base).or(last.duration);
                let next = last.pts.checked_add(lasts.unwrap_or(0))?;
                Some((next, last.time_base))
            }
            None => Some((i64::try_from(self.frames).ok()?, self.frame?)),
        }
    }

    fn seeks(&self, pulls: bool) -> Option<bool> {
        pulls.then_some(false)
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("frames", self.frames);
        visitor.flag("apart", self.apart);
        visitor.signed("last", self.last.map_or(-1, |last| last.pts));
        if let Some(size) = self.size {
            visitor.unsigned("width", size.width.into());
            visitor.unsigned("height", size.height.into());
        }
    }
}
