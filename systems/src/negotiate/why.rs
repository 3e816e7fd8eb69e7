//! Why a conversion is there: what could not agree if the converter passed everything on.

use super::conflict::Conflict;
use super::eliminate::{Bounds, Joiner};
use super::explain::Teller;
use super::mend::Tried;
use super::parts::{Part, Parts, What};
use super::rows::{Changed, Way};
use super::solve::Request;
use crate::state::Topology;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use tickpipe_components::limits::{LimitExceeded, Limits};

/// Conversions that are explained at most.
const MOST_REASONS: usize = 16;

/// Per element, why it has to convert; `None` where that takes longer than it is worth.
pub fn reasons(
    world: &World,
    topology: &Topology,
    limits: &Limits,
    nodes: &[usize],
) -> Vec<Option<String>> {
    let mut found = vec![None; nodes.len()];
    if nodes.is_empty() {
        return found;
    }
    let request = Request {
        topology,
        pinned: &[],
        offers: &BTreeMap::new(),
        refused: &[],
    };
    let Ok(parts) = Parts::ask(&request, world, limits) else {
        return found;
    };
    let teller = Teller { world, topology };
    let mut tried = Tried::new(parts);
    let all = passing(&tried.parts);
    for (reason, &node) in found.iter_mut().zip(nodes).take(MOST_REASONS) {
        *reason = reason_of(&teller, &mut tried, &all, limits, node);
    }
    found
}

/// The parts with converters that pass everything on.
fn passing(parts: &Parts) -> Vec<Part> {
    let mut changed = Changed::default();
    let mut passing = parts.parts.clone();
    for part in &mut passing {
        if let What::Ways { ways, .. } = &mut part.what {
            *ways = changed.of(ways, |all| {
                let mut free: Vec<Way> = all.iter().filter(|w| w.cost == 0).cloned().collect();
                if free.is_empty() {
                    free.push(Way::passing());
                }
                free
            });
        }
    }
    passing
}

fn reason_of(
    teller: &Teller<'_>,
    tried: &mut Tried,
    passing: &[Part],
    limits: &Limits,
    node: usize,
) -> Option<String> {
    let own = tried.parts.parts.clone();
    // Without this conversion; else, if another one would do, without any.
    for only in [true, false] {
        let mixed = own.iter().zip(passing);
        let mixed = mixed.map(|(own, passing)| match only && own.node != node {
            true => own.clone(),
            false => passing.clone(),
        });
        tried.parts.parts = mixed.collect();
        let told = blame(teller, tried, limits);
        tried.parts.parts.clone_from(&own);
        match told {
            Ok(Some(conflict)) => return Some(sentence(&conflict)),
            Ok(None) => {}
            Err(_) => return None,
        }
    }
    let of_node = own.iter().filter(|p| p.node == node);
    let always = of_node.into_iter().all(|p| match &p.what {
        What::Ways { ways, .. } => ways.iter().all(|w| w.cost > 0),
        _ => true,
    });
    Some(match always {
        true => "it passes nothing on as it is".to_owned(),
        false => "nothing else that works loses less".to_owned(),
    })
}

/// The conflict in a graph, if there is one.
fn blame(
    teller: &Teller<'_>,
    tried: &Tried,
    limits: &Limits,
) -> Result<Option<Conflict>, LimitExceeded> {
    let mut joiner = Joiner::new(Bounds::of(limits), tried.frame.fields.len());
    let mut checker = tried.checker(&mut joiner);
    let Some(dead) = checker.dead(&tried.all(), false)? else {
        return Ok(None);
    };
    let minimal = checker.minimal(dead)?;
    Ok(Some(teller.conflict(tried, &mut joiner, &minimal)?.0))
}

fn sentence(conflict: &Conflict) -> String {
    let sides: Vec<String> = conflict
        .sides
        .iter()
        .map(|s| format!("{} has {}", s.pad, s.value.replace(" -> ", " to ")))
        .collect();
    match &conflict.fields[..] {
        [] => sides.join(", "),
        fields => format!("{}: {}", fields.join(" and "), sides.join(", ")),
    }
}
