//! Pads as an element's class describes them. Plain data.

use tickpipe_components::caps::Caps;
use tickpipe_components::graph::{Direction, Presence, Transport};

/// A pad as a class sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PadAt {
    /// Which way it passes buffers.
    pub direction: Direction,
    /// Its number among the pads of that direction.
    pub index: usize,
}

impl PadAt {
    /// A sink pad.
    pub const fn sink(index: usize) -> PadAt {
        PadAt {
            direction: Direction::Sink,
            index,
        }
    }

    /// A source pad.
    pub const fn source(index: usize) -> PadAt {
        PadAt {
            direction: Direction::Source,
            index,
        }
    }

    /// Whether it is a sink pad.
    pub fn is_sink(self) -> bool {
        self.direction == Direction::Sink
    }
}

/// The names of an element's linked pads, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PadNames {
    /// Of its sink pads.
    pub sinks: Vec<String>,
    /// Of its source pads.
    pub sources: Vec<String>,
}

/// The template of a pad.
#[derive(Clone, Debug)]
pub struct PadTemplate {
    /// Its name, or with `%u` for the number of a pad made on request.
    pub name: &'static str,
    /// Which way it passes buffers.
    pub direction: Direction,
    /// When it exists.
    pub presence: Presence,
    /// What it can ever have.
    pub caps: Caps,
    /// How bytes can get over its link, best first.
    pub transports: &'static [Transport],
}

impl PadTemplate {
    /// A sink pad that is always there.
    pub fn sink(name: &'static str, caps: Caps) -> PadTemplate {
        PadTemplate {
            name,
            direction: Direction::Sink,
            presence: Presence::Always,
            caps,
            transports: &[Transport::Push],
        }
    }

    /// A source pad that is always there.
    pub fn source(name: &'static str, caps: Caps) -> PadTemplate {
        PadTemplate {
            direction: Direction::Source,
            ..PadTemplate::sink(name, caps)
        }
    }

    /// The same, over which what follows can also pull: a source pad that serves, or a sink pad that
    /// reads by position. Pulling is preferred.
    ///
    /// Who pulls does so on its only linked sink pad, and who serves does it on its only source pad.
    pub fn pulls(self) -> PadTemplate {
        self.over(&[Transport::Pull, Transport::Push])
    }

    /// The same, with these transports, best first.
    pub fn over(self, transports: &'static [Transport]) -> PadTemplate {
        PadTemplate { transports, ..self }
    }

    /// What a link from this pad to another can be, best first for the one that is fed.
    pub fn common_transports(&self, to: &PadTemplate) -> impl Iterator<Item = Transport> {
        let both = to.transports.iter().copied();
        let own = self.transports;
        both.filter(move |t| own.contains(t))
    }

    /// The same, made on request.
    pub fn on_request(self) -> PadTemplate {
        PadTemplate {
            presence: Presence::Request,
            ..self
        }
    }
}
