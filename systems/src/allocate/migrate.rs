//! Lets new elements into a running graph: the fabric's arrays are made anew in graph order, and
//! what runs is moved over with its queues, counters and pools. Buffers and pools keep their
//! numbers.

use super::{change, clock_of, enter, lanes, record, workers};
use crate::negotiate::{Changing, Edited, Plug};
use crate::pipelines::{WorkSlot, Works};
use crate::state::{Edge, Graphs, Node, Topology, fabric_of};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use std::sync::Arc;
use tickpipe_components::fabric::{Gate, Input, Item, Lane, Left, Marks, Output, PipelineFabric};
use tickpipe_components::fault::ElementError;
use tickpipe_components::graph::{ClockMode, Element, PadCaps, Pads, Place, Transport};
use tickpipe_components::id::{LaneId, PipelineId, PoolId};
use tickpipe_components::limits::Limits;
use tickpipe_components::occurrence::Reason;
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
        works: new_works,
    } = edited;
    let limits = world.resource::<Limits>().clone();
    let free = clock_of(world, topology.pipeline) == ClockMode::Free;
    let mut fresh = lanes(world, &topology, &solution, &memory, &limits);
    let flowing = (old.flowing().into_owned(), topology.flowing().into_owned());
    let latencies = super::latency::latencies(world, &flowing.1, &solution);
    let of_entity: BTreeMap<Entity, usize> = (0..)
        .zip(&topology.nodes)
        .map(|(i, n)| (n.entity, i))
        .collect();
    // Where each old lane is now; those that left are nowhere.
    let now: Vec<Option<usize>> = old
        .nodes
        .iter()
        .map(|n| of_entity.get(&n.entity).copied())
        .collect();
    let mut runs = vec![false; topology.nodes.len()];
    now.iter().flatten().for_each(|&lane| runs[lane] = true);
    let is_new = |lane: &usize| !runs[*lane];
    let plugged: Vec<usize> = (0..topology.nodes.len())
        .filter(|&lane| world.get::<Plug>(topology.nodes[lane].entity).is_some())
        .collect();
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
            l.plug = plugged.contains(&lane);
            l.done = l.plug || l.serves;
        }
        let nowhere: Vec<bool> = p.lanes.iter().map(|l| l.plug).collect();
        let mut ended = vec![false; now.len()];
        for (lane, _) in now.iter().enumerate().filter(|(_, n)| n.is_none()) {
            ended[lane] = p.lanes[lane].has_ended();
            leave(&mut p, lane);
        }
        let running = core::mem::take(&mut p.lanes);
        for (lane, l) in running.into_iter().enumerate() {
            match now[lane] {
                Some(at) => {
                    let places = ((&flowing.0, lane), (&flowing.1, at));
                    fresh[at] = moved(l, &mut fresh[at], places, &nowhere);
                    // What it read by position is not there any more: that is its end.
                    let l = &mut fresh[at];
                    if unfed(&old, lane, &topology, at) {
                        l.ending |= !l.done;
                        // It was a source, and is between two others now.
                        let between = !l.inputs.is_empty() && !l.is_sink();
                        if between && l.gate != Gate::Flushing {
                            l.gate = Gate::Open;
                        }
                    }
                }
                None if l.plug => {}
                None => p.left.add(gone(l, &old.nodes[lane], ended[lane], &nowhere)),
            }
        }
        end_new_outputs(&mut fresh);
        super::latency::tell_sinks(&mut fresh, &latencies);
        p.latencies = latencies;
        p.live = fresh.iter().any(|l| l.live);
        renumber(&mut p, fresh, &now);
        p.lending = super::lending(&topology);
        // Who feeds only what takes nothing works no more.
        let PipelineFabric {
            lanes, releasing, ..
        } = &mut *p;
        let done = (0u32..).zip(&*lanes).filter(|(_, l)| l.done);
        releasing.extend(done.map(|(lane, _)| lane));
        crate::command::flush::count_live(&mut p);
    }
    let mut closed = Vec::new();
    let mut all_works = world.resource_mut::<Works>();
    if let Some(pipeline) = all_works.pipelines.get_mut(id.index()) {
        let mut slots: Vec<WorkSlot> = topology.nodes.iter().map(WorkSlot::closed).collect();
        for (lane, mut slot) in core::mem::take(&mut pipeline.slots).into_iter().enumerate() {
            match now.get(lane).copied().flatten() {
                Some(at) => {
                    slot.pads = topology.nodes[at].names.clone();
                    if unfed(&old, lane, &topology, at) {
                        slot.work.revoke();
                    }
                    slots[at] = slot;
                }
                None => closed.push((slot.entity, slot.work.close())),
            }
        }
        for (lane, work) in new_works {
            slots[lane].work = work;
            slots[lane].opened = true;
        }
        pipeline.slots = slots;
    }
    workers(world, &topology, (0..topology.nodes.len()).filter(is_new));
    for (entity, outcome) in closed {
        left(world, id, entity, outcome);
    }
    let state = world.get::<State>(topology.pipeline).copied();
    for lane in (0..topology.nodes.len()).filter(is_new) {
        let node = &topology.nodes[lane];
        let (entity, of, name) = (node.entity, node.id, node.name.clone());
        crate::state::follow(
            world,
            id,
            (lane, entity, of, &name),
            state.unwrap_or_default(),
        );
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
            if let Some(at) = now.get(lane).copied().flatten() {
                pools[at] = pool;
            }
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
    ((old, was), (new, is)): ((&Topology, usize), (&Topology, usize)),
    nowhere: &[bool],
) -> Lane {
    let (was, is) = (&old.nodes[was], &new.nodes[is]);
    let ended = lane.done && lane.is_sink() && lane.has_ended();
    let mut inputs = core::mem::take(&mut fresh.inputs);
    for (input, &link) in inputs.iter_mut().zip(&is.inputs) {
        let Edge { entity, to, .. } = new.links[link];
        let place = was
            .inputs
            .iter()
            .position(|&l| old.links[l].to.pad == to.pad);
        let Some((place, before)) = place.and_then(|at| Some((at, lane.inputs.get_mut(at)?)))
        else {
            continue;
        };
        let same = old.links[was.inputs[place]].entity == entity;
        let capacity = input.queue.capacity();
        let mut moved = Input {
            queue: core::mem::take(&mut before.queue),
            link: input.link,
            from: input.from,
            may_be_silent: input.may_be_silent,
            ..*before
        };
        if !same {
            // What came over the link that was there before goes first; its end does not count.
            let end = moved.queue.len().wrapping_sub(1);
            if moved.queue.get(end) == Some(Item::EOS) {
                moved.queue.remove(end);
            }
            moved.queue.resize(capacity);
            let queued = moved
                .queue
                .iter()
                .filter(|i| i.as_buffer().is_some())
                .count();
            moved.carried = moved.taken + queued as u64 + moved.discarded;
            moved.eos = false;
            if ended {
                lane.extras.make().ended = true;
            }
        }
        *input = moved;
    }
    let mut outputs = core::mem::take(&mut fresh.outputs);
    for (output, &link) in outputs.iter_mut().zip(&is.outputs) {
        let Edge { entity, from, .. } = new.links[link];
        let of = |l: &&usize| old.links[**l].from.pad == from.pad;
        let before = was.outputs.iter().find(of).map(|&l| old.links[l].entity);
        let place = was.outputs.iter().position(|l| of(&l));
        let Some(had) = place.and_then(|at| lane.outputs.get_mut(at)) else {
            continue;
        };
        if before == Some(entity) {
            *output = Output {
                staged: core::mem::take(&mut had.staged),
                link: output.link,
                to: output.to,
                ..*had
            };
            had.emitted = 0;
        }
    }
    over(&mut lane, nowhere);
    lane.no_more_awaits();
    lane.inputs = inputs;
    lane.outputs = outputs;
    lane.serves = fresh.serves;
    let retained = fresh.extras.retained.capacity();
    if retained > 0 {
        lane.extras.make().retained.reserve(retained);
    }
    lane.released.reserve(fresh.released.capacity());
    lane
}

/// Whether a node read by position, and does not any more.
fn unfed(old: &Topology, was: usize, new: &Topology, is: usize) -> bool {
    let pulls = |topology: &Topology, node: usize| {
        let mut inputs = topology.nodes[node].inputs.iter();
        inputs.any(|&l| topology.links[l].transport == Transport::Pull)
    };
    pulls(old, was) && !pulls(new, is)
}

/// What was sent over a link that is gone stays counted.
fn over(lane: &mut Lane, nowhere: &[bool]) {
    let (mut all, mut lost) = (0, 0);
    for output in &mut lane.outputs {
        let sent = core::mem::take(&mut output.emitted);
        all += sent;
        if nowhere.get(output.to.0.index()) == Some(&true) {
            lost += sent;
        }
    }
    if all > 0 {
        let before = &mut lane.extras.make().before;
        *before = (before.0 + all, before.1 + lost);
    }
}

/// What is to be told of an element that left.
fn gone(mut lane: Lane, node: &Node, ended: bool, nowhere: &[bool]) -> Left {
    over(&mut lane, nowhere);
    Left {
        name: node.name.clone(),
        kind: node.class.name,
        ended,
        lane,
    }
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
            let receiver = &mut lanes[to.index()];
            if !receiver.done {
                receiver.inputs[pad as usize].queue.push(Item::EOS);
            }
        }
    }
}

/// What an element holds that leaves goes home; its pool gives nothing any more.
fn leave(p: &mut PipelineFabric, lane: usize) {
    crate::command::flush::empty_whole(p, lane, Reason::Removed);
    let pools = (0u32..).zip(&p.buffers.pools);
    let own = pools.filter(|(_, pool)| pool.owner.index() == lane);
    let own: Vec<PoolId> = own.map(|(id, _)| PoolId(id)).collect();
    for pool in own {
        let _ = p.buffers.decommit(pool, |_| {});
        if !p.retired.contains(&pool) {
            p.retired.push(pool);
        }
    }
}

/// An element left: it is in READY, and in no graph.
fn left(world: &mut World, id: PipelineId, entity: Entity, outcome: Result<(), ElementError>) {
    let info = world.get::<Element>(entity).map(|e| (e.id, e.name.clone()));
    if let (Err(error), Some((of, name))) = (outcome, info) {
        let step = (State::Paused, State::Ready);
        crate::state::step_failed(world, id, (of, &name), step, &error);
    }
    if let Some(mut state) = world.get_mut::<State>(entity) {
        *state = State::Ready;
    }
    world.entity_mut(entity).remove::<Place>();
    let pads = world.get::<Pads>(entity).cloned().unwrap_or_default();
    for pad in pads.0 {
        if let Some(mut caps) = world.get_mut::<PadCaps>(pad) {
            *caps = PadCaps::default();
        }
    }
    if world.get::<Plug>(entity).is_some() {
        let pads = world.get::<Pads>(entity).cloned().unwrap_or_default();
        for gone in pads.0.into_iter().chain([entity]) {
            world.despawn(gone);
        }
    }
}

/// Puts lanes in a new order into the fabric; what named them by number names them anew. Those that
/// left have a number that no lane has.
fn renumber(p: &mut PipelineFabric, lanes: Vec<Lane>, now: &[Option<usize>]) {
    let at = |lane: LaneId| {
        let at = now.get(lane.index()).copied().flatten();
        LaneId(at.map_or(u32::MAX, |l| l as u32))
    };
    for (lane, pad, _) in &mut p.upward {
        let _ = pad;
        *lane = at(LaneId(*lane)).0;
    }
    for pool in &mut p.buffers.pools {
        pool.owner = at(pool.owner);
        pool.started_by = pool.started_by.map(at);
        pool.waiting.retain(|lane| at(*lane).0 != u32::MAX);
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
    let waits = |l: &&Lane| matches!(l.readiness, Readiness::Room(_));
    p.waiting_for_room = lanes.iter().filter(waits).count() as u32;
    let waits = |l: &&Lane| l.readiness == Readiness::Device;
    p.waiting_outside = lanes.iter().filter(waits).count() as u32;
    for (lane, l) in (0u32..).zip(&lanes) {
        p.touched.insert(lane);
        if matches!(l.readiness, Readiness::Time(_)) {
            p.timers.insert(lane);
        }
    }
    p.ready = Vec::with_capacity(count);
    p.closing = Vec::with_capacity(count);
    // What is to be let go or told since this tick began is so still.
    for lanes in [&mut p.releasing, &mut p.posting] {
        let before = core::mem::replace(lanes, Vec::with_capacity(count));
        let moved = before.into_iter().map(|lane| at(LaneId(lane)).0);
        lanes.extend(moved.filter(|&lane| lane != u32::MAX));
    }
    p.bounded = super::bounded(&lanes);
    p.synchronises = lanes.iter().any(|l| l.extras.sync.is_some());
    let sinks = (0u32..).zip(&lanes).filter(|(_, l)| l.is_sink());
    p.sinks = sinks.map(|(i, _)| i).collect();
    p.lanes = lanes;
}
