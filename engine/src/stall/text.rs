//! A stall for people: lines of text, a bounded number of them. Pure.

use super::{ChainReport, HolderReport, StallReport, SuggestionReport, WaitReport};
use std::collections::BTreeSet;

/// Waits of one kind that are shown at most.
const MAX_LINES: usize = 64;
/// Names of a cycle, and holders of a pool, that are shown at most.
const MAX_NAMES: usize = 16;

impl StallReport {
    /// What a person is told, a line each: who waits for whom, who is blocked behind that, the
    /// cause, and what would help.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut told = BTreeSet::new();
        let chains = self.chains.iter().map(|chain| of_chain(chain, &mut told));
        bounded(&mut lines, chains.flatten());
        let others: Vec<String> = self.others.iter().map(WaitReport::line).collect();
        if !others.is_empty() {
            lines.push("blocked behind that:".to_owned());
            bounded(&mut lines, others.into_iter());
        }
        lines.push(format!("cause: {}", self.text));
        for suggestion in &self.suggestions {
            lines.push(format!("it works with: {} (tried)", suggestion.text()));
        }
        lines
    }
}

fn bounded(lines: &mut Vec<String>, all: impl Iterator<Item = String>) {
    let mut left = 0u64;
    for (i, line) in all.enumerate() {
        match i < MAX_LINES {
            true => lines.push(line),
            false => left += 1,
        }
    }
    if left > 0 {
        lines.push(format!("and {left} more"));
    }
}

/// The waits of a chain that were not told before, and its cycle.
fn of_chain(chain: &ChainReport, told: &mut BTreeSet<String>) -> Vec<String> {
    let mut lines = Vec::new();
    for wait in &chain.waits {
        // The rest of it was told then.
        if !told.insert(wait.element.clone()) {
            return lines;
        }
        lines.push(wait.line());
    }
    if let Some(start) = chain.cycle {
        let ring = chain.waits.get(start..).unwrap_or_default();
        let mut names: Vec<&str> = ring.iter().map(|w| w.element.as_str()).collect();
        if names.len() > MAX_NAMES {
            names.truncate(MAX_NAMES);
            names.push("…");
        }
        names.extend(ring.first().map(|w| w.element.as_str()));
        lines.push(format!("a cycle: {}", names.join(" -> ")));
    }
    lines
}

impl WaitReport {
    /// The wait as a line of text.
    pub fn line(&self) -> String {
        let (element, since) = (&self.element, self.since);
        let on = self.on.as_deref().unwrap_or("nobody");
        let pad = self.pad.as_deref().unwrap_or("?");
        match self.waits_for {
            "input" => {
                let nothing = match self.came {
                    Some(0) => ", nothing has come",
                    _ => "",
                };
                format!("{element} waits for input on {pad} from {on} since tick {since}{nothing}")
            }
            "room" => {
                let full = self.queued.map_or_else(String::new, |q| match q.full_by {
                    None => format!(" ({} of {})", q.buffers, q.of),
                    Some(by) => format!(" ({} of {}, full by {by})", q.buffers, q.of),
                });
                format!("{element} waits for room on {on}.{pad}{full} since tick {since}")
            }
            "buffer" => {
                let pool = self.pool.as_deref().unwrap_or("?");
                let held = held(&self.held);
                format!("{element} waits for a buffer of pool {pool} since tick {since}: {held}")
            }
            "state" => match &self.on {
                Some(on) => format!(
                    "{element} holds its first buffer until {on} has one, since tick {since}"
                ),
                None => format!("{element} is held by its state since tick {since}"),
            },
            "nothing" => match (self.came, self.queued) {
                (None, _) => format!("{element} says nothing, and has no end, since tick {since}"),
                (Some(_), Some(q)) if q.buffers > 0 => {
                    let n = q.buffers;
                    format!("{element} has {n} to take, and does nothing since tick {since}")
                }
                (Some(n), _) => format!("{element} took {n}, and does nothing since tick {since}"),
            },
            "flush" => {
                format!("{element} is flushing since tick {since}, and no stop follows")
            }
            "device" => format!("{element} waits for its device since tick {since}"),
            other => format!("{element} waits for {other} since tick {since}"),
        }
    }
}

fn held(holders: &[HolderReport]) -> String {
    if let [h] = holders {
        let (buffers, of, by, since) = (h.buffers, h.of, &h.element, h.since);
        return format!(
            "{buffers} of {of} held by {by} since tick {since}{}",
            lost(h)
        );
    }
    let one = |h: &HolderReport| {
        let (element, buffers, since) = (&h.element, h.buffers, h.since);
        format!("{element} {buffers} since tick {since}{}", lost(h))
    };
    let shown: Vec<String> = holders.iter().take(MAX_NAMES).map(one).collect();
    let more = match holders.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let of = holders.first().map_or(0, |h| h.of);
    format!("{of} of {of} out ({}{more})", shown.join(", "))
}

fn lost(holder: &HolderReport) -> String {
    match holder.lost {
        0 => String::new(),
        n => format!(", {n} of them lost"),
    }
}

impl SuggestionReport {
    /// The changes as a person writes them.
    pub fn text(&self) -> String {
        let and = self.and.iter().map(|c| c.text.as_str());
        let all: Vec<&str> = core::iter::once(self.first.text.as_str())
            .chain(and)
            .collect();
        all.join(" and ")
    }
}
