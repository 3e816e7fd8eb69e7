//! Whether PAUSED is complete: every sink holds its first buffer, or its end, or may never get one.

use super::{fabric_of, post, settle};
use bevy_ecs::world::World;
use tickpipe_components::fabric::{Gate, Input, PipelineFabric, Progress};
use tickpipe_components::id::PipelineId;
use tickpipe_components::message::MessageKind;

/// Whether a pipeline is on its way to PAUSED, with a sink that has nothing to hold yet.
pub(crate) fn prerolling(p: &PipelineFabric) -> bool {
    let running = p.progress == Progress::Running && p.source_gate == Gate::Open;
    running && p.sink_gate == Gate::Hold && !prerolled(p)
}

/// Whether every sink of a pipeline in PAUSED holds its first item, or is done, or may never get
/// one. A live source makes it so at once.
pub(crate) fn prerolled(p: &PipelineFabric) -> bool {
    let mut sinks = p.sinks.iter().map(|&s| &p.lanes[s as usize]);
    let holds = |i: &Input| i.queue.front_behind_marks().is_some();
    p.live
        || sinks.all(|l| {
            let silent = l.inputs.iter().all(|i| i.may_be_silent);
            // One that plays already, as a step that failed left it, holds nothing.
            let plays = l.gate == Gate::Open;
            l.done || l.late || silent || plays || l.inputs.iter().any(holds)
        })
}

/// Whether PAUSED is complete: every sink holds its first buffer or its end, or never gets one.
pub fn is_prerolled(p: &PipelineFabric) -> bool {
    !prerolling(p)
}

/// Nothing more is asked for: whether all that was is complete.
pub(super) fn look(world: &mut World, id: PipelineId) {
    let Some(mut p) = fabric_of(world, id) else {
        return;
    };
    if prerolling(&p) {
        p.asynchronous = true;
        return;
    }
    done(world, id);
    settle(world, id);
}

/// What had to wait is complete; that is told once.
pub(super) fn done(world: &mut World, id: PipelineId) {
    let waited =
        |mut p: bevy_ecs::world::Mut<'_, PipelineFabric>| core::mem::take(&mut p.asynchronous);
    if fabric_of(world, id).is_some_and(waited) {
        post(world, id, None, MessageKind::AsyncDone);
    }
}
