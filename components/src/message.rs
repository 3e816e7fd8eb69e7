//! Messages on a pipeline's [bus](crate::bus): where, what and why, never prose.

use crate::fault::{Code, Domain};
use crate::id::ElementId;
use crate::occurrence::Occurrence;
use crate::state::State;

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
        /// An element left its pipeline.
        const REMOVED = 1 << 9;
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
    /// The element left its pipeline: it passed on what it held, or that was discarded.
    Removed,
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
            MessageKind::Removed => MessageMask::REMOVED,
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
            MessageKind::Removed => "removed",
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

impl Message {
    /// The bit of its kind: a change of state of an element by itself has one of its own.
    pub fn mask(&self) -> MessageMask {
        match (self.kind, self.element) {
            (MessageKind::StateChanged(_), Some(_)) => MessageMask::ELEMENT_STATE,
            _ => self.kind.mask(),
        }
    }
}
