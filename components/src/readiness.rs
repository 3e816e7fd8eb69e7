//! Why an element can run now, or what it waits for.

use crate::id::PoolId;

/// An element's readiness, computed in the schedule phase.
///
/// Where several waits hold at once the first of this order is told: done, held by state, caps,
/// time, device, input, room, buffer, nothing to say.
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
    /// It waits for its device.
    Device,
    /// It could run, did, and moved nothing: it has nothing to say until something else changes.
    Silent,
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
            Readiness::Device => 7 | 1 << 3,
            Readiness::Silent => 7 | 2 << 3,
        }
    }

    /// Its stable name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Readiness::Ready => "ready",
            Readiness::Held => "state",
            Readiness::Done => "done",
            Readiness::Time(_) => "time",
            Readiness::Input(_) => "input",
            Readiness::Room(_) => "room",
            Readiness::Buffer(_) => "buffer",
            Readiness::Caps => "caps",
            Readiness::Device => "device",
            Readiness::Silent => "nothing",
        }
    }
}
