//! Who waits for whom, and who holds which buffers: read off topology and fabric. Pure.

use super::{HolderReport, QueuedReport, WaitReport};
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use tickpipe_components::fabric::{Gate, Input, Lane, Measure, PipelineFabric, Trigger};
use tickpipe_components::graph::Pad;
use tickpipe_components::id::{BufferId, PoolId};
use tickpipe_components::readiness::Readiness;
use tickpipe_systems::state::{End, Topology};

/// What an element waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Something on the sink pad of this index.
    Input(usize),
    /// Room on the link of the source pad of this index.
    Room(usize),
    /// A buffer of this pool.
    Buffer(PoolId),
    /// That its state lets it go on.
    State,
    /// The end of a flush.
    Flush,
    /// Caps that it announced.
    Caps,
    /// Its device.
    Device,
    /// Virtual time.
    Time,
    /// Nothing: it could run, and has nothing to say; or its inputs have ended, and it has not.
    Nothing,
}

/// The buffers of one pool that one element holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holding {
    pub(super) kept: u32,
    pub(super) queued: u32,
    pub(super) synchroniser: u32,
    pub(super) filling: u32,
    pub(super) lost: u32,
    since: Option<u64>,
}

impl Holding {
    pub(super) fn all(&self) -> u32 {
        self.kept + self.queued + self.synchroniser + self.filling + self.lost
    }
}

/// The waits of one pipeline's graph.
pub(crate) struct Waits<'a> {
    world: &'a World,
    pub(super) topology: &'a Topology,
    pub(super) p: &'a PipelineFabric,
    /// Per pool, by lane.
    holdings: Vec<BTreeMap<usize, Holding>>,
    /// The first sink that PAUSED waits for.
    without_first: Option<usize>,
}

impl<'a> Waits<'a> {
    pub(crate) fn new(world: &'a World, topology: &'a Topology, p: &'a PipelineFabric) -> Self {
        Waits {
            world,
            topology,
            p,
            holdings: holdings(p),
            without_first: {
                let mut sinks = p.sinks.iter().map(|&s| s as usize);
                sinks.find(|&s| held_without_first(&p.lanes[s]).is_some())
            },
        }
    }

    /// Who holds buffers of a pool, by lane.
    pub(super) fn holders(&self, pool: PoolId) -> &BTreeMap<usize, Holding> {
        static NONE: BTreeMap<usize, Holding> = BTreeMap::new();
        self.holdings.get(pool.index()).unwrap_or(&NONE)
    }

    /// What a lane waits for; `None` if it is ready or done.
    pub(super) fn what(&self, lane: usize) -> Option<What> {
        let l = self.p.lanes.get(lane)?;
        Some(match l.readiness {
            Readiness::Ready | Readiness::Done => return None,
            _ if l.gate == Gate::Flushing => What::Flush,
            Readiness::Input(pad) => match missing(l, pad as usize).first() {
                Some(&pad) => What::Input(pad),
                None => What::Nothing,
            },
            Readiness::Room(pad) => What::Room(pad as usize),
            Readiness::Buffer(pool) => What::Buffer(pool),
            Readiness::Held => held_without_first(l).map_or(What::State, What::Input),
            Readiness::Caps => What::Caps,
            Readiness::Device => What::Device,
            Readiness::Time(_) => What::Time,
            Readiness::Silent => What::Nothing,
        })
    }

    /// The sink pads of a lane that waits for input on which something must come: all of one that
    /// compares them, else the first.
    pub(super) fn wanted(&self, lane: usize) -> Vec<usize> {
        let l = &self.p.lanes[lane];
        match l.readiness {
            Readiness::Input(pad) => missing(l, pad as usize),
            _ => match self.what(lane) {
                Some(What::Input(pad)) => vec![pad],
                _ => Vec::new(),
            },
        }
    }

    /// The lane that could end a wait.
    pub(super) fn on(&self, lane: usize, what: What) -> Option<usize> {
        let l = &self.p.lanes[lane];
        match what {
            What::Input(pad) => Some(l.inputs.get(pad)?.from.0.index()),
            What::Room(pad) => Some(l.outputs.get(pad)?.to.0.index()),
            What::Buffer(pool) => {
                let holders = self.holders(pool).iter();
                // Of equals the first in graph order.
                let most = holders.rev().max_by_key(|(_, h)| h.all());
                most.map(|(&lane, _)| lane)
            }
            What::State => self.without_first,
            What::Flush | What::Caps | What::Device | What::Time | What::Nothing => None,
        }
    }

    /// A lane's name.
    pub(super) fn name(&self, lane: usize) -> &str {
        self.topology.nodes.get(lane).map_or("?", |n| &n.name)
    }

    /// The name of a pool: the source pad of the element that fills its buffers.
    pub(super) fn pool_name(&self, pool: PoolId) -> String {
        let owner = self.p.buffers.pools.get(pool.index()).map(|p| p.owner);
        let node = owner.and_then(|o| self.topology.nodes.get(o.index()));
        match node.map(|n| (n, n.outputs.first())) {
            Some((_, Some(&link))) => self.topology.from_name(self.world, link),
            Some((node, None)) => node.name.clone(),
            None => "?".to_owned(),
        }
    }

    fn pad(&self, end: End) -> String {
        let pad = self.world.get::<Pad>(end.pad);
        pad.map_or_else(|| "?".to_owned(), |p| p.name.clone())
    }

    /// The link at a lane's sink pad.
    pub(super) fn input_link(&self, lane: usize, pad: usize) -> Option<usize> {
        self.topology.nodes.get(lane)?.inputs.get(pad).copied()
    }

    /// The link at a lane's source pad.
    pub(super) fn output_link(&self, lane: usize, pad: usize) -> Option<usize> {
        self.topology.nodes.get(lane)?.outputs.get(pad).copied()
    }

    /// The sink pad of a link, as `element.pad`.
    pub(super) fn receiver(&self, link: usize) -> String {
        self.topology.to_name(self.world, link)
    }

    /// A wait of a lane, as it is told.
    pub(super) fn told(&self, lane: usize, what: What) -> WaitReport {
        let l = &self.p.lanes[lane];
        let on = self.on(lane, what);
        let mut wait = WaitReport {
            element: self.name(lane).to_owned(),
            waits_for: match what {
                What::Input(_) => "input",
                What::Room(_) => "room",
                What::Buffer(_) => "buffer",
                What::State => "state",
                What::Flush => "flush",
                What::Caps => "caps",
                What::Device => "device",
                What::Time => "time",
                What::Nothing => "nothing",
            },
            pad: None,
            on: on.map(|lane| self.name(lane).to_owned()),
            pool: None,
            held: Vec::new(),
            queued: None,
            came: None,
            since: l.since,
        };
        match what {
            What::Input(pad) => {
                let link = self.input_link(lane, pad);
                wait.pad = link.map(|link| self.pad(self.topology.links[link].to));
                wait.came = l.inputs.get(pad).map(|i| i.taken);
            }
            What::Room(pad) => {
                let link = self.output_link(lane, pad);
                wait.pad = link.map(|link| self.pad(self.topology.links[link].to));
                wait.queued = self.queued(lane, pad);
            }
            What::Buffer(pool) => {
                wait.pool = Some(self.pool_name(pool));
                wait.held = self.held(pool);
            }
            What::State => {
                // What came first may have been passed on by another branch since.
                let items = l.inputs.iter().flat_map(|i| i.queue.iter());
                let buffers = items.filter_map(|item| item.as_buffer());
                let held =
                    |b: tickpipe_components::id::BufferId| self.p.buffers.held.get(b.index());
                let came = buffers.filter_map(|b| held(b).map(|h| h.since)).min();
                wait.since = wait.since.max(came.unwrap_or(0));
            }
            What::Nothing if !l.inputs.is_empty() => {
                let queues = || l.inputs.iter().map(|i| &i.queue);
                wait.came = Some(l.buffers_in());
                wait.queued = Some(QueuedReport {
                    buffers: queues().map(|q| q.len()).sum(),
                    of: queues().map(|q| q.capacity()).sum(),
                    full_by: None,
                });
            }
            What::Flush | What::Nothing | What::Caps | What::Device | What::Time => {}
        }
        wait
    }

    /// The wait of a lane, if it has one.
    pub(crate) fn wait_of(&self, lane: usize) -> Option<WaitReport> {
        Some(self.told(lane, self.what(lane)?))
    }

    fn queued(&self, lane: usize, pad: usize) -> Option<QueuedReport> {
        let (to, to_pad) = self.p.lanes[lane].outputs.get(pad)?.to;
        let receiver = self.p.lanes.get(to.index())?;
        let queue = &receiver.inputs.get(to_pad as usize)?.queue;
        let bounds = receiver.extras.bounds.as_deref();
        let full = bounds.and_then(|b| b.full());
        Some(QueuedReport {
            buffers: queue.len(),
            of: match bounds.map_or(0, |b| b.limits.buffers) {
                0 => queue.capacity(),
                most => most as usize,
            },
            full_by: full.filter(|m| *m != Measure::Buffers).map(Measure::name),
        })
    }

    fn held(&self, pool: PoolId) -> Vec<HolderReport> {
        let of = self
            .p
            .buffers
            .pools
            .get(pool.index())
            .map_or(0, |p| p.count);
        let told = |(&lane, h): (&usize, &Holding)| HolderReport {
            element: self.name(lane).to_owned(),
            buffers: h.all(),
            of,
            since: h.since.unwrap_or(0),
            kept: h.kept,
            queued: h.queued,
            synchroniser: h.synchroniser,
            filling: h.filling,
            lost: h.lost,
        };
        self.holders(pool).iter().map(told).collect()
    }
}

/// The sink pad on which a sink in PAUSED that has no first item waits for one.
fn held_without_first(l: &Lane) -> Option<usize> {
    let holds = |i: &Input| i.queue.front_behind_marks().is_some();
    let waits = l.gate == Gate::Hold && !l.done && !l.late && !l.inputs.iter().any(holds);
    let open = || l.inputs.iter().position(|i| !i.eos);
    waits.then(open).flatten()
}

/// The sink pads on which something must come before a lane that waits for input on `told` goes on.
fn missing(l: &Lane, told: usize) -> Vec<usize> {
    let empty = |i: &Input| !i.eos && i.queue.front_behind_marks().is_none();
    let pads = |wanted: &dyn Fn(usize, &Input) -> bool| -> Vec<usize> {
        let inputs = l.inputs.iter().enumerate();
        let found = inputs.filter(|(pad, input)| wanted(*pad, input));
        found.map(|(pad, _)| pad).collect()
    };
    let all = match l.trigger {
        Trigger::All => pads(&|_, i| empty(i) && !i.may_be_silent),
        Trigger::Set => {
            let wants = |pad: usize| l.extras.sync.as_ref().is_some_and(|s| s.wants(pad));
            pads(&|pad, i| empty(i) && wants(pad) && !i.may_be_silent)
        }
        Trigger::Any | Trigger::Free => Vec::new(),
    };
    if !all.is_empty() {
        return all;
    }
    // Any would do: the one that was told, unless a change of caps stands on it.
    let told_is_empty = l.inputs.get(told).is_some_and(empty);
    let any = told_is_empty.then_some(told);
    any.or_else(|| pads(&|_, i| empty(i)).first().copied())
        .into_iter()
        .collect()
}

/// All buffers that are out, by pool and lane.
fn holdings(p: &PipelineFabric) -> Vec<BTreeMap<usize, Holding>> {
    let table = &p.buffers;
    let mut holdings = vec![BTreeMap::<usize, Holding>::new(); table.pools.len()];
    // By buffer the number of the lane, from 1, that was found to hold it last.
    let mut found = vec![0usize; table.len()];
    for (lane, l) in p.lanes.iter().enumerate() {
        let mut count = |buffer: BufferId, since: Option<u64>, of: fn(&mut Holding) -> &mut u32| {
            // Who holds a view holds what it shows.
            let shown = table.shows.get(buffer.index()).copied().flatten();
            for buffer in core::iter::once(buffer).chain(shown) {
                let i = buffer.index();
                let pool = table.pool.get(i).map(|p| p.index());
                let Some(by_lane) = pool.and_then(|p| holdings.get_mut(p)) else {
                    continue;
                };
                let holding = by_lane.entry(lane).or_default();
                // What stands on two of its pads is one buffer.
                if core::mem::replace(&mut found[i], lane + 1) != lane + 1 {
                    *of(holding) += 1;
                }
                let since = since.unwrap_or(table.held[i].since);
                holding.since = Some(holding.since.map_or(since, |s| s.min(since)));
            }
        };
        for kept in &l.extras.kept {
            count(kept.buffer, Some(kept.since), |h| &mut h.kept);
        }
        for input in &l.inputs {
            for buffer in input.queue.iter().filter_map(|item| item.as_buffer()) {
                count(buffer, None, |h| &mut h.queued);
            }
        }
        if let Some(sync) = &l.extras.sync {
            let sets = sync.sets.iter().flat_map(|s| s.frames.iter().flatten());
            for buffer in sync.held().chain(sets.copied()) {
                count(buffer, None, |h| &mut h.synchroniser);
            }
        }
        if let Some(filling) = l.extras.filling.first() {
            count(filling.buffer, None, |h| &mut h.filling);
        }
    }
    for (i, &references) in table.refs.iter().enumerate() {
        if references > 0 && found[i] == 0 {
            let held = table.held[i];
            if let Some(by_lane) = holdings.get_mut(table.pool[i].index()) {
                let holding = by_lane.entry(held.by.index()).or_default();
                holding.lost += 1;
                let since = holding.since.map_or(held.since, |s| s.min(held.since));
                holding.since = Some(since);
            }
        }
    }
    holdings
}
