//! Pools: what is asked of one, what it has, and which of its buffers are free.

use crate::id::{BufferId, LaneId};

/// Size, number and alignment of a pool's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolConfig {
    /// Bytes of one buffer.
    pub size: usize,
    /// Alignment of its first byte; 0 means any.
    pub align: usize,
    /// Fewest buffers that will do.
    pub min: u32,
    /// Most buffers wanted; 0 means no bound of its own.
    pub max: u32,
}

impl PoolConfig {
    /// What satisfies both (mpipe: size and min are the larger, align the common multiple);
    /// the smaller of two bounds on the number.
    pub fn merge(self, other: PoolConfig) -> PoolConfig {
        let max = match (self.max, other.max) {
            (0, m) | (m, 0) => m,
            (a, b) => a.min(b),
        };
        PoolConfig {
            size: self.size.max(other.size),
            align: lcm(self.align, other.align),
            min: self.min.max(other.min),
            max,
        }
    }
}

/// Least common multiple where 0 counts as none; saturates to the larger if it does not fit.
fn lcm(a: usize, b: usize) -> usize {
    if a == 0 || b == 0 {
        return a.max(b);
    }
    let g = crate::time::gcd(a as u64, b as u64) as usize;
    (a / g).checked_mul(b).unwrap_or(a.max(b))
}

/// Which buffers of a pool are free: a bit each. The lowest free one is handed out first, so the
/// order in which they came back does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreeSet {
    words: Vec<u64>,
    count: u32,
    free: u32,
    /// All words below this one are empty.
    lowest: usize,
}

impl FreeSet {
    /// All of `count` buffers free.
    pub fn full(count: u32) -> FreeSet {
        let mut set = FreeSet {
            words: vec![0; (count as usize).div_ceil(64)],
            count,
            free: 0,
            lowest: 0,
        };
        for i in 0..count {
            set.insert(i);
        }
        set
    }

    /// How many are free.
    #[inline]
    pub fn len(&self) -> u32 {
        self.free
    }

    /// Whether none is free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.free == 0
    }

    /// Whether this one is free.
    pub fn contains(&self, index: u32) -> bool {
        self.words
            .get(index as usize / 64)
            .is_some_and(|w| w >> (index % 64) & 1 == 1)
    }

    /// Takes the lowest free one.
    #[inline]
    pub fn take_lowest(&mut self) -> Option<u32> {
        if self.free == 0 {
            return None;
        }
        while self.lowest < self.words.len() {
            let word = &mut self.words[self.lowest];
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                self.free -= 1;
                return Some(self.lowest as u32 * 64 + bit);
            }
            self.lowest += 1;
        }
        None
    }

    /// Gives one back; `false` if it was free already or is none of the set.
    #[inline]
    pub fn insert(&mut self, index: u32) -> bool {
        let at = index as usize / 64;
        if index >= self.count {
            return false;
        }
        let Some(word) = self.words.get_mut(at) else {
            return false;
        };
        let bit = 1u64 << (index % 64);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.free += 1;
        self.lowest = self.lowest.min(at);
        true
    }

    /// The bits, for digests.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// A pool in the fabric.
#[derive(Clone, Debug)]
pub struct Pool {
    /// What it was decided to be.
    pub config: PoolConfig,
    /// Its buffers are `first .. first + count`.
    pub first: BufferId,
    /// How many buffers it has.
    pub count: u32,
    /// Which of them are free, counted from `first`.
    pub free: FreeSet,
    /// The element that owns it.
    pub owner: LaneId,
    /// The most buffers that were ever out at once.
    pub high_water: u32,
}

impl Pool {
    /// Whether a buffer is one of this pool's.
    pub fn owns(&self, buffer: BufferId) -> bool {
        (self.first.0..self.first.0 + self.count).contains(&buffer.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn merge_takes_what_satisfies_both() {
        let a = PoolConfig {
            size: 10,
            align: 4,
            min: 1,
            max: 0,
        };
        let b = PoolConfig {
            size: 8,
            align: 6,
            min: 3,
            max: 5,
        };
        let want = PoolConfig {
            size: 10,
            align: 12,
            min: 3,
            max: 5,
        };
        assert_eq!(a.merge(b), want);
        assert_eq!(b.merge(a), want);
    }

    proptest! {
        #[test]
        fn hands_out_the_lowest(count in 1u32..200, ops in prop::collection::vec(any::<(bool, u32)>(), 0..400)) {
            let mut set = FreeSet::full(count);
            let mut model: BTreeSet<u32> = (0..count).collect();
            for (take, which) in ops {
                if take {
                    prop_assert_eq!(set.take_lowest(), model.pop_first());
                } else {
                    let which = which % (count + 3);
                    prop_assert_eq!(set.insert(which), which < count && model.insert(which));
                }
                prop_assert_eq!(set.len() as usize, model.len());
                prop_assert!((0..count).all(|i| set.contains(i) == model.contains(&i)));
            }
        }
    }
}
