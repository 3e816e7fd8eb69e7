//! Steps up: READY to PAUSED, PAUSED to PLAYING. Sinks first; the first that fails stays where it
//! is, the rest keep what they reached.

use super::{
    Graphs, Starting, Topology, fabric_of, fail, post, preroll::prerolling, reached, settle,
    settle_bins, step_failed, take_running,
};
use crate::pipelines::{WorkSlot, Works};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tickpipe_components::fabric::{Gate, Progress};
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::PipelineId;
use tickpipe_components::message::MessageKind;
use tickpipe_components::state::State;

/// READY to PAUSED, first part: reads the graph and opens its elements, sinks first. Those that an
/// earlier start opened, which failed later, stay open.
pub(super) fn start_graph(world: &mut World, id: PipelineId, pipeline: Entity) {
    if fabric_of(world, id).is_none_or(|p| p.progress == Progress::Failed) {
        return settle(world, id);
    }
    world.resource_mut::<Graphs>().conflicts.remove(&id);
    let topology = match Topology::read(world, pipeline) {
        Ok(topology) => topology,
        Err(error) => return fail(world, id, None, &error.into()),
    };
    let mut works = world.resource_mut::<Works>();
    if works.pipelines.len() <= id.index() {
        works
            .pipelines
            .resize_with(id.index() + 1, Default::default);
    }
    let slots = &mut works.pipelines[id.index()].slots;
    let mut opened: BTreeMap<Entity, WorkSlot> = core::mem::take(slots)
        .into_iter()
        .filter(|s| s.opened)
        .map(|s| (s.entity, s))
        .collect();
    *slots = topology
        .nodes
        .iter()
        .map(|n| {
            let closed = || WorkSlot::closed(n);
            let mut slot = opened.remove(&n.entity).unwrap_or_else(closed);
            slot.pads = n.names.clone();
            slot
        })
        .collect();
    // Those that were taken out of the graph since then.
    for mut left in opened.into_values() {
        let _ = left.work.close();
    }
    for (lane, node) in topology.nodes.iter().enumerate().rev() {
        if world.resource::<Works>().pipelines[id.index()].slots[lane].opened {
            continue;
        }
        match node.class.open(world.entity(node.entity)) {
            Ok(work) => {
                let slot = &mut world.resource_mut::<Works>().pipelines[id.index()].slots[lane];
                slot.work = work;
                slot.opened = true;
                reached(world, id, node.entity, State::Paused);
            }
            Err(error) => {
                let step = (State::Ready, State::Paused);
                step_failed(world, id, (node.id, &node.name), step, &error);
                if let Some(mut p) = fabric_of(world, id) {
                    p.progress = Progress::Failed;
                    p.attention = false;
                }
                return settle_bins(world, pipeline);
            }
        }
    }
    settle(world, id);
    world.resource_mut::<Graphs>().starting.push((
        id,
        Starting {
            topology,
            solution: None,
        },
    ));
}

/// READY to PAUSED, last part: lanes are made, data may flow up to the sinks.
pub(crate) fn begin_paused(world: &mut World, id: PipelineId, pipeline: Entity) {
    if let Some(mut p) = fabric_of(world, id) {
        p.source_gate = Gate::Open;
        p.sink_gate = Gate::Hold;
        for lane in 0..p.lanes.len() {
            let l = &mut p.lanes[lane];
            l.gate = match (l.inputs.is_empty(), l.is_sink()) {
                (true, _) if l.live => Gate::Closed,
                (_, true) => Gate::Hold,
                _ => Gate::Open,
            };
            p.touch(lane as u32);
        }
        p.attention = true;
    }
    arrived(world, id, pipeline, State::Paused);
    crate::command::pending_seek(world, id);
}

/// The pipeline is in a state with all its elements.
pub(super) fn arrived(world: &mut World, id: PipelineId, pipeline: Entity, to: State) {
    settle_bins(world, pipeline);
    if let Some(mut state) = world.get_mut::<State>(pipeline) {
        *state = to;
    }
    post(world, id, None, MessageKind::StateChanged(to));
}

/// PAUSED to PLAYING, once every sink holds its first item.
pub(super) fn to_playing(world: &mut World, id: PipelineId, pipeline: Entity) {
    match fabric_of(world, id) {
        Some(p) if p.change_failed => return settle(world, id),
        Some(p) if matches!(p.progress, Progress::Failed | Progress::Stalled) => {
            return settle(world, id);
        }
        // Waits, looked at again each tick: run before preroll completes waits for it.
        Some(mut p) if prerolling(&p) => {
            p.asynchronous = true;
            return;
        }
        Some(_) => {}
        None => return,
    }
    super::preroll::done(world, id);
    let Some(topology) = take_running(world, id) else {
        return;
    };
    let mut failed = None;
    for (lane, node) in topology.nodes.iter().enumerate().rev() {
        if world.get::<State>(node.entity) == Some(&State::Playing) {
            continue;
        }
        if let Err(error) = play(world, id, lane) {
            failed = Some((lane, error));
            break;
        }
        reached(world, id, node.entity, State::Playing);
        if let Some(mut p) = fabric_of(world, id) {
            let paused_at = p.paused_at;
            let tick = p.tick;
            let l = &mut p.lanes[lane];
            if l.gate != Gate::Flushing {
                l.gate = Gate::Open;
            }
            // What a live source did not give while it was paused is missing.
            if l.live {
                l.extras.make().gap = paused_at.map(|at| tick - at.0);
            }
            p.touch(lane as u32);
        }
    }
    world.resource_mut::<Graphs>().put_running(topology);
    if let Some((lane, error)) = failed {
        let (element, name) = name_of(world, id, lane);
        let step = (State::Paused, State::Playing);
        if let Some(element) = element {
            step_failed(world, id, (element, &name), step, &error);
        }
        if let Some(mut p) = fabric_of(world, id) {
            p.change_failed = true;
            p.attention = false;
        }
        return settle_bins(world, pipeline);
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.source_gate = Gate::Open;
        p.sink_gate = Gate::Open;
        p.paused_at = None;
        p.attention = true;
    }
    arrived(world, id, pipeline, State::Playing);
}

/// An element that was added to a running graph follows it to its state; one that fails at a step
/// stays where it is, and what comes to it waits.
pub(crate) fn follow(
    world: &mut World,
    id: PipelineId,
    (lane, entity, element, name): (usize, Entity, tickpipe_components::id::ElementId, &str),
    state: State,
) {
    reached(world, id, entity, State::Paused);
    if state != State::Playing {
        return;
    }
    match play(world, id, lane) {
        Ok(()) => reached(world, id, entity, State::Playing),
        Err(error) => {
            let step = (State::Paused, State::Playing);
            step_failed(world, id, (element, name), step, &error);
            if let Some(mut p) = fabric_of(world, id) {
                p.change_failed = true;
                p.lanes[lane].gate = Gate::Closed;
            }
        }
    }
}

fn name_of(
    world: &World,
    id: PipelineId,
    lane: usize,
) -> (Option<tickpipe_components::id::ElementId>, String) {
    let node = world.resource::<Graphs>().running(id);
    match node.and_then(|t| t.nodes.get(lane)) {
        Some(node) => (Some(node.id), node.name.clone()),
        None => (None, String::new()),
    }
}

/// An element's own hook for the step to PLAYING.
fn play(world: &mut World, id: PipelineId, lane: usize) -> Result<(), ElementError> {
    let mut works = world.resource_mut::<Works>();
    let slot = works.pipelines.get_mut(id.index());
    let Some(slot) = slot.and_then(|w| w.slots.get_mut(lane)) else {
        return Ok(());
    };
    catch_unwind(AssertUnwindSafe(|| slot.work.play()))
        .unwrap_or_else(|panic| Err(crate::process::panicked(&*panic)))
}
