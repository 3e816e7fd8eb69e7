//! `join`: a muxer's interleave over its inputs, nothing more: of the oldest buffers of all inputs
//! the one with the lowest time goes next. So it waits until each input has one, or has ended, or
//! says that it may be silent.
//!
//! Buffers without a time go before those with one, by their number in the stream of their maker. A
//! buffer that goes back in time goes as if it had the latest time of its input. Of equals goes the
//! one whose input gave fewer so far, then that of the lower pad.
//!
//! `tickpipe launch 'join name=mux ! fakesink videotestsrc num-buffers=9 ! mux. videotestsrc num-buffers=5 ! mux.'`

use crate::element::{Element, Flow, PadCapsOf, PadTemplate, Process, Waits, Work};
use bevy_ecs::component::Component;
use core::cmp::Ordering;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::ElementError;

/// Settings of `join`.
#[derive(Component, Clone, Debug, Default)]
pub struct Join;

impl Element for Join {
    const NAME: &'static str = "join";
    const SUMMARY: &'static str = "Interleaves what comes on its inputs by time, as a muxer does";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", Caps::any()).on_request(),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn waits(&self) -> Waits {
        Waits::All
    }

    /// A buffer may wait for the next one of each other input.
    fn latency(&self, pads: &PadCapsOf) -> Latency {
        match pads.sinks.len() {
            0 | 1 => Latency::default(),
            inputs => Latency::of(pads.longest_frame(0..inputs)),
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Joining::default()))
    }
}

#[derive(Default)]
struct Joining {
    /// By input.
    given: Vec<Given>,
}

/// What an input gave so far.
#[derive(Clone, Copy, Default)]
struct Given {
    /// How many buffers.
    buffers: u64,
    /// The latest of them.
    latest: Option<BufferMeta>,
}

/// Which of two buffers goes first by what is known of them.
fn compare(a: &BufferMeta, b: &BufferMeta) -> Ordering {
    match (a.pts, b.pts) {
        (Some(x), Some(y)) => a.time_base.compare(x, b.time_base, y),
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (None, None) => a.index.cmp(&b.index),
    }
}

impl Given {
    /// What the input's next buffer counts as: itself, or the latest before it if that is later.
    fn next(&self, meta: &BufferMeta) -> BufferMeta {
        match &self.latest {
            Some(latest) if compare(latest, meta) == Ordering::Greater => *latest,
            _ => *meta,
        }
    }
}

/// Whose turn it is.
enum Turn {
    /// The oldest buffer of this pad goes.
    Goes(usize),
    /// What comes next on this pad may have to go before all that is there.
    Waits(usize),
    /// Nothing is left.
    Nobody,
}

impl Joining {
    /// Whose turn it is. Of a pad that has nothing now its next counts, which is after the latest
    /// that came there.
    fn turn(&mut self, process: &mut Process<'_>) -> Turn {
        let mut first: Option<(usize, Option<BufferMeta>, bool)> = None;
        for pad in 0..process.inputs() {
            let there = process.peek(pad);
            if there.is_some_and(|item| item.as_buffer().is_none()) {
                process.next(pad);
            }
            if process.ended(pad) || (process.queued(pad) == 0 && process.may_be_silent(pad)) {
                continue;
            }
            let given = &self.given[pad];
            let buffer = there.and_then(|item| item.as_buffer());
            let next = match buffer {
                Some(buffer) => Some(given.next(process.meta(buffer))),
                None => given.latest,
            };
            let goes_before = |other: &(usize, Option<BufferMeta>, bool)| {
                let by_time = match (&next, &other.1) {
                    (Some(next), Some(other)) => compare(next, other),
                    // Nothing is known of what a pad gives that gave nothing yet.
                    (None, Some(_)) => Ordering::Less,
                    (Some(_), None) => Ordering::Greater,
                    (None, None) => Ordering::Equal,
                };
                // What comes next is after the latest: what is there at that time goes before it.
                let by_place = other.2.cmp(&buffer.is_some());
                let by_count = given.buffers.cmp(&self.given[other.0].buffers);
                by_time.then(by_place).then(by_count) == Ordering::Less
            };
            if first.as_ref().is_none_or(goes_before) {
                first = Some((pad, next, buffer.is_some()));
            }
        }
        match first {
            Some((pad, _, true)) => Turn::Goes(pad),
            Some((pad, _, false)) => Turn::Waits(pad),
            None => Turn::Nobody,
        }
    }
}

impl Work for Joining {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.given.resize(process.inputs(), Given::default());
        while process.room(0) > 0 {
            match self.turn(process) {
                Turn::Goes(pad) => {
                    if let Some(buffer) = process.next(pad).and_then(|i| i.as_buffer()) {
                        let given = &mut self.given[pad];
                        given.buffers += 1;
                        given.latest = Some(given.next(process.meta(buffer)));
                        process.follow_segment(pad, 0);
                        process.forward(0, buffer);
                    }
                }
                Turn::Waits(pad) => {
                    process.wait_for_input(pad);
                    break;
                }
                Turn::Nobody => {
                    // Of inputs that may be silent one must end too, if there are no others.
                    if (0..process.inputs()).any(|pad| process.ended(pad)) {
                        process.finish();
                    }
                    break;
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self, pads: &[usize]) {
        for &pad in pads {
            if let Some(given) = self.given.get_mut(pad) {
                *given = Given::default();
            }
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        for given in &self.given {
            visitor.unsigned("given", given.buffers);
            let latest = given.latest.unwrap_or_default();
            visitor.signed("pts", latest.pts.unwrap_or(-1));
            visitor.unsigned("index", latest.index);
        }
    }
}
