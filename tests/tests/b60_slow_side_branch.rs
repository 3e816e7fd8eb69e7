//! B60: a side branch that is slower than the main one does not stop it where it may let frames go; the
//! set of frames that it gets is fixed by virtual time. Where it may not, all go at its pace, and the
//! report says who sets that.
//!
//! (An operator of a side branch blocked the hot path, and where to say that it should not was unclear.)

#![cfg(feature = "video")]

use tickpipe::{ClockMode, Engine, EngineOptions, Limit, Limits, Report, RunOptions, Verdict};

/// 100 frames of 40 ms; the side branch takes 400 ms for each.
fn run(source: &str, queue: &str, quantum: u64, threads: usize) -> Report {
    let text = format!(
        "videotestsrc num-buffers=100 {source} ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! tee name=t \
         t. ! queue max-size-buffers=1 ! fakesink name=main sync=true \
         t. ! queue name=side max-size-buffers=1 {queue} ! work name=slow time=400ms ! fakesink name=out"
    );
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum).expect("a quantum");
    limits.set(Limit::LinkBuffers, 1).expect("in range");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        threads,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    let built = engine.launch("main", &text);
    let (pipeline, _) = built.map_err(|e| e.render(&text)).expect("a graph");
    engine.set_clock(pipeline, ClockMode::Virtual);
    let options = RunOptions {
        record: true,
        digests: true,
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut ());
    assert_eq!(report.verdict, Verdict::Done, "{text}: {:?}", report.stall);
    report
}

fn frames(report: &Report, sink: &str) -> Vec<i64> {
    let sink = report.sinks.iter().find(|s| s.name == sink).expect("it");
    assert!(sink.eos);
    sink.frames.iter().filter_map(|f| f.pts).collect()
}

fn all() -> Vec<i64> {
    (0..100).collect()
}

/// The frames that were told as let go, by their times.
fn told(report: &Report) -> Vec<i64> {
    let leaks = report
        .messages
        .iter()
        .filter(|m| m.code.as_deref() == Some("leak"));
    let leaks = leaks.inspect(|m| assert_eq!(m.element.as_deref(), Some("side")));
    let mut told: Vec<i64> = leaks.filter_map(|m| m.occurrence.as_ref()?.value).collect();
    told.sort_unstable();
    told
}

#[test]
fn b60_where_frames_may_go_the_main_branch_has_all_and_the_side_branch_every_tenth() {
    // A live source: each frame comes at its time. The newest is kept, so the side branch has that which
    // came last before it was free.
    let report = run("is-live=true", "leaky=downstream", 4, 1);
    assert_eq!(frames(&report, "main"), all());
    let side = frames(&report, "out");
    assert_eq!(side, [0, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99]);
    let gone = told(&report);
    let want: Vec<i64> = all().into_iter().filter(|f| !side.contains(f)).collect();
    assert_eq!(gone, want);
    // The oldest is kept: it is as old as the branch is slow.
    let report = run("is-live=true", "leaky=upstream", 4, 1);
    assert_eq!(frames(&report, "main"), all());
    let side = frames(&report, "out");
    assert_eq!(side.len(), 11);
    let want: Vec<i64> = all().into_iter().filter(|f| !side.contains(f)).collect();
    assert_eq!(told(&report), want);
}

#[test]
fn b60_the_set_does_not_depend_on_quantum_or_threads() {
    for leaky in ["leaky=downstream", "leaky=upstream"] {
        let want = frames(&run("is-live=true", leaky, 4, 1), "out");
        for quantum in [1, 2, 8] {
            assert_eq!(frames(&run("is-live=true", leaky, quantum, 1), "out"), want);
        }
        let one = run("is-live=true", leaky, 4, 1);
        let two = run("is-live=true", leaky, 4, 2);
        assert_eq!(one.digest, two.digest);
    }
}

#[test]
fn b60_a_source_that_runs_ahead_is_held_by_the_main_branch() {
    for leaky in ["leaky=downstream", "leaky=upstream"] {
        for quantum in [1, 4] {
            let report = run("", leaky, quantum, 1);
            assert_eq!(frames(&report, "main"), all());
            let side = frames(&report, "out");
            assert!((10..=11).contains(&side.len()), "{side:?}");
            assert_eq!(told(&report).len() + side.len(), 100);
        }
    }
}

#[test]
fn b60_where_none_may_go_the_report_says_who_limits_the_rate() {
    let report = run("", "", 4, 1);
    assert_eq!(
        (frames(&report, "main"), frames(&report, "out")),
        (all(), all())
    );
    assert_eq!(report.limited_by.as_deref(), Some("slow"));
    let waited = |to: &str| {
        let link = report.links.iter().find(|l| l.to == to).expect("a link");
        link.waited.time / 1_000_000_000
    };
    // The side branch takes 40 s. Each of those before it waited for it for most of that time.
    assert!(
        (38..=40).contains(&waited("slow.sink")),
        "{}",
        waited("slow.sink")
    );
    assert!(
        (35..=40).contains(&waited("side.sink")),
        "{}",
        waited("side.sink")
    );
    assert_eq!(waited("out.sink"), 0);
    // What is fast is never waited for.
    assert_eq!(waited("main.sink"), 0);
    assert!(told(&report).is_empty());
}
