//! The frame synchroniser, in its basic mode: input 0 leads, the others' last frame is repeated.
//!
//! A *set* is one output: a frame of the leading input and, per other input, the frame that it
//! shows at that time, or nothing before its first. Times are compared in the common time base
//! of all inputs (FFmpeg framesync, sync levels 2/1, before `stop`/`null`, after `infinity`);
//! the output ends with the leading input. A set is made only once every other input's next
//! frame, or its end, is known, so the order of arrival never matters.
//!
//! It holds references to buffers and counts them as the fabric tells it to; it touches no byte.

use crate::id::BufferId;
use crate::time::{Rounding, TimeBase};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A frame on an input: which buffer, its time in the common time base, its place in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncFrame {
    /// The buffer.
    pub buffer: BufferId,
    /// Its time in the common time base.
    pub time: i64,
    /// The how-manyth of its input, from 0.
    pub index: u64,
}

/// One input of a synchroniser.
#[derive(Clone, Debug, Default)]
pub struct SyncInput {
    /// The time base of its stamps.
    pub time_base: TimeBase,
    /// What it shows now.
    pub current: Option<SyncFrame>,
    /// What it shows next, if known.
    pub next: Option<SyncFrame>,
    /// Nothing comes after `next`.
    pub ended: bool,
    /// Frames taken in.
    pub taken: u64,
    /// Sets in which it showed a frame again.
    pub repeated: u64,
    /// Frames that were replaced before any set showed them.
    pub dropped: u64,
    /// Sets in which it had nothing to show.
    pub absent: u64,
    /// Whether `current` was in a set.
    shown: bool,
}

/// Frames chosen to be processed together. Each holds one reference of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncSet {
    /// Output time in the time base of the leading input.
    pub pts: i64,
    /// Per input: its frame, or nothing.
    pub frames: SmallVec<[Option<BufferId>; 4]>,
}

/// What a set was made of, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRecord {
    /// Output time in the time base of the leading input.
    pub pts: i64,
    /// Per input: the index of its frame, or nothing.
    pub indexes: SmallVec<[Option<u64>; 4]>,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncStep {
    /// A set was added to [`Synchroniser::sets`].
    Set,
    /// This input's next frame or end must be known first.
    Wait(usize),
    /// The leading input is at its end: no further set.
    End,
}

/// A synchroniser's state.
#[derive(Clone, Debug, Default)]
pub struct Synchroniser {
    /// Its inputs; 0 leads.
    pub inputs: SmallVec<[SyncInput; 2]>,
    /// The common time base.
    pub time_base: TimeBase,
    /// Sets that wait to be processed.
    pub sets: VecDeque<SyncSet>,
    /// Sets for the report, when it is asked for.
    pub records: Option<Vec<SyncRecord>>,
    /// The leading input has ended and all sets are made.
    pub finished: bool,
    /// A stamp that could not be used ended it.
    pub error: Option<SyncError>,
}

/// A stamp that the synchroniser cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    /// No time at all.
    #[error("frame {index} of input {input} has no time")]
    NoTime {
        /// The input.
        input: usize,
        /// The how-manyth frame of it.
        index: u64,
    },
    /// A time that the common time base cannot hold.
    #[error("frame {index} of input {input}: time {pts} does not fit time base {time_base}")]
    TooFar {
        /// The input.
        input: usize,
        /// The how-manyth frame of it.
        index: u64,
        /// Its time in its own time base.
        pts: i64,
        /// The common time base.
        time_base: TimeBase,
    },
}

impl Synchroniser {
    /// A synchroniser for inputs with these time bases, with room for `sets` sets.
    pub fn new(time_bases: &[TimeBase], sets: usize) -> Synchroniser {
        let common = time_bases
            .iter()
            .copied()
            .reduce(TimeBase::merge)
            .unwrap_or_default();
        Synchroniser {
            inputs: time_bases
                .iter()
                .map(|&time_base| SyncInput {
                    time_base,
                    ..SyncInput::default()
                })
                .collect(),
            time_base: common,
            sets: VecDeque::with_capacity(sets),
            records: None,
            finished: false,
            error: None,
        }
    }

    /// Whether an input can take a frame or its end.
    pub fn wants(&self, input: usize) -> bool {
        self.inputs
            .get(input)
            .is_some_and(|i| i.next.is_none() && !i.ended)
    }

    /// Gives an input its next frame, whose reference passes to the synchroniser.
    ///
    /// # Errors
    /// [`SyncError`] if the frame has no time, or one that does not fit; the reference then
    /// stays with the caller.
    pub fn offer(
        &mut self,
        input: usize,
        buffer: BufferId,
        pts: Option<i64>,
        time_base: TimeBase,
    ) -> Result<(), SyncError> {
        let common = self.time_base;
        let slot = &mut self.inputs[input];
        let index = slot.taken;
        let pts = pts.ok_or(SyncError::NoTime { input, index })?;
        let time = time_base
            .convert(pts, common, Rounding::Nearest)
            .ok_or(SyncError::TooFar {
                input,
                index,
                pts,
                time_base: common,
            })?;
        slot.taken += 1;
        slot.next = Some(SyncFrame {
            buffer,
            time,
            index,
        });
        Ok(())
    }

    /// Tells an input that nothing more comes.
    pub fn end(&mut self, input: usize) {
        self.inputs[input].ended = true;
    }

    /// Makes the next set if everything for it is known. References that it lets go are given to
    /// `release`, one more that it needs to `retain`.
    pub fn step(
        &mut self,
        pts_of: impl Fn(BufferId) -> i64,
        mut retain: impl FnMut(BufferId),
        mut release: impl FnMut(BufferId),
    ) -> SyncStep {
        if self.finished {
            return SyncStep::End;
        }
        let lead = loop {
            let lead = match self.inputs.first() {
                Some(first) if first.next.is_some() || !first.ended => first.next,
                _ => {
                    self.finish(&mut release);
                    return SyncStep::End;
                }
            };
            let known = |i: &SyncInput| i.next.is_some() || i.ended;
            if let Some(k) = self.inputs.iter().position(|i| !known(i)) {
                return SyncStep::Wait(k);
            }
            let times = self.inputs.iter().filter_map(|i| i.next.map(|n| n.time));
            let (Some(lead), Some(now)) = (lead, times.min()) else {
                return SyncStep::Wait(0);
            };
            // One frame an input and step: of several with the same time, the first is shown
            // with the leading frame of that time, and the last stays for the next one.
            for input in self.inputs.iter_mut().skip(1) {
                if let Some(next) = input.next.take_if(|n| n.time == now) {
                    if let Some(old) = input.current.replace(next) {
                        release(old.buffer);
                        input.dropped += u64::from(!input.shown);
                    }
                    input.shown = false;
                }
            }
            if lead.time == now {
                break lead;
            }
        };
        self.inputs[0].next = None;
        let pts = pts_of(lead.buffer);
        let mut set = SyncSet {
            pts,
            frames: SmallVec::new(),
        };
        set.frames.push(Some(lead.buffer));
        for input in self.inputs.iter_mut().skip(1) {
            set.frames.push(input.current.map(|c| c.buffer));
            match input.current {
                Some(frame) => {
                    retain(frame.buffer);
                    input.repeated += u64::from(input.shown);
                    input.shown = true;
                }
                None => input.absent += 1,
            }
        }
        if let Some(records) = &mut self.records {
            let mut indexes: SmallVec<[Option<u64>; 4]> = SmallVec::new();
            indexes.push(Some(lead.index));
            indexes.extend(self.inputs[1..].iter().map(|i| i.current.map(|c| c.index)));
            records.push(SyncRecord { pts, indexes });
        }
        self.sets.push_back(set);
        SyncStep::Set
    }

    /// Lets go of all that is held and makes no further set. Frames that no set showed are
    /// counted as dropped.
    pub fn finish(&mut self, release: &mut impl FnMut(BufferId)) {
        for input in &mut self.inputs {
            if let Some(frame) = input.current.take() {
                input.dropped += u64::from(!input.shown);
                release(frame.buffer);
            }
            if let Some(frame) = input.next.take() {
                input.dropped += 1;
                release(frame.buffer);
            }
        }
        self.finished = true;
    }

    /// Forgets what some inputs gave, and that they ended; it makes sets again. References that it
    /// lets go are given to `release` and counted by nobody; sets that wait to be processed go with
    /// them.
    pub fn flush(&mut self, inputs: &[usize], release: &mut impl FnMut(BufferId)) {
        for &k in inputs {
            let Some(input) = self.inputs.get_mut(k) else {
                continue;
            };
            let held = [input.current.take(), input.next.take()];
            let held = held.into_iter().flatten();
            held.for_each(|frame| release(frame.buffer));
            input.ended = false;
            input.shown = false;
        }
        while let Some(set) = self.sets.pop_front() {
            set.frames.into_iter().flatten().for_each(&mut *release);
        }
        self.finished = false;
        self.error = None;
    }

    /// References held outside of [`Synchroniser::sets`].
    pub fn held(&self) -> impl Iterator<Item = BufferId> + '_ {
        self.inputs
            .iter()
            .flat_map(|i| i.current.iter().chain(i.next.iter()))
            .map(|f| f.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;

    /// Runs two inputs through a synchroniser, feeding an input only when it asks.
    fn run(bases: [TimeBase; 2], stamps: [&[i64]; 2]) -> (Vec<(i64, Option<u64>)>, Synchroniser) {
        let mut sync = Synchroniser::new(&bases, 4);
        sync.records = Some(Vec::new());
        let refs = RefCell::new(vec![0i32; 2000]);
        let mut fed = [0usize; 2];
        let buffer = |k: usize, i: usize| BufferId((k * 1000 + i) as u32);
        loop {
            let step = sync.step(
                |b| stamps[0][b.index()],
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
                        sync.offer(k, id, Some(pts), bases[k]).expect("has a time");
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
        let want = [0, 0, 0, 1, 1, 1];
        assert_eq!(
            sets,
            (0..6)
                .map(|i| (i, Some(want[i as usize])))
                .collect::<Vec<_>>()
        );
        assert_eq!((sync.inputs[1].repeated, sync.inputs[1].dropped), (4, 1));
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
        let mut sync = Synchroniser::new(&[base(1, 25), base(1, 25)], 1);
        assert_eq!(
            sync.offer(1, BufferId(0), None, base(1, 25)),
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
            let want: Vec<_> = a.iter().map(|&t| {
                (t, b.iter().rposition(|&s| y.compare(s, x, t).is_le()).map(|i| i as u64))
            }).collect();
            prop_assert_eq!(sets, want);
            prop_assert_eq!(sync.inputs[0].taken as usize, a.len());
        }
    }
}
