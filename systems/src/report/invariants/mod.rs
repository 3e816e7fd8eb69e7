//! What always holds at the end of a tick, looked at when checking is on: docs/invariants.md says
//! each, by its stable name.
//!
//! It reads the fabric, the graph and the pads' caps. The first thing that does not hold fails the
//! pipeline; nothing else is ever changed, and what is looked at is in no digest.

mod graph;
mod lanes;
mod places;
mod pools;

use super::names;
use crate::state::{Graphs, Topology};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Local, Query, Res, ResMut};
use smallvec::SmallVec;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::fabric::{Breach, Fabric, PipelineFabric, Progress};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::graph::{Pad, PadCaps, Pipeline};
use tickpipe_components::id::{BufferId, PipelineId, PoolId};
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::state::State;

/// Lanes and buffers that [`Checking::Sampled`] looks at in every tick; a graph with more is looked
/// at as much less often.
pub const SAMPLED_SIZE: u64 = 512;

/// When the invariants are looked at.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checking {
    /// Never.
    Off,
    /// Every tick of a graph of up to [`SAMPLED_SIZE`] lanes and buffers; every n-th of one that is
    /// n times as large.
    Sampled,
    /// Every tick.
    Every,
}

impl Checking {
    /// As asked; without a word, sampled where debug assertions are on.
    pub fn of(asked: Option<bool>) -> Checking {
        match asked {
            Some(true) => Checking::Every,
            Some(false) => Checking::Off,
            None if cfg!(debug_assertions) => Checking::Sampled,
            None => Checking::Off,
        }
    }

    fn looks_at(self, p: &PipelineFabric) -> bool {
        let size = (p.lanes.len() + p.buffers.len()) as u64;
        match self {
            Checking::Off => false,
            Checking::Sampled => p.tick.is_multiple_of(size.div_ceil(SAMPLED_SIZE).max(1)),
            Checking::Every => true,
        }
    }
}

macro_rules! invariants {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// Something that always holds at the end of a tick.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Invariant { $($(#[$doc])* $variant),+ }

        impl Invariant {
            /// All, in the order in which they are looked at.
            pub const ALL: &[Invariant] = &[$(Invariant::$variant),+];

            /// Its stable name, which is its section in docs/invariants.md.
            pub const fn name(self) -> &'static str {
                match self { $(Invariant::$variant => $name),+ }
            }
        }
    };
}

invariants! {
    /// Lanes and links name each other.
    Links = "links",
    /// What lives for one tick is gone at its end.
    OneTick = "one-tick",
    /// Queues hold no more than they have room for, and nothing behind the end.
    Bounds = "bounds",
    /// What was emitted on a link was taken from it, is queued, or was dropped by who is done.
    Counters = "counters",
    /// Who is done holds nothing.
    Done = "done",
    /// Marks and counts of lanes agree with their readiness.
    Marks = "marks",
    /// A buffer is one of its pool's.
    PoolIndex = "pool-index",
    /// No buffer is in more places than it has references, or both free and held.
    OnePlace = "one-place",
    /// Free, queued and held buffers are all that a pool has.
    PoolBalance = "pool-balance",
    /// Reference counts are the number of places.
    References = "references",
    /// Pools in use are committed and have their memory, and who waits for a buffer is known.
    PoolState = "pool-state",
    /// Gates agree with states.
    Gates = "gates",
    /// The pads of a link have the caps that were agreed on.
    Caps = "caps",
}

/// What was found not to hold.
struct Found {
    invariant: Invariant,
    lanes: SmallVec<[usize; 4]>,
    buffers: SmallVec<[BufferId; 4]>,
    text: String,
}

impl Found {
    fn new(invariant: Invariant, text: String) -> Box<Found> {
        Box::new(Found {
            invariant,
            lanes: SmallVec::new(),
            buffers: SmallVec::new(),
            text,
        })
    }

    fn lane(mut self: Box<Self>, lane: usize) -> Box<Found> {
        if !self.lanes.contains(&lane) {
            self.lanes.push(lane);
        }
        self
    }

    fn buffer(mut self: Box<Self>, buffer: BufferId) -> Box<Found> {
        self.buffers.push(buffer);
        self
    }
}

type Checked = Result<(), Box<Found>>;

/// What is looked at.
struct Look<'a> {
    p: &'a PipelineFabric,
    topology: &'a Topology,
    agreed: &'a [Arc<Caps>],
    caps: &'a Query<'a, 'a, &'static PadCaps>,
    states: &'a Query<'a, 'a, &'static State>,
    pads: &'a Query<'a, 'a, &'static Pad>,
}

impl Look<'_> {
    fn name(&self, lane: usize) -> &str {
        self.topology.nodes.get(lane).map_or("?", |n| &n.name)
    }

    fn pool_name(&self, pool: PoolId) -> String {
        let pool = self.p.buffers.pools.get(pool.index());
        pool.map_or_else(String::new, |pool| {
            names::pool(self.topology, self.pads, pool)
        })
    }

    fn buffer_name(&self, buffer: BufferId) -> String {
        names::buffer(self.topology, self.pads, &self.p.buffers, buffer)
    }
}

/// Lists that a look fills anew, kept from tick to tick.
#[derive(Default)]
pub struct Scratch {
    /// Per buffer: places that know it.
    places: Vec<u32>,
    /// Per buffer: its bytes were put aside with it.
    aside: Vec<bool>,
}

fn look(look: &Look<'_>, scratch: &mut Scratch) -> Checked {
    lanes::links(look)?;
    lanes::lanes(look)?;
    lanes::marks(look)?;
    places::places(look, scratch)?;
    pools::pools(look, scratch)?;
    graph::gates(look)?;
    graph::caps(look)
}

/// Looks at all invariants of the pipelines of the window.
#[expect(
    clippy::too_many_arguments,
    reason = "a system says what it reads by its arguments"
)]
pub fn invariants(
    checking: Res<Checking>,
    mut fabric: ResMut<Fabric>,
    graphs: Res<Graphs>,
    pipelines: Query<&Pipeline>,
    caps: Query<&'static PadCaps>,
    states: Query<&'static State>,
    pads: Query<&'static Pad>,
    mut scratch: Local<Scratch>,
) {
    if *checking == Checking::Off {
        return;
    }
    let start = fabric.window.start;
    for (i, p) in (start..).zip(fabric.active()) {
        let at_work = matches!(
            p.progress,
            Progress::Running | Progress::Ended | Progress::Stalled
        );
        let id = PipelineId(i as u32);
        let (true, Some(topology), Some(motion)) = (at_work, graphs.running(id), graphs.motion(id))
        else {
            continue;
        };
        if !checking.looks_at(p) {
            continue;
        }
        let here = Look {
            p,
            topology,
            agreed: &motion.links,
            caps: &caps,
            states: &states,
            pads: &pads,
        };
        if let Err(found) = look(&here, &mut scratch) {
            let elements = found.lanes.iter().map(|&l| here.name(l).to_owned());
            let breach = Breach {
                id: found.invariant.name(),
                tick: p.tick,
                elements: elements.collect(),
                buffers: found.buffers.iter().map(|&b| here.buffer_name(b)).collect(),
                text: found.text,
            };
            let first = found.lanes.first().and_then(|&l| topology.nodes.get(l));
            let pipeline = pipelines.get(topology.pipeline);
            fail(
                p,
                breach,
                first.map(|n| n.id),
                pipeline.map_or("?", |p| &p.name),
            );
        }
    }
}

#[cold]
fn fail(
    p: &mut PipelineFabric,
    breach: Breach,
    element: Option<tickpipe_components::id::ElementId>,
    pipeline: &str,
) {
    tracing::error!(
        tick = breach.tick,
        pipeline,
        invariant = breach.id,
        elements = breach.elements.join(", "),
        buffers = breach.buffers.join(", "),
        "{}",
        breach.text
    );
    p.messages.push(Message {
        tick: p.tick,
        element,
        kind: MessageKind::Error(Domain::Core, Code::Invariant),
    });
    p.progress = Progress::Failed;
    p.idle = false;
    p.breach = Some(Box::new(breach));
}
