//! The two passes as one can look at them: per link, what upstream can have (the query) and what
//! downstream can (the answer). For people only; the solver does not need it.

use super::cost::Cost;
use super::eliminate::{Bounds, Joiner};
use super::parts::{Part, Parts, What};
use super::problem::Frame;
use super::relation::{Relation, Row};
use super::rows::FieldTable;
use super::solve::{NegotiationError, Request};
use crate::state::Topology;
use bevy_ecs::world::World;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;
use tickpipe_components::caps::Caps;
use tickpipe_components::limits::{LimitExceeded, Limits};

/// What a link is asked and answered.
#[derive(Clone, Debug)]
pub struct LinkView {
    /// What everything upstream can have.
    pub asked: Caps,
    /// What everything downstream can have.
    pub answered: Caps,
}

/// Rows of one wire.
type Set = Vec<Row>;

/// What each link is asked and answered.
///
/// # Errors
/// [`NegotiationError`], if an element cannot say what it can do, or at a limit.
pub fn views(
    world: &World,
    topology: &Topology,
    limits: &Limits,
) -> Result<Vec<LinkView>, NegotiationError> {
    let request = Request {
        topology,
        pinned: &[],
        offers: &BTreeMap::new(),
        refused: &[],
    };
    let parts = Parts::ask(&request, world, limits)?;
    let frame = Frame::new(&parts);
    frame.check()?;
    let fields = frame.fields;
    let mut of_node: Vec<Vec<&Part>> = vec![Vec::new(); topology.nodes.len()];
    for part in &parts.parts {
        of_node[part.node].push(part);
    }
    let mut pass = Pass {
        fields: &fields,
        joiner: Joiner::new(Bounds::of(limits), fields.len()),
    };
    let open = vec![Row::open(fields.len())];
    let links = topology.links.len();
    let mut asked: Vec<Set> = vec![open.clone(); links];
    for (n, parts) in topology.nodes.iter().zip(&of_node) {
        for &out in &n.outputs {
            asked[out] = pass.through(parts, out, &n.inputs, &asked)?;
        }
    }
    let mut answered: Vec<Set> = vec![open; links];
    for (n, parts) in topology.nodes.iter().zip(&of_node).rev() {
        for &input in &n.inputs {
            answered[input] = pass.through(parts, input, &n.outputs, &answered)?;
        }
    }
    let view = |(asked, answered): (&Set, &Set)| {
        Ok(LinkView {
            asked: caps(&fields, asked)?,
            answered: caps(&fields, answered)?,
        })
    };
    asked.iter().zip(&answered).map(view).collect()
}

/// A set as caps; one without a media type is ANY.
fn caps(fields: &FieldTable, set: &Set) -> Result<Caps, NegotiationError> {
    let mut caps = Caps::empty();
    for row in set {
        match fields.structure(row)? {
            Some(structure) => caps.push(structure)?,
            None => return Ok(Caps::any()),
        }
    }
    Ok(caps)
}

struct Pass<'a> {
    fields: &'a FieldTable,
    joiner: Joiner,
}

impl Pass<'_> {
    /// What a link can have given what an element says and what its other side can have.
    fn through(
        &mut self,
        parts: &[&Part],
        link: usize,
        others: &[usize],
        known: &[Set],
    ) -> Result<Set, LimitExceeded> {
        let mut set = vec![Row::open(self.fields.len())];
        for part in parts {
            match &part.what {
                What::Demand { link: at, caps, .. } if *at == link || wired(parts, *at, link) => {
                    let rows: Vec<Row> = caps.iter().map(|s| self.fields.row(s)).collect();
                    set = self.meet(&set, &rows)?;
                }
                What::Pinned { link: at, caps } if *at == link => {
                    set = self.meet(&set, &[self.fields.row(caps)])?;
                }
                What::Wire { links } if links.contains(&link) => {
                    for other in others.iter().filter(|o| links.contains(o)) {
                        set = self.meet(&set, &known[*other])?;
                    }
                }
                What::Ways { from, to, ways, .. } => {
                    let (near, far) = match (from.0 == link, to.0 == link) {
                        (true, _) => (0, to.0),
                        (_, true) => (1, from.0),
                        _ => continue,
                    };
                    let rows: Vec<Row> = ways
                        .iter()
                        .filter_map(|w| self.fields.way_row(w, 0, 1))
                        .collect();
                    let relation = Relation {
                        scope: SmallVec::from_slice(&[0, 1]),
                        rows: self.joiner.intern(rows),
                    };
                    let there = match others.contains(&far) {
                        true => known[far].clone(),
                        false => vec![Row::open(self.fields.len())],
                    };
                    let there = Relation {
                        scope: SmallVec::from_slice(&[1 - near]),
                        rows: self.joiner.intern(there),
                    };
                    let image = self.joiner.join(&relation, &there, Some(1 - near))?;
                    set = self.meet(&set, &image.rows)?;
                }
                _ => {}
            }
        }
        Ok(set)
    }

    fn meet(&mut self, a: &[Row], b: &[Row]) -> Result<Set, LimitExceeded> {
        let one = |rows: Rc<Vec<Row>>| Relation {
            scope: SmallVec::from_slice(&[0]),
            rows,
        };
        let free = |rows: &[Row]| {
            let rows = rows.iter().map(|r| Row {
                cost: Cost::ZERO,
                ..r.clone()
            });
            rows.collect::<Vec<Row>>()
        };
        let (a, b) = (self.joiner.reduced(free(a))?, self.joiner.reduced(free(b))?);
        let (a, b) = (self.joiner.intern(a), self.joiner.intern(b));
        let met = self.joiner.join(&one(a), &one(b), None)?;
        Ok((*met.rows).clone())
    }
}

/// Whether two links of an element have the same caps.
fn wired(parts: &[&Part], a: usize, b: usize) -> bool {
    parts.iter().any(
        |p| matches!(&p.what, What::Wire { links } if links.contains(&a) && links.contains(&b)),
    )
}
