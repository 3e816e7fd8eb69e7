//! B36: frames 0, 3 and 7 have no time. As an error, it names who first let one through and which;
//! those that are filled in are flagged; a synchroniser never takes an absent time for 0.

mod stamped;

use stamped::{known, run, sink, tally, times, told};
use tickpipe::components::buffer::BufferFlags;
use tickpipe::{Engine, Report, State, Verdict};

const CAPS: &str = "caps=video/x-raw,format=I420,width=16,height=16,framerate=25/1";

fn mixed(stamps: &str, between: &str) -> String {
    format!(
        "stampsrc name=camera stamps={stamps} {CAPS} ! {between} ! overlay name=mix ! y4menc name=mux ! fakesink name=out \
         videotestsrc num-buffers=9 ! video/x-raw,width=8,height=8,framerate=25/1 ! mix."
    )
}

/// Errors and occurrences: whose, what, and which buffer.
fn told_of(report: &Report) -> Vec<(String, String, Option<u64>)> {
    let messages = report.messages.iter();
    let of = messages.filter(|m| m.kind == "error" || m.kind == "occurrence");
    of.map(|m| {
        let element = m.element.clone().unwrap_or_default();
        let code = m.code.clone().unwrap_or_default();
        (element, code, m.occurrence.as_ref().map(|o| o.index))
    })
    .collect()
}

#[test]
fn b36_an_error_names_who_first_let_it_through() {
    // By way of elements that make new buffers: they had it without a time already.
    let between = "videoconvert ! video/x-raw,format=I420,width=16 ! videoscale ! video/x-raw,width=32,height=32";
    for (stamps, which) in [("none,1..8", 0), ("0..2,none,4..8", 3)] {
        let report = run(&mixed(stamps, between));
        assert_eq!(report.verdict, Verdict::Failed);
        let seen = told_of(&report);
        let want = [
            ("camera".to_owned(), "missing-stamp".to_owned(), Some(which)),
            ("mix".to_owned(), "no-timestamp".to_owned(), None),
        ];
        assert_eq!(seen, want, "{stamps}");
        // Without a frame there is a header all the same.
        assert_eq!(sink(&report, "out").buffers, which.max(1));
        assert!(sink(&report, "out").eos);
    }
}

#[test]
fn b36_the_rules_fail_at_the_first() {
    let report = run(&mixed("0..2,none,4..8", "stamps name=check"));
    assert_eq!(report.verdict, Verdict::Failed);
    let row = |e: &str, c: &str, i| (e.to_owned(), c.to_owned(), i);
    assert_eq!(
        told_of(&report),
        [
            row("check", "missing-stamp", Some(3)),
            row("camera", "missing-stamp", Some(3)),
            row("check", "no-timestamp", None),
        ]
    );
}

#[test]
fn b36_filled_from_the_rate() {
    let between = "stamps name=check missing=from-rate";
    let report = run(&mixed("none,1..2,none,4..6,none,8", between));
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(
        tally(&report, "check"),
        told(&[("missing-stamp", "derived", 3)])
    );
    let sync = &report.sync[0];
    let all: Vec<_> = (0..9u64)
        .map(|i| (i as i64, vec![Some(i), Some(i)]))
        .collect();
    assert_eq!(sync.sets, all);
    // The end carries no frame.
    assert_eq!(sink(&report, "out").buffers, 9);
}

#[test]
fn b36_the_last_is_held() {
    let text = "stampsrc stamps=0..2,none,4..6,none,8 time-base=1/25 ! stamps name=check missing=hold-last ! fakesink name=out";
    let report = run(text);
    assert_eq!(times(&report, "out"), known([0, 1, 2, 2, 4, 5, 6, 6, 8]));
    assert_eq!(
        tally(&report, "check"),
        told(&[("missing-stamp", "derived", 2)])
    );
}

#[test]
fn b36_filled_ones_are_flagged() {
    let mut engine = Engine::new().expect("an engine");
    let text = "stampsrc stamps=0..2,none,4..8 caps=video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1 \
                ! stamps missing=from-rate ! hold name=last buffers=9 ! fakesink";
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.set_state(pipeline, State::Paused);
    for _ in 0..20 {
        engine.tick();
    }
    let mut kept: Vec<_> = Vec::new();
    for entity in engine.buffers() {
        let view = engine.buffer(entity).expect("a buffer");
        if view.pool == "stamps0.src" && view.references > 0 {
            kept.push((view.meta.index, view.meta.pts, view.meta.flags));
        }
    }
    assert_eq!(kept, [(3, Some(3), BufferFlags::DERIVED)]);
}
