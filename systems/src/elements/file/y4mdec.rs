//! `y4mdec`: raw video out of a Y4M byte stream.
//!
//! Caps are those of the header, which planning reads from the file. Each frame goes straight
//! into a buffer of the pool, whatever its strides. A stream that ends anywhere but at a frame's
//! end is an error that says where; the whole frames before it are passed on. It is sent blocks, or
//! reads a file by position: the same frames come out.
//!
//! `tickpipe launch 'filesrc location=a.y4m ! y4mdec ! fakesink'`

use super::pulling::{Pulled, Pulling};
use super::{y4m_stream, y4m_video};
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, PeekError, Process, Proposal,
    Seeking, Work,
};
use crate::elements::raw_video::{frame_pool, stream_info};
use crate::elements::seeking::frames_of;
use bevy_ecs::component::Component;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::caps::{Structure, Value, ValueSet};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Granted;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::{Segment, TimeBase};
use tickpipe_components::video::{FrameMut, Layout, VideoInfo};
use tickpipe_components::y4m::{
    Event, Facts, Header, MAX_FRAME_LINE_BYTES, MAX_HEADER_BYTES, ReadError, Reader,
};

/// The caps field that carries how a header was written, where that is not canonical.
pub(super) const STYLE: &str = "y4m-style";

/// Bytes of a `FRAME` line without parameters.
const FRAME_LINE_BYTES: i64 = 6;

/// Bytes of a block that it asks its source for.
const BLOCK: usize = 1 << 16;

/// Settings of `y4mdec`.
#[derive(Component, Clone, Debug, Default)]
pub struct Y4mDec;

#[derive(Debug, Error)]
enum Y4mError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{0}")]
    Unsupported(String),
    #[error("frame {frame} would begin at byte {byte}, which lies behind the end at {len}")]
    Beyond { frame: i64, byte: i64, len: u64 },
    #[error("the header changed between planning and running")]
    Changed,
    #[error(
        "bytes {from} to {to} were discarded on the way, and where the next frame begins is not known: {why}"
    )]
    Lost {
        from: u64,
        to: u64,
        why: &'static str,
    },
}

impl From<Y4mError> for ElementError {
    fn from(error: Y4mError) -> ElementError {
        let code = match &error {
            Y4mError::Read(ReadError::Empty) => Code::Empty,
            Y4mError::Read(
                ReadError::HeaderTruncated { .. }
                | ReadError::FrameLineTruncated { .. }
                | ReadError::Truncated { .. },
            ) => Code::Truncated,
            Y4mError::Read(_) | Y4mError::Changed | Y4mError::Lost { .. } => Code::Damaged,
            Y4mError::Unsupported(_) => Code::Unsupported,
            Y4mError::Beyond { .. } => Code::Refused,
        };
        ElementError::new(Domain::Stream, code, error)
    }
}

/// The caps that a header stands for.
fn caps_of(header: &Header) -> Result<Structure, Y4mError> {
    let unsupported = |error: &dyn std::error::Error| Y4mError::Unsupported(error.to_string());
    let info = header.to_info().map_err(|e| unsupported(&e))?;
    let (carried, _) = Facts::from_info(&info).map_err(|e| unsupported(&e))?;
    let mut structure = info.to_structure();
    if let Some(style) = header.style(&carried) {
        structure = structure.with(STYLE, ValueSet::One(Value::text(&style)));
    }
    Ok(structure)
}

impl Element for Y4mDec {
    const NAME: &'static str = "y4mdec";
    const SUMMARY: &'static str = "Raw video out of a Y4M byte stream";
    const KLASS: &'static str = "Decoder/Video";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const IGNORED: &'static [&'static str] = &["name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", y4m_stream()).pulls(),
            PadTemplate::source("src", y4m_video()),
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
        if index > 0 {
            return Ok(None);
        }
        let peeked = (query.peek)(MAX_HEADER_BYTES + 1).map_err(|error| match error {
            PeekError::Failed(error) => error,
            other => ElementError::new(Domain::Stream, Code::Unsupported, other),
        })?;
        let mut reader = Reader::new();
        let mut rest = &peeked.bytes[..];
        loop {
            let (used, event) = reader.next(rest).map_err(Y4mError::from)?;
            rest = &rest[used..];
            if matches!(event, Event::NeedInput) {
                break;
            }
            if let Some(header) = reader.header() {
                return Ok(Some(caps_of(header)?));
            }
        }
        // A header that does not end within its limit is an error of `next`: this is the end.
        match reader.end() {
            Err(error) => Err(Y4mError::Read(error).into()),
            Ok(_) => Ok(None),
        }
    }

    fn propose_pool(&self, _pad: PadAt, _pads: &PadCapsOf) -> Proposal {
        Proposal::from(PoolConfig {
            size: BLOCK,
            ..PoolConfig::default()
        })
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        frame_pool(pads.source(0), downstream).map(Buffers::Own)
    }

    /// The block that a frame is read from.
    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    /// The blocks of a header and of the frames.
    fn takes_for(&self, _pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        let frame = stream_info(pads.source(0)).map_or(0, |i| i.layout.visible_bytes());
        let frame = (frame + MAX_FRAME_LINE_BYTES) as u64;
        let all = outputs
            .saturating_mul(frame)
            .saturating_add(MAX_HEADER_BYTES as u64);
        Some(all.div_ceil(bytes.max(1) as u64).saturating_add(1))
    }

    fn memory(&self, pads: &PadCapsOf) -> u64 {
        Pulling::memory(pads)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Decoding {
            reader: Reader::new(),
            pulling: None,
            info: None,
            caps: None,
            used: 0,
            gap: 0,
            flushed: false,
            frame: None,
            layout: None,
            frames: 0,
            data: None,
            start: 0,
            stop: None,
            odd: false,
            told: false,
        }))
    }
}

struct Decoding {
    reader: Reader,
    /// What it reads by position, unless blocks are sent.
    pulling: Option<Pulling>,
    info: Option<VideoInfo>,
    caps: Option<Structure>,
    /// Bytes of the oldest block that were read already.
    used: usize,
    /// Bytes up to the frame that goes on, where some were discarded on the way.
    gap: u64,
    /// Something was discarded, and no block came since.
    flushed: bool,
    /// The frame that is being filled, and where its planes lie.
    frame: Option<Granted>,
    layout: Option<Layout>,
    frames: u64,
    /// Where in the file the first frame begins, once the header was read.
    data: Option<i64>,
    /// The frame that a seek goes on with, and the first that it leaves out.
    start: u64,
    stop: Option<u64>,
    /// A frame had parameters of its own, and whether that was told.
    odd: bool,
    told: bool,
}

/// What is to be done next.
enum Next {
    /// Take the next block.
    Block,
    /// Acquire a buffer for the frame that begins.
    Buffer,
    /// Emit the frame that is whole.
    Emit,
}

impl Decoding {
    /// Reads the block `bytes` on, up to the end of a frame or of the block.
    fn read(&mut self, bytes: &[u8]) -> Result<Next, ElementError> {
        let passed = self.gap.min((bytes.len() - self.used) as u64);
        self.used += passed as usize;
        self.gap -= passed;
        if self.gap > 0 {
            return Ok(Next::Block);
        }
        loop {
            let rest = &bytes[self.used..];
            let (used, event) = self.reader.next(rest).map_err(Y4mError::from)?;
            self.used += used;
            match event {
                Event::NeedInput => return Ok(Next::Block),
                Event::Header => {
                    let header = self.reader.header().ok_or(Y4mError::Changed)?;
                    self.data = i64::try_from(self.reader.position()).ok();
                    let now = caps_of(header)?;
                    if !self.caps.as_ref().is_some_and(|c| c.can_intersect(&now)) {
                        return Err(Y4mError::Changed.into());
                    }
                }
                Event::FrameStart { .. } => {
                    let line = self.reader.frame_line();
                    self.odd |=
                        line.is_some_and(|l| l.odd().is_some() || l.interlacing().is_some());
                }
                Event::Payload { .. } if self.reader.frames() < self.start => {
                    let rest = &bytes[self.used..];
                    let skipped = self.reader.skip(rest).map_err(Y4mError::from)?;
                    self.used += skipped.used;
                    self.frames = self.reader.frames();
                    if !skipped.complete {
                        return Ok(Next::Block);
                    }
                }
                Event::Payload { .. } => {
                    let (Some(frame), Some(layout)) = (&mut self.frame, &self.layout) else {
                        return Ok(Next::Buffer);
                    };
                    let mut view = FrameMut::new(layout, frame.memory.as_mut_slice())
                        .map_err(|e| ElementError::new(Domain::Pool, Code::Refused, e))?;
                    let rest = &bytes[self.used..];
                    let filled = self.reader.fill(rest, &mut view).map_err(Y4mError::from)?;
                    self.used += filled.used;
                    return Ok(match filled.complete {
                        true => Next::Emit,
                        false => Next::Block,
                    });
                }
            }
        }
    }

    /// A block begins at `at`. Where bytes before it were discarded on the way, the next whole frame is
    /// the one that goes on.
    fn meet(&mut self, at: u64) -> Result<(), Y4mError> {
        let from = self.reader.position().saturating_sub(self.gap);
        self.flushed = false;
        if at == from {
            return Ok(());
        }
        let lost = |why| Y4mError::Lost { from, to: at, why };
        let (Some(data), Some(bytes)) = (self.data, self.frame_bytes()) else {
            return Err(lost("the header was not read"));
        };
        if self.odd {
            return Err(lost("frames have parameters of their own"));
        }
        let (data, bytes) = (data.unsigned_abs(), bytes.unsigned_abs());
        let frame = at.saturating_sub(data).div_ceil(bytes);
        let begins = frame.saturating_mul(bytes).saturating_add(data);
        self.reader.go_to(frame, begins);
        self.frames = frame;
        self.gap = begins - at;
        self.layout = None;
        Ok(())
    }

    /// What was read of a frame that is not whole is gone: the next one is what goes on.
    fn next_whole(&mut self, pulling: &mut Pulling) {
        let at = self.reader.position();
        let (Some(data), Some(bytes)) = (self.data, self.frame_bytes()) else {
            return;
        };
        let (data, bytes) = (data.unsigned_abs(), bytes.unsigned_abs());
        if self.frame.is_none() && self.layout.is_none() {
            return;
        }
        let frame = at.saturating_sub(data).div_ceil(bytes);
        let begins = frame.saturating_mul(bytes).saturating_add(data);
        self.reader.go_to(frame, begins);
        pulling.go_to(begins);
        (self.frames, self.layout) = (frame, None);
    }

    /// The unit of the stream's times: one frame.
    fn frame_time(&self) -> Option<TimeBase> {
        let rate = self.info.as_ref().and_then(|info| info.framerate);
        rate.and_then(|(n, d)| TimeBase::of_rate(n, d))
    }

    /// Bytes from one frame to the next, where no frame has parameters of its own.
    fn frame_bytes(&self) -> Option<i64> {
        self.data?;
        i64::try_from(self.reader.frame_bytes())
            .ok()?
            .checked_add(FRAME_LINE_BYTES)
    }

    fn emit(&mut self, process: &mut Process<'_>) {
        let (Some(info), Some(mut frame)) = (&self.info, self.frame.take()) else {
            return;
        };
        let meta = &mut frame.meta;
        meta.len = self.layout.take().unwrap_or(info.layout).size();
        meta.index = self.frames;
        let base = info.framerate.and_then(|(n, d)| TimeBase::of_rate(n, d));
        if let Some(base) = base {
            meta.time_base = base;
            meta.pts = i64::try_from(self.frames).ok();
            meta.duration = Some(1);
        }
        self.frames += 1;
        process.push(0, frame);
    }

    /// Reads what is granted on; false if nothing more is to be done in this tick.
    fn pull(&mut self, process: &mut Process<'_>) -> Result<bool, ElementError> {
        let Some(mut pulling) = self.pulling.take() else {
            return Ok(false);
        };
        let next = match pulling.next() {
            Ok(Pulled::Block(part)) => {
                self.used = 0;
                let next = self.read(part.bytes());
                pulling.used(part, self.used);
                next.map(Some)
            }
            Ok(Pulled::Wait) => {
                process.again();
                Ok(None)
            }
            Ok(Pulled::End) => {
                process.finish();
                let end = self.reader.end().map_err(Y4mError::from);
                end.map(|_| None).map_err(ElementError::from)
            }
            Err(error) => Err(error),
        };
        self.used = 0;
        self.pulling = Some(pulling);
        self.tell_odd(process);
        match next? {
            Some(next) => Ok(self.follow(&next, process)),
            None => Ok(false),
        }
    }

    /// Does what is to be done next; false if that is not possible in this tick.
    fn follow(&mut self, next: &Next, process: &mut Process<'_>) -> bool {
        match next {
            Next::Block => {}
            Next::Buffer => {
                let Some(info) = &self.info else { return false };
                // What a frame that is not read on was put into does for another.
                let kept = self.frame.take();
                let Some(mut frame) = kept.or_else(|| process.acquire()) else {
                    return false;
                };
                frame.meta = BufferMeta {
                    len: frame.memory.len(),
                    ..BufferMeta::default()
                };
                self.layout = Some(process.picture(frame.buffer, info));
                self.frame = Some(frame);
            }
            Next::Emit => self.emit(process),
        }
        true
    }

    fn tell_odd(&mut self, process: &mut Process<'_>) {
        if self.odd && !self.told {
            self.told = true;
            process.say("parameters of single frames (FRAME lines) are not passed on");
            process.warn(Domain::Stream, Code::Unsupported);
        }
    }

    fn decode(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            if self.stop.is_some_and(|stop| self.frames >= stop) {
                process.finish();
                break;
            }
            if self.pulling.is_some() {
                match self.pull(process)? {
                    true => continue,
                    false => break,
                }
            }
            let Some(item) = process.peek(0) else { break };
            let Some(block) = item.as_buffer() else {
                process.next(0);
                // Of what was discarded nobody knows where it would have ended.
                if !self.flushed && self.gap == 0 {
                    self.reader.end().map_err(Y4mError::from)?;
                }
                process.finish();
                break;
            };
            let met = match self.used {
                0 => self.meet(process.meta(block).index),
                _ => Ok(()),
            };
            let mut read = || self.read(process.bytes(block));
            let next = match met.map_err(ElementError::from).and_then(|()| read()) {
                Ok(next) => next,
                Err(error) => {
                    process.next(0);
                    process.release(block);
                    return Err(error);
                }
            };
            self.tell_odd(process);
            if let Next::Block = next {
                process.next(0);
                process.release(block);
                self.used = 0;
            } else if !self.follow(&next, process) {
                break;
            }
        }
        Ok(())
    }
}

impl Work for Decoding {
    fn grant(&mut self, bytes: Arc<dyn Bytes>) -> Result<(), ElementError> {
        self.pulling = Some(Pulling::new(bytes));
        Ok(())
    }

    fn revoke(&mut self) {
        self.pulling = None;
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.info = Some(stream_info(pads.source(0))?);
        self.caps = pads.source(0).cloned();
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.frame = process.take_aside();
        let outcome = self.decode(process);
        if let Some(frame) = self.frame.take() {
            process.put_aside(frame);
        }
        outcome
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        let base = self.frame_time();
        let (start, stop) = frames_of(seek, base)?;
        let segment = Segment {
            start,
            stop,
            time: start,
            rate: seek.rate,
            base: 0,
            time_base: base.unwrap_or_default(),
        };
        // Before the header was read the frames before are read too, and left out.
        let (Some(data), Some(bytes)) = (self.data, self.frame_bytes()) else {
            return Ok(match seek.flush && self.pulling.is_none() {
                true => Seeking::Through(Seek::byte(0), segment),
                false => Seeking::Here(segment),
            });
        };
        let byte = bytes.checked_mul(start).and_then(|b| b.checked_add(data));
        let byte =
            byte.ok_or_else(|| Y4mError::Unsupported(format!("frame {start} is too far")))?;
        if let Some(pulling) = &self.pulling {
            let len = pulling.length().total;
            return match byte.unsigned_abs() > len {
                true => Err(Y4mError::Beyond {
                    frame: start,
                    byte,
                    len,
                }
                .into()),
                false => Ok(Seeking::Here(segment)),
            };
        }
        let upstream = Seek {
            flush: seek.flush,
            ..Seek::byte(byte)
        };
        Ok(Seeking::Through(upstream, segment))
    }

    fn seek(&mut self, seek: &Seek) {
        let Ok((start, stop)) = frames_of(seek, self.frame_time()) else {
            return;
        };
        self.start = start.unsigned_abs();
        self.stop = stop.map(i64::unsigned_abs);
        if self.data.is_none() && seek.flush {
            self.reader = Reader::new();
            if let Some(pulling) = &mut self.pulling {
                pulling.go_to(0);
            }
        }
        (self.gap, self.flushed) = (0, false);
        if let (Some(data), Some(bytes)) = (self.data, self.frame_bytes()) {
            let byte = bytes.saturating_mul(start).saturating_add(data);
            self.reader.go_to(self.start, byte.unsigned_abs());
            if let Some(pulling) = &mut self.pulling {
                pulling.go_to(byte.unsigned_abs());
            }
            self.frames = self.start;
            self.used = 0;
            self.layout = None;
        }
    }

    /// The decoder goes on with the next whole frame of what comes.
    fn flush(&mut self, _pads: &[usize]) {
        if let Some(mut pulling) = self.pulling.take() {
            self.next_whole(&mut pulling);
            self.pulling = Some(pulling);
            return;
        }
        self.used = 0;
        self.layout = None;
        self.flushed = true;
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        Some((i64::try_from(self.frames).ok()?, self.frame_time()?))
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        (*query == Query::Seeking).then_some(Answer::Seeking(true))
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("start", self.start);
        visitor.unsigned("stop", self.stop.unwrap_or(u64::MAX));
        visitor.unsigned("position", self.reader.position());
        visitor.unsigned("used", self.used as u64);
        visitor.unsigned("gap", self.gap);
        visitor.flag("flushed", self.flushed);
        visitor.unsigned("frames", self.frames);
        if let Some(pulling) = &self.pulling {
            pulling.state(visitor);
        }
    }
}
