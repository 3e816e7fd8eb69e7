//! `videoscale`: another picture size.
//!
//! `method` is GStreamer's; `nearest-neighbour`, `bilinear` (the default), `catrom` (bicubic) and
//! `lanczos` are there. The display aspect ratio is kept by the pixel aspect ratio unless caps
//! fix that; no borders are added.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! video/x-raw,width=320 ! videoscale ! video/x-raw,width=64,height=48 ! fakesink'`

use super::pixels::{Method, Scaler};
use super::videoconvert::same_pixels;
use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Transformed, Work,
};
use crate::elements::raw_video::{FORMATS, frame_pool, raw_video_caps, stream_info};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::{Fraction, Structure, ValueSet};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{Choice, PropertyKind, PropertyValue};
use tickpipe_components::video::{MAX_DIMENSION, VideoInfo};

/// Settings of `videoscale`.
#[derive(Component, Clone, Debug)]
pub struct VideoScale {
    /// How pixels between pixels are made.
    pub method: Method,
}

impl Default for VideoScale {
    fn default() -> Self {
        VideoScale {
            method: Method::Bilinear,
        }
    }
}

const METHODS: &[(Choice, Method)] = &[
    (choice(0, "nearest-neighbour"), Method::Nearest),
    (choice(1, "bilinear"), Method::Bilinear),
    (choice(3, "lanczos"), Method::Lanczos),
    (choice(8, "catrom"), Method::Bicubic),
];
const METHOD_NAMES: &[Choice] = &[METHODS[0].0, METHODS[1].0, METHODS[2].0, METHODS[3].0];

const fn choice(number: i64, name: &'static str) -> Choice {
    Choice { number, name }
}

/// Fields that a conversion changes.
const FREE: [&str; 3] = ["width", "height", "pixel-aspect-ratio"];

impl Element for VideoScale {
    const NAME: &'static str = "videoscale";
    const SUMMARY: &'static str = "Changes the picture size";
    const KLASS: &'static str = "Filter/Converter/Video/Scaler";
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
        "gamma-decode",
        "gamma-mode",
        "matrix-mode",
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

    fn properties() -> Vec<Property<Self>> {
        vec![Property::new(
            "method",
            "How pixels between pixels are made",
            PropertyKind::Choice(METHOD_NAMES),
            |s: &VideoScale| {
                let name = METHODS.iter().find(|m| m.1 == s.method);
                PropertyValue::from(name.map_or("bilinear", |m| m.0.name))
            },
            |s, v| {
                if let PropertyValue::Text(name) = v
                    && let Some(method) = METHODS.iter().find(|m| m.0.name == name)
                {
                    s.method = method.1;
                }
            },
        )]
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
                free.remove("pixel-aspect-ratio");
                for field in ["width", "height"] {
                    let any = ValueSet::int_range(1, MAX_DIMENSION.into(), 1).ok()?;
                    free.set(field, any).ok()?;
                }
                Some(Transformed::converting(free, &FREE))
            }
            _ => None,
        }
    }

    fn fixate(&self, pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        let mut s = caps.clone();
        if let (false, Some(before)) = (pad.is_sink(), other) {
            keep_aspect(&mut s, before);
        }
        crate::element::keep_values(&s, other)
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let (from, to) = (stream_info(pads.sink(0))?, stream_info(pads.source(0))?);
        if same_pixels(pads) {
            return Ok(());
        }
        scaler(&from, &to, self.method).map(drop)
    }

    /// Each component of both pictures by itself, and one that has the new width and the old height.
    fn memory(&self, pads: &PadCapsOf) -> u64 {
        let (from, to) = (stream_info(pads.sink(0)), stream_info(pads.source(0)));
        let (Ok(from), Ok(to)) = (from, to) else {
            return 0;
        };
        let sample =
            1 + u64::from(from.format() == tickpipe_components::video::VideoFormat::I42010Le);
        let between = u64::from(to.width()) * u64::from(from.height()) * sample;
        (from.layout.visible_bytes() + to.layout.visible_bytes()) as u64 + between
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

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Scaling {
            method: self.method,
            streams: None,
        }))
    }
}

/// Chooses what caps leave open of size and pixel aspect ratio so that the picture keeps its
/// shape on the screen (GStreamer's videoscale): a size that is open stays as it was and the pixel
/// aspect ratio makes up for it; where that is fixed, the open size does, width before height.
fn keep_aspect(s: &mut Structure, before: &Structure) {
    let (Some(w), Some(h)) = (before.int("width"), before.int("height")) else {
        return;
    };
    let par = before
        .fraction("pixel-aspect-ratio")
        .unwrap_or_else(|| Fraction::of(1, 1));
    let wanted = s.fraction("pixel-aspect-ratio");
    if let Some(wanted) = wanted {
        // width : height of the new picture, in its own pixels.
        let across = i128::from(w) * i128::from(par.num()) * i128::from(wanted.den());
        let down = i128::from(h) * i128::from(par.den()) * i128::from(wanted.num());
        match (s.int("width"), s.int("height")) {
            (Some(width), None) => {
                s.fixate_nearest("height", scaled(width, down, across));
            }
            (None, height) => {
                let height = height.unwrap_or(h);
                s.fixate_nearest("height", height);
                s.fixate_nearest("width", scaled(height, across, down));
            }
            (Some(_), Some(_)) => {}
        }
        return;
    }
    s.fixate_nearest("width", w);
    s.fixate_nearest("height", h);
    let (Some(width), Some(height)) = (s.int("width"), s.int("height")) else {
        return;
    };
    // display = w/h * par must stay: par' = par * (w * height) / (h * width).
    let ratio = Fraction::from_i64(w * height, h * width);
    let Some(kept) = ratio.and_then(|r| r.checked_mul(par)) else {
        return;
    };
    if s.get("pixel-aspect-ratio").is_some() {
        s.fixate_nearest("pixel-aspect-ratio", kept);
    } else if before.get("pixel-aspect-ratio").is_some() || kept != par {
        let kept = ValueSet::One(tickpipe_components::caps::Value::Fraction(kept));
        let _ = s.set("pixel-aspect-ratio", kept);
    }
}

/// `value * a / b` to the nearest, in what a picture's size can be.
fn scaled(value: i64, a: i128, b: i128) -> i64 {
    let b = b.max(1);
    let scaled = (2 * i128::from(value) * a + b) / (2 * b);
    i64::try_from(scaled).map_or(i64::from(MAX_DIMENSION), |s| {
        s.clamp(1, MAX_DIMENSION.into())
    })
}

fn scaler(from: &VideoInfo, to: &VideoInfo, method: Method) -> Result<Scaler, ElementError> {
    Scaler::new(from, to, method).map_err(|e| ElementError::new(Domain::Caps, Code::Refused, e))
}

struct Scaling {
    method: Method,
    /// Nothing if frames are passed on as they are.
    streams: Option<(VideoInfo, VideoInfo, Scaler)>,
}

impl Work for Scaling {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<VideoScale>() {
            self.method = settings.method;
            if let Some((from, to, scaler)) = &mut self.streams {
                *scaler = self::scaler(from, to, self.method)?;
            }
        }
        Ok(())
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.streams = None;
        if !same_pixels(pads) {
            let (from, to) = (stream_info(pads.sink(0))?, stream_info(pads.source(0))?);
            self.streams = Some((from, to, scaler(&from, &to, self.method)?));
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let Some((from, to, scaler)) = &mut self.streams else {
            process.pass_through();
            return Ok(());
        };
        super::each_frame(process, from, to, |src, dst| {
            scaler
                .run(src, dst)
                .map_err(|e| ElementError::new(Domain::Core, Code::Failed, e))
        })
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
