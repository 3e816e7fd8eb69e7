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
        "{THREE}[[action]]\nat = 3\nset = {{ element = 'k', property = 'sink', value = 1 }}\n\
         [[action]]\nat = 3\nunlink = {{ from = 'k', to = 's' }}\n\
         [[action]]\nat = 5\nseek = {{ byte = 7 }}\n"
    ));
    assert_eq!(
        missed(&outcome),
        [
            "a.toml:3: it could not be done: k: element fakesink has no property `sink`",
            "a.toml:6: it could not be done: k does not feed s",
            "a.toml:9: it could not be done: s cannot go there: it counts frames and times, not bytes (flow/unsupported)",
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
            "a.toml:5:8: `action[0].seek.frame` is missing",
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
        assert_eq!(
            refused(&format!("{THREE}[[action]]\n{table}\n")),
            want,
            "{table}"
        );
    }
}
