//! `queue`: a link that holds more. In a tick engine no thread is needed to part two branches;
//! it only lets one side run ahead of the other, by at most `max-size-buffers`.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! queue max-size-buffers=2 ! fakesink'`

use crate::element::{Element, Flow, PadTemplate, PassThrough, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::ElementError;

/// Settings of `queue`.
#[derive(Component, Clone, Debug)]
pub struct Queue {
    /// Buffers that it holds; 0 means as many as the limit `queue-buffers` lets it.
    pub max_size_buffers: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            max_size_buffers: 200,
        }
    }
}

impl Element for Queue {
    const NAME: &'static str = "queue";
    const SUMMARY: &'static str = "Holds buffers so that one side can run ahead of the other";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &[
        "flush-on-eos",
        "leaky",
        "max-size-bytes",
        "max-size-time",
        "min-threshold-buffers",
        "min-threshold-bytes",
        "min-threshold-time",
        "name",
        "parent",
        "silent",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Int(0, u32::MAX as i64),
            "max-size-buffers",
            "Buffers that it holds at most; 0 for as many as the limit queue-buffers lets it",
            max_size_buffers
        )]
    }

    fn link_capacity(&self) -> Option<u32> {
        Some(self.max_size_buffers)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}
