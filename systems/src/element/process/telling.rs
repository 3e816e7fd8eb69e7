//! What an element says beside its buffers: what it dropped and why, events, requests, warnings. It may
//! touch the element's lane.

use super::Process;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::Posted;
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::state::State;
use tickpipe_components::time::Segment;

impl Process<'_> {
    /// Lets go of a buffer that it should have passed on, and counts it.
    pub fn drop_buffer(&mut self, buffer: BufferId) {
        self.lane.dropped += 1;
        self.release(buffer);
    }

    /// The same, counted with its reason and not told one by one.
    pub fn drop_counted(&mut self, buffer: BufferId, reason: Reason) {
        let tally = &mut self.lane.extras.make().tally;
        tally.add(reason, Deed::Dropped, 1);
        self.drop_buffer(buffer);
    }

    /// Lets go of a buffer that it took, for a reason that is told and counted.
    pub fn drop_for(&mut self, buffer: BufferId, reason: Reason) {
        let meta = self.buffers.meta[buffer.index()];
        self.lane.drop_for(buffer, &meta, reason);
    }

    /// Counts something that happened to so many, and is not told one by one.
    pub fn tally(&mut self, reason: Reason, deed: Deed, count: u64) {
        self.lane.extras.make().tally.add(reason, deed, count);
    }

    /// Tells and counts something that happened to one buffer.
    pub fn tell(&mut self, occurrence: Occurrence) {
        self.lane.tell(occurrence);
    }

    /// A sentence for the log, at level `warn`, with the element's name.
    pub fn say(&mut self, sentence: impl core::fmt::Display) {
        // The most that a call says elsewhere.
        const MOST: usize = 64;
        match &mut self.beside.said {
            None => {
                tracing::warn!(
                    tick = self.now.tick,
                    element = self.beside.name,
                    "{sentence}"
                );
            }
            Some(said) if said.len() < MOST => said.push(sentence.to_string()),
            Some(_) => {}
        }
    }

    /// Emits an event on a source pad, in order with buffers. It takes no room.
    pub fn push_event(&mut self, pad: usize, event: Event) {
        self.lane.push_event(pad, event);
    }

    /// Sends an event upstream from a sink pad. It arrives before anything runs in the next tick,
    /// and goes on from element to element until one takes it.
    pub fn send_upstream(&mut self, pad: usize, event: Event) {
        self.lane.signals_mut().upward.push((pad as u32, event));
    }

    /// The segment that counts for a sink pad.
    pub fn segment(&self, pad: usize) -> Segment {
        let signals = self.lane.signals.as_ref();
        signals.map_or_else(Segment::default, |s| s.input(pad))
    }

    /// Sees to it that what is emitted next on a source pad is in the segment of a sink pad: of an
    /// element that takes from several.
    #[inline]
    pub fn follow_segment(&mut self, from: usize, to: usize) {
        if let Some(signals) = &self.lane.signals {
            let segment = signals.input(from);
            if segment != signals.output(to) {
                self.lane.push_event(to, Event::Segment(segment));
            }
        }
    }

    /// Asks for a state of the pipeline, as the application may. It is applied in the next tick,
    /// before what others ask for until then.
    pub fn request_state(&mut self, state: State) {
        self.lane.signals_mut().asked_state = Some(state);
    }

    /// Says that a sink shows a buffer now: that is the position of the stream.
    #[inline]
    pub fn show(&mut self, buffer: BufferId) {
        let meta = &self.buffers.meta[buffer.index()];
        if let Some(pts) = meta.pts {
            let lasts = meta.duration.unwrap_or_default();
            self.lane.extras.make().shown = Some((pts, lasts, meta.time_base));
        }
    }

    /// Tells who first let a buffer through without a time: before an element fails that needs one.
    pub fn tell_untimed(&mut self, buffer: BufferId) {
        let meta = self.buffers.meta[buffer.index()];
        self.lane.tell_untimed(&meta);
    }

    /// Posts a warning.
    ///
    /// The sentence about it is for [`Process::say`].
    pub fn warn(&mut self, domain: Domain, code: Code) {
        self.lane
            .extras
            .make()
            .posted
            .push(Posted::Warning(domain, code));
    }
}
