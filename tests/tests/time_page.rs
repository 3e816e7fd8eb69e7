//! The lines of docs/time.md run.

#![cfg(feature = "video")]

mod stamped;

use tickpipe::{ClockMode, Verdict};

#[test]
fn the_lines_of_the_page_run() {
    let page = include_str!("../../docs/time.md");
    let lines = page
        .lines()
        .filter_map(|l| l.strip_prefix("tickpipe launch "));
    let mut ran = 0;
    for line in lines {
        let (clock, line) = match line.strip_prefix("--clock virtual ") {
            Some(rest) => (ClockMode::Virtual, rest),
            None => (ClockMode::Free, line),
        };
        let (_, report) = stamped::run_with(line.trim_matches('\''), clock);
        assert_eq!(report.verdict, Verdict::Done, "{line}");
        ran += 1;
    }
    assert_eq!(ran, 6);
}
