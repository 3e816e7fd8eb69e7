//! Walking back from the last wire to the first: of all cheapest answers the one that the order of
//! elements, of their rows and of their lists puts first. Given what was chosen before, each wire
//! is fixed to one value.

use super::cost::Cost;
use super::eliminate::{Elimination, Joiner, Told};
use super::problem::Problem;
use super::relation::{Relation, Row, Rows, Shape};
use super::rows::MEDIA;
use super::solve::NegotiationError;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::rc::Rc;
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
) -> Result<Vec<Option<Structure>>, NegotiationError> {
    let mut fixed: Vec<Option<Structure>> = vec![None; problem.wires()];
    let mut assigned: Vec<Option<Rows>> = vec![None; problem.wires()];
    // What was chosen where relations, messages and what is fixed were the same: by the addresses
    // of their rows, of which equal ones are shared.
    let mut before: HashMap<Vec<usize>, Option<Structure>> = HashMap::new();
    let bases = problem.factors.len();
    for bucket in elimination.buckets.iter().rev() {
        let wire = bucket.wire;
        let mut walk = Walk {
            problem,
            joiner,
            assigned: &assigned,
            wire,
        };
        let (base, messages): (SmallVec<[usize; 4]>, SmallVec<[usize; 4]>) = bucket
            .factors
            .iter()
            .copied()
            .partition(|f| *f < bases && problem.factors[*f].ordered());
        // What the others said needs no order: it is joined first.
        let mut others: Option<Relation> = None;
        for &f in &messages {
            let message = walk.alone(&elimination.relations[f])?;
            others = Some(match others {
                None => message,
                Some(so_far) => walk.joiner.join(&so_far, &message, None)?,
            });
        }
        let key = walk.key(&base, others.as_ref());
        if let Some(allowed) = before.get(&key) {
            if let Some(allowed) = allowed {
                let structure = fix.fix(wire, allowed, &fixed);
                let row = problem.fields.agreed(&structure);
                assigned[wire as usize] = Some(joiner.intern(vec![row]));
                fixed[wire as usize] = Some(structure);
            }
            continue;
        }
        let target = match bucket.told {
            Told::Least(cost) => cost,
            Told::Message(message) => walk.least(&elimination.relations[message])?,
        };
        let mut conditioned: SmallVec<[Vec<(u32, Row)>; 4]> = SmallVec::new();
        for &f in &base {
            conditioned.push(walk.condition(&elimination.relations[f])?);
        }
        if let Some(others) = others {
            conditioned.push((0u32..).zip(others.rows.iter().cloned()).collect());
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
                    if let Some(&f) = base.get(i) {
                        numbers.push(problem.factors[f].origin(*number));
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
        if candidates.is_empty() {
            // A wire that nothing constrains.
            before.insert(key, None);
            continue;
        }
        // Element by element: its first row, then the first values of its lists.
        for (i, &f) in base.iter().enumerate() {
            let Some(first) = candidates.iter().map(|c| c.rows[i]).min() else {
                break;
            };
            candidates.retain(|c| c.rows[i] == first);
            prefer(
                problem,
                wire,
                (problem.factors[f].said(), first),
                &mut candidates,
            );
        }
        let chosen = candidates.first();
        let allowed = match chosen {
            Some(chosen) => problem.fields.structure(&chosen.row)?,
            None => None,
        };
        if let Some(allowed) = &allowed {
            let structure = fix.fix(wire, allowed, &fixed);
            let row = problem.fields.agreed(&structure);
            assigned[wire as usize] = Some(joiner.intern(vec![row]));
            fixed[wire as usize] = Some(structure);
        }
        before.insert(key, allowed);
    }
    Ok(fixed)
}

/// Narrows candidates by the lists of a row: of each field the first value that some candidate
/// allows.
fn prefer(
    problem: &Problem,
    wire: u32,
    (relation, number): (&Relation, u32),
    candidates: &mut Vec<Candidate>,
) {
    let Some(row) = relation.rows.get(number as usize) else {
        return;
    };
    let Some(at) = relation.scope.iter().position(|w| *w == wire) else {
        return;
    };
    for place in MEDIA..problem.fields.len() {
        let Some(ValueSet::List(list)) = row.get(at * problem.fields.len() + place) else {
            continue;
        };
        let allows = |c: &Candidate, set: &ValueSet| c.row.get(place).is_none_or(|s| s.meets(set));
        let mut values = list.iter().map(ValueSet::One);
        let found = values.find(|one| candidates.iter().any(|c| allows(c, one)));
        if let Some(one) = found {
            candidates.retain_mut(|c| c.row.narrow(place, &one));
        }
    }
}

struct Walk<'a> {
    problem: &'a Problem,
    joiner: &'a mut Joiner,
    assigned: &'a [Option<Rows>],
    wire: u32,
}

impl Walk<'_> {
    /// What a choice depends on.
    fn key(&self, base: &[usize], others: Option<&Relation>) -> Vec<usize> {
        let address = |rows: &Rows| Rc::as_ptr(rows) as usize;
        let mut key = vec![others.map_or(0, |o| address(&o.rows))];
        for &f in base {
            let factor = &self.problem.factors[f];
            key.push(address(&factor.relation.rows));
            key.push(address(&factor.said().rows));
            for &wire in &factor.relation.scope {
                let value = self.assigned[wire as usize].as_ref();
                key.push(if wire == self.wire {
                    1
                } else {
                    value.map_or(0, address)
                });
            }
        }
        key
    }

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

    /// A message as a relation of the wire alone.
    fn alone(&mut self, message: &Relation) -> Result<Relation, LimitExceeded> {
        if message.scope.len() == 1 {
            return Ok(message.clone());
        }
        let rows = self.condition(message)?.into_iter().map(|r| r.1);
        let rows = self.joiner.reduced(rows.collect())?;
        Ok(Relation {
            scope: SmallVec::from_slice(&[self.wire]),
            rows: self.joiner.intern(rows),
        })
    }

    /// A row with everything fixed put in, of which the wire `kept` is left.
    fn apply(&self, relation: &Relation, row: &Row, kept: Option<u32>) -> Option<Row> {
        let fields = self.problem.fields.len();
        let mut scope = relation.scope.clone();
        let mut row = row.clone();
        for &wire in relation.scope.iter().filter(|w| Some(**w) != kept) {
            let open = Row::open(fields);
            let value = self.assigned[wire as usize].as_ref();
            let value = value.and_then(|rows| rows.first()).unwrap_or(&open);
            let shape = Shape::new(&scope, &[wire], Some(wire), fields);
            row = shape.join(&row, value)?;
            scope = shape.scope;
        }
        Some(row)
    }
}
