//! Phase 2: walks state changes through a graph, one step and one child at a time.
//!
//! Up: sinks before sources; the first child that fails stays where it is, the rest keep what
//! they reached. Down: sources before sinks; a failure is a message and the rest goes on. What
//! every element must do at a step (gates, caps, pools, its work object) is done here around its
//! own fallible hook, so no element can skip it.

mod topology;

pub use topology::{Edge, End, Node, Topology, TopologyError};

use crate::negotiate::{Changing, Edited, Failure, Motion, Solution};
use crate::pipelines::{WorkSlot, Works};
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use tickpipe_components::fabric::{Fabric, Gate, Input, PipelineFabric, Progress, Trigger};
use tickpipe_components::fault::ElementError;
use tickpipe_components::graph::{PadCaps, Pads, Place, Target};
use tickpipe_components::id::{ElementId, PipelineId, PoolId};
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::state::State;

/// A graph on its way from READY to PAUSED.
pub struct Starting {
    /// The graph.
    pub topology: Topology,
    /// Its caps, once solved.
    pub solution: Option<Solution>,
}

/// Graphs of started pipelines, by pipeline.
#[derive(Resource, Default)]
pub struct Graphs {
    /// Those on their way up in this tick.
    pub starting: Vec<(PipelineId, Starting)>,
    /// Those that run.
    pub running: Vec<Option<Topology>>,
    /// Each pipeline's entity.
    pub pipelines: Vec<Entity>,
    /// The entities of each pipeline's pools and buffers.
    pub memory: Vec<Vec<Entity>>,
    /// Why each pipeline's last start found no caps, if it did not.
    pub conflicts: BTreeMap<PipelineId, Failure>,
    /// What each started pipeline agreed on last, and what is asked of it.
    motions: Vec<Option<Motion>>,
    /// Started pipelines of which something is asked in this tick.
    pub(crate) asked: Vec<PipelineId>,
    /// Answers for running graphs of this tick.
    pub(crate) changing: Vec<Changing>,
    /// Graphs that get more elements in this tick.
    pub(crate) edited: Vec<(PipelineId, Edited)>,
}

impl Graphs {
    /// The graph of a started pipeline.
    pub fn running(&self, pipeline: PipelineId) -> Option<&Topology> {
        self.running.get(pipeline.index())?.as_ref()
    }

    /// What a started pipeline agreed on last.
    pub fn motion(&self, pipeline: PipelineId) -> Option<&Motion> {
        self.motions.get(pipeline.index())?.as_ref()
    }

    /// The same, to change.
    pub fn motion_mut(&mut self, pipeline: PipelineId) -> Option<&mut Motion> {
        self.motions.get_mut(pipeline.index())?.as_mut()
    }

    /// A pipeline starts with these caps and pools.
    pub(crate) fn start_motion(
        &mut self,
        pipeline: PipelineId,
        links: Vec<std::sync::Arc<tickpipe_components::caps::Caps>>,
        pools: Vec<Option<tickpipe_components::id::PoolId>>,
        graph_hash: u64,
    ) {
        if self.motions.len() <= pipeline.index() {
            self.motions.resize_with(pipeline.index() + 1, || None);
        }
        self.motions[pipeline.index()] = Some(Motion::new(links, pools, graph_hash));
    }

    /// The graph of a started pipeline, out of its place.
    pub(crate) fn take_running(&mut self, pipeline: PipelineId) -> Option<Topology> {
        self.running.get_mut(pipeline.index())?.take()
    }

    /// Puts the graph of a started pipeline into its place.
    pub(crate) fn put_running(&mut self, topology: Topology) {
        let index = topology.id.index();
        if self.running.len() <= index {
            self.running.resize_with(index + 1, || None);
        }
        self.running[index] = Some(topology);
    }
}

/// The state phase. It also notes for the next one which pipelines ask for other settings, caps or
/// links.
pub fn state(world: &mut World) {
    let mut fabric = world.resource_mut::<Fabric>();
    let start = fabric.window.start;
    let (mut wanted, mut asked) = (Vec::new(), Vec::new());
    for (index, p) in (start..).zip(fabric.active()) {
        if p.attention {
            wanted.push(index);
        }
        if core::mem::take(&mut p.renegotiate) {
            asked.push(PipelineId(index as u32));
        }
    }
    if !asked.is_empty() {
        world.resource_mut::<Graphs>().asked = asked;
    }
    for index in wanted {
        let Some(&entity) = world.resource::<Graphs>().pipelines.get(index) else {
            continue;
        };
        let id = PipelineId(index as u32);
        let state = world.get::<State>(entity).copied().unwrap_or_default();
        let target = world.get::<Target>(entity).map_or(state, |t| t.0);
        change(world, id, entity, state, target);
    }
}

fn change(world: &mut World, id: PipelineId, entity: Entity, state: State, target: State) {
    match state.step_towards(target) {
        Some(State::Paused) if state == State::Ready => start_graph(world, id, entity),
        Some(State::Playing) => to_playing(world, id, entity),
        Some(State::Paused) => to_paused(world, id, entity),
        Some(State::Ready) => to_ready(world, id, entity),
        // A start that failed half-way is undone when READY is asked for.
        None if target == State::Ready => to_ready(world, id, entity),
        // PAUSED is complete when every sink holds its first item.
        None if fabric_of(world, id).is_some_and(|p| prerolling(&p)) => {}
        None => settle(world, id),
    }
}

pub(crate) fn fabric_of(
    world: &mut World,
    id: PipelineId,
) -> Option<bevy_ecs::world::Mut<'_, PipelineFabric>> {
    let fabric = world.get_resource_mut::<Fabric>()?;
    if fabric.pipelines.len() <= id.index() {
        return None;
    }
    Some(fabric.map_unchanged(|f| &mut f.pipelines[id.index()]))
}

fn settle(world: &mut World, id: PipelineId) {
    if let Some(mut p) = fabric_of(world, id) {
        p.attention = false;
    }
}

/// Posts an element's failure and stops the pipeline.
pub(crate) fn fail(
    world: &mut World,
    id: PipelineId,
    element: Option<(ElementId, &str)>,
    error: &ElementError,
) {
    if let Some(mut p) = fabric_of(world, id) {
        tracing::error!(
            tick = p.tick,
            element = element.map_or("pipeline", |e| e.1),
            domain = error.domain.name(),
            code = error.code.name(),
            "{}",
            error.detail
        );
        let tick = p.tick;
        p.messages.push(Message {
            tick,
            element: element.map(|e| e.0),
            kind: MessageKind::Error(error.domain, error.code),
        });
        p.progress = Progress::Failed;
        p.attention = false;
    }
}

/// READY to PAUSED, first part: reads the graph and opens its elements, sinks first.
fn start_graph(world: &mut World, id: PipelineId, pipeline: Entity) {
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
    works.pipelines[id.index()].slots = topology
        .nodes
        .iter()
        .map(|n| WorkSlot::closed(&n.name))
        .collect();
    for (lane, node) in topology.nodes.iter().enumerate().rev() {
        match node.class.open(world.entity(node.entity)) {
            Ok(work) => {
                world.resource_mut::<Works>().pipelines[id.index()].slots[lane].work = work;
                if let Some(mut state) = world.get_mut::<State>(node.entity) {
                    *state = State::Paused;
                }
            }
            Err(error) => {
                fail(world, id, Some((node.id, &node.name)), &error);
                return;
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

/// Sets each element's state, and its lane's gate, in the order given.
fn set_all(
    world: &mut World,
    id: PipelineId,
    pipeline: Entity,
    to: State,
    sinks_first: bool,
    gate: impl Fn(bool, bool) -> Gate,
) {
    let Some(topology) = take_running(world, id) else {
        return;
    };
    let count = topology.nodes.len();
    for step in 0..count {
        let lane = if sinks_first { count - 1 - step } else { step };
        if let Some(mut state) = world.get_mut::<State>(topology.nodes[lane].entity) {
            *state = to;
        }
        if let Some(mut p) = fabric_of(world, id) {
            let l = &mut p.lanes[lane];
            let (source, sink) = (l.inputs.is_empty(), l.is_sink());
            l.gate = gate(source, sink);
            p.touch(lane as u32);
        }
    }
    world.resource_mut::<Graphs>().running[id.index()] = Some(topology);
    if let Some(mut state) = world.get_mut::<State>(pipeline) {
        *state = to;
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.source_gate = gate(true, false);
        p.sink_gate = gate(false, true);
        let tick = p.tick;
        p.messages.push(Message {
            tick,
            element: None,
            kind: MessageKind::StateChanged(to),
        });
        p.attention = true;
    }
}

/// READY to PAUSED, last part: lanes are made, data may flow up to the sinks.
pub(crate) fn begin_paused(world: &mut World, id: PipelineId, pipeline: Entity) {
    set_all(world, id, pipeline, State::Paused, true, |_, sink| {
        if sink { Gate::Hold } else { Gate::Open }
    });
}

/// Whether a pipeline is on its way to PAUSED, with a sink that has nothing to hold yet.
fn prerolling(p: &PipelineFabric) -> bool {
    let running = p.progress == Progress::Running && p.source_gate == Gate::Open;
    running && p.sink_gate == Gate::Hold && !prerolled(p)
}

/// Whether every sink of a pipeline in PAUSED holds its first item, or is done, or may never get one.
pub(crate) fn prerolled(p: &PipelineFabric) -> bool {
    let mut sinks = p.sinks.iter().map(|&s| &p.lanes[s as usize]);
    let holds = |i: &Input| i.queue.front_behind_caps().is_some();
    sinks.all(|l| {
        let silent = l.inputs.iter().all(|i| i.may_be_silent);
        l.done || l.late || silent || l.inputs.iter().any(holds)
    })
}

fn to_playing(world: &mut World, id: PipelineId, pipeline: Entity) {
    match fabric_of(world, id) {
        Some(p) if matches!(p.progress, Progress::Failed | Progress::Stalled) => {
            return settle(world, id);
        }
        // Waits, looked at again each tick: run before preroll completes waits for it.
        Some(p) if p.progress == Progress::Running && !prerolled(&p) => return,
        Some(_) => {}
        None => return,
    }
    set_all(world, id, pipeline, State::Playing, true, |_, _| Gate::Open);
}

fn to_paused(world: &mut World, id: PipelineId, pipeline: Entity) {
    // Sources stop at once; the rest goes on until it waits; what is queued stays.
    set_all(
        world,
        id,
        pipeline,
        State::Paused,
        false,
        |source, sink| match (source, sink) {
            (true, _) => Gate::Closed,
            (_, true) => Gate::Hold,
            _ => Gate::Open,
        },
    );
}

/// PAUSED to READY: gates first, then children, sources first; then all that the graph had made
/// is gone, and caps are ANY again.
fn to_ready(world: &mut World, id: PipelineId, pipeline: Entity) {
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
    let motion = match world.resource_mut::<Graphs>().motions.get_mut(id.index()) {
        Some(motion) => motion.take(),
        None => None,
    };
    crate::negotiate::set_all(world, motion.map(|m| m.sets).unwrap_or_default());
    // A start that failed half-way has no running graph: it is read again.
    let topology = take_running(world, id).or_else(|| Topology::read(world, pipeline).ok());
    let mut slots = match world.resource_mut::<Works>().pipelines.get_mut(id.index()) {
        Some(works) => core::mem::take(&mut works.slots),
        None => Vec::new(),
    };
    let mut failures = Vec::new();
    if let Some(topology) = &topology {
        for (lane, node) in topology.nodes.iter().enumerate() {
            if let Some(slot) = slots.get_mut(lane)
                && let Err(error) = slot.work.close()
            {
                failures.push((node.id, node.name.clone(), error));
            }
            if let Some(mut state) = world.get_mut::<State>(node.entity) {
                *state = State::Ready;
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
    drop(slots);
    despawn_memory(world, id);
    let mut announce = false;
    if let Some(mut state) = world.get_mut::<State>(pipeline) {
        announce = *state != State::Ready;
        *state = State::Ready;
    }
    let failed = !failures.is_empty();
    for (element, name, error) in failures {
        fail(world, id, Some((element, &name)), &error);
    }
    if let Some(mut p) = fabric_of(world, id) {
        let fresh = PipelineFabric {
            tick: p.tick,
            digesting: p.digesting,
            recording: p.recording,
            quantum: p.quantum,
            run_digest: p.run_digest,
            digest: p.digest,
            messages: core::mem::take(&mut p.messages),
            ..PipelineFabric::default()
        };
        *p = fresh;
        if announce || failed {
            let tick = p.tick;
            p.messages.push(Message {
                tick,
                element: None,
                kind: MessageKind::StateChanged(State::Ready),
            });
        }
    }
}

fn take_running(world: &mut World, id: PipelineId) -> Option<Topology> {
    world.resource_mut::<Graphs>().take_running(id)
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

/// What makes an element of this shape ready.
pub(crate) fn trigger_of(node: &Node, entity: bevy_ecs::world::EntityRef<'_>) -> Trigger {
    use crate::element::{Flow, Waits};
    match (node.inputs.is_empty(), node.class.terms.flow) {
        (true, _) => Trigger::Free,
        (false, Flow::Lead) => Trigger::Set,
        (false, _) if node.class.waits(entity) == Waits::All => Trigger::All,
        (false, _) => Trigger::Any,
    }
}
