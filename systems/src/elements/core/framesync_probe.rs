//! `framesync-probe`: synchronises any number of inputs by any rules, and tells the sets.
//!
//! What it passes on are the frames of the first input, by reference. The report has the sets: per
//! set its time and which frame of which input. `levels`, `before` and `after` have a word for each
//! input, the last one for all that follow.
//!
//! `tickpipe launch 'fakesrc num-buffers=3 ! framesync-probe name=p levels=1,1 ! fakesink fakesrc num-buffers=2 ! p.'`

use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, SyncSettings,
    Synchronises, Work, each_set, pass_first, sync_properties,
};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{FormError, PropertyKind, PropertyValue, TextForm};
use tickpipe_components::sync::{Extend, OutBase, SyncRule, SyncTerms};

/// Settings of `framesync-probe`.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub struct FramesyncProbe {
    levels: Vec<u32>,
    before: Vec<Extend>,
    after: Vec<Extend>,
    /// The options.
    pub sync: SyncSettings,
}

impl Default for FramesyncProbe {
    fn default() -> Self {
        FramesyncProbe {
            levels: vec![2, 1],
            before: vec![Extend::Stop, Extend::Null],
            after: vec![Extend::Infinity],
            sync: SyncSettings::default(),
        }
    }
}

impl Synchronises for FramesyncProbe {
    fn sync(&self) -> &SyncSettings {
        &self.sync
    }

    fn sync_mut(&mut self) -> &mut SyncSettings {
        &mut self.sync
    }
}

/// Reads words between commas.
fn list<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, FormError> {
    let mut offset = 0;
    let item = |word: &str| {
        let read = read(word.trim()).map_err(|problem| FormError { offset, problem });
        offset += word.len() + 1;
        read
    };
    text.split(',').map(item).collect()
}

fn level(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| {
        format!(
            "{word:?} is no level: a whole number from 0 to {}",
            u32::MAX
        )
    })
}

fn extend(word: &str) -> Result<Extend, String> {
    match word {
        "stop" => Ok(Extend::Stop),
        "null" => Ok(Extend::Null),
        "inf" | "infinity" => Ok(Extend::Infinity),
        _ => Err(format!("{word:?} is none of: stop, null, infinity")),
    }
}

fn words(list: &[Extend]) -> PropertyValue {
    let word = |e: &Extend| match e {
        Extend::Stop => "stop",
        Extend::Null => "null",
        Extend::Infinity => "infinity",
    };
    PropertyValue::Text(list.iter().map(word).collect::<Vec<_>>().join(","))
}

const LEVELS: PropertyKind = PropertyKind::Form(TextForm {
    example: "2,1",
    check: |text| list(text, level).map(drop),
});
const EXTENDS: PropertyKind = PropertyKind::Form(TextForm {
    example: "stop,null",
    check: |text| list(text, extend).map(drop),
});

impl Element for FramesyncProbe {
    const NAME: &'static str = "framesync-probe";
    const SUMMARY: &'static str = "Synchronises its inputs and tells the sets";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::LeadAlone;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", Caps::any()).on_request(),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        let own: [Property<Self>; 3] = [
            Property::new(
                "levels",
                "Sync level of each input: frames of those with the highest make sets",
                LEVELS,
                |s| {
                    let words: Vec<String> = s.levels.iter().map(u32::to_string).collect();
                    PropertyValue::Text(words.join(","))
                },
                |s, v| {
                    if let PropertyValue::Text(v) = v
                        && let Ok(v) = list(&v, level)
                    {
                        s.levels = v;
                    }
                },
            ),
            Property::new(
                "before",
                "What each input shows before its first frame: stop (no set), null, infinity (that frame)",
                EXTENDS,
                |s| words(&s.before),
                |s, v| {
                    if let PropertyValue::Text(v) = v
                        && let Ok(v) = list(&v, extend)
                    {
                        s.before = v;
                    }
                },
            ),
            Property::new(
                "after",
                "What each input shows after its last frame: stop (the end), null, infinity (that frame)",
                EXTENDS,
                |s| words(&s.after),
                |s, v| {
                    if let PropertyValue::Text(v) = v
                        && let Ok(v) = list(&v, extend)
                    {
                        s.after = v;
                    }
                },
            ),
        ];
        own.into_iter().chain(sync_properties()).collect()
    }

    fn sync_terms(&self, inputs: usize) -> SyncTerms {
        fn at<T: Copy + Default>(list: &[T], k: usize) -> T {
            list.get(k).or(list.last()).copied().unwrap_or_default()
        }
        let rule = |k| SyncRule::new(at(&self.levels, k), at(&self.before, k), at(&self.after, k));
        self.sync.terms(SyncTerms {
            rules: (0..inputs).map(rule).collect(),
            out: OutBase::Common,
            ..SyncTerms::default()
        })
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
        Ok(Box::new(Probing { sets: 0 }))
    }
}

struct Probing {
    sets: u64,
}

impl Work for Probing {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        each_set(process, &mut self.sets, |process, set, stamp| {
            let mut frames = set.frames.iter().copied();
            if let Some(first) = frames.next().flatten() {
                pass_first(process, first, &stamp);
            }
            frames.flatten().for_each(|other| process.release(other));
            Ok(())
        })
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("sets", self.sets);
    }
}
