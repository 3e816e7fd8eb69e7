//! A per-pixel statement of the conversion rules, for tests: no rows, no kernels, no
//! shared code with the library but the description of formats. Slow and plain.
//!
//! `convert` follows the integer rule; `exact` gives the real-valued result that
//! the integer rule approximates.

#![allow(dead_code, reason = "each test uses a part")]

use tickpipe_components::video::{
    Colorimetry, Family, Frame, FrameMut, InterlaceMode, Matrix, Range, VideoFormat, VideoInfo,
};

/// Sample (x, y) of component `c`, on that component's own grid.
pub fn sample(frame: &Frame<'_>, c: usize, x: usize, y: usize) -> i32 {
    let info = frame.layout().format().info();
    let comp = info.components[c];
    let row = frame.plane(usize::from(comp.plane)).unwrap().row(y);
    let at = usize::from(comp.offset) + x * usize::from(comp.pixel_stride);
    if info.sample_bytes == 2 {
        i32::from(u16::from_le_bytes([row[at], row[at + 1]]) & 0x3ff)
    } else {
        i32::from(row[at])
    }
}

fn put(frame: &mut FrameMut<'_>, c: usize, x: usize, y: usize, value: i32) {
    let info = frame.layout().format().info();
    let comp = info.components[c];
    let mut plane = frame.plane_mut(usize::from(comp.plane)).unwrap();
    let row = plane.row_mut(y);
    let at = usize::from(comp.offset) + x * usize::from(comp.pixel_stride);
    let bytes = (value as u16).to_le_bytes();
    if info.sample_bytes == 2 {
        row[at..at + 2].copy_from_slice(&bytes);
    } else {
        row[at] = bytes[0];
    }
}

/// Columns and rows of component `c`.
pub fn grid(info: &VideoInfo, c: usize) -> (usize, usize) {
    let comp = info.format().info().components[c];
    (
        (info.width() as usize).div_ceil(1 << comp.h_sub),
        (info.height() as usize).div_ceil(1 << comp.v_sub),
    )
}

/// Weights in quarters along one axis from subsampling `from` to `to`.
fn axis(from: u8, to: u8, cosited: bool, i: usize, n: usize) -> Vec<(usize, i32)> {
    let at = |k: i64| k.clamp(0, n as i64 - 1) as usize;
    let (i, k, odd) = (i as i64, i as i64 / 2, i % 2 == 1);
    match (from, to, cosited) {
        (1, 0, false) => vec![(at(k), 3), (at(if odd { k + 1 } else { k - 1 }), 1)],
        (1, 0, true) => vec![(at(k), 2), (at(if odd { k + 1 } else { k }), 2)],
        (0, 1, false) => vec![(at(2 * i), 2), (at(2 * i + 1), 2)],
        (0, 1, true) => vec![(at(2 * i - 1), 1), (at(2 * i), 2), (at(2 * i + 1), 1)],
        _ => vec![(at(i), 4)],
    }
}

/// Component `c` of the source at (x, y) of a grid subsampled by `to`, times 16.
fn resampled(
    from: &VideoInfo,
    dst: &VideoInfo,
    frame: &Frame<'_>,
    c: usize,
    to: (u8, u8),
    (x, y): (usize, usize),
) -> i32 {
    let comp = from.format().info().components[c];
    let (columns, rows) = grid(from, c);
    let site = |sub: u8, to: u8| {
        if sub > to {
            from.effective_chroma_site()
        } else {
            dst.effective_chroma_site()
        }
    };
    let across = site(comp.h_sub, to.0).h_cosited();
    let down = site(comp.v_sub, to.1).v_cosited();
    let fields = from.interlace == InterlaceMode::Interleaved && rows > 1 && comp.v_sub != to.1;
    let vertical: Vec<(usize, i32)> = if fields {
        let (field, in_field) = (y % 2, y / 2);
        let n = (0..rows).filter(|r| r % 2 == field).count();
        let taps = axis(comp.v_sub, to.1, down, in_field, n);
        taps.into_iter().map(|(r, w)| (2 * r + field, w)).collect()
    } else {
        axis(comp.v_sub, to.1, down, y, rows)
    };
    let mut sum = 0;
    for &(row, wy) in &vertical {
        for (column, wx) in axis(comp.h_sub, to.0, across, x, columns) {
            sum += wx * wy * sample(frame, c, column, row);
        }
    }
    sum
}

/// Kr and Kb.
fn weights(m: Matrix) -> (f64, f64) {
    match m {
        Matrix::Fcc => (0.30, 0.11),
        Matrix::Bt709 => (0.2126, 0.0722),
        Matrix::Smpte240m => (0.212, 0.087),
        Matrix::Bt2020 => (0.2627, 0.0593),
        _ => (0.299, 0.114),
    }
}

fn yuv_of_rgb(m: Matrix) -> [[f64; 3]; 3] {
    let (kr, kb) = weights(m);
    let kg = 1.0 - kr - kb;
    let (u, v) = (2.0 * (1.0 - kb), 2.0 * (1.0 - kr));
    [
        [kr, kg, kb],
        [-kr / u, -kg / u, (1.0 - kb) / u],
        [(1.0 - kr) / v, -kg / v, -kb / v],
    ]
}

fn rgb_of_yuv(m: Matrix) -> [[f64; 3]; 3] {
    let (kr, kb) = weights(m);
    let kg = 1.0 - kr - kb;
    let (u, v) = (2.0 * (1.0 - kb), 2.0 * (1.0 - kr));
    [
        [1.0, 0.0, v],
        [1.0, -kb * u / kg, -kr * v / kg],
        [1.0, u, 0.0],
    ]
}

/// What samples of one side mean: zero and span in 8-bit steps.
struct Side {
    family: Family,
    bits: u8,
    c: Colorimetry,
}

impl Side {
    fn of(info: &VideoInfo) -> Side {
        Side {
            family: info.format().info().family,
            bits: info.format().bits(),
            c: info.effective_colorimetry(),
        }
    }
    fn limited(&self) -> bool {
        self.c.range == Range::Limited
    }
    fn chroma(&self, c: usize) -> bool {
        self.family == Family::Yuv && c > 0
    }
    fn zero(&self, c: usize) -> i32 {
        match (self.chroma(c), self.limited()) {
            (true, _) => 128,
            (false, true) => 16,
            (false, false) => 0,
        }
    }
    fn span(&self, c: usize) -> f64 {
        match (self.chroma(c), self.limited()) {
            (true, true) => 224.0,
            (false, true) => 219.0,
            (_, false) if self.bits == 10 => 1023.0 / 4.0,
            (_, false) => 255.0,
        }
    }
}

/// Real-valued coefficients in 8-bit steps of output per 8-bit step of input.
fn coefficients(a: &Side, b: &Side) -> [[f64; 3]; 3] {
    let one = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut m = match (a.family, b.family) {
        (Family::Rgb, Family::Rgb) => one,
        (Family::Rgb, _) => yuv_of_rgb(b.c.matrix),
        (_, Family::Rgb) => rgb_of_yuv(a.c.matrix),
        (Family::Yuv, Family::Yuv) if a.c.matrix != b.c.matrix => {
            let (to, from) = (yuv_of_rgb(b.c.matrix), rgb_of_yuv(a.c.matrix));
            let mut p = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    let cell: f64 = (0..3).map(|k| to[i][k] * from[k][j]).sum();
                    p[i][j] = if cell.abs() < 1e-9 { 0.0 } else { cell };
                }
            }
            p
        }
        _ => one,
    };
    for (i, row) in m.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell *= b.span(i) / a.span(j);
            if a.family == Family::Gray && j > 0 {
                *cell = 0.0;
            }
        }
    }
    m
}

/// Whether the conversion only moves samples.
fn moves_only(a: &Side, b: &Side) -> bool {
    let matrices = match (a.family, b.family) {
        (Family::Yuv, Family::Yuv) => a.c.matrix == b.c.matrix,
        (Family::Rgb, Family::Rgb) | (Family::Gray, Family::Gray) => true,
        (Family::Rgb, _) | (_, Family::Rgb) => false,
        _ => true,
    };
    matrices && a.bits == b.bits && a.c.range == b.c.range
}

/// Calls `each(component, x, y, inputs)` for every output sample; inputs are the
/// source's components there, times 16, and 0 where they do not count.
fn for_each_sample(
    from: &VideoInfo,
    to: &VideoInfo,
    src: &Frame<'_>,
    mut each: impl FnMut(usize, usize, usize, [i32; 3]),
) {
    let n_src = from.format().info().components.len().min(3);
    for c in 0..to.format().info().components.len().min(3) {
        let comp = to.format().info().components[c];
        let (columns, rows) = grid(to, c);
        for y in 0..rows {
            for x in 0..columns {
                let mut inputs = [0; 3];
                let luma_at_chroma = from.format().is_yuv() && to.format().is_yuv() && c > 0;
                for (j, slot) in inputs.iter_mut().enumerate().take(n_src) {
                    // Luma never counts for chroma of YUV; it is not resampled.
                    if j > 0 || !luma_at_chroma {
                        *slot = resampled(from, to, src, j, (comp.h_sub, comp.v_sub), (x, y));
                    }
                }
                each(c, x, y, inputs);
            }
        }
    }
}

/// The integer rule.
pub fn convert(from: &VideoInfo, to: &VideoInfo, src: &Frame<'_>, dst: &mut FrameMut<'_>) {
    let (a, b) = (Side::of(from), Side::of(to));
    let m = coefficients(&a, &b);
    // From R, G, B to anything else one more bit is kept.
    let fine = u32::from(a.family == Family::Rgb && b.family != Family::Rgb);
    let units = [0, 1, 2].map(|j| if a.chroma(j) { 8192 } else { 16384 << fine });
    let mut q = [[0i32; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            q[i][j] = (m[i][j] * f64::from(units[j])).round() as i32;
        }
    }
    if fine == 1 {
        let total = (b.span(0) / a.span(0) * 32768.0).round() as i32;
        for (i, row) in q.iter_mut().enumerate() {
            row[1] = if i == 0 { total } else { 0 } - row[0] - row[2];
        }
    }
    let extra = u32::from(a.bits - 8);
    let shift = fine + if b.bits == 10 { 3 } else { 5 };
    let max = (1 << b.bits) - 1;
    let mut out = Vec::new();
    for_each_sample(from, to, src, |c, x, y, inputs| {
        if a.family == Family::Gray && b.chroma(c) {
            out.push((c, x, y, 128 << (b.bits - 8)));
            return;
        }
        let mut sum = (b.zero(c) << (5 + fine)) + (1 << (shift - 1));
        let mut lossy = 0;
        for j in 0..3 {
            // Sixteenths of a raw step, relative to zero, to 1/128 or 1/256.
            let up = if a.chroma(j) { 4 } else { 3 } - extra;
            let fixed = (inputs[j] - (a.zero(j) << extra << 4)) << up;
            if q[c][j] != 0 {
                assert!(i16::try_from(fixed).is_ok());
                sum += (fixed * q[c][j]) >> 16;
                lossy += i32::from(q[c][j] != units[j]);
            }
        }
        let value = ((sum + lossy / 2) >> shift).clamp(0, max);
        out.push((c, x, y, value));
    });
    for (c, x, y, value) in out {
        put(dst, c, x, y, value);
    }
    finish(from, to, src, dst);
}

/// Alpha, and the byte that no pixel owns.
fn finish(from: &VideoInfo, to: &VideoInfo, src: &Frame<'_>, dst: &mut FrameMut<'_>) {
    let (w, h) = (to.width() as usize, to.height() as usize);
    if to.format().has_alpha() {
        for y in 0..h {
            for x in 0..w {
                let alpha = if from.format().has_alpha() {
                    sample(src, 3, x, y)
                } else {
                    255
                };
                put(dst, 3, x, y, alpha);
            }
        }
    }
    if matches!(to.format(), VideoFormat::Yuy2 | VideoFormat::Uyvy) && w % 2 == 1 {
        for y in 0..h {
            let last = sample(&dst.as_frame(), 0, w - 1, y);
            put(dst, 0, w, y, last);
        }
    }
    // Samples that are only moved keep what is in their upper bits.
    let copied = from.format() == to.format() && from.format().bits() == 10;
    if copied && moves_only(&Side::of(from), &Side::of(to)) {
        for p in 0..3 {
            let rows: Vec<Vec<u8>> = src.plane(p).unwrap().rows().map(<[u8]>::to_vec).collect();
            for (y, row) in rows.iter().enumerate() {
                dst.plane_mut(p).unwrap().row_mut(y).copy_from_slice(row);
            }
        }
    }
}

/// The real-valued result, limited to what a sample can hold: calls
/// `each(component, x, y, value)` in output sample steps.
pub fn exact(
    from: &VideoInfo,
    to: &VideoInfo,
    src: &Frame<'_>,
    mut each: impl FnMut(usize, usize, usize, f64),
) {
    let (a, b) = (Side::of(from), Side::of(to));
    let m = coefficients(&a, &b);
    let scale = f64::from(1 << (b.bits - 8));
    for_each_sample(from, to, src, |c, x, y, inputs| {
        let mut sum = f64::from(b.zero(c));
        for j in 0..3 {
            let raw = f64::from(inputs[j]) / 16.0 / f64::from(1 << (a.bits - 8));
            if m[c][j] != 0.0 {
                sum += m[c][j] * (raw - f64::from(a.zero(j)));
            }
        }
        each(
            c,
            x,
            y,
            (sum * scale).clamp(0.0, f64::from((1 << b.bits) - 1)),
        );
    });
}
