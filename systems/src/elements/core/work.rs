//! `work`: is busy with each buffer for `time`, one at a time, and passes it on then. It is slow in
//! time, never in ticks; the clock `free` does not wait for it.
//!
//! With `outside=N` it hands up to N buffers at a time to the workers and passes them on in the order in
//! which they came. With the clock `wall` a worker really is busy for that time, and the rest of the
//! graph goes on meanwhile.
//!
//! `tickpipe launch --clock virtual 'videotestsrc num-buffers=9 ! work time=40ms ! fakesink'`

use super::work_time::{check_time, parse_time};
use crate::element::{Element, Flow, PadAt, PadTemplate, Process, Property, Work};
use crate::outside::Output;
use bevy_ecs::component::Component;
use std::collections::BTreeMap;
use std::time::Duration;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Item;
use tickpipe_components::fault::ElementError;
use tickpipe_components::property::{PropertyKind, PropertyValue, TextForm};

/// Settings of `work`.
#[derive(Component, Clone, Debug, Default)]
pub struct WorkElement {
    /// How long it is busy with a buffer, in nanoseconds.
    pub time: i64,
    /// How many buffers the workers have at a time; 0 if it is busy itself.
    pub outside: u32,
    /// How urgent that is: 0 is the most.
    pub priority: u8,
}

impl Element for WorkElement {
    const NAME: &'static str = "work";
    const SUMMARY: &'static str = "Is busy with each buffer for some time, and passes it on";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const READY_ONLY: &'static [&'static str] = &["time", "outside", "priority"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            Property::new(
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
            ),
            crate::field!(
                Int(0, 65_536),
                "outside",
                "How many buffers the workers have at a time; 0: it is busy itself",
                outside
            ),
            crate::field!(
                Int(0, 254),
                "priority",
                "How urgent it is for the workers; 0 is the most urgent",
                priority
            ),
        ]
    }

    fn outside(&self) -> u32 {
        self.outside
    }

    /// What the workers have.
    fn retains(&self, _pad: PadAt) -> u32 {
        self.outside
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        if self.outside > 0 {
            return Ok(Box::new(Handing {
                time: self.time,
                priority: self.priority,
                done: BTreeMap::new(),
                next: 0,
            }));
        }
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

/// It hands buffers to the workers.
struct Handing {
    time: i64,
    priority: u8,
    /// Items that are done before their turn.
    done: BTreeMap<u64, ()>,
    /// The item whose turn it is.
    next: u64,
}

impl Work for Handing {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(done) = process.take_done() {
            done.result?;
            self.done.insert(done.ticket, ());
        }
        while process.room(0) > 0 && self.done.remove(&self.next).is_some() {
            self.next += 1;
            if let Some(buffer) = process.take_kept() {
                process.forward(0, buffer);
            }
        }
        let waits = self.done.len() as u64 + process.items_out() as u64;
        while process.items_room() > self.done.len() {
            let Some(item) = process.peek(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                // What the workers have goes before the end.
                if waits == 0 && process.kept().len() == 0 {
                    process.next(0);
                    process.finish();
                    return Ok(());
                }
                break;
            };
            // Time passes for real only where it is real.
            let time = if process.is_wall() { self.time } else { 0 };
            let busy = Duration::from_nanos(time.unsigned_abs());
            let item = move || -> Output {
                std::thread::sleep(busy);
                Box::new(())
            };
            let number = process.hand(self.priority, self.time, Box::new(item))?;
            // What was handed over before a flush never comes back.
            if process.items_out() == 1 && self.done.is_empty() {
                self.next = number;
            }
            process.next(0);
            process.keep(buffer);
        }
        if !self.done.is_empty() && process.room(0) == 0 {
            process.wait_for_room(0);
        }
        let comes = process.peek(0);
        let wants = process.items_room() > self.done.len() && comes != Some(Item::EOS);
        process.wait_for_done(wants);
        Ok(())
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.done.clear();
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("next", self.next);
        for ticket in self.done.keys() {
            visitor.unsigned("done", *ticket);
        }
    }
}
