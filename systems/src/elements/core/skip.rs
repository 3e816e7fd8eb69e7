//! `skip`: drops every so-manyth buffer, as an encoder does that finds a picture not worth its bits.
//!
//! `tickpipe launch 'videotestsrc num-buffers=100 ! skip every=3 ! fakesink'`

use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::{Event, Gap};
use tickpipe_components::fault::ElementError;
use tickpipe_components::occurrence::Reason;

/// Settings of `skip`.
#[derive(Component, Clone, Debug, Default)]
pub struct Skip {
    /// Which buffers it drops: those whose number, counted from 1, is a multiple of this; 0 is
    /// none, 1 all.
    pub every: u32,
    /// It tells a gap for each buffer that it drops, so that nobody waits for one.
    pub gaps: bool,
}

impl Element for Skip {
    const NAME: &'static str = "skip";
    const SUMMARY: &'static str = "Drops every so-manyth buffer";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const READY_ONLY: &'static [&'static str] = &["every", "gaps"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(0, u32::MAX as i64),
                "every",
                "Drops each buffer whose number, counted from 1, is a multiple of this; 0 drops none",
                every
            ),
            crate::field!(
                Bool,
                "gaps",
                "Tells a gap for each buffer that it drops, so that nobody waits for one",
                gaps
            ),
        ]
    }

    fn takes_for(
        &self,
        _pad: PadAt,
        _pads: &PadCapsOf,
        outputs: u64,
        _bytes: usize,
    ) -> Option<u64> {
        match u64::from(self.every) {
            0 => Some(outputs),
            1 => None,
            // At the worst the next one is dropped.
            every => Some(outputs + outputs.div_ceil(every - 1)),
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Skipping {
            every: self.every.into(),
            gaps: self.gaps,
            seen: 0,
        }))
    }
}

struct Skipping {
    every: u64,
    gaps: bool,
    seen: u64,
}

impl Work for Skipping {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            match process.next(0) {
                Some(item) => match item.as_buffer() {
                    Some(buffer) => {
                        self.seen += 1;
                        match self.every > 0 && self.seen.is_multiple_of(self.every) {
                            true => {
                                let meta = *process.meta(buffer);
                                if let Some(start) = meta.pts.filter(|_| self.gaps) {
                                    let gap = Gap {
                                        start,
                                        duration: meta.duration.or(Some(1)),
                                        time_base: meta.time_base,
                                    };
                                    process.push_event(0, Event::Gap(gap));
                                }
                                process.drop_counted(buffer, Reason::Settings);
                            }
                            false => process.forward(0, buffer),
                        }
                    }
                    None => {
                        process.finish();
                        break;
                    }
                },
                None => break,
            }
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("seen", self.seen);
    }
}
