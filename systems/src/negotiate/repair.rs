//! Changes that may make a graph work: converters to put into a link, filters to take out. Each is
//! tried on the graph's own terms before it is told.

use super::parts::{Parts, What, ways_of};
use super::rows::Ways;
use crate::element::{Flow, Registry};
use bevy_ecs::world::World;
use std::rc::Rc;
use tickpipe_components::graph::Direction;
use tickpipe_components::limits::Limits;

/// A converter of the catalogue.
#[derive(Clone)]
pub(super) struct Entry {
    /// Its class.
    pub(super) class: String,
    pub(super) ways: Ways,
}

/// All registered converters with one sink and one source pad that can do something as they are.
pub(super) fn catalogue(world: &World, limits: &Limits) -> Vec<Entry> {
    let Some(registry) = world.get_resource::<Registry>() else {
        return Vec::new();
    };
    let mut scratch = World::new();
    let mut entries = Vec::new();
    for class in registry.iter() {
        let pads = &class.terms.pads;
        let one =
            |direction: Direction| pads.iter().filter(|t| t.direction == direction).count() == 1;
        let says = pads.iter().all(|t| !t.caps.is_any());
        if class.terms.flow != Flow::Convert
            || !one(Direction::Sink)
            || !one(Direction::Source)
            || !says
        {
            continue;
        }
        let mut entity = scratch.spawn_empty();
        class.insert(&mut entity);
        let id = entity.id();
        if let Ok(ways) = ways_of(class, scratch.entity(id), limits) {
            entries.push(Entry {
                class: class.name.to_owned(),
                ways: Rc::new(ways),
            });
        }
    }
    entries
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
