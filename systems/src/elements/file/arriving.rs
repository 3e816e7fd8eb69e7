//! The blocks that are sent to an element: where each stands in its stream, and its times. Plain data.
//!
//! Some sources say in a block's index where in the file it stands (`filesrc`), others count blocks. Which
//! it is shows by the second block, and by that what was discarded on the way.

use std::collections::VecDeque;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::time::TimeBase;

/// Most blocks whose times are known at once.
const MOST: usize = 256;

/// What the indexes of blocks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Indexes {
    #[default]
    Unknown,
    Bytes,
    Counted,
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// It follows the one before it.
    Here,
    /// It does not: it stands there, if that is known.
    Elsewhere(Option<u64>),
}

/// The times of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// When it is shown, in units of `time_base`.
    pub pts: i64,
    /// When it is decoded.
    pub dts: Option<i64>,
    /// How long it lasts.
    pub duration: Option<i64>,
    /// The unit.
    pub time_base: TimeBase,
}

/// What is known of the blocks so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Arriving {
    indexes: Indexes,
    /// Blocks so far, and bytes of the first.
    blocks: u64,
    first: u64,
    /// Something was discarded, and no block came since.
    flushed: bool,
    /// Positions of blocks that have times, and those.
    stamps: VecDeque<(u64, Stamp)>,
}

impl Arriving {
    /// A block comes. The one that follows would begin at `next`.
    pub(super) fn block(&mut self, meta: &BufferMeta, next: u64) -> Arrived {
        let flushed = core::mem::take(&mut self.flushed);
        let arrived = self.place(meta.index, next, flushed);
        if self.blocks == 0 {
            self.first = meta.len as u64;
        }
        self.blocks += 1;
        let at = match arrived {
            Arrived::Elsewhere(Some(at)) => at,
            _ => next,
        };
        self.stamp(at, meta);
        arrived
    }

    fn place(&mut self, index: u64, next: u64, flushed: bool) -> Arrived {
        if self.blocks == 0 && self.indexes == Indexes::Unknown {
            return match index > 0 && flushed {
                true => Arrived::Elsewhere(None),
                false => Arrived::Here,
            };
        }
        if self.indexes == Indexes::Unknown {
            let follows = index == next;
            let counts = index == self.blocks;
            self.indexes = match (follows, counts) {
                (true, true) => Indexes::Unknown,
                (true, false) => Indexes::Bytes,
                (false, true) if !flushed => Indexes::Counted,
                // Behind a block nothing stands at a byte within it.
                _ if index >= self.first => Indexes::Bytes,
                _ => Indexes::Counted,
            };
        }
        match self.indexes {
            Indexes::Bytes if index != next => Arrived::Elsewhere(Some(index)),
            Indexes::Counted if flushed => Arrived::Elsewhere(None),
            _ => Arrived::Here,
        }
    }

    /// The sender went to a byte: the next block stands there.
    pub(super) fn expect(&mut self) {
        self.indexes = Indexes::Bytes;
        self.flushed = false;
        self.stamps.clear();
    }

    /// What is under way was discarded.
    pub(super) fn flush(&mut self) {
        self.flushed = true;
        self.stamps.clear();
    }

    /// Whether something was discarded, and no block came since.
    pub(super) fn is_flushed(&self) -> bool {
        self.flushed
    }

    fn stamp(&mut self, at: u64, meta: &BufferMeta) {
        let Some(pts) = meta.pts else { return };
        let stamp = Stamp {
            pts,
            dts: meta.dts,
            duration: meta.duration,
            time_base: meta.time_base,
        };
        let same = |last: &(u64, Stamp)| (last.1.pts, last.1.time_base) == (pts, stamp.time_base);
        // Parts of one frame have its time.
        if self.stamps.len() < MOST && !self.stamps.back().is_some_and(same) {
            self.stamps.push_back((at, stamp));
        }
    }

    /// The times of what begins at this position: those of the last block that begins before it or there,
    /// unless something before it had them.
    pub(super) fn stamp_of(&mut self, position: u64) -> Option<Stamp> {
        let mut found = None;
        while let Some((_, stamp)) = self.stamps.pop_front_if(|s| s.0 <= position) {
            found = Some(stamp);
        }
        found
    }

    /// What can make a difference later.
    pub(super) fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("blocks", self.blocks);
        visitor.unsigned("first", self.first);
        visitor.unsigned("indexes", self.indexes as u64);
        visitor.flag("flushed", self.flushed);
        visitor.unsigned("stamps", self.stamps.len() as u64);
        if let Some((at, stamp)) = self.stamps.front() {
            visitor.unsigned("stamped", *at);
            visitor.signed("stamp", stamp.pts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(index: u64, len: usize, pts: Option<i64>) -> BufferMeta {
        BufferMeta {
            index,
            len,
            pts,
            ..BufferMeta::default()
        }
    }

    #[test]
    fn indexes_that_are_positions_show_what_was_lost() {
        let mut arriving = Arriving::default();
        assert_eq!(arriving.block(&meta(0, 10, None), 0), Arrived::Here);
        assert_eq!(arriving.block(&meta(10, 10, None), 10), Arrived::Here);
        let lost = Arrived::Elsewhere(Some(40));
        assert_eq!(arriving.block(&meta(40, 10, None), 20), lost);
        arriving.flush();
        assert_eq!(arriving.block(&meta(50, 10, None), 50), Arrived::Here);
    }

    #[test]
    fn indexes_that_count_show_nothing_but_a_flush_does() {
        let mut arriving = Arriving::default();
        for (index, next) in [(0, 0), (1, 10), (7, 20)] {
            let arrived = arriving.block(&meta(index, 10, None), next);
            assert_eq!(arrived, Arrived::Here, "{index}");
        }
        arriving.flush();
        let arrived = arriving.block(&meta(9, 10, None), 30);
        assert_eq!(arrived, Arrived::Elsewhere(None));
    }

    #[test]
    fn after_a_flush_of_the_second_block_it_shows_too() {
        for (index, arrived) in [
            (10, Arrived::Here),
            (30, Arrived::Elsewhere(Some(30))),
            (4, Arrived::Elsewhere(None)),
        ] {
            let mut arriving = Arriving::default();
            arriving.block(&meta(0, 10, None), 0);
            arriving.flush();
            assert_eq!(arriving.block(&meta(index, 10, None), 10), arrived);
        }
    }

    #[test]
    fn a_time_belongs_to_the_first_that_begins_in_its_block() {
        let mut arriving = Arriving::default();
        for (at, pts) in [(0, Some(5)), (10, None), (20, Some(6)), (30, Some(7))] {
            arriving.block(&meta(at, 10, pts), at);
        }
        let mut pts = |at| arriving.stamp_of(at).map(|s| s.pts);
        assert_eq!(
            [pts(0), pts(4), pts(12), pts(35)],
            [Some(5), None, None, Some(7)]
        );
    }
}
