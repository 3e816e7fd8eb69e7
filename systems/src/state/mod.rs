//! Phase 2: walks state changes through a graph, one step and one child at a time.
//!
//! Up: sinks before sources; the first child that fails stays where it is, the rest keep what
//! they reached, and the next request goes on from there. Down: sources before sinks, or sinks first
//! where the pipeline says so; a failure is a message and the rest goes on. What
//! every element must do at a step (gates, caps, pools, its work object) is done here around its
//! own fallible hook, so no element can skip it.

mod down;
mod preroll;
mod topology;
mod up;

pub use topology::{Edge, End, Node, Topology, TopologyError};

use crate::command::Actions;
use crate::negotiate::{Changing, Edited, Failure, Motion, Solution};
pub use preroll::is_prerolled;
pub(crate) use preroll::prerolled;
pub(crate) use up::{begin_paused, follow};

use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::Res;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use tickpipe_components::fabric::{Fabric, PipelineFabric, Progress, Trigger};
use tickpipe_components::fault::ElementError;
use tickpipe_components::graph::{Bin, Element, Members, Target};
use tickpipe_components::id::{ElementId, PipelineId};
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
    /// Seeks that were asked for in READY.
    pub(crate) seeks: BTreeMap<PipelineId, tickpipe_components::seek::Seek>,
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

/// Whether phases 1 to 4 have anything to do in this tick: something was asked for, or is under way. In most
/// ticks nothing is, and that is seen at once for the four of them.
pub fn is_asked(actions: Res<Actions>, graphs: Res<Graphs>, fabric: Res<Fabric>) -> bool {
    let end = fabric.window.end.min(fabric.pipelines.len());
    let window = fabric.window.start.min(end)..end;
    let asks = |p: &PipelineFabric| p.attention || p.renegotiate || p.asked_state.is_some();
    let negotiates = !graphs.starting.is_empty() || !graphs.asked.is_empty();
    let allocates = !graphs.changing.is_empty() || !graphs.edited.is_empty();
    let asked = !actions.queue.is_empty() || fabric.pipelines[window].iter().any(asks);
    asked || negotiates || allocates
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
        Some(State::Paused) if state == State::Ready => up::start_graph(world, id, entity),
        Some(State::Playing) => up::to_playing(world, id, entity),
        Some(State::Paused) => down::to_paused(world, id, entity),
        Some(State::Ready) => down::to_ready(world, id, entity),
        // A start that failed half-way is undone when READY is asked for.
        None if target == State::Ready => down::to_ready(world, id, entity),
        // A step up that failed half-way is undone when PAUSED is asked for.
        None if fabric_of(world, id).is_some_and(|p| p.change_failed) => {
            down::to_paused(world, id, entity);
        }
        None => preroll::look(world, id),
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

/// Posts a message of a pipeline, or of an element of it.
pub(crate) fn post(
    world: &mut World,
    id: PipelineId,
    element: Option<ElementId>,
    kind: MessageKind,
) {
    if let Some(mut p) = fabric_of(world, id) {
        let tick = p.tick;
        p.messages.push(Message {
            tick,
            element,
            kind,
        });
    }
}

/// An element is in another state now.
fn reached(world: &mut World, id: PipelineId, entity: Entity, state: State) {
    if let Some(mut now) = world.get_mut::<State>(entity) {
        *now = state;
    }
    if fabric_of(world, id).is_some_and(|p| p.tell_elements) {
        let element = world.get::<Element>(entity).map(|e| e.id);
        post(world, id, element, MessageKind::StateChanged(state));
    }
}

/// An element failed at a step.
pub(crate) fn step_failed(
    world: &mut World,
    id: PipelineId,
    (element, name): (ElementId, &str),
    (from, to): (State, State),
    error: &ElementError,
) {
    let tick = fabric_of(world, id).map_or(0, |p| p.tick);
    tracing::error!(
        tick,
        element = name,
        step = format_args!("{from}-to-{to}"),
        domain = error.domain.name(),
        code = error.code.name(),
        "{}",
        error.detail
    );
    let kind = MessageKind::ChangeFailed(from, to, error.domain, error.code);
    post(world, id, Some(element), kind);
}

/// A bin is in a state once all in it are.
fn settle_bins(world: &mut World, group: Entity) {
    let members = world.get::<Members>(group).cloned().unwrap_or_default();
    let mut least: Option<State> = None;
    for member in members.0 {
        if world.get::<Bin>(member).is_some() {
            settle_bins(world, member);
        }
        let state = world.get::<State>(member).copied().unwrap_or_default();
        least = Some(least.map_or(state, |l| l.min(state)));
    }
    if world.get::<Bin>(group).is_some()
        && let Some(least) = least
        && let Some(mut state) = world.get_mut::<State>(group)
    {
        *state = least;
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

fn take_running(world: &mut World, id: PipelineId) -> Option<Topology> {
    world.resource_mut::<Graphs>().take_running(id)
}

/// What makes an element of this shape ready.
pub(crate) fn trigger_of(node: &Node, entity: bevy_ecs::world::EntityRef<'_>) -> Trigger {
    use crate::element::Waits;
    match (node.inputs.is_empty(), node.class.terms.flow) {
        (true, _) => Trigger::Free,
        (false, flow) if flow.synchronises() => Trigger::Set,
        (false, _) if node.class.waits(entity) == Waits::All => Trigger::All,
        (false, _) => Trigger::Any,
    }
}
