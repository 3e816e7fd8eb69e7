//! Stalls: who waits for whom when nobody can go on, what is to blame, and what would help.
//!
//! `graph` reads the waits of a graph off its fabric, `chain` follows them, `cause` says which is to
//! blame, `text` says it to people: all pure. `suggest` builds copies of the graph and runs them.

mod cause;
mod chain;
mod graph;
mod suggest;
mod text;
mod trial;

pub(crate) use chain::stall_of;
pub(crate) use graph::Waits;

use serde::Serialize;

/// Why nobody can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A source is linked, says nothing, and has no end.
    SilentSource,
    /// An element takes buffers, and neither emits nor says that nothing comes.
    NoOutput,
    /// An element has input, and moves nothing.
    DoesNothing,
    /// Buffers of a pool are held by who waits for one more.
    PoolHeld,
    /// Buffers of a pool never come out of the element that fills them.
    BuffersLost,
    /// Branches of one fork meet again: one is full, and the other one is waited for.
    OneLeg,
    /// A device is awaited, and nobody serves it.
    Device,
    /// Caps were announced, and nobody answers.
    Caps,
    /// A flush was started, and is not stopped.
    Flush,
    /// Something else.
    Blocked,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 10] = [
        Cause::SilentSource,
        Cause::NoOutput,
        Cause::DoesNothing,
        Cause::PoolHeld,
        Cause::BuffersLost,
        Cause::OneLeg,
        Cause::Device,
        Cause::Caps,
        Cause::Flush,
        Cause::Blocked,
    ];

    /// Its stable name in reports and scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::SilentSource => "silent-source",
            Cause::NoOutput => "no-output",
            Cause::DoesNothing => "does-nothing",
            Cause::PoolHeld => "pool-held",
            Cause::BuffersLost => "buffers-lost",
            Cause::OneLeg => "one-leg",
            Cause::Device => "device",
            Cause::Caps => "caps",
            Cause::Flush => "flush",
            Cause::Blocked => "blocked",
        }
    }
}

/// A stall: nobody can move, no time and no device is awaited, and a sink is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StallReport {
    /// The tick at which it was noticed.
    pub tick: u64,
    /// Why.
    pub cause: Cause,
    /// The element that is to blame.
    pub element: String,
    /// The same as a sentence.
    pub text: String,
    /// From each sink that is not done: who waits for whom.
    pub chains: Vec<ChainReport>,
    /// The waits of elements that are not done and in no chain, in graph order.
    pub others: Vec<WaitReport>,
    /// Changes that were tried, and with which the run goes on.
    pub suggestions: Vec<SuggestionReport>,
}

/// Who waits for whom, from a sink on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    /// The first is the sink's; each is waited for by the one before it.
    pub waits: Vec<WaitReport>,
    /// Whom the last one waits for, where that is one of the chain: its index.
    pub cycle: Option<usize>,
}

/// An element that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitReport {
    /// Its name.
    pub element: String,
    /// What for: `input`, `room`, `buffer`, `state`, `flush`, `caps`, `device`, `time`; `nothing` if
    /// it waits for nothing, and says nothing.
    pub waits_for: &'static str,
    /// The pad: its own for `input`, the receiver's for `room`.
    pub pad: Option<String>,
    /// The element that could end the wait, if there is one.
    pub on: Option<String>,
    /// The pool that `buffer` is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Who holds that pool's buffers, in graph order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HolderReport>,
    /// How full the link is that `room` is about; for `nothing` what stands on all sink pads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<QueuedReport>,
    /// Buffers that came so far: on the pad for `input`, on all sink pads for `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub came: Option<u64>,
    /// Since which tick.
    pub since: u64,
}

/// An element that holds buffers of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderReport {
    /// Its name.
    pub element: String,
    /// How many.
    pub buffers: u32,
    /// Of how many.
    pub of: u32,
    /// Since when it has had the oldest of them. Where another element has got the same buffer
    /// since, the tick at which that was.
    pub since: u64,
    /// Kept over ticks by its own will.
    #[serde(skip_serializing_if = "is_zero")]
    pub kept: u32,
    /// On its sink pads.
    #[serde(skip_serializing_if = "is_zero")]
    pub queued: u32,
    /// In its synchroniser.
    #[serde(skip_serializing_if = "is_zero")]
    pub synchroniser: u32,
    /// Being filled.
    #[serde(skip_serializing_if = "is_zero")]
    pub filling: u32,
    /// Found nowhere: it got them last.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u32,
}

/// How full a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QueuedReport {
    /// Items on it.
    pub buffers: usize,
    /// What it holds.
    pub of: usize,
    /// The measure that is full, where that is not their number: `bytes` or `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_by: Option<&'static str>,
}

/// A change that was tried, and with which the run goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestionReport {
    /// What to change.
    #[serde(flatten)]
    pub first: ChangeReport,
    /// What to change besides, if one change alone does not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub and: Vec<ChangeReport>,
}

/// One change of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeReport {
    /// `set` a property, or `insert` a queue.
    pub change: &'static str,
    /// The same as a person writes it.
    pub text: String,
    /// The element whose property it is, or in front of which the queue goes.
    pub element: String,
    /// That element's sink pad, for `insert`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pad: Option<String>,
    /// The property: of the element, or of the queue.
    pub property: &'static str,
    /// Its value.
    pub value: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
