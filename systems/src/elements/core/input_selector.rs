//! `input-selector`: passes on the buffers of one of its sink pads, `active-pad`, which can be set while
//! it runs; without a name, or with one that is not linked, that is its first pad. Buffers of the others
//! are let go, each told as `not-selected`; so are their events.
//!
//! With `sync-streams` (the default) buffers of the others are let go only once the active pad has given
//! one that is as late, so that the new pad goes on where the old one stopped; without, as they come. A
//! buffer without a time, and all while nothing is to be expected of the active pad, do not wait.
//!
//! It ends when the end of the active pad has come; an end on another pad counts once that is active.
//! The segment is that of the pad that a buffer came on. All pads have the same caps.
//!
//! `tickpipe launch 'input-selector name=s active-pad=sink_1 ! fakesink videotestsrc num-buffers=3 ! s.sink_0 videotestsrc num-buffers=5 ! s.sink_1'`

use crate::element::{Element, Flow, Handled, PadAt, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{RoomFor, SinkTiming};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::Reason;

/// Settings of `input-selector`.
#[derive(Component, Clone, Debug)]
pub struct InputSelector {
    /// The pad whose buffers are passed on; empty is the first.
    pub active_pad: String,
    /// The others keep step with it.
    pub sync_streams: bool,
}

impl Default for InputSelector {
    fn default() -> Self {
        InputSelector {
            active_pad: String::new(),
            sync_streams: true,
        }
    }
}

impl Element for InputSelector {
    const NAME: &'static str = "input-selector";
    const SUMMARY: &'static str = "Passes on the buffers of one of its sink pads";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &[
        "cache-buffers",
        "drop-backwards",
        "name",
        "parent",
        "sync-mode",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", Caps::any()).on_request(),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Text,
                "active-pad",
                "Name of the sink pad whose buffers are passed on; empty for the first",
                active_pad
            ),
            crate::field!(
                Bool,
                "sync-streams",
                "Whether buffers of the other pads are let go only as the active one reaches their time",
                sync_streams
            ),
        ]
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Selecting {
            settings: self.clone(),
            told: false,
            reached: None,
        }))
    }
}

struct Selecting {
    settings: InputSelector,
    /// That no pad has the name that is to be active.
    told: bool,
    /// The running time of the last buffer that was passed on, in nanoseconds.
    reached: Option<i64>,
}

impl Selecting {
    fn active(&self, process: &Process<'_>) -> usize {
        let named = process.sink_named(&self.settings.active_pad);
        named.unwrap_or_default()
    }

    /// Tells once that no pad has the name that is to be active.
    fn tell_unknown(&mut self, process: &mut Process<'_>) {
        let name = &self.settings.active_pad;
        if !self.told && !name.is_empty() && process.sink_named(name).is_none() {
            self.told = true;
            tell_no_pad(process, name);
        }
    }

    fn running(process: &Process<'_>, pad: usize, buffer: BufferId) -> Option<i64> {
        SinkTiming::running(process.meta(buffer), Some(&process.segment(pad)))
    }

    /// Lets go of what came on a pad that is not active, as far as the active one has come.
    fn let_go(&self, process: &mut Process<'_>, pad: usize, all: bool) {
        while let Some(item) = process.peek(pad) {
            if let Some(buffer) = item.as_buffer() {
                let running = Selecting::running(process, pad, buffer);
                if !all && running.is_some_and(|r| self.reached.is_none_or(|reached| r > reached)) {
                    break;
                }
            }
            // The end stays where it is until the pad is active.
            let Some(buffer) = item.as_buffer() else {
                break;
            };
            process.next(pad);
            process.drop_for(buffer, Reason::NotSelected);
        }
    }
}

impl Work for Selecting {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<InputSelector>() {
            self.settings = settings.clone();
            self.told = false;
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        // What is not passed on needs no room.
        process.wants_room(RoomFor::None);
        self.tell_unknown(process);
        let active = self.active(process);
        while process.room(0) > 0 {
            let Some(item) = process.next(active) else {
                break;
            };
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                return Ok(());
            };
            let running = Selecting::running(process, active, buffer);
            self.reached = self.reached.max(running);
            process.follow_segment(active, 0);
            process.forward(0, buffer);
        }
        let silent = process.queued(active) == 0 && process.may_be_silent(active);
        let all = !self.settings.sync_streams || silent;
        for pad in (0..process.inputs()).filter(|pad| *pad != active) {
            self.let_go(process, pad, all);
        }
        if process.queued(active) > 0 && process.room(0) == 0 {
            process.wait_for_room(0);
        } else if process.queued(active) == 0 && !all {
            process.wait_for_input(active);
        }
        Ok(())
    }

    fn event(
        &mut self,
        pad: PadAt,
        _event: &Event,
        process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        let passes = !pad.is_sink() || pad.index == self.active(process);
        Ok(if passes {
            Handled::Forward
        } else {
            Handled::Taken
        })
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.reached = None;
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.bytes("active", self.settings.active_pad.as_bytes());
        visitor.signed("reached", self.reached.unwrap_or(i64::MIN));
    }
}

/// Tells that no pad has the name that is to be active, and that the first is.
pub(super) fn tell_no_pad(process: &mut Process<'_>, name: &str) {
    process.say(format_args!(
        "no linked pad is named `{name}`: the first is active"
    ));
    process.warn(Domain::Core, Code::Settings);
}
