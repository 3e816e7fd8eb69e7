//! Phase 1: applies the actions that were asked for since the last tick, in order.

use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use tickpipe_components::fabric::Fabric;
use tickpipe_components::graph::{Pipeline, Target};
use tickpipe_components::state::State;

/// Something to do at the start of a tick.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bring a pipeline to a state; the last one asked for wins.
    SetState(Entity, State),
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
        }
    }
}
