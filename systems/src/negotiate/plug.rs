//! What stands in a running graph where a link was taken away: something that has ended feeds the
//! sink pad, so that what is queued there still goes its way and then the end comes; something that
//! takes nothing any more stands behind the source pad.
//!
//! So numbers of pads never change while a graph runs. It may touch links and makes entities.

use crate::element::{ClassRef, Element, ElementClass, Flow, PadTemplate, PassThrough, Work};
use crate::state::Topology;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::ElementError;
use tickpipe_components::graph::{
    self, Direction, Link, Members, Pad, PadCaps, PadLink, Pads, Parent,
};
use tickpipe_components::id::ElementId;
use tickpipe_components::state::State;

/// Stands where a link was taken away; no element that anybody made.
#[derive(Component, Clone, Copy, Debug)]
pub struct Plug;

/// Feeds a pad that nothing feeds: it has ended.
#[derive(Component, Clone, Debug, Default)]
struct Ended;

/// Stands behind a pad that leads nowhere: it takes nothing.
#[derive(Component, Clone, Debug, Default)]
struct Nowhere;

impl Element for Ended {
    const NAME: &'static str = "(unlinked)";
    const SUMMARY: &'static str = "Stands where nothing is linked";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}

impl Element for Nowhere {
    const NAME: &'static str = "(unlinked)";
    const SUMMARY: &'static str = "Stands where nothing is linked";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}

/// Takes a link away: its pads are free. Whether it was there.
pub fn take_link(world: &mut World, link: Entity) -> bool {
    let Some(Link { from, to, .. }) = world.get::<Link>(link).copied() else {
        return false;
    };
    for pad in [from, to] {
        if let Some(mut at) = world.get_mut::<PadLink>(pad)
            && at.0 == Some(link)
        {
            at.0 = None;
        }
    }
    world.despawn(link);
    true
}

/// Whether a pad is linked to a plug only.
pub fn is_plugged(world: &World, pad: Entity) -> bool {
    let link = world.get::<PadLink>(pad).and_then(|l| l.0);
    link.is_some_and(|link| plug_of(world, link).is_some())
}

/// The plug at a link.
fn plug_of(world: &World, link: Entity) -> Option<Entity> {
    let link = world.get::<Link>(link)?;
    let owner = |pad| world.get::<Pad>(pad).map(|p| p.element);
    let mut ends = [link.from, link.to].into_iter().filter_map(owner);
    ends.find(|e| world.get::<Plug>(*e).is_some())
}

/// Takes away what stands where a pad is not linked.
pub fn unplug(world: &mut World, pad: Entity) {
    let Some(link) = world.get::<PadLink>(pad).and_then(|l| l.0) else {
        return;
    };
    if let Some(plug) = plug_of(world, link) {
        take_link(world, link);
        leave(world, plug);
    }
}

/// Takes an element out of what it is in; its links are gone before.
pub fn leave(world: &mut World, element: Entity) {
    if let Some(Parent(parent)) = world.get::<Parent>(element).copied() {
        if let Some(mut members) = world.get_mut::<Members>(parent) {
            members.0.retain(|m| *m != element);
        }
        world.entity_mut(element).remove::<Parent>();
    }
}

/// Puts plugs where links of a running graph were taken away and nothing was linked instead.
pub(super) fn plug(world: &mut World, running: &Topology) {
    for link in &running.links {
        if world.get::<Link>(link.entity).is_some() {
            continue;
        }
        for end in [link.from, link.to] {
            let element = running.nodes[end.node].entity;
            let free = world.get::<PadLink>(end.pad).is_some_and(|l| l.0.is_none());
            let here = world.get::<Parent>(element).is_some();
            let plug = world.get::<Plug>(element).is_some();
            if free && here && !plug {
                make(world, running, end.pad);
            }
        }
    }
    // What stood where something is linked now is gone with the graph that it was in.
    let plugs: Vec<Entity> = running
        .nodes
        .iter()
        .map(|n| n.entity)
        .filter(|&e| world.get::<Plug>(e).is_some())
        .collect();
    for plug in plugs {
        let pads = world.get::<Pads>(plug).map_or(&[][..], |p| &p.0);
        let linked = pads
            .iter()
            .any(|p| world.get::<PadLink>(*p).is_some_and(|l| l.0.is_some()));
        if !linked {
            leave(world, plug);
        }
    }
}

/// Makes what stands at a pad.
fn make(world: &mut World, running: &Topology, pad: Entity) {
    let Some(direction) = world.get::<Pad>(pad).map(|p| p.direction) else {
        return;
    };
    let (class, own) = match direction {
        Direction::Sink => (ElementClass::of::<Ended>(), Direction::Source),
        Direction::Source => (ElementClass::of::<Nowhere>(), Direction::Sink),
    };
    // Ids from the highest down are nobody else's.
    let used = |n: &crate::state::Node| n.id.0;
    let mut taken: Vec<u32> = running.nodes.iter().map(used).collect();
    let members = world
        .get::<Members>(running.pipeline)
        .cloned()
        .unwrap_or_default();
    let ids = members
        .0
        .iter()
        .filter_map(|m| world.get::<graph::Element>(*m));
    taken.extend(ids.map(|e| e.id.0));
    let mut id = u32::MAX;
    while taken.contains(&id) {
        id -= 1;
    }
    let class = Arc::new(class);
    let element = graph::Element {
        id: ElementId(id),
        name: format!("(unlinked){}", u32::MAX - id),
        kind: class.name,
    };
    let parts = (element, State::Ready, ClassRef(Arc::clone(&class)), Plug);
    let mut entity = world.spawn((parts, Parent(running.pipeline)));
    class.insert(&mut entity);
    let entity = entity.id();
    let info = Pad {
        element: entity,
        name: class
            .terms
            .pads
            .first()
            .map_or("pad", |p| p.name)
            .to_owned(),
        direction: own,
        template: 0,
        index: 0,
    };
    let end = world.spawn((info, PadCaps::default(), PadLink(None))).id();
    world.entity_mut(entity).insert(Pads(vec![end]));
    let (from, to) = match own {
        Direction::Source => (end, pad),
        Direction::Sink => (pad, end),
    };
    let link = world.spawn(Link::new(from, to)).id();
    for pad in [from, to] {
        if let Some(mut at) = world.get_mut::<PadLink>(pad) {
            at.0 = Some(link);
        }
    }
    if let Some(mut members) = world.get_mut::<Members>(running.pipeline) {
        members.0.push(entity);
    }
}

/// In READY pads that are not linked are just that.
pub(crate) fn clear(world: &mut World, pipeline: Entity) {
    let members = world.get::<Members>(pipeline).cloned().unwrap_or_default();
    for member in members.0 {
        if world.get::<Plug>(member).is_none() {
            continue;
        }
        let pads = world.get::<Pads>(member).cloned().unwrap_or_default();
        for pad in pads.0 {
            if let Some(link) = world.get::<PadLink>(pad).and_then(|l| l.0) {
                take_link(world, link);
            }
            world.despawn(pad);
        }
        leave(world, member);
        world.despawn(member);
    }
}
