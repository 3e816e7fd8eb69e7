//! What the engine makes of a launch line, in the words of the files: elements, links, the given
//! properties that are not at GStreamer's defaults; or why the line is refused.

use super::link_check;
use crate::build::{BuildError, ElementHandle};
use crate::engine::Engine;
use crate::from_launch::{LaunchGraphError, Launched, member, read_as_gstreamer};
use crate::gstreamer::{self, GstValue, Kind};
use crate::launch::{self, Description, LaunchErrorKind, PropertySpec};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tickpipe_components::graph::{Direction, Element, Link, Pad, PadLink, Pads, Presence};
use tickpipe_components::property::{PropertyError, PropertyValue};
use tickpipe_systems::element::{ClassRef, Registry, RegistryError};

/// The engine's answer to a line.
pub(super) enum Answer {
    /// The line is accepted.
    Graph(Graph),
    /// It is not.
    Refused(Refused),
}

/// Why a line is refused.
pub(super) struct Refused {
    /// GStreamer's name of the reason.
    pub why: &'static str,
    /// The engine's own sentence.
    pub told: String,
    /// The element that it does not have, if that is the reason.
    pub unknown: Option<String>,
}

/// What a line makes.
pub(super) struct Graph {
    pub nodes: Vec<NodeOf>,
    pub links: Vec<LinkOf>,
}

/// An element.
pub(super) struct NodeOf {
    pub factory: String,
    pub name: String,
    /// The line gives the name.
    pub named: bool,
    /// It is caps between two links; GStreamer makes it when it links.
    pub inline: bool,
    /// Properties by name.
    pub properties: BTreeMap<String, Property>,
}

/// A property that the line gives, or that GStreamer is known to have.
pub(super) struct Property {
    pub value: Json,
    /// The line gives it.
    pub given: bool,
    /// It is given in another way than `key=value` at its element, so a file may leave it out.
    pub aside: bool,
    /// Its value differs from the default.
    pub differs: bool,
    /// It is the value of a new element, which may differ from the default.
    pub as_new: bool,
}

/// A link.
pub(super) struct LinkOf {
    pub from: PadOf,
    pub to: PadOf,
    /// It is one of a `:`, which links what can be linked.
    pub all: bool,
}

/// One of its ends.
#[derive(Clone)]
pub(super) struct PadOf {
    /// Index into the nodes.
    pub node: usize,
    pub name: String,
    /// It was made on request.
    pub requested: bool,
    /// The line gives its name.
    pub named: bool,
}

/// Whether this engine has no such element.
pub(super) fn is_unknown(factory: &str) -> bool {
    let mut registry = Registry::default();
    let registered = tickpipe_systems::elements::register(&mut registry);
    registered.is_ok() && registry.class(factory).is_err()
}

/// Builds a line and asks what GStreamer asks when it links.
pub(super) fn answer(line: &str) -> Answer {
    let mut engine = match Engine::new() {
        Ok(engine) => engine,
        Err(error) => {
            return Answer::Refused(Refused {
                why: "limit",
                told: error.to_string(),
                unknown: None,
            });
        }
    };
    let launched = match engine.launched("line", line) {
        Ok(launched) => launched,
        Err(error) => {
            let mut refused = refused(&error);
            if is_inline_caps(line, &error) {
                refused.why = "link";
            }
            return Answer::Refused(refused);
        }
    };
    if let Some(refused) = refused_objects(&launched.description) {
        return Answer::Refused(refused);
    }
    let mut graph = graph(&engine, &launched, line);
    match link_check::refused(&engine, &launched, &mut graph) {
        None => {
            graph.drop_unused_filters();
            Answer::Graph(graph)
        }
        Some(link) => {
            let [from, to] = [&link.from, &link.to]
                .map(|end| format!("{}.{}", graph.nodes[end.node].name, end.name));
            Answer::Refused(Refused {
                why: "link",
                told: format!("{from} and {to} have no caps in common"),
                unknown: None,
            })
        }
    }
}

/// A property that the line gives and that takes no text in GStreamer.
fn refused_objects(description: &Description) -> Option<Refused> {
    let mut elements = description.elements.iter();
    let (element, key) = elements.find_map(|element| {
        let mut keys = element.properties.iter().map(PropertySpec::canonical_key);
        let key = keys.find(|key| gstreamer::takes_no_text(&element.factory, key))?;
        Some((element, key))
    })?;
    Some(Refused {
        why: "could not set property",
        told: format!("{}: {key} takes no text in GStreamer", element.factory),
        unknown: None,
    })
}

/// Whether the error is in caps between two links, which GStreamer reads when it links.
fn is_inline_caps(line: &str, error: &LaunchGraphError) -> bool {
    let LaunchGraphError::Build { span, .. } = error else {
        return false;
    };
    let description = launch::parse(line).unwrap_or_default();
    let mut elements = description.elements.iter();
    elements.any(|element| element.is_inline() && element.span == *span)
}

fn refused(error: &LaunchGraphError) -> Refused {
    use LaunchErrorKind as K;
    let mut unknown = None;
    let why = match error {
        LaunchGraphError::Syntax(error) => match &error.kind {
            K::Empty => "empty",
            K::EmptyBin { .. } => "empty bin",
            K::UnknownName { .. }
            | K::NotABin { .. }
            | K::UnsupportedUri { .. }
            | K::BarePath
            | K::LooseCaps { .. }
            | K::MissingValue { .. } => "no such element",
            K::DuplicateName { .. }
            | K::BinReferenced { .. }
            | K::LinkToSelf
            | K::PadCount { .. } => "link",
            K::Preset | K::BrokenName => "could not set property",
            _ => "syntax",
        },
        LaunchGraphError::Build { error, .. } => match &**error {
            BuildError::Registry(_) => "no such element",
            BuildError::Property { error, .. } => match error {
                PropertyError::Unknown { .. } => "no such property",
                _ => "could not set property",
            },
            BuildError::DuplicateName(_) => "link",
            _ => "limit",
        },
        LaunchGraphError::Link { .. } => "link",
    };
    if let LaunchGraphError::Build { error, .. } = error
        && let BuildError::Registry(error) = &**error
    {
        unknown = match error {
            RegistryError::Unknown { name, .. } => Some(name.clone()),
            RegistryError::NotBuilt { name, .. } => Some((*name).to_owned()),
            RegistryError::Taken(_) => None,
        };
    }
    Refused {
        why,
        told: error.to_string(),
        unknown,
    }
}

fn graph(engine: &Engine, launched: &Launched, line: &str) -> Graph {
    let description = &launched.description;
    let mut given = vec![Vec::new(); launched.elements.len()];
    for (list, spec) in given.iter_mut().zip(&description.elements) {
        let uri = |p: &PropertySpec| p.key_span == p.value_span && spec.factory != "capsfilter";
        list.extend(
            spec.properties
                .iter()
                .map(|p| (p.canonical_key(), p, uri(p))),
        );
    }
    for (index, bin) in description.bins.iter().enumerate() {
        for property in &bin.properties {
            let key = property.canonical_key();
            let Some((path, key)) = key.rsplit_once("::") else {
                continue;
            };
            let at = member(description, index, path);
            if let Some(list) = at.and_then(|at| given.get_mut(at)) {
                list.push((key.to_owned(), property, true));
            }
        }
    }
    let mut nodes = Vec::with_capacity(launched.elements.len());
    for ((spec, &element), given) in description
        .elements
        .iter()
        .zip(&launched.elements)
        .zip(&given)
    {
        let facts = gstreamer::factory(&spec.factory);
        let mut properties = BTreeMap::new();
        for fact in facts.into_iter().flat_map(|facts| facts.properties()) {
            let start = fact.start(&spec.factory);
            let property = Property {
                differs: start != fact.default(),
                value: json(&start, fact),
                given: false,
                aside: false,
                as_new: true,
            };
            properties.insert(fact.name.to_owned(), property);
        }
        for (key, property, aside) in given {
            let fact = facts.and_then(|facts| facts.property(key));
            let told = engine.get(element, key).ok().flatten();
            let value = match (fact, told) {
                (Some(fact), told) => {
                    let read = read_as_gstreamer(fact, property, line).ok();
                    let value = match (told, read) {
                        // What GStreamer holds may be more than any number here.
                        (Some(PropertyValue::Int(i64::MAX)), Some(read)) | (None, Some(read)) => {
                            json(&read, fact)
                        }
                        // A value that does nothing here.
                        (Some(PropertyValue::Text(told)), Some(GstValue::Nick(read))) => {
                            let has = engine_has(engine, element, key, read);
                            Json::from(if has { &told } else { read })
                        }
                        (Some(told), _) => json_of(&told),
                        (None, None) => Json::Null,
                    };
                    let differs = value != json(&fact.default(), fact);
                    let as_new = value == json(&fact.start(&spec.factory), fact);
                    (value, differs, as_new)
                }
                (None, Some(told)) => {
                    let value = json_of(&told);
                    let new = is_new(engine, element, key, &told);
                    (value, !new, new)
                }
                (None, None) => continue,
            };
            let (value, differs, as_new) = value;
            let aside = *aside && !properties.get(key).is_some_and(|p| p.given && !p.aside);
            let property = Property {
                value,
                given: true,
                aside,
                differs,
                as_new,
            };
            properties.insert(key.clone(), property);
        }
        nodes.push(NodeOf {
            factory: spec.factory.clone(),
            name: spec.name.clone().unwrap_or_default(),
            named: spec.name_span.is_some(),
            inline: spec.is_inline(),
            properties,
        });
    }
    let links = links(engine, launched);
    Graph { nodes, links }
}

/// Whether an element of this engine's own has a property's default.
fn is_new(engine: &Engine, element: ElementHandle, key: &str, value: &PropertyValue) -> bool {
    let class = engine.world().get::<ClassRef>(element.entity());
    let mut infos = class.into_iter().flat_map(|class| &class.0.properties);
    infos.any(|info| info.name == key && info.default == *value)
}

/// Whether a choice is one that an element has here.
fn engine_has(engine: &Engine, element: ElementHandle, key: &str, nick: &str) -> bool {
    let class = engine.world().get::<ClassRef>(element.entity());
    class.is_some_and(|class| class.0.check_text(key, nick).is_ok())
}

/// All links, in the order of the description.
fn links(engine: &Engine, launched: &Launched) -> Vec<LinkOf> {
    let world = engine.world();
    // Links of each element's source pads that no part of the description has claimed yet.
    let mut open: BTreeMap<usize, Vec<LinkOf>> = BTreeMap::new();
    let end = |pad| -> Option<PadOf> {
        let info = world.get::<Pad>(pad)?;
        let class = world.get::<ClassRef>(info.element)?;
        let template = class.0.terms.pads.get(info.template)?;
        Some(PadOf {
            // Elements have the numbers of their places in the description as ids.
            node: world.get::<Element>(info.element)?.id.0 as usize,
            name: info.name.clone(),
            requested: template.presence == Presence::Request,
            named: false,
        })
    };
    for (index, &element) in launched.elements.iter().enumerate() {
        let pads = world.get::<Pads>(element.entity());
        for &pad in pads.iter().flat_map(|pads| &pads.0) {
            let source = world.get::<Pad>(pad);
            if source.is_none_or(|info| info.direction != Direction::Source) {
                continue;
            }
            let link = world.get::<PadLink>(pad).and_then(|link| link.0);
            let Some(link) = link.and_then(|link| world.get::<Link>(link)) else {
                continue;
            };
            if let Some((from, to)) = end(link.from).zip(end(link.to)) {
                open.entry(index).or_default().push(LinkOf {
                    from,
                    to,
                    all: false,
                });
            }
        }
    }
    let mut found = Vec::new();
    for spec in &launched.description.links {
        let name = |end: &launch::End| end.pad.as_ref().map(|pad| pad.name.clone());
        let (from, to) = (name(&spec.from), name(&spec.to));
        let Some(list) = open.get_mut(&spec.from.element) else {
            continue;
        };
        loop {
            let fits = |link: &LinkOf| {
                let is = |name: &Option<String>, end: &PadOf| match name {
                    Some(name) => *name == end.name || name.ends_with("%u"),
                    None => true,
                };
                link.to.node == spec.to.element && is(&from, &link.from) && is(&to, &link.to)
            };
            let Some(at) = list.iter().position(fits) else {
                break;
            };
            let mut link = list.remove(at);
            link.all = spec.all;
            link.from.named = from.as_ref() == Some(&link.from.name);
            link.to.named = to.as_ref() == Some(&link.to.name);
            found.push(link);
            if !spec.all {
                break;
            }
        }
    }
    found.extend(open.into_values().flatten());
    found
}

/// A value in the form of the files.
fn json(value: &GstValue, fact: &gstreamer::Fact) -> Json {
    match value {
        GstValue::Truth(value) => Json::from(*value),
        GstValue::Whole(value) if matches!(fact.kind, Kind::Flags(_)) => {
            Json::from(fact.flag_names(*value))
        }
        GstValue::Whole(value) => match u64::try_from(*value) {
            Ok(value) => Json::from(value),
            Err(_) => Json::from(i64::try_from(*value).unwrap_or(i64::MIN)),
        },
        GstValue::Real(value) => Json::from(*value),
        GstValue::Nick(nick) => Json::from(*nick),
        GstValue::Text(text) => Json::from(text.as_str()),
        GstValue::Caps(caps) => Json::from(caps.to_gst().to_string()),
        GstValue::Nothing => Json::Null,
    }
}

fn json_of(value: &PropertyValue) -> Json {
    match value {
        PropertyValue::Bool(value) => Json::from(*value),
        PropertyValue::Int(value) => Json::from(*value),
        PropertyValue::Text(text) => Json::from(text.as_str()),
        PropertyValue::Fraction(value) => Json::from(value.to_string()),
        PropertyValue::Caps(caps) => Json::from(caps.to_gst().to_string()),
    }
}

impl Graph {
    /// Takes out the caps between two links that were not both made, as those of a `:` may be.
    fn drop_unused_filters(&mut self) {
        let ends = |links: &[LinkOf], node| {
            let at = links.iter().flat_map(|link| [link.from.node, link.to.node]);
            at.filter(|&end| end == node).count()
        };
        for node in (0..self.nodes.len()).rev() {
            if !self.nodes[node].inline || ends(&self.links, node) == 2 {
                continue;
            }
            self.nodes.remove(node);
            self.links
                .retain(|link| link.from.node != node && link.to.node != node);
            let ends = self.links.iter_mut();
            for end in ends.flat_map(|link| [&mut link.from, &mut link.to]) {
                if end.node > node {
                    end.node -= 1;
                }
            }
        }
    }

    /// The fields `elements`, `links` and `properties`, elements in the order in which GStreamer
    /// makes them.
    pub(super) fn to_json(&self) -> [Json; 3] {
        let name = |node: usize| self.nodes[node].name.as_str();
        let written = self.nodes.iter().filter(|node| !node.inline);
        let inline = self.nodes.iter().filter(|node| node.inline);
        let elements = written.chain(inline).map(|node| {
            let pair = [node.factory.as_str(), node.name.as_str()];
            Json::from_iter(pair)
        });
        let links = self.links.iter().map(|LinkOf { from, to, .. }| {
            let ends = [name(from.node), &from.name, name(to.node), &to.name];
            Json::from_iter(ends)
        });
        let mut properties = Map::new();
        for node in &self.nodes {
            let given = node.properties.iter().filter(|p| p.1.given && p.1.differs);
            let values: Map<String, Json> =
                given.map(|(k, p)| (k.clone(), p.value.clone())).collect();
            if !values.is_empty() {
                properties.insert(node.name.clone(), Json::Object(values));
            }
        }
        [
            Json::from_iter(elements),
            Json::from_iter(links),
            Json::Object(properties),
        ]
    }
}
