//! Nicks and numbers of the enumerations and flags of those properties. Data only.

use super::properties::Value;

pub(super) const CAPS_FILTER_CAPS_CHANGE_MODE: &[Value] = &[(0, "immediate"), (1, "delayed")];

pub(super) const FAKE_SINK_STATE_ERROR: &[Value] = &[
    (0, "none"),
    (1, "null-to-ready"),
    (2, "ready-to-paused"),
    (3, "paused-to-playing"),
    (4, "playing-to-paused"),
    (5, "paused-to-ready"),
    (6, "ready-to-null"),
];

pub(super) const FAKE_SRC_DATA_TYPE: &[Value] = &[(1, "allocate"), (2, "subbuffer")];

pub(super) const FAKE_SRC_FILL_TYPE: &[Value] = &[
    (1, "nothing"),
    (2, "zero"),
    (3, "random"),
    (4, "pattern"),
    (5, "pattern-span"),
];

pub(super) const FAKE_SRC_SIZE_TYPE: &[Value] = &[(1, "empty"), (2, "fixed"), (3, "random")];

pub(super) const FILE_SINK_BUFFER_MODE: &[Value] =
    &[(-1, "default"), (0, "full"), (1, "line"), (2, "unbuffered")];

pub(super) const FORMAT: &[Value] = &[
    (0, "undefined"),
    (1, "default"),
    (2, "bytes"),
    (3, "time"),
    (4, "buffers"),
    (5, "percent"),
];

pub(super) const INPUT_SELECTOR_SYNC_MODE: &[Value] = &[(0, "active-segment"), (1, "clock")];

pub(super) const OUTPUT_SELECTOR_PAD_NEGOTIATION_MODE: &[Value] =
    &[(0, "none"), (1, "all"), (2, "active")];

pub(super) const QUEUE_LEAKY: &[Value] = &[(0, "no"), (1, "upstream"), (2, "downstream")];

pub(super) const TEE_PULL_MODE: &[Value] = &[(0, "never"), (1, "single")];

pub(super) const VALVE_DROP_MODE: &[Value] = &[
    (0, "drop-all"),
    (1, "forward-sticky-events"),
    (2, "transform-to-gap"),
];

pub(super) const VIDEO_ALPHA_MODE: &[Value] = &[(0, "copy"), (1, "set"), (2, "mult")];

pub(super) const VIDEO_CHROMA_MODE: &[Value] = &[
    (0, "full"),
    (1, "upsample-only"),
    (2, "downsample-only"),
    (3, "none"),
];

pub(super) const VIDEO_DITHER_METHOD: &[Value] = &[
    (0, "none"),
    (1, "verterr"),
    (2, "floyd-steinberg"),
    (3, "sierra-lite"),
    (4, "bayer"),
];

pub(super) const VIDEO_GAMMA_MODE: &[Value] = &[(0, "none"), (1, "remap")];

pub(super) const VIDEO_MATRIX_MODE: &[Value] = &[
    (0, "full"),
    (1, "input-only"),
    (2, "output-only"),
    (3, "none"),
];

pub(super) const VIDEO_PRIMARIES_MODE: &[Value] = &[(0, "none"), (1, "merge-only"), (2, "fast")];

pub(super) const VIDEO_RESAMPLER_METHOD: &[Value] = &[
    (0, "nearest"),
    (1, "linear"),
    (2, "cubic"),
    (3, "sinc"),
    (4, "lanczos"),
];

pub(super) const VIDEO_SCALE_METHOD: &[Value] = &[
    (0, "nearest-neighbour"),
    (1, "bilinear"),
    (2, "4-tap"),
    (3, "lanczos"),
    (4, "bilinear2"),
    (5, "sinc"),
    (6, "hermite"),
    (7, "spline"),
    (8, "catrom"),
    (9, "mitchell"),
];

pub(super) const VIDEO_TEST_SRC_ANIMATION_MODE: &[Value] =
    &[(0, "frames"), (1, "wall-time"), (2, "running-time")];

pub(super) const VIDEO_TEST_SRC_MOTION_TYPE: &[Value] = &[(0, "wavy"), (1, "sweep"), (2, "hsweep")];

pub(super) const VIDEO_TEST_SRC_PATTERN: &[Value] = &[
    (0, "smpte"),
    (1, "snow"),
    (2, "black"),
    (3, "white"),
    (4, "red"),
    (5, "green"),
    (6, "blue"),
    (7, "checkers-1"),
    (8, "checkers-2"),
    (9, "checkers-4"),
    (10, "checkers-8"),
    (11, "circular"),
    (12, "blink"),
    (13, "smpte75"),
    (14, "zone-plate"),
    (15, "gamut"),
    (16, "chroma-zone-plate"),
    (17, "solid-color"),
    (18, "ball"),
    (19, "smpte100"),
    (20, "bar"),
    (21, "pinwheel"),
    (22, "spokes"),
    (23, "gradient"),
    (24, "colors"),
    (25, "smpte-rp-219"),
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
