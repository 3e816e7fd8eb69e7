//! `work`: is busy with each buffer for `time` of virtual time, one at a time, and passes it on then.
//! It is slow in time, never in ticks; the clock `free` does not wait for it.
//!
//! `tickpipe launch --clock virtual 'videotestsrc num-buffers=9 ! work time=40ms ! fakesink'`

use super::work_time::{check_time, parse_time};
use crate::element::{Element, Flow, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::property::{PropertyKind, PropertyValue, TextForm};

/// Settings of `work`.
#[derive(Component, Clone, Debug, Default)]
pub struct WorkElement {
    /// How long it is busy with a buffer, in nanoseconds.
    pub time: i64,
}

impl Element for WorkElement {
    const NAME: &'static str = "work";
    const SUMMARY: &'static str = "Is busy with each buffer for some time, and passes it on";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const READY_ONLY: &'static [&'static str] = &["time"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![Property::new(
            "time",
            "How long it is busy with a buffer: nanoseconds, or with a unit (ns, us, ms, s)",
            PropertyKind::Form(TextForm {
                example: "40ms",
                check: check_time,
            }),
            |s: &WorkElement| PropertyValue::Text(format!("{}ns", s.time)),
            |s, v| {
                if let PropertyValue::Text(text) = v
                    && let Ok(time) = parse_time(&text)
                {
                    s.time = time;
                }
            },
        )]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Working {
            time: self.time,
            until: 0,
        }))
    }
}

struct Working {
    time: i64,
    /// When the buffer that it keeps is done.
    until: i64,
}

impl Work for Working {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            let busy = process.kept().len() > 0;
            if busy && process.now() < self.until {
                process.wait_until(self.until);
                break;
            }
            if let Some(done) = process.take_kept() {
                process.forward(0, done);
                continue;
            }
            let Some(item) = process.next(0) else { break };
            match item.as_buffer() {
                Some(buffer) if process.is_free() || self.time == 0 => process.forward(0, buffer),
                Some(buffer) => {
                    process.keep(buffer);
                    self.until = process.now().saturating_add(self.time);
                }
                None => {
                    process.finish();
                    break;
                }
            }
        }
        if process.room(0) == 0 && process.kept().len() > 0 {
            process.again();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.signed("until", self.until);
    }
}
