//! A property that changes what an element can do, set at every tick of a run, is one atomic
//! re-negotiation at a buffer boundary.
//!
//! (B12: setting a transform's mode between its caps query and its caps event gave
//! not-negotiated, or an error after 5 of 30 buffers.)

#![cfg(feature = "video")]

use tickpipe::components::fabric::{Fabric, Progress};
use tickpipe::components::fault::Domain;
use tickpipe::components::message::MessageKind;
use tickpipe::{Engine, EngineOptions, MessageMask, PipelineHandle, Report, State};

const BUFFERS: u64 = 30;
const GRAPH: &str = "videotestsrc num-buffers=30 pattern=ball ! videoscale name=xf ! capsfilter name=filter caps=video/x-raw,format=I420,width=64,height=48 ! queue ! fakesink";

/// What a run gave: its report, the digest of each tick, the messages that are no changes of state.
struct Outcome {
    report: Report,
    digests: Vec<u64>,
    messages: Vec<MessageKind>,
}

fn start(text: &str, threads: usize, seed: Option<u64>) -> (Engine, PipelineHandle) {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        shuffle_seed: seed,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.observe(pipeline, true, true);
    engine.set_state(pipeline, State::Playing);
    (engine, pipeline)
}

/// Runs `text`, and sets properties before the tick `at`.
fn run_with(
    text: &str,
    at: usize,
    sets: &[(&str, &str, &str)],
    threads: usize,
    seed: Option<u64>,
) -> Outcome {
    let (mut engine, pipeline) = start(text, threads, seed);
    let mut digests = Vec::new();
    let mut messages = Vec::new();
    for tick in 0..200 {
        if tick == at {
            for (element, property, value) in sets {
                let element = engine.element(pipeline, element).expect("the element");
                engine
                    .set_text(element, property, value)
                    .expect("a good value");
            }
        }
        engine.tick();
        let p = engine.world().resource::<Fabric>();
        digests.push(p.pipelines[0].digest);
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
    }
}

fn run(at: usize, sets: &[(&str, &str, &str)]) -> Outcome {
    run_with(GRAPH, at, sets, 1, None)
}

const SMALL: &str = "video/x-raw,format=I420,width=32,height=24";
const LARGE: &str = "video/x-raw,format=I420,width=128,height=96";

#[test]
fn the_transform_changes_at_every_tick_and_no_buffer_is_lost() {
    let ticks = run(1000, &[]).digests.len();
    assert!((10..60).contains(&ticks), "{ticks} ticks");
    let all_small = run_with(
        &GRAPH.replace("64,height=48", "32,height=24"),
        1000,
        &[],
        1,
        None,
    );
    let all_first = run(1000, &[]);
    let hashes = |o: &Outcome| -> Vec<String> {
        let frames = &o.report.sinks[0].frames;
        frames.iter().map(|f| f.hash.clone()).collect()
    };
    let (first, small) = (hashes(&all_first), hashes(&all_small));
    let mut switched = Vec::new();
    for at in 0..ticks {
        let outcome = run(at, &[("filter", "caps", SMALL)]);
        assert_eq!(outcome.messages, [MessageKind::Eos], "set at tick {at}");
        let got = hashes(&outcome);
        assert_eq!(got.len() as u64, BUFFERS, "set at tick {at}");
        // Every frame is one of the run before or of the run after, and there is one boundary.
        let boundary = got
            .iter()
            .zip(&first)
            .take_while(|(got, first)| got == first)
            .count();
        assert_eq!(got[boundary..], small[boundary..], "set at tick {at}");
        switched.push(boundary);
    }
    assert!(switched.is_sorted(), "{switched:?}");
    assert_eq!(switched[0], 0);
    assert!(switched.iter().any(|b| (1..30).contains(b)), "{switched:?}");
}

#[test]
fn the_last_of_several_writers_in_a_tick_wins() {
    for at in 0..14 {
        let once = run(at, &[("filter", "caps", SMALL)]);
        let twice = run(at, &[("filter", "caps", LARGE), ("filter", "caps", SMALL)]);
        assert_eq!(once.digests, twice.digests, "at tick {at}");
        // Two elements at once are one change: either alone would have no caps.
        let both = run_with(
            "videotestsrc num-buffers=30 ! capsfilter name=a caps=video/x-raw,width=64 ! capsfilter name=b caps=video/x-raw,width=64 ! fakesink",
            at,
            &[
                ("a", "caps", "video/x-raw,width=32"),
                ("b", "caps", "video/x-raw,width=32"),
            ],
            1,
            None,
        );
        assert_eq!(both.messages, [MessageKind::Eos], "at tick {at}");
        assert_eq!(both.report.sinks[0].frames.len(), 30);
    }
}

#[test]
fn a_setting_without_caps_is_put_back_and_the_run_goes_on() {
    let untouched = run(1000, &[]);
    for at in 1..untouched.digests.len() {
        let outcome = run(at, &[("filter", "caps", "audio/x-raw,rate=48000")]);
        let warnings: Vec<_> = outcome
            .messages
            .iter()
            .filter(|m| **m != MessageKind::Eos)
            .collect();
        assert!(
            matches!(warnings[..], [MessageKind::Warning(Domain::Caps, _)]),
            "{:?}",
            outcome.messages
        );
        assert_eq!(outcome.report.links[1].caps, untouched.report.links[1].caps);
        assert_eq!(outcome.digests, untouched.digests, "at tick {at}");
    }
}

#[test]
fn a_bad_value_is_refused_at_the_call() {
    let (mut engine, pipeline) = start(GRAPH, 1, None);
    (0..4).for_each(|_| engine.tick());
    let scale = engine.element(pipeline, "xf").expect("the element");
    assert!(engine.set_text(scale, "method", "sharp").is_err());
    assert!(engine.set_text(scale, "mode", "1").is_err());
    assert!(engine.refused(pipeline).is_none());
}

#[test]
fn settings_without_new_caps_take_effect_between_buffers() {
    let graph = "videotestsrc num-buffers=30 pattern=smpte ! video/x-raw,width=64,height=48 ! videoscale name=xf method=nearest-neighbour ! video/x-raw,width=40,height=30 ! fakesink";
    let hashes = |o: &Outcome| -> Vec<String> {
        o.report.sinks[0]
            .frames
            .iter()
            .map(|f| f.hash.clone())
            .collect()
    };
    let near = hashes(&run_with(graph, 1000, &[], 1, None));
    let lanczos = hashes(&run_with(
        &graph.replace("nearest-neighbour", "lanczos"),
        1000,
        &[],
        1,
        None,
    ));
    let outcome = run_with(graph, 6, &[("xf", "method", "lanczos")], 1, None);
    let got = hashes(&outcome);
    let boundary = got.iter().zip(&near).take_while(|(a, b)| a == b).count();
    assert!((1..30).contains(&boundary), "{boundary}");
    assert_eq!(got[boundary..], lanczos[boundary..]);
    assert_eq!(outcome.report.pools.len(), 2, "no pool was made again");
}

#[test]
fn the_same_on_any_threads_and_in_any_order() {
    for at in [1, 3, 5, 8] {
        let sets = [("filter", "caps", SMALL), ("xf", "method", "lanczos")];
        let want = run(at, &sets).digests;
        for threads in [2, 4] {
            assert_eq!(run_with(GRAPH, at, &sets, threads, None).digests, want);
        }
        for seed in 0..10 {
            assert_eq!(run_with(GRAPH, at, &sets, 1, Some(seed)).digests, want);
        }
    }
}
