//! Holds what the engine plans for a graph against the exhaustive answer, and looks at the plan
//! itself: whether it is an answer, what it costs, and whether it depends on any order.

use super::conflicts;
use super::exhaustive::{in_caps, least, least_with, ways};
use super::generate::reordered;
use super::graph::{Domain, FEATURES, Field, Graph, Kind, MEDIA};
use super::loss::{Cost, KINDS, Losses};
use super::random::Random;
use std::collections::BTreeMap;
use tickpipe::{Engine, PlanReport};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A word for what it is about.
    pub kind: &'static str,
    pub what: String,
}

pub fn finding(kind: &'static str, what: impl Into<String>) -> Finding {
    Finding {
        kind,
        what: what.into(),
    }
}

/// The engine's answer to a launch text.
pub fn plan(text: &str) -> Result<PlanReport, Finding> {
    let mut engine = Engine::new().map_err(|e| finding("engine", e.to_string()))?;
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| finding("text", e.render(text)))?;
    Ok(PlanReport::of(&engine.plan(pipeline)))
}

/// What was seen in a graph that is as it should be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub solved: bool,
    pub cost: u64,
    pub lost: bool,
}

/// All checks of one graph. `losses` if all pairs of its values can be looked at.
pub fn check(graph: &Graph, seed: u64, losses: bool) -> Result<Seen, Finding> {
    let report = plan(&graph.text())?;
    let least = least(graph);
    let seen = Seen {
        solved: least.is_some(),
        cost: least.unwrap_or(0),
        lost: !report.loss.is_empty(),
    };
    match (report.verdict, least) {
        ("agreed", None) => return Err(finding("solvability", "a plan, but there is no answer")),
        ("agreed", Some(least)) => {
            if report.cost != Some(least) {
                let what = format!("the plan costs {:?}, the least is {least}", report.cost);
                return Err(finding("cost", what));
            }
            answer(graph, &report)?;
            if losses {
                lost(graph, &report)?;
            }
        }
        ("conflict", None) => conflicts::check(graph, &report)?,
        ("conflict", Some(least)) => {
            let what = format!(
                "a conflict, but there is an answer of cost {least}: {:?}",
                report.error
            );
            return Err(finding("solvability", what));
        }
        (verdict, least) => {
            let what = format!("{verdict} where the least is {least:?}: {:?}", report.error);
            return Err(finding("verdict", what));
        }
    }
    order(graph, &report, seed)?;
    Ok(seen)
}

/// Whether the same graph said in another order has another answer.
pub fn order(graph: &Graph, report: &PlanReport, seed: u64) -> Result<(), Finding> {
    let random = &mut Random::new(seed ^ 0xA5A5);
    for mixed in [false, true] {
        let other = reordered(graph, random);
        let mut pieces = other.pieces();
        if mixed {
            random.shuffle(&mut pieces);
        }
        let text = pieces.join(" ");
        let again = plan(&text)?;
        let (one, two) = (essence(report), essence(&again));
        if one != two {
            let what = format!("in another order {two:?}, not {one:?}: {text}");
            return Err(finding("order", what));
        }
    }
    Ok(())
}

/// The element of a pad that is told as `element.pad`.
pub fn element_of(pad: &str) -> &str {
    pad.rsplit_once('.').map_or(pad, |p| p.0)
}

/// What of an answer must not depend on any order.
fn essence(report: &PlanReport) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut put = |key: String, value: String| all.entry(key).or_default().push(value);
    put(
        "verdict".to_owned(),
        format!("{} {:?} {:?}", report.verdict, report.cost, report.loss),
    );
    for link in &report.links {
        let key = format!("{} to {}", element_of(&link.from), element_of(&link.to));
        put(
            key,
            format!("{} for {} {:?}", link.caps, link.cost, link.loss),
        );
    }
    for conflict in report
        .conflict
        .iter()
        .flat_map(|c| core::iter::once(c).chain(&c.further))
    {
        let told = format!(
            "{:?} {:?} {:?}",
            conflict.fields, conflict.pads, conflict.path
        );
        put("conflict".to_owned(), format!("{told} {}", conflict.mended));
        for fix in &conflict.fix {
            // Pads that were asked for have numbers in the order of links.
            let words: Vec<&str> = fix.split(' ').map(element_of).collect();
            put("changes".to_owned(), words.join(" "));
        }
    }
    all.values_mut().for_each(|list| list.sort());
    all
}

/// The digits of caps in a plan; `None` if they are not fixed, or say what nobody says.
pub fn digits(domain: &Domain, caps: &str) -> Option<Vec<u8>> {
    let mut value: Vec<u8> = domain.fields.iter().map(Field::other).collect();
    if caps == "ANY" {
        return Some(value);
    }
    let digit = |place: usize, text: &str| {
        let values = &domain.fields[place].values;
        values.iter().position(|v| v == text).map(|d| d as u8)
    };
    let mut parts = caps.split(',');
    let head = parts.next()?;
    let (media, features) = head.split_once('(').unwrap_or((head, ""));
    value[MEDIA] = digit(MEDIA, media)?;
    value[FEATURES] = digit(FEATURES, features.trim_end_matches(')'))?;
    for part in parts {
        let (name, text) = part.split_once('=')?;
        let place = domain.fields.iter().position(|f| f.name == name)?;
        value[place] = digit(place, text)?;
    }
    Some(value)
}

/// Each link's value in a plan, in the order of the graph's links, with what it costs.
fn links(graph: &Graph, report: &PlanReport) -> Result<Vec<(Vec<u8>, u64)>, Finding> {
    let name = |at: usize| graph.elements[at].name.as_str();
    let of = |&(from, to): &(usize, usize)| {
        let ends = (name(from), name(to));
        let found = report
            .links
            .iter()
            .find(|l| (element_of(&l.from), element_of(&l.to)) == ends);
        let link = found.ok_or_else(|| finding("plan", format!("no link {ends:?}")))?;
        let value = digits(&graph.domain, &link.caps);
        let value = value.ok_or_else(|| finding("plan", format!("{} is no value", link.caps)))?;
        Ok((value, link.cost))
    };
    if graph.links.len() != report.links.len() {
        return Err(finding("plan", "another number of links"));
    }
    graph.links.iter().map(of).collect()
}

/// Whether a plan is an answer, and whether its costs are right.
fn answer(graph: &Graph, report: &PlanReport) -> Result<(), Finding> {
    let links = links(graph, report)?;
    let total: u64 = report.links.iter().map(|l| l.cost).sum();
    if Some(total) != report.cost {
        return Err(finding(
            "sum",
            format!("links cost {total}, the plan {:?}", report.cost),
        ));
    }
    let (wire_of, _) = graph.wires();
    for (i, (value, _)) in links.iter().enumerate() {
        if let Some(j) = (0..i).find(|&j| wire_of[j] == wire_of[i] && links[j].0 != *value) {
            let what = format!("links {j} and {i} are one wire and differ");
            return Err(finding("answer", what));
        }
    }
    for (at, element) in graph.elements.iter().enumerate() {
        let (into, out) = graph.ends(at);
        let name = &element.name;
        if let Some(caps) = element.kind.caps() {
            let value = &links[into.or(out).expect("a link")].0;
            if !in_caps(graph, caps, value) {
                return Err(finding("answer", format!("{name} does not allow its caps")));
            }
        }
        let spent = |out: usize| links[out].1;
        match (ways(graph, &element.kind), into.zip(out)) {
            (Some(ways), Some((into, out))) => {
                let used = ways
                    .iter()
                    .filter(|w| w.leads(&links[into].0, &links[out].0));
                let least = used.map(|w| u64::from(w.cost)).min();
                // A wire that goes around a converter may have the costs of others on its link.
                let others = wire_of.iter().filter(|w| **w == wire_of[out]).count() > 1;
                match least {
                    None => return Err(finding("answer", format!("{name} has no such row"))),
                    Some(least) if least != spent(out) && !others => {
                        let what = format!("{name} costs {least}, its link says {}", spent(out));
                        return Err(finding("link cost", what));
                    }
                    Some(_) => {}
                }
            }
            (_, Some((_, out))) if spent(out) > 0 => {
                return Err(finding("link cost", format!("{name} converts nothing")));
            }
            _ => {}
        }
    }
    let rows = graph
        .elements
        .iter()
        .enumerate()
        .filter_map(|(at, element)| {
            let (into, out) = graph.ends(at);
            let (into, out) = (&links[into?].0, &links[out?].0);
            let ways = ways(graph, &element.kind)?;
            ways.iter()
                .filter(|w| w.leads(into, out))
                .map(|w| u64::from(w.cost))
                .min()
        });
    let again: u64 = rows.sum();
    match again == total {
        true => Ok(()),
        false => Err(finding("sum", format!("rows cost {again}, links {total}"))),
    }
}

/// Whether as little is lost as can be, and whether that is what is told.
fn lost(graph: &Graph, report: &PlanReport) -> Result<(), Finding> {
    let losses = Losses::new(&graph.domain);
    let links = links(graph, report)?;
    let mut here = Cost::default();
    for (at, element) in graph.elements.iter().enumerate() {
        let (into, out) = graph.ends(at);
        let more = match (&element.kind, ways(graph, &element.kind)) {
            (Kind::Source(Some(caps)), _) => {
                losses.without(graph, caps, &links[out.expect("a link")].0)
            }
            (_, Some(ways)) => {
                let [into, out] = [into, out].map(|l| &links[l.expect("a link")].0);
                let used = ways.iter().filter(|w| w.leads(into, out));
                let spent = used.map(|w| w.spends(into, out, Some(&losses)));
                spent.min().unwrap_or_default()
            }
            _ => continue,
        };
        (1..here.len()).for_each(|i| here[i] += more[i]);
    }
    let mut told = Cost::default();
    for (i, kind) in KINDS.iter().enumerate().skip(1) {
        told[i] = report.loss.get(kind).copied().unwrap_or(0);
    }
    let mut least = least_with(graph, &losses).unwrap_or_default();
    least[0] = 0;
    if here != least {
        return Err(finding(
            "loss",
            format!("the plan loses {here:?}, the least is {least:?}"),
        ));
    }
    match told == here {
        true => Ok(()),
        false => Err(finding(
            "loss told",
            format!("it loses {here:?}, told is {told:?}"),
        )),
    }
}
