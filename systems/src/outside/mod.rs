//! Work outside the tick: an element hands over items and takes their results at a later tick.
//!
//! With the clock `free` a result can be taken from the next tick on, with `virtual` once the time has
//! passed that the item is said to take: whoever is not done then is waited for. So it makes no
//! difference how many workers there are and how fast. With `wall` nobody waits: what is done is there,
//! in the order in which it was, and the rest of the graph goes on meanwhile.

mod waker;
mod workers;

pub use waker::Waker;
pub use workers::{WorkerTerms, Workers};

use bevy_ecs::resource::Resource;
use core::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::limits::{Limit, Limits};

/// The workers of an engine, for whoever starts an element.
#[derive(Resource, Debug)]
pub struct SharedWorkers(pub Arc<Workers>);

/// What wakes an engine: for whoever brings something from another thread.
#[derive(Resource, Clone, Debug, Default)]
pub struct SharedWaker(pub Arc<Waker>);

/// Whether what an element waits for, outside the tick, is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaited {
    /// Nobody is left who could bring it, or nobody knows.
    #[default]
    Never,
    /// Somebody can still bring it, on another thread, who wakes the engine then.
    Pending,
    /// It is there.
    Ready,
}

impl SharedWorkers {
    /// Those that an engine's limits allow; none is started yet.
    pub fn of(limits: &Limits, waker: &SharedWaker) -> SharedWorkers {
        let terms = WorkerTerms {
            workers: limits.get(Limit::Workers) as usize,
            stack: limits.get(Limit::WorkerStack) as usize,
            priorities: limits.get(Limit::WorkPriorities) as u8,
        };
        SharedWorkers(Arc::new(Workers::new(terms, Arc::clone(&waker.0))))
    }
}

/// What an item gives.
pub type Output = Box<dyn Any + Send>;

/// An item of work. It owns all that it needs.
pub type Item = Box<dyn FnOnce() -> Output + Send>;

/// An item that panicked, and what it said.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the item of work panicked: {0}")]
pub struct ItemPanicked(pub(crate) String);

impl ItemPanicked {
    fn new(panic: &(dyn Any + Send)) -> ItemPanicked {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        ItemPanicked(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}

impl From<ItemPanicked> for ElementError {
    fn from(error: ItemPanicked) -> ElementError {
        ElementError::new(Domain::Core, Code::Panic, error)
    }
}

/// Why an item is not taken over.
#[derive(Debug, Error)]
pub enum HandError {
    /// As many as may be are out.
    #[error("{out} items of work are out, and there may be {most}")]
    Full {
        /// How many are out.
        out: u32,
        /// How many may be.
        most: u32,
    },
    /// There is no such priority.
    #[error("priority {priority} is beyond 0..{priorities} (limit work-priorities)")]
    Priority {
        /// What was asked for.
        priority: u8,
        /// How many there are.
        priorities: u8,
    },
    /// The element did not say that it hands over work.
    #[error("the element says that it hands over no work")]
    Unannounced,
    /// The system gives no thread.
    #[error("no worker can be had: {0}")]
    NoThread(std::io::Error),
}

impl From<HandError> for ElementError {
    fn from(error: HandError) -> ElementError {
        let (domain, code) = match &error {
            HandError::NoThread(_) => (Domain::Resource, Code::Refused),
            _ => (Domain::Core, Code::Limit),
        };
        ElementError::new(domain, code, error)
    }
}

/// An item that is done.
pub struct Done {
    /// The number that it had when it was handed over.
    pub ticket: u64,
    /// What it gave.
    pub result: Result<Output, ItemPanicked>,
}

/// When results can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// From the next tick on.
    Free,
    /// When this time has come, in nanoseconds.
    Virtual(i64),
    /// When they are done.
    Wall,
}

/// An item that is out.
struct Out {
    number: u64,
    /// The tick in which it was handed over.
    handed: u64,
    /// When it is said to be done, in nanoseconds of virtual time.
    due: i64,
    ticket: Arc<workers::Ticket>,
}

/// What was taken, and when: what a run with the clock `wall` took from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The tick.
    pub tick: u64,
    /// The item's number.
    pub ticket: u64,
}

/// The items of one element that are out.
pub struct Outside {
    workers: Arc<Workers>,
    most: u32,
    next: u64,
    out: VecDeque<Out>,
    /// What was taken with the clock `wall`, if that is kept.
    taken: Option<Vec<Taken>>,
}

impl Outside {
    /// None yet, and so many at most.
    pub(crate) fn new(workers: Arc<Workers>, most: u32, keep: bool) -> Outside {
        Outside {
            workers,
            most,
            next: 0,
            out: VecDeque::with_capacity(most as usize),
            taken: keep.then(Vec::new),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// How many more may be out.
    pub(crate) fn room(&self) -> usize {
        (self.most as usize).saturating_sub(self.out.len())
    }

    pub(crate) fn hand(
        &mut self,
        tick: u64,
        due: i64,
        priority: u8,
        item: Item,
    ) -> Result<u64, HandError> {
        let priorities = self.workers.terms().priorities;
        if priority >= priorities {
            return Err(HandError::Priority {
                priority,
                priorities,
            });
        }
        if self.room() == 0 {
            return Err(HandError::Full {
                out: self.out.len() as u32,
                most: self.most,
            });
        }
        let ticket = self.workers.hand(priority, item);
        let ticket = ticket.map_err(HandError::NoThread)?;
        let number = self.next;
        self.next += 1;
        self.out.push_back(Out {
            number,
            handed: tick,
            due,
            ticket,
        });
        Ok(number)
    }

    /// The next result that can be taken.
    pub(crate) fn take(&mut self, tick: u64, pace: Pace) -> Option<Done> {
        let out = (0..).zip(&self.out).filter(|(_, o)| o.handed < tick);
        let at = match pace {
            Pace::Free => out.map(|o| o.0).next(),
            Pace::Virtual(now) => out
                .filter(|(_, o)| o.due <= now)
                .min_by_key(|(_, o)| (o.due, o.number))
                .map(|o| o.0),
            Pace::Wall => out
                .filter_map(|(at, o)| Some((o.ticket.finished()?, at)))
                .min()
                .map(|o| o.1),
        };
        let out = self.out.remove(at?)?;
        if let Some(taken) = self.taken.as_mut().filter(|_| pace == Pace::Wall) {
            taken.push(Taken {
                tick,
                ticket: out.number,
            });
        }
        Some(Done {
            ticket: out.number,
            result: self.workers.take(&out.ticket),
        })
    }

    /// When the next result can be taken, with the clock `virtual`.
    pub(crate) fn due(&self) -> Option<i64> {
        self.out.iter().map(|o| o.due).min()
    }

    /// Whether a result is there, or can come.
    pub(crate) fn awaited(&self) -> Awaited {
        if self.out.iter().any(|o| o.ticket.finished().is_some()) {
            return Awaited::Ready;
        }
        match self.out.is_empty() {
            true => Awaited::Never,
            false => Awaited::Pending,
        }
    }

    /// What was taken with the clock `wall`.
    pub fn taken(&self) -> &[Taken] {
        self.taken.as_deref().unwrap_or_default()
    }

    /// Nobody wants any of it.
    pub(crate) fn give_up(&mut self) {
        for out in self.out.drain(..) {
            self.workers.give_up(&out.ticket);
        }
    }

    pub(crate) fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("handed", self.next);
        for out in &self.out {
            visitor.unsigned("item", out.number);
            visitor.unsigned("since", out.handed);
            visitor.signed("due", out.due);
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.give_up();
    }
}
