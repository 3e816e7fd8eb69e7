//! Planning: caps of each link and pools with their arithmetic, without starting anything.

use crate::build::PipelineHandle;
use crate::engine::Engine;
use core::fmt;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::limits::Limits;
use tickpipe_systems::allocate::{PoolPlan, arithmetic, plan_memory};
use tickpipe_systems::element::Flow;
use tickpipe_systems::negotiate::{Conflict, NegotiationError, solve};
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
}

/// What a run of a pipeline would use.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Links in graph order.
    pub links: Vec<LinkPlan>,
    /// Pools in graph order.
    pub pools: Vec<PoolPlan>,
    /// Converters that change something.
    pub conversions: Vec<Conversion>,
}

/// What a converter changes.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The converter's name.
    pub element: String,
    /// Each field that changes, with its value before and after.
    pub fields: Vec<(String, String, String)>,
}

/// Why a pipeline cannot run.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Its graph is not whole.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Two pads cannot agree.
    #[error("{0}")]
    Conflict(Box<Conflict>),
    /// The search took more steps than it may, or caps grew past a limit.
    #[error("{0}")]
    Limit(String),
    /// An element cannot do what it must.
    #[error("{element}: {error}")]
    Element {
        /// Its name.
        element: String,
        /// Why.
        error: tickpipe_components::fault::ElementError,
    },
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
            other => PlanError::Limit(other.to_string()),
        })?;
        let memory = plan_memory(&self.world, &topology, &solution, limits)
            .map_err(|e| element(e.node, e.error))?;
        let links = (0..topology.links.len()).map(|i| LinkPlan {
            from: topology.from_name(&self.world, i),
            to: topology.to_name(&self.world, i),
            caps: (*solution.links[i]).clone(),
        });
        let converters = topology
            .nodes
            .iter()
            .filter(|n| n.class.terms.flow == Flow::Convert);
        let conversions = converters.filter_map(|n| {
            let before = solution.links[*n.inputs.first()?].first()?;
            let after = solution.links[*n.outputs.first()?].first()?;
            let fields: Vec<(String, String, String)> = before
                .fields()
                .filter_map(|(name, set)| {
                    let now = after.get(name)?;
                    (now != set).then(|| (name.to_owned(), set.to_string(), now.to_string()))
                })
                .collect();
            (!fields.is_empty()).then(|| Conversion {
                element: n.name.clone(),
                fields,
            })
        });
        Ok(Plan {
            links: links.collect(),
            pools: memory.pools,
            conversions: conversions.collect(),
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for link in &self.links {
            writeln!(f, "{} -> {}: {}", link.from, link.to, link.caps)?;
        }
        for Conversion { element, fields } in &self.conversions {
            let changes: Vec<String> = fields
                .iter()
                .map(|(field, before, after)| format!("{field} {before} to {after}"))
                .collect();
            writeln!(f, "{element} converts {}", changes.join(", "))?;
        }
        for pool in &self.pools {
            writeln!(
                f,
                "pool {}: {} buffers of {} bytes (needs {}: {}; {} more to work side by side)",
                pool.name,
                pool.count,
                pool.config.size,
                pool.need(),
                arithmetic(&pool.needs),
                pool.slack
            )?;
        }
        Ok(())
    }
}
