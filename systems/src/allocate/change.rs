//! Makes an answer for a running graph take effect: new pools, and for each lane that it concerns
//! what becomes due, to be applied between two buffers.

use super::{HEAVY, PoolPlan, graph_hash, heavy_size, own_capacity, spawn_pool, time_base};
use crate::element::Flow;
use crate::negotiate::Changing;
use crate::pipelines::{Told, Works};
use crate::state::{Graphs, Topology, fabric_of};
use bevy_ecs::world::World;
use smallvec::SmallVec;
use std::sync::Arc;
use tickpipe_components::digest::{StateHasher, StateVisitor};
use tickpipe_components::fabric::{Due, NewMemory, PipelineFabric};
use tickpipe_components::graph::PadCaps;
use tickpipe_components::id::{LaneId, PoolId};
use tickpipe_components::limits::Limits;
use tickpipe_components::pool::{FreeSet, Pool};

/// What changes for a lane.
struct Change {
    due: Due,
    told: Told,
}

/// Enters an answer into the fabric.
pub(super) fn change(world: &mut World, changing: Changing) {
    let id = changing.id;
    let Some(topology) = world.resource_mut::<Graphs>().take_running(id) else {
        return;
    };
    let hash = graph_hash(world, &topology, &changing.solution);
    let mut graphs = world.resource_mut::<Graphs>();
    let Some(motion) = graphs.motion_mut(id) else {
        return graphs.put_running(topology);
    };
    let changed: Vec<bool> = motion
        .links
        .iter()
        .zip(&changing.solution.links)
        .map(|(old, new)| old != new)
        .collect();
    let epoch = motion.epoch + 1;
    let other_graph = motion.graph_hash != hash;
    motion.graph_hash = hash;
    motion.links.clone_from(&changing.solution.links);
    let mut pools = core::mem::take(&mut motion.pools);
    let mut made: Vec<PoolId> = Vec::new();
    let mut changes: Vec<(usize, Change)> = Vec::new();
    if let Some(mut p) = fabric_of(world, id) {
        let p = &mut *p;
        let mut plans: Vec<Option<&PoolPlan>> = vec![None; topology.nodes.len()];
        for plan in &changing.memory.pools {
            plans[plan.node] = Some(plan);
        }
        for (node, n) in topology.nodes.iter().enumerate() {
            let kept = match (pools[node], plans[node]) {
                (Some(old), Some(plan)) => p.pools.get(old.index()).is_some_and(|o| fits(o, plan)),
                (None, None) => true,
                _ => false,
            };
            if !kept {
                pools[node] = plans[node].map(|plan| make(p, plan));
                made.extend(pools[node]);
            }
            let size = heavy_size(changing.memory.buffers[node]);
            let memory = NewMemory {
                pool: pools[node],
                in_place: changing.memory.in_place(node),
                heavy: size >= HEAVY,
            };
            let last = last_memory(p, node);
            let of = |links: &[usize]| -> SmallVec<[u32; 2]> {
                let pads = (0u32..).zip(links).filter(|(_, l)| changed[**l]);
                pads.map(|(pad, _)| pad).collect()
            };
            let (inputs, outputs) = (of(&n.inputs), of(&n.outputs));
            let settings = changing.told.get(&node).cloned().flatten();
            let caps = !inputs.is_empty() || !outputs.is_empty();
            let memory = (memory != last).then_some(memory);
            if p.lanes[node].done || (!caps && settings.is_none() && memory.is_none()) {
                continue;
            }
            let bases = match n.class.terms.flow {
                Flow::Lead => inputs
                    .iter()
                    .map(|&k| time_base(changing.solution.links[n.inputs[k as usize]].first()))
                    .collect(),
                _ => SmallVec::new(),
            };
            let pads = caps.then(|| changing.solution.pads_of(&topology, node));
            changes.push((
                node,
                Change {
                    due: Due {
                        epoch,
                        inputs,
                        outputs,
                        memory,
                        bases,
                    },
                    told: Told { settings, pads },
                },
            ));
        }
        if other_graph {
            let mut folded = StateHasher::new();
            folded.unsigned("before", p.graph_hash);
            folded.unsigned("graph", hash);
            p.graph_hash = folded.digest();
        }
    }
    resize_queues(world, &topology, changing.told.keys());
    let something = !changes.is_empty();
    enter(world, &topology, changes);
    for pool in made {
        spawn_pool(world, id, pool);
    }
    for (link, caps) in topology.links.iter().zip(&changing.solution.links) {
        for pad in [link.from.pad, link.to.pad] {
            if let Some(mut agreed) = world.get_mut::<PadCaps>(pad) {
                agreed.0 = Some(Arc::clone(caps));
            }
        }
    }
    let mut graphs = world.resource_mut::<Graphs>();
    if let Some(motion) = graphs.motion_mut(id) {
        motion.pools = pools;
        motion.epoch += u32::from(something);
    }
    graphs.put_running(topology);
}

/// Links of elements whose properties were set hold as many items as these say.
fn resize_queues<'a>(
    world: &mut World,
    topology: &Topology,
    nodes: impl Iterator<Item = &'a usize>,
) {
    let limits = world.resource::<Limits>().clone();
    for &node in nodes {
        let capacity = own_capacity(world, &topology.nodes[node], &limits);
        let Some((mut p, capacity)) = fabric_of(world, topology.id).zip(capacity) else {
            continue;
        };
        for input in 0..p.lanes[node].inputs.len() {
            let i = &mut p.lanes[node].inputs[input];
            if i.queue.capacity() != capacity {
                i.queue.resize(capacity);
                let from = i.from.0.0;
                p.touch(from);
            }
        }
    }
}

/// Whether a pool will do for a new plan.
fn fits(pool: &Pool, plan: &PoolPlan) -> bool {
    let (old, new) = (pool.config, plan.config);
    let same = (old.size, old.align) == (new.size, new.align);
    same && plan.need() <= pool.count && (new.max == 0 || pool.count <= new.max)
}

/// Adds a pool to the fabric.
fn make(p: &mut PipelineFabric, plan: &PoolPlan) -> PoolId {
    let id = PoolId(p.pools.len() as u32);
    let owner = LaneId(plan.node as u32);
    let c = plan.config;
    let first = p.buffers.add(id, owner, plan.count, c.size, c.align);
    p.pools.push(Pool {
        config: c,
        first,
        count: plan.count,
        free: FreeSet::full(plan.count),
        owner,
        high_water: 0,
    });
    id
}

/// Where a lane's buffers come from once all that is due took effect.
fn last_memory(p: &PipelineFabric, lane: usize) -> NewMemory {
    let l = &p.lanes[lane];
    let due = l.changes.iter().flat_map(|c| c.due.iter().rev());
    let mut last = due.filter_map(|d| d.memory);
    last.next().unwrap_or(NewMemory {
        pool: l.pool,
        in_place: l.in_place,
        heavy: l.heavy,
    })
}

/// Gives lanes and elements what becomes due.
fn enter(world: &mut World, topology: &Topology, changes: Vec<(usize, Change)>) {
    let id = topology.id;
    if let Some(mut p) = fabric_of(world, id) {
        let quantum = p.quantum as usize;
        for (lane, change) in &changes {
            let l = &mut p.lanes[*lane];
            if change.due.memory.is_some() {
                l.published.reserve(quantum);
                l.borrowed.reserve(quantum);
            }
            l.changes_mut().due.push_back(change.due.clone());
            p.touch(*lane as u32);
        }
    }
    if let Some(works) = world.resource_mut::<Works>().pipelines.get_mut(id.index()) {
        for (lane, change) in changes {
            works.slots[lane].changes.push_back(change.told);
        }
    }
}
