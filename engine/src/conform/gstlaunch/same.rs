//! Whether what the engine makes of a line is what GStreamer makes of it, up to names that the line
//! does not give: those of elements, and of pads made on request. Pure.

use super::Expected;
use super::answer::{Graph, LinkOf, PadOf};
use crate::conform::{differs, shown};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tickpipe_components::caps::Caps;

/// How many pairs of elements are tried before two answers count as different.
const MAX_TRIES: usize = 20_000;

/// Elements of GStreamer that number their pads themselves, whatever name is asked for.
const CHOOSE_NAMES: &[&str] = &["concat", "input-selector", "output-selector"];

/// What differs, if anything does.
pub(super) fn difference(expected: &Expected, graph: &Graph) -> Option<String> {
    let [elements, links, _] = graph.to_json();
    let factories = |list: &mut dyn Iterator<Item = &str>| {
        let mut list: Vec<String> = list.map(str::to_owned).collect();
        list.sort();
        list
    };
    let theirs = factories(&mut expected.elements.iter().map(|e| e.0.as_str()));
    let ours = factories(&mut graph.nodes.iter().map(|node| node.factory.as_str()));
    if theirs != ours {
        let expected = Json::from_iter(expected.elements.iter().map(|e| {
            let pair = [e.0.as_str(), e.1.as_str()];
            Json::from_iter(pair)
        }));
        let expected = expected.to_string();
        return Some(differs("elements", &expected, &elements.to_string()));
    }
    let mut search = Search::new(expected, graph);
    match search.place(0) {
        true => None,
        false => Some(search.first.unwrap_or_else(|| {
            let expected = Json::from_iter(expected.links.iter().map(|link| {
                let link = link.iter().map(String::as_str);
                Json::from_iter(link)
            }));
            differs("links", &expected.to_string(), &links.to_string())
        })),
    }
}

/// A link by the indices of its elements.
type Ends = (usize, usize);

struct Search<'a> {
    expected: &'a Expected,
    graph: &'a Graph,
    /// Their links by index; `None` where a name is not that of an element.
    links: Vec<Option<Ends>>,
    /// How many links there are from one element to another: theirs, ours.
    theirs: BTreeMap<Ends, usize>,
    ours: BTreeMap<Ends, usize>,
    /// Elements that one of theirs is linked to.
    neighbours: Vec<Vec<usize>>,
    /// Our element for each of theirs so far.
    ours_of: Vec<usize>,
    used: Vec<bool>,
    tries: usize,
    /// What differs where all elements found their place first.
    first: Option<String>,
}

impl<'a> Search<'a> {
    fn new(expected: &'a Expected, graph: &'a Graph) -> Search<'a> {
        let mut names = BTreeMap::new();
        for (index, element) in expected.elements.iter().enumerate() {
            names.insert(element.1.as_str(), index);
        }
        let at = |name: &String| names.get(name.as_str()).copied();
        let links: Vec<Option<Ends>> = expected
            .links
            .iter()
            .map(|[from, _, to, _]| at(from).zip(at(to)))
            .collect();
        let (mut theirs, mut ours) = (BTreeMap::new(), BTreeMap::new());
        let mut neighbours = vec![Vec::new(); expected.elements.len()];
        for &(from, to) in links.iter().flatten() {
            *theirs.entry((from, to)).or_insert(0) += 1;
            neighbours[from].push(to);
            neighbours[to].push(from);
        }
        for link in &graph.links {
            *ours.entry((link.from.node, link.to.node)).or_insert(0) += 1;
        }
        Search {
            expected,
            graph,
            links,
            theirs,
            ours,
            neighbours,
            ours_of: Vec::new(),
            used: vec![false; graph.nodes.len()],
            tries: 0,
            first: None,
        }
    }

    /// Finds places for their elements from one on, each after those before it.
    fn place(&mut self, mut at: usize) -> bool {
        // Candidates from which to go on, for each of their elements before `at`.
        let mut from = vec![0; self.expected.elements.len() + 1];
        loop {
            if at == self.expected.elements.len() {
                match self.told() {
                    None => return true,
                    Some(told) => self.first.get_or_insert(told),
                };
            } else if let Some(next) = self.candidate(at, from[at]) {
                from[at] = next + 1;
                self.used[next] = true;
                self.ours_of.push(next);
                at += 1;
                from[at] = 0;
                continue;
            }
            if at == 0 || self.tries > MAX_TRIES {
                return false;
            }
            at -= 1;
            if let Some(back) = self.ours_of.pop() {
                self.used[back] = false;
            }
        }
    }

    /// The first of our elements from one on that can be their element `at`.
    fn candidate(&mut self, at: usize, from: usize) -> Option<usize> {
        let (factory, name) = &self.expected.elements[at];
        (from..self.graph.nodes.len()).find(|&ours| {
            let node = &self.graph.nodes[ours];
            if self.used[ours] || node.factory != *factory || node.named && node.name != *name {
                return false;
            }
            self.tries += 1;
            self.fits(at, ours)
        })
    }

    /// Whether there are as many links to each element that has its place.
    fn fits(&self, at: usize, ours: usize) -> bool {
        let count = |links: &BTreeMap<Ends, usize>, ends| links.get(&ends).copied().unwrap_or(0);
        self.neighbours[at].iter().all(|&other| {
            let place = match other == at {
                true => Some(ours),
                false => self.ours_of.get(other).copied(),
            };
            place.is_none_or(|place| {
                count(&self.theirs, (at, other)) == count(&self.ours, (ours, place))
                    && count(&self.theirs, (other, at)) == count(&self.ours, (place, ours))
            })
        })
    }

    /// What differs, all elements in their places.
    fn told(&self) -> Option<String> {
        self.links_differ().or_else(|| self.properties_differ())
    }

    fn links_differ(&self) -> Option<String> {
        let mut open: Vec<&LinkOf> = self.graph.links.iter().collect();
        // Our pad for each of their pads made on request.
        let mut pads: BTreeMap<(usize, &str), &str> = BTreeMap::new();
        let mut order: Vec<usize> = (0..self.links.len()).collect();
        order.sort_by_key(|&i| &self.expected.links[i]);
        for i in order {
            let link = &self.expected.links[i];
            let told = || {
                format!(
                    "links: expected {}, not there",
                    Json::from_iter(link.clone())
                )
            };
            let Some((from, to)) = self.links[i] else {
                return Some(told());
            };
            let fits = |ours: &LinkOf, same: bool| {
                let end = |theirs: usize, name: &str, ours: &PadOf| {
                    if ours.node != self.ours_of[theirs] {
                        return false;
                    }
                    if ours.name == name {
                        return true;
                    }
                    // A name that the line gives is theirs too, but where they choose it.
                    let factory = self.expected.elements[theirs].0.as_str();
                    let fixed = ours.named && !CHOOSE_NAMES.contains(&factory);
                    !same
                        && ours.requested
                        && !fixed
                        && pads.get(&(theirs, name)).is_none_or(|p| *p == ours.name)
                };
                end(from, &link[1], &ours.from) && end(to, &link[3], &ours.to)
            };
            let exact = open.iter().position(|ours| fits(ours, true));
            let at = exact.or_else(|| open.iter().position(|ours| fits(ours, false)));
            let Some(at) = at else {
                return Some(told());
            };
            let ours = open.remove(at);
            pads.insert((from, &link[1]), &ours.from.name);
            pads.insert((to, &link[3]), &ours.to.name);
        }
        open.first().map(|link| {
            let name = |end: &PadOf| self.graph.nodes[end.node].name.clone();
            let (from, to) = (&link.from, &link.to);
            let link = [name(from), from.name.clone(), name(to), to.name.clone()];
            format!("links: {} is not expected", Json::from_iter(link))
        })
    }

    fn properties_differ(&self) -> Option<String> {
        let mut listed: BTreeMap<(usize, &str), &Json> = BTreeMap::new();
        for (element, key, value) in &self.expected.properties {
            let mut names = self.expected.elements.iter();
            let Some(at) = names.position(|e| e.1 == *element) else {
                // A bin's, which is not among the elements.
                continue;
            };
            listed.insert((self.ours_of[at], key), value);
        }
        for (&(node, key), &value) in &listed {
            let ours = self.graph.nodes[node].properties.get(key);
            let got = ours.map_or(&Json::Null, |property| &property.value);
            if !same_value(key, value, got) {
                let what = format!("{}.{key}", self.graph.nodes[node].name);
                return Some(differs(&what, &value.to_string(), &got.to_string()));
            }
        }
        for (index, node) in self.graph.nodes.iter().enumerate() {
            for (key, property) in &node.properties {
                let told = property.given && property.differs;
                let may_lack = property.aside || property.as_new;
                if told && !may_lack && !listed.contains_key(&(index, key.as_str())) {
                    let value = shown(&property.value.to_string());
                    return Some(format!("{}.{key}: {value} is not expected", node.name));
                }
            }
        }
        None
    }
}

/// Equal values: numbers as numbers, caps as sets.
fn same_value(key: &str, theirs: &Json, ours: &Json) -> bool {
    if theirs == ours {
        return true;
    }
    match (theirs, ours) {
        (Json::Number(theirs), Json::Number(ours)) => {
            let real = theirs.is_f64() || ours.is_f64();
            let (theirs, ours) = (theirs.as_f64(), ours.as_f64());
            real && theirs.zip(ours).is_some_and(|(a, b)| a as f32 == b as f32)
        }
        (Json::String(theirs), Json::String(ours)) if key == "caps" => {
            let [theirs, ours] = [theirs, ours].map(|text| Caps::parse(text));
            match (theirs, ours) {
                (Ok(theirs), Ok(ours)) => theirs.is_equal(&ours).unwrap_or(false),
                _ => false,
            }
        }
        // A filter without caps passes any.
        (Json::String(theirs), Json::Null) => key == "caps" && theirs == "ANY",
        _ => false,
    }
}
