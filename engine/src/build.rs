//! Building graphs from Rust: elements, properties, pipelines, bins.

use crate::engine::Engine;
use bevy_ecs::entity::Entity;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::bus::Bus;
use tickpipe_components::fabric::{Fabric, PipelineFabric};
use tickpipe_components::graph::{
    Bin, Clock, ClockMode, Direction, DownOrder, Element, Members, OfPipeline, Pad, PadCaps,
    PadLink, Pads, Parent, Pipeline, Presence, Target,
};
use tickpipe_components::id::{ElementId, PipelineId};
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};
use tickpipe_components::property::{PropertyError, PropertyValue};
use tickpipe_components::state::State;
use tickpipe_systems::command::{Action, Actions};
use tickpipe_systems::element::{
    ClassRef, ElementClass, Registry, RegistryError, SetOutcome, Setting,
};
use tickpipe_systems::negotiate::{Plug, Refusal};
use tickpipe_systems::state::{Graphs, Topology, TopologyError};

/// An element of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementHandle(pub(crate) Entity);

impl ElementHandle {
    /// Its entity in [`Engine::world`].
    pub fn entity(self) -> Entity {
        self.0
    }
}

/// A pipeline of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PipelineHandle {
    pub(crate) entity: Entity,
    pub(crate) id: PipelineId,
}

impl PipelineHandle {
    /// Its entity in [`Engine::world`].
    pub fn entity(self) -> Entity {
        self.entity
    }

    /// Its number.
    pub fn id(self) -> PipelineId {
        self.id
    }
}

/// Why a graph cannot be built so.
#[derive(Debug, Error)]
pub enum BuildError {
    /// There is no such element class.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A property cannot be set so.
    #[error("{name}: {error}")]
    Property {
        /// The element's name.
        name: String,
        /// Why.
        error: PropertyError,
    },
    /// The element is in a pipeline or bin already.
    #[error("element {0} is in a pipeline already")]
    Taken(String),
    /// Another element of the pipeline has the same id.
    #[error("id {id} is that of {name} already")]
    DuplicateId {
        /// The id.
        id: ElementId,
        /// The element that has it.
        name: String,
    },
    /// Another element of the pipeline has the same name.
    #[error("an element named {0} is in the pipeline already")]
    DuplicateName(String),
    /// A limit would be passed.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// The pipeline is not in READY.
    #[error("pipeline {name} is in {state}; this can be set in ready only")]
    NotReady {
        /// Its name.
        name: String,
        /// Its state.
        state: State,
    },
}

impl Engine {
    /// Makes a pipeline without elements, with its clock and bus.
    pub fn create_pipeline(&mut self, name: &str) -> PipelineHandle {
        let id = PipelineId(self.world.resource::<Fabric>().pipelines.len() as u32);
        let limits = self.world.resource::<Limits>().clone();
        let clock = self.world.spawn((Clock::default(), OfPipeline(id))).id();
        let capacity = limits.get(Limit::BusMessages) as usize;
        let bus = self.world.spawn((Bus::new(capacity), OfPipeline(id))).id();
        let pipeline = Pipeline {
            id,
            name: name.to_owned(),
            clock,
            bus,
        };
        let parts = (
            pipeline,
            Members::default(),
            Target::default(),
            DownOrder::default(),
            State::Ready,
            Known::default(),
        );
        let entity = self.world.spawn(parts).id();
        self.world
            .resource_mut::<Fabric>()
            .pipelines
            .push(PipelineFabric {
                quantum: limits.get(Limit::Quantum) as u32,
                ..PipelineFabric::default()
            });
        self.world.resource_mut::<Graphs>().pipelines.push(entity);
        PipelineHandle { entity, id }
    }

    /// Chooses how a pipeline's time passes, from its next start on.
    pub fn set_clock(&mut self, pipeline: PipelineHandle, mode: ClockMode) {
        let clock = self.world.get::<Pipeline>(pipeline.entity).map(|p| p.clock);
        if let Some(mut clock) = clock.and_then(|c| self.world.get_mut::<Clock>(c)) {
            clock.mode = mode;
        }
    }

    /// Makes an element with an id that is unique in its pipeline. Its name is its class's with
    /// the id behind it, such as `videotestsrc3`, until [`Engine::set_name`].
    ///
    /// # Errors
    /// [`BuildError::Registry`] if there is no such class.
    pub fn create(&mut self, class: &str, id: u32) -> Result<ElementHandle, BuildError> {
        let class = self.world.resource::<Registry>().class(class)?.clone();
        let element = Element {
            id: ElementId(id),
            name: format!("{}{id}", class.name),
            kind: class.name,
        };
        // With all that it gets in any case: each component that comes later moves the entity.
        let parts = (
            element,
            State::Ready,
            ClassRef(Arc::clone(&class)),
            Pads::default(),
        );
        let mut entity = self.world.spawn(parts);
        class.insert(&mut entity);
        let entity = entity.id();
        let mut pads = Vec::with_capacity(class.terms.pads.len());
        let mut counts = [0usize; 2];
        for (template, pad) in class.terms.pads.iter().enumerate() {
            if pad.presence == Presence::Always {
                let count = &mut counts[usize::from(pad.direction == Direction::Source)];
                let pad = Pad {
                    element: entity,
                    name: pad.name.to_owned(),
                    direction: pad.direction,
                    template,
                    index: *count,
                };
                *count += 1;
                pads.push(
                    self.world
                        .spawn((pad, PadCaps::default(), PadLink(None)))
                        .id(),
                );
            }
        }
        if let Some(mut own) = self.world.get_mut::<Pads>(entity) {
            own.0 = pads;
        }
        Ok(ElementHandle(entity))
    }

    /// Names an element that is in no pipeline yet.
    ///
    /// # Errors
    /// [`BuildError::Taken`] if it is in one.
    pub fn set_name(&mut self, element: ElementHandle, name: &str) -> Result<(), BuildError> {
        if self.world.get::<Parent>(element.0).is_some() {
            return Err(BuildError::Taken(self.name(element)));
        }
        if let Some(mut info) = self.world.get_mut::<Element>(element.0) {
            info.name = name.to_owned();
        }
        Ok(())
    }

    /// An element's name.
    pub fn name(&self, element: ElementHandle) -> String {
        self.world
            .get::<Element>(element.0)
            .map_or_else(String::new, |e| e.name.clone())
    }

    /// The element of that name in a pipeline.
    pub fn element(&self, pipeline: PipelineHandle, name: &str) -> Option<ElementHandle> {
        self.elements(pipeline).into_iter().find(|&e| {
            self.world
                .get::<Element>(e.0)
                .is_some_and(|i| i.name == name)
        })
    }

    /// All elements of a pipeline, those in bins too, by id.
    pub fn elements(&self, pipeline: PipelineHandle) -> Vec<ElementHandle> {
        let mut found = Vec::new();
        let mut open = vec![pipeline.entity];
        while let Some(group) = open.pop() {
            for &member in self.world.get::<Members>(group).iter().flat_map(|m| &m.0) {
                match self.world.get::<Element>(member) {
                    Some(_) if self.world.get::<Plug>(member).is_some() => {}
                    Some(info) => found.push((info.id, ElementHandle(member))),
                    None => open.push(member),
                }
            }
        }
        found.sort_by_key(|e| e.0);
        found.into_iter().map(|e| e.1).collect()
    }

    /// Sets a property. What GStreamer has and tickpipe does not act on is accepted and ignored.
    ///
    /// In a started pipeline the next tick sets it, together with all others of that tick: caps
    /// are negotiated anew, and what changes does so between two buffers. If there are no caps
    /// with it, it stays as it was, and [`Engine::refused`] says why.
    ///
    /// # Errors
    /// [`BuildError::Property`]; the property stays as it was. [`BuildError::NotReady`] if the
    /// pipeline has started and it is one that can be set in READY only.
    pub fn set(
        &mut self,
        element: ElementHandle,
        property: &str,
        value: impl Into<PropertyValue>,
    ) -> Result<SetOutcome, BuildError> {
        let value = value.into();
        self.set_with(element, property, |class| class.check(property, value))
    }

    /// Sets a property from its text, as on a launch line.
    ///
    /// # Errors
    /// As [`Engine::set`].
    pub fn set_text(
        &mut self,
        element: ElementHandle,
        property: &str,
        text: &str,
    ) -> Result<SetOutcome, BuildError> {
        self.set_with(element, property, |class| class.check_text(property, text))
    }

    fn set_with(
        &mut self,
        element: ElementHandle,
        property: &str,
        check: impl FnOnce(&ElementClass) -> Result<Option<Setting>, PropertyError>,
    ) -> Result<SetOutcome, BuildError> {
        let Some(ClassRef(class)) = self.world.get::<ClassRef>(element.0).cloned() else {
            return Ok(SetOutcome::Ignored);
        };
        let name = || self.name(element);
        let checked = check(&class).map_err(|error| BuildError::Property {
            name: name(),
            error,
        });
        // An element that was added to a running pipeline is in READY until it is linked.
        let ready = self.world.get::<State>(element.0) == Some(&State::Ready);
        let Some(setting) = checked? else {
            if !ready {
                let element = name();
                tracing::warn!(
                    element,
                    "property `{property}` is accepted and does nothing"
                );
            }
            return Ok(SetOutcome::Ignored);
        };
        let started = self
            .pipeline_of(element)
            .filter(|_| !ready)
            .filter(|&p| self.state(p) != State::Ready);
        let Some(pipeline) = started else {
            class.apply(&mut self.world.entity_mut(element.0), setting);
            return Ok(SetOutcome::Set);
        };
        if class.ready_only.contains(&property) {
            self.must_be_ready(pipeline)?;
        }
        let action = Action::SetProperty {
            pipeline: pipeline.entity,
            element: element.0,
            setting,
        };
        self.world.resource_mut::<Actions>().queue.push(action);
        Ok(SetOutcome::Set)
    }

    /// Why the last change of a started pipeline was refused, if one was: a property, caps that
    /// a source announced, links, a seek.
    pub fn refused(&self, pipeline: PipelineHandle) -> Option<&Refusal> {
        self.refusals(pipeline).last()
    }

    /// All that was refused in the last tick in which something was, in order.
    pub fn refusals(&self, pipeline: PipelineHandle) -> &[Refusal] {
        let motion = self.world.resource::<Graphs>().motion(pipeline.id);
        motion.map_or(&[], |m| &m.refused)
    }

    /// Whether a property could be set from this text, by what its element's class knows.
    ///
    /// # Errors
    /// [`PropertyError`].
    pub fn check_text(
        &self,
        element: ElementHandle,
        property: &str,
        text: &str,
    ) -> Result<(), PropertyError> {
        let class = self.world.get::<ClassRef>(element.0);
        class.map_or(Ok(()), |c| c.0.check_text(property, text).map(drop))
    }

    /// Whether all pads of a pipeline that must be linked are, without a cycle.
    ///
    /// # Errors
    /// [`TopologyError`] for the first that is wrong.
    pub fn check_links(&self, pipeline: PipelineHandle) -> Result<(), TopologyError> {
        Topology::read(&self.world, pipeline.entity).map(drop)
    }

    /// Sets several properties in order. The first that cannot be set is the error, and those
    /// after it are not applied (mpipe: the first failing setter's error is returned).
    ///
    /// # Errors
    /// As [`Engine::set`].
    pub fn set_all<'a>(
        &mut self,
        element: ElementHandle,
        properties: impl IntoIterator<Item = (&'a str, PropertyValue)>,
    ) -> Result<(), BuildError> {
        for (property, value) in properties {
            self.set(element, property, value)?;
        }
        Ok(())
    }

    /// The value of a property; `None` for one that is accepted and ignored.
    ///
    /// # Errors
    /// [`BuildError::Property`] if there is none of that name.
    pub fn get(
        &self,
        element: ElementHandle,
        property: &str,
    ) -> Result<Option<PropertyValue>, BuildError> {
        let entity = self.world.entity(element.0);
        let Some(class) = entity.get::<ClassRef>() else {
            return Ok(None);
        };
        class
            .0
            .property(entity, property)
            .map_err(|error| BuildError::Property {
                name: self.name(element),
                error,
            })
    }

    /// Puts an element into a pipeline, in any order. In a started pipeline it stays in READY
    /// until it is linked.
    ///
    /// # Errors
    /// [`BuildError`]: it is in one already, or its id or name is taken there.
    pub fn add(
        &mut self,
        pipeline: PipelineHandle,
        element: ElementHandle,
    ) -> Result<(), BuildError> {
        self.add_to(pipeline, pipeline.entity, element)
    }

    /// Puts several elements into a pipeline; those before one that fails stay.
    ///
    /// # Errors
    /// As [`Engine::add`].
    pub fn add_all(
        &mut self,
        pipeline: PipelineHandle,
        elements: impl IntoIterator<Item = ElementHandle>,
    ) -> Result<(), BuildError> {
        elements
            .into_iter()
            .try_for_each(|element| self.add(pipeline, element))
    }

    /// Makes a bin inside a pipeline, or inside another bin of it.
    ///
    /// # Errors
    /// [`BuildError::Limit`] if its name is too long.
    pub(crate) fn create_bin(&mut self, parent: Entity, name: &str) -> Result<Entity, BuildError> {
        check_name(self.world.resource::<Limits>(), name)?;
        let mut depth = 1;
        let mut at = parent;
        while self.world.get::<Bin>(at).is_some()
            && let Some(Parent(above)) = self.world.get::<Parent>(at)
        {
            (depth, at) = (depth + 1, *above);
        }
        let limits = self.world.resource::<Limits>();
        limits.check(Limit::BinDepth, "bins inside one another", depth)?;
        let bin = Bin {
            name: name.to_owned(),
        };
        let entity = self
            .world
            .spawn((bin, Members::default(), Parent(parent), State::Ready))
            .id();
        if let Some(mut members) = self.world.get_mut::<Members>(parent) {
            members.0.push(entity);
        }
        Ok(entity)
    }

    pub(crate) fn add_to(
        &mut self,
        pipeline: PipelineHandle,
        group: Entity,
        element: ElementHandle,
    ) -> Result<(), BuildError> {
        let Some(Element { id, name, .. }) = self.world.get::<Element>(element.0) else {
            return Ok(());
        };
        if self.world.get::<Parent>(element.0).is_some() {
            return Err(BuildError::Taken(name.clone()));
        }
        let (id, name) = (*id, name.clone());
        let known = self.world.get::<Known>(pipeline.entity);
        // What left is known still, and in no pipeline.
        let here = |e: &&Entity| self.world.get::<Parent>(**e).is_some();
        if let Some(&other) = known.and_then(|known| known.ids.get(&id)).filter(here) {
            return Err(BuildError::DuplicateId {
                id,
                name: self.name(ElementHandle(other)),
            });
        }
        let count = known.map_or(0, |known| known.ids.len()) as u64 + 1;
        let limits = self.world.resource::<Limits>();
        limits.check(Limit::Elements, "elements of the pipeline", count)?;
        check_name(limits, &name)?;
        let known = self.world.get::<Known>(pipeline.entity);
        let named = known.and_then(|known| known.names.get(&name));
        if named.is_some_and(|e| here(&e)) {
            return Err(BuildError::DuplicateName(name));
        }
        if let Some(mut known) = self.world.get_mut::<Known>(pipeline.entity) {
            known.names.insert(name, element.0);
            known.ids.insert(id, element.0);
        }
        self.world.entity_mut(element.0).insert(Parent(group));
        if let Some(mut members) = self.world.get_mut::<Members>(group) {
            members.0.push(element.0);
        }
        Ok(())
    }

    /// The pipeline that an element is in.
    pub(crate) fn pipeline_of(&self, element: ElementHandle) -> Option<PipelineHandle> {
        let mut at = self.world.get::<Parent>(element.0)?.0;
        loop {
            if let Some(pipeline) = self.world.get::<Pipeline>(at) {
                return Some(PipelineHandle {
                    entity: at,
                    id: pipeline.id,
                });
            }
            at = self.world.get::<Parent>(at)?.0;
        }
    }

    pub(crate) fn must_be_ready(&self, pipeline: PipelineHandle) -> Result<(), BuildError> {
        let state = self.state(pipeline);
        if state == State::Ready {
            return Ok(());
        }
        Err(BuildError::NotReady {
            name: self
                .world
                .get::<Pipeline>(pipeline.entity)
                .map_or_else(String::new, |p| p.name.clone()),
            state,
        })
    }

    /// The state that a pipeline is in.
    pub fn state(&self, pipeline: PipelineHandle) -> State {
        self.world
            .get::<State>(pipeline.entity)
            .copied()
            .unwrap_or_default()
    }
}

/// Checks the length of a name, of which the error shows the beginning.
fn check_name(limits: &Limits, name: &str) -> Result<(), LimitExceeded> {
    let start: String = name.chars().take(24).collect();
    let what = format!("bytes of the name `{start}…`");
    limits.check(Limit::NameBytes, &what, name.len() as u64)
}

/// Ids and names in use in a pipeline, so that adding stays linear. Names are only looked up, never
/// walked.
#[derive(bevy_ecs::component::Component, Default)]
struct Known {
    ids: BTreeMap<ElementId, Entity>,
    names: HashMap<String, Entity>,
}
