//! The synchroniser against two models that know only whole lists, in any order of arrival; and what holds
//! of its sets whatever the inputs are.
//!
//! `FRAMESYNC_CASES=N` runs N random cases, `FRAMESYNC_SEED=N` others.

use std::cell::RefCell;
use tickpipe::components::id::BufferId;
use tickpipe::components::sync::{
    EofAction, Extend, OutBase, SyncOptions, SyncRule, SyncStep, SyncTerms, Synchroniser,
    TsSyncMode, Upcoming,
};
use tickpipe::components::time::TimeBase;
use tickpipe_tests::framesync_by_places as by_places;
use tickpipe_tests::framesync_model::{Set, Stamps, sets};

/// A generator of numbers (xorshift), the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

fn base(num: u32, den: u32) -> TimeBase {
    TimeBase::new(num, den).expect("valid")
}

const BASES: [(u32, u32); 14] = [
    (1, 25),
    (1, 25),
    (1, 24),
    (1, 30),
    (1001, 24000),
    (1001, 30000),
    (1, 9),
    (1, 120),
    (1, 600),
    (1, 1000),
    (1, 44100),
    (1, 48000),
    (1, 90000),
    (1, 1_000_000_000),
];

/// An input: constant or variable rate, late, gone early, with a gap, on a grid, negative, with
/// duplicates, out of order, single, or empty.
fn stamps(r: &mut Random) -> Stamps {
    let (num, den) = r.of(&BASES);
    let tick = base(num, den);
    // About a frame of 1/5 to 1/60 s in that unit.
    let rate = r.of(&[5u64, 9, 10, 24, 25, 30, 60]);
    let step = (u64::from(den) / (u64::from(num) * rate)).max(1) as i64;
    let count = match r.below(10) {
        0 => 0,
        1 => 1,
        _ => r.below(30),
    };
    let mut at = match r.below(6) {
        0 => r.below(20) as i64 * step,
        1 => -(r.below(20) as i64) * step,
        _ => 0,
    };
    let (vary, gap) = (r.one_in(3), r.one_in(5).then(|| r.below(30)));
    let mut list = Vec::new();
    for n in 0..count {
        list.push(at);
        at += match vary {
            true => r.below(2 * step as u64 + 1) as i64,
            false => step,
        };
        if gap == Some(n) {
            at += 20 * step;
        }
    }
    if r.one_in(6) && list.len() > 2 {
        for _ in 0..r.below(4) {
            let (a, b) = (
                r.below(list.len() as u64) as usize,
                r.below(list.len() as u64) as usize,
            );
            list.swap(a, b);
        }
    }
    if r.one_in(5) && !list.is_empty() {
        for _ in 0..r.below(5) {
            let at = r.below(list.len() as u64) as usize;
            list.insert(at, list[at]);
        }
    }
    (tick, list)
}

fn case(r: &mut Random) -> (SyncTerms, Vec<Stamps>) {
    let count = 1 + r.below(4) as usize;
    let extend = |r: &mut Random| r.of(&[Extend::Stop, Extend::Null, Extend::Infinity]);
    let rules = match r.below(4) {
        0 if count == 2 => SyncTerms::dual(OutBase::Common).rules,
        1 => SyncTerms::equal(count).rules,
        _ => (0..count)
            .map(|_| SyncRule::new(r.below(4) as u32, extend(r), extend(r)))
            .collect(),
    };
    let options = SyncOptions {
        eof_action: r.of(&[
            EofAction::Repeat,
            EofAction::Repeat,
            EofAction::EndAll,
            EofAction::Pass,
        ]),
        shortest: r.one_in(4),
        repeatlast: !r.one_in(4),
        ts_sync_mode: r.of(&[TsSyncMode::Default, TsSyncMode::Nearest]),
    };
    let terms = SyncTerms {
        rules,
        options,
        ..SyncTerms::default()
    };
    let same = r.one_in(4);
    let mut inputs: Vec<Stamps> = (0..count).map(|_| stamps(r)).collect();
    if same {
        let first = inputs[0].0;
        inputs.iter_mut().for_each(|i| i.0 = first);
    }
    (terms, inputs)
}

/// What the synchroniser makes of inputs that come in an order of their own: each is given as much as it
/// takes when its turn comes, and what waits is known or not.
fn made(terms: &SyncTerms, inputs: &[Stamps], r: &mut Random) -> Option<(TimeBase, Vec<Set>)> {
    let bases: Vec<TimeBase> = inputs.iter().map(|i| i.0).collect();
    let mut sync = Synchroniser::new(terms.clone(), &bases, 4).ok()?;
    sync.records = Some(Vec::new());
    let references = RefCell::new(vec![0i32; 4000]);
    let id = |k: usize, n: usize| BufferId((k * 1000 + n) as u32);
    let mut fed = vec![0; inputs.len()];
    loop {
        let peeks = r.one_in(2);
        let upcoming = |k: usize| match inputs[k].1.get(fed[k]) {
            _ if !peeks => Upcoming::Unknown,
            Some(&pts) => Upcoming::Frame(Some(pts), inputs[k].0),
            None => Upcoming::End,
        };
        let step = sync.step(
            upcoming,
            |b| references.borrow_mut()[b.index()] += 1,
            |b| references.borrow_mut()[b.index()] -= 1,
        );
        while let Some(set) = sync.sets.pop_front() {
            for buffer in set.frames.into_iter().flatten() {
                references.borrow_mut()[buffer.index()] -= 1;
            }
        }
        assert!(
            references.borrow().iter().all(|&n| n >= 0),
            "a reference too few"
        );
        let wanted = match step {
            SyncStep::Set => continue,
            SyncStep::End => break,
            SyncStep::Wait(k) => k,
        };
        // Any input that takes something, until the one that is waited for had its turn.
        loop {
            let k = r.below(inputs.len() as u64) as usize;
            if sync.wants(k) {
                match inputs[k].1.get(fed[k]) {
                    Some(&pts) => {
                        references.borrow_mut()[id(k, fed[k]).index()] += 1;
                        sync.offer(k, id(k, fed[k]), Some(pts), None, inputs[k].0)
                            .ok()?;
                        fed[k] += 1;
                    }
                    None => sync.end(k),
                }
            }
            if k == wanted {
                break;
            }
        }
    }
    assert!(
        references.borrow().iter().all(|&n| n == 0),
        "a reference too many"
    );
    let records = sync.records.take().expect("recorded");
    let set = |r: &tickpipe::components::sync::SyncRecord| (r.pts, r.indexes.to_vec());
    // A set shows each frame once as taken, and counts.
    for (k, input) in sync.inputs.iter().enumerate() {
        let shown: Vec<u64> = records.iter().filter_map(|r| r.indexes[k]).collect();
        let distinct = {
            let mut all = shown.clone();
            all.dedup();
            all.len() as u64
        };
        assert_eq!(input.repeated, shown.len() as u64 - distinct);
        assert_eq!(input.absent, records.len() as u64 - shown.len() as u64);
        assert_eq!(input.dropped, input.taken - distinct);
    }
    Some((sync.time_base, records.iter().map(set).collect()))
}

/// The same by a model that sorts all frames at once.
fn sorted(terms: &SyncTerms, inputs: &[Stamps]) -> Option<(TimeBase, Vec<Set>)> {
    let extend = |e: Extend| match e {
        Extend::Stop => by_places::Extend::Stop,
        Extend::Null => by_places::Extend::Null,
        Extend::Infinity => by_places::Extend::Infinity,
    };
    let rule = |r: &SyncRule| by_places::Rule {
        sync: r.sync,
        before: extend(r.before),
        after: extend(r.after),
    };
    let input = |(base, stamps): &Stamps| by_places::Input {
        time_base: (base.num().into(), base.den().into()),
        stamps: stamps.iter().copied().map(Some).collect(),
    };
    let SyncOptions {
        eof_action,
        shortest,
        repeatlast,
        ts_sync_mode,
    } = terms.options;
    let case = by_places::Case {
        inputs: inputs.iter().map(input).collect(),
        rules: terms.rules.iter().map(rule).collect(),
        options: by_places::Options {
            shortest,
            repeatlast,
            eof_action: match eof_action {
                EofAction::Repeat => by_places::EofAction::Repeat,
                EofAction::EndAll => by_places::EofAction::EndAll,
                EofAction::Pass => by_places::EofAction::Pass,
            },
            nearest: ts_sync_mode == TsSyncMode::Nearest,
        },
    };
    let answer = by_places::answer(&case).ok()?;
    let (num, den) = answer.time_base;
    let set = |(time, shown): &by_places::Set| {
        let shown = shown.iter().map(|n| n.map(|n| n as u64));
        (time.expect("it has one"), shown.collect())
    };
    let common = base(u32::try_from(num).ok()?, u32::try_from(den).ok()?);
    Some((common, answer.sets.iter().map(set).collect()))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn any_inputs_by_any_rules_in_any_order_of_arrival() {
    let cases = number("FRAMESYNC_CASES").unwrap_or(3000);
    let mut r = Random(number("FRAMESYNC_SEED").unwrap_or(0x5eed) | 1);
    let mut with_sets = 0;
    for n in 0..cases {
        let (terms, inputs) = case(&mut r);
        let want = sets(&terms, &inputs);
        assert_eq!(
            sorted(&terms, &inputs),
            want,
            "case {n}: {terms:?} {inputs:?}"
        );
        for _ in 0..2 {
            let got = made(&terms, &inputs, &mut r);
            assert_eq!(got, want, "case {n}: {terms:?} {inputs:?}");
        }
        with_sets += u64::from(want.is_some_and(|(_, sets)| !sets.is_empty()));
    }
    assert!(with_sets > cases / 2, "{with_sets} of {cases}");
}

/// With a leading input, times that go up and the default mode: no other input is ahead of the leading
/// one, and each of its frames is in exactly one set once all have begun, until it ends.
#[test]
fn the_leading_input_leads() {
    let mut r = Random(77);
    for _ in 0..2000 {
        let count = 2 + r.below(3) as usize;
        let mut inputs: Vec<Stamps> = (0..count).map(|_| stamps(&mut r)).collect();
        for (_, list) in &mut inputs {
            list.sort_unstable();
            list.dedup();
        }
        let second = SyncRule::new(1, r.of(&[Extend::Null, Extend::Stop]), Extend::Infinity);
        let mut rules = vec![second; count];
        rules[0] = SyncRule::new(2, Extend::Stop, Extend::Infinity);
        let terms = SyncTerms {
            rules: rules.into(),
            ..SyncTerms::default()
        };
        let Some((common, sets)) = made(&terms, &inputs, &mut r) else {
            continue;
        };
        let time = |k: usize, n: u64| {
            let (base, list) = &inputs[k];
            let rounding = tickpipe::components::time::Rounding::Nearest;
            base.convert(list[n as usize], common, rounding)
                .expect("fits")
        };
        let lead: Vec<u64> = sets.iter().filter_map(|s| s.1[0]).collect();
        let last = inputs[0].1.len() as u64;
        for (now, shown) in sets.iter().filter(|s| s.1[0] != Some(last.wrapping_sub(1))) {
            assert_eq!(*now, time(0, shown[0].expect("it leads")));
            for (k, n) in shown.iter().enumerate().skip(1) {
                assert!(n.is_none_or(|n| time(k, n) <= *now));
            }
        }
        let mut before_end = lead.clone();
        before_end.dedup();
        let first = before_end.first().copied().unwrap_or(last);
        assert_eq!(before_end, (first..last).collect::<Vec<_>>(), "{inputs:?}");
    }
}

/// A leads and is slow, B is fast, C is slow: A1+B1+C1, then A2+B3+C1.
#[test]
fn the_textbook_example() {
    let tick = base(1, 10);
    let inputs = [
        (tick, vec![0, 10, 20]),
        (tick, vec![0, 5, 10, 15, 20]),
        (tick, vec![0, 20]),
    ];
    let rules = [
        SyncRule::new(2, Extend::Stop, Extend::Infinity),
        SyncRule::new(1, Extend::Stop, Extend::Infinity),
        SyncRule::new(1, Extend::Stop, Extend::Infinity),
    ];
    let terms = SyncTerms {
        rules: rules.into_iter().collect(),
        ..SyncTerms::default()
    };
    let want: Vec<Set> = [(0, [0, 0, 0]), (10, [1, 2, 0]), (20, [2, 4, 1])]
        .map(|(t, shown)| (t, shown.map(Some).to_vec()))
        .to_vec();
    assert_eq!(made(&terms, &inputs, &mut Random(3)), Some((tick, want)));
}
