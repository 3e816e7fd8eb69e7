//! The general way: rows of the source are loaded, resampled, put through the
//! colour matrix and stored. Scratch rows are made once; a run allocates nothing.

use tickpipe_components::video::{ChromaSite, Family, FrameMut, VideoFormat, VideoInfo};

use super::same_samples;
use super::source::{Source, bit};
use super::store::{component_row_mut, store_chroma, store_packed, store_plane_row, store_rgb};
use super::window::Window;
use crate::elements::video::pixels::chroma::{
    Axis, GUARD, along_the_row, down_the_rows, vertical_taps,
};
use crate::elements::video::pixels::colour_matrix::{
    Input, MatrixRow, Meaning, apply, matrix, yuv_to_quads,
};
use crate::elements::video::pixels::cpu::Cpu;

/// A step in resolution, both axes.
#[derive(Clone, Copy, Debug)]
struct Resample {
    across: Axis,
    down: Axis,
    interlaced: bool,
}

/// What the rows of a source are.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Family, depth and colours.
    pub meaning: Meaning,
    /// Chroma subsampling, log2 across and down.
    pub sub: (u8, u8),
    /// Where chroma sits, if it is subsampled.
    pub site: ChromaSite,
    /// Whether chroma is resampled within fields.
    pub fields_apart: bool,
}

/// The prepared conversion.
#[derive(Debug)]
pub struct Stages {
    from: Family,
    to: VideoFormat,
    width: usize,
    height: usize,
    rows: [MatrixRow; 3],
    /// Raw samples of the source to matrix inputs.
    inputs: [Input; 3],
    /// Resampled samples of the source to matrix inputs.
    inputs16: [Input; 3],
    /// Samples of equal resolution are copied.
    identity: bool,
    /// Source chroma to full resolution, where luma or R, G, B need it.
    to_full: Option<Resample>,
    /// Source components to the destination's chroma.
    to_chroma: Option<Resample>,
    neutral: i16,
    window: Window,
    /// Raw luma of one row.
    luma: Vec<i16>,
    /// A row after the vertical step.
    blended: Vec<i16>,
    /// Matrix inputs of one row.
    x: [Vec<i16>; 3],
    /// Output samples of one row.
    out: [Vec<i16>; 3],
}

impl Stages {
    /// From rows of shape `from` to frames of `to`, whose samples mean `b`.
    pub fn new(from: &Shape, to: &VideoInfo, b: &Meaning) -> Stages {
        let (a, dst) = (&from.meaning, to.format());
        let (width, height) = (to.width() as usize, to.height() as usize);
        let rows = matrix(a, b);
        let interlaced = from.fields_apart;
        let (src_sub, dst_sub) = (from.sub, dst.chroma_subsampling());
        let (src_site, dst_site) = (from.site, to.effective_chroma_site());
        let (yuv, gray) = (a.family == Family::Yuv, a.family == Family::Gray);
        let resample = |from: (u8, u8), to: (u8, u8)| {
            let site = |from, to| if from > to { src_site } else { dst_site };
            let across = site(from.0, to.0).h_cosited();
            let down = site(from.1, to.1).v_cosited();
            Resample {
                across: Axis::new(from.0, to.0, across),
                down: Axis::new(from.1, to.1, down),
                interlaced,
            }
        };
        let full_rows: &[MatrixRow] = if dst.is_rgb() { &rows } else { &rows[..1] };
        let chroma_counts = full_rows.iter().any(|r| r.q[1] != 0 || r.q[2] != 0);
        let to_full = (yuv && chroma_counts).then(|| resample(src_sub, (0, 0)));
        let to_chroma = (dst.is_yuv() && !gray).then(|| resample(src_sub, dst_sub));
        // The window holds what is resampled: chroma of YUV, all of RGB.
        let (sub, wanted) = match a.family {
            Family::Rgb => ((0, 0), [true; 3]),
            Family::Yuv => (src_sub, [false, true, true]),
            Family::Gray => ((0, 0), [false; 3]),
        };
        let cells = |n: usize, sub: u8| n.div_ceil(1 << sub);
        // Rows of a frame lie within 3 of each other, those of a field within 5.
        let slots = if interlaced { 8 } else { 4 };
        let window = Window::new(cells(width, sub.0), cells(height, sub.1), slots, wanted);
        let even = width.next_multiple_of(2);
        let row = || vec![0i16; even];
        Stages {
            from: a.family,
            to: dst,
            width,
            height,
            rows,
            inputs: [0, 1, 2].map(|c| a.input(c)),
            inputs16: [0, 1, 2].map(|c| a.input16(c)),
            identity: same_samples(a, b),
            to_full,
            to_chroma,
            neutral: b.neutral(),
            window,
            luma: row(),
            blended: vec![0; even + GUARD],
            x: [row(), row(), row()],
            out: [row(), row(), row()],
        }
    }

    /// Makes one frame.
    pub fn run(&mut self, cpu: Cpu, src: &impl Source, dst: &mut FrameMut<'_>) {
        self.window.clear();
        let v_sub = self.to.chroma_subsampling().1;
        let packed = matches!(self.to, VideoFormat::Yuy2 | VideoFormat::Uyvy);
        if self.from == Family::Gray && self.to.is_yuv() {
            let [_, u, v] = &mut self.out;
            u.fill(self.neutral);
            v.fill(self.neutral);
        }
        for cy in 0..self.height.div_ceil(1 << v_sub) {
            let end = ((cy + 1) << v_sub).min(self.height);
            for y in cy << v_sub..end {
                if self.to.is_rgb() {
                    self.rgb_row(cpu, src, dst, y);
                } else {
                    self.luma_row(cpu, src, dst, y, packed);
                }
            }
            if self.to.is_yuv() {
                self.chroma_row(cpu, src, cy);
                let [luma, u, v] = &self.out;
                if packed {
                    store_packed(cpu, luma, u, v, dst, cy);
                } else {
                    store_chroma(cpu, u, v, dst, cy);
                }
            }
        }
    }

    /// Row `y` of an RGB destination.
    fn rgb_row(&mut self, cpu: Cpu, src: &impl Source, dst: &mut FrameMut<'_>, y: usize) {
        let n = self.width;
        if self.from == Family::Rgb {
            self.ensure(cpu, src, y);
            let alpha = src.alpha(y);
            let raw = [0, 1, 2].map(|c| self.window.row(c, y));
            if self.identity {
                store_rgb(cpu, raw, alpha, dst, y);
                return;
            }
            for (row, out) in self.rows.iter().zip(&mut self.out) {
                apply(cpu, row, raw, self.inputs, cut(out, n));
            }
            store_rgb(cpu, self.out.each_ref().map(Vec::as_slice), alpha, dst, y);
            return;
        }
        self.chroma_to_full(cpu, src, y);
        let [_, u, v] = &self.x;
        let four_bytes = self.from == Family::Yuv && self.to.has_alpha();
        if let Some(luma) = src.luma_bytes(y).filter(|_| four_bytes) {
            let shifts = [0, 1, 2].map(|c| bit(self.to, c));
            let opaque = 0xff << bit(self.to, 3);
            if let Some(out) = component_row_mut(dst, 0, y) {
                let input = self.inputs[0];
                yuv_to_quads(cpu, luma, input, u, v, &self.rows, shifts, opaque, out);
            }
            return;
        }
        src.luma(cpu, y, cut(&mut self.luma, n));
        let inputs = [self.inputs[0], Input::READY, Input::READY];
        for (row, out) in self.rows.iter().zip(&mut self.out) {
            apply(cpu, row, [&self.luma, u, v], inputs, cut(out, n));
        }
        store_rgb(cpu, self.out.each_ref().map(Vec::as_slice), None, dst, y);
    }

    /// Luma row `y` of a YUV or grey destination; packed formats store it later.
    fn luma_row(
        &mut self,
        cpu: Cpu,
        src: &impl Source,
        dst: &mut FrameMut<'_>,
        y: usize,
        packed: bool,
    ) {
        let n = self.width;
        if self.from == Family::Rgb {
            self.ensure(cpu, src, y);
            let raw = [0, 1, 2].map(|c| self.window.row(c, y));
            apply(
                cpu,
                &self.rows[0],
                raw,
                self.inputs,
                cut(&mut self.out[0], n),
            );
        } else if self.identity {
            src.luma(cpu, y, cut(&mut self.out[0], n));
        } else {
            self.chroma_to_full(cpu, src, y);
            src.luma(cpu, y, cut(&mut self.luma, n));
            let [_, u, v] = &self.x;
            let inputs = [self.inputs[0], Input::READY, Input::READY];
            let rows: [&[i16]; 3] = [&self.luma, u, v];
            apply(cpu, &self.rows[0], rows, inputs, cut(&mut self.out[0], n));
        }
        let luma = &mut self.out[0];
        if !packed {
            store_plane_row(cpu, luma, dst, 0, y);
        } else if n % 2 == 1
            && let Some([last, beyond]) = luma.last_chunk_mut()
        {
            *beyond = *last;
        }
    }

    /// Output chroma row `cy`, into `out[1]` and `out[2]`.
    fn chroma_row(&mut self, cpu: Cpu, src: &impl Source, cy: usize) {
        let Some(resample) = self.to_chroma else {
            return;
        };
        let n = self.width.div_ceil(1 << self.to.chroma_subsampling().0);
        let components = if self.from == Family::Rgb { 0..3 } else { 1..3 };
        self.resample(cpu, src, resample, cy, components);
        let rows = self.x.each_ref().map(Vec::as_slice);
        for (row, out) in self.rows.iter().zip(&mut self.out).skip(1) {
            apply(cpu, row, rows, [Input::READY; 3], cut(out, n));
        }
    }

    /// Source chroma at the resolution of luma row `y`, into `x[1]` and `x[2]`.
    fn chroma_to_full(&mut self, cpu: Cpu, src: &impl Source, y: usize) {
        if let Some(resample) = self.to_full {
            self.resample(cpu, src, resample, y, 1..3);
        }
    }

    /// Components at row `y` of another resolution, as matrix inputs, into `x`.
    fn resample(
        &mut self,
        cpu: Cpu,
        src: &impl Source,
        step: Resample,
        y: usize,
        components: std::ops::Range<usize>,
    ) {
        let taps = vertical_taps(step.down, y, self.window.rows(), step.interlaced);
        for (row, weight) in taps {
            if weight != 0 {
                self.ensure(cpu, src, row);
            }
        }
        let each = self.x.iter_mut().zip(&self.inputs16).enumerate();
        for (c, (x, input)) in each.filter(|(c, _)| components.contains(c)) {
            let window = &self.window;
            down_the_rows(cpu, &taps, |row| window.guarded(c, row), &mut self.blended);
            let Input { offset, shift } = *input;
            along_the_row(cpu, step.across, &self.blended, offset, shift, x);
        }
    }

    /// Makes row `y` of the window's components present.
    fn ensure(&mut self, cpu: Cpu, src: &impl Source, y: usize) {
        let rgb = self.from == Family::Rgb;
        self.window.ensure(y, |[a, b, c]| {
            if rgb {
                src.rgb(cpu, y, [a, b, c]);
            } else {
                src.chroma(cpu, y, [b, c]);
            }
        });
    }
}

/// The first `n` samples of a scratch row.
fn cut(row: &mut [i16], n: usize) -> &mut [i16] {
    let n = n.min(row.len());
    row.split_at_mut(n).0
}
