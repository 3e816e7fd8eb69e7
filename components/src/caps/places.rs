//! A list of structures that are made where they will lie, for a structure is large to move.
//! Reads structures only.

use smallvec::SmallVec;

use super::structure::Structure;

/// The structures of caps; one of them is held without allocating.
pub(super) type Structures = SmallVec<[Structure; 1]>;

/// How many places are made at a time.
const BATCH: usize = 16;

/// Copies of structures.
pub(super) fn copies(structures: &[Structure]) -> Structures {
    let mut out = Structures::new();
    out.reserve_exact(structures.len());
    for batch in structures.chunks(BATCH) {
        let done = out.len();
        out.extend(batch.iter().map(|_| Structure::blank()));
        for (structure, place) in batch.iter().zip(&mut out[done..]) {
            structure.clone_to(place);
        }
    }
    out
}

/// Structures that are made one after the other.
#[derive(Default)]
pub(super) struct Places {
    /// Those that are made, and blank places.
    all: Structures,
    made: usize,
}

impl Places {
    /// A blank place for the next one, if `limit` are not made yet. About `ahead` will still come,
    /// this one included.
    #[inline]
    pub(super) fn next(&mut self, ahead: usize, limit: usize) -> Option<&mut Structure> {
        if self.made == self.all.len() {
            self.extend(ahead, limit);
        }
        self.all.get_mut(self.made)
    }

    #[inline(never)]
    fn extend(&mut self, ahead: usize, limit: usize) {
        let most = ahead.min(limit.saturating_sub(self.made));
        if self.made > 0 && self.made == self.all.capacity() {
            // Memory that is not used is not touched, and given back at the end.
            self.all.reserve_exact(most);
        }
        let count = most.min(self.all.capacity() - self.made).min(BATCH);
        self.all.extend((0..count).map(|_| Structure::blank()));
    }

    /// The structure that was made in the next place stays.
    #[inline]
    pub(super) fn keep(&mut self) {
        self.made += 1;
    }

    /// Those that stay, and the structure in the next place.
    pub(super) fn split(&self) -> (&[Structure], Option<&Structure>) {
        let (made, rest) = self.all.split_at(self.made);
        (made, rest.first())
    }

    /// How many stay.
    #[inline]
    pub(super) fn made(&self) -> usize {
        self.made
    }

    /// Keeps those at these numbers, which rise, and no others.
    pub(super) fn keep_only(&mut self, numbers: impl Iterator<Item = usize>) {
        self.made = 0;
        for from in numbers {
            if from != self.made {
                self.all.swap(self.made, from);
            }
            self.made += 1;
        }
        self.all.truncate(self.made);
    }

    /// The list.
    pub(super) fn finish(mut self) -> Structures {
        self.all.truncate(self.made);
        if self.all.spilled() && self.made < self.all.capacity() / 2 {
            self.all.shrink_to_fit();
        }
        self.all
    }
}
