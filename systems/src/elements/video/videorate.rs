//! `videorate`: another frame rate, by dropping and repeating frames.
//!
//! With output rate r there is a frame for each k of 0, 1, 2, … with k/r before the end of the
//! input, which is the end of its last frame: 25 frames from 25/1 to 50/1 are 50, where GStreamer
//! makes 49. It is the frame whose time is nearest to k/r, the earlier of two that are equally
//! near, or with `choose=previous` the one that is shown then. All of that is exact, in fractions.
//!
//! A time that is a rounding of a multiple of the input's frame is taken for that multiple: 33, 67
//! and 100 ms at 30/1 are 1/30, 2/30 and 3/30 s. So frames of the same rate stay as many as they
//! were, whatever unit their times have.
//!
//! A frame goes out as a view: the same bytes with other times. Each drop and each repetition is
//! told, with the index of the frame. At an output rate of 0/1 everything passes as it is.
//!
//! `tickpipe launch 'videotestsrc num-buffers=25 ! video/x-raw,framerate=25/1 ! videorate ! video/x-raw,framerate=50/1 ! fakesink'`

use super::rating::Rating;
use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Property, Transformed, Work,
};
use crate::elements::raw_video::{FORMATS, raw_video_caps, stream_info};
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Fraction, Structure, Value, ValueSet};
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::Choice;
use tickpipe_components::stamps::OnMissing;

/// Which frame stands at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choose {
    /// The nearest, the earlier of two.
    #[default]
    Nearest,
    /// The last that began.
    Previous,
}

impl Choose {
    fn name(self) -> &'static str {
        match self {
            Choose::Nearest => "nearest",
            Choose::Previous => "previous",
        }
    }

    fn from_name(name: &str) -> Option<Choose> {
        let all = [Choose::Nearest, Choose::Previous];
        all.into_iter().find(|c| c.name() == name)
    }
}

/// Settings of `videorate`.
#[derive(Component, Clone, Debug)]
pub struct VideoRate {
    /// No frame is repeated.
    pub drop_only: bool,
    /// Nothing comes before the first frame's time.
    pub skip_to_first: bool,
    /// Most frames a second.
    pub max_rate: i32,
    /// Over a longer gap, in nanoseconds, no frame is repeated; 0 for any.
    pub max_duplication_time: i64,
    /// Which frame stands at a time.
    pub choose: Choose,
    /// About a frame without a time.
    pub missing: OnMissing,
}

impl Default for VideoRate {
    fn default() -> Self {
        VideoRate {
            drop_only: false,
            skip_to_first: false,
            max_rate: i32::MAX,
            max_duplication_time: 0,
            choose: Choose::Nearest,
            missing: OnMissing::Error,
        }
    }
}

const CHOOSE: [Choice; 2] = [
    Choice {
        number: 0,
        name: "nearest",
    },
    Choice {
        number: 1,
        name: "previous",
    },
];
const MISSING: [Choice; 3] = [
    Choice {
        number: 0,
        name: "error",
    },
    Choice {
        number: 1,
        name: "drop",
    },
    Choice {
        number: 2,
        name: "from-rate",
    },
];

impl Element for VideoRate {
    const NAME: &'static str = "videorate";
    const SUMMARY: &'static str = "Changes the frame rate";
    const KLASS: &'static str = "Filter/Effect/Video";
    const FLOW: Flow = Flow::Convert;
    const IGNORED: &'static [&'static str] = &[
        "average-period",
        "max-closing-segment-duplication-duration",
        "name",
        "new-pref",
        "parent",
        "qos",
        "rate",
        "silent",
    ];
    const READY_ONLY: &'static [&'static str] = &[
        "drop-only",
        "skip-to-first",
        "max-duplication-time",
        "choose",
        "missing",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", raw_video_caps(&FORMATS)),
            PadTemplate::source("src", raw_video_caps(&FORMATS)),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Bool,
                "drop-only",
                "Drops frames and repeats none",
                drop_only
            ),
            crate::field!(
                Bool,
                "skip-to-first",
                "Makes nothing before the time of the first frame",
                skip_to_first
            ),
            crate::field!(
                Int(1, i32::MAX as i64),
                "max-rate",
                "Most frames a second",
                max_rate
            ),
            crate::field!(
                Int(0, i64::MAX),
                "max-duplication-time",
                "Repeats no frame over a gap longer than so many nanoseconds; 0 for any",
                max_duplication_time
            ),
            crate::field!(Choice(&CHOOSE), "choose", "Which frame stands at a time: the nearest, the earlier of two; or the last that began", choose: Choose),
            crate::field!(Choice(&MISSING), "missing", "What is done about a frame without a time", missing: OnMissing),
        ]
    }

    fn transform_caps(
        &self,
        from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let most = Fraction::new(self.max_rate, 1)?;
        let rates = |low, high| ValueSet::fraction_range(low, high).ok();
        // Of a rate that is too high nothing passes as it is.
        let slow = rates(Fraction::ZERO, most)?;
        let limited = self.max_rate < i32::MAX;
        match index {
            0 if !limited => Some(Transformed::same(caps.clone())),
            0 => {
                let mut same = caps.clone();
                let own = caps.get("framerate").cloned();
                let own = own.map_or(Some(slow.clone()), |own| own.intersect(&slow))?;
                same.set("framerate", own).ok()?;
                Some(Transformed::same(same))
            }
            1 => {
                let mut free = caps.clone();
                let bound = caps.get("framerate").filter(|_| self.drop_only);
                let rates = match (bound.and_then(bounds), from.is_sink()) {
                    (Some((_, high)), true) => rates(Fraction::ZERO, high.min(most)),
                    (Some((low, _)), false) => rates(low, Fraction::MAX),
                    _ => Some(slow),
                };
                free.set("framerate", rates?).ok()?;
                Some(Transformed::converting(free, &["framerate"]))
            }
            _ => None,
        }
    }

    fn fixate(&self, _pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        let mut s = caps.clone();
        if let Some(rate) = other.and_then(|o| o.fraction("framerate")) {
            s.fixate_nearest("framerate", rate);
        }
        crate::element::keep_values(&s, other)
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        stream_info(pads.sink(0))?;
        stream_info(pads.source(0)).map(drop)
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        _downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(Buffers::Views)
    }

    /// The frame that may be the nearest still.
    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    fn takes_for(&self, pad: PadAt, pads: &PadCapsOf, outputs: u64, _bytes: usize) -> Option<u64> {
        let rate = |s: Option<&Structure>| {
            let rate = s?.fraction("framerate")?;
            let (num, den) = (u128::try_from(rate.num()).ok()?, rate.den() as u128);
            (num > 0).then_some((num, den))
        };
        let kept = u64::from(self.retains(pad));
        let many = match (rate(pads.sink(0)), rate(pads.source(0))) {
            (Some(from), Some(to)) => {
                let all = u128::from(outputs) * from.0 * to.1;
                u64::try_from(all.div_ceil(from.1 * to.0)).unwrap_or(u64::MAX)
            }
            _ => outputs,
        };
        Some(many.max(1).saturating_add(kept))
    }

    /// Which frame is the nearest is known when the next has come.
    fn latency(&self, pads: &PadCapsOf) -> Latency {
        let rate = pads.source(0).and_then(|s| s.fraction("framerate"));
        match rate.is_some_and(|r| r != Fraction::ZERO) {
            true => Latency::of(pads.frames_last(0, 1)),
            false => Latency::default(),
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Rating::new(self.clone())))
    }
}

/// The lowest and highest rate of a set.
fn bounds(rates: &ValueSet) -> Option<(Fraction, Fraction)> {
    let nearest = |to: Fraction| match rates.nearest(&Value::from(to))? {
        Value::Fraction(rate) => Some(rate),
        _ => None,
    };
    Some((nearest(Fraction::ZERO)?, nearest(Fraction::MAX)?))
}
