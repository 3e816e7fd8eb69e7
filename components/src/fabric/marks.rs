//! A set of small numbers, kept as bits and walked in ascending order.

/// A set of numbers below a bound.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// An empty set for numbers below `count`.
    pub fn new(count: usize) -> Marks {
        Marks {
            words: vec![0; count.div_ceil(64)],
        }
    }

    /// Adds one; those beyond the bound are ignored.
    #[inline]
    pub fn insert(&mut self, index: u32) {
        if let Some(word) = self.words.get_mut(index as usize / 64) {
            *word |= 1 << (index % 64);
        }
    }

    /// Removes one.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        if let Some(word) = self.words.get_mut(index as usize / 64) {
            *word &= !(1 << (index % 64));
        }
    }

    /// Whether this one is in it.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        let word = self.words.get(index as usize / 64);
        word.is_some_and(|w| w >> (index % 64) & 1 == 1)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// Number of words to give to [`Marks::take_word`].
    #[inline]
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Takes 64 marks at once: bit `b` of word `w` is the number `64 w + b`.
    #[inline]
    pub fn take_word(&mut self, word: usize) -> u64 {
        self.words.get_mut(word).map_or(0, core::mem::take)
    }

    /// All numbers in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(w, &bits)| {
            (0..64u32)
                .filter(move |b| bits >> b & 1 == 1)
                .map(move |b| w as u32 * 64 + b)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascending_and_bounded() {
        let mut m = Marks::new(130);
        for i in [129, 3, 64, 3, 500] {
            m.insert(i);
        }
        assert_eq!(m.iter().collect::<Vec<_>>(), [3, 64, 129]);
        assert!(m.contains(64) && !m.contains(65) && !m.contains(500));
        m.remove(64);
        assert_eq!(m.take_word(0), 1 << 3);
        assert_eq!(m.iter().collect::<Vec<_>>(), [129]);
        assert!(!m.is_empty());
    }
}
