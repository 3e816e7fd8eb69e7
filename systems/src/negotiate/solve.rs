//! Narrowing what each piece of wire can have until nothing changes, then fixing it.
//!
//! Pads that must have the same caps (through queues, tees, filters, identities) are one *wire*.
//! Each wire has the set of caps that it can still have; constraints of single pads narrow it
//! once, converters narrow it from both sides until nothing changes. On graphs whose converters
//! form a tree every value that is left is part of a solution, so fixing never has to go back;
//! elsewhere other structures of a wire are tried in order.

use super::conflict::{Conflict, Side, explain};
use crate::element::{CapsQuery, Flow, PadAt, PadCapsOf, PeekError, Peeked};
use crate::state::Topology;
use bevy_ecs::world::World;
use std::collections::VecDeque;
use std::sync::Arc as Shared;
use thiserror::Error;
use tickpipe_components::caps::{Caps, CapsLimitError, Structure};
use tickpipe_components::fault::ElementError;
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};

/// The caps of each link.
#[derive(Clone, Debug)]
pub struct Solution {
    /// By link; ANY where nothing constrains it.
    pub links: Vec<Shared<Caps>>,
    /// Steps that it took.
    pub work: u64,
}

impl Solution {
    /// The caps of an element's linked pads.
    pub fn pads_of(&self, topology: &Topology, node: usize) -> PadCapsOf {
        let of = |links: &[usize]| links.iter().map(|&l| (*self.links[l]).clone()).collect();
        PadCapsOf {
            sinks: of(&topology.nodes[node].inputs),
            sources: of(&topology.nodes[node].outputs),
        }
    }
}

/// Why there are no caps for a graph.
#[derive(Debug, Error)]
pub enum NegotiationError {
    /// Two pads cannot agree.
    #[error("{0}")]
    Conflict(Box<Conflict>),
    /// An element could not say what it can do, or refused.
    #[error("{error}")]
    Element {
        /// The element, as an index into the topology's nodes.
        node: usize,
        /// Why.
        error: ElementError,
    },
    /// A source does not say what it emits, and nothing else settles it.
    #[error("{pad} does not say what it emits, and what follows leaves it open: {caps}")]
    Open {
        /// The source pad.
        pad: String,
        /// What is left.
        caps: String,
    },
    /// The search took more steps than it may; whether there is an answer is not known.
    #[error("no answer within the limit: {0}")]
    Limit(#[from] LimitExceeded),
    /// A caps operation went past a limit of caps.
    #[error(transparent)]
    Caps(#[from] CapsLimitError),
}

/// What a single pad demands of its wire.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    pub(super) wire: usize,
    pub(super) node: usize,
    pub(super) pad: PadAt,
    pub(super) caps: Caps,
}

/// Two pads of one element whose caps follow from one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) node: usize,
    pub(super) from: (usize, PadAt),
    pub(super) to: (usize, PadAt),
}

/// A graph's caps problem.
pub struct Negotiation<'a> {
    pub(super) world: &'a World,
    pub(super) topology: &'a Topology,
    /// Per link its wire.
    pub(super) wire_of: Vec<usize>,
    /// Per wire its first link in graph order, which is the one that its source feeds.
    first_link: Vec<usize>,
    pub(super) demands: Vec<Demand>,
    /// Per wire whether its source says what it emits.
    spoken: Vec<bool>,
    pub(super) arcs: Vec<Arc>,
    arcs_from: Vec<Vec<usize>>,
    arcs_to: Vec<Vec<usize>>,
    pub(super) domains: Vec<Caps>,
    /// What each wire would best have for the sake of those after it.
    wishes: Vec<Caps>,
    /// Domains as they were before the choice that is being tried.
    trail: Vec<(usize, Caps)>,
    limits: &'a Limits,
    work: u64,
}

impl<'a> Negotiation<'a> {
    /// Reads the problem: asks every pad what it can do.
    ///
    /// # Errors
    /// [`NegotiationError::Element`] if an element cannot say, [`NegotiationError::Limit`] if it
    /// does not stop answering.
    pub fn new(
        world: &'a World,
        topology: &'a Topology,
        limits: &'a Limits,
    ) -> Result<Negotiation<'a>, NegotiationError> {
        let (wire_of, first_link) = wires(topology);
        let wires = first_link.len();
        let mut n = Negotiation {
            world,
            topology,
            wire_of,
            first_link,
            demands: Vec::new(),
            spoken: vec![false; wires],
            arcs: Vec::new(),
            arcs_from: vec![Vec::new(); wires],
            arcs_to: vec![Vec::new(); wires],
            domains: vec![Caps::any(); wires],
            wishes: Vec::new(),
            trail: Vec::new(),
            limits,
            work: 0,
        };
        for node in 0..topology.nodes.len() {
            n.ask(node)?;
            n.relate(node);
        }
        Ok(n)
    }

    fn pads(&self, node: usize) -> impl Iterator<Item = (usize, PadAt)> + use<'a> {
        let n = &self.topology.nodes[node];
        let sinks = n.inputs.iter().enumerate();
        let sources = n.outputs.iter().enumerate();
        sinks
            .map(|(i, &l)| (l, PadAt::sink(i)))
            .chain(sources.map(|(i, &l)| (l, PadAt::source(i))))
    }

    /// What each pad of an element can do.
    fn ask(&mut self, node: usize) -> Result<(), NegotiationError> {
        let n = &self.topology.nodes[node];
        let entity = self.world.entity(n.entity);
        let (world, topology) = (self.world, self.topology);
        for (link, pad) in self.pads(node) {
            let template = template(topology, world, node, pad);
            let peek = |max: usize| peek(world, topology, node, max);
            let query = CapsQuery {
                template: &template,
                peek: &peek,
            };
            if template.is_any() && n.class.terms.flow != Flow::Wire {
                continue;
            }
            let mut caps = Caps::empty();
            let most = self.limits.get(Limit::EnumCaps);
            let mut index = 0;
            loop {
                let answer = n.class.enum_caps(entity, &query, pad, index);
                match answer.map_err(|error| NegotiationError::Element { node, error })? {
                    Some(structure) => caps.push(structure)?,
                    None => break,
                }
                index += 1;
                self.limits.check(
                    Limit::EnumCaps,
                    &format!("answers of {} to enum_caps", n.name),
                    u64::from(index),
                )?;
                debug_assert!(u64::from(index) <= most);
            }
            if index == 0 && template.is_any() {
                continue;
            }
            let wire = self.wire_of[link];
            self.spoken[wire] |= !pad.is_sink() && self.first_link[wire] == link;
            self.demands.push(Demand {
                wire,
                node,
                pad,
                caps,
            });
        }
        Ok(())
    }

    /// Which pads of an element follow from which.
    fn relate(&mut self, node: usize) {
        let pads: Vec<(usize, PadAt)> = self.pads(node).collect();
        let related: Vec<((usize, PadAt), (usize, PadAt))> =
            match self.topology.nodes[node].class.terms.flow {
                Flow::Wire | Flow::Separate => Vec::new(),
                Flow::Convert => pads
                    .iter()
                    .filter(|p| p.1.is_sink())
                    .flat_map(|&s| {
                        let sources = pads.iter().filter(|p| !p.1.is_sink());
                        sources.map(move |&o| (s, o))
                    })
                    .collect(),
                Flow::Lead => {
                    let others = pads.iter().filter(|p| p.1.is_sink() && p.1.index > 0);
                    others.map(|&p| (pads[0], p)).collect()
                }
            };
        for (a, b) in related {
            for (from, to) in [(a, b), (b, a)] {
                self.arcs_from[self.wire_of[from.0]].push(self.arcs.len());
                self.arcs_to[self.wire_of[to.0]].push(self.arcs.len());
                self.arcs.push(Arc {
                    node,
                    from: (self.wire_of[from.0], from.1),
                    to: (self.wire_of[to.0], to.1),
                });
            }
        }
    }

    /// Finds the caps of each link.
    ///
    /// # Errors
    /// [`NegotiationError`].
    pub fn solve(mut self) -> Result<Solution, NegotiationError> {
        for i in 0..self.demands.len() {
            let wire = self.demands[i].wire;
            let met = self.domains[wire].intersect(&self.demands[i].caps)?;
            if met.is_empty() {
                let demand = self.demands[i].clone();
                return Err(self.conflict_at(wire, Side::of_demand(&self, &demand)));
            }
            self.domains[wire] = met;
        }
        self.propagate((0..self.domains.len()).collect())?;
        self.look_ahead()?;
        for wire in 0..self.domains.len() {
            self.fix(wire)?;
        }
        let wires: Vec<Shared<Caps>> = self.domains.into_iter().map(Shared::new).collect();
        let links = self.wire_of.iter().map(|&w| Shared::clone(&wires[w]));
        Ok(Solution {
            links: links.collect(),
            work: self.work,
        })
    }

    /// Narrows the neighbours of the wires that changed, until nothing changes.
    fn propagate(&mut self, changed: VecDeque<usize>) -> Result<(), NegotiationError> {
        let mut queue = changed;
        let mut queued = vec![false; self.domains.len()];
        queue.iter().for_each(|&w| queued[w] = true);
        while let Some(wire) = queue.pop_front() {
            queued[wire] = false;
            for i in 0..self.arcs_from[wire].len() {
                let arc = self.arcs[self.arcs_from[wire][i]];
                let Some(reachable) = self.image(&arc)? else {
                    continue;
                };
                let to = arc.to.0;
                let met = self.domains[to].intersect(&reachable)?;
                if met.is_empty() {
                    let side = Side::across(self, &arc, reachable);
                    return Err(self.conflict_at(to, side));
                }
                if met != self.domains[to] {
                    let old = core::mem::replace(&mut self.domains[to], met);
                    self.trail.push((to, old));
                    if !queued[to] {
                        queued[to] = true;
                        queue.push_back(to);
                    }
                }
            }
        }
        Ok(())
    }

    /// What `to` can have given what `from` can; `None` if that says nothing.
    fn image(&mut self, arc: &Arc) -> Result<Option<Caps>, NegotiationError> {
        let domain = self.domains[arc.from.0].clone();
        self.image_of(arc, &domain)
    }

    pub(super) fn image_of(
        &mut self,
        arc: &Arc,
        domain: &Caps,
    ) -> Result<Option<Caps>, NegotiationError> {
        if domain.is_any() {
            return Ok(None);
        }
        let n = &self.topology.nodes[arc.node];
        let entity = self.world.entity(n.entity);
        let mut image = Caps::empty();
        for structure in domain.structures() {
            let mut index = 0;
            while let Some(to) = n
                .class
                .transform_caps(entity, arc.from.1, arc.to.1, structure, index)
            {
                image.push(to.caps)?;
                index += 1;
                self.work += 1;
                self.limits.check(
                    Limit::EnumCaps,
                    &format!("answers of {} to transform_caps", n.name),
                    u64::from(index),
                )?;
            }
        }
        self.limits
            .check(Limit::CapsWork, "steps of this negotiation", self.work)?;
        Ok(Some(largest(&image)?))
    }

    /// Fixes a wire; everything upstream of it is fixed already.
    fn fix(&mut self, wire: usize) -> Result<(), NegotiationError> {
        if self.domains[wire].is_any() {
            return Ok(());
        }
        let from = self.topology.links[self.first_link[wire]].from;
        let (node, pad) = (from.node, PadAt::source(from.index));
        let n = &self.topology.nodes[node];
        let entity = self.world.entity(n.entity);
        let converts = n.class.terms.flow == Flow::Convert;
        if !converts && !self.spoken[wire] && !self.domains[wire].is_fixed() {
            let end = self.topology.end(node, pad);
            return Err(NegotiationError::Open {
                pad: end.map_or_else(String::new, |e| self.topology.end_name(self.world, e)),
                caps: self.domains[wire].to_string(),
            });
        }
        let other = self.arcs_to[wire]
            .iter()
            .map(|&a| &self.arcs[a])
            .find(|a| a.node == node && a.from.1.is_sink())
            .and_then(|a| self.domains[a.from.0].structures().first().cloned());
        let choices = self.choices(wire)?;
        let mut first_error = None;
        for structure in choices.structures() {
            let fixed = n.class.fixate(entity, pad, structure, other.as_ref());
            self.trail.clear();
            let old = core::mem::replace(&mut self.domains[wire], Caps::from(fixed));
            self.trail.push((wire, old));
            match self.propagate(VecDeque::from([wire])) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    while let Some((wire, old)) = self.trail.pop() {
                        self.domains[wire] = old;
                    }
                    first_error.get_or_insert(error);
                }
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Works out, from the last wire to the first, what each can have so that the converters after
    /// it have nothing to convert, as far down as that is possible.
    fn look_ahead(&mut self) -> Result<(), NegotiationError> {
        self.wishes = self.domains.clone();
        for wire in (0..self.domains.len()).rev() {
            let Some(next) = self.follower(wire) else {
                continue;
            };
            let both = self.domains[wire].intersect(&self.wishes[next])?;
            if !both.is_empty() && both.structures().len() <= MOST_WISHES {
                self.wishes[wire] = both;
            }
        }
        Ok(())
    }

    /// The wire after the converter that a wire leads to.
    fn follower(&self, wire: usize) -> Option<usize> {
        let arcs = self.arcs_from[wire].iter().map(|&a| &self.arcs[a]);
        let mut down = arcs.filter(|a| a.from.1.is_sink() && !a.to.1.is_sink());
        down.next().map(|a| a.to.0).filter(|&next| next > wire)
    }

    /// What a wire can have, best first: what converters after it need not convert, then the rest.
    fn choices(&self, wire: usize) -> Result<Caps, NegotiationError> {
        let mut choices = self.domains[wire].intersect(&self.wishes[wire])?;
        choices.append(&self.domains[wire])?;
        Ok(choices)
    }

    fn conflict_at(&self, wire: usize, side: Side) -> NegotiationError {
        NegotiationError::Conflict(Box::new(explain(self, wire, side)))
    }
}

/// The structures that no other one contains: what can come across a converter is a set, and its
/// order says nothing. Without this, converters of different kinds in a row double it each time.
fn largest(caps: &Caps) -> Result<Caps, CapsLimitError> {
    let all = caps.structures();
    let mut kept = Caps::empty();
    for (i, structure) in all.iter().enumerate() {
        // Of equal ones the first stays.
        let mut others = all.iter().enumerate().filter(|(j, _)| *j != i);
        let inside = |(j, other): (usize, &Structure)| {
            structure.is_subset(other) && (j < i || !other.is_subset(structure))
        };
        if !others.any(inside) {
            kept.push(structure.clone())?;
        }
    }
    Ok(kept)
}

/// Structures of a wish; where it would fall into more, the wire's own order decides.
const MOST_WISHES: usize = 64;

/// Joins links that must have the same caps. Per link its wire, and per wire its first link;
/// wires are numbered in that order.
fn wires(topology: &Topology) -> (Vec<usize>, Vec<usize>) {
    let mut parent: Vec<usize> = (0..topology.links.len()).collect();
    fn root(parent: &mut [usize], mut link: usize) -> usize {
        while parent[link] != link {
            parent[link] = parent[parent[link]];
            link = parent[link];
        }
        link
    }
    for node in &topology.nodes {
        let joined: Vec<usize> = match node.class.terms.flow {
            Flow::Wire => node.inputs.iter().chain(&node.outputs).copied().collect(),
            Flow::Lead => node
                .inputs
                .first()
                .into_iter()
                .chain(&node.outputs)
                .copied()
                .collect(),
            Flow::Convert | Flow::Separate => Vec::new(),
        };
        for pair in joined.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut number = vec![usize::MAX; parent.len()];
    let mut first_link = Vec::new();
    let mut wire_of = Vec::with_capacity(parent.len());
    for link in 0..parent.len() {
        let r = root(&mut parent, link);
        if number[r] == usize::MAX {
            number[r] = first_link.len();
            first_link.push(link);
        }
        wire_of.push(number[r]);
    }
    (wire_of, first_link)
}

/// The caps of a pad's template.
fn template(topology: &Topology, world: &World, node: usize, pad: PadAt) -> Caps {
    let info = topology
        .end(node, pad)
        .and_then(|end| world.get::<tickpipe_components::graph::Pad>(end.pad));
    let templates = &topology.nodes[node].class.terms.pads;
    info.and_then(|i| templates.get(i.template))
        .map_or_else(Caps::any, |t| t.caps.clone())
}

/// The first bytes that will arrive on sink pad 0 of a node.
fn peek(world: &World, topology: &Topology, node: usize, max: usize) -> Result<Peeked, PeekError> {
    let mut at = node;
    loop {
        let n = &topology.nodes[at];
        let not_bytes = || PeekError::NotBytes(topology.nodes[node].name.clone());
        if let Some(bytes) = n.class.peek(world.entity(n.entity), max)? {
            let whole = bytes.len() < max;
            return Ok(Peeked { bytes, whole });
        }
        if at != node && n.class.terms.flow != Flow::Wire {
            return Err(not_bytes());
        }
        let &link = n.inputs.first().ok_or_else(not_bytes)?;
        at = topology.links[link].from.node;
    }
}

/// Structures of both in which a field differs, for tests of what is tied.
pub(super) fn only(field: &str, structure: &Structure) -> Option<Structure> {
    let mut alone = Structure::new(structure.media());
    alone.set(field, structure.get(field)?.clone()).ok()?;
    Some(alone)
}
