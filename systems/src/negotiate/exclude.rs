//! Choices that an element refused: relations that allow all but them.

use super::cost::Cost;
use super::eliminate::Joiner;
use super::problem::Problem;
use super::relation::{Relation, Row};
use smallvec::SmallVec;
use tickpipe_components::caps::{CapsLimits, Structure, ValueSet};
use tickpipe_components::limits::LimitExceeded;

/// What an element refused: the caps of its wires together.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    /// Wires in rising order, and what they had; ANY is left out.
    pub(super) caps: Vec<(u32, Structure)>,
}

/// A relation that allows everything that the element and its wires allow but for this choice.
pub(super) fn without(
    problem: &Problem,
    joiner: &mut Joiner,
    refusal: &Refusal,
    of_node: &dyn Fn(usize) -> bool,
) -> Result<Relation, LimitExceeded> {
    let scope: SmallVec<[u32; 2]> = refusal.caps.iter().map(|c| c.0).collect();
    let mut all = Relation {
        rows: joiner.intern(vec![Row::open(problem.fields.len() * scope.len())]),
        scope: scope.clone(),
    };
    for factor in &problem.factors {
        // What others say bounds it too, so that what the element leaves open can be cut.
        let outside = factor.relation.scope.iter().copied();
        let outside: SmallVec<[u32; 2]> = outside.filter(|w| !scope.contains(w)).collect();
        match (&outside[..], factor.relation.scope.len()) {
            ([], 1) => all = joiner.join(&all, &factor.relation, None)?,
            ([], _) if of_node(factor.part) => all = joiner.join(&all, &factor.relation, None)?,
            (&[gone], 2) => all = joiner.join(&all, &factor.relation, Some(gone))?,
            _ => {}
        }
    }
    let mut point: SmallVec<[Option<ValueSet>; 24]> = SmallVec::new();
    for (_, structure) in &refusal.caps {
        let row = problem.fields.row(structure);
        point.extend((0..problem.fields.len()).map(|place| row.get(place).cloned()));
    }
    let mut rows = Vec::new();
    for row in all.rows.iter() {
        subtract(row, &point, &mut rows);
    }
    joiner.spend(rows.len() as u64)?;
    Ok(Relation {
        rows: joiner.intern(rows),
        scope,
    })
}

/// Appends what a row allows but for one point. What a row leaves open cannot be cut out of it.
fn subtract(row: &Row, point: &[Option<ValueSet>], out: &mut Vec<Row>) {
    let mut rest = row.clone();
    rest.cost = Cost::ZERO;
    let mut pieces = Vec::new();
    for class in 0..row.sets.len() {
        let places = (0..row.class.len()).filter(|p| row.class[*p] == class as u16);
        let mut values = places.filter_map(|p| point[p].as_ref());
        let (Some(set), Some(value)) = (&row.sets[class], values.next()) else {
            continue;
        };
        if !set.meets(value) || values.any(|other| other != value) {
            // The point is not in the row.
            out.push(Row {
                cost: Cost::ZERO,
                ..row.clone()
            });
            return;
        }
        if let Ok(others) = set.subtract(value, &CapsLimits::DEFAULT) {
            for other in others {
                let mut piece = rest.clone();
                piece.sets[class] = Some(other);
                pieces.push(piece);
            }
        }
        rest.sets[class] = Some(value.clone());
    }
    out.extend(pieces);
}
