//! A digest of a pipeline's whole state after a tick.
//!
//! Covered: tick, virtual time, each element's readiness, queues, ends, counters and own state,
//! each buffer's times, references and payload hash, each pool's free set. Not covered: what is
//! only told (how long something waits, high-water marks), and anything that depends on the
//! machine.

use crate::pipelines::PipelineWorks;
use tickpipe_components::digest::{StateHasher, StateVisitor};
use tickpipe_components::fabric::{Lane, PipelineFabric, RoomFor};

/// Computes the digest of this tick, and folds it into that of the run.
pub(super) fn digest(p: &mut PipelineFabric, works: &PipelineWorks) {
    let mut hash = StateHasher::new();
    hash.unsigned("graph", p.graph_hash);
    hash.unsigned("tick", p.tick);
    hash.signed("now", p.now);
    hash.unsigned("progress", p.progress as u64);
    // What is mostly not so is shown only where it is.
    if p.base_time != 0 {
        hash.signed("base", p.base_time);
    }
    if let Some((tick, now)) = p.paused_at {
        hash.unsigned("paused", tick);
        hash.signed("paused", now);
    }
    for (lane, slot) in p.lanes.iter().zip(&works.slots) {
        hash_lane(&mut hash, lane);
        slot.work.state(&mut hash);
        if let Some(outside) = &slot.outside {
            outside.state(&mut hash);
        }
    }
    if !p.events.is_empty() {
        p.events.visit(&mut hash);
    }
    for (lane, pad, event) in &p.upward {
        hash.unsigned("lane", u64::from(*lane));
        hash.unsigned("pad", u64::from(*pad));
        event.visit(&mut hash);
    }
    for i in 0..p.buffers.len() {
        hash_buffer(&mut hash, p, i);
    }
    for pool in &p.buffers.pools {
        for word in pool.free.words() {
            hash.unsigned("free", *word);
        }
    }
    p.digest = hash.digest();
    let mut run = StateHasher::new();
    run.unsigned("before", p.run_digest);
    run.unsigned("tick", p.digest);
    p.run_digest = run.digest();
}

fn hash_lane(hash: &mut StateHasher, lane: &Lane) {
    hash.unsigned("element", lane.element.0.into());
    hash.unsigned("readiness", lane.readiness.code());
    hash.unsigned("gate", lane.gate as u64);
    hash.flag("done", lane.done);
    hash.unsigned("dropped", lane.dropped);
    for kept in &lane.extras.kept {
        hash.unsigned("kept", kept.buffer.0.into());
    }
    for filling in &lane.extras.filling {
        hash.unsigned("filling", filling.buffer.0.into());
    }
    if let Some(time) = lane.extras.wake_at {
        hash.signed("wake", time);
        hash.flag("eager", lane.eager);
    }
    hash.flag("device", lane.device);
    hash.flag("again", lane.again);
    hash.flag("ending", lane.ending);
    hash.signed("awaits", lane.extras.awaits.map_or(-1, i64::from));
    for input in &lane.inputs {
        hash.unsigned("queued", input.queue.len() as u64);
        for item in input.queue.iter() {
            hash.unsigned("item", item.code());
        }
        hash.flag("eos", input.eos);
        hash.unsigned("taken", input.taken);
    }
    for output in &lane.outputs {
        hash.flag("eos", output.eos);
        hash.unsigned("emitted", output.emitted);
    }
    if lane.late || lane.shows {
        hash.flag("late", lane.late);
        hash.flag("shows", lane.shows);
    }
    if let Some(gap) = lane.extras.gap {
        hash.unsigned("gap", gap);
    }
    let last = lane.extras.timing.as_ref().and_then(|t| t.last);
    if let Some(last) = last.filter(|_| lane.timed) {
        hash.signed("last", last);
    }
    hash_changes(hash, lane);
    if let Some(watched) = &lane.extras.watched {
        watched.visit(hash);
    }
    if let Some(measures) = &lane.extras.measures {
        measures.visit(hash);
    }
    match lane.room_for {
        RoomFor::All => {}
        RoomFor::One(pad) => hash.unsigned("room", pad.into()),
        RoomFor::None => hash.flag("room", false),
    }
    if let Some(bounds) = &lane.extras.bounds {
        bounds.visit(hash);
    }
    if let Some(signals) = &lane.signals {
        signals.visit(hash);
    }
    if let Some(sync) = &lane.extras.sync {
        for input in &sync.inputs {
            hash.unsigned("phase", input.phase as u64);
            hash.unsigned("level", input.level.into());
            hash.flag("moved", input.moved);
            hash.signed("marker", input.marker.unwrap_or(i64::MIN));
            hash.signed("bound", input.bound.unwrap_or(i64::MIN));
            for frame in [input.current, input.next] {
                hash.signed("buffer", frame.map_or(-1, |f| f.buffer.0.into()));
                hash.signed("time", frame.map_or(0, |f| f.time));
            }
            hash.flag("ended", input.ended);
            hash.unsigned("taken", input.taken);
        }
        for set in &sync.sets {
            hash.signed("pts", set.pts);
            for frame in &set.frames {
                hash.signed("buffer", frame.map_or(-1, |b| b.0.into()));
            }
        }
    }
}

/// Changes that did not take effect yet. Where there is none, nothing.
fn hash_changes(hash: &mut StateHasher, lane: &Lane) {
    let Some(changes) = &lane.changes else {
        return;
    };
    for due in &changes.due {
        hash.unsigned("epoch", due.epoch.into());
    }
    for (from, epoch) in changes.epochs() {
        hash.unsigned("from", from);
        hash.unsigned("epoch", epoch.into());
    }
    if let Some((pad, caps)) = &changes.asked {
        hash.unsigned("pad", u64::from(*pad));
        hash.bytes("caps", caps.to_string().as_bytes());
    }
    hash.flag("refused", changes.refused);
    if let Some(switch) = changes.switch {
        hash.unsigned("sets", switch.sets.into());
        hash.unsigned("count", switch.count.into());
    }
    if let Some(pool) = changes.retired {
        hash.unsigned("retired", pool.0.into());
    }
}

fn hash_buffer(hash: &mut StateHasher, p: &PipelineFabric, i: usize) {
    let meta = &p.buffers.meta[i];
    hash.unsigned("refs", p.buffers.refs[i].into());
    for time in [meta.pts, meta.dts, meta.duration] {
        hash.flag("known", time.is_some());
        hash.signed("time", time.unwrap_or_default());
    }
    hash.unsigned("num", meta.time_base.num().into());
    hash.unsigned("den", meta.time_base.den().into());
    hash.unsigned("index", meta.index);
    hash.unsigned("len", meta.len as u64);
    hash.unsigned("flags", meta.flags.bits().into());
    hash.unsigned("payload", p.buffers.payload[i]);
}
