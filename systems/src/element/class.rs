//! An element's class: what registration makes of an [`Element`], with the type erased.

mod properties;

use super::property::Property;
use super::{
    Buffers, ClassRef, Element, PadAt, PadCapsOf, PadTemplate, PoolBounds, Proposal, Registry,
    Transformed, Waits, Work,
};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::world::{EntityRef, EntityWorldMut};
use core::any::Any;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::fabric::{Latency, QueueLimits, SinkTerms};
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::{Backing, PoolConfig};
use tickpipe_components::property::{PropertyKind, PropertyValue};
use tickpipe_components::sync::SyncTerms;

/// How caps cross an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All its pads have the same caps: it is a piece of wire.
    Wire,
    /// Its sink and its source pad are related by `transform_caps`.
    Convert,
    /// Its source pad has the caps of sink pad 0; other sink pads are related to that by
    /// `transform_caps`. Frames of its inputs are synchronised.
    Lead,
    /// Its source pad has the caps of sink pad 0; other sink pads have nothing to do with that. Frames of
    /// its inputs are synchronised.
    LeadAlone,
    /// Its source pads and other sink pads are related to sink pad 0 by `transform_caps`; what is left
    /// open of a source pad follows from all sink pads ([`Element::fixate_set`]). Frames of its
    /// inputs are synchronised.
    Sets,
    /// Its pads have nothing to do with each other.
    Separate,
}

impl Flow {
    /// Whether frames of its inputs are synchronised.
    pub const fn synchronises(self) -> bool {
        matches!(self, Flow::Lead | Flow::LeadAlone | Flow::Sets)
    }
}

/// Why the first bytes of the stream are not to be had.
#[derive(Clone, Debug, Error)]
pub enum PeekError {
    /// No source of bytes is upstream.
    #[error("what feeds {0} is no source of bytes, so its caps are known only while it runs")]
    NotBytes(String),
    /// It could not be read.
    #[error(transparent)]
    Failed(#[from] ElementError),
}

/// The first bytes of a stream.
#[derive(Clone, Debug)]
pub struct Peeked {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// There are no more than these.
    pub whole: bool,
}

/// What an element may ask while it answers `enum_caps`.
pub struct CapsQuery<'a> {
    /// The caps of the pad's template.
    pub template: &'a Caps,
    /// The pad's name, such as `video_0`; empty where it is asked without a graph around it.
    pub name: &'a str,
    /// Gives the first bytes that will arrive on sink pad 0: at most so many.
    pub peek: &'a dyn Fn(usize) -> Result<Peeked, PeekError>,
    /// Set by an element whose answers are all that its pad can have, also if there are none. Without
    /// it no answer where the template is ANY means ANY.
    pub closed: &'a core::cell::Cell<bool>,
}

impl CapsQuery<'_> {
    /// Answers with the structures of caps that a property gave: ANY says nothing, EMPTY allows
    /// nothing.
    pub fn answer(&self, caps: &Caps, index: u32) -> Option<Structure> {
        self.closed.set(!caps.is_any());
        caps.structures().get(index as usize).cloned()
    }
}

/// Marker of what a class says about caps: kept apart so that inspection can print it.
#[derive(Clone, Debug)]
pub struct CapsTerms {
    /// How caps cross it.
    pub flow: Flow,
    /// Whether none of its offers is poorer than another (see [`Element::MADE_UP`]).
    pub made_up: bool,
    /// Its pads.
    pub pads: Vec<PadTemplate>,
}

/// Chooses one value of each field: what `other` has where that is possible, else the first or
/// lowest.
pub fn keep_values(caps: &Structure, other: Option<&Structure>) -> Structure {
    let mut kept = caps.clone();
    if let Some(other) = other {
        for name in caps.names() {
            let both = match (caps.get_named(&name), other.get_named(&name)) {
                (Some(own), Some(other)) => own.intersect(other),
                _ => None,
            };
            if let Some(both) = both {
                // The field is there already, so no limit can be passed.
                let _ = kept.set(name.as_str(), both);
            }
        }
    }
    kept.fixated()
}

/// What inspection tells of a property.
#[derive(Clone, Debug)]
pub struct PropertyInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it accepts.
    pub kind: PropertyKind,
    /// Its value unless set.
    pub default: PropertyValue,
}

/// A value for a property, checked against what it accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    index: usize,
    value: Box<PropertyValue>,
}

impl Setting {
    fn new(index: usize, value: PropertyValue) -> Setting {
        let value = Box::new(value);
        Setting { index, value }
    }
}

/// What inspection tells of properties.
fn infos<T>(list: &[Property<T>], default: &T) -> impl Iterator<Item = PropertyInfo> {
    let info = |p: &Property<T>| PropertyInfo {
        name: p.name,
        about: p.about,
        kind: p.kind,
        default: (p.get)(default),
    };
    list.iter().map(info).collect::<Vec<_>>().into_iter()
}

/// The properties of an element's pool, if it has one.
fn bounds_of<T: Element>() -> Vec<Property<PoolBounds>> {
    match T::OWNS_POOL {
        true => PoolBounds::properties().into(),
        false => Vec::new(),
    }
}

/// Sets one property of a component.
fn set<T: Component<Mutability = Mutable>>(
    entity: &mut EntityWorldMut<'_>,
    property: &Property<T>,
    value: PropertyValue,
) {
    if let Some(mut settings) = entity.get_mut::<T>() {
        (property.set)(&mut settings, value);
    }
}

type Live = Option<Arc<dyn Any + Send + Sync>>;
type Answer<T> = Result<T, ElementError>;
type Opened = Option<Answer<Box<dyn Work>>>;

/// A registered element class.
#[derive(Clone)]
pub struct ElementClass {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its kind.
    pub klass: &'static str,
    /// How caps cross it, and its pads.
    pub terms: CapsTerms,
    /// Its properties.
    pub properties: Vec<PropertyInfo>,
    /// GStreamer's properties that are accepted and do nothing.
    pub ignored: &'static [&'static str],
    insert: fn(&mut EntityWorldMut<'_>),
    set: fn(&mut EntityWorldMut<'_>, usize, PropertyValue),
    get: fn(EntityRef<'_>, usize) -> Option<PropertyValue>,
    enum_caps: fn(EntityRef<'_>, &CapsQuery<'_>, PadAt, u32) -> Answer<Option<Structure>>,
    transform_caps: fn(EntityRef<'_>, PadAt, PadAt, &Structure, u32) -> Option<Transformed>,
    fixate: fn(EntityRef<'_>, PadAt, &Structure, Option<&Structure>) -> Option<Structure>,
    fixate_set: fn(EntityRef<'_>, &Structure, &[Option<&Structure>]) -> Option<Structure>,
    sync_terms: fn(EntityRef<'_>, usize) -> SyncTerms,
    accept_caps: fn(EntityRef<'_>, &PadCapsOf) -> Answer<()>,
    propose_pool: fn(EntityRef<'_>, PadAt, &PadCapsOf) -> Proposal,
    decide_pool: fn(EntityRef<'_>, &PadCapsOf, PoolConfig) -> Answer<Buffers>,
    pool_backing: fn(EntityRef<'_>) -> Option<Box<dyn Backing>>,
    retains: fn(EntityRef<'_>, PadAt) -> u32,
    takes_for: fn(EntityRef<'_>, PadAt, &PadCapsOf, u64, usize) -> Option<u64>,
    pub(crate) apart: fn(EntityRef<'_>, &PadCapsOf) -> Option<u64>,
    waits: fn(EntityRef<'_>) -> Waits,
    outside: fn(EntityRef<'_>) -> u32,
    memory: fn(EntityRef<'_>, &PadCapsOf) -> u64,
    may_be_silent: fn(EntityRef<'_>) -> bool,
    is_live: fn(EntityRef<'_>) -> bool,
    /// It fills buffers of a pool: it has [`PoolBounds`].
    pub owns_pool: bool,
    /// See [`Element::LENDS`].
    pub lends: bool,
    /// See [`Element::PROPOSED`].
    pub(crate) proposed: bool,
    link_capacity: fn(EntityRef<'_>) -> Option<u32>,
    queue_limits: fn(EntityRef<'_>) -> Option<QueueLimits>,
    serves: fn(EntityRef<'_>) -> bool,
    peek: fn(EntityRef<'_>, usize) -> Answer<Option<Vec<u8>>>,
    sink_terms: fn(EntityRef<'_>) -> SinkTerms,
    latency: fn(EntityRef<'_>, &PadCapsOf) -> Latency,
    live: fn(EntityRef<'_>) -> Live,
    /// Properties that can be set in READY only.
    pub ready_only: &'static [&'static str],
    open: fn(EntityRef<'_>) -> Opened,
    settle: Option<fn(&mut EntityWorldMut<'_>) -> Option<CapsTerms>>,
}

impl core::fmt::Debug for ElementClass {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ElementClass")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Whether a property could be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// It is set.
    Set,
    /// GStreamer has it; here it is accepted and does nothing.
    Ignored,
}

impl ElementClass {
    /// The class of `T`.
    pub(crate) fn of<T: Element>() -> ElementClass {
        let default = T::default();
        ElementClass {
            name: T::NAME,
            summary: T::SUMMARY,
            klass: T::KLASS,
            terms: CapsTerms {
                flow: T::FLOW,
                made_up: T::MADE_UP,
                pads: T::pads(),
            },
            properties: infos(&T::properties(), &default)
                .chain(infos(&bounds_of::<T>(), &PoolBounds::default()))
                .collect(),
            ignored: T::IGNORED,
            insert: |entity| {
                entity.insert(T::default());
                if T::OWNS_POOL {
                    entity.insert(PoolBounds::default());
                }
            },
            set: |entity, index, value| {
                let own = T::properties();
                match index.checked_sub(own.len()) {
                    None => set(entity, &own[index], value),
                    Some(at) => {
                        if let Some(bound) = bounds_of::<T>().get(at) {
                            set(entity, bound, value);
                        }
                    }
                }
            },
            get: |entity, index| {
                let own = T::properties();
                match index.checked_sub(own.len()) {
                    None => Some((own[index].get)(entity.get::<T>()?)),
                    Some(at) => Some((bounds_of::<T>().get(at)?.get)(entity.get()?)),
                }
            },
            enum_caps: |entity, query, pad, index| match entity.get::<T>() {
                Some(settings) => settings.enum_caps(query, pad, index),
                None => Ok(None),
            },
            transform_caps: |entity, from, to, caps, index| {
                entity.get::<T>()?.transform_caps(from, to, caps, index)
            },
            fixate: |entity, pad, caps, other| Some(entity.get::<T>()?.fixate(pad, caps, other)),
            fixate_set: |entity, caps, inputs| Some(entity.get::<T>()?.fixate_set(caps, inputs)),
            sync_terms: |entity, inputs| match entity.get::<T>() {
                Some(settings) => settings.sync_terms(inputs),
                None => SyncTerms::default(),
            },
            accept_caps: |entity, pads| match entity.get::<T>() {
                Some(settings) => settings.accept_caps(pads),
                None => Ok(()),
            },
            propose_pool: |entity, pad, pads| {
                entity
                    .get::<T>()
                    .map_or(Proposal::default(), |s| s.propose_pool(pad, pads))
            },
            pool_backing: |entity| entity.get::<T>().and_then(Element::pool_backing),
            takes_for: |entity, pad, pads, outputs, bytes| match entity.get::<T>() {
                Some(settings) => settings.takes_for(pad, pads, outputs, bytes),
                None => Some(outputs),
            },
            apart: |entity, pads| entity.get::<T>().and_then(|s| s.apart(pads)),
            memory: |entity, pads| entity.get::<T>().map_or(0, |s| s.memory(pads)),
            waits: |entity| entity.get::<T>().map_or(Waits::default(), Element::waits),
            outside: |entity| entity.get::<T>().map_or(0, Element::outside),
            may_be_silent: |entity| entity.get::<T>().is_some_and(Element::may_be_silent),
            is_live: |entity| entity.get::<T>().is_some_and(Element::is_live),
            owns_pool: T::OWNS_POOL,
            lends: T::LENDS,
            proposed: T::PROPOSED,
            decide_pool: |entity, pads, downstream| match entity.get::<T>() {
                Some(settings) => settings.decide_pool(pads, downstream),
                None => Ok(Buffers::Passed),
            },
            retains: |entity, pad| entity.get::<T>().map_or(0, |s| s.retains(pad)),
            link_capacity: |entity| entity.get::<T>().and_then(Element::link_capacity),
            queue_limits: |entity| entity.get::<T>().and_then(Element::queue_limits),
            serves: |entity| entity.get::<T>().is_some_and(Element::serves),
            peek: |entity, max| match entity.get::<T>() {
                Some(settings) => settings.peek(max),
                None => Ok(None),
            },
            sink_terms: |entity| {
                let element = entity.get::<T>();
                element.map_or_else(SinkTerms::default, Element::sink_terms)
            },
            latency: |entity, pads| {
                let element = entity.get::<T>();
                element.map_or_else(Latency::default, |e| e.latency(pads))
            },
            live: |entity| entity.get::<T>().and_then(Element::live),
            ready_only: T::READY_ONLY,
            open: |entity| entity.get::<T>().map(Element::open),
            settle: T::SETTLES.then_some(|entity| {
                let registry = entity.world().get_resource::<Registry>().cloned();
                entity.get_mut::<T>()?.settle(&registry?)
            }),
        }
    }

    /// Gives an entity this class and its settings, all at their defaults.
    pub fn insert(self: &Arc<Self>, entity: &mut EntityWorldMut<'_>) {
        entity.insert(ClassRef(Arc::clone(self)));
        (self.insert)(entity);
    }

    /// See [`Element::enum_caps`].
    ///
    /// # Errors
    /// The element's.
    pub fn enum_caps(
        &self,
        entity: EntityRef<'_>,
        query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Answer<Option<Structure>> {
        (self.enum_caps)(entity, query, pad, index)
    }

    /// See [`Element::transform_caps`].
    pub fn transform_caps(
        &self,
        entity: EntityRef<'_>,
        from: PadAt,
        to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        (self.transform_caps)(entity, from, to, caps, index)
    }

    /// See [`Element::fixate`].
    pub fn fixate(
        &self,
        entity: EntityRef<'_>,
        pad: PadAt,
        caps: &Structure,
        other: Option<&Structure>,
    ) -> Structure {
        (self.fixate)(entity, pad, caps, other).unwrap_or_else(|| keep_values(caps, other))
    }

    /// See [`Element::accept_caps`].
    ///
    /// # Errors
    /// The element's.
    pub fn accept_caps(&self, entity: EntityRef<'_>, pads: &PadCapsOf) -> Answer<()> {
        (self.accept_caps)(entity, pads)
    }

    /// See [`Element::propose_pool`].
    pub fn propose_pool(&self, entity: EntityRef<'_>, pad: PadAt, pads: &PadCapsOf) -> Proposal {
        (self.propose_pool)(entity, pad, pads)
    }

    /// See [`Element::pool_backing`].
    pub fn pool_backing(&self, entity: EntityRef<'_>) -> Option<Box<dyn Backing>> {
        (self.pool_backing)(entity)
    }

    /// See [`Element::takes_for`].
    pub fn takes_for(
        &self,
        entity: EntityRef<'_>,
        pad: PadAt,
        pads: &PadCapsOf,
        outputs: u64,
        bytes: usize,
    ) -> Option<u64> {
        (self.takes_for)(entity, pad, pads, outputs, bytes)
    }

    /// See [`Element::memory`].
    pub fn memory(&self, entity: EntityRef<'_>, pads: &PadCapsOf) -> u64 {
        (self.memory)(entity, pads)
    }

    /// See [`Element::waits`].
    pub fn waits(&self, entity: EntityRef<'_>) -> Waits {
        (self.waits)(entity)
    }

    /// See [`Element::outside`].
    pub fn outside(&self, entity: EntityRef<'_>) -> u32 {
        (self.outside)(entity)
    }

    /// See [`Element::is_live`].
    pub fn is_live(&self, entity: EntityRef<'_>) -> bool {
        (self.is_live)(entity)
    }

    /// See [`Element::may_be_silent`].
    pub fn may_be_silent(&self, entity: EntityRef<'_>) -> bool {
        (self.may_be_silent)(entity)
    }

    /// See [`Element::decide_pool`].
    ///
    /// # Errors
    /// The element's.
    pub fn decide_pool(
        &self,
        entity: EntityRef<'_>,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Answer<Buffers> {
        (self.decide_pool)(entity, pads, downstream)
    }

    /// See [`Element::fixate_set`].
    pub fn fixate_set(
        &self,
        entity: EntityRef<'_>,
        caps: &Structure,
        inputs: &[Option<&Structure>],
    ) -> Structure {
        let set = (self.fixate_set)(entity, caps, inputs);
        set.unwrap_or_else(|| keep_values(caps, inputs.first().copied().flatten()))
    }

    /// See [`Element::sync_terms`].
    pub fn sync_terms(&self, entity: EntityRef<'_>, inputs: usize) -> SyncTerms {
        (self.sync_terms)(entity, inputs)
    }

    /// See [`Element::retains`].
    pub fn retains(&self, entity: EntityRef<'_>, pad: PadAt) -> u32 {
        (self.retains)(entity, pad)
    }

    /// See [`Element::link_capacity`].
    pub fn link_capacity(&self, entity: EntityRef<'_>) -> Option<u32> {
        (self.link_capacity)(entity)
    }

    /// See [`Element::queue_limits`].
    pub fn queue_limits(&self, entity: EntityRef<'_>) -> Option<QueueLimits> {
        (self.queue_limits)(entity)
    }

    /// See [`Element::serves`].
    pub fn serves(&self, entity: EntityRef<'_>) -> bool {
        (self.serves)(entity)
    }

    /// See [`Element::peek`].
    ///
    /// # Errors
    /// The element's.
    pub fn peek(&self, entity: EntityRef<'_>, max: usize) -> Answer<Option<Vec<u8>>> {
        (self.peek)(entity, max)
    }

    /// See [`Element::sink_terms`].
    pub fn sink_terms(&self, entity: EntityRef<'_>) -> SinkTerms {
        (self.sink_terms)(entity)
    }

    /// See [`Element::latency`].
    pub fn latency(&self, entity: EntityRef<'_>, pads: &PadCapsOf) -> Latency {
        (self.latency)(entity, pads)
    }

    /// See [`Element::live`].
    pub fn live(&self, entity: EntityRef<'_>) -> Option<Arc<dyn Any + Send + Sync>> {
        (self.live)(entity)
    }

    /// See [`Element::open`].
    ///
    /// # Errors
    /// The element's.
    pub fn open(&self, entity: EntityRef<'_>) -> Answer<Box<dyn Work>> {
        (self.open)(entity).unwrap_or_else(|| Ok(Box::new(super::PassThrough)))
    }
}
