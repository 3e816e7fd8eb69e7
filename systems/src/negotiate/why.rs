//! Why a conversion is there: what could not agree if the converter passed everything on.

use super::conflict::Conflict;
use super::eliminate::{Bounds, Joiner};
use super::explain::{Teller, Tried};
use super::parts::{Parts, What};
use super::rows::Way;
use super::solve::Request;
use crate::state::Topology;
use bevy_ecs::world::World;
use std::collections::BTreeMap;
use std::rc::Rc;
use tickpipe_components::limits::Limits;

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
    for (reason, &node) in found.iter_mut().zip(nodes).take(MOST_REASONS) {
        *reason = reason_of(&teller, &parts, limits, node);
    }
    found
}

fn reason_of(teller: &Teller<'_>, parts: &Parts, limits: &Limits, node: usize) -> Option<String> {
    // Without this conversion; else, if another one would do, without any.
    for only in [true, false] {
        let mut passing = parts.clone();
        for part in &mut passing.parts {
            if let What::Ways { ways, .. } = &mut part.what
                && (!only || part.node == node)
            {
                let mut passing: Vec<Way> = ways.iter().filter(|w| w.cost == 0).cloned().collect();
                if passing.is_empty() {
                    passing.push(Way::passing());
                }
                *ways = Rc::new(passing);
            }
        }
        let tried = Tried::new(passing);
        let mut joiner = Joiner::new(Bounds::of(limits), tried.frame.fields.len());
        let all = tried.all();
        let mut checker = tried.checker(&mut joiner);
        let Some(dead) = checker.dead(&all, false).ok()? else {
            continue;
        };
        let minimal = checker.minimal(dead).ok()?;
        let (conflict, _) = teller.conflict(&tried, &mut joiner, &minimal).ok()?;
        return Some(sentence(&conflict));
    }
    Some("nothing else that works loses less".to_owned())
}

fn sentence(conflict: &Conflict) -> String {
    let sides: Vec<String> = conflict
        .sides
        .iter()
        .map(|s| format!("{} has {}", s.pad, s.value))
        .collect();
    match &conflict.fields[..] {
        [] => sides.join(", "),
        fields => format!("{}: {}", fields.join(" and "), sides.join(", ")),
    }
}
