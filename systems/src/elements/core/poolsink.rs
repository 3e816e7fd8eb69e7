//! `poolsink`: stands for a sink that asks for buffers of a certain kind, or has some and offers
//! them (`offer=true`): whoever fills its buffers takes them from there. What is 0 it does not care
//! for. Else it is `fakesink`.
//!
//! `tickpipe plan 'videotestsrc ! poolsink align=64 stride-align=256 min-buffers=3'`

use super::fakesink::Swallow;
use super::poolsrc::Device;
use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Property, Proposal, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::{Backing, PoolConfig};

/// Settings of `poolsink`.
#[derive(Component, Clone, Debug)]
pub struct PoolSink {
    /// Bytes of a buffer.
    pub size: u32,
    /// Fewest buffers of the pool.
    pub min_buffers: u32,
    /// Most buffers of the pool.
    pub max_buffers: u32,
    /// Alignment of the first byte.
    pub align: u32,
    /// Bytes in front of it.
    pub prefix: u32,
    /// Alignment of rows of pictures.
    pub stride_align: u32,
    /// Whether it has such a pool, and offers it.
    pub offer: bool,
    /// Most buffers that it grants of that.
    pub grants: i32,
    /// Newest buffers that it keeps before it lets the oldest go.
    pub hold: u32,
}

impl Default for PoolSink {
    fn default() -> Self {
        PoolSink {
            size: 0,
            min_buffers: 0,
            max_buffers: 0,
            align: 0,
            prefix: 0,
            stride_align: 0,
            offer: false,
            grants: -1,
            hold: 0,
        }
    }
}

impl Element for PoolSink {
    const NAME: &'static str = "poolsink";
    const SUMMARY: &'static str =
        "Stands for a sink that asks for buffers of a kind, or offers some";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;
    /// Pools are made once for a run.
    const READY_ONLY: &'static [&'static str] = &[
        "size",
        "min-buffers",
        "max-buffers",
        "align",
        "prefix",
        "stride-align",
        "offer",
        "grants",
        "hold",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        const MOST: i64 = i32::MAX as i64;
        vec![
            crate::field!(Int(0, MOST), "size", "Bytes of a buffer at least", size),
            crate::field!(
                Int(0, 65_536),
                "min-buffers",
                "Fewest buffers of the pool",
                min_buffers
            ),
            crate::field!(
                Int(0, 65_536),
                "max-buffers",
                "Most buffers of the pool",
                max_buffers
            ),
            crate::field!(
                Int(0, MOST),
                "align",
                "Alignment of a buffer's first byte",
                align
            ),
            crate::field!(
                Int(0, MOST),
                "prefix",
                "Bytes in front of a buffer's first",
                prefix
            ),
            crate::field!(
                Int(0, MOST),
                "stride-align",
                "Alignment of each row of a raw picture",
                stride_align
            ),
            crate::field!(
                Bool,
                "offer",
                "Whether it has such buffers and offers them to whoever fills them",
                offer
            ),
            crate::field!(
                Int(-1, 65_536),
                "grants",
                "Most buffers of those that it grants; -1 is as many as it is asked for",
                grants
            ),
            crate::field!(
                Int(0, 65_536),
                "hold",
                "Newest buffers that it keeps before it lets the oldest go",
                hold
            ),
        ]
    }

    fn propose_pool(&self, _pad: PadAt, _pads: &PadCapsOf) -> Proposal {
        Proposal {
            config: PoolConfig {
                size: self.size as usize,
                align: self.align as usize,
                prefix: self.prefix as usize,
                stride_align: self.stride_align as usize,
                min: self.min_buffers,
                max: self.max_buffers,
                count: 0,
            },
            pool: self.offer,
        }
    }

    fn pool_backing(&self) -> Option<Box<dyn Backing>> {
        let grants = u32::try_from(self.grants).ok()?;
        Some(Box::new(Device {
            grants: Some(grants),
        }))
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        self.hold
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Swallow::new(self.hold)))
    }
}
