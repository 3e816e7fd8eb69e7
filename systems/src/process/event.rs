//! Events take effect between two buffers of an element.
//!
//! In order with buffers: what came before the event is processed first, then the element sees it,
//! then it goes on downstream unless the element keeps it. Upstream: before anything runs in a tick,
//! from element to element, until one takes it. It may touch what the process phase may.

use super::{Run, panicked};
use crate::element::{Handled, PadAt, Process};
use crate::pipelines::{PipelineWorks, WorkSlot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{Item, Lane, PipelineFabric};
use tickpipe_components::fault::ElementError;

impl Run<'_> {
    /// The event that comes next on a sink pad takes effect; `false` if it must wait for what the
    /// element still keeps.
    pub(super) fn take_event(
        self,
        lane: &mut Lane,
        slot: &mut WorkSlot,
        (pad, number): (usize, u32),
    ) -> Result<bool, ElementError> {
        // Who is busy with a buffer lets it go in its own time.
        if lane.extras.wake_at.is_some() {
            return Ok(false);
        }
        let event = self.events.get(number).cloned();
        if !self.drained(lane, slot, event.as_ref())? {
            return Ok(false);
        }
        lane.inputs[pad].queue.pop();
        lane.marked -= 1;
        let signals = lane.signals_mut();
        signals.spent.push(number);
        let Some(event) = event else {
            return Ok(true);
        };
        if let Event::Segment(segment) = event {
            signals.set_input(pad, segment);
        }
        // Nobody has to wait for a frame of a gap.
        if let Event::Gap(gap) = event
            && let Some(end) = gap.duration.and_then(|d| gap.start.checked_add(d))
            && let Some(sync) = lane.extras.made().and_then(|e| e.sync.as_mut())
        {
            sync.promise(pad, end, gap.time_base);
            lane.again = true;
        }
        // A sink in PAUSED has nothing to wait for where nothing comes.
        if lane.is_sink() && matches!(event, Event::Gap(_)) {
            lane.late = true;
        }
        if self.ask(lane, slot, PadAt::sink(pad), &event)? == Handled::Forward
            && forwards(lane, pad, &event)
        {
            for pad in 0..lane.outputs.len() {
                lane.push_event(pad, event.clone());
            }
        }
        Ok(true)
    }

    /// What an element does with an event.
    fn ask(
        self,
        lane: &mut Lane,
        slot: &mut WorkSlot,
        pad: PadAt,
        event: &Event,
    ) -> Result<Handled, ElementError> {
        let (work, beside) = slot.at_work();
        let asked = AssertUnwindSafe(|| {
            let mut process = Process::new(lane, self.buffers, self.now, beside);
            work.event(pad, event, &mut process)
        });
        catch_unwind(asked).unwrap_or_else(|panic| Err(panicked(&*panic)))
    }

    /// What an element keeps goes on before what comes now. Whether all of it did.
    pub(super) fn drained(
        self,
        lane: &mut Lane,
        slot: &mut WorkSlot,
        event: Option<&Event>,
    ) -> Result<bool, ElementError> {
        if lane.extras.kept.is_empty() {
            return Ok(true);
        }
        let (work, beside) = slot.at_work();
        let asked = AssertUnwindSafe(|| {
            let mut process = Process::new(lane, self.buffers, self.now, beside);
            work.drain(event, &mut process)
        });
        let own = catch_unwind(asked).unwrap_or_else(|panic| Err(panicked(&*panic)));
        if let Some(done) = own? {
            lane.again = !done;
            return Ok(done);
        }
        let Some(output) = lane.outputs.first_mut() else {
            return Ok(true);
        };
        while output.room > 0
            && let Some(kept) = lane.extras.made().and_then(|e| e.kept.pop_front())
        {
            output.room -= 1;
            output.emitted += 1;
            output.staged.push(Item::buffer(kept.buffer));
        }
        lane.again = !lane.extras.kept.is_empty();
        Ok(lane.extras.kept.is_empty())
    }
}

/// Of several inputs each has a segment of its own, and the element says which one counts; of a
/// synchroniser it is that of the input that leads.
fn forwards(lane: &Lane, pad: usize, event: &Event) -> bool {
    match (event, &lane.extras.sync) {
        _ if lane.inputs.len() < 2 => true,
        (Event::Segment(_), _) => false,
        // Something may come in the gap of an input, of another.
        (Event::Gap(_), Some(sync)) => pad == 0 && sync.leads(),
        _ => true,
    }
}

/// Brings events that go upstream to the elements that they are for.
#[cold]
#[inline(never)]
pub(super) fn upward(p: &mut PipelineFabric, works: &mut PipelineWorks, now: crate::element::Now) {
    let mut at = 0;
    while let Some((lane, pad, event)) = p.upward.get(at).cloned() {
        at += 1;
        let run = Run {
            buffers: &p.buffers,
            events: &p.events,
            now,
        };
        let (Some(l), Some(slot)) = (
            p.lanes.get_mut(lane as usize),
            works.slots.get_mut(lane as usize),
        ) else {
            continue;
        };
        // Who failed passes on what others say to each other; who is at its end hears it still.
        let handled = match slot.fault.is_some() {
            true => Ok(Handled::Forward),
            false => run.ask(l, slot, PadAt::source(pad as usize), &event),
        };
        match handled {
            Ok(Handled::Taken) => p.touch(lane),
            Ok(Handled::Forward) => {
                let from = l
                    .inputs
                    .iter()
                    .map(|i| (i.from.0.0, i.from.1, event.clone()));
                p.upward.extend(from);
            }
            Err(error) => {
                run.fail(l, slot, error);
                p.posting.push(lane);
                p.releasing.push(lane);
                p.touch(lane);
            }
        }
        // What it said itself while it was asked goes its way too.
        let l = &mut p.lanes[lane as usize];
        let said = l.signals.as_mut().map(|s| core::mem::take(&mut s.upward));
        for (pad, event) in said.into_iter().flatten() {
            let from = l.inputs.get(pad as usize).map(|i| i.from);
            p.upward.extend(from.map(|from| (from.0.0, from.1, event)));
        }
    }
    p.upward.clear();
}
