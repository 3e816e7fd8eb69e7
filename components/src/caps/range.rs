//! Ranges of integers on a step grid, ranges of fractions, and sets of flags: exact intersection
//! and subtraction. Reads [`super::fraction`] and the limits only.

use smallvec::SmallVec;
use thiserror::Error;

use super::fraction::Fraction;
use super::limits::{CapsLimitError, CapsLimits};

/// The farthest from zero that a bound of an [`IntRange`] can be: beyond every 32-bit kind.
pub const INT_BOUND: i64 = 1 << 40;
/// The most that the bounds of an [`IntRange`] can be apart, and its step: all that 32 bits count.
pub const INT_SPAN: i64 = u32::MAX as i64;

/// A set of values that cannot be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SetError {
    /// A range whose minimum is above its maximum.
    #[error("range [{min}, {max}] is empty: its minimum is above its maximum")]
    RangeOrder {
        /// The minimum, as text.
        min: String,
        /// The maximum, as text.
        max: String,
    },
    /// A step below zero, or a bound too far out.
    #[error("{what} {value} is outside {low}..={high}")]
    OutOfRange {
        /// `step`, `bound` or `span` (the distance of the bounds).
        what: &'static str,
        /// The value.
        value: i64,
        /// The lowest that can be.
        low: i64,
        /// The highest that can be.
        high: i64,
    },
    /// A list of nothing.
    #[error("a list needs at least one member")]
    EmptyList,
    /// A list with too many members.
    #[error(transparent)]
    Limit(#[from] CapsLimitError),
}

/// The integers `min, min + step, …` up to `max`. The grid is anchored at `min`; step 0 counts as
/// 1; `max` need not lie on the grid (mpipe's form). Never empty.
#[derive(Clone, Copy, Debug)]
pub struct IntRange {
    min: i64,
    span: u32,
    step: u32,
}

/// Equal as sets: `[0, 10, 4]` equals `[0, 8, 4]`.
impl PartialEq for IntRange {
    fn eq(&self, other: &IntRange) -> bool {
        self.min == other.min
            && self.last() == other.last()
            && (self.is_single() || self.step() == other.step())
    }
}

impl Eq for IntRange {}

impl IntRange {
    /// The range `[min, max, step]`.
    ///
    /// # Errors
    /// If `min > max`, if a bound is outside `-2^40..=2^40`, if they are more than `2^32 - 1` apart,
    /// or if the step is outside `0..=2^32 - 1`.
    pub fn new(min: i64, max: i64, step: i64) -> Result<IntRange, SetError> {
        if min > max {
            return Err(SetError::RangeOrder {
                min: min.to_string(),
                max: max.to_string(),
            });
        }
        for (what, value, low, high) in [
            ("bound", min, -INT_BOUND, INT_BOUND),
            ("bound", max, -INT_BOUND, INT_BOUND),
            ("span", max.saturating_sub(min), 0, INT_SPAN),
            ("step", step, 0, INT_SPAN),
        ] {
            if value < low || value > high {
                return Err(SetError::OutOfRange {
                    what,
                    value,
                    low,
                    high,
                });
            }
        }
        Ok(IntRange::within(min, max, step))
    }

    /// A range whose parts are known to fit.
    const fn within(min: i64, max: i64, step: i64) -> IntRange {
        IntRange {
            min,
            span: (max - min) as u32,
            step: step as u32,
        }
    }

    /// The range `[min, max, step]` for constants.
    ///
    /// # Panics
    /// Where [`IntRange::new`] fails; in a constant that is an error of the compiler.
    pub const fn of(min: i64, max: i64, step: i64) -> IntRange {
        let bounds = min <= max && min >= -INT_BOUND && max <= INT_BOUND;
        assert!(bounds && max - min <= INT_SPAN, "not a range");
        assert!(step >= 0 && step <= INT_SPAN, "not a step");
        IntRange::within(min, max, step)
    }

    /// The least member.
    pub const fn min(&self) -> i64 {
        self.min
    }

    /// The maximum as it was given; the greatest member is [`IntRange::last`].
    pub const fn max(&self) -> i64 {
        self.min + self.span as i64
    }

    /// The step as it was given, 0 included.
    pub const fn raw_step(&self) -> i64 {
        self.step as i64
    }

    /// The distance of members, at least 1.
    pub const fn step(&self) -> i64 {
        if self.step < 1 { 1 } else { self.step as i64 }
    }

    /// The greatest member.
    pub const fn last(&self) -> i64 {
        if self.is_dense() {
            return self.max();
        }
        self.max() - self.span as i64 % self.step()
    }

    /// Whether it has one member only.
    pub const fn is_single(&self) -> bool {
        (self.span as i64) < self.step()
    }

    /// How many members it has, at least 1.
    pub const fn count(&self) -> u64 {
        (self.span as i64 / self.step()) as u64 + 1
    }

    /// Whether `value` lies in it, on the grid.
    #[inline]
    pub const fn contains(&self, value: i64) -> bool {
        value >= self.min
            && value <= self.max()
            && (self.step <= 1 || ((value - self.min) as u32).is_multiple_of(self.step))
    }

    /// The member nearest to `target`; of two, the lower one.
    pub const fn nearest(&self, target: i64) -> i64 {
        if target <= self.min {
            return self.min;
        }
        let last = self.last();
        if target >= last {
            return last;
        }
        let over = (target - self.min) % self.step();
        if over * 2 <= self.step() {
            target - over
        } else {
            target - over + self.step()
        }
    }

    /// The members that both have: two grids meet on their common grid.
    pub fn intersect(&self, other: &IntRange) -> Option<IntRange> {
        if self.is_dense() && other.is_dense() {
            return self.intersect_dense(other);
        }
        let low = self.min.max(other.min);
        let high = self.max().min(other.max());
        if low > high {
            return None;
        }
        self.intersect_grids(other, low, high)
    }

    /// Whether no integer between its bounds is left out.
    #[inline(always)]
    pub(super) const fn is_dense(&self) -> bool {
        self.step <= 1
    }

    /// The intersection of two [dense](IntRange::is_dense) ranges.
    #[inline(always)]
    pub(super) fn intersect_dense(&self, other: &IntRange) -> Option<IntRange> {
        let low = self.min.max(other.min);
        let high = self.max().min(other.max());
        (low <= high).then(|| IntRange {
            min: low,
            span: (high - low) as u32,
            step: self.step | other.step,
        })
    }

    /// The common grid between two bounds.
    fn intersect_grids(&self, other: &IntRange, low: i64, high: i64) -> Option<IntRange> {
        let (a, b) = (self.step(), other.step());
        if a == b && (self.min - other.min) % a == 0 {
            return Some(IntRange::within(low, high, a));
        }
        if a == 1 || b == 1 {
            // Every point of the coarser grid within both.
            let (anchor, step) = if a == 1 {
                (other.min, b)
            } else {
                (self.min, a)
            };
            let min = low + (anchor - low).rem_euclid(step);
            return (min <= high).then(|| IntRange::within(min, high, step));
        }
        let (common, inverse) = gcd_inverse(a, b);
        let apart = other.min - self.min;
        if apart % common != 0 {
            return None;
        }
        let turns = i128::from((apart / common).rem_euclid(b / common)) * i128::from(inverse)
            % i128::from(b / common);
        let grid = i128::from(a) * i128::from(b / common);
        let anchor = i128::from(self.min) + i128::from(a) * turns;
        let first = i128::from(low) + (anchor - i128::from(low)).rem_euclid(grid);
        if first > i128::from(high) {
            return None;
        }
        let min = first as i64;
        Some(if first + grid > i128::from(high) {
            IntRange::within(min, min, common)
        } else {
            IntRange::within(min, high, grid as i64)
        })
    }

    /// Whether some member is in both.
    #[inline]
    pub fn meets(&self, other: &IntRange) -> bool {
        if self.step <= 1 && other.step <= 1 {
            return self.min <= other.max() && other.min <= self.max();
        }
        self.intersect(other).is_some()
    }

    /// Appends the members of `self` that are not in `other`, as ranges in rising order of their
    /// minima.
    pub(super) fn subtract(
        &self,
        other: &IntRange,
        limits: &CapsLimits,
        out: &mut SmallVec<[IntRange; 2]>,
    ) -> Result<(), CapsLimitError> {
        let Some(hole) = self.intersect(other) else {
            out.push(*self);
            return Ok(());
        };
        let (step, first, last, end) = (self.step(), hole.min, hole.last(), self.last());
        let piece = IntRange::within;
        if self.min < first {
            out.push(piece(self.min, first - step, step));
        }
        let holes = hole.count();
        if holes > 1 && hole.step() > step {
            let between = (hole.step() / step - 1) as u64;
            let pieces = between.min(holes - 1);
            if pieces.saturating_add(out.len() as u64) > limits.structures as u64 {
                let needed = usize::try_from(pieces).unwrap_or(usize::MAX);
                return Err(CapsLimitError::structures(needed, limits));
            }
            for i in 0..pieces as i64 {
                out.push(if between < holes {
                    let offset = (i + 1) * step;
                    piece(first + offset, last - hole.step() + offset, hole.step())
                } else {
                    let start = first + i * hole.step();
                    piece(start + step, start + hole.step() - step, step)
                });
            }
        }
        if last < end {
            out.push(piece(last + step, end, step));
        }
        Ok(())
    }
}

/// The greatest common divisor of `a` and `b` (above zero), and the inverse of `a / gcd` modulo
/// `b / gcd`.
fn gcd_inverse(a: i64, b: i64) -> (i64, i64) {
    let (mut r0, mut r1, mut t0, mut t1) = (a, b, 1_i64, 0_i64);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    (r0, t0.rem_euclid(b / r0))
}

/// All fractions from `min` to `max`, both included. Never empty. It has no step, as in GStreamer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FractionRange {
    min: Fraction,
    max: Fraction,
}

impl FractionRange {
    /// The range `[min, max]`.
    ///
    /// # Errors
    /// [`SetError::RangeOrder`] if `min > max`.
    pub fn new(min: Fraction, max: Fraction) -> Result<FractionRange, SetError> {
        if min > max {
            return Err(SetError::RangeOrder {
                min: min.to_string(),
                max: max.to_string(),
            });
        }
        Ok(FractionRange { min, max })
    }

    /// The range `[min, max]` for constants.
    ///
    /// # Panics
    /// If `min > max`; in a constant that is an error of the compiler.
    pub const fn of(min: Fraction, max: Fraction) -> FractionRange {
        let left = min.num() as i64 * max.den() as i64;
        assert!(left <= max.num() as i64 * min.den() as i64, "not a range");
        FractionRange { min, max }
    }

    /// The least member.
    pub const fn min(&self) -> Fraction {
        self.min
    }

    /// The greatest member.
    pub const fn max(&self) -> Fraction {
        self.max
    }

    /// Whether it has one member only.
    pub fn is_single(&self) -> bool {
        self.min == self.max
    }

    /// Whether `value` lies in it.
    #[inline]
    pub fn contains(&self, value: Fraction) -> bool {
        self.min <= value && value <= self.max
    }

    /// The member nearest to `target`.
    pub fn nearest(&self, target: Fraction) -> Fraction {
        target.clamp(self.min, self.max)
    }

    /// The members that both have.
    #[inline(always)]
    pub fn intersect(&self, other: &FractionRange) -> Option<FractionRange> {
        let (min, max) = (self.min.max(other.min), self.max.min(other.max));
        (min <= max).then_some(FractionRange { min, max })
    }

    /// Whether some member is in both.
    #[inline]
    pub fn meets(&self, other: &FractionRange) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// Appends the members that are not in `other`.
    pub(super) fn subtract(&self, other: &FractionRange, out: &mut SmallVec<[FractionRange; 2]>) {
        let Some(hole) = self.intersect(other) else {
            out.push(*self);
            return;
        };
        if let Some(max) = hole.min.next_down().filter(|max| *max >= self.min) {
            out.push(FractionRange { min: self.min, max });
        }
        if let Some(min) = hole.max.next_up().filter(|min| *min <= self.max) {
            out.push(FractionRange { min, max: self.max });
        }
    }
}

/// The flag words `w` with `w & mask == flags`: GStreamer's flag set, as in `multiview-flags`.
/// Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagSet {
    flags: u32,
    mask: u32,
}

impl FlagSet {
    /// Words that have exactly `flags` set among the bits of `mask`; flags outside of the mask
    /// are dropped.
    pub const fn new(flags: u32, mask: u32) -> FlagSet {
        FlagSet {
            flags: flags & mask,
            mask,
        }
    }

    /// The flags that are set.
    pub const fn flags(&self) -> u32 {
        self.flags
    }

    /// The bits that are decided.
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// Whether all bits are decided.
    pub const fn is_single(&self) -> bool {
        self.mask == u32::MAX
    }

    /// The words that both have.
    pub const fn intersect(&self, other: &FlagSet) -> Option<FlagSet> {
        if (self.flags ^ other.flags) & self.mask & other.mask != 0 {
            return None;
        }
        Some(FlagSet {
            flags: self.flags | other.flags,
            mask: self.mask | other.mask,
        })
    }

    /// Whether every word of this one is in `other`.
    pub const fn is_subset(&self, other: &FlagSet) -> bool {
        other.mask & !self.mask == 0 && (self.flags ^ other.flags) & other.mask == 0
    }

    /// Appends the words that are not in `other`: one set for each bit that only `other` decides.
    pub(super) fn subtract(&self, other: &FlagSet, out: &mut SmallVec<[FlagSet; 2]>) {
        if self.intersect(other).is_none() {
            out.push(*self);
            return;
        }
        let mut decided = *self;
        for bit in (0..u32::BITS).map(|b| 1_u32 << b) {
            if other.mask & !self.mask & bit == 0 {
                continue;
            }
            let mask = decided.mask | bit;
            out.push(FlagSet::new(decided.flags | (!other.flags & bit), mask));
            decided = FlagSet::new(decided.flags | (other.flags & bit), mask);
        }
    }
}
