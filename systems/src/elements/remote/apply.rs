//! A call as the parent makes it of its lane, and what came back: checked as a whole first, then done to
//! that lane. It touches the lane and the shared memory.

use super::link::{Fault, Link};
use super::messages::{
    Answered, Ask, Call, Came, CameBuffer, Emit, Outcome, Said, Sink, Source, pages, regions,
};
use super::shared::SHARED_BYTES;
use crate::element::Process;
use smallvec::SmallVec;
use tickpipe_components::caps::Caps;
use tickpipe_components::fabric::{Granted, Item, Kept, Posted, RoomFor};
use tickpipe_components::id::{BufferId, ElementId};

/// The most sentences of a call that are told.
const MAX_SENTENCES: usize = 64;

/// The numbers by which the two ends name buffers.
#[derive(Debug, Default)]
pub struct Slots(Vec<BufferId>);

impl Slots {
    fn of(&mut self, buffer: BufferId) -> u32 {
        let at = self.0.iter().position(|b| *b == buffer);
        let at = at.unwrap_or_else(|| {
            self.0.push(buffer);
            self.0.len() - 1
        });
        at as u32
    }

    fn buffer(&self, slot: u32) -> Result<BufferId, Fault> {
        let buffer = self.0.get(slot as usize).copied();
        buffer.ok_or_else(|| Fault::garbled(format_args!("it names a buffer {slot}")))
    }
}

/// What is asked of the child, with what came written to the shared memory.
pub fn call(
    process: &mut Process<'_>,
    slots: &mut Slots,
    link: &mut Link,
    ask: Ask,
    most: usize,
) -> Result<Call, Fault> {
    let timed = process.timed();
    let items = match ask {
        Ask::Process => in_view(process, most),
        _ => SmallVec::new(),
    };
    let mut came = Vec::with_capacity(items.len());
    let mut at = 0u64;
    for item in items {
        let Some(buffer) = item.as_buffer() else {
            came.push(Came::End);
            continue;
        };
        let bytes = process.bytes(buffer);
        if !came.is_empty() && at.saturating_add(bytes.len() as u64) > SHARED_BYTES / 4 {
            break;
        }
        link.write(at, bytes)?;
        at = at.saturating_add(pages(bytes.len() as u64));
        let mut meta = *process.meta(buffer);
        // What of it is there, whatever it says.
        meta.len = bytes.len();
        came.push(Came::Buffer(CameBuffer {
            slot: slots.of(buffer),
            meta,
            layout: process.layout(buffer).copied(),
        }));
    }
    let (lane, buffers, now, offers) = process.parts();
    let signals = lane.signals.as_ref();
    let sink = lane.inputs.first().map(|input| Sink {
        came,
        ended: input.eos,
        may_be_silent: input.may_be_silent,
        segment: signals.map(|s| s.input(0)).unwrap_or_default(),
    });
    let source = lane.outputs.first().map(|output| Source {
        room: output.room,
        ended: output.eos,
        segment: signals.map(|s| s.output(0)).unwrap_or_default(),
    });
    let mut granted = Vec::with_capacity(lane.extras.granted.len() + 1);
    // What does not fit beside the others waits for another call.
    let mut left = SHARED_BYTES / 2;
    for g in lane.extras.filling.iter().chain(&lane.extras.granted) {
        let size = pages(g.memory.len() as u64);
        if !granted.is_empty() && size > left {
            break;
        }
        left = left.saturating_sub(size);
        granted.push((slots.of(g.buffer), g.memory.len()));
    }
    let pool = lane.pool.and_then(|p| buffers.pools.get(p.index()));
    let call = Call {
        ask,
        element: lane.element.0,
        tick: now.tick,
        time: (now.time, now.base),
        clock: (now.free, now.wall),
        timed,
        sink,
        source,
        granted,
        pool: pool.map(|p| (p.count, p.layout)),
        kept: lane
            .extras
            .kept
            .iter()
            .map(|k| (slots.of(k.buffer), k.since))
            .collect(),
        aside: lane.extras.filling.first().map(|g| slots.of(g.buffer)),
        offers: offers
            .iter()
            .map(|(pad, caps)| (*pad, caps.to_string()))
            .collect(),
    };
    Ok(call)
}

/// Whether a child may have done that: each buffer that it had is in one place afterwards, it filled what it
/// was given, and no more than there was room for.
///
/// # Errors
/// [`Fault::Lost`]: what it answered cannot be. Nothing was done then.
pub fn check(call: &Call, outcome: &Outcome) -> Result<(), Fault> {
    let came = call.sink.as_ref().map_or(&[][..], |s| &s.came);
    let Some(took) = came.get(..outcome.took as usize) else {
        return Err(Fault::garbled("it took what was not there"));
    };
    let mut had: Vec<u32> = call.kept.iter().map(|k| k.0).collect();
    had.extend(took.iter().filter_map(|came| match came {
        Came::Buffer(buffer) => Some(buffer.slot),
        Came::End => None,
    }));
    let own = had.clone();
    had.extend(&outcome.retained);
    if outcome.retained.iter().any(|r| !own.contains(r)) {
        return Err(Fault::garbled(
            "it added a reference to a buffer that it has not",
        ));
    }
    let mut has: Vec<u32> = outcome.released.clone();
    has.extend(outcome.kept.iter().map(|k| k.0));
    let mut filled: Vec<u32> = outcome.aside.into_iter().collect();
    let mut buffers = 0;
    let mut ends = 0;
    for emitted in &outcome.emitted {
        match emitted {
            Emit::Forward(slot) => has.push(*slot),
            Emit::Filled((slot, meta)) => {
                let size = call.granted.iter().find(|g| g.0 == *slot).map(|g| g.1);
                if size.is_none_or(|size| meta.len > size) {
                    let what = format!("it filled {} bytes of buffer {slot}", meta.len);
                    return Err(Fault::garbled(what));
                }
                filled.push(*slot);
            }
            Emit::View((slot, shown, _)) => {
                if !own.contains(shown) {
                    return Err(Fault::garbled("it shows a buffer that it has not"));
                }
                filled.push(*slot);
            }
            Emit::Event(_) => continue,
            Emit::End => {
                ends += 1;
                continue;
            }
        }
        buffers += 1;
    }
    let room = call.source.as_ref().map_or(0, |s| s.room);
    let ended = call.source.as_ref().is_none_or(|s| s.ended);
    if buffers > room || ends > u32::from(!ended) {
        return Err(Fault::garbled("it emitted more than there was room for"));
    }
    had.sort_unstable();
    has.sort_unstable();
    if had != has {
        return Err(Fault::garbled("a buffer that it had is nowhere, or twice"));
    }
    filled.sort_unstable();
    let once = filled.windows(2).all(|pair| pair.first() != pair.last());
    if !once
        || filled
            .iter()
            .any(|f| !call.granted.iter().any(|g| g.0 == *f))
    {
        return Err(Fault::garbled(
            "it filled a buffer that it has not, or one twice",
        ));
    }
    Ok(())
}

/// Reads what the child filled; before anything is done.
///
/// # Errors
/// [`Fault`]: the shared memory or the child is of no use.
fn read_filled(
    process: &mut Process<'_>,
    slots: &Slots,
    link: &mut Link,
    call: &Call,
    outcome: &Outcome,
) -> Result<(), Fault> {
    let (lane, ..) = process.parts();
    let extras = lane.extras.make();
    for emitted in &outcome.emitted {
        let Emit::Filled((slot, meta)) = emitted else {
            continue;
        };
        let buffer = slots.buffer(*slot)?;
        let place = regions(call).find(|r| r.0 == *slot);
        let mut own = extras.granted.iter_mut().chain(&mut extras.filling);
        let granted = own.find(|g| g.buffer == buffer);
        let bytes = granted.and_then(|g| g.memory.as_mut_slice().get_mut(..meta.len));
        match (place, bytes) {
            (Some(place), Some(bytes))
                if place.2.saturating_add(meta.len as u64) <= SHARED_BYTES =>
            {
                link.read(place.2, bytes)?;
            }
            _ => return Err(Fault::garbled("it filled what it has not")),
        }
    }
    Ok(())
}

fn take_granted(process: &mut Process<'_>, buffer: BufferId) -> Option<Granted> {
    let (lane, ..) = process.parts();
    let extras = lane.extras.made()?;
    if let Some(at) = extras.granted.iter().position(|g| g.buffer == buffer) {
        return extras.granted.remove(at);
    }
    let at = extras.filling.iter().position(|g| g.buffer == buffer)?;
    Some(extras.filling.remove(at))
}

/// Does to the lane what the child's element did to its own.
///
/// # Errors
/// [`Fault::Lost`]: the answer cannot be; nothing was done.
pub fn apply(
    process: &mut Process<'_>,
    slots: &Slots,
    link: &mut Link,
    call: &Call,
    outcome: &Outcome,
) -> Result<(), Fault> {
    check(call, outcome)?;
    let kept: Result<SmallVec<[Kept; 8]>, Fault> = outcome
        .kept
        .iter()
        .map(|&(slot, since)| {
            let buffer = slots.buffer(slot)?;
            Ok(Kept { buffer, since })
        })
        .collect();
    let kept = kept?;
    let announced = match &outcome.announced {
        Some((pad, text)) => {
            let caps = text.parse::<Caps>();
            Some((*pad, caps.map_err(Fault::garbled)?))
        }
        None => None,
    };
    read_filled(process, slots, link, call, outcome)?;
    for _ in 0..outcome.took {
        process.next(0);
    }
    for sentence in outcome.sentences.iter().take(MAX_SENTENCES) {
        process.say(sentence);
    }
    let (lane, ..) = process.parts();
    let extras = lane.extras.make();
    extras.kept.clear();
    extras.kept.extend(kept);
    for said in &outcome.said {
        extras.posted.push(match *said {
            Said::Warning((domain, code)) => Posted::Warning(domain, code),
            Said::Occurrence(o) => Posted::Occurrence(o),
            Said::Before((element, o)) => Posted::Before(ElementId(element), o),
        });
    }
    for &(reason, deed, count) in &outcome.tally {
        extras.tally.add(reason, deed, count);
    }
    extras.copied.0 += outcome.copied.0;
    extras.copied.1 += outcome.copied.1;
    for &slot in &outcome.retained {
        extras.retained.push(slots.buffer(slot)?);
    }
    lane.dropped += outcome.dropped;
    for emitted in &outcome.emitted {
        match emitted {
            Emit::Forward(slot) => process.forward(0, slots.buffer(*slot)?),
            Emit::Filled((slot, meta)) => {
                if let Some(mut granted) = take_granted(process, slots.buffer(*slot)?) {
                    granted.meta = *meta;
                    process.push(0, granted);
                }
            }
            Emit::View((slot, shown, meta)) => {
                let shown = slots.buffer(*shown)?;
                if let Some(mut granted) = take_granted(process, slots.buffer(*slot)?) {
                    granted.meta = *meta;
                    process.push_view(0, granted, shown);
                }
            }
            Emit::Event(event) => process.push_event(0, event.clone()),
            Emit::End => process.end_pad(0),
        }
    }
    for &slot in &outcome.released {
        process.release(slots.buffer(slot)?);
    }
    set_aside(process, slots, outcome)?;
    for event in &outcome.upward {
        process.send_upstream(0, event.clone());
    }
    let waits = &outcome.waits;
    if matches!(outcome.answer, Answered::Done) {
        let (lane, ..) = process.parts();
        if let Some(announced) = announced {
            lane.changes_mut().asked = Some(announced);
        }
        lane.again |= waits.again;
        lane.device |= waits.device;
        lane.eager |= waits.eager;
        lane.room_for = match waits.room_for {
            (1, pad) => RoomFor::One(pad),
            (2, _) => RoomFor::None,
            _ => RoomFor::All,
        };
        if waits.wake_at.is_some() || waits.awaits.is_some() || waits.awaits_room.is_some() {
            let extras = lane.extras.make();
            extras.wake_at = waits.wake_at;
            extras.awaits = waits.awaits;
            extras.awaits_room = waits.awaits_room;
        }
    }
    if waits.done {
        process.finish();
    }
    Ok(())
}

/// What it put aside is put aside here too, and what it had there before and did not emit is free to be
/// filled again.
fn set_aside(process: &mut Process<'_>, slots: &Slots, outcome: &Outcome) -> Result<(), Fault> {
    let aside = match outcome.aside {
        Some(slot) => Some(slots.buffer(slot)?),
        None => None,
    };
    while let Some(left) = process.take_aside() {
        process.discard(left);
    }
    if let Some(granted) = aside.and_then(|b| take_granted(process, b)) {
        process.put_aside(granted);
    }
    Ok(())
}

/// What may be taken from the sink pad now, at most so many.
pub fn in_view(process: &mut Process<'_>, most: usize) -> SmallVec<[Item; 8]> {
    let (lane, ..) = process.parts();
    let Some(input) = lane.inputs.first() else {
        return SmallVec::new();
    };
    let most = most.min(input.allowed as usize);
    let items = input.queue.iter().take(most);
    items.take_while(|item| !item.is_mark()).collect()
}
