//! The frames of `videorate`: which stands for each k, exactly, and how often. It may touch what it
//! takes and keeps of its element.

use super::videorate::{Choose, VideoRate};
use crate::element::{Handled, PadAt, PadCapsOf, Process, Work};
use crate::elements::core::stamp_failure;
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::caps::Structure;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::stamps::{OnBackward, OnEqual, OnJump, StampRules, Stamps, Verdict};
use tickpipe_components::time::{Rounding, Time, TimeBase};

/// A frame of the input, with its exact time.
#[derive(Clone, Copy, Debug)]
struct Frame {
    meta: BufferMeta,
    time: Time,
    /// When it ends, as far as that is known.
    end: Option<Time>,
}

/// `videorate` at work.
pub(super) struct Rating {
    settings: VideoRate,
    stamps: Stamps,
    /// The length of a frame that comes, where there is a rate.
    input: Option<TimeBase>,
    /// The length of a frame that goes out; `None` passes all on.
    output: Option<TimeBase>,
    /// The first frame came.
    began: bool,
    /// The k of the next frame that goes out.
    next: i64,
    /// The frame that comes next, once it was looked at.
    looked: Option<Frame>,
    /// The frame that was taken last, and is kept, and how often it went out.
    shown: Option<(Frame, u64)>,
    /// Frames that went out.
    out: u64,
}

/// A time that cannot be worked with.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("frame {index}: time {time} has no place at {step} s a frame")]
struct NoPlace {
    index: u64,
    time: Time,
    step: TimeBase,
}

impl Rating {
    /// Before the first frame.
    pub(super) fn new(settings: VideoRate) -> Rating {
        let rules = StampRules {
            missing: settings.missing,
            equal: OnEqual::Pass,
            backward: OnBackward::Drop,
            jump: OnJump::Pass,
            jump_threshold: None,
            wrap_bits: None,
        };
        Rating {
            settings,
            stamps: Stamps::new(rules),
            input: None,
            output: None,
            began: false,
            next: 0,
            looked: None,
            shown: None,
            out: 0,
        }
    }

    /// A time of the input: the multiple of a frame that it is a rounding of, or itself.
    fn exact(&self, value: i64, unit: TimeBase) -> Time {
        let own = Time::new(value, unit);
        let Some(step) = self.input.filter(|step| *step != unit) else {
            return own;
        };
        // A unit must be less than half a frame to tell frames apart.
        if unit.compare(2, step, 1).is_ge() {
            return own;
        }
        let on_grid = unit.convert(value, step, Rounding::Nearest);
        let near = on_grid.and_then(|k| {
            let (low, high) = (value.checked_sub(1)?, value.checked_add(1)?);
            let inside = step.compare(k, unit, low).is_gt() && step.compare(k, unit, high).is_lt();
            inside.then_some(Time::new(k, step))
        });
        near.unwrap_or(own)
    }

    fn frame(&self, meta: BufferMeta) -> Frame {
        let pts = meta.pts.unwrap_or_default();
        let lasts = meta.duration.filter(|d| *d > 0);
        let time = self.exact(pts, meta.time_base);
        let said = lasts.and_then(|lasts| pts.checked_add(lasts));
        let end = match (said, self.input) {
            (Some(end), _) => Some(self.exact(end, meta.time_base)),
            (None, Some(step)) => time.checked_add(Time::new(1, step)),
            (None, None) => None,
        };
        Frame { meta, time, end }
    }

    /// The first k, from the next on, for which `shown` does not stand any more: where `after`
    /// takes over, or where it ends. `None` if no number can say that.
    fn until(&self, step: TimeBase, shown: &Frame, after: Option<&Frame>) -> Option<i64> {
        let Some(after) = after else {
            return match shown.end {
                Some(end) => Some(end.convert(step, Rounding::Up)?.value),
                // Nobody said how long it lasts: until its own time, and then too.
                None => {
                    let begins = shown.time.convert(step, Rounding::Down)?.value;
                    begins.checked_add(1)
                }
            };
        };
        if self.settings.choose == Choose::Previous {
            return Some(after.time.convert(step, Rounding::Up)?.value);
        }
        // Nearer to the first than to the second, or as near: twice the time is at most their sum.
        let sum = match shown.time.checked_add(after.time) {
            Some(sum) => sum,
            // Units that nothing has in common: the first in those of the second.
            None => {
                let first = shown.time.convert(after.time.base, Rounding::Nearest)?;
                first.checked_add(after.time)?
            }
        };
        let last = sum.convert(step, Rounding::Down)?.value.div_euclid(2);
        last.checked_add(1)
    }

    /// Emits frame k, or says that there is no room or record for it now.
    fn emit(
        &mut self,
        process: &mut Process<'_>,
        step: TimeBase,
        buffer: BufferId,
        (frame, times): (Frame, u64),
    ) -> bool {
        if process.room(0) == 0 {
            return false;
        }
        let Some(mut view) = process.acquire() else {
            return false;
        };
        view.meta = BufferMeta {
            pts: Some(self.next),
            dts: None,
            duration: Some(1),
            time_base: step,
            index: self.out,
            ..frame.meta
        };
        if times > 0 {
            view.meta.flags.remove(BufferFlags::DISCONTINUITY);
            process.tell(occurrence(Deed::Duplicated, &frame.meta));
        }
        process.push_view(0, view, buffer);
        self.shown = Some((frame, times + 1));
        self.next += 1;
        self.out += 1;
        true
    }

    /// Lets go of the frame that was taken last: what comes after it takes over.
    fn replace(&mut self, process: &mut Process<'_>) {
        let (Some((frame, times)), Some(buffer)) = (self.shown.take(), process.take_kept()) else {
            return;
        };
        match times {
            0 => {
                process.drop_buffer(buffer);
                process.tell(occurrence(Deed::Dropped, &frame.meta));
            }
            _ => process.release(buffer),
        }
    }

    /// Whether two frames are so far apart that none is repeated between them.
    fn is_gap(&self, shown: &Frame, after: &Frame) -> bool {
        let most = Time::new(self.settings.max_duplication_time, TimeBase::NANOSECONDS);
        let end = shown.time.checked_add(most);
        self.settings.max_duplication_time > 0 && end.is_some_and(|end| after.time > end)
    }

    /// Emits all frames for which the one that was taken last stands: until another takes over, or
    /// until its end. `false` if it must go on with that later.
    fn emit_all(
        &mut self,
        process: &mut Process<'_>,
        step: TimeBase,
        after: Option<&Frame>,
    ) -> Result<bool, ElementError> {
        while let Some((frame, times)) = self.shown {
            let Some(buffer) = process.kept().next() else {
                break;
            };
            let until = self.until(step, &frame, after);
            let until = until.ok_or_else(|| no_place(&frame, step))?;
            if self.next >= until {
                break;
            }
            if times > 0 && self.settings.drop_only {
                self.next = until;
                break;
            }
            if let Some(after) = after.filter(|after| times > 0 && self.is_gap(&frame, after)) {
                let begins = after.time.convert(step, Rounding::Up);
                self.next = begins.ok_or_else(|| no_place(after, step))?.value;
                break;
            }
            if !self.emit(process, step, buffer, (frame, times)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at the frame that comes next; `false` if it was dropped.
    fn look(&mut self, process: &mut Process<'_>, buffer: BufferId) -> Result<bool, ElementError> {
        if self.looked.is_some() {
            return Ok(true);
        }
        let checked = self.stamps.check(process.meta(buffer));
        checked.told.iter().for_each(|told| process.tell(*told));
        match checked.verdict {
            Verdict::Drop => {
                process.next(0);
                process.drop_buffer(buffer);
                Ok(false)
            }
            Verdict::Fail(error) => {
                process.tell_untimed(buffer);
                Err(stamp_failure(error))
            }
            Verdict::Pass | Verdict::Stamp | Verdict::Gap { .. } => {
                self.looked = Some(self.frame(checked.meta));
                Ok(true)
            }
        }
    }
}

fn no_place(frame: &Frame, step: TimeBase) -> ElementError {
    let error = NoPlace {
        index: frame.meta.index,
        time: frame.time,
        step,
    };
    ElementError::new(Domain::Stream, Code::BadTimestamp, error)
}

fn occurrence(deed: Deed, meta: &BufferMeta) -> Occurrence {
    Occurrence {
        reason: Reason::Rate,
        deed,
        index: meta.index,
        value: meta.pts,
        time_base: meta.time_base,
    }
}

impl Work for Rating {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let step = |s: Option<&Structure>| {
            let rate = s.and_then(|s| s.fraction("framerate"))?;
            TimeBase::of_rate(rate.num(), rate.den())
        };
        self.input = step(pads.sink(0));
        self.stamps.set_rate(self.input);
        let before = core::mem::replace(&mut self.output, step(pads.source(0)));
        // At another rate the next frame comes when it would have come.
        if let Some((before, now)) = before.zip(self.output) {
            let next = before.convert(self.next, now, Rounding::Up);
            self.next = next.unwrap_or(self.next);
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let Some(step) = self.output else {
            process.pass_through();
            return Ok(());
        };
        while let Some(item) = process.peek(0) {
            let Some(buffer) = item.as_buffer() else {
                if self.emit_all(process, step, None)? {
                    self.replace(process);
                    process.next(0);
                    process.finish();
                }
                return Ok(());
            };
            if !self.look(process, buffer)? {
                continue;
            }
            let Some(frame) = self.looked else { break };
            if !self.emit_all(process, step, Some(&frame))? {
                break;
            }
            self.replace(process);
            process.next(0);
            process.keep(buffer);
            self.looked = None;
            if !core::mem::replace(&mut self.began, true) && self.settings.skip_to_first {
                let first = frame.time.convert(step, Rounding::Up);
                let first = first.ok_or_else(|| no_place(&frame, step))?;
                self.next = self.next.max(first.value);
            }
            self.shown = Some((frame, 0));
        }
        Ok(())
    }

    /// Before other caps or another segment the frame that is kept goes out until its end.
    fn drain(
        &mut self,
        event: Option<&Event>,
        process: &mut Process<'_>,
    ) -> Result<Option<bool>, ElementError> {
        let (Some(step), true) = (
            self.output,
            event.is_none_or(|e| matches!(e, Event::Segment(_))),
        ) else {
            return Ok(Some(true));
        };
        let all = self.emit_all(process, step, None)?;
        if all {
            self.replace(process);
        }
        Ok(Some(all))
    }

    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        if let (true, Event::Segment(segment), Some(step)) = (pad.is_sink(), event, self.output) {
            let start = segment.time_base.convert(segment.start, step, Rounding::Up);
            self.next = start.unwrap_or(0);
            self.began = false;
            self.looked = None;
            self.stamps.resync();
        }
        Ok(Handled::Forward)
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.shown = None;
        self.looked = None;
        self.stamps.resync();
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        self.stamps.visit(visitor);
        visitor.flag("began", self.began);
        visitor.signed("next", self.next);
        visitor.unsigned("out", self.out);
        visitor.flag("looked", self.looked.is_some());
        visitor.unsigned("shown", self.shown.map_or(0, |s| s.1 + 1));
    }
}
