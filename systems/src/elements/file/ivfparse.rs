//! `ivfparse`: frames of VP8, VP9, AV1 and others out of an IVF stream, as they are.
//!
//! It is sent blocks of any size, or reads a file by position: the same frames come out. Caps are those of
//! the header. Times count ticks of its rate; frames that can be decoded without others are marked. A
//! stream that ends within a frame is an error that says where; the whole frames before it are passed
//! on. It goes elsewhere where it reads by position: to the last frame before that can be decoded by
//! itself. What is sent has no places that could be gone to, and no marks to go on at after a loss.
//!
//! `tickpipe launch 'filesrc location=a.ivf ! ivfparse ! fakesink'`

use super::cutting::Seen;
use super::heading::{Head, blocks, blocks_for, frame_bytes, framerate, kept, pool_of, read_head};
use super::ivf_seek::{IvfSeekError, Target, index_of, segment_of};
use super::parser::{Deal, Frame, Offers, Parser, Start};
use super::parsing::Parsing;
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Proposal,
    Seeking, Work,
};
use bevy_ecs::component::Component;
use std::sync::{Arc, OnceLock};
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::caps::{Caps, Structure, ValueSet};
use tickpipe_components::cut::{FourCc, Span};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::ivf::{
    FRAME_HEAD_BYTES, FrameInfo, HEADER_BYTES, Header, Index, IvfError, Part, Splitter, is_key,
};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::Seek;
use tickpipe_components::time::TimeBase;

/// Settings of `ivfparse`.
#[derive(Component, Clone, Debug, Default)]
pub struct IvfParse {
    /// Most bytes of a frame; 0 follows from the size of the picture.
    pub frame_bytes: u32,
}

/// What is wrong with the stream.
pub(super) fn failed(error: IvfError) -> ElementError {
    let code = match &error {
        IvfError::Empty => Code::Empty,
        _ => Code::Damaged,
    };
    ElementError::new(Domain::Stream, code, error)
}

/// The media type of a codec: GStreamer's, or one of its own.
fn media(codec: FourCc) -> String {
    match &codec.0 {
        b"VP80" => "video/x-vp8".to_owned(),
        b"VP90" => "video/x-vp9".to_owned(),
        b"AV01" => "video/x-av1".to_owned(),
        code if code.iter().all(u8::is_ascii_alphanumeric) => {
            let lower = code.map(|b| char::from(b.to_ascii_lowercase()));
            format!("video/x-ivf-{}", String::from_iter(lower))
        }
        code => format!("video/x-ivf-{:08x}", u32::from_be_bytes(*code)),
    }
}

/// The caps that a header stands for. What it leaves open is not said.
fn caps_of(header: &Header) -> Structure {
    let mut caps = Structure::new(&media(header.fourcc));
    let sides = [("width", header.width), ("height", header.height)];
    for (name, side) in sides.into_iter().filter(|side| side.1 > 0) {
        caps = caps.with(name, ValueSet::int(side.into()));
    }
    match header.rate.and_then(|rate| framerate(rate.num, rate.den)) {
        Some(rate) => caps.with("framerate", rate),
        None => caps,
    }
}

impl Element for IvfParse {
    const NAME: &'static str = "ivfparse";
    const SUMMARY: &'static str = "Frames of VP8, VP9, AV1 and others out of an IVF stream";
    const KLASS: &'static str = "Codec/Demuxer";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const READY_ONLY: &'static [&'static str] = &["frame-bytes"];
    const IGNORED: &'static [&'static str] = &["disable-passthrough", "name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        let stream = Caps::from(Structure::new("video/x-ivf"));
        vec![
            PadTemplate::sink("sink", stream).pulls(),
            PadTemplate::source("src", Caps::any()),
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
            return Ok(query.template.structures().get(index as usize).cloned());
        }
        if index > 0 {
            return Ok(None);
        }
        let header = |_: &Splitter, head: Head<'_, Splitter>| match head {
            Head::Part(Part::Header(header)) => Some(caps_of(header)),
            _ => None,
        };
        // A header that is longer ends behind what is looked at, and that is all there.
        let most = usize::from(u16::MAX) + 1;
        read_head(query, Splitter::new(), most, failed, header)
    }

    fn propose_pool(&self, _pad: PadAt, _pads: &PadCapsOf) -> Proposal {
        blocks()
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let bytes = frame_bytes(self.frame_bytes, pads.source(0), 3);
        Ok(pool_of(bytes, downstream))
    }

    /// The block that a frame is read from.
    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    fn takes_for(&self, _pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        let frame = frame_bytes(self.frame_bytes, pads.source(0), 3) + FRAME_HEAD_BYTES;
        blocks_for(outputs, frame, HEADER_BYTES, bytes)
    }

    fn memory(&self, pads: &PadCapsOf) -> u64 {
        kept(frame_bytes(self.frame_bytes, pads.source(0), 3), pads)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let ivf = Ivf {
            asked: self.frame_bytes,
            limit: frame_bytes(self.frame_bytes, None, 3),
            header: None,
            index: OnceLock::new(),
            next: 0,
            stop: None,
            told: false,
        };
        Ok(Box::new(Parsing::new(ivf, Splitter::new())))
    }
}

/// IVF as a format to be parsed.
struct Ivf {
    asked: u32,
    limit: usize,
    header: Option<Header>,
    /// Where its frames are, once somebody wanted to know.
    index: OnceLock<Arc<Index>>,
    /// The time of what comes next, in ticks.
    next: u64,
    /// The first frame that is not to be played any more.
    stop: Option<u64>,
    /// That the header is odd.
    told: bool,
}

impl Ivf {
    /// The unit of times.
    fn tick(&self) -> Option<TimeBase> {
        let rate = self.header?.rate?;
        TimeBase::new(rate.den, rate.num)
    }

    /// Where a seek leads.
    fn target(
        &self,
        seek: &Seek,
        bytes: Option<&Arc<dyn Bytes>>,
    ) -> Result<(Arc<Index>, Target), ElementError> {
        let bytes = bytes.ok_or(IvfSeekError::Sent)?;
        let index = match self.index.get() {
            Some(index) => Arc::clone(index),
            None => {
                let index = Arc::new(index_of(bytes)?);
                Arc::clone(self.index.get_or_init(|| index))
            }
        };
        let target = Target::of(seek, &index, bytes)?;
        Ok((index, target))
    }
}

impl Parser for Ivf {
    type Split = Splitter;
    const HEAD: usize = FRAME_HEAD_BYTES;

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.limit = frame_bytes(self.asked, pads.source(0), 3);
        Ok(())
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn part(
        &mut self,
        process: &mut Process<'_>,
        _split: &mut Splitter,
        _span: Span,
        part: Part,
    ) -> Result<Offers, ElementError> {
        match part {
            Part::Header(header) => {
                self.header = Some(header);
                Ok(core::iter::once((0, caps_of(&header))).collect())
            }
            Part::Warning(warning) => {
                process.say(warning);
                if !core::mem::replace(&mut self.told, true) {
                    process.warn(Domain::Stream, Code::Damaged);
                }
                Ok(Offers::new())
            }
            Part::Frame(_) => Ok(Offers::new()),
        }
    }

    fn frame(&mut self, seen: &Seen<'_, FrameInfo>) -> Result<Deal, ElementError> {
        let info = seen.info;
        if self.stop.is_some_and(|stop| info.number >= stop) {
            return Ok(Deal::Stop);
        }
        let mut meta = BufferMeta {
            index: info.number,
            ..BufferMeta::default()
        };
        if let Some(tick) = self.tick() {
            meta.time_base = tick;
            meta.pts = i64::try_from(info.pts).ok();
            meta.duration = Some(1);
        }
        let codec = self.header.map(|header| header.fourcc);
        if codec.and_then(|codec| is_key(codec, seen.data)) == Some(true) {
            meta.flags |= BufferFlags::KEY;
        }
        self.next = info.pts.saturating_add(1);
        Ok(Deal::Emit(Frame {
            pad: 0,
            range: 0..seen.data.len(),
            span: seen.span,
            meta,
            caps: None,
        }))
    }

    fn failed(&self, error: IvfError) -> ElementError {
        failed(error)
    }

    fn resume(&mut self, _at: Option<u64>, _next: u64) -> Result<Start<Splitter>, &'static str> {
        Err(match self.header {
            None => "the header was not read",
            Some(_) => "frames of IVF have no mark by which the next one could be found",
        })
    }

    fn plan_seek(
        &self,
        seek: &Seek,
        bytes: Option<&Arc<dyn Bytes>>,
    ) -> Result<Seeking, ElementError> {
        let (index, target) = self.target(seek, bytes)?;
        Ok(Seeking::Here(segment_of(seek, &index, &target)))
    }

    fn seek(&mut self, seek: &Seek, bytes: Option<&Arc<dyn Bytes>>) -> Option<Start<Splitter>> {
        let (index, target) = self.target(seek, bytes).ok()?;
        let Target {
            from, stop, byte, ..
        } = target;
        self.header = Some(index.header);
        self.stop = stop;
        self.next = index.frames.get(from as usize).map_or(self.next, |f| f.pts);
        Some((Splitter::at_frame(index.header, from), byte))
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        Some((i64::try_from(self.next).ok()?, self.tick()?))
    }

    fn seeks(&self, pulls: bool) -> Option<bool> {
        Some(pulls)
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("time", self.next);
        visitor.unsigned("stop", self.stop.unwrap_or(u64::MAX));
        visitor.flag("headed", self.header.is_some());
    }
}
