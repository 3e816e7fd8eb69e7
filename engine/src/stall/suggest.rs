//! Changes that would end a stall: each is tried on a copy of the graph before it is told. How much
//! work that may be is bounded, by counts that do not depend on the machine.

use super::trial::{Change, Outcome, Trials};
use super::{Cause, ChangeReport, StallReport, SuggestionReport, WaitReport};
use crate::build::PipelineHandle;
use crate::engine::Engine;
use crate::report::Report;
use tickpipe_components::property::PropertyValue;

/// A run that took more ticks than this is not tried again.
const MAX_TICKS: u64 = 1_000_000;
/// Places of one kind at which a change is tried.
const MAX_PLACES: usize = 8;
/// The largest number that a pool or a queue is given.
const MAX_COUNT: u32 = 65_536;

impl Engine {
    /// Changes with which a pipeline that stalled goes on, each tried on a copy of its graph in
    /// another engine: a larger pool, a queue, both, or a source that says that it may be silent.
    /// Of a number the smallest that does is told.
    ///
    /// There are none of a graph that reads what cannot be read twice, such as a pipe, or that ran
    /// for more than a million ticks. Elements with a `location` that have no source pad write
    /// nothing in the copy; other elements of the caller's own run in it as they are.
    pub fn suggest(&self, pipeline: PipelineHandle, report: &Report) -> Vec<SuggestionReport> {
        let Some(stall) = &report.stall else {
            return Vec::new();
        };
        if stall.tick > MAX_TICKS {
            return Vec::new();
        }
        match Trials::new(self, pipeline, report) {
            Some(trials) => Search { trials }.all(stall),
            None => Vec::new(),
        }
    }
}

struct Search<'a> {
    trials: Trials<'a>,
}

/// A place where a queue would go, or the queue that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leg {
    element: String,
    pad: String,
    /// The size of the queue that the place is in.
    queue: Option<u32>,
}

impl Leg {
    fn with(&self, size: u32) -> Change {
        match self.queue {
            Some(_) => set(&self.element, "max-size-buffers", size),
            None => Change::Insert {
                element: self.element.clone(),
                pad: self.pad.clone(),
                size,
            },
        }
    }
}

fn set(element: &str, property: &'static str, value: u32) -> Change {
    Change::Set {
        element: element.to_owned(),
        property,
        value: Box::new(PropertyValue::Int(value.into())),
    }
}

/// A pool of at least so many buffers, without a bound.
fn pool_of(owner: &str, least: u32) -> [Change; 2] {
    [
        set(owner, "min-buffers", least),
        set(owner, "max-buffers", 0),
    ]
}

impl Search<'_> {
    fn all(&mut self, stall: &StallReport) -> Vec<SuggestionReport> {
        match stall.cause {
            Cause::SilentSource => return self.silent(stall),
            Cause::DoesNothing
            | Cause::BuffersLost
            | Cause::Device
            | Cause::Caps
            | Cause::Flush => return Vec::new(),
            Cause::NoOutput | Cause::PoolHeld | Cause::OneLeg | Cause::Blocked => {}
        }
        let (pools, legs) = (self.pools(stall), self.legs(stall));
        let mut found = Vec::new();
        for owner in &pools {
            found.extend(self.pool(owner, &[]).map(|changes| told(&changes)));
        }
        for leg in &legs {
            let low = leg.queue.unwrap_or(0);
            let size = self.smallest(low, |size| vec![leg.with(size)]);
            found.extend(size.map(|size| told(&[leg.with(size)])));
        }
        if found.is_empty() && pools.len() > 1 {
            // Each of several pools is too small.
            let all = |least: u32| -> Vec<Change> {
                let pools = pools.iter();
                pools.flat_map(|owner| pool_of(owner, least)).collect()
            };
            let size = self.smallest(1, all);
            found.extend(size.map(|size| told(&all(size))));
        }
        if found.is_empty() {
            let legs = match legs.is_empty() {
                true => self.legs_behind(&pools),
                false => legs,
            };
            let both = legs.iter().find_map(|leg| self.leg_and_pool(leg));
            found.extend(both.map(|changes| told(&changes)));
        }
        found
    }

    fn works(&mut self, changes: &[Change]) -> bool {
        matches!(self.trials.run(changes), Outcome::Works(_))
    }

    /// Sources that say nothing, and could say so.
    fn silent(&mut self, stall: &StallReport) -> Vec<SuggestionReport> {
        let mut changes: Vec<Change> = Vec::new();
        for wait in waits(stall).filter(|w| w.waits_for == "nothing") {
            let value = self.trials.property(&wait.element, "may-be-silent");
            let change = Change::Set {
                element: wait.element.clone(),
                property: "may-be-silent",
                value: Box::new(PropertyValue::Bool(true)),
            };
            if value == Some(PropertyValue::Bool(false)) && !changes.contains(&change) {
                changes.push(change);
            }
        }
        let mut found: Vec<SuggestionReport> = Vec::new();
        for change in changes.iter().take(MAX_PLACES) {
            let change = core::slice::from_ref(change);
            if self.works(change) {
                found.push(told(change));
            }
        }
        if found.is_empty() && changes.len() > 1 && self.works(&changes) {
            found.push(told(&changes));
        }
        found
    }

    /// Elements that wait for a buffer of their pool, and have bounds to change.
    fn pools(&self, stall: &StallReport) -> Vec<String> {
        let mut owners: Vec<String> = Vec::new();
        for wait in waits(stall).filter(|w| w.waits_for == "buffer") {
            let bounded = self.trials.property(&wait.element, "min-buffers").is_some();
            if bounded && !owners.contains(&wait.element) && owners.len() < MAX_PLACES {
                owners.push(wait.element.clone());
            }
        }
        owners
    }

    /// Links without room.
    fn legs(&self, stall: &StallReport) -> Vec<Leg> {
        let mut legs: Vec<Leg> = Vec::new();
        for wait in waits(stall).filter(|w| w.waits_for == "room") {
            let (Some(element), Some(pad)) = (&wait.on, &wait.pad) else {
                continue;
            };
            let class = self.trials.element(element).map(|e| e.0.name);
            let is_queue = class == Some("queue");
            let leg = Leg {
                element: element.clone(),
                pad: pad.clone(),
                queue: is_queue.then(|| self.number(element, "max-size-buffers")),
            };
            if !legs.contains(&leg) && legs.len() < MAX_PLACES {
                legs.push(leg);
            }
        }
        legs
    }

    /// Links that have no room once the pools do.
    fn legs_behind(&mut self, pools: &[String]) -> Vec<Leg> {
        let large: Vec<Change> = pools
            .iter()
            .flat_map(|owner| pool_of(owner, 1024))
            .collect();
        match self.trials.run(&large) {
            Outcome::Stalls(report) => report.stall.map_or_else(Vec::new, |s| self.legs(&s)),
            Outcome::Works(_) | Outcome::Fails => Vec::new(),
        }
    }

    fn number(&self, element: &str, property: &str) -> u32 {
        match self.trials.property(element, property) {
            Some(PropertyValue::Int(n)) => u32::try_from(n).unwrap_or(0),
            _ => 0,
        }
    }

    /// The smallest pool of an element that does, with other changes: as its bounds say it.
    fn pool(&mut self, owner: &str, besides: &[Change]) -> Option<Vec<Change>> {
        let (min, max) = (
            self.number(owner, "min-buffers"),
            self.number(owner, "max-buffers"),
        );
        let with = |changes: &[Change]| -> Vec<Change> { [besides, changes].concat() };
        if max == 0 {
            let changes = |n| with(&[set(owner, "min-buffers", n)]);
            return self.smallest(min, changes).map(changes);
        }
        let most = |n| with(&[set(owner, "max-buffers", n)]);
        if let Some(n) = self.smallest(max, most) {
            return Some(most(n));
        }
        // More than the planner would give: the owner must ask for them.
        let unbounded = |n| with(&pool_of(owner, n));
        let n = self.smallest(min, unbounded)?;
        let Outcome::Works(report) = self.trials.run(&unbounded(n)) else {
            return None;
        };
        let prefix = format!("{owner}.");
        let mut pools = report.pools.iter();
        let count = pools.find(|p| p.name.starts_with(&prefix))?.buffers;
        let bounded = with(&[
            set(owner, "min-buffers", n),
            set(owner, "max-buffers", count),
        ]);
        self.works(&bounded).then_some(bounded)
    }

    /// A queue, and a pool that fills it.
    fn leg_and_pool(&mut self, leg: &Leg) -> Option<Vec<Change>> {
        let low = leg.queue.unwrap_or(0);
        let mut size = low.max(4);
        while size < MAX_COUNT {
            size = size.saturating_mul(4).min(MAX_COUNT);
            let Outcome::Stalls(report) = self.trials.run(&[leg.with(size)]) else {
                return None;
            };
            let Some(owner) = report.stall.and_then(|s| self.pools(&s).into_iter().next()) else {
                continue;
            };
            let large = size.saturating_mul(2).saturating_add(64).min(MAX_COUNT);
            let pool = pool_of(&owner, large);
            if !self.works(&[&[leg.with(size)][..], &pool[..]].concat()) {
                continue;
            }
            let with = |size| [&[leg.with(size)][..], &pool[..]].concat();
            let size = self.smallest(low, with)?;
            return self.pool(&owner, &[leg.with(size)]);
        }
        None
    }

    /// The smallest number above `low` with which it works: by doubling, then by halves.
    fn smallest(&mut self, low: u32, changes: impl Fn(u32) -> Vec<Change>) -> Option<u32> {
        let (mut fails, mut step) = (low, 1u32);
        let mut sizes = None;
        let mut works = loop {
            let n = fails.saturating_add(step).min(MAX_COUNT);
            match self.trials.run(&changes(n)) {
                Outcome::Works(_) => break n,
                Outcome::Stalls(report) => {
                    // A number that changes nothing any more will not do with more either.
                    let all: Vec<u32> = report.pools.iter().map(|p| p.buffers).collect();
                    let links = report.stall.map(|s| {
                        let full = waits(&s).filter_map(|w| w.queued).map(|q| q.of);
                        full.collect::<Vec<usize>>()
                    });
                    let now = Some((all, links));
                    if n == MAX_COUNT || (step > 1 && sizes == now) {
                        return None;
                    }
                    sizes = now;
                }
                Outcome::Fails => return None,
            }
            fails = n;
            step = step.saturating_mul(2);
        };
        while works - fails > 1 {
            let n = fails + (works - fails) / 2;
            match self.works(&changes(n)) {
                true => works = n,
                false => fails = n,
            }
        }
        Some(works)
    }
}

fn waits(stall: &StallReport) -> impl Iterator<Item = &WaitReport> {
    let chains = stall.chains.iter().flat_map(|c| &c.waits);
    chains.chain(&stall.others)
}

fn told(changes: &[Change]) -> SuggestionReport {
    let mut all = changes.iter().map(|change| match change {
        Change::Set {
            element,
            property,
            value,
        } => ChangeReport {
            change: "set",
            text: format!("{element} {property}={value}"),
            element: element.clone(),
            pad: None,
            property,
            value: value.to_string(),
        },
        Change::Insert { element, pad, size } => ChangeReport {
            change: "insert",
            text: format!("queue max-size-buffers={size} in front of {element}.{pad}"),
            element: element.clone(),
            pad: Some(pad.clone()),
            property: "max-size-buffers",
            value: size.to_string(),
        },
    });
    let first = all.next();
    SuggestionReport {
        and: all.collect(),
        first: first.unwrap_or_else(|| ChangeReport {
            change: "set",
            text: String::new(),
            element: String::new(),
            pad: None,
            property: "",
            value: String::new(),
        }),
    }
}
