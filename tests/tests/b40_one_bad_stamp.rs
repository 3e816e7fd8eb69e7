//! B40: one bad time does not poison a graph. `strict` fails once and says which buffer, what came
//! and what was before it; `backward=drop` loses that one and tells of it; after a resync, and after
//! a new start, a stream may begin from 0.

mod stamped;

use stamped::{known, run, sink, tally, times, told};
use tickpipe::{Engine, MessageKind, MessageMask, RunOptions, State, Verdict};

const STAMPS: &str = "stamps=0..9,5,11..20 time-base=1/25";

#[test]
fn b40_strict_fails_once_and_names_it() {
    let text = format!("stampsrc {STAMPS} ! stamps name=check mode=strict ! fakesink name=out");
    let report = run(&text);
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(times(&report, "out"), known(0..10));
    assert!(sink(&report, "out").eos);
    let of_check = report.messages.iter();
    let of_check = of_check.filter(|m| m.element.as_deref() == Some("check"));
    let seen: Vec<_> = of_check
        .map(|m| {
            (
                &*m.kind,
                m.code.as_deref().unwrap_or(""),
                m.occurrence.as_ref(),
            )
        })
        .map(|(kind, code, o)| {
            (
                kind,
                code,
                o.map(|o| (o.deed, o.index, o.value, o.time_base)),
            )
        })
        .collect();
    let failed = Some(("failed", 10, Some(5), [1, 25]));
    assert_eq!(
        seen,
        [
            ("occurrence", "backward-stamp", failed),
            ("error", "bad-timestamp", None)
        ]
    );
}

#[test]
fn b40_a_late_one_is_dropped_and_told() {
    let text = format!("stampsrc {STAMPS} ! stamps name=check backward=drop ! fakesink name=out");
    let report = run(&text);
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(times(&report, "out"), known((0..10).chain(11..21)));
    let once = told(&[("backward-stamp", "dropped", 1)]);
    assert_eq!(tally(&report, "check"), once);
    assert_eq!(sink(&report, "out").buffers, 20);
}

#[test]
fn b40_the_same_graph_starts_again_from_0() {
    let mut engine = Engine::new().expect("an engine");
    let text = format!("stampsrc {STAMPS} name=src ! stamps mode=strict ! fakesink name=out");
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    let options = RunOptions {
        record: true,
        ..RunOptions::default()
    };
    for _ in 0..2 {
        let report = engine.run(pipeline, &options, &mut ());
        assert_eq!(report.verdict, Verdict::Failed);
        assert_eq!(times(&report, "out"), known(0..10));
    }
    let src = engine.element(pipeline, "src").expect("src");
    engine.set(src, "stamps", "0..9").expect("set");
    let report = engine.run(pipeline, &options, &mut ());
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(times(&report, "out"), known(0..10));
}

#[test]
fn b40_a_resync_in_mid_stream_forgets() {
    let mut engine = Engine::new().expect("an engine");
    let text = "stampsrc stamps=0..9,0..9 time-base=1/25 arrivals=40ms \
                ! stamps name=check mode=strict ! fakesink";
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.set_clock(pipeline, tickpipe::ClockMode::Virtual);
    engine.observe(pipeline, false, true);
    engine.set_state(pipeline, State::Playing);
    let passed = |engine: &Engine| {
        let report = engine.report(pipeline);
        let check = report.elements.iter().find(|e| e.name == "check");
        check.map_or(0, |e| e.buffers_out)
    };
    while passed(&engine) < 10 {
        engine.tick();
    }
    let check = engine.element(pipeline, "check").expect("check");
    engine.set(check, "resync", 1i64).expect("set");
    let end = engine.wait(pipeline, MessageMask::EOS | MessageMask::ERROR);
    assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos));
    assert_eq!(passed(&engine), 20);
}
