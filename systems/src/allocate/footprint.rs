//! What a graph takes in memory once it has started, known before: a pure function of its plan.
//!
//! Counted are the buffers of all pools, their records, the queues of all links, and the elements
//! with their pads, links and lists, and what elements say that they allocate for themselves. Small
//! things of theirs, and what a report keeps of each frame, are not.

use super::plan::{MemoryPlan, PoolPlan};
use crate::element::Buffers;
use crate::negotiate::Solution;
use crate::pipelines::WorkSlot;
use crate::state::Topology;
use bevy_ecs::world::World;
use core::mem::size_of;
use tickpipe_components::buffer::{BufferMeta, BufferSlot};
use tickpipe_components::fabric::{
    Granted, Held, Input, Item, Lane, Output, QueueBounds, QueueLimits,
};
use tickpipe_components::id::{BufferId, PoolId};
use tickpipe_components::limits::{Limit, Limits};
use tickpipe_components::memory::Memory;
use tickpipe_components::pool::Pool;

/// Bytes of an entity's row, its place and what finds it, beside its components (measured: see the
/// benchmark `pools`).
const ENTITY: u64 = 64;
/// Bytes that the heap takes for a block beside what was asked for, and that arrays have to spare.
const BLOCK: u64 = 40;
/// Bytes of an element's components, name and settings, and of a pad's and a link's.
const ELEMENT: u64 = 1_180;
const PAD: u64 = 160;
const LINK: u64 = 48;

/// Bytes that a graph takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Buffers of all pools, with prefix and slack for alignment.
    pub buffers: u64,
    /// What is known of each buffer, and the pools.
    pub records: u64,
    /// Queues of links.
    pub queues: u64,
    /// Elements, pads and links, and the lists of a tick.
    pub elements: u64,
}

impl Footprint {
    /// All of it.
    pub fn total(&self) -> u64 {
        let parts = [self.buffers, self.records, self.queues, self.elements];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Of a planned graph.
    pub(super) fn of(
        world: &World,
        topology: &Topology,
        solution: &Solution,
        plan: &MemoryPlan,
        limits: &Limits,
    ) -> Footprint {
        let quantum = limits.get(Limit::Quantum);
        let mut all = Footprint::default();
        for pool in &plan.pools {
            all.buffers = all.buffers.saturating_add(buffers(pool));
            all.records = all.records.saturating_add(records(pool));
        }
        let sizes = plan.pools.iter().map(|pool| pool.config.size as u64);
        let largest = sizes.max().unwrap_or_default();
        for &capacity in &plan.capacities {
            all.queues += ((capacity as u64 + 1).next_power_of_two()) * size_of::<Item>() as u64;
        }
        for (node, n) in topology.nodes.iter().enumerate() {
            all.elements += element(n.inputs.len(), n.outputs.len(), quantum, plan.buffers[node]);
            all.elements += n.name.len() as u64 * 2;
            if let (Some(limits), Some(&link)) = (
                n.class.queue_limits(world.entity(n.entity)),
                n.inputs.first(),
            ) {
                all.elements += queue(limits, plan.capacities[link] as u64, largest);
            }
            if plan.buffers[node] != Buffers::Passed {
                let pads = solution.pads_of(topology, node);
                let own = n.class.memory(world.entity(n.entity), &pads);
                all.elements = all.elements.saturating_add(own);
            }
        }
        all
    }
}

/// Bytes of what is counted of a queue: of each buffer, if they can be too many bytes.
fn queue(limits: QueueLimits, capacity: u64, largest: u64) -> u64 {
    let most = (capacity + 1).saturating_mul(largest);
    let counts = limits.min_bytes > 0 || (limits.bytes > 0 && most >= limits.bytes);
    let lens = if counts { capacity + 1 } else { 0 };
    size_of::<QueueBounds>() as u64 + lens * size_of::<usize>() as u64 + 2 * BLOCK
}

/// Bytes of a pool's buffers.
fn buffers(pool: &PoolPlan) -> u64 {
    let c = pool.config;
    let one = (c.size as u64)
        .saturating_add(c.prefix as u64)
        .saturating_add(c.align.saturating_sub(1) as u64);
    one.saturating_mul(c.count.into())
}

/// Bytes of what is known of a pool and its buffers.
fn records(pool: &PoolPlan) -> u64 {
    let one = size_of::<BufferMeta>()
        + size_of::<u32>()
        + size_of::<Held>()
        + size_of::<PoolId>()
        + size_of::<Option<Memory>>()
        + size_of::<u64>()
        + size_of::<Option<BufferId>>()
        + size_of::<BufferSlot>();
    let one = one as u64 + ENTITY + BLOCK;
    one.saturating_mul(pool.config.count.into()) + size_of::<Pool>() as u64 + ENTITY
}

/// Bytes of an element with so many linked pads.
fn element(inputs: usize, outputs: usize, quantum: u64, buffers: Buffers) -> u64 {
    let more = |count: usize, size: usize| count.saturating_sub(1) as u64 * size as u64;
    let lane = size_of::<Lane>() as u64
        + size_of::<WorkSlot>() as u64
        + more(inputs, size_of::<Input>())
        + more(outputs, size_of::<Output>());
    let staged = outputs as u64 * (quantum + 1) * size_of::<Item>() as u64;
    let released = if inputs > 0 { 5 * quantum } else { quantum } * size_of::<BufferId>() as u64;
    let retained = outputs.saturating_sub(1) as u64 * quantum * size_of::<BufferId>() as u64;
    let lists = match buffers {
        Buffers::Passed => 1,
        Buffers::Own(_) | Buffers::Views => 2,
        Buffers::InPlace(_) => 3,
    };
    let granted = lists * quantum * size_of::<Granted>() as u64;
    let pads = (inputs + outputs) as u64 * (PAD + ENTITY);
    let links = outputs as u64 * (LINK + ENTITY);
    lane + staged + released + retained + granted + ELEMENT + ENTITY + pads + links
}
