//! Phase 4: sizes pools, and makes lanes, pools and buffers of graphs whose caps are solved.
//!
//! All sizes of a run are fixed here; later phases allocate nothing.

mod change;
mod commit;
mod footprint;
mod latency;
mod meet;
mod migrate;
mod need;
mod plan;

pub use commit::check_pool;
pub use footprint::Footprint;
pub use need::{Need, PoolError, arithmetic};
pub use plan::{MemoryError, MemoryPlan, PoolPlan, plan_memory};

use crate::element::{Buffers, PadAt};
use crate::negotiate::Solution;
use crate::outside::{Outside, SharedWorkers};
use crate::pipelines::Works;
use crate::state::{Edge, Graphs, Starting, Topology, begin_paused, fail, trigger_of};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use smallvec::SmallVec;
use std::sync::Arc;
use tickpipe_components::buffer::BufferSlot;
use tickpipe_components::caps::Structure;
use tickpipe_components::digest::{StateHasher, StateVisitor};
use tickpipe_components::fabric::{
    BufferTable, Fabric, Input, Lane, Marks, Output, PipelineFabric, Progress, QueueBounds, Ring,
    SinkTiming,
};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::graph::{
    Clock, ClockMode, Link, OfPipeline, Pipeline, Place, PoolOf, Transport,
};
use tickpipe_components::id::{BufferId, LaneId, LinkId, PipelineId, PoolId};
use tickpipe_components::limits::{Limit, Limits};
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::property::PropertyKind;
use tickpipe_components::sync::Synchroniser;
use tickpipe_components::time::TimeBase;

/// Bytes of a buffer from which running its element beside others pays (measured by the benchmark
/// `threads`; see docs/architecture.md).
const HEAVY: usize = 16_384;

/// Buffers of an element for which a place is made before it keeps them.
const MOST_KEPT: u32 = 65_536;

/// The allocate phase.
pub fn allocate(world: &mut World) {
    let graphs = world.resource::<Graphs>();
    if graphs.starting.is_empty() && graphs.changing.is_empty() && graphs.edited.is_empty() {
        return;
    }
    let mut graphs = world.resource_mut::<Graphs>();
    let changing = core::mem::take(&mut graphs.changing);
    let edited = core::mem::take(&mut graphs.edited);
    changing.into_iter().for_each(|c| change::change(world, c));
    for (id, edited) in edited {
        migrate::migrate(world, id, edited);
    }
    let starting = core::mem::take(&mut world.resource_mut::<Graphs>().starting);
    for (id, start) in starting {
        let Starting {
            topology,
            solution: Some(solution),
        } = start
        else {
            continue;
        };
        let limits = world.resource::<Limits>().clone();
        let plan = match plan_memory(world, &topology, &solution, &limits) {
            Ok(plan) => plan,
            Err(MemoryError { node, error }) => {
                let node = &topology.nodes[node];
                fail(world, id, Some((node.id, &node.name)), &error);
                continue;
            }
        };
        let flowing = topology.flowing();
        let mut lanes = lanes(world, &topology, &solution, &plan, &limits);
        let Some(table) = pools(world, id, &topology, &plan, &mut lanes) else {
            continue;
        };
        let pools_of = lanes.iter().map(|l| l.pool).collect();
        enter(world, &topology, id);
        let nodes = 0..topology.nodes.len();
        workers(world, &topology, nodes);
        let clock = clock_of(world, topology.pipeline);
        let free = clock == ClockMode::Free;
        let latencies = latency::latencies(world, &flowing, &solution);
        drop(flowing);
        latency::tell_sinks(&mut lanes, &latencies);
        let pool_count = table.pools.len() as u32;
        let graph_hash = graph_hash(world, &topology, &solution);
        let lending = lending(&topology);
        if let Some(p) = world.resource_mut::<Fabric>().get_mut(id) {
            lanes.iter_mut().for_each(|l| l.timed &= !free);
            let recording = p.recording;
            lanes.iter_mut().for_each(|l| record(l, recording));
            let count = lanes.len();
            let sinks = (0u32..).zip(&lanes).filter(|(_, l)| l.is_sink());
            let sinks: Vec<u32> = sinks.map(|(i, _)| i).collect();
            *p = PipelineFabric {
                buffers: table,
                free,
                wall: clock == ClockMode::Wall,
                lending,
                touched: Marks::new(count),
                timers: Marks::new(count),
                bounded: bounded(&lanes),
                ready: Vec::with_capacity(count),
                releasing: Vec::with_capacity(count),
                closing: Vec::with_capacity(count),
                posting: Vec::with_capacity(count),
                synchronises: lanes.iter().any(|l| l.extras.sync.is_some()),
                live_sinks: sinks.len() as u32,
                live: lanes.iter().any(|l| l.live),
                latencies,
                tell_elements: p.tell_elements,
                sinks,
                progress: Progress::Running,
                messages: core::mem::take(&mut p.messages),
                quantum: limits.get(Limit::Quantum) as u32,
                tick: p.tick,
                digesting: p.digesting,
                recording,
                graph_hash,
                lanes,
                ..PipelineFabric::default()
            };
            latency::warn_of_impossible(p);
            crate::reclaim::queues::look_at_all(p);
        }
        for pool in 0..pool_count {
            spawn_pool(world, id, PoolId(pool));
        }
        let pipeline = topology.pipeline;
        let mut graphs = world.resource_mut::<Graphs>();
        graphs.start_motion(id, solution.links, pools_of, graph_hash);
        graphs.put_running(topology);
        begin_paused(world, id, pipeline);
    }
}

/// How a pipeline's time passes.
fn clock_of(world: &World, pipeline: Entity) -> ClockMode {
    let clock = world
        .get::<Pipeline>(pipeline)
        .and_then(|p| world.get::<Clock>(p.clock));
    clock.copied().unwrap_or_default().mode
}

/// Keeps what the report wants of a lane.
fn record(lane: &mut Lane, recording: bool) {
    if recording && lane.is_sink() {
        lane.extras.make().frames = Some(Vec::new());
    }
    if recording && let Some(sync) = lane.extras.made().and_then(|e| e.sync.as_mut()) {
        sync.records = Some(Vec::new());
    }
}

fn lanes(
    world: &World,
    topology: &Topology,
    solution: &Solution,
    plan: &MemoryPlan,
    limits: &Limits,
) -> Vec<Lane> {
    let quantum = limits.get(Limit::Quantum) as usize;
    let whole = topology;
    let topology = &*whole.flowing();
    let silent = silent(world, topology);
    let node_lane = |(node, n): (usize, &crate::state::Node)| {
        let entity = world.entity(n.entity);
        let mut lane = Lane::new(n.id, trigger_of(n, entity));
        // Who serves is asked for nothing in a tick.
        lane.serves = whole.serves(node);
        lane.done = lane.serves;
        lane.inputs = n
            .inputs
            .iter()
            .map(|&l| {
                let from = topology.links[l].from;
                Input {
                    queue: Ring::new(plan.capacities[l]),
                    link: LinkId(l as u32),
                    from: (LaneId(from.node as u32), from.index as u32),
                    allowed: 0,
                    eos: false,
                    taken: 0,
                    discarded: 0,
                    carried: 0,
                    may_be_silent: silent[from.node],
                }
            })
            .collect();
        lane.outputs = n
            .outputs
            .iter()
            .map(|&l| {
                let to = topology.links[l].to;
                Output {
                    staged: Vec::with_capacity(quantum + 1),
                    link: LinkId(l as u32),
                    to: (LaneId(to.node as u32), to.index as u32),
                    room: 0,
                    eos: false,
                    emitted: 0,
                    waited: (0, 0),
                }
            })
            .collect();
        if lane.is_sink() {
            let terms = n.class.sink_terms(entity);
            lane.timed = terms.sync;
            lane.extras.make().timing = Some(SinkTiming {
                terms,
                ..SinkTiming::default()
            });
        }
        if let Some((queue, &link)) = n.class.queue_limits(entity).zip(n.inputs.first()) {
            let frame = rate_base(solution.links[link].structures().first());
            lane.extras.make().bounds = Some(Box::new(QueueBounds::new(queue, frame)));
        }
        lane.live = n.inputs.is_empty() && n.class.is_live(entity);
        let pads = (0..n.inputs.len()).map(PadAt::sink);
        let kept = pads.map(|pad| n.class.retains(entity, pad));
        let declared = kept.fold(0, u32::saturating_add);
        if declared > 0 {
            let extra = lane.extras.make();
            extra.declared = declared;
            extra.kept.reserve(declared.min(MOST_KEPT) as usize);
        }
        lane.in_place = plan.in_place(node);
        let size = heavy_size(plan.buffers[node]);
        lane.heavy = size >= HEAVY;
        let buffers = plan.buffers[node];
        if buffers != Buffers::Passed {
            let extra = lane.extras.make();
            extra.granted.reserve(quantum);
            extra.published.reserve(quantum);
            extra
                .borrowed
                .reserve(if lane.in_place { quantum } else { 0 });
            let views = buffers == Buffers::Views;
            extra.views.reserve(if views { quantum } else { 0 });
        }
        let held = lane
            .inputs
            .iter()
            .map(|i| i.queue.capacity())
            .sum::<usize>();
        lane.released = Vec::with_capacity(held.min(4 * quantum) + quantum);
        if n.outputs.len() > 1 {
            let copies = (n.outputs.len() - 1) * quantum;
            lane.extras.make().retained.reserve(copies);
        }
        if n.class.terms.flow.synchronises() && !n.inputs.is_empty() {
            let bases: SmallVec<[TimeBase; 4]> = n
                .inputs
                .iter()
                .map(|&l| time_base(solution.links[l].structures().first()))
                .collect();
            let mut terms = n.class.sync_terms(entity, bases.len());
            // An element with fixed pads of which some are not linked.
            terms.rules.truncate(bases.len());
            let mut sync = match Synchroniser::new(terms, &bases, quantum) {
                Ok(sync) => sync,
                Err(error) => Synchroniser::refused(error),
            };
            for (input, lane) in sync.inputs.iter_mut().zip(&lane.inputs) {
                input.silent = lane.may_be_silent;
            }
            lane.extras.make().sync = Some(Box::new(sync));
        }
        lane
    };
    topology.nodes.iter().enumerate().map(node_lane).collect()
}

/// Nodes from which nothing may ever come: sources that say so, and what only such feed.
fn silent(world: &World, topology: &Topology) -> Vec<bool> {
    let mut silent = vec![false; topology.nodes.len()];
    for (node, n) in topology.nodes.iter().enumerate() {
        silent[node] = match n.inputs.as_slice() {
            [] => n.class.may_be_silent(world.entity(n.entity)),
            inputs => inputs.iter().all(|&l| silent[topology.links[l].from.node]),
        };
    }
    silent
}

/// Bytes of the buffers that an element fills.
fn heavy_size(buffers: Buffers) -> usize {
    match buffers {
        Buffers::Own(c) | Buffers::InPlace(c) => c.size,
        Buffers::Views => 1,
        Buffers::Passed => 0,
    }
}

/// The time base of a stream with these caps: one frame, where the rate is known.
fn time_base(caps: Option<&Structure>) -> TimeBase {
    rate_base(caps).unwrap_or_default()
}

fn rate_base(caps: Option<&Structure>) -> Option<TimeBase> {
    let rate = caps?.fraction("framerate")?;
    TimeBase::of_rate(rate.num(), rate.den())
}

/// The lanes that are queues.
pub(crate) fn bounded(lanes: &[Lane]) -> Marks {
    let mut marks = Marks::new(lanes.len());
    let queues = (0u32..)
        .zip(lanes)
        .filter(|(_, l)| l.extras.bounds.is_some());
    queues.for_each(|(lane, _)| marks.insert(lane));
    marks
}

/// Makes and starts all pools of a graph that starts, and tells the lanes theirs. `None` if one
/// cannot be: that is posted, and none is left.
fn pools(
    world: &mut World,
    id: PipelineId,
    topology: &Topology,
    plan: &MemoryPlan,
    lanes: &mut [Lane],
) -> Option<BufferTable> {
    let mut table = BufferTable::default();
    for pool in &plan.pools {
        if let Some((owner, why)) = &pool.refused {
            warn_of_refused(world, id, topology, pool, (owner, why));
        }
        let backing = commit::backing(world, topology, pool);
        let mut made = commit::make(&mut table, pool, backing);
        // What could not be seen before: who fills them has some of its own.
        if let (Err(error), true) = (&made, pool.owner != pool.node) {
            let (owner, why) = (&topology.nodes[pool.owner].name, error.to_string());
            warn_of_refused(world, id, topology, pool, (owner, &why));
            table.pools.pop();
            let own = PoolPlan {
                owner: pool.node,
                ..pool.clone()
            };
            let backing = commit::backing(world, topology, &own);
            made = commit::make(&mut table, &own, backing);
        }
        match made {
            Ok(made) => {
                lanes[pool.node].pool = Some(made.pool);
                if made.fewer {
                    let granted = table.pools[made.pool.index()].count;
                    warn_of_fewer(world, id, topology, pool, granted);
                }
            }
            Err(error) => {
                let owner = &topology.nodes[pool.owner];
                fail(world, id, Some((owner.id, &owner.name)), &error.into());
                return None;
            }
        }
    }
    Some(table)
}

/// Tells that an offered pool will not do.
fn warn_of_refused(
    world: &mut World,
    id: PipelineId,
    topology: &Topology,
    plan: &PoolPlan,
    (owner, why): (&str, &str),
) {
    let Some(mut p) = crate::state::fabric_of(world, id) else {
        return;
    };
    let node = &topology.nodes[plan.node];
    tracing::warn!(
        tick = p.tick,
        element = &*node.name,
        pool = plan.name,
        "the pool of {owner} will not do, and one of its own is used: {why}"
    );
    let tick = p.tick;
    p.messages.push(Message {
        tick,
        element: Some(node.id),
        kind: MessageKind::Warning(Domain::Pool, Code::Refused),
    });
}

/// Tells that a pool has fewer buffers than were asked for, which will do.
fn warn_of_fewer(
    world: &mut World,
    id: PipelineId,
    topology: &Topology,
    plan: &PoolPlan,
    granted: u32,
) {
    let owner = &topology.nodes[plan.owner];
    let Some(mut p) = crate::state::fabric_of(world, id) else {
        return;
    };
    tracing::warn!(
        tick = p.tick,
        element = &*owner.name,
        pool = plan.name,
        "{} buffers were asked for and {} are granted; {} are needed ({})",
        plan.config.count,
        granted,
        plan.least(),
        need::reasons(&plan.needs, plan.least().into())
    );
    let tick = p.tick;
    p.messages.push(Message {
        tick,
        element: Some(owner.id),
        kind: MessageKind::Warning(Domain::Pool, Code::Fewer),
    });
}

/// The lanes whose buffers may be with somebody outside.
fn lending(topology: &Topology) -> Vec<u32> {
    let nodes = (0u32..).zip(&topology.nodes);
    let lending = nodes.filter(|(_, n)| n.class.lends);
    lending.map(|(lane, _)| lane).collect()
}

/// Elements that hand over work get what they do that with.
fn workers(world: &mut World, topology: &Topology, nodes: impl Iterator<Item = usize>) {
    let recording = world.resource::<Fabric>().get(topology.id);
    let recording = recording.is_some_and(|p| p.recording);
    for node in nodes {
        let n = &topology.nodes[node];
        let most = n.class.outside(world.entity(n.entity));
        if most == 0 {
            continue;
        }
        let workers = Arc::clone(&world.resource::<SharedWorkers>().0);
        let mut works = world.resource_mut::<Works>();
        let slots = works.pipelines.get_mut(topology.id.index());
        if let Some(slot) = slots.and_then(|w| w.slots.get_mut(node)) {
            slot.outside = Some(Box::new(Outside::new(workers, most, recording)));
        }
    }
}

/// Tells elements and links their places.
fn enter(world: &mut World, topology: &Topology, id: PipelineId) {
    for (lane, node) in topology.nodes.iter().enumerate() {
        world.entity_mut(node.entity).insert(Place {
            pipeline: id,
            lane: LaneId(lane as u32),
        });
    }
    for (i, link) in topology.links.iter().enumerate() {
        let Edge {
            entity, transport, ..
        } = *link;
        if let Some(mut link) = world.get_mut::<Link>(entity) {
            link.place = Some(LinkId(i as u32));
            link.transport = Some(transport);
        }
    }
}

/// Makes the entities of a pool and its buffers.
fn spawn_pool(world: &mut World, id: PipelineId, pool_id: PoolId) {
    let fabric = world.resource::<Fabric>();
    let Some(pool) = fabric
        .get(id)
        .and_then(|p| p.buffers.pools.get(pool_id.index()))
    else {
        return;
    };
    let buffers = pool.first.0..pool.first.0 + pool.count;
    let pool = PoolOf {
        pipeline: id,
        pool: pool_id,
    };
    let mut made = vec![world.spawn(pool).id()];
    let slots = buffers.map(|b| {
        let slot = BufferSlot {
            pool: pool_id,
            buffer: BufferId(b),
        };
        (slot, OfPipeline(id))
    });
    made.extend(world.spawn_batch(slots.collect::<Vec<_>>()));
    let mut graphs = world.resource_mut::<Graphs>();
    if graphs.memory.len() <= id.index() {
        graphs.memory.resize_with(id.index() + 1, Vec::new);
    }
    graphs.memory[id.index()].extend(made);
}

/// A hash of elements, their settings, links and caps: what a digest of the run starts from.
fn graph_hash(world: &World, topology: &Topology, solution: &Solution) -> u64 {
    let mut hash = StateHasher::new();
    for node in &topology.nodes {
        hash.unsigned("id", node.id.0.into());
        hash.bytes("name", node.name.as_bytes());
        hash.bytes("kind", node.class.name.as_bytes());
        // Texts are left out: paths differ between machines and decide nothing by themselves.
        for info in &node.class.properties {
            let value = match info.kind {
                PropertyKind::Text => continue,
                _ => node.class.property(world.entity(node.entity), info.name),
            };
            if let Ok(Some(value)) = value {
                hash.bytes(info.name, value.to_string().as_bytes());
            }
        }
    }
    for (link, caps) in topology.links.iter().zip(&solution.links) {
        for end in [link.from, link.to] {
            hash.unsigned("node", end.node as u64);
            hash.unsigned("pad", end.index as u64);
        }
        hash.bytes("caps", caps.to_string().as_bytes());
        if link.transport != Transport::Push {
            hash.bytes("transport", link.transport.name().as_bytes());
        }
    }
    hash.digest()
}
