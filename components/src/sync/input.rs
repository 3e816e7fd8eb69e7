//! One input of a synchroniser: what it shows, what comes next, and when it advances.
//!
//! It holds references to buffers, and lets go of them as it is told to.

use super::rules::{Extend, SyncRule};
use super::set::SyncFrame;
use crate::id::BufferId;
use crate::time::TimeBase;

/// The time of what never comes.
pub(super) const NEVER: i64 = i64::MAX;

/// Where an input is in its stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No frame of it was shown yet.
    #[default]
    Before,
    /// It shows frames.
    Running,
    /// The place after its last frame was passed.
    After,
}

/// One input of a synchroniser.
#[derive(Clone, Debug, Default)]
pub struct SyncInput {
    /// The time base of its stamps.
    pub time_base: TimeBase,
    /// What it asks for, after the options.
    pub rule: SyncRule,
    /// Its level now: 0 once its end is known.
    pub level: u32,
    /// Where it is.
    pub phase: Phase,
    /// What it shows now. Its reference is with the last set where [`SyncInput::moved`] says so.
    pub current: Option<SyncFrame>,
    /// The reference of `current` went with the last set: nothing shows it again.
    pub moved: bool,
    /// What it shows next, if known.
    pub next: Option<SyncFrame>,
    /// The place after its last frame, once its end is known and that is what comes next.
    pub marker: Option<i64>,
    /// Nothing comes after `next`.
    pub ended: bool,
    /// Of the next frame and the one shown the nearer counts, not the older.
    pub nearest: bool,
    /// It promised that nothing earlier than this comes.
    pub bound: Option<i64>,
    /// It may never say anything: nobody waits for it.
    pub silent: bool,
    /// Frames taken in.
    pub taken: u64,
    /// Sets in which it showed a frame again.
    pub repeated: u64,
    /// Frames that were replaced before any set showed them.
    pub dropped: u64,
    /// Sets in which it had nothing to show.
    pub absent: u64,
    /// Frames that came after a set which was made without waiting for them.
    pub late: u64,
    /// When it advanced last.
    pub(super) time: Option<i64>,
    /// When its last frame is over.
    pub(super) over: Option<i64>,
    /// Until this time sets were made without waiting for it.
    pub(super) passed: Option<i64>,
    /// `next` came later than that allows: it makes no set of its own.
    pub(super) next_is_late: bool,
    /// Whether `current` was in a set.
    pub(super) shown: bool,
}

impl SyncInput {
    /// The time of what comes next, if that is known.
    pub(super) fn next_time(&self) -> Option<i64> {
        self.next.map(|f| f.time).or(self.marker)
    }

    /// Whether what comes next must be known, and is not.
    pub(super) fn lacks_next(&self) -> bool {
        self.next.is_none() && self.marker.is_none() && self.phase != Phase::After
    }

    /// Whether it advances at `now`, the earliest time of all that comes next.
    pub(super) fn advances(&self, now: i64) -> bool {
        let Some(next) = self.next_time() else {
            return false;
        };
        let first = self.phase == Phase::Before && self.rule.before == Extend::Infinity;
        let nearer = |current: i64| {
            let (ahead, behind) = (
                i128::from(next) - i128::from(now),
                i128::from(now) - i128::from(current),
            );
            ahead < behind
        };
        let early = self.nearest && next != NEVER && self.time.is_some_and(nearer);
        next == now || first || early
    }

    /// The buffer that it shows and holds a reference of.
    pub fn held_current(&self) -> Option<BufferId> {
        self.current.filter(|_| !self.moved).map(|f| f.buffer)
    }

    /// Lets go of what it shows.
    pub(super) fn drop_current(&mut self, release: &mut impl FnMut(BufferId)) {
        if let Some(buffer) = self.held_current() {
            self.dropped += u64::from(!self.shown);
            release(buffer);
        }
        self.current = None;
        self.moved = false;
    }
}
