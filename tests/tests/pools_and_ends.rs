//! Small graphs in which a pool, an end, a change of caps or a silent source once made the others wait
//! for ever, and must not.

#![cfg(feature = "video")]

use tickpipe::{Engine, Holder, Report, RunOptions, State};

fn run(text: &str) -> Report {
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = engine
        .launch("main", text)
        .map_err(|e| e.render(text))
        .expect("a graph");
    let options = RunOptions {
        max_ticks: Some(20_000),
        ..RunOptions::default()
    };
    engine.run(pipeline, &options, &mut ())
}

fn done(text: &str, sinks: &[u64]) {
    let report = run(text);
    assert_eq!(report.verdict.name(), "done", "{text}: {:?}", report.stall);
    let taken: Vec<u64> = report.sinks.iter().map(|s| s.buffers).collect();
    assert_eq!(taken, sinks, "{text}");
    assert!(report.pools.iter().all(|p| p.out == 0), "{text}");
}

#[test]
fn an_end_needs_no_buffer() {
    for source in ["fakesrc", "videotestsrc", "capssrc", "poolsrc"] {
        done(
            &format!(
                "{source} num-buffers=4 max-buffers=4 ! hold buffers=4 declared=false ! fakesink"
            ),
            &[4],
        );
    }
    for element in ["y4menc", "videoconvert ! video/x-raw,format=RGB"] {
        let (name, rest) = element.split_once(' ').unwrap_or((element, ""));
        done(
            &format!(
                "videotestsrc num-buffers=4 ! video/x-raw,format=I420 ! {name} max-buffers=4 {rest} ! hold buffers=4 declared=false ! fakesink"
            ),
            &[4],
        );
    }
}

#[test]
fn what_may_be_silent_is_waited_for_by_nobody() {
    let silent = "silentsrc may-be-silent=true";
    done(
        &format!("{silent} ! fakesink fakesrc num-buffers=4 ! fakesink"),
        &[0, 4],
    );
    done(
        &format!("funnel name=f ! fakesink fakesrc num-buffers=20 ! f. {silent} ! f."),
        &[20],
    );
    done(
        &format!("join name=j ! fakesink fakesrc num-buffers=20 ! j. {silent} ! queue ! j."),
        &[20],
    );
    done(
        &format!("join name=j ! fakesink {silent} ! j. {silent} ! j."),
        &[0],
    );
}

#[test]
fn caps_that_change_go_behind_what_is_kept_and_take_no_room() {
    let changes = r#"caps="video/x-raw,width=10" changes="3: video/x-raw,width=20""#;
    for hold in 0..5 {
        done(
            &format!(
                "capssrc {changes} num-buffers=9 ! tee name=t ! hold buffers={hold} ! join name=j ! fakesink t. ! j."
            ),
            &[18],
        );
    }
    let changes = r#"caps="video/x-raw,width=10" changes="2: video/x-raw,width=20 | 4: video/x-raw,width=30 | 6: video/x-raw,width=10""#;
    for hold in [1, 7, 20] {
        done(
            &format!(
                "capssrc {changes} num-buffers=40 ! tee name=t t. ! hold buffers={hold} ! fakesink t. ! fakesink"
            ),
            &[40, 40],
        );
    }
}

#[test]
fn branches_of_other_rates_meet() {
    done(
        "videotestsrc num-buffers=60 ! tee name=t ! join name=j ! fakesink videotestsrc num-buffers=5 ! video/x-raw,framerate=7/3 ! overlay name=o ! j. t. ! o.sink_1",
        // Eight frames of the second input come after the end of the first.
        &[73],
    );
    done(
        "videotestsrc num-buffers=10 ! video/x-raw,framerate=5/1 ! overlay name=o ! hold buffers=4 ! fakesink videotestsrc num-buffers=60 ! tee name=t ! fakesink t. ! o.sink_1",
        &[15, 60],
    );
}

#[test]
fn a_sink_behind_an_overlay_waits_for_none_of_its_inputs() {
    done(
        "videotestsrc num-buffers=30 ! tee name=t ! overlay name=o max-buffers=5 ! hold buffers=2 ! fakesink t. ! o.sink_1",
        &[30],
    );
}

#[test]
fn a_late_twin_waits_for_nobody() {
    done(
        "videotestsrc num-buffers=40 max-buffers=5 ! tee name=t ! hold buffers=4 ! funnel name=f ! join name=j ! fakesink t. ! f. t. ! j.",
        &[120],
    );
}

#[test]
fn a_pool_that_is_asked_for_too_much_passes_its_limit() {
    let report = run("poolsrc buffers=65536 num-buffers=5 ! fakesink");
    let errors = report.messages.iter().filter(|m| m.kind == "error");
    let errors: Vec<_> = errors
        .map(|m| (m.domain.as_deref(), m.code.as_deref()))
        .collect();
    assert_eq!(errors, [(Some("pool"), Some("limit"))]);
}

#[test]
fn who_did_not_declare_is_blamed() {
    let report = run(
        "fakesrc num-buffers=60 max-buffers=9 ! hold name=honest buffers=6 ! hold name=liar buffers=5 declared=false ! fakesink",
    );
    let stall = report.stall.expect("it stalls");
    assert_eq!(
        (stall.cause.name(), stall.element.as_str()),
        ("pool-held", "liar")
    );
    let report = run("poolsrc num-buffers=40 buffers=6 lose-every=3 ! hold buffers=4 ! fakesink");
    let stall = report.stall.expect("it stalls");
    assert_eq!(
        (stall.cause.name(), stall.element.as_str()),
        ("buffers-lost", "poolsrc0")
    );
}

#[test]
fn each_holder_of_a_buffer_is_seen() {
    let text = "fakesrc ! tee name=t t. ! hold name=a buffers=3 ! fakesink t. ! hold name=b buffers=3 ! fakesink";
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.set_state(pipeline, State::Playing);
    engine.advance(0..1, 3);
    let seen: Vec<_> = engine
        .buffers()
        .into_iter()
        .filter_map(|b| engine.buffer(b))
        .collect();
    let both = ["a", "b"].map(|name| Holder::Element(name.to_owned()));
    let kept = seen
        .iter()
        .filter(|b| b.holders == both && b.references == 2);
    assert!(kept.count() >= 3, "{seen:?}");
}
