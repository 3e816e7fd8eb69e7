//! What a report says of elements, also of those that were taken out while the graph ran.
//!
//! Of each element holds: what was sent to it is `buffers_in + queued + discarded`; and of a graph:
//! all `buffers_out` less all `unlinked` are all of these three.

use super::{FrameReport, SinkReport, TallyReport, TimingReport, base};
use crate::build::{ElementHandle, PipelineHandle};
use crate::engine::Engine;
use crate::stall::{WaitReport, Waits};
use serde::Serialize;
use std::collections::BTreeMap;
use tickpipe_components::fabric::{Lane, Measured, Measures, PipelineFabric};
use tickpipe_components::graph::{Element, Parent, Place};
use tickpipe_components::id::ElementId;
use tickpipe_components::readiness::Readiness;
use tickpipe_components::state::State;
use tickpipe_components::time::TimeBase;
use tickpipe_systems::negotiate::Plug;
use tickpipe_systems::state::Graphs;

/// An element.
#[derive(Clone, Debug, Serialize)]
pub struct ElementReport {
    /// Its name.
    pub name: String,
    /// Its class.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its state when the run ended.
    pub state: String,
    /// It was taken out while the graph ran; the rest is what it had done until then.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub removed: bool,
    /// Buffers that it took, on all pads.
    pub buffers_in: u64,
    /// Buffers that stood in its queues, which it had not taken.
    pub queued: u64,
    /// Buffers that were sent to it and let go before it took them: because they were late, flushed,
    /// too many for a queue that leaks, or because it worked no more or was taken out.
    pub discarded: u64,
    /// Buffers that it passed on, over all pads.
    pub buffers_out: u64,
    /// Those of them that it sent where nothing was linked any more.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlinked: u64,
    /// Buffers that it let go without passing them on or, where it synchronises inputs, showing
    /// them: those that `sync` counts per input and those of `discarded` are in it.
    pub dropped: u64,
    /// What happened to buffers and was told, and how often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub occurrences: Vec<TallyReport>,
    /// Buffers that it copied because another element held them too.
    pub copied: u64,
    /// Bytes of those copies.
    pub copied_bytes: u64,
    /// Whether it could run, or why not: `ready`, `done`, or what it waits for.
    pub readiness: String,
    /// Since which tick that has been so.
    pub since: u64,
    /// The wait, if it waits.
    pub waits_for: Option<WaitReport>,
    /// What passed through it, where it tells that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watched: Option<WatchedReport>,
    /// What it measured, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<MeasuresReport>,
}

/// Figures of an element: of each frame and of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuresReport {
    /// How many frames were measured.
    pub count: u64,
    /// Of all frames, by name.
    pub total: BTreeMap<String, Figure>,
    /// Of each frame, where frames are reported.
    pub frames: Vec<MeasuredReport>,
}

/// Figures of a frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredReport {
    /// Its time.
    pub pts: i64,
    /// The unit of that.
    pub time_base: [u32; 2],
    /// By name.
    pub values: BTreeMap<String, Figure>,
}

/// A figure; what is beyond all numbers is written `"inf"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure(pub f64);

impl Serialize for Figure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_finite() {
            true => serializer.serialize_f64(self.0),
            false => serializer.serialize_str("inf"),
        }
    }
}

fn measures_of(measures: &Measures) -> MeasuresReport {
    let frame = |f: &Measured| MeasuredReport {
        pts: f.pts,
        time_base: base(f.time_base),
        values: measures
            .names
            .iter()
            .zip(&f.values)
            .map(|(name, &value)| (name.clone(), Figure(value)))
            .collect(),
    };
    let total = measures.total.iter();
    MeasuresReport {
        count: measures.count,
        total: total.map(|(n, v)| (n.clone(), Figure(*v))).collect(),
        frames: measures.frames.iter().map(frame).collect(),
    }
}

/// What passed through an element that tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchedReport {
    /// Buffers.
    pub buffers: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events.
    pub events: u64,
    /// What came last, a line each, oldest first.
    pub last: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What is known of an element by its name and class alone.
fn element((name, kind): (&str, &str), lane: Option<&Lane>) -> ElementReport {
    let count = |of: fn(&Lane) -> u64| lane.map_or(0, of);
    let tally = lane.iter().flat_map(|l| l.extras.tally.iter());
    let watched = lane.and_then(|l| l.extras.watched.as_deref());
    // Who became done in the last tick could run in it.
    let readiness = lane.map_or(Readiness::Held, |l| match l.done {
        true => Readiness::Done,
        false => l.readiness,
    });
    ElementReport {
        name: name.to_owned(),
        kind: kind.to_owned(),
        state: State::Ready.name().to_owned(),
        removed: false,
        buffers_in: count(Lane::buffers_in),
        queued: count(Lane::queued),
        discarded: count(Lane::discarded),
        buffers_out: count(Lane::buffers_out),
        unlinked: count(|l| l.extras.before.1),
        dropped: count(Lane::dropped_in_all),
        occurrences: tally
            .map(|(reason, deed, count)| TallyReport {
                reason: reason.name(),
                deed: deed.name(),
                count,
            })
            .collect(),
        copied: count(|l| l.extras.copied.0),
        copied_bytes: count(|l| l.extras.copied.1),
        readiness: readiness.name().to_owned(),
        since: count(|l| l.since),
        waits_for: None,
        watched: watched.map(|w| WatchedReport {
            buffers: w.buffers,
            bytes: w.bytes,
            events: w.events,
            last: w.last().map(ToString::to_string).collect(),
        }),
        measures: lane
            .and_then(|l| l.extras.measures.as_deref())
            .map(measures_of),
    }
}

/// What a lane sent where nothing is linked now.
fn sent_nowhere(p: &PipelineFabric, lane: &Lane) -> u64 {
    let plugged = |to: usize| p.lanes.get(to).is_some_and(|l| l.plug);
    let outputs = lane.outputs.iter().filter(|o| plugged(o.to.0.index()));
    outputs.map(|o| o.emitted).sum()
}

/// A sink.
pub(super) fn sink(name: &str, lane: &Lane, ended: bool) -> SinkReport {
    let frames = lane.extras.frames.iter().flatten();
    let first = lane.extras.frames.iter().flatten().next();
    let unit = first.map_or(TimeBase::default(), |f| f.time_base);
    let timing = lane.extras.timing.as_ref().filter(|_| lane.timed);
    SinkReport {
        name: name.to_owned(),
        buffers: lane.buffers_in(),
        eos: ended,
        time_base: base(unit),
        timing: timing.map(|t| TimingReport {
            late: t.late,
            max_late: t.max_late,
            latency: t.latency,
        }),
        frames: frames
            .map(|f| FrameReport {
                pts: f.pts,
                hash: format!("{:016x}", f.hash),
                time_base: (f.time_base != unit).then(|| base(f.time_base)),
            })
            .collect(),
    }
}

impl Engine {
    pub(super) fn element_reports(&self, pipeline: PipelineHandle) -> Vec<ElementReport> {
        let fabric = self.fabric(pipeline);
        let graphs = self.world.resource::<Graphs>();
        let running = graphs.running(pipeline.id).zip(fabric);
        let waits = running.map(|(topology, p)| Waits::new(&self.world, topology, p));
        let of = |entity| {
            let info = self.world.get::<Element>(entity);
            let names = info.map_or(("", ""), |e| (e.name.as_str(), e.kind));
            let place = self.world.get::<Place>(entity).map(|p| p.lane.index());
            let lane = place.and_then(|at| fabric?.lanes.get(at));
            let mut told = element(names, lane);
            if let (Some(p), Some(lane)) = (fabric, lane) {
                told.unlinked += sent_nowhere(p, lane);
            }
            let state = self.world.get::<State>(entity).copied();
            state.unwrap_or_default().name().clone_into(&mut told.state);
            told.waits_for = place.zip(waits.as_ref()).and_then(|(at, w)| w.wait_of(at));
            (info.map(|e| e.id), told)
        };
        let members = self.elements(pipeline).into_iter();
        let mut all: Vec<(Option<ElementId>, ElementReport)> =
            members.map(|ElementHandle(entity)| of(entity)).collect();
        // Where all elements were taken out at once the graph was left as it was.
        let nodes = running.iter().flat_map(|(topology, _)| &topology.nodes);
        let gone = nodes.map(|n| n.entity).filter(|&entity| {
            let out = self.world.get::<Parent>(entity).is_none();
            out && self.world.get::<Plug>(entity).is_none()
        });
        let gone = gone.map(of);
        let left = fabric.iter().flat_map(|p| &p.left.told).map(|l| {
            let told = element((&l.name, l.kind), Some(&l.lane));
            (Some(l.lane.element), told)
        });
        all.extend(gone.chain(left).map(|(id, told)| {
            let removed = true;
            (id, ElementReport { removed, ..told })
        }));
        all.sort_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, told)| told).collect()
    }
}
