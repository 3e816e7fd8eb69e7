//! `capsfilter`: lets through only what its caps allow; it is what caps in a launch line become.
//!
//! `tickpipe launch 'videotestsrc num-buffers=1 ! capsfilter caps=video/x-raw,width=64 ! fakesink'`

use crate::element::{CapsQuery, Element, Flow, PadAt, PadTemplate, PassThrough, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::fault::ElementError;
use tickpipe_components::property::{PropertyKind, PropertyValue};

/// Settings of `capsfilter`.
#[derive(Component, Clone, Debug)]
pub struct CapsFilter {
    /// What is let through.
    pub caps: Caps,
}

impl Default for CapsFilter {
    fn default() -> Self {
        CapsFilter { caps: Caps::any() }
    }
}

impl Element for CapsFilter {
    const NAME: &'static str = "capsfilter";
    const SUMMARY: &'static str = "Lets through only what its caps allow";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["caps-change-mode", "name", "parent", "qos"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![Property::new(
            "caps",
            "What is let through; a field that is not named may have any value",
            PropertyKind::Caps,
            |s: &CapsFilter| PropertyValue::Caps(s.caps.clone()),
            |s, v| {
                if let PropertyValue::Caps(caps) = v {
                    s.caps = caps;
                }
            },
        )]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(query.answer(&self.caps, index))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}
