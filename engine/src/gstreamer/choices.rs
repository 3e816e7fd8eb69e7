//! Numbers, nicks and long names of the enumerations, and numbers and nicks of the flags, of those properties. Data only.

use super::properties::{Choice, Value};

pub(super) const CAPS_FILTER_CAPS_CHANGE_MODE: &[Choice] = &[
    (0, "immediate", "Only accept the current filter caps"),
    (1, "delayed", "Temporarily accept previous filter caps"),
];

pub(super) const FAKE_SINK_STATE_ERROR: &[Choice] = &[
    (0, "none", "No state change errors"),
    (1, "null-to-ready", "Fail state change from NULL to READY"),
    (
        2,
        "ready-to-paused",
        "Fail state change from READY to PAUSED",
    ),
    (
        3,
        "paused-to-playing",
        "Fail state change from PAUSED to PLAYING",
    ),
    (
        4,
        "playing-to-paused",
        "Fail state change from PLAYING to PAUSED",
    ),
    (
        5,
        "paused-to-ready",
        "Fail state change from PAUSED to READY",
    ),
    (6, "ready-to-null", "Fail state change from READY to NULL"),
];

pub(super) const FAKE_SRC_DATA_TYPE: &[Choice] = &[
    (1, "allocate", "Allocate data"),
    (2, "subbuffer", "Subbuffer data"),
];

pub(super) const FAKE_SRC_FILL_TYPE: &[Choice] = &[
    (1, "nothing", "Leave data as malloced"),
    (2, "zero", "Fill buffers with zeros"),
    (3, "random", "Fill buffers with random data"),
    (4, "pattern", "Fill buffers with pattern 0x00 -> 0xff"),
    (
        5,
        "pattern-span",
        "Fill buffers with pattern 0x00 -> 0xff that spans buffers",
    ),
];

pub(super) const FAKE_SRC_SIZE_TYPE: &[Choice] = &[
    (1, "empty", "Send empty buffers"),
    (2, "fixed", "Fixed size buffers (sizemax sized)"),
    (
        3,
        "random",
        "Random sized buffers (sizemin <= size <= sizemax)",
    ),
];

pub(super) const FILE_SINK_BUFFER_MODE: &[Choice] = &[
    (-1, "default", "Default buffering"),
    (0, "full", "Fully buffered"),
    (1, "line", "Line buffered (deprecated, like full)"),
    (2, "unbuffered", "Unbuffered"),
];

pub(super) const FORMAT: &[Choice] = &[
    (0, "undefined", "GST_FORMAT_UNDEFINED"),
    (1, "default", "GST_FORMAT_DEFAULT"),
    (2, "bytes", "GST_FORMAT_BYTES"),
    (3, "time", "GST_FORMAT_TIME"),
    (4, "buffers", "GST_FORMAT_BUFFERS"),
    (5, "percent", "GST_FORMAT_PERCENT"),
];

pub(super) const INPUT_SELECTOR_SYNC_MODE: &[Choice] = &[
    (0, "active-segment", "Sync using the current active segment"),
    (1, "clock", "Sync using the clock"),
];

pub(super) const OUTPUT_SELECTOR_PAD_NEGOTIATION_MODE: &[Choice] = &[
    (0, "none", "None"),
    (1, "all", "All"),
    (2, "active", "Active"),
];

pub(super) const QUEUE_LEAKY: &[Choice] = &[
    (0, "no", "Not Leaky"),
    (1, "upstream", "Leaky on upstream (new buffers)"),
    (2, "downstream", "Leaky on downstream (old buffers)"),
];

pub(super) const TEE_PULL_MODE: &[Choice] = &[
    (0, "never", "Never activate in pull mode"),
    (1, "single", "Only one src pad can be active in pull mode"),
];

pub(super) const VALVE_DROP_MODE: &[Choice] = &[
    (0, "drop-all", "Drop all buffers and events"),
    (
        1,
        "forward-sticky-events",
        "Drop all buffers but forward sticky events",
    ),
    (
        2,
        "transform-to-gap",
        "Convert all dropped buffers into gap events and forward sticky events",
    ),
];

pub(super) const VIDEO_ALPHA_MODE: &[Choice] = &[
    (0, "copy", "GST_VIDEO_ALPHA_MODE_COPY"),
    (1, "set", "GST_VIDEO_ALPHA_MODE_SET"),
    (2, "mult", "GST_VIDEO_ALPHA_MODE_MULT"),
];

pub(super) const VIDEO_CHROMA_MODE: &[Choice] = &[
    (0, "full", "GST_VIDEO_CHROMA_MODE_FULL"),
    (1, "upsample-only", "GST_VIDEO_CHROMA_MODE_UPSAMPLE_ONLY"),
    (
        2,
        "downsample-only",
        "GST_VIDEO_CHROMA_MODE_DOWNSAMPLE_ONLY",
    ),
    (3, "none", "GST_VIDEO_CHROMA_MODE_NONE"),
];

pub(super) const VIDEO_DITHER_METHOD: &[Choice] = &[
    (0, "none", "GST_VIDEO_DITHER_NONE"),
    (1, "verterr", "GST_VIDEO_DITHER_VERTERR"),
    (2, "floyd-steinberg", "GST_VIDEO_DITHER_FLOYD_STEINBERG"),
    (3, "sierra-lite", "GST_VIDEO_DITHER_SIERRA_LITE"),
    (4, "bayer", "GST_VIDEO_DITHER_BAYER"),
];

pub(super) const VIDEO_GAMMA_MODE: &[Choice] = &[
    (0, "none", "GST_VIDEO_GAMMA_MODE_NONE"),
    (1, "remap", "GST_VIDEO_GAMMA_MODE_REMAP"),
];

pub(super) const VIDEO_MATRIX_MODE: &[Choice] = &[
    (0, "full", "GST_VIDEO_MATRIX_MODE_FULL"),
    (1, "input-only", "GST_VIDEO_MATRIX_MODE_INPUT_ONLY"),
    (2, "output-only", "GST_VIDEO_MATRIX_MODE_OUTPUT_ONLY"),
    (3, "none", "GST_VIDEO_MATRIX_MODE_NONE"),
];

pub(super) const VIDEO_PRIMARIES_MODE: &[Choice] = &[
    (0, "none", "GST_VIDEO_PRIMARIES_MODE_NONE"),
    (1, "merge-only", "GST_VIDEO_PRIMARIES_MODE_MERGE_ONLY"),
    (2, "fast", "GST_VIDEO_PRIMARIES_MODE_FAST"),
];

pub(super) const VIDEO_RESAMPLER_METHOD: &[Choice] = &[
    (0, "nearest", "GST_VIDEO_RESAMPLER_METHOD_NEAREST"),
    (1, "linear", "GST_VIDEO_RESAMPLER_METHOD_LINEAR"),
    (2, "cubic", "GST_VIDEO_RESAMPLER_METHOD_CUBIC"),
    (3, "sinc", "GST_VIDEO_RESAMPLER_METHOD_SINC"),
    (4, "lanczos", "GST_VIDEO_RESAMPLER_METHOD_LANCZOS"),
];

pub(super) const VIDEO_SCALE_METHOD: &[Choice] = &[
    (0, "nearest-neighbour", "Nearest Neighbour"),
    (1, "bilinear", "Bilinear (2-tap)"),
    (2, "4-tap", "4-tap Sinc"),
    (3, "lanczos", "Lanczos"),
    (4, "bilinear2", "Bilinear (multi-tap)"),
    (5, "sinc", "Sinc (multi-tap)"),
    (6, "hermite", "Hermite (multi-tap)"),
    (7, "spline", "Spline (multi-tap)"),
    (8, "catrom", "Catmull-Rom (multi-tap)"),
    (9, "mitchell", "Mitchell (multi-tap)"),
];

pub(super) const VIDEO_TEST_SRC_ANIMATION_MODE: &[Choice] = &[
    (0, "frames", "frame count"),
    (1, "wall-time", "wall clock time"),
    (2, "running-time", "running time"),
];

pub(super) const VIDEO_TEST_SRC_MOTION_TYPE: &[Choice] = &[
    (0, "wavy", "Ball waves back and forth, up and down"),
    (1, "sweep", "1 revolution per second"),
    (2, "hsweep", "1/2 revolution per second, then reset to top"),
];

pub(super) const VIDEO_TEST_SRC_PATTERN: &[Choice] = &[
    (0, "smpte", "SMPTE 100% color bars"),
    (1, "snow", "Random (television snow)"),
    (2, "black", "100% Black"),
    (3, "white", "100% White"),
    (4, "red", "Red"),
    (5, "green", "Green"),
    (6, "blue", "Blue"),
    (7, "checkers-1", "Checkers 1px"),
    (8, "checkers-2", "Checkers 2px"),
    (9, "checkers-4", "Checkers 4px"),
    (10, "checkers-8", "Checkers 8px"),
    (11, "circular", "Circular"),
    (12, "blink", "Blink"),
    (13, "smpte75", "SMPTE 75% color bars"),
    (14, "zone-plate", "Zone plate"),
    (15, "gamut", "Gamut checkers"),
    (16, "chroma-zone-plate", "Chroma zone plate"),
    (17, "solid-color", "Solid color"),
    (18, "ball", "Moving ball"),
    (19, "smpte100", "SMPTE 100% color bars"),
    (20, "bar", "Bar"),
    (21, "pinwheel", "Pinwheel"),
    (22, "spokes", "Spokes"),
    (23, "gradient", "Gradient"),
    (24, "colors", "Colors"),
    (25, "smpte-rp-219", "SMPTE test pattern, RP 219 conformant"),
];

pub(super) const BUFFER_FLAGS: &[Value] = &[
    (0x10, "live"),
    (0x20, "decode-only"),
    (0x40, "discont"),
    (0x80, "resync"),
    (0x100, "corrupted"),
    (0x200, "marker"),
    (0x400, "header"),
    (0x800, "gap"),
    (0x1000, "droppable"),
    (0x2000, "delta-unit"),
    (0x4000, "tag-memory"),
    (0x8000, "sync-after"),
    (0x10000, "non-droppable"),
];

pub(super) const APP_LEAKY_TYPE: &[Choice] = &[
    (0, "none", "GST_APP_LEAKY_TYPE_NONE"),
    (1, "upstream", "GST_APP_LEAKY_TYPE_UPSTREAM"),
    (2, "downstream", "GST_APP_LEAKY_TYPE_DOWNSTREAM"),
];

pub(super) const APP_STREAM_TYPE: &[Choice] = &[
    (0, "stream", "GST_APP_STREAM_TYPE_STREAM"),
    (1, "seekable", "GST_APP_STREAM_TYPE_SEEKABLE"),
    (2, "random-access", "GST_APP_STREAM_TYPE_RANDOM_ACCESS"),
];
