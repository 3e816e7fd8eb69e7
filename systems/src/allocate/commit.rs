//! Makes pools of plans: the owner's check, what was granted against what is needed, the commit.
//!
//! It may touch the buffer table.

use super::need::{PoolError, reasons};
use super::plan::PoolPlan;
use crate::state::Topology;
use bevy_ecs::world::World;
use tickpipe_components::fabric::BufferTable;
use tickpipe_components::id::{LaneId, PoolId};
use tickpipe_components::pool::{Backing, Heap, Pool, PoolConfig, PoolUseError};

/// A pool that was made.
pub(super) struct Made {
    /// Which.
    pub pool: PoolId,
    /// Its owner granted fewer buffers than were asked for, which will do.
    pub fewer: bool,
}

/// What backs a planned pool.
pub(super) fn backing(world: &World, topology: &Topology, plan: &PoolPlan) -> Box<dyn Backing> {
    let owner = &topology.nodes[plan.owner];
    let own = owner.class.pool_backing(world.entity(owner.entity));
    own.unwrap_or_else(|| Box::new(Heap))
}

/// Asks the owner of a planned pool for it, without making anything. What it would grant.
///
/// # Errors
/// [`PoolError`]: the owner refuses, or grants fewer than are needed.
pub fn check_pool(
    world: &World,
    topology: &Topology,
    plan: &PoolPlan,
) -> Result<PoolConfig, PoolError> {
    match try_pool(world, topology, plan) {
        (Some(granted), Ok(())) => Ok(granted),
        (_, Err(error)) => Err(error),
        (None, Ok(())) => Ok(plan.config),
    }
}

/// The same, with what is granted also where that is not enough.
pub(super) fn try_pool(
    world: &World,
    topology: &Topology,
    plan: &PoolPlan,
) -> (Option<PoolConfig>, Result<(), PoolError>) {
    let mut table = BufferTable::default();
    let pool = table.add_pool(LaneId(plan.node as u32), backing(world, topology, plan));
    match configure(&mut table, pool, plan) {
        Ok(granted) => (Some(granted), enough(plan, granted.count)),
        Err(error) => (None, Err(error)),
    }
}

fn configure(
    table: &mut BufferTable,
    pool: PoolId,
    plan: &PoolPlan,
) -> Result<PoolConfig, PoolError> {
    let refused = |error: PoolUseError| PoolError::Use {
        pool: plan.name.clone(),
        error,
    };
    let asked = PoolConfig {
        count: 0,
        ..plan.config
    };
    table.configure(pool, asked).map_err(refused)?;
    table.set_config(pool, plan.config).map_err(refused)
}

fn enough(plan: &PoolPlan, granted: u32) -> Result<(), PoolError> {
    let least = plan.least();
    if granted >= least {
        return Ok(());
    }
    Err(PoolError::Granted {
        pool: plan.name.clone(),
        need: least.into(),
        arithmetic: reasons(&plan.needs, least.into()),
        granted,
    })
}

/// Adds a planned pool to a table, and starts it.
///
/// # Errors
/// [`PoolError`]: the owner refuses, or grants fewer than are needed.
pub(super) fn make(
    table: &mut BufferTable,
    plan: &PoolPlan,
    backing: Box<dyn Backing>,
) -> Result<Made, PoolError> {
    let pool = table.add_pool(LaneId(plan.node as u32), backing);
    let granted = configure(table, pool, plan)?;
    enough(plan, granted.count)?;
    let owner = LaneId(plan.owner as u32);
    let started = table.start(pool, owner);
    started.map_err(|error| PoolError::Use {
        pool: plan.name.clone(),
        error,
    })?;
    let Some(made) = table.pools.get_mut(pool.index()) else {
        return Ok(Made { pool, fewer: false });
    };
    enough(plan, made.count)?;
    made.layout = plan.layout;
    let fewer = made.count < plan.config.count;
    Ok(Made { pool, fewer })
}

/// Whether a pool will do for a new plan.
pub(super) fn fits(pool: &Pool, plan: &PoolPlan) -> bool {
    let (old, new) = (pool.live, plan.config);
    let same = (old.size, old.align, old.prefix) == (new.size, new.align, new.prefix)
        && pool.layout == plan.layout
        && pool.started_by == Some(LaneId(plan.owner as u32));
    same && plan.least() <= pool.count && (new.max == 0 || pool.count <= new.max)
}
