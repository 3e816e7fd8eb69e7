//! `concat`: passes on all of its first input, then all of the next, in order of its sink pads, and ends
//! after the last. Inputs that are not due wait, and nothing of theirs is lost.
//!
//! With `adjust-base` (the default) running time goes on: the segment of each input has what was played
//! before it as its base. Where an input came without a segment of its own, its times are counted from 0.
//!
//! `tickpipe launch 'concat name=c ! fakesink videotestsrc num-buffers=3 ! c. videotestsrc num-buffers=5 ! c.'`

use crate::element::{Element, Flow, Handled, PadAt, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::BufferId;
use tickpipe_components::time::{Rounding, Segment, Time};

/// Settings of `concat`.
#[derive(Component, Clone, Debug)]
pub struct Concat {
    /// Running time goes on from one input to the next.
    pub adjust_base: bool,
}

impl Default for Concat {
    fn default() -> Self {
        Concat { adjust_base: true }
    }
}

impl Element for Concat {
    const NAME: &'static str = "concat";
    const SUMMARY: &'static str = "Passes on one input after the other";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["name", "parent"];
    const READY_ONLY: &'static [&'static str] = &["adjust-base"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", Caps::any()).on_request(),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Bool,
            "adjust-base",
            "Whether running time goes on from one input to the next",
            adjust_base
        )]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Joining {
            adjusts: self.adjust_base,
            due: 0,
            played: Time::nanoseconds(0),
            end: None,
            given: Segment::default(),
            asked: None,
            early: Vec::new(),
        }))
    }
}

struct Joining {
    adjusts: bool,
    /// The input whose turn it is.
    due: usize,
    /// The running time of all inputs before it.
    played: Time,
    /// The running time up to which it has given, if that is known.
    end: Option<Time>,
    /// The segment that was passed on last, and the input's that it was made of.
    given: Segment,
    asked: Option<Segment>,
    /// Events that came before their input was due.
    early: Vec<(usize, Event)>,
}

impl Joining {
    /// Sees to it that a buffer is in the segment of its input, behind what was played.
    fn follow(&mut self, process: &mut Process<'_>, buffer: BufferId) {
        let asked = process.segment(self.due);
        if self.asked == Some(asked) {
            return;
        }
        self.asked = Some(asked);
        let mut segment = asked;
        if self.adjusts && self.played.value > 0 {
            if asked == Segment::default() {
                // The default segment has no unit of its own.
                segment.time_base = process.meta(buffer).time_base;
            }
            let played = self.played.convert(segment.time_base, Rounding::Up);
            let played = played.map_or(0, |t| t.value);
            segment.base = segment.base.saturating_add(played);
        }
        if segment != self.given {
            process.push_event(0, Event::Segment(segment));
            self.given = segment;
        }
    }

    /// Notes how far running time goes with a buffer.
    fn note(&mut self, process: &Process<'_>, buffer: BufferId) {
        let meta = process.meta(buffer);
        let Some(pts) = meta.pts else { return };
        let value = pts.saturating_add(meta.duration.unwrap_or_default());
        let end = Time {
            value,
            base: meta.time_base,
        };
        let running = match self.given == Segment::default() {
            true => Some(end),
            false => end
                .convert(self.given.time_base, Rounding::Up)
                .and_then(|at| {
                    let value = self.given.to_running_any(at.value)?;
                    Some(Time { value, ..at })
                }),
        };
        let later = |new: &Time| {
            self.end
                .is_none_or(|old| new.base.compare(new.value, old.base, old.value).is_gt())
        };
        if let Some(running) = running.filter(later) {
            self.end = Some(running);
        }
    }

    fn next_input(&mut self, process: &mut Process<'_>) {
        self.due += 1;
        self.played = self.end.unwrap_or(self.played);
        self.asked = None;
        let due = self.due;
        for (_, event) in self.early.extract_if(.., |early| early.0 == due) {
            process.push_event(0, event);
        }
    }
}

impl Work for Joining {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            if self.due >= process.inputs() {
                process.finish();
                return Ok(());
            }
            let Some(item) = process.next(self.due) else {
                // Its end was taken before what was played of others began anew.
                if process.ended(self.due) {
                    self.next_input(process);
                    continue;
                }
                break;
            };
            match item.as_buffer() {
                Some(buffer) => {
                    self.follow(process, buffer);
                    self.note(process, buffer);
                    process.forward(0, buffer);
                }
                None => self.next_input(process),
            }
        }
        if self.due < process.inputs() && process.queued(self.due) == 0 {
            process.wait_for_input(self.due);
        } else {
            process.again();
        }
        Ok(())
    }

    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        if !pad.is_sink() {
            return Ok(Handled::Forward);
        }
        if matches!(event, Event::Segment(_)) {
            // It takes effect with the next buffer.
            return Ok(Handled::Taken);
        }
        if pad.index == self.due {
            return Ok(Handled::Forward);
        }
        self.early.push((pad.index, event.clone()));
        Ok(Handled::Taken)
    }

    /// All is given anew, from the first input on.
    fn flush(&mut self, pads: &[usize]) {
        self.early.retain(|early| !pads.contains(&early.0));
        if let Some(first) = pads.iter().min() {
            if *first < self.due {
                self.due = *first;
            }
            (self.played, self.end) = (Time::nanoseconds(0), None);
            (self.given, self.asked) = (Segment::default(), None);
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("due", self.due as u64);
        visitor.signed("played", self.played.value);
        visitor.signed("end", self.end.map_or(i64::MIN, |t| t.value));
        self.given.visit(visitor);
        for (pad, event) in &self.early {
            visitor.unsigned("pad", *pad as u64);
            event.visit(visitor);
        }
    }
}
