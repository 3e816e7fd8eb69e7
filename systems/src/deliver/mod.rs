//! Phase 8: publishes what was emitted, buffers and ends in order, so that it is there on the
//! next tick.
//!
//! It may touch queues, buffer times and memory, and marks those whom it concerns, also for the
//! phases that follow.

use crate::pipelines::each;
use bevy_ecs::system::ResMut;
use tickpipe_components::digest::hash_bytes;
use tickpipe_components::fabric::{Fabric, Gate, Held, Item, Lane, PipelineFabric};
use tickpipe_components::id::LaneId;
use tickpipe_components::readiness::Readiness;

/// The deliver phase.
pub fn deliver(mut fabric: ResMut<Fabric>) {
    each(&mut fabric, pipeline);
}

fn pipeline(p: &mut PipelineFabric) {
    let ready = core::mem::take(&mut p.ready);
    for &lane in &ready {
        let l = &p.lanes[lane as usize];
        let changes = l.changes.is_some();
        if l.signals.is_some() {
            signals(p, lane);
        }
        let l = &p.lanes[lane as usize];
        if l.pool.is_some() || l.in_place || changes {
            publish(p, lane);
            return_unused(p, lane);
        }
        pass_on(p, lane);
        if changes {
            change(p, lane);
        }
    }
    p.ready = ready;
}

/// Gives emitted events their numbers, lets go of those that were taken, and sends the others
/// upstream.
#[cold]
#[inline(never)]
fn signals(p: &mut PipelineFabric, lane: u32) {
    let PipelineFabric {
        lanes,
        events,
        upward,
        touched,
        asked_state,
        ..
    } = p;
    let l = &mut lanes[lane as usize];
    let Some(signals) = &mut l.signals else {
        return;
    };
    if !signals.spent.is_empty() {
        touched.insert(lane);
    }
    if let Some(state) = signals.asked_state.take() {
        *asked_state = Some(state);
    }
    for number in signals.spent.drain(..) {
        events.remove(number);
    }
    if !signals.staged.is_empty() {
        let mut staged: Vec<Option<_>> = signals.staged.drain(..).map(Some).collect();
        for output in &mut l.outputs {
            for item in &mut output.staged {
                let event = item.as_event().and_then(|at| staged.get_mut(at as usize));
                if let Some(event) = event.and_then(Option::take) {
                    *item = Item::event(events.insert(event));
                }
            }
        }
    }
    for (pad, event) in signals.upward.drain(..) {
        let from = l.inputs.get(pad as usize).map(|i| i.from);
        upward.extend(from.map(|from| (from.0.0, from.1, event)));
    }
}

/// Enters times and memory of what the lane filled, and what views show.
#[inline]
fn publish(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    let Some(extra) = l.extras.made() else {
        return;
    };
    for granted in extra.published.drain(..) {
        let i = granted.buffer.index();
        p.buffers.meta[i] = granted.meta;
        if p.digesting {
            let bytes = granted.memory.as_slice();
            p.buffers.payload[i] = hash_bytes(&bytes[..granted.meta.len.min(bytes.len())]);
        }
        p.buffers.memory[i] = Some(granted.memory);
    }
    for (view, shown) in extra.views.drain(..) {
        p.buffers.show(view, shown);
    }
}

/// Notes what changed of the lane, or is to change.
#[cold]
#[inline(never)]
fn change(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    let Some(changes) = &mut l.changes else {
        return;
    };
    p.renegotiate |= changes.asked.is_some();
    p.retired.extend(changes.retired.take());
    // Of who is done they are dealt with where it lets go of all.
    if !l.done && changes.is_settled(l.extras.sync.as_deref()) {
        l.changes = None;
        p.renegotiate |= p.editing;
    }
}

/// Takes back what was granted or lent and not used.
#[inline]
fn return_unused(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    let Some(extra) = l.extras.made() else {
        return;
    };
    for lent in extra.borrowed.drain(..) {
        p.buffers.memory[lent.buffer.index()] = Some(lent.memory);
    }
    if !extra.granted.is_empty() {
        crate::sync::give_back_grants(p, lane);
    }
}

/// Moves what was emitted into the queues of those who get it, who come later in graph order, and
/// marks who must be looked at.
#[inline(always)]
fn pass_on(p: &mut PipelineFabric, lane: u32) {
    let PipelineFabric {
        lanes,
        buffers,
        touched,
        releasing,
        posting,
        events,
        tick,
        waiting_for_room,
        quantum,
        now,
        ..
    } = p;
    let (before, after) = lanes.split_at_mut(lane as usize + 1);
    let Some((l, before)) = before.split_last_mut() else {
        return;
    };
    if let Some(extra) = l.extras.made() {
        for buffer in extra.retained.drain(..) {
            buffers.refs[buffer.index()] += 1;
        }
    }
    let mut moved = false;
    for output in l.outputs.as_mut_slice() {
        if output.staged.is_empty() {
            continue;
        }
        moved = true;
        let (to, pad) = output.to;
        let receiver = &mut after[to.index() - lane as usize - 1];
        if receiver.done {
            // It wants no more; what is sent on is counted where it is dropped.
            for buffer in output.staged.iter().filter_map(|item| item.as_buffer()) {
                receiver.drop_unused(pad as usize, buffer);
            }
            for number in output.staged.iter().filter_map(|item| item.as_event()) {
                events.remove(number);
            }
            releasing.push(to.0);
        } else if receiver.gate == Gate::Flushing {
            for item in &output.staged {
                if let Some(buffer) = item.as_buffer() {
                    crate::command::flush::refuse(receiver, pad as usize, buffer);
                }
                if let Some(number) = item.as_event() {
                    events.remove(number);
                }
            }
            releasing.push(to.0);
        } else {
            // What came may be what it waits for, whatever it waited for.
            receiver.no_more_awaits();
            let queue = &mut receiver.inputs.as_mut_slice()[pad as usize].queue;
            let fitting = match l.changes.is_some() || l.signals.is_some() {
                false => queue.push_all(&output.staged),
                // Among them may be a change of caps, or an event.
                true => {
                    let events = output.staged.iter().filter(|i| i.as_event().is_some());
                    receiver.marked += events.count() as u32;
                    // Who worked no more when caps changed knows them already.
                    let awaits = |epoch: u32| {
                        let due = receiver.changes.iter().flat_map(|c| &c.due);
                        let mut due = due.filter(|d| d.epoch == epoch);
                        due.any(|d| d.inputs.contains(&pad))
                    };
                    output.staged.retain(|i| i.as_caps().is_none_or(awaits));
                    let fit = |item: &&Item| queue.push(**item);
                    output.staged.iter().filter(fit).count()
                }
            };
            debug_assert_eq!(fitting, output.staged.len(), "room was counted before");
            let held = Held {
                by: to,
                since: *tick,
            };
            let mut hold = |item: &Item| {
                if let Some(buffer) = item.as_buffer() {
                    buffers.held[buffer.index()] = held;
                }
            };
            match &*output.staged {
                [only] => hold(only),
                many => many.iter().for_each(hold),
            }
            touched.insert(to.0);
        }
        output.staged.clear();
    }
    if *waiting_for_room > 0 {
        // Those who wait for room on a link that was taken from may go on.
        for input in l.inputs.as_slice() {
            let LaneId(from) = input.from.0;
            if matches!(before[from as usize].readiness, Readiness::Room(_)) {
                touched.insert(from);
            }
        }
    }
    if !l.released.is_empty() || l.done {
        releasing.push(lane);
    }
    if !l.extras.posted.is_empty() {
        posting.push(lane);
    }
    if moved || did_something(l, *quantum) {
        touched.insert(lane);
    } else {
        l.since = *tick;
        l.readiness = match l.extras.awaits_room {
            Some(pad) => {
                *waiting_for_room += 1;
                l.since_time = *now;
                Readiness::Room(pad)
            }
            None => Readiness::Silent,
        };
    }
}

/// Whether an element that emitted nothing took something in, let something go, or asked for
/// something. One that did not is not run again before something else changes for it.
#[inline]
fn did_something(l: &Lane, quantum: u32) -> bool {
    let took = match l.inputs.as_slice() {
        [only] => only.allowed < quantum,
        many => many.iter().any(|i| i.allowed < quantum),
    };
    took || asked_for_something(l)
}

#[cold]
#[inline(never)]
fn asked_for_something(l: &Lane) -> bool {
    let again = l.again || l.extras.wake_at.is_some() || l.device || l.extras.awaits.is_some();
    again || l.done || l.changes.is_some() || !l.released.is_empty() || !l.extras.posted.is_empty()
}
