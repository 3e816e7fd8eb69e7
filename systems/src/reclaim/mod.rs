//! Phase 9: applies dropped references; a buffer that nobody holds returns to its pool.
//!
//! It may touch reference counts, free sets, times and flags. Pools hand out the lowest free
//! buffer, so the order of returns makes no difference.

pub(crate) mod queues;

use crate::pipelines::each;
use bevy_ecs::system::ResMut;
use tickpipe_components::fabric::{Fabric, PipelineFabric};

/// The reclaim phase.
pub fn reclaim(mut fabric: ResMut<Fabric>) {
    each(&mut fabric, pipeline);
}

fn pipeline(p: &mut PipelineFabric) {
    if !p.bounded.is_empty() {
        queues::look(p);
    }
    release(p);
    if !p.retired.is_empty() {
        drop_retired(p);
    }
    if p.ready.is_empty() && p.touched.is_empty() && !p.bounded.is_empty() {
        queues::leak(p);
        release(p);
    }
}

fn release(p: &mut PipelineFabric) {
    while let Some(lane) = p.releasing.pop() {
        lane_releases(p, lane);
        close_if_done(p, lane);
    }
}

/// Lets go of the memory of pools that nobody takes from any more, once all their buffers are
/// home.
fn drop_retired(p: &mut PipelineFabric) {
    let PipelineFabric {
        retired, buffers, ..
    } = p;
    retired.retain(|&pool| {
        // Nobody waits for a pool that is not used any more.
        let _ = buffers.decommit(pool, |_| {});
        !buffers.drop_memory(pool)
    });
}

#[inline]
fn lane_releases(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    if l.released.is_empty() {
        return;
    }
    let mut released = core::mem::take(&mut l.released);
    for buffer in released.drain(..) {
        let touched = &mut p.touched;
        let known = p.buffers.release(buffer, |lane| touched.insert(lane.0));
        debug_assert_eq!(known, Ok(()), "a buffer that nobody holds was released");
    }
    p.lanes[lane as usize].released = released;
}

/// A lane that works no more lets go of what is queued for it, and so does whoever feeds only
/// lanes like it: an end goes upstream too, so that nobody makes what nobody takes.
fn close_if_done(p: &mut PipelineFabric, lane: u32) {
    if !p.lanes[lane as usize].done {
        return;
    }
    p.closing.push(lane);
    p.renegotiate |= p.leaving;
    while let Some(lane) = p.closing.pop() {
        let l = &mut p.lanes[lane as usize];
        for pad in 0..l.inputs.len() {
            l.inputs[pad].queue.set_allowance(u32::MAX);
            while let Some(item) = l.inputs[pad].queue.pop() {
                if let Some(buffer) = item.as_buffer() {
                    l.drop_unused(pad, buffer);
                }
                if let Some(number) = item.as_event() {
                    p.events.remove(number);
                }
            }
        }
        l.marked = 0;
        if let Some(changes) = l.changes.take() {
            p.renegotiate |= p.editing;
            p.retired.extend(changes.retired);
            for due in &changes.due {
                l.change_at_end(due, |pool| p.retired.push(pool));
            }
        }
        if let Some(extra) = l.extras.made() {
            let released = &mut l.released;
            released.extend(extra.kept.drain(..).map(|k| k.buffer));
            while let Some(filling) = extra.filling.pop() {
                p.buffers.memory[filling.buffer.index()] = Some(filling.memory);
                released.push(filling.buffer);
            }
            if let Some(sync) = &mut extra.sync {
                sync.finish(&mut |b| released.push(b));
                while let Some(set) = sync.sets.pop_front() {
                    released.extend(set.frames.into_iter().flatten());
                }
            }
        }
        lane_releases(p, lane);
        for i in 0..p.lanes[lane as usize].inputs.len() {
            let from = p.lanes[lane as usize].inputs[i].from.0;
            // It has room for all now.
            p.touched.insert(from.0);
            let feeder = &p.lanes[from.index()];
            let wanted = |o: &tickpipe_components::fabric::Output| !p.lanes[o.to.0.index()].done;
            if !feeder.done && !feeder.outputs.iter().any(wanted) {
                p.lanes[from.index()].done = true;
                p.touched.insert(from.0);
                p.closing.push(from.0);
            }
        }
    }
}
