//! Phase 11: virtual time moves only when the present instant is exhausted, straight to the next
//! deadline; then the tick is over.

use bevy_ecs::system::ResMut;
use tickpipe_components::fabric::{Fabric, Gate, PipelineFabric, Progress};
use tickpipe_components::readiness::Readiness;

/// The advance phase.
pub fn advance(mut fabric: ResMut<Fabric>) {
    for p in fabric.active() {
        // With the real clock, which runs in PLAYING, something may come from outside before the next
        // deadline.
        let waits = p.wall && p.waiting_outside > 0 && p.sink_gate == Gate::Open;
        let still = p.ready.is_empty() && p.touched.is_empty() && !waits;
        if p.progress == Progress::Running && still {
            to_next_deadline(p);
        }
        p.tick += 1;
    }
}

fn to_next_deadline(p: &mut PipelineFabric) {
    let PipelineFabric {
        timers, lanes, now, ..
    } = p;
    let deadline = |lane: u32| match lanes[lane as usize].readiness {
        Readiness::Time(t) => Some(t),
        _ => None,
    };
    let Some(next) = timers.iter().filter_map(deadline).min() else {
        return;
    };
    *now = next.max(*now);
    wake_due(p);
}

/// Marks those whose time has come.
pub fn wake_due(p: &mut PipelineFabric) {
    let PipelineFabric {
        timers,
        lanes,
        touched,
        now,
        ..
    } = p;
    let deadline = |lane: u32| match lanes[lane as usize].readiness {
        Readiness::Time(t) => Some(t),
        _ => None,
    };
    for lane in timers.iter() {
        if deadline(lane).is_some_and(|t| t <= *now) {
            touched.insert(lane);
        }
    }
}
