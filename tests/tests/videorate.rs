//! `videorate`: a frame for each k ≥ 0 with k/r before the end of the input, the nearest one, each drop
//! and repetition told; and `imagefreeze`. Bytes are shared: what goes out are views.

#![cfg(feature = "video")]

mod stamped;

use proptest::prelude::*;
use stamped::{known, run, run_with, sink, tally, times, told};
use tickpipe::components::seek::Seek;
use tickpipe::{
    ClockMode, Engine, EngineOptions, MessageKind, MessageMask, Report, State, Verdict,
};

const GREY: &str = "video/x-raw,format=GRAY8,width=2,height=2";

fn rated(source: &str, from: &str, rate: &str, to: &str) -> Report {
    run(&format!(
        "stampsrc {source} caps={GREY},framerate={from} ! videorate name=rate {rate} ! video/x-raw,framerate={to} ! fakesink name=out"
    ))
}

/// Which input frames a sink took: a frame's bytes say its index.
fn shown(report: &Report) -> Vec<u8> {
    let hash = |i: u8| format!("{:016x}", tickpipe::components::digest::hash_bytes(&[i; 4]));
    let hashes: Vec<String> = (0..=255).map(hash).collect();
    let of = sink(report, "out").frames.iter();
    of.map(|f| hashes.iter().position(|h| *h == f.hash).expect("a frame") as u8)
        .collect()
}

#[test]
fn frames_of_25_at_50_are_twice_as_many() {
    let report = rated("stamps=0..24", "25/1", "", "50/1");
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(times(&report, "out"), known(0..50));
    let twice: Vec<u8> = (0..50).map(|k| k / 2).collect();
    assert_eq!(shown(&report), twice);
    assert_eq!(tally(&report, "rate"), told(&[("rate", "duplicated", 25)]));
    let pool = report.pools.iter().find(|p| p.name == "rate.src");
    assert_eq!(pool.map(|p| p.size), Some(1));
}

#[test]
fn fewer_frames() {
    let report = rated("stamps=0..24", "25/1", "", "10/1");
    assert_eq!(times(&report, "out"), known(0..10));
    // k/10 is 2.5 k frames: of two that are equally near the earlier.
    assert_eq!(shown(&report), [0, 2, 5, 7, 10, 12, 15, 17, 20, 22]);
    assert_eq!(tally(&report, "rate"), told(&[("rate", "dropped", 15)]));
    let report = rated("stamps=0..24", "25/1", "choose=previous", "10/1");
    assert_eq!(shown(&report), [0, 2, 5, 7, 10, 12, 15, 17, 20, 22]);
    let report = rated("stamps=0..2", "25/1", "", "30/1");
    assert_eq!(shown(&report), [0, 1, 2, 2]);
    let report = rated("stamps=0..2", "25/1", "choose=previous", "30/1");
    assert_eq!(shown(&report), [0, 0, 1, 2]);
}

#[test]
fn the_same_rate_is_one_to_one_in_any_unit() {
    for (unit, stamps) in [
        ("1/1000", "0,33,67,100,133,167,200"),
        (
            "1/1000000000",
            "0,33333333,66666667,100000000,133333333,166666667,200000000",
        ),
    ] {
        let source = format!("stamps={stamps} time-base={unit}");
        let report = rated(&source, "30/1", "", "30/1");
        assert_eq!(shown(&report), [0, 1, 2, 3, 4, 5, 6], "{unit}");
        assert!(tally(&report, "rate").is_empty());
    }
}

#[test]
fn what_is_missing_in_between_is_filled() {
    let report = rated("stamps=0..1,5..6", "25/1", "", "25/1");
    assert_eq!(shown(&report), [0, 1, 1, 1, 2, 2, 3]);
    let report = rated("stamps=0..1,5..6", "25/1", "drop-only=true", "25/1");
    assert_eq!(times(&report, "out"), known([0, 1, 4, 6]));
    assert_eq!(shown(&report), [0, 1, 2, 3]);
}

#[test]
fn over_a_long_gap_nothing_is_repeated() {
    // 160 ms between the second and the third.
    let rated = |most: i64| {
        let rate = format!("max-duplication-time={most}");
        rated("stamps=0..1,5..6", "25/1", &rate, "25/1")
    };
    let report = rated(159_999_999);
    assert_eq!(times(&report, "out"), known([0, 1, 5, 6]));
    assert_eq!(shown(&report), [0, 1, 2, 3]);
    assert!(tally(&report, "rate").is_empty());
    let report = rated(160_000_000);
    assert_eq!(shown(&report), [0, 1, 1, 1, 2, 2, 3]);
    assert_eq!(tally(&report, "rate"), told(&[("rate", "duplicated", 3)]));
}

#[test]
fn a_frame_whose_length_nobody_knows_stands_until_its_own_time() {
    let run = |stamps: &str, choose: &str| {
        let report = rated(
            &format!("stamps={stamps} time-base=1/1000"),
            "0/1",
            choose,
            "10/1",
        );
        assert_eq!(report.verdict, Verdict::Done);
        shown(&report)
    };
    let nearest = [0, 1, 2, 2, 2, 2, 3, 3, 3, 3];
    assert_eq!(run("0,100,200,900", ""), nearest);
    let previous = [0, 1, 2, 2, 2, 2, 2, 2, 2, 3];
    assert_eq!(run("0,100,200,900", "choose=previous"), previous);
    assert_eq!(run("0,1000", ""), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    assert_eq!(run("5,6,7", ""), [0]);
    assert_eq!(run("0", ""), [0]);
    assert_eq!(run("250", ""), [0, 0, 0]);
}

#[test]
fn before_the_first_frame() {
    let report = rated("stamps=3..4", "25/1", "", "25/1");
    assert_eq!(times(&report, "out"), known(0..5));
    assert_eq!(shown(&report), [0, 0, 0, 0, 1]);
    let report = rated("stamps=3..4", "25/1", "skip-to-first=true", "25/1");
    assert_eq!(times(&report, "out"), known(3..5));
}

#[test]
fn a_variable_rate_becomes_a_constant_one() {
    let source = "stamps=0,40,100,120 time-base=1/1000 duration=30";
    let report = rated(source, "0/1", "", "50/1");
    // The end is 150 ms: frames at 0, 20, …, 140.
    assert_eq!(shown(&report), [0, 0, 1, 1, 2, 2, 3, 3]);
}

#[test]
fn a_frame_without_a_time() {
    let report = rated("stamps=0,none,2", "25/1", "", "25/1");
    assert_eq!(report.verdict, Verdict::Failed);
    let report = rated("stamps=0,none,2", "25/1", "missing=from-rate", "25/1");
    assert_eq!(shown(&report), [0, 1, 2]);
}

#[test]
fn other_branches_see_their_own_times() {
    let text = format!(
        "stampsrc stamps=0..9 caps={GREY},framerate=25/1 ! tee name=t ! fakesink name=own \
         t. ! videorate ! video/x-raw,framerate=50/1 ! stamps ! fakesink name=out"
    );
    let report = run(&text);
    assert_eq!(times(&report, "own"), known(0..10));
    assert_eq!(times(&report, "out"), known(0..20));
}

#[test]
fn a_view_is_copied_before_it_is_written() {
    let text = "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=16,height=16,framerate=25/1 \
         ! videorate ! video/x-raw,framerate=50/1 ! overlay name=mix ! fakesink name=out \
         videotestsrc pattern=white num-buffers=10 ! video/x-raw,width=8,height=8,framerate=50/1 ! mix.";
    let report = run(text);
    assert_eq!(report.verdict, Verdict::Done);
    let mix = report.elements.iter().find(|e| e.name == "mix");
    assert_eq!(mix.map(|e| e.copied), Some(10));
    assert_eq!(times(&report, "out"), known(0..10));
}

#[test]
fn one_picture_again_and_again() {
    let text = format!(
        "stampsrc stamps=0..4 caps={GREY},framerate=5/1 ! imagefreeze name=still num-buffers=40 \
         ! video/x-raw,framerate=50/1 ! fakesink name=out"
    );
    let report = run(&text);
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(times(&report, "out"), known(0..40));
    assert!(shown(&report).iter().all(|i| *i == 0));
    assert_eq!(
        tally(&report, "still"),
        told(&[("not-wanted", "dropped", 4)])
    );
    let live = text.replace("num-buffers=40", "num-buffers=40 is-live=true");
    let (_, report) = run_with(&live, ClockMode::Virtual);
    assert_eq!(times(&report, "out"), known(0..40));
}

/// Half of the frames are out, then it goes on elsewhere.
fn sought(flush: bool) -> Vec<Option<i64>> {
    let mut engine = Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    let text = "videotestsrc num-buffers=100 ! video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1 \
                ! videorate ! video/x-raw,framerate=50/1 ! fakesink name=out";
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.observe(pipeline, false, true);
    engine.set_state(pipeline, State::Playing);
    while engine
        .report(pipeline)
        .sinks
        .first()
        .is_none_or(|s| s.buffers == 0)
    {
        engine.tick();
    }
    let seek = Seek::frame(90);
    let seek = if flush { seek } else { seek.without_flush() };
    engine.seek(pipeline, seek).expect("it can");
    let end = engine.wait(pipeline, MessageMask::EOS | MessageMask::ERROR);
    assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos));
    let report = engine.report(pipeline);
    assert_eq!(report.invariant, None);
    times(&report, "out")
}

#[test]
fn after_a_seek_frames_count_from_its_start() {
    for flush in [true, false] {
        let all: Vec<i64> = sought(flush).into_iter().flatten().collect();
        let (before, after) = all.split_at(all.len() - 20);
        assert!(before.iter().copied().eq(0..before.len() as i64), "{all:?}");
        assert!(after.iter().copied().eq(180..200), "{all:?}");
        // What was under way comes out to its end, both halves of each frame.
        assert!(flush || before.len().is_multiple_of(2), "{all:?}");
    }
}

#[test]
fn other_caps_in_mid_stream() {
    let text = "videotestsrc num-buffers=300 \
                ! capsfilter name=filter caps=video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1 \
                ! videorate name=rate ! video/x-raw,framerate=50/1 ! fakesink name=out";
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.observe(pipeline, false, true);
    engine.set_state(pipeline, State::Playing);
    while engine
        .report(pipeline)
        .sinks
        .first()
        .is_none_or(|s| s.buffers == 0)
    {
        engine.tick();
    }
    let filter = engine.element(pipeline, "filter").expect("filter");
    let wide = "video/x-raw,format=GRAY8,width=8,height=4,framerate=25/1";
    engine.set_text(filter, "caps", wide).expect("set");
    let end = engine.wait(pipeline, MessageMask::EOS | MessageMask::ERROR);
    assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos));
    assert_eq!(times(&engine.report(pipeline), "out"), known(0..600));
}

/// The rule, plainly: for each k the nearest frame, by comparing all.
fn plain(frames: &[i64], (from, to): (i64, i64)) -> Vec<u8> {
    let end = frames[frames.len() - 1] + 1;
    // Frame f is at f/from, output k at k/to: all in units of 1/(from to).
    let mut out = Vec::new();
    for k in 0.. {
        if k * from >= end * to {
            return out;
        }
        let best = (0..frames.len()).min_by_key(|i| (frames[*i] * to - k * from).abs());
        out.push(best.expect("frames") as u8);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn as_the_plain_rule_says(
        steps in proptest::collection::vec(1i64..5, 0..20),
        (from, to) in (1i64..60, 1i64..60),
    ) {
        let mut frames = vec![0];
        for step in steps {
            frames.push(frames[frames.len() - 1] + step);
        }
        let stamps: Vec<String> = frames.iter().map(|f| f.to_string()).collect();
        let source = format!("stamps={}", stamps.join(","));
        let report = rated(&source, &format!("{from}/1"), "", &format!("{to}/1"));
        let want = plain(&frames, (from, to));
        prop_assert_eq!(shown(&report), want.clone());
        prop_assert_eq!(times(&report, "out"), known(0..want.len() as i64));
        // Each frame is there so often, or told to be dropped.
        let unseen = (0..frames.len()).filter(|i| !want.contains(&(*i as u8))).count() as u64;
        let again = want.windows(2).filter(|w| w[0] == w[1]).count() as u64;
        let told = tally(&report, "rate");
        let count = |deed: &str| told.iter().find(|t| t.1 == deed).map_or(0, |t| t.2);
        prop_assert_eq!((count("dropped"), count("duplicated")), (unseen, again));
    }
}
