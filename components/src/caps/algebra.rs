//! Exact subset, equality, subtraction and union of caps, where one structure may be covered by
//! several others together. Reads structures; a step limit bounds the work.

use smallvec::SmallVec;

use super::caps::Caps;
use super::features::Features;
use super::limits::{CapsLimitError, CapsLimits, MAX_LIST};
use super::range::{FractionRange, IntRange};
use super::set::{Pieces, ValueSet};
use super::structure::Structure;
use super::text::FieldName;
use super::value::Value;

/// A structure without some values of fields that it leaves open. Names and the values that a
/// field may have are without end, so "anything but" finitely many is never empty.
#[derive(Clone)]
struct Cell {
    inside: Structure,
    /// Fields that are absent in `inside`, and what they are not.
    outside: Vec<(FieldName, Vec<ValueSet>)>,
    /// What the features are not, where `inside` says `ANY`.
    features_outside: Vec<Features>,
}

impl Cell {
    fn new(structure: &Structure) -> Cell {
        Cell {
            inside: structure.clone(),
            outside: Vec::new(),
            features_outside: Vec::new(),
        }
    }

    fn excluded(&self, name: &FieldName) -> &[ValueSet] {
        self.outside
            .iter()
            .find(|(n, _)| n == name)
            .map_or(&[], |(_, sets)| sets)
    }

    /// What of `set` a field can be that is absent in `inside`.
    fn allowed(
        &self,
        name: &FieldName,
        set: &ValueSet,
        limits: &CapsLimits,
    ) -> Result<Pieces, CapsLimitError> {
        let mut pieces = Pieces::from_iter([set.clone()]);
        for excluded in self.excluded(name) {
            let mut rest = Pieces::new();
            for piece in &pieces {
                rest.extend(piece.subtract(excluded, limits)?);
            }
            if rest.len() > limits.structures {
                return Err(CapsLimitError::structures(rest.len(), limits));
            }
            pieces = rest;
        }
        Ok(pieces)
    }

    fn meets(&self, other: &Structure, limits: &CapsLimits) -> Result<bool, CapsLimitError> {
        if !self.inside.can_intersect(other) || self.features_outside.contains(&other.features) {
            return Ok(false);
        }
        for (name, _) in &self.outside {
            if let Some(set) = other.get_named(name)
                && self.allowed(name, set, limits)?.is_empty()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn with(&self, name: &FieldName, set: ValueSet) -> Result<Cell, CapsLimitError> {
        let mut cell = self.clone();
        cell.outside.retain(|(n, _)| n != name);
        cell.inside
            .set_named(name.clone(), set, &CapsLimits::DEFAULT)?;
        Ok(cell)
    }

    /// The parts of this cell outside of `other`, disjoint.
    fn minus(&self, other: &Structure, limits: &CapsLimits) -> Result<Vec<Cell>, CapsLimitError> {
        let mut parts = Vec::new();
        let mut open = vec![self.clone()];
        if self.inside.features == Features::Any && other.features != Features::Any {
            let mut rest = self.clone();
            rest.features_outside.push(other.features.clone());
            parts.push(rest);
            open[0].inside.features = other.features.clone();
            open[0].features_outside.clear();
        }
        for (name, (_, set)) in other.names().zip(other.fields()) {
            let mut next = Vec::new();
            for cell in open {
                let (within, without) = match cell.inside.get_named(&name) {
                    Some(mine) => (
                        mine.intersect(set).into_iter().collect(),
                        mine.subtract(set, limits)?,
                    ),
                    None => {
                        let mut rest = cell.clone();
                        match rest.outside.iter_mut().find(|(n, _)| *n == name) {
                            Some((_, sets)) => sets.push(set.clone()),
                            None => rest.outside.push((name.clone(), vec![set.clone()])),
                        }
                        parts.push(rest);
                        (cell.allowed(&name, set, limits)?, Pieces::new())
                    }
                };
                for piece in without {
                    parts.push(cell.with(&name, piece)?);
                }
                for piece in within {
                    next.push(cell.with(&name, piece)?);
                }
                let count = parts.len().max(next.len());
                if count > limits.structures {
                    return Err(CapsLimitError::structures(count, limits));
                }
            }
            open = next;
        }
        Ok(parts)
    }

    fn into_structure(self) -> Result<Structure, CapsLimitError> {
        let what = match self.outside.first() {
            Some((name, _)) => Some(name.to_string()),
            None if self.features_outside.is_empty() => None,
            None => Some("feature".to_owned()),
        };
        match what {
            Some(what) => Err(CapsLimitError::Unbounded { what }),
            None => Ok(self.inside),
        }
    }
}

impl Caps {
    /// Whether everything that these allow is allowed by `other`; exact, also where several
    /// structures of `other` cover one of these only together.
    ///
    /// # Errors
    /// `caps-steps` or `caps-structures`, if that takes too much work to tell.
    pub fn is_subset(&self, other: &Caps) -> Result<bool, CapsLimitError> {
        self.is_subset_within(other, &CapsLimits::DEFAULT)
    }

    /// As [`Caps::is_subset`], within given limits.
    ///
    /// # Errors
    /// `caps-steps` or `caps-structures`, if that takes too much work to tell.
    pub fn is_subset_within(
        &self,
        other: &Caps,
        limits: &CapsLimits,
    ) -> Result<bool, CapsLimitError> {
        if other.is_any() {
            return Ok(true);
        }
        if self.is_any() {
            return Ok(false);
        }
        let theirs = other.structures();
        let mut steps = 0;
        for structure in self.structures() {
            if theirs.iter().any(|other| structure.is_subset(other)) {
                continue;
            }
            let mut stack = vec![(Cell::new(structure), 0)];
            while let Some((cell, from)) = stack.pop() {
                let mut next = None;
                for (at, other) in theirs.iter().enumerate().skip(from) {
                    steps += 1;
                    if steps > limits.steps {
                        return Err(CapsLimitError::steps(limits));
                    }
                    if cell.meets(other, limits)? {
                        next = Some((at, other));
                        break;
                    }
                }
                let Some((at, other)) = next else {
                    return Ok(false);
                };
                let parts = cell.minus(other, limits)?;
                stack.extend(parts.into_iter().map(|part| (part, at + 1)));
                if stack.len() > limits.structures {
                    return Err(CapsLimitError::structures(stack.len(), limits));
                }
            }
        }
        Ok(true)
    }

    /// Whether both allow the same.
    ///
    /// # Errors
    /// `caps-steps` or `caps-structures`, if that takes too much work to tell.
    pub fn is_equal(&self, other: &Caps) -> Result<bool, CapsLimitError> {
        Ok(self == other || (self.is_subset(other)? && other.is_subset(self)?))
    }

    /// What these allow and `other` does not, as disjoint parts of each structure; exact.
    ///
    /// # Errors
    /// [`CapsLimitError::Unbounded`], if the answer is "anything but" some values of a field that
    /// is absent here (or ANY but something); `caps-structures` or `caps-steps`.
    pub fn subtract(&self, other: &Caps) -> Result<Caps, CapsLimitError> {
        self.subtract_within(other, &CapsLimits::DEFAULT)
    }

    /// As [`Caps::subtract`], within given limits.
    ///
    /// # Errors
    /// As [`Caps::subtract`].
    pub fn subtract_within(
        &self,
        other: &Caps,
        limits: &CapsLimits,
    ) -> Result<Caps, CapsLimitError> {
        if other.is_any() {
            return Ok(Caps::empty());
        }
        if other.is_empty() {
            return Ok(self.clone());
        }
        if self.is_any() {
            return Err(CapsLimitError::Unbounded {
                what: "media type".to_owned(),
            });
        }
        let mut out = Caps::empty();
        let mut steps = 0;
        for structure in self.structures() {
            let mut cells = vec![Cell::new(structure)];
            for other in other.structures() {
                let mut rest = Vec::new();
                for cell in cells {
                    steps += 1;
                    if steps > limits.steps {
                        return Err(CapsLimitError::steps(limits));
                    }
                    if cell.meets(other, limits)? {
                        rest.extend(cell.minus(other, limits)?);
                    } else {
                        rest.push(cell);
                    }
                    if rest.len() > limits.structures {
                        return Err(CapsLimitError::structures(rest.len(), limits));
                    }
                }
                cells = rest;
            }
            for cell in cells {
                out.push_within(cell.into_structure()?, limits)?;
            }
        }
        Ok(out)
    }
}

impl Structure {
    /// Both as one structure, if they have the same media type, features and field names, and
    /// differ in one field at most whose union is one set.
    pub fn union(&self, other: &Structure) -> Option<Structure> {
        if self.media != other.media
            || self.features != other.features
            || self.len() != other.len()
            || self.common_fields(other) != self.len()
        {
            return None;
        }
        let mut differing = (0..self.len()).filter(|at| self.sets()[*at] != other.sets()[*at]);
        let Some(at) = differing.next() else {
            return Some(self.clone());
        };
        if differing.next().is_some() {
            return None;
        }
        let mut joined = self.clone();
        joined.sets_mut()[at] = self.sets()[at].union(&other.sets()[at])?;
        Some(joined)
    }
}

impl ValueSet {
    /// Both as one set, if one contains the other, both are lists or single values, or both are
    /// ranges that overlap or touch on one grid. The left operand's members come first.
    pub fn union(&self, other: &ValueSet) -> Option<ValueSet> {
        if other.is_subset(self) {
            return Some(self.clone());
        }
        if self.is_subset(other) && !matches!(self, ValueSet::List(_)) {
            return Some(other.clone());
        }
        match (self, other) {
            (ValueSet::IntRange(a), ValueSet::IntRange(b)) => join(a, b).map(ValueSet::IntRange),
            (ValueSet::UintRange(a), ValueSet::UintRange(b)) => join(a, b).map(ValueSet::UintRange),
            (ValueSet::FractionRange(a), ValueSet::FractionRange(b)) => {
                let (low, high) = if a.min() <= b.min() { (a, b) } else { (b, a) };
                let touches = low.max().next_up().is_none_or(|next| high.min() <= next);
                touches
                    .then(|| FractionRange::new(low.min(), low.max().max(high.max())).ok())?
                    .map(ValueSet::FractionRange)
            }
            _ => {
                let mut members = self.members()?;
                members.extend(other.members()?);
                ValueSet::list(members).ok()
            }
        }
    }

    /// The values in order of preference, if they are written as a list or a single value.
    pub fn members(&self) -> Option<SmallVec<[Value; 8]>> {
        Some(match self {
            ValueSet::One(value) => SmallVec::from_iter([value.clone()]),
            ValueSet::List(list) => list.iter().collect(),
            _ => return None,
        })
    }

    /// All values in order of preference, ranges spelled out from the minimum; `None` if there are
    /// more than `most`, or they have no end in sight (fractions, flags).
    pub fn enumerate(&self, most: usize) -> Option<SmallVec<[Value; 8]>> {
        let points = |range: &IntRange| {
            (range.count() <= most as u64)
                .then(|| (0..range.count() as i64).map(|i| range.min() + i * range.step()))
                .map(|points| points.collect::<SmallVec<[i64; 8]>>())
        };
        match self {
            ValueSet::IntRange(r) => Some(points(r)?.into_iter().map(Value::Int).collect()),
            ValueSet::UintRange(r) => points(r)?
                .into_iter()
                .map(|v| u32::try_from(v).ok().map(Value::Uint))
                .collect(),
            _ => match self.single() {
                Some(value) => Some(SmallVec::from_iter([value])),
                None => self.members().filter(|m| m.len() <= most.min(MAX_LIST)),
            },
        }
    }
}

/// Two ranges of one grid that overlap or touch, as one.
fn join(a: &IntRange, b: &IntRange) -> Option<IntRange> {
    let (low, high) = if a.min() <= b.min() { (a, b) } else { (b, a) };
    let step = match (low.is_single(), high.is_single()) {
        (true, true) => high.min() - low.min(),
        (true, false) => high.step(),
        (false, _) => low.step(),
    };
    let same = (high.is_single() || high.step() == step) && (high.min() - low.min()) % step == 0;
    (same && high.min() - low.last() <= step)
        .then(|| IntRange::new(low.min(), low.last().max(high.last()), step).ok())?
}
