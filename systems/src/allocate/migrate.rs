//! Lets new elements into a running graph: the fabric's arrays are made anew in graph order, and
//! what runs is moved over with its queues, counters and pools. Buffers and pools keep their
//! numbers.

use super::{change, enter, free_clock, lanes, record};
use crate::negotiate::{Changing, Edited};
use crate::pipelines::{WorkSlot, Works};
use crate::state::{Graphs, Topology, fabric_of};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use std::sync::Arc;
use tickpipe_components::fabric::{Gate, Input, Item, Lane, Marks, Output, PipelineFabric};
use tickpipe_components::graph::PadCaps;
use tickpipe_components::id::{LaneId, PipelineId};
use tickpipe_components::limits::Limits;
use tickpipe_components::readiness::Readiness;
use tickpipe_components::state::State;

/// Lets the new elements of an edited graph in.
pub(super) fn migrate(world: &mut World, id: PipelineId, edited: Edited) {
    let Some(old) = world.resource_mut::<Graphs>().take_running(id) else {
        return;
    };
    let Edited {
        topology,
        solution,
        memory,
        works,
    } = edited;
    let limits = world.resource::<Limits>().clone();
    let free = free_clock(world, topology.pipeline);
    let mut fresh = lanes(world, &topology, &solution, &memory, &limits);
    let latencies = super::latency::latencies(world, &topology, &solution);
    let of_entity: BTreeMap<Entity, usize> = (0..)
        .zip(&topology.nodes)
        .map(|(i, n)| (n.entity, i))
        .collect();
    // Where each old lane is now.
    let now: Vec<usize> = old
        .nodes
        .iter()
        .filter_map(|n| of_entity.get(&n.entity).copied())
        .collect();
    if now.len() != old.nodes.len() {
        return world.resource_mut::<Graphs>().put_running(old);
    }
    let is_new = |lane: &usize| !now.contains(lane);
    if let Some(mut p) = fabric_of(world, id) {
        // Others may have filled their links already, so that nothing more could come.
        let late = p.sink_gate == Gate::Hold;
        for lane in (0..fresh.len()).filter(is_new) {
            let l = &mut fresh[lane];
            l.timed &= !free;
            record(l, p.recording);
            l.late = late;
            l.gate = match (l.inputs.is_empty(), l.is_sink()) {
                (true, _) => p.source_gate,
                (_, true) => p.sink_gate,
                _ => Gate::Open,
            };
            p.live_sinks += u32::from(l.is_sink());
        }
        let running = core::mem::take(&mut p.lanes);
        for (lane, l) in running.into_iter().enumerate() {
            fresh[now[lane]] = moved(
                l,
                &mut fresh[now[lane]],
                (&old, lane),
                (&topology, now[lane]),
            );
        }
        end_new_outputs(&mut fresh);
        super::latency::tell_sinks(&mut fresh, &latencies);
        p.latencies = latencies;
        p.live = fresh.iter().any(|l| l.live);
        renumber(&mut p, fresh, &now);
    }
    let mut all_works = world.resource_mut::<Works>();
    if let Some(pipeline) = all_works.pipelines.get_mut(id.index()) {
        let mut slots: Vec<WorkSlot> = topology
            .nodes
            .iter()
            .map(|n| WorkSlot::closed(&n.name, n.entity))
            .collect();
        for (lane, slot) in core::mem::take(&mut pipeline.slots).into_iter().enumerate() {
            slots[now[lane]] = slot;
        }
        for (lane, work) in works {
            slots[lane].work = work;
            slots[lane].opened = true;
        }
        pipeline.slots = slots;
    }
    let state = world.get::<State>(topology.pipeline).copied();
    for lane in (0..topology.nodes.len()).filter(is_new) {
        if let Some(mut s) = world.get_mut::<State>(topology.nodes[lane].entity) {
            *s = state.unwrap_or_default();
        }
    }
    for (link, caps) in topology.links.iter().zip(&solution.links) {
        for pad in [link.from.pad, link.to.pad] {
            if let Some(mut agreed) = world.get_mut::<PadCaps>(pad) {
                agreed.0 = Some(Arc::clone(caps));
            }
        }
    }
    enter(world, &topology, id);
    let mut graphs = world.resource_mut::<Graphs>();
    if let Some(motion) = graphs.motion_mut(id) {
        motion.links.clone_from(&solution.links);
        let mut pools = vec![None; topology.nodes.len()];
        for (lane, pool) in core::mem::take(&mut motion.pools).into_iter().enumerate() {
            pools[now[lane]] = pool;
        }
        motion.pools = pools;
    }
    graphs.put_running(topology);
    // Pools of the new elements, and of those that must have more now.
    change::change(
        world,
        Changing {
            id,
            solution,
            memory,
            told: BTreeMap::new(),
        },
    );
}

/// A running lane in its new place: its pads are those of `fresh`, with what was in the old ones.
fn moved(
    mut lane: Lane,
    fresh: &mut Lane,
    (old, was): (&Topology, usize),
    (new, is): (&Topology, usize),
) -> Lane {
    let (was, is) = (&old.nodes[was], &new.nodes[is]);
    let place = |of: &[usize], link: usize| {
        let entity = new.links[link].entity;
        of.iter().position(|&l| old.links[l].entity == entity)
    };
    let mut inputs = core::mem::take(&mut fresh.inputs);
    for (input, &link) in inputs.iter_mut().zip(&is.inputs) {
        if let Some(before) = place(&was.inputs, link).and_then(|at| lane.inputs.get_mut(at)) {
            *input = Input {
                queue: core::mem::take(&mut before.queue),
                link: input.link,
                from: input.from,
                ..*before
            };
        }
    }
    let mut outputs = core::mem::take(&mut fresh.outputs);
    for (output, &link) in outputs.iter_mut().zip(&is.outputs) {
        if let Some(before) = place(&was.outputs, link).and_then(|at| lane.outputs.get_mut(at)) {
            *output = Output {
                staged: core::mem::take(&mut before.staged),
                link: output.link,
                to: output.to,
                ..*before
            };
        }
    }
    lane.inputs = inputs;
    lane.outputs = outputs;
    lane.retained.reserve(fresh.retained.capacity());
    lane.released.reserve(fresh.released.capacity());
    lane
}

/// What is linked behind an element that has ended gets the end at once.
fn end_new_outputs(lanes: &mut [Lane]) {
    for lane in 0..lanes.len() {
        if !lanes[lane].done {
            continue;
        }
        for output in 0..lanes[lane].outputs.len() {
            let o = &mut lanes[lane].outputs[output];
            if o.eos {
                continue;
            }
            o.eos = true;
            let (to, pad) = o.to;
            lanes[to.index()].inputs[pad as usize].queue.push(Item::EOS);
        }
    }
}

/// Puts lanes in a new order into the fabric; what named them by number names them anew.
fn renumber(p: &mut PipelineFabric, lanes: Vec<Lane>, now: &[usize]) {
    let at = |lane: LaneId| LaneId(now.get(lane.index()).map_or(0, |&l| l as u32));
    for pool in &mut p.buffers.pools {
        pool.owner = at(pool.owner);
        pool.started_by = pool.started_by.map(at);
        pool.waiting.iter_mut().for_each(|lane| *lane = at(*lane));
        pool.waiting.sort_unstable();
    }
    p.buffers
        .held
        .iter_mut()
        .for_each(|held| held.by = at(held.by));
    let count = lanes.len();
    p.touched = Marks::new(count);
    p.timers = Marks::new(count);
    for (lane, l) in (0u32..).zip(&lanes) {
        p.touched.insert(lane);
        if matches!(l.readiness, Readiness::Time(_)) {
            p.timers.insert(lane);
        }
    }
    p.ready = Vec::with_capacity(count);
    p.releasing = Vec::with_capacity(count);
    p.closing = Vec::with_capacity(count);
    p.posting = Vec::with_capacity(count);
    p.synchronises = lanes.iter().any(|l| l.sync.is_some());
    let sinks = (0u32..).zip(&lanes).filter(|(_, l)| l.is_sink());
    p.sinks = sinks.map(|(i, _)| i).collect();
    p.lanes = lanes;
}
