//! Phase 10: what happened this tick: messages to the bus, EOS folding, stalls, digests, buffers
//! that do not come back, and whether all holds that always does.
//!
//! It may touch the bus and a pipeline's progress; lanes are only read.

mod digest;
pub mod invariants;
mod leaks;
mod names;

use crate::pipelines::{Works, each_with_works};
use crate::state::{Graphs, prerolled};
use bevy_ecs::system::{Local, Query, Res, ResMut};
use tickpipe_components::bus::Bus;
use tickpipe_components::fabric::{Fabric, Gate, Lane, Output, PipelineFabric, Posted, Progress};
use tickpipe_components::graph::{Pad, Pipeline};
use tickpipe_components::limits::Limits;
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::readiness::Readiness;

/// The report phase; [`invariants::invariants`] comes next where that is asked for, and [`post`] last.
pub fn report(mut fabric: ResMut<Fabric>, mut works: ResMut<Works>) {
    each_with_works(&mut fabric, &mut works, |p, w, _| {
        fold(p);
        if p.digesting {
            digest::digest(p, w);
        }
    });
}

/// The end of the report phase: buffers that do not come back are told, and the tick's messages go
/// to the buses.
pub fn post(
    mut fabric: ResMut<Fabric>,
    limits: Res<Limits>,
    graphs: Res<Graphs>,
    pads: Query<&'static Pad>,
    mut placed: Local<Vec<bool>>,
    pipelines: Query<&Pipeline>,
    mut buses: Query<&mut Bus>,
) {
    leaks::leaks(&mut fabric, &limits, &graphs, &pads, &mut placed);
    let start = fabric.window.start;
    for (i, p) in fabric.active().iter_mut().enumerate() {
        if p.messages.is_empty() {
            continue;
        }
        let bus = graphs
            .pipelines
            .get(start + i)
            .and_then(|&entity| pipelines.get(entity).ok())
            .and_then(|pipeline| buses.get_mut(pipeline.bus).ok());
        if let Some(mut bus) = bus {
            for message in p.messages.drain(..) {
                bus.post(message);
            }
        }
    }
}

/// Turns what elements posted into messages, one EOS for all sinks, and notices a stall.
fn fold(p: &mut PipelineFabric) {
    let running = p.progress == Progress::Running;
    for at in 0..p.posting.len() {
        let lane = p.posting[at] as usize;
        let Some(extra) = p.lanes[lane].extras.made() else {
            continue;
        };
        let mut posted = core::mem::take(&mut extra.posted);
        for what in posted.drain(..) {
            let mut element = Some(p.lanes[lane].element);
            let kind = match what {
                Posted::Eos => {
                    p.live_sinks = p.live_sinks.saturating_sub(1);
                    continue;
                }
                Posted::Error(domain, code) => {
                    p.failing = true;
                    let l = &p.lanes[lane];
                    p.live_sinks -= u32::from(l.is_sink() && l.done).min(p.live_sinks);
                    MessageKind::Error(domain, code)
                }
                Posted::Warning(domain, code) => MessageKind::Warning(domain, code),
                Posted::Occurrence(occurrence) => MessageKind::Occurrence(occurrence),
                Posted::Before(at, occurrence) => {
                    element = Some(at);
                    MessageKind::Occurrence(occurrence)
                }
            };
            p.messages.push(Message {
                tick: p.tick,
                element,
                kind,
            });
        }
        p.lanes[lane].extras.make().posted = posted;
    }
    p.posting.clear();
    if !running {
        return;
    }
    let pipeline_message = |p: &mut PipelineFabric, kind| {
        let tick = p.tick;
        p.messages.push(Message {
            tick,
            element: None,
            kind,
        });
    };
    if p.live_sinks == 0 && p.failing {
        p.progress = Progress::Failed;
        return;
    }
    if p.live_sinks == 0 {
        p.progress = Progress::Ended;
        pipeline_message(p, MessageKind::Eos);
        return;
    }
    p.idle = p.ready.is_empty()
        && p.touched.is_empty()
        && p.timers.is_empty()
        && !p.renegotiate
        && p.upward.is_empty()
        && p.asked_state.is_none();
    if !p.idle || prerolled_and_held(p) || awaits_somebody(p) {
        return;
    }
    if p.failing {
        p.progress = Progress::Failed;
    } else if !end_silent_sources(p) && !waive_flushed(p) {
        p.progress = Progress::Stalled;
        pipeline_message(p, MessageKind::Stalled);
    }
}

/// Sources that say that nothing may ever come, and have nothing to say while nobody else can go on,
/// end. Whether there is one.
fn end_silent_sources(p: &mut PipelineFabric) -> bool {
    let silent = |l: &Lane| {
        let mut outputs = l.outputs.iter();
        let declared = |o: &Output| p.lanes[o.to.0.index()].inputs[o.to.1 as usize].may_be_silent;
        l.readiness == Readiness::Silent && l.inputs.is_empty() && outputs.any(declared)
    };
    let lanes = (0u32..).zip(&p.lanes);
    let found: Vec<u32> = lanes.filter(|(_, l)| silent(l)).map(|(i, _)| i).collect();
    for &lane in &found {
        p.lanes[lane as usize].ending = true;
        p.touch(lane);
    }
    !found.is_empty()
}

/// In PAUSED a sink whose way alone was flushed is waited for no more where nothing can come to it:
/// others hold what there is. Whether there is one.
fn waive_flushed(p: &mut PipelineFabric) -> bool {
    if p.sink_gate != Gate::Hold {
        return false;
    }
    let mut found = false;
    for at in 0..p.sinks.len() {
        let sink = &mut p.lanes[p.sinks[at] as usize];
        let waits = sink.extras.flushed.is_some() && !sink.done && !sink.late;
        sink.late |= waits;
        found |= waits;
    }
    p.attention |= found;
    found
}

/// Whether somebody outside can wake an element: it waits for its device, or for the end of a flush.
fn awaits_somebody(p: &PipelineFabric) -> bool {
    let awaits = |l: &Lane| l.readiness == Readiness::Device || l.gate == Gate::Flushing;
    p.lanes.iter().any(awaits)
}

/// In PAUSED nothing is to be done until the state changes: sources are stopped, or every sink
/// holds its first item.
fn prerolled_and_held(p: &PipelineFabric) -> bool {
    p.source_gate == Gate::Closed || (p.sink_gate == Gate::Hold && prerolled(p))
}
