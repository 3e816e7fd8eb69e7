//! Output rows to the destination's bytes. Writes visible bytes only.

use tickpipe_components::video::{FrameMut, VideoFormat};

use super::source::bit;
use crate::elements::video::pixels::cpu::Cpu;
use crate::elements::video::pixels::rows::{
    merge_step4, store_422, store_bytes, store_le10, store_pairs, store_quads, store_triples,
};

/// The visible bytes of row `y` of the plane that holds component `c`.
pub fn component_row_mut<'a>(
    frame: &'a mut FrameMut<'_>,
    c: usize,
    y: usize,
) -> Option<&'a mut [u8]> {
    let layout = frame.layout();
    let component = layout.format().info().components.get(c)?;
    let plane = *layout.plane(usize::from(component.plane))?;
    let start = plane.offset() + y.checked_mul(plane.stride())?;
    if y >= plane.rows() {
        return None;
    }
    frame.data_mut().get_mut(start..start + plane.row_bytes())
}

/// One plane's row of samples, as bytes or 10-bit words.
pub fn store_plane_row(cpu: Cpu, row: &[i16], frame: &mut FrameMut<'_>, c: usize, y: usize) {
    let ten = frame.layout().format().bits() > 8;
    let Some(out) = component_row_mut(frame, c, y) else {
        return;
    };
    if ten {
        store_le10(cpu, row, out);
    } else {
        store_bytes(cpu, row, out);
    }
}

/// Chroma row `y` of a planar or semi-planar frame.
pub fn store_chroma(cpu: Cpu, u: &[i16], v: &[i16], frame: &mut FrameMut<'_>, y: usize) {
    match frame.layout().format() {
        VideoFormat::Nv12 => {
            if let Some(out) = component_row_mut(frame, 1, y) {
                store_pairs(cpu, u, v, out);
            }
        }
        VideoFormat::Nv21 => {
            if let Some(out) = component_row_mut(frame, 1, y) {
                store_pairs(cpu, v, u, out);
            }
        }
        _ => {
            store_plane_row(cpu, u, frame, 1, y);
            store_plane_row(cpu, v, frame, 2, y);
        }
    }
}

/// Row `y` of a packed 4:2:2 frame; `luma` holds an even number of samples.
pub fn store_packed(
    cpu: Cpu,
    luma: &[i16],
    u: &[i16],
    v: &[i16],
    frame: &mut FrameMut<'_>,
    y: usize,
) {
    let luma_first = frame.layout().format() == VideoFormat::Yuy2;
    if let Some(out) = component_row_mut(frame, 0, y) {
        store_422(cpu, luma, u, v, luma_first, out);
    }
}

/// Row `y` of an RGB frame; alpha from the byte at bit `alpha.1` of each group of
/// `alpha.0`, or opaque.
pub fn store_rgb(
    cpu: Cpu,
    rgb: [&[i16]; 3],
    alpha: Option<(&[u8], u32)>,
    frame: &mut FrameMut<'_>,
    y: usize,
) {
    let format = frame.layout().format();
    let [r, g, b] = rgb;
    let Some(out) = component_row_mut(frame, 0, y) else {
        return;
    };
    match format {
        VideoFormat::Rgb => store_triples(cpu, r, g, b, out),
        VideoFormat::Bgr => store_triples(cpu, b, g, r, out),
        _ => {
            let shifts = [0, 1, 2].map(|c| bit(format, c));
            let to = bit(format, 3);
            match alpha {
                None => store_quads(cpu, r, g, b, shifts, 0xff << to, out),
                Some((src, from)) => {
                    store_quads(cpu, r, g, b, shifts, 0, out);
                    merge_step4(cpu, src, from, to, out);
                }
            }
        }
    }
}

/// In packed 4:2:2 of odd width, makes the last group's second luma the same as its
/// first.
pub fn repeat_last_luma(frame: &mut FrameMut<'_>) {
    let layout = frame.layout();
    let (first, second) = match layout.format() {
        VideoFormat::Yuy2 => (0, 2),
        VideoFormat::Uyvy => (1, 3),
        _ => return,
    };
    if layout.width() % 2 == 0 {
        return;
    }
    if let Some(mut plane) = frame.plane_mut(0) {
        for row in plane.rows_mut() {
            if let Some(group) = row.last_chunk_mut::<4>() {
                group[second] = group[first];
            }
        }
    }
}
