//! `avidemux`: the streams of an AVI file, each on a pad of its own: `video_0`, `audio_0`, `subtitle_0`, …,
//! made on request, as GStreamer names them. A stream without a pad is passed over, and its frames are
//! counted.
//!
//! It reads a file by position where it can: then each pad goes on by itself, by the times of frames, and
//! none waits for another, however the file is interleaved; it goes to the last key frame before any
//! time or frame. Else it is sent blocks: the same frames come out. Then one pad without room holds up all,
//! so links hold as many buffers as `interleave` says before another stream must have its turn.
//!
//! Caps are those that the header says. Raw pictures are turned upright. Times count ticks of the stream;
//! a picture without a byte, which shows the one before it again, is told as a gap.
//!
//! `tickpipe launch 'filesrc location=a.avi ! avidemux name=d d.video_0 ! fakesink d.audio_0 ! fakesink'`

use super::avi_caps::{bytes_of, caps_of, pictures, sound, stream_of, words};
use super::avi_frames::{Legs, avi_failed, deal};
use super::avi_playing::Playing;
use super::avi_seek::AviSeekError;
use super::cutting::Seen;
use super::heading::{Head, blocks, blocks_for, kept, open, pool_of, read_head};
use super::parser::{Deal, Frame, Offers, Parser, Start};
use super::parsing::Parsing;
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Proposal,
    Seeking, Work,
};
use bevy_ecs::component::Component;
use std::sync::Arc;
use tickpipe_components::avi::{AviError, FrameInfo, Header, Part, Splitter};
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::cut::Span;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::occurrence::{Deed, Reason};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::TimeBase;

/// Bytes of a header that planning looks at.
const HEAD: usize = 1 << 18;

/// Settings of `avidemux`.
#[derive(Component, Clone, Debug)]
pub struct AviDemux {
    /// Most bytes of a frame; 0 follows from the caps of the pads.
    pub frame_bytes: u32,
    /// How many frames of one stream come before one of another, at most, where it is sent blocks.
    pub interleave: u32,
    /// Most frames of a file that is read by position.
    pub index_frames: u32,
}

impl Default for AviDemux {
    fn default() -> Self {
        AviDemux {
            frame_bytes: 0,
            interleave: 32,
            index_frames: 1 << 22,
        }
    }
}

impl AviDemux {
    /// Bytes of a buffer: one pool has those of all pads.
    fn bytes(&self, pads: &PadCapsOf) -> usize {
        let of = |pad: usize| bytes_of(self.frame_bytes, pads.source(pad));
        (0..pads.sources.len()).map(of).max().unwrap_or(1)
    }
}

impl Element for AviDemux {
    const NAME: &'static str = "avidemux";
    const SUMMARY: &'static str = "The streams of an AVI file, each on a pad of its own";
    const KLASS: &'static str = "Codec/Demuxer";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const READY_ONLY: &'static [&'static str] = &["frame-bytes", "interleave", "index-frames"];
    const IGNORED: &'static [&'static str] = &["name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        let stream = Caps::from(Structure::new("video/x-msvideo"));
        vec![
            PadTemplate::sink("sink", stream).pulls(),
            PadTemplate::source("video_%u", pictures()).on_request(),
            PadTemplate::source("audio_%u", sound()).on_request(),
            PadTemplate::source("subtitle_%u", words()).on_request(),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(0, 1 << 30),
                "frame-bytes",
                "Most bytes of a frame; 0 follows from the caps of the pads",
                frame_bytes
            ),
            crate::field!(
                Int(1, 65_536),
                "interleave",
                "How many frames of one stream come before one of another, at most, where the file is sent and not read by position",
                interleave
            ),
            crate::field!(
                Int(1, u32::MAX as i64),
                "index-frames",
                "Most frames of a file that is read by position",
                index_frames
            ),
        ]
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
        let header = |split: &Splitter, head: Head<'_, Splitter>| match head {
            Head::Part(Part::Movie { .. }) => Some(split.header().clone()),
            _ => None,
        };
        let header = read_head(query, Splitter::heads(), HEAD, avi_failed, header)?;
        // Asked without a graph, no pad has a name.
        let Some(header) = header.filter(|_| !query.name.is_empty()) else {
            return Ok(open(query.template, index));
        };
        let (_, stream) = stream_of(&header, query.name)?;
        Ok((index == 0).then(|| caps_of(stream)))
    }

    fn propose_pool(&self, _pad: PadAt, _pads: &PadCapsOf) -> Proposal {
        blocks()
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(pool_of(self.bytes(pads), downstream))
    }

    /// Who reads by position reads what a pad has room for.
    fn apart(&self, pads: &PadCapsOf) -> Option<u64> {
        Some(match pads.sinks.is_empty() {
            true => 1,
            false => self.interleave.into(),
        })
    }

    /// The block that a frame is read from.
    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    fn takes_for(&self, _pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        let outputs = outputs.saturating_mul(self.interleave.into());
        blocks_for(outputs, self.bytes(pads), HEAD, bytes)
    }

    fn memory(&self, pads: &PadCapsOf) -> u64 {
        kept(self.bytes(pads), pads)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let avi = Avi {
            asked: self.frame_bytes,
            limit: bytes_of(self.frame_bytes, None),
            legs: Legs::default(),
            header: None,
            next: None,
            told: false,
        };
        Ok(Box::new(Demuxing {
            sent: Parsing::new(avi, Splitter::new()),
            playing: None,
            asked: self.frame_bytes,
            most: self.index_frames as usize,
        }))
    }
}

/// AVI that is sent, as a format to be parsed.
struct Avi {
    asked: u32,
    limit: usize,
    legs: Legs,
    header: Option<Arc<Header>>,
    /// The time of what comes next.
    next: Option<(i64, TimeBase)>,
    /// That something is odd.
    told: bool,
}

impl Parser for Avi {
    type Split = Splitter;
    const HEAD: usize = 8;
    const APART: bool = true;

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let of = |pad: usize| bytes_of(self.asked, pads.source(pad));
        self.limit = (0..pads.sources.len()).map(of).max().unwrap_or(1);
        Ok(())
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn look(&mut self, process: &Process<'_>, split: &mut Splitter) {
        if self.legs.look(process)
            && let Some(header) = &self.header
        {
            // A pad that was linked since has no stream if it has none now either.
            let _ = self.legs.attach(header);
            split.pass_over(self.legs.passed());
        }
    }

    fn part(
        &mut self,
        process: &mut Process<'_>,
        split: &mut Splitter,
        _span: Span,
        part: Part,
    ) -> Result<Offers, ElementError> {
        match part {
            Part::Movie { .. } if self.header.is_none() => {
                let header = Arc::new(split.header().clone());
                self.legs.attach(&header)?;
                split.pass_over(self.legs.passed());
                let offers = self.legs.offers(&header);
                self.header = Some(header);
                return Ok(offers);
            }
            Part::Warning(warning) => {
                process.say(warning);
                if !core::mem::replace(&mut self.told, true) {
                    process.warn(Domain::Stream, Code::Damaged);
                }
            }
            Part::Frame(_) => process.tally(Reason::NotLinked, Deed::Dropped, 1),
            _ => {}
        }
        Ok(Offers::new())
    }

    fn frame(&mut self, seen: &Seen<'_, FrameInfo>) -> Result<Deal, ElementError> {
        let Some(header) = &self.header else {
            return Ok(Deal::Pass);
        };
        let len = seen.data.len();
        let (deal, end) = deal(header, &self.legs, &seen.info, seen.span, len)?;
        self.next = end.or(self.next);
        Ok(deal)
    }

    fn size(&self, frame: &Frame) -> usize {
        let raw = self.legs.raw(frame.pad);
        raw.map_or(frame.range.len(), |raw| raw.size())
    }

    fn fill(&self, frame: &Frame, payload: &[u8], to: &mut [u8]) -> Result<(), ElementError> {
        self.legs.fill(frame, payload, to)
    }

    fn failed(&self, error: AviError) -> ElementError {
        avi_failed(error)
    }

    fn resume(&mut self, _at: Option<u64>, _next: u64) -> Result<Start<Splitter>, &'static str> {
        Err(match self.header {
            None => "the header was not read",
            Some(_) => "frames of AVI are counted to know their times",
        })
    }

    fn plan_seek(
        &self,
        _seek: &Seek,
        _bytes: Option<&Arc<dyn Bytes>>,
    ) -> Result<Seeking, ElementError> {
        Err(AviSeekError::Sent.into())
    }

    fn seek(&mut self, _seek: &Seek, _bytes: Option<&Arc<dyn Bytes>>) -> Option<Start<Splitter>> {
        None
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        self.next
    }

    fn seeks(&self, _pulls: bool) -> Option<bool> {
        Some(false)
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("headed", self.header.is_some());
        visitor.signed("time", self.next.map_or(-1, |next| next.0));
    }
}

/// `avidemux` at work: what is sent to it is parsed; what it reads by position is played.
struct Demuxing {
    sent: Parsing<Avi>,
    playing: Option<Playing>,
    /// Most bytes of a frame that are asked for.
    asked: u32,
    /// Most frames of a file.
    most: usize,
}

impl Demuxing {
    fn work(&self) -> &dyn Work {
        match &self.playing {
            Some(playing) => playing,
            None => &self.sent,
        }
    }

    fn work_mut(&mut self) -> &mut dyn Work {
        match &mut self.playing {
            Some(playing) => playing,
            None => &mut self.sent,
        }
    }
}

impl Work for Demuxing {
    fn grant(&mut self, bytes: Arc<dyn Bytes>) -> Result<(), ElementError> {
        self.playing = Some(Playing::open(bytes, self.asked, self.most)?);
        Ok(())
    }

    fn revoke(&mut self) {
        self.playing = None;
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.work_mut().set_caps(pads)
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.work_mut().process(process)
    }

    fn flush(&mut self, pads: &[usize]) {
        self.work_mut().flush(pads);
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        self.work().plan_seek(seek)
    }

    fn seek(&mut self, seek: &Seek) {
        self.work_mut().seek(seek);
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        self.work().position()
    }

    fn query(&self, pad: PadAt, query: &Query) -> Option<Answer> {
        self.work().query(pad, query)
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        self.work().state(visitor);
    }
}
