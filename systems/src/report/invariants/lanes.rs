//! What lanes hold and count: `links`, `one-tick`, `bounds`, `counters`, `done`, `marks`.

use super::{Checked, Found, Invariant, Look};
use tickpipe_components::fabric::{Gate, Input, Item, Lane, Output};
use tickpipe_components::readiness::Readiness;

pub(super) fn links(look: &Look<'_>) -> Checked {
    let lanes = &look.p.lanes;
    let wrong = |l: usize, pad: usize, of: &str| {
        let text = format!("{} pad {pad} of {} leads nowhere", of, look.name(l));
        Err(Found::new(Invariant::Links, text).lane(l))
    };
    if lanes.len() != look.topology.nodes.len() {
        let (lanes, nodes) = (lanes.len(), look.topology.nodes.len());
        let text = format!("there are {lanes} lanes for {nodes} elements");
        return Err(Found::new(Invariant::Links, text));
    }
    for (l, lane) in lanes.iter().enumerate() {
        for (pad, input) in lane.inputs.iter().enumerate() {
            let (from, at) = input.from;
            let feeder = lanes.get(from.index());
            let output = feeder.and_then(|f| f.outputs.get(at as usize));
            let back = output.is_some_and(|o| {
                (o.to.0.index(), o.to.1 as usize) == (l, pad) && o.link == input.link
            });
            if !back || from.index() >= l {
                return wrong(l, pad, "sink");
            }
        }
        for (pad, output) in lane.outputs.iter().enumerate() {
            let (to, at) = output.to;
            let receiver = lanes.get(to.index());
            let input = receiver.and_then(|r| r.inputs.get(at as usize));
            if input.is_none_or(|i| (i.from.0.index(), i.from.1 as usize) != (l, pad)) {
                return wrong(l, pad, "source");
            }
        }
    }
    Ok(())
}

/// What can be said of each lane by itself, and of the links that lead to it.
pub(super) fn lanes(look: &Look<'_>) -> Checked {
    let p = look.p;
    if !(p.releasing.is_empty() && p.closing.is_empty() && p.posting.is_empty()) {
        let text = "lanes are left that have something to give back or to tell".to_owned();
        return Err(Found::new(Invariant::OneTick, text));
    }
    for (l, lane) in p.lanes.iter().enumerate() {
        if let Some(what) = left_over(lane) {
            let text = format!("{} has {what} left at the end of a tick", look.name(l));
            return Err(Found::new(Invariant::OneTick, text).lane(l));
        }
        for input in &lane.inputs {
            bounds(look, l, input)?;
            let feeder = &p.lanes[input.from.0.index()];
            counters(look, l, input, &feeder.outputs[input.from.1 as usize])?;
        }
        if let Some(sync) = &lane.extras.sync
            && sync.sets.len() > p.quantum as usize
        {
            let (name, sets) = (look.name(l), sync.sets.len());
            let text = format!("{name} has {sets} sets, more than a tick moves");
            return Err(Found::new(Invariant::Bounds, text).lane(l));
        }
        if lane.done
            && let Some(what) = still_held(lane)
        {
            let text = format!("{} is done and holds {what}", look.name(l));
            return Err(Found::new(Invariant::Done, text).lane(l));
        }
    }
    Ok(())
}

/// What of a lane lives for one tick, and is still there.
fn left_over(lane: &Lane) -> Option<&'static str> {
    let lists = [
        (lane.extras.granted.is_empty(), "buffers that were granted"),
        (lane.extras.borrowed.is_empty(), "memory that was lent"),
        (lane.extras.published.is_empty(), "buffers that it filled"),
        (lane.released.is_empty(), "references that it let go"),
        (lane.extras.retained.is_empty(), "references that it added"),
        (lane.extras.posted.is_empty(), "lines for the bus"),
    ];
    let staged = lane.outputs.iter().any(|o| !o.staged.is_empty());
    let left = lists.into_iter().find(|(empty, _)| !empty);
    left.map(|l| l.1)
        .or_else(|| staged.then_some("buffers that it emitted"))
}

/// What a lane still holds.
fn still_held(lane: &Lane) -> Option<&'static str> {
    let queued = |i: &Input| i.queue.iter().any(|item| item.as_buffer().is_some());
    let sync = lane.extras.sync.as_ref();
    let held = [
        (lane.inputs.iter().any(queued), "buffers in its queues"),
        (!lane.extras.kept.is_empty(), "buffers that it keeps"),
        (
            !lane.extras.filling.is_empty(),
            "a buffer that it put aside",
        ),
        (
            sync.is_some_and(|s| s.held().next().is_some() || !s.sets.is_empty()),
            "frames to show",
        ),
    ];
    held.into_iter().find(|h| h.0).map(|h| h.1)
}

fn bounds(look: &Look<'_>, l: usize, input: &Input) -> Checked {
    let queue = &input.queue;
    let ends = queue.iter().filter(|i| *i == Item::EOS).count();
    let last = queue.get(queue.len().wrapping_sub(1)) == Some(Item::EOS);
    let full = queue.len() > queue.most() || (queue.len() == queue.most() && !last);
    if !full && ends == usize::from(last) && (ends == 0 || !input.eos) {
        return Ok(());
    }
    let (to, from) = (look.name(l), look.name(input.from.0.index()));
    let (len, room) = (queue.len(), queue.most() - 1);
    let text = match full {
        true => format!("{len} items are queued from {from} to {to}, which has room for {room}"),
        false => format!("an end from {from} to {to} is not the last item, or not the only one"),
    };
    let found = Found::new(Invariant::Bounds, text);
    Err(found.lane(l).lane(input.from.0.index()))
}

fn counters(look: &Look<'_>, l: usize, input: &Input, output: &Output) -> Checked {
    let queue = &input.queue;
    let queued = queue.iter().filter(|i| i.as_buffer().is_some()).count() as u64;
    let end_is_there = input.eos || queue.get(queue.len().wrapping_sub(1)) == Some(Item::EOS);
    let (emitted, taken) = (output.emitted + input.carried, input.taken);
    let lane = &look.p.lanes[l];
    // An end that a flush refuses comes when that is over.
    let end_may_lack = lane.done || lane.gate == Gate::Flushing;
    // Who is done had it of whoever fed it then.
    let of_another = lane.done && end_is_there;
    let ends = output.eos == end_is_there || (end_may_lack && output.eos) || of_another;
    let right = emitted == taken + queued + input.discarded && ends;
    if right {
        return Ok(());
    }
    let (to, from) = (look.name(l), look.name(input.from.0.index()));
    let text = format!(
        "{from} emitted {emitted} buffers and {} to {to}, which took {taken} and {}; {queued} are \
         queued",
        if output.eos { "the end" } else { "no end" },
        if end_is_there {
            "has the end"
        } else {
            "has no end"
        },
    );
    let found = Found::new(Invariant::Counters, text);
    Err(found.lane(l).lane(input.from.0.index()))
}

pub(super) fn marks(look: &Look<'_>) -> Checked {
    let p = look.p;
    let (mut room, mut live) = (0, 0);
    let mut sinks = p.sinks.iter();
    for (l, lane) in p.lanes.iter().enumerate() {
        let timed = matches!(lane.readiness, Readiness::Time(_));
        if timed != p.timers.contains(l as u32) {
            let waits = if timed { "waits" } else { "does not wait" };
            let text = format!("{} {waits} for time, and its mark differs", look.name(l));
            return Err(Found::new(Invariant::Marks, text).lane(l));
        }
        room += u32::from(matches!(lane.readiness, Readiness::Room(_)));
        if lane.is_sink() {
            live += u32::from(!lane.done);
            if sinks.next() != Some(&(l as u32)) {
                let text = format!("{} is a sink, and not listed as one", look.name(l));
                return Err(Found::new(Invariant::Marks, text).lane(l));
            }
        }
    }
    let counts = [
        (room, p.waiting_for_room, "lanes wait for room"),
        (live, p.live_sinks, "sinks are not at their end"),
        (0, sinks.count() as u32, "lanes are listed as sinks beyond"),
    ];
    for (found, counted, what) in counts {
        if found != counted {
            let text = format!("{found} {what}, and {counted} are counted");
            return Err(Found::new(Invariant::Marks, text));
        }
    }
    Ok(())
}
