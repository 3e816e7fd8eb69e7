//! `valve`: passes everything on while it is open, and lets go of buffers while `drop` says so, each
//! told as `closed`. It can be opened and closed while it runs.
//!
//! Of events it lets through, while it is closed, none (`drop-mode=drop-all`), segments and tags
//! (`forward-sticky-events`), or all, with a gap for each buffer that has a time (`transform-to-gap`).
//! Segment and tags that it kept back come before the next buffer. Changes of caps and the end always go
//! on: GStreamer's valve swallows the end too, and such a run would never end.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! valve drop=true ! fakesink'`

use crate::element::{
    Element, Flow, Handled, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::{Event, Gap};
use tickpipe_components::fabric::RoomFor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::occurrence::Reason;
use tickpipe_components::property::{Choice, PropertyKind, PropertyValue};

/// What a closed valve does with events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DropMode {
    /// It keeps them back.
    #[default]
    All,
    /// Segments and tags go on.
    ForwardSticky,
    /// All go on, and a gap for each buffer.
    ToGap,
}

const MODES: &[Choice] = &[
    Choice {
        number: 0,
        name: "drop-all",
    },
    Choice {
        number: 1,
        name: "forward-sticky-events",
    },
    Choice {
        number: 2,
        name: "transform-to-gap",
    },
];

const BY_NUMBER: [DropMode; 3] = [DropMode::All, DropMode::ForwardSticky, DropMode::ToGap];

/// Settings of `valve`.
#[derive(Component, Clone, Debug, Default)]
pub struct Valve {
    /// It is closed.
    pub drop: bool,
    /// What it does with events then.
    pub mode: DropMode,
}

impl Element for Valve {
    const NAME: &'static str = "valve";
    const SUMMARY: &'static str = "Lets buffers go while it is closed";
    const KLASS: &'static str = "Filter";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["name", "parent"];
    const READY_ONLY: &'static [&'static str] = &["drop-mode"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(Bool, "drop", "Whether it lets buffers go", drop),
            Property::new(
                "drop-mode",
                "What it does with events while it lets buffers go",
                PropertyKind::Choice(MODES),
                |s: &Valve| {
                    let at = BY_NUMBER.iter().position(|mode| *mode == s.mode);
                    PropertyValue::from(MODES[at.unwrap_or_default()].name)
                },
                |s, v| {
                    let at = MODES.iter().position(|c| v == PropertyValue::from(c.name));
                    s.mode = at.map_or(s.mode, |at| BY_NUMBER[at]);
                },
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
        (!self.drop).then_some(outputs)
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Gate {
            settings: self.clone(),
            tags: None,
        }))
    }
}

struct Gate {
    settings: Valve,
    /// Tags that were kept back.
    tags: Option<Event>,
}

impl Work for Gate {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<Valve>() {
            self.settings = settings.clone();
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let closed = self.settings.drop;
        process.wants_room(if closed { RoomFor::None } else { RoomFor::All });
        while closed || process.room(0) > 0 {
            let Some(item) = process.next(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            if !closed {
                process.follow_segment(0, 0);
                if let Some(tags) = self.tags.take() {
                    process.push_event(0, tags);
                }
                process.forward(0, buffer);
                continue;
            }
            let meta = *process.meta(buffer);
            process.drop_for(buffer, Reason::Closed);
            if let (DropMode::ToGap, Some(start)) = (self.settings.mode, meta.pts) {
                let gap = Gap {
                    start,
                    duration: meta.duration,
                    time_base: meta.time_base,
                };
                process.push_event(0, Event::Gap(gap));
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        let sticky = matches!(event, Event::Segment(_) | Event::Tag(_));
        let passes = match self.settings.mode {
            DropMode::All => false,
            DropMode::ForwardSticky => sticky,
            DropMode::ToGap => true,
        };
        if !pad.is_sink() || !self.settings.drop || passes {
            return Ok(Handled::Forward);
        }
        if matches!(event, Event::Tag(_)) {
            self.tags = Some(event.clone());
        }
        Ok(Handled::Taken)
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.tags = None;
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("drop", self.settings.drop);
        if let Some(tags) = &self.tags {
            tags.visit(visitor);
        }
    }
}
