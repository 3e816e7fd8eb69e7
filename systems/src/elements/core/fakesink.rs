//! `fakesink`: takes everything and shows it to nobody. `sync=true` holds each buffer until its
//! running time, unless the clock is `free`; with `hold=N` it keeps the newest N, as a sink does
//! that shows a picture until the next.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! fakesink'`

use super::FrameHasher;
use super::sink_terms::TERMS;
use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::SinkTerms;
use tickpipe_components::fault::ElementError;

/// Settings of `fakesink`.
#[derive(Component, Clone, Debug, Default)]
pub struct FakeSink {
    /// How it keeps time.
    pub terms: SinkTerms,
    /// Newest buffers that it keeps before it lets the oldest go.
    pub hold: u32,
}

impl Element for FakeSink {
    const NAME: &'static str = "fakesink";
    const SUMMARY: &'static str = "Takes everything and shows it to nobody";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;
    const IGNORED: &'static [&'static str] = &[
        "async",
        "blocksize",
        "can-activate-pull",
        "can-activate-push",
        "drop-out-of-segment",
        "dump",
        "enable-last-sample",
        "last-message",
        "max-bitrate",
        "name",
        "num-buffers",
        "parent",
        "processing-deadline",
        "signal-handoffs",
        "silent",
        "state-error",
    ];

    const READY_ONLY: &'static [&'static str] = TERMS;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        let mut all = crate::sink_terms!();
        all.push(crate::field!(
            Int(0, 65_536),
            "hold",
            "Newest buffers that it keeps before it lets the oldest go",
            hold
        ));
        all
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        self.hold
    }

    fn sink_terms(&self) -> SinkTerms {
        self.terms
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Swallow::new(self.hold)))
    }
}

/// Takes everything, tells the report of it, and keeps the newest few.
pub(super) struct Swallow {
    hasher: FrameHasher,
    hold: usize,
}

impl Swallow {
    /// One that keeps so many.
    pub(super) fn new(hold: u32) -> Swallow {
        Swallow {
            hasher: FrameHasher::default(),
            hold: hold as usize,
        }
    }
}

impl Work for Swallow {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.hasher = FrameHasher::new(pads);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            match item.as_buffer() {
                Some(buffer) => {
                    process.show(buffer);
                    if process.recording() {
                        let hash = self.hasher.hash(process, buffer);
                        let meta = *process.meta(buffer);
                        process.record(meta.pts, meta.time_base, hash);
                    }
                    if self.hold == 0 {
                        process.release(buffer);
                    } else {
                        process.keep(buffer);
                    }
                    if process.kept().len() > self.hold
                        && let Some(oldest) = process.take_kept()
                    {
                        process.release(oldest);
                    }
                    if process.timed() {
                        break;
                    }
                }
                None => {
                    while let Some(kept) = process.take_kept() {
                        process.release(kept);
                    }
                    process.finish();
                    break;
                }
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
