//! A lookahead, or a muxer that interleaves, holds all buffers of a pool: refused with the sum where
//! it says what it keeps, told with the holder where it does not, and running where the pool may be
//! larger.
#![cfg(feature = "video")]

use tickpipe::{Engine, MessageMask, Report, RunOptions, StallReport, State, WaitReport};

fn run(text: &str) -> (Report, Vec<String>) {
    let mut engine = Engine::new().expect("starts");
    let (pipeline, warnings) = engine.launch("b15", text).expect("a graph");
    assert_eq!(warnings, Vec::<String>::new());
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    let tried = engine.suggest(pipeline, &report);
    (report, tried.iter().map(|s| s.text()).collect())
}

fn refused(text: &str) -> String {
    let mut engine = Engine::new().expect("starts");
    let (pipeline, _) = engine.launch("b15", text).expect("a graph");
    engine.set_state(pipeline, State::Paused);
    let message = engine.wait(pipeline, MessageMask::ERROR);
    assert!(message.is_ok(), "{text}");
    engine.plan(pipeline).expect_err("refused").to_string()
}

fn taken(report: &Report) -> Vec<u64> {
    report.sinks.iter().map(|s| s.buffers).collect()
}

fn stall(report: &Report) -> &StallReport {
    assert_eq!(report.verdict.name(), "stalled");
    report.stall.as_ref().expect("told")
}

/// The wait for a buffer in a stall's first chain.
fn buffer_wait(stall: &StallReport) -> &WaitReport {
    let mut waits = stall.chains[0].waits.iter();
    waits.find(|w| w.waits_for == "buffer").expect("told")
}

#[test]
fn what_is_declared_is_refused_with_the_sum() {
    for n in [1, 2, 4, 7, 31] {
        let need = n + 1;
        let sum = format!("pool v.src needs {need} buffers (v 1 + h {n}) and may have {n}");
        for graph in [
            format!("hold name=h buffers={n} ! fakesink"),
            format!("fakesink name=h hold={n}"),
            format!("queue ! hold name=h buffers={n} ! fakesink"),
            format!("tee name=t ! fakesink t. ! hold name=h buffers={n} ! fakesink"),
        ] {
            let text = format!("videotestsrc name=v max-buffers={n} ! {graph}");
            assert!(refused(&text).contains(&sum), "{text}: {}", refused(&text));
        }
    }
}

#[test]
fn two_holders_are_summed() {
    let text = "videotestsrc name=v max-buffers=6 ! hold name=a buffers=2 ! hold name=b buffers=4 ! fakesink";
    let sum = "pool v.src needs 7 buffers (v 1 + a 2 + b 4) and may have 6";
    assert!(refused(text).contains(sum), "{}", refused(text));
}

#[test]
fn what_is_not_declared_stalls_and_names_the_holder() {
    for n in [1, 2, 4, 7, 31] {
        for between in ["", "! queue ", "! identity ! queue max-size-buffers=2 "] {
            let text = format!(
                "videotestsrc name=v num-buffers=50 min-buffers={n} max-buffers={n} {between}! hold name=h buffers={n} declared=false ! fakesink name=out"
            );
            let (report, tried) = run(&text);
            let stall = stall(&report);
            assert!(stall.tick < 60, "{text}: {}", stall.tick);
            assert_eq!(
                (stall.cause.name(), stall.element.as_str()),
                ("pool-held", "h"),
                "{text}"
            );
            let wait = buffer_wait(stall);
            assert_eq!(
                (wait.element.as_str(), wait.pool.as_deref()),
                ("v", Some("v.src"))
            );
            let [held] = &wait.held[..] else {
                panic!("one holder: {:?}", wait.held);
            };
            assert_eq!((held.element.as_str(), held.buffers, held.of), ("h", n, n));
            assert_eq!((held.kept, held.queued), (n, 0), "{text}");
            assert!(held.since < stall.tick && wait.since < stall.tick);
            let cycle = stall.chains[0].cycle.expect("it is one");
            assert_eq!(stall.chains[0].waits[cycle].element, "h");
            assert_eq!(tried, [format!("v max-buffers={}", n + 1)], "{text}");
        }
    }
}

#[test]
fn the_holder_of_four_of_four_is_told_since_when() {
    let (report, _) =
        run("videotestsrc num-buffers=50 max-buffers=4 ! hold buffers=4 declared=false ! fakesink");
    let stall = stall(&report);
    let lines: Vec<String> = stall.lines();
    assert_eq!(
        lines,
        [
            "fakesink0 waits for input on sink from hold0 since tick 0, nothing has come",
            "hold0 waits for input on sink from videotestsrc0 since tick 2",
            "videotestsrc0 waits for a buffer of pool videotestsrc0.src since tick 1: 4 of 4 held by hold0 since tick 1",
            "a cycle: hold0 -> videotestsrc0 -> hold0",
            "cause: hold0 holds all 4 buffers of pool videotestsrc0.src and waits for another; it keeps 4 and said 0 to the planner",
        ]
    );
    let json = serde_json::to_value(stall).expect("plain data");
    assert_eq!(
        json["chains"][0]["waits"][2]["held"],
        serde_json::json!([{"element": "hold0", "buffers": 4, "of": 4, "since": 1, "kept": 4}])
    );
}

#[test]
fn a_pool_that_may_grow_grows() {
    for n in [1, 4, 31] {
        for most in [format!("max-buffers={}", n + 1), String::new()] {
            let text = format!(
                "videotestsrc num-buffers=50 {most} ! hold buffers={n} ! fakesink name=out"
            );
            let (report, _) = run(&text);
            assert_eq!(report.verdict.name(), "done", "{text}");
            assert_eq!(taken(&report), [50], "{text}");
            assert!(report.pools[0].buffers > n, "{text}");
        }
    }
}

#[test]
fn a_tee_does_not_hide_the_holder() {
    for n in [2, 5] {
        let text = format!(
            "videotestsrc name=v num-buffers=50 max-buffers={n} ! tee name=t ! fakesink t. ! hold name=h buffers={n} declared=false ! fakesink"
        );
        let (report, tried) = run(&text);
        let stall = stall(&report);
        assert_eq!(
            (stall.cause.name(), stall.element.as_str()),
            ("pool-held", "h"),
            "{text}"
        );
        let waits = stall.chains.iter().flat_map(|c| &c.waits);
        let wait = waits.chain(&stall.others).find(|w| w.waits_for == "buffer");
        let held = wait.expect("told").held.iter();
        let kept = held.filter(|h| h.element == "h").map(|h| (h.kept, h.of));
        assert_eq!(kept.collect::<Vec<_>>(), [(n, n)]);
        assert_eq!(tried, [format!("v max-buffers={}", n + 1)], "{text}");
    }
}

#[test]
fn two_holders_are_both_told() {
    let (report, _) = run(
        "videotestsrc name=v num-buffers=50 max-buffers=6 ! hold name=a buffers=2 declared=false ! hold name=b buffers=5 declared=false ! fakesink",
    );
    let stall = stall(&report);
    let held = buffer_wait(stall).held.iter();
    let held: Vec<_> = held.map(|h| (h.element.as_str(), h.kept, h.of)).collect();
    assert_eq!(held, [("a", 2, 6), ("b", 4, 6)]);
    assert_eq!(
        (stall.cause.name(), stall.element.as_str()),
        ("pool-held", "b")
    );
}

/// Audio that comes six frames late, from the same source: the muxer holds the video until then.
#[test]
fn a_muxer_whose_other_leg_is_late() {
    let graph = |late: &str| {
        format!(
            "videotestsrc name=enc num-buffers=50 max-buffers=4 ! tee name=t ! join name=mux ! fakesink t. ! hold name=late buffers=6 {late} ! mux."
        )
    };
    assert!(
        refused(&graph("")).contains("needs"),
        "{}",
        refused(&graph(""))
    );
    let (report, tried) = run(&graph("declared=false"));
    let stall = stall(&report);
    assert_eq!(
        (stall.cause.name(), stall.element.as_str()),
        ("pool-held", "late")
    );
    let held = buffer_wait(stall).held.iter();
    let held: Vec<_> = held.map(|h| (h.element.as_str(), h.buffers)).collect();
    assert_eq!(held.len(), 2);
    assert!(
        held.contains(&("late", 4)) && held.contains(&("mux", 4)),
        "{held:?}"
    );
    assert_eq!(tried, ["enc max-buffers=7"]);
    // With the largest pool it may have, it runs.
    let grown = graph("declared=false").replace("max-buffers=4", "max-buffers=7");
    let (report, _) = run(&grown);
    assert_eq!((report.verdict.name(), taken(&report)), ("done", vec![100]));
}

/// The same from a source of its own, which goes on whatever the video does.
#[test]
fn a_muxer_whose_other_source_is_late_runs() {
    for late in ["", "declared=false"] {
        let (report, _) = run(&format!(
            "videotestsrc name=enc num-buffers=50 max-buffers=4 ! join name=mux ! fakesink fakesrc num-buffers=50 ! hold buffers=6 {late} ! mux."
        ));
        assert_eq!((report.verdict.name(), taken(&report)), ("done", vec![100]));
    }
}
