//! What an element may do in one tick: its own lane, and the buffers to read.

mod outside;
mod pools;
mod telling;

use super::PadNames;
use crate::outside::Outside;
use smallvec::SmallVec;
use tickpipe_components::buffer::{BufferFlags, BufferMeta, UntimedBy};
use tickpipe_components::caps::Caps;
use tickpipe_components::fabric::{
    BufferTable, Granted, Item, Kept, Lane, Measures, Ring, RoomFor, SinkFrame, Watched,
};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::sync::SyncSet;
use tickpipe_components::time::TimeBase;

/// The view that an element has of one tick.
///
/// It reads what was delivered before the tick; what it emits is seen on the next. It writes only
/// buffers that were granted to it, so elements of one tick cannot disturb one another.
pub struct Process<'a> {
    lane: &'a mut Lane,
    buffers: &'a BufferTable,
    now: Now,
    beside: Beside<'a>,
}

/// What an element has beside its lane.
pub(crate) struct Beside<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its sentences go in place of the log.
    pub said: Option<&'a mut Vec<String>>,
    /// What it announced and had answered.
    pub offers: &'a Offers,
    /// The names of its linked pads, where pads are made on request.
    pub pads: Option<&'a PadNames>,
    /// Its items of work, where it hands over any.
    pub outside: Option<&'a mut Outside>,
}

/// When a tick is, and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// The tick.
    pub tick: u64,
    /// Virtual time in nanoseconds.
    pub time: i64,
    /// Virtual time at which running time was 0.
    pub base: i64,
    /// The clock never waits.
    pub free: bool,
    /// It is the real one.
    pub wall: bool,
    /// Sinks keep what they took for the report.
    pub recording: bool,
}

/// What an element announced of its source pads and had answered, by pad.
pub(crate) type Offers = SmallVec<[(u32, Box<Caps>); 1]>;

/// How many items stand before the next change of caps or event.
#[cold]
#[inline(never)]
fn before_marks(queue: &Ring) -> usize {
    queue.iter().take_while(|i| !i.is_mark()).count()
}

impl<'a> Process<'a> {
    /// A view of a lane.
    pub(crate) fn new(
        lane: &'a mut Lane,
        buffers: &'a BufferTable,
        now: Now,
        beside: Beside<'a>,
    ) -> Self {
        Process {
            lane,
            buffers,
            now,
            beside,
        }
    }

    /// All that it is made of: for a work that runs elsewhere.
    #[cfg(feature = "remote")]
    pub(crate) fn parts(&mut self) -> (&mut Lane, &BufferTable, Now, &Offers) {
        (self.lane, self.buffers, self.now, self.beside.offers)
    }

    /// How many sink pads are linked.
    pub fn inputs(&self) -> usize {
        self.lane.inputs.len()
    }

    /// How many source pads are linked.
    pub fn outputs(&self) -> usize {
        self.lane.outputs.len()
    }

    /// The number of a linked sink pad, of an element whose pads are made on request.
    pub fn sink_named(&self, name: &str) -> Option<usize> {
        self.beside.pads?.sinks.iter().position(|pad| pad == name)
    }

    /// The number of a linked source pad, of an element whose pads are made on request.
    pub fn source_named(&self, name: &str) -> Option<usize> {
        self.beside.pads?.sources.iter().position(|pad| pad == name)
    }

    /// The name of a linked source pad, of an element whose pads are made on request.
    pub fn source_name(&self, pad: usize) -> Option<&str> {
        self.beside.pads?.sources.get(pad).map(String::as_str)
    }

    /// The oldest item on a sink pad, left there.
    #[inline]
    pub fn peek(&self, pad: usize) -> Option<Item> {
        let input = self.lane.inputs.get(pad)?;
        if input.allowed == 0 {
            return None;
        }
        // The framework takes changes of caps and events; nothing is taken past one before that.
        input.queue.front().filter(|item| !item.is_mark())
    }

    /// Takes the end from a sink pad, if that is what comes next: it needs no buffer to fill.
    pub fn end_is_next(&mut self, pad: usize) -> bool {
        self.peek(pad) == Some(Item::EOS) && self.next(pad).is_some()
    }

    /// How many items are on a sink pad, those that this tick does not allow to take included.
    pub fn queued(&self, pad: usize) -> usize {
        self.lane.inputs.get(pad).map_or(0, |i| i.queue.len())
    }

    /// Takes the oldest item of a sink pad, if this tick allows another. A buffer is then the
    /// element's: it must be passed on, kept or released.
    #[inline]
    pub fn next(&mut self, pad: usize) -> Option<Item> {
        let input = self.lane.inputs.get_mut(pad)?;
        if input.allowed == 0 {
            return None;
        }
        let item = input.queue.front()?;
        match item.as_buffer() {
            Some(_) => input.taken += 1,
            None if item == Item::EOS => input.eos = true,
            None => return None,
        }
        input.allowed -= 1;
        input.queue.drop_front();
        Some(item)
    }

    /// Takes the next set of synchronised frames. Each is the element's.
    pub fn next_set(&mut self) -> Option<SyncSet> {
        let sync = self.lane.extras.made()?.sync.as_mut()?;
        if let Some(switch) = self.lane.changes.as_mut().and_then(|c| c.switch.as_mut()) {
            switch.sets = switch.sets.checked_sub(1)?;
        }
        sync.sets.pop_front()
    }

    /// The time base of the sets' times.
    pub fn sets_base(&self) -> TimeBase {
        let sync = self.lane.extras.sync.as_ref();
        sync.map_or_else(TimeBase::default, |s| s.out_base)
    }

    /// Whether the synchroniser makes no further set.
    pub fn sets_ended(&self) -> bool {
        self.lane
            .extras
            .sync
            .as_ref()
            .is_some_and(|s| s.finished && s.sets.is_empty())
    }

    /// Whether the end was taken from every sink pad.
    pub fn all_inputs_ended(&self) -> bool {
        self.lane.inputs.iter().all(|i| i.eos)
    }

    /// How many items a source pad can still take this tick.
    #[inline]
    pub fn room(&self, pad: usize) -> usize {
        self.lane.outputs.get(pad).map_or(0, |o| o.room as usize)
    }

    /// How many items every source pad can still take this tick.
    #[inline]
    pub fn room_everywhere(&self) -> usize {
        let room = self.lane.outputs.iter().map(|o| o.room).min();
        room.map_or(usize::MAX, |r| r as usize)
    }

    /// Times, length and flags of a buffer.
    #[inline]
    pub fn meta(&self, buffer: BufferId) -> &BufferMeta {
        &self.buffers.meta[buffer.index()]
    }

    /// The valid bytes of a buffer.
    #[inline]
    pub fn bytes(&self, buffer: BufferId) -> &[u8] {
        self.buffers.bytes(buffer)
    }

    /// A buffer of the element's own pool to fill, with the lowest number first; `None` if no
    /// further one was granted for this tick. Its length is that of its memory until set.
    pub fn acquire(&mut self) -> Option<Granted> {
        let mut granted = self.lane.extras.made()?.granted.pop_front()?;
        granted.meta = BufferMeta {
            len: granted.memory.len(),
            ..BufferMeta::default()
        };
        Some(granted)
    }

    /// Keeps a buffer that it took over this tick. What is not passed on or let go must be kept, so
    /// that it is known who holds it.
    pub fn keep(&mut self, buffer: BufferId) {
        let since = self.now.tick;
        self.lane
            .extras
            .make()
            .kept
            .push_back(Kept { buffer, since });
    }

    /// Keeps a buffer that it acquired: for a device that fills it later. The element goes on in
    /// the next tick.
    pub fn keep_acquired(&mut self, granted: Granted) -> BufferId {
        let buffer = granted.buffer;
        self.lane.extras.make().published.push(granted);
        self.keep(buffer);
        self.lane.again = true;
        buffer
    }

    /// The buffers that it keeps, oldest first.
    pub fn kept(&self) -> impl ExactSizeIterator<Item = BufferId> + '_ {
        self.lane.extras.kept.iter().map(|k| k.buffer)
    }

    /// The same, with the ticks in which it began to keep them.
    pub fn kept_since(&self) -> impl ExactSizeIterator<Item = Kept> + '_ {
        self.lane.extras.kept.iter().copied()
    }

    /// Takes back the buffer that it keeps for the longest time; it must be passed on or let go.
    pub fn take_kept(&mut self) -> Option<BufferId> {
        self.lane.extras.made()?.kept.pop_front().map(|k| k.buffer)
    }

    /// Puts a buffer aside that it acquired and did not fill yet, until the next tick; at most one.
    pub fn put_aside(&mut self, granted: Granted) {
        self.lane.extras.make().filling.push(granted);
    }

    /// Takes back the buffer that was put aside.
    pub fn take_aside(&mut self) -> Option<Granted> {
        self.lane.extras.made()?.filling.pop()
    }

    /// Virtual time in nanoseconds.
    pub fn now(&self) -> i64 {
        self.now.time
    }

    /// Whether nothing waits for time: the clock is `free`.
    pub fn is_free(&self) -> bool {
        self.now.free
    }

    /// Runs no more before this time, in nanoseconds of virtual time; with the clock `free` it
    /// does nothing.
    pub fn wait_until(&mut self, time: i64) {
        if !self.now.free {
            self.lane.extras.make().wake_at = Some(time);
        }
    }

    /// The same, but an item on any of its sink pads wakes it before.
    pub fn wait_until_running_or_input(&mut self, time: i64) {
        self.wait_until_running(time);
        self.lane.eager = true;
    }

    /// How long the pipeline has played, in nanoseconds: what was paused does not count, and a
    /// flushing seek begins anew.
    pub fn running_time(&self) -> i64 {
        self.now.time - self.now.base
    }

    /// Runs no more before this running time, in nanoseconds; with the clock `free` it does nothing.
    pub fn wait_until_running(&mut self, time: i64) {
        self.wait_until(time.saturating_add(self.now.base));
    }

    /// Runs no more before this sink pad has an item, or its end: of an element with
    /// [`Waits::All`](super::Waits::All), which compares its inputs.
    pub fn wait_for_input(&mut self, pad: usize) {
        self.lane.extras.make().awaits = Some(pad as u32);
    }

    /// Runs no more before its device is ready (`Engine::device_ready`).
    pub fn wait_for_device(&mut self) {
        self.lane.device = true;
    }

    /// Asks to be run in the next tick, though nothing was taken or emitted now. Without it an
    /// element that moved nothing is run again only when something changes for it.
    pub fn again(&mut self) {
        self.lane.again = true;
    }

    /// Says that it goes on when a source pad has room, or something new comes: for elements of which
    /// not all that they do needs room. Without it they are not run for room alone.
    pub fn wait_for_room(&mut self, pad: u32) {
        self.lane.extras.make().awaits_room = Some(pad);
    }

    /// Whether who feeds a sink pad says that nothing may ever come there.
    pub fn may_be_silent(&self, pad: usize) -> bool {
        let input = self.lane.inputs.get(pad);
        input.is_some_and(|i| i.may_be_silent)
    }

    /// Whether the end was taken from a sink pad.
    pub fn ended(&self, pad: usize) -> bool {
        self.lane.inputs.get(pad).is_some_and(|i| i.eos)
    }

    /// The memory of a buffer that the element holds alone, to write in place; `None` if another
    /// holds it too, so that it must be copied.
    pub fn write_in_place(&mut self, buffer: BufferId) -> Option<Granted> {
        let at = self
            .lane
            .extras
            .borrowed
            .iter()
            .position(|g| g.buffer == buffer)?;
        Some(self.lane.extras.made()?.borrowed.swap_remove(at))
    }

    /// Says that buffers of a source pad have other caps from the next one on; `true` if these
    /// are agreed. If not, the element returns without emitting more there: it is called again
    /// with the answer, and announces the same then. If there is no answer it fails, and what it
    /// emitted before still goes its way.
    ///
    /// `caps` is what `enum_caps` says of the pad from now on, until it announces something else.
    pub fn announce(&mut self, pad: usize, caps: &Caps) -> bool {
        let pad = pad as u32;
        if self
            .beside
            .offers
            .iter()
            .any(|o| o.0 == pad && *o.1 == *caps)
        {
            return true;
        }
        self.lane.changes_mut().asked = Some((pad, caps.clone()));
        false
    }

    /// Counts a copy that was made because another element holds the buffer too.
    pub fn count_copy(&mut self, bytes: usize) {
        let copied = &mut self.lane.extras.make().copied;
        copied.0 += 1;
        copied.1 += bytes as u64;
    }

    /// Emits a buffer that it filled.
    pub fn push(&mut self, pad: usize, mut granted: Granted) {
        let buffer = granted.buffer;
        if let Some(ticks) = self.lane.extras.made().and_then(|e| e.gap.take()) {
            granted.meta.flags |= BufferFlags::DISCONTINUITY;
            self.lane.tell(Occurrence {
                reason: Reason::Discontinuity,
                deed: Deed::Gap,
                index: granted.meta.index,
                value: i64::try_from(ticks).ok(),
                time_base: granted.meta.time_base,
            });
        }
        let meta = &mut granted.meta;
        match meta.pts {
            Some(_) => meta.untimed_by = None,
            // What was there before stays: it came without.
            None => {
                let own = UntimedBy::new(self.lane.element);
                meta.untimed_by.get_or_insert(own);
            }
        }
        self.lane.extras.make().published.push(granted);
        self.stage(pad, buffer);
    }

    /// Emits a buffer that it acquired as a view of one that it took: with the bytes of that, and
    /// the times and flags of `granted`. The one that is shown stays the element's, to be passed
    /// on, kept, released or shown again. Of an element with
    /// [`Buffers::Views`](super::Buffers::Views).
    pub fn push_view(&mut self, pad: usize, mut granted: Granted, shown: BufferId) {
        granted.meta.len = self.meta(shown).len;
        self.lane.extras.make().views.push((granted.buffer, shown));
        self.push(pad, granted);
    }

    /// Gives back a buffer that it acquired and did not fill.
    pub fn discard(&mut self, granted: Granted) {
        self.lane.extras.make().granted.push_front(granted);
    }

    /// Passes on a buffer that it took.
    #[inline]
    pub fn forward(&mut self, pad: usize, buffer: BufferId) {
        self.stage(pad, buffer);
    }

    /// Passes on a buffer that it took to all source pads, a reference each.
    pub fn forward_to_all(&mut self, buffer: BufferId) {
        if self.lane.outputs.is_empty() {
            self.release(buffer);
            return;
        }
        for pad in 0..self.lane.outputs.len() {
            if pad > 0 {
                self.lane.extras.make().retained.push(buffer);
            }
            self.stage(pad, buffer);
        }
    }

    /// Passes on a buffer that it took, and keeps it too.
    pub fn forward_and_keep(&mut self, pad: usize, buffer: BufferId) {
        self.lane.extras.make().retained.push(buffer);
        self.forward(pad, buffer);
        self.keep(buffer);
    }

    /// Says which source pads must have room before it runs again; all must until it says so.
    pub fn wants_room(&mut self, room: RoomFor) {
        self.lane.room_for = room;
    }

    /// What it tells of all that passes, with the last few.
    pub fn watched(&mut self, most: usize) -> &mut Watched {
        self.lane
            .extras
            .make()
            .watched
            .get_or_insert_with(|| Box::new(Watched::new(most)))
    }

    /// The figures that it makes of what passes, and whether the report wants those of each frame.
    pub fn measures(&mut self) -> (&mut Measures, bool) {
        let measures = &mut self.lane.extras.make().measures;
        (measures.get_or_insert_default(), self.now.recording)
    }

    /// Emits the end on all source pads, once; the element does nothing afterwards. A sink tells
    /// the bus.
    pub fn finish(&mut self) {
        self.lane.finish();
    }

    /// Emits the end on one source pad, once: nothing more comes there, and others go on.
    pub fn end_pad(&mut self, pad: usize) {
        if let Some(output) = self.lane.outputs.get_mut(pad).filter(|o| !o.eos) {
            output.eos = true;
            output.staged.push(Item::EOS);
        }
    }

    /// Lets go of a buffer that it took.
    #[inline]
    pub fn release(&mut self, buffer: BufferId) {
        self.lane.released.push(buffer);
    }

    /// Passes on all that is on sink pad 0, to source pad 0, in one go.
    #[inline]
    pub fn pass_through(&mut self) {
        let (Some(input), Some(output)) =
            (self.lane.inputs.first_mut(), self.lane.outputs.first_mut())
        else {
            return;
        };
        let most = output.room.min(input.allowed);
        let mut most = most as usize;
        if self.lane.changes.is_some() || self.lane.marked > 0 {
            most = most.min(before_marks(&input.queue));
        }
        let moved = input.queue.pop_into(most, &mut output.staged) as u32;
        input.allowed -= moved;
        output.room -= moved;
        let mut buffers = u64::from(moved);
        if output.staged.last() == Some(&Item::EOS) {
            buffers -= 1;
            input.eos = true;
            output.eos = true;
            self.lane.done = true;
        }
        input.taken += buffers;
        output.emitted += buffers;
    }

    /// Whether each buffer waits for its own running time, so that only one may be taken a tick.
    pub fn timed(&self) -> bool {
        self.lane.timed
    }

    /// Whether the report wants to know each frame that a sink takes.
    pub fn recording(&self) -> bool {
        self.now.recording && self.lane.extras.frames.is_some()
    }

    /// Tells the report of a frame that a sink took.
    pub fn record(&mut self, pts: Option<i64>, time_base: TimeBase, hash: u64) {
        if let Some(frames) = self.lane.extras.made().and_then(|e| e.frames.as_mut()) {
            frames.push(SinkFrame {
                pts,
                time_base,
                hash,
            });
        }
    }

    #[inline]
    fn stage(&mut self, pad: usize, buffer: BufferId) {
        match self.lane.outputs.get_mut(pad) {
            Some(output) if !output.eos => {
                output.room = output.room.saturating_sub(1);
                output.emitted += 1;
                output.staged.push(Item::buffer(buffer));
            }
            _ => self.drop_buffer(buffer),
        }
    }
}
