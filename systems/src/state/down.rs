//! Steps down: PLAYING to PAUSED, PAUSED to READY. Sources first, or sinks first where the pipeline
//! says so; a failure is a message, and the rest goes on.

use super::up::arrived;
use super::{Graphs, Topology, fabric_of, reached, settle_bins, step_failed, take_running};
use crate::command::flush::let_go;
use crate::command::prerolls_anew;
use crate::pipelines::Works;
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tickpipe_components::fabric::{Gate, Input, Lane, PipelineFabric};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::graph::{DownOrder, PadCaps, Pads, Place};
use tickpipe_components::id::{PipelineId, PoolId};
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::state::State;

/// The lanes of a graph in the order in which they go down.
fn order(world: &World, pipeline: Entity, count: usize) -> Vec<usize> {
    match world
        .get::<DownOrder>(pipeline)
        .copied()
        .unwrap_or_default()
    {
        DownOrder::SourcesFirst => (0..count).collect(),
        DownOrder::SinksFirst => (0..count).rev().collect(),
    }
}

/// An element's own hook for a step down.
fn hook(world: &mut World, id: PipelineId, lane: usize, to: State) -> Result<(), ElementError> {
    let mut works = world.resource_mut::<Works>();
    let slot = works.pipelines.get_mut(id.index());
    let Some(slot) = slot
        .and_then(|w| w.slots.get_mut(lane))
        .filter(|s| s.opened)
    else {
        return Ok(());
    };
    let step = AssertUnwindSafe(|| match to {
        State::Ready => slot.work.close(),
        _ => slot.work.pause(),
    });
    catch_unwind(step).unwrap_or_else(|panic| Err(crate::process::panicked(&*panic)))
}

/// PLAYING to PAUSED: sources stop at once, the rest goes on until it waits, and all that is queued
/// stays.
pub(super) fn to_paused(world: &mut World, id: PipelineId, pipeline: Entity) {
    let Some(topology) = take_running(world, id) else {
        return;
    };
    // Where only a step up is undone, sources were never opened.
    let undone = fabric_of(world, id).is_some_and(|mut p| core::mem::take(&mut p.change_failed));
    for lane in order(world, pipeline, topology.nodes.len()) {
        let node = &topology.nodes[lane];
        let playing = world.get::<State>(node.entity) == Some(&State::Playing);
        if let Some(mut p) = fabric_of(world, id) {
            let l = &mut p.lanes[lane];
            let gate = match (l.inputs.is_empty(), l.is_sink()) {
                (true, _) if undone && !playing => l.gate,
                (true, _) => Gate::Closed,
                (_, true) => Gate::Hold,
                _ => Gate::Open,
            };
            if l.gate != Gate::Flushing {
                l.gate = gate;
            }
            l.shows = false;
            p.touch(lane as u32);
        }
        if !playing {
            continue;
        }
        if let Err(error) = hook(world, id, lane, State::Paused) {
            let step = (State::Playing, State::Paused);
            step_failed(world, id, (node.id, &node.name), step, &error);
        }
        reached(world, id, node.entity, State::Paused);
    }
    world.resource_mut::<Graphs>().put_running(topology);
    if let Some(mut p) = fabric_of(world, id) {
        p.source_gate = if undone { p.source_gate } else { Gate::Closed };
        p.sink_gate = Gate::Hold;
        p.paused_at = Some((p.tick, p.now));
        p.attention = true;
        if p.sinks.iter().any(|&s| awaits_first(&p.lanes[s as usize])) {
            prerolls_anew(&mut p);
        }
    }
    if undone {
        return settle_bins(world, pipeline);
    }
    arrived(world, id, pipeline, State::Paused);
}

/// Whether a sink got nothing yet since its way was flushed: PAUSED is complete when it has.
fn awaits_first(lane: &Lane) -> bool {
    let holds = |i: &Input| i.queue.front_behind_marks().is_some();
    lane.extras.flushed == Some(lane.buffers_in()) && !lane.done && !lane.inputs.iter().any(holds)
}

/// PAUSED to READY: gates first, then children, then what was in flight goes home; then all that the
/// graph had made is gone, and caps are ANY again.
pub(super) fn to_ready(world: &mut World, id: PipelineId, pipeline: Entity) {
    if let Some(mut p) = fabric_of(world, id) {
        for lane in &mut p.lanes {
            lane.gate = Gate::Closed;
        }
        // Whoever started a pool stops it; nobody waits for a buffer any more.
        for pool in (0..p.buffers.pools.len()).map(|i| PoolId(i as u32)) {
            if let Some(by) = p.buffers.pools[pool.index()].started_by {
                let _ = p.buffers.stop(pool, by, |_| {});
            }
        }
    }
    world.resource_mut::<Graphs>().seeks.remove(&id);
    let motion = match world.resource_mut::<Graphs>().motions.get_mut(id.index()) {
        Some(motion) => motion.take(),
        None => None,
    };
    let motion = motion.unwrap_or_default();
    crate::negotiate::set_all(world, motion.sets);
    // A start that failed half-way has no running graph: it is read again.
    let topology = take_running(world, id).or_else(|| Topology::read(world, pipeline).ok());
    if let Some(topology) = &topology {
        children(world, id, pipeline, topology);
    }
    close_left(world, id);
    in_flight(world, id);
    despawn_memory(world, id);
    // Who was to leave has nothing left to pass on.
    for element in motion.leaving {
        crate::negotiate::take_out(world, id, element);
    }
    crate::negotiate::clear_plugs(world, pipeline);
    settle_bins(world, pipeline);
    let mut announce = false;
    if let Some(mut state) = world.get_mut::<State>(pipeline) {
        announce = *state != State::Ready;
        *state = State::Ready;
    }
    if let Some(mut p) = fabric_of(world, id) {
        announce |= !p.messages.is_empty();
        let fresh = PipelineFabric {
            tick: p.tick,
            digesting: p.digesting,
            recording: p.recording,
            tell_elements: p.tell_elements,
            quantum: p.quantum,
            run_digest: p.run_digest,
            digest: p.digest,
            messages: core::mem::take(&mut p.messages),
            ..PipelineFabric::default()
        };
        *p = fresh;
        if announce {
            let tick = p.tick;
            p.messages.push(Message {
                tick,
                element: None,
                kind: MessageKind::StateChanged(State::Ready),
            });
        }
    }
}

/// Closes elements in order; caps of their pads are ANY again.
fn children(world: &mut World, id: PipelineId, pipeline: Entity, topology: &Topology) {
    let by_entity: std::collections::BTreeMap<Entity, usize> = {
        let works = world.resource::<Works>().pipelines.get(id.index());
        let slots = works.iter().flat_map(|w| &w.slots).enumerate();
        slots.map(|(lane, s)| (s.entity, lane)).collect()
    };
    for at in order(world, pipeline, topology.nodes.len()) {
        let node = &topology.nodes[at];
        if let Some(&lane) = by_entity.get(&node.entity) {
            if let Err(error) = hook(world, id, lane, State::Ready) {
                let step = (State::Paused, State::Ready);
                step_failed(world, id, (node.id, &node.name), step, &error);
            }
            if let Some(works) = world.resource_mut::<Works>().pipelines.get_mut(id.index()) {
                works.slots[lane].opened = false;
            }
        }
        if world.get::<State>(node.entity) != Some(&State::Ready) {
            reached(world, id, node.entity, State::Ready);
        }
        world.entity_mut(node.entity).remove::<Place>();
        let pads = world.get::<Pads>(node.entity).cloned().unwrap_or_default();
        for pad in pads.0 {
            if let Some(mut caps) = world.get_mut::<PadCaps>(pad) {
                *caps = PadCaps::default();
            }
        }
    }
}

/// Closes what was opened and is in no graph any more.
fn close_left(world: &mut World, id: PipelineId) {
    let slots = match world.resource_mut::<Works>().pipelines.get_mut(id.index()) {
        Some(works) => core::mem::take(&mut works.slots),
        None => return,
    };
    for mut slot in slots {
        if slot.opened {
            let _ = slot.work.close();
            if let Some(mut state) = world.get_mut::<State>(slot.entity) {
                *state = State::Ready;
            }
        }
    }
}

/// What is in queues, kept or being filled goes home to its pool, whose memory goes then. What does
/// not come home is told.
fn in_flight(world: &mut World, id: PipelineId) {
    let Some(mut p) = fabric_of(world, id) else {
        return;
    };
    let p = &mut *p;
    let_go(p);
    // Those that were lost before are told already.
    let mut told = p.leaks.told.len() as u64 + p.leaks.left_out;
    for pool in (0..p.buffers.pools.len()).map(|i| PoolId(i as u32)) {
        if p.buffers.drop_memory(pool) {
            continue;
        }
        let missing = u64::from(p.buffers.pools[pool.index()].out());
        if missing <= told {
            told -= missing;
            continue;
        }
        let out = p.buffers.pools[pool.index()].out();
        let owner = p.buffers.pools[pool.index()].owner;
        tracing::warn!(
            tick = p.tick,
            pool = pool.0,
            out,
            "buffers did not come home"
        );
        let element = p.lanes.get(owner.index()).map(|l| l.element);
        p.messages.push(Message {
            tick: p.tick,
            element,
            kind: MessageKind::Warning(Domain::Pool, Code::NotReturned),
        });
    }
}

fn despawn_memory(world: &mut World, id: PipelineId) {
    let gone = match world.resource_mut::<Graphs>().memory.get_mut(id.index()) {
        Some(entities) => core::mem::take(entities),
        None => return,
    };
    for entity in gone {
        world.despawn(entity);
    }
}
