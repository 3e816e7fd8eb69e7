//! `funnel`: passes on what arrives on any of its inputs, as it comes, and ends when all have ended.
//!
//! It takes one buffer of each input in turn, in the order of its pads, as long as there is room;
//! the next tick goes on where the last one stopped.
//!
//! `tickpipe launch 'funnel name=f ! fakesink videotestsrc num-buffers=3 ! f. videotestsrc num-buffers=5 ! f.'`

use crate::element::{Element, Flow, PadTemplate, Process, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;

/// Settings of `funnel`.
#[derive(Component, Clone, Debug, Default)]
pub struct Funnel;

impl Element for Funnel {
    const NAME: &'static str = "funnel";
    const SUMMARY: &'static str = "Passes on what arrives on any of its inputs, as it comes";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["forward-sticky-events", "name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", Caps::any()).on_request(),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Joining::default()))
    }
}

#[derive(Default)]
struct Joining {
    /// The pad to look at next.
    next: usize,
}

impl Work for Joining {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let inputs = process.inputs();
        let mut empty = 0;
        while empty < inputs && process.room(0) > 0 {
            let pad = self.next;
            self.next = (pad + 1) % inputs;
            match process.next(pad) {
                Some(item) => {
                    empty = 0;
                    if let Some(buffer) = item.as_buffer() {
                        process.follow_segment(pad, 0);
                        process.forward(0, buffer);
                    }
                }
                None => empty += 1,
            }
        }
        if process.all_inputs_ended() {
            process.finish();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("next", self.next as u64);
    }
}
