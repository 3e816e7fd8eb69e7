//! Looks at a conflict as it is told: the pads that it names cannot agree, each of them is needed,
//! its fields are needed and are enough, and the changes that it names make the graph work.
//!
//! Only what the named elements say counts then. A converter that is not named is there for what it
//! hands on, or not at all: some choice of those must make the conflict hold.

use super::checks::{Finding, element_of, finding, plan};
use super::exhaustive::{Role, least_of};
use super::graph::{Element, Graph, Kind, NAMED};
use tickpipe::ConflictReport;
use tickpipe::PlanReport;

/// Checks all that is told of a graph that has no answer.
pub fn check(graph: &Graph, report: &PlanReport) -> Result<(), Finding> {
    causes(graph, report)?;
    changes(graph, report).map(drop)
}

/// All conflicts of a report.
fn all(report: &PlanReport) -> Result<Vec<&ConflictReport>, Finding> {
    let first = report.conflict.as_ref();
    let first = first.ok_or_else(|| finding("conflict", "none is told"))?;
    Ok(core::iter::once(first).chain(&first.further).collect())
}

/// Checks that conflicts are what they say.
pub fn causes(graph: &Graph, report: &PlanReport) -> Result<(), Finding> {
    for conflict in all(report)? {
        one(graph, conflict)?;
        // Those after an insertion may be about what was inserted.
        if conflict.fix.iter().any(|f| f.starts_with("insert")) {
            break;
        }
    }
    Ok(())
}

/// Makes the changes that are told; `false` if it is not said that they are enough.
pub fn changes(graph: &Graph, report: &PlanReport) -> Result<bool, Finding> {
    let conflicts = all(report)?;
    if !conflicts[0].mended {
        return Ok(false);
    }
    let fixes: Vec<&str> = conflicts
        .iter()
        .flat_map(|c| &c.fix)
        .map(String::as_str)
        .collect();
    let again = plan(&apply(graph, &fixes)?.text())?;
    if again.verdict != "agreed" {
        let what = format!("with {fixes:?} the verdict is {}", again.verdict);
        return Err(finding("fix", what));
    }
    Ok(true)
}

fn one(graph: &Graph, conflict: &ConflictReport) -> Result<(), Finding> {
    let place = |pad: &str| {
        graph
            .elements
            .iter()
            .position(|e| e.name == element_of(pad))
    };
    let mut named: Vec<usize> = Vec::new();
    for (pad, _) in &conflict.pads {
        let at = place(pad).ok_or_else(|| finding("conflict", format!("no such pad: {pad}")))?;
        named.push(at);
    }
    let told = format!(
        "{:?} on {:?} ({:?})",
        conflict.pads, conflict.fields, conflict.path
    );
    let filters = named
        .iter()
        .any(|&n| matches!(graph.elements[n].kind, Kind::Filter(_)));
    if filters && conflict.fix.is_empty() {
        return Err(finding("fix missing", told));
    }
    let maps = (0..graph.elements.len()).filter(|at| !named.contains(at));
    let maps: Vec<usize> = maps
        .filter(|&at| matches!(graph.elements[at].kind, Kind::Map { .. }))
        .collect();
    let mut choices: Vec<u32> = (0..1 << maps.len()).collect();
    choices.sort_by_key(|c| c.count_ones());
    // What is wrong with the choice that goes furthest.
    let mut furthest = (0, finding("no conflict", told.clone()));
    for with in [Role::Passing, Role::Whole] {
        for choice in &choices {
            let claim = Claim {
                graph,
                named: &named,
                fields: &conflict.fields,
                role: &|at| match maps.iter().position(|m| *m == at) {
                    Some(i) if choice >> i & 1 == 1 => with,
                    _ if named.contains(&at) => Role::Whole,
                    _ => Role::Free,
                },
            };
            match claim.check() {
                Ok(()) if with == Role::Passing => return Ok(()),
                Ok(()) => return Err(finding("a party is missing", told)),
                Err((far, kind, what)) if far > furthest.0 => {
                    furthest = (far, finding(kind, format!("{what}: {told}")));
                }
                Err(_) => {}
            }
        }
    }
    Err(furthest.1)
}

/// What a conflict says, and what counts of the elements.
struct Claim<'a> {
    graph: &'a Graph,
    named: &'a [usize],
    fields: &'a [String],
    role: &'a dyn Fn(usize) -> Role,
}

impl Claim<'_> {
    /// How far it holds, and what does not.
    fn check(&self) -> Result<(), (u32, &'static str, String)> {
        let Claim { graph, role, .. } = *self;
        if least_of(graph, role, &|_| true).is_some() {
            return Err((0, "no conflict", String::new()));
        }
        for &gone in self.named {
            let role = |at: usize| if at == gone { Role::Free } else { role(at) };
            if least_of(graph, &role, &|_| true).is_none() {
                let what = format!("without {} it is one still", graph.elements[gone].name);
                return Err((1, "not minimal", what));
            }
        }
        let name = |place: usize| graph.domain.fields[place].name;
        let needed = |place: usize| place < NAMED || self.fields.iter().any(|f| f == name(place));
        if least_of(graph, role, &needed).is_some() {
            return Err((2, "fields", "they agree on these fields".to_owned()));
        }
        for place in (NAMED..graph.domain.fields.len()).filter(|p| needed(*p)) {
            if least_of(graph, role, &|p| p != place && needed(p)).is_none() {
                return Err((3, "fields", format!("{} is not needed", name(place))));
            }
        }
        Ok(())
    }
}

/// The graph with printed changes made: first what is put in, then what is taken out. Of several in one link the first named comes first.
pub fn apply(graph: &Graph, fixes: &[&str]) -> Result<Graph, Finding> {
    let mut changed = graph.clone();
    // The lower end of each link, after what was put in.
    let mut lower: Vec<usize> = (0..graph.links.len()).collect();
    for (i, fix) in fixes.iter().enumerate() {
        if fix.starts_with("drop ") {
            continue;
        }
        let unknown = || finding("fix", format!("`{fix}` cannot be made"));
        let words: Vec<&str> = fix.split(' ').collect();
        let ["insert", class, "between", from, "and", to] = words[..] else {
            return Err(unknown());
        };
        // Pads are told as they are when the changes before were made.
        let before = fixes[..i].iter().filter_map(|f| f.strip_prefix("drop "));
        let gone: Vec<&str> = before.collect();
        let link = link_of(graph, from, to, &gone).ok_or_else(unknown)?;
        let (end, new) = (changed.links[lower[link]].1, changed.elements.len());
        changed.elements.push(Element {
            name: format!("inserted{new}"),
            kind: Kind::Class(class.to_owned()),
        });
        changed.links[lower[link]].1 = new;
        lower[link] = changed.links.len();
        changed.links.push((new, end));
    }
    for fix in fixes {
        let Some(name) = fix.strip_prefix("drop ") else {
            continue;
        };
        let unknown = || finding("fix", format!("`{fix}` cannot be made"));
        let at = changed.elements.iter().position(|e| e.name == name);
        let at = at.ok_or_else(unknown)?;
        let (into, out) = changed.ends(at);
        let (into, out) = into.zip(out).ok_or_else(unknown)?;
        changed.links[into].1 = changed.links[out].1;
        changed.links.remove(out);
        changed.elements.remove(at);
        for (from, to) in &mut changed.links {
            *from -= usize::from(*from > at);
            *to -= usize::from(*to > at);
        }
    }
    Ok(changed)
}

/// A link between two pads, where elements of which some are `gone` may be in between. Pads that were
/// asked for are numbered in the order of links.
fn link_of(graph: &Graph, from: &str, to: &str, gone: &[&str]) -> Option<usize> {
    let links = &graph.links;
    let is_gone = |at: usize| gone.contains(&graph.elements[at].name.as_str());
    // The first and the last link of the way that a link is on.
    let first = |mut l: usize| {
        while is_gone(links[l].0) {
            l = (0..links.len()).find(|&k| links[k].1 == links[l].0)?;
        }
        Some(l)
    };
    let last = |mut l: usize| {
        while is_gone(links[l].1) {
            l = (0..links.len()).find(|&k| links[k].0 == links[l].1)?;
        }
        Some(l)
    };
    let number = |pad: &str| pad.rsplit_once('_')?.1.parse::<usize>().ok();
    let is = |at: usize, pad: &str| graph.elements[at].name == element_of(pad);
    let nth = |l: usize, pad: &str, end: &dyn Fn(usize) -> usize| {
        number(pad).is_none_or(|n| (0..l).filter(|&k| end(k) == end(l)).count() == n)
    };
    (0..links.len()).find(|&l| {
        let (Some(a), Some(b)) = (first(l), last(l)) else {
            return false;
        };
        is(links[a].0, from)
            && is(links[b].1, to)
            && nth(a, from, &|k| links[k].0)
            && nth(b, to, &|k| links[k].1)
    })
}
