//! `imagefreeze`: one picture again and again, at the rate that is agreed downstream.
//!
//! The first frame that comes is repeated, with times that count frames from 0, until
//! `num-buffers` of them are out; without that there is no end. What comes behind it is dropped and
//! told, or with `allow-replace=true` takes its place. The end of the input changes nothing. With
//! `is-live=true` each goes out at its time, unless the clock is `free`.
//!
//! `tickpipe launch 'videotestsrc num-buffers=1 ! imagefreeze num-buffers=50 ! fakesink'`

use crate::element::{
    Buffers, Element, Flow, Handled, PadAt, PadCapsOf, PadTemplate, Process, Property, Seeking,
    Transformed, Work,
};
use crate::elements::raw_video::{FORMATS, raw_video_caps, stream_info};
use crate::elements::seeking::frames_of;
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::caps::{Fraction, Structure, ValueSet};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fault::ElementError;
use tickpipe_components::occurrence::Reason;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::{Rounding, Segment, TimeBase};

/// Settings of `imagefreeze`.
#[derive(Component, Clone, Debug)]
pub struct ImageFreeze {
    /// Frames to make; -1 for no end.
    pub num_buffers: i32,
    /// A later frame takes the place of the first.
    pub allow_replace: bool,
    /// Each goes out at its time.
    pub is_live: bool,
}

impl Default for ImageFreeze {
    fn default() -> Self {
        ImageFreeze {
            num_buffers: -1,
            allow_replace: false,
            is_live: false,
        }
    }
}

impl Element for ImageFreeze {
    const NAME: &'static str = "imagefreeze";
    const SUMMARY: &'static str = "Repeats one picture";
    const KLASS: &'static str = "Filter/Video";
    const FLOW: Flow = Flow::Convert;
    /// It makes another stream of it.
    const PROPOSED: bool = false;
    const IGNORED: &'static [&'static str] = &["name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", raw_video_caps(&FORMATS)),
            PadTemplate::source("src", raw_video_caps(&FORMATS)),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Frames to make before the end; -1 for no end",
                num_buffers
            ),
            crate::field!(
                Bool,
                "allow-replace",
                "A frame that comes later takes the place of the first",
                allow_replace
            ),
            crate::field!(
                Bool,
                "is-live",
                "Each frame goes out at its time; the clock `free` never waits",
                is_live
            ),
        ]
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let mut free = caps.clone();
        let any = ValueSet::fraction_range(Fraction::ZERO, Fraction::MAX).ok()?;
        free.set("framerate", any).ok()?;
        // What rate the picture had is no matter: nothing is converted.
        let free = Transformed::converting(free, &["framerate"]).at_cost(0);
        (index == 0).then_some(free)
    }

    fn fixate(&self, pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        let mut s = caps.clone();
        if !pad.is_sink() {
            s.fixate_nearest("framerate", Fraction::of(25, 1));
        }
        crate::element::keep_values(&s, other)
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        stream_info(pads.sink(0))?;
        stream_info(pads.source(0)).map(drop)
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        _downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(Buffers::Views)
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    fn takes_for(
        &self,
        _pad: PadAt,
        _pads: &PadCapsOf,
        _outputs: u64,
        _bytes: usize,
    ) -> Option<u64> {
        Some(1)
    }

    fn is_live(&self) -> bool {
        self.is_live
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Freezing {
            settings: self.clone(),
            step: None,
            meta: BufferMeta::default(),
            out: 0,
            began: None,
            origin: 0,
            stop: None,
        }))
    }
}

struct Freezing {
    settings: ImageFreeze,
    /// The length of a frame that goes out.
    step: Option<TimeBase>,
    /// What is known of the picture, which is kept.
    meta: BufferMeta,
    /// Frames that went out.
    out: i64,
    /// When the first of them could.
    began: Option<i64>,
    /// The frame that a seek went to, and the first that it leaves out.
    origin: i64,
    stop: Option<i64>,
}

impl Freezing {
    /// Takes the picture, or what comes behind it.
    fn take_in(&mut self, process: &mut Process<'_>) {
        while let Some(item) = process.next(0) {
            let Some(buffer) = item.as_buffer() else {
                continue;
            };
            if process.kept().len() > 0 && !self.settings.allow_replace {
                process.drop_for(buffer, Reason::NotWanted);
                continue;
            }
            self.meta = *process.meta(buffer);
            if let Some(before) = process.take_kept() {
                process.release(before);
            }
            process.keep(buffer);
        }
    }

    /// Whether all are out.
    fn is_done(&self) -> bool {
        let all = i64::from(self.settings.num_buffers);
        (all >= 0 && self.out >= all) || self.stop.is_some_and(|stop| self.out >= stop)
    }
}

impl Work for Freezing {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<ImageFreeze>() {
            self.settings = settings.clone();
        }
        Ok(())
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let rate = pads.source(0).and_then(|s| s.fraction("framerate"));
        let step = rate.and_then(|rate| TimeBase::of_rate(rate.num(), rate.den()));
        self.step = step;
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.take_in(process);
        let picture = process.kept().next();
        let Some(picture) = picture else {
            if process.all_inputs_ended() {
                process.finish();
            }
            return Ok(());
        };
        let began = *self.began.get_or_insert(process.now());
        while process.room(0) > 0 && !self.is_done() {
            let step = self.step.unwrap_or_default();
            if self.settings.is_live && !process.is_free() {
                let due = step.convert(self.out - self.origin, TimeBase::NANOSECONDS, Rounding::Up);
                let due = due
                    .and_then(|due| began.checked_add(due))
                    .unwrap_or(i64::MAX);
                if process.now() < due {
                    process.wait_until(due);
                    return Ok(());
                }
            }
            let Some(mut view) = process.acquire() else {
                break;
            };
            view.meta = BufferMeta {
                pts: Some(self.out),
                dts: None,
                duration: self.step.map(|_| 1),
                time_base: step,
                index: self.out as u64,
                ..self.meta
            };
            process.push_view(0, view, picture);
            self.out += 1;
            if self.step.is_none() {
                // At a rate of 0/1 there is one picture.
                self.settings.num_buffers = 0;
            }
        }
        if self.is_done() {
            if let Some(picture) = process.take_kept() {
                process.release(picture);
            }
            process.finish();
        } else {
            // Its input has nothing more to run it with.
            process.again();
        }
        Ok(())
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        let (start, stop) = frames_of(seek, self.step)?;
        let segment = Segment {
            start,
            stop,
            time: start,
            time_base: self.step.unwrap_or_default(),
            ..Segment::default()
        };
        // With what is under way the picture is discarded, and must come again.
        Ok(match seek.flush {
            true => Seeking::Through(Seek::frame(0), segment),
            false => Seeking::Here(segment),
        })
    }

    fn seek(&mut self, seek: &Seek) {
        if let Ok((start, stop)) = frames_of(seek, self.step) {
            (self.out, self.stop) = (start, stop);
            self.began = None;
            self.origin = start;
        }
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        self.step.map(|step| (self.out, step))
    }

    /// Its times are its own.
    fn event(
        &mut self,
        _pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        Ok(match event {
            Event::Segment(_) => Handled::Taken,
            _ => Handled::Forward,
        })
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        let frames = i64::from(self.settings.num_buffers);
        match query {
            Query::Duration if frames >= 0 => Some(Answer::Duration(frames, self.step?)),
            _ => None,
        }
    }

    /// The picture stays.
    fn drain(
        &mut self,
        _event: Option<&Event>,
        _process: &mut Process<'_>,
    ) -> Result<Option<bool>, ElementError> {
        Ok(Some(true))
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.signed("out", self.out);
        visitor.signed("origin", self.origin);
        visitor.signed("stop", self.stop.unwrap_or(-1));
        visitor.flag("began", self.began.is_some());
        visitor.signed("began_at", self.began.unwrap_or(0));
    }
}
