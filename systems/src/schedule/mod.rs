//! Phase 5: computes the readiness of touched elements, and grants them buffers to fill.
//!
//! It may touch lanes, free sets and the memory of granted buffers; it reads no byte.

use crate::outside::Awaited;
use crate::pipelines::{WorkSlot, Works, each};
use bevy_ecs::system::{Res, ResMut};
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::fabric::{
    BufferTable, Fabric, Gate, Granted, Input, Item, Lane, Leaky, Output, PipelineFabric, Progress,
    RoomFor, SinkTiming, Trigger,
};
use tickpipe_components::id::LaneId;
use tickpipe_components::readiness::Readiness;
use tickpipe_components::time::Segment;

/// The schedule phase.
pub fn schedule(mut fabric: ResMut<Fabric>, works: Res<Works>) {
    arrived(&mut fabric, &works);
    each(&mut fabric, |p| {
        p.ready.clear();
        p.idle = false;
        if p.progress == Progress::Running {
            pipeline(p);
        }
    });
}

/// Wakes those for whom something came from outside the tick.
fn arrived(fabric: &mut Fabric, works: &Works) {
    let start = fabric.window.start;
    for (p, works) in fabric
        .active()
        .iter_mut()
        .zip(works.pipelines.iter().skip(start))
    {
        if p.progress == Progress::Stalled && !p.lending.is_empty() {
            works.relent(p);
        }
        for at in 0..p.lending.len() {
            let lane = p.lending[at];
            let slot = works.slots.get(lane as usize);
            if slot.is_some_and(|slot| slot.awaited() == Awaited::Ready) {
                let l = &mut p.lanes[lane as usize];
                (l.device, l.again) = (false, true);
                p.touch(lane);
                // What nobody in the graph could move goes on.
                if p.progress == Progress::Stalled {
                    p.progress = Progress::Running;
                }
            }
        }
        if p.waiting_outside == 0 {
            continue;
        }
        for lane in 0..p.lanes.len() {
            let l = &mut p.lanes[lane];
            let waits = l.readiness == Readiness::Device && l.device;
            let there = |slot: &WorkSlot| slot.awaited() == Awaited::Ready;
            if waits && works.slots.get(lane).is_some_and(there) {
                (l.device, l.again) = (false, true);
                p.touch(lane as u32);
            }
        }
    }
}

fn pipeline(p: &mut PipelineFabric) {
    let mut from = 0;
    while let Some((word, mut bits)) = p.touched.take_word(from) {
        from = word + 1;
        while bits != 0 {
            let lane = word as u32 * 64 + bits.trailing_zeros();
            bits &= bits - 1;
            let readiness = match p.lanes[lane as usize].is_plain() {
                true => plain(p, lane),
                false => ready_or_why_not(p, lane),
            };
            let l = &mut p.lanes[lane as usize];
            if l.readiness != readiness {
                match l.readiness {
                    Readiness::Time(_) => p.timers.remove(lane),
                    Readiness::Room(pad) => {
                        p.waiting_for_room -= 1;
                        if let Some(output) = l.outputs.get_mut(pad as usize) {
                            output.waited.0 += p.tick.saturating_sub(l.since);
                            output.waited.1 += p.now - l.since_time;
                        }
                    }
                    Readiness::Device => p.waiting_outside -= 1,
                    _ => {}
                }
                match readiness {
                    Readiness::Time(_) => p.timers.insert(lane),
                    Readiness::Room(_) => {
                        p.waiting_for_room += 1;
                        l.since_time = p.now;
                    }
                    Readiness::Device => p.waiting_outside += 1,
                    _ => {}
                }
                l.readiness = readiness;
                l.since = p.tick;
            }
            if readiness == Readiness::Ready {
                p.ready.push(lane);
            }
        }
    }
}

/// What [`ready_or_why_not`] says of a lane that [is plain](Lane::is_plain), as most are: at a third of
/// what that costs.
#[inline]
fn plain(p: &mut PipelineFabric, lane: u32) -> Readiness {
    let (before, after) = p.lanes.split_at_mut(lane as usize + 1);
    let Some(l) = before.last_mut() else {
        return Readiness::Held;
    };
    let ([input], [output]) = (l.inputs.as_mut_slice(), l.outputs.as_mut_slice()) else {
        return Readiness::Held;
    };
    if input.queue.is_empty() {
        return Readiness::Input(0);
    }
    let (to, pad) = output.to;
    let receiver = &after[to.index() - lane as usize - 1];
    let room = receiver.inputs.as_slice()[pad as usize].queue.room();
    if room == 0 {
        return Readiness::Room(0);
    }
    output.room = p.quantum.min(room as u32);
    input.allowed = p.quantum;
    Readiness::Ready
}

/// The first wait that holds, in the order that [`Readiness`] states; grants buffers if none does.
#[inline]
fn ready_or_why_not(p: &mut PipelineFabric, lane: u32) -> Readiness {
    let quantum = p.quantum;
    let (before, after) = p.lanes.split_at_mut(lane as usize + 1);
    let Some(l) = before.last_mut() else {
        return Readiness::Held;
    };
    if l.done {
        return Readiness::Done;
    }
    if l.gate != Gate::Open {
        return held(l);
    }
    if l.ending {
        return Readiness::Ready;
    }
    let mut due = false;
    if l.changes.is_some() {
        match change_before(l) {
            Some(now) => due = now,
            None => return Readiness::Caps,
        }
    }
    // Events take no room, and need no buffer to fill.
    let event = l.marked > 0 && l.event_due().is_some();
    due |= event;
    // But what is kept goes before them, and that does.
    let roomless = event && l.extras.kept.is_empty();
    if (l.timed || l.extras.wake_at.is_some())
        && let Some(deadline) = deadline(&p.buffers, p.base_time, l)
        && deadline > p.now
        && !(l.eager && has_item(l))
    {
        return Readiness::Time(deadline);
    }
    if l.device && !(l.eager && has_item(l)) {
        return Readiness::Device;
    }
    // A change takes effect without a buffer to take or to fill; and who asked to go on does.
    let asked = l.again || l.extras.wake_at.is_some();
    if !due
        && !asked
        && let Some(pad) = missing_input(l)
    {
        return Readiness::Input(pad);
    }
    let (mut passable, mut leaks) = (quantum, false);
    if let Some(bounds) = &l.extras.bounds {
        leaks = bounds.limits.leaky != Leaky::No && !p.free;
        if bounds.limits.has_minimum() && !due {
            passable = bounds.passable(&l.inputs[0].queue, &p.buffers.meta, quantum);
            if passable == 0 {
                return Readiness::Input(0);
            }
        }
    }
    // Links lead to later lanes: graph order is topological.
    let mut room = quantum;
    let outputs = l.outputs.as_mut_slice();
    let free = |output: &Output| {
        let (to, pad) = output.to;
        let receiver = &after[to.index() - lane as usize - 1];
        match leaks {
            false => receiver.inputs.as_slice()[pad as usize].queue.room() as u32,
            true => wanted(receiver, pad),
        }
    };
    let some = l.room_for != RoomFor::All && l.changes.is_none();
    if some {
        if let Some(wait) = room_for_some(l.room_for, outputs, quantum, free).filter(|_| !event) {
            return wait;
        }
    } else if let [only] = &*outputs {
        room = room.min(free(only));
        if room == 0 && !roomless {
            return Readiness::Room(0);
        }
    } else {
        // Nothing more goes where the end went.
        for (o, output) in outputs.iter().enumerate().filter(|(_, o)| !o.eos) {
            room = room.min(free(output));
            if room == 0 && !roomless {
                return Readiness::Room(o as u32);
            }
        }
    }
    // Most have one of each; a loop that was unrolled for many costs more than it does.
    match outputs {
        _ if some => {}
        [only] => only.room = room,
        many => many.iter_mut().for_each(|o| o.room = room),
    }
    match l.inputs.as_mut_slice() {
        [only] => only.allowed = passable,
        many => many.iter_mut().for_each(|i| i.allowed = quantum),
    }
    // Who fills one already needs none, and neither does an end.
    let (pool, needs_none) = (l.pool, due || !l.extras.filling.is_empty() || only_ends(l));
    match pool {
        Some(pool) if !grant(p, lane, room) && !needs_none => Readiness::Buffer(pool),
        _ => Readiness::Ready,
    }
}

/// Of an element that does not give to all its source pads alike: the room of each, and what it waits
/// for.
#[cold]
#[inline(never)]
fn room_for_some(
    wanted: RoomFor,
    outputs: &mut [Output],
    quantum: u32,
    free: impl Fn(&Output) -> u32,
) -> Option<Readiness> {
    for output in outputs.iter_mut() {
        output.room = free(output).min(quantum);
    }
    match wanted {
        RoomFor::One(pad) if outputs.get(pad as usize).is_some_and(|o| o.room == 0) => {
            Some(Readiness::Room(pad))
        }
        _ => None,
    }
}

/// How many buffers a queue that leaks passes on: what it passes on it cannot let go any more, so one,
/// to an element that has none and is not busy.
#[cold]
#[inline(never)]
fn wanted(receiver: &Lane, pad: u32) -> u32 {
    let queue = &receiver.inputs.as_slice()[pad as usize].queue;
    let busy = receiver.extras.wake_at.is_some() && !receiver.eager;
    match receiver.extras.bounds.is_some() || receiver.done {
        true => queue.room() as u32,
        false if busy || queue.buffers() > 0 => 0,
        false => queue.room().min(1) as u32,
    }
}

/// A sink in PAUSED learns other caps before the buffer that it is to hold.
#[cold]
#[inline(never)]
fn held(l: &Lane) -> Readiness {
    let first = |i: &Input| i.queue.front_behind_marks().and_then(Item::as_buffer);
    let shows = || !l.shows && l.inputs.iter().any(|i| first(i).is_some());
    let due =
        || l.trigger != Trigger::Set && l.change_is_due() || l.event_due().is_some() || shows();
    match l.gate == Gate::Hold && due() {
        true => Readiness::Ready,
        false => Readiness::Held,
    }
}

/// Of a lane with changes before it: whether one takes effect now, without a buffer; `None` if it
/// waits for the answer to what it announced.
#[cold]
#[inline(never)]
fn change_before(l: &Lane) -> Option<bool> {
    let changes = l.changes.as_ref()?;
    let due = changes.refused || l.change_is_due();
    (due || changes.asked.is_none()).then_some(due)
}

/// The running time at which the buffer that a sink showed last is over: its end is due then.
#[cold]
fn over(l: &Lane, segment: Option<&Segment>) -> Option<i64> {
    // Of what was flushed nothing is waited for.
    let (pts, lasts, time_base) = l
        .extras
        .shown
        .filter(|_| l.extras.flushed != Some(l.buffers_in()))?;
    let at_its_end = BufferMeta {
        pts: Some(pts.checked_add(lasts)?),
        time_base,
        ..BufferMeta::default()
    };
    SinkTiming::running(&at_its_end, segment)
}

/// When it asked to go on, or the running time of the oldest buffer on a sink's pad, in
/// nanoseconds.
fn deadline(buffers: &BufferTable, base: i64, l: &Lane) -> Option<i64> {
    if l.extras.wake_at.is_some() {
        return l.extras.wake_at;
    }
    let front = l.inputs.first()?.queue.front()?;
    let segment = l.signals.as_ref().and_then(|s| s.inputs.first());
    let running = match front.as_buffer() {
        Some(buffer) => SinkTiming::running(&buffers.meta[buffer.index()], segment)?,
        None if front == Item::EOS => over(l, segment)?,
        None => return None,
    };
    let due = l.extras.timing.as_ref().map_or(running, |t| t.due(running));
    Some(due.saturating_add(base))
}

#[inline]
fn has_item(l: &Lane) -> bool {
    if l.changes.is_some() || l.marked > 0 {
        // What stands behind a change of caps or an event is not to be had before that takes effect.
        return has_item_before_marks(l);
    }
    match l.inputs.as_slice() {
        [only] => !only.queue.is_empty(),
        many => many.iter().any(|i| !i.queue.is_empty()),
    }
}

#[cold]
#[inline(never)]
fn has_item_before_marks(l: &Lane) -> bool {
    let front = |i: &Input| i.queue.front().is_some_and(|f| !f.is_mark());
    l.inputs.iter().any(front)
}

/// The sink pad that something must arrive on first, if any.
#[inline]
fn missing_input(l: &Lane) -> Option<u32> {
    match l.trigger {
        Trigger::Free => None,
        Trigger::Any if l.extras.awaits.is_some() => missing_of_all(l),
        Trigger::Any if has_item(l) => None,
        Trigger::Any => l
            .inputs
            .iter()
            .position(|i| !i.eos)
            .map(|i| i as u32)
            .or(Some(0)),
        Trigger::All => missing_of_all(l),
        Trigger::Set => {
            let sync = l.extras.sync.as_ref()?;
            if !sync.sets.is_empty() || sync.finished {
                return None;
            }
            let has = |k: usize| l.inputs.get(k).is_none_or(|i| !i.queue.is_empty());
            sync.waits_for(has).map(|k| k as u32)
        }
    }
}

/// Whether all that comes next to an element is the end. What it keeps may go before that.
#[inline]
fn only_ends(l: &Lane) -> bool {
    let ends = |i: &Input| i.eos || i.queue.front() == Some(Item::EOS);
    let owes = !l.extras.kept.is_empty() || l.extras.owes;
    l.trigger == Trigger::Any && l.inputs.iter().all(ends) && !owes
}

/// Of an element that compares its inputs: the one that it asked for, while nothing is there; else
/// any.
fn missing_of_all(l: &Lane) -> Option<u32> {
    let empty = |i: &Input| !i.eos && i.queue.front().is_none_or(|f| f.is_mark());
    if let Some(pad) = l.extras.awaits
        && l.inputs.get(pad as usize).is_some_and(empty)
    {
        return Some(pad);
    }
    match has_item(l) || l.inputs.iter().all(|i| i.eos) {
        true => None,
        false => l.inputs.iter().position(empty).map(|pad| pad as u32),
    }
}

/// Grants free buffers of the lane's pool until it has `wanted`; `false` if it has none.
fn grant(p: &mut PipelineFabric, lane: u32, wanted: u32) -> bool {
    let l = &mut p.lanes[lane as usize];
    let Some(pool) = l.pool else {
        return false;
    };
    let granted = &mut l.extras.make().granted;
    while granted.len() < wanted as usize {
        let Ok(buffer) = p.buffers.acquire(pool, LaneId(lane), p.tick) else {
            break;
        };
        let Some(memory) = p.buffers.memory[buffer.index()].take() else {
            continue;
        };
        granted.push_back(Granted {
            buffer,
            memory,
            meta: BufferMeta::default(),
        });
    }
    if granted.is_empty() {
        // A pool that is not committed wakes nobody: the lane is gone with it.
        let _ = p.buffers.wait(pool, LaneId(lane));
        return false;
    }
    true
}
