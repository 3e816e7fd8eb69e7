//! What each wire can have in answers of the least cost: where a second look, at what is lost,
//! needs to look at all.

use super::eliminate::{Elimination, Joiner, Told};
use super::problem::Problem;
use super::relation::{Relation, Row};
use smallvec::SmallVec;
use tickpipe_components::limits::LimitExceeded;

/// Per wire, rows of it alone: all that a cheapest answer can have, and, where wires depend on one
/// another in circles, possibly more.
pub(super) fn regions(
    problem: &Problem,
    elimination: &Elimination,
    joiner: &mut Joiner,
) -> Result<Vec<Vec<Row>>, LimitExceeded> {
    let mut regions: Vec<Vec<Row>> = vec![Vec::new(); problem.wires()];
    for bucket in elimination.buckets.iter().rev() {
        let mut factors = bucket.factors.clone();
        factors.sort_by_key(|&f| (elimination.relations[f].scope.len(), f));
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
            (Told::Message(_), &[rest]) => {
                let mut found: Vec<Row> = Vec::new();
                for row in regions[rest as usize].clone() {
                    let at = Relation {
                        scope: SmallVec::from_slice(&[rest]),
                        rows: joiner.intern(vec![row]),
                    };
                    let here = joiner.join(&all, &at, Some(rest))?;
                    let least = here.rows.iter().map(|r| r.cost).min();
                    for row in here.rows.iter().filter(|r| Some(r.cost) == least) {
                        add(&mut found, row);
                    }
                }
                found
            }
            (Told::Message(_), rest) => {
                for &other in rest {
                    let at = Relation {
                        scope: SmallVec::from_slice(&[other]),
                        rows: joiner.intern(regions[other as usize].clone()),
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
        regions[bucket.wire as usize] = found.into_iter().map(free).collect();
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
