//! What a person is told of a run: a summary of its report. Pure.

use crate::table::{Side, table};
use core::fmt;
use std::time::Duration;
use tickpipe::{Report, SyncReport, Verdict};

/// Lines of one kind that are shown at most.
const MAX_ROWS: usize = 64;

/// A summary of a report; shows as lines of text.
pub(crate) struct Summary<'a> {
    pub report: &'a Report,
    /// How long the run took.
    pub took: Duration,
    /// Files that sinks wrote.
    pub files: &'a [String],
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let verdict = match report.verdict {
            Verdict::ExpectationMissed => "expectation missed",
            other => other.name(),
        };
        let took = self.took.as_millis();
        let (seconds, thousandths) = (took / 1000, took % 1000);
        let ticks = report.ticks;
        let plural = if ticks == 1 { "" } else { "s" };
        writeln!(
            f,
            "{verdict} after {ticks} tick{plural}, {seconds}.{thousandths:03} s"
        )?;
        elements(f, report)?;
        for sync in &report.sync {
            synchroniser(f, report, sync)?;
        }
        links(f, report)?;
        pools(f, report)?;
        section(f, "written", self.files.iter().cloned())
    }
}

/// A heading and indented lines, if there are any.
fn section(
    f: &mut fmt::Formatter<'_>,
    heading: &str,
    lines: impl ExactSizeIterator<Item = String>,
) -> fmt::Result {
    let count = lines.len();
    if count == 0 {
        return Ok(());
    }
    writeln!(f, "\n{heading}")?;
    for line in lines.take(MAX_ROWS) {
        writeln!(f, "  {line}")?;
    }
    more(f, count)
}

fn more(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    match count.checked_sub(MAX_ROWS) {
        None | Some(0) => Ok(()),
        Some(left) => writeln!(f, "  and {left} more"),
    }
}

fn elements(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    if report.elements.is_empty() {
        return Ok(());
    }
    let head = ["element", "type", "in", "out", "dropped", "copied"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(report.elements.iter().take(MAX_ROWS).map(|e| {
        vec![
            e.name.clone(),
            e.kind.clone(),
            e.buffers_in.to_string(),
            e.buffers_out.to_string(),
            e.dropped.to_string(),
            e.copied.to_string(),
        ]
    }));
    let (l, r) = (Side::Left, Side::Right);
    write!(f, "\n{}", table(&[l, l, r, r, r, r], &rows))?;
    more(f, report.elements.len())
}

fn synchroniser(f: &mut fmt::Formatter<'_>, report: &Report, sync: &SyncReport) -> fmt::Result {
    let made = report.elements.iter().find(|e| e.name == sync.element);
    let sets = made.map_or(0, |e| e.buffers_out);
    let heading = format!("synchroniser {}: {sets} frames", sync.element);
    let counts = sync.repeated.iter().zip(&sync.dropped).zip(&sync.absent);
    let line = |(input, ((repeated, dropped), absent)): (usize, ((&u64, &u64), &u64))| {
        let nothing = match absent {
            0 => String::new(),
            n => format!(", nothing to show in {n}"),
        };
        format!("input {input}: {repeated} repeated, {dropped} dropped{nothing}")
    };
    let lines: Vec<String> = counts.enumerate().map(line).collect();
    section(f, &heading, lines.into_iter())
}

fn links(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let line = |l: &tickpipe::LinkReport| {
        let how = tickpipe::told_beside_link(l.transport);
        format!("{} -> {}{how}: {}", l.from, l.to, l.caps)
    };
    section(f, "links", report.links.iter().map(line))
}

fn pools(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let line = |p: &tickpipe::PoolReport| {
        format!(
            "{}: {} buffers of {} {}, at most {} in use",
            p.name,
            p.buffers,
            p.size,
            if p.size == 1 { "byte" } else { "bytes" },
            p.high_water
        )
    };
    section(f, "pools", report.pools.iter().map(line))
}
