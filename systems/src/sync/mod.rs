//! Phase 6: frame synchronisers take what arrived and choose their next sets.
//!
//! It may touch the synchronisers, the queues that feed them, and reference counts.

use crate::pipelines::each;
use bevy_ecs::system::ResMut;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::fabric::{
    BufferTable, Fabric, Granted, Input, Item, Lane, PipelineFabric, Trigger,
};
use tickpipe_components::id::LaneId;
use tickpipe_components::readiness::Readiness;
use tickpipe_components::sync::{SyncError, SyncInput, SyncStep, Synchroniser, Upcoming};

/// The sync phase.
pub fn sync(mut fabric: ResMut<Fabric>) {
    each(&mut fabric, pipeline);
}

fn pipeline(p: &mut PipelineFabric) {
    if !p.synchronises {
        return;
    }
    let mut at = 0;
    while let Some(&lane) = p.ready.get(at) {
        let l = &mut p.lanes[lane as usize];
        if l.trigger != Trigger::Set {
            at += 1;
            continue;
        }
        if let Some(readiness) = choose(l, &mut p.buffers, p.quantum) {
            if readiness == Readiness::Ready {
                p.touched.insert(lane);
            }
            if l.readiness != readiness {
                l.readiness = readiness;
                l.since = p.tick;
            }
            if !l.released.is_empty() {
                p.releasing.push(lane);
            }
            p.ready.remove(at);
            give_back_grants(p, lane);
            wake_feeders(p, lane);
            continue;
        }
        if l.in_place {
            borrow(l, &mut p.buffers);
        }
        at += 1;
    }
}

/// What was taken in without a set left room for those who feed the lane.
fn wake_feeders(p: &mut PipelineFabric, lane: u32) {
    if p.waiting_for_room == 0 {
        return;
    }
    for input in &p.lanes[lane as usize].inputs {
        let LaneId(from) = input.from.0;
        if matches!(p.lanes[from as usize].readiness, Readiness::Room(_)) {
            p.touched.insert(from);
        }
    }
}

/// Makes as many sets as there is room for. If there is none to process, how the lane stands.
fn choose(l: &mut Lane, buffers: &mut BufferTable, quantum: u32) -> Option<Readiness> {
    let mut sync = l.extras.made()?.sync.take()?;
    let room = l.outputs.iter().map(|o| o.room).min();
    let mut room = room.unwrap_or(quantum) as usize;
    if l.pool.is_some() {
        room = room.min(l.extras.granted.len());
    }
    let mut waits_for = None;
    // No set is made beyond one that waits for a change to take effect.
    let switching = |l: &Lane| l.changes.as_ref().is_some_and(|c| c.switch.is_some());
    while sync.sets.len() < room && !switching(l) {
        let (meta, refs) = (&buffers.meta, &mut buffers.refs);
        let (released, inputs) = (&mut l.released, &l.inputs);
        let step = sync.step(
            |k| upcoming(inputs.get(k), meta),
            |b| refs[b.index()] += 1,
            |b| released.push(b),
        );
        match step {
            SyncStep::Set => {
                if let Some(changes) = &mut l.changes {
                    changes.look_at_set(&mut sync, |b| released.push(b));
                }
            }
            SyncStep::End => break,
            SyncStep::Wait(k) => {
                if !take_in(&mut sync, k, l, buffers) && !take_in_others(&mut sync, k, l, buffers) {
                    waits_for = Some(k);
                    break;
                }
            }
        }
    }
    let nothing = sync.sets.is_empty() && !sync.finished;
    l.extras.make().sync = Some(sync);
    if l.event_due().is_some() {
        return None;
    }
    let input = waits_for.filter(|_| nothing)?;
    let more = l.inputs.get(input).is_some_and(|i| !i.queue.is_empty());
    Some(match more {
        // It took as much as a tick allows, and goes on in the next.
        true => Readiness::Ready,
        false => Readiness::Input(input as u32),
    })
}

/// What stands next on an input.
fn upcoming(input: Option<&Input>, meta: &[BufferMeta]) -> Upcoming {
    match input.and_then(|i| i.queue.front()) {
        Some(item) if item == Item::EOS => Upcoming::End,
        Some(item) => item.as_buffer().map_or(Upcoming::Unknown, |buffer| {
            let meta = &meta[buffer.index()];
            Upcoming::Frame(meta.pts, meta.time_base)
        }),
        None => Upcoming::Unknown,
    }
}

/// Where an input that may go without is the first that has nothing, others may have something.
fn take_in_others(
    sync: &mut Synchroniser,
    silent: usize,
    l: &mut Lane,
    buffers: &BufferTable,
) -> bool {
    let may_go_without = |i: &SyncInput| i.silent || i.bound.is_some();
    if !sync.inputs.get(silent).is_some_and(may_go_without) {
        return false;
    }
    let mut any = false;
    for k in 0..sync.inputs.len() {
        any |= sync.wants(k) && take_in(sync, k, l, buffers);
    }
    any
}

/// Takes the next item of an input into the synchroniser; `false` if there is none.
fn take_in(sync: &mut Synchroniser, k: usize, l: &mut Lane, buffers: &BufferTable) -> bool {
    let Some(input) = l.inputs.get_mut(k) else {
        sync.end(k);
        return true;
    };
    if input.allowed == 0 {
        return false;
    }
    // The process phase takes events, once all before them is shown.
    let front = input.queue.front();
    if front.is_none_or(|item| item.as_event().is_some()) {
        return false;
    }
    let Some(item) = input.queue.pop() else {
        return false;
    };
    if let (Some(changes), Some(epoch)) = (&mut l.changes, item.as_caps()) {
        changes.pass(sync, k, epoch);
        return true;
    }
    input.allowed -= 1;
    match item.as_buffer() {
        None => {
            input.eos = true;
            sync.end(k);
        }
        Some(buffer) => {
            input.taken += 1;
            let meta = &buffers.meta[buffer.index()];
            if let Err(error) = sync.offer(k, buffer, meta.pts, meta.duration, meta.time_base) {
                l.released.push(buffer);
                l.dropped += 1;
                l.tell_untimed(meta);
                refuse(sync, l, error);
            }
        }
    }
    true
}

/// A stamp that cannot be used ends the synchroniser's work; the process phase tells of it.
fn refuse(sync: &mut Synchroniser, l: &mut Lane, error: SyncError) {
    sync.error = Some(error);
    let released = &mut l.released;
    sync.finish(&mut |b| released.push(b));
}

/// Lends the memory of the leading frames that nobody else holds; that of a view is another's.
fn borrow(l: &mut Lane, buffers: &mut BufferTable) {
    let Some(extra) = l.extras.made() else {
        return;
    };
    for set in extra.sync.iter().flat_map(|s| &s.sets) {
        let Some(buffer) = set.frames.first().copied().flatten() else {
            continue;
        };
        let i = buffer.index();
        if buffers.refs[i] != 1 || buffers.shows[i].is_some() {
            continue;
        }
        if let Some(memory) = buffers.memory[i].take() {
            extra.borrowed.push(Granted {
                buffer,
                memory,
                meta: buffers.meta[i],
            });
        }
    }
}

/// Returns the buffers that were granted to a lane that does not run after all.
pub(crate) fn give_back_grants(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    let Some(extra) = l.extras.made() else {
        return;
    };
    while let Some(granted) = extra.granted.pop_front() {
        let i = granted.buffer.index();
        p.buffers.memory[i] = Some(granted.memory);
        // Its own pool, or the one before it; it was granted in this tick.
        let touched = &mut p.touched;
        let _ = p
            .buffers
            .release(granted.buffer, |lane| touched.insert(lane.0));
    }
}
