//! Walking back from the last wire to the first: of all cheapest answers the one that the order of
//! elements, of their rows and of their lists puts first. Given what was chosen before, each wire
//! is fixed to one value.

use super::cost::Cost;
use super::eliminate::{Elimination, Joiner, Told};
use super::problem::Problem;
use super::relation::{Relation, Row, Shape};
use super::rows::MEDIA;
use smallvec::SmallVec;
use tickpipe_components::caps::{Structure, ValueSet};
use tickpipe_components::limits::LimitExceeded;

/// What a wire can have, the rows that lead to it, and what that costs.
struct Candidate {
    cost: Cost,
    /// Per base relation of the bucket, the number of the row.
    rows: SmallVec<[u32; 4]>,
    row: Row,
}

/// Fixes the caps of a wire: the box that they must lie in, and what is fixed already.
pub(super) trait Fix {
    /// One structure out of `allowed`, which is what `wire` can have.
    fn fix(&self, wire: u32, allowed: &Structure, fixed: &[Option<Structure>]) -> Structure;
}

/// The caps of each wire; `None` is ANY.
pub(super) fn choose(
    problem: &Problem,
    elimination: &Elimination,
    joiner: &mut Joiner,
    fix: &dyn Fix,
) -> Result<Vec<Option<Structure>>, LimitExceeded> {
    let mut fixed: Vec<Option<Structure>> = vec![None; problem.wires()];
    let mut assigned: Vec<Option<Row>> = vec![None; problem.wires()];
    let bases = problem.factors.len();
    for bucket in elimination.buckets.iter().rev() {
        let wire = bucket.wire;
        let mut walk = Walk {
            problem,
            joiner,
            assigned: &assigned,
            wire,
        };
        let target = match bucket.told {
            Told::Least(cost) => cost,
            Told::Message(message) => walk.least(&elimination.relations[message])?,
        };
        let mut conditioned: SmallVec<[Vec<(u32, Row)>; 4]> = SmallVec::new();
        for &f in &bucket.factors {
            conditioned.push(walk.condition(&elimination.relations[f])?);
        }
        let least = |rows: &Vec<(u32, Row)>| rows.iter().map(|r| r.1.cost).min();
        // What the relations that are still to come cost at least.
        let mut to_come = vec![Cost::ZERO; conditioned.len() + 1];
        for i in (0..conditioned.len()).rev() {
            to_come[i] = to_come[i + 1] + least(&conditioned[i]).unwrap_or_default();
        }
        let mut candidates = vec![Candidate {
            cost: Cost::ZERO,
            rows: SmallVec::new(),
            row: Row::open(problem.fields.len()),
        }];
        let shape = Shape::new(&[wire], &[wire], None, problem.fields.len());
        for (i, rows) in conditioned.iter().enumerate() {
            let mut next = Vec::with_capacity(candidates.len());
            walk.joiner.spend((candidates.len() * rows.len()) as u64)?;
            for candidate in &candidates {
                for (number, row) in rows {
                    let cost = candidate.cost + row.cost;
                    if cost + to_come[i + 1] > target {
                        continue;
                    }
                    let Some(met) = shape.join(&candidate.row, row) else {
                        continue;
                    };
                    let mut numbers = candidate.rows.clone();
                    if bucket.factors[i] < bases {
                        numbers.push(problem.factors[bucket.factors[i]].origin(*number));
                    }
                    next.push(Candidate {
                        cost,
                        rows: numbers,
                        row: met,
                    });
                }
            }
            candidates = next;
        }
        candidates.retain(|c| c.cost == target);
        let Some(best) = candidates.iter().map(|c| c.rows.clone()).min() else {
            // A wire that nothing constrains.
            continue;
        };
        candidates.retain(|c| c.rows == best);
        let base = bucket.factors.iter().filter(|f| **f < bases);
        let said: SmallVec<[(&Relation, u32); 4]> = base
            .map(|&f| problem.factors[f].said())
            .zip(best.iter().copied())
            .collect();
        prefer(problem, wire, &said, &mut candidates);
        let Some(chosen) = candidates.first() else {
            continue;
        };
        let Some(allowed) = problem.fields.structure(&chosen.row, 0) else {
            continue;
        };
        let structure = fix.fix(wire, &allowed, &fixed);
        assigned[wire as usize] = Some(problem.fields.row(&structure));
        fixed[wire as usize] = Some(structure);
    }
    Ok(fixed)
}

/// Narrows candidates by the lists of those who said them, in order: of each field the first value
/// that some candidate allows.
fn prefer(
    problem: &Problem,
    wire: u32,
    said: &[(&Relation, u32)],
    candidates: &mut Vec<Candidate>,
) {
    for place in MEDIA..problem.fields.len() {
        let lists = said.iter().filter_map(|(relation, number)| {
            let at = relation.scope.iter().position(|w| *w == wire)?;
            let row = relation.rows.get(*number as usize)?;
            match row.get(at * problem.fields.len() + place)? {
                ValueSet::List(list) => Some(list),
                _ => None,
            }
        });
        let allows = |c: &Candidate, set: &ValueSet| c.row.get(place).is_none_or(|s| s.meets(set));
        let mut found = None;
        for list in lists {
            found = list
                .iter()
                .map(ValueSet::One)
                .find(|one| candidates.iter().any(|c| allows(c, one)));
            if found.is_some() {
                break;
            }
        }
        if let Some(one) = found {
            candidates.retain_mut(|c| c.row.narrow(place, &one));
        }
    }
}

struct Walk<'a> {
    problem: &'a Problem,
    joiner: &'a mut Joiner,
    assigned: &'a [Option<Row>],
    wire: u32,
}

impl Walk<'_> {
    /// What the cheapest row costs that agrees with what is fixed.
    fn least(&mut self, message: &Relation) -> Result<Cost, LimitExceeded> {
        let mut least = None;
        for row in message.rows.iter() {
            self.joiner.spend(1)?;
            if least.is_some_and(|l| l <= row.cost) {
                continue;
            }
            if self.apply(message, row, None).is_some() {
                least = Some(row.cost);
            }
        }
        Ok(least.unwrap_or_default())
    }

    /// The rows of a relation that agree with what is fixed, as rows of the wire alone.
    fn condition(&mut self, relation: &Relation) -> Result<Vec<(u32, Row)>, LimitExceeded> {
        self.joiner.spend(relation.rows.len() as u64)?;
        let numbered = (0u32..).zip(relation.rows.iter());
        let rows =
            numbered.filter_map(|(n, row)| Some((n, self.apply(relation, row, Some(self.wire))?)));
        Ok(rows.collect())
    }

    /// A row with everything fixed put in, of which the wire `kept` is left.
    fn apply(&self, relation: &Relation, row: &Row, kept: Option<u32>) -> Option<Row> {
        let fields = self.problem.fields.len();
        let mut scope = relation.scope.clone();
        let mut row = row.clone();
        for &wire in relation.scope.iter().filter(|w| Some(**w) != kept) {
            let open = Row::open(fields);
            let value = self.assigned[wire as usize].as_ref().unwrap_or(&open);
            let shape = Shape::new(&scope, &[wire], Some(wire), fields);
            row = shape.join(&row, value)?;
            scope = shape.scope;
        }
        Some(row)
    }
}
