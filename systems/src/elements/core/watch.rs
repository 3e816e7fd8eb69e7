//! `watch`: passes everything on and tells what passes: buffers (index, times, length, flags), caps,
//! events and the end. Each is a line of the log at level `info`; the report has how many there were, and
//! the last `last` of them.
//!
//! `tickpipe launch --log info 'videotestsrc num-buffers=3 ! watch name=w last=2 ! fakesink'`

use crate::element::{
    Element, Flow, Handled, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::Passed;
use tickpipe_components::fault::ElementError;

/// Settings of `watch`.
#[derive(Component, Clone, Debug)]
pub struct Watch {
    /// How many of what passes it remembers.
    pub last: u32,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { last: 16 }
    }
}

impl Element for Watch {
    const NAME: &'static str = "watch";
    const SUMMARY: &'static str = "Passes everything on and tells what passes";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Int(0, 1024),
            "last",
            "How many of what passed the report has",
            last
        )]
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.last))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Watching {
            last: self.last as usize,
            caps: None,
            changed: false,
        }))
    }
}

struct Watching {
    last: usize,
    /// Caps that apply to the next buffer, and were not told yet.
    caps: Option<String>,
    /// It is to remember another number.
    changed: bool,
}

impl Watching {
    fn tell(&mut self, process: &mut Process<'_>, what: Passed) {
        tracing::info!("passed: {what}");
        process.watched(self.last).add(what);
    }

    fn tell_caps(&mut self, process: &mut Process<'_>) {
        if let Some(caps) = self.caps.take() {
            self.tell(process, Passed::Caps(caps));
        }
    }
}

impl Work for Watching {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.caps = pads.sinks.first().map(Caps::to_string);
        Ok(())
    }

    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(last) = settings.downcast_ref::<u32>() {
            self.last = *last as usize;
            self.changed = true;
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if core::mem::take(&mut self.changed) {
            process.watched(self.last).remember(self.last);
        }
        self.tell_caps(process);
        while process.room(0) > 0 {
            let Some(item) = process.next(0) else { break };
            match item.as_buffer() {
                Some(buffer) => {
                    let meta = *process.meta(buffer);
                    self.tell(process, Passed::Buffer(meta));
                    process.forward(0, buffer);
                }
                None => {
                    self.tell(process, Passed::Eos);
                    process.finish();
                    break;
                }
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        if pad.is_sink() {
            self.tell_caps(process);
            self.tell(process, Passed::Event(event.name()));
        }
        Ok(Handled::Forward)
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("caps", self.caps.is_some());
    }
}
