//! A set of small numbers, kept as bits and walked in ascending order.

/// A set of numbers below a bound.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    words: Vec<u64>,
    /// Which words have any, a bit each, so that an almost empty set is walked at once.
    some: Vec<u64>,
}

impl Marks {
    /// An empty set for numbers below `count`.
    pub fn new(count: usize) -> Marks {
        let words = count.div_ceil(64);
        Marks {
            words: vec![0; words],
            some: vec![0; words.div_ceil(64)],
        }
    }

    /// Adds one; those beyond the bound are ignored.
    #[inline]
    pub fn insert(&mut self, index: u32) {
        let at = index as usize / 64;
        if let (Some(word), Some(some)) = (self.words.get_mut(at), self.some.get_mut(at / 64)) {
            *word |= 1 << (index % 64);
            *some |= 1 << (at % 64);
        }
    }

    /// Removes one.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        let at = index as usize / 64;
        if let (Some(word), Some(some)) = (self.words.get_mut(at), self.some.get_mut(at / 64)) {
            *word &= !(1 << (index % 64));
            if *word == 0 {
                *some &= !(1 << (at % 64));
            }
        }
    }

    /// Whether this one is in it.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        let word = self.words.get(index as usize / 64);
        word.is_some_and(|w| w >> (index % 64) & 1 == 1)
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.some.iter().all(|w| *w == 0)
    }

    /// The first word from `from` on that has any.
    #[inline]
    fn next_word(&self, from: usize) -> Option<usize> {
        let mut at = from / 64;
        let mut bits = self.some.get(at)? >> (from % 64) << (from % 64);
        while bits == 0 {
            at += 1;
            bits = *self.some.get(at)?;
        }
        Some(at * 64 + bits.trailing_zeros() as usize)
    }

    /// Takes the marks of the first word from `from` on that has any, 64 at once: its number, and
    /// its bits, of which bit `b` of word `w` is the number `64 w + b`.
    #[inline]
    pub fn take_word(&mut self, from: usize) -> Option<(usize, u64)> {
        let at = self.next_word(from)?;
        self.some[at / 64] &= !(1 << (at % 64));
        Some((at, core::mem::take(&mut self.words[at])))
    }

    /// The lowest number from `from` on that another set of the same bound has too.
    #[inline]
    pub fn next_common(&self, other: &Marks, from: u32) -> Option<u32> {
        let mut at = from as usize / 64;
        let mut seen = from % 64;
        loop {
            let both = self.words.get(at)? & other.words.get(at)? & (u64::MAX << seen);
            if both != 0 {
                return Some(at as u32 * 64 + both.trailing_zeros());
            }
            seen = 0;
            at = self.next_word(at + 1)?;
        }
    }

    /// All numbers in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut at = 0;
        let mut bits = self.words.first().copied().unwrap_or(0);
        core::iter::from_fn(move || {
            if bits == 0 {
                at = self.next_word(at + 1)?;
                bits = self.words[at];
            }
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            Some(at as u32 * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn ascending_and_bounded() {
        let mut m = Marks::new(130);
        for i in [129, 3, 64, 3, 500] {
            m.insert(i);
        }
        assert_eq!(m.iter().collect::<Vec<_>>(), [3, 64, 129]);
        assert!(m.contains(64) && !m.contains(65) && !m.contains(500));
        m.remove(64);
        assert_eq!(m.take_word(0), Some((0, 1 << 3)));
        assert_eq!(m.iter().collect::<Vec<_>>(), [129]);
        assert!(!m.is_empty());
    }

    proptest! {
        #[test]
        fn common_is_the_intersection(a in prop::collection::btree_set(0u32..9000, 0..40), b in prop::collection::btree_set(0u32..9000, 0..40)) {
            let marks = |of: &BTreeSet<u32>| {
                let mut marks = Marks::new(9000);
                of.iter().for_each(|i| marks.insert(*i));
                marks
            };
            let both: Vec<u32> = a.intersection(&b).copied().collect();
            let (a, b) = (marks(&a), marks(&b));
            let next = |from: Option<u32>| a.next_common(&b, from.map_or(0, |i| i + 1));
            let found: Vec<u32> = core::iter::successors(next(None), |i| next(Some(*i))).collect();
            prop_assert_eq!(found, both);
        }

        #[test]
        fn is_a_set(count in 0usize..9000, ops in prop::collection::vec((0u8..4, 0u32..9100), 0..200)) {
            let mut marks = Marks::new(count);
            let bound = (count.div_ceil(64) * 64) as u32;
            let mut model = BTreeSet::new();
            for (op, index) in ops {
                match op {
                    0 | 1 => {
                        marks.insert(index);
                        model.extend((index < bound).then_some(index));
                    }
                    2 => {
                        marks.remove(index);
                        model.remove(&index);
                    }
                    _ => {
                        let from = index as usize / 64;
                        let first = model.range(from as u32 * 64..).next().map(|i| i / 64);
                        let word = marks.take_word(from);
                        prop_assert_eq!(word.map(|w| w.0 as u32), first);
                        if let Some((at, bits)) = word {
                            for bit in 0..64 {
                                let index = at as u32 * 64 + bit;
                                prop_assert_eq!(bits >> bit & 1 == 1, model.remove(&index));
                            }
                        }
                    }
                }
                prop_assert!(marks.iter().eq(model.iter().copied()));
                prop_assert_eq!(marks.is_empty(), model.is_empty());
                prop_assert_eq!(marks.contains(index), model.contains(&index));
            }
        }
    }
}
