//! A sink that keeps time measures how late each buffer comes, says so upstream where it is asked to,
//! and drops what is too late where the graph says so.

use super::Run;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{Item, Lane, SinkTiming};
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::time::TimeBase;

impl Run<'_> {
    /// Looks at the buffer that a timed sink takes next; `true` if it was dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn too_late(self, lane: &mut Lane) -> bool {
        let first = lane.inputs.first().and_then(|i| i.queue.front());
        let Some(buffer) = first.and_then(Item::as_buffer) else {
            return false;
        };
        let meta = &self.buffers.meta[buffer.index()];
        let segment = lane.signals.as_ref().and_then(|s| s.inputs.first());
        let (Some(running), Some(timing)) = (
            SinkTiming::running(meta, segment),
            lane.extras.made().and_then(|e| e.timing.as_mut()),
        ) else {
            return false;
        };
        let late = (self.now.time - self.now.base).saturating_sub(timing.due(running));
        timing.max_late = timing.max_late.max(late);
        timing.late += u64::from(late > 0);
        let terms = timing.terms;
        let throttled = timing.last.is_some_and(|last| {
            let most = i64::try_from(terms.throttle_time).unwrap_or(i64::MAX);
            most > 0 && running.saturating_sub(last) < most
        });
        let too_late = terms.max_lateness >= 0 && late > terms.max_lateness;
        if !too_late && !throttled {
            timing.last = Some(running);
        }
        if terms.qos {
            let quality = Event::Quality(SinkTiming::quality(late, running));
            lane.signals_mut().upward.push((0, quality));
        }
        if !too_late && !throttled {
            return false;
        }
        let index = meta.index;
        if let Some(input) = lane.inputs.first_mut() {
            input.queue.drop_front();
            input.discarded += 1;
            input.allowed = input.allowed.saturating_sub(1);
        }
        lane.dropped += 1;
        lane.released.push(buffer);
        lane.tell(Occurrence {
            reason: if too_late {
                Reason::Late
            } else {
                Reason::Settings
            },
            deed: Deed::Dropped,
            index,
            value: Some(if too_late { late } else { running }),
            time_base: TimeBase::NANOSECONDS,
        });
        true
    }
}
