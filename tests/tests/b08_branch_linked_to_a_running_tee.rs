//! A branch that is linked to a running tee takes part, or is refused with the field; the
//! branches that run are not touched.
//!
//! (B08: when one port was active already, its format was taken as the answer and the list of the
//! new port ignored, so the wrong node was attached, and failed later.)

use bevy_ecs::component::Component;
use tickpipe::components::caps::{Caps, Structure};
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fabric::{Fabric, Progress};
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::message::MessageKind;
use tickpipe::components::pool::PoolConfig;
use tickpipe::components::property::{PropertyKind, PropertyValue};
use tickpipe::components::time::TimeBase;
use tickpipe::{
    ElementHandle, Engine, EngineOptions, Limit, Limits, MessageMask, PipelineHandle, Report, State,
};
use tickpipe_systems::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};

fn parse(text: &str) -> Caps {
    text.parse().expect("caps of a test")
}

const AUDIO: &str = "audio/x-raw,rate=[1,192000]";

macro_rules! caps_property {
    ($type:ty) => {
        Property::new(
            "caps",
            "What it can have",
            PropertyKind::Caps,
            |s: &$type| PropertyValue::Caps(s.caps.clone()),
            |s, v| {
                if let PropertyValue::Caps(caps) = v {
                    s.caps = caps;
                }
            },
        )
    };
}

/// Buffers that carry only an index.
#[derive(Component, Clone, Debug, Default)]
struct PcmSrc {
    caps: Caps,
    buffers: i64,
}

impl Element for PcmSrc {
    const NAME: &'static str = "pcmsrc";
    const SUMMARY: &'static str = "Buffers that carry an index";
    const KLASS: &'static str = "Source";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", parse(AUDIO))]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            caps_property!(PcmSrc),
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
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let size = 8;
        Ok(Buffers::Own(PoolConfig { size, ..downstream }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Counting {
            left: self.buffers as u64,
            index: 0,
        }))
    }
}

struct Counting {
    left: u64,
    index: u64,
}

impl Work for Counting {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            if self.index == self.left {
                process.finish();
                break;
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            buffer.meta.index = self.index;
            buffer.meta.pts = Some(self.index as i64);
            self.index += 1;
            process.push(0, buffer);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("index", self.index);
    }
}

/// Records the indexes of buffers; keeps as many as `retains` says.
#[derive(Component, Clone, Debug, Default)]
struct PcmSink {
    caps: Caps,
    keeps: i64,
    fails: bool,
}

impl Element for PcmSink {
    const NAME: &'static str = "pcmsink";
    const SUMMARY: &'static str = "Records indexes";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", parse(AUDIO))]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            caps_property!(PcmSink),
            tickpipe_systems::field!(Int(0, 1000), "keeps", "Buffers that it keeps", keeps),
            tickpipe_systems::field!(Bool, "fails", "Whether it cannot be opened", fails),
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

    fn retains(&self, _pad: PadAt) -> u32 {
        self.keeps as u32
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        if self.fails {
            let error = std::io::Error::other("not today");
            return Err(ElementError::new(Domain::Resource, Code::Open, error));
        }
        Ok(Box::new(Recording {
            keeps: self.keeps as usize,
        }))
    }
}

struct Recording {
    keeps: usize,
}

impl Work for Recording {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            let index = process.meta(buffer).index;
            process.record(Some(index as i64), TimeBase::default(), 0);
            process.keep(buffer);
            if process.kept().len() > self.keeps
                && let Some(oldest) = process.take_kept()
            {
                process.release(oldest);
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
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
    engine.register::<PcmSrc>().expect("a new name");
    engine.register::<PcmSink>().expect("a new name");
    engine
}

/// A running pipeline, before its tick `at`.
struct Run {
    engine: Engine,
    pipeline: PipelineHandle,
    digests: Vec<u64>,
    messages: Vec<MessageKind>,
}

const GRAPH: &str = "pcmsrc num-buffers=120 caps=\"audio/x-raw,rate=48000\" ! tee name=t ! pcmsink name=sink1 caps=audio/x-raw";

impl Run {
    fn start(text: &str, mut engine: Engine, at: usize) -> Run {
        let (pipeline, _) = engine.launch("main", text).expect("a graph");
        engine.observe(pipeline, true, true);
        engine.set_state(pipeline, State::Playing);
        let run = Run {
            engine,
            pipeline,
            digests: Vec::new(),
            messages: Vec::new(),
        };
        run.advanced(at.max(1))
    }

    fn advanced(mut self, ticks: usize) -> Run {
        (0..ticks).for_each(|_| self.tick());
        self
    }

    fn tick(&mut self) {
        self.engine.tick();
        self.digests.push(self.fabric().digest);
        while let Some(message) = self.engine.next_message(self.pipeline, MessageMask::all()) {
            self.messages.push(message.kind);
        }
    }

    fn fabric(&self) -> &tickpipe::components::fabric::PipelineFabric {
        &self.engine.world().resource::<Fabric>().pipelines[0]
    }

    fn add(&mut self, class: &str, id: u32, settings: &[(&str, &str)]) -> ElementHandle {
        let element = self.engine.create(class, id).expect("a class");
        for (property, value) in settings {
            self.engine
                .set_text(element, property, value)
                .expect("a value");
        }
        self.engine.add(self.pipeline, element).expect("a new id");
        element
    }

    fn tee(&self) -> ElementHandle {
        self.engine.element(self.pipeline, "t").expect("the tee")
    }

    fn finish(mut self) -> (Report, Vec<u64>, Vec<MessageKind>) {
        for _ in 0..500 {
            if self.engine.progress(self.pipeline) != Progress::Running {
                break;
            }
            self.tick();
        }
        self.messages
            .retain(|m| !matches!(m, MessageKind::StateChanged(_) | MessageKind::AsyncDone));
        (
            self.engine.report(self.pipeline),
            self.digests,
            self.messages,
        )
    }
}

fn indexes(report: &Report, sink: &str) -> Vec<i64> {
    let sink = report.sinks.iter().find(|s| s.name == sink);
    let frames = sink.iter().flat_map(|s| &s.frames);
    frames.filter_map(|f| f.pts).collect()
}

#[test]
fn a_branch_that_cannot_agree_is_refused_with_the_field() {
    let (untouched, digests, _) = Run::start(GRAPH, engine(1, 4, None), 10).finish();
    let mut run = Run::start(GRAPH, engine(1, 4, None), 10);
    let sink2 = run.add("pcmsink", 20, &[("caps", "audio/x-raw,rate=44100")]);
    let idle = run.add("pcmsrc", 21, &[("caps", "audio/x-raw,rate=44100")]);
    let tee = run.tee();
    run.engine.link(tee, sink2).expect("the pads can meet");
    run.tick();
    let refused = run.engine.refused(run.pipeline).expect("it is refused");
    let conflict = &refused.conflict.as_ref().expect("a conflict").conflicts[0];
    assert_eq!(conflict.field(), Some("rate"));
    let text = refused.error.to_string();
    assert!(text.contains("48000") && text.contains("44100"), "{text}");
    for element in [sink2, idle] {
        let state = run.engine.world().get::<State>(element.entity());
        assert_eq!(state, Some(&State::Ready));
    }
    let (report, with_attempt, messages) = run.finish();
    assert_eq!(
        messages,
        [
            MessageKind::Warning(Domain::Caps, Code::NotNegotiated),
            MessageKind::Eos
        ]
    );
    assert_eq!(indexes(&report, "sink1"), (0..120).collect::<Vec<i64>>());
    assert_eq!(with_attempt, digests, "the run is the same at every tick");
    assert_eq!(report.pools.len(), untouched.pools.len());
}

#[test]
fn the_same_sink_can_be_linked_after_a_refusal() {
    let mut run = Run::start(GRAPH, engine(1, 4, None), 10);
    let sink2 = run.add("pcmsink", 20, &[("caps", "audio/x-raw,rate=44100")]);
    let tee = run.tee();
    run.engine.link(tee, sink2).expect("the pads can meet");
    run.tick();
    assert!(run.engine.refused(run.pipeline).is_some());
    run.engine
        .set_text(sink2, "caps", "audio/x-raw,rate={44100,48000}")
        .expect("a value");
    run.tick();
    run.engine.link(tee, sink2).expect("the pads can meet");
    let (report, _, messages) = run.finish();
    assert_eq!(messages.last(), Some(&MessageKind::Eos));
    assert_eq!(indexes(&report, "sink1"), (0..120).collect::<Vec<i64>>());
    let got = indexes(&report, "pcmsink20");
    assert!(got.len() > 20, "{got:?}");
    let link = report.links.iter().find(|l| l.to == "pcmsink20.sink");
    assert_eq!(link.expect("its link").from, "t.src_1");
}

#[test]
fn a_branch_that_agrees_gets_every_buffer_from_then_on() {
    for quantum in [1, 4, 16] {
        for at in 1..30 {
            let mut run = Run::start(GRAPH, engine(1, quantum, None), at);
            if run.engine.progress(run.pipeline) != Progress::Running {
                break;
            }
            // Ids before and after those that run: lanes move.
            let queue = run.add("queue", 200, &[("max-size-buffers", "3")]);
            let sink2 = run.add("pcmsink", 100, &[("caps", AUDIO), ("keeps", "2")]);
            let tee = run.tee();
            run.engine.link_all([tee, queue, sink2]).expect("they meet");
            let (report, _, messages) = run.finish();
            assert_eq!(messages, [MessageKind::Eos], "at {at}, quantum {quantum}");
            assert_eq!(indexes(&report, "sink1"), (0..120).collect::<Vec<i64>>());
            let got = indexes(&report, "pcmsink100");
            let first = got.first().copied().unwrap_or(120);
            assert_eq!(got, (first..120).collect::<Vec<i64>>(), "at {at}");
            let new = report.elements.iter().find(|e| e.name == "pcmsink100");
            assert_eq!(new.expect("it").state, "playing");
        }
    }
}

#[test]
fn a_pool_that_must_hold_more_is_made_again() {
    let mut run = Run::start(GRAPH, engine(1, 4, None), 6);
    let before = run.fabric().buffers.pools.len();
    let keeps = run.fabric().buffers.pools[0].count + 5;
    let sink2 = run.add(
        "pcmsink",
        100,
        &[("caps", AUDIO), ("keeps", &keeps.to_string())],
    );
    let tee = run.tee();
    run.engine.link(tee, sink2).expect("they meet");
    let (report, _, messages) = run.finish();
    assert_eq!(messages, [MessageKind::Eos]);
    assert_eq!(report.pools.len(), before + 1);
    assert!(report.pools[before].buffers > keeps);
    assert_eq!(indexes(&report, "sink1"), (0..120).collect::<Vec<i64>>());
    assert!(indexes(&report, "pcmsink100").len() > keeps as usize);
}

#[test]
fn a_branch_that_cannot_open_or_is_not_whole_is_taken_away() {
    let (_, digests, _) = Run::start(GRAPH, engine(1, 4, None), 10).finish();
    for whole in [true, false] {
        let mut run = Run::start(GRAPH, engine(1, 4, None), 10);
        let tee = run.tee();
        if whole {
            let sink2 = run.add("pcmsink", 20, &[("caps", AUDIO), ("fails", "true")]);
            run.engine.link(tee, sink2).expect("the pads can meet");
        } else {
            let queue = run.add("queue", 20, &[]);
            run.engine.link(tee, queue).expect("the pads can meet");
        }
        let (report, with_attempt, messages) = run.finish();
        assert!(
            matches!(messages[..], [MessageKind::Warning(..), MessageKind::Eos]),
            "{messages:?}"
        );
        assert_eq!(with_attempt, digests);
        assert_eq!(report.links.len(), 2);
    }
}

#[test]
fn a_branch_at_the_end_gets_the_end() {
    let mut run = Run::start(GRAPH, engine(1, 4, None), 0);
    // The tee is at its end, the sink still has some to take.
    while !run.fabric().lanes.get(1).is_some_and(|tee| tee.done) {
        run.tick();
        assert!(run.digests.len() < 200);
    }
    let sink2 = run.add("pcmsink", 20, &[("caps", AUDIO)]);
    let tee = run.tee();
    run.engine.link(tee, sink2).expect("the pads can meet");
    let (report, _, messages) = run.finish();
    assert_eq!(messages, [MessageKind::Eos]);
    assert!(report.sinks.iter().all(|s| s.eos));
    assert!(indexes(&report, "pcmsink20").is_empty());
}

#[cfg(feature = "video")]
#[test]
fn a_branch_before_an_overlay_makes_it_copy() {
    let graph = "videotestsrc num-buffers=40 ! video/x-raw,format=I420,width=32,height=32 ! tee name=t ! overlay name=mix x=2 y=2 ! fakesink name=sink1 videotestsrc pattern=ball num-buffers=40 ! video/x-raw,width=16,height=16 ! mix.";
    let (alone, ..) = Run::start(graph, engine(1, 4, None), 0).finish();
    let mut run = Run::start(graph, engine(1, 4, None), 5);
    let convert = run.add("videoconvert", 100, &[]);
    let filter = run.add("capsfilter", 101, &[("caps", "video/x-raw,format=RGBA")]);
    let sink = run.add("fakesink", 102, &[]);
    let tee = run.tee();
    run.engine
        .link_all([tee, convert, filter, sink])
        .expect("they meet");
    let (report, _, messages) = run.finish();
    assert_eq!(messages, [MessageKind::Eos]);
    let hashes = |r: &Report, name: &str| -> Vec<String> {
        let sink = r.sinks.iter().find(|s| s.name == name).expect("a sink");
        sink.frames.iter().map(|f| f.hash.clone()).collect()
    };
    // What runs comes out as if nobody had been linked, and what is new is not drawn on.
    assert_eq!(hashes(&report, "sink1"), hashes(&alone, "sink1"));
    let whole = "videotestsrc num-buffers=40 ! video/x-raw,format=I420,width=32,height=32 ! videoconvert ! video/x-raw,format=RGBA ! fakesink name=sink1";
    let (plain, ..) = Run::start(whole, engine(1, 4, None), 0).finish();
    let (got, plain) = (hashes(&report, "fakesink102"), hashes(&plain, "sink1"));
    assert!(got.len() > 10);
    assert_eq!(got[..], plain[plain.len() - got.len()..]);
    let mix = report
        .elements
        .iter()
        .find(|e| e.name == "mix")
        .expect("it");
    assert!(mix.copied > 0);
}

#[test]
fn the_same_on_any_threads_and_in_any_order() {
    let run = |threads: usize, seed: Option<u64>| {
        let mut run = Run::start(GRAPH, engine(threads, 4, seed), 7);
        let queue = run.add("queue", 200, &[]);
        let sink2 = run.add("pcmsink", 100, &[("caps", AUDIO), ("keeps", "30")]);
        let tee = run.tee();
        run.engine.link_all([tee, queue, sink2]).expect("they meet");
        run.finish().1
    };
    let want = run(1, None);
    for threads in [2, 4] {
        assert_eq!(run(threads, None), want);
    }
    for seed in 0..20 {
        assert_eq!(run(1, Some(seed)), want);
    }
}
