//! The colour arithmetic: one 3x3 integer matrix with offsets between any two
//! descriptions of colour, and the row kernels that apply it.
//!
//! **The rule.** Source components are taken relative to their zero (16 or 0 for
//! luma and R, G, B; 128 for U and V, all in 8-bit units) as 16-bit fixed point
//! `x`: luma, R, G and B in 1/128, U and V in 1/256. The coefficient is `q`,
//! 1/16384 for the former and 1/8192 for the latter, so that
//! `floor(x * q / 65536)` is in 1/32 of an 8-bit step. An output sample is
//!
//! `clamp((sum of floor(x * q / 65536) + bias) >> shift, 0, max)`
//!
//! with shift 5 and max 255 in 8 bit, shift 3 and max 1023 in 10 bit; the bias holds
//! the output's zero, one half for rounding, and half of the mean loss of the
//! floors (1/64 of a step for each of two coefficients that are neither 0 nor 1).
//! Results are limited to what the sample can hold, not to the nominal range.
//!
//! Coefficients are computed in exact rational arithmetic from Kr and Kb and
//! rounded once. Of a luma row made from R, G, B the sum, and of a chroma row the
//! sum 0, are exact: grey stays grey and white stays white.
//!
//! Primaries and transfer functions are not converted.

use tickpipe_components::video::{Colorimetry, Family, Matrix, Range};

use super::cpu::kernels;

/// Fraction bits of luma-like inputs.
const LUMA_BITS: u32 = 7;
/// Fraction bits of chroma inputs.
const CHROMA_BITS: u32 = 8;

/// One row of the matrix: how an output sample is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// Coefficients; 0 where the input does not count.
    pub q: [i16; 3],
    /// Added to the sum, in its units.
    pub bias: i16,
    /// Right shift of the sum.
    pub shift: u32,
    /// Largest output.
    pub max: i16,
}

/// How raw samples become inputs: `x = (raw - offset) << shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Subtracted from the raw sample.
    pub offset: i16,
    /// Left shift.
    pub shift: u32,
}

impl Input {
    /// For rows that are inputs already.
    pub const READY: Input = Input {
        offset: 0,
        shift: 0,
    };
}

/// One side of a conversion: what its samples mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Which components there are.
    pub family: Family,
    /// Bits per sample (8 or 10).
    pub bits: u8,
    /// Range and matrix, complete (nothing unknown; see
    /// `VideoInfo::effective_colorimetry`).
    pub colorimetry: Colorimetry,
}

impl Meaning {
    /// Bits above 8.
    fn extra(&self) -> u32 {
        u32::from(self.bits.saturating_sub(8))
    }

    fn limited(&self) -> bool {
        self.colorimetry.range == Range::Limited
    }

    /// Zero, in raw samples, of component `c`.
    fn zero(&self, c: usize) -> i16 {
        let zero = match (self.family, c) {
            (Family::Yuv, 1 | 2) => 128,
            _ if self.limited() => 16,
            _ => 0,
        };
        zero << self.extra()
    }

    /// Size of the nominal range of component `c`, in raw samples.
    fn span(&self, c: usize) -> i128 {
        match (self.family, c, self.limited()) {
            (Family::Yuv, 1 | 2, true) => 224 << self.extra(),
            (_, _, true) => 219 << self.extra(),
            (_, _, false) => (1 << self.bits) - 1,
        }
    }

    fn is_chroma(&self, c: usize) -> bool {
        self.family == Family::Yuv && c > 0
    }

    /// How raw samples of component `c`, not resampled, become inputs.
    pub fn input(&self, c: usize) -> Input {
        let bits = if self.is_chroma(c) {
            CHROMA_BITS
        } else {
            LUMA_BITS
        };
        Input {
            offset: self.zero(c),
            shift: bits - self.extra(),
        }
    }

    /// How samples of component `c` that were resampled (weights sum up to 16)
    /// become inputs.
    pub fn input16(&self, c: usize) -> Input {
        let one = self.input(c);
        Input {
            offset: one.offset << 4,
            shift: one.shift - 4,
        }
    }

    /// The raw sample of no colour: 128 in 8 bit, 512 in 10 bit.
    pub fn neutral(&self) -> i16 {
        128 << self.extra()
    }
}

/// An exact fraction; the denominator is positive.
#[derive(Clone, Copy)]
struct Ratio {
    n: i128,
    d: i128,
}

impl Ratio {
    const ZERO: Ratio = Ratio { n: 0, d: 1 };
    const ONE: Ratio = Ratio { n: 1, d: 1 };

    fn new(n: i128, d: i128) -> Ratio {
        let (mut a, mut b) = (n.abs(), d.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let g = a.max(1) * d.signum();
        Ratio { n: n / g, d: d / g }
    }

    fn mul(self, o: Ratio) -> Ratio {
        Ratio::new(self.n * o.n, self.d * o.d)
    }

    fn add(self, o: Ratio) -> Ratio {
        Ratio::new(self.n * o.d + o.n * self.d, self.d * o.d)
    }

    /// Rounded half away from zero, in units of 2^-bits.
    fn fixed(self, bits: u32) -> i32 {
        let scaled = self.n << bits;
        let half = self.d / 2 * scaled.signum();
        ((scaled + half) / self.d) as i32
    }
}

type Exact = [[Ratio; 3]; 3];

/// Kr and Kb in 1/10000 (ITU-R BT.601, BT.709, BT.2020, SMPTE 240M, FCC 73.682).
fn kr_kb(matrix: Matrix) -> (i128, i128) {
    match matrix {
        Matrix::Fcc => (3000, 1100),
        Matrix::Bt709 => (2126, 722),
        Matrix::Smpte240m => (2120, 870),
        Matrix::Bt2020 => (2627, 593),
        Matrix::Bt601 | Matrix::Unknown | Matrix::Rgb => (2990, 1140),
    }
}

/// Normalised R, G, B (0 to 1) to Y (0 to 1), U and V (-1/2 to 1/2).
fn from_rgb(matrix: Matrix) -> Exact {
    let (kr, kb) = kr_kb(matrix);
    let (one, kg) = (10000, 10000 - kr - kb);
    let (du, dv) = (2 * (one - kb), 2 * (one - kr));
    [
        [
            Ratio::new(kr, one),
            Ratio::new(kg, one),
            Ratio::new(kb, one),
        ],
        [
            Ratio::new(-kr, du),
            Ratio::new(-kg, du),
            Ratio::new(one - kb, du),
        ],
        [
            Ratio::new(one - kr, dv),
            Ratio::new(-kg, dv),
            Ratio::new(-kb, dv),
        ],
    ]
}

/// The inverse of [`from_rgb`].
fn to_rgb(matrix: Matrix) -> Exact {
    let (kr, kb) = kr_kb(matrix);
    let (one, kg) = (10000, 10000 - kr - kb);
    let r = Ratio::new(2 * (one - kr), one);
    let b = Ratio::new(2 * (one - kb), one);
    let gu = Ratio::new(-2 * kb * (one - kb), kg * one);
    let gv = Ratio::new(-2 * kr * (one - kr), kg * one);
    [
        [Ratio::ONE, Ratio::ZERO, r],
        [Ratio::ONE, gu, gv],
        [Ratio::ONE, b, Ratio::ZERO],
    ]
}

fn identity() -> Exact {
    let (o, z) = (Ratio::ONE, Ratio::ZERO);
    [[o, z, z], [z, o, z], [z, z, o]]
}

fn product(a: &Exact, b: &Exact) -> Exact {
    let cell =
        |i: usize, j: usize| (0..3).fold(Ratio::ZERO, |sum, k| sum.add(a[i][k].mul(b[k][j])));
    std::array::from_fn(|i| std::array::from_fn(|j| cell(i, j)))
}

/// The matrix that makes components of `to` from components of `from`.
///
/// Grey has no matrix of its own against YUV (its luma is the other side's luma);
/// against RGB its colorimetry says how luma is made.
pub fn matrix(from: &Meaning, to: &Meaning) -> [MatrixRow; 3] {
    let (a, b) = (from.colorimetry.matrix, to.colorimetry.matrix);
    let exact = match (from.family, to.family) {
        (Family::Rgb, Family::Rgb) => identity(),
        (Family::Rgb, _) => from_rgb(b),
        (_, Family::Rgb) => to_rgb(a),
        (Family::Yuv, Family::Yuv) if a != b => product(&from_rgb(b), &to_rgb(a)),
        _ => identity(),
    };
    let fine = u32::from(from.family == Family::Rgb && to.family != Family::Rgb);
    // Fraction bits of coefficients on input j, and of sums.
    let unit = |j: usize| if from.is_chroma(j) { 13 } else { 14 + fine };
    let sum_bits = 5 + fine;
    let mut rows = [0, 1, 2].map(|i| {
        let q = [0, 1, 2].map(|j| {
            if from.family == Family::Gray && j > 0 {
                return 0;
            }
            let scale = Ratio::new(to.span(i) << from.extra(), from.span(j) << to.extra());
            narrow(exact[i][j].mul(scale).fixed(unit(j)))
        });
        MatrixRow {
            q,
            bias: 0,
            shift: sum_bits - to.extra(),
            max: (1 << to.bits) - 1,
        }
    });
    if fine == 1 {
        let total = Ratio::new(to.span(0), from.span(0) << to.extra()).fixed(unit(0));
        for (i, row) in rows.iter_mut().enumerate() {
            // The total may be above what an i16 holds; what is left never is.
            let sum = if i == 0 { total } else { 0 };
            let green = sum - i32::from(row.q[0]) - i32::from(row.q[2]);
            row.q[1] = narrow(green);
        }
    }
    for (i, row) in rows.iter_mut().enumerate() {
        let lossy = (0..3).filter(|&j| row.q[j] != 0 && i32::from(row.q[j]) != 1 << unit(j));
        let zero = (to.zero(i) >> to.extra()) << sum_bits;
        row.bias = zero + (1 << (row.shift - 1)) + (lossy.count() / 2) as i16;
    }
    rows
}

/// A coefficient as the kernels take it. All are below 2 (luma), 4 (chroma) or 1
/// (from R, G, B), so all fit.
fn narrow(q: i32) -> i16 {
    q.clamp(-0x8000, 0x7fff) as i16
}

/// `floor(x * q / 65536)`.
#[inline(always)]
fn mulhi(x: i16, q: i16) -> i16 {
    ((i32::from(x) * i32::from(q)) >> 16) as i16
}

#[inline(always)]
fn input(raw: i16, input: Input) -> i16 {
    raw.wrapping_sub(input.offset) << input.shift
}

// Sums stay below 2^15: at most (255 * 1.17 + 128 * 2.15) * 32, and 255 * 1.17 * 64 from
// R, G, B. Wrapping operators are used so that debug builds are vectorised too.
kernels! {
    /// One input.
    fn dot1(a: &[i16], ia: Input, q: i16, row: &MatrixRow, out: &mut [i16]) {
        let MatrixRow { bias, shift, max, .. } = *row;
        for (o, &a) in out.iter_mut().zip(a) {
            let sum = mulhi(input(a, ia), q).wrapping_add(bias);
            *o = (sum >> shift).clamp(0, max);
        }
    }

    /// Two inputs.
    fn dot2(
        a: &[i16],
        ia: Input,
        b: &[i16],
        ib: Input,
        q: [i16; 2],
        row: &MatrixRow,
        out: &mut [i16],
    ) {
        let MatrixRow { bias, shift, max, .. } = *row;
        let [qa, qb] = q;
        for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
            let sum = mulhi(input(a, ia), qa).wrapping_add(mulhi(input(b, ib), qb));
            *o = (sum.wrapping_add(bias) >> shift).clamp(0, max);
        }
    }

    /// Three inputs.
    fn dot3(
        a: &[i16],
        ia: Input,
        b: &[i16],
        ib: Input,
        c: &[i16],
        ic: Input,
        row: &MatrixRow,
        out: &mut [i16],
    ) {
        let MatrixRow { bias, shift, max, q: [qa, qb, qc] } = *row;
        for (((o, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            let sum = mulhi(input(a, ia), qa)
                .wrapping_add(mulhi(input(b, ib), qb))
                .wrapping_add(mulhi(input(c, ic), qc));
            *o = (sum.wrapping_add(bias) >> shift).clamp(0, max);
        }
    }

    /// 8-bit luma and ready chroma to four-byte RGB pixels at bit positions
    /// `shifts`, `rest` in the fourth byte: the three rows of [`matrix`] at once.
    fn yuv_to_quads(
        luma: &[u8],
        il: Input,
        u: &[i16],
        v: &[i16],
        rows: &[MatrixRow; 3],
        shifts: [u32; 3],
        rest: u32,
        out: &mut [u8],
    ) {
        let [r, g, b] = *rows;
        let [sr, sg, sb] = shifts;
        let groups = out.as_chunks_mut::<4>().0;
        for (((o, &y), &u), &v) in groups.iter_mut().zip(luma).zip(u).zip(v) {
            // The luma coefficient is the same in all three rows.
            let y = mulhi(input(i16::from(y), il), r.q[0]);
            let red = y.wrapping_add(mulhi(v, r.q[2])).wrapping_add(r.bias) >> 5;
            let green = y
                .wrapping_add(mulhi(u, g.q[1]))
                .wrapping_add(mulhi(v, g.q[2]))
                .wrapping_add(g.bias)
                >> 5;
            let blue = y.wrapping_add(mulhi(u, b.q[1])).wrapping_add(b.bias) >> 5;
            let p = (red.clamp(0, 255) as u32) << sr
                | (green.clamp(0, 255) as u32) << sg
                | (blue.clamp(0, 255) as u32) << sb;
            *o = (p | rest).to_le_bytes();
        }
    }
}

/// Applies one row of the matrix to rows of inputs; inputs whose coefficient is 0
/// may be empty.
pub fn apply(
    cpu: super::cpu::Cpu,
    row: &MatrixRow,
    rows: [&[i16]; 3],
    inputs: [Input; 3],
    out: &mut [i16],
) {
    let [a, b, c] = rows;
    let [ia, ib, ic] = inputs;
    let [qa, qb, qc] = row.q;
    match (qa != 0, qb != 0, qc != 0) {
        (true, true, true) => dot3(cpu, a, ia, b, ib, c, ic, row, out),
        (true, true, false) => dot2(cpu, a, ia, b, ib, [qa, qb], row, out),
        (true, false, true) => dot2(cpu, a, ia, c, ic, [qa, qc], row, out),
        (false, true, true) => dot2(cpu, b, ib, c, ic, [qb, qc], row, out),
        (true, false, false) => dot1(cpu, a, ia, qa, row, out),
        (false, true, false) => dot1(cpu, b, ib, qb, row, out),
        (false, false, true) => dot1(cpu, c, ic, qc, row, out),
        (false, false, false) => out.fill((row.bias >> row.shift).clamp(0, row.max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(family: Family, bits: u8, range: Range, matrix: Matrix) -> Meaning {
        let colorimetry = Colorimetry {
            range,
            matrix,
            ..Colorimetry::default()
        };
        Meaning {
            family,
            bits,
            colorimetry,
        }
    }

    #[test]
    fn bt601_limited_to_rgb_has_the_known_coefficients() {
        let m = matrix(
            &meaning(Family::Yuv, 8, Range::Limited, Matrix::Bt601),
            &meaning(Family::Rgb, 8, Range::Full, Matrix::Rgb),
        );
        // 1.164384, 1.596027, -0.391762, -0.812968, 2.017232 (BT.601).
        assert_eq!(m[0].q, [19077, 0, 13075]);
        assert_eq!(m[1].q, [19077, -3209, -6660]);
        assert_eq!(m[2].q, [19077, 16525, 0]);
        assert_eq!(m.map(|r| r.bias), [17; 3]);
    }

    #[test]
    fn grey_axis_is_exact() {
        for mat in [
            Matrix::Bt601,
            Matrix::Bt709,
            Matrix::Bt2020,
            Matrix::Smpte240m,
            Matrix::Fcc,
        ] {
            for range in [Range::Limited, Range::Full] {
                let rgb = meaning(Family::Rgb, 8, Range::Full, Matrix::Rgb);
                let m = matrix(&rgb, &meaning(Family::Yuv, 8, range, mat));
                let scale = if range == Range::Full { 32768 } else { 28142 };
                let sums = m.map(|row| row.q.iter().map(|&q| i32::from(q)).sum::<i32>());
                assert_eq!(sums, [scale, 0, 0]);
            }
        }
    }

    #[test]
    fn depth_alone_is_exact() {
        let eight = meaning(Family::Yuv, 8, Range::Limited, Matrix::Bt709);
        let ten = meaning(Family::Yuv, 10, Range::Limited, Matrix::Bt709);
        let up = matrix(&eight, &ten);
        assert_eq!(up[0].q, [16384, 0, 0]);
        assert_eq!(up[2].q, [0, 0, 8192]);
        let raw: Vec<i16> = (0..256).collect();
        let mut out = vec![0; 256];
        for (c, row) in up.iter().enumerate() {
            apply(
                super::super::cpu::Cpu::detect(),
                row,
                [&raw; 3],
                [0, 1, 2].map(|c| eight.input(c)),
                &mut out,
            );
            assert!(out.iter().zip(&raw).all(|(&o, &r)| o == r << 2), "{c}");
        }
        let raw: Vec<i16> = (0..1024).collect();
        let mut out = vec![0; 1024];
        for row in &matrix(&ten, &eight) {
            apply(
                super::super::cpu::Cpu::detect(),
                row,
                [&raw; 3],
                [0, 1, 2].map(|c| ten.input(c)),
                &mut out,
            );
            let same = |(&o, &r): (&i16, &i16)| o == ((r + 2) >> 2).min(255);
            assert!(out.iter().zip(&raw).all(same));
        }
    }
}
