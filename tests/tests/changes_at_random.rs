//! Properties, links and announced caps at random ticks: every buffer comes out once, in order;
//! nothing leaks; the run ends; and it is the same on two threads.

#![cfg(feature = "video")]

use proptest::prelude::*;
use tickpipe::components::fabric::{Fabric, PipelineFabric, Progress};
use tickpipe::components::message::MessageKind;
use tickpipe::{Engine, EngineOptions, Limit, Limits, MessageMask, PipelineHandle, State};

const GRAPHS: [&str; 5] = [
    "videotestsrc num-buffers=60 name=src ! capsfilter name=a caps=video/x-raw,width=32,height=16 ! videoscale name=scale ! capsfilter name=b caps=video/x-raw,width=24,height=16 ! fakesink name=end",
    "videotestsrc num-buffers=60 name=src ! capsfilter name=a caps=video/x-raw,width=32,height=16 ! tee name=t ! queue max-size-buffers=3 name=q ! videoscale name=scale ! capsfilter name=b caps=video/x-raw,width=24,height=16 ! fakesink name=end t. ! videoconvert ! fakesink name=other",
    "videotestsrc num-buffers=60 name=src ! capsfilter name=a caps=video/x-raw,format=I420,width=32,height=16 ! overlay name=mix ! videoscale name=scale ! fakesink name=end videotestsrc num-buffers=70 pattern=ball ! capsfilter name=b caps=video/x-raw,width=8,height=8,framerate=25/1 ! mix.",
    "videotestsrc num-buffers=60 name=src ! capsfilter name=a caps=video/x-raw,format=I420,width=32,height=16 ! tee name=t ! overlay name=mix ! videoscale name=scale ! fakesink name=end t. ! capsfilter name=b caps=video/x-raw ! queue name=q ! mix.",
    "videotestsrc num-buffers=60 name=src ! videoconvert ! capsfilter name=a caps=video/x-raw,format=I420 ! queue name=q ! tee name=t ! videoconvert ! capsfilter name=b caps=video/x-raw ! fakesink name=end t. ! videoscale name=scale ! fakesink name=other",
];

const SETS: [(&str, &str, &str); 16] = [
    ("a", "caps", "video/x-raw,format=I420,width=32,height=16"),
    ("a", "caps", "video/x-raw,format=I420,width=64,height=16"),
    ("a", "caps", "video/x-raw,format=Y42B,width=16,height=16"),
    ("a", "caps", "video/x-raw,width=32,framerate=10/1"),
    ("a", "caps", "video/x-raw,format=RGBA,width=20,height=20"),
    ("a", "caps", "audio/x-raw"),
    ("a", "caps", "video/x-raw,format=Y444"),
    ("b", "caps", "video/x-raw,width=24,height=16"),
    ("b", "caps", "video/x-raw,format=RGBA"),
    (
        "b",
        "caps",
        "video/x-raw,width=12,height=10,framerate=[1/1,60/1]",
    ),
    ("b", "caps", "video/x-raw"),
    ("scale", "method", "lanczos"),
    ("scale", "method", "nearest-neighbour"),
    ("mix", "x", "3"),
    ("q", "max-size-buffers", "1"),
    ("q", "max-size-buffers", "9"),
];

#[derive(Clone, Debug)]
enum Step {
    Set(usize),
    /// A branch behind the tee, kept to these caps.
    Branch(usize),
    Pause,
    Play,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..SETS.len()).prop_map(Step::Set),
        2 => (0usize..3).prop_map(Step::Branch),
        1 => Just(Step::Pause),
        2 => Just(Step::Play),
    ]
}

/// Every buffer is free, or held as often as its count says.
fn check(p: &PipelineFabric) {
    let mut held = vec![0u32; p.buffers.len()];
    for lane in &p.lanes {
        let queued = lane.inputs.iter().flat_map(|i| i.queue.iter());
        for buffer in queued.filter_map(|item| item.as_buffer()) {
            held[buffer.index()] += 1;
        }
        if let Some(sync) = &lane.extras.sync {
            let sets = sync.sets.iter().flat_map(|s| s.frames.iter().flatten());
            for buffer in sync.held().chain(sets.copied()) {
                held[buffer.index()] += 1;
            }
        }
        assert!(lane.extras.granted.is_empty() && lane.extras.borrowed.is_empty());
    }
    assert_eq!(held, p.buffers.refs);
    for pool in &p.buffers.pools {
        for i in 0..pool.count {
            let buffer = pool.first.index() + i as usize;
            assert_eq!(pool.free.contains(i), held[buffer] == 0, "buffer {buffer}");
        }
    }
}

/// A sink's name and the times of what it took.
type Taken = (String, Vec<Option<i64>>);

struct Outcome {
    digests: Vec<u64>,
    sinks: Vec<Taken>,
    messages: Vec<MessageKind>,
    progress: Progress,
}

fn run(graph: &str, steps: &[(usize, Step)], quantum: u64, threads: usize) -> Outcome {
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum).expect("a quantum");
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        limits,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (pipeline, _) = engine.launch("main", graph).expect("a graph");
    engine.observe(pipeline, true, true);
    engine.set_state(pipeline, State::Playing);
    let (mut digests, mut messages) = (Vec::new(), Vec::new());
    let mut ids = 100..;
    for tick in 0..1000 {
        for (_, step) in steps.iter().filter(|(at, _)| *at == tick) {
            act(&mut engine, pipeline, step, &mut ids);
        }
        if tick == 400 {
            engine.set_state(pipeline, State::Playing);
        }
        engine.tick();
        let p = &engine.world().resource::<Fabric>().pipelines[0];
        digests.push(p.digest);
        check(p);
        while let Some(message) = engine.next_message(pipeline, MessageMask::all()) {
            messages.push(message.kind);
        }
        let progress = engine.progress(pipeline);
        if !matches!(progress, Progress::Idle | Progress::Running) {
            break;
        }
    }
    messages.retain(|m| {
        !matches!(
            m,
            MessageKind::StateChanged(_) | MessageKind::AsyncDone | MessageKind::Warning(..)
        )
    });
    let report = engine.report(pipeline);
    let sinks = report.sinks.iter().map(|s| {
        let frames = s.frames.iter().map(|f| f.pts);
        (s.name.clone(), frames.collect())
    });
    Outcome {
        digests,
        sinks: sinks.collect(),
        messages,
        progress: engine.progress(pipeline),
    }
}

fn act(
    engine: &mut Engine,
    pipeline: PipelineHandle,
    step: &Step,
    ids: &mut std::ops::RangeFrom<u32>,
) {
    match step {
        Step::Set(which) => {
            let (element, property, value) = SETS[*which];
            if let Some(element) = engine.element(pipeline, element) {
                engine.set_text(element, property, value).expect("a value");
            }
        }
        Step::Branch(which) => {
            let Some(tee) = engine.element(pipeline, "t") else {
                return;
            };
            let caps = [
                "video/x-raw",
                "video/x-raw,width=32",
                "video/x-raw,format=RGBA",
            ][*which];
            let mut add = |class: &str| {
                let element = engine.create(class, ids.next().unwrap_or(0)).expect("one");
                engine.add(pipeline, element).expect("a new id");
                element
            };
            let (queue, filter, sink) = (add("queue"), add("capsfilter"), add("fakesink"));
            engine.set_text(filter, "caps", caps).expect("a value");
            engine
                .link_all([tee, queue, filter, sink])
                .expect("they meet");
        }
        Step::Pause => engine.set_state(pipeline, State::Paused),
        Step::Play => engine.set_state(pipeline, State::Playing),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]
    #[test]
    fn nothing_is_lost(
        graph in 0..GRAPHS.len(),
        steps in prop::collection::vec((1usize..40, step()), 0..12),
        quantum in prop_oneof![Just(1u64), Just(3), Just(4), Just(16)],
    ) {
        let outcome = run(GRAPHS[graph], &steps, quantum, 1);
        prop_assert_eq!(outcome.progress, Progress::Ended, "{:?}", outcome.messages);
        prop_assert_eq!(&outcome.messages, &[MessageKind::Eos]);
        for (name, frames) in &outcome.sinks {
            if name == "end" || name == "other" {
                // Frames of a second input that is longer come behind those of the first.
                let more = graph == 2 && frames.len() > 60;
                prop_assert!(frames.len() == 60 || more, "{}: {}", name, frames.len());
            }
        }
        let again = run(GRAPHS[graph], &steps, quantum, 2);
        prop_assert_eq!(outcome.digests, again.digests);
    }
}
