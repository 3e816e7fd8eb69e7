//! Relations over wires as rows: per field, classes of places that must be equal with one set each,
//! and a cost. Join and projection are exact. Plain data and set algebra; knows no element.

use super::cost::Cost;
use super::rows::is_unnamed;
use smallvec::SmallVec;
use std::rc::Rc;
use tickpipe_components::caps::ValueSet;

/// A class of its own without a set: the place may have anything.
pub(super) const FREE: u16 = u16::MAX;

/// One row: what the wires of a relation can have together, at what cost. A *place* is a wire of the
/// scope and a field; `class[place]` says which set it has, and places of one class are equal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) cost: Cost,
    pub(super) class: SmallVec<[u16; 24]>,
    /// By class; `None` is any value.
    pub(super) sets: SmallVec<[Option<ValueSet>; 8]>,
}

impl Row {
    /// A row that allows everything, over so many places.
    pub(super) fn open(places: usize) -> Row {
        Row {
            cost: Cost::ZERO,
            class: SmallVec::from_elem(FREE, places),
            sets: SmallVec::new(),
        }
    }

    /// The set of a place, if it is constrained.
    pub(super) fn get(&self, place: usize) -> Option<&ValueSet> {
        match *self.class.get(place)? {
            FREE => None,
            class => self.sets[usize::from(class)].as_ref(),
        }
    }

    /// Gives a place that has no class a set of its own.
    pub(super) fn put(&mut self, place: usize, set: ValueSet) {
        self.class[place] = self.sets.len() as u16;
        self.sets.push(Some(set));
    }

    /// Ties places that have no class, with a set or without.
    pub(super) fn tie(&mut self, places: [usize; 2], set: Option<ValueSet>) {
        let class = self.sets.len() as u16;
        places.into_iter().for_each(|p| self.class[p] = class);
        self.sets.push(set);
    }

    /// Narrows what the class of a place can have; `false` if nothing is left.
    pub(super) fn narrow(&mut self, place: usize, set: &ValueSet) -> bool {
        match self.class[place] {
            FREE => {
                self.put(place, set.clone());
                true
            }
            class => meet(&mut self.sets[usize::from(class)], set),
        }
    }

    /// Whether every assignment that `other` allows is allowed by this row.
    pub(super) fn contains(&self, other: &Row) -> bool {
        let mut stands_for: SmallVec<[u16; 24]> = SmallVec::from_elem(FREE, self.sets.len());
        for (place, &class) in self.class.iter().enumerate() {
            if class == FREE {
                continue;
            }
            let theirs = other.class[place];
            let first = &mut stands_for[usize::from(class)];
            let set = &self.sets[usize::from(class)];
            if theirs == FREE {
                return false;
            }
            let their_set = &other.sets[usize::from(theirs)];
            if *first == FREE {
                *first = theirs;
                let inside = match (set, their_set) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(set), Some(theirs)) => theirs.is_subset(set),
                };
                if !inside {
                    return false;
                }
            } else if *first != theirs {
                // Two classes that can only be the same single value are as good as tied.
                let single = |c: u16| other.sets[usize::from(c)].as_ref()?.single();
                match (single(*first), single(theirs)) {
                    (Some(a), Some(b)) if a == b => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Both as one row, if they differ in one set only and the union of that is a set.
    fn merge(&self, other: &Row) -> Option<Row> {
        let alike = self.sets.len() == other.sets.len() && self.class == other.class;
        if self.cost != other.cost || !alike {
            return None;
        }
        let mut differing = (0..self.sets.len()).filter(|&i| !same(&self.sets[i], &other.sets[i]));
        let at = differing.next()?;
        if differing.next().is_some() {
            return None;
        }
        let joined = match (&self.sets[at], &other.sets[at]) {
            (Some(a), Some(b)) if is_unnamed(a) || is_unnamed(b) => return None,
            (Some(a), Some(b)) => Some(a.union(b)?),
            _ => None,
        };
        let mut row = self.clone();
        row.sets[at] = joined;
        Some(row)
    }
}

/// Narrows a set that may be anything; `false` if nothing is left.
fn meet(mine: &mut Option<ValueSet>, theirs: &ValueSet) -> bool {
    let met = match mine {
        None => theirs.clone(),
        Some(set) => match set.intersect(theirs) {
            Some(met) => met,
            None => return false,
        },
    };
    *mine = Some(met);
    true
}

/// Rows, shared by all relations that have the same.
pub(super) type Rows = Rc<Vec<Row>>;

/// Rows over some wires, in rising order of wires.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) scope: SmallVec<[u32; 2]>,
    pub(super) rows: Rows,
}

/// Where each place of two relations goes in their join, of which some wires are kept.
pub(super) struct Shape {
    /// Per place of the left one: its place among all.
    left: SmallVec<[u16; 32]>,
    right: SmallVec<[u16; 32]>,
    all: usize,
    /// Places that are kept, in the order of the outcome.
    kept: SmallVec<[u16; 32]>,
    /// Wires that are kept.
    pub(super) scope: SmallVec<[u32; 2]>,
}

impl Shape {
    /// The shape of a join over `fields` fields a wire that drops the wire `gone`.
    pub(super) fn new(left: &[u32], right: &[u32], gone: Option<u32>, fields: usize) -> Shape {
        let mut wires: SmallVec<[u32; 4]> = left.iter().chain(right).copied().collect();
        wires.sort_unstable();
        wires.dedup();
        let at = |wire: &u32| wires.iter().position(|w| w == wire).unwrap_or(0);
        let places = |scope: &[u32]| {
            scope
                .iter()
                .flat_map(|w| {
                    let base = at(w) * fields;
                    (base..base + fields).map(|p| p as u16)
                })
                .collect()
        };
        let scope: SmallVec<[u32; 2]> =
            wires.iter().copied().filter(|w| Some(*w) != gone).collect();
        Shape {
            left: places(left),
            right: places(right),
            all: wires.len() * fields,
            kept: places(&scope),
            scope,
        }
    }

    /// A number that tells shapes apart, for looking up joins that were made before.
    pub(super) fn key(&self) -> SmallVec<[u16; 8]> {
        // A place of the first field says where its wire went.
        let fields = match self.scope.len() {
            0 => self.left.len().max(self.right.len()).max(1),
            wires => (self.kept.len() / wires).max(1),
        };
        let of = |places: &SmallVec<[u16; 32]>| {
            places
                .iter()
                .step_by(fields)
                .copied()
                .collect::<SmallVec<[u16; 4]>>()
        };
        let mut key: SmallVec<[u16; 8]> = SmallVec::new();
        for part in [of(&self.left), of(&self.right), of(&self.kept)] {
            key.extend(part);
            key.push(u16::MAX);
        }
        key
    }

    /// How many places a join touches.
    pub(super) fn places(&self) -> usize {
        self.left.len() + self.right.len()
    }

    /// What both rows allow, without the wires that are dropped; `None` if that is nothing.
    pub(super) fn join(&self, a: &Row, b: &Row) -> Option<Row> {
        let mut class: SmallVec<[u16; 32]> = SmallVec::from_elem(FREE, self.all);
        let mut sets = a.sets.clone();
        // Classes that became one: where each went.
        let mut same: SmallVec<[u16; 16]> = (0..sets.len() as u16).collect();
        for (place, &to) in self.left.iter().enumerate() {
            class[usize::from(to)] = a.class[place];
        }
        let mut went: SmallVec<[u16; 16]> = SmallVec::from_elem(FREE, b.sets.len());
        for (place, &to) in self.right.iter().enumerate() {
            let theirs = b.class[place];
            if theirs == FREE {
                continue;
            }
            let mine = &mut class[usize::from(to)];
            let known = &mut went[usize::from(theirs)];
            if *mine == FREE {
                if *known == FREE {
                    *known = sets.len() as u16;
                    same.push(*known);
                    sets.push(b.sets[usize::from(theirs)].clone());
                }
                *mine = *known;
                continue;
            }
            let root = root(&same, *mine);
            if *known == FREE {
                *known = root;
                if let Some(set) = &b.sets[usize::from(theirs)]
                    && !meet(&mut sets[usize::from(root)], set)
                {
                    return None;
                }
                continue;
            }
            let other = self::root(&same, *known);
            if other != root {
                let (low, high) = (root.min(other), root.max(other));
                same[usize::from(high)] = low;
                if let Some(set) = sets[usize::from(high)].take()
                    && !meet(&mut sets[usize::from(low)], &set)
                {
                    return None;
                }
            }
        }
        let mut out = Row {
            cost: a.cost + b.cost,
            class: SmallVec::with_capacity(self.kept.len()),
            sets: SmallVec::new(),
        };
        let mut number: SmallVec<[u16; 16]> = SmallVec::from_elem(FREE, sets.len());
        // A class that has one place left and no set is free.
        let mut uses: SmallVec<[u16; 16]> = SmallVec::from_elem(0, sets.len());
        for &place in &self.kept {
            let c = class[usize::from(place)];
            if c != FREE {
                uses[usize::from(root(&same, c))] += 1;
            }
        }
        for &place in &self.kept {
            let c = match class[usize::from(place)] {
                FREE => FREE,
                c => root(&same, c),
            };
            if c == FREE || (uses[usize::from(c)] == 1 && sets[usize::from(c)].is_none()) {
                out.class.push(FREE);
                continue;
            }
            let n = &mut number[usize::from(c)];
            if *n == FREE {
                *n = out.sets.len() as u16;
                out.sets.push(sets[usize::from(c)].take());
            }
            out.class.push(*n);
        }
        Some(out)
    }
}

fn root(same: &[u16], mut class: u16) -> u16 {
    while same[usize::from(class)] != class {
        class = same[usize::from(class)];
    }
    class
}

/// Above this many rows only containment is looked at, not whether two can be one.
const MERGES: usize = 96;

/// Steps that reducing rows took; it gives up early, and answers what it has, when there are too many.
pub(super) struct Steps {
    pub(super) taken: u64,
    pub(super) most: u64,
}

impl Steps {
    /// Counts a comparison of two rows.
    fn more(&mut self) -> bool {
        self.taken += 1;
        self.taken <= self.most
    }
}

/// Drops rows that another one contains at no higher cost, and makes one of rows of equal cost that
/// differ in one set. The set of assignments with their least costs stays the same.
pub(super) fn reduce(mut rows: Vec<Row>, steps: &mut Steps) -> Vec<Row> {
    if rows.len() < 2 {
        return rows;
    }
    rows.sort_by_key(|r| r.cost);
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len().min(16));
    for row in rows {
        if !kept.iter().any(|k| steps.more() && k.contains(&row)) {
            kept.push(row);
        }
    }
    if kept.len() > MERGES {
        return kept;
    }
    // What became one may contain, or go together with, others: until nothing changes.
    loop {
        let mut changed = false;
        let mut i = 0;
        while i < kept.len() {
            let mut j = i + 1;
            while j < kept.len() && kept[j].cost == kept[i].cost {
                if !steps.more() {
                    return kept;
                }
                match kept[i].merge(&kept[j]) {
                    Some(row) => {
                        kept.remove(j);
                        kept[i] = row;
                        changed = true;
                        j = i + 1;
                    }
                    None => j += 1,
                }
            }
            i += 1;
        }
        if !changed {
            return kept;
        }
        let merged = core::mem::take(&mut kept);
        for row in merged {
            if !kept.iter().any(|k| steps.more() && k.contains(&row)) {
                kept.push(row);
            }
        }
    }
}

/// Whether two sets are equal, told apart cheaply where that can be.
fn same(a: &Option<ValueSet>, b: &Option<ValueSet>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(ValueSet::One(a)), Some(ValueSet::One(b))) => a == b,
        (Some(ValueSet::List(a)), Some(ValueSet::List(b))) if a.count() != b.count() => false,
        (Some(ValueSet::List(a)), Some(ValueSet::IntRange(b)))
        | (Some(ValueSet::IntRange(b)), Some(ValueSet::List(a)))
            if a.count() as u64 != b.count() =>
        {
            false
        }
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}
