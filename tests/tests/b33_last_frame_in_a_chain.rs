//! B33: what goes in comes out, the last frame with its duration too, whatever the order of elements
//! that make one frame of one: a synchroniser, a scaler, a rate, a delay, a tee that meets again.

#![cfg(feature = "video")]

mod stamped;

use proptest::prelude::*;
use stamped::{known, run, sink, tally, times};
use tickpipe::components::buffer::BufferFlags;
use tickpipe::{Engine, Report, State, Verdict};

/// The elements; each is given a number, so that there may be several.
const KINDS: usize = 5;

fn element(kind: usize, n: usize, frames: usize) -> (String, String) {
    match kind {
        // The picture on top has fewer frames than the leading input: its last is repeated.
        0 => (
            format!("overlay name=mix{n}"),
            format!(
                "videotestsrc num-buffers={} ! video/x-raw,width=4,height=4,framerate=25/1 ! mix{n}. ",
                frames.div_ceil(2)
            ),
        ),
        1 => {
            let size = 16 + 2 * n;
            let text = format!("videoscale ! video/x-raw,width={size},height={size}");
            (text, String::new())
        }
        2 => ("videorate".to_owned(), String::new()),
        3 => ("hold buffers=1".to_owned(), String::new()),
        // The branches meet in a synchroniser; what is laid on top lies beside the picture.
        _ => (
            format!("tee name=fork{n} ! overlay name=meet{n} x=1000"),
            format!("fork{n}. ! hold buffers=1 ! meet{n}. "),
        ),
    }
}

fn chain(kinds: &[usize], frames: usize, end: &str) -> String {
    let mut text = format!(
        "videotestsrc num-buffers={frames} ! video/x-raw,format=I420,width=16,height=16,framerate=25/1"
    );
    let mut branches = String::new();
    for (n, kind) in kinds.iter().enumerate() {
        let (element, branch) = element(*kind, n, frames);
        text += " ! ";
        text += &element;
        branches += &branch;
    }
    format!("{text} ! {end} {branches}")
}

fn in_is_out(kinds: &[usize], frames: usize) -> Report {
    let text = chain(kinds, frames, "fakesink name=out");
    let report = run(&text);
    assert_eq!(report.verdict, Verdict::Done, "{text}");
    assert_eq!(times(&report, "out"), known(0..frames as i64), "{text}");
    assert!(sink(&report, "out").eos, "{text}");
    report
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, first) in of.iter().enumerate() {
        let rest: Vec<usize> = of[..i].iter().chain(&of[i + 1..]).copied().collect();
        for mut tail in permutations(&rest) {
            tail.insert(0, *first);
            all.push(tail);
        }
    }
    all
}

#[test]
fn b33_one_and_two_frames_in_every_order() {
    let all = permutations(&[0, 1, 2, 3, 4]);
    assert_eq!(all.len(), 120);
    for kinds in &all {
        for frames in [1, 2] {
            let report = in_is_out(kinds, frames);
            assert!(tally(&report, "videorate0").is_empty(), "{kinds:?}");
        }
    }
}

#[test]
fn b33_a_hundred_frames_in_every_order() {
    for kinds in &permutations(&[0, 1, 2, 3, 4]) {
        in_is_out(kinds, 100);
    }
}

#[test]
fn b33_the_last_frame_keeps_its_duration() {
    for kinds in &permutations(&[0, 1, 2, 3, 4]) {
        let mut engine = Engine::new().expect("an engine");
        let text = chain(kinds, 2, "hold name=last buffers=2 ! fakesink name=out");
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        engine.set_state(pipeline, State::Paused);
        for _ in 0..100 {
            engine.tick();
        }
        // What is held behind the chain, or in front of the sink.
        let mut spans: Vec<_> = Vec::new();
        for entity in engine.buffers() {
            let view = engine.buffer(entity).expect("a buffer");
            let held = |h: &tickpipe::Holder| matches!(h, tickpipe::Holder::Queued(n) | tickpipe::Holder::Element(n) if n == "out" || n == "last");
            if view.meta.pts.is_some() && view.holders.iter().any(held) {
                assert_eq!(view.meta.flags & BufferFlags::DERIVED, BufferFlags::empty());
                spans.push((view.meta.pts, view.meta.duration));
            }
        }
        assert!(spans.contains(&(Some(1), Some(1))), "{text}: {spans:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn b33_any_chain_is_one_to_one(
        kinds in proptest::collection::vec(0..KINDS, 0..9),
        frames in 0usize..40,
    ) {
        in_is_out(&kinds, frames);
    }
}
