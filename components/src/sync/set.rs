//! Frames that go together. Plain data.

use crate::id::BufferId;
use smallvec::SmallVec;

/// A frame on an input: which buffer, its time in the common time base, its place in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncFrame {
    /// The buffer.
    pub buffer: BufferId,
    /// Its time in the common time base.
    pub time: i64,
    /// The how-manyth of its input, from 0.
    pub index: u64,
}

/// How an input takes part in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// With nothing.
    #[default]
    Absent,
    /// With a frame that no set showed before.
    Taken,
    /// With a frame that a set showed before.
    Repeated,
}

/// Frames chosen to be processed together. Each holds one reference of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncSet {
    /// Output time in the synchroniser's [`out_base`](super::Synchroniser::out_base).
    pub pts: i64,
    /// Per input: its frame, or nothing.
    pub frames: SmallVec<[Option<BufferId>; 4]>,
    /// Per input: how it takes part.
    pub shown: SmallVec<[Shown; 4]>,
}

impl SyncSet {
    /// The frame of an input.
    pub fn frame(&self, input: usize) -> Option<BufferId> {
        self.frames.get(input).copied().flatten()
    }

    /// Whether any input takes part like that.
    pub fn any(&self, shown: Shown) -> bool {
        self.shown.contains(&shown)
    }
}

/// What a set was made of, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRecord {
    /// Output time in the synchroniser's [`out_base`](super::Synchroniser::out_base).
    pub pts: i64,
    /// Per input: the index of its frame, or nothing.
    pub indexes: SmallVec<[Option<u64>; 4]>,
}
