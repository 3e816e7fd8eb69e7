//! Links that were made while a graph runs: whether the elements behind them can take part.
//!
//! The caps of all running links stay as they are; if there are none for the others with them, the
//! new links are taken away again and nothing else happened. It may touch new links, pads and
//! elements, and starts the works of the latter; the allocate phase makes their lanes.

use super::renegotiate::{No, attempt, refuse};
use super::{Motion, Solution};
use crate::allocate::MemoryPlan;
use crate::element::Work;
use crate::state::{Graphs, Topology, fabric_of};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::graph::{Link, Pad, PadLink, Pads};
use tickpipe_components::id::PipelineId;

/// A link that was made while the graph runs.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// Its entity.
    pub link: Entity,
    /// Pads that were made for it.
    pub pads: Vec<Entity>,
}

/// A graph with more elements than the one that runs.
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
        let settled = |c: &tickpipe_components::fabric::Changes| c.is_settled(l.sync.as_deref());
        !l.done && !l.changes.as_ref().is_none_or(|c| settled(c))
    };
    if under_way || p.lanes.iter().any(moving) {
        p.editing = true;
        return;
    }
    p.editing = false;
    let mut graphs = world.resource_mut::<Graphs>();
    let Some(Motion { edits, links, .. }) = graphs.motion_mut(id) else {
        return;
    };
    let (edits, links) = (core::mem::take(edits), links.clone());
    match edited(world, running, &links) {
        Ok(edited) => world.resource_mut::<Graphs>().edited.push((id, edited)),
        Err(refused) => {
            edits.into_iter().for_each(|edit| take_away(world, edit));
            let element = refused.element;
            refuse(world, id, element, refused);
        }
    }
}

fn edited(world: &mut World, running: &Topology, links: &[Arc<Caps>]) -> Result<Edited, No> {
    let topology = Topology::read_linked(world, running.pipeline).map_err(|error| No {
        element: None,
        error: error.into(),
        conflict: None,
    })?;
    let of = |(old, caps): (&crate::state::Edge, &Arc<Caps>)| {
        let now = topology.links.iter().position(|l| l.entity == old.entity)?;
        (!caps.is_any()).then(|| (now, Arc::clone(caps)))
    };
    let pinned: Vec<(usize, Arc<Caps>)> = running.links.iter().zip(links).filter_map(of).collect();
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
    let mut works = Vec::new();
    for (node, n) in topology.nodes.iter().enumerate().rev() {
        if running.nodes.iter().any(|old| old.entity == n.entity) {
            continue;
        }
        let failed = |error: ElementError| No {
            element: Some(n.id),
            error,
            conflict: None,
        };
        let mut work = n.class.open(world.entity(n.entity)).map_err(failed)?;
        let pads = solution.pads_of(&topology, node);
        work.set_caps(&pads).map_err(failed)?;
        works.push((node, work));
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

/// A link was made in a started pipeline.
pub(crate) fn linked(world: &mut World, id: PipelineId, link: NewLink) {
    if let Some(motion) = world.resource_mut::<Graphs>().motion_mut(id) {
        motion.edits.push(link);
    }
    if let Some(mut p) = fabric_of(world, id) {
        p.renegotiate = true;
    }
}
