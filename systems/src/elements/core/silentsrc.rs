//! `silentsrc`: is linked, says nothing, and never ends. With `may-be-silent=true` it says so, and
//! nobody waits for it.
//!
//! `tickpipe launch 'join name=mix ! fakesink fakesrc num-buffers=9 ! mix. silentsrc may-be-silent=true ! mix.'`

use crate::element::{Element, Flow, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;

/// Settings of `silentsrc`.
#[derive(Component, Clone, Debug, Default)]
pub struct SilentSrc {
    /// Whether it says that nothing may ever come.
    pub may_be_silent: bool,
}

impl Element for SilentSrc {
    const NAME: &'static str = "silentsrc";
    const SUMMARY: &'static str = "Says nothing, and never ends";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;
    const READY_ONLY: &'static [&'static str] = &["may-be-silent"];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Bool,
            "may-be-silent",
            "Says that nothing may ever come, so that nobody waits for it",
            may_be_silent
        )]
    }

    fn may_be_silent(&self) -> bool {
        self.may_be_silent
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Silence))
    }
}

struct Silence;

impl Work for Silence {
    fn process(&mut self, _process: &mut Process<'_>) -> Result<(), ElementError> {
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
