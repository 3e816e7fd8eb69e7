//! What travels between elements besides buffers. Plain data.
//!
//! | event | direction | in order with buffers |
//! |---|---|---|
//! | segment, tag, gap, custom | downstream | yes |
//! | caps, the end | downstream | yes; they are items of their own, see [`Item`](crate::fabric::Item) |
//! | quality, custom | upstream | no: at once, before any element of the tick runs |
//! | flush, seek | – | no: an action of the command phase, on all that it concerns at once |
//!
//! A stream in which no segment came has the [default one](Segment::default).

use crate::digest::StateVisitor;
use crate::time::{Segment, TimeBase};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Which part of the stream follows, and how its times map to running and stream time
    /// (DirectShow: NewSegment precedes the samples of a segment).
    Segment(Segment),
    /// What is known of the stream: title, language, bit rate.
    Tag(Arc<Tags>),
    /// An interval without content: nobody has to wait for a buffer of it.
    Gap(Gap),
    /// Something that only those know who use it.
    Custom(Arc<Custom>),
    /// From a sink with a deadline to those upstream: how well it is kept.
    Quality(Quality),
}

/// Names and values, in order of the names.
pub type Tags = BTreeMap<String, String>;

/// An interval without content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its first instant.
    pub start: i64,
    /// How long it is, if that is known.
    pub duration: Option<i64>,
    /// The unit of both.
    pub time_base: TimeBase,
}

/// An event of somebody's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// What it is.
    pub name: String,
    /// What it says, in order of the names.
    pub fields: BTreeMap<String, String>,
}

/// Whether what is late is too much, or there is time left (DirectShow: Famine and Flood).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QualityKind {
    /// Buffers come too late: send less.
    TooLate,
    /// Buffers come before their time: more can be sent.
    Early,
}

/// How well a sink keeps its deadlines (DirectShow: quality message; GStreamer: QoS event).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Which way it is off.
    pub kind: QualityKind,
    /// What part of the rate can be kept, in thousandths: 1000 is fine, 500 is half.
    pub proportion: u32,
    /// How late the buffer came, in nanoseconds; negative is early.
    pub jitter: i64,
    /// The running time at which it should have been shown, in nanoseconds.
    pub timestamp: i64,
}

impl Event {
    /// Its stable name.
    pub const fn name(&self) -> &'static str {
        match self {
            Event::Segment(_) => "segment",
            Event::Tag(_) => "tag",
            Event::Gap(_) => "gap",
            Event::Custom(_) => "custom",
            Event::Quality(_) => "quality",
        }
    }

    /// Shows all of it.
    pub fn visit(&self, visitor: &mut dyn StateVisitor) {
        visitor.bytes("event", self.name().as_bytes());
        match self {
            Event::Segment(segment) => segment.visit(visitor),
            Event::Tag(tags) => fields(tags, visitor),
            Event::Gap(gap) => {
                visitor.signed("start", gap.start);
                visitor.signed("duration", gap.duration.unwrap_or(-1));
                visitor.unsigned("num", gap.time_base.num().into());
                visitor.unsigned("den", gap.time_base.den().into());
            }
            Event::Custom(custom) => {
                visitor.bytes("name", custom.name.as_bytes());
                fields(&custom.fields, visitor);
            }
            Event::Quality(quality) => {
                visitor.flag("late", quality.kind == QualityKind::TooLate);
                visitor.unsigned("proportion", quality.proportion.into());
                visitor.signed("jitter", quality.jitter);
                visitor.signed("timestamp", quality.timestamp);
            }
        }
    }
}

fn fields(fields: &BTreeMap<String, String>, visitor: &mut dyn StateVisitor) {
    for (name, value) in fields {
        visitor.bytes("name", name.as_bytes());
        visitor.bytes("value", value.as_bytes());
    }
}
