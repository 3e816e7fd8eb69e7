//! Queues: what they hold is counted, and how much may come next; those that leak let go of what has
//! no place.
//!
//! A tick is no time. So a full queue that leaks does so only once nobody can do anything more at the
//! present instant, while who feeds it has something for it: what could have been passed on at that
//! instant was. With the clock `free` nothing is slow, and a queue leaks only where the run would stall
//! otherwise. In PAUSED it does until every sink holds its first buffer.

use crate::state::prerolled;
use smallvec::SmallVec;
use tickpipe_components::buffer::BufferFlags;
use tickpipe_components::fabric::{
    BufferTable, Gate, Item, Lane, Leaky, PipelineFabric, Progress, QueueBounds,
};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::Reason;
use tickpipe_components::readiness::Readiness;

/// Looks at all queues.
pub(crate) fn look_at_all(p: &mut PipelineFabric) {
    let mut from = 0;
    while let Some(lane) = p.bounded.next_common(&p.bounded, from) {
        from = lane + 1;
        look_at(p, lane);
    }
}

/// Looks at all queues that something came to, or was taken from, in this tick.
pub(super) fn look(p: &mut PipelineFabric) {
    let mut from = 0;
    while let Some(lane) = p.bounded.next_common(&p.touched, from) {
        from = lane + 1;
        look_at(p, lane);
    }
}

fn look_at(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    if l.done {
        return;
    }
    let Some(mut bounds) = l.extras.made().and_then(|e| e.bounds.take()) else {
        return;
    };
    let came = count(&mut bounds, l, &p.buffers);
    if came > 0 && bounds.discontinuity {
        let new = buffers_from_end(l, came).last();
        bounds.discontinuity = false;
        mark(&mut p.buffers, new);
    }
    if came > 0 && bounds.open {
        bounds.open = false;
        trim(&mut bounds, l, &mut p.buffers);
    }
    if bounds.limits.flush_on_eos {
        flush_before_end(&mut bounds, l, &p.buffers);
    }
    let (before, now) = (l.inputs[0].queue.allowance(), bounds.allowance());
    if !bounds.open {
        l.inputs[0].queue.set_allowance(now);
    }
    l.extras.make().bounds = Some(bounds);
    let feeder = l.inputs[0].from.0;
    tells(p, lane);
    if now > before && matches!(p.lanes[feeder.index()].readiness, Readiness::Room(_)) {
        p.touch(feeder.0);
    }
}

/// What a queue let go is given back and told.
fn tells(p: &mut PipelineFabric, lane: u32) {
    let l = &p.lanes[lane as usize];
    if !l.released.is_empty() {
        p.releasing.push(lane);
    }
    if !l.extras.posted.is_empty() && !p.posting.contains(&lane) {
        p.posting.push(lane);
    }
}

/// Brings what is counted up to date; how many buffers came.
fn count(bounds: &mut QueueBounds, l: &Lane, buffers: &BufferTable) -> usize {
    let Some(input) = l.inputs.first() else {
        return 0;
    };
    let gone = input.taken + input.discarded;
    let pools = buffers.pools.len();
    if bounds.pools() != pools {
        let sizes = buffers.pools.iter().map(|p| p.live.size as u64);
        let largest = sizes.max().unwrap_or_default();
        // What came since the last look is told before all is counted anew.
        let came = bounds.look(&input.queue, gone, &buffers.meta);
        bounds.count_anew(&input.queue, gone, &buffers.meta, (pools, largest));
        return came;
    }
    bounds.look(&input.queue, gone, &buffers.meta)
}

/// The newest buffers of a queue, from the newest on.
fn buffers_from_end(l: &Lane, most: usize) -> impl Iterator<Item = BufferId> + '_ {
    let queue = &l.inputs[0].queue;
    let places = (0..queue.len()).rev();
    places
        .filter_map(|at| queue.get(at)?.as_buffer())
        .take(most)
}

/// Says of a buffer that it does not follow the one before it: unless others have it too, of whose
/// streams that is not true.
fn mark(buffers: &mut BufferTable, buffer: Option<BufferId>) {
    if let Some(buffer) = buffer.map(BufferId::index)
        && buffers.refs[buffer] == 1
    {
        buffers.meta[buffer].flags |= BufferFlags::DISCONTINUITY;
    }
}

/// Lets go of what came into the queue when it was full, or of what it came for.
fn trim(bounds: &mut QueueBounds, l: &mut Lane, buffers: &mut BufferTable) {
    let newest = bounds.limits.leaky == Leaky::Upstream;
    let mut gone: SmallVec<[BufferId; 8]> = SmallVec::new();
    while bounds.is_over(&l.inputs[0].queue, &buffers.meta) {
        match take_out(bounds, l, buffers, newest) {
            Some(buffer) => gone.push(buffer),
            None => break,
        }
    }
    if gone.is_empty() {
        return;
    }
    if newest {
        gone.reverse();
        bounds.discontinuity = true;
    } else {
        mark(buffers, l.inputs[0].queue.first_buffer());
    }
    for buffer in gone {
        l.drop_for(buffer, &buffers.meta[buffer.index()], Reason::Leak);
    }
}

/// Takes the oldest or the newest buffer out of the queue.
fn take_out(
    bounds: &mut QueueBounds,
    l: &mut Lane,
    buffers: &BufferTable,
    newest: bool,
) -> Option<BufferId> {
    let input = l.inputs.first_mut()?;
    let queue = &input.queue;
    let is_buffer = |at: &usize| queue.get(*at).and_then(Item::as_buffer).is_some();
    let mut places = 0..queue.len();
    let at = match newest {
        true => places.rfind(is_buffer),
        false => places.find(is_buffer),
    }?;
    let buffer = input.queue.remove(at)?.as_buffer()?;
    input.discarded += 1;
    let gone = input.taken + input.discarded;
    match newest {
        true => bounds.forget_newest(&input.queue, gone, &buffers.meta),
        false => {
            bounds.look(&input.queue, gone, &buffers.meta);
        }
    }
    Some(buffer)
}

/// Discards what stands before the end.
fn flush_before_end(bounds: &mut QueueBounds, l: &mut Lane, buffers: &BufferTable) {
    let queue = &l.inputs[0].queue;
    if queue.get(queue.len().wrapping_sub(1)) != Some(Item::EOS) {
        return;
    }
    while let Some(buffer) = take_out(bounds, l, buffers, false) {
        l.drop_for(buffer, &buffers.meta[buffer.index()], Reason::Flush);
    }
}

/// Nobody can do anything more at the present instant: full queues that leak take what there is for
/// them beyond their limits, once.
pub(super) fn leak(p: &mut PipelineFabric) {
    let waits = p.renegotiate || !p.upward.is_empty() || p.asked_state.is_some();
    if p.progress != Progress::Running || waits || (p.sink_gate == Gate::Hold && prerolled(p)) {
        return;
    }
    let mut at = 0;
    while let Some(lane) = p.bounded.next_common(&p.bounded, at) {
        at = lane + 1;
        let l = &mut p.lanes[lane as usize];
        let Some(bounds) = l.extras.made().and_then(|e| e.bounds.as_mut()) else {
            continue;
        };
        if bounds.limits.leaky == Leaky::No || l.done || l.gate != Gate::Open {
            continue;
        }
        if bounds.open {
            // Nothing came.
            bounds.open = false;
            l.inputs[0].queue.set_allowance(bounds.allowance());
        } else if bounds.full().is_some() && is_waited_for(p, lane) {
            open(p, lane);
        }
    }
}

/// Whether who feeds a queue waits for nothing but queues that leak.
fn is_waited_for(p: &PipelineFabric, lane: u32) -> bool {
    let feeder = &p.lanes[p.lanes[lane as usize].inputs[0].from.0.index()];
    let gives_way = |output: &tickpipe_components::fabric::Output| {
        let (to, pad) = output.to;
        let to = &p.lanes[to.index()];
        let leaks = |b: &QueueBounds| b.limits.leaky != Leaky::No;
        to.inputs[pad as usize].queue.room() > 0 || to.extras.bounds.as_deref().is_some_and(leaks)
    };
    matches!(feeder.readiness, Readiness::Room(_)) && feeder.outputs.iter().all(gives_way)
}

fn open(p: &mut PipelineFabric, lane: u32) {
    let quantum = p.quantum;
    let l = &mut p.lanes[lane as usize];
    if let Some(mut bounds) = l.extras.made().and_then(|e| e.bounds.take()) {
        bounds.open = true;
        l.inputs[0].queue.set_allowance(quantum);
        if l.inputs[0].queue.room() == 0 {
            // Its limits were made smaller than what is in it.
            trim(&mut bounds, l, &mut p.buffers);
        }
        l.extras.make().bounds = Some(bounds);
    }
    tells(p, lane);
    let feeder = p.lanes[lane as usize].inputs[0].from.0.0;
    p.touch(feeder);
}
