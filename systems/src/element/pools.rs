//! What elements say about pools: where their buffers come from, what they would like to be given,
//! and the two properties that every element with a pool of its own takes.

use super::property::Property;
use crate::field;
use bevy_ecs::component::Component;
use tickpipe_components::pool::PoolConfig;

/// Where an element's buffers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// It passes on what it gets, or emits nothing.
    Passed,
    /// It passes on what it gets, or views of it ([`Process::push_view`](super::Process::push_view)): the same
    /// bytes with other times.
    Views,
    /// It writes into what it gets on sink pad 0, and copies only what another holds too; the
    /// configuration is that of a copy.
    InPlace(PoolConfig),
    /// It fills buffers of its own pool, or of one that downstream offers.
    Own(PoolConfig),
}

/// What a sink pad would like to be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// The buffers.
    pub config: PoolConfig,
    /// The element has a pool of such buffers, and offers it: whoever fills them takes them from
    /// there.
    pub pool: bool,
}

impl Proposal {
    /// What satisfies two proposals.
    pub fn merge(self, other: Proposal) -> Proposal {
        Proposal {
            config: self.config.merge(other.config),
            pool: self.pool || other.pool,
        }
    }
}

impl From<PoolConfig> for Proposal {
    fn from(config: PoolConfig) -> Proposal {
        Proposal {
            config,
            pool: false,
        }
    }
}

/// Bounds on the pool of an element, from its properties `min-buffers` and `max-buffers`. Every
/// element with [`Element::OWNS_POOL`](super::Element::OWNS_POOL) has it beside its settings.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolBounds {
    /// Buffers that the element needs for itself, besides what others keep; 0 leaves that to it.
    pub min: u32,
    /// Most buffers of its pool; 0 for no bound.
    pub max: u32,
}

impl PoolBounds {
    /// The properties that set it.
    pub(super) fn properties() -> [Property<PoolBounds>; 2] {
        [
            field!(
                Int(0, 65_536),
                "min-buffers",
                "Buffers that it needs for itself, besides those that others keep; 0 leaves it to the element",
                min
            ),
            field!(
                Int(0, 65_536),
                "max-buffers",
                "Most buffers of its pool; 0 for no bound but the limit pool-buffers",
                max
            ),
        ]
    }
}
