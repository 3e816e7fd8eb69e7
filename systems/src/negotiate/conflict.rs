//! Which two pads cannot agree, on what, and how they are connected.

use super::solve::{Arc, Demand, Negotiation, only};
use crate::state::End;
use core::fmt;
use tickpipe_components::caps::Caps;

/// One side of a conflict: a pad, and what it can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The pad, as `element.pad`.
    pub pad: String,
    /// What it can have of the field, or all of its caps.
    pub value: String,
    node: usize,
    caps: Caps,
}

/// Two pads that cannot agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The field, or `None` if they differ in the media type or in several fields together.
    pub field: Option<String>,
    /// The pad upstream.
    pub upstream: Side,
    /// The pad downstream.
    pub downstream: Side,
    /// Names of the elements between the two, both ends included.
    pub path: Vec<String>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict {
            field,
            upstream: a,
            downstream: b,
            path,
        } = self;
        match field {
            Some(field) => write!(
                f,
                "{} and {} cannot agree on {field}: {} against {}",
                a.pad, b.pad, a.value, b.value
            )?,
            None => write!(
                f,
                "{} and {} cannot agree: {} against {}",
                a.pad, b.pad, a.value, b.value
            )?,
        }
        if path.len() > 1 {
            write!(f, " (path: {})", path.join(" -> "))?;
        }
        Ok(())
    }
}

impl std::error::Error for Conflict {}

impl Side {
    pub(super) fn of_demand(n: &Negotiation<'_>, demand: &Demand) -> Side {
        let end = n.topology.end(demand.node, demand.pad);
        Side::at(n, end, demand.node, demand.caps.clone())
    }

    /// What comes across a converter, told of its pad.
    pub(super) fn across(n: &Negotiation<'_>, arc: &Arc, caps: Caps) -> Side {
        let end = n.topology.end(arc.node, arc.to.1);
        Side::at(n, end, arc.node, caps)
    }

    fn at(n: &Negotiation<'_>, end: Option<End>, node: usize, caps: Caps) -> Side {
        Side {
            pad: end.map_or_else(
                || n.topology.nodes[node].name.clone(),
                |end| n.topology.end_name(n.world, end),
            ),
            value: caps.to_string(),
            node,
            caps,
        }
    }
}

/// The field in which two caps differ so that they cannot meet, if it is one alone.
fn field_between(a: &Caps, b: &Caps) -> Option<String> {
    let (a, b) = (a.structures().first()?, b.structures().first()?);
    if a.media() != b.media() {
        return None;
    }
    a.fields()
        .find(|(name, set)| b.get(name).is_some_and(|other| !set.meets(other)))
        .map(|(name, _)| name.to_owned())
}

/// Explains why `wire` cannot have what `side` brings: who brought each of the two.
pub(super) fn explain(n: &Negotiation<'_>, wire: usize, side: Side) -> Conflict {
    let there = Side {
        pad: "?".to_owned(),
        value: n.domains[wire].to_string(),
        node: side.node,
        caps: n.domains[wire].clone(),
    };
    let field = field_between(&side.caps, &there.caps);
    // Whoever alone rules out what the other side has is named rather than the sum of all.
    let left = origin(n, wire, field.as_deref(), &there.caps, side.node).unwrap_or(side);
    let right = origin(n, wire, field.as_deref(), &left.caps, left.node).unwrap_or(there);
    let field = field_between(&left.caps, &right.caps).or(field);
    let (mut up, mut down) = if left.node <= right.node {
        (left, right)
    } else {
        (right, left)
    };
    let way = way(n, up.node, down.node);
    face_each_other(n, &way, &mut up, &mut down);
    let media = |side: &Side| side.caps.first().map(|s| s.media().to_owned());
    if field.is_none() && media(&up) != media(&down) {
        for side in [&mut up, &mut down] {
            side.value = media(side).unwrap_or_default();
        }
    }
    if let Some(field) = &field {
        for side in [&mut up, &mut down] {
            if let Some(set) = side.caps.structures().first().and_then(|s| s.get(field)) {
                side.value = set.to_string();
            }
        }
    }
    let names = way.iter().map(|&i| n.topology.nodes[i].name.clone());
    let path = names.collect();
    Conflict {
        field,
        upstream: up,
        downstream: down,
        path,
    }
}

/// The pad whose own demand, alone, cannot meet `against`: on this wire, or carried to it by
/// converters that leave the field alone. The nearest one on the way.
fn origin(
    n: &Negotiation<'_>,
    wire: usize,
    field: Option<&str>,
    against: &Caps,
    near: usize,
) -> Option<Side> {
    let mut open = vec![wire];
    let mut seen = open.clone();
    let mut at = 0;
    while let Some(&wire) = open.get(at) {
        at += 1;
        let rules_out = |d: &&Demand| match field {
            Some(field) => {
                d.caps.structures().iter().all(|s| {
                    s.get(field).is_some_and(|set| {
                        against
                            .structures()
                            .iter()
                            .all(|o| o.get(field).is_some_and(|other| !set.meets(other)))
                    })
                }) && !d.caps.is_any()
            }
            None => d.caps.intersect(against).is_ok_and(|both| both.is_empty()),
        };
        let here = n.demands.iter().filter(|d| d.wire == wire);
        let distance = |d: &&Demand| (d.node.abs_diff(near), d.node, !d.pad.is_sink());
        if let Some(found) = here.filter(rules_out).min_by_key(distance) {
            return Some(Side::of_demand(n, found));
        }
        let field = field?;
        for arc in n.arcs.iter().filter(|a| a.to.0 == wire) {
            if !seen.contains(&arc.from.0) && leaves_alone(n, arc, field) {
                seen.push(arc.from.0);
                open.push(arc.from.0);
            }
        }
    }
    None
}

/// Of an element that has its demand on two pads, the pad that looks at the other side is named.
fn face_each_other(n: &Negotiation<'_>, way: &[usize], up: &mut Side, down: &mut Side) {
    let leads_to = |from: usize, to: usize| {
        let outputs = &n.topology.nodes[from].outputs;
        outputs.iter().any(|&l| n.topology.links[l].to.node == to)
    };
    let ([first, second, ..], [.., before, last]) = (way, way) else {
        return;
    };
    for (side, sink) in [
        (up, !leads_to(*first, *second)),
        (down, leads_to(*before, *last)),
    ] {
        let mut same = n
            .demands
            .iter()
            .filter(|d| d.node == side.node && d.pad.is_sink() == sink && d.caps == side.caps);
        if let Some(demand) = same.next() {
            *side = Side::of_demand(n, demand);
        }
    }
}

/// Whether a converter passes a field through unchanged.
fn leaves_alone(n: &Negotiation<'_>, arc: &Arc, field: &str) -> bool {
    let domain = &n.domains[arc.from.0];
    let Some(alone) = domain.structures().first().and_then(|s| only(field, s)) else {
        return false;
    };
    let node = &n.topology.nodes[arc.node];
    node.class
        .transform_caps(n.world.entity(node.entity), arc.from.1, arc.to.1, &alone, 0)
        .is_some_and(|to| to.caps.get(field) == alone.get(field))
}

/// The elements on the shortest way from one to another, in either direction of links.
fn way(n: &Negotiation<'_>, from: usize, to: usize) -> Vec<usize> {
    let count = n.topology.nodes.len();
    let mut before = vec![usize::MAX; count];
    let mut open = vec![from];
    before[from] = from;
    let mut at = 0;
    while let Some(&node) = open.get(at) {
        at += 1;
        if node == to {
            break;
        }
        let links = &n.topology.nodes[node];
        let after = links.outputs.iter().map(|&l| n.topology.links[l].to.node);
        let back = links.inputs.iter().map(|&l| n.topology.links[l].from.node);
        for next in after.chain(back) {
            if before[next] == usize::MAX {
                before[next] = node;
                open.push(next);
            }
        }
    }
    if before[to] == usize::MAX {
        return Vec::new();
    }
    let mut way = vec![to];
    let mut node = to;
    while node != from {
        node = before[node];
        way.push(node);
    }
    way.reverse();
    way
}
