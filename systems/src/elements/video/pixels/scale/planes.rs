//! A frame's components as planes without padding, and back. Copies visible samples.

use fast_image_resize::pixels::U16;
use tickpipe_components::video::{Frame, FrameMut, VideoFormat, VideoInfo};

use crate::elements::video::pixels::cpu::Cpu;
use crate::elements::video::pixels::rows::{
    join_422, join_pairs, join_quads, join_triples, split_422, split_pairs, split_quads,
    split_triples,
};

/// One component.
#[derive(Debug)]
struct Component<T> {
    width: usize,
    rows: usize,
    samples: Vec<T>,
}

/// A component's samples, rows one after the other.
pub struct PlaneOf<'a, T> {
    pub width: u32,
    pub rows: u32,
    pub samples: &'a mut [T],
}

/// The components of a frame, in the order in which memory holds them.
#[derive(Debug)]
pub struct Samples<T> {
    components: Vec<Component<T>>,
    /// A row of luma of packed 4:2:2: an even number.
    pairs: Vec<T>,
}

impl<T: Copy> Samples<T> {
    /// Planes for frames of `info`, filled with `zero`.
    pub fn new(info: &VideoInfo, zero: T) -> Samples<T> {
        let (w, h) = (info.width() as usize, info.height() as usize);
        let components = info.format().info().components.iter().map(|c| {
            let (width, rows) = (w.div_ceil(1 << c.h_sub), h.div_ceil(1 << c.v_sub));
            Component {
                width,
                rows,
                samples: vec![zero; width * rows],
            }
        });
        Samples {
            components: components.collect(),
            pairs: vec![zero; w.next_multiple_of(2)],
        }
    }

    /// The components.
    pub fn planes_mut(&mut self) -> impl Iterator<Item = PlaneOf<'_, T>> {
        self.components.iter_mut().map(|c| PlaneOf {
            width: c.width as u32,
            rows: c.rows as u32,
            samples: &mut c.samples,
        })
    }
}

impl<T> Component<T> {
    fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.samples.chunks_exact(self.width)
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.samples.chunks_exact_mut(self.width)
    }
}

/// Takes an 8-bit frame apart.
pub fn gather(cpu: Cpu, src: &Frame<'_>, to: &mut Samples<u8>) {
    let format = src.layout().format();
    let Some(plane) = src.plane(0) else { return };
    let rows = plane.rows();
    match (format, to.components.as_mut_slice()) {
        (VideoFormat::Yuy2 | VideoFormat::Uyvy, [y, u, v]) => {
            let luma_first = format == VideoFormat::Yuy2;
            let out = y.rows_mut().zip(u.rows_mut()).zip(v.rows_mut());
            for (row, ((y, u), v)) in rows.zip(out) {
                split_422(cpu, row, luma_first, &mut to.pairs, u, v);
                copy(&to.pairs, y);
            }
        }
        (VideoFormat::Nv12 | VideoFormat::Nv21, [y, a, b]) => {
            rows.zip(y.rows_mut()).for_each(|(row, o)| copy(row, o));
            let Some(pairs) = src.plane(1) else { return };
            for (row, (a, b)) in pairs.rows().zip(a.rows_mut().zip(b.rows_mut())) {
                split_pairs(cpu, row, a, b);
            }
        }
        (VideoFormat::Rgb | VideoFormat::Bgr, [a, b, c]) => {
            let out = a.rows_mut().zip(b.rows_mut()).zip(c.rows_mut());
            for (row, ((a, b), c)) in rows.zip(out) {
                split_triples(cpu, row, a, b, c);
            }
        }
        (_, [a, b, c, d]) => {
            let out = a.rows_mut().zip(b.rows_mut()).zip(c.rows_mut());
            for (row, (((a, b), c), d)) in rows.zip(out.zip(d.rows_mut())) {
                split_quads(cpu, row, a, b, c, d);
            }
        }
        (_, components) => {
            for (plane, component) in src.planes().zip(components) {
                let rows = plane.rows().zip(component.rows_mut());
                rows.for_each(|(row, o)| copy(row, o));
            }
        }
    }
}

/// Puts an 8-bit frame together.
pub fn scatter(cpu: Cpu, from: &mut Samples<u8>, dst: &mut FrameMut<'_>) {
    let format = dst.layout().format();
    let [first, second, third] = dst.planes_mut();
    let mut planes = [first, second, third].into_iter().flatten();
    let Some(mut plane) = planes.next() else {
        return;
    };
    let rows = plane.rows_mut();
    match (format, from.components.as_slice()) {
        (VideoFormat::Yuy2 | VideoFormat::Uyvy, [y, u, v]) => {
            let luma_first = format == VideoFormat::Yuy2;
            for (row, ((y, u), v)) in rows.zip(y.rows().zip(u.rows()).zip(v.rows())) {
                copy(y, &mut from.pairs);
                // The neighbour of the last luma of an odd row is the same.
                if let (1, Some([last, beyond])) = (y.len() % 2, from.pairs.last_chunk_mut()) {
                    *beyond = *last;
                }
                join_422(cpu, &from.pairs, u, v, luma_first, row);
            }
        }
        (VideoFormat::Nv12 | VideoFormat::Nv21, [y, a, b]) => {
            rows.zip(y.rows()).for_each(|(o, row)| copy(row, o));
            let Some(mut pairs) = planes.next() else {
                return;
            };
            for (row, (a, b)) in pairs.rows_mut().zip(a.rows().zip(b.rows())) {
                join_pairs(cpu, a, b, row);
            }
        }
        (VideoFormat::Rgb | VideoFormat::Bgr, [a, b, c]) => {
            for (row, ((a, b), c)) in rows.zip(a.rows().zip(b.rows()).zip(c.rows())) {
                join_triples(cpu, a, b, c, row);
            }
        }
        (_, [a, b, c, d]) => {
            let parts = a.rows().zip(b.rows()).zip(c.rows()).zip(d.rows());
            for (row, (((a, b), c), d)) in rows.zip(parts) {
                join_quads(cpu, a, b, c, d, row);
            }
        }
        (_, [y, chroma @ ..]) => {
            rows.zip(y.rows()).for_each(|(o, row)| copy(row, o));
            for (mut plane, component) in planes.zip(chroma) {
                let rows = plane.rows_mut().zip(component.rows());
                rows.for_each(|(o, row)| copy(row, o));
            }
        }
        (_, []) => {}
    }
}

/// Copies what both have.
fn copy(from: &[u8], to: &mut [u8]) {
    let n = from.len().min(to.len());
    to.split_at_mut(n).0.copy_from_slice(from.split_at(n).0);
}

/// Takes a planar 10-bit frame apart; the upper six bits of words are left out.
pub fn gather_words(src: &Frame<'_>, to: &mut Samples<U16>) {
    for (plane, component) in src.planes().zip(&mut to.components) {
        for (row, out) in plane.rows().zip(component.rows_mut()) {
            for (o, word) in out.iter_mut().zip(row.as_chunks::<2>().0) {
                *o = U16::new(u16::from_le_bytes(*word) & 0x3ff);
            }
        }
    }
}

/// Puts a planar 10-bit frame together, limiting samples to 1023.
pub fn scatter_words(from: &Samples<U16>, dst: &mut FrameMut<'_>) {
    let planes = dst.planes_mut().into_iter().flatten();
    for (mut plane, component) in planes.zip(&from.components) {
        for (out, row) in plane.rows_mut().zip(component.rows()) {
            for (o, word) in out.as_chunks_mut::<2>().0.iter_mut().zip(row) {
                *o = word.0.min(0x3ff).to_le_bytes();
            }
        }
    }
}
