//! What each wire can have in answers of the least cost: where a second look, at what is lost,
//! needs to look at all.

use super::eliminate::{Elimination, Joiner, Told};
use super::problem::Problem;
use super::relation::{Relation, Row, Rows, Shape};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::rc::Rc;
use tickpipe_components::limits::LimitExceeded;

/// Per wire, rows of it alone: all that a cheapest answer can have, and, where wires depend on one
/// another in circles, possibly more.
pub(super) fn regions(
    problem: &Problem,
    elimination: &Elimination,
    joiner: &mut Joiner,
) -> Result<Vec<Rows>, LimitExceeded> {
    let none = joiner.intern(Vec::new());
    let mut regions: Vec<Rows> = vec![none; problem.wires()];
    // Regions found before, by the addresses of the rows that they depend on.
    let mut before: HashMap<Vec<usize>, Rows> = HashMap::new();
    for bucket in elimination.buckets.iter().rev() {
        let mut factors = bucket.factors.clone();
        let bases = problem.factors.len();
        let scope = |f: usize| elimination.relations[f].scope.len();
        factors.sort_by_key(|&f| (scope(f), f < bases, f));
        let key = match (bucket.told, &bucket.rest[..]) {
            (Told::Message(message), &[rest]) => {
                let address = |rows: &Rows| Rc::as_ptr(rows) as usize;
                let told = &elimination.relations[message].rows;
                let mut key = vec![
                    usize::from(bucket.wire < rest),
                    address(&regions[rest as usize]),
                    address(told),
                ];
                for &f in &factors {
                    key.push(scope(f));
                    key.push(address(&elimination.relations[f].rows));
                }
                Some(key)
            }
            _ => None,
        };
        if let Some(found) = key.as_ref().and_then(|k| before.get(k)) {
            regions[bucket.wire as usize] = Rc::clone(found);
            continue;
        }
        let mut all = Relation {
            scope: SmallVec::from_slice(&[bucket.wire]),
            rows: joiner.intern(vec![Row::open(problem.fields.len())]),
        };
        let mut first = true;
        for f in factors {
            let factor = &elimination.relations[f];
            all = if first && factor.scope.len() == 1 {
                factor.clone()
            } else {
                joiner.join(&all, factor, None)?
            };
            first = false;
        }
        let found = match (bucket.told, &bucket.rest[..]) {
            (Told::Least(least), _) => {
                let rows = all.rows.iter().filter(|r| r.cost == least);
                rows.cloned().collect()
            }
            (Told::Message(message), &[rest]) => {
                let told = &elimination.relations[message].rows;
                let wires = |kept: u32| {
                    let (low, high) = (bucket.wire.min(rest), bucket.wire.max(rest));
                    let gone = if kept == low { high } else { low };
                    Shape::new(&[low, high], &[], Some(gone), problem.fields.len())
                };
                let (here, there) = (wires(bucket.wire), wires(rest));
                let none = Row::open(0);
                let mut found: Vec<Row> = Vec::new();
                for row in regions[rest as usize].iter().cloned() {
                    let at = Relation {
                        scope: SmallVec::from_slice(&[rest]),
                        rows: joiner.intern(vec![row]),
                    };
                    let both = joiner.join(&all, &at, None)?;
                    joiner.spend((both.rows.len() * told.len()) as u64)?;
                    for row in both.rows.iter() {
                        // What the rest of it can have at less cost in another way is no part of a
                        // cheapest answer.
                        let dearer = there.join(row, &none).is_some_and(|there| {
                            told.iter().any(|t| t.cost < row.cost && t.contains(&there))
                        });
                        if let (false, Some(row)) = (dearer, here.join(row, &none)) {
                            add(&mut found, &row);
                        }
                    }
                }
                found
            }
            (Told::Message(_), rest) => {
                for &other in rest {
                    let at = Relation {
                        scope: SmallVec::from_slice(&[other]),
                        rows: Rc::clone(&regions[other as usize]),
                    };
                    all = joiner.join(&all, &at, Some(other))?;
                }
                let mut found: Vec<Row> = Vec::new();
                all.rows.iter().for_each(|row| add(&mut found, row));
                found
            }
        };
        let free = |row: Row| Row {
            cost: super::cost::Cost::ZERO,
            ..row
        };
        let found = found.into_iter().map(free).collect();
        let found = joiner.intern(found);
        if let Some(key) = key {
            before.insert(key, Rc::clone(&found));
        }
        regions[bucket.wire as usize] = found;
    }
    Ok(regions)
}

/// Adds a row unless the same is there already, whatever it costs.
fn add(found: &mut Vec<Row>, row: &Row) {
    let row = Row {
        cost: super::cost::Cost::ZERO,
        ..row.clone()
    };
    if !found.contains(&row) {
        found.push(row);
    }
}
