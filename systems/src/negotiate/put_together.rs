//! Caps of what is made of several inputs at once, such as the size of pictures side by side: no
//! relation of two pads says them. What the inputs have is found first, then the output is held to
//! what follows from that, element by element downstream.

use super::solve::{NegotiationError, Request, Search, Solution};
use crate::element::Flow;
use std::sync::Arc;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::limits::Limits;

/// The links that keep their caps, and those whose caps follow from several others.
///
/// # Errors
/// [`NegotiationError`]: as the search's, or what the element says where downstream wants something
/// else.
pub(super) fn pins(
    world: &bevy_ecs::world::World,
    request: &Request<'_>,
    limits: &Limits,
) -> Result<Vec<(usize, Arc<Caps>)>, NegotiationError> {
    let mut pinned = request.pinned.to_vec();
    let find = |pinned: &[(usize, Arc<Caps>)]| -> Result<Solution, NegotiationError> {
        let request = Request { pinned, ..*request };
        Search::new(world, &request, limits)?.next()
    };
    let mut solution = find(&pinned)?;
    for (node, n) in request.topology.nodes.iter().enumerate() {
        if n.class.terms.flow != Flow::Sets {
            continue;
        }
        let structure = |link: usize| solution.links[link].structures().first();
        let inputs: Vec<Option<&Structure>> = n.inputs.iter().map(|&l| structure(l)).collect();
        let entity = world.entity(n.entity);
        let mut more = Vec::new();
        for &link in &n.outputs {
            let Some(had) = structure(link) else { continue };
            let follows = n.class.fixate_set(entity, had, &inputs);
            if follows != *had && !pinned.iter().any(|(l, _)| *l == link) {
                more.push((link, Arc::new(Caps::from(follows))));
            }
        }
        if more.is_empty() {
            accepted(world, request, &solution, node)?;
            continue;
        }
        let kept = n
            .inputs
            .iter()
            .filter(|&l| !pinned.iter().any(|(p, _)| p == l));
        more.extend(kept.map(|&l| (l, Arc::clone(&solution.links[l]))));
        let before = pinned.len();
        pinned.extend(more);
        match find(&pinned) {
            Ok(found) => {
                solution = found;
                accepted(world, request, &solution, node)?;
            }
            Err(NegotiationError::Conflict(conflict)) => {
                pinned.truncate(before);
                let pads = solution.pads_of(request.topology, node);
                return Err(match n.class.accept_caps(entity, &pads) {
                    Err(error) => NegotiationError::Element { node, error },
                    Ok(()) => NegotiationError::Conflict(conflict),
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(pinned)
}

/// Whether the element can put together what it is given. No relation says which other choices of its inputs
/// it could, so none is tried.
fn accepted(
    world: &bevy_ecs::world::World,
    request: &Request<'_>,
    solution: &Solution,
    node: usize,
) -> Result<(), NegotiationError> {
    let n = &request.topology.nodes[node];
    let pads = solution.pads_of(request.topology, node);
    let accepted = n.class.accept_caps(world.entity(n.entity), &pads);
    accepted.map_err(|error| NegotiationError::Element { node, error })
}
