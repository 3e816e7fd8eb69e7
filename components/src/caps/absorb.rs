//! Absorption: lists of structures without those that another one contains. Reads caps and
//! structures.

use super::caps::Caps;
use super::limits::{CapsLimitError, CapsLimits};
use super::outline::Outline;
use super::places::{Places, Structures};
use super::structure::Structure;

/// The structures of a list of which none contains another, by number.
#[derive(Default)]
struct Kept(Vec<(usize, Outline)>);

impl Kept {
    /// Drops those that `new`, number `at`, contains, and adds that; answers false, and changes
    /// nothing, if one of them contains `new`.
    fn add(&mut self, all: &[Structure], new: &Structure, at: usize) -> bool {
        let outline = Outline::of(new);
        let contains = |(at, other): &(usize, Outline)| {
            other.may_contain(&outline) && new.is_subset(&all[*at])
        };
        // The latest first: what lies near in a list is mostly alike.
        if self.0.iter().rev().any(contains) {
            return false;
        }
        self.0
            .retain(|(at, other)| !outline.may_contain(other) || !all[*at].is_subset(new));
        self.0.push((at, outline));
        true
    }

    /// The structures that no other one contains, of equal ones the first.
    fn of(all: &[Structure]) -> Kept {
        let mut kept = Kept::default();
        for (at, new) in all.iter().enumerate() {
            kept.add(all, new, at);
        }
        kept
    }

    /// The numbers, rising.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|(at, _)| *at)
    }
}

impl Caps {
    /// As [`Caps::intersect`], without the structures that another one contains (of equal ones the
    /// first is there), in the same order. For those to whom the order means nothing: what was
    /// preferred is lost where something that comes later contains it. Much faster than dropping
    /// them afterwards where one side's structures lie within the other's.
    ///
    /// # Errors
    /// `caps-fields`, or `caps-structures` if more than that contain none of the others.
    pub fn intersect_absorbed(&self, other: &Caps) -> Result<Caps, CapsLimitError> {
        self.intersect_absorbed_within(other, &CapsLimits::DEFAULT)
    }

    /// As [`Caps::intersect_absorbed`], within given limits.
    ///
    /// # Errors
    /// As [`Caps::intersect_absorbed`].
    pub fn intersect_absorbed_within(
        &self,
        other: &Caps,
        limits: &CapsLimits,
    ) -> Result<Caps, CapsLimitError> {
        if self.is_any() || other.is_any() {
            let mut out = if self.is_any() { other } else { self }.clone();
            out.absorb();
            return Ok(out);
        }
        let (mine, theirs) = (self.structures(), other.structures());
        if let ([_], [_]) = (mine, theirs) {
            return self.intersect_within(other, limits);
        }
        let outlines = |all: &[Structure]| all.iter().map(Outline::of).collect::<Vec<_>>();
        let (my_outlines, their_outlines) = (outlines(mine), outlines(theirs));
        let mut pairs = Pairs::new(limits);
        let mut holders: Option<Vec<Option<usize>>> = None;
        for (i, (a, outline)) in mine.iter().zip(&my_outlines).enumerate() {
            pairs.rows = mine.len() - i;
            // All that this one gives lies in itself; if it is among that, the rest need not be made.
            if let Some(at) = holder(a, outline, theirs, &their_outlines) {
                pairs.add(a, &theirs[at])?;
                continue;
            }
            // The same of the right side: such a structure comes once, with the first that has it.
            let holders = holders.get_or_insert_with(|| {
                let each = theirs.iter().zip(&their_outlines);
                each.map(|(b, outline)| holder(b, outline, mine, &my_outlines))
                    .collect()
            });
            for (b, holder) in theirs.iter().zip(holders) {
                if holder.is_none_or(|holder| holder == i) {
                    pairs.add(a, b)?;
                }
            }
        }
        Ok(Caps::of(pairs.finish()))
    }

    /// Drops the structures that another one contains, of equal ones all but the first. ANY stays.
    fn absorb(&mut self) {
        let kept = Kept::of(self.structures());
        if kept.0.len() < self.structures().len() {
            let structure = |at: usize| self.structures()[at].clone();
            *self = kept.numbers().map(structure).collect();
        }
    }

    /// Drops structures that another one contains, joins neighbours that differ in one field where
    /// the union is one set, and writes each set in its canonical form. The set stays the same,
    /// and so does the order of what is left.
    pub fn simplify(&mut self) {
        if self.is_any() {
            return;
        }
        let old = self.structures();
        let mut kept = Structures::new();
        for at in Kept::of(old).numbers() {
            let mut next = old[at].canonical();
            while let Some(joined) = kept.last().and_then(|last| last.union(&next)) {
                next = joined;
                kept.pop();
            }
            kept.push(next);
        }
        *self = Caps::of(kept);
    }
}

/// The first of `all` that contains a structure.
fn holder(
    structure: &Structure,
    outline: &Outline,
    all: &[Structure],
    outlines: &[Outline],
) -> Option<usize> {
    let mut each = all.iter().zip(outlines);
    each.position(|(other, bounds)| bounds.may_contain(outline) && structure.is_subset(other))
}

/// Intersections of pairs, of which none contains another.
struct Pairs<'a> {
    limits: &'a CapsLimits,
    out: Places,
    kept: Kept,
    /// How many left structures are still to come, this one included: about as many results.
    rows: usize,
}

impl<'a> Pairs<'a> {
    fn new(limits: &'a CapsLimits) -> Pairs<'a> {
        Pairs {
            limits,
            out: Places::default(),
            kept: Kept::default(),
            rows: 0,
        }
    }

    fn add(&mut self, a: &Structure, b: &Structure) -> Result<(), CapsLimitError> {
        // One more than may stay.
        let most = self.limits.structures.saturating_add(1);
        if self.out.made() >= most {
            self.compact();
        }
        let ahead = self.rows.max(self.out.made());
        let Some(place) = self.out.next(ahead, most) else {
            return Err(CapsLimitError::structures(most, self.limits));
        };
        if !a.intersect_to(b, self.limits, place)? {
            place.clear();
            return Ok(());
        }
        let (made, new) = self.out.split();
        if new.is_some_and(|new| self.kept.add(made, new, made.len())) {
            self.out.keep();
            let count = self.kept.0.len();
            if count > self.limits.structures {
                return Err(CapsLimitError::structures(count, self.limits));
            }
        } else if let Some(place) = self.out.next(ahead, most) {
            place.clear();
        }
        Ok(())
    }

    /// Drops what was made and is not kept.
    fn compact(&mut self) {
        self.out.keep_only(self.kept.numbers());
        for (to, (at, _)) in self.kept.0.iter_mut().enumerate() {
            *at = to;
        }
    }

    fn finish(mut self) -> Structures {
        self.compact();
        self.out.finish()
    }
}
