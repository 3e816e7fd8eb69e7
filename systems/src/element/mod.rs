//! How an element is written: one settings component, one work object, and hooks with defaults.
//!
//! An element is a typed component (its *settings*: what its properties say, there to be queried
//! at any time) that implements [`Element`], and a [`Work`] that it makes when it leaves READY
//! and that is dropped when it returns there. So a second run starts like the first by
//! construction. Registering the component ([`Registry::register`]) gives it dispatch,
//! properties, inspection, digests and documentation; no other file of the framework changes.

mod class;
mod pad;
mod pools;
mod process;
mod property;
mod registry;
mod sets;
mod transformed;
mod work;

pub use class::{
    CapsQuery, CapsTerms, ElementClass, Flow, PeekError, Peeked, PropertyInfo, SetOutcome, Setting,
    keep_values,
};
pub use pad::{PadAt, PadNames, PadTemplate};
pub use pools::{Buffers, PoolBounds, Proposal};
pub use process::Process;
pub(crate) use process::{Beside, Now, Offers};
pub use property::Property;
pub use registry::{ClassRef, Registry, RegistryError};
pub use sets::{
    Pair, SetStamp, SyncSettings, Synchronises, each_pair, each_set, each_set_lent, pass_first,
    shortest, strict, sync_properties, writable,
};
pub use transformed::{Fields, Transformed};
pub use work::{Handled, PadCapsOf, PassThrough, Seeking, Work};

use bevy_ecs::component::{Component, Mutable};
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Structure;
use tickpipe_components::fabric::{Latency, QueueLimits, SinkTerms};
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::{Backing, PoolConfig};
use tickpipe_components::sync::{OutBase, SyncTerms};

/// What an element waits for before it can run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waits {
    /// An item on any sink pad; a synchroniser's set where [`Flow::synchronises`].
    #[default]
    Any,
    /// An item on the sink pad that it names ([`Process::wait_for_input`]), for it compares them
    /// all; any before it named one.
    All,
}

/// An element's settings and its answers while graphs are planned.
///
/// Everything here is a pure function of the settings and of what is asked: planning calls it
/// without starting anything. What runs is the [`Work`] that [`Element::open`] makes.
pub trait Element: Component<Mutability = Mutable> + Default {
    /// The name in launch lines, GStreamer's where the thing is the same.
    const NAME: &'static str;
    /// What it does, in a sentence.
    const SUMMARY: &'static str;
    /// Its kind, such as `Source/Video`.
    const KLASS: &'static str;
    /// How caps cross it.
    const FLOW: Flow;
    /// It fills buffers of a pool. Then it takes the properties `min-buffers` and `max-buffers`,
    /// which are kept in [`PoolBounds`] beside its settings.
    const OWNS_POOL: bool = false;
    /// Of a converter: whether it is proposed where a graph finds no caps. One that does more than
    /// convert is not.
    const PROPOSED: bool = true;
    /// What it offers is made up, so that none of its choices is poorer than another: a source of
    /// test pictures loses nothing by making small or grey ones.
    const MADE_UP: bool = false;
    /// Writable properties that GStreamer has on an element of this name, and that are accepted
    /// here with a warning and do nothing.
    const IGNORED: &'static [&'static str] = &[];
    /// How caps cross it depends on its settings: see [`Element::settle`].
    const SETTLES: bool = false;

    /// Called after a property was set, of an element with [`Element::SETTLES`]: it may look for
    /// other classes. What it answers holds for this one element in place of its class's terms; pads
    /// are as many, in the same order, and have the same names.
    fn settle(&mut self, registry: &Registry) -> Option<CapsTerms> {
        let _ = registry;
        None
    }

    /// Its pads: sinks first, then sources.
    fn pads() -> Vec<PadTemplate>;

    /// Its properties.
    fn properties() -> Vec<Property<Self>> {
        Vec::new()
    }

    /// What a pad can do, one structure an index from 0, best first; `None` is the end.
    ///
    /// The default answers with the pad's template.
    ///
    /// # Errors
    /// What made the answer impossible, such as a file that cannot be read.
    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        let _ = pad;
        Ok(query.template.structures().get(index as usize).cloned())
    }

    /// What `to` can have when `from` has `caps`, one answer an index from 0 until there are no
    /// more. Each says which fields are tied and what it costs; it must hold for every value that
    /// `caps` allows.
    ///
    /// Asked only of elements with [`Flow::Convert`], of each sink pad towards each source pad with
    /// what `enum_caps` says of the sink pad, and of [`Flow::Lead`] and [`Flow::Sets`] from sink pad
    /// 0 towards the others. The default ties everything.
    fn transform_caps(
        &self,
        from: PadAt,
        to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let _ = (from, to);
        (index == 0).then(|| Transformed::same(caps.clone()))
    }

    /// Chooses among what is left for a pad. `other` is what was fixed already on the pad that
    /// this one follows from. The default takes the first of each list and the lowest of each
    /// range, and keeps what `other` has where that is possible.
    fn fixate(&self, pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        let _ = pad;
        keep_values(caps, other)
    }

    /// Of an element with [`Flow::Sets`]: chooses among what is left for its source pad, given what was
    /// fixed on each sink pad. The default is [`Element::fixate`] with the first.
    fn fixate_set(&self, caps: &Structure, inputs: &[Option<&Structure>]) -> Structure {
        let first = inputs.first().copied().flatten();
        self.fixate(PadAt::source(0), caps, first)
    }

    /// Of an element whose inputs are synchronised, with so many of them linked: the rules.
    fn sync_terms(&self, inputs: usize) -> SyncTerms {
        let _ = inputs;
        SyncTerms::dual(OutBase::First)
    }

    /// Checks what was agreed, before anything is allocated. Sinks are asked first.
    ///
    /// # Errors
    /// Why these caps cannot be worked with.
    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let _ = pads;
        Ok(())
    }

    /// The buffers that a sink pad would like to be given, and whether it has a pool of them to
    /// offer. What passes buffers on has what is downstream of it added by the framework.
    fn propose_pool(&self, pad: PadAt, pads: &PadCapsOf) -> Proposal {
        let _ = (pad, pads);
        Proposal::default()
    }

    /// Where the buffers of its source pads come from, given what downstream proposes. It answers
    /// with what it needs and what was proposed, [merged](PoolConfig::merge). What it answers is
    /// put to the pool's owner ([`Backing::set_config`]), who may grant other values.
    ///
    /// # Errors
    /// Why no buffer can hold what was agreed.
    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let _ = (pads, downstream);
        Ok(Buffers::Passed)
    }

    /// What backs the pool that it fills or offers; `None` is the heap. An element that answers
    /// fills no other pool.
    fn pool_backing(&self) -> Option<Box<dyn Backing>> {
        None
    }

    /// Bytes that its work allocates for itself once it has caps, where they are many.
    fn memory(&self, pads: &PadCapsOf) -> u64 {
        let _ = pads;
        0
    }

    /// How many items of work it hands over at most at one time
    /// ([`Process::hand`]); 0 if it hands over none.
    fn outside(&self) -> u32 {
        0
    }

    /// What it waits for before it can run.
    fn waits(&self) -> Waits {
        Waits::Any
    }

    /// Of a source: whether it may never say anything, so that nobody waits for it.
    fn may_be_silent(&self) -> bool {
        false
    }

    /// Of a source: whether it gives data only in PLAYING, and at the pace at which it comes. Then
    /// PAUSED is complete without any.
    fn is_live(&self) -> bool {
        false
    }

    /// How many buffers of `bytes` it takes in on a sink pad, at the worst, before it has let
    /// `outputs` go; `None` if it may never. The default is one each beyond what it retains.
    fn takes_for(&self, pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        let _ = (pads, bytes);
        Some(outputs + u64::from(self.retains(pad)))
    }

    /// Of an element that gives each buffer to one of its source pads: how many it emits on one, at
    /// most, before there is one on another that waits for it. `None` if it gives to all alike.
    fn apart(&self, pads: &PadCapsOf) -> Option<u64> {
        let _ = pads;
        None
    }

    /// How many buffers of a sink pad it keeps before it lets one go.
    fn retains(&self, pad: PadAt) -> u32 {
        let _ = pad;
        0
    }

    /// How many buffers its links hold, where that is a setting of its own (a queue's size); 0 is
    /// as many as the limit `queue-buffers` allows.
    fn link_capacity(&self) -> Option<u32> {
        None
    }

    /// Of a queue: how much it holds, by buffers, bytes and time, and what it does when it is full.
    /// That takes effect in the queue itself, also while it runs.
    fn queue_limits(&self) -> Option<QueueLimits> {
        None
    }

    /// The first bytes that it would emit, for planning: at most `max`. Asked of sources; what
    /// passes buffers on unchanged is skipped by the asker.
    ///
    /// # Errors
    /// Why they cannot be read; `Ok(None)` if it is no source of bytes.
    fn peek(&self, max: usize) -> Result<Option<Vec<u8>>, ElementError> {
        let _ = max;
        Ok(None)
    }

    /// Of a source whose pad [can be pulled over](PadTemplate::pulls): whether it can serve, as it is
    /// set. A pipe cannot be read by position.
    fn serves(&self) -> bool {
        false
    }

    /// What its work is told when a property is set while it runs ([`Work::update`]), mostly a
    /// copy of the settings. `None`: the work does not care; such a property counts for
    /// negotiation at once, and for the work from the next start on.
    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// Of a sink: how it keeps time when the clock is not `free`.
    fn sink_terms(&self) -> SinkTerms {
        SinkTerms::default()
    }

    /// How much later things leave it than they came, in nanoseconds, and for how long it can hold
    /// them; of a live source how much later they come than they happen.
    fn latency(&self, pads: &PadCapsOf) -> Latency {
        let _ = pads;
        Latency::default()
    }

    /// Buffers that it keeps may be with somebody outside, who gives them back at any time
    /// ([`Work::awaited`] is asked in every tick).
    const LENDS: bool = false;

    /// Properties that can be set in READY only, such as the file that it has open.
    const READY_ONLY: &'static [&'static str] = &[];

    /// READY to PAUSED: opens what it works with.
    ///
    /// # Errors
    /// Why it cannot start; the graph stays where it is and says so.
    fn open(&self) -> Result<Box<dyn Work>, ElementError>;
}
