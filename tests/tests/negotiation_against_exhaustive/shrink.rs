//! Makes a graph with a finding smaller as long as it has a finding of the same kind.

use super::checks::{Finding, check};
use super::graph::{Graph, Kind, Set, Structure};

/// How many graphs are tried at most.
const MOST: usize = 3_000;

pub fn shrink(graph: &Graph, finding: &Finding, seed: u64, losses: bool) -> (Graph, Finding) {
    let mut best = (graph.clone(), finding.clone());
    let mut tried = 0;
    loop {
        let mut smaller = false;
        let mut at = 0;
        while let Some(next) = step(&best.0, at) {
            at += 1;
            tried += 1;
            if tried > MOST {
                return best;
            }
            let Some(next) = next else {
                continue;
            };
            match check(&next, seed, losses) {
                Err(found) if found.kind == finding.kind => {
                    best = (next, found);
                    smaller = true;
                    at -= 1;
                }
                _ => {}
            }
        }
        if !smaller {
            return best;
        }
    }
}

/// The change number `at` of a graph: `None` past the last one, `Some(None)` if it makes no graph.
fn step(graph: &Graph, at: usize) -> Option<Option<Graph>> {
    let elements = graph.elements.len();
    if at < elements {
        return Some(without_element(graph, at));
    }
    let mut at = at - elements;
    let mut next = graph.clone();
    for element in &mut next.elements {
        let lists: Vec<&mut Vec<Structure>> = match &mut element.kind {
            Kind::Source(caps) | Kind::Sink(caps) | Kind::Filter(caps) => caps.iter_mut().collect(),
            Kind::Map { rows, .. } => {
                if at < rows.len() {
                    rows.remove(at);
                    return Some((!rows.is_empty()).then_some(next));
                }
                at -= rows.len();
                rows.iter_mut()
                    .flat_map(|r| [&mut r.takes, &mut r.makes])
                    .collect()
            }
            _ => continue,
        };
        for list in lists {
            if at < list.len() {
                list.remove(at);
                return Some((!list.is_empty()).then_some(next));
            }
            at -= list.len();
            for structure in list {
                for set in &mut structure.sets {
                    let ways = match set {
                        None => 0,
                        Some(Set::List(digits)) if digits.len() > 1 => 1 + digits.len(),
                        Some(Set::List(_)) => 1,
                        Some(Set::Range { .. }) => 3,
                    };
                    if at >= ways {
                        at -= ways;
                        continue;
                    }
                    match (at, &mut *set) {
                        (0, _) => *set = None,
                        (n, Some(Set::List(digits))) => {
                            digits.remove(n - 1);
                        }
                        (1, Some(Set::Range { min, .. })) => *set = Some(Set::List(vec![*min])),
                        (_, Some(Set::Range { max, .. })) => *set = Some(Set::List(vec![*max])),
                        _ => {}
                    }
                    return Some(Some(next));
                }
            }
        }
    }
    None
}

/// Without an element that has a pad on each side, or with a branch cut off, or an input.
fn without_element(graph: &Graph, gone: usize) -> Option<Graph> {
    let mut next = graph.clone();
    let (into, out) = graph.ends(gone);
    match (into, out) {
        (Some(into), Some(out)) => {
            if graph
                .links
                .iter()
                .filter(|l| l.0 == gone || l.1 == gone)
                .count()
                > 2
            {
                return None;
            }
            next.links[into].1 = graph.links[out].1;
            next.links.remove(out);
        }
        (Some(into), None) => {
            // A sink goes if another branch is left at the tee before it.
            let tee = graph.links[into].0;
            if graph.links.iter().filter(|l| l.0 == tee).count() < 2 {
                return None;
            }
            next.links.remove(into);
        }
        (None, Some(out)) => {
            let funnel = graph.links[out].1;
            if graph.links.iter().filter(|l| l.1 == funnel).count() < 2 {
                return None;
            }
            next.links.remove(out);
        }
        (None, None) => return None,
    }
    next.elements.remove(gone);
    for (a, b) in &mut next.links {
        *a -= usize::from(*a > gone);
        *b -= usize::from(*b > gone);
    }
    Some(next)
}
