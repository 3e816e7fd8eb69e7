//! `tee`: passes everything on to several branches, by reference.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! tee name=t t. ! fakesink t. ! fakesink'`

use crate::element::{Element, Flow, PadTemplate, Process, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Item;
use tickpipe_components::fault::ElementError;

/// Settings of `tee`.
#[derive(Component, Clone, Debug, Default)]
pub struct Tee;

impl Element for Tee {
    const NAME: &'static str = "tee";
    const SUMMARY: &'static str = "Passes everything on to several branches";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &[
        "allow-not-linked",
        "has-chain",
        "name",
        "parent",
        "pull-mode",
        "silent",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src_%u", Caps::any()).on_request(),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Split))
    }
}

struct Split;

impl Work for Split {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room_everywhere() > 0 {
            match process.next(0).map(Item::as_buffer) {
                Some(Some(buffer)) => process.forward_to_all(buffer),
                Some(None) => {
                    process.finish();
                    break;
                }
                None => break,
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
