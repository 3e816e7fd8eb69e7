//! Turns parts that cannot be fulfilled into conflicts that a person can read, one after the other.

use super::conflict::{Conflict, Failure, Side};
use super::eliminate::{Bounds, Joiner};
use super::mend::Tried;
use super::minimal::{Checker, Minimal};
use super::parts::{Part, Parts, What};
use super::repair::without;
use super::rows::Way;
use super::solve::{NegotiationError, Search};
use crate::element::PadAt;
use crate::state::Topology;
use bevy_ecs::world::World;
use std::rc::Rc;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::limits::LimitExceeded;

/// Conflicts that are told at most.
const MOST_CONFLICTS: usize = 8;
/// Steps that explaining may take, as a multiple of what the search may.
const MORE_WORK: u64 = 8;

/// Why parts of a graph cannot be fulfilled: the error to answer with.
pub(super) fn failure(search: &Search<'_>, dead: Vec<usize>) -> NegotiationError {
    let mut failure = Failure {
        conflicts: Vec::new(),
        mended: false,
        cut_short: false,
    };
    match find_all(search, dead, &mut failure) {
        Ok(()) => {}
        Err(limit) => {
            if failure.conflicts.is_empty() {
                return limit.into();
            }
            failure.cut_short = true;
        }
    }
    NegotiationError::Conflict(Box::new(failure))
}

/// Finds conflicts one after the other, each in the graph with the changes for those before.
fn find_all(
    search: &Search<'_>,
    dead: Vec<usize>,
    failure: &mut Failure,
) -> Result<(), LimitExceeded> {
    let teller = Teller {
        world: search.world,
        topology: search.request.topology,
    };
    let catalogue = search.catalogue();
    let mut tried = Tried::new(search.parts.clone());
    let mut dead = Some(dead);
    let mut settled = true;
    while let Some(now) = dead.take() {
        if failure.conflicts.len() == MOST_CONFLICTS {
            failure.cut_short = true;
            break;
        }
        let bounds = Bounds::of(search.limits);
        let bounds = Bounds {
            work: bounds.work.saturating_mul(MORE_WORK),
            ..bounds
        };
        let mut joiner = Joiner::new(bounds, tried.frame.fields.len());
        let minimal = tried.checker(&mut joiner).minimal(now)?;
        let told = teller.conflict(&tried, &mut joiner, &minimal)?;
        let path = told.1;
        failure.conflicts.push(told.0);
        let mend = teller.mend(&tried, &minimal, &path, &catalogue, search, settled)?;
        tried = match mend {
            Some((changes, mended)) => {
                if let Some(last) = failure.conflicts.last_mut() {
                    last.fix = changes;
                }
                mended
            }
            None => {
                // The others are looked for as if this one were settled.
                settled = false;
                let party = minimal.parties.last().map(|&p| vec![p]);
                let last = minimal.demands.last().cloned().or(party);
                let gone = last.unwrap_or_default();
                if gone.is_empty() {
                    break;
                }
                let left = without(&tried.parts, |p| gone.contains(&p));
                tried.with(left)
            }
        };
        let mut joiner = Joiner::new(bounds, tried.frame.fields.len());
        let all = tried.all();
        dead = tried.checker(&mut joiner).dead(&all, false)?;
    }
    failure.mended = settled && !failure.cut_short;
    Ok(())
}

pub(super) struct Teller<'a> {
    pub(super) world: &'a World,
    pub(super) topology: &'a Topology,
}

impl Teller<'_> {
    /// A conflict, and the nodes between its ends.
    pub(super) fn conflict(
        &self,
        tried: &Tried,
        joiner: &mut Joiner,
        minimal: &Minimal,
    ) -> Result<(Conflict, Vec<usize>), LimitExceeded> {
        let parts = minimal.parts();
        // Fields that are not needed are taken away one after the other.
        let mut small = Parts {
            parts: Vec::new(),
            ..tried.parts.clone()
        };
        let said = parts.iter().map(|&p| tried.parts.parts[p].clone());
        let passing = minimal.passing.iter();
        small.parts.extend(said);
        small
            .parts
            .extend(passing.map(|&p| bare(&tried.parts.parts[p])));
        let chosen: Vec<usize> = (0..small.parts.len()).collect();
        let mut names: Vec<String> = Vec::new();
        for part in &small.parts {
            for structure in structures(&part.what) {
                names.extend(structure.fields().map(|(name, _)| name.to_owned()));
            }
        }
        names.sort_unstable();
        names.dedup();
        let mut needed = Vec::new();
        for name in names {
            let fewer = Parts {
                parts: small
                    .parts
                    .iter()
                    .map(|p| without_field(p, &name))
                    .collect(),
                ..small.clone()
            };
            let mut checker = Checker {
                parts: &fewer,
                frame: &tried.frame,
                joiner: &mut *joiner,
            };
            match checker.dead(&chosen, false)? {
                Some(_) => small = fewer,
                None => needed.push(name),
            }
        }
        let mut parties = parts.clone();
        parties.sort_by_key(|&p| (tried.parts.rank[tried.parts.parts[p].node], p));
        let mut nodes: Vec<usize> = parties.iter().map(|&p| tried.parts.parts[p].node).collect();
        let ends = (nodes.first().copied(), nodes.last().copied());
        nodes.dedup();
        let path = match ends {
            (Some(a), Some(b)) => self.way(a, b, &tried.parts.rank),
            _ => Vec::new(),
        };
        let mut sides: Vec<Side> = Vec::new();
        let mut told: Vec<usize> = Vec::new();
        for &party in &parties {
            if told.contains(&party) {
                continue;
            }
            // Of an element that says the same on several pads, the pad that faces the other side.
            let member = minimal.demands.iter().find(|m| m.contains(&party));
            let alike = parties.iter().copied();
            let alike: Vec<usize> = alike
                .filter(|p| *p == party || member.is_some_and(|m| m.contains(p)))
                .collect();
            let faces = alike
                .iter()
                .copied()
                .find(|&p| self.faces(&tried.parts.parts[p], &path));
            let part = &tried.parts.parts[faces.unwrap_or(party)];
            sides.push(self.side(part, &needed, faces.is_some()));
            told.extend(alike);
        }
        if let (&[only], [one]) = (&parties[..], &mut sides[..]) {
            let part = &tried.parts.parts[only];
            if let What::Ways { from, to, ways, .. } = &part.what
                && !ways.is_empty()
            {
                // What it takes and what it makes cannot go together here.
                let said = |side: fn(&Way) -> &Option<Structure>| -> Vec<Structure> {
                    ways.iter().filter_map(|w| side(w).clone()).collect()
                };
                let (takes, makes) = (said(|w| &w.takes), said(|w| &w.makes));
                one.pad = self.pad(part.node, from.1);
                one.value = values(&takes, &needed);
                sides.push(Side {
                    pad: self.pad(part.node, to.1),
                    value: values(&makes, &needed),
                    caps: makes.into_iter().collect::<Caps>().to_string(),
                });
            }
        }
        let conflict = Conflict {
            fields: needed,
            sides,
            path: path.iter().map(|&n| self.name(n)).collect(),
            fix: Vec::new(),
        };
        Ok((conflict, path))
    }

    /// Whether the pad of a demand leads to its neighbour on a path: the next one, or, of the last
    /// element, the one before.
    fn faces(&self, part: &Part, path: &[usize]) -> bool {
        let link = match &part.what {
            What::Demand { link, .. } => link,
            What::Ways { to, .. } => &to.0,
            _ => return false,
        };
        let Some(at) = path.iter().position(|n| *n == part.node) else {
            return false;
        };
        let neighbour = path.get(at + 1).or_else(|| path.get(at.checked_sub(1)?));
        let link = self.topology.links.get(*link);
        link.zip(neighbour)
            .is_some_and(|(l, n)| [l.from.node, l.to.node].contains(n))
    }

    pub(super) fn name(&self, node: usize) -> String {
        let node = self.topology.nodes.get(node);
        node.map_or_else(|| "(inserted)".to_owned(), |n| n.name.clone())
    }

    fn pad(&self, node: usize, pad: PadAt) -> String {
        match (
            self.topology.nodes.get(node),
            self.topology
                .nodes
                .get(node)
                .and_then(|_| self.topology.end(node, pad)),
        ) {
            (Some(_), Some(end)) => self.topology.end_name(self.world, end),
            _ => self.name(node),
        }
    }

    /// A side of a conflict; of a converter the pad that makes, if the others are there.
    fn side(&self, part: &Part, fields: &[String], makes: bool) -> Side {
        let (pad, caps): (PadAt, Caps) = match &part.what {
            What::Demand { pad, caps, .. } => (*pad, caps.iter().cloned().collect()),
            What::Pinned { link, caps } => {
                let from = self.topology.links[*link].from;
                return Side {
                    pad: self.topology.end_name(self.world, from),
                    value: values(std::slice::from_ref(&**caps), fields),
                    caps: caps.to_string(),
                };
            }
            What::Ways { from, to, ways, .. } => {
                let text = |s: &Option<Structure>| {
                    let said = s.as_ref().map(std::slice::from_ref);
                    said.map_or_else(|| "any".to_owned(), |s| values(s, fields))
                };
                let sides = ways.iter().map(|w| (text(&w.takes), text(&w.makes)));
                let sides: Vec<(String, String)> = sides.collect();
                // A side that says nothing of the fields in any row is left out.
                let (takes_any, makes_any) = (
                    sides.iter().all(|s| s.0 == "any"),
                    sides.iter().all(|s| s.1 == "any"),
                );
                let mut rows: Vec<String> = Vec::new();
                for (takes, makes) in sides {
                    let row = match (takes_any, makes_any) {
                        (_, true) => takes,
                        (true, false) => makes,
                        (false, false) => format!("{takes} -> {makes}"),
                    };
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
                let between = if takes_any || makes_any {
                    " or "
                } else {
                    " | "
                };
                return Side {
                    pad: self.pad(part.node, if makes { to.1 } else { from.1 }),
                    value: rows.join(between),
                    caps: ways
                        .iter()
                        .filter_map(|w| w.takes.clone())
                        .collect::<Caps>()
                        .to_string(),
                };
            }
            What::Wire { .. } => (PadAt::sink(0), Caps::any()),
        };
        Side {
            pad: self.pad(part.node, pad),
            value: values(caps.structures(), fields),
            caps: caps.to_string(),
        }
    }

    /// The elements on the shortest way from one to another, in either direction of links; of
    /// several the one of the lower ranks.
    fn way(&self, from: usize, to: usize, rank: &[usize]) -> Vec<usize> {
        let nodes = &self.topology.nodes;
        if from >= nodes.len() || to >= nodes.len() {
            return Vec::new();
        }
        let mut before = vec![usize::MAX; nodes.len()];
        let mut open = vec![from];
        before[from] = from;
        let mut at = 0;
        while let Some(&node) = open.get(at) {
            at += 1;
            if node == to {
                break;
            }
            let after = nodes[node].outputs.iter();
            let after = after.map(|&l| self.topology.links[l].to.node);
            let back = nodes[node].inputs.iter();
            let back = back.map(|&l| self.topology.links[l].from.node);
            let mut around: Vec<usize> = after.chain(back).collect();
            around.sort_by_key(|&n| rank[n]);
            for next in around {
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
}

/// The structures that a part names.
fn structures(what: &What) -> Vec<&Structure> {
    match what {
        What::Demand { caps, .. } => caps.iter().collect(),
        What::Ways { ways, .. } => ways
            .iter()
            .flat_map(|w| w.takes.iter().chain(&w.makes))
            .collect(),
        What::Pinned { caps, .. } => vec![&**caps],
        What::Wire { .. } => Vec::new(),
    }
}

fn mapped(part: &Part, change: impl Fn(&mut Structure)) -> Part {
    let mut part = part.clone();
    match &mut part.what {
        What::Demand { caps, .. } => {
            let mut new = (**caps).clone();
            new.iter_mut().for_each(&change);
            *caps = Rc::new(new);
        }
        What::Ways { ways, .. } => {
            let mut new = (**ways).clone();
            for way in &mut new {
                way.takes.iter_mut().chain(&mut way.makes).for_each(&change);
            }
            *ways = Rc::new(new);
        }
        What::Pinned { caps, .. } => change(caps),
        What::Wire { .. } => {}
    }
    part
}

/// The part without its demands on a field; what it ties stays tied.
fn without_field(part: &Part, name: &str) -> Part {
    mapped(part, |s| {
        s.remove(name);
    })
}

/// A converter that says nothing of what it takes and makes.
fn bare(part: &Part) -> Part {
    let mut part = part.clone();
    if let What::Ways { ways, .. } = &mut part.what {
        *ways = Rc::new(ways.iter().map(Way::bare).collect());
    }
    part
}

/// What structures say of fields: sets of one field, fields and sets of several, media types of
/// none.
fn values(structures: &[Structure], fields: &[String]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for structure in structures {
        let text = match fields {
            [] => {
                let mut bare = structure.clone();
                bare.clear();
                bare.to_string()
            }
            [field] => structure
                .get(field)
                .map_or_else(|| "any".to_owned(), ToString::to_string),
            fields => {
                let said: Vec<String> = fields
                    .iter()
                    .filter_map(|f| Some(format!("{f}={}", structure.get(f)?)))
                    .collect();
                match said.is_empty() {
                    true => "any".to_owned(),
                    false => said.join(","),
                }
            }
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        return "nothing".to_owned();
    }
    texts.join(" or ")
}
