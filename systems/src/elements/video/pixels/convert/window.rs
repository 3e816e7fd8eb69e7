//! The source's rows as raw 16-bit rows, loaded once and kept while output rows
//! near them are made.

use crate::elements::video::pixels::chroma::{GUARD, GUARD_LEFT, fill_guards};

/// A window of guarded raw rows of up to three components of one resolution.
#[derive(Debug)]
pub struct Window {
    /// Samples per row, without guards.
    width: usize,
    /// Rows of the source.
    rows: usize,
    /// Source row in each slot; `usize::MAX` is none.
    tags: Vec<usize>,
    /// Slots one after the other, for each component.
    data: [Vec<i16>; 3],
}

impl Window {
    /// A window of `slots` rows of `width` samples out of `rows`, for those of the
    /// three components that are wanted.
    pub fn new(width: usize, rows: usize, slots: usize, wanted: [bool; 3]) -> Window {
        let data = wanted.map(|w| vec![0; if w { (width + GUARD) * slots } else { 0 }]);
        Window {
            width,
            rows,
            tags: vec![usize::MAX; slots],
            data,
        }
    }

    /// Rows of the source.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Forgets all rows: another frame begins.
    pub fn clear(&mut self) {
        self.tags.fill(usize::MAX);
    }

    /// Makes row `y` present, calling `load` with its three component rows if it is
    /// not.
    pub fn ensure(&mut self, y: usize, load: impl FnOnce([&mut [i16]; 3])) {
        let (span, width) = (self.width + GUARD, self.width);
        let slot = y % self.tags.len();
        match self.tags.get_mut(slot) {
            Some(tag) if *tag != y => *tag = y,
            _ => return,
        }
        let mut guarded = self.data.each_mut().map(|d| {
            d.get_mut(slot * span..(slot + 1) * span)
                .unwrap_or_default()
        });
        load(guarded.each_mut().map(|row| {
            row.get_mut(GUARD_LEFT..GUARD_LEFT + width)
                .unwrap_or_default()
        }));
        for row in guarded {
            fill_guards(row, width);
        }
    }

    /// Row `y` of component `c` with its guards; it is present.
    pub fn guarded(&self, c: usize, y: usize) -> &[i16] {
        let span = self.width + GUARD;
        let slot = y % self.tags.len();
        self.data
            .get(c)
            .and_then(|d| d.get(slot * span..(slot + 1) * span))
            .unwrap_or(&[])
    }

    /// Row `y` of component `c` without guards; it is present.
    pub fn row(&self, c: usize, y: usize) -> &[i16] {
        self.guarded(c, y)
            .get(GUARD_LEFT..GUARD_LEFT + self.width)
            .unwrap_or(&[])
    }
}
