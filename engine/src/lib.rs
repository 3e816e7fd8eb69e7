#![doc = include_str!("../../README.md")]

pub mod conform;
pub mod launch;
#[cfg(all(feature = "remote", target_os = "linux"))]
pub mod remote;

mod app;
mod build;
mod conflict;
mod control;
mod engine;
mod from_launch;
mod gstreamer;
mod inspect;
mod link;
mod plan;
mod report;
mod run;
mod stall;
mod subscribe;
mod text;
mod unlink;

pub use build::{BuildError, ElementHandle, PipelineHandle};
pub use conflict::ConflictReport;
pub use control::{ChangeResult, ElementLatency, Shown, StateChange};
pub use engine::{Engine, EngineError, EngineOptions};
pub use from_launch::LaunchGraphError;
pub use inspect::{BufferView, Holder};
pub use link::LinkError;
pub use plan::{
    Conversion, LinkCaps, LinkPlan, LinkTrace, Plan, PlanError, PlanReport, PoolCount,
    told_beside_link,
};
pub use report::{
    BreachReport, ElementLatencyReport, ElementReport, Figure, FrameReport, LatencyReport,
    LeakReport, LinkReport, MeasuredReport, MeasuresReport, MessageReport, OccurrenceReport,
    PoolReport, Report, SinkReport, SyncReport, TallyReport, TimingReport, Verdict, WaitedReport,
    WatchedReport,
};
pub use run::{Observer, RunOptions, Script, WaitError};
pub use stall::{
    Cause, ChainReport, ChangeReport, HolderReport, QueuedReport, StallReport, SuggestionReport,
    WaitReport,
};
pub use subscribe::{Requests, Subscription};
pub use tickpipe_systems::elements::core::app::{
    AppBuffer, AppError, AppSink, AppSource, Level, NotPushed, Sample, SampleInfo,
};
pub use unlink::UnlinkError;

pub use tickpipe_components as components;
pub use tickpipe_systems as systems;

pub use tickpipe_components::bus::{Filter, WhenFull};
pub use tickpipe_components::graph::{ClockMode, DownOrder};
pub use tickpipe_components::limits::{Limit, Limits};
pub use tickpipe_components::message::{Message, MessageKind, MessageMask};
pub use tickpipe_components::property::{PropertyError, PropertyValue};
pub use tickpipe_components::seek::{Answer, Flush, Query, Seek, SeekFormat};
pub use tickpipe_components::state::State;
pub use tickpipe_systems::command::seek::SeekError;
pub use tickpipe_systems::negotiate::Removal;

/// `docs/buffers.md`, whose code is tested with that of the README.
#[cfg(doctest)]
#[doc = include_str!("../../docs/buffers.md")]
struct BuffersPage;

/// `docs/launch.md`, in the same way.
#[cfg(doctest)]
#[doc = include_str!("../../docs/launch.md")]
struct LaunchPage;

/// `docs/application.md`, in the same way.
#[cfg(doctest)]
#[doc = include_str!("../../docs/application.md")]
struct ApplicationPage;
