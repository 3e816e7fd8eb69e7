//! Video graphs that go wrong where a converter of the catalogue can help: the changes that are told
//! are made, and the graph must work then. Where none is told, no converter anywhere must help.

use super::checks::{Finding, finding, order, plan};
use super::conflicts;
use super::generate::video_graph;
use super::graph::{Element, Graph, Kind};

/// What a video graph was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Agreed,
    Mended,
    NotMended,
}

/// Checks one graph.
fn check(graph: &Graph, seed: u64) -> Result<Outcome, Finding> {
    let report = plan(&graph.text())?;
    order(graph, &report, seed)?;
    match report.verdict {
        "agreed" => return Ok(Outcome::Agreed),
        "conflict" => {}
        other => return Err(finding("verdict", format!("{other}: {:?}", report.error))),
    }
    let known = |e: &Element| !matches!(e.kind, Kind::Class(_));
    if graph.elements.iter().all(known) {
        conflicts::causes(graph, &report)?;
    }
    if conflicts::changes(graph, &report)? {
        return Ok(Outcome::Mended);
    }
    let conflict = report.conflict.as_ref();
    if conflict.is_some_and(|c| c.fix.is_empty() && c.further.is_empty()) {
        for fixes in singles(graph) {
            let fixes: Vec<&str> = fixes.iter().map(String::as_str).collect();
            let text = conflicts::apply(graph, &fixes)?.text();
            if plan(&text)?.verdict == "agreed" {
                let what = format!("{fixes:?} would do, and is not told: {:?}", report.error);
                return Err(finding("fix missing", what));
            }
        }
    }
    Ok(Outcome::NotMended)
}

/// All insertions of one converter, or of two into one link.
fn singles(graph: &Graph) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (i, &(from, to)) in graph.links.iter().enumerate() {
        let name = |at: usize| &graph.elements[at].name;
        let before = graph.links[..i].iter().filter(|l| l.0 == from).count();
        let insert = |class: &str| {
            format!(
                "insert {class} between {}.src_{before} and {}.sink",
                name(from),
                name(to)
            )
        };
        let (convert, scale) = (insert("videoconvert"), insert("videoscale"));
        all.push(vec![convert.clone()]);
        all.push(vec![scale.clone()]);
        all.push(vec![convert, scale]);
    }
    all
}

/// Whether a graph from a seed is as it should be.
pub fn of_seed(seed: u64) -> (Graph, Result<Outcome, Finding>) {
    let graph = video_graph(seed);
    let outcome = check(&graph, seed);
    (graph, outcome)
}
