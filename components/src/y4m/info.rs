//! Between a Y4M header and what caps say of a raw video stream.
//!
//! What a header does not say stays unsaid: without `C` (or with `C420`, which GStreamer writes for
//! every siting) the chroma site is `None`, without `XCOLORRANGE` the colorimetry is `None`, so
//! "assumed" is visible as an absent caps field and the defaults of `VideoInfo` apply. One
//! exception: GRAY8 without a range is written out as limited, because its default would be full.
//! A range alone is no colorimetry; matrix, transfer and primaries are the defaults for the size.

use crate::video::{
    ChromaSite, Colorimetry, FieldOrder, InterlaceMode, LayoutError, VideoFormat, VideoInfo,
};
use crate::video::{Range as VideoRange, info::SD_MAX_HEIGHT};

use super::fields::{Facts, Ratio};
use super::header::Header;
use super::tags::{ChromaTag, Interlacing, Range, SUPPORTED_TAGS, Sampling, Siting};

/// The raw formats that Y4M can carry here, as an error message lists them.
pub const SUPPORTED_FORMATS: &str = "I420, Y42B, Y444, GRAY8, I420_10LE";

/// A header that can be read but names what no raw format here holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsupportedHeader {
    /// A known `C` tag without a raw format.
    #[error("Y4M header, byte {offset}: {tag} is not supported; supported: {SUPPORTED_TAGS}")]
    Chroma {
        /// The tag.
        tag: ChromaTag,
        /// Where the field that names it begins.
        offset: u64,
    },
    /// The frame would be too large.
    #[error("Y4M header: {0}")]
    Layout(#[from] LayoutError),
}

/// A raw video stream that Y4M cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsupportedInfo {
    /// No `C` tag stands for the format.
    #[error("Y4M cannot carry {}; supported: {SUPPORTED_FORMATS}", .format.name())]
    Format {
        /// The format.
        format: VideoFormat,
    },
    /// Fields that are not interleaved in frames.
    #[error(
        "Y4M cannot carry interlace-mode {}; supported: progressive, interleaved, mixed",
        .mode.name()
    )]
    Interlace {
        /// The mode.
        mode: InterlaceMode,
    },
    /// A negative part, or a denominator of zero, in the frame rate or pixel aspect ratio.
    #[error("{field} {num}/{den} must have parts from 0 to 2147483647, the second over 0")]
    Ratio {
        /// `framerate` or `pixel-aspect-ratio`.
        field: &'static str,
        /// First part.
        num: i32,
        /// Second part.
        den: i32,
    },
}

/// A property of a stream that its header cannot say, so a reader of the file will assume another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// The `C` tag of the format says another siting, or none.
    #[error("chroma-site {} is not carried: the tag is {tag}", .site.name())]
    Siting {
        /// The stream's siting.
        site: ChromaSite,
        /// The tag that is written.
        tag: ChromaTag,
    },
    /// Interleaved fields of unknown order; written as top field first.
    #[error("field-order unknown is written as top field first")]
    FieldOrder,
}

impl Header {
    /// The stream as caps describe it, in GStreamer's default layout.
    ///
    /// # Errors
    /// [`UnsupportedHeader`]: a tag without a raw format, or a frame that is too large.
    pub fn to_info(&self) -> Result<VideoInfo, UnsupportedHeader> {
        let facts = self.facts();
        let tag = facts.chroma;
        let format = format_of(tag).ok_or(UnsupportedHeader::Chroma {
            tag,
            offset: self.chroma_source().offset(),
        })?;
        let mut info = VideoInfo::new(format, facts.width, facts.height)?;
        let parts = |r: Ratio| (r.num.cast_signed(), r.den.cast_signed());
        info.framerate = Some(facts.rate.map_or((0, 1), parts));
        info.par = facts.aspect.map_or((1, 1), parts);
        (info.interlace, info.field_order) = match facts.interlacing {
            Interlacing::Unknown | Interlacing::Progressive => {
                (InterlaceMode::Progressive, FieldOrder::Unknown)
            }
            Interlacing::TopFirst => (InterlaceMode::Interleaved, FieldOrder::TopFieldFirst),
            Interlacing::BottomFirst => (InterlaceMode::Interleaved, FieldOrder::BottomFieldFirst),
            Interlacing::Mixed => (InterlaceMode::Mixed, FieldOrder::Unknown),
        };
        info.chroma_site = match tag.siting() {
            _ if self.assumed().chroma => None,
            Siting::Unstated => None,
            Siting::Center => Some(ChromaSite::Jpeg),
            Siting::Left => Some(ChromaSite::Mpeg2),
            Siting::PalDv => Some(ChromaSite::Dv),
        };
        let range = match facts.range {
            None if format == VideoFormat::Gray8 => Some(Range::Limited),
            range => range,
        };
        info.colorimetry = range.map(|range| Colorimetry {
            range: match range {
                Range::Limited => VideoRange::Limited,
                Range::Full => VideoRange::Full,
            },
            ..if facts.height > SD_MAX_HEIGHT {
                Colorimetry::BT709
            } else {
                Colorimetry::BT601
            }
        });
        Ok(info)
    }
}

impl Facts {
    /// What a header for this stream says, and what it cannot say.
    ///
    /// A siting that is not stated is written as `420jpeg`, as FFmpeg does; `cosited` as
    /// `420paldv`, as FFmpeg does; a range that is not stated is left out.
    ///
    /// # Errors
    /// [`UnsupportedInfo`].
    pub fn from_info(info: &VideoInfo) -> Result<(Facts, Vec<Loss>), UnsupportedInfo> {
        let mut losses = Vec::new();
        let interlacing = match (info.interlace, info.field_order) {
            (InterlaceMode::Progressive, _) => Interlacing::Progressive,
            (InterlaceMode::Mixed, _) => Interlacing::Mixed,
            (InterlaceMode::Interleaved, FieldOrder::TopFieldFirst) => Interlacing::TopFirst,
            (InterlaceMode::Interleaved, FieldOrder::BottomFieldFirst) => Interlacing::BottomFirst,
            (InterlaceMode::Interleaved, FieldOrder::Unknown) => {
                losses.push(Loss::FieldOrder);
                Interlacing::TopFirst
            }
            (mode @ (InterlaceMode::Fields | InterlaceMode::Alternate), _) => {
                return Err(UnsupportedInfo::Interlace { mode });
            }
        };
        let (chroma, carried) = tag_of(info.format(), info.chroma_site).ok_or({
            UnsupportedInfo::Format {
                format: info.format(),
            }
        })?;
        if let (Some(site), false) = (info.chroma_site, carried) {
            losses.push(Loss::Siting { site, tag: chroma });
        }
        let range = info.colorimetry.and_then(|c| match c.range {
            VideoRange::Unknown => None,
            VideoRange::Full => Some(Range::Full),
            VideoRange::Limited => Some(Range::Limited),
        });
        let facts = Facts {
            width: info.width(),
            height: info.height(),
            rate: ratio("framerate", info.framerate.unwrap_or((0, 1)))?,
            interlacing,
            aspect: ratio("pixel-aspect-ratio", info.par)?,
            chroma,
            range,
        };
        Ok((facts, losses))
    }
}

fn ratio(field: &'static str, (num, den): (i32, i32)) -> Result<Option<Ratio>, UnsupportedInfo> {
    match (u32::try_from(num), u32::try_from(den)) {
        (Ok(0), Ok(1..)) => Ok(None),
        (Ok(num), Ok(den @ 1..)) => Ok(Some(Ratio { num, den })),
        _ => Err(UnsupportedInfo::Ratio { field, num, den }),
    }
}

/// The raw format that holds frames of this tag. Beside [`ChromaTag::is_supported`]; a test keeps
/// the two equal.
pub(super) fn format_of(tag: ChromaTag) -> Option<VideoFormat> {
    match (tag.sampling(), tag.bits(), tag.has_alpha()) {
        (Sampling::S420, 8, false) => Some(VideoFormat::I420),
        (Sampling::S422, 8, false) => Some(VideoFormat::Y42b),
        (Sampling::S444, 8, false) => Some(VideoFormat::Y444),
        (Sampling::Mono, 8, false) => Some(VideoFormat::Gray8),
        (Sampling::S420, 10, false) => Some(VideoFormat::I42010Le),
        _ => None,
    }
}

/// The tag for a format, and whether it says the siting (if there is one to say).
fn tag_of(format: VideoFormat, site: Option<ChromaSite>) -> Option<(ChromaTag, bool)> {
    let (sampling, bits) = match format {
        VideoFormat::I420 => (Sampling::S420, 8),
        VideoFormat::Y42b => (Sampling::S422, 8),
        VideoFormat::Y444 => (Sampling::S444, 8),
        VideoFormat::Gray8 => (Sampling::Mono, 8),
        VideoFormat::I42010Le => (Sampling::S420, 10),
        _ => return None,
    };
    let (siting, carried) = match (format, site) {
        (VideoFormat::I420, None) => (Siting::Center, true),
        (VideoFormat::I420, Some(site)) => match site {
            ChromaSite::Jpeg => (Siting::Center, true),
            ChromaSite::Mpeg2 => (Siting::Left, true),
            ChromaSite::Dv => (Siting::PalDv, true),
            ChromaSite::Cosited => (Siting::PalDv, false),
            site if site.h_cosited() => (Siting::Left, false),
            _ => (Siting::Center, false),
        },
        // Chroma has all rows, so only the horizontal siting counts.
        (VideoFormat::Y42b, site) => (Siting::Left, site.is_none_or(ChromaSite::h_cosited)),
        (VideoFormat::I42010Le, site) => (Siting::Unstated, site.is_none()),
        // No subsampled chroma: nothing to say.
        _ => (Siting::Unstated, true),
    };
    Some((ChromaTag::with(sampling, bits, siting)?, carried))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_means_that_a_raw_format_holds_it() {
        for tag in ChromaTag::known() {
            assert_eq!(tag.is_supported(), format_of(tag).is_some(), "{tag}");
        }
        let listed: Vec<&str> = SUPPORTED_TAGS.split(", ").collect();
        let supported = ChromaTag::known().filter(|t| t.is_supported());
        let mut supported: Vec<&str> = supported.map(ChromaTag::text).collect();
        supported.sort_by_key(|t| listed.iter().position(|l| l == t));
        assert_eq!(supported, listed);
        let formats = VideoFormat::ALL
            .iter()
            .filter(|f| tag_of(**f, None).is_some());
        let mut formats: Vec<&str> = formats.map(|f| f.name()).collect();
        let listed: Vec<&str> = SUPPORTED_FORMATS.split(", ").collect();
        formats.sort_by_key(|t| listed.iter().position(|l| l == t));
        assert_eq!(formats, listed);
    }
}
