//! Eliminating wires one by one: leaves first, then the smallest scope. What is left of a wire when
//! it is gone is a message to those that it was related to. Exact; knows no element.

use super::cost::Cost;
use super::relation::{Relation, Row, Rows, Shape, Steps, reduce};
use super::rows::Interner;
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};

/// Places of all wires of one relation together, at most.
const MOST_PLACES: usize = 60_000;

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) work: u64,
    pub(super) rows: u64,
}

impl Bounds {
    pub(super) fn of(limits: &Limits) -> Bounds {
        Bounds {
            work: limits.get(Limit::CapsWork),
            rows: limits.get(Limit::CapsRows),
        }
    }
}

/// Why an elimination ended without an answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// Nothing is left of a wire. These base relations led to it.
    Dead(Vec<usize>),
    Limit(LimitExceeded),
}

impl From<LimitExceeded> for Stop {
    fn from(limit: LimitExceeded) -> Stop {
        Stop::Limit(limit)
    }
}

/// A wire that was eliminated.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) wire: u32,
    /// Wires that it was related to then.
    pub(super) rest: SmallVec<[u32; 2]>,
    /// Relations that it took part in, base ones first.
    pub(super) factors: SmallVec<[usize; 4]>,
    /// What was left of it to tell the others: a relation, or, of the last of its part, a cost.
    pub(super) told: Told,
}

/// What an eliminated wire leaves behind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    Message(usize),
    Least(Cost),
}

/// Joins that were made before, and the work so far.
pub(super) struct Joiner {
    interner: Interner,
    made: HashMap<Join, Rows>,
    pub(super) work: u64,
    pub(super) bounds: Bounds,
    fields: usize,
}

#[derive(PartialEq, Eq, Hash)]
struct Join {
    left: *const Vec<Row>,
    right: *const Vec<Row>,
    shape: SmallVec<[u16; 8]>,
}

impl Joiner {
    pub(super) fn new(bounds: Bounds, fields: usize) -> Joiner {
        Joiner {
            interner: Interner::default(),
            made: HashMap::new(),
            work: 0,
            bounds,
            fields,
        }
    }

    pub(super) fn intern(&mut self, rows: Vec<Row>) -> Rows {
        self.interner.intern(rows)
    }

    /// Counts work, and stops where there was too much.
    pub(super) fn spend(&mut self, work: u64) -> Result<(), LimitExceeded> {
        self.work = self.work.saturating_add(work);
        if self.work <= self.bounds.work {
            return Ok(());
        }
        Err(LimitExceeded {
            what: "steps of this negotiation".to_owned(),
            limit: Limit::CapsWork.spec().name,
            value: self.work,
            allowed: self.bounds.work,
        })
    }

    /// Rows without those that others contain; counts what it takes to find them.
    pub(super) fn reduced(&mut self, rows: Vec<Row>) -> Result<Vec<Row>, LimitExceeded> {
        // Two comparisons cost about as much as one join.
        let left = self.bounds.work.saturating_sub(self.work);
        let mut steps = Steps {
            taken: 0,
            most: left.saturating_mul(2),
        };
        let rows = reduce(rows, &mut steps);
        self.spend(steps.taken / 2)?;
        self.check_rows(rows.len())?;
        Ok(rows)
    }

    fn check_rows(&self, rows: usize) -> Result<(), LimitExceeded> {
        if rows as u64 <= self.bounds.rows {
            return Ok(());
        }
        Err(LimitExceeded {
            what: "rows of one relation in this negotiation".to_owned(),
            limit: Limit::CapsRows.spec().name,
            value: rows as u64,
            allowed: self.bounds.rows,
        })
    }

    /// The join of two relations without the wire `gone`.
    pub(super) fn join(
        &mut self,
        a: &Relation,
        b: &Relation,
        gone: Option<u32>,
    ) -> Result<Relation, LimitExceeded> {
        if (a.scope.len() + b.scope.len()) * self.fields > MOST_PLACES {
            return Err(LimitExceeded {
                what: "fields of wires that depend on one another".to_owned(),
                limit: Limit::CapsRows.spec().name,
                value: ((a.scope.len() + b.scope.len()) * self.fields) as u64,
                allowed: MOST_PLACES as u64,
            });
        }
        let shape = Shape::new(&a.scope, &b.scope, gone, self.fields);
        let key = Join {
            left: Rc::as_ptr(&a.rows),
            right: Rc::as_ptr(&b.rows),
            shape: shape.key(),
        };
        if let Some(rows) = self.made.get(&key) {
            let rows = Rc::clone(rows);
            self.spend(1)?;
            return Ok(Relation {
                scope: shape.scope,
                rows,
            });
        }
        let per_pair = 1 + shape.places() as u64 / 64;
        let mut rows: Vec<Row> = Vec::new();
        let mut floor = 1024;
        for left in a.rows.iter() {
            for right in b.rows.iter() {
                if let Some(row) = shape.join(left, right) {
                    rows.push(row);
                }
            }
            self.spend(per_pair * b.rows.len() as u64)?;
            if rows.len() > floor {
                rows = self.reduced(rows)?;
                floor = (2 * rows.len()).max(1024);
            }
        }
        let rows = self.reduced(rows)?;
        let rows = self.interner.intern(rows);
        self.made.insert(key, Rc::clone(&rows));
        Ok(Relation {
            scope: shape.scope,
            rows,
        })
    }

    /// A relation without a wire.
    fn project(&mut self, a: &Relation, gone: u32) -> Result<Relation, LimitExceeded> {
        let open = Relation {
            scope: SmallVec::new(),
            rows: self.intern(vec![Row::open(0)]),
        };
        self.join(a, &open, Some(gone))
    }
}

/// The outcome of an elimination.
pub(super) struct Elimination {
    /// Base relations, then messages.
    pub(super) relations: Vec<Relation>,
    /// In the order in which wires went.
    pub(super) buckets: Vec<Bucket>,
    /// What the best answer costs.
    pub(super) cost: Cost,
}

/// Eliminates all wires. Of each connected part the wire with the lowest number goes last (or the
/// one with the highest, with `backwards`).
pub(super) fn eliminate(
    joiner: &mut Joiner,
    base: Vec<Relation>,
    wires: usize,
    backwards: bool,
) -> Result<Elimination, Stop> {
    let bases = base.len();
    let mut relations = base;
    // Which base relations each message rests on: the bucket that it comes from.
    let mut from_bucket: Vec<usize> = Vec::new();
    let mut buckets: Vec<Bucket> = Vec::with_capacity(wires);
    let mut of_wire: Vec<Vec<usize>> = vec![Vec::new(); wires];
    let mut near: Vec<SmallVec<[(u32, u32); 4]>> = vec![SmallVec::new(); wires];
    for (i, relation) in relations.iter().enumerate() {
        relation
            .scope
            .iter()
            .for_each(|&w| of_wire[w as usize].push(i));
        count_near(&mut near, &relation.scope, true);
    }
    let roots = roots(&relations, wires, backwards);
    let mut queue: BTreeSet<(usize, u32)> = BTreeSet::new();
    let rank = |near: &[SmallVec<[(u32, u32); 4]>], wire: u32| {
        // The root waits until nothing else is left of its part.
        let degree = near[wire as usize].len();
        let waits = roots[wire as usize] == wire && degree > 0;
        (if waits { usize::MAX } else { degree }, wire)
    };
    for wire in 0..wires as u32 {
        if !of_wire[wire as usize].is_empty() {
            queue.insert(rank(&near, wire));
        }
    }
    let mut cost = Cost::ZERO;
    while let Some((_, wire)) = queue.pop_first() {
        let mut factors: SmallVec<[usize; 4]> = core::mem::take(&mut of_wire[wire as usize])
            .into_iter()
            .collect();
        // Messages first: their product is looked for again when wires are fixed.
        factors.sort_by_key(|&f| (relations[f].scope.len(), f < bases, f));
        let mut touched: SmallVec<[u32; 8]> = SmallVec::new();
        for &f in &factors {
            let scope = relations[f].scope.clone();
            for &other in scope.iter().filter(|o| **o != wire) {
                of_wire[other as usize].retain(|&g| g != f);
                touched.push(other);
            }
            touched.iter().for_each(|&o| {
                queue.remove(&rank(&near, o));
            });
            count_near(&mut near, &scope, false);
            touched.iter().for_each(|&o| {
                queue.insert(rank(&near, o));
            });
        }
        let joined = combine(joiner, &relations, &factors, wire)?;
        if joined.rows.is_empty() {
            return Err(Stop::Dead(support(&buckets, &from_bucket, bases, &factors)));
        }
        factors.sort_unstable();
        let message = relations.len();
        let least = joined.rows.iter().map(|r| r.cost).min().unwrap_or_default();
        let last = joined.scope.is_empty();
        buckets.push(Bucket {
            wire,
            rest: joined.scope.clone(),
            factors,
            told: if last {
                Told::Least(least)
            } else {
                Told::Message(message)
            },
        });
        if last {
            cost = cost + least;
            continue;
        }
        from_bucket.push(buckets.len() - 1);
        for &other in &joined.scope {
            queue.remove(&rank(&near, other));
        }
        count_near(&mut near, &joined.scope, true);
        for &other in &joined.scope {
            of_wire[other as usize].push(message);
            queue.insert(rank(&near, other));
        }
        relations.push(joined);
    }
    Ok(Elimination {
        relations,
        buckets,
        cost,
    })
}

/// Joins the relations of a bucket and drops its wire.
fn combine(
    joiner: &mut Joiner,
    relations: &[Relation],
    factors: &[usize],
    wire: u32,
) -> Result<Relation, LimitExceeded> {
    let Some((&last, before)) = factors.split_last() else {
        return Ok(Relation {
            scope: SmallVec::new(),
            rows: joiner.intern(vec![Row::open(0)]),
        });
    };
    let mut joined: Option<Relation> = None;
    for &f in before {
        joined = Some(match joined {
            None => relations[f].clone(),
            Some(so_far) => joiner.join(&so_far, &relations[f], None)?,
        });
    }
    match joined {
        None => joiner.project(&relations[last], wire),
        Some(so_far) => joiner.join(&so_far, &relations[last], Some(wire)),
    }
}

/// Counts, or counts off, that the wires of a scope are related.
fn count_near(near: &mut [SmallVec<[(u32, u32); 4]>], scope: &[u32], more: bool) {
    for &a in scope {
        for &b in scope.iter().filter(|b| **b != a) {
            let list = &mut near[a as usize];
            match (list.binary_search_by_key(&b, |n| n.0), more) {
                (Ok(at), true) => list[at].1 += 1,
                (Ok(at), false) => {
                    list[at].1 -= 1;
                    if list[at].1 == 0 {
                        list.remove(at);
                    }
                }
                (Err(at), true) => list.insert(at, (b, 1)),
                (Err(_), false) => {}
            }
        }
    }
}

/// Per wire the one of its part that goes last.
fn roots(relations: &[Relation], wires: usize, backwards: bool) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..wires as u32).collect();
    fn root(parent: &mut [u32], mut wire: u32) -> u32 {
        while parent[wire as usize] != wire {
            parent[wire as usize] = parent[parent[wire as usize] as usize];
            wire = parent[wire as usize];
        }
        wire
    }
    for relation in relations {
        for pair in relation.scope.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            let (low, high) = (a.min(b), a.max(b));
            match backwards {
                true => parent[low as usize] = high,
                false => parent[high as usize] = low,
            }
        }
    }
    (0..wires as u32).map(|w| root(&mut parent, w)).collect()
}

/// The base relations that some relations rest on.
fn support(
    buckets: &[Bucket],
    from_bucket: &[usize],
    bases: usize,
    factors: &[usize],
) -> Vec<usize> {
    let mut open: Vec<usize> = factors.to_vec();
    let mut found = Vec::new();
    while let Some(f) = open.pop() {
        if f < bases {
            found.push(f);
        } else {
            open.extend(&buckets[from_bucket[f - bases]].factors);
        }
    }
    found.sort_unstable();
    found
}
