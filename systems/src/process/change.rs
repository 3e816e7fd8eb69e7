//! Changes of caps, settings and memory take effect between two buffers of an element.
//!
//! The framework does it around the element's own `process`: what came before the change is
//! processed first, then the work is told, then the change goes on downstream. It may touch what
//! the process phase may.

use super::{Run, panicked};
use crate::element::Process;
use crate::pipelines::{Told, WorkSlot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tickpipe_components::fabric::{Changes, Gate, Input, Item, Lane, Trigger};
use tickpipe_components::fault::ElementError;

impl Run<'_> {
    /// Runs a lane that has changes or events before it.
    #[cold]
    #[inline(never)]
    pub(super) fn changing(self, lane: &mut Lane, slot: &mut WorkSlot) {
        if let Some(error) = slot.refused.take() {
            return self.stop(lane, slot, error);
        }
        let mut worked = false;
        // What it was busy with is done, and goes before what comes now.
        let time = self.now.time;
        if lane.gate == Gate::Open && lane.extras.wake_at.is_some_and(|at| at <= time) {
            self.work(lane, slot);
            worked = true;
            if lane.done {
                return;
            }
        }
        loop {
            if lane.change_is_due() {
                let keeps = lane.changes.as_ref().and_then(|c| c.due.front());
                let drains = keeps.is_some_and(|d| !d.inputs.is_empty() && !d.outputs.is_empty());
                let drained = match drains {
                    true => self.drained(lane, slot, None),
                    false => Ok(true),
                };
                match drained {
                    Ok(true) if has_room(lane) => {}
                    Ok(_) => return,
                    Err(error) => return self.stop(lane, slot, error),
                }
                let new_memory = match take_effect(lane, slot) {
                    Ok(new_memory) => new_memory,
                    Err(error) => return self.stop(lane, slot, error),
                };
                // Buffers of the new pool are granted, and times looked at, in the next tick.
                if new_memory || lane.timed {
                    return;
                }
                worked = false;
            } else if let Some(event) = lane.event_due() {
                match self.take_event(lane, slot, event) {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => return self.stop(lane, slot, error),
                }
                // Times are looked at in the next tick, and what comes now may have to wait.
                if lane.timed {
                    return;
                }
                worked = lane.outputs.iter().any(|o| o.room == 0);
            } else if lane.gate == Gate::Hold {
                return self.show(lane, slot);
            } else if worked || lane.gate != Gate::Open || !sets_fit(lane) {
                return;
            } else {
                self.work(lane, slot);
                worked = true;
                if lane.done {
                    return;
                }
            }
        }
    }

    /// A sink in PAUSED shows the buffer that it holds, once.
    fn show(self, lane: &mut Lane, slot: &mut WorkSlot) {
        let first = |i: &Input| i.queue.front().and_then(Item::as_buffer);
        let Some(buffer) = lane.inputs.iter().find_map(first).filter(|_| !lane.shows) else {
            return;
        };
        lane.shows = true;
        let (work, beside) = slot.at_work();
        let shown = AssertUnwindSafe(|| {
            let process = Process::new(lane, self.buffers, self.now, beside);
            work.preroll(buffer, &process)
        });
        let shown = catch_unwind(shown).unwrap_or_else(|panic| Err(panicked(&*panic)));
        if let Err(error) = shown {
            self.stop(lane, slot, error);
        }
    }

    fn stop(self, lane: &mut Lane, slot: &mut WorkSlot, error: ElementError) {
        lane.changes = lane.changes.take().map(|_| Box::new(Changes::default()));
        slot.changes.clear();
        self.fail(lane, slot, error);
    }
}

/// Whether the oldest change can go on where it must.
fn has_room(lane: &Lane) -> bool {
    let due = lane.changes.as_ref().and_then(|c| c.due.front());
    let mut outputs = due.iter().flat_map(|d| &d.outputs);
    outputs.all(|&pad| lane.outputs.get(pad as usize).is_none_or(|o| o.room > 0))
}

/// Elements take all sets that were made; a change that went before them took a place.
fn sets_fit(lane: &Lane) -> bool {
    let room = lane.outputs.iter().map(|o| o.room as usize).min();
    let sets = lane.extras.sync.as_ref().map_or(0, |s| s.sets.len());
    lane.trigger != Trigger::Set || room.is_none_or(|room| sets <= room)
}

/// The oldest change takes effect. Whether buffers come from elsewhere now.
fn take_effect(lane: &mut Lane, slot: &mut WorkSlot) -> Result<bool, ElementError> {
    let Some(changes) = &mut lane.changes else {
        return Ok(false);
    };
    let Some(due) = changes.due.pop_front() else {
        return Ok(false);
    };
    changes.took_effect();
    if lane.trigger != Trigger::Set {
        for &pad in &due.inputs {
            if let Some(input) = lane.inputs.get_mut(pad as usize).filter(|i| !i.eos) {
                input.queue.pop();
            }
        }
    }
    if let Some(told) = slot.changes.pop_front() {
        tell(slot, &told)?;
    }
    for &pad in &due.outputs {
        if let Some(output) = lane.outputs.get_mut(pad as usize).filter(|o| !o.eos) {
            output.room = output.room.saturating_sub(1);
            output.staged.push(Item::caps(due.epoch));
        }
    }
    let Some(memory) = due.memory else {
        return Ok(false);
    };
    if lane.pool != memory.pool {
        changes.retired = lane.pool;
    }
    lane.pool = memory.pool;
    lane.in_place = memory.in_place;
    lane.heavy = memory.heavy;
    Ok(true)
}

/// Tells an element what changes for it.
pub(crate) fn tell(slot: &mut WorkSlot, told: &Told) -> Result<(), ElementError> {
    let work = &mut slot.work;
    let tell = || {
        if let Some(settings) = &told.settings {
            work.update(&**settings)?;
        }
        match &told.pads {
            Some(pads) => work.set_caps(pads),
            None => Ok(()),
        }
    };
    catch_unwind(AssertUnwindSafe(tell)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}
