//! `identity`: passes everything on unchanged.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! identity ! fakesink'`

use crate::element::{Element, Flow, PadTemplate, PassThrough, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::ElementError;

/// Settings of `identity`.
#[derive(Component, Clone, Debug, Default)]
pub struct Identity;

impl Element for Identity {
    const NAME: &'static str = "identity";
    const SUMMARY: &'static str = "Passes everything on unchanged";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &[
        "check-imperfect-offset",
        "check-imperfect-timestamp",
        "datarate",
        "drop-allocation",
        "drop-buffer-flags",
        "drop-probability",
        "dump",
        "eos-after",
        "error-after",
        "name",
        "parent",
        "qos",
        "signal-handoffs",
        "silent",
        "single-segment",
        "sleep-time",
        "sync",
        "ts-offset",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}
