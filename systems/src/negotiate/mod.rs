//! Phase 3: solves the caps of graphs that enter PAUSED, and has every element accept them.
//!
//! Two passes as in mpipe, driven from the source: what each pad can have is narrowed downstream
//! and back until nothing changes; then each piece of wire is fixed, sources first. Planning
//! calls [`solve`] alone, and a run uses exactly what it answers.

mod choose;
mod conflict;
mod cost;
mod edit;
mod eliminate;
mod exclude;
mod explain;
mod loss;
mod mend;
mod minimal;
mod parts;
mod plug;
mod problem;
mod put_together;
mod quality;
mod region;
mod relation;
mod renegotiate;
mod repair;
mod rows;
mod solve;
mod views;
mod why;

pub use conflict::{Change, Conflict, Failure, Side};
pub use cost::{COST_KINDS, Cost};
pub(crate) use edit::{Edited, cut, leaving, linked, take_out};
pub use edit::{Leaving, NewLink, Removal};
pub(crate) use plug::clear as clear_plugs;
pub use plug::{Plug, is_plugged, leave, take_link, unplug};
pub use renegotiate::{Asked, Changing, Motion, Refusal};
pub(crate) use renegotiate::{set_all, was_refused};
pub use solve::{NegotiationError, Refused, Request, Solution, solve, solve_request};
pub use views::{LinkView, views};
pub use why::reasons;

use crate::element::PadCapsOf;
use crate::pipelines::Works;
use crate::state::{Edge, Graphs, Topology, fail};
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use std::sync::Arc;
use tickpipe_components::graph::{PadCaps, Transport};
use tickpipe_components::limits::Limits;

/// The negotiate phase.
pub fn negotiate(world: &mut World) {
    let graphs = world.resource::<Graphs>();
    if graphs.starting.is_empty() && graphs.asked.is_empty() {
        return;
    }
    let asked = core::mem::take(&mut world.resource_mut::<Graphs>().asked);
    for id in asked {
        renegotiate::renegotiate(world, id);
    }
    let starting = core::mem::take(&mut world.resource_mut::<Graphs>().starting);
    for (id, mut start) in starting {
        match agree(world, &start.topology) {
            Ok(solution) => {
                start.solution = Some(solution);
                world.resource_mut::<Graphs>().starting.push((id, start));
            }
            Err(NegotiationError::Element { node, error }) => {
                let node = &start.topology.nodes[node];
                fail(world, id, Some((node.id, &node.name)), &error);
            }
            Err(error) => {
                if let NegotiationError::Conflict(conflict) = &error {
                    let conflict = (**conflict).clone();
                    world
                        .resource_mut::<Graphs>()
                        .conflicts
                        .insert(id, conflict);
                }
                fail(world, id, None, &error.into_element_error());
            }
        }
    }
}

/// Solves the caps of a graph and tells elements; if one refuses, that choice is excluded and the
/// search goes on.
fn agree(world: &mut World, topology: &Topology) -> Result<Solution, NegotiationError> {
    let limits = world.resource::<Limits>().clone();
    let mut refused = Vec::new();
    let mut granted = false;
    loop {
        let request = Request {
            topology,
            pinned: &[],
            offers: &BTreeMap::new(),
            refused: &refused,
        };
        let solution = solve_request(world, &request, &limits)?;
        if !granted {
            grant(world, topology)?;
            granted = true;
        }
        match set_caps(world, topology, &solution) {
            None => return Ok(solution),
            Some(refusal) => refused.push(refusal),
        }
    }
}

/// Who pulls gets what it reads. What an earlier start granted, which failed later, is gone.
fn grant(world: &mut World, topology: &Topology) -> Result<(), NegotiationError> {
    let mut works = world.resource_mut::<Works>();
    let works = works.pipelines.get_mut(topology.id.index());
    works
        .into_iter()
        .flat_map(|w| &mut w.slots)
        .for_each(|slot| slot.work.revoke());
    let pulled = |l: &&Edge| l.transport == Transport::Pull;
    for link in topology.links.iter().filter(pulled) {
        let mut works = world.resource_mut::<Works>();
        let Some(works) = works.pipelines.get_mut(topology.id.index()) else {
            continue;
        };
        let failed = |node| move |error| NegotiationError::Element { node, error };
        let slots = &mut works.slots;
        let bytes = slots[link.from.node].work.serve();
        let bytes = bytes.map_err(failed(link.from.node))?;
        let outcome = slots[link.to.node].work.grant(bytes);
        outcome.map_err(failed(link.to.node))?;
    }
    Ok(())
}

/// Tells pads and elements what was agreed, sinks first; the first refusal.
fn set_caps(world: &mut World, topology: &Topology, solution: &Solution) -> Option<Refused> {
    for (caps, link) in solution.links.iter().zip(&topology.links) {
        for pad in [link.from.pad, link.to.pad] {
            if let Some(mut agreed) = world.get_mut::<PadCaps>(pad) {
                agreed.0 = Some(Arc::clone(caps));
            }
        }
    }
    for lane in (0..topology.nodes.len()).rev() {
        let pads: PadCapsOf = solution.pads_of(topology, lane);
        let mut works = world.resource_mut::<Works>();
        let Some(slot) = works
            .pipelines
            .get_mut(topology.id.index())
            .and_then(|w| w.slots.get_mut(lane))
        else {
            continue;
        };
        if let Err(error) = slot.work.set_caps(&pads) {
            let node = lane;
            return Some(Refused { node, pads, error });
        }
    }
    None
}
