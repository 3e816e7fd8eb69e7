//! `remote`: runs a transform in a child process, with the same bytes as in this one. What crashes,
//! hangs or takes all memory there costs that element, or a frame, and no more.
//!
//! Caps and pools are agreed here, as if the transform were in its place; only its work is done by the
//! child. Frames go through shared memory, control over a socket pair.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! video/x-raw,format=I420 ! remote transform=videoconvert ! video/x-raw,format=RGBA ! fakesink'`

mod apply;
mod child;
mod inner;
mod link;
mod messages;
mod mirror;
mod proxy;
mod serve;
mod shared;
#[cfg(test)]
mod tests;
mod wire;

pub use child::{CHILD_ARGUMENT, CHILD_VARIABLE, ChildError, End};
pub use inner::InnerError;
pub use serve::{ServeError, is_child, serve};

use crate::element::{
    Buffers, CapsQuery, CapsTerms, Element, Flow, PadAt, PadCapsOf, PadTemplate, Property,
    Proposal, Registry, RegistryError, Transformed, Work,
};
use bevy_ecs::component::Component;
use inner::Inner;
use link::{Link, Terms};
use std::sync::Arc;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::Choice;

/// Registers the elements of this folder.
///
/// # Errors
/// [`RegistryError::Taken`] if a name is registered already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<Remote>()
}

/// When a child that is of no use any more is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// Never: that is the element's error.
    #[default]
    Never,
    /// So often as `max-restarts` says.
    OnFailure,
    /// Always, unless three in a row do nothing.
    Always,
}

/// What becomes of the buffer on which a child failed, where another child is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCrash {
    /// It is dropped, and counted with the reason.
    #[default]
    Drop,
    /// It is given to the new child once, and dropped if that fails too.
    Retry,
}

macro_rules! choices {
    ($type:ident, $list:ident: $($number:literal $variant:ident = $name:literal),+) => {
        const $list: &[Choice] = &[$(Choice { number: $number, name: $name }),+];
        impl $type {
            /// Its name as a property.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            fn from_name(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$variant),)+ _ => None }
            }
        }
    };
}

choices!(Restart, RESTART: 0 Never = "never", 1 OnFailure = "on-failure", 2 Always = "always");
choices!(OnCrash, ON_CRASH: 0 Drop = "drop", 1 Retry = "retry");

/// Settings of `remote`.
#[derive(Component, Clone, Debug)]
pub struct Remote {
    /// The launch text of the element that the child runs.
    pub transform: String,
    /// The program that is the child; empty for the one of this process.
    pub program: String,
    /// How long the child may take for one answer, in nanoseconds of wall time.
    pub time_limit: u64,
    /// The most bytes of address space of the child; 0 for no bound.
    pub max_memory: u64,
    /// When a child is replaced.
    pub restart: Restart,
    /// How often that is done, where it has a limit.
    pub max_restarts: u32,
    /// What becomes of the buffer on which a child failed.
    pub on_crash: OnCrash,
    /// The element, or what is wrong with its text.
    inner: Result<Arc<Inner>, InnerError>,
}

impl Default for Remote {
    fn default() -> Self {
        Remote {
            transform: String::new(),
            program: String::new(),
            time_limit: 5_000_000_000,
            max_memory: 0,
            restart: Restart::Never,
            max_restarts: 3,
            on_crash: OnCrash::Drop,
            inner: Err(InnerError::Missing),
        }
    }
}

impl Remote {
    fn inner(&self) -> Result<&Inner, ElementError> {
        let inner = self.inner.as_deref();
        inner.map_err(|e| ElementError::new(Domain::Core, Code::Settings, e.clone()))
    }
}

impl Element for Remote {
    const NAME: &'static str = "remote";
    const SUMMARY: &'static str = "Runs a transform in a child process";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const SETTLES: bool = true;
    const READY_ONLY: &'static [&'static str] = &[
        "max-memory",
        "max-restarts",
        "on-crash",
        "program",
        "restart",
        "time-limit",
        "transform",
    ];

    fn settle(&mut self, registry: &Registry) -> Option<CapsTerms> {
        self.inner = Inner::new(&self.transform, registry).map(Arc::new);
        Some(match &self.inner {
            Ok(inner) => CapsTerms {
                pads: inner.pads(),
                ..inner.class.terms.clone()
            },
            Err(_) => CapsTerms {
                flow: Self::FLOW,
                made_up: false,
                pads: Self::pads(),
            },
        })
    }

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(
                Text,
                "transform",
                "The element that the child runs, as on a launch line, with its properties",
                transform
            ),
            crate::field!(
                Text,
                "program",
                "The program that is the child; empty for the one that runs",
                program
            ),
            crate::field!(
                Int(1_000_000, 3_600_000_000_000),
                "time-limit",
                "How long the child may take for an answer, in nanoseconds of wall time",
                time_limit
            ),
            crate::field!(
                Int(0, i64::MAX),
                "max-memory",
                "The most address space of the child, in bytes; 0 for no bound",
                max_memory
            ),
            crate::field!(
                Choice(RESTART),
                "restart",
                "When a child that failed is replaced",
                restart: Restart
            ),
            crate::field!(
                Int(0, u32::MAX as i64),
                "max-restarts",
                "How often a child is replaced with restart=on-failure",
                max_restarts
            ),
            crate::field!(
                Choice(ON_CRASH),
                "on-crash",
                "What becomes of the buffer on which a child failed that is replaced",
                on_crash: OnCrash
            ),
        ]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        let inner = self.inner()?;
        inner.class.enum_caps(inner.settings(), query, pad, index)
    }

    fn transform_caps(
        &self,
        from: PadAt,
        to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let inner = self.inner.as_deref().ok()?;
        let class = &inner.class;
        class.transform_caps(inner.settings(), from, to, caps, index)
    }

    fn fixate(&self, pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        match self.inner.as_deref() {
            Ok(inner) => inner.class.fixate(inner.settings(), pad, caps, other),
            Err(_) => crate::element::keep_values(caps, other),
        }
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let inner = self.inner()?;
        inner.class.accept_caps(inner.settings(), pads)
    }

    fn propose_pool(&self, pad: PadAt, pads: &PadCapsOf) -> Proposal {
        let inner = self.inner.as_deref();
        inner.map_or_else(
            |_| Proposal::default(),
            |i| i.class.propose_pool(i.settings(), pad, pads),
        )
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let inner = self.inner()?;
        let decided = inner
            .class
            .decide_pool(inner.settings(), pads, downstream)?;
        Ok(match decided {
            // What is written in place there would have to be copied here anyway.
            Buffers::InPlace(config) => Buffers::Own(config),
            decided => decided,
        })
    }

    fn memory(&self, pads: &PadCapsOf) -> u64 {
        let inner = self.inner.as_deref();
        inner.map_or(0, |i| i.class.memory(i.settings(), pads))
    }

    fn takes_for(&self, pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        match self.inner.as_deref() {
            Ok(i) => i.class.takes_for(i.settings(), pad, pads, outputs, bytes),
            Err(_) => Some(outputs),
        }
    }

    fn retains(&self, pad: PadAt) -> u32 {
        let inner = self.inner.as_deref();
        inner.map_or(0, |i| i.class.retains(i.settings(), pad))
    }

    fn latency(&self, pads: &PadCapsOf) -> Latency {
        let inner = self.inner.as_deref();
        inner.map_or_else(
            |_| Latency::default(),
            |i| i.class.latency(i.settings(), pads),
        )
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let inner = self.inner()?;
        let terms = Terms {
            transform: self.transform.clone(),
            name: inner.class.name,
            program: self.program.clone(),
            time_limit: self.time_limit,
            max_memory: self.max_memory,
        };
        // The remote side is made first, and its refusal is this element's.
        let link = Link::open(terms)?;
        Ok(Box::new(proxy::Proxy::new(link, self)))
    }
}
