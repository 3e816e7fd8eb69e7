//! Stamps of a counter that begins anew: 32 bits of RTP, 33 of MPEG, any number of them.

use crate::digest::StateVisitor;

/// Makes one line of the values of a counter of so many bits.
///
/// Each value stands for the number nearest to the one before it among all that end in the same
/// bits; one that is exactly half the range away lies ahead. The first stands for itself. So
/// stamps may go back, and the counter may begin anew, as long as no step is more than half of
/// its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwrap {
    bits: u32,
    last: Option<i64>,
}

/// What a counter's value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    /// The number.
    pub value: i64,
    /// The counter began anew since the value before, or the stamps went back over that place.
    pub wrapped: bool,
}

impl Unwrap {
    /// A counter of 1 to 63 bits; `None` for another number of them.
    pub const fn new(bits: u32) -> Option<Unwrap> {
        match bits {
            1..=63 => Some(Unwrap { bits, last: None }),
            _ => None,
        }
    }

    /// How many bits the counter has.
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// What the next value stands for; bits beyond those of the counter are not looked at. `None`
    /// if that does not fit 64 bits: the value is not remembered then.
    pub fn next(&mut self, stamp: i64) -> Option<Unwrapped> {
        let mask = (1i64 << (self.bits - 1)) | ((1i64 << (self.bits - 1)) - 1);
        let stamp = stamp & mask;
        let Some(last) = self.last else {
            self.last = Some(stamp);
            return Some(Unwrapped {
                value: stamp,
                wrapped: false,
            });
        };
        let ahead = stamp.wrapping_sub(last) & mask;
        let half = 1i64 << (self.bits - 1);
        let value = match ahead <= half {
            true => last.checked_add(ahead)?,
            // One less first: the range itself may not fit.
            false => last.checked_add(ahead - mask)?.checked_sub(1)?,
        };
        self.last = Some(value);
        let turn = |v: i64| v >> self.bits;
        Some(Unwrapped {
            value,
            wrapped: turn(value) != turn(last),
        })
    }

    /// Forgets what came before.
    pub fn reset(&mut self) {
        self.last = None;
    }

    /// Shows it to a digest or an inspector.
    pub fn visit(&self, v: &mut dyn StateVisitor) {
        v.unsigned("bits", self.bits.into());
        v.flag("has_last", self.last.is_some());
        v.signed("last", self.last.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(bits: u32, stamps: &[i64]) -> Vec<i64> {
        let mut unwrap = Unwrap::new(bits).expect("bits");
        let next = |s: &i64| unwrap.next(*s).expect("fits").value;
        stamps.iter().map(next).collect()
    }

    #[test]
    fn counters_of_32_and_33_bits() {
        let top = 1i64 << 32;
        assert_eq!(
            all(32, &[top - 3000, 0, 3000, top - 3000]),
            [top - 3000, top, top + 3000, top - 3000]
        );
        let top = 1i64 << 33;
        assert_eq!(
            all(33, &[top - 1, 1, top / 2]),
            [top - 1, top + 1, top + top / 2]
        );
        // Back over the place where it begins, which is before 0 then.
        assert_eq!(all(33, &[5, top - 5]), [5, -5]);
    }

    #[test]
    fn half_the_range_is_ahead() {
        assert_eq!(all(4, &[0, 8, 0]), [0, 8, 16]);
        assert_eq!(all(4, &[0, 9]), [0, -7]);
        assert_eq!(all(1, &[0, 1, 0, 1, 1]), [0, 1, 2, 3, 3]);
        assert_eq!(all(63, &[0, 1 << 62]), [0, 1 << 62]);
        assert_eq!(all(63, &[0, (1 << 62) + 1]), [0, -(1 << 62) + 1]);
    }

    #[test]
    fn wraps_are_told() {
        let mut unwrap = Unwrap::new(8).expect("bits");
        let told = [250, 255, 3, 4, 254].map(|s| unwrap.next(s).expect("fits").wrapped);
        assert_eq!(told, [false, false, true, false, true]);
        assert_eq!((Unwrap::new(0), Unwrap::new(64)), (None, None));
        unwrap.reset();
        let first = unwrap.next(3).expect("fits");
        assert_eq!((first.value, first.wrapped), (3, false));
    }

    #[test]
    fn a_line_that_leaves_64_bits_ends() {
        let mut unwrap = Unwrap::new(63).expect("bits");
        let values = [0, 1 << 62, 0, 1 << 62].map(|s| unwrap.next(s).map(|u| u.value));
        assert_eq!(values, [Some(0), Some(1 << 62), None, Some(1 << 62)]);
    }

    proptest! {
        /// A line whose steps are at most half the range is found again from its last bits.
        #[test]
        fn any_line_is_found_again(
            bits in 1u32..=63,
            first in any::<u64>(),
            steps in proptest::collection::vec(any::<u64>(), 0..40),
        ) {
            let range = 1i128 << bits;
            let mut line = i128::from(first).rem_euclid(range);
            let mut unwrap = Unwrap::new(bits).expect("bits");
            prop_assert_eq!(unwrap.next(line as i64).map(|u| i128::from(u.value)), Some(line));
            for step in steps {
                let step = i128::from(step).rem_euclid(range) - (range / 2 - 1).max(0);
                let Ok(next) = i64::try_from(line + step) else { continue };
                let found = unwrap.next(next).expect("fits");
                prop_assert_eq!(found.value, next);
                prop_assert_eq!(found.wrapped, i128::from(next).div_euclid(range) != line.div_euclid(range));
                line = next.into();
            }
        }
    }
}
