//! What a run did, as plain data that serialises to the JSON of `--report`.
//!
//! Times are exact: a value and its time base. Nothing in it depends on the machine.

mod elements;
mod messages;

pub use elements::{ElementReport, Figure, MeasuredReport, MeasuresReport, WatchedReport};
pub(crate) use messages::{Listed, Names};
pub use messages::{MessageReport, OccurrenceReport, TallyReport};

use crate::build::PipelineHandle;
use crate::conflict::ConflictReport;
use crate::engine::Engine;
use crate::stall::{StallReport, Waits, stall_of};
use serde::Serialize;
use tickpipe_components::fabric::{PipelineFabric, Progress};
use tickpipe_components::graph::{Pad, PadCaps};
use tickpipe_components::readiness::Readiness;
use tickpipe_components::time::TimeBase;
use tickpipe_systems::negotiate::Plug;
use tickpipe_systems::state::{Graphs, Topology};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every sink reached its end.
    Done,
    /// Something failed.
    Failed,
    /// Nobody could move and nothing was awaited.
    Stalled,
    /// It ended as it should, and something expected of it did not hold.
    ExpectationMissed,
}

impl Verdict {
    /// Its name in reports and scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Done => "done",
            Verdict::Failed => "failed",
            Verdict::Stalled => "stalled",
            Verdict::ExpectationMissed => "expectation-missed",
        }
    }
}

/// What a run did.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How it ended.
    pub verdict: Verdict,
    /// Ticks that it took.
    pub ticks: u64,
    /// A digest of the whole run, 16 hexadecimal digits: of every tick's state, if digests were
    /// asked for, else of the graph and what came out of it.
    pub digest: String,
    /// Elements by id, also those that were taken out while it ran.
    pub elements: Vec<ElementReport>,
    /// How many more were taken out.
    #[serde(skip_serializing_if = "is_zero")]
    pub removed_left_out: u64,
    /// Links in graph order.
    pub links: Vec<LinkReport>,
    /// The element that kept the others waiting longest, of the clock's time: it limits the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<String>,
    /// Pools in graph order.
    pub pools: Vec<PoolReport>,
    /// Synchronised elements.
    pub sync: Vec<SyncReport>,
    /// Sinks.
    pub sinks: Vec<SinkReport>,
    /// How long it takes from live sources to sinks, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyReport>,
    /// Messages in the order in which they were posted.
    pub messages: Vec<MessageReport>,
    /// The pads that could not agree, if that is why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictReport>,
    /// What was found not to hold that always does, if that is why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invariant: Option<BreachReport>,
    /// Buffers that did not come back for a long time, or at all, in order of the ticks in which
    /// that was told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaks: Vec<LeakReport>,
    /// How many more there were.
    #[serde(skip_serializing_if = "is_zero")]
    pub leaks_left_out: u64,
    /// Who waits for whom, and why, if it stalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<StallReport>,
}

/// A link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkReport {
    /// The source pad, as `element.pad`.
    pub from: String,
    /// The sink pad.
    pub to: String,
    /// What was agreed.
    pub caps: String,
    /// How bytes get over it: `push`, `pull` or `device`.
    pub transport: &'static str,
    /// For how long the element that feeds it waited because it had no room.
    #[serde(skip_serializing_if = "WaitedReport::is_none")]
    pub waited: WaitedReport,
}

/// For how long an element waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WaitedReport {
    /// Nanoseconds of the clock; 0 with `free`.
    pub time: i64,
    /// Ticks.
    pub ticks: u64,
}

impl WaitedReport {
    fn is_none(&self) -> bool {
        *self == WaitedReport::default()
    }
}

/// A pool.
#[derive(Clone, Debug, Serialize)]
pub struct PoolReport {
    /// The pad that owns it, as `element.pad`.
    pub name: String,
    /// Buffers that it has.
    pub buffers: u32,
    /// Bytes of each.
    pub size: usize,
    /// Alignment of each.
    pub align: usize,
    /// The most that were ever out at once.
    pub high_water: u32,
    /// Buffers that are out.
    pub out: u32,
}

/// Something that always holds did not: docs/invariants.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreachReport {
    /// Its stable name.
    pub id: String,
    /// The tick at whose end that was found.
    pub tick: u64,
    /// The elements that it concerns.
    pub elements: Vec<String>,
    /// The buffers that it concerns, as `element.pad[slot]`.
    pub buffers: Vec<String>,
    /// What was found.
    pub text: String,
}

/// A buffer that did not come back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeakReport {
    /// Its pool, as `element.pad`.
    pub pool: String,
    /// Which of the pool's buffers, from 0.
    pub buffer: u32,
    /// The element that has it, or had it last.
    pub holder: String,
    /// Since which tick.
    pub since: u64,
    /// The tick in which that was told.
    pub tick: u64,
}

/// An element that synchronises its inputs.
#[derive(Clone, Debug, Serialize)]
pub struct SyncReport {
    /// Its name.
    pub element: String,
    /// The time base of the sets' times.
    pub time_base: [u32; 2],
    /// Per set its time and, per input, which of its frames, or null.
    pub sets: Vec<(i64, Vec<Option<u64>>)>,
    /// Per input: frames that it took in.
    pub taken: Vec<u64>,
    /// Per input: sets in which it showed a frame again.
    pub repeated: Vec<u64>,
    /// Per input: frames that no set showed.
    pub dropped: Vec<u64>,
    /// Per input: sets in which it had nothing to show.
    pub absent: Vec<u64>,
}

/// A sink.
#[derive(Clone, Debug, Serialize)]
pub struct SinkReport {
    /// Its name.
    pub name: String,
    /// Buffers that it took: its element's `buffers_in`.
    pub buffers: u64,
    /// Whether its end came.
    pub eos: bool,
    /// The unit of the frames' times, unless a frame says another.
    pub time_base: [u32; 2],
    /// How it kept time, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingReport>,
    /// What it took, if that was to be recorded.
    pub frames: Vec<FrameReport>,
}

/// How a sink with `sync` kept time.
#[derive(Clone, Debug, Serialize)]
pub struct TimingReport {
    /// Buffers that came after they were due.
    pub late: u64,
    /// The most that one was late, in nanoseconds.
    pub max_late: i64,
    /// The pipeline's latency that was added to when they were due, in nanoseconds.
    pub latency: i64,
}

/// How long it takes from live sources to sinks, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyReport {
    /// At least.
    pub min: i64,
    /// At most, if it is bounded.
    pub max: Option<i64>,
    /// The same of each element, from the sources to behind it, in graph order.
    pub elements: Vec<ElementLatencyReport>,
}

/// How long it takes from the sources to behind an element, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct ElementLatencyReport {
    /// Its name.
    pub name: String,
    /// Whether what comes there is from a live source.
    pub live: bool,
    /// At least.
    pub min: i64,
    /// At most, if it is bounded.
    pub max: Option<i64>,
}

/// A frame that a sink took.
#[derive(Clone, Debug, Serialize)]
pub struct FrameReport {
    /// Its time, or null.
    pub pts: Option<i64>,
    /// xxh3-64 of its visible pixels, or of its bytes: 16 hexadecimal digits.
    pub hash: String,
    /// The unit of its time, where that is not the sink's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_base: Option<[u32; 2]>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn base(time_base: TimeBase) -> [u32; 2] {
    [time_base.num(), time_base.den()]
}

/// For how long the element that feeds a link waited for room on it, until now.
fn waited(p: &PipelineFabric, topology: &Topology, link: usize) -> WaitedReport {
    let from = topology.links[link].from;
    let Some(lane) = p.lanes.get(from.node) else {
        return WaitedReport::default();
    };
    let (mut ticks, mut time) = lane.outputs.get(from.index).map_or((0, 0), |o| o.waited);
    if lane.readiness == Readiness::Room(from.index as u32) {
        ticks += p.tick.saturating_sub(lane.since);
        time += p.now - lane.since_time;
    }
    WaitedReport { time, ticks }
}

/// Who kept the others waiting: the element that is fed by the link on which was waited longest.
fn limited_by(p: &PipelineFabric, topology: &Topology) -> Option<String> {
    // Of equals the last in graph order: what is before it waits for the same reason.
    let links = (0..topology.links.len()).map(|link| (waited(p, topology, link).time, link));
    let (time, link) = links.max()?;
    let to = topology.links[link].to.node;
    (time > 0).then(|| topology.nodes[to].name.clone())
}

impl Engine {
    /// What a started pipeline did so far: `done` unless it failed or stalled, without messages,
    /// which are on its bus. Frames and sets are in it if they are recorded.
    pub fn report(&self, pipeline: PipelineHandle) -> Report {
        let graphs = self.world.resource::<Graphs>();
        let mut report = Report {
            verdict: match self.progress(pipeline) {
                Progress::Failed => Verdict::Failed,
                Progress::Stalled => Verdict::Stalled,
                Progress::Idle | Progress::Running | Progress::Ended => Verdict::Done,
            },
            ticks: self.fabric(pipeline).map_or(0, |p| p.tick),
            digest: String::new(),
            elements: self.element_reports(pipeline),
            removed_left_out: 0,
            links: Vec::new(),
            limited_by: None,
            pools: Vec::new(),
            sync: Vec::new(),
            sinks: Vec::new(),
            latency: self.latency_report(pipeline),
            messages: Vec::new(),
            conflict: graphs
                .conflicts
                .get(&pipeline.id)
                .and_then(ConflictReport::of),
            invariant: None,
            leaks: Vec::new(),
            leaks_left_out: 0,
            stall: None,
        };
        if let (Some(topology), Some(p)) = (graphs.running(pipeline.id), self.fabric(pipeline)) {
            self.fill(&mut report, topology, p);
        }
        let run = self.fabric(pipeline).filter(|p| p.digesting);
        report.digest = match run {
            Some(p) => format!("{:016x}", p.run_digest),
            None => report.output_digest(),
        };
        report
    }

    fn latency_report(&self, pipeline: PipelineHandle) -> Option<LatencyReport> {
        self.fabric(pipeline).filter(|p| p.live)?;
        let all = self.latency(pipeline);
        let elements = self.latencies(pipeline).into_iter();
        Some(LatencyReport {
            min: all.min,
            max: all.max,
            elements: elements
                .map(|e| ElementLatencyReport {
                    name: e.element,
                    live: e.latency.live,
                    min: e.latency.min,
                    max: e.latency.max,
                })
                .collect(),
        })
    }

    fn fill(&self, report: &mut Report, topology: &Topology, p: &PipelineFabric) {
        let hidden = |node: usize| {
            let node = topology.nodes.get(node);
            node.is_some_and(|n| self.world.get::<Plug>(n.entity).is_some())
        };
        for (i, link) in topology.links.iter().enumerate() {
            if hidden(link.from.node) || hidden(link.to.node) {
                continue;
            }
            report.links.push(LinkReport {
                from: topology.from_name(&self.world, i),
                to: topology.to_name(&self.world, i),
                caps: self
                    .world
                    .get::<PadCaps>(link.from.pad)
                    .map_or_else(String::new, |c| c.get().to_string()),
                transport: link.transport.name(),
                waited: waited(p, topology, i),
            });
        }
        report.limited_by = limited_by(p, topology);
        for pool in &p.buffers.pools {
            let Some(node) = topology.nodes.get(pool.owner.index()) else {
                continue;
            };
            let pad = node.outputs.first().map(|&l| topology.links[l].from.pad);
            let pad = pad.and_then(|pad| self.world.get::<Pad>(pad));
            report.pools.push(PoolReport {
                name: format!("{}.{}", node.name, pad.map_or("?", |p| p.name.as_str())),
                buffers: pool.count,
                size: pool.live.size,
                align: pool.live.align,
                high_water: pool.high_water,
                out: pool.out(),
            });
        }
        report.invariant = p.breach.as_deref().map(|b| BreachReport {
            id: b.id.to_owned(),
            tick: b.tick,
            elements: b.elements.clone(),
            buffers: b.buffers.clone(),
            text: b.text.clone(),
        });
        let leaks = p.leaks.told.iter().map(|l| LeakReport {
            pool: l.pool.clone(),
            buffer: l.buffer,
            holder: l.holder.clone(),
            since: l.since,
            tick: l.tick,
        });
        report.leaks = leaks.collect();
        report.leaks_left_out = p.leaks.left_out;
        for (at, (lane, node)) in p.lanes.iter().zip(&topology.nodes).enumerate() {
            if hidden(at) {
                continue;
            }
            if let Some(sync) = &lane.extras.sync {
                let per_input = |f: fn(&tickpipe_components::sync::SyncInput) -> u64| {
                    sync.inputs.iter().map(f).collect()
                };
                let records = sync.records.iter().flatten();
                report.sync.push(SyncReport {
                    element: node.name.clone(),
                    time_base: base(sync.out_base),
                    sets: records.map(|r| (r.pts, r.indexes.to_vec())).collect(),
                    taken: per_input(|i| i.taken),
                    repeated: per_input(|i| i.repeated),
                    dropped: per_input(|i| i.dropped),
                    absent: per_input(|i| i.absent),
                });
            }
            if lane.is_sink() {
                let ended = lane.has_ended();
                report.sinks.push(elements::sink(&node.name, lane, ended));
            }
        }
        let left = p.left.told.iter().filter(|l| l.lane.is_sink());
        let left = left.map(|l| elements::sink(&l.name, &l.lane, l.ended));
        report.sinks.extend(left);
        report.removed_left_out = p.left.left_out;
        if p.progress == Progress::Stalled {
            report.stall = Some(stall_of(&Waits::new(&self.world, topology, p)));
        }
    }
}

impl Report {
    /// A digest of the graph, its caps, and what came out of it.
    fn output_digest(&self) -> String {
        use tickpipe_components::digest::{StateHasher, StateVisitor};
        let mut hash = StateHasher::new();
        hash.unsigned("ticks", self.ticks);
        for e in &self.elements {
            hash.bytes("name", e.name.as_bytes());
            hash.bytes("kind", e.kind.as_bytes());
            hash.unsigned("in", e.buffers_in);
            hash.unsigned("out", e.buffers_out);
            hash.unsigned("dropped", e.dropped);
        }
        for l in &self.links {
            hash.bytes("from", l.from.as_bytes());
            hash.bytes("to", l.to.as_bytes());
            hash.bytes("caps", l.caps.as_bytes());
        }
        for s in &self.sinks {
            for f in &s.frames {
                hash.signed("pts", f.pts.unwrap_or(i64::MIN));
                hash.bytes("hash", f.hash.as_bytes());
            }
        }
        format!("{:016x}", hash.digest())
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}"))
    }
}
