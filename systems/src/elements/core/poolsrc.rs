//! `poolsrc`: stands for a device that owns its buffers, such as a camera: it grants as many as it
//! likes, and may lose some of those that it fills. It takes no pool that downstream offers.
//!
//! A buffer that is lost stays with the element, which is told as its holder; when the last one is
//! lost it fails. Lost buffers count as filled: their indexes are missing downstream.
//!
//! `tickpipe launch 'poolsrc buffers=6 grants=3 min-buffers=2 ! fakesink hold=1'`

use crate::element::{Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::memory::Memory;
use tickpipe_components::pool::{Backing, Heap, PoolConfig, Refused};

/// Settings of `poolsrc`.
#[derive(Component, Clone, Debug)]
pub struct PoolSrc {
    /// Buffers to fill; -1 for no end.
    pub num_buffers: i32,
    /// Bytes of each.
    pub size: u32,
    /// Buffers that are asked for; 0 is as many as needed.
    pub buffers: u32,
    /// Most buffers that are granted; -1 is as many as are asked for.
    pub grants: i32,
    /// Each so many-th that it fills is lost; 0 loses none.
    pub lose_every: u32,
}

impl Default for PoolSrc {
    fn default() -> Self {
        PoolSrc {
            num_buffers: 10,
            size: 4096,
            buffers: 0,
            grants: -1,
            lose_every: 0,
        }
    }
}

impl Element for PoolSrc {
    const NAME: &'static str = "poolsrc";
    const SUMMARY: &'static str = "Stands for a device that owns its buffers and may lose some";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    /// The device is asked for its buffers once a run.
    const READY_ONLY: &'static [&'static str] =
        &["num-buffers", "size", "buffers", "grants", "lose-every"];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Int(-1, i32::MAX as i64),
                "num-buffers",
                "Buffers to fill before the end, lost ones among them; -1 for no end",
                num_buffers
            ),
            crate::field!(Int(0, i32::MAX as i64), "size", "Bytes of a buffer", size),
            crate::field!(
                Int(0, 65_536),
                "buffers",
                "Buffers that the device is asked for; 0 is as many as needed",
                buffers
            ),
            crate::field!(
                Int(-1, 65_536),
                "grants",
                "Most buffers that the device grants; -1 is as many as it is asked for",
                grants
            ),
            crate::field!(
                Int(0, i32::MAX as i64),
                "lose-every",
                "Each so many-th buffer that it fills is lost in the device; 0 loses none",
                lose_every
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
            count: self.buffers,
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn pool_backing(&self) -> Option<Box<dyn Backing>> {
        Some(Box::new(Device {
            grants: u32::try_from(self.grants).ok(),
        }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Capture {
            all: u64::try_from(self.num_buffers).ok(),
            size: self.size as usize,
            lose_every: self.lose_every.into(),
            filled: 0,
        }))
    }
}

/// The driver's side: memory of the heap, and no more buffers than it grants.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) grants: Option<u32>,
}

impl Backing for Device {
    fn name(&self) -> &'static str {
        "device"
    }

    fn set_config(&mut self, wanted: PoolConfig) -> Result<PoolConfig, Refused> {
        let count = wanted.count.min(self.grants.unwrap_or(u32::MAX));
        Ok(PoolConfig { count, ..wanted })
    }

    fn start(&mut self, live: &PoolConfig) -> Result<Vec<Memory>, Refused> {
        Heap.start(live)
    }
}

/// The device lost all of its buffers, so nothing more can come.
#[derive(Debug, Error)]
#[error("all {} buffers are lost in the device: {}", .lost.len(), list(.lost))]
struct AllLost {
    /// Which, counted in the pool, and since which tick.
    lost: Vec<(u32, u64)>,
}

fn list(lost: &[(u32, u64)]) -> String {
    let one = |(slot, tick): &(u32, u64)| format!("{slot} since tick {tick}");
    lost.iter().map(one).collect::<Vec<_>>().join(", ")
}

struct Capture {
    all: Option<u64>,
    size: usize,
    lose_every: u64,
    filled: u64,
}

impl Work for Capture {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 && self.all != Some(self.filled) {
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            buffer.meta.len = self.size;
            buffer.meta.index = self.filled;
            buffer.memory.as_mut_slice()[..self.size].fill(0);
            self.filled += 1;
            // A remainder of a division by zero there is none: nothing is lost.
            if self.filled.checked_rem(self.lose_every) != Some(0) {
                process.push(0, buffer);
                continue;
            }
            process.keep_acquired(buffer);
            let lost = process.kept().len();
            if lost >= process.pool_size() as usize {
                let lost = process.kept_since();
                let lost = lost.map(|k| (process.slot(k.buffer), k.since)).collect();
                let error = AllLost { lost };
                return Err(ElementError::new(Domain::Resource, Code::Failed, error));
            }
        }
        if self.all == Some(self.filled) {
            if process.kept().len() > 0 {
                let lost = process.kept().len();
                process.say(format_args!(
                    "{lost} buffers are lost in the device at its end"
                ));
                process.warn(Domain::Pool, Code::NotReturned);
            }
            process.finish();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("filled", self.filled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_are_lost_are_told() {
        let lost = vec![(0, 12), (3, 14)];
        assert_eq!(
            AllLost { lost }.to_string(),
            "all 2 buffers are lost in the device: 0 since tick 12, 3 since tick 14"
        );
    }
}
