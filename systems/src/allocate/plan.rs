//! Decides all pools of a graph, downstream first, and how long its links are: a pure function of
//! graph, caps and limits.

use super::commit;
use super::footprint::Footprint;
use super::meet::Meetings;
use super::need::{self, Need, PoolError};
use crate::element::{Buffers, Flow, PadAt, PadTemplate, PoolBounds, Proposal};
use crate::negotiate::Solution;
use crate::state::{Node, Topology};
use bevy_ecs::world::World;
use thiserror::Error;
use tickpipe_components::caps::Structure;
use tickpipe_components::fabric::Leaky;
use tickpipe_components::fault::ElementError;
use tickpipe_components::graph::Pad;
use tickpipe_components::limits::{Limit, Limits};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::video::{Layout, RAW_VIDEO, VideoInfo};

/// What a pool will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    /// The element that fills its buffers, as an index into the topology's nodes.
    pub node: usize,
    /// The element whose pool it is: the same, or one downstream that offered it.
    pub owner: usize,
    /// Its name: the source pad of `node`, as `element.pad`.
    pub name: String,
    /// What was decided for its buffers; `count` is how many there are to be.
    pub config: PoolConfig,
    /// Where the planes of a raw picture lie in them.
    pub layout: Option<Layout>,
    /// The owner's own and what is retained along the pool's reach.
    pub needs: Vec<Need>,
    /// Buffers beyond the need, so that elements work at the same time.
    pub slack: u32,
    /// Who offered a pool that will not do, and why: then it is of who fills it.
    pub refused: Option<(String, String)>,
}

impl PoolPlan {
    /// The sum of what is needed.
    pub fn need(&self) -> u32 {
        self.needs.iter().map(|n| n.buffers).sum()
    }

    /// The fewest buffers that will do: the need, or what downstream asks for if that is more.
    pub fn least(&self) -> u32 {
        self.need().max(self.config.min)
    }
}

/// All pools of a graph, where each element's buffers come from, and the lengths of its links.
#[derive(Clone, Debug)]
pub struct MemoryPlan {
    /// By the element that fills them, in graph order.
    pub pools: Vec<PoolPlan>,
    /// By node.
    pub buffers: Vec<Buffers>,
    /// Items that each link holds.
    pub capacities: Vec<usize>,
    /// Bytes of all of it.
    pub footprint: Footprint,
}

impl MemoryPlan {
    /// Whether a node writes into what it gets.
    pub fn in_place(&self, node: usize) -> bool {
        matches!(self.buffers.get(node), Some(Buffers::InPlace(_)))
    }
}

/// An element that cannot say where its buffers come from, or whose pool cannot be.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct MemoryError {
    /// The element, as an index into the topology's nodes.
    pub node: usize,
    /// Why.
    pub error: ElementError,
}

/// What a pool of views has: no bytes that count.
const RECORDS: PoolConfig = PoolConfig {
    size: 1,
    align: 1,
    prefix: 0,
    stride_align: 0,
    min: 0,
    max: 0,
    count: 0,
};

/// What downstream of a link says of buffers, and who offers a pool of them.
#[derive(Clone, Copy, Default)]
struct Downstream {
    proposal: Proposal,
    offers: Option<usize>,
}

impl Downstream {
    /// What satisfies two branches; the pool of the first that has one is offered.
    fn merge(self, other: Downstream) -> Downstream {
        Downstream {
            proposal: self.proposal.merge(other.proposal),
            offers: self.offers.or(other.offers),
        }
    }
}

/// Decides all pools of a graph, downstream first.
///
/// # Errors
/// [`MemoryError`] with the element and the arithmetic.
pub fn plan_memory(
    world: &World,
    topology: &Topology,
    solution: &Solution,
    limits: &Limits,
) -> Result<MemoryPlan, MemoryError> {
    let whole = topology;
    let topology = &*whole.flowing();
    let (buffers, offered) = decide(world, whole, topology, solution, limits)?;
    let meetings = Meetings::new(world, topology, solution, &buffers);
    let capacities = capacities(world, topology, &meetings, limits)?;
    let mut pools: Vec<PoolPlan> = Vec::new();
    let mut reaches = need::Reaches::new(topology, &buffers);
    for (node, n) in topology.nodes.iter().enumerate() {
        let config = match buffers[node] {
            Buffers::Own(config) => config,
            Buffers::Views => RECORDS,
            Buffers::InPlace(config) if reaches.shared_before(node) || keeps(world, n) => config,
            _ => continue,
        };
        let Some(&first) = n.outputs.first() else {
            continue;
        };
        let class = &n.class;
        let has_backing = class.pool_backing(world.entity(n.entity)).is_some();
        let free = |owner: &usize| !has_backing && pools.iter().all(|p| p.owner != *owner);
        // Records of its own are no buffers of another's pool.
        let views = buffers[node] == Buffers::Views;
        let owner = offered[node].filter(|o| !views && free(o)).unwrap_or(node);
        let mut plan = PoolPlan {
            node,
            owner,
            name: topology.from_name(world, first),
            config,
            layout: match !views && makes_pictures(world, topology, first) {
                true => layout(solution.links[first].first(), config),
                false => None,
            },
            needs: Vec::new(),
            slack: 0,
            refused: None,
        };
        let reach = reaches.of(node);
        need::size(
            world, topology, solution, &meetings, &reach, limits, &mut plan,
        )
        .map_err(|error| MemoryError {
            node,
            error: error.into(),
        })?;
        fall_back(world, topology, &mut plan);
        pools.push(plan);
    }
    let mut plan = MemoryPlan {
        pools,
        buffers,
        capacities,
        footprint: Footprint::default(),
    };
    plan.footprint = Footprint::of(world, topology, solution, &plan, limits);
    within_limits(&plan, limits)?;
    Ok(plan)
}

/// Who offers a pool may not have what is needed: then who fills the buffers has a pool of its own, with
/// what the first made of it (DirectShow: an allocator that will not do is tried before the own one,
/// with the same requirements).
fn fall_back(world: &World, topology: &Topology, plan: &mut PoolPlan) {
    if plan.owner == plan.node {
        return;
    }
    let (granted, outcome) = commit::try_pool(world, topology, plan);
    let Err(error) = outcome else {
        return;
    };
    if let Some(granted) = granted {
        plan.config.size = plan.config.size.max(granted.size);
        plan.config.align = plan.config.align.max(granted.align);
        plan.config = plan.config.rounded();
    }
    let owner = topology.nodes[plan.owner].name.clone();
    plan.refused = Some((owner, error.to_string()));
    plan.owner = plan.node;
}

/// Whether a graph has no more buffers, and takes no more memory, than it may.
fn within_limits(plan: &MemoryPlan, limits: &Limits) -> Result<(), MemoryError> {
    // Told of the element whose pool is the largest.
    let bytes = |pool: &&PoolPlan| pool.config.size as u64 * u64::from(pool.config.count);
    let largest = plan.pools.iter().rev().max_by_key(bytes);
    let node = largest.map_or(0, |pool| pool.node);
    let refused = |error| MemoryError {
        node,
        error: PoolError::Limit(error).into(),
    };
    let buffers = plan.pools.iter().map(|p| u64::from(p.config.count)).sum();
    let what = "buffers of all pools of the graph";
    limits
        .check(Limit::Buffers, what, buffers)
        .map_err(refused)?;
    let what = match largest {
        None => "bytes of the graph".to_owned(),
        Some(pool) => format!(
            "bytes of the graph, of which pool {} has {} buffers of {} bytes",
            pool.name, pool.config.count, pool.config.size
        ),
    };
    let total = plan.footprint.total();
    limits.check(Limit::Memory, &what, total).map_err(refused)
}

/// Where each element's buffers come from, and who downstream offers it a pool.
fn decide(
    world: &World,
    whole: &Topology,
    topology: &Topology,
    solution: &Solution,
    limits: &Limits,
) -> Result<(Vec<Buffers>, Vec<Option<usize>>), MemoryError> {
    let mut buffers = vec![Buffers::Passed; topology.nodes.len()];
    let mut offered = vec![None; topology.nodes.len()];
    let mut proposals = vec![Downstream::default(); topology.links.len()];
    for (node, n) in topology.nodes.iter().enumerate().rev() {
        // Who serves sends nothing.
        if whole.serves(node) {
            continue;
        }
        let entity = world.entity(n.entity);
        let items = n.class.outside(entity).into();
        let what = format!("items of work of {} that are out", n.name);
        limits
            .check(Limit::WorkItems, &what, items)
            .map_err(|error| MemoryError {
                node,
                error: PoolError::Limit(error).into(),
            })?;
        let pads = solution.pads_of(whole, node);
        let downstream = n.outputs.iter().map(|&l| proposals[l]);
        let downstream = downstream.fold(Downstream::default(), Downstream::merge);
        let mut decided = n
            .class
            .decide_pool(entity, &pads, downstream.proposal.config)
            .map_err(|error| MemoryError { node, error })?;
        if let Buffers::Own(config) | Buffers::InPlace(config) = &mut decided {
            let bounds = entity.get::<PoolBounds>().copied().unwrap_or_default();
            *config = config.merge(PoolConfig {
                max: bounds.max,
                ..PoolConfig::default()
            });
        }
        buffers[node] = decided;
        offered[node] = downstream.offers;
        for (index, &link) in n.inputs.iter().enumerate() {
            let proposal = n.class.propose_pool(entity, PadAt::sink(index), &pads);
            let mut own = Downstream {
                proposal,
                offers: proposal.pool.then_some(node),
            };
            if passes(decided, index) {
                own = own.merge(downstream);
            }
            proposals[link] = own;
        }
    }
    Ok((buffers, offered))
}

/// Whether buffers of a sink pad go on downstream.
pub(super) fn passes(buffers: Buffers, pad: usize) -> bool {
    match buffers {
        Buffers::Passed | Buffers::Views => true,
        Buffers::InPlace(_) => pad == 0,
        Buffers::Own(_) => false,
    }
}

/// Whether who feeds a link can have nothing but raw video there: it lays pictures out as its pool
/// says. What makes bytes of any kind lays them out as usual.
fn makes_pictures(world: &World, topology: &Topology, link: usize) -> bool {
    let from = topology.links[link].from;
    let template = world.get::<Pad>(from.pad).map(|p| p.template);
    let pads = &topology.nodes[from.node].class.terms.pads;
    let template = template.and_then(|t| pads.get(t));
    let raw = |t: &PadTemplate| t.caps.structures().iter().all(|s| s.media() == RAW_VIDEO);
    template.is_some_and(|t| !t.caps.is_any() && raw(t))
}

/// Where the planes of pictures with these caps lie, with rows as the pool aligns them.
fn layout(caps: Option<&Structure>, config: PoolConfig) -> Option<Layout> {
    let info = VideoInfo::from_structure(caps?).ok()?;
    let layout = info.layout_aligned(config.stride_align).ok()?;
    (layout.size() <= config.size).then_some(layout)
}

/// Items that each link holds: what its receiver says, or the limit; more where branches of one
/// fork meet again and one of them keeps buffers.
fn capacities(
    world: &World,
    topology: &Topology,
    meetings: &Meetings,
    limits: &Limits,
) -> Result<Vec<usize>, MemoryError> {
    let common = limits.link_capacity();
    let mut capacities = vec![common; topology.links.len()];
    for (node, n) in topology.nodes.iter().enumerate() {
        let own = n.class.link_capacity(world.entity(n.entity));
        for &link in &n.inputs {
            let wanted = match own {
                Some(0) => limits.get(Limit::QueueBuffers),
                Some(own) => own.into(),
                None => meetings.longest(link).max(common as u64),
            };
            let what = format!("buffers of {}", n.name);
            let checked = limits.check(Limit::QueueBuffers, &what, wanted);
            checked.map_err(|error| MemoryError {
                node,
                error: PoolError::Limit(error).into(),
            })?;
            capacities[link] = wanted as usize;
            // What comes into a full queue that leaks has a place until something is let go.
            let queue = n.class.queue_limits(world.entity(n.entity));
            if queue.is_some_and(|q| q.leaky != Leaky::No) {
                capacities[link] += limits.get(Limit::Quantum) as usize;
            }
        }
    }
    Ok(capacities)
}

/// Whether an element's synchroniser may show a frame of its first input once more: it keeps that, and
/// what is written into is a copy.
fn keeps(world: &World, node: &Node) -> bool {
    if !synchronises(node.class.terms.flow) {
        return false;
    }
    let terms = node
        .class
        .sync_terms(world.entity(node.entity), node.inputs.len());
    terms.resolved().iter().skip(1).any(|rule| rule.sync > 0)
}

/// Whether an element with this flow compares its inputs.
pub(super) fn synchronises(flow: Flow) -> bool {
    flow.synchronises()
}
