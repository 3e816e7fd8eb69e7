//! An element's place in the fabric: its queues, what it may use this tick, and its counters.

use super::change::{Changes, Due};
use super::events::Signals;
use super::extras::Extras;
use super::ring::{Item, Ring};
use crate::buffer::BufferMeta;
use crate::event::Event;
use crate::fault::{Code, Domain};
use crate::id::{BufferId, ElementId, LaneId, LinkId, PoolId};
use crate::memory::Memory;
use crate::occurrence::{Deed, Occurrence, Reason};
use crate::readiness::Readiness;
use smallvec::SmallVec;

/// What makes an element ready, besides room on its outputs and buffers to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Nothing: it makes data.
    Free,
    /// An item on any input.
    Any,
    /// An item on the input that it asked for, or on any if it asked for none: it compares them.
    All,
    /// A set of the synchroniser.
    Set,
}

/// Which of an element's source pads must have room before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoomFor {
    /// All.
    #[default]
    All,
    /// This one: it gives to one at a time.
    One(u32),
    /// None: it lets go of what it takes.
    None,
}

/// What an element's state lets it do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gate {
    /// Nothing.
    #[default]
    Closed,
    /// Nothing, and what comes is dropped: its way is flushed.
    Flushing,
    /// A sink in PAUSED: it holds its first item and takes no other.
    Hold,
    /// Everything.
    Open,
}

impl Gate {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Gate::Closed => "closed",
            Gate::Flushing => "flushing",
            Gate::Hold => "hold",
            Gate::Open => "open",
        }
    }
}

/// The receiving end of a link.
#[derive(Clone, Debug)]
pub struct Input {
    /// Items delivered before this tick, oldest first.
    pub queue: Ring,
    /// The link.
    pub link: LinkId,
    /// Who feeds it.
    pub from: (LaneId, u32),
    /// How many items may still be taken this tick.
    pub allowed: u32,
    /// The end was taken from it.
    pub eos: bool,
    /// Buffers taken from it.
    pub taken: u64,
    /// Buffers that were let go out of its queue before they were taken.
    pub discarded: u64,
    /// Buffers that came over the links that were there before this one.
    pub carried: u64,
    /// Who feeds it says that nothing may ever come: nobody waits for it.
    pub may_be_silent: bool,
}

/// A buffer that an element keeps over a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The buffer.
    pub buffer: BufferId,
    /// The tick in which it was kept.
    pub since: u64,
}

/// The feeding end of a link.
#[derive(Clone, Debug)]
pub struct Output {
    /// What was emitted this tick.
    pub staged: Vec<Item>,
    /// The link.
    pub link: LinkId,
    /// Who gets it.
    pub to: (LaneId, u32),
    /// How many items it may emit this tick.
    pub room: u32,
    /// The end was emitted.
    pub eos: bool,
    /// Buffers emitted.
    pub emitted: u64,
    /// Ticks, and nanoseconds of the clock, for which its element waited for room here.
    pub waited: (u64, i64),
}

/// A buffer of the element's own pool that it may fill this tick, with its memory.
#[derive(Debug)]
pub struct Granted {
    /// The buffer.
    pub buffer: BufferId,
    /// Its bytes.
    pub memory: Memory,
    /// Times, length, flags to publish.
    pub meta: BufferMeta,
}

/// A line for the bus that an element or the framework posted while processing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The element is a sink and its end came on all its pads.
    Eos,
    /// It failed.
    Error(Domain, Code),
    /// Something odd was dealt with.
    Warning(Domain, Code),
    /// Something happened to one buffer.
    Occurrence(Occurrence),
    /// The same at another element, before this one.
    Before(ElementId, Occurrence),
}

/// A frame that a sink took, for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkFrame {
    /// Its time.
    pub pts: Option<i64>,
    /// The unit of that time.
    pub time_base: crate::time::TimeBase,
    /// xxh3-64 of its bytes: of the visible ones for raw video.
    pub hash: u64,
}

/// An element in the fabric.
#[derive(Debug)]
pub struct Lane {
    /// Whose it is.
    pub element: ElementId,
    /// What makes it ready.
    pub trigger: Trigger,
    /// What its state allows.
    pub gate: Gate,
    /// Whether it can run, or why not.
    pub readiness: Readiness,
    /// Since which tick that has been so.
    pub since: u64,
    /// The clock's time since which it has waited for room, where it does.
    pub since_time: i64,
    /// Linked sink pads, in pad order.
    pub inputs: SmallVec<[Input; 1]>,
    /// Linked source pads, in pad order.
    pub outputs: SmallVec<[Output; 1]>,
    /// The pool that it fills buffers of.
    pub pool: Option<PoolId>,
    /// References that it let go this tick.
    pub released: Vec<BufferId>,
    /// An item on any input wakes it before that.
    pub eager: bool,
    /// It waits for its device.
    pub device: bool,
    /// A source that may be silent, and is while nobody else can go on: it ends.
    pub ending: bool,
    /// Which source pads must have room before it runs.
    pub room_for: RoomFor,
    /// It asked to be run again, though it moves nothing now.
    pub again: bool,
    /// It writes into the buffers of its first input where it alone holds them.
    pub in_place: bool,
    /// Its buffers are large enough that running it beside others pays.
    pub heavy: bool,
    /// Buffers wait here for their running time.
    pub timed: bool,
    /// A sink that PAUSED does not wait for: it was linked in PAUSED, or knows that nothing comes.
    pub late: bool,
    /// A sink in PAUSED has shown what it holds.
    pub shows: bool,
    /// A source that gives data only in PLAYING.
    pub live: bool,
    /// It works no more in this run.
    pub done: bool,
    /// It stands where nothing is linked, and never works.
    pub plug: bool,
    /// It serves bytes that are read by position: nothing is sent by it, and it never works.
    pub serves: bool,
    /// Changes of caps, settings or memory that are under way for it; mostly none.
    pub changes: Option<Box<Changes>>,
    /// How many events stand in its queues.
    pub marked: u32,
    /// Its events and segments, where there are any.
    pub signals: Option<Box<Signals>>,
    /// What few lanes need.
    pub extras: Extras,
    /// Buffers that it let go without passing them on where it should have.
    pub dropped: u64,
}

impl Lane {
    /// A lane without pads.
    pub fn new(element: ElementId, trigger: Trigger) -> Lane {
        Lane {
            element,
            trigger,
            gate: Gate::Closed,
            readiness: Readiness::Held,
            since: 0,
            since_time: 0,
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            pool: None,
            released: Vec::new(),
            eager: false,
            device: false,
            ending: false,
            room_for: RoomFor::All,
            again: false,
            in_place: false,
            heavy: false,
            timed: false,
            late: false,
            shows: false,
            live: false,
            done: false,
            plug: false,
            serves: false,
            changes: None,
            marked: 0,
            signals: None,
            extras: Extras::new(),
            dropped: 0,
        }
    }

    /// Whether only what stands in its one queue and the room behind its one source pad say if it
    /// runs: it has no pool, waits for nothing else, and no change or event is before it.
    #[inline]
    pub fn is_plain(&self) -> bool {
        let waits = self.done | self.ending | self.timed | self.device | self.again;
        let one_of_each = self.inputs.len() == 1 && self.outputs.len() == 1;
        let passes = self.trigger == Trigger::Any && self.room_for == RoomFor::All;
        let open = self.gate == Gate::Open && self.changes.is_none() && self.marked == 0;
        open && !waits && !self.extras.is_made() && self.pool.is_none() && passes && one_of_each
    }

    /// The changes under way, to add to.
    pub fn changes_mut(&mut self) -> &mut Changes {
        let inputs = self.inputs.len();
        self.changes
            .get_or_insert_with(|| Box::new(Changes::new(inputs)))
    }

    /// Its events and segments, to add to.
    pub fn signals_mut(&mut self) -> &mut Signals {
        self.signals.get_or_insert_default()
    }

    /// What came may be what it waits for, whatever it waited for.
    #[inline]
    pub fn no_more_awaits(&mut self) {
        if let Some(extra) = self.extras.made() {
            extra.awaits = None;
        }
    }

    /// Emits an event on a source pad, in order with buffers, unless the end went before it.
    pub fn push_event(&mut self, pad: usize, event: Event) {
        let Some(output) = self.outputs.get_mut(pad).filter(|o| !o.eos) else {
            return;
        };
        let signals = self.signals.get_or_insert_default();
        if let Event::Segment(segment) = event {
            signals.set_output(pad, segment);
        }
        // The number is given when it is delivered; here it says which one it is.
        output.staged.push(Item::event(signals.staged.len() as u32));
        signals.staged.push(event);
    }

    /// The first sink pad on which an event comes next, and the event's number. Of a synchroniser
    /// only where all that came before it is shown.
    pub fn event_due(&self) -> Option<(usize, u32)> {
        if self.marked == 0 {
            return None;
        }
        let due = |(pad, input): (usize, &Input)| {
            let number = input.queue.front()?.as_event()?;
            match &self.extras.sync {
                Some(sync) if !(sync.sets.is_empty() && (sync.wants(pad) || sync.finished)) => None,
                _ => Some((pad, number)),
            }
        };
        self.inputs.iter().enumerate().find_map(due)
    }

    /// Whether the oldest change can take effect now: all that came before it has been taken.
    pub fn change_is_due(&self) -> bool {
        let Some(changes) = &self.changes else {
            return false;
        };
        let Some(due) = changes.due.front() else {
            return false;
        };
        if self.trigger == Trigger::Set {
            return match changes.switch {
                Some(switch) => switch.sets == 0,
                None => due.inputs.is_empty(),
            };
        }
        due.inputs.iter().all(|&pad| {
            let input = self.inputs.get(pad as usize);
            let front = input.and_then(|i| i.queue.front());
            let ended = input.is_some_and(|i| i.eos);
            ended || front.and_then(Item::as_caps) == Some(due.epoch)
        })
    }

    /// What was to change before it ended counts at once: for when it works again. The pools that it
    /// filled until then are given to `retire`.
    pub fn change_at_end(&mut self, due: &Due, mut retire: impl FnMut(PoolId)) {
        if let Some(sync) = self.extras.made().and_then(|e| e.sync.as_mut()) {
            for (&pad, &base) in due.inputs.iter().zip(&due.bases) {
                sync.set_base(pad as usize, base);
            }
        }
        let Some(memory) = due.memory else {
            return;
        };
        if self.pool != memory.pool {
            self.pool.into_iter().for_each(&mut retire);
        }
        self.pool = memory.pool;
        self.in_place = memory.in_place;
        self.heavy = memory.heavy;
    }

    /// Emits the end on all source pads that have not had it.
    pub fn end_outputs(&mut self) {
        for output in &mut self.outputs {
            if !output.eos {
                output.eos = true;
                output.staged.push(Item::EOS);
            }
        }
    }

    /// Emits the end on all source pads, once; nothing is done afterwards. A sink tells the bus.
    pub fn finish(&mut self) {
        self.end_outputs();
        if self.is_sink() && !self.done {
            self.extras.make().posted.push(Posted::Eos);
        }
        self.done = true;
    }

    /// Lets go of a buffer that came on a pad and is not wanted any more, and counts it: with the
    /// synchroniser's input where there is one.
    pub fn drop_unused(&mut self, pad: usize, buffer: BufferId) {
        if let Some(input) = self.inputs.get_mut(pad) {
            input.discarded += 1;
        }
        let sync = self.extras.made().and_then(|e| e.sync.as_mut());
        let input = sync.and_then(|s| s.inputs.get_mut(pad));
        match input {
            Some(input) => input.dropped += 1,
            None => self.dropped += 1,
        }
        let tally = &mut self.extras.make().tally;
        tally.add(Reason::NotWanted, Deed::Dropped, 1);
        self.released.push(buffer);
    }

    /// Counts and tells something that happened to one buffer.
    pub fn tell(&mut self, occurrence: Occurrence) {
        let extra = self.extras.make();
        extra.tally.add(occurrence.reason, occurrence.deed, 1);
        extra.posted.push(Posted::Occurrence(occurrence));
    }

    /// Tells who first let a buffer through without a time.
    pub fn tell_untimed(&mut self, meta: &BufferMeta) {
        if let Some(by) = meta.untimed_by {
            let passed = Occurrence {
                reason: Reason::MissingStamp,
                deed: Deed::Passed,
                index: meta.index,
                value: None,
                time_base: meta.time_base,
            };
            self.extras
                .make()
                .posted
                .push(Posted::Before(by.element(), passed));
        }
    }

    /// Lets go of a buffer for a reason that is told.
    pub fn drop_for(&mut self, buffer: BufferId, meta: &BufferMeta, reason: Reason) {
        self.dropped += 1;
        self.released.push(buffer);
        self.tell(Occurrence {
            reason,
            deed: Deed::Dropped,
            index: meta.index,
            value: meta.pts,
            time_base: meta.time_base,
        });
    }

    /// Buffers that it took, or was sent, and let go without passing them on or showing them.
    pub fn dropped_in_all(&self) -> u64 {
        let inputs = self.extras.sync.iter().flat_map(|s| &s.inputs);
        self.dropped + inputs.map(|i| i.dropped).sum::<u64>()
    }

    /// Whether it has no source pad.
    pub fn is_sink(&self) -> bool {
        self.outputs.is_empty() && !self.serves
    }

    /// Buffers taken in on all pads.
    pub fn buffers_in(&self) -> u64 {
        self.inputs.iter().map(|i| i.taken).sum()
    }

    /// Buffers passed on over all pads, also over links that are there no more.
    pub fn buffers_out(&self) -> u64 {
        self.extras.before.0 + self.outputs.iter().map(|o| o.emitted).sum::<u64>()
    }

    /// Whether the end was taken on all its pads, also over links that are there no more.
    pub fn has_ended(&self) -> bool {
        self.inputs.iter().all(|i| i.eos) || (self.done && self.extras.ended)
    }

    /// Buffers that came to it and were let go before it took them, on all pads.
    pub fn discarded(&self) -> u64 {
        self.inputs.iter().map(|i| i.discarded).sum()
    }

    /// Buffers that stand in its queues, on all pads.
    pub fn queued(&self) -> u64 {
        let of = |i: &Input| i.queue.iter().filter(|i| i.as_buffer().is_some()).count();
        self.inputs.iter().map(of).sum::<usize>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every element of a graph takes. What few lanes need belongs to [`Extra`](super::super::Extra).
    #[test]
    fn a_lane_is_small() {
        assert!(size_of::<Lane>() <= 304, "{}", size_of::<Lane>());
        assert!(size_of::<Input>() <= 88, "{}", size_of::<Input>());
        assert!(size_of::<Output>() <= 72, "{}", size_of::<Output>());
    }
}
