//! Which caps GStreamer 1.22's pads answer with when two are linked: what their templates hold, and
//! what reaches them across their element. Pure.

use std::sync::LazyLock;
use tickpipe_components::caps::{Caps, Features, Fraction, Structure, Value, ValueSet};

/// All raw formats of GStreamer 1.22.
const FORMATS: &str = "\
    ABGR64_LE, BGRA64_LE, AYUV64, ARGB64_LE, ARGB64, RGBA64_LE, ABGR64_BE, BGRA64_BE, \
    ARGB64_BE, RGBA64_BE, GBRA_12LE, GBRA_12BE, Y412_LE, Y412_BE, A444_10LE, GBRA_10LE, \
    A444_10BE, GBRA_10BE, A422_10LE, A422_10BE, A420_10LE, A420_10BE, RGB10A2_LE, BGR10A2_LE, \
    Y410, GBRA, ABGR, VUYA, BGRA, AYUV, ARGB, RGBA, A420, AV12, Y444_16LE, Y444_16BE, v216, \
    P016_LE, P016_BE, Y444_12LE, GBR_12LE, Y444_12BE, GBR_12BE, I422_12LE, I422_12BE, \
    Y212_LE, Y212_BE, I420_12LE, I420_12BE, P012_LE, P012_BE, Y444_10LE, GBR_10LE, Y444_10BE, \
    GBR_10BE, r210, I422_10LE, I422_10BE, NV16_10LE32, Y210, v210, UYVP, I420_10LE, \
    I420_10BE, P010_10LE, NV12_10LE32, NV12_10LE40, P010_10BE, NV12_10BE_8L128, Y444, RGBP, \
    GBR, BGRP, NV24, xBGR, BGRx, xRGB, RGBx, BGR, IYU2, v308, RGB, Y42B, NV61, NV16, VYUY, \
    UYVY, YVYU, YUY2, I420, YV12, NV21, NV12, NV12_8L128, NV12_64Z32, NV12_4L4, NV12_32L32, \
    NV12_16L32S, Y41B, IYU1, YVU9, YUV9, RGB16, BGR16, RGB15, BGR15, RGB8P, GRAY16_LE, \
    GRAY16_BE, GRAY10_LE32, GRAY8";

/// Raw video up to a size, with more fields.
fn raw(media: &str, formats: &str, max: i32, more: &str) -> String {
    format!(
        "{media}, format=(string){{ {formats} }}, width=(int)[ 1, {max} ], \
         height=(int)[ 1, {max} ], framerate=(fraction)[ 0/1, 2147483647/1 ]{more}"
    )
}

/// Caps of a text of this file; ANY if it could not be read, which a test rules out.
fn caps(text: &str) -> Caps {
    text.parse().unwrap_or(Caps::any())
}

/// `videotestsrc`.
static TEST: LazyLock<Caps> = LazyLock::new(|| {
    let views = ", multiview-mode=(string){ mono, left, right }";
    let video = raw("video/x-raw", FORMATS, i32::MAX, views);
    let bayer = raw("video/x-bayer", "bggr, rggb, grbg, gbrg", i32::MAX, views);
    caps(&format!("{video}; {bayer}"))
});

/// Both pads of `videoconvert` and `videoscale`.
static CONVERTED: LazyLock<Caps> = LazyLock::new(|| {
    let video = raw("video/x-raw", FORMATS, 32_767, "");
    let any = raw("video/x-raw(ANY)", FORMATS, 32_767, "");
    caps(&format!("{video}; {any}"))
});

/// Both pads of `videorate`.
static RATED: LazyLock<Caps> =
    LazyLock::new(|| caps("video/x-raw(ANY); video/x-bayer(ANY); image/jpeg(ANY); image/png(ANY)"));

/// Both pads of `imagefreeze`.
static FROZEN: LazyLock<Caps> = LazyLock::new(|| caps("video/x-raw(ANY)"));

/// What `y4menc` takes.
static ENCODED: LazyLock<Caps> = LazyLock::new(|| {
    let formats = "IYUV, I420, Y42B, Y41B, Y444";
    caps(&raw("video/x-raw", formats, i32::MAX, ""))
});

/// What `y4mdec` gives.
static DECODED: LazyLock<Caps> =
    LazyLock::new(|| caps(&raw("video/x-raw", "I420, Y42B, Y444", i32::MAX, "")));

/// A Y4M stream.
static Y4M: LazyLock<Caps> = LazyLock::new(|| caps("application/x-yuv4mpeg, y4mversion=(int)2"));

/// What `avidemux` takes.
static AVI: LazyLock<Caps> = LazyLock::new(|| caps("video/x-msvideo"));

/// What `ivfparse` takes.
static IVF: LazyLock<Caps> = LazyLock::new(|| caps("video/x-ivf"));

/// What `wavparse` takes.
static WAV: LazyLock<Caps> = LazyLock::new(|| caps("audio/x-wav; audio/x-rf64"));

/// What `jpegparse` takes, and gives.
static JPEG: LazyLock<Caps> = LazyLock::new(|| caps("image/jpeg"));

static ANY: Caps = Caps::any();

/// Caps of the templates of a factory's sink pads or source pads.
pub(crate) fn template(factory: &str, sink: bool) -> &'static Caps {
    match (factory, sink) {
        ("videotestsrc", _) => &TEST,
        ("videoconvert" | "videoscale", _) => &CONVERTED,
        ("videorate", _) => &RATED,
        ("imagefreeze", _) => &FROZEN,
        ("avidemux", true) => &AVI,
        ("ivfparse", true) => &IVF,
        ("wavparse", true) => &WAV,
        ("jpegparse", _) => &JPEG,
        ("y4menc", true) => &ENCODED,
        ("y4mdec", false) => &DECODED,
        ("y4menc", false) | ("y4mdec", true) => &Y4M,
        _ => &ANY,
    }
}

/// What a pad's caps take over from the other side of its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Across {
    /// Nothing: its template is all that it says.
    Nothing,
    /// All.
    All,
    /// All but these fields, in system memory; all in any other.
    But(&'static [&'static str]),
    /// All but the rate, in any memory; see [`Rates`].
    Rates,
}

/// What crosses a factory's elements while they are linked.
pub(crate) fn across(factory: &str) -> Across {
    match factory {
        "capsfilter" | "identity" | "queue" | "tee" | "valve" => Across::All,
        "videoconvert" => Across::But(&["format", "colorimetry", "chroma-site"]),
        "videoscale" => Across::But(&["width", "height", "pixel-aspect-ratio"]),
        "videorate" | "imagefreeze" => Across::Rates,
        _ => Across::Nothing,
    }
}

impl Across {
    /// What is left of the caps of the other side.
    pub(crate) fn of(self, caps: &Caps) -> Caps {
        let (Across::But(fields), false) = (self, caps.is_any()) else {
            return match self {
                Across::Nothing => Caps::any(),
                _ => caps.clone(),
            };
        };
        let less = |structure: &Structure| {
            let mut structure = structure.clone();
            if *structure.features() == Features::System {
                structure.retain(|name, _| !fields.contains(&name));
            }
            structure
        };
        let mut left = Caps::empty();
        for structure in caps.structures() {
            // It holds no more than the caps that were within their limits.
            if left.push(less(structure)).is_err() {
                return Caps::any();
            }
        }
        left
    }
}

/// The rates that an element which changes them has on one pad, by what the other one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rates {
    /// Any on either pad.
    Free,
    /// At most so much is given.
    UpTo(i32),
    /// At most so much is given, and no more than is taken.
    Dropping(i32),
}

impl Rates {
    /// The caps of the sink pad, or the source pad, where the other one has these.
    pub(crate) fn of(self, caps: &Caps, sink: bool) -> Caps {
        let mut all = Caps::empty();
        for structure in caps.structures() {
            for rates in self.rates(structure.get("framerate"), sink) {
                let mut structure = structure.clone();
                let pushed = match rates {
                    Some(rates) => structure.set("framerate", rates).is_ok(),
                    None => true,
                };
                // It holds little more than the caps that were within their limits.
                if !pushed || all.push(structure).is_err() {
                    return Caps::any();
                }
            }
        }
        all
    }

    /// The sets of rates on the sink pad, or the source pad; `None` for what the other one has.
    fn rates(self, theirs: Option<&ValueSet>, sink: bool) -> Vec<Option<ValueSet>> {
        let (zero, top) = (whole(0), whole(i32::MAX));
        match (self, sink) {
            (Rates::Free, _) => vec![range(zero, top)],
            (Rates::UpTo(_), true) => match theirs {
                Some(_) => vec![range(zero, top)],
                None => vec![None],
            },
            (Rates::UpTo(max), false) => vec![range(zero, whole(max))],
            (Rates::Dropping(max), true) => {
                let low = met(theirs, max).and_then(|met| bound(&met, zero));
                let low = low.unwrap_or(zero);
                let mut all = vec![range(low, top)];
                if low != zero {
                    all.push(range(zero, zero));
                }
                all
            }
            (Rates::Dropping(max), false) => {
                let high = met(theirs, max).and_then(|met| bound(&met, top));
                match high {
                    Some(high) if high == zero => vec![None],
                    high => vec![range(zero, high.unwrap_or(whole(max)))],
                }
            }
        }
    }
}

fn whole(n: i32) -> Fraction {
    Fraction::of(n, 1)
}

fn range(low: Fraction, high: Fraction) -> Option<ValueSet> {
    ValueSet::fraction_range(low, high).ok()
}

/// What there is of rates up to the highest.
fn met(rates: Option<&ValueSet>, max: i32) -> Option<ValueSet> {
    rates?.intersect(&range(whole(0), whole(max))?)
}

/// The rate that is nearest.
fn bound(rates: &ValueSet, to: Fraction) -> Option<Fraction> {
    match rates.nearest(&Value::Fraction(to))? {
        Value::Fraction(found) => Some(found),
        _ => None,
    }
}
