//! `hold`: a lookahead. It keeps the newest `buffers` before it lets the oldest go, and lets all go
//! at the end. With `declared=false` it does not say so to the planner, as a badly written element
//! would not.
//!
//! `tickpipe plan 'videotestsrc max-buffers=8 ! hold buffers=4 ! fakesink'`

use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::ElementError;

/// Settings of `hold`.
#[derive(Component, Clone, Debug)]
pub struct Hold {
    /// How many buffers it keeps.
    pub buffers: u32,
    /// Whether the planner is told.
    pub declared: bool,
}

impl Default for Hold {
    fn default() -> Self {
        Hold {
            buffers: 1,
            declared: true,
        }
    }
}

impl Element for Hold {
    const NAME: &'static str = "hold";
    const SUMMARY: &'static str = "Keeps the newest buffers before it lets the oldest go";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    /// What it keeps follows from the number.
    const READY_ONLY: &'static [&'static str] = &["buffers"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(0, 65_536),
                "buffers",
                "Buffers that it keeps before it lets the oldest go",
                buffers
            ),
            crate::field!(
                Bool,
                "declared",
                "Whether it says to the planner how many it keeps",
                declared
            ),
        ]
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        if self.declared { self.buffers } else { 0 }
    }

    /// One that does not declare what it holds does not declare how long either.
    fn latency(&self, pads: &PadCapsOf) -> Latency {
        Latency::of(pads.frames_last(0, self.retains(PadAt::sink(0))))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Holding {
            most: self.buffers as usize,
            ended: false,
        }))
    }
}

struct Holding {
    most: usize,
    ended: bool,
}

impl Work for Holding {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while !self.ended {
            let Some(item) = process.peek(0) else { break };
            let full = process.kept().len() >= self.most;
            if item.as_buffer().is_some() && full && process.room(0) == 0 {
                break;
            }
            process.next(0);
            match item.as_buffer() {
                Some(buffer) => process.keep(buffer),
                None => self.ended = true,
            }
            if process.kept().len() > self.most
                && let Some(oldest) = process.take_kept()
            {
                process.forward(0, oldest);
            }
        }
        while self.ended && process.room(0) > 0 {
            let Some(oldest) = process.take_kept() else {
                break;
            };
            process.forward(0, oldest);
        }
        if self.ended && process.kept().len() == 0 {
            process.finish();
        } else if self.ended {
            // Its input has nothing more to run it with.
            process.again();
        }
        Ok(())
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.ended = false;
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("ended", self.ended);
    }
}
