//! Where branches of one fork come to points that wait for one another: how many buffers one branch
//! takes in before it has let one go, and so how many wait on the others. Pure.
//!
//! Such points are the inputs of an element that compares them, those of a synchroniser, and the
//! sinks of a pipeline, which all hold their first buffer before any takes a second. Points of
//! different elements count too: they may wait for one another over a third. It counts on streams
//! whose times do not go back.

use super::plan::synchronises;
use crate::element::{Buffers, PadAt, PadCapsOf, Waits};
use crate::negotiate::Solution;
use crate::state::Topology;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A link that may have to wait for another.
#[derive(Clone, Debug)]
struct Meeting {
    /// The other.
    other: usize,
    /// Buffers that leave the fork before `other` has what it needs.
    forked: u64,
    /// Buffers that arrive on this link then: by several ways the same comes several times.
    arrived: u64,
    /// How many of each buffer of the fork an element emits, by node; 0 for those not behind it.
    times: Rc<[u64]>,
    /// The links from the fork to `other`, ascending, and how many buffers are retained at the end
    /// of each.
    way: Vec<(usize, u64)>,
}

/// Buffers of a pool that wait on a link for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The link that they wait on.
    pub link: usize,
    /// The link that they wait for.
    pub other: usize,
    /// How many.
    pub buffers: u64,
}

/// All places of a graph where branches of a fork meet again and one keeps buffers back.
pub(super) struct Meetings {
    /// By link: those that it may have to wait for.
    of: BTreeMap<usize, Vec<Meeting>>,
}

/// By which of a fork's outputs something is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Legs {
    None,
    One(usize),
    Several,
}

impl Legs {
    fn with(self, other: Legs) -> Legs {
        match (self, other) {
            (Legs::None, legs) | (legs, Legs::None) => legs,
            (a, b) if a == b => a,
            _ => Legs::Several,
        }
    }
}

/// What is asked of the elements of a graph while branches are walked back.
struct Walk<'a> {
    world: &'a World,
    topology: &'a Topology,
    solution: &'a Solution,
    buffers: &'a [Buffers],
    pads: BTreeMap<usize, PadCapsOf>,
    /// By link: the size of its buffers, once it was asked for.
    bytes: BTreeMap<usize, usize>,
}

impl Meetings {
    /// Finds them.
    pub(super) fn new(
        world: &World,
        topology: &Topology,
        solution: &Solution,
        buffers: &[Buffers],
    ) -> Meetings {
        let mut found = Meetings {
            of: BTreeMap::new(),
        };
        let forks = topology.nodes.iter().enumerate();
        let forks = forks.filter(|(_, n)| n.outputs.len() > 1);
        let forks: Vec<usize> = forks.map(|f| f.0).collect();
        if forks.is_empty() {
            return found;
        }
        let mut walk = Walk {
            world,
            topology,
            solution,
            buffers,
            pads: BTreeMap::new(),
            bytes: BTreeMap::new(),
        };
        let points = walk.points();
        let slow = |walk: &mut Walk<'_>, node: usize| {
            let pads = 0..topology.nodes[node].inputs.len();
            pads.into_iter()
                .any(|pad| walk.takes(node, pad, 1).is_none_or(|t| t > 1))
        };
        let parts = |walk: &mut Walk<'_>| forks.iter().any(|fork| walk.apart(*fork) > 1);
        if !(0..topology.nodes.len()).any(|node| slow(&mut walk, node)) && !parts(&mut walk) {
            return found;
        }
        for fork in forks {
            found.behind(&mut walk, fork, &points);
        }
        found
    }

    /// Looks at all points behind a fork.
    fn behind(&mut self, walk: &mut Walk<'_>, fork: usize, points: &[(usize, Option<u64>)]) {
        let topology = walk.topology;
        let mut legs = vec![Legs::None; topology.nodes.len()];
        let leg_of = |legs: &[Legs], link: usize| match topology.links[link].from {
            end if end.node == fork => Legs::One(end.index),
            end => legs[end.node],
        };
        let mut times = vec![0u64; topology.nodes.len()];
        times[fork] = 1;
        for node in fork + 1..topology.nodes.len() {
            let n = &topology.nodes[node];
            let leads = synchronises(n.class.terms.flow);
            for (pad, &link) in n.inputs.iter().enumerate() {
                legs[node] = legs[node].with(leg_of(&legs, link));
                if pad == 0 || !leads {
                    let from = topology.links[link].from.node;
                    times[node] = times[node].saturating_add(times[from]);
                }
            }
            if legs[node] != Legs::None {
                times[node] = times[node].max(1);
            }
        }
        let times: Rc<[u64]> = times.into();
        let here: Vec<(usize, Option<u64>, Legs)> = points
            .iter()
            .map(|&(link, needed)| (link, needed, leg_of(&legs, link)))
            .filter(|point| point.2 != Legs::None)
            .collect();
        for &(other, needed, other_legs) in &here {
            let Some(needed) = needed else { continue };
            let inside = |node: usize| node == fork || legs[node] != Legs::None;
            let Some((forked, way)) = walk.back(other, needed, fork, inside) else {
                continue;
            };
            // Who gives to one at a time gives so many elsewhere before.
            let forked = forked.saturating_mul(walk.apart(fork));
            if forked < 2 {
                continue;
            }
            let behind = walk.behind(topology.links[other].to.node);
            for &(link, _, link_legs) in &here {
                let apart = link_legs.with(other_legs) == Legs::Several;
                let before = || way.binary_search_by_key(&link, |w| w.0).is_ok();
                let apart = apart && !behind[topology.links[link].from.node];
                if link != other && apart && !before() {
                    let from = topology.links[link].from.node;
                    let meeting = Meeting {
                        other,
                        forked,
                        arrived: forked.saturating_mul(times[from]),
                        times: Rc::clone(&times),
                        way: way.clone(),
                    };
                    self.of.entry(link).or_default().push(meeting);
                }
            }
        }
    }

    /// How many items a link must hold so that no other waits for it in vain.
    pub(super) fn longest(&self, link: usize) -> u64 {
        let meetings = self.of.get(&link).into_iter().flatten();
        meetings.map(|m| m.arrived).max().unwrap_or(0)
    }

    /// How many buffers of a pool wait where for what, beyond those that count already as retained
    /// on the way to what they wait for. `reach` are the links of the pool that `node` fills,
    /// ascending.
    pub(super) fn waiting(&self, node: usize, reach: &[usize]) -> Vec<Waiting> {
        let mut all: Vec<Waiting> = Vec::new();
        for &link in reach {
            for meeting in self.of.get(&link).into_iter().flatten() {
                let counted = |l: &usize| reach.binary_search(l).is_ok();
                let kept = meeting.way.iter().filter(|(l, _)| counted(l));
                let kept: u64 = kept.map(|w| w.1).sum();
                let times = meeting.times[node].max(1);
                let waiting = (meeting.forked - 1).saturating_mul(times);
                all.push(Waiting {
                    link,
                    other: meeting.other,
                    buffers: waiting.saturating_sub(kept),
                });
            }
        }
        all.retain(|w| w.buffers > 0);
        // What waits on a link waits for the slowest that it waits for; and what waits for one
        // waits on one link. Either sum is enough.
        let by_link = most(&all, |w| w.link);
        let by_other = most(&all, |w| w.other);
        let sum = |list: &[Waiting]| -> u64 { list.iter().map(|w| w.buffers).sum() };
        match sum(&by_other) < sum(&by_link) {
            true => by_other,
            false => by_link,
        }
    }
}

/// The largest of each group, by its key; of equals the first.
fn most(all: &[Waiting], key: impl Fn(&Waiting) -> usize) -> Vec<Waiting> {
    let mut most: BTreeMap<usize, Waiting> = BTreeMap::new();
    for waiting in all {
        let known = most.entry(key(waiting)).or_insert(*waiting);
        if waiting.buffers > known.buffers {
            *known = *waiting;
        }
    }
    most.into_values().collect()
}

impl Walk<'_> {
    /// The links on which buffers may have to wait, and of those that others wait for, how many
    /// buffers each must have.
    fn points(&mut self) -> Vec<(usize, Option<u64>)> {
        let topology = self.topology;
        let mut points = Vec::new();
        for (node, n) in topology.nodes.iter().enumerate() {
            if n.outputs.is_empty() {
                points.extend(n.inputs.iter().map(|&l| (l, Some(1))));
                continue;
            }
            if n.inputs.len() < 2 {
                continue;
            }
            let compares = n.class.waits(self.world.entity(n.entity)) == Waits::All;
            let compares = compares || synchronises(n.class.terms.flow);
            for (pad, &link) in n.inputs.iter().enumerate() {
                // Of an element that takes what comes nobody waits for one input; but what others
                // bring may fill what is behind it.
                let needed = match compares {
                    true => self.takes(node, pad, 1),
                    false => None,
                };
                points.push((link, needed));
            }
        }
        points
    }

    /// Buffers that leave a fork on one of its pads before one leaves on another.
    fn apart(&mut self, fork: usize) -> u64 {
        let n = &self.topology.nodes[fork];
        let (topology, solution) = (self.topology, self.solution);
        let pads = self.pads.entry(fork);
        let pads = pads.or_insert_with(|| solution.pads_of(topology, fork));
        let apart = (n.class.apart)(self.world.entity(n.entity), pads);
        apart.unwrap_or(1).max(1)
    }

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
    fn bytes(&mut self, link: usize) -> usize {
        if let Some(known) = self.bytes.get(&link) {
            return *known;
        }
        // Links lead to later nodes, so those before this one are found first.
        let mut open = vec![link];
        while let Some(&link) = open.last() {
            let node = self.topology.links[link].from.node;
            let inputs = &self.topology.nodes[node].inputs;
            let passed = match self.buffers[node] {
                Buffers::Own(_) => &[][..],
                Buffers::InPlace(_) => inputs.get(..1).unwrap_or_default(),
                Buffers::Passed | Buffers::Views => inputs,
            };
            let unknown = passed.iter().filter(|l| !self.bytes.contains_key(l));
            let before = open.len();
            open.extend(unknown);
            if open.len() > before {
                continue;
            }
            let least = match self.buffers[node] {
                Buffers::Own(config) => config.size.max(1),
                _ => passed.iter().map(|l| self.bytes[l]).min().unwrap_or(1),
            };
            self.bytes.insert(link, least);
            open.pop();
        }
        self.bytes.get(&link).copied().unwrap_or(1)
    }

    /// By node, whether it is reached from `node`, which counts.
    fn behind(&self, node: usize) -> Vec<bool> {
        let mut behind = vec![false; self.topology.nodes.len()];
        behind[node] = true;
        for at in node + 1..behind.len() {
            let mut inputs = self.topology.nodes[at].inputs.iter();
            behind[at] = inputs.any(|&l| behind[self.topology.links[l].from.node]);
        }
        behind
    }

    /// Walks back from a link that must have `needed` buffers to a fork, over nodes that are
    /// `inside`: how many buffers must leave the fork, and the links on all ways, ascending, with
    /// what is retained at the end of each. `None` if an element on the way may never let anything
    /// go.
    fn back(
        &mut self,
        link: usize,
        needed: u64,
        fork: usize,
        inside: impl Fn(usize) -> bool,
    ) -> Option<(u64, Vec<(usize, u64)>)> {
        let mut forked: Option<u64> = None;
        let mut way: BTreeMap<usize, u64> = BTreeMap::new();
        // By node, later ones first: what it must emit on the links that were walked.
        let mut open: BTreeMap<usize, u64> = BTreeMap::new();
        let step = |walk: &Self, way: &mut BTreeMap<usize, u64>, link: usize| {
            let to = walk.topology.links[link].to;
            let n = &walk.topology.nodes[to.node];
            let entity = walk.world.entity(n.entity);
            let kept = n.class.retains(entity, PadAt::sink(to.index));
            way.insert(link, kept.into());
            walk.topology.links[link].from.node
        };
        open.insert(step(self, &mut way, link), needed);
        while let Some((node, needed)) = open.pop_last() {
            if node == fork {
                forked = forked.max(Some(needed));
                continue;
            }
            for pad in 0..self.topology.nodes[node].inputs.len() {
                let link = self.topology.nodes[node].inputs[pad];
                if !inside(self.topology.links[link].from.node) {
                    continue;
                }
                let taken = self.takes(node, pad, needed)?;
                let from = step(self, &mut way, link);
                let most = open.entry(from).or_default();
                *most = taken.max(*most);
            }
        }
        Some((forked?, way.into_iter().collect()))
    }
}
