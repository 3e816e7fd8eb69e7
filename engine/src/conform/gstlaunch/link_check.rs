//! GStreamer's question when it links two pads: whether the caps that each of them could have, with
//! what is linked to its element so far, have anything in common. Asked link by link, in the order
//! in which GStreamer makes them.

use super::answer::{Graph, LinkOf, NodeOf, PadOf};
use crate::engine::Engine;
use crate::from_launch::Launched;
use crate::gstreamer::{Across, Rates, across, template};
use tickpipe_components::caps::Caps;
use tickpipe_components::property::PropertyValue;

/// How far a question goes from element to element; what is farther says nothing.
const MAX_DEPTH: usize = 100;

/// How many elements all questions of a graph ask; what is asked after that says nothing.
const MAX_WORK: usize = 200_000;

/// The first link that GStreamer would refuse, taken out of the graph. Those of a `:` that it would
/// not make are taken out too.
pub(super) fn refused(engine: &Engine, launched: &Launched, graph: &mut Graph) -> Option<LinkOf> {
    let filter = |&element| match engine.get(element, "caps") {
        Ok(Some(PropertyValue::Caps(caps))) => Some(caps),
        _ => None,
    };
    let elements = graph.nodes.iter().zip(&launched.elements);
    let mut check = Check {
        elements: elements
            .map(|(node, element)| At {
                factory: &node.factory,
                rates: rates(node),
                filter: filter(element).filter(|_| node.factory == "capsfilter"),
                sinks: Vec::new(),
                sources: Vec::new(),
            })
            .collect(),
        work: 0,
    };
    let mut refused = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        let (from, to) = (link.from.node, link.to.node);
        let unused = link.all && graph.nodes[from].inline && check.elements[from].sinks.is_empty();
        if unused {
            refused.push(index);
            continue;
        }
        let up = check.caps(from, false, MAX_DEPTH);
        let down = check.caps(to, true, MAX_DEPTH);
        let named = check.has_pad(&link.from, false) && check.has_pad(&link.to, true);
        if named && up.can_intersect(&down) {
            check.elements[from].sources.push(to);
            check.elements[to].sinks.push(from);
            continue;
        }
        refused.push(index);
        if !link.all {
            break;
        }
        // Caps between two links of which the second is not made are gone.
        if graph.nodes[from].inline {
            for other in std::mem::take(&mut check.elements[from].sinks) {
                check.elements[other].sources.retain(|&end| end != from);
            }
        }
    }
    let mut last = None;
    for index in refused.into_iter().rev() {
        let link = graph.links.remove(index);
        last.get_or_insert(link);
    }
    last.filter(|link| !link.all)
}

/// An element and its neighbours so far.
struct At<'a> {
    factory: &'a str,
    /// The rates that it gives for those that it takes, if it changes them.
    rates: Rates,
    filter: Option<Caps>,
    /// Elements that feed it.
    sinks: Vec<usize>,
    /// Elements that it feeds.
    sources: Vec<usize>,
}

/// What an element's properties say of rates.
fn rates(node: &NodeOf) -> Rates {
    let value = |key: &str| node.properties.get(key).map(|property| &property.value);
    if node.factory != "videorate" {
        return Rates::Free;
    }
    let max = value("max-rate").and_then(|max| i32::try_from(max.as_i64()?).ok());
    let max = max.unwrap_or(i32::MAX);
    match value("drop-only").and_then(|drops| drops.as_bool()) {
        Some(true) => Rates::Dropping(max),
        _ => Rates::UpTo(max),
    }
}

struct Check<'a> {
    elements: Vec<At<'a>>,
    work: usize,
}

impl Check<'_> {
    /// Whether a pad that the line names is to be had. Elements that number their pads themselves make
    /// the next one whatever its name is to be; so the name may be that of one that is linked already.
    fn has_pad(&self, pad: &PadOf, sink: bool) -> bool {
        let Some(at) = self.elements.get(pad.node) else {
            return true;
        };
        let (prefix, made) = match (at.factory, sink) {
            ("concat" | "input-selector", true) => ("sink_", at.sinks.len()),
            ("output-selector", false) => ("src_", at.sources.len()),
            _ => return true,
        };
        let number = pad
            .name
            .strip_prefix(prefix)
            .and_then(|n| n.parse::<usize>().ok());
        !pad.named || number.is_none_or(|number| number >= made)
    }

    /// The caps that a sink or source pad of an element can have.
    fn caps(&mut self, element: usize, sink: bool, depth: usize) -> Caps {
        let Some(at) = self.elements.get(element) else {
            return Caps::any();
        };
        self.work += 1;
        if depth == 0 || self.work > MAX_WORK {
            return Caps::any();
        }
        let (across, rates) = (across(at.factory), at.rates);
        let mut caps = template(at.factory, sink).clone();
        if let Some(filter) = &at.filter {
            caps = meet(caps, filter);
        }
        if across == Across::Nothing {
            return caps;
        }
        let beyond = if sink { &at.sources } else { &at.sinks }.clone();
        if across == Across::Rates {
            // They are asked for also where nothing is linked yet.
            let mut theirs = caps.clone();
            for other in beyond {
                theirs = meet(theirs, &self.caps(other, sink, depth - 1));
            }
            return meet(caps, &rates.of(&theirs, sink));
        }
        for other in beyond {
            let theirs = self.caps(other, sink, depth - 1);
            caps = meet(caps, &across.of(&theirs));
        }
        caps
    }
}

/// What both have; as before if that is past a limit of caps.
fn meet(caps: Caps, other: &Caps) -> Caps {
    caps.intersect(other).unwrap_or(caps)
}
