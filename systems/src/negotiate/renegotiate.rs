//! Re-negotiation of a running graph: properties that were set, caps that sources announced.
//!
//! All that was asked for since the last tick is one attempt: the graph is solved anew, pools
//! are planned anew, and either all of it counts from now on or the settings are as they were.
//! It may touch settings and what elements announced; what follows from an answer is handed to the
//! allocate phase.

use super::{Failure, NegotiationError, NewLink, Request, Solution, edit, solve_request};
use crate::allocate::{MemoryPlan, plan_memory};
use crate::element::{CapsQuery, Flow, PadAt, PeekError, Setting};
use crate::pipelines::Works;
use crate::state::{Graphs, Topology, fabric_of};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use core::any::Any;
use core::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::fabric::Progress;
use tickpipe_components::fault::ElementError;
use tickpipe_components::graph::Element;
use tickpipe_components::id::{ElementId, PipelineId, PoolId};
use tickpipe_components::limits::Limits;
use tickpipe_components::message::{Message, MessageKind};

/// What a running graph agreed on last, and what is asked of it.
#[derive(Default)]
pub struct Motion {
    /// Per link its caps.
    pub links: Vec<Arc<Caps>>,
    /// Per node the pool that it fills buffers of once all changes under way took effect.
    pub pools: Vec<Option<PoolId>>,
    /// How often something changed.
    pub epoch: u32,
    /// A hash of the graph, its settings and caps.
    pub graph_hash: u64,
    /// What pads offer in place of what `enum_caps` says: what was announced of them, or read from
    /// the head of the stream.
    offers: Offers,
    /// Properties to set in the next negotiate phase, in the order in which they were asked for.
    pub sets: Vec<(Entity, Setting)>,
    /// Links that were made since it started and are not in it yet.
    pub edits: Vec<NewLink>,
    /// Links were taken away, or elements are to leave.
    pub cut: bool,
    /// Elements that leave once they have passed on what they hold.
    pub leaving: Vec<Entity>,
    /// Elements whose caps follow from what they read were looked for.
    looked: bool,
    /// Why changes were refused in the last tick in which some were.
    pub refused: Vec<Refusal>,
}

impl Motion {
    /// A graph that starts with these caps and pools.
    pub(crate) fn new(
        links: Vec<Arc<Caps>>,
        pools: Vec<Option<PoolId>>,
        graph_hash: u64,
    ) -> Motion {
        Motion {
            links,
            pools,
            graph_hash,
            ..Motion::default()
        }
    }
}

/// A change that was refused: everything is as it was.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// When.
    pub tick: u64,
    /// What was to change.
    pub of: Asked,
    /// Why.
    pub error: ElementError,
    /// The pads that could not agree, if that is why.
    pub conflict: Option<Box<Failure>>,
}

/// What was to change in a running graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Properties that were set.
    Settings,
    /// Caps that a source announced.
    Caps,
    /// Links that were made.
    Links,
    /// Where the streams go on.
    Seek,
}

/// An answer for a running graph, for the allocate phase.
pub struct Changing {
    /// The pipeline.
    pub id: PipelineId,
    /// Its caps.
    pub solution: Solution,
    /// Its pools.
    pub memory: MemoryPlan,
    /// Elements of which properties were set, by node, and what their works are told.
    pub told: BTreeMap<usize, Option<Arc<dyn Any + Send + Sync>>>,
}

/// What pads offer in place of what `enum_caps` says.
type Offers = BTreeMap<(ElementId, PadAt), Caps>;

/// Why a change was refused.
#[derive(Debug)]
pub(crate) struct No {
    pub(crate) element: Option<ElementId>,
    pub(crate) error: ElementError,
    pub(crate) conflict: Option<Box<Failure>>,
}

/// Caps that a source announced cannot be.
#[derive(Debug, Error)]
#[error("caps from buffer {index} on ({caps}): {error}")]
struct Announced {
    /// The first buffer that would have them.
    index: u64,
    caps: Caps,
    error: Arc<dyn std::error::Error + Send + Sync>,
}

/// A source that wants other caps on a pad.
struct Wish {
    lane: usize,
    pad: u32,
    caps: Caps,
    index: u64,
}

/// Re-negotiates a pipeline of which something was asked.
pub(super) fn renegotiate(world: &mut World, id: PipelineId) {
    let sets = match world.resource_mut::<Graphs>().motion_mut(id) {
        Some(motion) => core::mem::take(&mut motion.sets),
        None => return,
    };
    let progress = fabric_of(world, id).map_or(Progress::Idle, |p| p.progress);
    let Some(topology) = world.resource_mut::<Graphs>().take_running(id) else {
        set_all(world, sets);
        return;
    };
    // At its end a run may go on: with a seek, or with what is added to it.
    if !matches!(progress, Progress::Running | Progress::Ended) {
        set_all(world, sets);
        // What holds a graph up may be taken out of it.
        if progress == Progress::Stalled {
            edit_if_asked(world, &topology);
        }
        world.resource_mut::<Graphs>().put_running(topology);
        return;
    }
    let wishes = wishes(world, id);
    keep_what_was_read(world, &topology);
    if !sets.is_empty() {
        properties(world, &topology, sets);
    }
    if !wishes.is_empty() {
        announcements(world, &topology, wishes);
    }
    edit_if_asked(world, &topology);
    world.resource_mut::<Graphs>().put_running(topology);
}

fn edit_if_asked(world: &mut World, topology: &Topology) {
    let motion = world.resource::<Graphs>().motion(topology.id);
    if motion.is_some_and(|m| m.cut || !m.edits.is_empty() || !m.leaving.is_empty()) {
        edit::edit(world, topology);
    }
}

/// Sets properties without asking anybody.
pub(crate) fn set_all(world: &mut World, sets: Vec<(Entity, Setting)>) -> Vec<(Entity, Setting)> {
    let mut undo = Vec::with_capacity(sets.len());
    for (entity, setting) in sets {
        let Some(class) = world.get::<crate::element::ClassRef>(entity).cloned() else {
            continue;
        };
        undo.extend(
            class
                .0
                .undo(world.entity(entity), &setting)
                .map(|before| (entity, before)),
        );
        class.0.apply(&mut world.entity_mut(entity), setting);
    }
    undo.reverse();
    undo
}

fn properties(world: &mut World, topology: &Topology, sets: Vec<(Entity, Setting)>) {
    let id = topology.id;
    let before = set_all(world, sets.clone());
    let concerned: BTreeSet<Entity> = sets.iter().map(|s| s.0).collect();
    match attempt(world, topology, &[]) {
        Ok((solution, memory)) => {
            let live = |(node, n): (usize, &crate::state::Node)| {
                concerned
                    .contains(&n.entity)
                    .then(|| (node, n.class.live(world.entity(n.entity))))
            };
            let told = topology.nodes.iter().enumerate().filter_map(live).collect();
            world.resource_mut::<Graphs>().changing.push(Changing {
                id,
                solution,
                memory,
                told,
            });
        }
        Err(refused) => {
            set_all(world, before);
            let element = match refused.element {
                Some(element) => Some(element),
                None => sets
                    .last()
                    .and_then(|s| world.get::<Element>(s.0))
                    .map(|e| e.id),
            };
            refuse(world, id, element, Asked::Settings, refused);
        }
    }
}

/// Solves caps and pools with the settings and offers that there are now. Links that are pinned
/// keep their caps.
pub(crate) fn attempt(
    world: &World,
    topology: &Topology,
    pinned: &[(usize, Arc<Caps>)],
) -> Result<(Solution, MemoryPlan), No> {
    let limits = world.resource::<Limits>();
    let motion = world.resource::<Graphs>().motion(topology.id);
    let none = Offers::new();
    let request = Request {
        topology,
        pinned,
        offers: motion.map_or(&none, |m| &m.offers),
        refused: &[],
    };
    let named = |node: usize, error: ElementError| No {
        element: topology.nodes.get(node).map(|n| n.id),
        error,
        conflict: None,
    };
    let solution = solve_request(world, &request, limits).map_err(|error| match error {
        NegotiationError::Element { node, error } => named(node, error),
        error => No {
            element: None,
            conflict: match &error {
                NegotiationError::Conflict(conflict) => Some(conflict.clone()),
                _ => None,
            },
            error: error.into_element_error(),
        },
    })?;
    let memory = plan_memory(world, topology, &solution, limits)
        .map_err(|error| named(error.node, error.error))?;
    Ok((solution, memory))
}

/// Tells of a change that was refused; the run goes on as it was.
pub(crate) fn refuse(
    world: &mut World,
    id: PipelineId,
    element: Option<ElementId>,
    of: Asked,
    refused: No,
) {
    let Some(mut p) = fabric_of(world, id) else {
        return;
    };
    let No {
        error, conflict, ..
    } = refused;
    let tick = p.tick;
    tracing::warn!(
        tick,
        domain = error.domain.name(),
        code = error.code.name(),
        "a change is refused, and all stays as it was: {}",
        error.detail
    );
    p.messages.push(Message {
        tick,
        element,
        kind: MessageKind::Warning(error.domain, error.code),
    });
    let refusal = Refusal {
        tick,
        of,
        error,
        conflict,
    };
    was_refused(world, id, refusal);
}

/// Keeps why a change was refused.
pub(crate) fn was_refused(world: &mut World, id: PipelineId, refusal: Refusal) {
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.refused.retain(|before| before.tick == refusal.tick);
        motion.refused.push(refusal);
    }
}

/// What sources announced.
fn wishes(world: &mut World, id: PipelineId) -> Vec<Wish> {
    let Some(mut p) = fabric_of(world, id) else {
        return Vec::new();
    };
    let mut wishes = Vec::new();
    for (lane, l) in p.lanes.iter_mut().enumerate() {
        let asked = l.changes.as_mut().and_then(|c| c.asked.take());
        if let Some((pad, caps)) = asked {
            let index = l.outputs.get(pad as usize).map_or(0, |o| o.emitted);
            wishes.push(Wish {
                lane,
                pad,
                caps,
                index,
            });
        }
    }
    for wish in &wishes {
        p.touch(wish.lane as u32);
    }
    wishes
}

/// Answers what was announced, each by itself, so that it makes no difference which of them are
/// announced in the same tick; those that cannot be so, together.
fn announcements(world: &mut World, topology: &Topology, wishes: Vec<Wish>) {
    let mut left = Vec::new();
    for wish in wishes {
        if let Err(refused) = grant(world, topology, core::slice::from_ref(&wish)) {
            left.push((wish, refused));
        }
    }
    let (wishes, reasons): (Vec<Wish>, Vec<No>) = left.into_iter().unzip();
    if wishes.len() > 1 && grant(world, topology, &wishes).is_ok() {
        return;
    }
    for (wish, refused) in wishes.into_iter().zip(reasons) {
        let error = ElementError {
            domain: refused.error.domain,
            code: refused.error.code,
            detail: Arc::new(Announced {
                index: wish.index,
                caps: wish.caps,
                error: Arc::clone(&refused.error.detail),
            }),
        };
        let id = topology.id;
        let mut tick = 0;
        if let Some(mut p) = fabric_of(world, id) {
            tick = p.tick;
            p.lanes[wish.lane].changes_mut().refused = true;
        }
        if let Some(slot) = world
            .resource_mut::<Works>()
            .pipelines
            .get_mut(id.index())
            .and_then(|w| w.slots.get_mut(wish.lane))
        {
            slot.refused = Some(error.clone());
        }
        let refusal = Refusal {
            tick,
            of: Asked::Caps,
            error,
            conflict: refused.conflict,
        };
        was_refused(world, id, refusal);
    }
}

/// Has elements offer what they announced, if there are caps for the graph then.
fn grant(world: &mut World, topology: &Topology, wishes: &[Wish]) -> Result<(), No> {
    let before = offers(world, topology.id);
    for wish in wishes {
        let element = topology.nodes[wish.lane].id;
        let pad = PadAt::source(wish.pad as usize);
        offer(world, topology.id, (element, pad), wish.caps.clone());
    }
    match attempt(world, topology, &[]) {
        Ok((solution, memory)) => {
            let id = topology.id;
            if let Some(works) = world.resource_mut::<Works>().pipelines.get_mut(id.index()) {
                for wish in wishes {
                    let offers = &mut works.slots[wish.lane].offers;
                    offers.retain(|o| o.0 != wish.pad);
                    offers.push((wish.pad, Box::new(wish.caps.clone())));
                }
            }
            world.resource_mut::<Graphs>().changing.push(Changing {
                id,
                solution,
                memory,
                told: BTreeMap::new(),
            });
            Ok(())
        }
        Err(refused) => {
            if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(topology.id) {
                motion.offers = before;
            }
            Err(refused)
        }
    }
}

fn offers(world: &World, id: PipelineId) -> Offers {
    let motion = world.resource::<Graphs>().motion(id);
    motion.map(|m| m.offers.clone()).unwrap_or_default()
}

/// From now on a pad offers these caps in place of what `enum_caps` says.
fn offer(world: &mut World, id: PipelineId, pad: (ElementId, PadAt), caps: Caps) {
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.offers.insert(pad, caps);
    }
}

/// Elements that read their caps from the head of a stream have read it: asking again would read
/// on in what is being processed. They offer what they have until they announce something else.
fn keep_what_was_read(world: &mut World, topology: &Topology) {
    let links = match world.resource_mut::<Graphs>().motion_mut(topology.id) {
        Some(motion) if !motion.looked => {
            motion.looked = true;
            motion.links.clone()
        }
        _ => return,
    };
    let mut kept = Vec::new();
    for n in &topology.nodes {
        let apart = n.class.terms.flow == Flow::Separate;
        if !apart || n.inputs.is_empty() {
            continue;
        }
        for (index, &link) in n.outputs.iter().enumerate() {
            let peeked = Cell::new(false);
            let peek = |_: usize| {
                peeked.set(true);
                Err(PeekError::NotBytes(n.name.clone()))
            };
            let template = Caps::any();
            let query = CapsQuery {
                template: &template,
                name: "",
                peek: &peek,
                closed: &Cell::new(false),
            };
            let pad = PadAt::source(index);
            let _ = n.class.enum_caps(world.entity(n.entity), &query, pad, 0);
            if peeked.get() {
                kept.push(((n.id, pad), (*links[link]).clone()));
            }
        }
    }
    for (pad, caps) in kept {
        offer(world, topology.id, pad, caps);
    }
}
