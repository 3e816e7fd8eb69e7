//! Caps that a source changes in mid-stream arrive in order, exactly before the first buffer that
//! they apply to; only what changed is done again.
//!
//! (B09: a change of frame rate worked with one decoder and not with another; a sink refused
//! caps that were not strictly equal; another built a second output whenever caps came again.)

#![cfg(feature = "video")]

use bevy_ecs::component::Component;
use tickpipe::components::caps::{Caps, Structure};
use tickpipe::components::digest::{StateVisitor, hash_bytes};
use tickpipe::components::fabric::{Fabric, Progress};
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::message::MessageKind;
use tickpipe::components::pool::PoolConfig;
use tickpipe::components::property::{PropertyKind, PropertyValue};
use tickpipe::components::time::TimeBase;
use tickpipe::{Engine, EngineOptions, Limit, Limits, MessageMask, PipelineHandle, Report, State};
use tickpipe_systems::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};

/// A source that announces caps: `caps=A changes="10: B | 20: C"`.
#[derive(Component, Clone, Debug, Default)]
struct StepSrc {
    caps: Caps,
    changes: String,
    buffers: i64,
}

fn parse(text: &str) -> Caps {
    text.parse().expect("caps of a test")
}

impl Element for StepSrc {
    const NAME: &'static str = "stepsrc";
    const SUMMARY: &'static str = "Announces other caps at stated buffers";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source(
            "src",
            parse("video/x-raw,width=[1,4096]"),
        )]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            Property::new(
                "caps",
                "What it begins with",
                PropertyKind::Caps,
                |s: &StepSrc| PropertyValue::Caps(s.caps.clone()),
                |s, v| {
                    if let PropertyValue::Caps(caps) = v {
                        s.caps = caps;
                    }
                },
            ),
            tickpipe_systems::field!(Text, "changes", "What it announces", changes),
            tickpipe_systems::field!(Int(0, 1000), "num-buffers", "How many", buffers),
        ]
    }

    fn enum_caps(
        &self,
        _query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(self.caps.structures().get(index as usize).cloned())
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let size = size_of(pads);
        Ok(Buffers::Own(PoolConfig { size, ..downstream }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let step = |step: &str| {
            let (index, caps) = step.split_once(':')?;
            Some((index.trim().parse().ok()?, parse(caps.trim())))
        };
        Ok(Box::new(Stepping {
            changes: self.changes.split('|').filter_map(step).collect(),
            left: self.buffers as u64,
            index: 0,
            size: 0,
            rate: TimeBase::default(),
        }))
    }
}

fn size_of(pads: &PadCapsOf) -> usize {
    let size = |s: &Structure| {
        let halves = if s.string("format") == Some("Y42B") {
            4
        } else {
            3
        };
        Some(s.int("width")? * s.int("height")? * halves / 2)
    };
    pads.source(0).and_then(size).unwrap_or_default() as usize
}

struct Stepping {
    changes: Vec<(u64, Caps)>,
    left: u64,
    index: u64,
    size: usize,
    rate: TimeBase,
}

impl Work for Stepping {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.size = size_of(pads);
        let rate = pads.source(0).and_then(|s| s.fraction("framerate"));
        self.rate = rate
            .and_then(|r| TimeBase::of_rate(r.num(), r.den()))
            .unwrap_or_default();
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            if self.left == 0 {
                process.finish();
                break;
            }
            let change = self.changes.iter().rev().find(|c| c.0 <= self.index);
            if let Some((_, caps)) = change
                && !process.announce(0, caps)
            {
                break;
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            assert_eq!(buffer.memory.len(), self.size, "of the pool for these caps");
            buffer.memory.as_mut_slice().fill(self.index as u8);
            buffer.meta.index = self.index;
            buffer.meta.pts = Some(self.index as i64);
            buffer.meta.time_base = self.rate;
            self.index += 1;
            self.left -= 1;
            process.push(0, buffer);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("index", self.index);
    }
}

/// A sink that records, for each buffer, how often it was told caps, and a hash of the last.
#[derive(Component, Clone, Debug, Default)]
struct WatchSink;

impl Element for WatchSink {
    const NAME: &'static str = "watchsink";
    const SUMMARY: &'static str = "Records which caps each buffer has";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Watching::default()))
    }
}

#[derive(Default)]
struct Watching {
    told: i64,
    hash: u64,
}

impl Work for Watching {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.told += 1;
        self.hash = hash_bytes(pads.sinks[0].to_string().as_bytes());
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            process.record(Some(self.told), TimeBase::default(), self.hash);
            process.release(buffer);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.signed("told", self.told);
        visitor.unsigned("caps", self.hash);
    }
}

fn engine(threads: usize, quantum: u64, seed: Option<u64>) -> Engine {
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum).expect("a quantum");
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        limits,
        shuffle_seed: seed,
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<StepSrc>().expect("a new name");
    engine.register::<WatchSink>().expect("a new name");
    engine
}

struct Outcome {
    report: Report,
    digests: Vec<u64>,
    messages: Vec<MessageKind>,
    engine: Engine,
    pipeline: PipelineHandle,
}

fn run_on(text: &str, mut engine: Engine) -> Outcome {
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.observe(pipeline, true, true);
    engine.set_state(pipeline, State::Playing);
    let (mut digests, mut messages) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        engine.tick();
        digests.push(engine.world().resource::<Fabric>().pipelines[0].digest);
        while let Some(message) = engine.next_message(pipeline, MessageMask::all()) {
            messages.push(message.kind);
        }
        let progress = engine.progress(pipeline);
        if !matches!(progress, Progress::Idle | Progress::Running) {
            break;
        }
    }
    messages.retain(|m| !matches!(m, MessageKind::StateChanged(_) | MessageKind::AsyncDone));
    Outcome {
        report: engine.report(pipeline),
        digests,
        messages,
        engine,
        pipeline,
    }
}

fn run(text: &str) -> Outcome {
    run_on(text, engine(1, 4, None))
}

/// Runs of buffers with the same caps at a sink: how many, how often it was told caps by then.
fn runs(outcome: &Outcome, sink: usize) -> Vec<(usize, i64)> {
    let frames = outcome.report.sinks[sink].frames.iter();
    let frames: Vec<_> = frames.map(|f| (f.pts, f.hash.as_str())).collect();
    frames
        .chunk_by(|a, b| a == b)
        .map(|run| (run.len(), run[0].0.unwrap_or_default()))
        .collect()
}

const C: &str = "video/x-raw,format=I420,width=32,height=24,framerate=30/1";
const SLOW: &str = "video/x-raw,format=I420,width=32,height=24,framerate=10/1";
const EXTRA: &str = "video/x-raw,format=I420,width=32,height=24,framerate=10/1,mood=(string)calm";
const WIDE: &str = "video/x-raw,format=I420,width=64,height=24,framerate=30/1";

fn graph(changes: &str, rest: &str) -> String {
    format!("stepsrc num-buffers=40 caps=\"{C}\" changes=\"{changes}\" ! {rest}")
}

#[test]
fn equal_caps_are_nothing_and_others_arrive_before_their_first_buffer() {
    let changes = format!("10: {C} | 20: {SLOW} | 30: {EXTRA}");
    for quantum in [1, 3, 4, 16] {
        for rest in [
            "watchsink",
            "queue max-size-buffers=1 ! watchsink",
            "queue ! identity ! videoconvert ! capsfilter caps=video/x-raw,width=32 ! watchsink",
        ] {
            let outcome = run_on(&graph(&changes, rest), engine(1, quantum, None));
            assert_eq!(outcome.messages, [MessageKind::Eos], "{rest}");
            assert_eq!(
                runs(&outcome, 0),
                [(20, 1), (10, 2), (10, 3)],
                "{rest}, {quantum}"
            );
            assert_eq!(outcome.report.sinks.len(), 1);
            // No pool was made again.
            assert_eq!(outcome.report.pools.len(), 1);
            assert_eq!(outcome.report.pools[0].size, 32 * 24 * 3 / 2);
            // The field that nobody knows is carried.
            let last = outcome.report.links.last().expect("a link");
            assert!(last.caps.contains("mood"), "{}", last.caps);
        }
    }
}

#[test]
fn another_size_makes_a_new_pool_and_the_old_one_goes() {
    let changes = format!("10: {WIDE} | 20: {C}");
    let rest = "tee name=t t. ! queue ! watchsink t. ! identity ! watchsink";
    let outcome = run(&graph(&changes, rest));
    assert_eq!(outcome.messages, [MessageKind::Eos]);
    for sink in 0..2 {
        assert_eq!(runs(&outcome, sink), [(10, 1), (10, 2), (20, 3)]);
    }
    let pools = &outcome.report.pools;
    let sizes: Vec<usize> = pools.iter().map(|p| p.size).collect();
    assert_eq!(sizes, [1152, 2304, 1152]);
    assert!(pools.iter().all(|p| p.name == "stepsrc0.src"));
    let p = &outcome.engine.world().resource::<Fabric>().pipelines[0];
    let held = |pool: usize| {
        let pool = &p.buffers.pools[pool];
        let first = pool.first.index();
        let memory = &p.buffers.memory[first..first + pool.count as usize];
        memory.iter().filter(|m| m.is_some()).count()
    };
    assert_eq!((held(0), held(1)), (0, 0), "memory of old pools is dropped");
    assert_eq!(held(2), pools[2].buffers as usize);
    assert!(p.retired.is_empty());
}

#[test]
fn a_converter_absorbs_what_it_can() {
    let changes = format!("10: {WIDE}");
    let rest = "videoscale ! video/x-raw,width=32,height=24,pixel-aspect-ratio=1/1 ! watchsink";
    let outcome = run(&graph(&changes, rest));
    assert_eq!(outcome.messages, [MessageKind::Eos]);
    // The sink is not told: its caps are the same.
    assert_eq!(runs(&outcome, 0), [(40, 1)]);
    let names: Vec<&str> = outcome
        .report
        .pools
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(names[0], "stepsrc0.src");
    assert_eq!(outcome.report.pools.len(), 3, "{names:?}");
}

#[test]
fn a_refused_change_says_which_buffer() {
    let changes = format!("12: {WIDE}");
    for rest in [
        "capsfilter caps=video/x-raw,width=32 ! watchsink",
        "queue ! tee name=t t. ! watchsink t. ! capsfilter caps=video/x-raw,width=32 ! watchsink",
    ] {
        let outcome = run(&graph(&changes, rest));
        let error = MessageKind::Error(Domain::Caps, Code::NotNegotiated);
        assert_eq!(outcome.messages, [error], "{rest}");
        assert_eq!(outcome.report.verdict.name(), "failed");
        for sink in &outcome.report.sinks {
            assert_eq!((sink.buffers, sink.eos), (12, true), "{rest}");
        }
        let refused = outcome
            .engine
            .refused(outcome.pipeline)
            .expect("it is kept");
        let text = refused.error.to_string();
        assert!(text.contains("from buffer 12 on"), "{text}");
        assert!(text.contains("width"), "{text}");
        let conflict = &refused.conflict.as_ref().expect("a conflict").conflicts[0];
        assert_eq!(conflict.field(), Some("width"));
    }
}

#[test]
fn synchronised_inputs_change_where_their_frames_do() {
    // The leading input changes its rate, the other its size, at frames of their own.
    let text = format!(
        "overlay name=mix x=2 y=2 ! watchsink \
         stepsrc num-buffers=40 caps=\"{C}\" changes=\"10: {WIDE} | 20: {SLOW}\" ! mix. \
         stepsrc num-buffers=40 caps=\"{C}\" changes=\"15: {WIDE}\" ! mix."
    );
    for quantum in [1, 4, 16] {
        let outcome = run_on(&text, engine(1, quantum, None));
        assert_eq!(
            outcome.messages,
            [MessageKind::Eos],
            "quantum {quantum} {:?}",
            outcome.report.stall
        );
        assert_eq!(runs(&outcome, 0), [(10, 1), (10, 2), (20, 3)], "{quantum}");
        let sync = &outcome.report.sync[0];
        let shown: Vec<Option<u64>> = sync.sets.iter().map(|s| s.1[1]).collect();
        // At the same rate frame by frame; then the leading rate is a third, and time goes on
        // from frame 20 at 10/1, which is after the last frame of the other.
        let want: Vec<Option<u64>> = (0..20).chain([39; 20]).map(Some).collect();
        assert_eq!(shown, want, "quantum {quantum}");
    }
}

#[test]
fn inputs_that_are_tied_change_together() {
    // Both must have the same format; the second changes three frames after the first.
    let other = "video/x-raw,format=Y42B,width=32,height=24,framerate=30/1";
    let text = format!(
        "overlay name=mix x=2 y=2 ! watchsink \
         stepsrc num-buffers=20 caps=\"{C}\" changes=\"10: {other}\" ! videoconvert ! mix. \
         stepsrc num-buffers=20 caps=\"{C}\" ! videoconvert ! mix."
    );
    let outcome = run(&text);
    assert_eq!(outcome.messages, [MessageKind::Eos]);
    let frames: usize = runs(&outcome, 0).iter().map(|r| r.0).sum();
    assert_eq!(frames, 20);
}

fn frames(report: &Report) -> Vec<(Option<i64>, &str)> {
    let frames = report.sinks[0].frames.iter();
    frames.map(|f| (f.pts, f.hash.as_str())).collect()
}

#[test]
fn a_change_before_the_first_buffer_and_while_paused() {
    for index in [0, 1] {
        let mut engine = engine(1, 4, None);
        let text = graph(&format!("{index}: {SLOW}"), "queue ! watchsink");
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        engine.observe(pipeline, false, true);
        engine.set_state(pipeline, State::Paused);
        engine
            .wait_for_state(pipeline, State::Paused)
            .expect("it prerolls");
        engine.set_state(pipeline, State::Playing);
        let eos = MessageMask::EOS | MessageMask::ERROR;
        let end = engine.wait(pipeline, eos).expect("it ends");
        assert_eq!(end.kind, MessageKind::Eos);
        let report = engine.report(pipeline);
        assert_eq!(report.sinks[0].frames.len(), 40);
        assert_eq!(report.sinks[0].frames[39].pts, Some(2));
        // A second run starts like the first.
        engine.set_state(pipeline, State::Ready);
        engine
            .wait_for_state(pipeline, State::Ready)
            .expect("it stops");
        engine.set_state(pipeline, State::Playing);
        let end = engine.wait(pipeline, eos).expect("it ends");
        assert_eq!(end.kind, MessageKind::Eos);
        let again = engine.report(pipeline);
        assert_eq!(frames(&again), frames(&report));
    }
}

#[test]
fn the_same_on_any_threads_and_in_any_order() {
    let changes = format!("10: {WIDE} | 13: {C} | 20: {SLOW} | 30: {EXTRA}");
    let rest = "tee name=t t. ! queue ! videoscale ! video/x-raw,width=16,height=16 ! watchsink t. ! watchsink";
    let text = graph(&changes, rest);
    let want = run(&text).digests;
    for threads in [2, 4] {
        assert_eq!(run_on(&text, engine(threads, 4, None)).digests, want);
    }
    for seed in 0..20 {
        assert_eq!(run_on(&text, engine(1, 4, Some(seed))).digests, want);
    }
}

#[test]
fn capssrc_changes_caps_where_it_is_told() {
    let changes = format!("10: {C} | 20: {SLOW} | 30: {EXTRA}");
    let text =
        format!("capssrc num-buffers=40 caps=\"{C}\" changes=\"{changes}\" ! queue ! watchsink");
    let outcome = run(&text);
    assert_eq!(outcome.messages, [MessageKind::Eos]);
    assert_eq!(runs(&outcome, 0), [(20, 1), (10, 2), (10, 3)]);
    assert_eq!(outcome.report.pools.len(), 1);
    let refused = run(&text.replace("queue", "capsfilter caps=video/x-raw,framerate=30/1"));
    let error = MessageKind::Error(Domain::Caps, Code::NotNegotiated);
    assert_eq!(refused.messages, [error]);
    assert_eq!(refused.report.sinks[0].buffers, 20);
}
