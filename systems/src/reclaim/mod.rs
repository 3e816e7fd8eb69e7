//! Phase 9: applies dropped references; a buffer that nobody holds returns to its pool.
//!
//! It may touch reference counts, free sets, times and flags. Pools hand out the lowest free
//! buffer, so the order of returns makes no difference.

use crate::pipelines::each;
use bevy_ecs::system::ResMut;
use tickpipe_components::fabric::{Fabric, PipelineFabric};
use tickpipe_components::readiness::Readiness;

/// The reclaim phase.
pub fn reclaim(mut fabric: ResMut<Fabric>) {
    each(&mut fabric, pipeline);
}

fn pipeline(p: &mut PipelineFabric) {
    for at in 0..p.ready.len() {
        let lane = p.ready[at];
        lane_releases(p, lane);
        drain_if_done(p, lane);
    }
    while let Some(lane) = p.releasing.pop() {
        lane_releases(p, lane);
    }
}

#[inline]
fn lane_releases(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    if l.released.is_empty() {
        return;
    }
    let mut released = core::mem::take(&mut l.released);
    for buffer in released.drain(..) {
        let i = buffer.index();
        let refs = &mut p.buffers.refs[i];
        debug_assert!(*refs > 0, "a buffer that nobody holds was released");
        *refs = refs.saturating_sub(1);
        if *refs > 0 {
            continue;
        }
        p.buffers.meta[i].reset();
        let pool = &mut p.pools[p.buffers.pool[i].index()];
        pool.free.insert(buffer.0 - pool.first.0);
        let owner = pool.owner;
        if matches!(p.lanes[owner.index()].readiness, Readiness::Buffer(_)) {
            p.touched.insert(owner.0);
        }
    }
    p.lanes[lane as usize].released = released;
}

/// What is still queued for a lane that works no more is dropped and counted.
fn drain_if_done(p: &mut PipelineFabric, lane: u32) {
    let l = &mut p.lanes[lane as usize];
    if !l.done {
        return;
    }
    for i in 0..l.inputs.len() {
        while let Some(item) = l.inputs[i].queue.pop() {
            if let Some(buffer) = item.as_buffer() {
                l.dropped += 1;
                l.released.push(buffer);
            }
        }
    }
    lane_releases(p, lane);
    for i in 0..p.lanes[lane as usize].inputs.len() {
        let from = p.lanes[lane as usize].inputs[i].from.0;
        p.touched.insert(from.0);
    }
}
