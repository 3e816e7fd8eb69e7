//! A device that grants fewer buffers than it was asked for: what will do runs, with one warning;
//! what will not is refused before the first buffer, with the sum. It never hangs, and never uses a
//! buffer that was not granted.
//!
//! (B13: some programs took any shortfall as fatal though it would have done, others went on with
//! too few and hung.)

mod negotiating;

use negotiating::{engine, launch, told};
use tickpipe::components::fabric::PipelineFabric;
use tickpipe::{Observer, Report, RunOptions};

/// The most buffers that were there, and out at once.
#[derive(Default)]
struct Used {
    there: u32,
    out: u32,
}

impl Observer for Used {
    fn tick(&mut self, p: &PipelineFabric) {
        for (at, _) in p.buffers.refs.iter().enumerate().filter(|r| *r.1 > 0) {
            let pool = &p.buffers.pools[p.buffers.pool[at].index()];
            let slot = at as u32 - pool.first.0;
            assert!(slot < pool.count, "slot {slot} of {}", pool.count);
        }
        if let Some(pool) = p.buffers.pools.first() {
            self.there = self.there.max(pool.count);
            self.out = self.out.max(pool.out());
        }
    }
}

fn run(text: &str) -> (Report, Used) {
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    let mut used = Used::default();
    let options = RunOptions {
        record: true,
        max_ticks: Some(1000),
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut used);
    (report, used)
}

fn messages(report: &Report, kind: &str) -> Vec<(Option<String>, String, String)> {
    let of_kind = report.messages.iter().filter(|m| m.kind == kind);
    let text = |t: &Option<String>| t.clone().unwrap_or_default();
    of_kind
        .map(|m| (m.element.clone(), text(&m.domain), text(&m.code)))
        .collect()
}

/// Runs a graph whose device is asked for `asked` buffers, grants `grants` and needs `need`.
fn check(text: &str, (asked, grants, need): (u32, u32, u32), terms: &str, frames: u64) {
    let (report, used) = run(text);
    let device = Some("poolsrc0".to_owned());
    let pool = |code: &str| (device.clone(), "pool".to_owned(), code.to_owned());
    let granted = asked.min(grants);
    if granted < need {
        assert_eq!(report.verdict.name(), "failed", "{text}");
        assert_eq!(messages(&report, "error"), [pool("refused")], "{text}");
        assert_eq!(messages(&report, "warning"), [], "{text}");
        assert_eq!((used.there, report.pools.len()), (0, 0), "{text}");
        let error = format!(
            "poolsrc0: pool poolsrc0.src needs {need} buffers ({terms}) and was granted {granted} \
             (pool/refused)"
        );
        assert_eq!(told(text), error);
        return;
    }
    assert_eq!(report.verdict.name(), "done", "{text}");
    assert_eq!(messages(&report, "error"), [], "{text}");
    let warnings = if granted < asked {
        vec![pool("fewer")]
    } else {
        vec![]
    };
    assert_eq!(messages(&report, "warning"), warnings, "{text}");
    assert_eq!(report.pools[0].buffers, granted, "{text}");
    assert_eq!(used.there, granted, "{text}");
    assert!(used.out <= granted && used.out > 0, "{text}");
    for sink in &report.sinks {
        assert_eq!((sink.buffers, sink.eos), (frames, true), "{text}");
    }
}

#[test]
fn three_of_six_will_do_and_two_will_not() {
    for grants in 0..=6 {
        let text = format!("poolsrc buffers=6 grants={grants} min-buffers=2 ! fakesink hold=1");
        check(&text, (6, grants, 3), "poolsrc0 2 + fakesink0 1", 10);
    }
}

#[test]
fn with_other_sizes_and_holders() {
    for (size, least, number) in [(1, 1, 1), (4096, 2, 30), (100_000, 4, 7)] {
        for (holder, held) in [
            ("fakesink hold=2", vec![("fakesink0", 2)]),
            ("hold buffers=2 ! fakesink", vec![("hold0", 2)]),
            (
                "queue ! identity ! hold buffers=1 ! poolsink hold=3",
                vec![("hold0", 1), ("poolsink0", 3)],
            ),
            ("tee name=t ! queue ! fakesink t. ! fakesink", vec![]),
        ] {
            let sum: u32 = held.iter().map(|h| h.1).sum();
            let mut terms = format!("poolsrc0 {least}");
            for (name, buffers) in held {
                terms += &format!(" + {name} {buffers}");
            }
            for grants in 0..=10 {
                let text = format!(
                    "poolsrc num-buffers={number} size={size} buffers=8 grants={grants} \
                     min-buffers={least} ! {holder}"
                );
                check(&text, (8, grants, least + sum), &terms, number);
            }
        }
    }
}

#[test]
fn what_downstream_asks_for_at_least_counts_too() {
    for grants in 0..=6 {
        let text = format!("poolsrc buffers=6 grants={grants} ! poolsink min-buffers=4 hold=1");
        let terms = "poolsrc0 1 + poolsink0 1, and at least 4 are asked for downstream";
        check(&text, (6, grants, 4), terms, 10);
    }
}

#[test]
fn no_more_are_asked_for_than_there_may_be() {
    let text = "poolsrc buffers=6 max-buffers=4 ! poolsink hold=1";
    let (report, _) = run(text);
    assert_eq!(report.pools[0].buffers, 4);
    assert_eq!(messages(&report, "warning"), []);
    let text = "poolsrc buffers=6 max-buffers=4 ! fakesink hold=4";
    let error = "poolsrc0: pool poolsrc0.src needs 5 buffers (poolsrc0 1 + fakesink0 4) and may \
                 have 4 (pool/refused)";
    assert_eq!(told(text), error);
}

#[test]
fn buffers_that_are_lost_are_missing_until_the_last() {
    let (report, used) = run("poolsrc buffers=6 lose-every=3 num-buffers=15 ! fakesink");
    assert_eq!(report.verdict.name(), "done");
    assert_eq!((report.sinks[0].buffers, used.there), (10, 6));
    let (report, _) = run("poolsrc buffers=6 lose-every=3 num-buffers=18 ! fakesink");
    assert_eq!(
        report.verdict.name(),
        "failed",
        "the last is lost at the end"
    );
    let (report, _) = run("poolsrc buffers=6 lose-every=3 num-buffers=-1 ! fakesink");
    assert_eq!(report.verdict.name(), "failed");
    assert_eq!(report.sinks[0].buffers, 12);
    let lost = (
        Some("poolsrc0".to_owned()),
        "resource".to_owned(),
        "failed".to_owned(),
    );
    assert_eq!(messages(&report, "error"), [lost]);
}
