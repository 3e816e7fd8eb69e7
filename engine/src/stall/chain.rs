//! Follows the waits of a graph from each sink that is not done, until one has nobody to wait for
//! or is there already. Pure.

use super::cause::{self, Blame};
use super::graph::{Waits, What};
use super::{ChainReport, StallReport};
use std::collections::VecDeque;

/// Chains that are told at most: what other sinks wait for is told with the waits of others.
const MAX_CHAINS: usize = 256;

/// A wait of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) lane: usize,
    pub(super) what: What,
}

/// The waits from one sink on.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) steps: Vec<Step>,
    pub(super) cycle: Option<usize>,
}

/// What is known of a stall, without suggestions.
pub(crate) fn stall_of(waits: &Waits<'_>) -> StallReport {
    let silence = distance_to_silence(waits);
    let unfinished = waits.p.sinks.iter().map(|&s| s as usize);
    let unfinished = unfinished.filter(|&s| !waits.p.lanes[s].done);
    let mut seen = Seen::new(waits.p.lanes.len());
    let chains: Vec<Chain> = unfinished
        .take(MAX_CHAINS)
        .map(|s| follow(waits, &silence, &mut seen, s))
        .collect();
    let mut told = vec![false; waits.p.lanes.len()];
    for step in chains.iter().flat_map(|c| &c.steps) {
        told[step.lane] = true;
    }
    let others = (0..waits.p.lanes.len()).filter(|&lane| !told[lane]);
    let others = others.filter_map(|lane| waits.wait_of(lane)).collect();
    let Blame {
        cause,
        element,
        text,
    } = cause::of(waits, &chains);
    let report = |chain: &Chain| ChainReport {
        waits: chain
            .steps
            .iter()
            .map(|s| waits.told(s.lane, s.what))
            .collect(),
        cycle: chain.cycle,
    };
    StallReport {
        // The tick in which it was noticed is over.
        tick: waits.p.tick,
        cause,
        element,
        text,
        chains: chains.iter().map(report).collect(),
        others,
        suggestions: Vec::new(),
    }
}

/// Whom a lane needs: all of them must move before it can.
fn needed(waits: &Waits<'_>, lane: usize) -> Vec<usize> {
    let Some(what) = waits.what(lane) else {
        return Vec::new();
    };
    match what {
        What::Input(_) => {
            let wanted = waits.wanted(lane).into_iter();
            let on = wanted.filter_map(|pad| waits.on(lane, What::Input(pad)));
            on.collect()
        }
        _ => waits.on(lane, what).into_iter().collect(),
    }
}

/// Per lane over how many others it needs one that has nothing to say, if it does.
fn distance_to_silence(waits: &Waits<'_>) -> Vec<Option<u32>> {
    let count = waits.p.lanes.len();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut distance = vec![None; count];
    let mut open = VecDeque::new();
    for (lane, own) in distance.iter_mut().enumerate() {
        if waits.what(lane) == Some(What::Nothing) {
            *own = Some(0);
            open.push_back(lane);
        }
        for on in needed(waits, lane) {
            needed_by[on].push(lane);
        }
    }
    while let Some(lane) = open.pop_front() {
        let next = distance[lane].map(|d: u32| d + 1);
        for &by in &needed_by[lane] {
            if distance[by].is_none() {
                distance[by] = next;
                open.push_back(by);
            }
        }
    }
    distance
}

/// Per lane the chain that it was seen in last, and where in it.
struct Seen {
    chain: usize,
    at: Vec<(usize, usize)>,
}

impl Seen {
    fn new(lanes: usize) -> Seen {
        Seen {
            chain: 0,
            at: vec![(0, 0); lanes],
        }
    }
}

/// The waits from a lane on. Where it needs several, that nearest to silence is followed.
fn follow(waits: &Waits<'_>, silence: &[Option<u32>], seen: &mut Seen, from: usize) -> Chain {
    seen.chain += 1;
    let mut steps: Vec<Step> = Vec::new();
    let mut next = Some(from);
    while let Some(lane) = next {
        if let (chain, at) = seen.at[lane]
            && chain == seen.chain
        {
            return Chain {
                steps,
                cycle: Some(at),
            };
        }
        let Some(mut what) = waits.what(lane) else {
            break;
        };
        if let What::Input(_) = what {
            let distance = |pad: usize| silence[waits.on(lane, What::Input(pad))?];
            let wanted = waits.wanted(lane).into_iter();
            let nearest = wanted.filter_map(|pad| Some((distance(pad)?, pad))).min();
            what = nearest.map_or(what, |(_, pad)| What::Input(pad));
        }
        seen.at[lane] = (seen.chain, steps.len());
        steps.push(Step { lane, what });
        next = waits.on(lane, what);
    }
    Chain { steps, cycle: None }
}
