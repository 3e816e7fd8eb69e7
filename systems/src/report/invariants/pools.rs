//! How each pool stands: `pool-state`.

use super::{Checked, Found, Invariant, Look, Scratch};
use tickpipe_components::id::{BufferId, PoolId};
use tickpipe_components::readiness::Readiness;

/// After the places were found: which buffers are put aside is known.
pub(super) fn pools(look: &Look<'_>, scratch: &Scratch) -> Checked {
    let table = &look.p.buffers;
    for (id, pool) in (0..).map(PoolId).zip(&table.pools) {
        let wrong = |text: String| {
            let text = format!("{} {text}", look.pool_name(id));
            Found::new(Invariant::PoolState, text).lane(pool.owner.index())
        };
        if pool.decommitting && (pool.committed || pool.out() == 0) {
            let (out, committed) = (pool.out(), pool.committed);
            return Err(wrong(format!(
                "is decommitting with {out} buffers out, and committed is {committed}"
            )));
        }
        if pool.committed && look.p.retired.contains(&id) {
            return Err(wrong("is retired and committed".to_owned()));
        }
        let ascending = pool.waiting.windows(2).all(|w| w[0] < w[1]);
        let lanes = look.p.lanes.len();
        let known = pool.waiting.last().is_none_or(|l| l.index() < lanes);
        if !ascending || !known || (!pool.committed && !pool.waiting.is_empty()) {
            return Err(wrong("has a list of who waits that cannot be".to_owned()));
        }
        let first = pool.first.index();
        for slot in 0..pool.count {
            let i = first + slot as usize;
            // The memory of a free buffer may be gone once the pool gives none.
            let wanted = pool.committed || !pool.free.contains(slot);
            let has = table.memory[i].is_some();
            if (wanted && has == scratch.aside[i]) || (scratch.aside[i] && has) {
                let buffer = BufferId(i as u32);
                let text = match has {
                    true => "is put aside, and its bytes are not with it",
                    false => "has no bytes",
                };
                let text = format!("{} {text}", look.buffer_name(buffer));
                let found = Found::new(Invariant::PoolState, text);
                return Err(found.lane(table.held[i].by.index()).buffer(buffer));
            }
        }
    }
    for (l, lane) in look.p.lanes.iter().enumerate() {
        let Some(id) = lane.pool.filter(|_| !lane.done) else {
            continue;
        };
        let wrong = |text: &str| {
            let text = format!("{} {text} {}", look.name(l), look.pool_name(id));
            Found::new(Invariant::PoolState, text).lane(l)
        };
        let Some(pool) = table.pools.get(id.index()).filter(|p| p.committed) else {
            return Err(wrong("fills buffers of a pool that is not committed:"));
        };
        if lane.readiness == Readiness::Buffer(id) {
            let waits = pool.waiting.iter().any(|w| w.index() == l);
            if !waits && !look.p.touched.contains(l as u32) {
                return Err(wrong("waits for a buffer and nobody will tell it:"));
            }
        }
    }
    Ok(())
}
