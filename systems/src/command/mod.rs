//! Phase 1: applies the actions that were asked for since the last tick, in order.

use crate::element::Setting;
use crate::negotiate::{NewLink, linked, set_all};
use crate::state::Graphs;
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use tickpipe_components::fabric::Fabric;
use tickpipe_components::graph::{Pipeline, Place, Target};
use tickpipe_components::state::State;

/// Something to do at the start of a tick.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bring a pipeline to a state; the last one asked for wins.
    SetState(Entity, State),
    /// Set a property of an element of a pipeline; the last value of a tick wins, and all that is
    /// set in one tick is one re-negotiation.
    SetProperty {
        /// The pipeline.
        pipeline: Entity,
        /// The element.
        element: Entity,
        /// What was checked by its class.
        setting: Setting,
    },
    /// A link was made in a started pipeline: the elements behind it take part from now on, or it
    /// is taken away. All that was linked since the last tick goes together.
    Link {
        /// The pipeline.
        pipeline: Entity,
        /// The link.
        link: NewLink,
    },
    /// The device of an element of a started pipeline is ready: the element runs again if it waits
    /// for it.
    DeviceReady(Entity),
}

/// Actions for the next tick.
#[derive(Resource, Default)]
pub struct Actions {
    /// In the order in which they were asked for.
    pub queue: Vec<Action>,
}

/// The command phase.
pub fn command(world: &mut World) {
    let actions = match world.get_resource_mut::<Actions>() {
        Some(mut actions) if !actions.queue.is_empty() => core::mem::take(&mut actions.queue),
        _ => return,
    };
    for action in actions {
        match action {
            Action::SetState(pipeline, state) => {
                let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) else {
                    continue;
                };
                if let Some(mut target) = world.get_mut::<Target>(pipeline) {
                    target.0 = state;
                }
                if let Some(p) = world.resource_mut::<Fabric>().get_mut(id) {
                    p.attention = true;
                }
            }
            Action::SetProperty {
                pipeline,
                element,
                setting,
            } => set_property(world, pipeline, element, setting),
            Action::DeviceReady(element) => device_ready(world, element),
            Action::Link { pipeline, link } => {
                if let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) {
                    linked(world, id, link);
                }
            }
        }
    }
}

/// An element that does not wait for its device is left as it is.
fn device_ready(world: &mut World, element: Entity) {
    let Some(&Place { pipeline, lane }) = world.get::<Place>(element) else {
        return;
    };
    let mut fabric = world.resource_mut::<Fabric>();
    let Some(p) = fabric.get_mut(pipeline) else {
        return;
    };
    if let Some(l) = p.lanes.get_mut(lane.index()).filter(|l| l.device) {
        l.device = false;
        l.again = true;
        p.touch(lane.0);
    }
}

/// Of a started pipeline the negotiate phase sets it, with all others of this tick.
fn set_property(world: &mut World, pipeline: Entity, element: Entity, setting: Setting) {
    let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) else {
        return;
    };
    match world.resource_mut::<Graphs>().motion_mut(id) {
        Some(motion) => motion.sets.push((element, setting)),
        None => {
            set_all(world, vec![(element, setting)]);
        }
    }
    if let Some(p) = world.resource_mut::<Fabric>().get_mut(id) {
        p.renegotiate = true;
    }
}
