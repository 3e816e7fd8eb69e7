//! Something that happened to one buffer and is told: dropped, made up, moved. Plain data.

use crate::time::TimeBase;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A buffer has no time.
    MissingStamp,
    /// A buffer has the time of the one before it.
    EqualStamp,
    /// A buffer's time lies before that of the one before it.
    BackwardStamp,
    /// A buffer's time lies further ahead than a stream's times do.
    Jump,
    /// The counter that stamps are made of began anew.
    Wrap,
    /// The stream does not go on where it was: a live source was paused, or data was lost.
    Discontinuity,
    /// A buffer came after its time.
    Late,
    /// A queue that may leak was full.
    Leak,
    /// The way is closed, as a valve's is.
    Closed,
    /// The pad is not the one that is selected.
    NotSelected,
    /// The pad is not linked.
    NotLinked,
    /// The buffer lies outside of the segment.
    OutOfSegment,
    /// The frame rate has no place for it, or more than one.
    Rate,
    /// It was under way when its way was flushed.
    Flush,
    /// It came behind the end.
    AfterEnd,
    /// Its element was removed.
    Removed,
    /// Nobody takes anything any more.
    NotWanted,
    /// The element let it go, as its settings say.
    Settings,
    /// Bytes of the stream belong to nothing.
    Junk,
    /// A frame has no end: another begins in it.
    Unfinished,
    /// The process that worked on it ended.
    Crashed,
    /// That process did not answer within the stated time.
    Hung,
    /// What that process answered is no answer.
    Garbled,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deed {
    /// It was passed on as it was.
    Passed,
    /// It was dropped.
    Dropped,
    /// It was passed on once more.
    Duplicated,
    /// It was given a time that was worked out.
    Derived,
    /// Its time was moved, and that of all that follow.
    Rebased,
    /// An interval without content was told before it.
    Gap,
    /// The element failed.
    Failed,
    /// It was worked on once more.
    Retried,
}

/// One occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// What was found.
    pub reason: Reason,
    /// What was done.
    pub deed: Deed,
    /// The how-manyth buffer of its stream it was, from 0; the byte at which it begins, where the reason
    /// is [`Reason::Junk`] or [`Reason::Unfinished`].
    pub index: u64,
    /// The time that was found, in units of `time_base`; how late it was, in the same unit, where
    /// the reason is [`Reason::Late`]; the ticks for which a live source was paused, where it is
    /// [`Reason::Discontinuity`]; how many bytes there are, where it is [`Reason::Junk`] or
    /// [`Reason::Unfinished`].
    pub value: Option<i64>,
    /// The unit of `value`.
    pub time_base: TimeBase,
}

crate::fault::names!(Reason:
    MissingStamp = "missing-stamp", EqualStamp = "equal-stamp",
    BackwardStamp = "backward-stamp", Jump = "jump", Wrap = "wrap",
    Discontinuity = "discontinuity", Late = "late", Leak = "leak", Closed = "closed",
    NotSelected = "not-selected", NotLinked = "not-linked", OutOfSegment = "out-of-segment",
    Rate = "rate", Flush = "flush", AfterEnd = "after-end", Removed = "removed",
    NotWanted = "not-wanted", Settings = "settings", Junk = "junk", Unfinished = "unfinished",
    Crashed = "crashed", Hung = "hung", Garbled = "garbled",
);
crate::fault::names!(Deed:
    Passed = "passed", Dropped = "dropped", Duplicated = "duplicated", Derived = "derived",
    Rebased = "rebased", Gap = "gap", Failed = "failed",
    Retried = "retried",
);

/// How often what happened, in order of reason and deed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(Vec<(Reason, Deed, u64)>);

impl Tally {
    /// Nothing.
    pub const fn new() -> Tally {
        Tally(Vec::new())
    }

    /// Counts so many.
    pub fn add(&mut self, reason: Reason, deed: Deed, count: u64) {
        match self.0.binary_search_by_key(&(reason, deed), |t| (t.0, t.1)) {
            Ok(at) => self.0[at].2 += count,
            Err(_) if count == 0 => {}
            Err(at) => self.0.insert(at, (reason, deed, count)),
        }
    }

    /// How many there were of one kind.
    pub fn count(&self, reason: Reason, deed: Deed) -> u64 {
        let found = self.0.binary_search_by_key(&(reason, deed), |t| (t.0, t.1));
        found.map_or(0, |at| self.0[at].2)
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, Deed, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_in_order() {
        let mut tally = Tally::default();
        tally.add(Reason::Late, Deed::Dropped, 2);
        tally.add(Reason::EqualStamp, Deed::Dropped, 1);
        tally.add(Reason::Late, Deed::Dropped, 1);
        tally.add(Reason::Rate, Deed::Duplicated, 0);
        let all: Vec<_> = tally.iter().collect();
        assert_eq!(
            all,
            [
                (Reason::EqualStamp, Deed::Dropped, 1),
                (Reason::Late, Deed::Dropped, 3)
            ]
        );
        assert_eq!(tally.count(Reason::Late, Deed::Passed), 0);
        for reason in Reason::ALL {
            assert_eq!(Reason::from_name(reason.name()), Some(*reason));
        }
    }
}
