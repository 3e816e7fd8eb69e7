//! What the graph's entities say and what runs: `gates`, `caps`.

use super::{Checked, Found, Invariant, Look};
use std::sync::Arc;
use tickpipe_components::fabric::Gate;
use tickpipe_components::state::State;

pub(super) fn gates(look: &Look<'_>) -> Checked {
    let (p, topology) = (look.p, look.topology);
    let state_of = |entity| look.states.get(entity).copied().unwrap_or_default();
    let pipeline = state_of(topology.pipeline);
    let all = (p.source_gate, p.sink_gate);
    let right = match pipeline {
        State::Ready => false,
        State::Paused => all.0 != Gate::Hold && all.1 == Gate::Hold,
        State::Playing => all == (Gate::Open, Gate::Open),
    };
    if !right {
        let state = pipeline.name();
        let text = format!(
            "the pipeline is {state}, and gates of sources are {}, of sinks {}",
            all.0.name(),
            all.1.name()
        );
        return Err(Found::new(Invariant::Gates, text));
    }
    for (l, (lane, node)) in p.lanes.iter().zip(&topology.nodes).enumerate() {
        let gate = match (lane.inputs.is_empty(), lane.is_sink()) {
            (true, true) => lane.gate == all.0 || lane.gate == all.1,
            (true, false) => lane.gate == all.0,
            (false, true) => lane.gate == all.1,
            (false, false) => lane.gate == Gate::Open,
        };
        // What is flushed stands still; a source that is live gives nothing in PAUSED; and of a step
        // that failed some elements are beyond the pipeline.
        let live = lane.live && pipeline == State::Paused && lane.gate == Gate::Closed;
        let gate = gate || live || lane.gate == Gate::Flushing;
        if p.change_failed {
            continue;
        }
        let state = state_of(node.entity);
        if !gate || state != pipeline {
            let text = format!(
                "{} is {} in a pipeline that is {}, and its gate is {}",
                node.name,
                state.name(),
                pipeline.name(),
                lane.gate.name()
            );
            return Err(Found::new(Invariant::Gates, text).lane(l));
        }
    }
    Ok(())
}

pub(super) fn caps(look: &Look<'_>) -> Checked {
    for (i, link) in look.topology.links.iter().enumerate() {
        let agreed = look.agreed.get(i);
        for end in [link.from, link.to] {
            let pad = look.caps.get(end.pad).ok().and_then(|c| c.0.as_ref());
            let same = match (pad, agreed) {
                (Some(pad), Some(agreed)) => Arc::ptr_eq(pad, agreed) || pad == agreed,
                _ => false,
            };
            if !same {
                let pad = pad.map_or_else(|| "ANY".to_owned(), |c| c.to_string());
                let agreed = agreed.map_or_else(|| "nothing".to_owned(), |c| c.to_string());
                let name = look.name(end.node);
                let text = format!("a pad of {name} has caps {pad}, and {agreed} was agreed");
                let found = Found::new(Invariant::Caps, text).lane(end.node);
                return Err(found.lane(link.from.node).lane(link.to.node));
            }
        }
    }
    Ok(())
}
