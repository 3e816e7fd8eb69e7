//! Pure copies between formats that store the same samples in other places: no
//! sample changes. Only whole planes and pairs are moved here; formats that need
//! more go through the rows of [`super::convert`], which copies them as well.

use tickpipe_components::video::{Frame, FrameMut, Plane, PlaneMut, VideoFormat};

use super::cpu::Cpu;
use super::rows::{join_pairs, split_pairs, swap_pairs};

/// How two formats of the same samples relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repack {
    /// The same format: rows are copied.
    Same,
    /// The first plane is copied, the other two change places.
    SwapPlanes,
    /// The first plane is copied, the second plane's pairs are swapped.
    SwapPairs,
    /// Two chroma planes become one of pairs; `swap` puts the third plane first.
    Join {
        /// Whether the third plane goes first in a pair.
        swap: bool,
    },
    /// A plane of pairs becomes two planes; `swap` puts a pair's second first.
    Split {
        /// Whether a pair's first goes to the third plane.
        swap: bool,
    },
    /// Luma and chroma bytes of packed 4:2:2 change places.
    SwapBytes,
    /// Only the first plane is copied: luma of planar formats to grey.
    LumaOnly,
}

impl Repack {
    /// The copy from one format to the other, if it is one of these. Whether the
    /// colours mean the same is for the caller to know.
    pub fn new(from: VideoFormat, to: VideoFormat) -> Option<Repack> {
        use VideoFormat::{Gray8, I420, Nv12, Nv21, Uyvy, Y42b, Y444, Yuy2, Yv12};
        Some(match (from, to) {
            (a, b) if a == b => Repack::Same,
            (I420, Yv12) | (Yv12, I420) => Repack::SwapPlanes,
            (Nv12, Nv21) | (Nv21, Nv12) => Repack::SwapPairs,
            (I420, Nv12) | (Yv12, Nv21) => Repack::Join { swap: false },
            (I420, Nv21) | (Yv12, Nv12) => Repack::Join { swap: true },
            (Nv12, I420) | (Nv21, Yv12) => Repack::Split { swap: false },
            (Nv12, Yv12) | (Nv21, I420) => Repack::Split { swap: true },
            (Yuy2, Uyvy) | (Uyvy, Yuy2) => Repack::SwapBytes,
            (I420 | Yv12 | Nv12 | Nv21 | Y42b | Y444, Gray8) => Repack::LumaOnly,
            _ => return None,
        })
    }

    /// Copies; both frames have the same size in pixels.
    pub fn run(self, cpu: Cpu, src: &Frame<'_>, dst: &mut FrameMut<'_>) {
        let [d0, d1, d2] = dst.planes_mut();
        let (s0, s1, s2) = (src.plane(0), src.plane(1), src.plane(2));
        match self {
            Repack::Same => {
                copy(s0, d0);
                copy(s1, d1);
                copy(s2, d2);
            }
            Repack::SwapPlanes => {
                copy(s0, d0);
                copy(s1, d2);
                copy(s2, d1);
            }
            Repack::SwapPairs => {
                copy(s0, d0);
                swap(cpu, s1, d1);
            }
            Repack::SwapBytes => swap(cpu, s0, d0),
            Repack::LumaOnly => copy(s0, d0),
            Repack::Join { swap } => {
                copy(s0, d0);
                let (first, second) = if swap { (s2, s1) } else { (s1, s2) };
                if let (Some(first), Some(second), Some(mut pairs)) = (first, second, d1) {
                    let rows = pairs.rows_mut().zip(first.rows()).zip(second.rows());
                    for ((o, a), b) in rows {
                        join_pairs(cpu, a, b, o);
                    }
                }
            }
            Repack::Split { swap } => {
                copy(s0, d0);
                let (first, second) = if swap { (d2, d1) } else { (d1, d2) };
                if let (Some(pairs), Some(mut first), Some(mut second)) = (s1, first, second) {
                    let rows = pairs.rows().zip(first.rows_mut()).zip(second.rows_mut());
                    for ((s, a), b) in rows {
                        split_pairs(cpu, s, a, b);
                    }
                }
            }
        }
    }
}

fn copy(src: Option<Plane<'_>>, dst: Option<PlaneMut<'_>>) {
    let (Some(src), Some(mut dst)) = (src, dst) else {
        return;
    };
    for (o, s) in dst.rows_mut().zip(src.rows()) {
        // Rows of equal formats and sizes are equally long.
        let n = o.len().min(s.len());
        if let (Some(o), Some(s)) = (o.get_mut(..n), s.get(..n)) {
            o.copy_from_slice(s);
        }
    }
}

fn swap(cpu: Cpu, src: Option<Plane<'_>>, dst: Option<PlaneMut<'_>>) {
    let (Some(src), Some(mut dst)) = (src, dst) else {
        return;
    };
    for (o, s) in dst.rows_mut().zip(src.rows()) {
        swap_pairs(cpu, s, o);
    }
}
