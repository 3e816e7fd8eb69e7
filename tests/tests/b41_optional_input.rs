//! B41: a detector that finds something in some frames only, on an optional input. Where it says nothing it
//! promises that nothing comes; where it does not do that, the stall names it.

use tickpipe::{Engine, EngineOptions, Report, RunOptions, Verdict};

fn run(text: &str, threads: usize) -> Report {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (p, _) = engine
        .launch("main", text)
        .map_err(|e| e.render(text))
        .expect("a graph");
    let options = RunOptions {
        record: true,
        max_ticks: Some(5000),
        ..RunOptions::default()
    };
    engine.run(p, &options, &mut ())
}

/// The camera's frames go to the node, one at a time, and to a detector that answers on even ones.
fn graph(detector: &str) -> String {
    format!(
        "stampsrc stamps=0..9 caps=application/x-test,framerate=25/1 ! tee name=t ! queue max-size-buffers=1 ! \
         framesync-probe name=node ! fakesink name=k t. ! queue max-size-buffers=1 ! {detector} ! node."
    )
}

#[test]
fn b41_silence_that_is_told_holds_nobody_back() {
    for threads in [1, 2] {
        let report = run(&graph("skip name=detector every=2 gaps=true"), threads);
        assert_eq!(report.verdict, Verdict::Done);
        let shown: Vec<_> = report.sync[0].sets.iter().map(|s| (s.0, s.1[1])).collect();
        let want: Vec<_> = (0..10).map(|n| (n, Some(n as u64 / 2))).collect();
        assert_eq!(shown, want);
        assert_eq!(report.sync[0].repeated, [0, 5]);
        assert_eq!(report.sinks[0].buffers, 10);
    }
}

/// A whole stretch without a word, longer than any queue: with gaps it runs, without it is a stall that
/// names the detector.
#[test]
fn b41_a_long_silence() {
    let text = |gaps: bool| {
        format!(
            "stampsrc stamps=0..99 caps=application/x-test,framerate=25/1 ! tee name=t ! queue max-size-buffers=2 ! \
             framesync-probe name=node ! fakesink name=k t. ! queue max-size-buffers=2 ! \
             skip name=detector every=1 gaps={gaps} ! node."
        )
    };
    let report = run(&text(true), 1);
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(report.sync[0].sets.len(), 100);
    assert_eq!(report.sync[0].absent, [0, 100]);
    let report = run(&text(false), 1);
    assert_eq!(report.verdict, Verdict::Stalled);
    let stall = report.stall.expect("told");
    assert!(format!("{stall:?}").contains("detector"), "{stall:?}");
}

/// What was promised changes no set: without gaps, where nobody has to stop, they are the same.
#[test]
fn b41_promises_change_no_set() {
    for every in 1..8 {
        for rules in [
            "levels=2,1 before=stop,null after=infinity",
            "levels=2,1 before=stop,null after=infinity ts-sync-mode=nearest",
            "levels=2,1 before=stop,infinity after=infinity",
            "levels=2,1 before=stop after=null",
            "levels=1,1 before=stop after=infinity",
            "levels=1,2 before=null after=infinity",
            "levels=2,1 before=null after=stop",
            "levels=2,0 before=stop,null after=infinity,null",
        ] {
            let text = |gaps: bool| {
                format!(
                    "stampsrc stamps=0..40 caps=application/x-test,framerate=25/1 ! \
                     framesync-probe name=node {rules} ! fakesink \
                     stampsrc stamps=0..30 caps=application/x-test,framerate=20/1 ! \
                     skip every={every} gaps={gaps} ! node."
                )
            };
            let (with, without) = (run(&text(true), 1), run(&text(false), 1));
            assert_eq!(with.verdict, Verdict::Done, "{every} {rules}");
            assert_eq!(with.sync[0].sets, without.sync[0].sets, "{every} {rules}");
        }
    }
}
