//! Those who want messages: as a queue of their own, or as they come, with requests in return.

use crate::build::PipelineHandle;
use crate::engine::Engine;
use crate::run::WaitError;
use core::ops::Range;
use tickpipe_components::bus::{Bus, Filter, SubscriptionId, WhenFull};
use tickpipe_components::fabric::Fabric;
use tickpipe_components::graph::Pipeline;
use tickpipe_components::limits::{Limit, Limits};
use tickpipe_components::message::Message;
use tickpipe_components::seek::{Flush, Seek};
use tickpipe_components::state::State;
use tickpipe_systems::command::{Action, Actions};

/// Messages of a pipeline that somebody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription {
    pipeline: PipelineHandle,
    id: SubscriptionId,
}

/// What a message handler may ask for. It is applied in the next tick, before what the application
/// asks for until then.
pub struct Requests<'a> {
    queue: &'a mut Vec<Action>,
}

impl Requests<'_> {
    /// A state of a pipeline; the last one asked for wins.
    pub fn set_state(&mut self, pipeline: PipelineHandle, state: State) {
        self.queue.push(Action::SetState(pipeline.entity, state));
    }

    /// Another place. If it cannot be, a warning is posted.
    pub fn seek(&mut self, pipeline: PipelineHandle, seek: Seek) {
        let pipeline = pipeline.entity;
        self.queue.push(Action::Seek { pipeline, seek });
    }

    /// Discards what is under way in all of a pipeline.
    pub fn flush(&mut self, pipeline: PipelineHandle, flush: Flush) {
        self.queue.push(Action::Flush {
            pipeline: pipeline.entity,
            element: None,
            flush,
        });
    }
}

type Handle = Box<dyn FnMut(&Message, &mut Requests<'_>) + Send>;

/// A handler of messages, and its subscription.
pub(crate) struct Handler {
    subscription: Subscription,
    handle: Handle,
}

impl Engine {
    fn bus_mut(&mut self, pipeline: PipelineHandle) -> Option<bevy_ecs::world::Mut<'_, Bus>> {
        let bus = self.world.get::<Pipeline>(pipeline.entity)?.bus;
        self.world.get_mut::<Bus>(bus)
    }

    /// Puts the messages of a pipeline that a filter wants into a queue of their own, from now on,
    /// for `capacity` of them (0: as many as the bus holds). The bus itself gets them too.
    pub fn subscribe(
        &mut self,
        pipeline: PipelineHandle,
        filter: Filter,
        capacity: usize,
        when_full: WhenFull,
    ) -> Subscription {
        let most = self.world.resource::<Limits>().get(Limit::BusMessages) as usize;
        let capacity = if capacity == 0 { most } else { capacity };
        let id = match self.bus_mut(pipeline) {
            Some(mut bus) => bus.subscribe(filter, capacity, when_full),
            None => SubscriptionId(u32::MAX),
        };
        self.tell_elements(pipeline);
        Subscription { pipeline, id }
    }

    /// Ends a subscription.
    pub fn unsubscribe(&mut self, subscription: Subscription) {
        if let Some(mut bus) = self.bus_mut(subscription.pipeline) {
            bus.unsubscribe(subscription.id);
        }
        self.handlers.retain(|h| h.subscription != subscription);
        self.tell_elements(subscription.pipeline);
    }

    fn tell_elements(&mut self, pipeline: PipelineHandle) {
        let wants = self.bus_mut(pipeline);
        let wants = wants.is_some_and(|bus| bus.wants_element_states());
        let mut fabric = self.world.resource_mut::<Fabric>();
        if let Some(p) = fabric.get_mut(pipeline.id) {
            p.tell_elements = wants;
        }
    }

    /// Takes the next message of a subscription, without running.
    pub fn next_of(&mut self, subscription: Subscription) -> Option<Message> {
        self.bus_mut(subscription.pipeline)?
            .next_of(subscription.id)
    }

    /// How many messages of a subscription found no place.
    pub fn lost_of(&mut self, subscription: Subscription) -> u64 {
        let bus = self.bus_mut(subscription.pipeline);
        bus.map_or(0, |bus| bus.lost_of(subscription.id))
    }

    /// Runs ticks of the pipeline until a message of the subscription is there.
    ///
    /// # Errors
    /// [`WaitError`] if nothing more happens in the pipeline, so that none can come.
    pub fn wait_on(&mut self, subscription: Subscription) -> Result<Message, WaitError> {
        self.wait_until(subscription.pipeline, |engine| engine.next_of(subscription))
    }

    /// Calls `handle` with each message of a pipeline that a filter wants, at the end of the tick in
    /// which it was posted. It may ask for things; nothing waits for it.
    pub fn on_message(
        &mut self,
        pipeline: PipelineHandle,
        filter: Filter,
        handle: impl FnMut(&Message, &mut Requests<'_>) + Send + 'static,
    ) -> Subscription {
        let subscription = self.subscribe(pipeline, filter, 0, WhenFull::KeepVital);
        self.handlers.push(Handler {
            subscription,
            handle: Box::new(handle),
        });
        subscription
    }

    /// Gives handlers their messages.
    pub(crate) fn handle_messages(&mut self, window: &Range<usize>) {
        let mut handlers = core::mem::take(&mut self.handlers);
        let mut asked = Vec::new();
        for handler in &mut handlers {
            if !window.contains(&handler.subscription.pipeline.id.index()) {
                continue;
            }
            while let Some(message) = self.next_of(handler.subscription) {
                (handler.handle)(&message, &mut Requests { queue: &mut asked });
            }
        }
        self.handlers = handlers;
        self.world.resource_mut::<Actions>().queue.extend(asked);
    }
}
