//! Strides, offsets and sizes that GStreamer 1.22.0 gives
//! (`gst_video_info_set_format`), and the rules of packed layouts.

use super::*;

/// (format, width, height, size, [(stride, offset)]) as printed by GStreamer 1.22.0.
type Row = (&'static str, u32, u32, usize, &'static [(usize, usize)]);

#[rustfmt::skip]
const GSTREAMER: &[Row] = &[
    ("I420", 1, 1, 16, &[(4, 0), (4, 8), (4, 12)]),
    ("I420", 2, 1, 16, &[(4, 0), (4, 8), (4, 12)]),
    ("I420", 19, 19, 640, &[(20, 0), (12, 400), (12, 520)]),
    ("I420", 67, 35, 3744, &[(68, 0), (36, 2448), (36, 3096)]),
    ("I420", 640, 480, 460800, &[(640, 0), (320, 307200), (320, 384000)]),
    ("I420", 33, 2, 112, &[(36, 0), (20, 72), (20, 92)]),
    ("YV12", 1, 1, 16, &[(4, 0), (4, 8), (4, 12)]),
    ("YV12", 2, 1, 16, &[(4, 0), (4, 8), (4, 12)]),
    ("YV12", 19, 19, 640, &[(20, 0), (12, 400), (12, 520)]),
    ("YV12", 67, 35, 3744, &[(68, 0), (36, 2448), (36, 3096)]),
    ("YV12", 640, 480, 460800, &[(640, 0), (320, 307200), (320, 384000)]),
    ("YV12", 33, 2, 112, &[(36, 0), (20, 72), (20, 92)]),
    ("NV12", 1, 1, 12, &[(4, 0), (4, 8)]),
    ("NV12", 2, 1, 12, &[(4, 0), (4, 8)]),
    ("NV12", 19, 19, 600, &[(20, 0), (20, 400)]),
    ("NV12", 67, 35, 3672, &[(68, 0), (68, 2448)]),
    ("NV12", 640, 480, 460800, &[(640, 0), (640, 307200)]),
    ("NV12", 33, 2, 108, &[(36, 0), (36, 72)]),
    ("NV21", 1, 1, 12, &[(4, 0), (4, 8)]),
    ("NV21", 2, 1, 12, &[(4, 0), (4, 8)]),
    ("NV21", 19, 19, 600, &[(20, 0), (20, 400)]),
    ("NV21", 67, 35, 3672, &[(68, 0), (68, 2448)]),
    ("NV21", 640, 480, 460800, &[(640, 0), (640, 307200)]),
    ("NV21", 33, 2, 108, &[(36, 0), (36, 72)]),
    ("Y42B", 1, 1, 12, &[(4, 0), (4, 4), (4, 8)]),
    ("Y42B", 2, 1, 12, &[(4, 0), (4, 4), (4, 8)]),
    ("Y42B", 19, 19, 836, &[(20, 0), (12, 380), (12, 608)]),
    ("Y42B", 67, 35, 4900, &[(68, 0), (36, 2380), (36, 3640)]),
    ("Y42B", 640, 480, 614400, &[(640, 0), (320, 307200), (320, 460800)]),
    ("Y42B", 33, 2, 152, &[(36, 0), (20, 72), (20, 112)]),
    ("Y444", 1, 1, 12, &[(4, 0), (4, 4), (4, 8)]),
    ("Y444", 2, 1, 12, &[(4, 0), (4, 4), (4, 8)]),
    ("Y444", 19, 19, 1140, &[(20, 0), (20, 380), (20, 760)]),
    ("Y444", 67, 35, 7140, &[(68, 0), (68, 2380), (68, 4760)]),
    ("Y444", 640, 480, 921600, &[(640, 0), (640, 307200), (640, 614400)]),
    ("Y444", 33, 2, 216, &[(36, 0), (36, 72), (36, 144)]),
    ("YUY2", 1, 1, 4, &[(4, 0)]),
    ("YUY2", 2, 1, 4, &[(4, 0)]),
    ("YUY2", 19, 19, 760, &[(40, 0)]),
    ("YUY2", 67, 35, 4760, &[(136, 0)]),
    ("YUY2", 640, 480, 614400, &[(1280, 0)]),
    ("YUY2", 33, 2, 136, &[(68, 0)]),
    ("UYVY", 1, 1, 4, &[(4, 0)]),
    ("UYVY", 2, 1, 4, &[(4, 0)]),
    ("UYVY", 19, 19, 760, &[(40, 0)]),
    ("UYVY", 67, 35, 4760, &[(136, 0)]),
    ("UYVY", 640, 480, 614400, &[(1280, 0)]),
    ("UYVY", 33, 2, 136, &[(68, 0)]),
    ("GRAY8", 1, 1, 4, &[(4, 0)]),
    ("GRAY8", 2, 1, 4, &[(4, 0)]),
    ("GRAY8", 19, 19, 380, &[(20, 0)]),
    ("GRAY8", 67, 35, 2380, &[(68, 0)]),
    ("GRAY8", 640, 480, 307200, &[(640, 0)]),
    ("GRAY8", 33, 2, 72, &[(36, 0)]),
    ("RGB", 1, 1, 4, &[(4, 0)]),
    ("RGB", 2, 1, 8, &[(8, 0)]),
    ("RGB", 19, 19, 1140, &[(60, 0)]),
    ("RGB", 67, 35, 7140, &[(204, 0)]),
    ("RGB", 640, 480, 921600, &[(1920, 0)]),
    ("RGB", 33, 2, 200, &[(100, 0)]),
    ("BGR", 1, 1, 4, &[(4, 0)]),
    ("BGR", 2, 1, 8, &[(8, 0)]),
    ("BGR", 19, 19, 1140, &[(60, 0)]),
    ("BGR", 67, 35, 7140, &[(204, 0)]),
    ("BGR", 640, 480, 921600, &[(1920, 0)]),
    ("BGR", 33, 2, 200, &[(100, 0)]),
    ("RGBA", 1, 1, 4, &[(4, 0)]),
    ("RGBA", 2, 1, 8, &[(8, 0)]),
    ("RGBA", 19, 19, 1444, &[(76, 0)]),
    ("RGBA", 67, 35, 9380, &[(268, 0)]),
    ("RGBA", 640, 480, 1228800, &[(2560, 0)]),
    ("RGBA", 33, 2, 264, &[(132, 0)]),
    ("BGRA", 1, 1, 4, &[(4, 0)]),
    ("BGRA", 2, 1, 8, &[(8, 0)]),
    ("BGRA", 19, 19, 1444, &[(76, 0)]),
    ("BGRA", 67, 35, 9380, &[(268, 0)]),
    ("BGRA", 640, 480, 1228800, &[(2560, 0)]),
    ("BGRA", 33, 2, 264, &[(132, 0)]),
    ("ARGB", 1, 1, 4, &[(4, 0)]),
    ("ARGB", 2, 1, 8, &[(8, 0)]),
    ("ARGB", 19, 19, 1444, &[(76, 0)]),
    ("ARGB", 67, 35, 9380, &[(268, 0)]),
    ("ARGB", 640, 480, 1228800, &[(2560, 0)]),
    ("ARGB", 33, 2, 264, &[(132, 0)]),
    ("ABGR", 1, 1, 4, &[(4, 0)]),
    ("ABGR", 2, 1, 8, &[(8, 0)]),
    ("ABGR", 19, 19, 1444, &[(76, 0)]),
    ("ABGR", 67, 35, 9380, &[(268, 0)]),
    ("ABGR", 640, 480, 1228800, &[(2560, 0)]),
    ("ABGR", 33, 2, 264, &[(132, 0)]),
    ("I420_10LE", 1, 1, 16, &[(4, 0), (4, 8), (4, 12)]),
    ("I420_10LE", 2, 1, 16, &[(4, 0), (4, 8), (4, 12)]),
    ("I420_10LE", 19, 19, 1200, &[(40, 0), (20, 800), (20, 1000)]),
    ("I420_10LE", 67, 35, 7344, &[(136, 0), (68, 4896), (68, 6120)]),
    ("I420_10LE", 640, 480, 921600, &[(1280, 0), (640, 614400), (640, 768000)]),
    ("I420_10LE", 33, 2, 208, &[(68, 0), (36, 136), (36, 172)]),
];

#[test]
fn default_strides_and_offsets_are_gstreamers() {
    for &(name, width, height, size, planes) in GSTREAMER {
        let format = VideoFormat::from_name(name).unwrap();
        let layout = Layout::gstreamer(format, width, height).unwrap();
        let got: Vec<_> = layout
            .planes()
            .iter()
            .map(|p| (p.stride(), p.offset()))
            .collect();
        assert_eq!(got, planes, "{name} {width}x{height}");
        assert_eq!(layout.size(), size, "{name} {width}x{height}");
        assert_eq!(
            layout,
            Layout::aligned(format, width, height, 4).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn packed_chroma_is_ceil() {
    let size = |f, w, h| Layout::packed(f, w, h).unwrap().size();
    assert_eq!(size(VideoFormat::I420, 19, 19), 561);
    assert_eq!(size(VideoFormat::Nv12, 19, 19), 561);
    assert_eq!(size(VideoFormat::I42010Le, 19, 19), 1122);
    assert_eq!(size(VideoFormat::Y42b, 19, 19), 741);
    assert_eq!(size(VideoFormat::Y444, 67, 35), 7035);
    assert_eq!(size(VideoFormat::Gray8, 2, 1), 2);
    assert_eq!(size(VideoFormat::I420, 1, 1), 3);
    assert_eq!(size(VideoFormat::Yuy2, 19, 2), 80);
    assert_eq!(size(VideoFormat::Uyvy, 1, 1), 4);
    assert_eq!(size(VideoFormat::Rgb, 5, 3), 45);
    assert_eq!(size(VideoFormat::Argb, 5, 3), 60);
}

#[test]
fn packed_has_no_padding() {
    for format in VideoFormat::ALL {
        for (w, h) in [(1, 1), (2, 1), (19, 19), (67, 35)] {
            let layout = Layout::packed(format, w, h).unwrap();
            assert_eq!(layout.visible_bytes(), layout.size(), "{format} {w}x{h}");
            let mut at = 0;
            for p in layout.planes() {
                assert_eq!(p.offset(), at);
                assert_eq!(p.stride(), p.row_bytes());
                assert!(!p.is_empty());
                at = p.end();
            }
            assert_eq!(at, layout.size());
        }
    }
}

#[test]
fn limits_are_errors_that_state_them() {
    let f = VideoFormat::I420;
    for (w, h) in [(0, 1), (1, 0), (32768, 1), (1, 32768), (u32::MAX, u32::MAX)] {
        let err = Layout::packed(f, w, h).unwrap_err();
        assert_eq!(
            err,
            LayoutError::Dimension {
                format: f,
                width: w,
                height: h
            }
        );
        assert!(err.to_string().contains("32767"), "{err}");
    }
    assert!(Layout::packed(f, 32767, 32767).is_ok());
    let err = Layout::packed(VideoFormat::Rgba, 32767, 32767).unwrap_err();
    assert!(matches!(err, LayoutError::TooLarge { .. }));
    assert!(err.to_string().contains("2147483647"), "{err}");
    for align in [0, 3, 8192] {
        assert_eq!(
            Layout::aligned(f, 16, 16, align),
            Err(LayoutError::Align { align })
        );
    }
}

#[test]
fn custom_layouts_are_checked() {
    let f = VideoFormat::Nv12;
    let custom = |planes: &[(usize, usize)], size| Layout::custom(f, 4, 4, planes, size);
    assert!(custom(&[(0, 4), (16, 4)], 24).is_ok());
    assert_eq!(
        custom(&[(0, 4)], 24),
        Err(LayoutError::Planes { format: f, got: 1 })
    );
    assert_eq!(
        custom(&[(0, 3), (16, 4)], 24),
        Err(LayoutError::Stride {
            format: f,
            plane: 0,
            stride: 3,
            row_bytes: 4
        })
    );
    assert_eq!(
        custom(&[(0, 4), (15, 4)], 24),
        Err(LayoutError::Overlap {
            format: f,
            plane: 1,
            offset: 15,
            end: 16
        })
    );
    assert_eq!(
        custom(&[(0, 4), (16, 4)], 23),
        Err(LayoutError::Outside {
            format: f,
            end: 24,
            size: 23
        })
    );
    assert!(matches!(
        custom(&[(0, 4), (16, usize::MAX)], 24),
        Err(LayoutError::TooLarge { .. })
    ));
}
