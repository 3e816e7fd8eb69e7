//! Where rows come from: a frame, or anything that can make rows of samples. Of a
//! frame, visible bytes only are read.

use tickpipe_components::video::{Frame, VideoFormat};

use crate::elements::video::pixels::cpu::Cpu;
use crate::elements::video::pixels::rows::{
    load_bytes, load_le10, load_pairs, load_quads, load_step2, load_step4, load_triples,
};

/// Rows of raw samples (0 to 255, or 0 to 1023 in 10 bit). What is asked of a source
/// fits its family; rows are numbered on the component's own grid.
pub trait Source {
    /// Luma row `y`.
    fn luma(&self, cpu: Cpu, y: usize, out: &mut [i16]);

    /// Chroma row `y`: U and V.
    fn chroma(&self, cpu: Cpu, y: usize, out: [&mut [i16]; 2]);

    /// Row `y` of R, G and B.
    fn rgb(&self, cpu: Cpu, y: usize, out: [&mut [i16]; 3]);

    /// Luma row `y` where it lies as 8-bit bytes one after the other.
    fn luma_bytes(&self, _y: usize) -> Option<&[u8]> {
        None
    }

    /// Row `y` of four-byte groups that hold alpha at the given bit.
    fn alpha(&self, _y: usize) -> Option<(&[u8], u32)> {
        None
    }
}

/// Bit position of component `c` in a group of four bytes.
pub fn bit(format: VideoFormat, c: usize) -> u32 {
    let components = format.info().components;
    components.get(c).map_or(0, |c| u32::from(c.offset) * 8)
}

/// The visible bytes of row `y` of the plane that holds component `c`.
fn bytes<'a>(frame: &Frame<'a>, c: usize, y: usize) -> &'a [u8] {
    let components = frame.layout().format().info().components;
    let plane = components.get(c).map_or(0, |c| usize::from(c.plane));
    frame.plane(plane).map_or(&[], |p| p.row(y))
}

impl Source for Frame<'_> {
    fn luma(&self, cpu: Cpu, y: usize, out: &mut [i16]) {
        let src = bytes(self, 0, y);
        match self.layout().format() {
            VideoFormat::I42010Le => load_le10(cpu, src, out),
            VideoFormat::Yuy2 => load_step2(cpu, src, 0, out),
            VideoFormat::Uyvy => load_step2(cpu, src, 8, out),
            _ => load_bytes(cpu, src, out),
        }
    }

    fn chroma(&self, cpu: Cpu, y: usize, [u, v]: [&mut [i16]; 2]) {
        let format = self.layout().format();
        let (su, sv) = (bytes(self, 1, y), bytes(self, 2, y));
        match format {
            VideoFormat::I42010Le => {
                load_le10(cpu, su, u);
                load_le10(cpu, sv, v);
            }
            VideoFormat::Nv12 => load_pairs(cpu, su, u, v),
            VideoFormat::Nv21 => load_pairs(cpu, su, v, u),
            VideoFormat::Yuy2 | VideoFormat::Uyvy => {
                load_step4(cpu, su, bit(format, 1), u);
                load_step4(cpu, sv, bit(format, 2), v);
            }
            _ => {
                load_bytes(cpu, su, u);
                load_bytes(cpu, sv, v);
            }
        }
    }

    fn rgb(&self, cpu: Cpu, y: usize, [r, g, b]: [&mut [i16]; 3]) {
        let format = self.layout().format();
        let src = bytes(self, 0, y);
        match format {
            VideoFormat::Rgb => load_triples(cpu, src, r, g, b),
            VideoFormat::Bgr => load_triples(cpu, src, b, g, r),
            _ => load_quads(cpu, src, [0, 1, 2].map(|c| bit(format, c)), r, g, b),
        }
    }

    fn luma_bytes(&self, y: usize) -> Option<&[u8]> {
        let info = self.layout().format().info();
        let luma = info.components.first()?;
        let plain = info.sample_bytes == 1 && luma.pixel_stride == 1;
        plain.then(|| bytes(self, 0, y))
    }

    fn alpha(&self, y: usize) -> Option<(&[u8], u32)> {
        let format = self.layout().format();
        let alpha = format.has_alpha().then(|| bit(format, 3));
        alpha.map(|bit| (bytes(self, 0, y), bit))
    }
}
