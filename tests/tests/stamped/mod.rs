//! Runs of launch lines with invariants checked in every tick, for tests of times.
#![allow(dead_code, reason = "each test uses its own part")]

use tickpipe::{Engine, EngineOptions, Report, RunOptions, SinkReport};

/// Runs a line; every buffer is home at its end, and all that always holds did.
pub fn run(text: &str) -> Report {
    run_with(text, tickpipe::ClockMode::Free).1
}

/// The same with a clock, and the engine afterwards.
pub fn run_with(text: &str, clock: tickpipe::ClockMode) -> (Engine, Report) {
    let mut engine = Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    engine.set_clock(pipeline, clock);
    let options = RunOptions {
        max_ticks: Some(200_000),
        record: true,
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut ());
    assert_eq!(report.invariant, None, "{text}");
    assert!(report.pools.iter().all(|p| p.out == 0), "{text}");
    assert!(report.leaks.is_empty(), "{text}");
    (engine, report)
}

/// A sink of a run.
pub fn sink<'a>(report: &'a Report, name: &str) -> &'a SinkReport {
    let found = report.sinks.iter().find(|s| s.name == name);
    found.expect("a sink of this name")
}

/// The times that a sink took, in units of their time base.
pub fn times(report: &Report, name: &str) -> Vec<Option<i64>> {
    sink(report, name).frames.iter().map(|f| f.pts).collect()
}

/// Times that are all known.
pub fn known(values: impl IntoIterator<Item = i64>) -> Vec<Option<i64>> {
    values.into_iter().map(Some).collect()
}

/// What happened to buffers in an element: reason, deed and how often.
pub fn tally(report: &Report, name: &str) -> Vec<(String, String, u64)> {
    let found = report.elements.iter().find(|e| e.name == name);
    let tally = found.map(|e| &e.occurrences).into_iter().flatten();
    tally
        .map(|t| (t.reason.to_string(), t.deed.to_string(), t.count))
        .collect()
}

/// The same as texts, to compare with.
pub fn told(rows: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    let row = |r: &(&str, &str, u64)| (r.0.to_owned(), r.1.to_owned(), r.2);
    rows.iter().map(row).collect()
}
