//! Segments: which part of a stream is played, how fast, and at which running and stream time
//! (GStreamer: `GstSegment`). Pure arithmetic in 128 bits; nothing here waits.
//!
//! The rules are GStreamer's, without floats. One side rounds down and the other up, so that the
//! two agree: [`Segment::from_running`] is the first position, in the direction of play, that is
//! due at that running time or later.

use super::base::{Rounding, TimeBase, divide, gcd};
use crate::digest::StateVisitor;

/// How fast and which way a segment is played: a fraction that is not 0, below 0 backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    num: i32,
    den: i32,
}

impl Rate {
    /// As fast as it was recorded, forwards.
    pub const ONE: Rate = Rate { num: 1, den: 1 };

    /// The rate `num/den`, reduced, with the sign on top; `None` if either part is 0 or a part
    /// of the reduced fraction does not fit 32 bits.
    pub fn new(num: i32, den: i32) -> Option<Rate> {
        if num == 0 || den == 0 {
            return None;
        }
        let g = i64::try_from(gcd(
            u64::from(num.unsigned_abs()),
            u64::from(den.unsigned_abs()),
        ))
        .ok()?
            * i64::from(den.signum());
        Some(Rate {
            num: i32::try_from(i64::from(num) / g).ok()?,
            den: i32::try_from(i64::from(den) / g).ok()?,
        })
    }

    /// The numerator, with the sign.
    pub const fn num(self) -> i32 {
        self.num
    }

    /// The denominator, at least 1.
    pub const fn den(self) -> i32 {
        self.den
    }

    /// Whether it plays from the end to the start.
    pub const fn is_backward(self) -> bool {
        self.num < 0
    }

    /// The speed without its direction, both parts at least 1.
    fn speed(self) -> (i128, i128) {
        (i128::from(self.num).abs(), i128::from(self.den))
    }
}

impl Default for Rate {
    fn default() -> Self {
        Rate::ONE
    }
}

impl core::fmt::Display for Rate {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

/// A part of a stream that is played. All times count units of `time_base`.
///
/// *Running time* is how long the pipeline has played when something is due; *stream time* is the
/// position that a person sees. The default is all of a stream from 0 on, at rate 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The first stamp that is played.
    pub start: i64,
    /// The stamp at which it ends, if it does. A segment that is played backwards needs one.
    pub stop: Option<i64>,
    /// How fast and which way.
    pub rate: Rate,
    /// The stream time of `start`.
    pub time: i64,
    /// The running time of `start`, or of `stop` if it is played backwards.
    pub base: i64,
    /// The unit.
    pub time_base: TimeBase,
}

impl Segment {
    /// Whether it can be played: it does not end before it starts, and one that is played
    /// backwards has an end.
    pub fn is_playable(&self) -> bool {
        match self.stop {
            Some(stop) => stop >= self.start,
            None => !self.rate.is_backward(),
        }
    }

    /// Whether a stamp lies in it; both ends belong to it.
    pub fn contains(&self, pts: i64) -> bool {
        pts >= self.start && self.stop.is_none_or(|stop| pts <= stop)
    }

    /// The running time at which a stamp is due, rounded down; `None` outside of the segment, or
    /// where it does not fit 64 bits.
    pub fn to_running(&self, pts: i64) -> Option<i64> {
        self.contains(pts).then(|| self.to_running_any(pts))?
    }

    /// The running time of a stamp that may lie outside of the segment: what lies before it has a
    /// running time below `base`. Rounded down.
    pub fn to_running_any(&self, pts: i64) -> Option<i64> {
        let played = if self.rate.is_backward() {
            i128::from(self.stop?) - i128::from(pts)
        } else {
            i128::from(pts) - i128::from(self.start)
        };
        let (num, den) = self.rate.speed();
        let elapsed = divide(played * den, num, Rounding::Down);
        i64::try_from(elapsed + i128::from(self.base)).ok()
    }

    /// The stream time of a stamp, exact; `None` outside of the segment, or where it does not
    /// fit 64 bits. It does not depend on the rate.
    pub fn to_stream(&self, pts: i64) -> Option<i64> {
        if !self.contains(pts) {
            return None;
        }
        let stream = i128::from(pts) - i128::from(self.start) + i128::from(self.time);
        i64::try_from(stream).ok()
    }

    /// The first stamp, in the direction of play, that is due at this running time or later:
    /// rounded up in that direction. `None` before `base`, and outside of the segment.
    pub fn from_running(&self, running: i64) -> Option<i64> {
        let elapsed = i128::from(running) - i128::from(self.base);
        if elapsed < 0 {
            return None;
        }
        let (num, den) = self.rate.speed();
        let played = divide(elapsed * num, den, Rounding::Up);
        let pts = if self.rate.is_backward() {
            i128::from(self.stop?) - played
        } else {
            i128::from(self.start) + played
        };
        i64::try_from(pts).ok().filter(|p| self.contains(*p))
    }

    /// The part of `start..stop` that lies in the segment; `None` if none does. An open end is
    /// that of the segment. What begins at the segment's end, or ends at its start, is outside,
    /// unless it is as empty as the segment or the instant is.
    pub fn clip(&self, start: i64, stop: Option<i64>) -> Option<(i64, Option<i64>)> {
        if let Some(end) = self.stop {
            let empty = self.start == end;
            if start > end || (start == end && !empty) {
                return None;
            }
        }
        if let Some(stop) = stop
            && (stop < self.start || (stop == self.start && start != stop))
        {
            return None;
        }
        let end = match (stop, self.stop) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Some((start.max(self.start), end))
    }

    /// Shows it to a digest or an inspector.
    pub fn visit(&self, v: &mut dyn StateVisitor) {
        v.signed("start", self.start);
        v.flag("has_stop", self.stop.is_some());
        v.signed("stop", self.stop.unwrap_or(0));
        v.signed("rate_num", i64::from(self.rate.num));
        v.signed("rate_den", i64::from(self.rate.den));
        v.signed("time", self.time);
        v.signed("base", self.base);
        v.unsigned("time_base_num", u64::from(self.time_base.num()));
        v.unsigned("time_base_den", u64::from(self.time_base.den()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::StateHasher;
    use proptest::prelude::*;

    fn segment(start: i64, stop: Option<i64>, rate: (i32, i32), time: i64, base: i64) -> Segment {
        Segment {
            start,
            stop,
            rate: Rate::new(rate.0, rate.1).expect("a rate"),
            time,
            base,
            time_base: TimeBase::NANOSECONDS,
        }
    }

    #[test]
    fn rates() {
        let parts = |n, d| Rate::new(n, d).map(|r| (r.num(), r.den()));
        assert_eq!(parts(2, -4), Some((-1, 2)));
        assert_eq!(parts(-30, -20), Some((3, 2)));
        assert_eq!(parts(i32::MIN, i32::MIN), Some((1, 1)));
        assert_eq!((parts(0, 1), parts(1, 0)), (None, None));
        // -2^31 with the sign turned does not fit.
        assert_eq!(parts(i32::MIN, -1), None);
        assert_eq!(parts(3, i32::MIN), None);
    }

    #[test]
    fn the_default_is_all_of_a_stream() {
        let s = Segment::default();
        for pts in [0, 1, i64::MAX] {
            assert_eq!(s.to_running(pts), Some(pts));
            assert_eq!(s.to_stream(pts), Some(pts));
            assert_eq!(s.from_running(pts), Some(pts));
        }
        assert_eq!(s.to_running(-1), None);
        assert_eq!(s.to_running_any(-1), Some(-1));
        assert_eq!(s.from_running(-1), None);
    }

    #[test]
    fn twice_as_fast_from_200() {
        let s = segment(200, Some(300), (2, 1), 1200, 50);
        let running = [200, 201, 202, 300, 301, 199].map(|p| s.to_running(p));
        assert_eq!(
            running,
            [Some(50), Some(50), Some(51), Some(100), None, None]
        );
        assert_eq!(s.to_stream(300), Some(1300));
        let back = [49, 50, 51, 100, 101].map(|t| s.from_running(t));
        assert_eq!(back, [None, Some(200), Some(202), Some(300), None]);
    }

    #[test]
    fn backwards_counts_from_the_end() {
        let s = segment(200, Some(300), (-1, 2), 0, 7);
        let running = [300, 299, 200, 301].map(|p| s.to_running(p));
        assert_eq!(running, [Some(7), Some(9), Some(207), None]);
        assert_eq!(s.to_stream(300), Some(100));
        assert_eq!(s.from_running(8), Some(299));
        let open = segment(200, None, (-1, 1), 0, 0);
        assert!(!open.is_playable());
        assert_eq!((open.to_running(250), open.from_running(0)), (None, None));
    }

    #[test]
    fn clips_as_gstreamer_does() {
        let s = segment(10, Some(20), (1, 1), 0, 0);
        let rows = [
            (0, Some(10), None),
            (0, Some(11), Some((10, Some(11)))),
            (10, Some(10), Some((10, Some(10)))),
            (15, None, Some((15, Some(20)))),
            (15, Some(99), Some((15, Some(20)))),
            (20, Some(30), None),
            (20, None, None),
        ];
        for (start, stop, want) in rows {
            assert_eq!(s.clip(start, stop), want, "{start}..{stop:?}");
        }
        let empty = segment(10, Some(10), (1, 1), 0, 0);
        assert_eq!(empty.clip(10, Some(12)), Some((10, Some(10))));
        assert_eq!(empty.clip(11, None), None);
        assert_eq!(Segment::default().clip(3, None), Some((3, None)));
    }

    #[test]
    fn what_does_not_fit_is_nothing() {
        let s = segment(i64::MIN, None, (1, i32::MAX), i64::MAX, i64::MAX);
        assert_eq!(s.to_running(i64::MAX), None);
        assert_eq!(s.to_stream(i64::MAX), None);
        let fast = segment(0, None, (i32::MAX, 1), 0, i64::MIN);
        assert_eq!(fast.from_running(i64::MAX), None);
    }

    #[test]
    fn every_field_is_in_the_digest() {
        let of = |s: Segment| {
            let mut h = StateHasher::new();
            s.visit(&mut h);
            h.digest()
        };
        let s = Segment::default();
        let micro = TimeBase::MICROSECONDS;
        let others = [
            Segment { start: 1, ..s },
            Segment { stop: Some(0), ..s },
            segment(0, None, (-1, 1), 0, 0),
            segment(0, None, (1, 2), 0, 0),
            Segment { time: 1, ..s },
            Segment { base: 1, ..s },
            Segment {
                time_base: micro,
                ..s
            },
        ];
        let mut seen: Vec<u64> = others.into_iter().chain([s]).map(of).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 8);
    }

    proptest! {
        /// What `from_running` answers is the first position that is due then or later.
        #[test]
        fn the_first_that_is_due(
            (start, len) in (-1_000_000i64..1_000_000, 0i64..2_000_000),
            (num, den) in (prop_oneof![-40i32..0, 1i32..40], 1i32..40),
            (time, base, running) in (0i64..1_000, 0i64..1_000, -1_000i64..3_000_000),
        ) {
            let s = segment(start, Some(start + len), (num, den), time, base);
            let step = if num < 0 { -1 } else { 1 };
            match s.from_running(running) {
                Some(pts) => {
                    prop_assert!(s.to_running(pts).expect("inside") >= running);
                    prop_assert!(s.to_running_any(pts - step).expect("fits") < running);
                }
                None => {
                    let last = if num < 0 { s.start } else { start + len };
                    let due = s.to_running(last).expect("inside");
                    prop_assert!(running < base || running > due, "{running} in {base}..={due}");
                }
            }
        }

        /// Running time never goes back in the direction of play; stream time never does in that
        /// of the stream. A speed of 1 or less loses no position.
        #[test]
        fn monotonic(
            (num, den) in (prop_oneof![-40i32..0, 1i32..40], 1i32..40),
            (a, d, base) in (0i64..1_000, 0i64..1_000, -500i64..500),
        ) {
            let s = segment(0, Some(2_000), (num, den), 77, base);
            let (x, y) = (s.to_running(a).expect("in"), s.to_running(a + d).expect("in"));
            let (first, then) = if num < 0 { (y, x) } else { (x, y) };
            prop_assert!(first <= then);
            prop_assert_eq!(s.to_stream(a), Some(a + 77));
            if num.abs() <= den {
                prop_assert_eq!(s.from_running(x), Some(a));
            }
        }

        /// A clipped interval lies in both.
        #[test]
        fn clipped_is_inside(
            (start, len) in (-50i64..50, 0i64..50),
            (a, l) in (-100i64..100, proptest::option::of(0i64..100)),
        ) {
            let s = segment(start, Some(start + len), (1, 1), 0, 0);
            let stop = l.map(|l| a + l);
            if let Some((x, y)) = s.clip(a, stop) {
                let y = y.expect("the segment ends");
                prop_assert!(x >= a.max(s.start) && x <= y);
                prop_assert!(y <= start + len && stop.is_none_or(|e| y <= e));
            }
        }
    }
}
