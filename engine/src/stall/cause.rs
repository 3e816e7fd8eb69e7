//! What is to blame for a stall, as a name, an element and a sentence. Pure.

use super::Cause;
use super::chain::{Chain, Step};
use super::graph::{Holding, Waits, What};
use tickpipe_components::fabric::{Lane, Trigger};
use tickpipe_components::id::PoolId;
use tickpipe_components::readiness::Readiness;

/// Who is to blame, and why.
pub(super) struct Blame {
    pub(super) cause: Cause,
    pub(super) element: String,
    pub(super) text: String,
}

/// The cause that the first chain has which ends for a reason of its own.
pub(super) fn of(waits: &Waits<'_>, chains: &[Chain]) -> Blame {
    let mut first = None;
    for chain in chains {
        let blame = of_chain(waits, chain);
        let is_told = blame.cause != Cause::Blocked;
        if is_told {
            return blame;
        }
        first.get_or_insert(blame);
    }
    first.unwrap_or_else(|| Blame {
        cause: Cause::Blocked,
        element: String::new(),
        text: "no sink is left that could take anything".to_owned(),
    })
}

fn of_chain(waits: &Waits<'_>, chain: &Chain) -> Blame {
    let Some(last) = chain.steps.last() else {
        return blocked(waits, None);
    };
    if let Some(start) = chain.cycle {
        return of_cycle(waits, &chain.steps[start..]);
    }
    let name = waits.name(last.lane);
    let l = &waits.p.lanes[last.lane];
    match last.what {
        What::Nothing => nothing(waits, last.lane),
        What::Device => Blame {
            cause: Cause::Device,
            element: name.to_owned(),
            text: format!("{name} waits for its device, and nobody serves it"),
        },
        What::Flush => Blame {
            cause: Cause::Flush,
            element: name.to_owned(),
            text: format!("{name} is flushing, and the flush is not stopped"),
        },
        What::Caps => Blame {
            cause: Cause::Caps,
            element: name.to_owned(),
            text: format!(
                "{name} waits for caps that it announced {} ago",
                count(waits.p.tick.saturating_sub(l.since), "tick")
            ),
        },
        _ => blocked(waits, Some(*last)),
    }
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn blocked(waits: &Waits<'_>, last: Option<Step>) -> Blame {
    let name = last.map_or("", |s| waits.name(s.lane));
    Blame {
        cause: Cause::Blocked,
        element: name.to_owned(),
        text: format!("{name} waits, and nobody can end that"),
    }
}

/// A lane that waits for nothing, and says nothing.
fn nothing(waits: &Waits<'_>, lane: usize) -> Blame {
    let l = &waits.p.lanes[lane];
    let name = waits.name(lane).to_owned();
    let queued: usize = l.inputs.iter().map(|i| i.queue.len()).sum();
    let (cause, text) = if l.inputs.is_empty() {
        let after = match l.buffers_out() {
            0 => String::new(),
            n => format!(" more after {}", count(n, "buffer")),
        };
        let text = format!("{name} is linked, says nothing{after} and has no end");
        (Cause::SilentSource, text)
    } else if l.readiness == Readiness::Silent && queued > 0 {
        let text = format!("{name} has {queued} to take, and does nothing with it");
        (Cause::DoesNothing, text)
    } else {
        let (taken, given) = (l.buffers_in(), l.buffers_out());
        let ended = match l.inputs.iter().all(|i| i.eos) {
            true => " and the end",
            false => "",
        };
        let text = format!(
            "{name} took {}{ended}, gave {given}, and does not say that nothing more comes",
            count(taken, "buffer")
        );
        (Cause::NoOutput, text)
    };
    Blame {
        cause,
        element: name,
        text,
    }
}

fn of_cycle(waits: &Waits<'_>, ring: &[Step]) -> Blame {
    let lane = |s: &Step| &waits.p.lanes[s.lane];
    let gives_nothing = |s: &&Step| matches!(s.what, What::Input(_)) && takes_only(lane(s));
    if let Some(step) = ring.iter().find(gives_nothing) {
        let name = waits.name(step.lane).to_owned();
        let taken = count(lane(step).buffers_in(), "buffer");
        let text = format!("{name} took {taken}, gave none, and does not say that nothing comes");
        return Blame {
            cause: Cause::NoOutput,
            element: name,
            text,
        };
    }
    let pool = ring.iter().find_map(|s| match s.what {
        What::Buffer(pool) => Some(pool),
        _ => None,
    });
    if let Some(pool) = pool {
        return pool_held(waits, pool, ring);
    }
    let fork = ring.iter().find_map(|s| match s.what {
        What::Room(pad) if lane(s).outputs.len() > 1 => Some((s.lane, pad)),
        _ => None,
    });
    match fork {
        Some((lane, pad)) => one_leg(waits, lane, pad, ring),
        None => blocked(waits, ring.last().copied()),
    }
}

/// Whether an element took buffers, has none of them, and never gave any.
fn takes_only(l: &Lane) -> bool {
    let holds =
        !l.extras.kept.is_empty() || !l.extras.filling.is_empty() || l.extras.sync.is_some();
    let passes = l.trigger == Trigger::Any && !l.is_sink();
    passes && !holds && l.buffers_in() > 0 && l.buffers_out() == 0
}

/// Of those who hold a pool's buffers the one to blame: who fills them and does not give them, who
/// keeps more than it said to the planner, who keeps most of its own will, who has most.
fn pool_held(waits: &Waits<'_>, pool: PoolId, ring: &[Step]) -> Blame {
    let own = |h: &Holding| h.kept + h.filling + h.lost;
    let holders = waits.holders(pool);
    let owner = waits.p.buffers.pools[pool.index()].owner.index();
    if let Some(lost) = holders.get(&owner).filter(|h| h.kept + h.lost > 0) {
        return buffers_lost(waits, pool, owner, lost.kept + lost.lost);
    }
    let lane = |l: usize| &waits.p.lanes[l];
    let beyond =
        |l: usize| (lane(l).extras.kept.len() as u32).saturating_sub(lane(l).extras.declared);
    let most = holders
        .iter()
        .rev()
        .max_by_key(|(l, h)| (beyond(**l), own(h), h.all()));
    let Some((&lane_at, holding)) = most else {
        return blocked(waits, ring.last().copied());
    };
    let name = waits.name(lane_at).to_owned();
    let of = waits.p.buffers.pools[pool.index()].count;
    let all = holding.all();
    let pool = waits.pool_name(pool);
    let lost = match holding.lost {
        0 => String::new(),
        n => format!(", {n} of them lost,"),
    };
    let text = match all == of {
        true => format!("{name} holds all {of} buffers of pool {pool}{lost} and waits for another"),
        false => format!(
            "all {of} buffers of pool {pool} are held by those who wait for another, {all} of them by {name}{lost}"
        ),
    };
    let mut text = text.trim_end_matches(',').to_owned();
    if beyond(lane_at) > 0 {
        let (kept, declared) = (
            lane(lane_at).extras.kept.len(),
            lane(lane_at).extras.declared,
        );
        text += &format!("; it keeps {kept} and said {declared} to the planner");
    }
    Blame {
        cause: Cause::PoolHeld,
        element: name,
        text,
    }
}

/// A pool of which some buffers never come out of the element that fills them.
fn buffers_lost(waits: &Waits<'_>, pool: PoolId, owner: usize, lost: u32) -> Blame {
    let name = waits.name(owner).to_owned();
    let of = waits.p.buffers.pools[pool.index()].count;
    let pool = waits.pool_name(pool);
    Blame {
        cause: Cause::BuffersLost,
        text: format!("{lost} of {of} buffers of pool {pool} never came out of {name}"),
        element: name,
    }
}

/// A fork that cannot give to one branch what another has no room for.
fn one_leg(waits: &Waits<'_>, fork: usize, full: usize, ring: &[Step]) -> Blame {
    let name = waits.name(fork).to_owned();
    let receiver = |link: Option<usize>| link.map_or_else(String::new, |l| waits.receiver(l));
    let starving = ring.iter().find_map(|s| match s.what {
        What::Input(pad) if waits.on(s.lane, s.what) == Some(fork) => {
            Some(receiver(waits.input_link(s.lane, pad)))
        }
        _ => None,
    });
    let text = format!(
        "{name} cannot feed {}, which waits, because {} is full: both are branches of it",
        starving.unwrap_or_default(),
        receiver(waits.output_link(fork, full)),
    );
    Blame {
        cause: Cause::OneLeg,
        element: name,
        text,
    }
}
