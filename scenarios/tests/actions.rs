//! What is done to a graph while it runs: each deed does what it says, and wrong ones are refused
//! with their place.

use tickpipe::Verdict;
use tickpipe_scenarios::{Outcome, Overrides, Scenario};

fn outcome(text: &str) -> Outcome {
    let scenario = Scenario::from_toml("a.toml", text).expect("is right");
    let overrides = Overrides {
        record: true,
        check: Some(true),
        ..Overrides::default()
    };
    scenario.run(&overrides, &mut ()).expect("can be built")
}

fn refused(text: &str) -> String {
    let scenario = Scenario::from_toml("a.toml", text);
    let built = scenario.and_then(|s| {
        let mut engine = tickpipe::Engine::new().expect("an engine");
        s.build(&mut engine, &Overrides::default()).map(drop)
    });
    built.expect_err("is wrong").to_string()
}

/// Frames of a sink by their times.
fn times(outcome: &Outcome, sink: &str) -> Vec<i64> {
    let sinks = &outcome.report.sinks;
    let sink = sinks.iter().find(|s| s.name == sink).expect("it is there");
    sink.frames.iter().filter_map(|f| f.pts).collect()
}

fn missed(outcome: &Outcome) -> Vec<String> {
    outcome.missed.iter().map(|m| m.to_string()).collect()
}

const THREE: &str = "[graph]\nlaunch = 'videotestsrc num-buffers=300 name=s ! video/x-raw,width=16,height=16 ! \
                     identity name=i ! fakesink name=k'\n";

#[test]
fn a_seek_goes_there_and_nothing_stale_comes_behind() {
    let outcome = outcome(&format!(
        "{THREE}[[action]]\nat = 10\nseek = {{ frame = 200, stop = 210 }}\n"
    ));
    assert_eq!(outcome.report.verdict, Verdict::Done);
    let all = times(&outcome, "k");
    let at = all.iter().position(|t| *t >= 200).expect("it went there");
    assert_eq!(&all[at..], (200..210).collect::<Vec<_>>());
    assert_eq!(&all[..at], (0..at as i64).collect::<Vec<_>>());
    assert!(at < 60, "it was at once");
}

#[test]
fn a_pause_loses_nothing() {
    let outcome = outcome(&format!(
        "{THREE}[[action]]\nat = 9\nstate = 'paused'\n[[action]]\nat = 30\nstate = 'playing'\n"
    ));
    assert_eq!(outcome.report.verdict, Verdict::Done);
    assert_eq!(times(&outcome, "k"), (0..300).collect::<Vec<_>>());
}

#[test]
fn it_ends_where_it_was_asked_to_stay() {
    for (state, told) in [("paused", "paused"), ("ready", "ready")] {
        let outcome = outcome(&format!("{THREE}[[action]]\nat = 12\nstate = '{state}'\n"));
        assert_eq!(outcome.report.verdict, Verdict::Done, "{state}");
        let taken = outcome.report.sinks.first().map_or(0, |s| s.buffers);
        assert!(taken > 0 && taken < 300, "{state}: {taken}");
        let states = outcome.report.messages.iter();
        let states = states.filter(|m| m.kind == "state-changed");
        let codes: Vec<_> = states.filter_map(|m| m.code.as_deref()).collect();
        assert_eq!(codes[..2], ["paused", "playing"]);
        assert!(codes[2..].contains(&told), "{codes:?}");
    }
}

#[test]
fn discard_and_end_is_one_step() {
    let outcome = outcome(&format!(
        "{THREE}[[action]]\nat = 20\nflush = 'discard-and-end'\n"
    ));
    assert_eq!(outcome.report.verdict, Verdict::Done);
    let all = times(&outcome, "k");
    assert_eq!(all, (0..all.len() as i64).collect::<Vec<_>>());
    assert!(all.len() < 80);
    assert!(
        outcome.report.ticks <= 20 + 4,
        "{} ticks",
        outcome.report.ticks
    );
}

#[test]
fn elements_are_taken_out_and_linked() {
    let text = "[graph]\nlaunch = 'fakesrc num-buffers=50 ! tee name=t t. ! queue name=q ! fakesink name=a \
                t. ! fakesink name=b'\n[[action]]\nat = 6\nremove = { element = 'q' }\n\
                [[action]]\nat = 6\nremove = { element = 'a', removal = 'drain' }\n\
                [[expect]]\nsink = 'b'\nbuffers = 50\n[[expect]]\nmessage = { kind = 'removed' }\n";
    assert_eq!(missed(&outcome(text)), Vec::<String>::new());
}

#[test]
fn what_cannot_be_done_is_told_with_its_line() {
    let outcome = outcome(&format!(
        "{THREE}[[action]]\nat = 3\nunlink = {{ from = 'k', to = 's' }}\n\
         [[action]]\nat = 5\nseek = {{ byte = 7 }}\n"
    ));
    assert_eq!(
        missed(&outcome),
        [
            "a.toml:3: it could not be done: k does not feed s",
            "a.toml:6: it could not be done: s cannot go to byte 7: it counts frames and times, not bytes (flow/unsupported)",
        ]
    );
    assert_eq!(outcome.report.verdict, Verdict::ExpectationMissed);
}

#[test]
fn wrong_actions_are_refused() {
    let cases = [
        (
            "at = 1",
            "a.toml:3:1: `action[0]` says nothing that is to be done; it needs one of: state, seek, flush, set, unlink, link, remove, send",
        ),
        ("state = 'paused'", "a.toml:3:1: `action[0].at` is missing"),
        (
            "at = 1\nstate = 'stopped'",
            "a.toml:5:9: `action[0].state` = \"stopped\" is none of: ready, paused, playing",
        ),
        (
            "at = -1\nstate = 'ready'",
            "a.toml:4:6: `action[0].at` = -1 is outside 0..=9223372036854775807",
        ),
        (
            "at = 1\nstate = 'ready'\nflush = 'stop'",
            "a.toml:6:1: `action[0].flush` does not go with `state`: a table is about one thing",
        ),
        (
            "at = 1\nseek = { stop = 3 }",
            "a.toml:5:8: `action[0].seek` does not say where to; it needs one of: frame, byte, time",
        ),
        (
            "at = 1\nseek = {}",
            "a.toml:5:8: `action[0].seek` does not say where to; it needs one of: frame, byte, time",
        ),
        (
            "at = 1\nseek = { frame = 1, time = 2 }",
            "a.toml:5:21: `action[0].seek.time` does not go with `frame`: a table is about one thing",
        ),
        (
            "at = 1\nseek = { frame = 100, stop = 50 }",
            "a.toml:5:30: `action[0].seek.stop` = 50 is outside 100..=9223372036854775807",
        ),
        (
            "at = 9223372036854775808\nstate = 'ready'",
            "a.toml:4:6: `action[0].at` = 9223372036854775808 is outside 0..=9223372036854775807",
        ),
        (
            "at = 1\nset = { element = 's', property = 'num-bufers', value = 1 }",
            "a.toml:5:35: `action[0].set`: element videotestsrc has no property `num-bufers`",
        ),
        (
            "at = 1\nset = { element = 's', property = 'num-buffers', value = 'many' }",
            "a.toml:5:58: `action[0].set`: property num-buffers takes a whole number, not `many`",
        ),
        (
            "at = 1\nset = { element = 's', property = 'pattern', value = 'plaid' }",
            "a.toml:5:54: `action[0].set`: property pattern=plaid is none of: smpte",
        ),
        (
            "at = 1\nremove = { element = 'x' }",
            "a.toml:5:22: `action[0].remove.element`: the graph has no element named `x`",
        ),
        (
            "at = 1\nstate = 'ready'\nelement = 'k'",
            "a.toml:6:1: unknown key `action[0].element`; known here: at, flush, link, remove, seek, send, set, state, unlink",
        ),
    ];
    for (table, want) in cases {
        let told = refused(&format!("{THREE}[[action]]\n{table}\n"));
        match want.contains("is none of: smpte") {
            true => assert!(told.starts_with(want), "{told}"),
            false => assert_eq!(told, want, "{table}"),
        }
    }
}

#[test]
fn what_the_pipeline_refuses_is_told_with_its_line() {
    let queue =
        "[graph]\nlaunch = 'fakesrc num-buffers=60 name=s ! queue name=q ! fakesink name=k'\n";
    let set = |at: u32, value: u32| {
        format!(
            "[[action]]\nat = {at}\nset = {{ element = 'q', property = 'max-size-buffers', value = {value} }}\n"
        )
    };
    let all = format!("{queue}{}{}{}", set(5, 1), set(8, 100_000), set(9, 2));
    let outcome = outcome(&all);
    assert_eq!(
        missed(&outcome),
        [
            "a.toml:6: it could not be done: buffers of q: 100000 is past the limit queue-buffers=65536 \
             (raise it with --limit queue-buffers=N) (pool/limit)"
        ]
    );
    assert_eq!(outcome.report.verdict, Verdict::ExpectationMissed);
}

#[test]
fn links_that_are_refused_are_told_with_their_lines() {
    let outcome = outcome(
        "[graph]\nlaunch = 'videotestsrc name=s num-buffers=60 ! video/x-raw,width=16,height=16 ! tee name=t ! \
         fakesink name=k  fakesrc num-buffers=9 ! capsfilter caps=video/x-raw,width=32,height=32 name=c ! fakesink name=j'\n\
         [[action]]\nat = 4\nunlink = { from = 'c', to = 'j' }\n[[action]]\nat = 30\nlink = { from = 't', to = 'j' }\n",
    );
    // What that sink had agreed on is not what the tee gives.
    let told = missed(&outcome);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("a.toml:6: it could not be done: "),
        "{told:?}"
    );
}

#[test]
fn a_source_that_knows_no_seeking_says_what_was_asked() {
    let outcome = outcome(
        "[graph]\nlaunch = 'capssrc num-buffers=99 name=src ! fakesink'\n\
         [[action]]\nat = 4\nseek = { frame = 7, stop = 9 }\n\
         [[action]]\nat = 5\nseek = { time = 40000000 }\n",
    );
    assert_eq!(
        missed(&outcome),
        [
            "a.toml:3: it could not be done: src cannot go to frame 7 until 9: it is a source that knows no seeking",
            "a.toml:6: it could not be done: src cannot go to 40000000 ns: it is a source that knows no seeking",
        ]
    );
}

#[test]
fn a_seek_before_the_start_that_is_refused_is_told_with_its_line() {
    let outcome = outcome(
        "[graph]\nlaunch = 'capssrc num-buffers=99 name=src ! fakesink'\n\
         [[action]]\nat = 0\nseek = { frame = 7 }\n",
    );
    assert_eq!(
        missed(&outcome),
        [
            "a.toml:3: it could not be done: src cannot go to frame 7: it is a source that knows no seeking (flow/refused)"
        ]
    );
}

#[test]
fn what_leaves_a_graph_that_cannot_start_is_told_with_its_line() {
    let outcome = outcome(&format!(
        "{THREE}[[action]]\nat = 0\nremove = {{ element = 'i' }}\n"
    ));
    assert_eq!(outcome.report.verdict, Verdict::Failed);
    let told = missed(&outcome);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("a.toml:3: it could not be done: pad ")
            && told[0].ends_with(" is not linked"),
        "{told:?}"
    );
    let fine = self::outcome(
        "[graph]\nlaunch = 'fakesrc num-buffers=9 name=s ! identity name=i ! fakesink name=k'\n\
         [[action]]\nat = 0\nremove = { element = 'i' }\n\
         [[action]]\nat = 0\nlink = { from = 's', to = 'k' }\n",
    );
    assert_eq!(missed(&fine), Vec::<String>::new());
    assert_eq!(fine.report.sinks[0].buffers, 9);
}

#[test]
fn a_tick_long_after_the_end_is_not_waited_for() {
    const LAST: u64 = i64::MAX as u64;
    for at in [1_000_000_000, LAST] {
        let outcome = outcome(&format!(
            "{THREE}[[action]]\nat = {at}\nseek = {{ frame = 200, stop = 210 }}\n"
        ));
        assert_eq!(outcome.report.verdict, Verdict::Done);
        let all = times(&outcome, "k");
        assert_eq!(&all[..300], (0..300).collect::<Vec<_>>());
        assert_eq!(&all[300..], (200..210).collect::<Vec<_>>());
        let seeked = outcome.report.messages.iter().find(|m| m.kind == "seeked");
        assert_eq!(seeked.map(|m| m.tick), Some(at));
        assert!(outcome.report.ticks > at && outcome.report.ticks < at + 20);
    }
}

#[test]
fn ticks_that_change_nothing_are_counted_and_not_run() {
    let far = |first: &str, second: &str| {
        format!(
            "{THREE}[[action]]\nat = 9\n{first}\n[[action]]\nat = 1000000000\n{second}\n[run]\n"
        )
    };
    for (first, second) in [
        ("state = 'paused'", "state = 'playing'"),
        ("flush = 'start'", "flush = 'stop'"),
        ("flush = 'discard-and-end'", "seek = { frame = 290 }"),
        ("state = 'ready'", "state = 'playing'"),
    ] {
        let once = outcome(&far(first, second));
        assert_eq!(once.report.verdict, Verdict::Done, "{first}");
        assert!(once.report.ticks > 1_000_000_000, "{first}");
    }
    let bounded = outcome(&(far("state = 'paused'", "state = 'playing'") + "max-ticks = 5000\n"));
    assert_eq!(bounded.report.verdict, Verdict::Failed);
    assert_eq!(bounded.report.ticks, 5000);
}

#[test]
fn a_flush_that_is_not_stopped_is_what_a_stall_tells() {
    let outcome = outcome(&format!("{THREE}[[action]]\nat = 7\nflush = 'start'\n"));
    let stall = outcome.report.stall.expect("it is stalled");
    assert_eq!(stall.cause.name(), "flush");
    assert_eq!(stall.text, "k is flushing, and the flush is not stopped");
    assert_eq!(
        stall.lines()[0],
        "k is flushing since tick 7, and no stop follows"
    );
}

/// Their places were looked for from the start of the file, each time.
#[test]
fn a_hundred_thousand_tables_are_read() {
    let mut text = THREE.to_owned();
    for at in 0..50_000 {
        text += &format!("[[action]]\nat = {at}\nstate = 'playing'\n");
    }
    for _ in 0..50_000 {
        text += "[[expect]]\nsink = 'k'\neos = true\n";
    }
    let scenario = Scenario::from_toml("a.toml", &text).expect("is right");
    let last = scenario.actions().last().map(|a| a.place.to_string());
    assert_eq!(last.as_deref(), Some("a.toml:150000:1"));
    let last = scenario.expected().last().map(|e| e.place.to_string());
    assert_eq!(last.as_deref(), Some("a.toml:300000:1"));
}
