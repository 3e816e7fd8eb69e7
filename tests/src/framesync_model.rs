//! FFmpeg's frame synchronisation, written down once more as a function of whole lists: to compare the
//! engine's synchroniser with. It knows nothing of arrival, buffers or references.
//!
//! The only state is how far each input has got; all else (its level, what it shows, whether it is over)
//! follows from that.

use tickpipe::components::sync::{Extend, SyncRule, SyncTerms, TsSyncMode};
use tickpipe::components::time::{Rounding, TimeBase};

/// An input: the time base of its stamps, and those.
pub type Stamps = (TimeBase, Vec<i64>);
/// A set: its time in the common time base, and which frame of each input it shows.
pub type Set = (i64, Vec<Option<u64>>);

const NEVER: i64 = i64::MAX;

struct Input<'a> {
    rule: SyncRule,
    times: &'a [i64],
    /// How many items of it are behind: its frames, then the place after the last one.
    at: usize,
    /// The time of the last item that is behind.
    since: Option<i64>,
}

impl Input<'_> {
    fn level(&self) -> u32 {
        if self.at < self.times.len() {
            self.rule.sync
        } else {
            0
        }
    }

    fn next(&self) -> Option<i64> {
        match self.at.checked_sub(self.times.len()) {
            None => Some(self.times[self.at]),
            Some(0) if self.times.is_empty() || self.rule.after == Extend::Infinity => Some(NEVER),
            Some(0) => self.since.map(|last| last.saturating_add(1)),
            Some(_) => None,
        }
    }

    fn shows(&self) -> Option<u64> {
        let over = self.at > self.times.len();
        (!over && self.at > 0).then(|| self.at as u64 - 1)
    }

    fn is_before(&self) -> bool {
        self.since.is_none()
    }
}

/// The common time base and all sets; `None` if no input has a level, or a time does not fit.
pub fn sets(terms: &SyncTerms, inputs: &[Stamps]) -> Option<(TimeBase, Vec<Set>)> {
    let rules = terms.resolved();
    let bases = rules.iter().zip(inputs).filter(|(r, _)| r.sync > 0);
    let common = bases.map(|(_, i)| i.0).reduce(TimeBase::merge)?;
    let convert = |(base, stamps): &Stamps| -> Option<Vec<i64>> {
        let one = |&s: &i64| base.convert(s, common, Rounding::Nearest);
        stamps.iter().map(one).collect()
    };
    let times: Vec<Vec<i64>> = inputs.iter().map(convert).collect::<Option<_>>()?;
    let mut inputs: Vec<Input<'_>> = rules
        .iter()
        .zip(&times)
        .map(|(&rule, times)| Input {
            rule,
            times,
            at: 0,
            since: None,
        })
        .collect();
    let nearest = terms.options.ts_sync_mode == TsSyncMode::Nearest;
    let mut sets = Vec::new();
    loop {
        let level = inputs.iter().map(Input::level).max().unwrap_or(0);
        let now = inputs.iter().filter_map(Input::next).min().unwrap_or(NEVER);
        if level == 0 || now == NEVER {
            return Some((common, sets));
        }
        let goes = |i: &Input<'_>| {
            let Some(next) = i.next() else { return false };
            let closer = i.since.is_some_and(|since| {
                i128::from(next) - i128::from(now) < i128::from(now) - i128::from(since)
            });
            next == now
                || (i.is_before() && i.rule.before == Extend::Infinity)
                || (nearest && i.level() < level && next != NEVER && closer)
        };
        let going: Vec<bool> = inputs.iter().map(goes).collect();
        let (mut event, mut over) = (false, false);
        for (input, _) in inputs.iter_mut().zip(&going).filter(|(_, goes)| **goes) {
            event |= input.level() == level;
            input.since = input.next();
            input.at += 1;
            over |= input.at > input.times.len() && input.rule.after == Extend::Stop;
        }
        if over {
            return Some((common, sets));
        }
        let waits = |i: &Input<'_>| i.is_before() && i.rule.before == Extend::Stop;
        if event && !inputs.iter().any(waits) {
            sets.push((now, inputs.iter().map(Input::shows).collect()));
        }
    }
}
