//! The components of a graph's entities: identity, topology and caps, all that a person inspects.
//!
//! | entity | components |
//! |---|---|
//! | pipeline | [`Pipeline`], [`Members`], [`Target`], [`DownOrder`], [`State`] |
//! | bin | [`Bin`], [`Members`], [`Parent`], [`State`] |
//! | element | [`Element`], [`Pads`], [`Parent`], [`State`], its own settings; once a graph has started [`Place`] |
//! | pad | [`Pad`], [`PadCaps`], [`PadLink`] |
//! | link | [`Link`] |
//! | pool | [`PoolOf`] |
//! | buffer | [`BufferSlot`](crate::buffer::BufferSlot), [`OfPipeline`] |
//! | clock | [`Clock`], [`OfPipeline`] |
//! | bus | [`Bus`](crate::bus::Bus), [`OfPipeline`] |

use crate::caps::Caps;
use crate::id::{ElementId, LaneId, LinkId, PipelineId, PoolId};
use crate::state::State;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use std::sync::Arc;

/// A pipeline: the element at the top, which owns the clock and the bus.
#[derive(Component, Clone, Debug)]
pub struct Pipeline {
    /// Its number in the world.
    pub id: PipelineId,
    /// Its name.
    pub name: String,
    /// Its clock's entity.
    pub clock: Entity,
    /// Its bus's entity.
    pub bus: Entity,
}

/// A bin: a named group of elements inside a pipeline.
#[derive(Component, Clone, Debug)]
pub struct Bin {
    /// Its name.
    pub name: String,
}

/// The children of a pipeline or bin, in order of insertion (which decides nothing).
#[derive(Component, Clone, Debug, Default)]
pub struct Members(pub Vec<Entity>);

/// The bin or pipeline that an element or bin is in.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent(pub Entity);

/// The state that was asked of a pipeline.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target(pub State);

/// In which order elements change on the way down. On the way up it is always sinks first.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DownOrder {
    /// Those that feed others before those whom they feed (mpipe).
    #[default]
    SourcesFirst,
    /// Those that are fed before those who feed them (DirectShow).
    SinksFirst,
}

impl DownOrder {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            DownOrder::SourcesFirst => "sources-first",
            DownOrder::SinksFirst => "sinks-first",
        }
    }

    /// The order of a name.
    pub fn from_name(name: &str) -> Option<DownOrder> {
        let all = [DownOrder::SourcesFirst, DownOrder::SinksFirst];
        all.into_iter().find(|o| o.name() == name)
    }
}

/// An element's identity.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Unique in its pipeline; decides every order.
    pub id: ElementId,
    /// Unique in its pipeline.
    pub name: String,
    /// The name of its class, such as `videoscale`.
    pub kind: &'static str,
}

/// An element's pads: sinks first, then sources, each in the order of their templates.
#[derive(Component, Clone, Debug, Default)]
pub struct Pads(pub Vec<Entity>);

/// Where in the fabric an element of a started graph is. It comes and goes with the run, so it lies apart:
/// the rest of the element does not move for it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(storage = "SparseSet")]
pub struct Place {
    /// Its pipeline.
    pub pipeline: PipelineId,
    /// Its lane.
    pub lane: LaneId,
}

/// Which way buffers pass a pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Into the element.
    Sink,
    /// Out of the element.
    Source,
}

/// When a pad of a template exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always, and it must be linked.
    Always,
    /// When a link asks for it; its name ends in a number.
    Request,
}

/// How bytes get over a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// Who feeds it sends buffers.
    #[default]
    Push,
    /// Who is fed reads by position what is granted ([`Bytes`](crate::pull::Bytes)); no buffer is sent.
    Pull,
    /// Buffers are sent that name memory of a device; their bytes are not to be had.
    Device,
}

impl Transport {
    /// Its name in plans and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Push => "push",
            Transport::Pull => "pull",
            Transport::Device => "device",
        }
    }
}

/// A pad's identity.
#[derive(Component, Clone, Debug)]
pub struct Pad {
    /// Its element.
    pub element: Entity,
    /// Its name, unique in its element.
    pub name: String,
    /// Which way it passes buffers.
    pub direction: Direction,
    /// The index of its template in its element's class.
    pub template: usize,
    /// Its number among the pads of its direction.
    pub index: usize,
}

/// The caps that a pad has agreed on: ANY until then, and again in READY. Pads of one piece of
/// wire share them.
#[derive(Component, Clone, Debug, Default)]
pub struct PadCaps(pub Option<Arc<Caps>>);

impl PadCaps {
    /// The caps.
    pub fn get(&self) -> &Caps {
        static ANY: Caps = Caps::any();
        self.0.as_deref().unwrap_or(&ANY)
    }
}

/// The link at a pad, if any.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PadLink(pub Option<Entity>);

/// A link between a source pad and a sink pad.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The source pad.
    pub from: Entity,
    /// The sink pad.
    pub to: Entity,
    /// In a graph that was started, its number in the fabric.
    pub place: Option<LinkId>,
    /// In a graph that was started, how bytes get over it.
    pub transport: Option<Transport>,
}

impl Link {
    /// A link that carries nothing yet.
    pub const fn new(from: Entity, to: Entity) -> Link {
        Link {
            from,
            to,
            place: None,
            transport: None,
        }
    }
}

/// A pool's entity: which one in the fabric it is.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOf {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// Its number there.
    pub pool: PoolId,
}

/// The pipeline that a buffer, clock or bus belongs to.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfPipeline(pub PipelineId);

/// How a pipeline's time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockMode {
    /// Nothing waits for time.
    #[default]
    Free,
    /// Time jumps to the next deadline when nothing more can be done at the present instant.
    Virtual,
    /// Deadlines are waited for on the real clock.
    Wall,
}

impl ClockMode {
    /// Its name in `--clock`.
    pub fn name(self) -> &'static str {
        match self {
            ClockMode::Free => "free",
            ClockMode::Virtual => "virtual",
            ClockMode::Wall => "wall",
        }
    }
}

/// A pipeline's clock.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// How its time passes.
    pub mode: ClockMode,
}
