//! Conversion between pixel formats: the row kernels against a per-pixel statement
//! of the rules, against real arithmetic, and on every instruction set.
//!
//! Contract: for any two formats, odd sizes, strides, paddings, colorimetries and
//! sitings, `Converter` writes the bytes that the rules of its module name, writes
//! no padding and reads none; its error against real arithmetic is at most one step.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod pixels_reference;

use pixels_reference as reference;
use proptest::prelude::*;
use tickpipe_components::video::{
    ChromaSite, Colorimetry, Frame, FrameMut, InterlaceMode, Layout, Matrix, Range, VideoFormat,
    VideoInfo,
};
use tickpipe_systems::elements::video::pixels::{ConvertError, Converter, Cpu};

/// A layout with a gap before each plane and behind each row.
fn padded(format: VideoFormat, w: u32, h: u32, pad: [usize; 3]) -> Layout {
    let tight = Layout::packed(format, w, h).unwrap();
    let mut at = 0;
    let mut planes = Vec::new();
    for (p, pad) in tight.planes().iter().zip(pad) {
        at += pad;
        planes.push((at, p.row_bytes() + pad));
        at += p.rows() * (p.row_bytes() + pad);
    }
    Layout::custom(format, w, h, &planes, at + pad[0]).unwrap()
}

fn formats() -> impl Strategy<Value = VideoFormat> {
    proptest::sample::select(VideoFormat::ALL.to_vec())
}

fn colorimetry() -> impl Strategy<Value = Option<Colorimetry>> {
    let any = (
        proptest::sample::select(Range::ALL.to_vec()),
        proptest::sample::select(Matrix::ALL.to_vec()),
    );
    proptest::option::of(any.prop_map(|(range, matrix)| Colorimetry {
        range,
        matrix,
        ..Colorimetry::default()
    }))
}

fn site() -> impl Strategy<Value = Option<ChromaSite>> {
    proptest::option::of(proptest::sample::select(ChromaSite::ALL.to_vec()))
}

#[derive(Debug, Clone)]
struct Case {
    from: VideoInfo,
    to: VideoInfo,
    seed: u64,
    extremes: bool,
}

fn side(w: u32, h: u32) -> impl Strategy<Value = VideoInfo> {
    let parts = (formats(), colorimetry(), site(), [0usize..9, 0..9, 0..9]);
    parts.prop_map(move |(format, colorimetry, chroma_site, pad)| VideoInfo {
        colorimetry,
        chroma_site,
        ..VideoInfo::with_layout(padded(format, w, h, pad))
    })
}

fn case() -> impl Strategy<Value = Case> {
    (1u32..=40, 1u32..=40)
        .prop_flat_map(|(w, h)| {
            (
                side(w, h),
                side(w, h),
                any::<u64>(),
                any::<bool>(),
                any::<bool>(),
            )
        })
        .prop_map(|(mut from, to, seed, extremes, interlaced)| {
            if interlaced {
                from.interlace = InterlaceMode::Interleaved;
            }
            Case {
                from,
                to,
                seed,
                extremes,
            }
        })
}

/// Pixels from a seed, the same whatever the padding is filled with.
fn picture(info: &VideoInfo, seed: u64, extremes: bool, padding: u8) -> Vec<u8> {
    let mut state = seed | 1;
    let mut data = vec![0u8; info.layout.size()];
    let mut frame = FrameMut::new(&info.layout, &mut data).unwrap();
    frame.fill_padding(padding);
    for plane in frame.planes_mut().iter_mut().flatten() {
        for row in plane.rows_mut() {
            for byte in row {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let value = (state >> 32) as u8;
                *byte = match (extremes, value & 3) {
                    (true, 0) => 0,
                    (true, 1) => 255,
                    _ => value,
                };
            }
        }
    }
    data
}

fn run(case: &Case, cpu: Cpu, padding: u8) -> Vec<u8> {
    let src = picture(&case.from, case.seed, case.extremes, padding);
    let mut dst = vec![padding; case.to.layout.size()];
    let mut converter = Converter::with_cpu(&case.from, &case.to, cpu).unwrap();
    let frame = Frame::new(&case.from.layout, &src).unwrap();
    // Twice: what a run leaves behind must not matter to the next.
    for _ in 0..2 {
        let mut out = FrameMut::new(&case.to.layout, &mut dst).unwrap();
        converter.run(&frame, &mut out).unwrap();
    }
    dst
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        max_global_rejects: 8000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn kernels_equal_the_rules(case in case()) {
        let got = run(&case, Cpu::detect(), 0xff);
        let src = picture(&case.from, case.seed, case.extremes, 0x00);
        let mut want = vec![0xff; case.to.layout.size()];
        reference::convert(
            &case.from,
            &case.to,
            &Frame::new(&case.from.layout, &src).unwrap(),
            &mut FrameMut::new(&case.to.layout, &mut want).unwrap(),
        );
        // Padding included: it was 0xff and stays so.
        prop_assert_eq!(got, want);
    }

    #[test]
    fn padding_does_not_count(case in case()) {
        let (a, b) = (run(&case, Cpu::detect(), 0x00), run(&case, Cpu::detect(), 0xff));
        let (a, b) = (
            Frame::new(&case.to.layout, &a).unwrap(),
            Frame::new(&case.to.layout, &b).unwrap(),
        );
        prop_assert!(a.same_pixels(&b));
    }

    #[test]
    fn every_instruction_set_gives_the_same_bytes(case in case()) {
        let first = run(&case, Cpu::baseline(), 0);
        for cpu in Cpu::all() {
            prop_assert_eq!(&first, &run(&case, cpu, 0));
        }
    }

    #[test]
    fn the_error_is_at_most_one_step(case in case()) {
        let got = run(&case, Cpu::detect(), 0);
        let src = picture(&case.from, case.seed, case.extremes, 0);
        let got = Frame::new(&case.to.layout, &got).unwrap();
        let src = Frame::new(&case.from.layout, &src).unwrap();
        let mut worst = 0.0f64;
        reference::exact(&case.from, &case.to, &src, |c, x, y, value| {
            let error = f64::from(reference::sample(&got, c, x, y)) - value;
            worst = worst.max(error.abs());
        });
        // Half a step is rounding itself.
        let bound = if case.to.format().bits() == 10 { 1.0 } else { 0.65 };
        prop_assert!(worst <= bound, "{worst}");
    }

    #[test]
    fn the_same_subsampling_comes_back(case in case(), pick in any::<usize>()) {
        let from = case.from;
        prop_assume!(from.format().is_yuv());
        let same = |f: VideoFormat| (f.is_yuv(), f.chroma_subsampling(), f.bits());
        let alike = VideoFormat::ALL.into_iter().filter(|&f| same(f) == same(from.format()));
        let alike: Vec<_> = alike.collect();
        let other = alike[pick % alike.len()];
        let there = VideoInfo {
            colorimetry: from.colorimetry,
            ..VideoInfo::with_layout(padded(other, from.width(), from.height(), [3, 1, 4]))
        };
        let src = picture(&from, case.seed, false, 0);
        let mut middle = vec![0; there.layout.size()];
        let mut back = vec![0; from.layout.size()];
        let mut go = Converter::new(&from, &there).unwrap();
        let mut come = Converter::new(&there, &from).unwrap();
        let src = Frame::new(&from.layout, &src).unwrap();
        go.run(&src, &mut FrameMut::new(&there.layout, &mut middle).unwrap()).unwrap();
        let middle = Frame::new(&there.layout, &middle).unwrap();
        come.run(&middle, &mut FrameMut::new(&from.layout, &mut back).unwrap()).unwrap();
        let back = Frame::new(&from.layout, &back).unwrap();
        for c in 0..3 {
            let (columns, rows) = reference::grid(&from, c);
            for y in 0..rows {
                for x in 0..columns {
                    prop_assert_eq!(
                        reference::sample(&src, c, x, y),
                        reference::sample(&back, c, x, y)
                    );
                }
            }
        }
    }
}

fn info(format: VideoFormat, w: u32, h: u32, colorimetry: &str) -> VideoInfo {
    VideoInfo {
        colorimetry: Some(Colorimetry::parse(colorimetry).unwrap()),
        ..VideoInfo::new(format, w, h).unwrap()
    }
}

fn one_pixel(from: &VideoInfo, to: &VideoInfo, pixel: [i32; 3]) -> [i32; 3] {
    let mut src = vec![0; from.layout.size()];
    let comps = from.format().info().components;
    let mut frame = FrameMut::new(&from.layout, &mut src).unwrap();
    for (c, v) in comps.iter().zip(pixel) {
        let mut plane = frame.plane_mut(usize::from(c.plane)).unwrap();
        plane.row_mut(0)[usize::from(c.offset)] = v as u8;
    }
    let mut dst = vec![0; to.layout.size()];
    let mut converter = Converter::new(from, to).unwrap();
    let src = Frame::new(&from.layout, &src).unwrap();
    converter
        .run(&src, &mut FrameMut::new(&to.layout, &mut dst).unwrap())
        .unwrap();
    let dst = Frame::new(&to.layout, &dst).unwrap();
    [0, 1, 2].map(|c| reference::sample(&dst, c, 0, 0))
}

/// 100 % and 75 % bars as ITU-R BT.601 and BT.709 define them in 8 bit.
#[test]
fn known_colours() {
    let rgb = info(VideoFormat::Rgb, 1, 1, "sRGB");
    let sd = info(VideoFormat::Y444, 1, 1, "bt601");
    let hd = info(VideoFormat::Y444, 1, 1, "bt709");
    let jpeg = info(VideoFormat::Y444, 1, 1, "1:4:0:0");
    for (colour, in_sd, in_hd) in [
        ([0, 0, 0], [16, 128, 128], [16, 128, 128]),
        ([255, 255, 255], [235, 128, 128], [235, 128, 128]),
        ([255, 255, 0], [210, 16, 146], [219, 16, 138]),
        ([0, 255, 255], [170, 166, 16], [188, 154, 16]),
        ([0, 255, 0], [145, 54, 34], [173, 42, 26]),
        ([255, 0, 255], [106, 202, 222], [78, 214, 230]),
        ([255, 0, 0], [81, 90, 240], [63, 102, 240]),
        ([0, 0, 255], [41, 240, 110], [32, 240, 118]),
        ([128, 128, 128], [126, 128, 128], [126, 128, 128]),
    ] {
        assert_eq!(one_pixel(&rgb, &sd, colour), in_sd, "{colour:?}");
        assert_eq!(one_pixel(&rgb, &hd, colour), in_hd, "{colour:?}");
        for (from, yuv) in [(&sd, in_sd), (&hd, in_hd)] {
            let back = one_pixel(from, &rgb, yuv);
            for (a, b) in back.into_iter().zip(colour) {
                assert!((a - b).abs() <= 2, "{colour:?} {back:?}");
            }
        }
    }
    assert_eq!(one_pixel(&rgb, &jpeg, [255, 0, 0]), [76, 85, 255]);
    assert_eq!(one_pixel(&jpeg, &rgb, [200, 128, 128]), [200, 200, 200]);
}

/// Every grey level stays grey through every matrix, both ways.
#[test]
fn grey_stays_grey() {
    let rgb = info(VideoFormat::Rgb, 1, 1, "sRGB");
    for name in [
        "bt601",
        "bt709",
        "smpte240m",
        "bt2020",
        "1:3:0:0",
        "2:2:0:0",
    ] {
        let yuv = info(VideoFormat::Y444, 1, 1, name);
        for level in 0..=255 {
            let [y, u, v] = one_pixel(&rgb, &yuv, [level; 3]);
            assert_eq!((u, v), (128, 128), "{name} {level}");
            let [r, g, b] = one_pixel(&yuv, &rgb, [y, 128, 128]);
            assert_eq!((r, g), (g, b), "{name} {level}");
            assert!((r - level).abs() <= 1, "{name} {level} {r}");
        }
    }
}

#[test]
fn sizes_and_frames_are_checked() {
    let a = VideoInfo::new(VideoFormat::I420, 4, 4).unwrap();
    let b = VideoInfo::new(VideoFormat::Nv12, 4, 2).unwrap();
    let err = Converter::new(&a, &b).unwrap_err();
    assert_eq!(
        err,
        ConvertError::Size {
            from: (4, 4),
            to: (4, 2)
        }
    );
    let c = VideoInfo::new(VideoFormat::Nv12, 4, 4).unwrap();
    let mut converter = Converter::new(&a, &c).unwrap();
    assert!(converter.is_copy());
    let data = vec![0; 64];
    let mut out = vec![0; 64];
    let frame = Frame::new(&c.layout, &data).unwrap();
    let err = converter
        .run(&frame, &mut FrameMut::new(&c.layout, &mut out).unwrap())
        .unwrap_err();
    assert_eq!(
        err.to_string(),
        "a NV12 4x4 frame was given to a converter made for I420 4x4"
    );
}
