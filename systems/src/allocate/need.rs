//! How many buffers a pool needs, with the arithmetic, and how many it gets: pure.

use super::meet::Meetings;
use super::plan::{PoolPlan, passes};
use crate::element::{Buffers, PadAt, PoolBounds};
use crate::negotiate::Solution;
use crate::state::{Node, Topology};
use bevy_ecs::world::{EntityRef, World};
use core::fmt;
use thiserror::Error;
use tickpipe_components::caps::Structure;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::time::{Rounding, TimeBase};

/// One summand of what a pool needs: who may hold how many of its buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Whose it is.
    pub element: String,
    /// How many buffers.
    pub buffers: u32,
    /// Whom the element waits for with them, if it keeps them for no reason of its own.
    pub waits_for: Option<String>,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.element, self.buffers)?;
        match &self.waits_for {
            Some(on) => write!(f, " waiting for {on}"),
            None => Ok(()),
        }
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
        need: u64,
        /// The sum, term by term.
        arithmetic: String,
        /// The most that it may have.
        max: u32,
    },
    /// Its owner granted fewer than are needed.
    #[error("pool {pool} needs {need} buffers ({arithmetic}) and was granted {granted}")]
    Granted {
        /// The pool.
        pool: String,
        /// What is needed.
        need: u64,
        /// The sum, term by term.
        arithmetic: String,
        /// What was granted.
        granted: u32,
    },
    /// It cannot be configured or committed.
    #[error("pool {pool}: {error}")]
    Use {
        /// The pool.
        pool: String,
        /// Why.
        error: tickpipe_components::pool::PoolUseError,
    },
    /// It would pass a limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl From<PoolError> for ElementError {
    fn from(error: PoolError) -> ElementError {
        let code = match error {
            PoolError::Limit(_) => Code::Limit,
            _ => Code::Refused,
        };
        ElementError::new(Domain::Pool, code, error)
    }
}

/// Terms of a sum that are told one by one.
const TOLD: usize = 24;

/// The sum, term by term: `videotestsrc0 1 + mix 1`; of very many the rest together.
pub fn arithmetic(needs: &[Need]) -> String {
    let (told, rest) = needs.split_at(needs.len().min(TOLD));
    let mut terms: Vec<String> = told.iter().map(Need::to_string).collect();
    if !rest.is_empty() {
        let sum: u64 = rest.iter().map(|n| u64::from(n.buffers)).sum();
        terms.push(format!("{}-others {sum}", rest.len()));
    }
    terms.join(" + ")
}

/// Why a pool must have `wanted` buffers: the sum, and what is asked of it besides.
pub(super) fn reasons(needs: &[Need], wanted: u64) -> String {
    let terms = arithmetic(needs);
    let need: u64 = needs.iter().map(|n| u64::from(n.buffers)).sum();
    match need < wanted {
        true => format!("{terms}, and at least {wanted} are asked for downstream"),
        false => terms,
    }
}

/// Finds where buffers of a pool can come to.
pub(super) struct Reaches<'a> {
    topology: &'a Topology,
    buffers: &'a [Buffers],
    /// Per link the last node that was looked at and led to it: before it, and behind it.
    before: Vec<usize>,
    behind: Vec<usize>,
}

impl<'a> Reaches<'a> {
    pub(super) fn new(topology: &'a Topology, buffers: &'a [Buffers]) -> Self {
        let none = vec![usize::MAX; topology.links.len()];
        Reaches {
            topology,
            buffers,
            before: none.clone(),
            behind: none,
        }
    }

    /// Whether what arrives on sink pad 0 may be held by another branch too, or be a view.
    pub(super) fn shared_before(&mut self, node: usize) -> bool {
        let topology = self.topology;
        let mut open: Vec<usize> = topology.nodes[node]
            .inputs
            .iter()
            .take(1)
            .copied()
            .collect();
        while let Some(link) = open.pop() {
            if core::mem::replace(&mut self.before[link], node) == node {
                continue;
            }
            let from = topology.links[link].from.node;
            let n = &topology.nodes[from];
            if n.outputs.len() > 1 || self.buffers[from] == Buffers::Views {
                return true;
            }
            let inputs = n.inputs.iter().enumerate();
            let passed = inputs.filter(|(pad, _)| passes(self.buffers[from], *pad));
            open.extend(passed.map(|(_, link)| link));
        }
        false
    }

    /// The links that buffers of a node's pool can come to, ascending: several ways to one are one.
    pub(super) fn of(&mut self, node: usize) -> Vec<usize> {
        let topology = self.topology;
        let mut links = Vec::new();
        let mut open: Vec<usize> = topology.nodes[node].outputs.to_vec();
        while let Some(link) = open.pop() {
            if core::mem::replace(&mut self.behind[link], node) == node {
                continue;
            }
            links.push(link);
            let to = topology.links[link].to;
            if passes(self.buffers[to.node], to.index) {
                open.extend(&topology.nodes[to.node].outputs);
            }
        }
        links.sort_unstable();
        links
    }
}

/// What a queue holds back of buffers of a size while it has fewer bytes, or less time, than it is to
/// have: one less than make up those bytes, and of the time as many, as the last one's may not count.
/// What makes it full it passes on in any case.
fn held_back(node: &Node, entity: EntityRef<'_>, size: usize, caps: Option<&Structure>) -> u32 {
    let Some(limits) = node.class.queue_limits(entity) else {
        return 0;
    };
    let of_bytes = |bytes: u64| bytes.div_ceil(size.max(1) as u64);
    let rate = caps.and_then(|s| s.fraction("framerate"));
    let frame = rate.and_then(|r| TimeBase::of_rate(r.num(), r.den()));
    let of_time = |time: i64| {
        let frames = TimeBase::NANOSECONDS.convert(time, frame?, Rounding::Up)?;
        u64::try_from(frames).ok()
    };
    let least = of_bytes(limits.min_bytes).saturating_sub(1);
    let least = least.max(of_time(limits.min_time).unwrap_or_default());
    let full = [
        u64::from(limits.buffers),
        of_bytes(limits.bytes),
        of_time(limits.time).unwrap_or_default(),
    ];
    let full = full.into_iter().filter(|most| *most > 0).min();
    let buffers = least.min(full.unwrap_or(u64::MAX));
    u32::try_from(buffers).unwrap_or(u32::MAX)
}

/// Sums up what a pool needs, and says how many buffers it gets.
pub(super) fn size(
    world: &World,
    topology: &Topology,
    solution: &Solution,
    meetings: &Meetings,
    reach: &[usize],
    limits: &Limits,
    plan: &mut PoolPlan,
) -> Result<(), PoolError> {
    let owner = &topology.nodes[plan.node];
    let bounds = world.get::<PoolBounds>(owner.entity);
    let pads = solution.pads_of(topology, plan.node);
    let entity = world.entity(owner.entity);
    // Who gives to one at a time has one for each.
    let legs = match (owner.class.apart)(entity, &pads) {
        Some(_) => owner.outputs.len() as u32,
        None => 1,
    };
    let own = bounds.map_or(0, |b| b.min).max(legs).max(1);
    plan.needs.push(Need {
        element: owner.name.clone(),
        buffers: own,
        waits_for: None,
    });
    let mut kept_by = Vec::new();
    for &link in reach {
        let to = topology.links[link].to;
        let n = &topology.nodes[to.node];
        let entity = world.entity(n.entity);
        let kept = n.class.retains(entity, PadAt::sink(to.index));
        let kept = kept.max(held_back(
            n,
            entity,
            plan.config.size,
            solution.links[link].first(),
        ));
        if kept > 0 {
            let element = match n.inputs.len() {
                1 => n.name.clone(),
                _ => topology.to_name(world, link),
            };
            kept_by.push(Need {
                element,
                buffers: kept,
                waits_for: None,
            });
        }
    }
    for waiting in meetings.waiting(plan.node, reach) {
        let to = topology.links[waiting.link].to;
        kept_by.push(Need {
            element: topology.nodes[to.node].name.clone(),
            buffers: u32::try_from(waiting.buffers).unwrap_or(u32::MAX),
            waits_for: Some(topology.to_name(world, waiting.other)),
        });
    }
    plan.needs.extend(kept_by);
    let (name, config) = (plan.name.clone(), plan.config);
    let need: u64 = plan.needs.iter().map(|n| u64::from(n.buffers)).sum();
    let wanted = need.max(config.min.into());
    if config.max > 0 && wanted > u64::from(config.max) {
        return Err(PoolError::TooFew {
            pool: name,
            need: wanted,
            arithmetic: reasons(&plan.needs, wanted),
            max: config.max,
        });
    }
    limits.check(
        Limit::PoolBuffers,
        &format!("buffers of pool {name} ({})", arithmetic(&plan.needs)),
        wanted,
    )?;
    let size = (config.size.max(1) as u64).saturating_add(config.prefix as u64);
    let most = match config.max {
        0 => u64::MAX,
        max => max.into(),
    };
    let wanted = wanted.max(u64::from(config.count).min(most));
    limits.check(
        Limit::PoolBuffers,
        &format!("buffers that pool {name} is asked for"),
        wanted,
    )?;
    let bytes = size.saturating_mul(wanted);
    limits.check(Limit::PoolBytes, &format!("bytes of pool {name}"), bytes)?;
    let most = most.min(limits.get(Limit::PoolBuffers));
    let affordable = limits.get(Limit::SlackBytes) / size;
    let mut slack = (reach.len() as u64 * limits.get(Limit::Quantum)).min(affordable);
    if config.count > 0 {
        // Who says how many it wants gets no more.
        slack = 0;
    }
    let count = (wanted + slack).min(most.max(wanted)).max(wanted);
    plan.slack = (count - need) as u32;
    let config = PoolConfig {
        count: count as u32,
        size: config.size.max(1),
        align: config.align.max(1),
        ..config
    };
    plan.config = config.rounded();
    Ok(())
}
