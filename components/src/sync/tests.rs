//! Sets of given stamps, and what is counted.

use super::*;
use crate::id::BufferId;
use proptest::prelude::*;
use std::cell::RefCell;

/// Runs two inputs through a synchroniser, feeding an input only when it asks.
fn run(bases: [TimeBase; 2], stamps: [&[i64]; 2]) -> (Vec<(i64, Option<u64>)>, Synchroniser) {
    let mut sync = Synchroniser::new(SyncTerms::dual(OutBase::First), &bases, 4).expect("levels");
    sync.records = Some(Vec::new());
    let refs = RefCell::new(vec![0i32; 2000]);
    let mut fed = [0usize; 2];
    let buffer = |k: usize, i: usize| BufferId((k * 1000 + i) as u32);
    loop {
        let step = sync.step(
            |k| match stamps[k].get(fed[k]) {
                Some(&pts) => Upcoming::Frame(Some(pts), bases[k]),
                None => Upcoming::End,
            },
            |b| refs.borrow_mut()[b.index()] += 1,
            |b| refs.borrow_mut()[b.index()] -= 1,
        );
        while let Some(set) = sync.sets.pop_front() {
            for b in set.frames.into_iter().flatten() {
                refs.borrow_mut()[b.index()] -= 1;
            }
        }
        match step {
            SyncStep::Set => {}
            SyncStep::End => break,
            SyncStep::Wait(k) => match stamps[k].get(fed[k]) {
                Some(&pts) => {
                    let id = buffer(k, fed[k]);
                    refs.borrow_mut()[id.index()] += 1;
                    sync.offer(k, id, Some(pts), None, bases[k])
                        .expect("has a time");
                    fed[k] += 1;
                }
                None => sync.end(k),
            },
        }
    }
    assert!(refs.borrow().iter().all(|&r| r == 0), "a reference leaked");
    let sets = sync.records.take().expect("recorded");
    let sets = sets.iter().map(|r| (r.pts, r.indexes[1])).collect();
    (sets, sync)
}

fn base(num: u32, den: u32) -> TimeBase {
    TimeBase::new(num, den).expect("valid")
}

#[test]
fn twenty_four_over_nine() {
    // 23.976 fps over 9 fps: the second input's last frame is repeated.
    let main: Vec<i64> = (0..6).collect();
    let (sets, sync) = run([base(1001, 24000), base(1, 9)], [&main, &[0, 1, 2]]);
    // The last one makes a set of its own, with main's last frame: main has ended then.
    let want = [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (5, 2)];
    assert_eq!(sets, want.map(|(pts, index)| (pts, Some(index))));
    assert_eq!((sync.inputs[1].repeated, sync.inputs[1].dropped), (4, 0));
    assert_eq!((sync.inputs[0].repeated, sync.inputs[0].dropped), (1, 0));
}

#[test]
fn empty_and_late_second_inputs() {
    let tb = base(1, 25);
    let (sets, sync) = run([tb, tb], [&[0, 1], &[]]);
    assert_eq!(sets, [(0, None), (1, None)]);
    assert_eq!(sync.inputs[1].absent, 2);
    let (sets, _) = run([tb, tb], [&[0, 1, 2], &[1]]);
    assert_eq!(sets, [(0, None), (1, Some(0)), (2, Some(0))]);
    let (sets, _) = run([tb, tb], [&[], &[0, 1]]);
    assert_eq!(sets, []);
}

#[test]
fn duplicate_stamps() {
    // FFmpeg framesync: of duplicates in the second input the first pairs with main's frame
    // of that time, and main's next frame shows the last.
    let tb = base(1, 25);
    let (sets, sync) = run([tb, tb], [&[0, 1, 2, 3], &[0, 1, 1, 1, 3]]);
    assert_eq!(
        sets,
        [(0, Some(0)), (1, Some(1)), (2, Some(3)), (3, Some(4))]
    );
    assert_eq!(sync.inputs[1].dropped, 1);
    let (sets, _) = run([tb, tb], [&[0, 1, 1, 2], &[0, 1, 2]]);
    assert_eq!(
        sets,
        [(0, Some(0)), (1, Some(1)), (1, Some(1)), (2, Some(2))]
    );
}

#[test]
fn a_frame_without_time_is_refused() {
    let mut sync = Synchroniser::new(
        SyncTerms::dual(OutBase::First),
        &[base(1, 25), base(1, 25)],
        1,
    )
    .expect("levels");
    assert_eq!(
        sync.offer(1, BufferId(0), None, None, base(1, 25)),
        Err(SyncError::NoTime { input: 1, index: 0 })
    );
    assert!(sync.wants(1));
}

proptest! {
    #[test]
    fn shows_the_last_frame_at_or_before(
        (n1, d1, n2, d2) in (1u32..50, 1u32..50, 1u32..50, 1u32..50),
        a in prop::collection::btree_set(-50i64..100, 0..30),
        b in prop::collection::btree_set(-50i64..100, 0..30),
    ) {
        let (x, y) = (base(n1, d1), base(n2, d2));
        let (a, b): (Vec<i64>, Vec<i64>) = (a.into_iter().collect(), b.into_iter().collect());
        let (sets, sync) = run([x, y], [&a, &b]);
        let mut want: Vec<_> = a.iter().map(|&t| {
            (t, b.iter().rposition(|&s| y.compare(s, x, t).is_le()).map(|i| i as u64))
        }).collect();
        // After the end of the leading input each frame of the other makes a set.
        if let Some(&last) = a.last() {
            let later = b.iter().enumerate().filter(|&(_, &s)| y.compare(s, x, last).is_gt());
            let time = |s: i64| y.convert(s, x, crate::time::Rounding::Nearest).expect("fits");
            want.extend(later.map(|(i, &s)| (time(s), Some(i as u64))));
        }
        prop_assert_eq!(sets, want);
        prop_assert_eq!(sync.inputs[0].taken as usize, a.len());
    }
}
