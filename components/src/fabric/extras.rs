//! What few lanes need: buffers that they fill, keep or copy, waits that they asked for, and what
//! sinks, queues and synchronisers have. Plain data.
//!
//! An element that only passes on what it gets has none of it, and pays a pointer. Who reads where
//! there is nothing reads what a lane begins with.

use super::bounds::QueueBounds;
use super::lane::{Granted, Kept, Posted, SinkFrame};
use super::measures::Measures;
use super::timing::SinkTiming;
use super::watched::Watched;
use crate::id::BufferId;
use crate::occurrence::Tally;
use crate::sync::Synchroniser;
use crate::time::TimeBase;
use core::ops::Deref;
use std::collections::VecDeque;

/// What a lane has beside its queues and counters.
#[derive(Debug)]
pub struct Extra {
    /// Buffers of its own pool that it may fill, lowest first.
    pub granted: VecDeque<Granted>,
    /// Inputs that it alone holds and may write in place.
    pub borrowed: Vec<Granted>,
    /// Buffers that it filled this tick.
    pub published: Vec<Granted>,
    /// Views that it made this tick, each with the buffer whose bytes it shows.
    pub views: Vec<(BufferId, BufferId)>,
    /// References that it added this tick (a tee's copies).
    pub retained: Vec<BufferId>,
    /// How many buffers it said to the planner that it keeps.
    pub declared: u32,
    /// Buffers that it keeps over ticks, oldest first, a reference each.
    pub kept: VecDeque<Kept>,
    /// The buffer of its own pool that it fills over several ticks; at most one.
    pub filling: Vec<Granted>,
    /// It does nothing before this time, in nanoseconds.
    pub wake_at: Option<i64>,
    /// The sink pad that must have an item, or its end, before it goes on.
    pub awaits: Option<u32>,
    /// The source pad that must have room before it goes on, where it moved nothing.
    pub awaits_room: Option<u32>,
    /// Something comes from it without anything that comes to it: results of work outside the tick.
    pub owes: bool,
    /// How a sink keeps time.
    pub timing: Option<SinkTiming>,
    /// What a sink had taken when its way was flushed last.
    pub flushed: Option<u64>,
    /// The next buffer that it emits does not follow the one before: for so many ticks it was kept
    /// from running.
    pub gap: Option<u64>,
    /// The time of the buffer that a sink showed last, how long that lasts, and their unit.
    pub shown: Option<(i64, i64, TimeBase)>,
    /// Sets of inputs, where it has several that go together.
    pub sync: Option<Box<Synchroniser>>,
    /// What its first sink pad holds at most, where it is a queue.
    pub bounds: Option<Box<QueueBounds>>,
    /// What to tell the bus.
    pub posted: Vec<Posted>,
    /// What happened to buffers, and how often; drops without a reason of their own are not in it.
    pub tally: Tally,
    /// What it tells of all that passed through it, where it does.
    pub watched: Option<Box<Watched>>,
    /// What it measures of all that passed through it, where it does.
    pub measures: Option<Box<Measures>>,
    /// Buffers that it copied because another held them, and bytes.
    pub copied: (u64, u64),
    /// Buffers that it sent over links that are there no more, and those of them that went where
    /// nothing was linked.
    pub before: (u64, u64),
    /// A sink had its end over links that are there no more.
    pub ended: bool,
    /// Frames taken, where the report wants them of this sink.
    pub frames: Option<Vec<SinkFrame>>,
}

impl Extra {
    const NONE: Extra = Extra {
        granted: VecDeque::new(),
        borrowed: Vec::new(),
        published: Vec::new(),
        views: Vec::new(),
        retained: Vec::new(),
        declared: 0,
        kept: VecDeque::new(),
        filling: Vec::new(),
        wake_at: None,
        awaits: None,
        awaits_room: None,
        owes: false,
        timing: None,
        flushed: None,
        gap: None,
        shown: None,
        sync: None,
        bounds: None,
        posted: Vec::new(),
        tally: Tally::new(),
        watched: None,
        measures: None,
        copied: (0, 0),
        before: (0, 0),
        ended: false,
        frames: None,
    };
}

/// [`Extra`], made when the first of it is needed. It is read as if it were always there.
#[derive(Debug, Default)]
pub struct Extras(Option<Box<Extra>>);

impl Extras {
    /// None.
    pub const fn new() -> Extras {
        Extras(None)
    }

    /// Whether it was made.
    #[inline]
    pub const fn is_made(&self) -> bool {
        self.0.is_some()
    }

    /// To change where it was made: for what a lane that has none need not do.
    #[inline]
    pub fn made(&mut self) -> Option<&mut Extra> {
        self.0.as_deref_mut()
    }

    /// To change; it is made if need be.
    #[inline]
    pub fn make(&mut self) -> &mut Extra {
        self.0.get_or_insert_with(|| Box::new(Extra::NONE))
    }
}

impl Deref for Extras {
    type Target = Extra;

    #[inline]
    fn deref(&self) -> &Extra {
        static NONE: Extra = Extra::NONE;
        self.0.as_deref().unwrap_or(&NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_makes_nothing_and_reads_what_a_lane_begins_with() {
        let mut extras = Extras::new();
        assert!(extras.kept.is_empty() && extras.wake_at.is_none());
        assert_eq!((extras.copied, extras.made().is_none()), ((0, 0), true));
        extras.make().awaits = Some(3);
        assert_eq!(extras.awaits, Some(3));
        assert!(extras.is_made());
    }
}
