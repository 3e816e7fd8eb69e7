//! Buffers that do not come back, told while the run still goes on.
//!
//! One that an element keeps, has put aside or has in a queue for as many ticks as the limit
//! `buffer-age` says is told in exactly that tick, once; and so is one that nobody knows of any
//! more, of whoever got it last. Frames that a synchroniser shows may be old; what is in a queue counts
//! from the tick in which its element last went on, and who waits for a time is not told of. Nothing is told of a
//! pipeline that is not in PLAYING: only ticks since it is count. Most ticks cost a comparison: the
//! next in which anything can be due is known. What is found is in no digest.

use super::names;
use crate::state::{Graphs, Topology};
use bevy_ecs::system::Query;
use tickpipe_components::fabric::{Fabric, Gate, Leak, MAX_LEAKS, PipelineFabric, Progress};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::graph::Pad;
use tickpipe_components::id::{BufferId, PipelineId};
use tickpipe_components::limits::{Limit, Limits};
use tickpipe_components::message::{Message, MessageKind};

/// Looks for buffers that did not come back in the pipelines of the window.
pub(super) fn leaks(
    fabric: &mut Fabric,
    limits: &Limits,
    graphs: &Graphs,
    pads: &Query<'_, '_, &'static Pad>,
    placed: &mut Vec<bool>,
) {
    let bound = limits.get(Limit::BufferAge);
    let start = fabric.window.start;
    for (i, p) in (start..).zip(fabric.active()) {
        if !is_due(p, bound) {
            continue;
        }
        let Some(topology) = graphs.running(PipelineId(i as u32)) else {
            continue;
        };
        let told = Told { topology, pads };
        match p.progress {
            Progress::Ended => told.all_that_is_out(p, placed),
            _ => told.what_is_due(p, bound, placed),
        }
    }
}

/// Whether anything can be due in this tick.
#[inline]
fn is_due(p: &mut PipelineFabric, bound: u64) -> bool {
    let playing = p.source_gate == Gate::Open && p.sink_gate == Gate::Open;
    match p.progress {
        Progress::Running if playing => {}
        Progress::Ended if !p.leaks.ended => {
            p.leaks.ended = true;
            return true;
        }
        _ => {
            p.leaks.playing = None;
            return false;
        }
    }
    if p.leaks.playing.is_none() {
        p.leaks.playing = Some(p.tick);
        p.leaks.looked = p.tick;
        p.leaks.next = p.tick + bound;
    }
    bound > 0 && p.tick >= p.leaks.next
}

/// What it takes to tell of a buffer.
struct Told<'a> {
    topology: &'a Topology,
    pads: &'a Query<'a, 'a, &'static Pad>,
}

impl Told<'_> {
    fn what_is_due(&self, p: &mut PipelineFabric, bound: u64, placed: &mut Vec<bool>) {
        let (tick, looked) = (p.tick, p.leaks.looked);
        let playing = p.leaks.playing.unwrap_or(tick);
        let mut next = tick + bound;
        let mut late: Vec<(BufferId, usize, u64)> = Vec::new();
        each_place(p, placed, |buffer, lane, since| {
            let due = since.max(playing) + bound;
            if due > tick {
                next = next.min(due);
            } else if due > looked {
                late.push((buffer, lane, since));
            }
        });
        for buffer in nowhere(p, placed) {
            let held = p.buffers.held[buffer.index()];
            let due = held.since.max(playing) + bound;
            if due > tick {
                next = next.min(due);
            } else if let Err(at) = p.leaks.lost.binary_search(&buffer.0) {
                p.leaks.lost.insert(at, buffer.0);
                late.push((buffer, held.by.index(), held.since));
            }
        }
        p.leaks.looked = tick;
        p.leaks.next = next;
        for (buffer, lane, since) in late {
            self.tell(p, buffer, lane, since);
        }
    }

    /// At the end of a run: what is still out.
    fn all_that_is_out(&self, p: &mut PipelineFabric, placed: &mut Vec<bool>) {
        let mut out: Vec<(BufferId, usize, u64)> = Vec::new();
        each_place(p, placed, |buffer, lane, since| {
            out.push((buffer, lane, since));
        });
        for buffer in nowhere(p, placed) {
            if p.leaks.lost.binary_search(&buffer.0).is_err() {
                let held = p.buffers.held[buffer.index()];
                out.push((buffer, held.by.index(), held.since));
            }
        }
        for (buffer, lane, since) in out {
            self.tell(p, buffer, lane, since);
        }
    }

    #[cold]
    fn tell(&self, p: &mut PipelineFabric, buffer: BufferId, lane: usize, since: u64) {
        let (Some(node), Some(of)) = (
            self.topology.nodes.get(lane),
            p.buffers.pool.get(buffer.index()),
        ) else {
            return;
        };
        let pool = &p.buffers.pools[of.index()];
        let leak = Leak {
            pool: names::pool(self.topology, self.pads, pool),
            buffer: buffer.0 - pool.first.0,
            holder: node.name.clone(),
            since,
            tick: p.tick,
        };
        let same = |l: &Leak| {
            (&l.pool, l.buffer, &l.holder, l.since)
                == (&leak.pool, leak.buffer, &leak.holder, since)
        };
        if p.leaks.told.iter().any(same) {
            return;
        }
        if p.leaks.told.len() >= MAX_LEAKS {
            p.leaks.left_out += 1;
            return;
        }
        tracing::warn!(
            tick = p.tick,
            element = &*node.name,
            pool = leak.pool,
            buffer = leak.buffer,
            since,
            "buffer {} of {} was not returned for {} ticks",
            leak.buffer,
            leak.pool,
            p.tick.saturating_sub(since)
        );
        p.messages.push(Message {
            tick: p.tick,
            element: Some(node.id),
            kind: MessageKind::Warning(Domain::Pool, Code::NotReturned),
        });
        p.leaks.told.push(leak);
    }
}

/// Calls `f` with each buffer that an element keeps, has put aside or has in a queue, the element,
/// and since when; and notes in `placed` which buffers are known to be anywhere.
fn each_place(p: &PipelineFabric, placed: &mut Vec<bool>, mut f: impl FnMut(BufferId, usize, u64)) {
    placed.clear();
    placed.resize(p.buffers.len(), false);
    for (l, lane) in p.lanes.iter().enumerate() {
        for input in &lane.inputs {
            for buffer in input.queue.iter().filter_map(|item| item.as_buffer()) {
                placed[buffer.index()] = true;
                // Who goes on with other things lets it wait for its turn.
                let since = p.buffers.held[buffer.index()].since;
                f(buffer, l, since.max(lane.since));
            }
        }
        for kept in &lane.extras.kept {
            placed[kept.buffer.index()] = true;
            // Who waits for a time goes on then.
            if lane.extras.wake_at.is_none() {
                f(kept.buffer, l, kept.since);
            }
        }
        for filling in &lane.extras.filling {
            placed[filling.buffer.index()] = true;
            // It is told of if nothing more is filled into it.
            let since = p.buffers.held[filling.buffer.index()].since;
            f(filling.buffer, l, since.max(lane.since));
        }
        if let Some(sync) = &lane.extras.sync {
            let sets = sync.sets.iter().flat_map(|s| &s.frames).flatten().copied();
            for buffer in sync.held().chain(sets) {
                placed[buffer.index()] = true;
            }
        }
    }
    // What a view shows is with the view.
    for shown in p.buffers.shows.iter().flatten() {
        placed[shown.index()] = true;
    }
}

/// The buffers that are out and in no place that is known.
fn nowhere<'a>(p: &'a PipelineFabric, placed: &'a [bool]) -> Vec<BufferId> {
    let mut lost = Vec::new();
    for pool in p.buffers.pools.iter().filter(|pool| pool.out() > 0) {
        for slot in (0..pool.count).filter(|slot| !pool.free.contains(*slot)) {
            let buffer = BufferId(pool.first.0 + slot);
            if !placed[buffer.index()] {
                lost.push(buffer);
            }
        }
    }
    lost
}
