//! `output-selector`: gives each buffer to one of its source pads, `active-pad`, which can be set while
//! it runs; without a name, or with one that is not linked, that is its first pad. Events and the end go
//! to all. Of the first buffer the others are told that there is a gap, so that their sinks need not
//! wait for one in PAUSED.
//!
//! With `resend-latest` it keeps the latest buffer, and gives it to a pad that becomes active.
//!
//! All pads have the same caps: `pad-negotiation-mode` is accepted and makes no difference.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! output-selector name=s active-pad=src_1 s.src_0 ! fakesink s.src_1 ! fakesink'`

use super::input_selector::tell_no_pad;
use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::{Event, Gap};
use tickpipe_components::fabric::RoomFor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::BufferId;

/// Settings of `output-selector`.
#[derive(Component, Clone, Debug, Default)]
pub struct OutputSelector {
    /// The pad that gets buffers; empty is the first.
    pub active_pad: String,
    /// A pad that becomes active gets the latest buffer.
    pub resend_latest: bool,
}

impl Element for OutputSelector {
    const NAME: &'static str = "output-selector";
    const SUMMARY: &'static str = "Gives each buffer to one of its source pads";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["name", "pad-negotiation-mode", "parent"];
    const READY_ONLY: &'static [&'static str] = &["resend-latest"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src_%u", Caps::any()).on_request(),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Text,
                "active-pad",
                "Name of the source pad that gets buffers; empty for the first",
                active_pad
            ),
            crate::field!(
                Bool,
                "resend-latest",
                "Whether a pad that becomes active gets the latest buffer",
                resend_latest
            ),
        ]
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        u32::from(self.resend_latest)
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Selecting {
            settings: self.clone(),
            active: None,
            told: false,
            begun: false,
            stale: false,
        }))
    }
}

struct Selecting {
    settings: OutputSelector,
    /// The pad that got the last buffer.
    active: Option<usize>,
    /// That no pad has the name that is to be active.
    told: bool,
    /// A buffer came.
    begun: bool,
    /// What it keeps is of other caps.
    stale: bool,
}

impl Selecting {
    /// Lets go of the latest buffer.
    fn forget(&mut self, process: &mut Process<'_>) {
        while let Some(kept) = process.take_kept() {
            process.release(kept);
        }
    }

    fn give(&mut self, process: &mut Process<'_>, pad: usize, buffer: BufferId) {
        process.follow_segment(0, pad);
        if !self.settings.resend_latest {
            return process.forward(pad, buffer);
        }
        self.forget(process);
        process.forward_and_keep(pad, buffer);
    }

    /// Tells all pads but one that there is nothing for them yet.
    fn tell_gap(process: &mut Process<'_>, active: usize, buffer: BufferId) {
        let meta = process.meta(buffer);
        let gap = Gap {
            start: meta.pts.unwrap_or_default(),
            duration: meta.duration,
            time_base: meta.time_base,
        };
        for pad in (0..process.outputs()).filter(|pad| *pad != active) {
            process.push_event(pad, Event::Gap(gap));
        }
    }
}

impl Work for Selecting {
    fn set_caps(&mut self, _pads: &PadCapsOf) -> Result<(), ElementError> {
        self.stale = true;
        Ok(())
    }

    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<OutputSelector>() {
            self.settings = settings.clone();
            self.told = false;
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if core::mem::take(&mut self.stale) {
            self.forget(process);
        }
        let name = &self.settings.active_pad;
        let named = process.source_named(name);
        if named.is_none() && !name.is_empty() && !core::mem::replace(&mut self.told, true) {
            tell_no_pad(process, name);
        }
        let active = named.unwrap_or_default();
        process.wants_room(RoomFor::One(active as u32));
        // What it waited for may have been room on another pad.
        if self.active.is_some_and(|before| before != active) && process.room(active) > 0 {
            if let Some(latest) = process.take_kept() {
                process.follow_segment(0, active);
                process.forward_and_keep(active, latest);
            }
            self.active = Some(active);
        }
        while process.room(active) > 0 {
            let Some(item) = process.next(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                self.forget(process);
                process.finish();
                break;
            };
            if !core::mem::replace(&mut self.begun, true) {
                Selecting::tell_gap(process, active, buffer);
            }
            self.active = Some(active);
            self.give(process, active, buffer);
        }
        if process.room(active) == 0 && process.queued(0) > 0 {
            process.again();
        }
        Ok(())
    }

    /// What it keeps was passed on.
    fn drain(
        &mut self,
        _event: Option<&Event>,
        _process: &mut Process<'_>,
    ) -> Result<Option<bool>, ElementError> {
        Ok(Some(true))
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.begun = false;
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.signed("active", self.active.map_or(-1, |pad| pad as i64));
        visitor.flag("begun", self.begun);
    }
}
