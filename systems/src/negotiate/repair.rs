//! Changes that may make a graph work: converters to put into a link, filters to take out. Each is
//! tried on the graph's own terms before it is told.

use super::choose::choose;
use super::eliminate::{Bounds, Joiner, Stop, eliminate};
use super::mend::Tried;
use super::parts::{Parts, What, ways_of};
use super::rows::Ways;
use super::solve::{Fixer, Search};
use crate::element::{ElementClass, Flow, PadCapsOf, Registry};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::rc::Rc;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::graph::Direction;
use tickpipe_components::limits::{LimitExceeded, Limits};

/// A converter of the catalogue.
pub(super) struct Entry {
    pub(super) class: Arc<ElementClass>,
    pub(super) ways: Ways,
    entity: Entity,
}

/// Converters that may be put into a graph, with their settings at the defaults.
pub(super) struct Catalogue {
    pub(super) entries: Vec<Entry>,
    settings: World,
}

/// All registered converters with one sink and one source pad that can do something as they are.
pub(super) fn catalogue(world: &World, limits: &Limits) -> Catalogue {
    let mut catalogue = Catalogue {
        entries: Vec::new(),
        settings: World::new(),
    };
    let Some(registry) = world.get_resource::<Registry>() else {
        return catalogue;
    };
    for class in registry.iter() {
        let pads = &class.terms.pads;
        let one =
            |direction: Direction| pads.iter().filter(|t| t.direction == direction).count() == 1;
        let says = pads.iter().all(|t| !t.caps.is_any());
        if class.terms.flow != Flow::Convert
            || !class.proposed
            || !one(Direction::Sink)
            || !one(Direction::Source)
            || !says
        {
            continue;
        }
        let mut entity = catalogue.settings.spawn_empty();
        class.insert(&mut entity);
        let entity = entity.id();
        if let Ok(ways) = ways_of(class, catalogue.settings.entity(entity), limits) {
            catalogue.entries.push(Entry {
                class: Arc::clone(class),
                ways: Rc::new(ways),
                entity,
            });
        }
    }
    catalogue
}

/// Whether a changed graph has caps that no source leaves open and that every element accepts,
/// those that were put in included; `None` if it has no caps.
pub(super) fn works(
    search: &Search<'_>,
    tried: &Tried,
    catalogue: &Catalogue,
) -> Result<Option<bool>, LimitExceeded> {
    let mut joiner = Joiner::new(Bounds::of(search.limits), tried.frame.fields.len());
    let problem = tried.frame.problem(&tried.parts, &mut joiner, |_| true)?;
    let elimination = match eliminate(&mut joiner, problem.relations(), problem.wires(), false) {
        Ok(elimination) => elimination,
        Err(Stop::Dead(_)) => return Ok(None),
        Err(Stop::Limit(limit)) => return Err(limit),
    };
    let fixer = Fixer::new(
        search.world,
        search.request.topology,
        &problem,
        &tried.parts,
    );
    let fixed = match choose(&problem, &elimination, &mut joiner, &fixer) {
        Ok(fixed) if !fixer.left_open() => fixed,
        _ => return Ok(Some(false)),
    };
    let caps = |link: usize| {
        let wire = problem.wire_of[link] as usize;
        fixed[wire].clone().map_or_else(Caps::any, Caps::from)
    };
    let topology = search.request.topology;
    for n in &topology.nodes {
        let lower = |link: usize| {
            // What was put in first stands last.
            let put = tried.inserts.iter().find(|i| i.2 == link);
            put.and_then(|i| ends(tried, i.0)).map_or(link, |e| e.1)
        };
        let pads = PadCapsOf {
            sinks: n.inputs.iter().map(|&l| caps(lower(l))).collect(),
            sources: n.outputs.iter().map(|&l| caps(l)).collect(),
        };
        let entity = search.world.entity(n.entity);
        if n.class.accept_caps(entity, &pads).is_err() {
            return Ok(Some(false));
        }
    }
    for &(node, number, _) in &tried.inserts {
        let Some((from, to)) = ends(tried, node) else {
            continue;
        };
        let pads = PadCapsOf {
            sinks: [caps(from)].into_iter().collect(),
            sources: [caps(to)].into_iter().collect(),
        };
        let entry = &catalogue.entries[number];
        let entity = catalogue.settings.entity(entry.entity);
        if entry.class.accept_caps(entity, &pads).is_err() {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// The links before and behind an element that was put in.
fn ends(tried: &Tried, node: usize) -> Option<(usize, usize)> {
    let mut parts = tried.parts.parts.iter().filter(|p| p.node == node);
    parts.find_map(|p| match &p.what {
        What::Ways { from, to, .. } => Some((from.0, to.0)),
        _ => None,
    })
}

/// The same with some parts taken out.
pub(super) fn without(parts: &Parts, gone: impl Fn(usize) -> bool) -> Parts {
    let mut changed = parts.clone();
    let mut at = 0;
    changed.parts.retain(|p| {
        at += 1;
        matches!(p.what, What::Wire { .. }) || !gone(at - 1)
    });
    changed
}
