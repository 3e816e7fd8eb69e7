//! Caps: ANY, or an ordered list of structures (the first is preferred). Reads structures only.

use std::fmt;

use smallvec::SmallVec;
use thiserror::Error;

use super::limits::{CapsLimitError, CapsLimits};
use super::places::{Places, Structures, copies};
use super::structure::Structure;

#[expect(
    clippy::large_enum_variant,
    reason = "caps of one structure are the rule, and are held without allocating"
)]
enum Repr {
    Any,
    Static(&'static [Structure]),
    Owned(Structures),
}

/// A set of media formats: everything, or the union of structures in order of preference.
///
/// `==` compares the lists as they stand: the same structures, each equal as a set, in the same
/// order. [`Caps::is_equal`] compares the sets that they describe.
pub struct Caps(Repr);

/// Caps that have nothing to fix.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FixateError {
    /// ANY has no first structure.
    #[error("ANY cannot be fixed")]
    Any,
    /// Empty caps allow nothing.
    #[error("empty caps cannot be fixed")]
    Empty,
}

impl Caps {
    /// Everything.
    pub const fn any() -> Caps {
        Caps(Repr::Any)
    }

    /// Nothing.
    pub const fn empty() -> Caps {
        Caps(Repr::Static(&[]))
    }

    /// The structures of a template, not copied.
    pub const fn from_static(structures: &'static [Structure]) -> Caps {
        Caps(Repr::Static(structures))
    }

    /// Structures in order of preference.
    pub(super) fn of(structures: Structures) -> Caps {
        Caps(Repr::Owned(structures))
    }

    /// Whether these are ANY.
    pub const fn is_any(&self) -> bool {
        matches!(self.0, Repr::Any)
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        !self.is_any() && self.structures().is_empty()
    }

    /// The structures in order of preference; none for ANY and for empty caps.
    pub fn structures(&self) -> &[Structure] {
        match &self.0 {
            Repr::Any => &[],
            Repr::Static(structures) => structures,
            Repr::Owned(structures) => structures,
        }
    }

    /// The first structure.
    pub fn first(&self) -> Option<&Structure> {
        self.structures().first()
    }

    /// The structures, to edit; copied first if they are a template's. ANY becomes empty.
    fn owned(&mut self) -> &mut Structures {
        if !matches!(self.0, Repr::Owned(_)) {
            self.0 = Repr::Owned(copies(self.structures()));
        }
        match &mut self.0 {
            Repr::Owned(structures) => structures,
            Repr::Any | Repr::Static(_) => unreachable!("made owned above"),
        }
    }

    /// The structures, to change each in place. None for ANY.
    pub fn structures_mut(&mut self) -> &mut [Structure] {
        match self.0 {
            Repr::Any => &mut [],
            _ => self.owned(),
        }
    }

    /// Appends a structure, least preferred. ANY stays ANY.
    ///
    /// # Errors
    /// `caps-structures`, if it is one too many.
    pub fn push(&mut self, structure: Structure) -> Result<(), CapsLimitError> {
        self.push_within(structure, &CapsLimits::DEFAULT)
    }

    pub(super) fn push_within(
        &mut self,
        structure: Structure,
        limits: &CapsLimits,
    ) -> Result<(), CapsLimitError> {
        if self.is_any() {
            return Ok(());
        }
        let count = self.structures().len();
        if count >= limits.structures {
            return Err(CapsLimitError::structures(count + 1, limits));
        }
        self.owned().push(structure);
        Ok(())
    }

    /// Appends the structures of `other`. Anything with ANY becomes ANY.
    ///
    /// # Errors
    /// `caps-structures`, if there are too many.
    pub fn append(&mut self, other: &Caps) -> Result<(), CapsLimitError> {
        if other.is_any() {
            *self = Caps::any();
        }
        for structure in other.structures() {
            self.push(structure.clone())?;
        }
        Ok(())
    }

    /// Appends those structures of `other` that no single structure here contains.
    ///
    /// # Errors
    /// `caps-structures`, if there are too many.
    pub fn merge(&mut self, other: &Caps) -> Result<(), CapsLimitError> {
        if other.is_any() {
            *self = Caps::any();
        }
        for structure in other.structures() {
            if !self.structures().iter().any(|s| structure.is_subset(s)) {
                self.push(structure.clone())?;
            }
        }
        Ok(())
    }

    /// Exact set intersection, in order of the left structures, then of the right ones. Structures
    /// that others contain are kept ([`Caps::intersect_absorbed`] leaves them out).
    ///
    /// # Errors
    /// `caps-fields` or `caps-structures`.
    pub fn intersect(&self, other: &Caps) -> Result<Caps, CapsLimitError> {
        self.intersect_within(other, &CapsLimits::DEFAULT)
    }

    /// As [`Caps::intersect`], within given limits.
    ///
    /// # Errors
    /// `caps-fields` or `caps-structures`.
    pub fn intersect_within(
        &self,
        other: &Caps,
        limits: &CapsLimits,
    ) -> Result<Caps, CapsLimitError> {
        if self.is_any() {
            return Ok(other.clone());
        }
        if other.is_any() {
            return Ok(self.clone());
        }
        let (mine, theirs) = (self.structures(), other.structures());
        if let ([a], [b]) = (mine, theirs) {
            // By far the most frequent, so not by way of a list that is moved.
            let mut out = Structures::new();
            out.extend((0..1).map(|_| Structure::blank()));
            if !a.intersect_to(b, limits, &mut out[0])? {
                out.clear();
            }
            return Ok(Caps(Repr::Owned(out)));
        }
        let mut out = Places::default();
        let mut met = true;
        for (i, a) in mine.iter().enumerate() {
            for (j, b) in theirs.iter().enumerate() {
                // Where one pair does not meet the next one mostly does not either, which is
                // cheaper to ask than to find.
                if !met && !a.can_intersect(b) {
                    continue;
                }
                let ahead = (mine.len() - i) * theirs.len() - j;
                let Some(place) = out.next(ahead, limits.structures) else {
                    if a.can_intersect(b) {
                        return Err(CapsLimitError::structures(out.made() + 1, limits));
                    }
                    continue;
                };
                met = a.intersect_to(b, limits, place)?;
                if met {
                    out.keep();
                } else {
                    place.clear();
                }
            }
        }
        Ok(Caps::of(out.finish()))
    }

    /// Whether something is allowed by both.
    pub fn can_intersect(&self, other: &Caps) -> bool {
        if self.is_any() {
            return !other.is_empty();
        }
        if other.is_any() {
            return !self.is_empty();
        }
        let theirs = other.structures();
        self.structures()
            .iter()
            .any(|a| theirs.iter().any(|b| a.can_intersect(b)))
    }

    /// Whether these allow one format only: one structure, and that one fixed.
    pub fn is_fixed(&self) -> bool {
        matches!(self.structures(), [only] if only.is_fixed())
    }

    /// The preferred format: the first structure with each field fixed to the first of a list or
    /// the minimum of a range.
    ///
    /// # Errors
    /// If these are ANY or empty.
    pub fn fixate(&self) -> Result<Structure, FixateError> {
        if self.is_any() {
            return Err(FixateError::Any);
        }
        self.first()
            .map(Structure::fixated)
            .ok_or(FixateError::Empty)
    }
}

impl Clone for Caps {
    fn clone(&self) -> Caps {
        Caps(match &self.0 {
            Repr::Any => Repr::Any,
            Repr::Static(structures) => Repr::Static(structures),
            Repr::Owned(structures) => Repr::Owned(copies(structures)),
        })
    }
}

/// Empty caps.
impl Default for Caps {
    fn default() -> Self {
        Caps::empty()
    }
}

impl From<Structure> for Caps {
    fn from(structure: Structure) -> Caps {
        let mut only = SmallVec::new();
        only.push(structure);
        Caps(Repr::Owned(only))
    }
}

/// Structures in order of preference, without a limit on their number.
impl FromIterator<Structure> for Caps {
    fn from_iter<I: IntoIterator<Item = Structure>>(structures: I) -> Caps {
        Caps(Repr::Owned(structures.into_iter().collect()))
    }
}

impl PartialEq for Caps {
    fn eq(&self, other: &Caps) -> bool {
        self.is_any() == other.is_any() && self.structures() == other.structures()
    }
}

impl Eq for Caps {}

impl fmt::Debug for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
