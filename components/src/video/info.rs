//! Everything that caps say about one raw video stream, with the defaults that
//! apply where they are silent. A plain value; touches no pixels.

use super::colour::{ChromaSite, Colorimetry, Matrix, Range};
use super::format::{Family, VideoFormat};
use super::interlace::{FieldOrder, InterlaceMode};
use super::layout::{Layout, LayoutError};

/// Pictures higher than this default to BT.709 and MPEG-2 siting, others to
/// BT.601 and JPEG siting (GStreamer 1.22, `set_default_colorimetry`). In pixels.
pub const SD_MAX_HEIGHT: u32 = 576;

/// A raw video stream.
///
/// Format, width and height are those of `layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoInfo {
    /// Frames per second as numerator and denominator; `(0, 1)` is variable;
    /// `None` is not stated.
    pub framerate: Option<(i32, i32)>,
    /// Pixel aspect ratio, width over height; `(1, 1)` is square.
    pub par: (i32, i32),
    /// How fields lie in frames.
    pub interlace: InterlaceMode,
    /// Which field comes first.
    pub field_order: FieldOrder,
    /// What the samples mean, if stated; see [`VideoInfo::effective_colorimetry`].
    pub colorimetry: Option<Colorimetry>,
    /// Where chroma sits, if stated; see [`VideoInfo::effective_chroma_site`].
    pub chroma_site: Option<ChromaSite>,
    /// Where the bytes lie.
    pub layout: Layout,
}

impl VideoInfo {
    /// A progressive stream with square pixels, nothing stated of rate and colour,
    /// in GStreamer's default layout.
    ///
    /// # Errors
    /// See [`Layout::gstreamer`].
    pub fn new(format: VideoFormat, width: u32, height: u32) -> Result<VideoInfo, LayoutError> {
        Ok(Self::with_layout(Layout::gstreamer(format, width, height)?))
    }

    /// Its layout with rows aligned to `stride_align` bytes; 0 is what it has.
    ///
    /// # Errors
    /// As [`Layout::aligned`].
    pub fn layout_aligned(&self, stride_align: usize) -> Result<Layout, LayoutError> {
        match stride_align {
            0 => Ok(self.layout),
            align => Layout::aligned(self.format(), self.width(), self.height(), align),
        }
    }

    /// The same with another layout.
    pub const fn with_layout(layout: Layout) -> VideoInfo {
        VideoInfo {
            framerate: None,
            par: (1, 1),
            interlace: InterlaceMode::Progressive,
            field_order: FieldOrder::Unknown,
            colorimetry: None,
            chroma_site: None,
            layout,
        }
    }

    /// The pixel format.
    pub const fn format(&self) -> VideoFormat {
        self.layout.format()
    }

    /// Width in pixels.
    pub const fn width(&self) -> u32 {
        self.layout.width()
    }

    /// Height in pixels (of the frame, also where buffers hold fields).
    pub const fn height(&self) -> u32 {
        self.layout.height()
    }

    /// The colorimetry that counts: what is stated, completed as GStreamer 1.22
    /// does when it reads caps.
    ///
    /// Nothing stated, or in YUV a matrix that is unknown or RGB: by format and
    /// height (`sRGB` for RGB formats, `1:4:0:0` for grey, `bt709` above
    /// [`SD_MAX_HEIGHT`], else `bt601`). In RGB the matrix is always
    /// [`Matrix::Rgb`]. An unknown range is completed here too (GStreamer leaves
    /// it): full for RGB and grey, limited for YUV.
    pub fn effective_colorimetry(&self) -> Colorimetry {
        let family = self.format().info().family;
        let default = match family {
            Family::Rgb => Colorimetry::SRGB,
            Family::Gray => Colorimetry::GRAY,
            Family::Yuv if self.height() > SD_MAX_HEIGHT => Colorimetry::BT709,
            Family::Yuv => Colorimetry::BT601,
        };
        let mut c = match self.colorimetry {
            None | Some(Colorimetry::UNKNOWN) => default,
            Some(c) => c,
        };
        match family {
            Family::Rgb => c.matrix = Matrix::Rgb,
            Family::Yuv | Family::Gray if matches!(c.matrix, Matrix::Unknown | Matrix::Rgb) => {
                c = default;
            }
            Family::Yuv | Family::Gray => {}
        }
        if c.range == Range::Unknown {
            c.range = default.range;
        }
        c
    }

    /// The chroma siting that counts: what is stated, else `mpeg2` above
    /// [`SD_MAX_HEIGHT`] and `jpeg` below; without chroma it means nothing.
    pub fn effective_chroma_site(&self) -> ChromaSite {
        match self.chroma_site {
            Some(site) => site,
            None if self.height() > SD_MAX_HEIGHT => ChromaSite::Mpeg2,
            None => ChromaSite::Jpeg,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(format: VideoFormat, height: u32, colorimetry: Option<&str>) -> VideoInfo {
        let mut info = VideoInfo::new(format, 720, height).unwrap();
        info.colorimetry = colorimetry.map(|text| Colorimetry::parse(text).unwrap());
        info
    }

    #[test]
    fn defaults_are_gstreamers() {
        use VideoFormat::{Gray8, I420, Rgb};
        for (format, height, stated, counts) in [
            (I420, 576, None, "bt601"),
            (I420, 577, None, "bt709"),
            (I420, 480, Some("sRGB"), "bt601"),
            (I420, 480, Some("0:0:0:0"), "bt601"),
            (I420, 480, Some("2:0:0:0"), "bt601"),
            (I420, 480, Some("1:4:0:0"), "1:4:0:0"),
            (Rgb, 480, None, "sRGB"),
            (Rgb, 480, Some("bt601"), "2:1:16:4"),
            (Rgb, 480, Some("2:1:7:1"), "2:1:7:1"),
            (Gray8, 1080, None, "1:4:0:0"),
            (Gray8, 480, Some("bt601"), "bt601"),
        ] {
            let c = info(format, height, stated).effective_colorimetry();
            assert_eq!(c.to_string(), counts, "{format} {height} {stated:?}");
        }
    }

    #[test]
    fn range_and_site_are_completed() {
        let c = info(VideoFormat::Nv12, 480, Some("0:3:0:0")).effective_colorimetry();
        assert_eq!((c.range, c.matrix), (Range::Limited, Matrix::Bt709));
        let mut i = info(VideoFormat::I420, 576, None);
        assert_eq!(i.effective_chroma_site(), ChromaSite::Jpeg);
        i.chroma_site = Some(ChromaSite::Cosited);
        assert_eq!(i.effective_chroma_site(), ChromaSite::Cosited);
        let hd = info(VideoFormat::I420, 577, None);
        assert_eq!(hd.effective_chroma_site(), ChromaSite::Mpeg2);
        assert_eq!((hd.width(), hd.height()), (720, 577));
    }
}
