//! The synchroniser: takes frames and ends of several inputs, makes sets of them.
//!
//! It holds references to buffers and counts them as the fabric tells it to; it touches no byte.

use super::input::{NEVER, Phase, SyncInput};
use super::rules::{Extend, OutBase, SyncRule, SyncTerms, TsSyncMode, Untimed};
use super::set::{Shown, SyncFrame, SyncRecord, SyncSet};
use super::{SyncError, SyncStep, Upcoming};
use crate::id::BufferId;
use crate::time::{Rounding, TimeBase};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A synchroniser's state.
#[derive(Clone, Debug, Default)]
pub struct Synchroniser {
    /// Its inputs.
    pub inputs: SmallVec<[SyncInput; 2]>,
    /// The time base in which times are compared.
    pub time_base: TimeBase,
    /// The time base of its sets.
    pub out_base: TimeBase,
    /// What it was made with.
    pub terms: SyncTerms,
    /// The level whose frames make sets.
    pub level: u32,
    /// Sets that wait to be processed.
    pub sets: VecDeque<SyncSet>,
    /// Sets for the report, when it is asked for.
    pub records: Option<Vec<SyncRecord>>,
    /// It makes no further set.
    pub finished: bool,
    /// What ended it, if that was an error.
    pub error: Option<SyncError>,
    now: i64,
}

impl Synchroniser {
    /// A synchroniser for inputs with these time bases, with room for `sets` sets.
    ///
    /// # Errors
    /// [`SyncError::NoLevel`] if no input can make output; [`SyncError::Inputs`] if there are not as
    /// many rules as inputs.
    pub fn new(
        terms: SyncTerms,
        time_bases: &[TimeBase],
        sets: usize,
    ) -> Result<Synchroniser, SyncError> {
        if terms.rules.len() != time_bases.len() {
            return Err(SyncError::Inputs {
                rules: terms.rules.len(),
                inputs: time_bases.len(),
            });
        }
        let rules = terms.resolved();
        let time_base = terms.common(&rules, time_bases)?;
        let input = |(&rule, &time_base): (&SyncRule, &TimeBase)| SyncInput {
            time_base,
            rule,
            level: rule.sync,
            ..SyncInput::default()
        };
        let mut sync = Synchroniser {
            inputs: rules.iter().zip(time_bases).map(input).collect(),
            time_base,
            terms,
            sets: VecDeque::with_capacity(sets),
            ..Synchroniser::default()
        };
        sync.set_out_base();
        sync.set_level();
        Ok(sync)
    }

    /// One that makes no set, and says why.
    pub fn refused(error: SyncError) -> Synchroniser {
        Synchroniser {
            finished: true,
            error: Some(error),
            ..Synchroniser::default()
        }
    }

    /// The input for which the others wait, where it is known without taking anything in: it has
    /// nothing to give, and does not promise anything. `has` says whether something stands on an
    /// input.
    pub fn waits_for(&self, has: impl Fn(usize) -> bool) -> Option<usize> {
        let holds_up = |k: usize, i: &SyncInput| {
            i.lacks_next() && !i.ended && !i.silent && i.bound.is_none() && !has(k)
        };
        let mut inputs = self.inputs.iter().enumerate();
        inputs.find(|(k, i)| holds_up(*k, i)).map(|(k, _)| k)
    }

    fn set_out_base(&mut self) {
        self.out_base = match (self.terms.out, self.inputs.first()) {
            (OutBase::First, Some(first)) => first.time_base,
            _ => self.time_base,
        };
    }

    /// Computes the active level, and with it whose nearest frame counts. `false` if there is none.
    fn set_level(&mut self) -> bool {
        let going = self.inputs.iter().filter(|i| i.phase != Phase::After);
        self.level = going.map(|i| i.level).max().unwrap_or_default();
        let nearest = self.terms.options.ts_sync_mode == TsSyncMode::Nearest;
        for input in &mut self.inputs {
            input.nearest = nearest && input.level < self.level;
        }
        self.level > 0
    }

    /// Whether an input can take a frame or its end.
    pub fn wants(&self, input: usize) -> bool {
        self.inputs
            .get(input)
            .is_some_and(|i| i.lacks_next() && !i.ended)
    }

    /// A stamp in the common time base (FFmpeg framesync: nearest, halves away from zero).
    fn common_time(
        &self,
        (input, index): (usize, u64),
        pts: Option<i64>,
        time_base: TimeBase,
    ) -> Result<i64, SyncError> {
        let to = self.time_base;
        match (pts, self.terms.untimed) {
            (None, Untimed::Refuse) => Err(SyncError::NoTime { input, index }),
            // FFmpeg: the smallest number is moved by one before it is converted.
            (None, Untimed::First) => Ok(time_base
                .convert(-i64::MAX, to, Rounding::Nearest)
                .unwrap_or(i64::MIN)),
            (Some(pts), _) => {
                time_base
                    .convert(pts, to, Rounding::Nearest)
                    .ok_or(SyncError::TooFar {
                        input,
                        index,
                        pts,
                        time_base: to,
                    })
            }
        }
    }

    /// Gives an input its next frame, whose reference passes to the synchroniser. `duration` is in
    /// `time_base` too.
    ///
    /// # Errors
    /// [`SyncError`] if the frame has no time, or one that does not fit; the reference then
    /// stays with the caller.
    pub fn offer(
        &mut self,
        input: usize,
        buffer: BufferId,
        pts: Option<i64>,
        duration: Option<i64>,
        time_base: TimeBase,
    ) -> Result<(), SyncError> {
        let index = self.inputs[input].taken;
        let time = self.common_time((input, index), pts, time_base)?;
        let lasts = duration.filter(|&d| d > 0).unwrap_or(1);
        let over = pts.and_then(|pts| {
            let end = pts.checked_add(lasts)?;
            time_base.convert(end, self.time_base, Rounding::Nearest)
        });
        let slot = &mut self.inputs[input];
        slot.over = over;
        slot.next_is_late = slot.passed.is_some_and(|passed| time <= passed);
        slot.late += u64::from(slot.next_is_late);
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

    /// An input promises that no frame earlier than this comes: until then nobody need wait for it.
    pub fn promise(&mut self, input: usize, time: i64, time_base: TimeBase) {
        let bound = time_base.convert(time, self.time_base, Rounding::Nearest);
        if let Some(slot) = self.inputs.get_mut(input) {
            slot.bound = slot.bound.max(bound);
        }
    }

    /// Makes the next set if everything for it is known. `upcoming` tells what stands next on an
    /// input, without taking it; references that it lets go are given to `release`, those that it
    /// needs more to `retain`.
    ///
    /// What it does is a function of the inputs' frames and ends, whatever the order in which they
    /// come; promises and silent inputs only let it go on sooner.
    pub fn step(
        &mut self,
        upcoming: impl Fn(usize) -> Upcoming,
        mut retain: impl FnMut(BufferId),
        mut release: impl FnMut(BufferId),
    ) -> SyncStep {
        while !self.finished {
            if !self.see_ends() {
                break;
            }
            let times = self.inputs.iter().filter_map(SyncInput::next_time);
            let now = times.min().unwrap_or(NEVER);
            let mut lacking = self.inputs.iter().enumerate();
            if let Some((k, _)) = lacking.find(|(_, i)| i.lacks_next() && !self.goes_on(i, now)) {
                return SyncStep::Wait(k);
            }
            if now == NEVER {
                match self.inputs.iter().position(SyncInput::lacks_next) {
                    Some(k) => return SyncStep::Wait(k),
                    None => break,
                }
            }
            let Some(event) = self.advance(now, &mut release) else {
                break;
            };
            let held_back =
                |i: &SyncInput| i.phase == Phase::Before && i.rule.before == Extend::Stop;
            if event && !self.inputs.iter().any(held_back) {
                match self.emit(now, &upcoming, &mut retain) {
                    Ok(()) => return SyncStep::Set,
                    Err(error) => {
                        self.error = Some(error);
                        break;
                    }
                }
            }
        }
        self.finish(&mut release);
        SyncStep::End
    }

    /// Takes notice of ends (FFmpeg framesync: the level falls at once). `false` if no input can
    /// make output any more.
    fn see_ends(&mut self) -> bool {
        for k in 0..self.inputs.len() {
            let input = &mut self.inputs[k];
            if !input.lacks_next() || !input.ended {
                continue;
            }
            let never = input.phase == Phase::Before || input.rule.after == Extend::Infinity;
            input.marker = Some(match input.time {
                Some(last) if !never => last.saturating_add(1),
                _ => NEVER,
            });
            input.level = 0;
            if !self.set_level() {
                return false;
            }
        }
        true
    }

    /// Whether the others can go on to `now` though it is not known what comes next on an input, and
    /// would do the same if it were. They would not if its end changed the level, or what it shows.
    fn goes_on(&self, input: &SyncInput, now: i64) -> bool {
        if !input.silent && input.bound.is_none_or(|bound| bound <= now) {
            return false;
        }
        let known = self.inputs.iter().filter(|i| i.next.is_some());
        if known.map(|i| i.level).max() != Some(self.level) {
            return false;
        }
        match (input.phase, input.time) {
            (Phase::Before, _) => input.rule.before != Extend::Infinity,
            (_, Some(last)) if !input.silent => {
                let near = |bound: i64| {
                    let (ahead, behind) = (
                        i128::from(bound) - i128::from(now),
                        i128::from(now) - i128::from(last),
                    );
                    ahead < behind
                };
                let ends = input.rule.after != Extend::Infinity && now > last;
                !(ends || input.nearest && input.bound.is_some_and(near))
            }
            _ => true,
        }
    }

    /// Each input whose time has come advances. Whether that makes a set; `None` if the output ends.
    fn advance(&mut self, now: i64, release: &mut impl FnMut(BufferId)) -> Option<bool> {
        let (mut event, mut stop) = (false, false);
        for input in &mut self.inputs {
            if input.lacks_next() {
                input.passed = input.passed.max(Some(now));
            }
            if !input.advances(now) {
                continue;
            }
            input.drop_current(release);
            input.shown = false;
            input.time = input.next_time();
            input.current = input.next.take();
            if input.current.is_some() {
                input.phase = Phase::Running;
                let late = core::mem::take(&mut input.next_is_late);
                event |= input.level == self.level && !late;
            } else {
                input.marker = None;
                input.phase = Phase::After;
                stop |= input.rule.after == Extend::Stop;
            }
        }
        if stop && self.terms.strict {
            self.error = self.left_behind(now);
        }
        (!stop).then_some(event)
    }

    /// The input that ended although another goes on, where the output ends with it.
    fn left_behind(&self, now: i64) -> Option<SyncError> {
        let comes = |i: &SyncInput| {
            let just = i.time.filter(|&time| time == now && i.current.is_some());
            just.or(i.next.map(|f| f.time))
        };
        let goes_on = self.inputs.iter().filter_map(comes).min()?;
        let gone = self.inputs.iter().enumerate().filter(|(_, i)| i.ended);
        let (input, gone) = gone.min_by_key(|(_, i)| i.over)?;
        (gone.over <= Some(goes_on)).then_some(SyncError::EndedEarly {
            input,
            frames: gone.taken,
            time: goes_on,
            time_base: self.time_base,
        })
    }

    /// Whether the current frame of an input may be shown in another set. What is not is handed over
    /// with its reference, and can be written in place (FFmpeg framesync: the picture is copied if
    /// another input may make output while it is current; here what stands next counts too).
    fn may_be_shown_again(&self, k: usize, upcoming: Upcoming) -> bool {
        let next = match (self.inputs[k].next, upcoming) {
            (Some(next), _) => Some(Some(next.time)),
            (None, Upcoming::Frame(pts, time_base)) => {
                let time =
                    pts.and_then(|t| time_base.convert(t, self.time_base, Rounding::Nearest));
                time.map(Some)
            }
            (None, Upcoming::End) => None,
            (None, Upcoming::Unknown) => Some(None),
        };
        self.inputs.iter().enumerate().any(|(i, other)| {
            let makes = match next {
                // While it goes on the level does not fall because of it.
                Some(Some(_)) => other.level == self.level,
                _ => other.level > 0,
            };
            let before = match (next, other.next_time()) {
                (Some(Some(own)), Some(other)) => other < own,
                _ => true,
            };
            i != k && makes && before
        })
    }

    /// Adds the set of what all show at `now`.
    fn emit(
        &mut self,
        now: i64,
        upcoming: &impl Fn(usize) -> Upcoming,
        retain: &mut impl FnMut(BufferId),
    ) -> Result<(), SyncError> {
        if self.terms.strict {
            self.check_ends(now)?;
        }
        let pts = self.out_time(now)?;
        self.now = now;
        // Only the first input's pictures are written to.
        let moves = self.inputs.first().is_some_and(|i| i.current.is_some())
            && !self.may_be_shown_again(0, upcoming(0));
        let mut set = SyncSet {
            pts,
            ..SyncSet::default()
        };
        for (k, input) in self.inputs.iter_mut().enumerate() {
            let buffer = input.held_current();
            let shown = match buffer {
                None => Shown::Absent,
                Some(_) if input.shown => Shown::Repeated,
                Some(_) => Shown::Taken,
            };
            input.absent += u64::from(shown == Shown::Absent);
            input.repeated += u64::from(shown == Shown::Repeated);
            input.shown = true;
            match buffer {
                Some(_) if k == 0 && moves => input.moved = true,
                Some(buffer) => retain(buffer),
                None => {}
            }
            set.frames.push(buffer);
            set.shown.push(shown);
        }
        if let Some(records) = &mut self.records {
            let shown = |i: &SyncInput| i.current.map(|f| f.index);
            records.push(SyncRecord {
                pts,
                indexes: self.inputs.iter().map(shown).collect(),
            });
        }
        self.sets.push_back(set);
        Ok(())
    }

    /// An event's time in the time base of the output; that of what has no time stays the smallest.
    fn out_time(&self, now: i64) -> Result<i64, SyncError> {
        if now <= -i64::MAX {
            return Ok(i64::MIN);
        }
        let out = self
            .time_base
            .convert(now, self.out_base, Rounding::Nearest);
        out.ok_or(SyncError::TooFar {
            input: 0,
            index: self.inputs.first().map_or(0, |i| i.taken.saturating_sub(1)),
            pts: now,
            time_base: self.out_base,
        })
    }

    /// Finds an input whose last frame is over at `now`.
    fn check_ends(&self, now: i64) -> Result<(), SyncError> {
        let early =
            |i: &SyncInput| i.ended && i.next.is_none() && i.over.is_none_or(|over| over <= now);
        match self.inputs.iter().position(early) {
            None => Ok(()),
            Some(input) => Err(SyncError::EndedEarly {
                input,
                frames: self.inputs[input].taken,
                time: now,
                time_base: self.time_base,
            }),
        }
    }

    /// Lets go of all that is held and makes no further set. Frames that no set showed are
    /// counted as dropped.
    pub fn finish(&mut self, release: &mut impl FnMut(BufferId)) {
        for input in &mut self.inputs {
            input.drop_current(release);
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
            let held = [input.held_current(), input.next.map(|f| f.buffer)];
            held.into_iter().flatten().for_each(&mut *release);
            *input = SyncInput {
                time_base: input.time_base,
                rule: input.rule,
                level: input.rule.sync,
                silent: input.silent,
                taken: input.taken,
                repeated: input.repeated,
                dropped: input.dropped,
                absent: input.absent,
                late: input.late,
                ..SyncInput::default()
            };
        }
        while let Some(set) = self.sets.pop_front() {
            set.frames.into_iter().flatten().for_each(&mut *release);
        }
        self.set_level();
        self.finished = false;
        self.error = None;
    }

    /// Whether only frames of the first input make sets now.
    pub fn leads(&self) -> bool {
        let mut inputs = self.inputs.iter().map(|i| i.level);
        let first = inputs.next().unwrap_or_default();
        first == self.level && inputs.all(|level| level < first)
    }

    /// The time of the set that was made last, in the common time base.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// References held outside of [`Synchroniser::sets`].
    pub fn held(&self) -> impl Iterator<Item = BufferId> + '_ {
        self.inputs.iter().flat_map(|i| {
            let next = i.next.map(|f| f.buffer);
            i.held_current().into_iter().chain(next)
        })
    }

    /// Frames of an input count units of `base` from now on. The common time base becomes fine
    /// enough for it, and held times are stated in that.
    pub fn set_base(&mut self, input: usize, base: TimeBase) {
        let Some(slot) = self.inputs.get_mut(input) else {
            return;
        };
        slot.time_base = base;
        if slot.rule.sync > 0 && self.terms.preset.is_none() {
            let (old, new) = (self.time_base, self.time_base.merge(base));
            if old != new {
                self.time_base = new;
                let restate = |time: i64| match time {
                    NEVER => NEVER,
                    time => old.convert(time, new, Rounding::Nearest).unwrap_or(time),
                };
                for input in &mut self.inputs {
                    for frame in [&mut input.current, &mut input.next].into_iter().flatten() {
                        frame.time = restate(frame.time);
                    }
                    let times = [&mut input.marker, &mut input.bound, &mut input.time];
                    let more = [&mut input.over, &mut input.passed];
                    for time in times.into_iter().chain(more).flatten() {
                        *time = restate(*time);
                    }
                }
            }
        }
        self.set_out_base();
    }
}
