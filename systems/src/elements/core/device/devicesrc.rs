//! `devicesrc`: stands for a device that fills frames in memory of its own. Byte `b` of frame `n` is
//! `n + b`, of which 8 bits count.
//!
//! `tickpipe launch 'devicesrc num-buffers=5 ! devicesink'`

use super::memory::{DevicePool, Frames};
use crate::element::{Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::graph::Transport;
use tickpipe_components::pool::{Backing, PoolConfig};

/// Settings of `devicesrc`.
#[derive(Component, Clone, Debug)]
pub struct DeviceSrc {
    /// Frames to fill; -1 for no end.
    pub num_buffers: i32,
    /// Bytes of each.
    pub size: u32,
    /// Frames that the device grants at most; 0 is as many as needed.
    pub grants: u32,
    /// The device's memory, while the element is not in READY.
    frames: Frames,
}

impl Default for DeviceSrc {
    fn default() -> Self {
        DeviceSrc {
            num_buffers: 10,
            size: 4096,
            grants: 0,
            frames: Frames::default(),
        }
    }
}

/// The device cannot fill a frame.
#[derive(Debug, Error)]
#[error("the device cannot fill frame {frame}: {error}")]
struct NotFilled {
    frame: u64,
    error: std::io::Error,
}

impl Element for DeviceSrc {
    const NAME: &'static str = "devicesrc";
    const SUMMARY: &'static str = "Stands for a device that fills frames in its own memory";
    const KLASS: &'static str = "Source/Device";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const READY_ONLY: &'static [&'static str] = &["num-buffers", "size", "grants"];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any()).over(&[Transport::Device])]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Frames to fill before the end; -1 for no end",
                num_buffers
            ),
            crate::field!(Int(1, 1 << 26), "size", "Bytes of a frame", size),
            crate::field!(
                Int(0, 65_536),
                "grants",
                "Frames that the device grants at most; 0 is as many as needed",
                grants
            ),
        ]
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let own = PoolConfig {
            size: self.size as usize,
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn pool_backing(&self) -> Option<Box<dyn Backing>> {
        Some(Box::new(DevicePool {
            frames: self.frames.clone(),
            grants: self.grants,
        }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Filling {
            frames: self.frames.clone(),
            frame: vec![0; self.size as usize],
            all: u64::try_from(self.num_buffers).ok(),
            filled: 0,
        }))
    }
}

struct Filling {
    frames: Frames,
    /// What the device writes next.
    frame: Vec<u8>,
    all: Option<u64>,
    filled: u64,
}

impl Work for Filling {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 && self.all != Some(self.filled) {
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            let first = self.filled as u8;
            for (at, byte) in (0u8..=255).cycle().zip(&mut self.frame) {
                *byte = first.wrapping_add(at);
            }
            let slot = process.slot(buffer.buffer);
            if let Err(error) = self.frames.write(slot, &self.frame) {
                process.discard(buffer);
                let frame = self.filled;
                let error = NotFilled { frame, error };
                return Err(ElementError::new(Domain::Resource, Code::Write, error));
            }
            buffer.meta.index = self.filled;
            self.filled += 1;
            process.push(0, buffer);
        }
        if self.all == Some(self.filled) {
            process.finish();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("filled", self.filled);
    }
}
