//! The properties that all sinks have of how they keep time, as in GStreamer.

/// The properties of a sink's `terms`, a field of its settings that is a
/// [`SinkTerms`](tickpipe_components::fabric::SinkTerms). They are read when a graph starts.
#[macro_export]
macro_rules! sink_terms {
    () => {
        vec![
            $crate::sink_terms!(@flag sync, "sync",
                "Hold each buffer until its running time; the clock `free` never waits"),
            $crate::sink_terms!(@number max_lateness, "max-lateness", -1,
                "Nanoseconds by which a buffer may be late before it is dropped; -1 drops none"),
            $crate::sink_terms!(@flag qos, "qos",
                "Tell those upstream how late each buffer comes"),
            $crate::sink_terms!(@number ts_offset, "ts-offset", i64::MIN,
                "Nanoseconds added to when a buffer is due"),
            $crate::sink_terms!(@number render_delay, "render-delay", 0,
                "Nanoseconds from when a buffer is given to when it is seen: it is due so much earlier"),
            $crate::sink_terms!(@number throttle_time, "throttle-time", 0,
                "Nanoseconds that must lie between two buffers, else one is dropped; 0 drops none"),
        ]
    };
    (@flag $field:ident, $name:literal, $about:literal) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Bool,
            |s: &Self| $crate::PropertyValue::Bool(s.terms.$field),
            |s: &mut Self, v| {
                if let $crate::PropertyValue::Bool(v) = v {
                    s.terms.$field = v;
                }
            },
        )
    };
    (@number $field:ident, $name:literal, $min:expr, $about:literal) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Int { min: $min, max: i64::MAX },
            |s: &Self| $crate::PropertyValue::Int(s.terms.$field as i64),
            |s: &mut Self, v| {
                if let $crate::PropertyValue::Int(v) = v {
                    s.terms.$field = v as _;
                }
            },
        )
    };
}

/// The names of those properties: they can be set in READY only.
pub(crate) const TERMS: &[&str] = &[
    "sync",
    "max-lateness",
    "qos",
    "ts-offset",
    "render-delay",
    "throttle-time",
];
