//! Where each buffer is: `pool-index`, `one-place`, `pool-balance`, `references`.

use super::{Checked, Found, Invariant, Look, Scratch};
use tickpipe_components::fabric::Lane;
use tickpipe_components::id::{BufferId, PoolId};

/// The places of a lane in which a buffer can be at the end of a tick, a reference each.
fn each_place(lane: &Lane, mut f: impl FnMut(BufferId) -> Checked) -> Checked {
    for input in &lane.inputs {
        for buffer in input.queue.iter().filter_map(|item| item.as_buffer()) {
            f(buffer)?;
        }
    }
    for kept in &lane.extras.kept {
        f(kept.buffer)?;
    }
    for filling in &lane.extras.filling {
        f(filling.buffer)?;
    }
    if let Some(sync) = &lane.extras.sync {
        for buffer in sync.held() {
            f(buffer)?;
        }
        for buffer in sync.sets.iter().flat_map(|s| &s.frames).flatten() {
            f(*buffer)?;
        }
    }
    Ok(())
}

pub(super) fn places(look: &Look<'_>, scratch: &mut Scratch) -> Checked {
    let table = &look.p.buffers;
    let Scratch { places, aside } = scratch;
    places.clear();
    places.resize(table.len(), 0);
    aside.clear();
    aside.resize(table.len(), false);
    for (l, lane) in look.p.lanes.iter().enumerate() {
        each_place(lane, |buffer| {
            let i = buffer.index();
            let of = table.pool.get(i).and_then(|p| table.pools.get(p.index()));
            if !of.is_some_and(|of| of.owns(buffer)) {
                let text = format!("{} has buffer {i}, which is no pool's", look.name(l));
                return Err(Found::new(Invariant::PoolIndex, text).lane(l));
            }
            places[i] += 1;
            Ok(())
        })?;
        for filling in &lane.extras.filling {
            aside[filling.buffer.index()] = true;
        }
    }
    // What a view shows is with the view.
    for shown in table.shows.iter().flatten() {
        if let Some(places) = places.get_mut(shown.index()) {
            *places += 1;
        }
    }
    (0..table.pools.len()).try_for_each(|pool| balance(look, PoolId(pool as u32), places))
}

fn balance(look: &Look<'_>, id: PoolId, places: &[u32]) -> Checked {
    let table = &look.p.buffers;
    let pool = &table.pools[id.index()];
    let first = pool.first.index();
    let all = first..first + pool.count as usize;
    if all.end > table.len() || table.pool[all.clone()].iter().any(|of| *of != id) {
        let name = look.pool_name(id);
        let text = format!("not all of buffers {all:?} are those of {name}");
        return Err(Found::new(Invariant::PoolIndex, text).lane(pool.owner.index()));
    }
    let mut free = 0;
    for i in all {
        let (references, known) = (table.refs[i], places[i]);
        let is_free = pool.free.contains((i - first) as u32);
        free += u32::from(is_free);
        if is_free == (known == 0) && references == known {
            continue;
        }
        return Err(misplaced(look, id, i, (is_free, references, known), places));
    }
    if free != pool.free.len() {
        let (name, counted) = (look.pool_name(id), pool.free.len());
        let text = format!("{name} counts {counted} free buffers and has {free}");
        return Err(Found::new(Invariant::PoolBalance, text).lane(pool.owner.index()));
    }
    Ok(())
}

/// What is wrong about a buffer.
#[cold]
fn misplaced(
    look: &Look<'_>,
    id: PoolId,
    i: usize,
    (is_free, references, known): (bool, u32, u32),
    places: &[u32],
) -> Box<Found> {
    let buffer = BufferId(i as u32);
    let name = look.buffer_name(buffer);
    let (invariant, text) = if is_free {
        let text = format!("{name} is free, with {references} references and in {known} places");
        (Invariant::OnePlace, text)
    } else if known > references {
        let text = format!("{name} is in {known} places and has {references} references");
        (Invariant::OnePlace, text)
    } else if known == 0 {
        let held = look.p.buffers.held[i];
        let who = look.name(held.by.index());
        let text = format!(
            "{}; {name} is nowhere: {who} got it last, in tick {}",
            sum(look, id, places),
            held.since
        );
        (Invariant::PoolBalance, text)
    } else {
        let text = format!("{name} has {references} references and is in {known} places");
        (Invariant::References, text)
    };
    let mut found = Found::new(invariant, text).buffer(buffer);
    for (l, lane) in look.p.lanes.iter().enumerate() {
        let mut here = false;
        let _ = each_place(lane, |b| {
            here |= b == buffer;
            Ok(())
        });
        if here {
            found = found.lane(l);
        }
    }
    match known {
        0 => found.lane(look.p.buffers.held[i].by.index()),
        _ => found,
    }
}

/// How the buffers of a pool do not add up.
fn sum(look: &Look<'_>, id: PoolId, places: &[u32]) -> String {
    let pool = &look.p.buffers.pools[id.index()];
    let first = pool.first.index();
    let mut queued = vec![false; pool.count as usize];
    for input in look.p.lanes.iter().flat_map(|l| &l.inputs) {
        for buffer in input.queue.iter().filter_map(|item| item.as_buffer()) {
            if pool.owns(buffer) {
                queued[buffer.index() - first] = true;
            }
        }
    }
    let free = pool.free.len();
    let in_queues = queued.iter().filter(|q| **q).count();
    let known = places[first..first + pool.count as usize].iter();
    let held = known.filter(|n| **n > 0).count() - in_queues;
    let (name, count) = (look.pool_name(id), pool.count);
    format!("{name}: {free} free + {in_queues} queued + {held} held of {count} buffers")
}
