//! How large each pool must be, with the arithmetic: a pure function of graph, caps and limits.

use crate::element::{Buffers, PadAt};
use crate::negotiate::Solution;
use crate::state::Topology;
use bevy_ecs::world::World;
use thiserror::Error;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};
use tickpipe_components::pool::PoolConfig;

/// One summand of what a pool needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Whose it is.
    pub element: String,
    /// How many buffers.
    pub buffers: u32,
}

/// What a pool will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    /// The element that owns it, as an index into the topology's nodes.
    pub node: usize,
    /// Its name: `element.pad`.
    pub name: String,
    /// What was decided for its buffers.
    pub config: PoolConfig,
    /// The owner's own and what is retained along its reach.
    pub needs: Vec<Need>,
    /// Buffers beyond the need, so that elements work at the same time.
    pub slack: u32,
    /// Buffers in all.
    pub count: u32,
}

impl PoolPlan {
    /// The sum of what is needed.
    pub fn need(&self) -> u32 {
        self.needs.iter().map(|n| n.buffers).sum()
    }
}

/// All pools of a graph, and where each element's buffers come from.
#[derive(Clone, Debug)]
pub struct MemoryPlan {
    /// By owner, in graph order.
    pub pools: Vec<PoolPlan>,
    /// By node.
    pub buffers: Vec<Buffers>,
}

impl MemoryPlan {
    /// Whether a node writes into what it gets.
    pub fn in_place(&self, node: usize) -> bool {
        matches!(self.buffers.get(node), Some(Buffers::InPlace(_)))
    }
}

/// A pool that cannot be as it must.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PoolError {
    /// More buffers are needed than its owner may have.
    #[error("pool {pool} needs {need} buffers ({arithmetic}) and may have {max}")]
    TooFew {
        /// The pool.
        pool: String,
        /// What is needed.
        need: u32,
        /// The sum, term by term.
        arithmetic: String,
        /// The most that it may have.
        max: u32,
    },
    /// It would pass a limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl From<PoolError> for ElementError {
    fn from(error: PoolError) -> ElementError {
        let code = match error {
            PoolError::TooFew { .. } => Code::Refused,
            PoolError::Limit(_) => Code::Limit,
        };
        ElementError::new(Domain::Pool, code, error)
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
    let mut buffers = vec![Buffers::Passed; topology.nodes.len()];
    let mut proposals = vec![PoolConfig::default(); topology.links.len()];
    for (node, n) in topology.nodes.iter().enumerate().rev() {
        let entity = world.entity(n.entity);
        if let Some(capacity) = n.class.link_capacity(entity) {
            let what = format!("buffers of {}", n.name);
            let checked = limits.check(Limit::QueueBuffers, &what, capacity.into());
            checked.map_err(|error| MemoryError {
                node,
                error: PoolError::Limit(error).into(),
            })?;
        }
        let pads = solution.pads_of(topology, node);
        let downstream = n
            .outputs
            .iter()
            .map(|&l| proposals[l])
            .fold(PoolConfig::default(), PoolConfig::merge);
        let decided = n
            .class
            .decide_pool(entity, &pads, downstream)
            .map_err(|error| MemoryError { node, error })?;
        buffers[node] = decided;
        for (index, &link) in n.inputs.iter().enumerate() {
            let mut proposal = n.class.propose_pool(entity, PadAt::sink(index), &pads);
            if passes(decided, index) {
                proposal = proposal.merge(downstream);
            }
            proposals[link] = proposal;
        }
    }
    let mut pools = Vec::new();
    // Per link the last node that was looked at and led to it: before it, and behind it.
    let mut before = vec![usize::MAX; topology.links.len()];
    let mut behind = before.clone();
    for (node, n) in topology.nodes.iter().enumerate() {
        let config = match buffers[node] {
            Buffers::Own(config) => config,
            Buffers::InPlace(config) if shared_before(topology, &buffers, &mut before, node) => {
                config
            }
            _ => continue,
        };
        let Some(&first) = n.outputs.first() else {
            continue;
        };
        let name = topology.from_name(world, first);
        let reach = reach(topology, &buffers, &mut behind, node);
        let pool = size(world, topology, &reach, limits, node, name, config).map_err(|error| {
            MemoryError {
                node,
                error: error.into(),
            }
        })?;
        pools.push(pool);
    }
    Ok(MemoryPlan { pools, buffers })
}

/// Whether buffers of a sink pad go on downstream.
fn passes(buffers: Buffers, pad: usize) -> bool {
    match buffers {
        Buffers::Passed => true,
        Buffers::InPlace(_) => pad == 0,
        Buffers::Own(_) => false,
    }
}

/// Whether what arrives on sink pad 0 may be held by another branch too.
fn shared_before(
    topology: &Topology,
    buffers: &[Buffers],
    seen: &mut [usize],
    node: usize,
) -> bool {
    let mut open: Vec<usize> = topology.nodes[node]
        .inputs
        .iter()
        .take(1)
        .copied()
        .collect();
    while let Some(link) = open.pop() {
        if core::mem::replace(&mut seen[link], node) == node {
            continue;
        }
        let from = topology.links[link].from.node;
        let n = &topology.nodes[from];
        if n.outputs.len() > 1 {
            return true;
        }
        let inputs = n.inputs.iter().enumerate();
        let passed = inputs.filter(|(pad, _)| passes(buffers[from], *pad));
        open.extend(passed.map(|(_, link)| link));
    }
    false
}

/// The links that buffers of a node's pool can come to: several ways to one are one.
fn reach(topology: &Topology, buffers: &[Buffers], seen: &mut [usize], node: usize) -> Vec<usize> {
    let mut links = Vec::new();
    let mut open: Vec<usize> = topology.nodes[node].outputs.clone();
    while let Some(link) = open.pop() {
        if core::mem::replace(&mut seen[link], node) == node {
            continue;
        }
        links.push(link);
        let to = topology.links[link].to;
        if passes(buffers[to.node], to.index) {
            open.extend(&topology.nodes[to.node].outputs);
        }
    }
    links
}

fn size(
    world: &World,
    topology: &Topology,
    reach: &[usize],
    limits: &Limits,
    node: usize,
    name: String,
    config: PoolConfig,
) -> Result<PoolPlan, PoolError> {
    let mut needs = vec![Need {
        element: topology.nodes[node].name.clone(),
        buffers: 1.max(config.min),
    }];
    for &link in reach {
        let to = topology.links[link].to;
        let n = &topology.nodes[to.node];
        let kept = n
            .class
            .retains(world.entity(n.entity), PadAt::sink(to.index));
        if kept > 0 {
            needs.push(Need {
                element: n.name.clone(),
                buffers: kept,
            });
        }
    }
    needs[1..].sort_by(|a, b| a.element.cmp(&b.element));
    let need: u64 = needs.iter().map(|n| u64::from(n.buffers)).sum();
    let too_few = |max: u64| PoolError::TooFew {
        pool: name.clone(),
        need: need as u32,
        arithmetic: arithmetic(&needs),
        max: max as u32,
    };
    if config.max > 0 && need > u64::from(config.max) {
        return Err(too_few(config.max.into()));
    }
    limits.check(Limit::PoolBuffers, &format!("buffers of pool {name}"), need)?;
    let bytes = (config.size.max(1) as u64).saturating_mul(need);
    limits.check(Limit::PoolBytes, &format!("bytes of pool {name}"), bytes)?;
    let most = [
        limits.get(Limit::PoolBuffers),
        if config.max > 0 {
            config.max.into()
        } else {
            u64::MAX
        },
    ];
    let most = most.into_iter().min().unwrap_or(need);
    let affordable = limits.get(Limit::SlackBytes) / config.size.max(1) as u64;
    let slack = (reach.len() as u64 * limits.get(Limit::Quantum))
        .min(affordable)
        .min(most.saturating_sub(need));
    Ok(PoolPlan {
        node,
        name,
        config,
        slack: slack as u32,
        count: (need + slack) as u32,
        needs,
    })
}

/// The sum, term by term: `videotestsrc0 1 + mix 1`.
pub fn arithmetic(needs: &[Need]) -> String {
    let terms: Vec<String> = needs
        .iter()
        .map(|n| format!("{} {}", n.element, n.buffers))
        .collect();
    terms.join(" + ")
}
