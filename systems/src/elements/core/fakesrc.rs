//! `fakesrc`: buffers of zeros, as fast as they are taken.
//!
//! `tickpipe launch 'fakesrc num-buffers=3 sizetype=fixed sizemax=16 ! fakesink'`

use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Seeking, Work,
};
use crate::elements::seeking::frames_of;
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{Choice, PropertyKind, PropertyValue};
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::Segment;

/// Settings of `fakesrc`.
#[derive(Component, Clone, Debug)]
pub struct FakeSrc {
    /// Buffers to make; -1 for no end.
    pub num_buffers: i32,
    /// Bytes of a buffer with `sizetype=fixed`; with `empty` they have none.
    pub sizemax: u32,
    /// Whether buffers have bytes.
    pub fixed: bool,
    /// It gives buffers only in PLAYING.
    pub is_live: bool,
}

impl Default for FakeSrc {
    fn default() -> Self {
        FakeSrc {
            num_buffers: -1,
            sizemax: 4096,
            fixed: false,
            is_live: false,
        }
    }
}

const SIZE_TYPES: &[Choice] = &[
    Choice {
        number: 1,
        name: "empty",
    },
    Choice {
        number: 2,
        name: "fixed",
    },
];

impl Element for FakeSrc {
    const NAME: &'static str = "fakesrc";
    const SUMMARY: &'static str = "Buffers of zeros, as fast as they are taken";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const IGNORED: &'static [&'static str] = &[
        "automatic-eos",
        "blocksize",
        "can-activate-pull",
        "can-activate-push",
        "data",
        "datarate",
        "do-timestamp",
        "dump",
        "filltype",
        "format",
        "name",
        "parent",
        "parentsize",
        "pattern",
        "signal-handoffs",
        "silent",
        "sizemin",
        "sync",
        "typefind",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Buffers to make before the end; -1 for no end",
                num_buffers
            ),
            crate::field!(
                Int(0, i32::MAX as i64),
                "sizemax",
                "Bytes of a buffer, with sizetype=fixed",
                sizemax
            ),
            crate::field!(Bool, "is-live", "Give buffers only in PLAYING", is_live),
            Property::new(
                "sizetype",
                "Whether buffers have bytes",
                PropertyKind::Choice(SIZE_TYPES),
                |s: &FakeSrc| PropertyValue::from(if s.fixed { "fixed" } else { "empty" }),
                |s, v| s.fixed = v == PropertyValue::from("fixed"),
            ),
        ]
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let own = PoolConfig {
            size: if self.fixed { self.sizemax as usize } else { 0 },
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn is_live(&self) -> bool {
        self.is_live
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Zeros::new(self, 0)))
    }
}

struct Zeros {
    /// How many there are in all.
    end: Option<u64>,
    /// The first that a seek leaves out.
    stop: Option<u64>,
    size: usize,
    index: u64,
}

impl Zeros {
    /// With these settings, after so many buffers.
    fn new(settings: &FakeSrc, index: u64) -> Zeros {
        Zeros {
            end: u64::try_from(settings.num_buffers).ok(),
            stop: None,
            size: if settings.fixed {
                settings.sizemax as usize
            } else {
                0
            },
            index,
        }
    }
}

impl Work for Zeros {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<FakeSrc>() {
            *self = Zeros::new(settings, self.index);
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let end = self.end.into_iter().chain(self.stop).min();
        let ended = |index: u64| end.is_some_and(|end| index >= end);
        while process.room(0) > 0 && !ended(self.index) {
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            buffer.meta.len = self.size;
            buffer.meta.index = self.index;
            self.index += 1;
            process.push(0, buffer);
        }
        if ended(self.index) {
            process.finish();
        }
        Ok(())
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        frames_of(seek, None)?;
        Ok(Seeking::Here(Segment::default()))
    }

    fn seek(&mut self, seek: &Seek) {
        if let Ok((start, stop)) = frames_of(seek, None) {
            self.index = start.unsigned_abs();
            self.stop = stop.map(i64::unsigned_abs);
        }
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        (*query == Query::Seeking).then_some(Answer::Seeking(true))
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("index", self.index);
    }
}
