//! How much a queue holds, by buffers, bytes and time, and when it is full. Plain data and its
//! arithmetic; what follows from it is the reclaim phase's.
//!
//! A queue is full once one of its measures has reached its limit, so that one buffer always fits
//! into an empty one. Time is that from the oldest buffer's pts to the end of the newest; it is 0
//! while one of the two has no time, or lies the other way round. Nothing is counted that cannot
//! reach its limit: bytes are not where as many buffers as fit, of the largest pool, are fewer.

use super::ring::{Item, Ring};
use crate::buffer::BufferMeta;
use crate::digest::StateVisitor;
use crate::time::{Rounding, TimeBase};
use std::collections::VecDeque;

/// Which buffers a queue that is full lets go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Leaky {
    /// None: who feeds it waits.
    #[default]
    No,
    /// The newest.
    Upstream,
    /// The oldest.
    Downstream,
}

crate::fault::names!(Leaky: No = "no", Upstream = "upstream", Downstream = "downstream",);

/// What a queue's level is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Buffers.
    Buffers,
    /// Their valid bytes.
    Bytes,
    /// From the oldest buffer's time to the newest one's end.
    Time,
}

impl Measure {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Measure::Buffers => "buffers",
            Measure::Bytes => "bytes",
            Measure::Time => "time",
        }
    }
}

/// What a queue's settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueLimits {
    /// Most buffers; 0 for as many as its link has room for.
    pub buffers: u32,
    /// Bytes with which it is full; 0 for no limit.
    pub bytes: u64,
    /// Nanoseconds with which it is full; 0 for no limit.
    pub time: i64,
    /// It passes nothing on with fewer buffers, unless it is full or at its end.
    pub min_buffers: u32,
    /// The same of bytes.
    pub min_bytes: u64,
    /// The same of nanoseconds.
    pub min_time: i64,
    /// What it lets go when it is full.
    pub leaky: Leaky,
    /// The end discards what stands before it.
    pub flush_on_eos: bool,
}

impl QueueLimits {
    /// Whether it may hold back what it has.
    pub fn has_minimum(&self) -> bool {
        self.min_buffers > 0 || self.min_bytes > 0 || self.min_time > 0
    }
}

/// Limits in the unit of a stream's times.
#[derive(Clone, Copy, Debug, Default)]
struct InUnits {
    base: TimeBase,
    most: i64,
    least: i64,
}

/// What is counted of a queue.
#[derive(Debug, Default)]
pub struct QueueBounds {
    /// Its settings.
    pub limits: QueueLimits,
    /// It leaks: it takes buffers beyond its limits, once, and lets as many go.
    pub open: bool,
    /// The next buffer that comes does not follow the one before it.
    pub discontinuity: bool,
    /// Bytes of the largest buffer that can come.
    largest: u64,
    /// How many pools there were when that was looked up.
    pools: usize,
    /// Bytes of each buffer in the queue, oldest first, where they are counted.
    lens: Option<VecDeque<usize>>,
    bytes: u64,
    /// Buffers in the queue at the last look.
    count: usize,
    /// Buffers that had ever left it by then.
    gone: u64,
    units: InUnits,
    /// From the oldest buffer's time to the newest one's end, in those units.
    time: i64,
    /// The end of the newest buffer, and the most by which one buffer lengthened the queue.
    end: Option<i64>,
    step: i64,
}

impl QueueBounds {
    /// Of an empty queue, whose buffers come this far apart, if that is known.
    pub fn new(limits: QueueLimits, frame: Option<TimeBase>) -> QueueBounds {
        let mut bounds = QueueBounds {
            limits,
            ..QueueBounds::default()
        };
        bounds.units = bounds.in_units(frame.unwrap_or_default());
        bounds.step = i64::from(frame.is_some());
        bounds
    }

    /// Other settings hold from now on; the next look counts anew.
    pub fn set(&mut self, limits: QueueLimits) {
        self.limits = limits;
        self.units = self.in_units(self.units.base);
        self.pools = 0;
        self.open = false;
    }

    /// How many pools there were at the last look: with others the largest buffer may be another.
    pub fn pools(&self) -> usize {
        self.pools
    }

    /// Counts anew: `pools` have buffers of at most `largest` bytes, and `gone` buffers ever left the
    /// queue.
    pub fn count_anew(
        &mut self,
        queue: &Ring,
        gone: u64,
        meta: &[BufferMeta],
        (pools, largest): (usize, u64),
    ) {
        (self.pools, self.largest) = (pools, largest.max(1));
        self.gone = gone;
        let most = (queue.most() as u64).saturating_mul(self.largest);
        let counts =
            self.limits.min_bytes > 0 || (self.limits.bytes > 0 && most >= self.limits.bytes);
        self.bytes = 0;
        self.lens = counts.then(|| {
            let mut lens = VecDeque::with_capacity(queue.most());
            let buffers = queue.iter().filter_map(Item::as_buffer);
            lens.extend(buffers.map(|b| meta[b.index()].len));
            lens
        });
        self.bytes = self.lens.iter().flatten().map(|len| *len as u64).sum();
        self.count = queue.buffers();
    }

    /// Brings what is counted up to what is in the queue; how many buffers came. `gone` are the
    /// buffers that ever left it.
    pub fn look(&mut self, queue: &Ring, gone: u64, meta: &[BufferMeta]) -> usize {
        let left = gone.wrapping_sub(self.gone) as usize;
        self.gone = gone;
        let stayed = self.count.saturating_sub(left);
        self.count = queue.buffers();
        let came = self.count.saturating_sub(stayed);
        if let Some(lens) = &mut self.lens {
            let old = lens.len() - stayed.min(lens.len());
            for len in lens.drain(..old) {
                self.bytes -= len as u64;
            }
            for at in queue_places(queue, came) {
                if let Some(buffer) = queue.get(at).and_then(Item::as_buffer) {
                    let len = meta[buffer.index()].len;
                    lens.push_back(len);
                    self.bytes += len as u64;
                }
            }
        }
        self.look_at_time(queue, meta, came);
        came
    }

    /// Its newest buffer was taken out.
    pub fn forget_newest(&mut self, queue: &Ring, gone: u64, meta: &[BufferMeta]) {
        if let Some(len) = self.lens.as_mut().and_then(VecDeque::pop_back) {
            self.bytes -= len as u64;
        }
        self.gone = gone;
        self.count = queue.buffers();
        self.look_at_time(queue, meta, 0);
    }

    fn look_at_time(&mut self, queue: &Ring, meta: &[BufferMeta], came: usize) {
        let limits = &self.limits;
        if limits.time == 0 && limits.min_time == 0 {
            return;
        }
        let last = queue.last_buffer().map(|b| &meta[b.index()]);
        let first = queue.first_buffer().map(|b| &meta[b.index()]);
        if let Some(last) = last.filter(|last| last.time_base != self.units.base) {
            self.units = self.in_units(last.time_base);
            (self.end, self.step) = (None, 0);
        }
        let end = last.and_then(end_of);
        if let Some(end) = end.filter(|_| came > 0) {
            let lasts = last.and_then(|l| l.duration).unwrap_or_default();
            let each = |before: i64| {
                let more = end.saturating_sub(before).max(0);
                more.unsigned_abs()
                    .div_ceil(came as u64)
                    .try_into()
                    .unwrap_or(i64::MAX)
            };
            self.step = self.step.max(lasts).max(self.end.map_or(0, each));
            self.end = Some(end);
        }
        self.time = first
            .zip(end)
            .map_or(0, |(first, end)| self.since(first, end));
    }

    /// From a buffer's time to an end, in units of the newest buffer.
    fn since(&self, first: &BufferMeta, end: i64) -> i64 {
        let base = self.units.base;
        let start = first
            .pts
            .and_then(|pts| first.time_base.convert(pts, base, Rounding::Down));
        start.map_or(0, |start| end.saturating_sub(start).max(0))
    }

    fn in_units(&self, base: TimeBase) -> InUnits {
        let units = |time: i64| {
            let units = TimeBase::NANOSECONDS.convert(time, base, Rounding::Up);
            units.unwrap_or(i64::MAX)
        };
        InUnits {
            base,
            most: units(self.limits.time),
            least: units(self.limits.min_time),
        }
    }

    /// How many buffers may come before the next look, so that none comes into a full queue; as
    /// long as one is as long as those before it.
    pub fn allowance(&self) -> u32 {
        let mut room = u64::from(u32::MAX);
        let limits = &self.limits;
        if limits.buffers > 0 {
            room = u64::from(limits.buffers).saturating_sub(self.count as u64);
        }
        if limits.bytes > 0 && self.lens.is_some() {
            room = room.min(fit(limits.bytes, self.bytes, self.largest));
        }
        if limits.time > 0 {
            let (most, time) = (self.units.most.unsigned_abs(), self.time.unsigned_abs());
            room = room.min(fit(most, time, self.step.unsigned_abs()));
        }
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    /// The first measure that has reached its limit.
    pub fn full(&self) -> Option<Measure> {
        self.full_with(self.count, self.bytes, self.time)
    }

    fn full_with(&self, count: usize, bytes: u64, time: i64) -> Option<Measure> {
        let limits = &self.limits;
        if limits.buffers > 0 && count >= limits.buffers as usize {
            Some(Measure::Buffers)
        } else if limits.bytes > 0 && bytes >= limits.bytes {
            Some(Measure::Bytes)
        } else if limits.time > 0 && time >= self.units.most {
            Some(Measure::Time)
        } else {
            None
        }
    }

    /// Whether its newest buffer came into a full queue.
    pub fn is_over(&self, queue: &Ring, meta: &[BufferMeta]) -> bool {
        if self.count < 2 {
            return false;
        }
        let buffers = (0..queue.len())
            .rev()
            .filter_map(|at| queue.get(at)?.as_buffer());
        let last = self.lens.as_ref().and_then(|l| l.back()).copied();
        let bytes = self.bytes - last.unwrap_or_default() as u64;
        let mut time = 0;
        if self.limits.time > 0 {
            let before = buffers.map(|b| &meta[b.index()]).nth(1);
            let first = queue.first_buffer().map(|b| &meta[b.index()]);
            let end = before.and_then(|m| {
                m.time_base
                    .convert(end_of(m)?, self.units.base, Rounding::Up)
            });
            time = first
                .zip(end)
                .map_or(0, |(first, end)| self.since(first, end));
        }
        self.full_with(self.count - 1, bytes, time).is_some()
    }

    /// How many of the oldest buffers may be passed on: while all its minima are reached, or it is
    /// full, or its end is there.
    pub fn passable(&self, queue: &Ring, meta: &[BufferMeta], most: u32) -> u32 {
        let last = queue.get(queue.len().wrapping_sub(1));
        if last == Some(Item::EOS) {
            return most;
        }
        let limits = &self.limits;
        let (mut count, mut bytes) = (self.count, self.bytes);
        let end = queue.last_buffer().and_then(|b| end_of(&meta[b.index()]));
        let mut items = queue.iter().filter_map(Item::as_buffer);
        let mut passed = 0;
        while passed < most
            && let Some(buffer) = items.next()
        {
            let meta = &meta[buffer.index()];
            let time = end.map_or(0, |end| self.since(meta, end));
            let enough = count >= limits.min_buffers as usize
                && bytes >= limits.min_bytes
                && (limits.min_time == 0 || time >= self.units.least);
            if !enough && self.full_with(count, bytes, time).is_none() {
                break;
            }
            count -= 1;
            bytes = bytes.saturating_sub(meta.len as u64);
            passed += 1;
        }
        passed
    }

    /// What is counted, by measure; time in nanoseconds.
    pub fn level(&self) -> (usize, u64, i64) {
        let time = self
            .units
            .base
            .convert(self.time, TimeBase::NANOSECONDS, Rounding::Down);
        (self.count, self.bytes, time.unwrap_or(i64::MAX))
    }

    /// Shows what does not follow from the queue.
    pub fn visit(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("open", self.open);
        visitor.flag("discontinuity", self.discontinuity);
        visitor.signed("step", self.step);
    }
}

/// When a buffer ends, in its own unit.
fn end_of(meta: &BufferMeta) -> Option<i64> {
    Some(meta.pts?.saturating_add(meta.duration.unwrap_or_default()))
}

/// The places from which on so many buffers stand at the end of a queue.
fn queue_places(queue: &Ring, buffers: usize) -> core::ops::Range<usize> {
    let mut start = queue.len();
    let mut left = buffers;
    while left > 0 && start > 0 {
        start -= 1;
        left -= usize::from(queue.get(start).and_then(Item::as_buffer).is_some());
    }
    start..queue.len()
}

/// How many of size `each` may be added before `level` has reached `most`, the last one beyond it.
fn fit(most: u64, level: u64, each: u64) -> u64 {
    match most.checked_sub(level) {
        None | Some(0) => 0,
        Some(left) if each == 0 || left / each > 1 << 10 => u64::MAX,
        Some(left) => left.div_ceil(each),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::BufferId;
    use proptest::prelude::*;

    #[test]
    fn as_many_fit_as_begin_below_the_limit() {
        assert_eq!([fit(10, 10, 3), fit(10, 11, 3), fit(10, 9, 3)], [0, 0, 1]);
        assert_eq!([fit(10, 7, 3), fit(10, 6, 3), fit(10, 0, 3)], [1, 2, 4]);
        assert_eq!([fit(10, 0, 0), fit(u64::MAX, 0, 1)], [u64::MAX; 2]);
    }

    #[derive(Clone, Debug)]
    enum Op {
        /// Up to so many come, of these lengths and durations.
        Push(Vec<(usize, i64)>),
        Pop(usize),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let buffer = (0usize..40, 1i64..30);
        let op = prop_oneof![
            prop::collection::vec(buffer, 1..5).prop_map(Op::Push),
            (1usize..5).prop_map(Op::Pop),
        ];
        prop::collection::vec(op, 0..60)
    }

    proptest! {
        #[test]
        fn what_is_counted_is_what_is_there(
            ops in ops(),
            buffers in 0u32..6, bytes in 0u64..100, time in 0i64..100_000_000, one in any::<bool>(),
        ) {
            let limits = QueueLimits { buffers, bytes, time, ..QueueLimits::default() };
            let mut queue = Ring::new(if buffers == 0 { 64 } else { buffers as usize });
            let mut bounds = QueueBounds::new(limits, None);
            bounds.count_anew(&queue, 0, &[], (1, 40));
            let mut meta: Vec<BufferMeta> = Vec::new();
            let (mut gone, mut at) = (0u64, 0i64);
            let base = TimeBase::new(1, 1000).expect("milliseconds");
            for op in ops {
                match op {
                    Op::Push(new) => {
                        let room = (bounds.allowance() as usize).min(queue.room());
                        // One alone is never more than was counted with.
                        let room = if one { room.min(1) } else { room };
                        for (len, lasts) in new.into_iter().take(room) {
                            let lasts = if one { lasts } else { 7 };
                            prop_assert!(queue.push(Item::buffer(BufferId(meta.len() as u32))));
                            meta.push(BufferMeta { pts: Some(at), duration: Some(lasts), len, time_base: base, ..BufferMeta::default() });
                            at += lasts;
                        }
                    }
                    Op::Pop(n) => for _ in 0..n {
                        gone += u64::from(queue.pop().is_some());
                    },
                }
                bounds.look(&queue, gone, &meta);
                let there: Vec<&BufferMeta> = queue.iter().filter_map(Item::as_buffer).map(|b| &meta[b.index()]).collect();
                let sum: u64 = there.iter().map(|m| m.len as u64).sum();
                let lasts: i64 = there.iter().filter_map(|m| m.duration).sum();
                prop_assert_eq!(bounds.count, there.len());
                if bounds.lens.is_some() {
                    prop_assert_eq!(bounds.bytes, sum);
                } else {
                    prop_assert!(bytes == 0 || sum < bytes);
                }
                if time > 0 {
                    prop_assert_eq!(bounds.time, lasts);
                }
                // Without its newest none is full, so that it is beyond each limit by one at most.
                // The first few come before it is known how long one is.
                if one || bounds.end.is_some_and(|_| there.first().is_none_or(|m| m.pts > Some(28))) {
                    prop_assert!(!bounds.is_over(&queue, &meta), "{:?} {:?}", bounds, there);
                }
                let full = (buffers > 0 && there.len() >= buffers as usize)
                    || (bytes > 0 && sum >= bytes)
                    || (time > 0 && lasts * 1_000_000 >= time);
                prop_assert_eq!(bounds.full().is_some(), full);
                prop_assert_eq!(bounds.allowance() == 0, full);
            }
        }
    }
}
