//! The opaque overlay against a statement of its rule, sample by sample.
//!
//! Contract: the position is rounded down to the chroma grid; a sample of the result
//! is the overlay's where the overlay's plane covers it, else the picture's below;
//! padding is neither read nor written; any position is taken.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod pixels_reference;

use pixels_reference::{grid, sample};
use proptest::prelude::*;
use tickpipe_components::video::{Frame, FrameMut, Layout, VideoFormat, VideoInfo};
use tickpipe_systems::elements::video::pixels::{BlitError, overlay_opaque};

fn noise(info: &VideoInfo, mut state: u64, padding: u8) -> Vec<u8> {
    let mut data = vec![padding; info.layout.size()];
    let mut frame = FrameMut::new(&info.layout, &mut data).unwrap();
    for plane in frame.planes_mut().iter_mut().flatten() {
        for byte in plane.rows_mut().flatten() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
    }
    data
}

fn position() -> impl Strategy<Value = i64> {
    prop_oneof![-40i64..60, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn overlay_follows_the_rule(
        format in proptest::sample::select(
            VideoFormat::ALL.into_iter().filter(|f| !f.has_alpha()).collect::<Vec<_>>()
        ),
        (w, h) in (1u32..=40, 1u32..=40),
        (ow, oh) in (1u32..=40, 1u32..=40),
        (x, y) in (position(), position()),
        (aligns, seed, padding) in ((0u32..6, 0u32..6), any::<u64>(), any::<u8>()),
    ) {
        let layout = |w, h, log2: u32| Layout::aligned(format, w, h, 1usize << log2).unwrap();
        let main = VideoInfo::with_layout(layout(w, h, aligns.0));
        let over = VideoInfo::with_layout(layout(ow, oh, aligns.1));
        let (below, above) = (noise(&main, seed, 0x33), noise(&over, !seed, padding));
        let mut out = below.clone();
        let above = Frame::new(&over.layout, &above).unwrap();
        overlay_opaque(&mut FrameMut::new(&main.layout, &mut out).unwrap(), &above, x, y).unwrap();

        let below_frame = Frame::new(&main.layout, &below).unwrap();
        let result = Frame::new(&main.layout, &out).unwrap();
        let (h_sub, v_sub) = format.chroma_subsampling();
        let floor = |v: i64, sub: u8| v.div_euclid(1 << sub) * (1 << sub);
        let (x, y) = (floor(x.max(i64::MIN + 1), h_sub), floor(y.max(i64::MIN + 1), v_sub));
        for (c, comp) in format.info().components.iter().enumerate() {
            let (columns, rows) = grid(&main, c);
            let (over_columns, over_rows) = grid(&over, c);
            for row in 0..rows {
                for column in 0..columns {
                    let at = |p: usize, shift: i64, sub: u8, n: usize| {
                        let p = (p as i64).checked_sub(shift >> sub)?;
                        usize::try_from(p).ok().filter(|&p| p < n)
                    };
                    let inside = at(column, x, comp.h_sub, over_columns)
                        .zip(at(row, y, comp.v_sub, over_rows));
                    let want = match inside {
                        Some((x, y)) => sample(&above, c, x, y),
                        None => sample(&below_frame, c, column, row),
                    };
                    prop_assert_eq!(sample(&result, c, column, row), want, "{} {} {}", c, column, row);
                }
            }
        }
        // Padding below is as it was.
        let mut padded = out.clone();
        FrameMut::new(&main.layout, &mut padded).unwrap().fill_padding(0x33);
        prop_assert_eq!(padded, out);
    }
}

#[test]
fn formats_are_checked() {
    let frame = |f| VideoInfo::new(f, 4, 4).unwrap().layout;
    let (a, b, c) = (
        frame(VideoFormat::I420),
        frame(VideoFormat::Nv12),
        frame(VideoFormat::Rgba),
    );
    let (mut da, db) = (vec![1; a.size()], vec![0; b.size()]);
    let err = overlay_opaque(
        &mut FrameMut::new(&a, &mut da).unwrap(),
        &Frame::new(&b, &db).unwrap(),
        0,
        0,
    );
    assert_eq!(
        err,
        Err(BlitError::Format {
            main: VideoFormat::I420,
            overlay: VideoFormat::Nv12
        })
    );
    let (mut dc, ds) = (vec![0; c.size()], vec![0; c.size()]);
    let err = overlay_opaque(
        &mut FrameMut::new(&c, &mut dc).unwrap(),
        &Frame::new(&c, &ds).unwrap(),
        0,
        0,
    );
    assert_eq!(
        err,
        Err(BlitError::Alpha {
            format: VideoFormat::Rgba
        })
    );
    assert!(da.iter().all(|&b| b == 1));
}

/// What FFmpeg 5.1.9's `overlay=x=3:y=-3` gives for a 3x5 picture of 200 on a 7x5
/// picture of 16 in `yuv420p`: at (2, -4), luma 3x1, chroma 2x1.
#[test]
fn odd_positions_round_down() {
    let main = Layout::packed(VideoFormat::I420, 7, 5).unwrap();
    let over = Layout::packed(VideoFormat::I420, 3, 5).unwrap();
    let mut out = vec![16; main.size()];
    let above = vec![200; over.size()];
    let above = Frame::new(&over, &above).unwrap();
    overlay_opaque(&mut FrameMut::new(&main, &mut out).unwrap(), &above, 3, -3).unwrap();
    let out = Frame::new(&main, &out).unwrap();
    let plane = |i: usize| out.plane(i).unwrap().data().to_vec();
    assert_eq!(plane(0)[..8], [16, 16, 200, 200, 200, 16, 16, 16]);
    assert!(plane(0)[7..].iter().all(|&b| b == 16));
    assert_eq!(plane(1), [16, 200, 200, 16, 16, 16, 16, 16, 16, 16, 16, 16]);
}
