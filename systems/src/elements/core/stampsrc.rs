//! `stampsrc`: buffers with stated times, which arrive at stated times: for tests and scenarios.
//!
//! What `stamps` and `arrivals` say is described in `stamps_text.rs` and docs/time.md. All bytes of
//! a buffer are the low byte of its index. Of caps with a frame rate, times count frames unless
//! `time-base` says otherwise; without, nanoseconds.
//!
//! `tickpipe launch 'stampsrc stamps=0..99,none,101 time-base=1/25 ! fakesink'`

use super::stamps_text::{
    Gaps, Run, check_arrivals, check_stamps, gap_before, parse_arrivals, parse_stamps,
};
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Seeking,
    Work, keep_values,
};
use crate::elements::seeking::frames_of;
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Caps, Fraction, Structure};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{PropertyKind, PropertyValue, TextForm};
use tickpipe_components::seek::Seek;
use tickpipe_components::time::{Segment, TimeBase};
use tickpipe_components::video::VideoInfo;

/// Settings of `stampsrc`.
#[derive(Component, Clone, Debug)]
pub struct StampSrc {
    /// The times, as a text.
    pub stamps: String,
    /// The times between buffers, as a text.
    pub arrivals: String,
    /// The unit of times, in seconds; 0 is a frame, or a nanosecond where there is no rate.
    pub time_base: Fraction,
    /// How long each lasts; -1 is one frame where the caps have a rate, else not known.
    pub duration: i64,
    /// What it offers.
    pub caps: Caps,
    /// Buffers to make; -1 for one a time.
    pub num_buffers: i32,
}

impl Default for StampSrc {
    fn default() -> Self {
        StampSrc {
            stamps: "0..99".to_owned(),
            arrivals: String::new(),
            time_base: Fraction::ZERO,
            duration: -1,
            caps: Caps::any(),
            num_buffers: -1,
        }
    }
}

impl Element for StampSrc {
    const NAME: &'static str = "stampsrc";
    const SUMMARY: &'static str = "Buffers with stated times, which arrive at stated times";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const MADE_UP: bool = true;
    const READY_ONLY: &'static [&'static str] =
        &["stamps", "arrivals", "time-base", "duration", "num-buffers"];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            Property::new(
                "stamps",
                "The times of its buffers, one after the other",
                PropertyKind::Form(TextForm {
                    example: "0..99, none, 101..200/2+70000, 7*3",
                    check: check_stamps,
                }),
                |s: &StampSrc| PropertyValue::from(&*s.stamps),
                |s, v| {
                    if let PropertyValue::Text(text) = v {
                        s.stamps = text;
                    }
                },
            ),
            Property::new(
                "arrivals",
                "How long after the one before it each comes, unless the clock is `free`; the first comes at 0",
                PropertyKind::Form(TextForm {
                    example: "16ms*60, 3s, 24/8ms",
                    check: check_arrivals,
                }),
                |s: &StampSrc| PropertyValue::from(&*s.arrivals),
                |s, v| {
                    if let PropertyValue::Text(text) = v {
                        s.arrivals = text;
                    }
                },
            ),
            Property::new(
                "time-base",
                "The unit of its times, in seconds; 0/1 is a frame of the caps' rate, or a nanosecond",
                PropertyKind::Fraction,
                |s: &StampSrc| PropertyValue::Fraction(s.time_base),
                |s, v| {
                    if let PropertyValue::Fraction(base) = v {
                        s.time_base = base;
                    }
                },
            ),
            crate::field!(
                Int(-1, i64::MAX),
                "duration",
                "How long each lasts, in units of its times; -1 is a frame of the caps' rate, if they have one; 0 is not known",
                duration
            ),
            Property::new(
                "caps",
                "What it offers, best first",
                PropertyKind::Caps,
                |s: &StampSrc| PropertyValue::Caps(s.caps.clone()),
                |s, v| {
                    if let PropertyValue::Caps(caps) = v {
                        s.caps = caps;
                    }
                },
            ),
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Most buffers to make; -1 for one of each time",
                num_buffers
            ),
        ]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(query.answer(&self.caps, index))
    }

    fn fixate(&self, _pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        keep_values(caps, other)
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let own = PoolConfig {
            size: picture_bytes(pads),
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        // Both were checked when they were set.
        let runs = parse_stamps(&self.stamps).unwrap_or_default();
        let all = runs.iter().fold(0u64, |n, r| n.saturating_add(r.count()));
        let most = u64::try_from(self.num_buffers).unwrap_or(u64::MAX);
        let (num, den) = (self.time_base.num(), self.time_base.den());
        let base = u32::try_from(num).ok().zip(u32::try_from(den).ok());
        Ok(Box::new(Stamping {
            runs,
            gaps: parse_arrivals(&self.arrivals).unwrap_or_default(),
            end: all.min(most),
            asked: base.and_then(|(n, d)| TimeBase::new(n, d)),
            lasts: self.duration,
            base: TimeBase::default(),
            duration: None,
            size: 0,
            run: 0,
            within: 0,
            index: 0,
            stop: None,
            due: 0,
        }))
    }
}

/// Bytes of a raw picture of the agreed caps; 0 of anything else.
fn picture_bytes(pads: &PadCapsOf) -> usize {
    let info = pads
        .source(0)
        .and_then(|s| VideoInfo::from_structure(s).ok());
    info.map_or(0, |i| i.layout.size())
}

struct Stamping {
    runs: Vec<Run>,
    gaps: Vec<Gaps>,
    /// Buffers in all.
    end: u64,
    /// The unit that was asked for.
    asked: Option<TimeBase>,
    lasts: i64,
    base: TimeBase,
    duration: Option<i64>,
    size: usize,
    /// Where in the times it is: which run, and how far in it.
    run: usize,
    within: u64,
    index: u64,
    /// The first that a seek leaves out.
    stop: Option<u64>,
    /// When the next one comes, in nanoseconds.
    due: i64,
}

impl Stamping {
    /// The time of the next buffer.
    fn next(&mut self) -> Option<i64> {
        while let Some(run) = self.runs.get(self.run) {
            if self.within < run.count() {
                self.within += 1;
                return run.at(self.within - 1);
            }
            self.run += 1;
            self.within = 0;
        }
        None
    }
}

impl Work for Stamping {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let rate = pads.source(0).and_then(|s| s.fraction("framerate"));
        let frame = rate.and_then(|rate| TimeBase::of_rate(rate.num(), rate.den()));
        self.base = self.asked.or(frame).unwrap_or_default();
        self.duration = match self.lasts {
            0 => None,
            -1 => frame.and_then(|frame| {
                let rounding = tickpipe_components::time::Rounding::Nearest;
                frame.convert(1, self.base, rounding)
            }),
            lasts => Some(lasts),
        };
        self.size = picture_bytes(pads);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let end = self.end.min(self.stop.unwrap_or(u64::MAX));
        while process.room(0) > 0 && self.index < end {
            if !process.is_free() && process.now() < self.due {
                process.wait_until(self.due);
                return Ok(());
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            buffer.memory.as_mut_slice()[..self.size].fill(self.index as u8);
            let meta = &mut buffer.meta;
            meta.len = self.size;
            meta.index = self.index;
            meta.time_base = self.base;
            meta.duration = self.duration;
            meta.pts = self.next();
            self.index += 1;
            let gap = gap_before(&self.gaps, self.index).unwrap_or(0);
            self.due = self.due.saturating_add(gap);
            process.push(0, buffer);
        }
        if self.index >= end {
            process.finish();
        }
        Ok(())
    }

    /// By frame: its times may be any.
    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        frames_of(seek, None)?;
        Ok(Seeking::Here(Segment::default()))
    }

    fn seek(&mut self, seek: &Seek) {
        let Ok((start, stop)) = frames_of(seek, None) else {
            return;
        };
        self.index = start.unsigned_abs().min(self.end);
        self.stop = stop.map(i64::unsigned_abs);
        (self.run, self.within) = (0, self.index);
        while let Some(run) = self
            .runs
            .get(self.run)
            .filter(|run| self.within >= run.count())
        {
            self.within -= run.count();
            self.run += 1;
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("stop", self.stop.unwrap_or(u64::MAX));
        visitor.unsigned("index", self.index);
        visitor.unsigned("end", self.end);
        visitor.signed("due", self.due);
    }
}
