//! `queue`: a link that holds more. In a tick engine no thread is needed to part two branches; it only
//! lets one side run ahead of the other, by at most `max-size-buffers`, `max-size-bytes` or
//! `max-size-time`, whichever is reached first. It holds one buffer at least.
//!
//! With `leaky` it lets buffers go when it is full: `downstream` the oldest, `upstream` the newest;
//! never an event, a change of caps or the end. A tick is no time: it leaks only when nobody can do
//! anything more at the present instant of the clock and there is something for it, so that with the
//! clock `free` nothing leaks unless the run would stall. It passes a buffer on when the element behind
//! it has none, so what it lets go is what is late. Each buffer is told, and the next one that is passed
//! on is marked as not following the one before it, if no other branch has it too.
//!
//! With `min-threshold-…` nothing is passed on before each of those levels is reached, or the queue is
//! full, or its end is there. With `flush-on-eos` the end discards what stands before it.
//!
//! All of it can be set while it runs. `tickpipe launch 'videotestsrc num-buffers=9 ! queue max-size-buffers=2 ! fakesink'`
//!
//! `tickpipe launch --clock virtual 'videotestsrc num-buffers=50 ! tee name=t t. ! queue ! fakesink sync=true t. ! queue leaky=downstream max-size-buffers=1 ! work time=400ms ! fakesink'`

use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, PassThrough, Property, Work};
use bevy_ecs::component::Component;
use tickpipe_components::caps::Caps;
use tickpipe_components::fabric::{Latency, Leaky, QueueLimits};
use tickpipe_components::fault::ElementError;
use tickpipe_components::property::Choice;

/// Settings of `queue`.
#[derive(Component, Clone, Debug)]
pub struct Queue {
    /// Buffers that it holds; 0 means as many as the limit `queue-buffers` lets it.
    pub max_size_buffers: u32,
    /// Bytes with which it is full; 0 is no limit.
    pub max_size_bytes: u32,
    /// Nanoseconds with which it is full; 0 is no limit.
    pub max_size_time: i64,
    /// Buffers without which it passes nothing on.
    pub min_threshold_buffers: u32,
    /// Bytes without which it passes nothing on.
    pub min_threshold_bytes: u32,
    /// Nanoseconds without which it passes nothing on.
    pub min_threshold_time: i64,
    /// What it lets go when it is full.
    pub leaky: Leaky,
    /// The end discards what stands before it.
    pub flush_on_eos: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            max_size_buffers: 200,
            max_size_bytes: 10_485_760,
            max_size_time: 1_000_000_000,
            min_threshold_buffers: 0,
            min_threshold_bytes: 0,
            min_threshold_time: 0,
            leaky: Leaky::No,
            flush_on_eos: false,
        }
    }
}

const LEAKY: &[Choice] = &[
    Choice {
        number: 0,
        name: "no",
    },
    Choice {
        number: 1,
        name: "upstream",
    },
    Choice {
        number: 2,
        name: "downstream",
    },
];

impl Element for Queue {
    const NAME: &'static str = "queue";
    const SUMMARY: &'static str = "Holds buffers so that one side can run ahead of the other";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;
    const IGNORED: &'static [&'static str] = &["name", "parent", "silent"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        const MOST: i64 = u32::MAX as i64;
        vec![
            crate::field!(
                Int(0, MOST),
                "max-size-buffers",
                "Buffers that it holds at most; 0 for as many as the limit queue-buffers lets it",
                max_size_buffers
            ),
            crate::field!(
                Int(0, MOST),
                "max-size-bytes",
                "Bytes with which it is full; 0 for no limit",
                max_size_bytes
            ),
            crate::field!(
                Int(0, i64::MAX),
                "max-size-time",
                "Nanoseconds of buffers with which it is full; 0 for no limit",
                max_size_time
            ),
            crate::field!(
                Int(0, MOST),
                "min-threshold-buffers",
                "Buffers without which it passes nothing on, unless it is full or at its end",
                min_threshold_buffers
            ),
            crate::field!(
                Int(0, MOST),
                "min-threshold-bytes",
                "Bytes without which it passes nothing on, unless it is full or at its end",
                min_threshold_bytes
            ),
            crate::field!(
                Int(0, i64::MAX),
                "min-threshold-time",
                "Nanoseconds without which it passes nothing on, unless it is full or at its end",
                min_threshold_time
            ),
            crate::field!(
                Choice(LEAKY),
                "leaky",
                "What it lets go when it is full: nothing, the newest (upstream) or the oldest (downstream) buffer",
                leaky: Leaky
            ),
            crate::field!(
                Bool,
                "flush-on-eos",
                "The end discards what stands before it",
                flush_on_eos
            ),
        ]
    }

    /// It holds back one buffer less than the least with which it passes one on.
    fn retains(&self, _pad: PadAt) -> u32 {
        let most = match self.max_size_buffers {
            0 => u32::MAX,
            most => most,
        };
        self.min_threshold_buffers.min(most).saturating_sub(1)
    }

    fn link_capacity(&self) -> Option<u32> {
        Some(self.max_size_buffers)
    }

    fn queue_limits(&self) -> Option<QueueLimits> {
        Some(QueueLimits {
            buffers: self.max_size_buffers,
            bytes: self.max_size_bytes.into(),
            time: self.max_size_time,
            min_buffers: self.min_threshold_buffers,
            min_bytes: self.min_threshold_bytes.into(),
            min_time: self.min_threshold_time,
            leaky: self.leaky,
            flush_on_eos: self.flush_on_eos,
        })
    }

    fn latency(&self, _pads: &PadCapsOf) -> Latency {
        Latency {
            min: self.min_threshold_time,
            max: (self.max_size_time > 0).then_some(self.max_size_time),
            ..Latency::default()
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}
