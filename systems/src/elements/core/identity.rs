//! `identity`: passes everything on unchanged. With `eos-after=N` the end comes after N buffers, with
//! `error-after=N` it fails after N; below 0 neither does.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! identity ! fakesink'`

use crate::element::{Element, Flow, PadTemplate, PassThrough, Process, Property, Work};
use bevy_ecs::component::Component;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};

/// Settings of `identity`.
#[derive(Component, Clone, Debug)]
pub struct Identity {
    /// The end comes after so many buffers; below 0 as it comes.
    pub eos_after: i32,
    /// It fails after so many buffers; below 0 never.
    pub error_after: i32,
}

impl Default for Identity {
    fn default() -> Self {
        Identity {
            eos_after: -1,
            error_after: -1,
        }
    }
}

/// It was told to fail.
#[derive(Debug, Error)]
#[error("it fails after {0} buffers, as its property error-after says")]
struct ToldTo(i32);

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
    const READY_ONLY: &'static [&'static str] = &["eos-after", "error-after"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(-1, i32::MAX as i64),
                "eos-after",
                "Buffers after which the end comes; below 0 it comes as it does",
                eos_after
            ),
            crate::field!(
                Int(-1, i32::MAX as i64),
                "error-after",
                "Buffers after which it fails; below 0 never",
                error_after
            ),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        if self.eos_after < 0 && self.error_after < 0 {
            return Ok(Box::new(PassThrough));
        }
        Ok(Box::new(Counting {
            settings: self.clone(),
            passed: 0,
        }))
    }
}

struct Counting {
    settings: Identity,
    passed: u64,
}

impl Work for Counting {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let reached = |most: i32, passed: u64| u64::try_from(most).is_ok_and(|m| passed >= m);
        while process.room(0) > 0 {
            if reached(self.settings.eos_after, self.passed) {
                process.finish();
                break;
            }
            if reached(self.settings.error_after, self.passed) {
                let told = ToldTo(self.settings.error_after);
                return Err(ElementError::new(Domain::Stream, Code::Failed, told));
            }
            let Some(item) = process.next(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            self.passed += 1;
            process.forward(0, buffer);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("passed", self.passed);
    }
}
