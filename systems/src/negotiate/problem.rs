//! A graph as wires and relations over them. Pads that must have the same caps, through queues,
//! tees, filters and the like, are one wire. Wires are numbered by what feeds them, in an order
//! that depends on links and names alone.

use super::eliminate::Joiner;
use super::parts::{Parts, What};
use super::relation::{Relation, Row, Rows};
use super::rows::{FieldTable, Ways};
use core::ops::Range;
use smallvec::SmallVec;
use std::rc::Rc;
use tickpipe_components::caps::{CapsLimitError, Structure};
use tickpipe_components::limits::LimitExceeded;

/// Different fields of one graph, at most.
const MOST_NAMES: usize = 4_096;

/// A relation and where it comes from.
pub(super) struct Factor {
    /// The part that says it.
    pub(super) part: usize,
    /// The rank of its element.
    pub(super) rank: usize,
    /// Its rows in the element's order of preference.
    pub(super) relation: Relation,
    /// If rows were split: the rows as they were said, and which of them each one comes from.
    pub(super) said: Option<(Relation, Vec<u32>)>,
    /// What is converted is on the first wire of the scope, what comes of it on the second; `None`
    /// if nothing is converted.
    pub(super) forward: Option<bool>,
}

impl Factor {
    /// Whether the order of its rows is somebody's preference: that of an exclusion is nobody's.
    pub(super) fn ordered(&self) -> bool {
        self.part != usize::MAX
    }

    /// The relation as the element said it.
    pub(super) fn said(&self) -> &Relation {
        self.said.as_ref().map_or(&self.relation, |s| &s.0)
    }

    /// Which row of what the element said a row comes from.
    pub(super) fn origin(&self, row: u32) -> u32 {
        let origin = self.said.as_ref().and_then(|s| s.1.get(row as usize));
        origin.copied().unwrap_or(row)
    }
}

/// Wires and what they must fulfil.
pub(super) struct Problem {
    pub(super) fields: FieldTable,
    /// By link.
    pub(super) wire_of: Vec<u32>,
    /// Per wire, the link that its feeder puts out.
    pub(super) first_link: Vec<usize>,
    /// In order of the ranks of their elements.
    pub(super) factors: Vec<Factor>,
}

impl Problem {
    pub(super) fn wires(&self) -> usize {
        self.first_link.len()
    }

    /// The relations, for an elimination.
    pub(super) fn relations(&self) -> Vec<Relation> {
        self.factors.iter().map(|f| f.relation.clone()).collect()
    }
}

/// Wires and fields of a graph, from which problems of some of its parts are made.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) fields: FieldTable,
    pub(super) wire_of: Vec<u32>,
    pub(super) first_link: Vec<usize>,
}

impl Frame {
    pub(super) fn new(parts: &Parts) -> Frame {
        let mut fields = FieldTable::default();
        for part in &parts.parts {
            match &part.what {
                What::Demand { caps, .. } => caps.iter().for_each(|s| fields.add(s)),
                What::Ways { ways, .. } => {
                    for way in ways.iter() {
                        way.takes
                            .iter()
                            .chain(&way.makes)
                            .for_each(|s| fields.add(s));
                    }
                }
                What::Pinned { caps, .. } => fields.add(caps),
                What::Wire { .. } => {}
            }
        }
        let (wire_of, first_link) = wires(parts);
        Frame {
            fields,
            wire_of,
            first_link,
        }
    }

    /// Whether rows can have a place for every field of a graph.
    pub(super) fn check(&self) -> Result<(), CapsLimitError> {
        let needed = self.fields.len();
        if needed <= MOST_NAMES {
            return Ok(());
        }
        Err(CapsLimitError::Exceeded {
            limit: "caps-names",
            unit: "names of fields in one graph",
            needed: needed as u64,
            allowed: MOST_NAMES as u64,
        })
    }

    /// The problem of those parts for which `take` answers true.
    pub(super) fn problem(
        &self,
        parts: &Parts,
        joiner: &mut Joiner,
        take: impl Fn(usize) -> bool,
    ) -> Result<Problem, LimitExceeded> {
        let mut factors = Vec::with_capacity(parts.parts.len());
        let mut same = Same::default();
        for (i, part) in parts.parts.iter().enumerate().filter(|(i, _)| take(*i)) {
            let mut forward = None;
            let relation = match &part.what {
                What::Wire { .. } => continue,
                What::Pinned { link, caps } => {
                    let rows = joiner.intern(vec![self.fields.row(caps)]);
                    Relation {
                        scope: SmallVec::from_slice(&[self.wire_of[*link]]),
                        rows,
                    }
                }
                What::Demand { link, caps, .. } => {
                    let rows = same.demand(caps).unwrap_or_else(|| {
                        joiner.intern(caps.iter().map(|s| self.fields.row(s)).collect())
                    });
                    same.demands = Some((Rc::clone(caps), Rc::clone(&rows)));
                    Relation {
                        scope: SmallVec::from_slice(&[self.wire_of[*link]]),
                        rows,
                    }
                }
                What::Ways {
                    from,
                    to,
                    ways,
                    converts,
                } => {
                    let (a, b) = (self.wire_of[from.0], self.wire_of[to.0]);
                    let scope: SmallVec<[u32; 2]> = match a.cmp(&b) {
                        core::cmp::Ordering::Equal => SmallVec::from_slice(&[a]),
                        core::cmp::Ordering::Less => SmallVec::from_slice(&[a, b]),
                        core::cmp::Ordering::Greater => SmallVec::from_slice(&[b, a]),
                    };
                    forward = (a != b && *converts && !to.1.is_sink()).then_some(a < b);
                    let at = |wire: u32| scope.iter().position(|w| *w == wire).unwrap_or(0);
                    let ends = (at(a), at(b));
                    let rows = same.ways(ways, ends).unwrap_or_else(|| {
                        let rows = ways.iter();
                        let rows: Vec<Row> = rows
                            .filter_map(|way| self.fields.way_row(way, ends.0, ends.1))
                            .collect();
                        let rows = joiner.intern(rows);
                        same.keep(ways, ends, &rows);
                        rows
                    });
                    joiner.spend(1)?;
                    Relation { rows, scope }
                }
            };
            factors.push(Factor {
                part: i,
                rank: parts.rank[part.node],
                relation,
                said: None,
                forward,
            });
        }
        factors.sort_by_key(|f| f.rank);
        Ok(Problem {
            fields: self.fields.clone(),
            wire_of: self.wire_of.clone(),
            first_link: self.first_link.clone(),
            factors,
        })
    }
}

/// What was made into rows last: both pads of a filter say the same, and neighbours often do.
#[derive(Default)]
struct Same {
    demands: Option<(Rc<Vec<Structure>>, Rows)>,
    ways: Vec<(Ways, (usize, usize), Rows)>,
}

/// Of how many different lists of ways the rows are kept.
const KEPT: usize = 8;

impl Same {
    fn demand(&self, caps: &Rc<Vec<Structure>>) -> Option<Rows> {
        let (known, rows) = self.demands.as_ref()?;
        Rc::ptr_eq(known, caps).then(|| Rc::clone(rows))
    }

    fn ways(&self, ways: &Ways, ends: (usize, usize)) -> Option<Rows> {
        let mut known = self.ways.iter();
        let found = known.find(|k| Rc::ptr_eq(&k.0, ways) && k.1 == ends)?;
        Some(Rc::clone(&found.2))
    }

    fn keep(&mut self, ways: &Ways, ends: (usize, usize), rows: &Rows) {
        if self.ways.len() == KEPT {
            self.ways.remove(0);
        }
        self.ways.push((Rc::clone(ways), ends, Rc::clone(rows)));
    }
}

/// Joins links that must have the same caps. Per link its wire, and per wire the link that its
/// feeder puts out; wires are numbered in order of their feeders.
fn wires(parts: &Parts) -> (Vec<u32>, Vec<usize>) {
    let mut parent: Vec<usize> = (0..parts.links).collect();
    fn root(parent: &mut [usize], mut link: usize) -> usize {
        while parent[link] != link {
            parent[link] = parent[parent[link]];
            link = parent[link];
        }
        link
    }
    // The root of each set is the link that is fed first.
    let key = |link: usize| (parts.feeder[link], link);
    for part in &parts.parts {
        let What::Wire { links } = &part.what else {
            continue;
        };
        for pair in links.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            if a != b {
                let (first, second) = if key(a) < key(b) { (a, b) } else { (b, a) };
                parent[second] = first;
            }
        }
    }
    let links: Range<usize> = 0..parts.links;
    let mut first_link: Vec<usize> = links
        .clone()
        .filter(|&l| root(&mut parent, l) == l)
        .collect();
    first_link.sort_by_key(|&l| key(l));
    let mut number = vec![0u32; parts.links];
    for (wire, &link) in first_link.iter().enumerate() {
        number[link] = wire as u32;
    }
    let wire_of = links.map(|l| number[root(&mut parent, l)]).collect();
    (wire_of, first_link)
}
