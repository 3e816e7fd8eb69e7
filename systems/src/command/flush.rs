//! Discards what is under way in a part of a graph, at once.
//!
//! Nothing stale comes after it: queues, what elements keep, and synchronisers are empty when it is
//! done, and all buffers that were in them are home. Changes of caps stay in order, for they hold on.
//! It may touch lanes, reference counts and elements at work.

use crate::pipelines::{PipelineWorks, WorkSlot};
use crate::process::change::tell;
use smallvec::SmallVec;
use tickpipe_components::fabric::{Gate, Item, Lane, PipelineFabric, Posted, Progress};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::{Deed, Reason};

/// From where on it is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// What this element holds, and all behind it.
    Element(u32),
    /// All behind this element.
    Behind(u32),
}

/// Which lanes lie behind the origins, and which of their sink pads.
struct Reach {
    /// By lane: it is flushed.
    lanes: Vec<bool>,
    /// By lane: what it sent is.
    emits: Vec<bool>,
}

impl Reach {
    /// What lies behind the origins, and not behind these lanes, which are in it themselves.
    fn of(p: &PipelineFabric, origins: &[Origin], until: &[u32]) -> Reach {
        let mut lanes = vec![false; p.lanes.len()];
        let mut emits = vec![false; p.lanes.len()];
        for origin in origins {
            match *origin {
                Origin::Element(lane) => {
                    lanes[lane as usize] = true;
                    emits[lane as usize] = true;
                }
                Origin::Behind(lane) => emits[lane as usize] = true,
            }
        }
        for (at, lane) in p.lanes.iter().enumerate() {
            if lane.inputs.iter().any(|i| emits[i.from.0.index()]) {
                lanes[at] = true;
                emits[at] = !until.contains(&(at as u32));
            }
        }
        Reach { lanes, emits }
    }

    fn has(&self, lane: usize) -> bool {
        self.lanes.get(lane).copied().unwrap_or_default()
    }
}

/// Discards all behind the origins. Who feeds it from outside and has ended ends again.
pub(crate) fn discard(p: &mut PipelineFabric, works: &mut PipelineWorks, origins: &[Origin]) {
    discard_until(p, works, origins, &[]);
}

/// The same, up to what stands before some elements: what those emitted goes on.
pub(crate) fn discard_until(
    p: &mut PipelineFabric,
    works: &mut PipelineWorks,
    origins: &[Origin],
    until: &[u32],
) {
    let reach = Reach::of(p, origins, until);
    for lane in (0..p.lanes.len()).filter(|&l| reach.has(l)) {
        let inputs = p.lanes[lane].inputs.iter();
        let flushed = inputs.map(|i| reach.emits[i.from.0.index()]);
        let pads: SmallVec<[usize; 4]> = flushed.enumerate().filter(|f| f.1).map(|f| f.0).collect();
        let Some(slot) = works.slots.get_mut(lane) else {
            continue;
        };
        let ended = slot.fault.is_some() || p.lanes[lane].plug;
        if p.lanes[lane].done && !ended {
            catch_up(p, lane, slot);
        }
        let ended = ended || slot.fault.is_some();
        empty_lane(p, lane, &pads, ended, Reason::Flush);
        if let Some(outside) = &mut slot.outside {
            outside.give_up();
        }
        slot.work.flush(&pads);
    }
    let revived = revive(p, works, &reach);
    // An end that was discarded comes again, where who sent it is not flushed itself.
    for (lane, revived) in revived.into_iter().enumerate() {
        if !reach.has(lane) && !revived {
            continue;
        }
        for pad in 0..p.lanes[lane].inputs.len() {
            let (from, at) = p.lanes[lane].inputs[pad].from;
            let ended = p.lanes[from.index()].outputs[at as usize].eos;
            let input = &mut p.lanes[lane].inputs[pad];
            let there = input.eos || input.queue.iter().any(|item| item == Item::EOS);
            if ended && !there {
                input.queue.push(Item::EOS);
            }
        }
    }
    close_unwanted(p);
    for lane in 0..p.lanes.len() as u32 {
        p.touch(lane);
    }
    crate::reclaim::queues::look_at_all(p);
    count_live(p);
}

/// Who would go on, and has nobody behind who takes anything, works no more after all.
fn close_unwanted(p: &mut PipelineFabric) {
    for lane in (0..p.lanes.len()).rev() {
        let l = &p.lanes[lane];
        let wanted = |o: &tickpipe_components::fabric::Output| !p.lanes[o.to.0.index()].done;
        if !l.done && !l.is_sink() && !l.outputs.iter().any(wanted) {
            p.lanes[lane].done = true;
            // What it holds goes home in this tick.
            p.releasing.push(lane as u32);
        }
    }
}

/// Who had stopped because nobody took what it made goes on where somebody does again. Which those
/// are.
fn revive(p: &mut PipelineFabric, works: &mut PipelineWorks, reach: &Reach) -> Vec<bool> {
    let mut revived = vec![false; p.lanes.len()];
    for lane in (0..p.lanes.len()).rev() {
        let l = &p.lanes[lane];
        let mut outputs = l.outputs.iter();
        let wanted = outputs.any(|o| !o.eos && !p.lanes[o.to.0.index()].done);
        let Some(slot) = works.slots.get_mut(lane).filter(|s| s.fault.is_none()) else {
            continue;
        };
        if l.done && wanted && !l.plug && !reach.has(lane) {
            catch_up(p, lane, slot);
            p.lanes[lane].done = slot.fault.is_some();
            revived[lane] = slot.fault.is_none();
        }
    }
    revived
}

/// Tells an element that works again what changed while it did not.
fn catch_up(p: &mut PipelineFabric, lane: usize, slot: &mut WorkSlot) {
    while let Some(told) = slot.changes.pop_front() {
        if let Err(error) = tell(slot, &told) {
            p.lanes[lane]
                .extras
                .make()
                .posted
                .push(Posted::Error(error.domain, error.code));
            p.posting.push(lane as u32);
            slot.fault = Some(error);
            slot.changes.clear();
        }
    }
}

/// Counts the sinks that are not at their end; a run that had ended goes on if there is one.
pub(crate) fn count_live(p: &mut PipelineFabric) {
    let live = |s: &&u32| !p.lanes[**s as usize].done;
    p.live_sinks = p.sinks.iter().filter(live).count() as u32;
    let at_rest = matches!(p.progress, Progress::Ended | Progress::Stalled);
    if at_rest && p.live_sinks > 0 {
        p.progress = Progress::Running;
        // What was asked for at its end.
        p.renegotiate = true;
    }
}

/// All that a lane holds goes home, for a reason that is counted; it works no more.
pub(crate) fn empty_whole(p: &mut PipelineFabric, lane: usize, reason: Reason) {
    let pads: SmallVec<[usize; 4]> = (0..p.lanes[lane].inputs.len()).collect();
    empty_lane(p, lane, &pads, true, reason);
}

/// Lets go of what stands in a lane's flushed queues and what it keeps; it can work again.
fn empty_lane(p: &mut PipelineFabric, lane: usize, pads: &[usize], fault: bool, reason: Reason) {
    let mut gone: Vec<_> = Vec::new();
    let l = &mut p.lanes[lane];
    for &pad in pads {
        let input = &mut l.inputs[pad];
        let mut caps: SmallVec<[Item; 2]> = SmallVec::new();
        while let Some(item) = input.queue.pop() {
            if let Some(buffer) = item.as_buffer() {
                input.discarded += 1;
                gone.push(buffer);
            } else if let Some(number) = item.as_event() {
                p.events.remove(number);
                l.marked -= 1;
            } else if item != Item::EOS {
                caps.push(item);
            }
        }
        for item in caps {
            input.queue.push(item);
        }
        input.eos = false;
    }
    if let Some(sync) = l.extras.made().and_then(|e| e.sync.as_mut()) {
        sync.flush(pads, &mut |buffer| gone.push(buffer));
        if let Some(switch) = l.changes.as_mut().and_then(|c| c.switch.as_mut()) {
            switch.sets = 0;
        }
    }
    if let Some(extra) = l.extras.made() {
        gone.extend(extra.kept.drain(..).map(|k| k.buffer));
        while let Some(filling) = extra.filling.pop() {
            p.buffers.memory[filling.buffer.index()] = Some(filling.memory);
            gone.push(filling.buffer);
        }
        (extra.wake_at, extra.awaits) = (None, None);
    }
    let sink = l.is_sink();
    if !gone.is_empty() {
        let tally = &mut l.extras.make().tally;
        tally.add(reason, Deed::Dropped, gone.len() as u64);
    }
    l.dropped += gone.len() as u64;
    for output in &mut l.outputs {
        output.eos &= fault;
    }
    l.done = fault;
    l.late &= !sink;
    if sink {
        l.extras.make().flushed = Some(l.buffers_in());
    }
    (l.eager, l.device, l.ending, l.again) = (false, false, false, false);
    let touched = &mut p.touched;
    for buffer in gone {
        let known = p.buffers.release(buffer, |lane| touched.insert(lane.0));
        debug_assert_eq!(known, Ok(()), "a buffer that nobody holds was in a queue");
    }
}

/// Makes elements end that had not, without another buffer: the end is in the queues behind them.
pub(crate) fn end(p: &mut PipelineFabric, lanes: &[u32]) {
    for &lane in lanes {
        let l = &mut p.lanes[lane as usize];
        // Behind a sink there is nobody to end.
        if l.is_sink() {
            continue;
        }
        l.done = true;
        // What it still holds goes home in this tick.
        p.releasing.push(lane);
        let first = |o: &mut tickpipe_components::fabric::Output| {
            (!core::mem::replace(&mut o.eos, true)).then_some(o.to)
        };
        let ends: SmallVec<[_; 2]> = l.outputs.iter_mut().filter_map(first).collect();
        for (to, pad) in ends {
            p.lanes[to.index()].inputs[pad as usize]
                .queue
                .push(Item::EOS);
            p.touch(to.0);
        }
        p.touch(lane);
    }
}

/// Refuses what comes behind the origins, or takes it again.
pub(crate) fn set_flushing(p: &mut PipelineFabric, origins: &[Origin], flushing: bool) {
    let reach = Reach::of(p, origins, &[]);
    let (source_gate, sink_gate) = (p.source_gate, p.sink_gate);
    for (lane, l) in p
        .lanes
        .iter_mut()
        .enumerate()
        .filter(|(l, _)| reach.has(*l))
    {
        l.gate = match flushing {
            true => Gate::Flushing,
            false => gate_of(l, source_gate, sink_gate),
        };
        p.touched.insert(lane as u32);
    }
}

/// All that is in flight goes home, and nothing works any more.
pub(crate) fn let_go(p: &mut PipelineFabric) {
    for lane in 0..p.lanes.len() {
        empty_whole(p, lane, Reason::Flush);
        // Of a tick that was broken off there is nothing: this is between two.
        let l = &mut p.lanes[lane];
        debug_assert!(
            l.extras.granted.is_empty() && l.extras.borrowed.is_empty(),
            "between two ticks"
        );
    }
}

/// What a lane's gate is by its pipeline's state.
pub(crate) fn gate_of(lane: &Lane, source: Gate, sink: Gate) -> Gate {
    match (lane.inputs.is_empty(), lane.is_sink()) {
        (true, _) => source,
        (_, true) => sink,
        _ => Gate::Open,
    }
}

/// What comes to an element that is flushed is refused, and counted.
pub(crate) fn refuse(lane: &mut Lane, pad: usize, buffer: BufferId) {
    lane.inputs[pad].discarded += 1;
    lane.dropped += 1;
    lane.extras
        .make()
        .tally
        .add(Reason::Flush, Deed::Dropped, 1);
    lane.released.push(buffer);
}
