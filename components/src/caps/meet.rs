//! The set algebra of two structures: intersection, test of meeting, containment. Field by field,
//! in one walk over both; nothing here allocates.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::features::Features;
use super::limits::{CapsLimitError, CapsLimits, MAX_FIELDS};
use super::set::ValueSet;
use super::structure::{Inline, Structure, append};
use super::text::Text;
use super::value::Value;

/// Names outside of the vocabulary, each of which takes a second slot.
type Names<'a> = SmallVec<[&'a Text; MAX_FIELDS / 2]>;

impl Structure {
    /// Calls `pair` for the slots of fields that both have until it answers false; answers whether
    /// it never did.
    #[inline]
    fn all_common(&self, other: &Structure, mut pair: impl FnMut(usize, usize) -> bool) -> bool {
        let (mut i, mut j) = (0, 0);
        let mut union = self.known | other.known;
        while union != 0 {
            let bit = union & union.wrapping_neg();
            union ^= bit;
            let (mine, theirs) = (self.known & bit != 0, other.known & bit != 0);
            if mine && theirs && !pair(i, j) {
                return false;
            }
            i += usize::from(mine);
            j += usize::from(theirs);
        }
        if self.spelled == 0 || other.spelled == 0 {
            return true;
        }
        while i < self.len() && j < other.len() {
            match self.spelled_name(i).cmp(&other.spelled_name(j)) {
                Ordering::Less => i += 1,
                Ordering::Greater => j += 1,
                Ordering::Equal => {
                    if !pair(i, j) {
                        return false;
                    }
                    i += 1;
                    j += 1;
                }
            }
        }
        true
    }

    /// Exact set intersection: the union of the fields of both, each with what both allow; `None`
    /// if media type, features or a field do not meet. Lists keep the left operand's order.
    ///
    /// # Errors
    /// `caps-fields`, if they do meet and the union has more fields than [`MAX_FIELDS`].
    #[inline]
    pub fn intersect(&self, other: &Structure) -> Result<Option<Structure>, CapsLimitError> {
        self.intersect_within(other, &CapsLimits::DEFAULT)
    }

    /// As [`Structure::intersect`], within given limits.
    ///
    /// # Errors
    /// `caps-fields`, if they do meet and the union has more fields than allowed.
    pub fn intersect_within(
        &self,
        other: &Structure,
        limits: &CapsLimits,
    ) -> Result<Option<Structure>, CapsLimitError> {
        // Not made elsewhere and moved here.
        let mut out = Ok(Some(Structure::blank()));
        if let Ok(Some(both)) = &mut out {
            match self.intersect_to(other, limits, both) {
                Ok(true) => {}
                Ok(false) => out = Ok(None),
                Err(error) => out = Err(error),
            }
        }
        out
    }

    /// Makes a [blank](Structure::blank) structure the intersection; answers whether there is one
    /// (if not, the structure is to be cleared). In place, for a structure is large to move.
    pub(super) fn intersect_to(
        &self,
        other: &Structure,
        limits: &CapsLimits,
        out: &mut Structure,
    ) -> Result<bool, CapsLimitError> {
        if !self.heads_meet(other) {
            return Ok(false);
        }
        let most = limits.fields.min(MAX_FIELDS);
        if self.used() + other.used() > most
            && let Some(needed) = self.past(other, most)
        {
            return match self.can_intersect(other) {
                true => Err(CapsLimitError::fields(needed, limits)),
                false => Ok(false),
            };
        }
        let slots = out.inline();
        debug_assert!(slots.is_empty(), "not blank");
        let union = self.known | other.known;
        let count = match (union == self.known, union == other.known) {
            (true, _) => self.known_len(),
            (_, true) => other.known_len(),
            _ => union.count_ones() as usize,
        };
        let mut mine = self.sets()[..self.known_len()].iter();
        let mut theirs = other.sets()[..other.known_len()].iter();
        let mut left = union;
        for place in append(slots, count) {
            let bit = left & left.wrapping_neg();
            left ^= bit;
            if other.known & bit == 0 {
                if let Some(set) = mine.next() {
                    set.clone_with(place);
                }
            } else if self.known & bit == 0 {
                if let Some(set) = theirs.next() {
                    set.clone_with(place);
                }
            } else if let (Some(a), Some(b)) = (mine.next(), theirs.next())
                && a.intersect_with(b, place).is_none()
            {
                return Ok(false);
            }
        }
        let mut names = Names::new();
        if self.spelled | other.spelled != 0 && !self.spelled_to(other, slots, &mut names) {
            return Ok(false);
        }
        out.len = (slots.len() - names.len()) as u8;
        out.spelled = names.len() as u8;
        out.known = union;
        out.media = self.media.clone();
        out.features = match self.features {
            Features::Any => other.features.clone(),
            _ => self.features.clone(),
        };
        Ok(true)
    }

    /// Whether media types and features meet.
    #[inline]
    fn heads_meet(&self, other: &Structure) -> bool {
        self.media == other.media && self.features.meets(&other.features)
    }

    /// Appends to `slots` what fields with names outside of the vocabulary allow in both, and then
    /// the names; to `names` each of these. Answers whether all meet.
    fn spelled_to<'a>(
        &'a self,
        other: &'a Structure,
        slots: &mut Inline,
        names: &mut Names<'a>,
    ) -> bool {
        let (mut i, mut j) = (self.known_len(), other.known_len());
        while i < self.len() || j < other.len() {
            // `None` where a side has no more.
            let a = (i < self.len()).then(|| self.spelled_name(i)).flatten();
            let b = (j < other.len()).then(|| other.spelled_name(j)).flatten();
            let order = match (a, b) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let set = match order {
                Ordering::Less => Some(self.sets()[i].clone()),
                Ordering::Greater => Some(other.sets()[j].clone()),
                Ordering::Equal => self.sets()[i].intersect(&other.sets()[j]),
            };
            let Some(set) = set else { return false };
            slots.push(set);
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
            names.extend(if order.is_gt() { b } else { a });
        }
        for name in names.iter() {
            slots.push(ValueSet::One(Value::Text((*name).clone())));
        }
        true
    }

    /// How many fields the union has, if they are more than `most`; else how many slots, if those
    /// are too many.
    #[cold]
    fn past(&self, other: &Structure, most: usize) -> Option<usize> {
        let mut spelled = usize::from(self.spelled) + usize::from(other.spelled);
        let mut fields = self.len() + other.len();
        self.all_common(other, |i, _| {
            spelled -= usize::from(i >= self.known_len());
            fields -= 1;
            true
        });
        if fields > most {
            return Some(fields);
        }
        (fields + spelled > MAX_FIELDS).then_some(fields + spelled)
    }

    /// Whether something is allowed by both.
    pub fn can_intersect(&self, other: &Structure) -> bool {
        if !self.heads_meet(other) {
            return false;
        }
        let (mine, theirs) = (self.sets(), other.sets());
        if self.known == other.known && self.spelled.min(other.spelled) == 0 {
            let mut pairs = mine[..self.known_len()].iter().zip(theirs);
            return pairs.all(|(a, b)| a.meets(b));
        }
        self.all_common(other, |i, j| mine[i].meets(&theirs[j]))
    }

    /// Whether everything that this one allows is allowed by `other` alone.
    pub fn is_subset(&self, other: &Structure) -> bool {
        if other.known & !self.known != 0 || other.spelled > self.spelled {
            return false;
        }
        self.media == other.media
            && self.features.is_subset(&other.features)
            && self.fields_lie_in(other)
    }

    /// Whether each field of `other` is here too, and allows no more.
    fn fields_lie_in(&self, other: &Structure) -> bool {
        let (mine, theirs) = (self.sets(), other.sets());
        if self.known == other.known && self.spelled == 0 {
            let mut pairs = mine[..self.len()].iter().zip(theirs);
            return pairs.all(|(a, b)| a.lies_in(b));
        }
        let mut common = 0;
        self.all_common(other, |i, j| {
            common += 1;
            mine[i].lies_in(&theirs[j])
        }) && common == other.len()
    }

    /// How many fields both have.
    pub fn common_fields(&self, other: &Structure) -> usize {
        let mut common = 0;
        self.all_common(other, |_, _| {
            common += 1;
            true
        });
        common
    }

    /// Calls `found` with the slots of each field that both have and that does not meet.
    pub(super) fn conflicting(&self, other: &Structure, mut found: impl FnMut(usize, usize)) {
        self.all_common(other, |i, j| {
            if !self.sets()[i].meets(&other.sets()[j]) {
                found(i, j);
            }
            true
        });
    }
}
