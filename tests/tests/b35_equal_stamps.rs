//! B35: 5,000 frames of which eight have the time of the one before. Passed on as they are none is
//! lost; at a constant or variable rate each drop and duplicate is told with index and reason.

mod stamped;

use stamped::{run, sink, tally, told};
use tickpipe::{Report, Verdict};

/// Frame 600 i has the time of the one before it, for i from 1 to 8; those after it go on.
fn stamps() -> String {
    let mut runs = vec!["0..599".to_owned()];
    for i in 1..=8i64 {
        let last = if i < 8 { 600 * (i + 1) - 1 } else { 4999 };
        runs.push(format!("{}..{}", 600 * i - i, last - i));
    }
    runs.join(",")
}

fn source() -> String {
    format!(
        "stampsrc stamps={} caps=video/x-raw,format=GRAY8,width=2,height=2,framerate=25/1",
        stamps()
    )
}

fn indexes(report: &Report, element: &str, deed: &str) -> Vec<u64> {
    let of = report.messages.iter();
    let of = of.filter(|m| m.element.as_deref() == Some(element));
    let of = of.filter_map(|m| m.occurrence.as_ref());
    of.filter(|o| o.deed == deed).map(|o| o.index).collect()
}

#[test]
fn b35_passed_on_as_they_are() {
    for rules in ["", "mode=passthrough"] {
        let text = format!(
            "{} ! stamps name=check {rules} ! fakesink name=out",
            source()
        );
        let report = run(&text);
        assert_eq!(report.verdict, Verdict::Done);
        assert_eq!(sink(&report, "out").buffers, 5000);
        assert_eq!(
            tally(&report, "check"),
            told(&[("equal-stamp", "passed", 8)])
        );
    }
}

#[test]
fn b35_strict_fails_at_the_first() {
    let text = format!(
        "{} ! stamps name=check mode=strict ! fakesink name=out",
        source()
    );
    let report = run(&text);
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(indexes(&report, "check", "failed"), [600]);
}

#[test]
fn b35_at_a_variable_rate_each_drop_is_told() {
    let text = format!(
        "{} ! stamps name=check mode=vfr ! fakesink name=out",
        source()
    );
    let report = run(&text);
    assert_eq!(sink(&report, "out").buffers, 4992);
    assert_eq!(
        tally(&report, "check"),
        told(&[("equal-stamp", "dropped", 8)])
    );
    let all: Vec<u64> = (1..=8).map(|i| 600 * i).collect();
    assert_eq!(indexes(&report, "check", "dropped"), all);
}

#[cfg(feature = "video")]
#[test]
fn b35_at_a_constant_rate_each_drop_is_told() {
    let text = format!(
        "{} ! videorate name=rate ! video/x-raw,framerate=25/1 ! fakesink name=out",
        source()
    );
    let report = run(&text);
    // The last of 5,000 frames has time 4991.
    assert_eq!(sink(&report, "out").buffers, 4992);
    let both = [("equal-stamp", "passed", 8), ("rate", "dropped", 8)];
    assert_eq!(tally(&report, "rate"), told(&both));
    let all: Vec<u64> = (1..=8).map(|i| 600 * i).collect();
    assert_eq!(indexes(&report, "rate", "dropped"), all);
}
