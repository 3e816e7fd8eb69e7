//! A mixer waits for an input that has nothing to say, and the muxer behind it stops the whole
//! graph: told as the chain that it is, and running where the silent source says so.
#![cfg(feature = "video")]

use tickpipe::{Engine, EngineOptions, Limits, PipelineHandle, Report, RunOptions};

/// What a graph is varied in.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Buffers that each source makes.
    frames: u32,
    /// Size of the queue.
    queue: u32,
    /// The silent source is the mixer's first input.
    silent_first: bool,
    /// The mixer's input is the muxer's first.
    audio_first: bool,
    /// Mixers behind one another.
    depth: usize,
    quantum: u64,
}

fn launched(case: Case, may_be_silent: bool) -> (Engine, PipelineHandle) {
    let (frames, queue) = (case.frames, case.queue);
    let video = format!(
        "videotestsrc num-buffers={frames} name=v ! queue name=q max-size-buffers={queue} ! mux."
    );
    let (mut audio, mut into) = (String::new(), "mux".to_owned());
    for level in 0..case.depth {
        audio.push_str(&format!(" join name=mixer{level} ! {into}. "));
        into = format!("mixer{level}");
    }
    let a1 = format!("fakesrc name=a1 num-buffers={frames} ! {into}.");
    let a2 = format!("silentsrc name=a2 may-be-silent={may_be_silent} ! {into}.");
    let inputs = match case.silent_first {
        true => format!("{a2} {a1}"),
        false => format!("{a1} {a2}"),
    };
    let text = match case.audio_first {
        true => format!("join name=mux ! fakesink name=out {audio} {inputs} {video}"),
        false => format!("join name=mux ! fakesink name=out {video} {audio} {inputs}"),
    };
    let mut limits = Limits::default();
    limits.set_named("quantum", case.quantum).expect("in range");
    let options = EngineOptions {
        limits,
        ..EngineOptions::default()
    };
    let mut engine = Engine::with_options(options).expect("starts");
    let (pipeline, warnings) = engine.launch("b19", &text).expect("a graph");
    assert_eq!(warnings, Vec::<String>::new());
    (engine, pipeline)
}

fn run(case: Case, may_be_silent: bool) -> (Report, Vec<String>) {
    let (mut engine, pipeline) = launched(case, may_be_silent);
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    let tried = engine.suggest(pipeline, &report);
    (report, tried.iter().map(|s| s.text()).collect())
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (frames, queue, quantum) in [(100, 8, 4), (3, 1, 1), (50, 200, 16)] {
        for order in 0..4 {
            for depth in [1, 3] {
                cases.push(Case {
                    frames,
                    queue,
                    silent_first: order % 2 == 1,
                    audio_first: order / 2 == 1,
                    depth,
                    quantum,
                });
            }
        }
    }
    cases
}

#[test]
fn the_chain_leads_from_the_sink_to_the_silent_source() {
    for case in cases() {
        let (report, tried) = run(case, false);
        assert_eq!(report.verdict.name(), "stalled", "{case:?}");
        assert!(report.ticks < 300, "{case:?}: {}", report.ticks);
        let stall = report.stall.expect("told");
        assert_eq!(
            (stall.cause.name(), stall.element.as_str()),
            ("silent-source", "a2"),
            "{case:?}"
        );
        assert_eq!(stall.text, "a2 is linked, says nothing and has no end");
        let mux_pad = if case.audio_first { "sink_0" } else { "sink_1" };
        let mixer_pad = if case.silent_first {
            "sink_0"
        } else {
            "sink_1"
        };
        let mut expected = vec![
            ("out".to_owned(), "input", Some("sink".to_owned())),
            ("mux".to_owned(), "input", Some(mux_pad.to_owned())),
        ];
        for level in 0..case.depth {
            let pad = match level + 1 == case.depth {
                true => mixer_pad,
                false => "sink_0",
            };
            expected.push((format!("mixer{level}"), "input", Some(pad.to_owned())));
        }
        expected.push(("a2".to_owned(), "nothing", None));
        let chain = &stall.chains[0];
        let found: Vec<_> = chain
            .waits
            .iter()
            .map(|w| (w.element.clone(), w.waits_for, w.pad.clone()))
            .collect();
        assert_eq!(found, expected, "{case:?}");
        assert_eq!((stall.chains.len(), chain.cycle), (1, None), "{case:?}");
        assert_eq!(tried, ["a2 may-be-silent=true"], "{case:?}");
    }
}

#[test]
fn what_is_blocked_behind_it_is_told_too() {
    let case = Case {
        frames: 100,
        queue: 8,
        silent_first: false,
        audio_first: false,
        depth: 1,
        quantum: 4,
    };
    let stall = run(case, false).0.stall.expect("told");
    let others: Vec<String> = stall.others.iter().map(|w| w.line()).collect();
    assert_eq!(
        others,
        [
            "v waits for a buffer of pool v.src since tick 4: 13 of 13 out (q 5 since tick 2, mux 8 since tick 1)",
            "q waits for room on mux.sink_0 (8 of 8) since tick 3",
            "a1 waits for room on mixer0.sink_0 (8 of 8) since tick 2",
        ]
    );
}

#[test]
fn a_source_that_may_be_silent_lets_it_complete() {
    for case in cases() {
        let (report, tried) = run(case, true);
        assert_eq!(report.verdict.name(), "done", "{case:?}");
        assert_eq!(report.sinks[0].buffers, u64::from(case.frames) * 2);
        assert!(report.stall.is_none() && tried.is_empty());
    }
}
