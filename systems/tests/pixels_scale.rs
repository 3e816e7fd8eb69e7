//! Scaling: plane by plane, whatever the strides, without a look at padding.
//!
//! Contract: each plane of a format is scaled as if it were a picture of its own;
//! strides and padding do not change a visible byte and are not written; plain
//! colours stay; the bytes are the same on every CPU (`DIGESTS`; the comparison of
//! forced instruction sets is in the tests crate).

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use proptest::prelude::*;
use tickpipe_components::video::{Frame, FrameMut, Layout, VideoFormat, VideoInfo};
use tickpipe_systems::elements::video::pixels::{
    Method, Pattern, PatternPainter, ScaleError, Scaler,
};

fn padded(format: VideoFormat, w: u32, h: u32, pad: usize) -> VideoInfo {
    let tight = Layout::packed(format, w, h).unwrap();
    let mut at = 0;
    let mut planes = Vec::new();
    for p in tight.planes() {
        at += pad;
        planes.push((at, p.row_bytes() + pad));
        at += p.rows() * (p.row_bytes() + pad);
    }
    VideoInfo::with_layout(Layout::custom(format, w, h, &planes, at + pad).unwrap())
}

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

fn scale(from: &VideoInfo, to: &VideoInfo, method: Method, src: &[u8], padding: u8) -> Vec<u8> {
    let mut dst = vec![padding; to.layout.size()];
    let mut scaler = Scaler::new(from, to, method).unwrap();
    let src = Frame::new(&from.layout, src).unwrap();
    for _ in 0..2 {
        let mut out = FrameMut::new(&to.layout, &mut dst).unwrap();
        scaler.run(&src, &mut out).unwrap();
    }
    dst
}

fn methods() -> impl Strategy<Value = Method> {
    proptest::sample::select(Method::ALL.map(|(m, _, _)| m).to_vec())
}

fn formats() -> impl Strategy<Value = VideoFormat> {
    proptest::sample::select(VideoFormat::ALL.to_vec())
}

/// Component `c` of a frame as a picture of its own: width, height, 8-bit samples.
fn component(info: &VideoInfo, data: &[u8], c: usize) -> (u32, u32, Vec<u8>) {
    let comp = info.format().info().components[c];
    let frame = Frame::new(&info.layout, data).unwrap();
    let plane = frame.plane(usize::from(comp.plane)).unwrap();
    let (w, h) = (
        info.width().div_ceil(1 << comp.h_sub),
        info.height().div_ceil(1 << comp.v_sub),
    );
    let mut samples = Vec::new();
    for row in plane.rows() {
        for x in 0..w as usize {
            samples.push(row[usize::from(comp.offset) + x * usize::from(comp.pixel_stride)]);
        }
    }
    (w, h, samples)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn padding_and_strides_do_not_count(
        format in formats(),
        method in methods(),
        (w, h, tw, th) in (1u32..=40, 1u32..=40, 1u32..=60, 1u32..=60),
        (pad, to_pad, seed) in (0usize..9, 0usize..9, any::<u64>()),
    ) {
        let (from, to) = (padded(format, w, h, 0), padded(format, tw, th, 0));
        let want = scale(&from, &to, method, &noise(&from, seed, 0), 0);
        let want = Frame::new(&to.layout, &want).unwrap();
        let (from, to) = (padded(format, w, h, pad), padded(format, tw, th, to_pad));
        for padding in [0x00, 0xff] {
            let mut got = scale(&from, &to, method, &noise(&from, seed, padding), 0x77);
            prop_assert!(Frame::new(&to.layout, &got).unwrap().same_pixels(&want));
            let before = got.clone();
            FrameMut::new(&to.layout, &mut got).unwrap().fill_padding(0x77);
            prop_assert_eq!(before, got);
        }
    }

    #[test]
    fn components_are_scaled_alone(
        format in proptest::sample::select(
            VideoFormat::ALL.into_iter().filter(|f| f.bits() == 8).collect::<Vec<_>>()
        ),
        method in methods(),
        (w, h, tw, th) in (1u32..=40, 1u32..=40, 1u32..=60, 1u32..=60),
        seed in any::<u64>(),
    ) {
        let (from, to) = (padded(format, w, h, 0), padded(format, tw, th, 3));
        let src = noise(&from, seed, 0);
        let got = scale(&from, &to, method, &src, 0);
        for c in 0..format.info().components.len() {
            let (w, h, samples) = component(&from, &src, c);
            let (tw, th, scaled) = component(&to, &got, c);
            let (a, b) = (padded(VideoFormat::Gray8, w, h, 0), padded(VideoFormat::Gray8, tw, th, 0));
            let want = scale(&a, &b, method, &samples, 0);
            // Several components in one pixel may be summed up in another order.
            for (x, y) in scaled.into_iter().zip(want) {
                prop_assert!(x.abs_diff(y) <= 1, "{} {}", x, y);
            }
        }
    }

    #[test]
    fn plain_colours_stay(
        format in formats(),
        method in methods(),
        (w, h, tw, th) in (1u32..=40, 1u32..=40, 1u32..=60, 1u32..=60),
    ) {
        let (from, to) = (padded(format, w, h, 0), padded(format, tw, th, 0));
        for pattern in [Pattern::White, Pattern::Red, Pattern::Black] {
            let paint = |info: &VideoInfo| {
                let mut data = vec![0; info.layout.size()];
                PatternPainter::new(info, pattern, 0)
                    .paint(0, &mut FrameMut::new(&info.layout, &mut data).unwrap())
                    .unwrap();
                data
            };
            prop_assert_eq!(scale(&from, &to, method, &paint(&from), 0), paint(&to));
        }
    }

    /// The source sample under the centre of each output sample, in exact integers.
    #[test]
    fn nearest_is_nearest(
        (w, h, tw, th) in (1u32..=40, 1u32..=40, 1u32..=60, 1u32..=60),
        seed in any::<u64>(),
    ) {
        let (from, to) = (padded(VideoFormat::Gray8, w, h, 0), padded(VideoFormat::Gray8, tw, th, 0));
        let src = noise(&from, seed, 0);
        let got = scale(&from, &to, Method::Nearest, &src, 0);
        let at = |i: u32, n: u32, tn: u32| u64::from(2 * i + 1) * u64::from(n) / u64::from(2 * tn);
        for y in 0..th {
            for x in 0..tw {
                let (sx, sy) = (at(x, w, tw), at(y, h, th));
                let want = src[(sy * u64::from(w) + sx) as usize];
                // A centre on the border between two samples may fall either way.
                let border = |i: u32, n: u32, tn: u32| u64::from(2 * i + 1) * u64::from(n) % u64::from(2 * tn) == 0;
                if !border(x, w, tw) && !border(y, h, th) {
                    prop_assert_eq!(got[(y * tw + x) as usize], want);
                }
            }
        }
    }
}

#[test]
fn ten_bits_stay_ten_bits() {
    let (from, to) = (
        padded(VideoFormat::I42010Le, 8, 8, 0),
        padded(VideoFormat::I42010Le, 21, 13, 0),
    );
    // Sharp edges between 0 and 1023, with junk in the upper bits.
    let mut src = vec![0; from.layout.size()];
    for (i, word) in src.chunks_exact_mut(2).enumerate() {
        let value: u16 = if i % 4 < 2 { 0xfc00 } else { 0xffff };
        word.copy_from_slice(&value.to_le_bytes());
    }
    for (method, _, _) in Method::ALL {
        let out = scale(&from, &to, method, &src, 0);
        let words = out
            .chunks_exact(2)
            .map(|w| u16::from_le_bytes([w[0], w[1]]));
        assert!(words.clone().all(|w| w <= 1023));
        assert_eq!(words.max(), Some(1023), "{method:?}");
    }
}

/// FNV-1a of a picture scaled by each method, up and down, in two formats; from the
/// portable code of `fast_image_resize` 6.1.0. Another CPU must not change them; an
/// update of that crate may.
#[test]
fn digests_are_those_of_every_cpu() {
    let mut got = Vec::new();
    for format in [VideoFormat::I420, VideoFormat::Rgba, VideoFormat::I42010Le] {
        for (method, _, _) in Method::ALL {
            for (w, h) in [(97, 61), (201, 149)] {
                let (from, to) = (padded(format, 160, 120, 0), padded(format, w, h, 0));
                let out = scale(&from, &to, method, &noise(&from, 1, 0), 0);
                let fnv = out.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &b| {
                    (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
                });
                got.push(fnv);
            }
        }
    }
    assert_eq!(got, DIGESTS);
}

const DIGESTS: [u64; 24] = [
    0xbfc907a46eeea386,
    0xf16197d15a89cb0c,
    0x2c1a1c0b25f88737,
    0xecb9f86cafb48a9f,
    0xd32627114dae862f,
    0x698be9e8195dc1b5,
    0x1c4606aa94ad2de2,
    0xf201e554d288ce2c,
    0xa05ff51d3f7a09db,
    0xe421d74be6fb1b1e,
    0xc4840d93be15918c,
    0x8d44f1b7c6394fd2,
    0x9b315f3b8d4562e7,
    0x177ea585e030a76b,
    0x3b80e96c6fd7f32c,
    0xc15334f369788b9b,
    0x13b894b078411157,
    0x804b320de86884d2,
    0x93b2ffae87399dff,
    0x6eec814e99306a37,
    0xa5db3cdbd78e7c71,
    0x7a18139d82cf9d3f,
    0x549fc3a7591def3d,
    0xe94eab98bc35ecef,
];

#[test]
fn formats_and_frames_are_checked() {
    let a = padded(VideoFormat::I420, 4, 4, 0);
    let b = padded(VideoFormat::Nv12, 4, 4, 0);
    let err = Scaler::new(&a, &b, Method::Bilinear).unwrap_err();
    assert_eq!(
        err,
        ScaleError::Format {
            from: VideoFormat::I420,
            to: VideoFormat::Nv12
        }
    );
    let c = padded(VideoFormat::I420, 8, 8, 0);
    let (src, mut dst) = (vec![0; 96], vec![0; 96]);
    let err = Scaler::new(&a, &c, Method::Bilinear)
        .unwrap()
        .run(
            &Frame::new(&c.layout, &src).unwrap(),
            &mut FrameMut::new(&c.layout, &mut dst).unwrap(),
        )
        .unwrap_err();
    assert!(matches!(err, ScaleError::Frame { .. }));
    for (method, name, _) in Method::ALL {
        assert_eq!(Method::from_name(name), Some(method));
        assert_eq!(method.name(), name);
    }
    assert_eq!(Method::from_name("cubic"), None);
}
