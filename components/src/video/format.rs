//! The pixel formats and their description: planes, components, subsampling,
//! depth. Constant tables only; sizes in bytes are computed in [`super::layout`].
//!
//! Names and numbers are those of GStreamer 1.22 (`GstVideoFormatInfo`).

use std::fmt;

/// A raw pixel format. Its GStreamer name is given by [`VideoFormat::name`].
///
/// The derived order is the order of declaration and means nothing;
/// [`VideoFormat::ALL`] is the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VideoFormat {
    /// 4:2:0, 8 bit, three planes Y U V.
    I420,
    /// 4:2:0, 8 bit, three planes Y V U.
    Yv12,
    /// 4:2:0, 8 bit, a Y plane and a plane of U V pairs.
    Nv12,
    /// 4:2:0, 8 bit, a Y plane and a plane of V U pairs.
    Nv21,
    /// 4:2:2, 8 bit, three planes Y U V.
    Y42b,
    /// 4:4:4, 8 bit, three planes Y U V.
    Y444,
    /// 4:2:2, 8 bit, one plane of Y0 U Y1 V groups.
    Yuy2,
    /// 4:2:2, 8 bit, one plane of U Y0 V Y1 groups.
    Uyvy,
    /// Luma only, 8 bit.
    Gray8,
    /// R G B bytes.
    Rgb,
    /// B G R bytes.
    Bgr,
    /// R G B A bytes, straight alpha.
    Rgba,
    /// B G R A bytes, straight alpha.
    Bgra,
    /// A R G B bytes, straight alpha.
    Argb,
    /// A B G R bytes, straight alpha.
    Abgr,
    /// 4:2:0, 10 bit in the low bits of little-endian 16-bit words, three planes Y U V.
    I42010Le,
}

/// What the components of a format stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Luma and two colour differences; components are Y, U, V.
    Yuv,
    /// Red, green, blue and possibly alpha; components are R, G, B, A.
    Rgb,
    /// Luma alone; the component is Y.
    Gray,
}

/// One plane of a format.
///
/// A row of the plane holds `ceil(width / 2^h_sub)` groups of `group_bytes`
/// bytes; there are `ceil(height / 2^v_sub)` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneInfo {
    /// Base-2 logarithm of the pixel columns that one group covers (0 or 1).
    pub h_sub: u8,
    /// Base-2 logarithm of the pixel rows that one row covers (0 or 1).
    pub v_sub: u8,
    /// Bytes per group (1, 2, 3 or 4).
    pub group_bytes: u8,
}

/// One component (Y, U, V or R, G, B, A) of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ComponentInfo {
    /// Index of the plane that holds it, in memory order.
    pub plane: u8,
    /// Byte offset of the first sample in a row of that plane.
    pub offset: u8,
    /// Bytes from one sample to the next in a row.
    pub pixel_stride: u8,
    /// Base-2 logarithm of the horizontal subsampling (0 or 1).
    pub h_sub: u8,
    /// Base-2 logarithm of the vertical subsampling (0 or 1).
    pub v_sub: u8,
}

/// The description of a format; constant, from [`VideoFormat::info`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatInfo {
    /// The format described.
    pub format: VideoFormat,
    /// GStreamer's name, as in `format=I420`.
    pub name: &'static str,
    /// What the components are.
    pub family: Family,
    /// Significant bits per sample (8 or 10).
    pub bits: u8,
    /// Bytes per sample (1, or 2 little-endian).
    pub sample_bytes: u8,
    /// Planes in memory order (1 to 3).
    pub planes: &'static [PlaneInfo],
    /// Components in the order Y, U, V or R, G, B, A (1 to 4).
    pub components: &'static [ComponentInfo],
}

const fn plane(h_sub: u8, v_sub: u8, group_bytes: u8) -> PlaneInfo {
    PlaneInfo {
        h_sub,
        v_sub,
        group_bytes,
    }
}

const fn comp(plane: u8, offset: u8, pixel_stride: u8, h_sub: u8, v_sub: u8) -> ComponentInfo {
    ComponentInfo {
        plane,
        offset,
        pixel_stride,
        h_sub,
        v_sub,
    }
}

const fn yuv(
    format: VideoFormat,
    name: &'static str,
    planes: &'static [PlaneInfo],
    components: &'static [ComponentInfo],
) -> FormatInfo {
    FormatInfo {
        format,
        name,
        family: Family::Yuv,
        bits: 8,
        sample_bytes: 1,
        planes,
        components,
    }
}

const fn rgb(
    format: VideoFormat,
    name: &'static str,
    planes: &'static [PlaneInfo],
    components: &'static [ComponentInfo],
) -> FormatInfo {
    FormatInfo {
        format,
        name,
        family: Family::Rgb,
        bits: 8,
        sample_bytes: 1,
        planes,
        components,
    }
}

use VideoFormat as F;

static I420: FormatInfo = yuv(
    F::I420,
    "I420",
    &[plane(0, 0, 1), plane(1, 1, 1), plane(1, 1, 1)],
    &[
        comp(0, 0, 1, 0, 0),
        comp(1, 0, 1, 1, 1),
        comp(2, 0, 1, 1, 1),
    ],
);
static YV12: FormatInfo = yuv(
    F::Yv12,
    "YV12",
    &[plane(0, 0, 1), plane(1, 1, 1), plane(1, 1, 1)],
    &[
        comp(0, 0, 1, 0, 0),
        comp(2, 0, 1, 1, 1),
        comp(1, 0, 1, 1, 1),
    ],
);
static NV12: FormatInfo = yuv(
    F::Nv12,
    "NV12",
    &[plane(0, 0, 1), plane(1, 1, 2)],
    &[
        comp(0, 0, 1, 0, 0),
        comp(1, 0, 2, 1, 1),
        comp(1, 1, 2, 1, 1),
    ],
);
static NV21: FormatInfo = yuv(
    F::Nv21,
    "NV21",
    &[plane(0, 0, 1), plane(1, 1, 2)],
    &[
        comp(0, 0, 1, 0, 0),
        comp(1, 1, 2, 1, 1),
        comp(1, 0, 2, 1, 1),
    ],
);
static Y42B: FormatInfo = yuv(
    F::Y42b,
    "Y42B",
    &[plane(0, 0, 1), plane(1, 0, 1), plane(1, 0, 1)],
    &[
        comp(0, 0, 1, 0, 0),
        comp(1, 0, 1, 1, 0),
        comp(2, 0, 1, 1, 0),
    ],
);
static Y444: FormatInfo = yuv(
    F::Y444,
    "Y444",
    &[plane(0, 0, 1), plane(0, 0, 1), plane(0, 0, 1)],
    &[
        comp(0, 0, 1, 0, 0),
        comp(1, 0, 1, 0, 0),
        comp(2, 0, 1, 0, 0),
    ],
);
static YUY2: FormatInfo = yuv(
    F::Yuy2,
    "YUY2",
    &[plane(1, 0, 4)],
    &[
        comp(0, 0, 2, 0, 0),
        comp(0, 1, 4, 1, 0),
        comp(0, 3, 4, 1, 0),
    ],
);
static UYVY: FormatInfo = yuv(
    F::Uyvy,
    "UYVY",
    &[plane(1, 0, 4)],
    &[
        comp(0, 1, 2, 0, 0),
        comp(0, 0, 4, 1, 0),
        comp(0, 2, 4, 1, 0),
    ],
);
static GRAY8: FormatInfo = FormatInfo {
    family: Family::Gray,
    ..yuv(F::Gray8, "GRAY8", &[plane(0, 0, 1)], &[comp(0, 0, 1, 0, 0)])
};
static RGB: FormatInfo = rgb(
    F::Rgb,
    "RGB",
    &[plane(0, 0, 3)],
    &[
        comp(0, 0, 3, 0, 0),
        comp(0, 1, 3, 0, 0),
        comp(0, 2, 3, 0, 0),
    ],
);
static BGR: FormatInfo = rgb(
    F::Bgr,
    "BGR",
    &[plane(0, 0, 3)],
    &[
        comp(0, 2, 3, 0, 0),
        comp(0, 1, 3, 0, 0),
        comp(0, 0, 3, 0, 0),
    ],
);
static RGBA: FormatInfo = rgb(
    F::Rgba,
    "RGBA",
    &[plane(0, 0, 4)],
    &[
        comp(0, 0, 4, 0, 0),
        comp(0, 1, 4, 0, 0),
        comp(0, 2, 4, 0, 0),
        comp(0, 3, 4, 0, 0),
    ],
);
static BGRA: FormatInfo = rgb(
    F::Bgra,
    "BGRA",
    &[plane(0, 0, 4)],
    &[
        comp(0, 2, 4, 0, 0),
        comp(0, 1, 4, 0, 0),
        comp(0, 0, 4, 0, 0),
        comp(0, 3, 4, 0, 0),
    ],
);
static ARGB: FormatInfo = rgb(
    F::Argb,
    "ARGB",
    &[plane(0, 0, 4)],
    &[
        comp(0, 1, 4, 0, 0),
        comp(0, 2, 4, 0, 0),
        comp(0, 3, 4, 0, 0),
        comp(0, 0, 4, 0, 0),
    ],
);
static ABGR: FormatInfo = rgb(
    F::Abgr,
    "ABGR",
    &[plane(0, 0, 4)],
    &[
        comp(0, 3, 4, 0, 0),
        comp(0, 2, 4, 0, 0),
        comp(0, 1, 4, 0, 0),
        comp(0, 0, 4, 0, 0),
    ],
);
static I420_10LE: FormatInfo = FormatInfo {
    bits: 10,
    sample_bytes: 2,
    ..yuv(
        F::I42010Le,
        "I420_10LE",
        &[plane(0, 0, 2), plane(1, 1, 2), plane(1, 1, 2)],
        &[
            comp(0, 0, 2, 0, 0),
            comp(1, 0, 2, 1, 1),
            comp(2, 0, 2, 1, 1),
        ],
    )
};

impl VideoFormat {
    /// All formats, best first: the order in which elements offer them.
    ///
    /// It is GStreamer's order (`GST_VIDEO_FORMATS_ALL`) restricted to these
    /// formats: more components, then more bits, then less subsampling, then
    /// more planes; I420 before YV12.
    pub const ALL: [VideoFormat; 16] = [
        F::Abgr,
        F::Bgra,
        F::Argb,
        F::Rgba,
        F::I42010Le,
        F::Y444,
        F::Bgr,
        F::Rgb,
        F::Y42b,
        F::Uyvy,
        F::Yuy2,
        F::I420,
        F::Yv12,
        F::Nv21,
        F::Nv12,
        F::Gray8,
    ];

    /// The constant description.
    pub const fn info(self) -> &'static FormatInfo {
        match self {
            F::I420 => &I420,
            F::Yv12 => &YV12,
            F::Nv12 => &NV12,
            F::Nv21 => &NV21,
            F::Y42b => &Y42B,
            F::Y444 => &Y444,
            F::Yuy2 => &YUY2,
            F::Uyvy => &UYVY,
            F::Gray8 => &GRAY8,
            F::Rgb => &RGB,
            F::Bgr => &BGR,
            F::Rgba => &RGBA,
            F::Bgra => &BGRA,
            F::Argb => &ARGB,
            F::Abgr => &ABGR,
            F::I42010Le => &I420_10LE,
        }
    }

    /// GStreamer's name, as in `format=I420`.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The format of that GStreamer name (exact case), if it is one of these.
    pub fn from_name(name: &str) -> Option<VideoFormat> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Number of planes (1 to 3).
    pub const fn n_planes(self) -> usize {
        self.info().planes.len()
    }

    /// Significant bits per sample (8 or 10).
    pub const fn bits(self) -> u8 {
        self.info().bits
    }

    /// Whether the components are Y, U, V.
    pub const fn is_yuv(self) -> bool {
        matches!(self.info().family, Family::Yuv)
    }

    /// Whether the components are R, G, B (and A).
    pub const fn is_rgb(self) -> bool {
        matches!(self.info().family, Family::Rgb)
    }

    /// Whether there is luma only.
    pub const fn is_gray(self) -> bool {
        matches!(self.info().family, Family::Gray)
    }

    /// Whether there is an alpha component (straight, not premultiplied).
    pub const fn has_alpha(self) -> bool {
        self.info().components.len() == 4
    }

    /// Base-2 logarithms of the horizontal and vertical chroma subsampling:
    /// (1, 1) for 4:2:0, (1, 0) for 4:2:2, else (0, 0).
    pub const fn chroma_subsampling(self) -> (u8, u8) {
        match self.info().components {
            [_, u, ..] => (u.h_sub, u.v_sub),
            _ => (0, 0),
        }
    }
}

impl fmt::Display for VideoFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_listed_once_and_found_by_its_name() {
        for (i, f) in VideoFormat::ALL.into_iter().enumerate() {
            assert_eq!(f.info().format, f);
            assert_eq!(VideoFormat::from_name(f.name()), Some(f));
            assert!(!VideoFormat::ALL[..i].contains(&f));
        }
        assert_eq!(VideoFormat::from_name("i420"), None);
        assert_eq!(VideoFormat::from_name(""), None);
    }

    #[test]
    fn components_lie_in_their_planes() {
        for f in VideoFormat::ALL {
            let info = f.info();
            for c in info.components {
                let p = info.planes[usize::from(c.plane)];
                assert_eq!(p.v_sub, c.v_sub, "{f}");
                // In one group of the plane the component has 2^(plane - own) samples.
                let samples = 1 << (p.h_sub - c.h_sub);
                let last = c.offset + c.pixel_stride * (samples - 1) + info.sample_bytes;
                assert!(last <= p.group_bytes, "{f}");
                assert_eq!(c.pixel_stride * samples, p.group_bytes, "{f}");
            }
        }
    }

    #[test]
    fn families_and_depths() {
        assert_eq!(VideoFormat::ALL.iter().filter(|f| f.is_rgb()).count(), 6);
        assert_eq!(VideoFormat::ALL.iter().filter(|f| f.is_yuv()).count(), 9);
        assert_eq!(VideoFormat::ALL.iter().filter(|f| f.has_alpha()).count(), 4);
        assert!(VideoFormat::Gray8.is_gray());
        assert_eq!(VideoFormat::I42010Le.bits(), 10);
        assert_eq!(VideoFormat::I42010Le.name(), "I420_10LE");
        assert_eq!(VideoFormat::Nv21.chroma_subsampling(), (1, 1));
        assert_eq!(VideoFormat::Uyvy.chroma_subsampling(), (1, 0));
        assert_eq!(VideoFormat::Gray8.chroma_subsampling(), (0, 0));
        assert_eq!(VideoFormat::Argb.info().components[0].offset, 1);
    }
}
