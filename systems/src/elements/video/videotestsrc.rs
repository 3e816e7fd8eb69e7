//! `videotestsrc`: test pictures.
//!
//! 320x240 at 30/1 unless caps say otherwise, as in GStreamer. At a rate of 0/1 it makes one
//! picture. `seed` starts the noise of `snow`.
//!
//! `tickpipe launch 'videotestsrc pattern=ball num-buffers=30 ! video/x-raw,width=64 ! fakesink'`

use super::pixels::{Pattern, PatternPainter};
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Seeking,
    Work,
};
use crate::elements::raw_video::{FORMATS, frame_pool, raw_video_caps, stream_info};
use crate::elements::seeking::frames_of;
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::{Fraction, Structure, Value, ValueSet};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::Choice;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::{Rounding, Segment, TimeBase};
use tickpipe_components::video::{FrameMut, VideoInfo};

/// Settings of `videotestsrc`.
#[derive(Component, Clone, Debug)]
pub struct VideoTestSrc {
    /// What is drawn.
    pub pattern: Pattern,
    /// Pictures to make; -1 for no end.
    pub num_buffers: i32,
    /// Starts the noise.
    pub seed: u64,
    /// It gives pictures only in PLAYING.
    pub is_live: bool,
}

impl Default for VideoTestSrc {
    fn default() -> Self {
        VideoTestSrc {
            pattern: Pattern::Smpte,
            num_buffers: -1,
            seed: 0,
            is_live: false,
        }
    }
}

const PATTERNS: [Choice; Pattern::ALL.len()] = {
    let mut choices = [Choice {
        number: 0,
        name: "",
    }; Pattern::ALL.len()];
    let mut i = 0;
    while i < choices.len() {
        let (_, name, number) = Pattern::ALL[i];
        choices[i] = Choice {
            number: number as i64,
            name,
        };
        i += 1;
    }
    choices
};

impl Element for VideoTestSrc {
    const NAME: &'static str = "videotestsrc";
    const SUMMARY: &'static str = "Test pictures";
    const KLASS: &'static str = "Source/Video";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const MADE_UP: bool = true;
    const IGNORED: &'static [&'static str] = &[
        "animation-mode",
        "background-color",
        "blocksize",
        "do-timestamp",
        "flip",
        "foreground-color",
        "horizontal-speed",
        "k0",
        "kt",
        "kt2",
        "kx",
        "kx2",
        "kxt",
        "kxy",
        "ky",
        "ky2",
        "kyt",
        "motion",
        "name",
        "parent",
        "timestamp-offset",
        "typefind",
        "xoffset",
        "yoffset",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", raw_video_caps(&FORMATS))]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(Choice(&PATTERNS), "pattern", "What is drawn", pattern: Pattern),
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Pictures to make before the end; -1 for no end",
                num_buffers
            ),
            crate::field!(
                Bool,
                "is-live",
                "Give pictures only in PLAYING, each at its time unless the clock is `free`",
                is_live
            ),
            crate::field!(
                Int(0, i64::MAX),
                "seed",
                "Starts the noise of `snow` and `smpte`; equal seeds give equal pictures",
                seed
            ),
        ]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        let Some(structure) = query.template.structures().get(index as usize) else {
            return Ok(None);
        };
        let mut structure = structure.clone();
        let square = Fraction::new(1, i32::MAX).zip(Fraction::new(i32::MAX, 1));
        if let Some(Ok(any)) = square.map(|(low, high)| ValueSet::fraction_range(low, high)) {
            structure = structure.with("pixel-aspect-ratio", any);
        }
        let progressive = ValueSet::One(Value::text("progressive"));
        Ok(Some(structure.with("interlace-mode", progressive)))
    }

    fn fixate(&self, _pad: PadAt, caps: &Structure, _other: Option<&Structure>) -> Structure {
        let mut s = caps.clone();
        s.fixate_nearest("width", 320);
        s.fixate_nearest("height", 240);
        for (field, num) in [("framerate", 30), ("pixel-aspect-ratio", 1)] {
            if let Some(wanted) = Fraction::new(num, 1) {
                s.fixate_nearest(field, wanted);
            }
        }
        s.fixated()
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        stream_info(pads.source(0)).map(drop)
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        frame_pool(pads.source(0), downstream).map(Buffers::Own)
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn is_live(&self) -> bool {
        self.is_live
    }

    /// A picture of a live source is there when its time is over.
    fn latency(&self, pads: &PadCapsOf) -> Latency {
        let info = stream_info(pads.source(0)).ok();
        let base = info.as_ref().and_then(frame_time).filter(|_| self.is_live);
        let frame = base.and_then(|b| b.convert(1, TimeBase::NANOSECONDS, Rounding::Up));
        frame.map_or_else(Latency::default, Latency::elastic)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Painting {
            live: self.is_live,
            stop: None,
            origin: 0,
            pattern: self.pattern,
            seed: self.seed,
            end: u64::try_from(self.num_buffers).ok(),
            stream: None,
            index: 0,
            pts: 0,
        }))
    }
}

struct Painting {
    live: bool,
    /// The first picture that a seek leaves out, and the first that it plays.
    stop: Option<u64>,
    origin: i64,
    pattern: Pattern,
    seed: u64,
    /// How many pictures there are in all.
    end: Option<u64>,
    stream: Option<(VideoInfo, PatternPainter)>,
    index: u64,
    /// The time of the next picture, in frames of the rate that it has.
    pts: i64,
}

/// Whether a picture of a live source is due; if not, it waits for that.
fn due(process: &mut Process<'_>, base: Option<TimeBase>, frames: i64) -> bool {
    let Some(base) = base.filter(|_| !process.is_free()) else {
        return true;
    };
    let at = base.convert(frames, TimeBase::NANOSECONDS, Rounding::Up);
    let at = at.unwrap_or(i64::MAX);
    if process.running_time() >= at {
        return true;
    }
    process.wait_until_running(at);
    false
}

/// The unit of the stream's times: one picture.
fn frame_time(info: &VideoInfo) -> Option<TimeBase> {
    info.framerate.and_then(|(n, d)| TimeBase::of_rate(n, d))
}

impl Work for Painting {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<VideoTestSrc>() {
            self.pattern = settings.pattern;
            self.seed = settings.seed;
            self.end = u64::try_from(settings.num_buffers).ok();
            if let Some((info, painter)) = &mut self.stream {
                *painter = PatternPainter::new(info, self.pattern, self.seed);
            }
        }
        Ok(())
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let info = stream_info(pads.source(0))?;
        if info.framerate.is_some_and(|(num, _)| num == 0) {
            let one = self.index + 1;
            self.end = Some(self.end.map_or(one, |n| n.min(one)));
        }
        // At another rate the next picture comes when it would have come.
        let before = self.stream.as_ref().and_then(|(info, _)| frame_time(info));
        if let Some((before, now)) = before.zip(frame_time(&info)) {
            let pts = before.convert(self.pts, now, Rounding::Up);
            self.pts = pts.unwrap_or(self.pts);
        }
        let painter = PatternPainter::new(&info, self.pattern, self.seed);
        self.stream = Some((info, painter));
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let Some((info, painter)) = &mut self.stream else {
            return Ok(());
        };
        let base = frame_time(info);
        let end = self.end.into_iter().chain(self.stop).min();
        let ended = |index: u64| end.is_some_and(|end| index >= end);
        while process.room(0) > 0 && !ended(self.index) {
            if self.live && !due(process, base, self.pts - self.origin) {
                return Ok(());
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            let refused = |e| ElementError::new(Domain::Pool, Code::Refused, e);
            let layout = process.picture(buffer.buffer, info);
            let painted = FrameMut::new(&layout, buffer.memory.as_mut_slice())
                .map_err(refused)
                .and_then(|mut frame| {
                    let painted = painter.paint(self.index, &mut frame);
                    painted.map_err(|e| ElementError::new(Domain::Core, Code::Failed, e))
                });
            if let Err(error) = painted {
                process.discard(buffer);
                return Err(error);
            }
            let meta = &mut buffer.meta;
            meta.len = layout.size();
            meta.index = self.index;
            meta.pts = Some(self.pts);
            if let Some(base) = base {
                meta.time_base = base;
                meta.duration = Some(1);
            }
            self.index += 1;
            self.pts += 1;
            process.push(0, buffer);
        }
        if ended(self.index) {
            process.finish();
        }
        Ok(())
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        let base = self.stream.as_ref().and_then(|(info, _)| frame_time(info));
        let (start, stop) = frames_of(seek, base)?;
        let base = base.unwrap_or_default();
        Ok(Seeking::Here(Segment {
            start,
            stop,
            time: start,
            rate: seek.rate,
            base: 0,
            time_base: base,
        }))
    }

    fn seek(&mut self, seek: &Seek) {
        let base = self.stream.as_ref().and_then(|(info, _)| frame_time(info));
        if let Ok((start, stop)) = frames_of(seek, base) {
            self.index = start.unsigned_abs();
            (self.pts, self.origin) = (start, start);
            self.stop = stop.map(i64::unsigned_abs);
        }
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        let base = self.stream.as_ref().and_then(|(info, _)| frame_time(info));
        base.map(|base| (self.pts, base))
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        let base = self
            .stream
            .as_ref()
            .and_then(|(info, _)| frame_time(info))?;
        match query {
            Query::Duration => {
                let end = i64::try_from(self.end?).ok()?;
                Some(Answer::Duration(end, base))
            }
            Query::Seeking => Some(Answer::Seeking(true)),
            Query::Custom(_) => None,
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("index", self.index);
        visitor.unsigned("end", self.end.unwrap_or(u64::MAX));
        visitor.unsigned("stop", self.stop.unwrap_or(u64::MAX));
        visitor.signed("pts", self.pts);
    }
}
