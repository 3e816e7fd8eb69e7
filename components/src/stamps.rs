//! What is done about stamps that are missing, equal, backward or far ahead: rules, and a state
//! machine that applies them to one buffer after the other. Pure: it changes nothing but itself.
//!
//! Times are exact. Where a time is worked out, it lies on the grid of the stream's step (1/rate,
//! or how long the buffer before it lasts, or the distance of the two before it) from the last
//! time that was received, rounded to the nearest unit, so errors never add up.

use crate::buffer::{BufferFlags, BufferMeta};
use crate::digest::StateVisitor;
use crate::fault::names;
use crate::occurrence::{Deed, Occurrence, Reason};
use crate::time::{Rounding, Time, TimeBase, Unwrap};
use core::cmp::Ordering;
use smallvec::SmallVec;
use thiserror::Error;

/// What is done about a buffer without a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissing {
    /// It is an error.
    #[default]
    Error,
    /// The buffer is dropped.
    Drop,
    /// It gets the time that is its turn at the stream's step; the first gets 0.
    FromRate,
    /// It gets the time of the one before it.
    HoldLast,
    /// It goes on without.
    Pass,
}

/// What is done about a buffer with the time of the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnEqual {
    /// It goes on.
    #[default]
    Pass,
    /// It is dropped.
    Drop,
    /// It is an error.
    Error,
}

/// What is done about a buffer whose time lies before that of the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBackward {
    /// It is an error.
    #[default]
    Error,
    /// It is dropped, and so are all that come before the time that was reached.
    Drop,
    /// Its time and all later ones are moved, so that it comes a step behind the one before it.
    Rebase,
    /// It goes on.
    Pass,
}

/// What is done about a buffer that is further from where the stream should be than the
/// threshold. Backwards, `gap` is none: the rule for backward stamps holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnJump {
    /// Its time and all later ones are moved, so that it comes a step behind the one before it.
    Rebase,
    /// The interval between is told to be without content, and it goes on.
    #[default]
    Gap,
    /// It is an error.
    Error,
    /// It goes on.
    Pass,
}

names!(OnMissing:
    Error = "error", Drop = "drop", FromRate = "from-rate", HoldLast = "hold-last", Pass = "pass",
);
names!(OnEqual: Pass = "pass", Drop = "drop", Error = "error");
names!(OnBackward: Error = "error", Drop = "drop", Rebase = "rebase", Pass = "pass");
names!(OnJump: Rebase = "rebase", Gap = "gap", Error = "error", Pass = "pass");

/// The rules of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampRules {
    /// No time.
    pub missing: OnMissing,
    /// The time of the one before.
    pub equal: OnEqual,
    /// A time before that of the one before.
    pub backward: OnBackward,
    /// A time far from where the stream should be.
    pub jump: OnJump,
    /// How far is too far, either way: more than this. `None` is never.
    pub jump_threshold: Option<Time>,
    /// Bits of the counter that stamps are made of; `None` if it does not begin anew.
    pub wrap_bits: Option<u32>,
}

impl Default for StampRules {
    fn default() -> Self {
        StampRules {
            missing: OnMissing::default(),
            equal: OnEqual::default(),
            backward: OnBackward::default(),
            jump: OnJump::default(),
            jump_threshold: Some(Time::nanoseconds(10_000_000_000)),
            wrap_bits: None,
        }
    }
}

/// What is wrong about a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StampFault {
    /// None is there.
    #[error("it has no time")]
    Missing,
    /// None is there, and there is no step to work one out with.
    #[error("it has no time, and neither a rate nor a duration to work one out with")]
    NoStep,
    /// None is there, and none was before it.
    #[error("it has no time, and there is none before it to hold")]
    NothingToHold,
    /// It is that of the one before.
    #[error("its time is that of the one before it")]
    Equal,
    /// It lies before that of the one before.
    #[error("its time lies before that of the one before it")]
    Backward,
    /// It lies too far away.
    #[error("its time is more than {} from where it should be", .threshold)]
    Jump {
        /// The most that it may be away.
        threshold: Time,
    },
    /// It is no number of 64 bits once it is moved.
    #[error("its time cannot be moved as those before it")]
    TooFar,
}

/// A stamp that the rules do not let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("buffer {index}: {fault} (received {}, previous {})", shown(.received), shown(.previous))]
pub struct StampError {
    /// What is wrong.
    pub fault: StampFault,
    /// The how-manyth buffer of its maker it is, from 0.
    pub index: u64,
    /// The time of the one before it, as it was received or worked out.
    pub previous: Option<Time>,
    /// Its own.
    pub received: Option<Time>,
}

fn shown(time: &Option<Time>) -> String {
    time.map_or_else(|| "none".to_owned(), |t| t.to_string())
}

/// What to do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it is.
    Pass,
    /// It goes on with the times of [`Checked::meta`].
    Stamp,
    /// It is dropped.
    Drop,
    /// There is nothing from `from` to `to`, in units of its time base; then it goes on with the
    /// times and flags of [`Checked::meta`].
    Gap {
        /// Where the stream should have been.
        from: i64,
        /// Where it goes on.
        to: i64,
    },
    /// The stream ends here.
    Fail(StampError),
}

/// A verdict, with what is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What to do.
    pub verdict: Verdict,
    /// What is known of the buffer then.
    pub meta: BufferMeta,
    /// What happened, in order.
    pub told: SmallVec<[Occurrence; 2]>,
}

/// The state of a stream's stamps.
#[derive(Clone, Copy, Debug)]
pub struct Stamps {
    rules: StampRules,
    /// 1/rate, where the caps say so.
    rate: Option<TimeBase>,
    unwrap: Option<Unwrap>,
    /// What is added to times that are received.
    shift: i64,
    /// The unit of `shift` and of the unwrapped counter.
    base: TimeBase,
    /// The last time that was received, as it went on, and how many were worked out since.
    anchor: Option<(Time, u64)>,
    /// The time of the last that went on.
    last: Option<Time>,
    /// The length of a step that the stream itself shows.
    step: Option<Time>,
}

impl Stamps {
    /// A stream of which nothing is known yet.
    pub fn new(rules: StampRules) -> Stamps {
        Stamps {
            rules,
            rate: None,
            unwrap: rules.wrap_bits.and_then(Unwrap::new),
            shift: 0,
            base: TimeBase::default(),
            anchor: None,
            last: None,
            step: None,
        }
    }

    /// Says how long a buffer lasts by its caps, if they say so.
    pub fn set_rate(&mut self, step: Option<TimeBase>) {
        self.rate = step;
    }

    /// Other rules from the next buffer on. What came before is remembered.
    pub fn set_rules(&mut self, rules: StampRules) {
        if self.rules.wrap_bits != rules.wrap_bits {
            self.unwrap = rules.wrap_bits.and_then(Unwrap::new);
        }
        self.rules = rules;
    }

    /// Forgets what came before: the next buffer may have any time.
    pub fn resync(&mut self) {
        *self = Stamps {
            rate: self.rate,
            ..Stamps::new(self.rules)
        };
    }

    /// The time at which the next buffer should come, if that can be said.
    pub fn expected(&self) -> Option<Time> {
        let (anchor, made) = self.anchor?;
        let steps = i64::try_from(made).ok()?.checked_add(1)?;
        let way = match self.rate {
            Some(base) => Time::new(steps, base),
            None => {
                let step = self.step?;
                Time::new(step.value.checked_mul(steps)?, step.base)
            }
        };
        let way = way.convert(anchor.base, Rounding::Nearest)?;
        anchor.checked_add(way)
    }

    /// Looks at the next buffer.
    pub fn check(&mut self, meta: &BufferMeta) -> Checked {
        let mut checked = Checked {
            verdict: Verdict::Pass,
            meta: *meta,
            told: SmallVec::new(),
        };
        let outcome = match meta.pts {
            None => self.missing(&mut checked),
            Some(pts) => self.received(pts, &mut checked),
        };
        if let Err((reason, fault)) = outcome {
            checked.tell(reason, Deed::Failed, meta);
            checked.verdict = Verdict::Fail(StampError {
                fault,
                index: meta.index,
                previous: self.last.and_then(|t| self.as_received(t)),
                received: meta.pts.map(|pts| Time::new(pts, meta.time_base)),
            });
        }
        checked
    }

    /// A time that went on, as it was received.
    fn as_received(&self, time: Time) -> Option<Time> {
        match self.shift {
            0 => Some(time),
            shift => time.checked_sub(Time::new(shift, self.base)),
        }
    }

    fn missing(&mut self, checked: &mut Checked) -> Result<(), (Reason, StampFault)> {
        let meta = checked.meta;
        let fault = |fault| Err((Reason::MissingStamp, fault));
        let made = match self.rules.missing {
            OnMissing::Error => return fault(StampFault::Missing),
            OnMissing::Drop => {
                checked.drop(Reason::MissingStamp, &meta);
                return Ok(());
            }
            OnMissing::Pass => {
                checked.tell(Reason::MissingStamp, Deed::Passed, &meta);
                return Ok(());
            }
            OnMissing::HoldLast => match self.last {
                Some(last) => last,
                None => return fault(StampFault::NothingToHold),
            },
            OnMissing::FromRate => match (self.last, self.expected()) {
                (None, _) if self.rate.is_some() || meta.duration.is_some() => {
                    Time::new(0, meta.time_base)
                }
                (Some(_), Some(expected)) => expected,
                _ => return fault(StampFault::NoStep),
            },
        };
        let made = match made.convert(meta.time_base, Rounding::Nearest) {
            Some(made) => made,
            None => return fault(StampFault::TooFar),
        };
        match &mut self.anchor {
            Some((_, steps)) if self.rules.missing == OnMissing::FromRate => *steps += 1,
            Some(_) => {}
            None => self.anchor = Some((made, 0)),
        }
        self.last = Some(made);
        if let Some(lasts) = meta.duration.filter(|d| *d > 0) {
            self.step = Some(Time::new(lasts, meta.time_base));
        }
        checked.meta.pts = Some(made.value);
        checked.meta.flags |= BufferFlags::DERIVED;
        checked.verdict = Verdict::Stamp;
        checked.tell(Reason::MissingStamp, Deed::Derived, &meta);
        Ok(())
    }

    fn received(&mut self, pts: i64, checked: &mut Checked) -> Result<(), (Reason, StampFault)> {
        let meta = checked.meta;
        self.change_base(meta.time_base);
        let mut value = pts;
        if let Some(unwrap) = &mut self.unwrap {
            let next = unwrap.next(pts);
            let next = next.ok_or((Reason::Wrap, StampFault::TooFar))?;
            value = next.value;
            if next.wrapped {
                checked.tell(Reason::Wrap, Deed::Rebased, &meta);
            }
        }
        let moved = value.checked_add(self.shift);
        let moved = moved.ok_or((Reason::Jump, StampFault::TooFar))?;
        let time = Time::new(moved, meta.time_base);
        let Some(last) = self.last else {
            return self.accept(time, pts, checked);
        };
        let order = time.cmp(&last);
        let should = self.expected().unwrap_or(last);
        if let Some(threshold) = self.rules.jump_threshold
            && (order.is_gt() || self.rules.jump != OnJump::Gap)
            && is_apart(
                time,
                if order.is_lt() {
                    last
                } else {
                    should.min(time)
                },
                threshold,
            )
        {
            return self.jump(time, should, threshold, checked);
        }
        match order {
            Ordering::Greater => self.accept(time, pts, checked),
            Ordering::Equal => {
                let reason = Reason::EqualStamp;
                match self.rules.equal {
                    OnEqual::Error => return Err((reason, StampFault::Equal)),
                    OnEqual::Drop => {
                        checked.drop(reason, &meta);
                        return Ok(());
                    }
                    OnEqual::Pass => checked.tell(reason, Deed::Passed, &meta),
                }
                self.accept(time, pts, checked)
            }
            Ordering::Less => {
                let reason = Reason::BackwardStamp;
                match self.rules.backward {
                    OnBackward::Error => return Err((reason, StampFault::Backward)),
                    OnBackward::Drop => {
                        checked.drop(reason, &meta);
                        return Ok(());
                    }
                    OnBackward::Rebase => return self.rebase(reason, time, should, checked),
                    OnBackward::Pass => checked.tell(reason, Deed::Passed, &meta),
                }
                self.accept(time, pts, checked)
            }
        }
    }

    /// A time that is too far from where the stream should be.
    fn jump(
        &mut self,
        time: Time,
        should: Time,
        threshold: Time,
        checked: &mut Checked,
    ) -> Result<(), (Reason, StampFault)> {
        let meta = checked.meta;
        let pts = meta.pts.unwrap_or(time.value);
        // The distance of a jump is no step.
        let step = self.step;
        match self.rules.jump {
            OnJump::Error => Err((Reason::Jump, StampFault::Jump { threshold })),
            OnJump::Rebase => self.rebase(Reason::Jump, time, should, checked),
            OnJump::Pass => {
                checked.tell(Reason::Jump, Deed::Passed, &meta);
                self.accept(time, pts, checked)?;
                self.step = step;
                Ok(())
            }
            OnJump::Gap => {
                let from = should.convert(time.base, Rounding::Nearest);
                let from = from.ok_or((Reason::Jump, StampFault::TooFar))?;
                checked.tell(Reason::Jump, Deed::Gap, &meta);
                self.accept(time, pts, checked)?;
                self.step = step;
                checked.meta.flags |= BufferFlags::DISCONTINUITY;
                checked.verdict = Verdict::Gap {
                    from: from.value,
                    to: time.value,
                };
                Ok(())
            }
        }
    }

    /// Moves this time and all later ones so that it is where the stream should be.
    fn rebase(
        &mut self,
        reason: Reason,
        time: Time,
        should: Time,
        checked: &mut Checked,
    ) -> Result<(), (Reason, StampFault)> {
        let meta = checked.meta;
        let too_far = (reason, StampFault::TooFar);
        let to = should.convert(time.base, Rounding::Nearest);
        let to = to.ok_or(too_far)?;
        let by = to.value.checked_sub(time.value);
        let shift = by.and_then(|by| self.shift.checked_add(by));
        self.shift = shift.ok_or(too_far)?;
        checked.tell(reason, Deed::Rebased, &meta);
        self.accept(to, meta.pts.unwrap_or(to.value), checked)?;
        checked.meta.flags |= BufferFlags::DISCONTINUITY;
        Ok(())
    }

    /// Lets a buffer go on with this time, instead of the one that it has.
    fn accept(
        &mut self,
        time: Time,
        pts: i64,
        checked: &mut Checked,
    ) -> Result<(), (Reason, StampFault)> {
        let meta = &mut checked.meta;
        if time.value != pts {
            let by = time.value.checked_sub(pts);
            meta.dts = match (meta.dts, by) {
                (Some(dts), Some(by)) => dts.checked_add(by),
                _ => None,
            };
            meta.pts = Some(time.value);
            checked.verdict = Verdict::Stamp;
        }
        let lasts = meta.duration.filter(|d| *d > 0);
        let apart = self.last.and_then(|last| time.checked_sub(last));
        self.step = match lasts {
            Some(lasts) => Some(Time::new(lasts, meta.time_base)),
            None => apart.filter(|t| t.value > 0).or(self.step),
        };
        self.last = Some(time);
        self.anchor = Some((time, 0));
        Ok(())
    }

    /// The unit of what comes next; a counter in another unit is another counter.
    fn change_base(&mut self, base: TimeBase) {
        if self.base == base {
            return;
        }
        let shift = self.base.convert(self.shift, base, Rounding::Nearest);
        self.shift = shift.unwrap_or(0);
        self.base = base;
        if let Some(unwrap) = &mut self.unwrap {
            unwrap.reset();
        }
    }

    /// Shows it to a digest or an inspector.
    pub fn visit(&self, v: &mut dyn StateVisitor) {
        let mut time = |time: Option<Time>| {
            let shown = time.unwrap_or(Time::new(i64::MIN, TimeBase::default()));
            v.signed("value", shown.value);
            v.unsigned("num", shown.base.num().into());
            v.unsigned("den", shown.base.den().into());
        };
        time(self.last);
        time(self.anchor.map(|a| a.0));
        time(self.step);
        time(Some(Time::new(self.shift, self.base)));
        v.unsigned("derived", self.anchor.map_or(0, |a| a.1));
        if let Some(unwrap) = &self.unwrap {
            unwrap.visit(v);
        }
    }
}

/// Whether two times are more than `threshold` apart; what no time can say is.
fn is_apart(a: Time, b: Time, threshold: Time) -> bool {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high.checked_sub(low).is_none_or(|apart| apart > threshold)
}

impl Checked {
    fn tell(&mut self, reason: Reason, deed: Deed, meta: &BufferMeta) {
        self.told.push(Occurrence {
            reason,
            deed,
            index: meta.index,
            value: meta.pts,
            time_base: meta.time_base,
        });
    }

    fn drop(&mut self, reason: Reason, meta: &BufferMeta) {
        self.verdict = Verdict::Drop;
        self.tell(reason, Deed::Dropped, meta);
    }
}

#[cfg(test)]
mod tests;
