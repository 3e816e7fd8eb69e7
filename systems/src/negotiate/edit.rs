//! Links that were made or taken away while a graph runs, and elements that leave: whether those
//! that are new can take part.
//!
//! The caps of all running links stay as they are; if there are none for the others with them, the
//! new links are taken away again and nothing else happened. It may touch new links, pads and
//! elements, and starts the works of the latter; the allocate phase makes their lanes.

use super::renegotiate::{Asked, No, attempt, refuse};
use super::{Solution, plug};
use crate::allocate::MemoryPlan;
use crate::element::Work;
use crate::state::{Graphs, Topology, fabric_of, fail};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::graph::{self, Link, Members, Pad, PadLink, Pads, Transport};
use tickpipe_components::id::PipelineId;
use tickpipe_components::message::MessageKind;

/// A link that was made while the graph runs.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// Its entity.
    pub link: Entity,
    /// Pads that were made for it.
    pub pads: Vec<Entity>,
}

/// It leaves its pipeline once it has passed on what it holds.
#[derive(Component, Clone, Copy, Debug)]
pub struct Leaving;

/// What becomes of what an element holds that is taken out of a running pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// It passes all of it on, and the end; then it leaves.
    Drain,
    /// It is discarded, and the element leaves at once.
    Discard,
}

/// A graph with other elements than the one that runs.
pub(crate) struct Edited {
    /// It.
    pub(crate) topology: Topology,
    /// Its caps.
    pub(crate) solution: Solution,
    /// Its pools.
    pub(crate) memory: MemoryPlan,
    /// Works of new elements, by node.
    pub(crate) works: Vec<(usize, Box<dyn Work>)>,
}

/// A running link would have other caps.
#[derive(Debug, Error)]
#[error("the new links would change the caps of {from}")]
struct Disturbed {
    from: String,
}

/// Takes up the links that were made since the last tick, unless changes are under way; then
/// later.
pub(super) fn edit(world: &mut World, running: &Topology) {
    let id = running.id;
    let under_way = world
        .resource::<Graphs>()
        .changing
        .iter()
        .any(|c| c.id == id);
    let Some(mut p) = fabric_of(world, id) else {
        return;
    };
    let moving = |l: &tickpipe_components::fabric::Lane| {
        let settled =
            |c: &tickpipe_components::fabric::Changes| c.is_settled(l.extras.sync.as_deref());
        !l.done && !l.changes.as_ref().is_none_or(|c| settled(c))
    };
    if under_way || p.lanes.iter().any(moving) {
        p.editing = true;
        return;
    }
    p.editing = false;
    let left = leave_where_done(world, running);
    let mut graphs = world.resource_mut::<Graphs>();
    let Some(motion) = graphs.motion_mut(id) else {
        return;
    };
    let cut = core::mem::take(&mut motion.cut) | left;
    let (edits, links) = (core::mem::take(&mut motion.edits), motion.links.clone());
    if !cut && edits.is_empty() {
        return;
    }
    plug::plug(world, running);
    if world
        .get::<Members>(running.pipeline)
        .is_some_and(|m| m.0.is_empty())
    {
        return nothing_left(world, id);
    }
    match edited(world, running, &links) {
        Ok(edited) => world.resource_mut::<Graphs>().edited.push((id, edited)),
        Err(refused) => {
            edits.into_iter().for_each(|edit| take_away(world, edit));
            let element = refused.element;
            refuse(world, id, element, Asked::Links, refused);
            // What was taken away stays so.
            plug::plug(world, running);
            match edited(world, running, &links) {
                Ok(edited) if cut => world.resource_mut::<Graphs>().edited.push((id, edited)),
                Ok(_) => {}
                Err(No { error, .. }) => fail(world, id, None, &error),
            }
        }
    }
}

/// Nothing is in the pipeline any more: that is its end.
fn nothing_left(world: &mut World, id: PipelineId) {
    if let Some(mut p) = fabric_of(world, id) {
        crate::command::flush::let_go(&mut p);
        p.live_sinks = 0;
    }
}

/// Elements that are to leave are cut off from those that stay; those that passed on all that they
/// held are out of the graph. Whether something was cut.
fn leave_where_done(world: &mut World, running: &Topology) -> bool {
    let id = running.id;
    let leaving = match world.resource_mut::<Graphs>().motion_mut(id) {
        Some(motion) => core::mem::take(&mut motion.leaving),
        None => return false,
    };
    let mut cut = false;
    let mut left = Vec::new();
    for entity in leaving {
        let Some(lane) = running.nodes.iter().position(|n| n.entity == entity) else {
            // It is not in the running graph: nothing is in it.
            cut |= take_out(world, id, entity);
            continue;
        };
        for &link in &running.nodes[lane].inputs {
            let edge = &running.links[link];
            let feeder = running.nodes[edge.from.node].entity;
            let stays = world.get::<Leaving>(feeder).is_none();
            if stays && world.get::<plug::Plug>(feeder).is_none() {
                cut |= plug::take_link(world, edge.entity);
            }
        }
        let done = fabric_of(world, id).is_some_and(|mut p| {
            let l = &mut p.lanes[lane];
            if l.inputs.is_empty() && !l.done {
                l.ending = true;
                p.touch(lane as u32);
                return false;
            }
            l.done
        });
        match done {
            true => cut |= take_out(world, id, entity),
            false => left.push(entity),
        }
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.leaving = !left.is_empty();
    }
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.leaving = left;
    }
    cut
}

/// Takes an element out of its pipeline, with its links.
pub(crate) fn take_out(world: &mut World, id: PipelineId, element: Entity) -> bool {
    let pads = world.get::<Pads>(element).cloned().unwrap_or_default();
    for pad in pads.0 {
        plug::unplug(world, pad);
        if let Some(link) = world.get::<PadLink>(pad).and_then(|l| l.0) {
            plug::take_link(world, link);
        }
    }
    world.entity_mut(element).remove::<Leaving>();
    plug::leave(world, element);
    let of = world.get::<graph::Element>(element).map(|e| e.id);
    crate::state::post(world, id, of, MessageKind::Removed);
    true
}

fn edited(world: &mut World, running: &Topology, links: &[Arc<Caps>]) -> Result<Edited, No> {
    let topology = Topology::read_linked(world, running.pipeline).map_err(|error| No {
        element: None,
        error: error.into(),
        conflict: None,
    })?;
    // A pad that runs keeps its caps, whatever it is linked to now.
    let of = |pad: Entity| {
        let mut old = running.links.iter().zip(links);
        let found = old.find(|(old, _)| old.from.pad == pad || old.to.pad == pad);
        found
            .map(|(_, caps)| Arc::clone(caps))
            .filter(|caps| !caps.is_any())
    };
    let mut pinned: Vec<(usize, Arc<Caps>)> = Vec::new();
    for (at, link) in topology.links.iter().enumerate() {
        let (from, to) = (of(link.from.pad), of(link.to.pad));
        if let (Some(a), Some(b)) = (&from, &to)
            && a != b
        {
            let from = topology.from_name(world, at);
            let error = ElementError::new(Domain::Caps, Code::NotNegotiated, Disturbed { from });
            return Err(No {
                element: None,
                error,
                conflict: None,
            });
        }
        pinned.extend(from.or(to).map(|caps| (at, caps)));
    }
    let (solution, memory) = attempt(world, &topology, &pinned)?;
    if let Some((link, _)) = pinned.iter().find(|(l, caps)| solution.links[*l] != *caps) {
        let from = topology.from_name(world, *link);
        let error = ElementError::new(Domain::Caps, Code::NotNegotiated, Disturbed { from });
        return Err(No {
            element: None,
            error,
            conflict: None,
        });
    }
    let mut works: Vec<(usize, Box<dyn Work>)> = Vec::new();
    for (node, n) in topology.nodes.iter().enumerate().rev() {
        if running.nodes.iter().any(|old| old.entity == n.entity) {
            continue;
        }
        let failed = |error: ElementError| No {
            element: Some(n.id),
            error,
            conflict: None,
        };
        let work = n.class.open(world.entity(n.entity)).map_err(failed)?;
        works.push((node, work));
    }
    let failed = |node: usize| {
        let element = Some(topology.nodes[node].id);
        move |error| No {
            element,
            error,
            conflict: None,
        }
    };
    // Who pulls and who serves are both new.
    for link in topology
        .links
        .iter()
        .filter(|l| l.transport == Transport::Pull)
    {
        let at = |node| works.iter().position(|w| w.0 == node);
        let (Some(from), Some(to)) = (at(link.from.node), at(link.to.node)) else {
            continue;
        };
        let bytes = works[from].1.serve().map_err(failed(link.from.node))?;
        works[to].1.grant(bytes).map_err(failed(link.to.node))?;
    }
    for (node, work) in &mut works {
        let pads = solution.pads_of(&topology, *node);
        work.set_caps(&pads).map_err(failed(*node))?;
    }
    Ok(Edited {
        topology,
        solution,
        memory,
        works,
    })
}

/// Takes a new link and the pads that were made for it away.
fn take_away(world: &mut World, edit: NewLink) {
    if let Some(link) = world.get::<Link>(edit.link).copied() {
        for pad in [link.from, link.to] {
            if let Some(mut at) = world.get_mut::<PadLink>(pad) {
                at.0 = None;
            }
        }
        world.despawn(edit.link);
    }
    for pad in edit.pads {
        let Some(element) = world.get::<Pad>(pad).map(|p| p.element) else {
            continue;
        };
        if let Some(mut pads) = world.get_mut::<Pads>(element) {
            pads.0.retain(|p| *p != pad);
        }
        world.despawn(pad);
    }
}

/// Links of a started pipeline were taken away.
pub(crate) fn cut(world: &mut World, id: PipelineId) {
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.cut = true;
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.renegotiate = true;
    }
}

/// An element of a started pipeline leaves once it has passed on what it holds.
pub(crate) fn leaving(world: &mut World, id: PipelineId, element: Entity) {
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.leaving.push(element);
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.renegotiate = true;
    }
}

/// A link was made in a started pipeline.
pub(crate) fn linked(world: &mut World, id: PipelineId, link: NewLink) {
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.edits.push(link);
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.renegotiate = true;
    }
}
