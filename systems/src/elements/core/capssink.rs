//! `capssink`: accepts caps, for planning and tests: it stands for any sink that takes them, and
//! lets go of every buffer. `sync=true` holds each until its running time, unless the clock is
//! `free`.
//!
//! In the report a buffer without bytes has the hash of its index (as 8 bytes, the lowest first).
//!
//! `tickpipe launch 'capssrc ! capssink caps="audio/x-raw,rate=[8000,48000]"'`

use super::FrameHasher;
use super::sink_terms::TERMS;
use crate::element::{
    CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::digest::{StateVisitor, hash_bytes};
use tickpipe_components::fabric::SinkTerms;
use tickpipe_components::fault::ElementError;

/// Settings of `capssink`.
#[derive(Component, Clone, Debug)]
pub struct CapsSink {
    /// What it accepts.
    pub caps: Caps,
    /// How it keeps time.
    pub terms: SinkTerms,
}

impl Default for CapsSink {
    fn default() -> Self {
        CapsSink {
            caps: Caps::any(),
            terms: SinkTerms::default(),
        }
    }
}

impl Element for CapsSink {
    const NAME: &'static str = "capssink";
    const SUMMARY: &'static str = "Stands for a sink: accepts caps and lets go of every buffer";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;

    const READY_ONLY: &'static [&'static str] = TERMS;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        let mut all: Vec<Property<Self>> = vec![crate::field!(
            Caps,
            "caps",
            "What it accepts; a field that is not named may have any value",
            caps
        )];
        all.extend(crate::sink_terms!());
        all
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(query.answer(&self.caps, index))
    }

    fn sink_terms(&self) -> SinkTerms {
        self.terms
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Taking::default()))
    }
}

#[derive(Default)]
struct Taking {
    hasher: FrameHasher,
}

impl Work for Taking {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.hasher = FrameHasher::new(pads);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            process.show(buffer);
            if process.recording() {
                let meta = *process.meta(buffer);
                let hash = match process.bytes(buffer) {
                    [] => hash_bytes(&meta.index.to_le_bytes()),
                    _ => self.hasher.hash(process, buffer),
                };
                process.record(meta.pts, meta.time_base, hash);
            }
            process.release(buffer);
            if process.timed() {
                break;
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
