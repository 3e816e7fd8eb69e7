//! Which buffers of a pool are free. Pure.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

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
