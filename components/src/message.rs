//! Messages on a pipeline's bus: where, what and why, never prose.

use crate::fault::{Code, Domain};
use crate::id::ElementId;
use crate::occurrence::Occurrence;
use crate::state::State;
use std::collections::VecDeque;

bitflags::bitflags! {
    /// Kinds of messages, as a mask to wait with.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct MessageMask: u32 {
        /// All sinks reached their end.
        const EOS = 1;
        /// Something failed.
        const ERROR = 1 << 1;
        /// Something is odd and was dealt with as stated.
        const WARNING = 1 << 2;
        /// An element or the pipeline changed its state.
        const STATE_CHANGED = 1 << 3;
        /// Nobody can move and nothing is awaited.
        const STALLED = 1 << 4;
        /// Something happened to one buffer.
        const OCCURRENCE = 1 << 5;
        /// What was asked for and had to wait is complete.
        const ASYNC_DONE = 1 << 6;
        /// The stream goes on elsewhere.
        const SEEKED = 1 << 7;
        /// An element by itself changed its state; posted only where somebody asked for it.
        const ELEMENT_STATE = 1 << 8;
    }
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// The end of the stream at all live sinks of the pipeline.
    Eos,
    /// A failure, with what and why.
    Error(Domain, Code),
    /// An element failed at a step from one state to the next: which step, what and why.
    ChangeFailed(State, State, Domain, Code),
    /// What was asked for and had to wait is complete: PAUSED, or a seek; every sink holds its first
    /// buffer.
    AsyncDone,
    /// The stream goes on elsewhere, as was asked.
    Seeked,
    /// Something odd that was dealt with, with what and why.
    Warning(Domain, Code),
    /// A change of state is complete.
    StateChanged(State),
    /// Nobody can move, nothing is awaited, and a sink is not done.
    Stalled,
    /// Something happened to one buffer: dropped, made up, moved.
    Occurrence(Occurrence),
}

impl MessageKind {
    /// What kind of thing went wrong, and why, of errors and warnings.
    pub fn fault(self) -> Option<(Domain, Code)> {
        match self {
            MessageKind::Error(domain, code)
            | MessageKind::Warning(domain, code)
            | MessageKind::ChangeFailed(_, _, domain, code) => Some((domain, code)),
            _ => None,
        }
    }

    /// The bit of this kind in a [`MessageMask`].
    pub fn mask(self) -> MessageMask {
        match self {
            MessageKind::Eos => MessageMask::EOS,
            MessageKind::Error(..) | MessageKind::ChangeFailed(..) => MessageMask::ERROR,
            MessageKind::AsyncDone => MessageMask::ASYNC_DONE,
            MessageKind::Seeked => MessageMask::SEEKED,
            MessageKind::Warning(..) => MessageMask::WARNING,
            MessageKind::StateChanged(_) => MessageMask::STATE_CHANGED,
            MessageKind::Stalled => MessageMask::STALLED,
            MessageKind::Occurrence(_) => MessageMask::OCCURRENCE,
        }
    }

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            MessageKind::Eos => "eos",
            MessageKind::Error(..) | MessageKind::ChangeFailed(..) => "error",
            MessageKind::AsyncDone => "async-done",
            MessageKind::Seeked => "seeked",
            MessageKind::Warning(..) => "warning",
            MessageKind::StateChanged(_) => "state-changed",
            MessageKind::Stalled => "stalled",
            MessageKind::Occurrence(_) => "occurrence",
        }
    }
}

/// One message: at which tick, from which element (`None`: the pipeline itself), what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The pipeline's tick in which it was posted.
    pub tick: u64,
    /// Whose it is; `None` is the pipeline.
    pub element: Option<ElementId>,
    /// What it says.
    pub kind: MessageKind,
}

/// A pipeline's bus: a bounded queue, oldest first. What does not fit is counted, never waited
/// for; errors and the end of the stream always fit (they take the place of the oldest other).
#[derive(bevy_ecs::component::Component, Clone, Debug)]
pub struct Bus {
    queue: VecDeque<Message>,
    capacity: usize,
    lost: u64,
}

impl Bus {
    /// An empty bus for `capacity` messages (at least 1).
    pub fn new(capacity: usize) -> Bus {
        let capacity = capacity.max(1);
        Bus {
            queue: VecDeque::with_capacity(capacity),
            capacity,
            lost: 0,
        }
    }

    /// Adds a message. On a full bus a message of a kind other than error, stall and EOS is
    /// lost; one of those kinds takes the place of the oldest other one, or of the oldest.
    pub fn post(&mut self, message: Message) {
        let vital = MessageMask::ERROR | MessageMask::EOS | MessageMask::STALLED;
        if self.queue.len() >= self.capacity {
            self.lost += 1;
            if !vital.contains(message.kind.mask()) {
                return;
            }
            let victim = self
                .queue
                .iter()
                .position(|m| !vital.contains(m.kind.mask()))
                .unwrap_or(0);
            self.queue.remove(victim);
        }
        self.queue.push_back(message);
    }

    /// Takes the oldest message of a kind in `mask`; those before it stay.
    pub fn pop(&mut self, mask: MessageMask) -> Option<Message> {
        let at = self
            .queue
            .iter()
            .position(|m| mask.contains(m.kind.mask()))?;
        self.queue.remove(at)
    }

    /// How many messages found no place.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Forgets all messages.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.lost = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
