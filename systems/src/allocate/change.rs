//! Makes an answer for a running graph take effect: new pools, and for each lane that it concerns
//! what becomes due, to be applied between two buffers.

use super::commit;
use super::{HEAVY, PoolPlan, fail, graph_hash, heavy_size, spawn_pool, time_base, warn_of_fewer};
use crate::negotiate::Changing;
use crate::pipelines::{Told, Works};
use crate::state::{Graphs, Topology, fabric_of};
use bevy_ecs::world::World;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;
use tickpipe_components::digest::{StateHasher, StateVisitor};
use tickpipe_components::fabric::{Due, NewMemory, PipelineFabric, QueueLimits};
use tickpipe_components::graph::{PadCaps, Transport};
use tickpipe_components::id::PoolId;

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
    let Some(fresh) = make_pools(world, &topology, &pools, &changing.memory.pools) else {
        let mut graphs = world.resource_mut::<Graphs>();
        if let Some(motion) = graphs.motion_mut(id) {
            motion.pools = pools;
        }
        return graphs.put_running(topology);
    };
    let mut made: Vec<PoolId> = Vec::new();
    let mut changes: Vec<(usize, Change)> = Vec::new();
    if let Some(mut p) = fabric_of(world, id) {
        let p = &mut *p;
        let mut plans: Vec<Option<&PoolPlan>> = vec![None; topology.nodes.len()];
        for plan in &changing.memory.pools {
            plans[plan.node] = Some(plan);
        }
        for (node, n) in topology.flowing().nodes.iter().enumerate() {
            let kept = match (pools[node], plans[node]) {
                (Some(old), Some(plan)) => {
                    let old = p.buffers.pools.get(old.index());
                    old.is_some_and(|old| commit::fits(old, plan))
                }
                (None, None) => true,
                _ => false,
            };
            if !kept {
                pools[node] = fresh.get(&node).copied();
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
            if !caps && settings.is_none() && memory.is_none() {
                continue;
            }
            let bases = match n.class.terms.flow {
                flow if flow.synchronises() => inputs
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
    let queues: Vec<_> = topology
        .nodes
        .iter()
        .map(|n| n.class.queue_limits(world.entity(n.entity)))
        .collect();
    if let Some(mut p) = fabric_of(world, id) {
        resize_queues(&mut p, &topology, &changing.memory.capacities);
        set_queues(&mut p, &queues);
    }
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

/// Links hold as many items as the new plan says.
fn resize_queues(p: &mut PipelineFabric, topology: &Topology, capacities: &[usize]) {
    for (link, &capacity) in topology.links.iter().zip(capacities) {
        if link.transport == Transport::Pull {
            continue;
        }
        let input = &mut p.lanes[link.to.node].inputs[link.to.index];
        if input.queue.capacity() != capacity {
            input.queue.resize(capacity);
            let from = input.from.0.0;
            p.touch(from);
        }
    }
}

/// Queues hold as much as their settings say now.
fn set_queues(p: &mut PipelineFabric, limits: &[Option<QueueLimits>]) {
    for (lane, limits) in (0u32..).zip(limits) {
        let bounds = p.lanes[lane as usize]
            .extras
            .made()
            .and_then(|e| e.bounds.as_mut());
        if let Some((bounds, limits)) = bounds.zip(*limits)
            && bounds.limits != limits
        {
            bounds.set(limits);
            p.touch(lane);
        }
    }
    crate::reclaim::queues::look_at_all(p);
}

/// Makes the pools that those that there are will not do for, by the node that fills them. `None`
/// if one cannot be: that is posted, and the pipeline fails.
fn make_pools(
    world: &mut World,
    topology: &Topology,
    pools: &[Option<PoolId>],
    plans: &[PoolPlan],
) -> Option<BTreeMap<usize, PoolId>> {
    let id = topology.id;
    let mut fresh = BTreeMap::new();
    for plan in plans {
        let backing = commit::backing(world, topology, plan);
        let mut p = fabric_of(world, id)?;
        let old = pools[plan.node].and_then(|old| p.buffers.pools.get(old.index()));
        if old.is_some_and(|old| commit::fits(old, plan)) {
            continue;
        }
        match commit::make(&mut p.buffers, plan, backing) {
            Ok(made) => {
                fresh.insert(plan.node, made.pool);
                if made.fewer {
                    let count = p.buffers.pools[made.pool.index()].count;
                    warn_of_fewer(world, id, topology, plan, count);
                }
            }
            Err(error) => {
                let owner = &topology.nodes[plan.owner];
                fail(world, id, Some((owner.id, &owner.name)), &error.into());
                return None;
            }
        }
    }
    Some(fresh)
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
    let mut done = Vec::new();
    if let Some(mut p) = fabric_of(world, id) {
        let p = &mut *p;
        let quantum = p.quantum as usize;
        for (lane, change) in &changes {
            let l = &mut p.lanes[*lane];
            done.push(l.done);
            if change.due.memory.is_some() {
                let extra = l.extras.make();
                extra.granted.reserve(quantum);
                extra.published.reserve(quantum);
                extra.borrowed.reserve(quantum);
            }
            if l.done {
                l.change_at_end(&change.due, |pool| p.retired.push(pool));
                continue;
            }
            l.changes_mut().due.push_back(change.due.clone());
            p.touch(*lane as u32);
        }
    }
    if let Some(works) = world.resource_mut::<Works>().pipelines.get_mut(id.index()) {
        for ((lane, change), done) in changes.into_iter().zip(done) {
            let told = &mut works.slots[lane].changes;
            match told.back_mut().filter(|_| done) {
                // Only what counts last is told to who works no more, when it works again.
                Some(last) => last.follow(change.told),
                None => told.push_back(change.told),
            }
        }
    }
}
