//! The fabric: everything hot of all pipelines, in dense arrays.
//!
//! Entities hold identity, topology and caps; queues, buffer times, reference counts and free
//! sets are here, indexed by the small ids that the entities hold. Pipelines share nothing, so
//! each has its own arrays, its own tick and its own digest. Systems walk the pipelines of the
//! current [`Fabric::window`].

mod bounds;
mod change;
mod events;
mod extras;
mod findings;
mod lane;
mod left;
mod marks;
mod measures;
mod pools;
mod ring;
mod table;
mod timing;
mod watched;

pub use bounds::{Leaky, Measure, QueueBounds, QueueLimits};
pub use change::{Changes, Due, NewMemory, Switch};
pub use events::{Events, Signals};
pub use extras::{Extra, Extras};
pub use findings::{Breach, Leak, Leaks, MAX_LEAKS};
pub use lane::{Gate, Granted, Input, Kept, Lane, Output, Posted, RoomFor, SinkFrame, Trigger};
pub use left::{Leavers, Left, MAX_LEFT};
pub use marks::Marks;
pub use measures::{Measured, Measures};
pub use ring::{Item, Ring};
pub use table::{BufferTable, Held};
pub use timing::{Latency, SinkTerms, SinkTiming};
pub use watched::{Passed, Watched};

use crate::id::{PipelineId, PoolId};
use crate::message::Message;
use crate::time::TimeBase;
use bevy_ecs::resource::Resource;
use core::ops::Range;

/// How a run of a pipeline stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// READY: nothing is allocated.
    #[default]
    Idle,
    /// Its lanes are made and data may flow.
    Running,
    /// Every live sink is at its end.
    Ended,
    /// Something failed; nothing is processed any more.
    Failed,
    /// Nobody can move and nothing is awaited.
    Stalled,
}

impl Progress {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Progress::Idle => "idle",
            Progress::Running => "running",
            Progress::Ended => "ended",
            Progress::Failed => "failed",
            Progress::Stalled => "stalled",
        }
    }
}

/// One pipeline's arrays.
#[derive(Debug, Default)]
pub struct PipelineFabric {
    /// Elements in graph order, ties by element id.
    pub lanes: Vec<Lane>,
    /// Buffers and pools.
    pub buffers: BufferTable,
    /// Lanes that something touched since their readiness was computed.
    pub touched: Marks,
    /// Lanes that run this tick, ascending.
    pub ready: Vec<u32>,
    /// Lanes that have references to give back this tick, or work no more.
    pub releasing: Vec<u32>,
    /// Lanes that have something to tell the bus this tick.
    pub posting: Vec<u32>,
    /// Whether any lane synchronises inputs.
    pub synchronises: bool,
    /// Lanes whose feeders must be told that they work no more.
    pub closing: Vec<u32>,
    /// How many lanes wait for room on a link.
    pub waiting_for_room: u32,
    /// How many lanes wait for something outside the tick.
    pub waiting_outside: u32,
    /// Lanes whose buffers may be with somebody outside.
    pub lending: Vec<u32>,
    /// Lanes that wait for time.
    pub timers: Marks,
    /// Lanes with [`Extra::bounds`]: queues.
    pub bounded: Marks,
    /// Events that stand in queues.
    pub events: Events,
    /// Events on their way upstream: the lane and the source pad that each arrives at.
    pub upward: Vec<(u32, u32, crate::event::Event)>,
    /// Ticks since the graph started.
    pub tick: u64,
    /// Virtual time in nanoseconds.
    pub now: i64,
    /// The clock's time at which running time was 0.
    pub base_time: i64,
    /// Of each lane how long it takes from the sources to behind it.
    pub latencies: Vec<Latency>,
    /// How the run stands.
    pub progress: Progress,
    /// An element failed: what it had passed on before still reaches the sinks.
    pub failing: bool,
    /// Nothing moved this tick.
    pub idle: bool,
    /// Buffers a tick moves over one pad.
    pub quantum: u32,
    /// Sinks that have not told their end.
    pub live_sinks: u32,
    /// Lanes without a source pad.
    pub sinks: Vec<u32>,
    /// The gate of all sources, for a look that does not walk all lanes.
    pub source_gate: Gate,
    /// The gate of all sinks.
    pub sink_gate: Gate,
    /// Messages of this tick, before they reach the bus.
    pub messages: Vec<Message>,
    /// State changes are under way or asked for: the state phase must look.
    pub attention: bool,
    /// An element failed at a step up: nothing more is tried before somebody asks again.
    pub change_failed: bool,
    /// PAUSED, or a seek, was not complete at once: that it is will be told.
    pub asynchronous: bool,
    /// A source gives data only in PLAYING: PAUSED is complete without any.
    pub live: bool,
    /// Each element's change of state is told.
    pub tell_elements: bool,
    /// A state that an element asked for in this tick.
    pub asked_state: Option<crate::state::State>,
    /// The tick and clock time in which it went from PLAYING to PAUSED.
    pub paused_at: Option<(u64, i64)>,
    /// Settings, caps or links are to change: the negotiate phase must look.
    pub renegotiate: bool,
    /// Elements leave once they have passed on what they hold: that they work no more is looked at.
    pub leaving: bool,
    /// New links wait until changes under way took effect.
    pub editing: bool,
    /// Pools that nobody takes from any more; their memory goes when their last buffer is home.
    pub retired: Vec<PoolId>,
    /// Compute a digest each tick, and hash payloads as they are written.
    pub digesting: bool,
    /// The digest of the last tick, if asked for.
    pub digest: u64,
    /// A digest of all the digests of the run.
    pub run_digest: u64,
    /// A hash of the graph and its caps, fixed when it starts.
    pub graph_hash: u64,
    /// Sinks keep what they took for the report.
    pub recording: bool,
    /// Nothing waits for time.
    pub free: bool,
    /// The clock is the real one.
    pub wall: bool,
    /// The unit of [`PipelineFabric::now`].
    pub clock_base: TimeBase,
    /// What was found not to hold that always does.
    pub breach: Option<Box<Breach>>,
    /// Buffers that did not come back for a long time.
    pub leaks: Leaks,
    /// Elements that left while it ran.
    pub left: Leavers,
}

impl PipelineFabric {
    /// Marks a lane whose readiness may have changed.
    #[inline]
    pub fn touch(&mut self, lane: u32) {
        self.touched.insert(lane);
    }
}

/// All pipelines.
#[derive(Resource, Debug, Default)]
pub struct Fabric {
    /// By [`PipelineId`].
    pub pipelines: Vec<PipelineFabric>,
    /// Those that the systems advance in this run of the schedule.
    pub window: Range<usize>,
    /// Whether the systems may use several threads.
    pub parallel: bool,
}

impl Fabric {
    /// A pipeline's arrays.
    pub fn get(&self, pipeline: PipelineId) -> Option<&PipelineFabric> {
        self.pipelines.get(pipeline.index())
    }

    /// A pipeline's arrays, to change.
    pub fn get_mut(&mut self, pipeline: PipelineId) -> Option<&mut PipelineFabric> {
        self.pipelines.get_mut(pipeline.index())
    }

    /// The pipelines to advance.
    pub fn active(&mut self) -> &mut [PipelineFabric] {
        let window =
            self.window.start.min(self.pipelines.len())..self.window.end.min(self.pipelines.len());
        &mut self.pipelines[window]
    }
}
