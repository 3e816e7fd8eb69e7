//! The phases of the tickpipe media engine's tick, and its elements.
//!
//! A tick is eleven phases in a fixed order ([`Phase`]); each has a folder of its own here, and
//! the engine chains them into one schedule. [`element`] is how elements are written, and
//! [`elements`] are those that come with the engine, one folder per media domain.

pub mod advance;
pub mod allocate;
pub mod command;
pub mod deliver;
pub mod element;
pub mod elements;
pub mod negotiate;
pub mod outside;
pub mod process;
pub mod reclaim;
pub mod report;
pub mod schedule;
pub mod state;
pub mod sync;

mod pipelines;

pub use pipelines::{PipelineWorks, WorkSlot, Works};
#[doc(hidden)]
pub use tickpipe_components::property::{PropertyKind, PropertyValue};

use bevy_ecs::schedule::SystemSet;

/// The phases of a tick, in their order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Applies this tick's actions: state requests, property sets.
    Command,
    /// Walks state changes through the graph, one step and one child at a time.
    State,
    /// Solves caps for pipelines that enter PAUSED.
    Negotiate,
    /// Sizes pools and makes buffers.
    Allocate,
    /// Computes each touched element's readiness, and grants it buffers.
    Schedule,
    /// Frame synchronisers choose their next sets.
    Sync,
    /// Runs ready elements.
    Process,
    /// Publishes what was emitted.
    Deliver,
    /// Applies dropped references and returns buffers.
    Reclaim,
    /// Bus messages, EOS folding, stall detection, digests.
    Report,
    /// Moves virtual time when the instant is exhausted.
    Advance,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Phase; 11] = [
        Phase::Command,
        Phase::State,
        Phase::Negotiate,
        Phase::Allocate,
        Phase::Schedule,
        Phase::Sync,
        Phase::Process,
        Phase::Deliver,
        Phase::Reclaim,
        Phase::Report,
        Phase::Advance,
    ];
}
