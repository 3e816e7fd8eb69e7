//! `delay`: keeps the newest `buffers` before it lets the oldest go, and each for `time` of running time
//! at least. It lets all go at the end, and before an event or a change of caps. Times stay what they
//! are; the latency says what it adds. It keeps no more than `buffers`, or than `max-kept` where there is
//! a `time`: then what feeds it waits. With the clock `free` there is no time.
//!
//! `tickpipe launch --clock virtual 'videotestsrc num-buffers=9 ! delay time=200ms ! fakesink sync=true'`

use super::work_time::{check_time, parse_time};
use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use std::collections::VecDeque;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::ElementError;
use tickpipe_components::property::{PropertyKind, PropertyValue, TextForm};

/// Settings of `delay`.
#[derive(Component, Clone, Debug)]
pub struct Delay {
    /// Newest buffers that it keeps.
    pub buffers: u32,
    /// For how long it keeps each, in nanoseconds.
    pub time: i64,
    /// Most that it keeps for their time.
    pub max_kept: u32,
}

impl Default for Delay {
    fn default() -> Self {
        Delay {
            buffers: 0,
            time: 0,
            max_kept: 32,
        }
    }
}

impl Element for Delay {
    const NAME: &'static str = "delay";
    const SUMMARY: &'static str = "Lets each buffer go after so many others, and so much time";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const READY_ONLY: &'static [&'static str] = &["buffers", "max-kept", "time"];

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
                "Newest buffers that it keeps before it lets the oldest go",
                buffers
            ),
            Property::new(
                "time",
                "How long it keeps each buffer: nanoseconds, or with a unit (ns, us, ms, s)",
                PropertyKind::Form(TextForm {
                    example: "40ms",
                    check: check_time,
                }),
                |s: &Delay| PropertyValue::Text(format!("{}ns", s.time)),
                |s, v| {
                    if let PropertyValue::Text(text) = v
                        && let Ok(time) = parse_time(&text)
                    {
                        s.time = time;
                    }
                },
            ),
            crate::field!(
                Int(1, 65_536),
                "max-kept",
                "Most buffers that it keeps for their time; then what feeds it waits",
                max_kept
            ),
        ]
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        match self.time {
            0 => self.buffers,
            _ => self.buffers.max(self.max_kept),
        }
    }

    fn latency(&self, pads: &PadCapsOf) -> Latency {
        Latency::of(self.time.max(pads.frames_last(0, self.buffers)))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Holding {
            settings: self.clone(),
            came: VecDeque::with_capacity(self.retains(PadAt::sink(0)) as usize + 1),
            ended: false,
        }))
    }
}

struct Holding {
    settings: Delay,
    /// The running time at which each buffer came that it keeps.
    came: VecDeque<i64>,
    ended: bool,
}

impl Holding {
    /// Lets go of what is due; when the oldest of the others is.
    fn let_go(&mut self, process: &mut Process<'_>) -> Option<i64> {
        while process.room(0) > 0 && !self.came.is_empty() {
            let wanted = self.came.len() > self.settings.buffers as usize;
            if !self.ended && !wanted {
                return None;
            }
            let due = self.came[0].saturating_add(self.settings.time);
            if !self.ended && !process.is_free() && process.running_time() < due {
                return Some(due);
            }
            self.came.pop_front();
            if let Some(oldest) = process.take_kept() {
                process.forward(0, oldest);
            }
        }
        None
    }
}

impl Work for Holding {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        // The framework lets all go before a change of caps or an event.
        let gone = self.came.len().saturating_sub(process.kept().len());
        self.came.drain(..gone);
        let most = match process.is_free() || self.settings.time == 0 {
            true => self.settings.buffers as usize + 1,
            false => self.settings.buffers.max(self.settings.max_kept) as usize,
        };
        let mut due = self.let_go(process);
        while !self.ended && self.came.len() < most {
            let Some(item) = process.next(0) else { break };
            match item.as_buffer() {
                Some(buffer) => {
                    process.keep(buffer);
                    self.came.push_back(process.running_time());
                }
                None => self.ended = true,
            }
            due = self.let_go(process);
        }
        let full = self.came.len() >= most;
        match due {
            _ if self.ended && self.came.is_empty() => process.finish(),
            Some(due) if full => process.wait_until_running(due),
            Some(due) => process.wait_until_running_or_input(due),
            None if self.ended || full => process.again(),
            None => {}
        }
        Ok(())
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.came.clear();
        self.ended = false;
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("ended", self.ended);
        for came in &self.came {
            visitor.signed("came", *came);
        }
    }
}
