//! The rule by which components change resolution, and its row kernels.
//!
//! **The rule.** Along an axis that both sides subsample alike nothing is done (the
//! siting is then not converted). Else, with the siting of the side that is
//! subsampled:
//!
//! | axis | centred | cosited |
//! |---|---|---|
//! | finer | `(3 * near + far) / 4` | even: `c[k]`; odd: `(c[k] + c[k+1]) / 2` |
//! | coarser | `(a[2k] + a[2k+1]) / 2` | `(a[2k-1] + 2 * a[2k] + a[2k+1]) / 4` |
//!
//! The outermost sample is repeated beyond the edge. Both axes together are
//! exact (weights in sixteenths), and rounded only after the colour matrix. In
//! interleaved video the vertical axis runs within each field.

use super::cpu::{Cpu, kernels};

/// What happens along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Same resolution.
    Same,
    /// Twice as fine.
    Up {
        /// Whether coarse samples sit on the first of two fine ones.
        cosited: bool,
    },
    /// Half as fine.
    Down {
        /// Whether coarse samples sit on the first of two fine ones.
        cosited: bool,
    },
}

impl Axis {
    /// From a subsampling (log2: 0 or 1) to another.
    pub fn new(from: u8, to: u8, cosited: bool) -> Axis {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => Axis::Same,
            std::cmp::Ordering::Greater => Axis::Up { cosited },
            std::cmp::Ordering::Less => Axis::Down { cosited },
        }
    }
}

/// Up to three source rows and their weights, which sum up to 4.
pub type Taps = [(usize, i16); 3];

/// The source rows of output row `y` along the vertical axis; `rows` is the number
/// of source rows (at least 1). In `interlaced` video rows of a field are made of
/// rows of the same field (of the only one, if the source has a single row).
pub fn vertical_taps(axis: Axis, y: usize, rows: usize, interlaced: bool) -> Taps {
    if axis == Axis::Same || !interlaced || rows < 2 {
        return field_taps(axis, y, rows);
    }
    let field = y & 1;
    field_taps(axis, y >> 1, (rows + 1 - field) / 2).map(|(row, weight)| match weight {
        0 => (0, 0),
        _ => (2 * row + field, weight),
    })
}

fn field_taps(axis: Axis, y: usize, rows: usize) -> Taps {
    let last = rows.saturating_sub(1);
    let row = |r: usize| r.min(last);
    let k = y >> 1;
    let odd = y & 1 == 1;
    match axis {
        Axis::Same => [(row(y), 4), (0, 0), (0, 0)],
        Axis::Up { cosited: false } => {
            let far = if odd { k + 1 } else { k.saturating_sub(1) };
            [(row(k), 3), (row(far), 1), (0, 0)]
        }
        Axis::Up { cosited: true } if odd => [(row(k), 2), (row(k + 1), 2), (0, 0)],
        Axis::Up { cosited: true } => [(row(k), 4), (0, 0), (0, 0)],
        Axis::Down { cosited: false } => [(row(2 * y), 2), (row(2 * y + 1), 2), (0, 0)],
        Axis::Down { cosited: true } => [
            (row((2 * y).saturating_sub(1)), 1),
            (row(2 * y), 2),
            (row(2 * y + 1), 1),
        ],
    }
}

/// Samples repeated on the left of a guarded row.
pub const GUARD_LEFT: usize = 1;
/// Samples repeated on the right of a guarded row.
pub const GUARD_RIGHT: usize = 3;
/// Both guards.
pub const GUARD: usize = GUARD_LEFT + GUARD_RIGHT;

/// Repeats the outermost samples of a guarded row of `n` samples into its guards;
/// `row` is `n + GUARD` long.
pub fn fill_guards(row: &mut [i16], n: usize) {
    let Some((left, rest)) = row.split_at_mut_checked(GUARD_LEFT) else {
        return;
    };
    let Some((samples, right)) = rest.split_at_mut_checked(n) else {
        return;
    };
    if let (Some(&first), Some(&last)) = (samples.first(), samples.last()) {
        left.fill(first);
        right.fill(last);
    }
}

kernels! {
    /// Weighted sum of one row.
    fn blend1(a: &[i16], w: i16, out: &mut [i16]) {
        for (o, &a) in out.iter_mut().zip(a) {
            *o = a.wrapping_mul(w);
        }
    }

    /// Weighted sum of two rows.
    fn blend2(a: &[i16], wa: i16, b: &[i16], wb: i16, out: &mut [i16]) {
        for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *o = a.wrapping_mul(wa).wrapping_add(b.wrapping_mul(wb));
        }
    }

    /// Weighted sum of three rows.
    fn blend3(a: &[i16], wa: i16, b: &[i16], wb: i16, c: &[i16], wc: i16, out: &mut [i16]) {
        for (((o, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *o = a
                .wrapping_mul(wa)
                .wrapping_add(b.wrapping_mul(wb))
                .wrapping_add(c.wrapping_mul(wc));
        }
    }

    /// `(4 a - offset) << shift`.
    fn across_same(row: &[i16], offset: i16, shift: u32, out: &mut [i16]) {
        for (o, &a) in out.iter_mut().zip(row) {
            *o = a.wrapping_mul(4).wrapping_sub(offset) << shift;
        }
    }

    /// Centred, finer; `left`, `near` and `right` are one guarded row shifted by one.
    fn across_up_centred(
        left: &[i16],
        near: &[i16],
        right: &[i16],
        offset: i16,
        shift: u32,
        out: &mut [i16],
    ) {
        let pairs = out.as_chunks_mut::<2>().0;
        for (((o, &l), &c), &r) in pairs.iter_mut().zip(left).zip(near).zip(right) {
            let c = c.wrapping_mul(3).wrapping_sub(offset);
            *o = [c.wrapping_add(l) << shift, c.wrapping_add(r) << shift];
        }
    }

    /// Cosited, finer.
    fn across_up_cosited(
        near: &[i16],
        right: &[i16],
        offset: i16,
        shift: u32,
        out: &mut [i16],
    ) {
        let pairs = out.as_chunks_mut::<2>().0;
        for ((o, &c), &r) in pairs.iter_mut().zip(near).zip(right) {
            let half = c.wrapping_mul(2).wrapping_sub(offset);
            let even = half.wrapping_add(c.wrapping_mul(2));
            *o = [even << shift, half.wrapping_add(r.wrapping_mul(2)) << shift];
        }
    }

    /// Centred, coarser.
    fn across_down_centred(row: &[i16], offset: i16, shift: u32, out: &mut [i16]) {
        for (o, p) in out.iter_mut().zip(row.as_chunks::<2>().0) {
            let [a, b] = *p;
            *o = a.wrapping_add(b).wrapping_mul(2).wrapping_sub(offset) << shift;
        }
    }

    /// Cosited, coarser; `left` starts one sample before `row`, `right` two after
    /// `left`.
    fn across_down_cosited(
        left: &[i16],
        right: &[i16],
        offset: i16,
        shift: u32,
        out: &mut [i16],
    ) {
        let pairs = left.as_chunks::<2>().0.iter().zip(right.as_chunks::<2>().0);
        for (o, (l, r)) in out.iter_mut().zip(pairs) {
            let ([a, b], [c, _]) = (*l, *r);
            let sum = a.wrapping_add(b.wrapping_mul(2)).wrapping_add(c);
            *o = sum.wrapping_sub(offset) << shift;
        }
    }
}

/// The vertical step: weighted sums of whole guarded rows into `out`, times 4.
pub fn down_the_rows<'a>(cpu: Cpu, taps: &Taps, row: impl Fn(usize) -> &'a [i16], out: &mut [i16]) {
    match *taps {
        [(a, wa), (_, 0), (_, 0)] => blend1(cpu, row(a), wa, out),
        [(a, wa), (b, wb), (_, 0)] => blend2(cpu, row(a), wa, row(b), wb, out),
        [(a, wa), (b, wb), (c, wc)] => blend3(cpu, row(a), wa, row(b), wb, row(c), wc, out),
    }
}

/// The horizontal step: a guarded row (times 4) to `(16 * value - offset) << shift`.
///
/// `out` holds at least as many samples as the output row, rounded up to even where
/// the axis gets finer.
pub fn along_the_row(cpu: Cpu, axis: Axis, row: &[i16], offset: i16, shift: u32, out: &mut [i16]) {
    let from = |start: usize| row.get(start..).unwrap_or(&[]);
    match axis {
        Axis::Same => across_same(cpu, from(1), offset, shift, out),
        Axis::Up { cosited: false } => {
            across_up_centred(cpu, row, from(1), from(2), offset, shift, out);
        }
        Axis::Up { cosited: true } => {
            across_up_cosited(cpu, from(1), from(2), offset, shift, out);
        }
        Axis::Down { cosited: false } => across_down_centred(cpu, from(1), offset, shift, out),
        Axis::Down { cosited: true } => {
            across_down_cosited(cpu, row, from(2), offset, shift, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn across(axis: Axis, samples: &[i16], n_out: usize) -> Vec<i16> {
        let mut row = vec![0; samples.len() + GUARD];
        row[GUARD_LEFT..][..samples.len()].copy_from_slice(samples);
        fill_guards(&mut row, samples.len());
        let mut out = vec![0; n_out.next_multiple_of(2)];
        along_the_row(Cpu::detect(), axis, &row, 0, 0, &mut out);
        out.truncate(n_out);
        out
    }

    #[test]
    fn rows_follow_the_table() {
        let up = |cosited| Axis::Up { cosited };
        let down = |cosited| Axis::Down { cosited };
        assert_eq!(across(up(false), &[0, 100], 4), [0, 100, 300, 400]);
        assert_eq!(across(up(true), &[0, 100], 4), [0, 200, 400, 400]);
        assert_eq!(across(up(false), &[0, 100], 3), [0, 100, 300]);
        assert_eq!(across(down(false), &[10, 20, 30], 2), [60, 120]);
        assert_eq!(across(down(true), &[10, 20, 30], 2), [50, 110]);
        assert_eq!(across(Axis::Same, &[10, 20, 30], 3), [40, 80, 120]);
        assert_eq!(across(down(false), &[7], 1), [28]);
        assert_eq!(across(down(true), &[7], 1), [28]);
        assert_eq!(across(up(false), &[7], 1), [28]);
    }

    #[test]
    fn columns_follow_the_same_table() {
        let taps = |axis, y, rows| vertical_taps(axis, y, rows, false);
        let up = Axis::Up { cosited: false };
        assert_eq!(taps(up, 0, 3), [(0, 3), (0, 1), (0, 0)]);
        assert_eq!(taps(up, 3, 3), [(1, 3), (2, 1), (0, 0)]);
        assert_eq!(taps(up, 5, 3), [(2, 3), (2, 1), (0, 0)]);
        let up = Axis::Up { cosited: true };
        assert_eq!(taps(up, 2, 3), [(1, 4), (0, 0), (0, 0)]);
        assert_eq!(taps(up, 5, 3), [(2, 2), (2, 2), (0, 0)]);
        let down = Axis::Down { cosited: false };
        assert_eq!(taps(down, 1, 3), [(2, 2), (2, 2), (0, 0)]);
        let down = Axis::Down { cosited: true };
        assert_eq!(taps(down, 0, 3), [(0, 1), (0, 2), (1, 1)]);
        assert_eq!(taps(down, 1, 3), [(1, 1), (2, 2), (2, 1)]);
    }

    #[test]
    fn fields_stay_apart() {
        let taps = |axis, y, rows| vertical_taps(axis, y, rows, true);
        let up = Axis::Up { cosited: false };
        // Luma rows 0 2 4 6 are of the top field, chroma rows 0 2 as well.
        assert_eq!(taps(up, 4, 4), [(2, 3), (0, 1), (0, 0)]);
        assert_eq!(taps(up, 5, 4), [(3, 3), (1, 1), (0, 0)]);
        assert_eq!(taps(up, 7, 4), [(3, 3), (3, 1), (0, 0)]);
        // With three chroma rows the bottom field has one.
        assert_eq!(taps(up, 5, 3), [(1, 3), (1, 1), (0, 0)]);
        assert_eq!(taps(up, 1, 1), [(0, 3), (0, 1), (0, 0)]);
        let down = Axis::Down { cosited: false };
        assert_eq!(taps(down, 0, 8), [(0, 2), (2, 2), (0, 0)]);
        assert_eq!(taps(down, 3, 8), [(5, 2), (7, 2), (0, 0)]);
        for y in 0..9 {
            for rows in 1..9 {
                for axis in [up, down, Axis::Up { cosited: true }] {
                    let t = taps(axis, y, rows);
                    assert!(t.iter().all(|&(r, _)| r < rows.max(2)));
                    assert_eq!(t.iter().map(|&(_, w)| w).sum::<i16>(), 4);
                }
            }
        }
    }
}
