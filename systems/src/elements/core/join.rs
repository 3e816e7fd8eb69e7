//! `join`: a muxer's interleave over its inputs, nothing more: of the oldest buffers of all inputs
//! the one with the lowest time goes next. So it waits until each input has one, or has ended, or
//! says that it may be silent.
//!
//! Buffers without a time go before those with one, by their number in the stream of their maker.
//! Of equals goes the one whose input gave fewer so far, then that of the lower pad.
//!
//! `tickpipe launch 'join name=mux ! fakesink videotestsrc num-buffers=9 ! mux. videotestsrc num-buffers=5 ! mux.'`

use crate::element::{Element, Flow, PadTemplate, Process, Waits, Work};
use bevy_ecs::component::Component;
use core::cmp::Ordering;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
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

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Joining::default()))
    }
}

#[derive(Default)]
struct Joining {
    /// Buffers that each input gave.
    taken: Vec<u64>,
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

impl Joining {
    /// The pad whose oldest buffer goes next; `None` if one must be waited for, or none is left.
    fn next(&mut self, process: &mut Process<'_>) -> Option<usize> {
        let mut first: Option<usize> = None;
        for pad in 0..process.inputs() {
            if process.ended(pad) {
                continue;
            }
            let buffer = match process.peek(pad) {
                Some(item) => match item.as_buffer() {
                    Some(buffer) => buffer,
                    None => {
                        process.next(pad);
                        continue;
                    }
                },
                None if process.may_be_silent(pad) => continue,
                None => return None,
            };
            let goes_before = |other: usize| {
                let other_buffer = process.peek(other).and_then(|i| i.as_buffer());
                other_buffer.is_none_or(|o| {
                    let by_time = compare(process.meta(buffer), process.meta(o));
                    let by_count = self.taken[pad].cmp(&self.taken[other]);
                    by_time.then(by_count) == Ordering::Less
                })
            };
            if first.is_none_or(goes_before) {
                first = Some(pad);
            }
        }
        first
    }
}

impl Work for Joining {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.taken.resize(process.inputs(), 0);
        while process.room(0) > 0 {
            let Some(pad) = self.next(process) else { break };
            if let Some(buffer) = process.next(pad).and_then(|i| i.as_buffer()) {
                self.taken[pad] += 1;
                process.forward(0, buffer);
            }
        }
        let pads = 0..process.inputs();
        let ended = pads.clone().any(|pad| process.ended(pad));
        let mut pads = pads.filter(|&pad| !process.ended(pad));
        if ended && pads.all(|pad| process.may_be_silent(pad) && process.peek(pad).is_none()) {
            process.finish();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        for taken in &self.taken {
            visitor.unsigned("taken", *taken);
        }
    }
}
