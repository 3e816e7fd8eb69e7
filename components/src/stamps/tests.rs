//! The rules of stamps, by case and over random streams.

use super::*;
use proptest::prelude::*;

fn base(num: u32, den: u32) -> TimeBase {
    TimeBase::new(num, den).expect("valid")
}

fn buffer(index: u64, pts: Option<i64>, time_base: TimeBase) -> BufferMeta {
    BufferMeta {
        pts,
        index,
        time_base,
        ..BufferMeta::default()
    }
}

/// What became of a stream.
#[derive(Default)]
struct Outcome {
    out: Vec<(u64, Option<i64>, BufferFlags)>,
    told: Vec<(Reason, Deed, u64, Option<i64>)>,
    gaps: Vec<(i64, i64)>,
    error: Option<StampError>,
}

impl Outcome {
    fn times(&self) -> Vec<Option<i64>> {
        self.out.iter().map(|o| o.1).collect()
    }
}

fn run(stamps: &mut Stamps, pts: &[Option<i64>], time_base: TimeBase) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, pts) in (0..).zip(pts) {
        let checked = stamps.check(&buffer(index, *pts, time_base));
        let told = checked.told.iter();
        outcome
            .told
            .extend(told.map(|o| (o.reason, o.deed, o.index, o.value)));
        match checked.verdict {
            Verdict::Drop => continue,
            Verdict::Fail(error) => {
                outcome.error = Some(error);
                return outcome;
            }
            Verdict::Gap { from, to } => outcome.gaps.push((from, to)),
            Verdict::Pass => assert_eq!(checked.meta.pts, *pts),
            Verdict::Stamp => {}
        }
        let meta = checked.meta;
        outcome.out.push((index, meta.pts, meta.flags));
    }
    outcome
}

fn at_25(rules: StampRules) -> Stamps {
    let mut stamps = Stamps::new(rules);
    stamps.set_rate(TimeBase::of_rate(25, 1));
    stamps
}

fn some(values: impl IntoIterator<Item = i64>) -> Vec<Option<i64>> {
    values.into_iter().map(Some).collect()
}

#[test]
fn a_good_stream_passes_as_it_is() {
    let outcome = run(&mut at_25(StampRules::default()), &some(0..9), base(1, 25));
    assert_eq!(outcome.times(), some(0..9));
    assert!(outcome.told.is_empty() && outcome.error.is_none());
}

#[test]
fn missing_ones() {
    let pts = [None, Some(1), Some(2), None, Some(4), None, None, Some(7)];
    let of = |missing| {
        let rules = StampRules {
            missing,
            ..StampRules::default()
        };
        run(&mut at_25(rules), &pts, base(1, 25))
    };
    let filled = of(OnMissing::FromRate);
    assert_eq!(filled.times(), some(0..8));
    let derived = filled.out.iter().filter(|o| o.2 == BufferFlags::DERIVED);
    assert_eq!(derived.map(|o| o.0).collect::<Vec<_>>(), [0, 3, 5, 6]);
    let told = [0, 3, 5, 6].map(|i| (Reason::MissingStamp, Deed::Derived, i, None));
    assert_eq!(filled.told, told);
    assert_eq!(of(OnMissing::Drop).times(), some([1, 2, 4, 7]));
    assert_eq!(of(OnMissing::Pass).times(), pts);
    let error = of(OnMissing::Error).error.map(|e| e.to_string());
    let text = "buffer 0: it has no time (received none, previous none)";
    assert_eq!(error.as_deref(), Some(text));
    let error = of(OnMissing::HoldLast).error.map(|e| e.fault);
    assert_eq!(error, Some(StampFault::NothingToHold));
}

#[test]
fn the_last_is_held_and_flagged() {
    let rules = StampRules {
        missing: OnMissing::HoldLast,
        ..StampRules::default()
    };
    let pts = [Some(5), None, None, Some(8)];
    let held = run(&mut at_25(rules), &pts, base(1, 25));
    assert_eq!(held.times(), some([5, 5, 5, 8]));
    assert_eq!(held.out[1].2, BufferFlags::DERIVED);
}

#[test]
fn without_a_step_nothing_is_made_up() {
    let rules = StampRules {
        missing: OnMissing::FromRate,
        ..StampRules::default()
    };
    let error = run(&mut Stamps::new(rules), &[Some(3), None], base(1, 25)).error;
    let text = "buffer 1: it has no time, and neither a rate nor a duration to work one out with (received none, previous 3 x 1/25 s)";
    assert_eq!(error.map(|e| e.to_string()).as_deref(), Some(text));
    // Two that were received show the step.
    let shown = run(
        &mut Stamps::new(rules),
        &[Some(3), Some(5), None],
        base(1, 25),
    );
    assert_eq!(shown.times(), some([3, 5, 7]));
}

#[test]
fn equal_ones() {
    let of = |equal| {
        let rules = StampRules {
            equal,
            ..StampRules::default()
        };
        run(&mut at_25(rules), &some([0, 1, 1, 2]), base(1, 25))
    };
    let passed = of(OnEqual::Pass);
    assert_eq!(passed.times(), some([0, 1, 1, 2]));
    assert_eq!(
        passed.told,
        [(Reason::EqualStamp, Deed::Passed, 2, Some(1))]
    );
    let dropped = of(OnEqual::Drop);
    assert_eq!(dropped.times(), some([0, 1, 2]));
    assert_eq!(
        dropped.told,
        [(Reason::EqualStamp, Deed::Dropped, 2, Some(1))]
    );
    let error = of(OnEqual::Error).error.map(|e| e.to_string());
    let text = "buffer 2: its time is that of the one before it (received 1 x 1/25 s, previous 1 x 1/25 s)";
    assert_eq!(error.as_deref(), Some(text));
}

/// The stream of case B40.
fn with_a_late_one() -> Vec<Option<i64>> {
    some((0..10).chain([5]).chain(11..21))
}

#[test]
fn backward_ones() {
    let of = |backward| {
        let rules = StampRules {
            backward,
            ..StampRules::default()
        };
        run(&mut at_25(rules), &with_a_late_one(), base(1, 25))
    };
    let error = of(OnBackward::Error).error;
    let want = StampError {
        fault: StampFault::Backward,
        index: 10,
        previous: Some(Time::new(9, base(1, 25))),
        received: Some(Time::new(5, base(1, 25))),
    };
    assert_eq!(error, Some(want));
    let dropped = of(OnBackward::Drop);
    assert_eq!(dropped.times(), some((0..10).chain(11..21)));
    assert_eq!(
        dropped.told,
        [(Reason::BackwardStamp, Deed::Dropped, 10, Some(5))]
    );
    // From there on all are five further: the one that comes next is six further than it was.
    let rebased = of(OnBackward::Rebase);
    assert_eq!(rebased.times(), some((0..11).chain(16..26)));
    assert_eq!(rebased.out[10].2, BufferFlags::DISCONTINUITY);
    assert_eq!(of(OnBackward::Pass).times(), with_a_late_one());
}

/// The stream of case B38: 70 s ahead at 100, 500 s back at 150.
fn with_jumps() -> Vec<Option<i64>> {
    let at = |i: i64| match i {
        0..100 => i,
        100..150 => i + 70 * 25,
        _ => i - 430 * 25,
    };
    some((0..200).map(at))
}

#[test]
fn jumps() {
    let of = |jump| {
        let rules = StampRules {
            jump,
            ..StampRules::default()
        };
        run(&mut at_25(rules), &with_jumps(), base(1, 25))
    };
    let rebased = of(OnJump::Rebase);
    assert_eq!(rebased.times(), some(0..200));
    let told = [(100, 1850), (150, -10600)];
    let told = told.map(|(i, v)| (Reason::Jump, Deed::Rebased, i, Some(v)));
    assert_eq!(rebased.told, told);
    let gap = of(OnJump::Gap);
    assert_eq!(gap.gaps, [(100, 1850)]);
    let error = gap.error.map(|e| (e.fault, e.index));
    assert_eq!(error, Some((StampFault::Backward, 150)));
    let error = of(OnJump::Error).error.map(|e| e.to_string());
    let text = "buffer 100: its time is more than 10000000000 x 1/1000000000 s from where it should be (received 1850 x 1/25 s, previous 99 x 1/25 s)";
    assert_eq!(error.as_deref(), Some(text));
    assert_eq!(of(OnJump::Pass).times(), with_jumps());
}

#[test]
fn a_jump_is_no_step() {
    let rules = StampRules {
        jump_threshold: Some(Time::nanoseconds(1_000_000_000)),
        ..StampRules::default()
    };
    // Neither caps nor durations say how long a step is.
    let pts = some([0, 1, 500, 501, 502]);
    let outcome = run(&mut Stamps::new(rules), &pts, base(1, 25));
    assert_eq!(outcome.gaps, [(2, 500)]);
    assert_eq!(outcome.told.len(), 1);
}

#[test]
fn exactly_the_threshold_is_no_jump() {
    let rules = StampRules {
        jump: OnJump::Error,
        jump_threshold: Some(Time::nanoseconds(40_000_000)),
        ..StampRules::default()
    };
    // A step is 40 ms: 2 is where it should be, 3 is one step further, 4 two.
    let two = |pts| run(&mut at_25(rules), &some([1, pts]), base(1, 25)).error;
    assert_eq!(two(3), None);
    assert_eq!(two(4).map(|e| e.index), Some(1));
}

#[test]
fn a_counter_that_begins_anew() {
    let rules = StampRules {
        wrap_bits: Some(8),
        ..StampRules::default()
    };
    let mut stamps = Stamps::new(rules);
    let outcome = run(&mut stamps, &some([250, 255, 4, 9]), base(1, 90_000));
    assert_eq!(outcome.times(), some([250, 255, 260, 265]));
    assert_eq!(outcome.told, [(Reason::Wrap, Deed::Rebased, 2, Some(4))]);
    // Another unit is another counter.
    let checked = stamps.check(&buffer(4, Some(7), base(1, 25)));
    assert_eq!((checked.verdict, checked.told.len()), (Verdict::Pass, 0));
}

#[test]
fn decoding_times_move_along() {
    let rules = StampRules {
        jump: OnJump::Rebase,
        ..StampRules::default()
    };
    let mut stamps = at_25(rules);
    stamps.check(&buffer(0, Some(0), base(1, 25)));
    let mut far = buffer(1, Some(1000), base(1, 25));
    far.dts = Some(998);
    let checked = stamps.check(&far);
    assert_eq!((checked.meta.pts, checked.meta.dts), (Some(1), Some(-1)));
}

#[test]
fn resync_forgets() {
    let mut stamps = at_25(StampRules::default());
    let outcome = run(&mut stamps, &with_a_late_one(), base(1, 25));
    assert!(outcome.error.is_some());
    stamps.resync();
    let again = run(&mut stamps, &some(0..9), base(1, 25));
    assert_eq!(again.times(), some(0..9));
    assert!(again.told.is_empty() && again.error.is_none());
}

#[test]
fn names_are_those_of_properties() {
    let all = OnMissing::ALL.iter().map(|m| m.name());
    let all: Vec<_> = all.collect();
    assert_eq!(all, ["error", "drop", "from-rate", "hold-last", "pass"]);
}

fn stamps_of() -> impl Strategy<Value = Vec<Option<i64>>> {
    let one = prop_oneof![
        6 => (-3i64..4).prop_map(Some),
        1 => Just(None),
        1 => (-2_000_000i64..2_000_000).prop_map(Some),
    ];
    // Steps from one to the next; a stamp that is missing takes no step.
    proptest::collection::vec(one, 0..80).prop_map(|steps| {
        let mut at = 0;
        let next = |step: Option<i64>| {
            at += step.unwrap_or(0);
            step.map(|_| at)
        };
        steps.into_iter().map(next).collect()
    })
}

proptest! {
    /// With rules that mend everything, times go up by a step or more, never by more than the
    /// threshold beyond it, and nothing is lost but what is said to be dropped.
    #[test]
    fn rebased_times_go_up(pts in stamps_of(), (num, den) in (1i32..1000, 1i32..100)) {
        let rules = StampRules {
            missing: OnMissing::FromRate,
            equal: OnEqual::Drop,
            backward: OnBackward::Rebase,
            jump: OnJump::Rebase,
            jump_threshold: Some(Time::nanoseconds(1_000_000_000)),
            wrap_bits: None,
        };
        let unit = base(1, 90_000);
        let mut stamps = Stamps::new(rules);
        stamps.set_rate(TimeBase::of_rate(num, den));
        let outcome = run(&mut stamps, &pts, unit);
        prop_assert_eq!(outcome.error, None);
        let times: Vec<i64> = outcome.times().into_iter().flatten().collect();
        let step = TimeBase::of_rate(num, den).expect("a rate");
        let step = step.convert(1, unit, Rounding::Up).expect("fits");
        for pair in times.windows(2) {
            let apart = pair[1] - pair[0];
            prop_assert!(apart > 0 && apart <= step + 90_000, "{pair:?}");
        }
        let dropped = outcome.told.iter().filter(|t| t.1 == Deed::Dropped).count();
        prop_assert_eq!(times.len() + dropped, pts.len());
    }

    /// Whatever the rules: each buffer that does not go on as it came is told of, once, by its
    /// index; and one that failed ends it.
    #[test]
    fn nothing_happens_unsaid(
        pts in stamps_of(),
        (m, e, b, j) in (0usize..5, 0usize..3, 0usize..4, 0usize..4),
    ) {
        let rules = StampRules {
            missing: OnMissing::ALL[m],
            equal: OnEqual::ALL[e],
            backward: OnBackward::ALL[b],
            jump: OnJump::ALL[j],
            ..StampRules::default()
        };
        let outcome = run(&mut at_25(rules), &pts, base(1, 25));
        let indexes: Vec<u64> = outcome.told.iter().map(|t| t.2).collect();
        prop_assert!(indexes.windows(2).all(|w| w[0] < w[1]), "{indexes:?}");
        let dropped = outcome.told.iter().filter(|t| t.1 == Deed::Dropped).count();
        match outcome.error {
            None => prop_assert_eq!(outcome.out.len() + dropped, pts.len()),
            Some(error) => {
                prop_assert_eq!(error.index as usize, outcome.out.len() + dropped);
                prop_assert_eq!(outcome.told.last().map(|t| t.1), Some(Deed::Failed));
            }
        }
        for (index, pts_out, flags) in &outcome.out {
            let was = pts[*index as usize];
            prop_assert_eq!(was.is_none() && pts_out.is_some(), flags.contains(BufferFlags::DERIVED));
        }
    }
}
