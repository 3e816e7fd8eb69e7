//! Planning: caps of each link and pools with their arithmetic, without starting anything.

use crate::build::PipelineHandle;
use crate::conflict::ConflictReport;
use crate::engine::Engine;
use core::fmt;
use serde::Serialize;
use std::collections::BTreeMap;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::graph::Transport;
use tickpipe_components::limits::Limits;
use tickpipe_systems::allocate::{Footprint, Need, PoolPlan, arithmetic, check_pool, plan_memory};
use tickpipe_systems::element::Flow;
use tickpipe_systems::negotiate::{
    Cost, Failure, LinkView, NegotiationError, Solution, reasons, solve, views,
};
use tickpipe_systems::state::{Topology, TopologyError};

/// What was agreed for a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// The source pad, as `element.pad`.
    pub from: String,
    /// The sink pad.
    pub to: String,
    /// Its caps.
    pub caps: Caps,
    /// How bytes get over it.
    pub transport: Transport,
    /// What making them costs: the conversion of the element that feeds the link, and what is lost.
    pub cost: Cost,
}

/// What a run of a pipeline would use.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Links in graph order.
    pub links: Vec<LinkPlan>,
    /// Pools in graph order.
    pub pools: Vec<PoolPlan>,
    /// Bytes that the graph takes once it has started.
    pub memory: Footprint,
    /// Converters that change something.
    pub conversions: Vec<Conversion>,
    /// What all links cost together: the least that any answer costs.
    pub cost: Cost,
    /// By the element that fills them, the names of those whose pools other elements fill.
    pub owners: BTreeMap<usize, String>,
    /// By the element that fills them, how many buffers were asked for where fewer are granted.
    pub asked: BTreeMap<usize, u32>,
}

/// Offset, stride and rows of each plane.
fn planes(pool: &PoolPlan) -> Vec<[u64; 3]> {
    let planes = pool.layout.iter().flat_map(|l| l.planes());
    let numbers = planes.map(|p| [p.offset(), p.stride(), p.rows()].map(|n| n as u64));
    numbers.collect()
}

/// What a converter changes.
#[derive(Clone, Debug, Serialize)]
pub struct Conversion {
    /// The converter's name.
    pub element: String,
    /// Each field that changes, with its value before and after.
    pub fields: Vec<(String, String, String)>,
    /// Which pads make it necessary, or that it is cheaper here than elsewhere.
    pub why: Option<String>,
}

/// What was asked, answered and chosen for a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkTrace {
    /// The source pad, as `element.pad`.
    pub from: String,
    /// The sink pad.
    pub to: String,
    /// What upstream can have: what the query carries.
    pub asked: String,
    /// What downstream can have: what the answer carries.
    pub answered: String,
    /// What was fixed, if there is an answer.
    pub chosen: Option<String>,
}

/// Why a pipeline cannot run.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Its graph is not whole.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Pads cannot agree.
    #[error("{0}")]
    Conflict(Box<Failure>),
    /// The search took more steps than it may: whether there is an answer is not known.
    #[error("{0}")]
    Limit(String),
    /// A source does not say what it emits.
    #[error("{0}")]
    Open(String),
    /// An element cannot do what it must.
    #[error("{element}: {error}")]
    Element {
        /// Its name.
        element: String,
        /// Why.
        error: tickpipe_components::fault::ElementError,
    },
}

impl PlanError {
    fn verdict(&self) -> &'static str {
        match self {
            PlanError::Conflict(_) => "conflict",
            PlanError::Limit(_) => "limit",
            PlanError::Topology(_) | PlanError::Open(_) | PlanError::Element { .. } => "failed",
        }
    }
}

/// A plan, or why there is none, as `plan --json` writes it.
#[derive(Clone, Debug, Serialize)]
pub struct PlanReport {
    /// `agreed`, `conflict`, `limit` or `failed`.
    pub verdict: &'static str,
    /// What the answer costs in conversions.
    pub cost: Option<u64>,
    /// What it loses, by kind; what is zero is left out.
    pub loss: BTreeMap<&'static str, u64>,
    /// Links in graph order.
    pub links: Vec<LinkCaps>,
    /// Converters that change something.
    pub conversions: Vec<Conversion>,
    /// Pools in graph order.
    pub pools: Vec<PoolCount>,
    /// What the graph takes in memory once it has started.
    pub memory: Option<MemoryReport>,
    /// Pads that cannot agree.
    pub conflict: Option<ConflictReport>,
    /// Why there is no plan, in words.
    pub error: Option<String>,
    /// What each link was asked and answered, if that is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<LinkTrace>>,
}

/// A link of a [`PlanReport`].
#[derive(Clone, Debug, Serialize)]
pub struct LinkCaps {
    /// The source pad, as `element.pad`.
    pub from: String,
    /// The sink pad.
    pub to: String,
    /// Its caps.
    pub caps: String,
    /// How bytes get over it: `push`, `pull` or `device`.
    pub transport: &'static str,
    /// What making them costs in conversions.
    pub cost: u64,
    /// What is lost there, by kind.
    pub loss: BTreeMap<&'static str, u64>,
}

/// A pool of a [`PlanReport`].
#[derive(Clone, Debug, Serialize)]
pub struct PoolCount {
    /// The pad whose buffers it has.
    pub name: String,
    /// How many buffers.
    pub buffers: u64,
    /// Bytes of one.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Bytes in front of each.
    pub prefix: u64,
    /// How many it needs at least, and why.
    pub needs: String,
    /// The same, term by term: who may hold how many.
    pub holders: Vec<HolderCount>,
    /// The sum of what is needed.
    pub need: u64,
    /// Most buffers that it may have; null for no bound of its own.
    pub max: Option<u64>,
    /// The element whose pool it is, where that is not who fills it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How many were asked for, where fewer are granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// The element whose pool was offered and will not do, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<(String, String)>,
    /// Offset, stride and rows of each plane of a raw picture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planes: Vec<[u64; 3]>,
}

/// One term of what a pool needs.
#[derive(Clone, Debug, Serialize)]
pub struct HolderCount {
    /// The element.
    pub element: String,
    /// How many buffers it may hold.
    pub buffers: u64,
    /// Whom it waits for with them, if it keeps them for no reason of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
}

impl HolderCount {
    fn of(need: &Need) -> HolderCount {
        HolderCount {
            element: need.element.clone(),
            buffers: need.buffers.into(),
            waits_for: need.waits_for.clone(),
        }
    }
}

/// What a graph takes in memory, in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MemoryReport {
    /// Buffers of all pools.
    pub buffers: u64,
    /// What is known of each buffer.
    pub records: u64,
    /// Queues of links.
    pub queues: u64,
    /// Elements, pads, links.
    pub elements: u64,
    /// All of it.
    pub total: u64,
}

impl MemoryReport {
    fn of(memory: &Footprint) -> MemoryReport {
        MemoryReport {
            buffers: memory.buffers,
            records: memory.records,
            queues: memory.queues,
            elements: memory.elements,
            total: memory.total(),
        }
    }
}

fn losses(cost: &Cost) -> BTreeMap<&'static str, u64> {
    let parts = cost.parts();
    parts.filter(|p| p.0 != "conversions").collect()
}

impl PlanReport {
    /// The report as indented JSON.
    pub fn to_json(&self) -> String {
        // Plain data without maps of other keys than texts: it cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The report of an outcome.
    pub fn of(outcome: &Result<Plan, PlanError>) -> PlanReport {
        let mut report = PlanReport {
            verdict: "agreed",
            cost: None,
            loss: BTreeMap::new(),
            links: Vec::new(),
            conversions: Vec::new(),
            pools: Vec::new(),
            memory: None,
            conflict: None,
            error: None,
            trace: None,
        };
        match outcome {
            Ok(plan) => {
                report.cost = Some(plan.cost.conversion_cost());
                report.loss = losses(&plan.cost);
                report.conversions.clone_from(&plan.conversions);
                let links = plan.links.iter().map(|l| LinkCaps {
                    from: l.from.clone(),
                    to: l.to.clone(),
                    caps: l.caps.to_string(),
                    transport: l.transport.name(),
                    cost: l.cost.conversion_cost(),
                    loss: losses(&l.cost),
                });
                report.links = links.collect();
                let pools = plan.pools.iter().map(|p| PoolCount {
                    name: p.name.clone(),
                    buffers: p.config.count.into(),
                    size: p.config.size as u64,
                    align: p.config.align as u64,
                    prefix: p.config.prefix as u64,
                    needs: arithmetic(&p.needs),
                    holders: p.needs.iter().map(HolderCount::of).collect(),
                    need: p.need().into(),
                    max: (p.config.max > 0).then(|| p.config.max.into()),
                    owner: plan.owners.get(&p.node).cloned(),
                    asked: plan.asked.get(&p.node).map(|asked| u64::from(*asked)),
                    refused: p.refused.clone(),
                    planes: planes(p),
                });
                report.pools = pools.collect();
                report.memory = Some(MemoryReport::of(&plan.memory));
            }
            Err(error) => {
                report.verdict = error.verdict();
                report.error = Some(error.to_string());
                if let PlanError::Conflict(failure) = error {
                    report.conflict = ConflictReport::of(failure);
                }
            }
        }
        report
    }
}

impl Engine {
    /// Works out what a run would use. Inputs are opened and their headers read; nothing is
    /// created.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self, pipeline: PipelineHandle) -> Result<Plan, PlanError> {
        let topology = Topology::read(&self.world, pipeline.entity)?;
        let limits = self.world.resource::<Limits>();
        let element = |node: usize, error| PlanError::Element {
            element: topology.nodes[node].name.clone(),
            error,
        };
        let solution = solve(&self.world, &topology, limits).map_err(|error| match error {
            NegotiationError::Conflict(conflict) => PlanError::Conflict(conflict),
            NegotiationError::Element { node, error } => element(node, error),
            NegotiationError::Open { .. } => PlanError::Open(error.to_string()),
            NegotiationError::Limit(_) | NegotiationError::Caps(_) => {
                PlanError::Limit(error.to_string())
            }
        })?;
        let memory = plan_memory(&self.world, &topology, &solution, limits)
            .map_err(|e| element(e.node, e.error))?;
        // What owners would refuse or not grant is told here too; nothing is made.
        let mut memory = memory;
        let mut asked = BTreeMap::new();
        for pool in &mut memory.pools {
            let granted = check_pool(&self.world, &topology, pool)
                .map_err(|e| element(pool.owner, e.into()))?;
            if granted.count < pool.config.count {
                asked.insert(pool.node, pool.config.count);
            }
            pool.slack = granted.count.saturating_sub(pool.need());
            pool.config = granted;
        }
        let foreign = memory.pools.iter().filter(|p| p.owner != p.node);
        let owners = foreign.map(|p| (p.node, topology.nodes[p.owner].name.clone()));
        let owners = owners.collect();
        let links = (0..topology.links.len()).map(|i| LinkPlan {
            from: topology.from_name(&self.world, i),
            to: topology.to_name(&self.world, i),
            caps: (*solution.links[i]).clone(),
            transport: topology.links[i].transport,
            cost: solution.costs[i],
        });
        Ok(Plan {
            links: links.collect(),
            pools: memory.pools,
            memory: memory.footprint,
            owners,
            asked,
            conversions: self.conversions(&topology, &solution),
            cost: solution.cost,
        })
    }

    /// What each link was asked and answered on the way to its caps. Of a graph without an answer
    /// too.
    ///
    /// # Errors
    /// [`PlanError`], if an element cannot say what it can do.
    pub fn trace_negotiation(&self, pipeline: PipelineHandle) -> Result<Vec<LinkTrace>, PlanError> {
        let topology = Topology::read(&self.world, pipeline.entity)?;
        let limits = self.world.resource::<Limits>();
        let views = views(&self.world, &topology, limits)
            .map_err(|error| PlanError::Open(error.to_string()))?;
        let solution = solve(&self.world, &topology, limits).ok();
        let link = |(i, LinkView { asked, answered }): (usize, LinkView)| LinkTrace {
            from: topology.from_name(&self.world, i),
            to: topology.to_name(&self.world, i),
            asked: asked.to_string(),
            answered: answered.to_string(),
            chosen: solution.as_ref().map(|s| s.links[i].to_string()),
        };
        Ok(views.into_iter().enumerate().map(link).collect())
    }

    /// What converters change, and why.
    fn conversions(&self, topology: &Topology, solution: &Solution) -> Vec<Conversion> {
        let mut found = Vec::new();
        let mut nodes = Vec::new();
        for (node, n) in topology.nodes.iter().enumerate() {
            if n.class.terms.flow != Flow::Convert {
                continue;
            }
            let ends = n.inputs.first().zip(n.outputs.first());
            let caps = ends.map(|(&a, &b)| (solution.links[a].first(), solution.links[b].first()));
            let Some((Some(before), Some(after))) = caps else {
                continue;
            };
            let mut fields: Vec<(String, String, String)> = before
                .fields()
                .filter_map(|(name, set)| {
                    let now = after.get(name)?;
                    (now != set).then(|| (name.to_owned(), set.to_string(), now.to_string()))
                })
                .collect();
            if before.media() != after.media() {
                let media = (before.media().to_owned(), after.media().to_owned());
                fields.insert(0, ("media type".to_owned(), media.0, media.1));
            }
            if !fields.is_empty() {
                nodes.push(node);
                found.push(Conversion {
                    element: n.name.clone(),
                    fields,
                    why: None,
                });
            }
        }
        let limits = self.world.resource::<Limits>();
        let why = reasons(&self.world, topology, limits, &nodes);
        for (conversion, why) in found.iter_mut().zip(why) {
            conversion.why = why;
        }
        found
    }
}

/// How a transport is told beside a link, unless it is the usual one.
pub fn told_beside_link(transport: &str) -> &'static str {
    match transport {
        "pull" => " (pull)",
        "device" => " (device)",
        _ => "",
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for link in &self.links {
            let how = told_beside_link(link.transport.name());
            writeln!(f, "{} -> {}{how}: {}", link.from, link.to, link.caps)?;
        }
        for conversion in &self.conversions {
            let fields = conversion.fields.iter();
            let changes: Vec<String> = fields
                .map(|(field, before, after)| format!("{field} {before} to {after}"))
                .collect();
            let Conversion { element, why, .. } = conversion;
            write!(f, "{element} converts {}", changes.join(", "))?;
            match why {
                Some(why) => writeln!(f, ": {why}")?,
                None => writeln!(f)?,
            }
        }
        for pool in &self.pools {
            write_pool(
                f,
                pool,
                self.owners.get(&pool.node),
                self.asked.get(&pool.node),
            )?;
        }
        let memory = &self.memory;
        writeln!(
            f,
            "memory: {} bytes ({} of buffers, {} of their records, {} of queues, {} of elements)",
            memory.total(),
            memory.buffers,
            memory.records,
            memory.queues,
            memory.elements
        )
    }
}

fn write_pool(
    f: &mut fmt::Formatter<'_>,
    pool: &PoolPlan,
    owner: Option<&String>,
    asked: Option<&u32>,
) -> fmt::Result {
    let config = &pool.config;
    write!(
        f,
        "pool {}: {} buffers of {} {} (needs {}: {}; {} more to work side by side)",
        pool.name,
        config.count,
        config.size,
        if config.size == 1 { "byte" } else { "bytes" },
        pool.need(),
        arithmetic(&pool.needs),
        pool.slack
    )?;
    if config.max > 0 {
        write!(f, ", at most {}", config.max)?;
    }
    if let Some(asked) = asked {
        write!(f, ", {asked} asked for and fewer granted")?;
    }
    if config.align > 1 {
        write!(f, ", aligned to {}", config.align)?;
    }
    if config.prefix > 0 {
        write!(f, ", {} bytes in front of each", config.prefix)?;
    }
    if let Some(owner) = owner {
        write!(f, ", of {owner}")?;
    }
    if let Some((owner, why)) = &pool.refused {
        write!(f, ", not of {owner}: {why}")?;
    }
    writeln!(f)?;
    let planes = planes(pool);
    if config.stride_align > 0 && !planes.is_empty() {
        let plane = |p: &[u64; 3]| format!("{} rows of {} bytes from byte {}", p[2], p[1], p[0]);
        let planes: Vec<String> = planes.iter().map(plane).collect();
        writeln!(f, "  planes: {}", planes.join(", "))?;
    }
    Ok(())
}
