//! Time bases: seconds per unit as a fraction, and conversions between them in 128 bits.
//!
//! No float takes part. Conversions round to nearest with halves away from zero unless another
//! [`Rounding`] is asked for (FFmpeg framesync: stamps enter the common time base so).

use core::cmp::Ordering;

/// Seconds per unit as a fraction, both parts at least 1.
///
/// The default is nanoseconds, `1/1000000000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeBase {
    num: u32,
    den: u32,
}

/// How a conversion between time bases rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest value, halves away from zero.
    Nearest,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

impl TimeBase {
    /// One nanosecond.
    pub const NANOSECONDS: TimeBase = TimeBase {
        num: 1,
        den: 1_000_000_000,
    };
    /// One microsecond.
    pub const MICROSECONDS: TimeBase = TimeBase {
        num: 1,
        den: 1_000_000,
    };

    /// A time base of `num/den` seconds, reduced; `None` if either part is 0.
    pub const fn new(num: u32, den: u32) -> Option<TimeBase> {
        if num == 0 || den == 0 {
            return None;
        }
        let g = gcd(num as u64, den as u64) as u32;
        Some(TimeBase {
            num: num / g,
            den: den / g,
        })
    }

    /// The duration of one frame at a rate of `num/den` frames a second; `None` if either part
    /// is not positive (a rate of 0 says that it is unknown or variable).
    pub fn of_rate(num: i32, den: i32) -> Option<TimeBase> {
        match (u32::try_from(num), u32::try_from(den)) {
            (Ok(n), Ok(d)) => TimeBase::new(d, n),
            _ => None,
        }
    }

    /// The numerator.
    pub const fn num(self) -> u32 {
        self.num
    }

    /// The denominator.
    pub const fn den(self) -> u32 {
        self.den
    }

    /// `value` units of `self` in units of `to`, or `None` if that does not fit 64 bits.
    pub fn convert(self, value: i64, to: TimeBase, rounding: Rounding) -> Option<i64> {
        if self == to {
            return Some(value);
        }
        let n = i128::from(value) * i128::from(self.num) * i128::from(to.den);
        let d = i128::from(self.den) * i128::from(to.num);
        i64::try_from(divide(n, d, rounding)).ok()
    }

    /// Compares `a` units of `self` with `b` units of `other`, exactly.
    pub fn compare(self, a: i64, other: TimeBase, b: i64) -> Ordering {
        if self == other {
            return a.cmp(&b);
        }
        let left = i128::from(a) * i128::from(self.num) * i128::from(other.den);
        let right = i128::from(b) * i128::from(other.num) * i128::from(self.den);
        left.cmp(&right)
    }

    /// The common time base of two inputs (FFmpeg framesync: `den = lcm`, `num = gcd`, or
    /// microseconds once that lcm is 500 000 or more).
    pub fn merge(self, other: TimeBase) -> TimeBase {
        let g = gcd(u64::from(self.den), u64::from(other.den));
        let den = u64::from(self.den) / g * u64::from(other.den);
        if den >= 500_000 {
            return TimeBase::MICROSECONDS;
        }
        let num = gcd(u64::from(self.num), u64::from(other.num));
        TimeBase::new(num as u32, den as u32).unwrap_or(TimeBase::MICROSECONDS)
    }
}

impl Default for TimeBase {
    fn default() -> Self {
        TimeBase::NANOSECONDS
    }
}

impl core::fmt::Display for TimeBase {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

/// Greatest common divisor; `gcd(0, b)` is `b`.
pub const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `n / d` for a positive `d`.
pub(super) fn divide(n: i128, d: i128, rounding: Rounding) -> i128 {
    let (q, r) = (n.div_euclid(d), n.rem_euclid(d));
    match rounding {
        Rounding::Down => q,
        Rounding::Up => q + i128::from(r != 0),
        Rounding::Nearest => match (2 * r).cmp(&d) {
            Ordering::Less => q,
            Ordering::Greater => q + 1,
            // A half: away from zero.
            Ordering::Equal => q + i128::from(n >= 0),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base(num: u32, den: u32) -> TimeBase {
        TimeBase::new(num, den).expect("valid")
    }

    #[test]
    fn halves_go_away_from_zero() {
        let (half, one) = (base(1, 2), base(1, 1));
        for (v, want) in [(1, 1), (-1, -1), (3, 2), (-3, -2), (2, 1)] {
            assert_eq!(half.convert(v, one, Rounding::Nearest), Some(want), "{v}/2");
        }
        assert_eq!(half.convert(-1, one, Rounding::Down), Some(-1));
        assert_eq!(half.convert(-1, one, Rounding::Up), Some(0));
    }

    #[test]
    fn common_base_as_in_framesync() {
        // FFmpeg framesync: the four consequences written in its rules.
        assert_eq!(base(1001, 24000).merge(base(1, 9)), base(1, 72000));
        assert_eq!(base(1001, 24000).merge(base(1, 120)), base(1, 24000));
        assert_eq!(base(1001, 30000).merge(base(1, 20)), base(1, 30000));
        let micro = base(1, 90000).merge(base(1, 48000));
        assert_eq!(micro, TimeBase::MICROSECONDS);
        assert_eq!(
            base(1, 90000).convert(1, micro, Rounding::Nearest),
            Some(11)
        );
        assert_eq!(
            base(1, 48000).convert(1, micro, Rounding::Nearest),
            Some(21)
        );
    }

    #[test]
    fn does_not_fit() {
        assert_eq!(
            base(1, 1).convert(i64::MAX, base(1, 2), Rounding::Nearest),
            None
        );
        assert_eq!(TimeBase::of_rate(0, 1), None);
        assert_eq!(TimeBase::of_rate(30000, 1001), Some(base(1001, 30000)));
    }

    proptest! {
        #[test]
        fn convert_agrees_with_compare(
            v in -1_000_000_000i64..1_000_000_000,
            (n1, d1, n2, d2) in (1u32..100_000, 1u32..100_000, 1u32..100_000, 1u32..100_000),
        ) {
            let (a, b) = (base(n1, d1), base(n2, d2));
            let down = a.convert(v, b, Rounding::Down).expect("fits");
            let up = a.convert(v, b, Rounding::Up).expect("fits");
            let near = a.convert(v, b, Rounding::Nearest).expect("fits");
            prop_assert!(a.compare(v, b, down).is_ge() && a.compare(v, b, down + 1).is_lt());
            prop_assert!(a.compare(v, b, up).is_le());
            prop_assert!(near == down || near == up);
        }
    }
}
