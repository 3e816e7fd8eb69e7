//! Why an element can run now, or what it waits for.

use crate::id::PoolId;

/// An element's readiness, computed in the schedule phase.
///
/// Where several waits hold at once the first of this order is told: done, held by state, caps,
/// time, input, room, buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readiness {
    /// It runs this tick.
    Ready,
    /// Its state keeps it from running.
    #[default]
    Held,
    /// It has nothing left to do.
    Done,
    /// It waits for virtual time to reach this value, in nanoseconds.
    Time(i64),
    /// It waits for something to arrive on the sink pad of this index.
    Input(u32),
    /// It waits for room on the link of the source pad of this index.
    Room(u32),
    /// It waits for a free buffer of this pool.
    Buffer(PoolId),
    /// It wants other caps on a source pad, and waits for the answer.
    Caps,
}

impl Readiness {
    /// A number for digests and comparisons.
    pub fn code(self) -> u64 {
        match self {
            Readiness::Ready => 0,
            Readiness::Held => 1,
            Readiness::Done => 2,
            Readiness::Time(t) => 3 | (t as u64) << 3,
            Readiness::Input(pad) => 4 | u64::from(pad) << 3,
            Readiness::Room(pad) => 5 | u64::from(pad) << 3,
            Readiness::Buffer(pool) => 6 | u64::from(pool.0) << 3,
            Readiness::Caps => 7,
        }
    }
}
