//! `capssrc`: offers caps, for planning and tests: it stands for any source that has them. It makes
//! buffers without bytes, which have an index, and a time if the agreed caps have a rate.
//!
//! It ends after 10 buffers unless `num-buffers` says otherwise.
//!
//! `tickpipe launch 'capssrc caps="video/x-raw,format={I420,NV12}; image/jpeg" ! capssink caps=image/jpeg'`

use super::caps_changes::{check_changes, parse_changes, print_changes};
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{PropertyKind, PropertyValue, TextForm};
use tickpipe_components::time::TimeBase;

/// Settings of `capssrc`.
#[derive(Component, Clone, Debug)]
pub struct CapsSrc {
    /// What it offers, best first.
    pub caps: Caps,
    /// Buffers to make; -1 for no end.
    pub num_buffers: i32,
    /// What it offers instead from a buffer on, by its index, rising.
    pub changes: Vec<(u64, Caps)>,
}

impl Default for CapsSrc {
    fn default() -> Self {
        CapsSrc {
            caps: Caps::any(),
            num_buffers: 10,
            changes: Vec::new(),
        }
    }
}

impl Element for CapsSrc {
    const NAME: &'static str = "capssrc";
    const SUMMARY: &'static str =
        "Stands for a source: offers caps and makes buffers without bytes";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(Caps, "caps", "What it offers, best first", caps),
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Buffers to make before the end; -1 for no end",
                num_buffers
            ),
            Property::new(
                "changes",
                "What it offers instead, each from the buffer of that index on",
                PropertyKind::Form(TextForm {
                    example: "100: A | 250: B",
                    check: check_changes,
                }),
                |s: &CapsSrc| PropertyValue::Text(print_changes(&s.changes)),
                |s, v| {
                    if let PropertyValue::Text(text) = v
                        && let Ok(changes) = parse_changes(&text)
                    {
                        s.changes = changes;
                    }
                },
            ),
        ]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(query.answer(&self.caps, index))
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(Buffers::Own(PoolConfig::default().merge(downstream)))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Counting {
            left: u64::try_from(self.num_buffers).ok(),
            changes: self.changes.clone(),
            base: None,
            index: 0,
        }))
    }
}

struct Counting {
    left: Option<u64>,
    changes: Vec<(u64, Caps)>,
    /// The length of a frame, if the agreed caps have a rate.
    base: Option<TimeBase>,
    index: u64,
}

impl Work for Counting {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let rate = pads.source(0).and_then(|s| s.fraction("framerate"));
        self.base = rate.and_then(|rate| TimeBase::of_rate(rate.num(), rate.den()));
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 && self.left != Some(0) {
            let now = self.changes.iter().rev().find(|c| c.0 <= self.index);
            if now.is_some_and(|(_, caps)| !process.announce(0, caps)) {
                break;
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            let meta = &mut buffer.meta;
            meta.len = 0;
            meta.index = self.index;
            if let Some(base) = self.base {
                meta.time_base = base;
                meta.pts = i64::try_from(self.index).ok();
                meta.duration = Some(1);
            }
            self.index += 1;
            self.left = self.left.map(|n| n - 1);
            process.push(0, buffer);
        }
        if self.left == Some(0) {
            process.finish();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("index", self.index);
        visitor.unsigned("left", self.left.unwrap_or(u64::MAX));
    }
}
