//! Building a graph from a launch text.

use crate::build::{BuildError, ElementHandle, PipelineHandle};
use crate::engine::Engine;
use crate::gstreamer::{self, Fact, FactoryFacts, GstValue, Kind, NotRead};
use crate::launch::{
    self, Description, ElementSpec, LaunchError, LaunchErrorKind, PropertySpec, Span, Warning,
    WarningKind,
};
use crate::link::LinkError;
use bevy_ecs::entity::Entity;
use std::collections::BTreeMap;
use thiserror::Error;
use tickpipe_components::graph::{Direction, Pad, PadLink, Pads};
use tickpipe_components::property::PropertyError;
use tickpipe_systems::element::{RegistryError, SetOutcome};
use tickpipe_systems::negotiate::Removal;

#[cfg(test)]
mod tests;

/// What is wrong with a launch text, and where.
#[derive(Debug, Error)]
pub enum LaunchGraphError {
    /// It cannot be read.
    #[error("{0}")]
    Syntax(LaunchError),
    /// It names an element or property that is not there, or a value that is not taken.
    #[error("{error}")]
    Build {
        /// Why.
        error: Box<BuildError>,
        /// Where.
        span: Span,
    },
    /// It links what cannot be linked.
    #[error("{error}")]
    Link {
        /// Why.
        error: Box<LinkError>,
        /// Where.
        span: Span,
    },
}

impl LaunchGraphError {
    /// The error with the text and a mark under the place.
    pub fn render(&self, text: &str) -> String {
        match self {
            LaunchGraphError::Syntax(error) => error.render(text),
            LaunchGraphError::Build { error, span } => {
                let (message, help) = match &**error {
                    BuildError::Registry(RegistryError::Unknown { closest, .. }) => (
                        error.to_string(),
                        closest.map(|c| {
                            format!("did you mean `{c}`? `tickpipe inspect` lists all elements")
                        }),
                    ),
                    BuildError::Property { error, .. } => {
                        let help = match error {
                            PropertyError::Unknown { element, .. }
                                if bin_factory(element).is_some() =>
                            {
                                let facts = bin_factory(element).into_iter();
                                let names = facts.flat_map(FactoryFacts::properties);
                                let names: Vec<&str> = names.map(|fact| fact.name).collect();
                                Some(format!("a {element} has: {}", names.join(", ")))
                            }
                            PropertyError::Unknown {
                                element, closest, ..
                            } => Some(match closest {
                                Some(c) => format!(
                                    "did you mean `{c}`? `tickpipe inspect {element}` lists all"
                                ),
                                None => format!("`tickpipe inspect {element}` lists all"),
                            }),
                            _ => None,
                        };
                        (error.to_string(), help)
                    }
                    other => (other.to_string(), None),
                };
                launch::render(text, *span, &message, help.as_deref())
            }
            LaunchGraphError::Link { error, span } => {
                launch::render(text, *span, &error.to_string(), None)
            }
        }
    }
}

/// A pipeline that was built from a launch text, and what it was built from.
pub(crate) struct Launched {
    /// The pipeline.
    pub pipeline: PipelineHandle,
    /// What was read, all names assigned.
    pub description: Description,
    /// Its elements, in the order of the description.
    pub elements: Vec<ElementHandle>,
    /// Rendered with the text and a mark under the place.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Builds a pipeline from a launch text. The second part of the answer are warnings, each
    /// rendered with the text and a mark under the place.
    ///
    /// # Errors
    /// [`LaunchGraphError`], with the place; the half-built pipeline is left empty of meaning and
    /// is never run.
    pub fn launch(
        &mut self,
        name: &str,
        text: &str,
    ) -> Result<(PipelineHandle, Vec<String>), LaunchGraphError> {
        let launched = self.launched(name, text)?;
        Ok((launched.pipeline, launched.warnings))
    }

    /// The same, with what was read.
    pub(crate) fn launched(
        &mut self,
        name: &str,
        text: &str,
    ) -> Result<Launched, LaunchGraphError> {
        let mut description = launch::parse(text).map_err(LaunchGraphError::Syntax)?;
        launch::assign_names(&mut description);
        let mut warnings: Vec<String> = description
            .warnings
            .iter()
            .map(|w| launch::render_warning(text, w))
            .collect();
        let pipeline = self.create_pipeline(name);
        let bins = self.make_bins(pipeline, &description, text, &mut warnings)?;
        let mut elements = Vec::with_capacity(description.elements.len());
        for (i, spec) in description.elements.iter().enumerate() {
            let build = |span| move |error| built_wrong(error, span);
            let element = self
                .create(&spec.factory, i as u32)
                .map_err(build(spec.factory_span))?;
            if let Some(name) = &spec.name {
                self.set_name(element, name)
                    .map_err(build(spec.name_span.unwrap_or(spec.factory_span)))?;
            }
            for property in &spec.properties {
                let key = property.canonical_key();
                warnings.extend(self.set_as_gstreamer(element, spec, &key, property, text)?);
            }
            let group = spec.bin.and_then(|b| bins.get(b).copied());
            self.add_to(pipeline, group.unwrap_or(pipeline.entity), element)
                .map_err(build(spec.factory_span))?;
            elements.push(element);
        }
        self.set_children(&description, &elements, text, &mut warnings)?;
        self.make_links(pipeline, &description, &elements, text, &mut warnings)?;
        Ok(Launched {
            pipeline,
            description,
            elements,
            warnings,
        })
    }

    /// Sets a property. Where GStreamer has an element and property of these names, the text is
    /// read as it reads it, also if the property does nothing here, which is the warning that is
    /// given back.
    fn set_as_gstreamer(
        &mut self,
        element: ElementHandle,
        spec: &ElementSpec,
        key: &str,
        property: &PropertySpec,
        text: &str,
    ) -> Result<Option<String>, LaunchGraphError> {
        let facts = gstreamer::factory(&spec.factory);
        let wrong = |engine: &Engine, error, span| {
            let name = engine.name(element);
            Err(built_wrong(BuildError::Property { name, error }, span))
        };
        let fact = facts.and_then(|facts| facts.property(key));
        let read = fact.map(|fact| (fact, read_as_gstreamer(fact, property, text)));
        let normal = match &read {
            Some((_, Ok(value))) => normal_text(value),
            _ => None,
        };
        let set = self.set_text(element, key, normal.as_deref().unwrap_or(&property.value));
        match (set, read) {
            // No text is an element.
            (Ok(_), None) if facts.is_some() && key == "parent" => {
                let error = PropertyError::WrongType {
                    name: "parent",
                    value: property.value.clone(),
                    expected: "an element",
                };
                wrong(self, error, property.value_span)
            }
            (Ok(_), Some((fact, Err(why)))) => {
                let error = not_read(fact, why, property, text);
                wrong(self, error, property.value_span)
            }
            (Ok(SetOutcome::Set), _) => Ok(None),
            (Ok(SetOutcome::Ignored), _) => Ok(Some(ignored(&spec.factory, &property.key))),
            // GStreamer has the value, and this element does not.
            (
                Err(BuildError::Property {
                    error: error @ PropertyError::NotAChoice { .. },
                    ..
                }),
                Some((_, Ok(GstValue::Nick(_)))),
            ) => {
                let kind = WarningKind::NotImplemented {
                    why: error.to_string(),
                };
                let span = property.value_span;
                let warning = Warning { kind, span };
                Ok(Some(launch::render_warning(text, &warning)))
            }
            (Err(error), _) => {
                let unknown = matches!(
                    error,
                    BuildError::Property {
                        error: PropertyError::Unknown { .. },
                        ..
                    }
                );
                let span = match unknown {
                    true => property.key_span,
                    false => property.value_span,
                };
                Err(built_wrong(error, span))
            }
        }
    }

    fn make_bins(
        &mut self,
        pipeline: PipelineHandle,
        description: &Description,
        text: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Entity>, LaunchGraphError> {
        let mut bins: Vec<Entity> = Vec::with_capacity(description.bins.len());
        for (i, spec) in description.bins.iter().enumerate() {
            let Some(bin) = bin_factory(&spec.factory) else {
                let kind = LaunchErrorKind::NotABin {
                    factory: spec.factory.clone(),
                };
                let error = LaunchError::new(kind, spec.factory_span);
                return Err(LaunchGraphError::Syntax(error));
            };
            let parent = spec.parent.and_then(|p| bins.get(p).copied());
            let name = spec.name.clone().unwrap_or_else(|| format!("bin{i}"));
            for property in &spec.properties {
                if property.key.contains("::") {
                    continue;
                }
                let wrong = |error, span| {
                    let name = name.clone();
                    Err(built_wrong(BuildError::Property { name, error }, span))
                };
                let key = property.canonical_key();
                let Some(fact) = bin.property(&key) else {
                    let error = PropertyError::Unknown {
                        element: bin.name,
                        name: key,
                        closest: None,
                    };
                    return wrong(error, property.key_span);
                };
                if let Err(why) = fact.read(&property.value) {
                    return wrong(not_read(fact, why, property, text), property.value_span);
                }
                warnings.push(ignored(&spec.factory, &property.key));
            }
            let made = self.create_bin(parent.unwrap_or(pipeline.entity), &name);
            bins.push(made.map_err(|error| built_wrong(error, spec.span))?);
        }
        Ok(bins)
    }

    /// Sets the properties of members that are written at their bins, as `a::num-buffers=5`.
    fn set_children(
        &mut self,
        description: &Description,
        elements: &[ElementHandle],
        text: &str,
        warnings: &mut Vec<String>,
    ) -> Result<(), LaunchGraphError> {
        for (index, bin) in description.bins.iter().enumerate() {
            for property in &bin.properties {
                let Some((path, _)) = property.key.rsplit_once("::") else {
                    continue;
                };
                let Some(at) = member(description, index, path) else {
                    let span = property.key_span;
                    let kind = WarningKind::NoMember {
                        path: path.to_owned(),
                    };
                    warnings.push(launch::render_warning(text, &Warning { kind, span }));
                    continue;
                };
                let (spec, element) = (&description.elements[at], elements[at]);
                let key = property.canonical_key();
                let key = key.rsplit("::").next().unwrap_or_default();
                warnings.extend(self.set_as_gstreamer(element, spec, key, property, text)?);
            }
        }
        Ok(())
    }

    fn make_links(
        &mut self,
        pipeline: PipelineHandle,
        description: &Description,
        elements: &[ElementHandle],
        text: &str,
        warnings: &mut Vec<String>,
    ) -> Result<(), LaunchGraphError> {
        // A filter of a `:` that could not be linked.
        let mut unused = None;
        let mut numbers = funnel_numbers(description);
        for link in &description.links {
            let (from, to) = (&link.from, &link.to);
            if unused.take() == Some(from.element) {
                continue;
            }
            let pad = |end: &launch::End| end.pad.as_ref().map(|p| p.name.clone());
            let to_pad = match (pad(to), numbers.get_mut(&to.element)) {
                (None, Some(highest)) => {
                    *highest = highest.saturating_add(1);
                    Some(format!("sink_{highest}"))
                }
                (named, _) => named,
            };
            let made = self.link_pads(
                elements[from.element],
                pad(from).as_deref(),
                elements[to.element],
                to_pad.as_deref(),
            );
            if link.all && made.is_err() {
                // It links what can be linked, and that is nothing.
                let kind = WarningKind::NothingLinked;
                let warning = Warning {
                    kind,
                    span: link.span,
                };
                warnings.push(launch::render_warning(text, &warning));
                let filter = [from, to].map(|end| end.element);
                let filter = filter.into_iter().find(|&element| {
                    let elements = description.elements.get(element);
                    elements.is_some_and(ElementSpec::is_inline)
                });
                if let Some(filter) = filter {
                    // It was put there above.
                    let _ = self.remove(pipeline, elements[filter], Removal::Discard);
                    unused = Some(filter);
                }
                continue;
            }
            if let Err(error) = made {
                let span = match (&error, &from.pad, &to.pad) {
                    (
                        LinkError::NoPad {
                            direction: "source",
                            ..
                        },
                        Some(p),
                        _,
                    ) => p.span,
                    (
                        LinkError::NoPad {
                            direction: "sink", ..
                        },
                        _,
                        Some(p),
                    ) => p.span,
                    _ => link.span,
                };
                let error = Box::new(error);
                return Err(LaunchGraphError::Link { error, span });
            }
            let (from, to) = (elements[from.element], elements[to.element]);
            // Two elements that both make pads on request would never come to an end.
            while link.all
                && (self.has_free_pad(from, Direction::Source)
                    || self.has_free_pad(to, Direction::Sink))
                && self.link(from, to).is_ok()
            {}
        }
        Ok(())
    }

    /// Whether an element has a pad that is there and not linked.
    fn has_free_pad(&self, element: ElementHandle, direction: Direction) -> bool {
        let pads = self.world.get::<Pads>(element.entity());
        pads.iter().flat_map(|pads| &pads.0).any(|&pad| {
            let is = self.world.get::<Pad>(pad);
            let link = self.world.get::<PadLink>(pad);
            is.is_some_and(|pad| pad.direction == direction) && link.is_some_and(|l| l.0.is_none())
        })
    }
}

/// The highest number of a pad that the text names, of each funnel with such pads. There pads without
/// a name take none that is named further on, as in GStreamer, where they are called otherwise.
fn funnel_numbers(description: &Description) -> BTreeMap<usize, u32> {
    let mut numbers = BTreeMap::new();
    for link in &description.links {
        let element = description.elements.get(link.to.element);
        let pad = link.to.pad.as_ref();
        let number = pad.and_then(|pad| pad.name.strip_prefix("sink_")?.parse::<u32>().ok());
        let (true, Some(number)) = (element.is_some_and(|e| e.factory == "funnel"), number) else {
            continue;
        };
        let highest = numbers.entry(link.to.element).or_insert(number);
        *highest = number.max(*highest);
    }
    numbers
}

fn built_wrong(error: BuildError, span: Span) -> LaunchGraphError {
    let error = Box::new(error);
    LaunchGraphError::Build { error, span }
}

fn ignored(factory: &str, property: &str) -> String {
    format!(
        "warning: {factory}: property `{property}` is accepted for compatibility and does nothing"
    )
}

/// What GStreamer has of a bin's type; `None` if it is no bin.
fn bin_factory(name: &str) -> Option<&'static FactoryFacts> {
    match name {
        "bin" | "pipeline" => gstreamer::factory(name),
        _ => None,
    }
}

/// The element of a bin's members that a path such as `inner::a` leads to.
pub(crate) fn member(description: &Description, bin: usize, path: &str) -> Option<usize> {
    let mut at = bin;
    let mut names = path.split("::").peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            let mut all = description.elements.iter();
            return all.position(|e| e.bin == Some(at) && e.name.as_deref() == Some(name));
        }
        let mut inner = description.bins.iter();
        at = inner.position(|b| b.parent == Some(at) && b.name.as_deref() == Some(name))?;
    }
    None
}

/// Reads a property's text as GStreamer does, which takes no single quotes off. (Here they are, from
/// a text.)
pub(crate) fn read_as_gstreamer(
    fact: &Fact,
    property: &PropertySpec,
    text: &str,
) -> Result<GstValue, NotRead> {
    let span = property.value_span;
    let quoted = |raw: &str| raw.starts_with('\'') && property.key_span != span;
    let single = text.get(span.start..span.end).is_some_and(quoted);
    let broken = |raw: &str| property.key_span != span && launch::is_broken_text(raw);
    let is_text = fact.kind == Kind::Text;
    let wrapped = |raw: &str| property.key_span != span && launch::is_text_only(raw);
    let bad = match is_text {
        true => text.get(span.start..span.end).is_some_and(broken),
        // Caps may stand in quotes of their own.
        false if fact.kind == Kind::Caps => single,
        false => single || text.get(span.start..span.end).is_some_and(wrapped),
    };
    match bad {
        true => Err(NotRead::Refused),
        false => fact.read(&property.value),
    }
}

/// The value as any element here reads it; `None` where the text itself is that.
fn normal_text(value: &GstValue) -> Option<String> {
    match value {
        GstValue::Truth(value) => Some(value.to_string()),
        // No number here is larger.
        GstValue::Whole(value) => Some((*value).min(i64::MAX.into()).to_string()),
        GstValue::Nick(nick) => Some((*nick).to_owned()),
        GstValue::Real(_) | GstValue::Text(_) | GstValue::Caps(_) | GstValue::Nothing => None,
    }
}

/// Why a text is refused that GStreamer refuses.
fn not_read(
    fact: &'static Fact,
    why: NotRead,
    property: &PropertySpec,
    text: &str,
) -> PropertyError {
    let span = property.value_span;
    // With its quotes, where they are what is wrong.
    let raw = text.get(span.start..span.end);
    let wrapped = |raw: &str| fact.kind != Kind::Text && launch::is_text_only(raw);
    let raw = raw.filter(|raw| raw.starts_with('\'') || wrapped(raw));
    let value = raw.unwrap_or(&property.value).to_owned();
    let name = fact.name;
    let expected = match fact.kind {
        Kind::Truth => "true or false",
        Kind::Int | Kind::Uint | Kind::Int64 | Kind::Uint64 => "a whole number",
        Kind::Float | Kind::Double => "a number in its range",
        Kind::Choice(_) => "one of its names",
        Kind::Flags(_) => "names joined by `+`",
        Kind::Text => "text, with two double quotes around it or none",
        Kind::Caps => "caps",
    };
    match (why, fact.range) {
        (NotRead::Outside, Some((min, max))) => PropertyError::OutOfRange {
            name,
            value,
            min: i64::try_from(min).unwrap_or(i64::MIN),
            max: i64::try_from(max).unwrap_or(i64::MAX),
        },
        _ => PropertyError::WrongType {
            name,
            value,
            expected,
        },
    }
}
