//! How a sink keeps time: when a buffer is due, how late it came, and what is said of that.

use crate::buffer::BufferMeta;
use crate::event::{Quality, QualityKind};
use crate::time::{Rounding, Segment, TimeBase};

/// How a sink keeps time. All times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkTerms {
    /// Each buffer is held until its running time.
    pub sync: bool,
    /// A buffer that comes later than this is dropped; below 0 none is.
    pub max_lateness: i64,
    /// Those upstream are told how late buffers come.
    pub qos: bool,
    /// Added to when a buffer is due.
    pub ts_offset: i64,
    /// How long it takes until what is given is seen: it is due so much earlier, and latency says so.
    pub render_delay: u64,
    /// Buffers closer to the last one that was shown than this are dropped; 0 drops none.
    pub throttle_time: u64,
}

impl Default for SinkTerms {
    fn default() -> SinkTerms {
        SinkTerms {
            sync: false,
            max_lateness: -1,
            qos: false,
            ts_offset: 0,
            render_delay: 0,
            throttle_time: 0,
        }
    }
}

/// A sink's terms, and how it kept them so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SinkTiming {
    /// Its terms.
    pub terms: SinkTerms,
    /// What the pipeline's latency adds to when a buffer is due.
    pub latency: i64,
    /// The most that a buffer was late.
    pub max_late: i64,
    /// Buffers that were late.
    pub late: u64,
    /// The running time of the buffer that was shown last.
    pub last: Option<i64>,
}

impl SinkTiming {
    /// The running time of a buffer in a segment; `None` if it has no time, or none in it.
    pub fn running(meta: &BufferMeta, segment: Option<&Segment>) -> Option<i64> {
        let pts = meta.pts?;
        let nanoseconds = TimeBase::NANOSECONDS;
        // The default segment has no unit of its own.
        let Some(segment) = segment.filter(|s| **s != Segment::default()) else {
            return meta.time_base.convert(pts, nanoseconds, Rounding::Down);
        };
        let unit = segment.time_base;
        let at = meta.time_base.convert(pts, unit, Rounding::Down)?;
        let running = segment.to_running_any(at)?;
        unit.convert(running, nanoseconds, Rounding::Down)
    }

    /// When a buffer of this running time is due, in running time.
    pub fn due(&self, running: i64) -> i64 {
        let early = i64::try_from(self.terms.render_delay).unwrap_or(i64::MAX);
        let due = running.saturating_add(self.latency);
        due.saturating_add(self.terms.ts_offset)
            .saturating_sub(early)
    }

    /// What is said upstream of a buffer that came so late (DirectShow: the proportion is 1000 less
    /// the lateness in milliseconds, at least 500, and at most 2000 where it came early).
    pub fn quality(late: i64, timestamp: i64) -> Quality {
        let proportion = (1000 - late / 1_000_000).clamp(500, 2000);
        Quality {
            kind: match late > 0 {
                true => QualityKind::TooLate,
                false => QualityKind::Early,
            },
            proportion: proportion as u32,
            jitter: late,
            timestamp,
        }
    }
}

/// How long something takes from a source to here, in nanoseconds of running time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Some source gives data only as it comes.
    pub live: bool,
    /// At least so long.
    pub min: i64,
    /// At most so long, if it is bounded: more would be lost.
    pub max: Option<i64>,
}

impl Default for Latency {
    fn default() -> Latency {
        Latency {
            live: false,
            min: 0,
            max: Some(0),
        }
    }
}

impl Latency {
    /// So long, and no longer.
    pub const fn of(time: i64) -> Latency {
        Latency {
            live: false,
            min: time,
            max: Some(time),
        }
    }

    /// At least `min`, with room for any more.
    pub const fn elastic(min: i64) -> Latency {
        Latency {
            live: false,
            min,
            max: None,
        }
    }

    /// What comes through this and then `next`.
    #[must_use]
    pub fn then(self, next: Latency) -> Latency {
        let max = self.max.zip(next.max);
        Latency {
            live: self.live || next.live,
            min: self.min.saturating_add(next.min),
            max: max.map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// What is known where two streams meet: the slower one counts, and the less patient one.
    #[must_use]
    pub fn meet(self, other: Latency) -> Latency {
        match (self.live, other.live) {
            // Who is not live can wait as long as anybody wants.
            (true, false) => self,
            (false, true) => other,
            (live, _) => Latency {
                live,
                min: self.min.max(other.min),
                max: match (self.max, other.max) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                },
            },
        }
    }

    /// Whether it cannot be kept: the slowest needs more than the least patient has room for.
    pub fn is_impossible(self) -> bool {
        self.live && self.max.is_some_and(|max| max < self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_due_at_its_running_time() {
        let base = TimeBase::new(1, 25).expect("valid");
        let meta = BufferMeta {
            pts: Some(50),
            time_base: base,
            ..BufferMeta::default()
        };
        let second = 1_000_000_000;
        assert_eq!(SinkTiming::running(&meta, None), Some(2 * second));
        let segment = Segment {
            start: 25,
            base: 75,
            time_base: base,
            ..Segment::default()
        };
        assert_eq!(SinkTiming::running(&meta, Some(&segment)), Some(4 * second));
        let timing = SinkTiming {
            terms: SinkTerms {
                ts_offset: 7,
                render_delay: 10,
                ..SinkTerms::default()
            },
            latency: 100,
            ..SinkTiming::default()
        };
        assert_eq!(timing.due(1000), 1097);
    }

    #[test]
    fn quality_says_what_part_can_be_kept() {
        let ms = 1_000_000;
        for (late, proportion) in [(0, 1000), (ms, 999), (600 * ms, 500), (-3000 * ms, 2000)] {
            assert_eq!(
                SinkTiming::quality(late, 0).proportion,
                proportion,
                "{late}"
            );
        }
    }

    #[test]
    fn latencies_add_up_and_meet() {
        let live = Latency {
            live: true,
            ..Latency::of(40)
        };
        let all = live.then(Latency::elastic(10));
        assert_eq!((all.live, all.min, all.max), (true, 50, None));
        let both = live.meet(all);
        assert_eq!((both.min, both.max), (50, Some(40)));
        assert!(both.is_impossible() && !all.is_impossible());
        assert_eq!(Latency::of(999).meet(live), live);
    }
}
