//! Writable properties of GStreamer 1.22's elements of names that this engine has too, and of bins,
//! as `gst-inspect-1.0` tells them: type, default of the type's description, range. Data only.

use super::choices::*;

/// One value of an enumeration: number, nick and long name.
pub(super) type Choice = (i64, &'static str, &'static str);

/// One flag of a set: number and nick.
pub(super) type Value = (i64, &'static str);

/// Type of a property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `gboolean`.
    Truth,
    /// `gint`.
    Int,
    /// `guint`.
    Uint,
    /// `gint64`.
    Int64,
    /// `guint64`.
    Uint64,
    /// `gfloat`.
    Float,
    /// `gdouble`.
    Double,
    /// An enumeration.
    Choice(&'static [Choice]),
    /// A set of flags.
    Flags(&'static [Value]),
    /// Text.
    Text,
    /// Caps.
    Caps,
}

/// The default of a property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Default {
    Truth(bool),
    Whole(i128),
    Real(f64),
    Nick(&'static str),
    Nothing,
}

/// A property.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Lowest and highest whole number, where not those of the type.
    pub range: Option<(i128, i128)>,
    /// Lowest and highest real number.
    pub real_range: Option<(f64, f64)>,
    /// What is set is forgotten.
    pub(super) forgets: bool,
    pub(super) default: Default,
}

impl Fact {
    const fn of(name: &'static str, kind: Kind, default: Default) -> Fact {
        Fact {
            name,
            kind,
            range: None,
            real_range: None,
            forgets: false,
            default,
        }
    }

    const fn within(self, min: i128, max: i128) -> Fact {
        Fact {
            range: Some((min, max)),
            ..self
        }
    }
}

/// A factory.
#[derive(Debug)]
pub(crate) struct FactoryFacts {
    /// Its name.
    pub name: &'static str,
    facts: &'static [&'static [Fact]],
}

impl FactoryFacts {
    /// The property of that name.
    pub(crate) fn property(&self, name: &str) -> Option<&'static Fact> {
        let mut all = self.facts.iter().copied().flatten();
        all.find(|fact| fact.name == name)
    }

    /// All properties.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &'static Fact> {
        self.facts.iter().copied().flatten()
    }
}

/// Values with which elements start that are not the defaults of the descriptions.
const STARTS: &[(&str, &str, Default)] = &[
    ("fakesink", "sync", Default::Truth(false)),
    ("filesink", "sync", Default::Truth(false)),
    ("fakesrc", "filltype", Default::Nick("nothing")),
    ("videoconvert", "qos", Default::Truth(true)),
    ("videoscale", "qos", Default::Truth(true)),
];

/// The value that a property of a new element has, where it is not its default.
pub(super) fn start(factory: &str, property: &str) -> Option<Default> {
    let found = STARTS.iter().find(|s| (s.0, s.1) == (factory, property));
    found.map(|s| s.2)
}

/// What is known of the factory of that name.
pub(crate) fn factory(name: &str) -> Option<&'static FactoryFacts> {
    FACTORIES.iter().find(|factory| factory.name == name)
}

/// Whether a property of GStreamer's holds an object, which no text is, where this engine's own of
/// that name takes one.
pub(crate) fn takes_no_text(factory: &str, property: &str) -> bool {
    matches!(factory, "input-selector" | "output-selector") && property == "active-pad"
}

const fn truth(name: &'static str, default: bool) -> Fact {
    Fact::of(name, Kind::Truth, Default::Truth(default))
}

const fn int(name: &'static str, default: i128) -> Fact {
    Fact::of(name, Kind::Int, Default::Whole(default))
}

const fn uint(name: &'static str, default: i128) -> Fact {
    Fact::of(name, Kind::Uint, Default::Whole(default))
}

const fn int64(name: &'static str, default: i128) -> Fact {
    Fact::of(name, Kind::Int64, Default::Whole(default))
}

const fn uint64(name: &'static str, default: i128) -> Fact {
    Fact::of(name, Kind::Uint64, Default::Whole(default))
}

const fn real(name: &'static str, kind: Kind, default: f64, min: f64, max: f64) -> Fact {
    Fact {
        real_range: Some((min, max)),
        ..Fact::of(name, kind, Default::Real(default))
    }
}

const fn float(name: &'static str, default: f64, min: f64, max: f64) -> Fact {
    real(name, Kind::Float, default, min, max)
}

const fn double(name: &'static str, default: f64, min: f64, max: f64) -> Fact {
    real(name, Kind::Double, default, min, max)
}

const fn choice(name: &'static str, default: &'static str, values: &'static [Choice]) -> Fact {
    Fact::of(name, Kind::Choice(values), Default::Nick(default))
}

const fn flags(name: &'static str, values: &'static [Value]) -> Fact {
    Fact::of(name, Kind::Flags(values), Default::Whole(0))
}

const fn text(name: &'static str) -> Fact {
    Fact::of(name, Kind::Text, Default::Nothing)
}

const fn caps(name: &'static str) -> Fact {
    Fact::of(name, Kind::Caps, Default::Nothing)
}

const BASE_SRC: &[Fact] = &[
    uint("blocksize", 4096),
    int("num-buffers", -1).within(-1, i32::MAX as i128),
    truth("typefind", false),
    truth("do-timestamp", false),
];

const BASE_SINK: &[Fact] = &[
    truth("sync", true),
    int64("max-lateness", -1).within(-1, i64::MAX as i128),
    truth("qos", false),
    truth("async", true),
    int64("ts-offset", 0),
    truth("enable-last-sample", true),
    uint("blocksize", 4096),
    uint64("render-delay", 0),
    uint64("throttle-time", 0),
    uint64("max-bitrate", 0),
    uint64("processing-deadline", 20_000_000),
];

const CONVERT_SCALE: &[Fact] = &[
    choice("method", "bilinear", VIDEO_SCALE_METHOD),
    truth("add-borders", true),
    double("sharpness", 1.0, 0.5, 1.5),
    double("sharpen", 0.0, 0.0, 1.0),
    choice("dither", "bayer", VIDEO_DITHER_METHOD),
    double("envelope", 2.0, 1.0, 5.0),
    uint("n-threads", 1),
    uint("dither-quantization", 1),
    choice("chroma-resampler", "linear", VIDEO_RESAMPLER_METHOD),
    choice("alpha-mode", "copy", VIDEO_ALPHA_MODE),
    double("alpha-value", 1.0, 0.0, 1.0),
    choice("chroma-mode", "full", VIDEO_CHROMA_MODE),
    choice("matrix-mode", "full", VIDEO_MATRIX_MODE),
    choice("gamma-mode", "none", VIDEO_GAMMA_MODE),
    choice("primaries-mode", "none", VIDEO_PRIMARIES_MODE),
];

const TRANSFORM: &[Fact] = &[truth("qos", false)];

const BIN: &[Fact] = &[
    truth("async-handling", false),
    truth("message-forward", false),
];

const CAPSFILTER: &[Fact] = &[
    caps("caps"),
    choice(
        "caps-change-mode",
        "immediate",
        CAPS_FILTER_CAPS_CHANGE_MODE,
    ),
];

const CONCAT: &[Fact] = &[truth("adjust-base", true)];

const FAKESINK: &[Fact] = &[
    choice("state-error", "none", FAKE_SINK_STATE_ERROR),
    truth("silent", true),
    truth("dump", false),
    truth("signal-handoffs", false),
    truth("drop-out-of-segment", true),
    truth("can-activate-push", true),
    truth("can-activate-pull", false),
    int("num-buffers", -1).within(-1, i32::MAX as i128),
];

const FAKESRC: &[Fact] = &[
    choice("data", "allocate", FAKE_SRC_DATA_TYPE),
    choice("sizetype", "empty", FAKE_SRC_SIZE_TYPE),
    int("sizemin", 0).within(0, i32::MAX as i128),
    int("sizemax", 4096).within(0, i32::MAX as i128),
    choice("filltype", "zero", FAKE_SRC_FILL_TYPE),
    int("datarate", 0).within(0, i32::MAX as i128),
    truth("sync", false),
    Fact {
        forgets: true,
        ..text("pattern")
    },
    truth("signal-handoffs", false),
    truth("silent", true),
    truth("dump", false),
    int("parentsize", 40_960).within(0, i32::MAX as i128),
    truth("can-activate-pull", true),
    truth("can-activate-push", true),
    truth("is-live", false),
    choice("format", "bytes", FORMAT),
];

const FILESINK: &[Fact] = &[
    text("location"),
    choice("buffer-mode", "default", FILE_SINK_BUFFER_MODE),
    uint("buffer-size", 65_536),
    truth("append", false),
    truth("o-sync", false),
    int("max-transient-error-timeout", 0).within(0, i32::MAX as i128),
];

const FILESRC: &[Fact] = &[text("location")];

const FUNNEL: &[Fact] = &[truth("forward-sticky-events", true)];

const IDENTITY: &[Fact] = &[
    uint("sleep-time", 0),
    int("error-after", -1).within(-1, i32::MAX as i128),
    float("drop-probability", 0.0, 0.0, 1.0),
    flags("drop-buffer-flags", BUFFER_FLAGS),
    int("datarate", 0).within(0, i32::MAX as i128),
    truth("silent", true),
    truth("single-segment", false),
    truth("dump", false),
    truth("sync", false),
    int64("ts-offset", 0),
    truth("check-imperfect-timestamp", false),
    truth("check-imperfect-offset", false),
    truth("signal-handoffs", true),
    truth("drop-allocation", false),
    int("eos-after", -1).within(-1, i32::MAX as i128),
];

const IMAGEFREEZE: &[Fact] = &[
    int("num-buffers", -1).within(-1, i32::MAX as i128),
    truth("allow-replace", false),
    truth("is-live", false),
];

const INPUT_SELECTOR: &[Fact] = &[
    truth("sync-streams", true),
    choice("sync-mode", "active-segment", INPUT_SELECTOR_SYNC_MODE),
    truth("cache-buffers", false),
    truth("drop-backwards", false),
];

const OUTPUT_SELECTOR: &[Fact] = &[
    truth("resend-latest", false),
    choice(
        "pad-negotiation-mode",
        "all",
        OUTPUT_SELECTOR_PAD_NEGOTIATION_MODE,
    ),
];

const PIPELINE: &[Fact] = &[
    truth("async-handling", false),
    truth("message-forward", false),
    uint64("delay", 0),
    truth("auto-flush-bus", true),
    uint64("latency", u64::MAX as i128),
];

const QUEUE: &[Fact] = &[
    uint("max-size-buffers", 200),
    uint("max-size-bytes", 10_485_760),
    uint64("max-size-time", 1_000_000_000),
    uint("min-threshold-buffers", 0),
    uint("min-threshold-bytes", 0),
    uint64("min-threshold-time", 0),
    choice("leaky", "no", QUEUE_LEAKY),
    truth("silent", false),
    truth("flush-on-eos", false),
];

const TEE: &[Fact] = &[
    truth("has-chain", true),
    truth("silent", true),
    choice("pull-mode", "never", TEE_PULL_MODE),
    truth("allow-not-linked", false),
];

const VALVE: &[Fact] = &[
    truth("drop", false),
    choice("drop-mode", "drop-all", VALVE_DROP_MODE),
];

const VIDEORATE: &[Fact] = &[
    truth("silent", true),
    double("new-pref", 1.0, 0.0, 1.0),
    truth("skip-to-first", false),
    truth("drop-only", false),
    uint64("average-period", 0).within(0, i64::MAX as i128),
    int("max-rate", i32::MAX as i128).within(1, i32::MAX as i128),
    double("rate", 1.0, 0.0, f64::MAX),
    uint64("max-duplication-time", 0),
    uint64("max-closing-segment-duplication-duration", 1_000_000_000),
];

const VIDEOSCALE: &[Fact] = &[truth("gamma-decode", false)];

const VIDEOTESTSRC: &[Fact] = &[
    choice("pattern", "smpte", VIDEO_TEST_SRC_PATTERN),
    int64("timestamp-offset", 0).within(0, i64::MAX as i128),
    truth("is-live", false),
    int("k0", 0),
    int("kx", 0),
    int("ky", 0),
    int("kt", 0),
    int("kxt", 0),
    int("kyt", 0),
    int("kxy", 0),
    int("kx2", 0),
    int("ky2", 0),
    int("kt2", 0),
    int("xoffset", 0),
    int("yoffset", 0),
    uint("foreground-color", u32::MAX as i128),
    uint("background-color", 4_278_190_080),
    int("horizontal-speed", 0),
    choice("animation-mode", "frames", VIDEO_TEST_SRC_ANIMATION_MODE),
    choice("motion", "wavy", VIDEO_TEST_SRC_MOTION_TYPE),
    truth("flip", false),
];

const APPSRC: &[Fact] = &[
    truth("block", false),
    caps("caps"),
    uint64("duration", u64::MAX as i128),
    truth("emit-signals", true),
    choice("format", "bytes", FORMAT),
    truth("handle-segment-change", false),
    truth("is-live", false),
    choice("leaky-type", "none", APP_LEAKY_TYPE),
    uint64("max-buffers", 0),
    uint64("max-bytes", 200_000),
    int64("max-latency", -1).within(-1, i64::MAX as i128),
    uint64("max-time", 0),
    int64("min-latency", -1).within(-1, i64::MAX as i128),
    uint("min-percent", 0).within(0, 100),
    int64("size", -1).within(-1, i64::MAX as i128),
    choice("stream-type", "stream", APP_STREAM_TYPE),
];

const APPSINK: &[Fact] = &[
    truth("buffer-list", false),
    caps("caps"),
    truth("drop", false),
    truth("emit-signals", false),
    uint("max-buffers", 0),
    truth("wait-on-eos", true),
];

const Y4MENC: &[Fact] = &[uint64("min-force-key-unit-interval", 0)];

/// `GstBaseParse`.
const PARSE: &[Fact] = &[truth("disable-passthrough", false)];

const WAVPARSE: &[Fact] = &[truth("ignore-length", false)];

/// All factories, by name.
pub(super) const FACTORIES: &[FactoryFacts] = &[
    FactoryFacts {
        name: "appsink",
        facts: &[BASE_SINK, APPSINK],
    },
    FactoryFacts {
        name: "appsrc",
        facts: &[BASE_SRC, APPSRC],
    },
    FactoryFacts {
        name: "avidemux",
        facts: &[],
    },
    FactoryFacts {
        name: "bin",
        facts: &[BIN],
    },
    FactoryFacts {
        name: "capsfilter",
        facts: &[TRANSFORM, CAPSFILTER],
    },
    FactoryFacts {
        name: "concat",
        facts: &[CONCAT],
    },
    FactoryFacts {
        name: "fakesink",
        facts: &[BASE_SINK, FAKESINK],
    },
    FactoryFacts {
        name: "fakesrc",
        facts: &[BASE_SRC, FAKESRC],
    },
    FactoryFacts {
        name: "filesink",
        facts: &[BASE_SINK, FILESINK],
    },
    FactoryFacts {
        name: "filesrc",
        facts: &[BASE_SRC, FILESRC],
    },
    FactoryFacts {
        name: "funnel",
        facts: &[FUNNEL],
    },
    FactoryFacts {
        name: "identity",
        facts: &[TRANSFORM, IDENTITY],
    },
    FactoryFacts {
        name: "imagefreeze",
        facts: &[IMAGEFREEZE],
    },
    FactoryFacts {
        name: "input-selector",
        facts: &[INPUT_SELECTOR],
    },
    FactoryFacts {
        name: "ivfparse",
        facts: &[PARSE],
    },
    FactoryFacts {
        name: "jpegparse",
        facts: &[PARSE],
    },
    FactoryFacts {
        name: "output-selector",
        facts: &[OUTPUT_SELECTOR],
    },
    FactoryFacts {
        name: "pipeline",
        facts: &[PIPELINE],
    },
    FactoryFacts {
        name: "queue",
        facts: &[QUEUE],
    },
    FactoryFacts {
        name: "tee",
        facts: &[TEE],
    },
    FactoryFacts {
        name: "valve",
        facts: &[VALVE],
    },
    FactoryFacts {
        name: "videoconvert",
        facts: &[TRANSFORM, CONVERT_SCALE],
    },
    FactoryFacts {
        name: "videorate",
        facts: &[TRANSFORM, VIDEORATE],
    },
    FactoryFacts {
        name: "videoscale",
        facts: &[TRANSFORM, CONVERT_SCALE, VIDEOSCALE],
    },
    FactoryFacts {
        name: "videotestsrc",
        facts: &[BASE_SRC, VIDEOTESTSRC],
    },
    FactoryFacts {
        name: "wavparse",
        facts: &[WAVPARSE],
    },
    FactoryFacts {
        name: "y4mdec",
        facts: &[],
    },
    FactoryFacts {
        name: "y4menc",
        facts: &[TRANSFORM, Y4MENC],
    },
];
