//! What a report counts adds up, also where links are made anew and elements leave: what was sent to an
//! element is what it took, what stands in its queues, and what was let go before it took it.

use tickpipe::{ElementReport, Report};
use tickpipe_scenarios::{Outcome, Overrides, Scenario};

fn outcome(text: &str) -> Outcome {
    let scenario = Scenario::from_toml("a.toml", text).expect("is right");
    let overrides = Overrides {
        check: Some(true),
        ..Overrides::default()
    };
    scenario.run(&overrides, &mut ()).expect("can be built")
}

fn report(text: &str) -> Report {
    outcome(text).report
}

fn scenario(launch: &str, actions: &[(u64, &str)]) -> String {
    let mut text = format!("[graph]\nlaunch = '{launch}'\n");
    for (at, action) in actions {
        text += &format!("[[action]]\nat = {at}\n{action}\n");
    }
    text
}

fn element<'a>(report: &'a Report, name: &str) -> &'a ElementReport {
    let mut elements = report.elements.iter();
    elements.find(|e| e.name == name).expect("it is there")
}

/// In, out, discarded, sent where nothing is linked.
fn counts(report: &Report, name: &str) -> [u64; 4] {
    let e = element(report, name);
    [e.buffers_in, e.buffers_out, e.discarded, e.unlinked]
}

#[test]
fn an_element_that_left_keeps_its_line() {
    let report = report(&scenario(
        "stampsrc stamps=0..99 time-base=1/25 name=src ! queue name=q ! fakesink name=a",
        &[(12, "remove = { element = \"q\" }")],
    ));
    let names = report.elements.iter().map(|e| (e.name.as_str(), e.removed));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [("src", false), ("q", true), ("a", false)]
    );
    assert_eq!(counts(&report, "src"), [0, 40, 0, 4]);
    assert_eq!(counts(&report, "q"), [36, 36, 0, 0]);
    assert_eq!(counts(&report, "a"), [36, 0, 0, 0]);
    let mut told = report.messages.iter().filter(|m| m.kind == "removed");
    assert_eq!(told.next().and_then(|m| m.element.as_deref()), Some("q"));
}

#[test]
fn what_was_discarded_with_an_element_is_told() {
    let report = report(&scenario(
        "fakesrc num-buffers=90 name=src ! queue name=q ! fakesink name=a",
        &[(3, "remove = { element = \"q\", removal = \"discard\" }")],
    ));
    let q = element(&report, "q");
    assert!(q.removed && q.discarded > 0, "{q:?}");
    assert_eq!(q.dropped, q.discarded);
    let told: Vec<_> = q.occurrences.iter().map(|o| (o.reason, o.count)).collect();
    assert_eq!(told, [("removed", q.discarded)]);
    let src = element(&report, "src");
    assert_eq!(
        src.buffers_out - src.unlinked,
        q.buffers_in + q.discarded,
        "{report:?}"
    );
}

#[test]
fn a_link_that_was_made_anew_counts_with_the_one_before() {
    let report = report(&scenario(
        "fakesrc num-buffers=100 name=src ! identity name=i ! fakesink name=k",
        &[
            (10, "unlink = { from = \"src\", to = \"i\" }"),
            (10, "link = { from = \"src\", to = \"i\" }"),
        ],
    ));
    assert_eq!(counts(&report, "src"), [0, 100, 0, 0]);
    assert_eq!(counts(&report, "i"), [100, 100, 0, 0]);
    assert_eq!(counts(&report, "k"), [100, 0, 0, 0]);
}

#[test]
fn who_had_ended_before_it_was_unlinked_has_its_end_and_counts() {
    let report = report(&scenario(
        "fakesrc name=x num-buffers=50 ! fakesink name=s fakesrc name=y num-buffers=5 ! fakesink name=z",
        &[(8, "unlink = { from = \"y\", to = \"z\" }")],
    ));
    assert_eq!(counts(&report, "y"), [0, 5, 0, 0]);
    let sinks: Vec<_> = report.sinks.iter().map(|s| (s.buffers, s.eos)).collect();
    assert_eq!(sinks, [(50, true), (5, true)]);
}

#[test]
fn a_sink_that_ended_in_the_last_tick_is_done() {
    let report = report(&scenario(
        "fakesrc num-buffers=30 ! tee name=t t. ! queue ! fakesink t. ! fakesink",
        &[],
    ));
    for e in &report.elements {
        assert_eq!(e.readiness, "done", "{}", e.name);
    }
}

#[test]
fn a_buffer_that_came_too_late_was_not_taken() {
    let text = scenario(
        "videotestsrc is-live=true num-buffers=50 ! video/x-raw,width=16,height=16,framerate=25/1 ! \
         work time=60ms ! fakesink name=s sync=true max-lateness=20000000",
        &[],
    );
    let report = report(&(text + "[run]\nclock = \"virtual\"\n"));
    let s = element(&report, "s");
    let late: u64 = s
        .occurrences
        .iter()
        .filter(|o| o.reason == "late")
        .map(|o| o.count)
        .sum();
    assert!(late > 0, "{s:?}");
    assert_eq!((s.discarded, s.dropped), (late, late));
    assert_eq!(report.sinks[0].buffers, s.buffers_in);
    assert_balanced(&report);
}

/// What was sent somewhere is somewhere.
fn assert_balanced(report: &Report) {
    let sum = |of: fn(&ElementReport) -> u64| report.elements.iter().map(of).sum::<u64>();
    assert_eq!(
        sum(|e| e.buffers_out - e.unlinked),
        sum(|e| e.buffers_in + e.queued + e.discarded),
        "{}",
        report.to_json()
    );
    for e in &report.elements {
        assert!(e.discarded <= e.dropped, "{}", e.name);
    }
}

#[test]
fn counts_add_up_whatever_is_done() {
    const TEE: &str = "fakesrc num-buffers=200 name=s ! tee name=t t. ! queue name=q ! identity name=i ! \
                       fakesink name=a t. ! queue leaky=downstream max-size-buffers=3 name=r ! fakesink name=b";
    let removes =
        |name: &str, how: &str| format!("remove = {{ element = \"{name}\", removal = \"{how}\" }}");
    let unlinks = |from: &str, to: &str| format!("unlink = {{ from = \"{from}\", to = \"{to}\" }}");
    let links = |from: &str, to: &str| format!("link = {{ from = \"{from}\", to = \"{to}\" }}");
    let mut cases: Vec<Vec<(u64, String)>> = vec![vec![]];
    for at in [1, 2, 7, 30] {
        for how in ["drain", "discard"] {
            for name in ["q", "i", "a", "t", "s"] {
                cases.push(vec![(at, removes(name, how))]);
            }
            let all = ["s", "t", "q", "i", "a", "r", "b"];
            cases.push(all.iter().map(|name| (at, removes(name, how))).collect());
        }
        for (from, to) in [("s", "t"), ("t", "q"), ("q", "i"), ("i", "a")] {
            cases.push(vec![(at, unlinks(from, to))]);
            cases.push(vec![(at, unlinks(from, to)), (at, links(from, to))]);
            cases.push(vec![(at, unlinks(from, to)), (at + 5, links(from, to))]);
        }
        for flush in ["discard", "start", "discard-and-end"] {
            cases.push(vec![
                (at, format!("flush = \"{flush}\"")),
                (at + 9, "flush = \"stop\"".to_owned()),
            ]);
        }
        cases.push(vec![
            (at, "state = \"paused\"".to_owned()),
            (at + 4, removes("q", "discard")),
        ]);
    }
    for case in cases {
        let actions: Vec<(u64, &str)> = case.iter().map(|(at, a)| (*at, a.as_str())).collect();
        let outcome = outcome(&scenario(TEE, &actions));
        assert!(outcome.report.invariant.is_none(), "{case:?}");
        assert_balanced(&outcome.report);
    }
}
