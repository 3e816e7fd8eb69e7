//! What is known of a buffer besides its bytes.

use crate::time::TimeBase;
use bevy_ecs::component::Component;

bitflags::bitflags! {
    /// Marks on a buffer. Cleared when the buffer returns to its pool.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct BufferFlags: u32 {
        /// Decodable without another: a key frame.
        const KEY = 1;
        /// The bytes are known to be damaged.
        const CORRUPT = 1 << 1;
        /// It does not follow the one before it.
        const DISCONTINUITY = 1 << 2;
        /// It stands for an interval without content.
        const GAP = 1 << 3;
    }
}

/// Times, length and flags of a buffer.
///
/// `pts`, `dts` and `duration` count units of `time_base`; `None` is "not known". `len` is the
/// number of valid bytes. `index` counts the buffers of the element that made it, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferMeta {
    /// When it is shown.
    pub pts: Option<i64>,
    /// When it is decoded.
    pub dts: Option<i64>,
    /// How long it lasts.
    pub duration: Option<i64>,
    /// The unit of the three times.
    pub time_base: TimeBase,
    /// Position in the stream of its maker, from 0.
    pub index: u64,
    /// Valid bytes, from the start of the memory.
    pub len: usize,
    /// Marks.
    pub flags: BufferFlags,
}

impl BufferMeta {
    /// What a return to the pool does: times, index and flags are forgotten, the number of valid
    /// bytes stays (DirectShow allocator: the actual length persists into the next use).
    pub fn reset(&mut self) {
        *self = BufferMeta {
            len: self.len,
            ..BufferMeta::default()
        };
    }
}

/// A buffer's entity: which slot of the fabric it is. Its times and holders are in the fabric.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSlot {
    /// Its pool.
    pub pool: crate::id::PoolId,
    /// Its number in the pipeline.
    pub buffer: crate::id::BufferId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_keeps_only_the_length() {
        let mut meta = BufferMeta {
            pts: Some(3),
            dts: Some(2),
            duration: Some(1),
            time_base: TimeBase::MICROSECONDS,
            index: 9,
            len: 123,
            flags: BufferFlags::KEY | BufferFlags::GAP,
        };
        meta.reset();
        assert_eq!(
            meta,
            BufferMeta {
                len: 123,
                ..BufferMeta::default()
            }
        );
    }
}
