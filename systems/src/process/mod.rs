//! Phase 7: runs the ready elements, on several threads where that pays.
//!
//! It may touch lanes and elements at work; buffers that are not granted are only read. A panic
//! of an element is caught and fails its pipeline, no other.

pub(crate) mod change;
mod event;
mod late;

use crate::element::{Now, Process};
use crate::pipelines::{PipelineWorks, WorkSlot, Works, each_with_works};
use bevy_ecs::system::ResMut;
use std::panic::{AssertUnwindSafe, catch_unwind};
use thiserror::Error;
use tickpipe_components::fabric::{
    BufferTable, Events, Fabric, Gate, Lane, PipelineFabric, Posted, Trigger,
};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::sync::SyncError;

/// What a caught panic said.
#[derive(Clone, Debug, Error)]
#[error("the element panicked: {0}")]
pub struct Panicked(String);

/// The process phase.
pub fn process(mut fabric: ResMut<Fabric>, mut works: ResMut<Works>) {
    each_with_works(&mut fabric, &mut works, pipeline);
}

fn pipeline(p: &mut PipelineFabric, works: &mut PipelineWorks, parallel: bool) {
    let now = Now {
        tick: p.tick,
        time: p.now,
        base: p.base_time,
        free: p.free,
        wall: p.wall,
        recording: p.recording,
    };
    if !p.upward.is_empty() {
        event::upward(p, works, now);
    }
    let PipelineFabric {
        lanes,
        buffers,
        events,
        ready,
        ..
    } = p;
    let run = Run {
        buffers,
        events,
        now,
    };
    if parallel && ready.iter().filter(|l| lanes[**l as usize].heavy).count() > 1 {
        run.split(lanes, &mut works.slots, 0, ready);
    } else {
        run.one_by_one(lanes, &mut works.slots, 0, ready);
    }
}

/// The stamp that ended a synchroniser's work, once the sets before it are processed.
#[inline]
fn sync_error(lane: &mut Lane) -> Option<ElementError> {
    match lane.trigger {
        Trigger::Set => error_of_set(lane),
        _ => None,
    }
}

#[inline(never)]
fn error_of_set(lane: &mut Lane) -> Option<ElementError> {
    let sync = lane
        .extras
        .made()?
        .sync
        .as_mut()
        .filter(|s| s.sets.is_empty())?;
    sync.error.take().map(stamp_error)
}

/// A stamp that a synchroniser could not use, as its element's failure.
fn stamp_error(error: SyncError) -> ElementError {
    let code = match error {
        SyncError::NoTime { .. } => Code::NoTimestamp,
        SyncError::TooFar { .. } => Code::Damaged,
        SyncError::NoLevel | SyncError::Inputs { .. } => Code::Refused,
        SyncError::EndedEarly { .. } => Code::Truncated,
    };
    ElementError::new(Domain::Stream, code, error)
}

/// A caught panic, as its element's failure.
pub(crate) fn panicked(panic: &(dyn core::any::Any + Send)) -> ElementError {
    let text = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_else(|| "without a message".to_owned());
    ElementError::new(Domain::Core, Code::Panic, Panicked(text))
}

/// What all elements of a pipeline share in a tick.
#[derive(Clone, Copy)]
struct Run<'a> {
    buffers: &'a BufferTable,
    events: &'a Events,
    now: Now,
}

impl Run<'_> {
    /// Runs `ready` lanes; the slices begin at lane `base`.
    fn one_by_one(self, lanes: &mut [Lane], slots: &mut [WorkSlot], base: usize, ready: &[u32]) {
        for &lane in ready {
            let at = lane as usize - base;
            self.element(&mut lanes[at], &mut slots[at]);
        }
    }

    /// Halves the ready lanes until a piece has at most one heavy one.
    fn split(self, lanes: &mut [Lane], slots: &mut [WorkSlot], base: usize, ready: &[u32]) {
        let heavy = ready
            .iter()
            .filter(|l| lanes[**l as usize - base].heavy)
            .count();
        if heavy < 2 {
            return self.one_by_one(lanes, slots, base, ready);
        }
        // The middle of the heavy ones, not of all: light ones cost nothing.
        let mut seen = 0;
        let middle = ready
            .iter()
            .position(|l| {
                seen += usize::from(lanes[*l as usize - base].heavy);
                seen > heavy / 2
            })
            .unwrap_or(ready.len() / 2);
        let (left, right) = ready.split_at(middle);
        let Some(&first) = right.first() else {
            return self.one_by_one(lanes, slots, base, ready);
        };
        let cut = first as usize - base;
        let (left_lanes, right_lanes) = lanes.split_at_mut(cut);
        let (left_slots, right_slots) = slots.split_at_mut(cut);
        rayon::join(
            || self.split(left_lanes, left_slots, base, left),
            || self.split(right_lanes, right_slots, first as usize, right),
        );
    }

    #[inline]
    fn element(self, lane: &mut Lane, slot: &mut WorkSlot) {
        if lane.changes.is_some() || lane.marked > 0 || lane.gate == Gate::Hold {
            return self.changing(lane, slot);
        }
        self.work(lane, slot);
    }

    #[inline(always)]
    fn work(self, lane: &mut Lane, slot: &mut WorkSlot) {
        if let Some(error) = sync_error(lane) {
            return self.fail(lane, slot, error);
        }
        if lane.ending {
            return lane.finish();
        }
        if lane.timed && lane.gate == Gate::Open && self.too_late(lane) {
            return;
        }
        if let Some(extra) = lane.extras.made() {
            (extra.wake_at, extra.awaits) = (None, None);
            (extra.awaits_room, extra.owes) = (None, false);
        }
        lane.eager = false;
        lane.again = false;
        lane.device = false;
        let (work, beside) = slot.at_work();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            work.process(&mut Process::new(lane, self.buffers, self.now, beside))
        }));
        let outcome = outcome.unwrap_or_else(|panic| Err(panicked(&*panic)));
        let error = outcome.err().or_else(|| sync_error(lane));
        if let Some(error) = error {
            self.fail(lane, slot, error);
        }
    }

    fn fail(self, lane: &mut Lane, slot: &mut WorkSlot, error: ElementError) {
        tracing::error!(
            tick = self.now.tick,
            element = &*slot.name,
            domain = error.domain.name(),
            code = error.code.name(),
            "{}",
            error.detail
        );
        lane.extras
            .make()
            .posted
            .push(Posted::Error(error.domain, error.code));
        // What it passed on before still reaches the sinks, and then the end.
        lane.end_outputs();
        lane.done = true;
        slot.fault = Some(error);
    }
}
