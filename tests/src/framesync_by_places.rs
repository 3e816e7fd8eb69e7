//! What a synchroniser of frames must answer, computed over whole lists and not step by step.
//! Written from a description of FFmpeg's framesync (5.1, and `ts_sync_mode` of later versions), not
//! from any code, so that the engine's synchroniser can be held against it. Uses nothing of the engine.
//!
//! The idea. A synchroniser looks at the first waiting frame of each input and takes those whose time
//! is the smallest. Where stamps go backwards that is not the order of time. But it is an order: give
//! each frame a *place*, which is the list of those earlier stamps of its input that are not exceeded by
//! a later one up to it, from the largest on, and its own stamp as the last. For the stamps 5 9 7 7 8
//! the places are 5, 9, 9‑7, 9‑7‑7, 9‑8. Frames are taken in the order of their places (as words are
//! ordered, a shorter one before those that continue it), and frames with equal places are taken
//! together. So all steps of a run are the places of all frames, sorted; the time of a step is the last
//! number of its place. Two rules take a frame before its turn (`before = infinity`, and `nearest`): it
//! is given the place of the step that takes it, and those behind it follow from there.

use std::collections::{BTreeMap, BTreeSet};

/// What an input shows where it has no frame: before its first, or after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extend {
    /// There is no set.
    Stop,
    /// Nothing is shown.
    Null,
    /// The nearest frame is shown.
    Infinity,
}

/// The rule of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Level; 0 never causes a set.
    pub sync: u32,
    /// Before its first frame.
    pub before: Extend,
    /// After its last frame.
    pub after: Extend,
}

/// What is done when a secondary input ends (`eof_action`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EofAction {
    /// Its last frame is repeated.
    Repeat,
    /// All end.
    EndAll,
    /// The main input is passed on without it.
    Pass,
}

/// The options that FFmpeg's filters with two inputs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// All end with the shortest input.
    pub shortest: bool,
    /// The last frame of a secondary input is repeated.
    pub repeatlast: bool,
    /// What the end of a secondary input does.
    pub eof_action: EofAction,
    /// `ts_sync_mode=nearest`.
    pub nearest: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            shortest: false,
            repeatlast: true,
            eof_action: EofAction::Repeat,
            nearest: false,
        }
    }
}

/// A unit of time in seconds, as numerator and denominator, both above 0.
pub type TimeBase = (i64, i64);

/// What one input brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The unit of its stamps.
    pub time_base: TimeBase,
    /// The stamps of its frames in the order of arrival; `None` is a frame without one.
    pub stamps: Vec<Option<i64>>,
}

/// A question to a synchroniser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The rule of each input, before the options act.
    pub rules: Vec<Rule>,
    /// The options.
    pub options: Options,
}

/// A set: its time (`None` where an unstamped frame caused it), and the frame of each input by its index.
pub type Set = (Option<i64>, Vec<Option<usize>>);

/// What comes out, up to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The unit of the times of the sets.
    pub time_base: TimeBase,
    /// The sets.
    pub sets: Vec<Set>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No input has a level, so none gives a time base.
    #[error("no input of {0} has a sync level")]
    NoLevel(usize),
}

/// A time in the common time base. As wide as no sum or product here can exceed.
type Time = i128;

/// The place of a step among all steps; see the head of this file.
type Place = Vec<Time>;

/// The time of a frame without one: earlier than every stamp. FFmpeg converts its "no time", which is the
/// smallest number of 64 bits, to this one.
const UNSTAMPED: Time = i64::MIN as Time + 1;

/// Where the least common multiple of denominators reaches this, microseconds are used.
const DENOMINATORS_END: Time = 500_000;

/// A frame, or the end of an input, which has a time but no frame.
#[derive(Clone, Copy)]
struct Item {
    time: Time,
    frame: Option<usize>,
}

/// One input, in the common time base.
struct Lane {
    rule: Rule,
    /// Its frames, then its end if that comes at a time.
    items: Vec<Item>,
    frames: usize,
}

/// Frames that are taken before their turn: the place of the step that takes them, by index.
type Early = BTreeMap<usize, Place>;

/// The rules after the options have acted.
#[must_use]
pub fn resolved(rules: &[Rule], options: Options) -> Vec<Rule> {
    // The order of the two lines matters: `repeatlast=0` makes `endall` a `pass`.
    let passes = !options.repeatlast || options.eof_action == EofAction::Pass;
    let ends = options.shortest || (options.eof_action == EofAction::EndAll && !passes);
    let mut rules = rules.to_vec();
    if passes {
        for rule in rules.iter_mut().skip(1) {
            rule.after = Extend::Null;
            rule.sync = 0;
        }
    }
    if ends {
        for rule in &mut rules {
            rule.after = Extend::Stop;
        }
    }
    rules
}

/// The time base of all inputs that have a level.
fn common_time_base(inputs: &[Input], rules: &[Rule]) -> Option<TimeBase> {
    inputs
        .iter()
        .zip(rules)
        .filter(|(_, rule)| rule.sync > 0)
        .map(|(input, _)| input.time_base)
        .reduce(|(num, den), (other_num, other_den)| {
            let lcm = Time::from(den / gcd(den, other_den)) * Time::from(other_den);
            match i64::try_from(lcm) {
                Ok(small) if lcm < DENOMINATORS_END => (gcd(num, other_num), small),
                _ => (1, 1_000_000),
            }
        })
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A time in another time base: the nearest, halves away from zero.
#[must_use]
pub fn converted(time: i64, from: TimeBase, to: TimeBase) -> i64 {
    let above = Time::from(time) * Time::from(from.0) * Time::from(to.1);
    let below = Time::from(from.1) * Time::from(to.0);
    let size = (above.abs() * 2 + below) / (below * 2);
    i64::try_from(size * above.signum()).unwrap_or(i64::MAX)
}

fn lane(input: &Input, rule: Rule, time_base: TimeBase) -> Lane {
    let time = |stamp: &Option<i64>| {
        stamp.map_or(UNSTAMPED, |stamp| {
            converted(stamp, input.time_base, time_base).into()
        })
    };
    let mut items: Vec<Item> = (0..)
        .zip(&input.stamps)
        .map(|(index, stamp)| Item {
            time: time(stamp),
            frame: Some(index),
        })
        .collect();
    if let Some(last) = items.last()
        && rule.after != Extend::Infinity
    {
        items.push(Item {
            time: last.time + 1,
            frame: None,
        });
    }
    Lane {
        rule,
        items,
        frames: input.stamps.len(),
    }
}

/// The place of each item of an input.
fn places(lane: &Lane, early: &Early) -> Vec<Place> {
    let mut path = Place::new();
    (0..)
        .zip(&lane.items)
        .map(|(index, item)| {
            if let Some(step) = early.get(&index) {
                path.clone_from(step);
            } else {
                while path.last().is_some_and(|last| *last < item.time) {
                    path.pop();
                }
                path.push(item.time);
            }
            path.clone()
        })
        .collect()
}

/// All that is known of a run.
struct Run {
    lanes: Vec<Lane>,
    early: Vec<Early>,
    /// Per input, where each of its items is taken.
    places: Vec<Vec<Place>>,
}

impl Run {
    fn new(mut lanes: Vec<Lane>) -> Run {
        let first = lanes
            .iter()
            .filter_map(|lane| lane.items.first())
            .map(|item| item.time)
            .min();
        let mut early = vec![Early::new(); lanes.len()];
        if let Some(first) = first {
            for (lane, early) in lanes.iter_mut().zip(&mut early) {
                if lane.rule.before == Extend::Infinity {
                    // With no frame at all it is the end that is taken: it never has a time of its own.
                    if lane.items.is_empty() {
                        lane.items.push(Item {
                            time: Time::MAX,
                            frame: None,
                        });
                    }
                    early.insert(0, vec![first]);
                }
            }
        }
        let mut run = Run {
            lanes,
            early,
            places: Vec::new(),
        };
        run.place();
        run
    }

    fn place(&mut self) {
        self.places = self
            .lanes
            .iter()
            .zip(&self.early)
            .map(|(lane, early)| places(lane, early))
            .collect();
    }

    fn steps(&self) -> BTreeSet<Place> {
        self.places.iter().flatten().cloned().collect()
    }

    /// The level of an input at a step: its own until its last frame was taken, then 0.
    fn level_of(&self, lane: usize, step: &Place) -> u32 {
        let lane_ = &self.lanes[lane];
        match lane_.frames.checked_sub(1) {
            Some(last) if self.places[lane][last] >= *step => lane_.rule.sync,
            _ => 0,
        }
    }

    /// The level at a step; 0 where all that have one are over.
    fn level(&self, step: &Place) -> u32 {
        (0..self.lanes.len())
            .map(|lane| self.level_of(lane, step))
            .max()
            .unwrap_or(0)
    }

    /// The first step at which inputs below the level are nearer with their next frame, and which
    /// frames of theirs it takes.
    fn nearer(&self) -> Option<(Place, Vec<(usize, usize)>)> {
        self.steps().into_iter().find_map(|step| {
            let level = self.level(&step);
            let now = *step.last()?;
            let taken: Vec<(usize, usize)> = (0..self.lanes.len())
                .filter(|lane| self.level_of(*lane, &step) < level)
                .filter_map(|lane| {
                    let items = &self.lanes[lane].items;
                    let next = self.places[lane].partition_point(|place| *place < step);
                    let shown = items.get(next.checked_sub(1)?)?.time;
                    let after = items.get(next)?.time;
                    let own = self.places[lane][next] == step;
                    (!own && after - now < now - shown).then_some((lane, next))
                })
                .collect();
            (!taken.is_empty()).then_some((step, taken))
        })
    }

    /// Lets `nearest` take frames before their turn. Each changes only what follows it.
    fn take_nearer(&mut self) {
        while let Some((step, taken)) = self.nearer() {
            for (lane, item) in taken {
                self.early[lane].insert(item, step.clone());
            }
            self.place();
        }
    }

    /// What an input has taken by the end of a step, and whether it did so at that step.
    fn taken(&self, lane: usize, step: &Place) -> Option<(Item, bool)> {
        let count = self.places[lane].partition_point(|place| place <= step);
        let index = count.checked_sub(1)?;
        let item = *self.lanes[lane].items.get(index)?;
        Some((item, self.places[lane][index] == *step))
    }

    /// The set of a step, if it makes one. An error is the end.
    fn set(&self, step: &Place) -> Result<Option<Set>, End> {
        let level = self.level(step);
        if level == 0 {
            return Err(End);
        }
        let taken: Vec<_> = (0..self.lanes.len())
            .map(|lane| self.taken(lane, step))
            .collect();
        let with_rules = || self.lanes.iter().map(|lane| lane.rule).zip(&taken);
        let stops = with_rules().any(|(rule, taken)| {
            rule.after == Extend::Stop
                && taken.is_some_and(|(item, now)| now && item.frame.is_none())
        });
        if stops {
            return Err(End);
        }
        let raised = with_rules().any(|(rule, taken)| {
            rule.sync == level && taken.is_some_and(|(item, now)| now && item.frame.is_some())
        });
        let held = with_rules().any(|(rule, taken)| rule.before == Extend::Stop && taken.is_none());
        if !raised || held {
            return Ok(None);
        }
        let time = step.last().copied().filter(|time| *time != UNSTAMPED);
        let frames = taken
            .iter()
            .map(|taken| taken.and_then(|(item, _)| item.frame));
        Ok(Some((
            time.and_then(|time| i64::try_from(time).ok()),
            frames.collect(),
        )))
    }
}

/// There are no sets from here on.
struct End;

/// What a synchroniser must answer.
///
/// # Errors
///
/// No input has a level.
pub fn answer(case: &Case) -> Result<Answer, Refused> {
    let rules = resolved(&case.rules, case.options);
    let time_base =
        common_time_base(&case.inputs, &rules).ok_or(Refused::NoLevel(case.inputs.len()))?;
    let lanes = case
        .inputs
        .iter()
        .zip(rules)
        .map(|(input, rule)| lane(input, rule, time_base))
        .collect();
    let mut run = Run::new(lanes);
    if case.options.nearest {
        run.take_nearer();
    }
    let sets = run
        .steps()
        .iter()
        .map_while(|step| run.set(step).ok())
        .flatten()
        .collect();
    Ok(Answer { time_base, sets })
}
