//! `funnel`: passes on what arrives on any of its inputs, as it comes, and ends when all have ended.
//!
//! It takes one buffer of each input in turn, in the order of its pads, as long as there is room;
//! the next tick goes on where the last one stopped. Where the input changes, so does the segment, unless
//! `forward-sticky-events=false`: then that of the first buffer holds for all.
//!
//! `tickpipe launch 'funnel name=f ! fakesink videotestsrc num-buffers=3 ! f. videotestsrc num-buffers=5 ! f.'`

use crate::element::{Element, Flow, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;

/// Settings of `funnel`.
#[derive(Component, Clone, Debug)]
pub struct Funnel {
    /// The segment of each input holds for its buffers.
    pub forward_sticky_events: bool,
}

impl Default for Funnel {
    fn default() -> Self {
        Funnel {
            forward_sticky_events: true,
        }
    }
}

impl Element for Funnel {
    const NAME: &'static str = "funnel";
    const SUMMARY: &'static str = "Passes on what arrives on any of its inputs, as it comes";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["name", "parent"];
    const READY_ONLY: &'static [&'static str] = &["forward-sticky-events"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", Caps::any()).on_request(),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Bool,
            "forward-sticky-events",
            "Whether the segment changes where the input does",
            forward_sticky_events
        )]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Joining {
            follows: self.forward_sticky_events,
            ..Joining::default()
        }))
    }
}

#[derive(Default)]
struct Joining {
    /// The pad to look at next.
    next: usize,
    /// The segment changes with the input.
    follows: bool,
    /// A buffer was passed on.
    begun: bool,
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
                        if self.follows || !self.begun {
                            process.follow_segment(pad, 0);
                        }
                        self.begun = true;
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
        visitor.flag("begun", self.begun);
    }
}
