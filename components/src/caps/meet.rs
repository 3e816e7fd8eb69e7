//! The set algebra of two structures: intersection, test of meeting, containment. Field by field,
//! in one walk over both; nothing here allocates.

use std::cmp::Ordering;

use super::limits::{CapsLimitError, CapsLimits, MAX_FIELDS};
use super::structure::Structure;
use super::text::{OTHER, name_cmp};

impl Structure {
    #[inline]
    fn order(&self, at: usize, other: &Structure, other_at: usize) -> Ordering {
        let (a, b) = (self.codes[at], other.codes[other_at]);
        if a == OTHER && b == OTHER {
            return name_cmp(a, &self.others[at], b, &other.others[other_at]);
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
        if self.media != other.media {
            return Ok(None);
        }
        let Some(features) = self.features.intersect(&other.features) else {
            return Ok(None);
        };
        let allowed = limits.fields.min(MAX_FIELDS);
        let mut out = Structure::blank(self.media.clone(), features);
        let (mine, theirs) = (self.len(), other.len());
        let (mut i, mut j, mut at) = (0, 0, 0);
        while i < mine || j < theirs {
            let order = if i == mine {
                Ordering::Greater
            } else if j == theirs {
                Ordering::Less
            } else {
                self.order(i, other, j)
            };
            if at == allowed {
                return self.too_many(i, other, j, allowed, limits);
            }
            match order {
                Ordering::Less => {
                    self.sets[i].clone_to(out.slot_for(at, self, i));
                    i += 1;
                }
                Ordering::Greater => {
                    other.sets[j].clone_to(out.slot_for(at, other, j));
                    j += 1;
                }
                Ordering::Equal => {
                    let slot = out.slot_for(at, self, i);
                    if !self.sets[i].intersect_to(&other.sets[j], slot) {
                        return Ok(None);
                    }
                    i += 1;
                    j += 1;
                }
            }
            at += 1;
        }
        out.len = at as u8;
        Ok(Some(out))
    }

    /// The answer once the union is full: none if a field further on does not meet, else the error.
    fn too_many(
        &self,
        i: usize,
        other: &Structure,
        j: usize,
        full: usize,
        limits: &CapsLimits,
    ) -> Result<Option<Structure>, CapsLimitError> {
        let mut common = 0;
        let meets = self.all_common(other, |a, b| {
            common += usize::from(a >= i && b >= j);
            self.sets[a].meets(&other.sets[b])
        });
        if !meets {
            return Ok(None);
        }
        let needed = full + (self.len() - i) + (other.len() - j) - common;
        Err(CapsLimitError::fields(needed, limits))
    }

    /// Whether something is allowed by both.
    pub fn can_intersect(&self, other: &Structure) -> bool {
        self.media == other.media
            && self.features.intersect(&other.features).is_some()
            && self.all_common(other, |i, j| self.sets[i].meets(&other.sets[j]))
    }

    /// Whether everything that this one allows is allowed by `other` alone.
    pub fn is_subset(&self, other: &Structure) -> bool {
        if self.media != other.media || !self.features.is_subset(&other.features) {
            return false;
        }
        let mut common = 0;
        self.all_common(other, |i, j| {
            common += 1;
            self.sets[i].is_subset(&other.sets[j])
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
            if !self.sets[i].meets(&other.sets[j]) {
                found(i, j);
            }
            true
        });
    }
}
