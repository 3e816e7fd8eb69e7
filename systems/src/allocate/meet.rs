//! Where branches of one fork meet again: how many buffers one branch takes in before the element
//! where they meet can go on, and so how many wait for it on the others. Pure.
//!
//! Branches meet in an element that compares its inputs, in a synchroniser, and before PLAYING in
//! the sinks of a pipeline, which all hold their first buffer before any takes a second.

use super::plan::synchronises;
use crate::element::{Buffers, PadAt, PadCapsOf, Waits};
use crate::negotiate::Solution;
use crate::state::Topology;
use bevy_ecs::world::World;
use std::collections::BTreeMap;

/// Two links that meet, and of the one what it makes the other wait.
#[derive(Clone, Debug)]
struct Meeting {
    /// Whom the other waits for.
    other: usize,
    /// Buffers that leave the fork before `other` has what it needs.
    forked: u64,
    /// The links from the fork to `other`, and how many buffers are retained at the end of each.
    way: Vec<(usize, u64)>,
}

/// All places of a graph where branches of a fork meet again and one keeps buffers back.
pub(super) struct Meetings<'a> {
    topology: &'a Topology,
    /// By link: those that it may have to wait for.
    of: BTreeMap<usize, Vec<Meeting>>,
}

/// What is asked of the elements of a graph while branches are walked back.
struct Walk<'a> {
    world: &'a World,
    topology: &'a Topology,
    solution: &'a Solution,
    buffers: &'a [Buffers],
    pads: BTreeMap<usize, PadCapsOf>,
}

impl<'a> Meetings<'a> {
    /// Finds them.
    pub(super) fn new(
        world: &World,
        topology: &'a Topology,
        solution: &Solution,
        buffers: &[Buffers],
    ) -> Meetings<'a> {
        let mut found = Meetings {
            topology,
            of: BTreeMap::new(),
        };
        if topology.nodes.iter().all(|n| n.outputs.len() < 2) {
            return found;
        }
        let mut walk = Walk {
            world,
            topology,
            solution,
            buffers,
            pads: BTreeMap::new(),
        };
        let mut sinks = Vec::new();
        for (node, n) in topology.nodes.iter().enumerate() {
            if n.outputs.is_empty() {
                sinks.extend(n.inputs.iter().map(|&l| (l, 1)));
            }
            let entity = world.entity(n.entity);
            let compares = n.class.waits(entity) == Waits::All;
            if n.inputs.len() < 2 || !(compares || synchronises(n.class.terms.flow)) {
                continue;
            }
            let needs = n.inputs.iter().enumerate();
            let needs: Vec<(usize, u64)> = needs
                .filter_map(|(pad, &link)| Some((link, walk.takes(node, pad, 1)?)))
                .collect();
            found.among(&mut walk, &needs);
        }
        found.among(&mut walk, &sinks);
        found
    }

    /// Looks at all pairs of links that meet, each with how many buffers it must have.
    fn among(&mut self, walk: &mut Walk<'_>, links: &[(usize, u64)]) {
        // Only a branch that takes in more than it lets go makes another wait.
        let slow: Vec<(usize, u64)> = links
            .iter()
            .copied()
            .filter(|&(link, needed)| needed > 1 || walk.keeps(link))
            .collect();
        if slow.is_empty() {
            return;
        }
        for &(link, _) in links {
            let before = walk.before(link);
            for &(other, needed) in &slow {
                if other == link {
                    continue;
                }
                if let Some((forked, way)) = walk.back(other, needed, &before) {
                    self.of
                        .entry(link)
                        .or_default()
                        .push(Meeting { other, forked, way });
                }
            }
        }
    }

    /// How many items a link must hold so that no other waits for it in vain.
    pub(super) fn longest(&self, link: usize) -> u64 {
        let meetings = self.of.get(&link).into_iter().flatten();
        meetings.map(|m| m.forked).max().unwrap_or(0)
    }

    /// How many buffers of a pool wait on a link for another, beyond those that count already as
    /// retained on the way to the other, and which link that is. `reach` are the pool's links.
    pub(super) fn waiting(&self, link: usize, reach: &[usize]) -> Option<(u64, usize)> {
        let meetings = self.of.get(&link)?.iter();
        let beyond = meetings.map(|m| {
            let counted = |l: &usize| reach.binary_search(l).is_ok();
            let kept = m.way.iter().filter(|(l, _)| counted(l));
            let kept: u64 = kept.map(|w| w.1).sum();
            ((m.forked - 1).saturating_sub(kept), m.other)
        });
        // Of equals the first counts.
        let most = beyond.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        debug_assert!(most.1 < self.topology.links.len());
        (most.0 > 0).then_some(most)
    }
}

impl Walk<'_> {
    /// Buffers that an element takes in on a pad before it has let so many go.
    fn takes(&mut self, node: usize, pad: usize, outputs: u64) -> Option<u64> {
        let n = &self.topology.nodes[node];
        let (topology, solution) = (self.topology, self.solution);
        let bytes = self.bytes(n.inputs[pad]);
        let pads = self.pads.entry(node);
        let pads = pads.or_insert_with(|| solution.pads_of(topology, node));
        let entity = self.world.entity(n.entity);
        n.class
            .takes_for(entity, PadAt::sink(pad), pads, outputs, bytes)
    }

    /// The size of the buffers on a link: the smallest that may come there.
    fn bytes(&self, link: usize) -> usize {
        let mut open = vec![link];
        let mut seen = Vec::new();
        let mut least = usize::MAX;
        while let Some(link) = open.pop() {
            if seen.contains(&link) {
                continue;
            }
            seen.push(link);
            let from = self.topology.links[link].from.node;
            match self.buffers[from] {
                Buffers::Own(c) => least = least.min(c.size.max(1)),
                Buffers::InPlace(_) => open.extend(self.topology.nodes[from].inputs.first()),
                Buffers::Passed => open.extend(&self.topology.nodes[from].inputs),
            }
        }
        if least == usize::MAX { 1 } else { least }
    }

    /// Nodes upstream of a link, that of its end not counted; sorted.
    fn before(&self, link: usize) -> Vec<usize> {
        let mut seen = vec![false; self.topology.nodes.len()];
        let mut open = vec![self.topology.links[link].from.node];
        while let Some(node) = open.pop() {
            if !core::mem::replace(&mut seen[node], true) {
                let inputs = self.topology.nodes[node].inputs.iter();
                open.extend(inputs.map(|&l| self.topology.links[l].from.node));
            }
        }
        let all = seen.iter().enumerate().filter(|s| *s.1);
        all.map(|s| s.0).collect()
    }

    /// Whether anything upstream of a link takes in more than it lets go.
    fn keeps(&mut self, link: usize) -> bool {
        let nodes = self.before(link);
        nodes.into_iter().any(|node| {
            let pads = 0..self.topology.nodes[node].inputs.len();
            pads.into_iter()
                .any(|pad| self.takes(node, pad, 1).is_none_or(|t| t > 1))
        })
    }

    /// Walks back from a link that must have `needed` buffers to the nodes in `stops`, which are
    /// sorted: how many buffers must leave the one of those that must emit most, and the links on
    /// all ways with what is retained at the end of each. `None` if no way leads there, or an
    /// element on it may never let anything go.
    fn back(
        &mut self,
        link: usize,
        needed: u64,
        stops: &[usize],
    ) -> Option<(u64, Vec<(usize, u64)>)> {
        let mut forked: Option<u64> = None;
        let mut way = Vec::new();
        // By node, later ones first: what it must emit on the links that were walked.
        let mut open: BTreeMap<usize, u64> = BTreeMap::new();
        let reach = |walk: &Self, way: &mut Vec<(usize, u64)>, link: usize| {
            let to = walk.topology.links[link].to;
            let n = &walk.topology.nodes[to.node];
            let entity = walk.world.entity(n.entity);
            let kept = n.class.retains(entity, PadAt::sink(to.index));
            if !way.iter().any(|w| w.0 == link) {
                way.push((link, kept.into()));
            }
            walk.topology.links[link].from.node
        };
        open.insert(reach(self, &mut way, link), needed);
        while let Some((node, needed)) = open.pop_last() {
            if stops.binary_search(&node).is_ok() {
                forked = forked.max(Some(needed));
                continue;
            }
            for pad in 0..self.topology.nodes[node].inputs.len() {
                let taken = self.takes(node, pad, needed)?;
                let link = self.topology.nodes[node].inputs[pad];
                let from = reach(self, &mut way, link);
                let most = open.entry(from).or_default();
                *most = taken.max(*most);
            }
        }
        Some((forked?, way))
    }
}
