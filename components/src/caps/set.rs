//! The set of values that a field allows, and its algebra: membership, intersection, subset,
//! subtraction, all exact. Reads values, ranges and lists.

use smallvec::SmallVec;

use super::fraction::Fraction;
use super::limits::{CapsLimitError, CapsLimits, MAX_LIST};
use super::list::{List, ValueItems, WordOrder};
use super::range::{FlagSet, FractionRange, IntRange, SetError};
use super::text::Text;
use super::value::Value;

/// The values that a field may have; never empty. 24 bytes; a copy or an intersection never
/// allocates.
///
/// Equality is set equality: `[1, 3]`, `{3, 2, 1}` and `{1, 2, 3}` are equal. Lists keep the order
/// in which they were written (the first is preferred) without it counting for equality, and what
/// is left of a list keeps the order of the left operand.
#[derive(Clone, Debug)]
pub enum ValueSet {
    /// One value.
    One(Value),
    /// Integers on a grid.
    IntRange(IntRange),
    /// mpipe's unsigned integers on a grid; they never meet integers.
    UintRange(IntRange),
    /// Fractions between two bounds.
    FractionRange(FractionRange),
    /// Words of flags of which some are decided.
    Flags(FlagSet),
    /// Values in order of preference.
    List(List),
}

const _: () = assert!(size_of::<ValueSet>() == 24);

/// Where a new set goes. Not a closure, for it must become part of every place that makes one.
pub(super) trait Put<R>: Sized {
    fn put(self, set: ValueSet) -> R;
    #[inline(always)]
    fn put_one(self, value: Value) -> R {
        self.put(ValueSet::One(value))
    }
}

/// To the caller.
struct Keep;

impl Put<ValueSet> for Keep {
    #[inline(always)]
    fn put(self, set: ValueSet) -> ValueSet {
        set
    }
}

/// Over a set that owns nothing, as [`UNUSED`] does; it is not dropped.
impl Put<()> for &mut ValueSet {
    #[inline(always)]
    fn put(self, set: ValueSet) {
        std::mem::forget(std::mem::replace(self, set));
    }

    /// Into the value that is there already, without a detour by way of the stack.
    #[inline(always)]
    fn put_one(self, value: Value) {
        match self {
            ValueSet::One(held) => std::mem::forget(std::mem::replace(held, value)),
            _ => self.put(ValueSet::One(value)),
        }
    }
}

/// What holds a place for a set that is still to come.
pub(super) const UNUSED: ValueSet = ValueSet::One(Value::Bool(false));

/// What is left of a set after a subtraction: disjoint sets, often none, one or two.
pub type Pieces = SmallVec<[ValueSet; 2]>;

impl ValueSet {
    /// The integers `min, min + step, …` up to `max`.
    ///
    /// # Errors
    /// As [`IntRange::new`].
    pub fn int_range(min: i64, max: i64, step: i64) -> Result<ValueSet, SetError> {
        IntRange::new(min, max, step).map(ValueSet::IntRange)
    }

    /// mpipe's unsigned range.
    ///
    /// # Errors
    /// If `min > max`.
    pub fn uint_range(min: u32, max: u32, step: u32) -> Result<ValueSet, SetError> {
        IntRange::new(min.into(), max.into(), step.into()).map(ValueSet::UintRange)
    }

    /// The fractions from `min` to `max`.
    ///
    /// # Errors
    /// If `min > max`.
    pub fn fraction_range(min: Fraction, max: Fraction) -> Result<ValueSet, SetError> {
        FractionRange::new(min, max).map(ValueSet::FractionRange)
    }

    /// A list in order of preference; a value that comes twice counts where it came first, and a
    /// list of one is that value.
    ///
    /// # Errors
    /// [`SetError::EmptyList`] for none, [`SetError::Limit`] (`caps-list`) for more than 120.
    pub fn list<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Result<ValueSet, SetError> {
        ValueSet::list_within(values, &CapsLimits::DEFAULT)
    }

    /// As [`ValueSet::list`], within given limits.
    ///
    /// # Errors
    /// As [`ValueSet::list`].
    pub fn list_within<V: Into<Value>>(
        values: impl IntoIterator<Item = V>,
        limits: &CapsLimits,
    ) -> Result<ValueSet, SetError> {
        let allowed = limits.list.min(MAX_LIST);
        let mut unique: Vec<Value> = Vec::new();
        for value in values {
            let value = value.into();
            if unique.contains(&value) {
                continue;
            }
            if unique.len() >= allowed {
                return Err(CapsLimitError::list(unique.len() + 1, limits).into());
            }
            unique.push(value);
        }
        if unique.len() <= 1 {
            return unique.pop().map(ValueSet::One).ok_or(SetError::EmptyList);
        }
        Ok(ValueSet::List(List::from_values(unique, limits)?))
    }

    /// The words of a template's order.
    pub const fn words(order: &'static WordOrder) -> ValueSet {
        ValueSet::List(List::words(order))
    }

    /// The values of a template's list.
    pub const fn items(items: &'static ValueItems) -> ValueSet {
        ValueSet::List(List::values(items))
    }

    /// A known word, for constants (see [`Text::of`]).
    pub const fn word(word: &'static str) -> ValueSet {
        ValueSet::One(Value::of(word))
    }

    /// An integer, for constants.
    pub const fn int(value: i64) -> ValueSet {
        ValueSet::One(Value::Int(value))
    }

    /// Whether `value` is allowed.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (ValueSet::One(one), _) => one == value,
            (ValueSet::IntRange(range), Value::Int(v)) => range.contains(*v),
            (ValueSet::UintRange(range), Value::Uint(v)) => range.contains((*v).into()),
            (ValueSet::FractionRange(range), Value::Fraction(v)) => range.contains(*v),
            (ValueSet::List(list), _) => list.contains(value),
            _ => false,
        }
    }

    /// The only value, if there is one only (a range of one point included).
    pub fn single(&self) -> Option<Value> {
        match self {
            ValueSet::One(value) => Some(value.clone()),
            ValueSet::IntRange(range) => range.is_single().then(|| Value::Int(range.min())),
            ValueSet::UintRange(range) => range.is_single().then(|| Value::Uint(uint(range.min()))),
            ValueSet::FractionRange(range) => {
                range.is_single().then(|| Value::Fraction(range.min()))
            }
            ValueSet::Flags(_) => None,
            ValueSet::List(list) => list.single(),
        }
    }

    /// Whether exactly one value is allowed.
    pub fn is_fixed(&self) -> bool {
        match self {
            ValueSet::One(_) => true,
            ValueSet::IntRange(range) | ValueSet::UintRange(range) => range.is_single(),
            ValueSet::FractionRange(range) => range.is_single(),
            ValueSet::Flags(flags) => flags.is_single(),
            ValueSet::List(list) => list.count() == 1,
        }
    }

    /// Whether it is written as one value: mpipe's "primitive", which a range of one point is not.
    pub const fn is_scalar(&self) -> bool {
        matches!(self, ValueSet::One(_))
    }

    /// The value that fixing chooses: the first of a list, the minimum of a range. Flags that are
    /// not decided become clear.
    pub fn fixated(&self) -> ValueSet {
        match self {
            ValueSet::One(_) => self.clone(),
            ValueSet::IntRange(range) => ValueSet::One(Value::Int(range.min())),
            ValueSet::UintRange(range) => ValueSet::One(Value::Uint(uint(range.min()))),
            ValueSet::FractionRange(range) => ValueSet::One(Value::Fraction(range.min())),
            ValueSet::Flags(flags) => ValueSet::Flags(FlagSet::new(flags.flags(), u32::MAX)),
            ValueSet::List(list) => list
                .iter()
                .next()
                .map_or_else(|| self.clone(), ValueSet::One),
        }
    }

    /// The member nearest to `target` by exact distance; of two, the lower one of a range and the
    /// first of a list. `target` itself if it is a member. `None` if no member is of its kind
    /// (kinds without distance: if it is not a member).
    pub fn nearest(&self, target: &Value) -> Option<Value> {
        if self.contains(target) {
            return Some(target.clone());
        }
        match (self, target) {
            (ValueSet::IntRange(range), Value::Int(v)) => Some(Value::Int(range.nearest(*v))),
            (ValueSet::UintRange(range), Value::Uint(v)) => {
                Some(Value::Uint(uint(range.nearest((*v).into()))))
            }
            (ValueSet::FractionRange(range), Value::Fraction(v)) => {
                Some(Value::Fraction(range.nearest(*v)))
            }
            (ValueSet::One(value), _) => closer(target, None, value),
            (ValueSet::List(list), _) => list
                .iter()
                .fold(None, |best, value| closer(target, best, &value)),
            _ => None,
        }
    }

    /// The values that both allow, in the left operand's order; `None` if there are none. Never
    /// allocates.
    pub fn intersect(&self, other: &ValueSet) -> Option<ValueSet> {
        self.intersect_with(other, Keep)
    }

    /// Hands a copy to `put`. Each form is made where it goes: a copy that is made elsewhere and
    /// moved costs several times as much.
    #[inline(always)]
    pub(super) fn clone_with<R>(&self, put: impl Put<R>) -> R {
        match self {
            ValueSet::One(value) => one_with(value, put),
            ValueSet::IntRange(range) => put.put(ValueSet::IntRange(*range)),
            ValueSet::UintRange(range) => put.put(ValueSet::UintRange(*range)),
            ValueSet::FractionRange(range) => put.put(ValueSet::FractionRange(*range)),
            ValueSet::Flags(flags) => put.put(ValueSet::Flags(*flags)),
            ValueSet::List(list) => put.put(ValueSet::List(list.clone())),
        }
    }

    /// Hands the intersection to `put`, if there is one. What caps are mostly made of is here, the
    /// rest elsewhere, for this becomes part of every place that calls it.
    #[inline(always)]
    pub(super) fn intersect_with<R>(&self, other: &ValueSet, put: impl Put<R>) -> Option<R> {
        use ValueSet::{FractionRange, IntRange, List, One};
        match (self, other) {
            (IntRange(a), IntRange(b)) if a.is_dense() && b.is_dense() => {
                a.intersect_dense(b).map(|r| put.put(IntRange(r)))
            }
            (FractionRange(a), FractionRange(b)) => {
                a.intersect(b).map(|r| put.put(FractionRange(r)))
            }
            (One(a), One(b)) => (a == b).then(|| one_with(a, put)),
            (One(Value::Int(v)), IntRange(range)) | (IntRange(range), One(Value::Int(v))) => {
                range.contains(*v).then(|| put.put_one(Value::Int(*v)))
            }
            (One(Value::Fraction(v)), FractionRange(range))
            | (FractionRange(range), One(Value::Fraction(v))) => {
                range.contains(*v).then(|| put.put_one(Value::Fraction(*v)))
            }
            (One(value), List(list)) | (List(list), One(value)) => {
                list.contains(value).then(|| one_with(value, put))
            }
            (List(a), List(b)) => a.intersect(b).map(|l| put.put(from_list(l))),
            _ => self.intersect_seldom(other).map(|set| put.put(set)),
        }
    }

    /// The intersection of other kinds.
    #[inline(never)]
    fn intersect_seldom(&self, other: &ValueSet) -> Option<ValueSet> {
        use ValueSet::{Flags, IntRange, List, One, UintRange};
        match (self, other) {
            (IntRange(a), IntRange(b)) => a.intersect(b).map(IntRange),
            (One(value), _) => other.contains(value).then(|| self.clone()),
            (_, One(value)) => self.contains(value).then(|| other.clone()),
            (UintRange(a), UintRange(b)) => a.intersect(b).map(UintRange),
            (Flags(a), Flags(b)) => a.intersect(b).map(Flags),
            (List(a), _) => a.keep(|value| other.contains(value)).map(from_list),
            (_, List(b)) => b.keep(|value| self.contains(value)).map(from_list),
            _ => None,
        }
    }

    /// Whether some value is allowed by both.
    #[inline]
    pub fn meets(&self, other: &ValueSet) -> bool {
        use ValueSet::{FractionRange, IntRange, One};
        match (self, other) {
            (IntRange(a), IntRange(b)) if a.is_dense() && b.is_dense() => {
                a.min() <= b.max() && b.min() <= a.max()
            }
            (FractionRange(a), FractionRange(b)) => a.meets(b),
            (One(a), One(b)) => a == b,
            _ => self.meets_seldom(other),
        }
    }

    /// As [`ValueSet::meets`], of other kinds.
    #[inline(never)]
    fn meets_seldom(&self, other: &ValueSet) -> bool {
        use ValueSet::{Flags, IntRange, List, One, UintRange};
        match (self, other) {
            (One(value), set) | (set, One(value)) => set.contains(value),
            (IntRange(a), IntRange(b)) | (UintRange(a), UintRange(b)) => a.meets(b),
            (Flags(a), Flags(b)) => a.intersect(b).is_some(),
            (List(a), List(b)) => a.meets(b),
            (List(list), set) | (set, List(list)) => list.iter().any(|value| set.contains(&value)),
            _ => false,
        }
    }

    /// As [`ValueSet::is_subset`], which becomes part of the caller where that is little.
    #[inline(always)]
    pub(super) fn lies_in(&self, other: &ValueSet) -> bool {
        use ValueSet::{FractionRange, IntRange, One};
        match (self, other) {
            (IntRange(a), IntRange(b)) if a.is_dense() && b.is_dense() => {
                b.min() <= a.min() && a.max() <= b.max()
            }
            (FractionRange(a), FractionRange(b)) => b.contains(a.min()) && b.contains(a.max()),
            (One(a), One(b)) => a == b,
            _ => self.is_subset(other),
        }
    }

    /// Whether every value of this one is allowed by `other`.
    pub fn is_subset(&self, other: &ValueSet) -> bool {
        use ValueSet::{Flags, FractionRange, IntRange, List, One, UintRange};
        match (self, other) {
            (One(value), _) => other.contains(value),
            (List(a), List(b)) => a.is_subset(b),
            (List(list), _) => list.iter().all(|value| other.contains(&value)),
            (IntRange(a), IntRange(b)) | (UintRange(a), UintRange(b)) => {
                a.intersect(b).is_some_and(|c| c.count() == a.count())
            }
            (IntRange(a) | UintRange(a), _) => {
                let kind = |v| match self {
                    UintRange(_) => Value::Uint(uint(v)),
                    _ => Value::Int(v),
                };
                a.count() <= MAX_LIST as u64
                    && (0..a.count() as i64).all(|i| other.contains(&kind(a.min() + i * a.step())))
            }
            (FractionRange(a), FractionRange(b)) => b.contains(a.min()) && b.contains(a.max()),
            (FractionRange(a), _) => {
                // Between two fractions lie finitely many; a list holds at most 128 of them.
                let mut next = Some(a.min());
                while let Some(value) = next.filter(|value| *value <= a.max()) {
                    if !other.contains(&Value::Fraction(value)) {
                        return false;
                    }
                    next = value.next_up();
                }
                true
            }
            (Flags(a), Flags(b)) => a.is_subset(b),
            (Flags(_), _) => false,
        }
    }

    /// The values that `other` does not allow, as disjoint sets; exact. A list stays one list in
    /// its order; a range falls into pieces, lower ones first.
    ///
    /// # Errors
    /// `caps-structures`, if it falls into more pieces than that.
    pub fn subtract(
        &self,
        other: &ValueSet,
        limits: &CapsLimits,
    ) -> Result<Pieces, CapsLimitError> {
        use ValueSet::{Flags, FractionRange, IntRange, List, One, UintRange};
        let mut pieces = Pieces::new();
        match (self, other) {
            (One(value), _) => {
                if !other.contains(value) {
                    pieces.push(self.clone());
                }
            }
            (List(a), List(b)) => pieces.extend(a.subtract(b).map(from_list)),
            (List(a), _) => {
                pieces.extend(a.keep(|value| !other.contains(value)).map(from_list));
            }
            (IntRange(a), IntRange(b)) | (UintRange(a), UintRange(b)) => {
                let mut ranges = SmallVec::new();
                a.subtract(b, limits, &mut ranges)?;
                let unsigned = matches!(self, UintRange(_));
                pieces.extend(ranges.into_iter().map(|range| match unsigned {
                    true => UintRange(range),
                    false => IntRange(range),
                }));
            }
            (FractionRange(a), FractionRange(b)) => {
                let mut ranges = SmallVec::new();
                a.subtract(b, &mut ranges);
                pieces.extend(ranges.into_iter().map(FractionRange));
            }
            (Flags(a), Flags(b)) => {
                let mut sets = SmallVec::new();
                a.subtract(b, &mut sets);
                pieces.extend(sets.into_iter().map(Flags));
            }
            (_, One(value)) => match point(value) {
                Some(point) if self.contains(value) => return self.subtract(&point, limits),
                _ => pieces.push(self.clone()),
            },
            (_, List(list)) => {
                pieces.push(self.clone());
                for point in list.iter().filter_map(|v| point(&v)) {
                    let mut rest = Pieces::new();
                    for piece in &pieces {
                        rest.extend(piece.subtract(&point, limits)?);
                    }
                    if rest.len() > limits.structures {
                        return Err(CapsLimitError::structures(rest.len(), limits));
                    }
                    pieces = rest;
                }
            }
            _ => pieces.push(self.clone()),
        }
        Ok(pieces)
    }

    /// The same set in the form in which it is written shortest: a range or list of one point as
    /// that value, a range with its step at least 1 and its maximum on the grid.
    pub fn canonical(&self) -> ValueSet {
        if let Some(value) = self.single() {
            return ValueSet::One(value);
        }
        match self {
            ValueSet::IntRange(r) => ValueSet::IntRange(IntRange::of(r.min(), r.last(), r.step())),
            ValueSet::UintRange(r) => {
                ValueSet::UintRange(IntRange::of(r.min(), r.last(), r.step()))
            }
            _ => self.clone(),
        }
    }
}

/// Set equality; the order of a list does not count.
impl PartialEq for ValueSet {
    fn eq(&self, other: &ValueSet) -> bool {
        match (self, other) {
            (ValueSet::One(a), ValueSet::One(b)) => a == b,
            (ValueSet::IntRange(a), ValueSet::IntRange(b))
            | (ValueSet::UintRange(a), ValueSet::UintRange(b)) => a == b,
            _ => self.is_subset(other) && other.is_subset(self),
        }
    }
}

impl Eq for ValueSet {}

/// A bound or member of an unsigned range; such a range is made of `u32` only.
fn uint(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(if value < 0 { 0 } else { u32::MAX })
}

fn from_list(list: List) -> ValueSet {
    match list.single() {
        Some(value) => ValueSet::One(value),
        None => ValueSet::List(list),
    }
}

/// Hands a copy of one value to `put`, as [`ValueSet::clone_with`].
#[inline(always)]
fn one_with<R>(value: &Value, put: impl Put<R>) -> R {
    match value {
        Value::Bool(v) => put.put_one(Value::Bool(*v)),
        Value::Int(v) => put.put_one(Value::Int(*v)),
        Value::Uint(v) => put.put_one(Value::Uint(*v)),
        Value::Fraction(v) => put.put_one(Value::Fraction(*v)),
        Value::Bitmask(v) => put.put_one(Value::Bitmask(*v)),
        Value::Text(text) => match text.code() {
            Some(code) => put.put_one(Value::Text(Text::from_code(code))),
            None => put.put_one(Value::Text(text.clone())),
        },
    }
}

/// A value as a range of one point, for the kinds that have ranges.
fn point(value: &Value) -> Option<ValueSet> {
    match value {
        Value::Int(v) => IntRange::new(*v, *v, 1).ok().map(ValueSet::IntRange),
        Value::Uint(v) => ValueSet::uint_range(*v, *v, 1).ok(),
        Value::Fraction(v) => ValueSet::fraction_range(*v, *v).ok(),
        _ => None,
    }
}

/// `candidate` if it is of the target's kind and nearer than `best`, else `best`.
fn closer(target: &Value, best: Option<Value>, candidate: &Value) -> Option<Value> {
    let Some(held) = best else {
        return match (target, candidate) {
            (Value::Int(_), Value::Int(_))
            | (Value::Uint(_), Value::Uint(_))
            | (Value::Fraction(_), Value::Fraction(_)) => Some(candidate.clone()),
            _ => None,
        };
    };
    let nearer = match (target, &held, candidate) {
        (Value::Int(t), Value::Int(a), Value::Int(b)) => b.abs_diff(*t) < a.abs_diff(*t),
        (Value::Uint(t), Value::Uint(a), Value::Uint(b)) => b.abs_diff(*t) < a.abs_diff(*t),
        (Value::Fraction(t), Value::Fraction(a), Value::Fraction(b)) => t.nearer(*b, *a).is_lt(),
        _ => false,
    };
    Some(if nearer { candidate.clone() } else { held })
}

impl<V: Into<Value>> From<V> for ValueSet {
    fn from(value: V) -> ValueSet {
        ValueSet::One(value.into())
    }
}

impl From<IntRange> for ValueSet {
    fn from(range: IntRange) -> ValueSet {
        ValueSet::IntRange(range)
    }
}
