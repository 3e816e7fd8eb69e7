//! `videoconvert`: another pixel format or colorimetry, in integers, the same on every machine.
//!
//! What need not be converted is passed on untouched, by reference.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! video/x-raw,format=I420 ! videoconvert ! video/x-raw,format=RGBA ! fakesink'`

use super::pixels::Converter;
use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Transformed, Work,
};
use crate::elements::raw_video::{FORMATS, frame_pool, raw_video_caps, stream_info};
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Structure, Value, ValueSet};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::video::{VideoFormat, VideoInfo};

/// Settings of `videoconvert`.
#[derive(Component, Clone, Debug, Default)]
pub struct VideoConvert;

/// Fields that say what pixels mean: free on the other side of a conversion.
const FREE: [&str; 3] = ["format", "colorimetry", "chroma-site"];

/// Whether two sides have the same pixels, so that frames pass by reference.
pub(super) fn same_pixels(pads: &PadCapsOf) -> bool {
    match (stream_info(pads.sink(0)), stream_info(pads.source(0))) {
        (Ok(a), Ok(b)) => {
            a.layout == b.layout
                && a.effective_colorimetry() == b.effective_colorimetry()
                && a.effective_chroma_site() == b.effective_chroma_site()
        }
        _ => false,
    }
}

impl Element for VideoConvert {
    const NAME: &'static str = "videoconvert";
    const SUMMARY: &'static str = "Converts pixel format and colorimetry";
    const KLASS: &'static str = "Filter/Converter/Video";
    const FLOW: Flow = Flow::Convert;
    const OWNS_POOL: bool = true;
    const IGNORED: &'static [&'static str] = &[
        "add-borders",
        "alpha-mode",
        "alpha-value",
        "chroma-mode",
        "chroma-resampler",
        "dither",
        "dither-quantization",
        "envelope",
        "gamma-mode",
        "matrix-mode",
        "method",
        "n-threads",
        "name",
        "parent",
        "primaries-mode",
        "qos",
        "sharpen",
        "sharpness",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", raw_video_caps(&FORMATS)),
            PadTemplate::source("src", raw_video_caps(&FORMATS)),
        ]
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        match index {
            0 => Some(Transformed::same(caps.clone())),
            1 => {
                let mut free = caps.clone();
                for field in FREE {
                    free.remove(field);
                }
                let formats = FORMATS.iter().map(|f| Value::text(f.name()));
                free.set("format", ValueSet::list(formats).ok()?).ok()?;
                Some(Transformed::converting(free, &FREE))
            }
            _ => None,
        }
    }

    fn fixate(&self, pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        let mut s = caps.clone();
        let before = other
            .and_then(|o| o.string("format"))
            .and_then(VideoFormat::from_name);
        if let (false, Some(before)) = (pad.is_sink(), before) {
            let allowed = |f: &&VideoFormat| {
                s.get("format")
                    .is_none_or(|set| set.contains(&Value::text(f.name())))
            };
            // The first of the cheapest, in the order of `FORMATS`.
            let best = FORMATS
                .iter()
                .filter(allowed)
                .min_by_key(|f| loss(before, **f));
            if let Some(best) = best {
                let _ = s.set("format", ValueSet::One(Value::text(best.name())));
                if best.info().family == before.info().family {
                    for field in ["colorimetry", "chroma-site"] {
                        keep(&mut s, other, field);
                    }
                }
            }
        }
        crate::element::keep_values(&s, other)
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let (from, to) = (stream_info(pads.sink(0))?, stream_info(pads.source(0))?);
        if same_pixels(pads) {
            return Ok(());
        }
        converter(&from, &to).map(drop)
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        if same_pixels(pads) {
            return Ok(Buffers::Passed);
        }
        frame_pool(pads.source(0), downstream).map(Buffers::Own)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Converting::default()))
    }
}

/// Copies a field that the other side has and this one does not speak of.
fn keep(s: &mut Structure, other: Option<&Structure>, field: &str) {
    if s.get(field).is_none()
        && let Some(set) = other.and_then(|o| o.get(field))
    {
        let _ = s.set(field, set.clone());
    }
}

/// What a conversion loses: colour, depth, alpha, chroma; then whether it changes the family, or
/// anything at all.
fn loss(from: VideoFormat, to: VideoFormat) -> (bool, bool, bool, u8, bool, bool) {
    let (sub_from, sub_to) = (from.chroma_subsampling(), to.chroma_subsampling());
    let chroma = if to.is_gray() {
        0
    } else {
        sub_to.0.saturating_sub(sub_from.0) + sub_to.1.saturating_sub(sub_from.1)
    };
    (
        to.is_gray() && !from.is_gray(),
        to.bits() < from.bits(),
        from.has_alpha() && !to.has_alpha(),
        chroma,
        from.info().family != to.info().family,
        from != to,
    )
}

fn converter(from: &VideoInfo, to: &VideoInfo) -> Result<Converter, ElementError> {
    Converter::new(from, to).map_err(|e| ElementError::new(Domain::Caps, Code::Refused, e))
}

#[derive(Default)]
struct Converting {
    /// Nothing if frames are passed on as they are.
    streams: Option<(VideoInfo, VideoInfo, Converter)>,
}

impl Work for Converting {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.streams = None;
        if !same_pixels(pads) {
            let (from, to) = (stream_info(pads.sink(0))?, stream_info(pads.source(0))?);
            self.streams = Some((from, to, converter(&from, &to)?));
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let Some((from, to, converter)) = &mut self.streams else {
            process.pass_through();
            return Ok(());
        };
        super::each_frame(process, from, to, |src, dst| {
            converter
                .run(src, dst)
                .map_err(|e| ElementError::new(Domain::Core, Code::Failed, e))
        })
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
