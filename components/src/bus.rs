//! A pipeline's bus: a bounded queue of messages, and those who asked for some of them.

use crate::fault::{Code, Domain};
use crate::id::ElementId;
use crate::message::{Message, MessageMask};
use std::collections::VecDeque;

/// Which messages somebody wants; what is `None` is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Of these kinds.
    pub kinds: MessageMask,
    /// Of this element.
    pub element: Option<ElementId>,
    /// Of errors and warnings: of this domain.
    pub domain: Option<Domain>,
    /// Of errors and warnings: with this code.
    pub code: Option<Code>,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            kinds: MessageMask::all() - MessageMask::ELEMENT_STATE,
            element: None,
            domain: None,
            code: None,
        }
    }
}

impl Filter {
    /// All of these kinds.
    pub fn kinds(kinds: MessageMask) -> Filter {
        Filter {
            kinds,
            ..Filter::default()
        }
    }

    /// Whether a message is wanted.
    pub fn wants(&self, message: &Message) -> bool {
        let fault = message.kind.fault();
        self.kinds.contains(message.mask())
            && self.element.is_none_or(|e| message.element == Some(e))
            && self.domain.is_none_or(|d| fault.is_some_and(|f| f.0 == d))
            && self.code.is_none_or(|c| fault.is_some_and(|f| f.1 == c))
    }
}

/// What a full queue does with another message. What is lost is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The new one is lost; but errors, stalls and the end of the stream take the place of the oldest
    /// other one, or of the oldest.
    #[default]
    KeepVital,
    /// The new one is lost.
    DropNewest,
    /// The oldest is lost.
    DropOldest,
}

/// A bounded queue of messages, oldest first. Posting never waits.
#[derive(Clone, Debug)]
struct Queue {
    messages: VecDeque<Message>,
    capacity: usize,
    when_full: WhenFull,
    lost: u64,
}

impl Queue {
    fn new(capacity: usize, when_full: WhenFull) -> Queue {
        let capacity = capacity.max(1);
        Queue {
            messages: VecDeque::with_capacity(capacity.min(256)),
            capacity,
            when_full,
            lost: 0,
        }
    }

    fn post(&mut self, message: Message) {
        if self.messages.len() >= self.capacity {
            self.lost += 1;
            let vital = MessageMask::ERROR | MessageMask::EOS | MessageMask::STALLED;
            let is_vital = |m: &Message| vital.contains(m.mask());
            let victim = match self.when_full {
                WhenFull::DropNewest => return,
                WhenFull::DropOldest => 0,
                WhenFull::KeepVital if !is_vital(&message) => return,
                WhenFull::KeepVital => {
                    let other = self.messages.iter().position(|m| !is_vital(m));
                    other.unwrap_or(0)
                }
            };
            self.messages.remove(victim);
        }
        self.messages.push_back(message);
    }

    fn pop(&mut self, mask: MessageMask) -> Option<Message> {
        let mut all = self.messages.iter();
        let at = all.position(|m| mask.contains(m.mask()))?;
        self.messages.remove(at)
    }
}

/// Somebody who asked for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(pub u32);

/// A pipeline's bus. What does not fit is counted, never waited for.
#[derive(bevy_ecs::component::Component, Clone, Debug)]
pub struct Bus {
    queue: Queue,
    subscriptions: Vec<(SubscriptionId, Filter, Queue)>,
    next: u32,
}

impl Bus {
    /// An empty bus for `capacity` messages (at least 1).
    pub fn new(capacity: usize) -> Bus {
        Bus {
            queue: Queue::new(capacity, WhenFull::KeepVital),
            subscriptions: Vec::new(),
            next: 0,
        }
    }

    /// Adds a message for all who want it.
    pub fn post(&mut self, message: Message) {
        for (_, filter, queue) in &mut self.subscriptions {
            if filter.wants(&message) {
                queue.post(message);
            }
        }
        if message.mask() != MessageMask::ELEMENT_STATE {
            self.queue.post(message);
        }
    }

    /// Takes the oldest message of a kind in `mask`; those before it stay.
    pub fn pop(&mut self, mask: MessageMask) -> Option<Message> {
        self.queue.pop(mask)
    }

    /// How many messages found no place.
    pub fn lost(&self) -> u64 {
        self.queue.lost
    }

    /// Forgets all messages that nobody took.
    pub fn clear(&mut self) {
        self.queue.messages.clear();
        self.queue.lost = 0;
    }

    /// Puts the messages that a filter wants into a queue of their own as well, from now on.
    pub fn subscribe(&mut self, filter: Filter, capacity: usize, full: WhenFull) -> SubscriptionId {
        let id = SubscriptionId(self.next);
        self.next += 1;
        let queue = Queue::new(capacity, full);
        self.subscriptions.push((id, filter, queue));
        id
    }

    /// Ends a subscription; whether there was one.
    pub fn unsubscribe(&mut self, id: SubscriptionId) -> bool {
        let before = self.subscriptions.len();
        self.subscriptions.retain(|s| s.0 != id);
        self.subscriptions.len() < before
    }

    /// Takes the oldest message of a subscription.
    pub fn next_of(&mut self, id: SubscriptionId) -> Option<Message> {
        let mut all = self.subscriptions.iter_mut();
        all.find(|s| s.0 == id)?.2.messages.pop_front()
    }

    /// How many messages of a subscription found no place.
    pub fn lost_of(&self, id: SubscriptionId) -> u64 {
        let mut all = self.subscriptions.iter();
        all.find(|s| s.0 == id).map_or(0, |s| s.2.lost)
    }

    /// Whether somebody wants to know each element's state.
    pub fn wants_element_states(&self) -> bool {
        let mut all = self.subscriptions.iter();
        all.any(|s| s.1.kinds.contains(MessageMask::ELEMENT_STATE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MessageKind;
    use crate::state::State;

    fn message(tick: u64, kind: MessageKind) -> Message {
        Message {
            tick,
            element: None,
            kind,
        }
    }

    #[test]
    fn a_full_bus_keeps_what_matters() {
        let mut bus = Bus::new(2);
        let odd = MessageKind::Warning(Domain::Stream, Code::Damaged);
        bus.post(message(0, MessageKind::Eos));
        bus.post(message(1, odd));
        bus.post(message(2, odd));
        assert_eq!(bus.lost(), 1);
        bus.post(message(3, MessageKind::Error(Domain::Flow, Code::Failed)));
        assert_eq!(bus.lost(), 2);
        assert_eq!(bus.pop(MessageMask::WARNING), None);
        assert_eq!(bus.pop(MessageMask::ERROR).map(|m| m.tick), Some(3));
        assert_eq!(bus.pop(MessageMask::all()).map(|m| m.tick), Some(0));
        assert_eq!(bus.pop(MessageMask::all()), None);
    }

    #[test]
    fn subscriptions_take_what_they_want_and_no_more_than_they_hold() {
        let mut bus = Bus::new(8);
        let warnings = Filter {
            code: Some(Code::Late),
            ..Filter::kinds(MessageMask::WARNING)
        };
        let first = bus.subscribe(warnings, 2, WhenFull::DropNewest);
        let last = bus.subscribe(warnings, 2, WhenFull::DropOldest);
        let late = MessageKind::Warning(Domain::Flow, Code::Late);
        bus.post(message(0, MessageKind::Warning(Domain::Flow, Code::Loop)));
        (1..5).for_each(|tick| bus.post(message(tick, late)));
        let all = |bus: &mut Bus, id| -> Vec<u64> {
            core::iter::from_fn(|| bus.next_of(id))
                .map(|m| m.tick)
                .collect()
        };
        assert_eq!((all(&mut bus, first), bus.lost_of(first)), (vec![1, 2], 2));
        assert_eq!((all(&mut bus, last), bus.lost_of(last)), (vec![3, 4], 2));
        assert!(bus.unsubscribe(first) && !bus.unsubscribe(first));
        assert_eq!(bus.lost(), 0);
    }

    #[test]
    fn states_of_elements_are_for_those_who_ask() {
        let mut bus = Bus::new(8);
        let of_element = Message {
            element: Some(ElementId(3)),
            ..message(0, MessageKind::StateChanged(State::Paused))
        };
        bus.post(of_element);
        assert_eq!(bus.pop(MessageMask::all()), None);
        let states = Filter::kinds(MessageMask::ELEMENT_STATE);
        let id = bus.subscribe(states, 8, WhenFull::KeepVital);
        assert!(bus.wants_element_states());
        bus.post(of_element);
        bus.post(message(1, MessageKind::StateChanged(State::Paused)));
        assert_eq!(bus.next_of(id), Some(of_element));
        assert_eq!(bus.next_of(id), None);
    }
}
