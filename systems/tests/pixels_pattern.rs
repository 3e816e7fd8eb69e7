//! Test pictures: where their parts lie, in which colours, in every format.
//!
//! Contract: a picture is a function of pattern, size, seed and frame index; in every
//! format it is what a 4:4:4 (or RGB) picture of the same colorimetry would convert to.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use proptest::prelude::*;
use tickpipe_components::video::{
    ChromaSite, Colorimetry, Frame, FrameMut, Layout, VideoFormat, VideoInfo,
};
use tickpipe_systems::elements::video::pixels::{
    Converter, Cpu, Pattern, PatternError, PatternPainter,
};

fn info(format: VideoFormat, w: u32, h: u32, colorimetry: Option<&str>) -> VideoInfo {
    VideoInfo {
        colorimetry: colorimetry.map(|c| Colorimetry::parse(c).unwrap()),
        ..VideoInfo::with_layout(Layout::packed(format, w, h).unwrap())
    }
}

fn paint(info: &VideoInfo, pattern: Pattern, seed: u64, index: u64) -> Vec<u8> {
    let mut data = vec![0xaa; info.layout.size()];
    let mut frame = FrameMut::new(&info.layout, &mut data).unwrap();
    PatternPainter::new(info, pattern, seed)
        .paint(index, &mut frame)
        .unwrap();
    data
}

fn pixel(info: &VideoInfo, data: &[u8], x: usize, y: usize) -> [u8; 3] {
    let frame = Frame::new(&info.layout, data).unwrap();
    [0, 1, 2].map(|c| {
        let comp = info.format().info().components[c];
        let row = frame.plane(usize::from(comp.plane)).unwrap().row(y);
        row[usize::from(comp.offset) + x * usize::from(comp.pixel_stride)]
    })
}

/// Where videotestsrc (GStreamer 1.22.0, 320x240, Y444, bt601) puts which Y, U, V.
#[test]
fn smpte_lies_where_gstreamer_puts_it() {
    let bars = [
        (0, [235, 128, 128]),
        (45, [210, 16, 146]),
        (91, [170, 166, 16]),
        (137, [145, 54, 34]),
        (182, [106, 202, 222]),
        (228, [81, 90, 240]),
        (274, [41, 240, 110]),
    ];
    let strip = [
        (0, [41, 240, 110]),
        (45, [16, 128, 128]),
        (91, [106, 202, 222]),
        (137, [16, 128, 128]),
        (182, [170, 166, 16]),
        (228, [16, 128, 128]),
        (274, [235, 128, 128]),
    ];
    let bottom = [
        (0, [16, 198, 21]),
        (53, [235, 128, 128]),
        (106, [16, 235, 198]),
        (160, [0, 128, 128]),
        (186, [16, 128, 128]),
        (213, [32, 128, 128]),
    ];
    let info = info(VideoFormat::Y444, 320, 240, Some("bt601"));
    let data = paint(&info, Pattern::Smpte, 1, 0);
    for (rows, bars, end) in [
        ([0, 159], &bars[..], 320),
        ([160, 179], &strip[..], 320),
        ([180, 239], &bottom[..], 240),
    ] {
        for y in rows {
            for (i, &(start, colour)) in bars.iter().enumerate() {
                let end = bars.get(i + 1).map_or(end, |b| b.0);
                for x in [start, end - 1] {
                    assert_eq!(pixel(&info, &data, x, y), colour, "{x} {y}");
                }
            }
        }
    }
    let noise: Vec<_> = (240..320).map(|x| pixel(&info, &data, x, 200)).collect();
    assert!(noise.iter().all(|p| p[1] == 128 && p[2] == 128));
    assert!(noise.iter().all(|p| (16..=235).contains(&p[0])));
    assert!(noise.iter().any(|p| p[0] < 80) && noise.iter().any(|p| p[0] > 180));
}

/// Chroma rows that GStreamer 1.22.0 gives for 67x35 I420: borders are averaged.
#[test]
fn subsampled_bars_are_averaged() {
    let info = info(VideoFormat::I420, 67, 35, Some("bt601"));
    let data = paint(&info, Pattern::Smpte, 1, 0);
    let frame = Frame::new(&info.layout, &data).unwrap();
    let u = frame.plane(1).unwrap().row(0);
    let v = frame.plane(2).unwrap().row(0);
    assert_eq!(u[..6], [128, 128, 128, 128, 72, 16]);
    assert_eq!(v[..6], [128, 128, 128, 128, 137, 146]);
    assert_eq!(u[22..25], [202, 146, 90]);
    let column: Vec<_> = (10..14)
        .map(|y| frame.plane(1).unwrap().row(y)[0])
        .collect();
    assert_eq!(column, [128, 184, 240, 198]);
}

#[test]
fn hd_bars_are_bt709() {
    let info = info(VideoFormat::Y444, 1280, 720, None);
    let data = paint(&info, Pattern::Smpte, 1, 0);
    assert_eq!(pixel(&info, &data, 200, 0), [219, 16, 138]);
    assert_eq!(pixel(&info, &data, 1279, 0), [32, 240, 118]);
    assert_eq!(pixel(&info, &data, 0, 719), [16, 198, 21]);
}

#[test]
fn rgb_bars_are_gstreamers() {
    let info = info(VideoFormat::Bgra, 320, 240, None);
    let data = paint(&info, Pattern::Smpte, 1, 0);
    assert_eq!(pixel(&info, &data, 0, 0), [255, 255, 255]);
    assert_eq!(pixel(&info, &data, 91, 0), [0, 255, 255]);
    assert_eq!(pixel(&info, &data, 0, 239), [0, 0, 128]);
    assert_eq!(pixel(&info, &data, 106, 239), [0, 128, 255]);
    assert_eq!(pixel(&info, &data, 213, 239), [19, 19, 19]);
    assert_eq!(data[3], 255);
}

/// Rows that GStreamer 1.22.0 gives (16x20): RGB, and Y in I420.
#[test]
fn gradient_is_gstreamers() {
    let rgb = info(VideoFormat::Rgb, 16, 20, None);
    let data = paint(&rgb, Pattern::Gradient, 0, 0);
    let levels: Vec<_> = (0..20).map(|y| pixel(&rgb, &data, 3, y)[1]).collect();
    assert_eq!(
        levels,
        [
            0, 12, 25, 38, 51, 63, 76, 89, 102, 114, 127, 140, 153, 165, 178, 191, 204, 216, 229,
            242
        ]
    );
    let yuv = info(VideoFormat::I420, 16, 20, None);
    let data = paint(&yuv, Pattern::Gradient, 0, 0);
    let levels: Vec<_> = data.chunks(16).take(20).map(|row| row[0]).collect();
    assert_eq!(
        levels,
        [
            16, 26, 37, 49, 60, 70, 81, 92, 104, 114, 125, 136, 147, 158, 169, 180, 191, 202, 213,
            224
        ]
    );
}

#[test]
fn plain_colours_follow_the_colorimetry() {
    for (format, colorimetry, black, white) in [
        (VideoFormat::Gray8, None, 0, 255),
        (VideoFormat::Gray8, Some("bt601"), 16, 235),
        (VideoFormat::Nv12, None, 16, 235),
        (VideoFormat::Nv12, Some("1:4:0:0"), 0, 255),
        (VideoFormat::Rgb, None, 0, 255),
        (VideoFormat::Rgb, Some("2:1:7:1"), 16, 235),
    ] {
        let info = info(format, 5, 3, colorimetry);
        assert_eq!(paint(&info, Pattern::Black, 0, 0)[0], black, "{format}");
        assert_eq!(paint(&info, Pattern::White, 0, 0)[0], white, "{format}");
    }
    let ten = info(VideoFormat::I42010Le, 4, 4, None);
    assert_eq!(paint(&ten, Pattern::White, 0, 0)[..2], [0xac, 0x03]);
    let red = info(VideoFormat::Yuy2, 3, 1, Some("bt601"));
    let row = [81, 90, 81, 240];
    assert_eq!(paint(&red, Pattern::Red, 0, 0), [row, row].concat());
}

#[test]
fn noise_depends_on_seed_and_frame_only() {
    let info = info(VideoFormat::Gray8, 33, 9, None);
    let a = paint(&info, Pattern::Snow, 7, 3);
    assert_eq!(a, paint(&info, Pattern::Snow, 7, 3));
    assert_ne!(a, paint(&info, Pattern::Snow, 7, 4));
    assert_ne!(a, paint(&info, Pattern::Snow, 8, 3));
    let distinct: std::collections::BTreeSet<u8> = a.into_iter().collect();
    assert!(distinct.len() > 150, "{}", distinct.len());
    // In RGB it is grey.
    let rgb = VideoInfo::with_layout(Layout::packed(VideoFormat::Rgb, 33, 9).unwrap());
    let data = paint(&rgb, Pattern::Snow, 7, 3);
    assert!(data.chunks(3).all(|p| p[0] == p[1] && p[1] == p[2]));
}

#[test]
fn the_ball_moves() {
    let info = info(VideoFormat::Gray8, 320, 240, None);
    // Frame 50 is at the right edge, frame 0 in the middle.
    let middle = paint(&info, Pattern::Ball, 0, 0);
    assert_eq!(middle[120 * 320 + 160], 255);
    assert_eq!(middle[120 * 320 + 160 + 21], 0);
    let right = paint(&info, Pattern::Ball, 0, 50);
    assert_eq!(right.iter().filter(|&&p| p == 255).count() / 100, 11);
    let columns = right
        .chunks(320)
        .flat_map(|r| r.iter().rposition(|&p| p > 0));
    assert_eq!(columns.max(), Some(319));
}

#[test]
fn names_numbers_and_frames_are_checked() {
    for (pattern, name, number) in Pattern::ALL {
        assert_eq!(Pattern::from_name(name), Some(pattern));
        assert_eq!(Pattern::from_number(number), Some(pattern));
        assert_eq!(pattern.name(), name);
    }
    assert_eq!(Pattern::from_name("Smpte"), None);
    assert_eq!(Pattern::from_number(24), None);
    let a = info(VideoFormat::I420, 4, 4, None);
    let b = info(VideoFormat::Rgb, 4, 4, None);
    let mut data = vec![0; 48];
    let err = PatternPainter::new(&a, Pattern::Black, 0)
        .paint(0, &mut FrameMut::new(&b.layout, &mut data).unwrap())
        .unwrap_err();
    assert!(matches!(err, PatternError::Frame { .. }));
}

fn patterns() -> impl Strategy<Value = Pattern> {
    proptest::sample::select(Pattern::ALL.map(|(p, _, _)| p).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_format_shows_the_picture(
        format in proptest::sample::select(VideoFormat::ALL.to_vec()),
        pattern in patterns(),
        (w, h) in (1u32..80, 1u32..80),
        (seed, index) in (any::<u64>(), any::<u64>()),
        site in proptest::sample::select(ChromaSite::ALL.to_vec()),
    ) {
        let mut to = info(format, w, h, None);
        to.chroma_site = Some(site);
        let got = paint(&to, pattern, seed, index);
        for cpu in Cpu::all() {
            let mut again = vec![0x55; to.layout.size()];
            let mut frame = FrameMut::new(&to.layout, &mut again).unwrap();
            let mut painter = PatternPainter::with_cpu(&to, pattern, seed, cpu);
            // What was drawn before does not matter.
            painter.paint(index ^ 1, &mut frame).unwrap();
            painter.paint(index, &mut frame).unwrap();
            prop_assert_eq!(&got, &again);
        }
        let full = match format {
            f if f.is_rgb() => VideoFormat::Rgb,
            f if f.is_gray() => VideoFormat::Gray8,
            VideoFormat::I42010Le => return Ok(()),
            _ => VideoFormat::Y444,
        };
        let from = VideoInfo {
            layout: Layout::packed(full, w, h).unwrap(),
            ..to
        };
        let picture = paint(&from, pattern, seed, index);
        let mut want = vec![0; to.layout.size()];
        Converter::new(&from, &to)
            .unwrap()
            .run(
                &Frame::new(&from.layout, &picture).unwrap(),
                &mut FrameMut::new(&to.layout, &mut want).unwrap(),
            )
            .unwrap();
        prop_assert_eq!(got, want);
    }
}
