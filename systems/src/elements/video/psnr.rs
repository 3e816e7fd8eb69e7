//! `psnr`: how far the frames of two inputs are apart, in dB; the frames of the first are passed on.
//!
//! FFmpeg psnr: the squared differences of each component are summed exactly; their mean is `mse`,
//! and `psnr` is ten times the decimal logarithm of the squared highest value over that. `avg` weighs
//! components by their samples. The report has the figures of each frame and of all. A frame without a
//! counterpart is not measured.
//!
//! FFmpeg shows the last frame of an input again until the next is due, and measures that. Here that is
//! an error, unless `repeated=measure` or `repeated=skip` says otherwise: what compares makes nothing up.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! psnr name=p ! fakesink videotestsrc num-buffers=3 pattern=ball ! p.' --report -`

use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, SyncSettings,
    Synchronises, Transformed, Work, each_set, pass_first, sync_properties,
};
use crate::elements::raw_video::{FORMATS, frame_of, raw_video_caps, stream_info};
use bevy_ecs::component::Component;
use smallvec::SmallVec;
use thiserror::Error;
use tickpipe_components::caps::Structure;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::{Latency, Measured};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::Choice;
use tickpipe_components::sync::{OutBase, Shown, SyncSet, SyncTerms};
use tickpipe_components::time::TimeBase;
use tickpipe_components::video::{Family, Frame, VideoInfo};

/// What becomes of a frame that was in a set before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeated {
    /// It is an error.
    #[default]
    Refuse,
    /// It is measured once more, as FFmpeg does.
    Measure,
    /// The set is not measured.
    Skip,
}

impl Repeated {
    const fn name(self) -> &'static str {
        match self {
            Repeated::Refuse => "refuse",
            Repeated::Measure => "measure",
            Repeated::Skip => "skip",
        }
    }

    fn from_name(name: &str) -> Option<Repeated> {
        [Repeated::Refuse, Repeated::Measure, Repeated::Skip]
            .into_iter()
            .find(|r| r.name() == name)
    }
}

const REPEATED: &[Choice] = &[
    Choice {
        number: 0,
        name: "refuse",
    },
    Choice {
        number: 1,
        name: "measure",
    },
    Choice {
        number: 2,
        name: "skip",
    },
];

/// Settings of `psnr`.
#[derive(Component, Clone, Debug, Default)]
pub struct Psnr {
    /// What becomes of a frame that was in a set before.
    pub repeated: Repeated,
    /// How its inputs are synchronised.
    pub sync: SyncSettings,
}

impl Synchronises for Psnr {
    fn sync(&self) -> &SyncSettings {
        &self.sync
    }

    fn sync_mut(&mut self) -> &mut SyncSettings {
        &mut self.sync
    }
}

/// A comparison that would be made up.
#[derive(Clone, Debug, Error)]
#[error(
    "set {set} at {pts} in units of {time_base} s would show a frame of input {input} again: repeated=measure or repeated=skip allows it"
)]
struct Again {
    set: u64,
    pts: i64,
    time_base: TimeBase,
    input: usize,
}

impl Element for Psnr {
    const NAME: &'static str = "psnr";
    const SUMMARY: &'static str = "Measures how far the pictures of two inputs are apart";
    const KLASS: &'static str = "Filter/Analyzer/Video";
    const FLOW: Flow = Flow::Lead;
    const IGNORED: &'static [&'static str] = &[
        "stats_file",
        "stats-file",
        "f",
        "stats_version",
        "stats-version",
        "output_max",
        "output-max",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_0", raw_video_caps(&FORMATS)),
            PadTemplate::sink("sink_1", raw_video_caps(&FORMATS)),
            PadTemplate::source("src", raw_video_caps(&FORMATS)),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        let own: [Property<Self>; 1] = [crate::field!(
            Choice(REPEATED),
            "repeated",
            "A set that shows a frame again is an error, is measured all the same, or is not measured",
            repeated: Repeated
        )];
        own.into_iter().chain(sync_properties()).collect()
    }

    fn sync_terms(&self, _inputs: usize) -> SyncTerms {
        self.sync.dual(OutBase::Common)
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        const SHARED: &[&str] = &["format", "width", "height"];
        let mut shared = caps.clone();
        shared.retain(|name, _| SHARED.contains(&name));
        (index == 0).then(|| Transformed::tying(shared, SHARED))
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        stream_info(pads.sink(0))?;
        stream_info(pads.sink(1)).map(drop)
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        _downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(Buffers::Views)
    }

    /// The frame that is shown, the next, and one that a set still shows.
    fn retains(&self, _pad: PadAt) -> u32 {
        3
    }

    fn latency(&self, pads: &PadCapsOf) -> Latency {
        Latency::of(pads.longest_frame(0..pads.sinks.len()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Comparing {
            repeated: self.repeated,
            streams: None,
            sums: Sums::default(),
            sets: 0,
        }))
    }
}

struct Comparing {
    repeated: Repeated,
    streams: Option<(VideoInfo, VideoInfo)>,
    sums: Sums,
    sets: u64,
}

/// What was measured so far.
#[derive(Debug, Default)]
struct Sums {
    frames: u64,
    /// Per component the sum of the mean squared differences.
    mse: SmallVec<[f64; 4]>,
    average: f64,
    least: f64,
    most: f64,
}

/// Shape of a component: how many samples, and their highest value.
#[derive(Clone, Copy)]
struct Component_ {
    name: char,
    samples: f64,
    highest: f64,
}

fn components(info: &VideoInfo) -> SmallVec<[Component_; 4]> {
    let format = info.format().info();
    let names = match format.family {
        Family::Rgb => ['r', 'g', 'b', 'a'],
        Family::Yuv | Family::Gray => ['y', 'u', 'v', 'a'],
    };
    let halved = |side: u32, sub: u8| f64::from(side.div_ceil(1 << sub));
    let component = |(c, name): (&tickpipe_components::video::ComponentInfo, char)| Component_ {
        name,
        samples: halved(info.width(), c.h_sub) * halved(info.height(), c.v_sub),
        highest: f64::from((1u32 << format.bits) - 1),
    };
    format.components.iter().zip(names).map(component).collect()
}

/// Decibels of a mean squared difference.
fn decibels(highest: f64, mse: f64) -> f64 {
    10.0 * libm::log10(highest * highest / mse)
}

/// The sum of the squared differences of each component.
fn squares(a: &Frame<'_>, b: &Frame<'_>) -> SmallVec<[u64; 4]> {
    let info = a.layout().format().info();
    let of = |c: &tickpipe_components::video::ComponentInfo| {
        let (Some(a), Some(b)) = (a.plane(c.plane.into()), b.plane(c.plane.into())) else {
            return 0;
        };
        let (offset, stride) = (usize::from(c.offset), usize::from(c.pixel_stride));
        let rows = a.rows().zip(b.rows());
        let row = |(a, b): (&[u8], &[u8])| {
            let (a, b) = (a.get(offset..), b.get(offset..));
            let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
            match (info.sample_bytes, stride) {
                (1, 1) => bytes_apart(a, b),
                (1, _) => {
                    let pairs = a.iter().step_by(stride).zip(b.iter().step_by(stride));
                    pairs.map(|(&a, &b)| u64::from(a.abs_diff(b)).pow(2)).sum()
                }
                _ => {
                    let word = |s: &[u8]| s.first_chunk().map_or(0, |&w| u16::from_le_bytes(w));
                    let pairs = a.chunks(stride).zip(b.chunks(stride));
                    let apart =
                        |(a, b): (&[u8], &[u8])| u64::from(word(a).abs_diff(word(b))).pow(2);
                    pairs.map(apart).sum()
                }
            }
        };
        rows.map(row).sum()
    };
    info.components.iter().map(of).collect()
}

/// The sum of squared differences of two rows of bytes.
fn bytes_apart(a: &[u8], b: &[u8]) -> u64 {
    // 65,025 at most each: a sum of so many fits 32 bits.
    const FIT: usize = 32_768;
    let piece = |(a, b): (&[u8], &[u8])| -> u64 {
        let squares = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2));
        squares.sum::<u32>().into()
    };
    a.chunks(FIT).zip(b.chunks(FIT)).map(piece).sum()
}

impl Comparing {
    /// Measures the two frames of a set, or refuses to.
    fn measure(
        &mut self,
        process: &mut Process<'_>,
        set: &SyncSet,
        (pts, time_base): (i64, TimeBase),
    ) -> Result<(), ElementError> {
        let (Some((main_info, other_info)), (Some(main), Some(other))) =
            (&self.streams, (set.frame(0), set.frame(1)))
        else {
            return Ok(());
        };
        let again = set.shown.iter().position(|s| *s == Shown::Repeated);
        match (again, self.repeated) {
            (Some(input), Repeated::Refuse) => {
                let again = Again {
                    set: self.sets,
                    pts,
                    time_base,
                    input,
                };
                return Err(ElementError::new(Domain::Stream, Code::Refused, again));
            }
            (Some(_), Repeated::Skip) => return Ok(()),
            _ => {}
        }
        let layouts = (
            process.picture(main, main_info),
            process.picture(other, other_info),
        );
        let sums = squares(
            &frame_of(&layouts.0, process.bytes(main))?,
            &frame_of(&layouts.1, process.bytes(other))?,
        );
        let components = components(main_info);
        let all: f64 = components.iter().map(|c| c.samples).sum();
        let mse: SmallVec<[f64; 4]> = sums
            .iter()
            .zip(&components)
            .map(|(&sum, c)| sum as f64 / c.samples)
            .collect();
        let weights = components.iter().map(|c| c.samples / all);
        let average: f64 = mse.iter().zip(weights.clone()).map(|(m, w)| m * w).sum();
        let highest: f64 = components
            .iter()
            .zip(weights)
            .map(|(c, w)| c.highest * w)
            .sum();
        self.sums.add(&mse, average);
        let recording = {
            let (measures, recording) = process.measures();
            measures.count = self.sums.frames;
            if measures.names.is_empty() {
                let names = |what: &'static str| {
                    components.iter().map(move |c| format!("{what}_{}", c.name))
                };
                measures.names = names("sse")
                    .chain(["mse_avg".to_owned()])
                    .chain(names("mse"))
                    .chain(["psnr_avg".to_owned()])
                    .chain(names("psnr"))
                    .collect();
            }
            measures.total.clear();
            self.sums.tell(&components, highest, &mut measures.total);
            recording
        };
        if recording {
            let own = components
                .iter()
                .zip(&mse)
                .map(|(c, &m)| decibels(c.highest, m));
            let values = sums
                .iter()
                .map(|&s| s as f64)
                .chain([average])
                .chain(mse.iter().copied())
                .chain([decibels(highest, average)])
                .chain(own)
                .collect();
            process.measures().0.frames.push(Measured {
                pts,
                time_base,
                values,
            });
        }
        Ok(())
    }
}

impl Sums {
    fn add(&mut self, mse: &[f64], average: f64) {
        self.mse.resize(mse.len(), 0.0);
        for (sum, mse) in self.mse.iter_mut().zip(mse) {
            *sum += mse;
        }
        self.least = if self.frames == 0 {
            average
        } else {
            self.least.min(average)
        };
        self.most = self.most.max(average);
        self.average += average;
        self.frames += 1;
    }

    fn tell(&self, components: &[Component_], highest: f64, to: &mut Vec<(String, f64)>) {
        let frames = self.frames as f64;
        let mut tell = |name: String, value: f64| to.push((name, value));
        tell("mse_avg".to_owned(), self.average / frames);
        tell(
            "psnr_avg".to_owned(),
            decibels(highest, self.average / frames),
        );
        tell("psnr_min".to_owned(), decibels(highest, self.most));
        tell("psnr_max".to_owned(), decibels(highest, self.least));
        for (c, mse) in components.iter().zip(&self.mse) {
            tell(format!("mse_{}", c.name), mse / frames);
            tell(
                format!("psnr_{}", c.name),
                decibels(c.highest, mse / frames),
            );
        }
    }
}

impl Work for Comparing {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.streams = Some((stream_info(pads.sink(0))?, stream_info(pads.sink(1))?));
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let mut sets = self.sets;
        let done = each_set(process, &mut sets, |process, set, stamp| {
            let measured = self.measure(process, set, (stamp.pts, stamp.time_base));
            self.sets += 1;
            if let Some(main) = set.frame(0) {
                match &measured {
                    Ok(()) => pass_first(process, main, &stamp),
                    Err(_) => process.drop_buffer(main),
                }
            }
            if let Some(other) = set.frame(1) {
                process.release(other);
            }
            measured
        });
        self.sets = sets;
        done
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("sets", self.sets);
        visitor.unsigned("frames", self.sums.frames);
    }
}
