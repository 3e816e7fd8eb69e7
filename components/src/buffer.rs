//! What is known of a buffer besides its bytes.

use crate::id::ElementId;
use crate::time::TimeBase;
use bevy_ecs::component::Component;
use core::num::NonZeroU32;
use thiserror::Error;

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
        /// Its time was not received with it: it was worked out.
        const DERIVED = 1 << 4;
        /// A synchroniser showed a frame once more for it.
        const REPEATED = 1 << 5;
        /// A synchroniser had no frame of an input for it.
        const ABSENT = 1 << 6;
    }
}

/// The element that first let a buffer through without a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntimedBy(NonZeroU32);

impl UntimedBy {
    /// This element.
    pub fn new(element: ElementId) -> UntimedBy {
        UntimedBy(NonZeroU32::MIN.saturating_add(element.0))
    }

    /// Which element.
    pub fn element(self) -> ElementId {
        ElementId(self.0.get() - 1)
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
    /// Who first let it through without a time, if it has none. The framework says so.
    pub untimed_by: Option<UntimedBy>,
}

/// When a buffer begins and ends, in units of its time base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first instant.
    pub start: i64,
    /// The first instant behind it.
    pub stop: i64,
    /// Whether the buffer says so; if not, `stop` is one unit behind `start`.
    pub has_stop: bool,
}

/// A buffer's times that are not known, or cannot be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SpanError {
    /// No time is known (DirectShow: `SAMPLE_TIME_NOT_SET`).
    #[error("the buffer has no time")]
    NotSet,
    /// The end or the duration is no 64 bit number.
    #[error("start {start} and {what} {value} are too far apart for a time of 64 bits")]
    TooFar {
        /// The start.
        start: i64,
        /// What the other is: `stop` or `duration`.
        what: &'static str,
        /// The other.
        value: i64,
    },
}

/// A number of valid bytes that a buffer cannot have (DirectShow: `BUFFER_OVERFLOW`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("length {len} is outside of 0..={size}, the size of the buffer")]
pub struct LengthError {
    /// What was asked.
    pub len: i64,
    /// The most that it has.
    pub size: usize,
}

impl BufferMeta {
    /// When the buffer begins and ends (DirectShow `GetTime`). One with a start only ends one unit
    /// later, and the answer says that this is made up.
    ///
    /// # Errors
    /// [`SpanError`].
    pub fn span(&self) -> Result<Span, SpanError> {
        let start = self.pts.ok_or(SpanError::NotSet)?;
        let lasts = self.duration.unwrap_or(1);
        let stop = start.checked_add(lasts).ok_or(SpanError::TooFar {
            start,
            what: "duration",
            value: lasts,
        })?;
        Ok(Span {
            start,
            stop,
            has_stop: self.duration.is_some(),
        })
    }

    /// Sets when the buffer begins and ends (DirectShow `SetTime`); without a start both are
    /// forgotten, whatever the end is. An end before the start is kept as it is said. There is no
    /// media time besides.
    ///
    /// # Errors
    /// [`SpanError::TooFar`]: nothing is changed.
    pub fn set_span(&mut self, start: Option<i64>, stop: Option<i64>) -> Result<(), SpanError> {
        let lasts = match (start, stop) {
            (Some(start), Some(stop)) => {
                Some(stop.checked_sub(start).ok_or(SpanError::TooFar {
                    start,
                    what: "stop",
                    value: stop,
                })?)
            }
            _ => None,
        };
        (self.pts, self.duration) = (start, lasts);
        Ok(())
    }

    /// Sets the number of valid bytes of a buffer of `size` bytes.
    ///
    /// # Errors
    /// [`LengthError`]: it is negative or beyond the size; nothing is changed.
    pub fn set_len(&mut self, len: i64, size: usize) -> Result<(), LengthError> {
        let fits = usize::try_from(len).ok().filter(|l| *l <= size);
        self.len = fits.ok_or(LengthError { len, size })?;
        Ok(())
    }

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
            untimed_by: Some(UntimedBy::new(ElementId(0))),
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
