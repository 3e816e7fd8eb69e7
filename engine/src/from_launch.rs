//! Building a graph from a launch text.

use crate::build::{BuildError, ElementHandle, PipelineHandle};
use crate::engine::Engine;
use crate::launch::{self, Description, LaunchError, Span};
use crate::link::LinkError;
use bevy_ecs::entity::Entity;
use thiserror::Error;
use tickpipe_components::property::PropertyError;
use tickpipe_systems::element::{RegistryError, SetOutcome};

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
        let mut description = launch::parse(text).map_err(LaunchGraphError::Syntax)?;
        launch::assign_names(&mut description);
        let mut warnings: Vec<String> = description
            .warnings
            .iter()
            .map(|w| launch::render_warning(text, w))
            .collect();
        let pipeline = self.create_pipeline(name);
        let bins = self.make_bins(pipeline, &description)?;
        let mut elements = Vec::with_capacity(description.elements.len());
        for (i, spec) in description.elements.iter().enumerate() {
            let build = |span| {
                move |error| LaunchGraphError::Build {
                    error: Box::new(error),
                    span,
                }
            };
            let element = self
                .create(&spec.factory, i as u32)
                .map_err(build(spec.factory_span))?;
            if let Some(name) = &spec.name {
                self.set_name(element, name)
                    .map_err(build(spec.name_span.unwrap_or(spec.factory_span)))?;
            }
            for property in &spec.properties {
                match self.set_text(element, &property.canonical_key(), &property.value) {
                    Ok(SetOutcome::Set) => {}
                    Ok(SetOutcome::Ignored) => warnings.push(format!(
                        "warning: {}: property `{}` is accepted for compatibility and does nothing",
                        spec.factory, property.key
                    )),
                    Err(error) => {
                        let span = match &error {
                            BuildError::Property {
                                error: PropertyError::Unknown { .. },
                                ..
                            } => property.key_span,
                            _ => property.value_span,
                        };
                        return Err(build(span)(error));
                    }
                }
            }
            let group = spec.bin.and_then(|b| bins.get(b).copied());
            self.add_to(pipeline, group.unwrap_or(pipeline.entity), element)
                .map_err(build(spec.factory_span))?;
            elements.push(element);
        }
        self.make_links(&description, &elements)?;
        Ok((pipeline, warnings))
    }

    fn make_bins(
        &mut self,
        pipeline: PipelineHandle,
        description: &Description,
    ) -> Result<Vec<Entity>, LaunchGraphError> {
        let mut bins: Vec<Entity> = Vec::with_capacity(description.bins.len());
        for (i, spec) in description.bins.iter().enumerate() {
            let parent = spec.parent.and_then(|p| bins.get(p).copied());
            let name = spec.name.clone().unwrap_or_else(|| format!("bin{i}"));
            let made = self.create_bin(parent.unwrap_or(pipeline.entity), &name);
            bins.push(made.map_err(|error| LaunchGraphError::Build {
                error: Box::new(error),
                span: spec.span,
            })?);
        }
        Ok(bins)
    }

    fn make_links(
        &mut self,
        description: &Description,
        elements: &[ElementHandle],
    ) -> Result<(), LaunchGraphError> {
        for link in &description.links {
            let (from, to) = (&link.from, &link.to);
            let pad = |end: &launch::End| end.pad.as_ref().map(|p| p.name.clone());
            let made = self.link_pads(
                elements[from.element],
                pad(from).as_deref(),
                elements[to.element],
                pad(to).as_deref(),
            );
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
            while link.all
                && self
                    .link(elements[from.element], elements[to.element])
                    .is_ok()
            {}
        }
        Ok(())
    }
}
