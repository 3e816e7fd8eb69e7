//! A point in time or a length of time: a value and its time base, with exact arithmetic.

use super::base::{Rounding, TimeBase, divide, gcd};
use core::cmp::Ordering;

/// `value` units of `base`. Two are equal if they are the same instant, in whatever units.
///
/// Sums and products are made in 128 bits; an answer that no value of 64 bits in a time base of
/// two 32-bit parts can say is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// How many units.
    pub value: i64,
    /// The unit.
    pub base: TimeBase,
}

impl TimeBase {
    /// The largest unit of which both are multiples; `None` if it has no 32-bit parts.
    pub fn common(self, other: TimeBase) -> Option<TimeBase> {
        if self == other {
            return Some(self);
        }
        let (an, ad) = (u64::from(self.num()), u64::from(self.den()));
        let (bn, bd) = (u64::from(other.num()), u64::from(other.den()));
        // Both are reduced, so the least common multiple of the lower parts is as small as can be.
        let num = u32::try_from(gcd(an, bn)).ok()?;
        let den = u32::try_from(u128::from(ad / gcd(ad, bd)) * u128::from(bd)).ok()?;
        TimeBase::new(num, den)
    }

    /// How many units of `part`, which is a part of this one, make one of this.
    fn in_parts(self, part: TimeBase) -> i128 {
        let parts = i128::from(self.num()) * i128::from(part.den());
        parts / (i128::from(self.den()) * i128::from(part.num()))
    }
}

impl Time {
    /// `value` units of `base`.
    pub const fn new(value: i64, base: TimeBase) -> Time {
        Time { value, base }
    }

    /// So many nanoseconds.
    pub const fn nanoseconds(value: i64) -> Time {
        Time::new(value, TimeBase::NANOSECONDS)
    }

    /// The same in another unit, rounded as asked; `None` if it does not fit.
    pub fn convert(self, base: TimeBase, rounding: Rounding) -> Option<Time> {
        let value = self.base.convert(self.value, base, rounding)?;
        Some(Time { value, base })
    }

    /// The sum, exact, in the largest unit that can say it.
    pub fn checked_add(self, other: Time) -> Option<Time> {
        let base = self.base.common(other.base)?;
        let part = |t: Time| i128::from(t.value).checked_mul(t.base.in_parts(base));
        let sum = part(self)?.checked_add(part(other)?)?;
        let value = i64::try_from(sum).ok()?;
        Some(Time { value, base })
    }

    /// The difference, exact, in the largest unit that can say it.
    pub fn checked_sub(self, other: Time) -> Option<Time> {
        self.checked_add(Time::new(other.value.checked_neg()?, other.base))
    }

    /// `num/den` of it in its own unit, rounded as asked; `None` for a `den` of 0.
    pub fn scale(self, num: i64, den: i64, rounding: Rounding) -> Option<Time> {
        if den == 0 {
            return None;
        }
        let (n, d) = (i128::from(self.value) * i128::from(num), i128::from(den));
        // |n| is at most 2^126, so its sign can be turned.
        let scaled = divide(n * d.signum(), d.abs(), rounding);
        let value = i64::try_from(scaled).ok()?;
        Some(Time { value, ..self })
    }
}

impl PartialEq for Time {
    fn eq(&self, other: &Time) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Time) -> Ordering {
        self.base.compare(self.value, other.base, other.value)
    }
}

impl core::fmt::Display for Time {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} x {} s", self.value, self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base(num: u32, den: u32) -> TimeBase {
        TimeBase::new(num, den).expect("valid")
    }

    fn time(value: i64, num: u32, den: u32) -> Time {
        Time::new(value, base(num, den))
    }

    #[test]
    fn sums_of_different_units_are_exact() {
        let sum = time(1, 1001, 30000).checked_add(time(1, 1, 25));
        // 1001/30000 + 1200/30000
        assert_eq!(sum.map(|t| (t.value, t.base)), Some((2201, base(1, 30000))));
        let difference = time(3, 1, 2).checked_sub(time(1, 1, 2));
        let difference = difference.map(|t| (t.value, t.base));
        assert_eq!(difference, Some((2, base(1, 2))));
        assert_eq!(time(2, 1, 2), time(1, 1, 1));
        assert!(time(1, 1, 3) < time(334, 1, 1000));
        assert_eq!(time(-7, 1, 25).to_string(), "-7 x 1/25 s");
    }

    #[test]
    fn what_cannot_be_said_is_nothing() {
        let (max, min) = (time(i64::MAX, 1, 1), time(i64::MIN, 1, 1));
        assert_eq!(max.checked_add(time(1, 1, 1)), None);
        assert_eq!(max.checked_sub(min), None);
        // The common unit would be 1 / (2^32 - 1)(2^32 - 5).
        let odd = time(0, 1, u32::MAX).checked_add(time(0, 1, u32::MAX - 4));
        assert_eq!(odd, None);
        assert_eq!(max.scale(2, 1, Rounding::Down), None);
        assert_eq!(max.scale(1, 0, Rounding::Down), None);
        assert_eq!(min.scale(i64::MIN, i64::MIN, Rounding::Down), Some(min));
        assert_eq!(
            max.scale(-1, 2, Rounding::Up),
            Some(time(-i64::MAX / 2, 1, 1))
        );
        assert_eq!(max.convert(base(1, 2), Rounding::Down), None);
    }

    proptest! {
        #[test]
        fn sums_undo_and_keep_order(
            (a, b) in (-1_000_000_000i64..1_000_000_000, -1_000_000_000i64..1_000_000_000),
            (n1, d1, n2, d2) in (1u32..2_000, 1u32..50_000, 1u32..2_000, 1u32..50_000),
        ) {
            let (a, b) = (time(a, n1, d1), time(b, n2, d2));
            let sum = a.checked_add(b).expect("fits");
            prop_assert_eq!(sum, b.checked_add(a).expect("fits"));
            prop_assert_eq!(sum.checked_sub(b).expect("fits"), a);
            prop_assert_eq!(a.cmp(&sum), 0.cmp(&b.value));
        }

        #[test]
        fn a_part_of_a_time(
            v in -1_000_000_000i64..1_000_000_000,
            (num, den) in (-1_000i64..1_000, prop_oneof![-1_000i64..0, 1i64..1_000]),
        ) {
            let t = time(v, 1, 90_000);
            let of = |r| t.scale(num, den, r).expect("fits").value;
            let (down, up) = (of(Rounding::Down), of(Rounding::Up));
            let exact = i128::from(v) * i128::from(num) * i128::from(den.signum());
            let unit = i128::from(den.abs());
            prop_assert!(i128::from(down) * unit <= exact);
            prop_assert!(exact <= i128::from(up) * unit);
            prop_assert!(up - down <= 1);
        }
    }
}
