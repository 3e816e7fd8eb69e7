//! Between raw video streams and caps: GStreamer's field names, an absent field is not stated.

use super::{
    ChromaSite, Colorimetry, FieldOrder, InterlaceMode, Layout, LayoutError, VideoFormat, VideoInfo,
};
use crate::caps::{Fraction, Structure, Value, ValueSet};
use thiserror::Error;

/// The media type of raw video.
pub const RAW_VIDEO: &str = "video/x-raw";

/// Why caps do not say what a raw video stream is.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VideoCapsError {
    /// Another media type.
    #[error("raw video is needed (video/x-raw), not {0}")]
    Media(String),
    /// A field that must have one value has none.
    #[error("raw video caps without a fixed `{0}`")]
    Missing(&'static str),
    /// A field has a value that is not known.
    #[error("raw video caps with an unknown {field}: `{value}`")]
    Unknown {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// The picture cannot be laid out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl VideoInfo {
    /// The stream that fixed caps describe, in GStreamer's default layout.
    ///
    /// # Errors
    /// [`VideoCapsError`] with the field that is missing or unknown.
    pub fn from_structure(s: &Structure) -> Result<VideoInfo, VideoCapsError> {
        if s.media() != RAW_VIDEO {
            return Err(VideoCapsError::Media(s.media().to_owned()));
        }
        let unknown = |field, value: &str| VideoCapsError::Unknown {
            field,
            value: value.to_owned(),
        };
        let name = s
            .string("format")
            .ok_or(VideoCapsError::Missing("format"))?;
        let format = VideoFormat::from_name(name).ok_or_else(|| unknown("format", name))?;
        let size = |field| {
            let value = s.int(field).ok_or(VideoCapsError::Missing(field))?;
            u32::try_from(value).map_err(|_| unknown(field, &value.to_string()))
        };
        let layout = Layout::gstreamer(format, size("width")?, size("height")?)?;
        let mut info = VideoInfo::with_layout(layout);
        info.framerate = s.fraction("framerate").map(|f| (f.num(), f.den()));
        if let Some(par) = s.fraction("pixel-aspect-ratio") {
            info.par = (par.num(), par.den());
        }
        if let Some(name) = s.string("interlace-mode") {
            info.interlace =
                InterlaceMode::from_name(name).ok_or_else(|| unknown("interlace-mode", name))?;
        }
        if let Some(name) = s.string("field-order") {
            info.field_order =
                FieldOrder::from_name(name).ok_or_else(|| unknown("field-order", name))?;
        }
        if let Some(name) = s.string("colorimetry") {
            info.colorimetry =
                Some(Colorimetry::parse(name).map_err(|_| unknown("colorimetry", name))?);
        }
        if let Some(name) = s.string("chroma-site") {
            info.chroma_site =
                Some(ChromaSite::parse(name).map_err(|_| unknown("chroma-site", name))?);
        }
        Ok(info)
    }

    /// Caps that say all that is stated of the stream.
    pub fn to_structure(&self) -> Structure {
        let one = |text: &str| ValueSet::One(Value::text(text));
        let mut s = Structure::new(RAW_VIDEO)
            .with("format", one(self.format().name()))
            .with("width", ValueSet::int(self.width().into()))
            .with("height", ValueSet::int(self.height().into()))
            .with("interlace-mode", one(self.interlace.name()));
        let fraction =
            |(num, den)| Fraction::new(num, den).map(|f| ValueSet::One(Value::Fraction(f)));
        if let Some(par) = fraction(self.par) {
            s = s.with("pixel-aspect-ratio", par);
        }
        if let Some(rate) = self.framerate.and_then(fraction) {
            s = s.with("framerate", rate);
        }
        if self.field_order != FieldOrder::Unknown {
            s = s.with("field-order", one(self.field_order.name()));
        }
        if let Some(site) = self.chroma_site {
            s = s.with("chroma-site", one(&site.to_string()));
        }
        if let Some(name) = self.colorimetry.and_then(|c| c.name()) {
            s = s.with("colorimetry", one(&name));
        }
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::Caps;

    fn read(text: &str) -> Result<VideoInfo, VideoCapsError> {
        let caps = Caps::parse(text).expect("valid caps");
        VideoInfo::from_structure(caps.first().expect("one structure"))
    }

    #[test]
    fn round_trip() {
        let text = "video/x-raw,format=I420,width=19,height=7,interlace-mode=progressive,\
                    pixel-aspect-ratio=128/117,framerate=30000/1001,chroma-site=mpeg2,colorimetry=bt709";
        let info = read(text).expect("fixed");
        assert_eq!(
            info.to_structure(),
            *Caps::parse(text).expect("caps").first().expect("one")
        );
        assert_eq!(
            (info.width(), info.par, info.framerate),
            (19, (128, 117), Some((30000, 1001)))
        );
    }

    #[test]
    fn says_what_is_missing() {
        for (text, want) in [
            (
                "video/x-raw,width=1,height=1",
                "raw video caps without a fixed `format`",
            ),
            (
                "video/x-raw,format=I420,width=[1,2],height=1",
                "raw video caps without a fixed `width`",
            ),
            (
                "audio/x-raw",
                "raw video is needed (video/x-raw), not audio/x-raw",
            ),
            (
                "video/x-raw,format=XYZ,width=1,height=1",
                "raw video caps with an unknown format: `XYZ`",
            ),
        ] {
            assert_eq!(read(text).expect_err("bad").to_string(), want);
        }
    }
}
