//! The set algebra of two structures: intersection, test of meeting, containment. Field by field,
//! in one walk over both; nothing here allocates.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::features::Features;
use super::limits::{CapsLimitError, CapsLimits, MAX_FIELDS};
use super::set::ValueSet;
use super::structure::{Inline, Structure};
use super::text::{OTHER, Text};
use super::value::Value;

impl Structure {
    #[inline]
    fn order(&self, at: usize, other: &Structure, other_at: usize) -> Ordering {
        let (a, b) = (self.codes[at], other.codes[other_at]);
        if a == OTHER && b == OTHER {
            return self.name_at(at).cmp(other.name_at(other_at));
        }
        a.cmp(&b)
    }

    /// Calls `pair` for the slots of fields that both have until it answers false; answers whether
    /// it never did.
    fn all_common(&self, other: &Structure, mut pair: impl FnMut(usize, usize) -> bool) -> bool {
        let (mut i, mut j) = (0, 0);
        while i < self.len() && j < other.len() {
            match self.order(i, other, j) {
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
        let Some(features) = self.common_features(other) else {
            return Ok(None);
        };
        let mut codes = [0; MAX_FIELDS];
        let mut slots = Inline::new();
        // Not `map`: its closure would be one more place to move the slots to.
        let Some(len) = self.merge(other, limits, &mut codes, &mut slots)? else {
            return Ok(None);
        };
        let media = self.media.clone();
        Ok(Some(Structure::assemble(
            media, features, codes, len, slots,
        )))
    }

    /// Makes a [blank](Structure::blank) structure the intersection; answers whether there is one
    /// (if not, the structure is of no use). In place, for a structure is large to move.
    pub(super) fn intersect_to(
        &self,
        other: &Structure,
        limits: &CapsLimits,
        out: &mut Structure,
    ) -> Result<bool, CapsLimitError> {
        let Some(features) = self.common_features(other) else {
            return Ok(false);
        };
        let (codes, slots) = out.parts();
        let Some(len) = self.merge(other, limits, codes, slots)? else {
            return Ok(false);
        };
        out.finish(self.media.clone(), features, len);
        Ok(true)
    }

    /// The features of both, if they and the media types meet.
    #[inline]
    fn common_features(&self, other: &Structure) -> Option<Features> {
        (self.media == other.media).then(|| self.features.intersect(&other.features))?
    }

    /// Fills the codes and slots of the union, which are empty before; answers how many fields it
    /// has, if all meet.
    #[inline(never)]
    fn merge(
        &self,
        other: &Structure,
        limits: &CapsLimits,
        codes: &mut [u8; MAX_FIELDS],
        slots: &mut Inline,
    ) -> Result<Option<usize>, CapsLimitError> {
        let allowed = limits.fields.min(MAX_FIELDS);
        let (mine, theirs) = (&self.sets()[..self.len()], &other.sets()[..other.len()]);
        let mut names: SmallVec<[&Text; MAX_FIELDS / 2]> = SmallVec::new();
        let (mut i, mut j, mut at) = (0, 0, 0);
        while i < mine.len() || j < theirs.len() {
            let order = if i == mine.len() {
                Ordering::Greater
            } else if j == theirs.len() {
                Ordering::Less
            } else {
                self.order(i, other, j)
            };
            let (from, slot) = match order {
                Ordering::Greater => (other, j),
                _ => (self, i),
            };
            let code = from.codes[slot];
            if at >= allowed {
                return self.too_many(other, limits);
            }
            if code == OTHER {
                // Such a name takes a second slot.
                if at + 2 + names.len() > MAX_FIELDS {
                    return self.too_many(other, limits);
                }
                names.extend(from.spelled_name(slot));
            }
            codes[at] = code;
            at += 1;
            match order {
                Ordering::Less => {
                    mine[i].clone_with(&mut *slots);
                    i += 1;
                }
                Ordering::Greater => {
                    theirs[j].clone_with(&mut *slots);
                    j += 1;
                }
                Ordering::Equal => {
                    let met = mine[i].intersect_with(&theirs[j], &mut *slots);
                    if met.is_none() {
                        return Ok(None);
                    }
                    i += 1;
                    j += 1;
                }
            }
        }
        for name in names {
            slots.push(ValueSet::One(Value::Text(name.clone())));
        }
        Ok(Some(at))
    }

    /// The answer once the union is full: none if a field further on does not meet, else the error.
    #[cold]
    fn too_many(
        &self,
        other: &Structure,
        limits: &CapsLimits,
    ) -> Result<Option<usize>, CapsLimitError> {
        if !self.can_intersect(other) {
            return Ok(None);
        }
        let mut needed = self.len() + other.len() - self.common_fields(other);
        if needed <= limits.fields.min(MAX_FIELDS) {
            // The second slots that names outside of the vocabulary take.
            let mut spelled = usize::from(self.spelled) + usize::from(other.spelled);
            self.all_common(other, |i, _| {
                spelled -= usize::from(self.codes[i] == OTHER);
                true
            });
            needed += spelled;
        }
        Err(CapsLimitError::fields(needed, limits))
    }

    /// Whether something is allowed by both.
    pub fn can_intersect(&self, other: &Structure) -> bool {
        self.common_features(other).is_some() && {
            let (mine, theirs) = (self.sets(), other.sets());
            self.all_common(other, |i, j| mine[i].meets(&theirs[j]))
        }
    }

    /// Whether everything that this one allows is allowed by `other` alone.
    pub fn is_subset(&self, other: &Structure) -> bool {
        if self.media != other.media || !self.features.is_subset(&other.features) {
            return false;
        }
        let mut common = 0;
        self.all_common(other, |i, j| {
            common += 1;
            self.sets()[i].is_subset(&other.sets()[j])
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
