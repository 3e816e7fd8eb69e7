//! What a launch text says: elements, bins and links, each with the place it was written at.
//! Plain data; knows nothing of which elements exist. Touches nothing.

use std::collections::{BTreeMap, BTreeSet};

/// A place in a launch text: bytes `start..end`, both on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte; equal to `start` for a place between two characters.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// `key=value` as written, with the value's quotes and escapes taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertySpec {
    /// The key as written; may hold `::` (a property of a child, as `sink_0::xpos`).
    pub key: String,
    /// The value, unquoted.
    pub value: String,
    /// Where the key stands. For inline caps: where the caps stand.
    pub key_span: Span,
    /// Where the value stands, its quotes included.
    pub value_span: Span,
}

impl PropertySpec {
    /// The key with `_` read as `-` in its last part, as GObject looks properties up:
    /// `num_buffers` is `num-buffers`, `sink_0::z_order` is `sink_0::z-order`.
    #[must_use]
    pub fn canonical_key(&self) -> String {
        match self.key.rsplit_once("::") {
            Some((child, key)) => format!("{child}::{}", key.replace('_', "-")),
            None => self.key.replace('_', "-"),
        }
    }
}

/// One element. Caps written between two `!` are an element too: factory `capsfilter`, one
/// property `caps`, all spans those of the caps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementSpec {
    /// The element's type, as `videotestsrc`. Not checked against what exists.
    pub factory: String,
    /// Where the type is written.
    pub factory_span: Span,
    /// The name given with `name=` (the first one, if it comes twice), or set by [`assign_names`];
    /// never empty.
    pub name: Option<String>,
    /// Where the given name is written; `None` for an automatic one.
    pub name_span: Option<Span>,
    /// All properties but `name`, in the order written; if a key comes twice the last one holds.
    pub properties: Vec<PropertySpec>,
    /// The type and all properties.
    pub span: Span,
    /// Index into [`Description::bins`] of the bin it stands in; `None` for the pipeline itself.
    pub bin: Option<usize>,
}

impl ElementSpec {
    /// Whether it is caps between two links.
    pub(crate) fn is_inline(&self) -> bool {
        let mut properties = self.properties.iter();
        self.factory == "capsfilter"
            && self.factory_span == self.span
            && properties.any(|property| property.key_span == self.span)
    }
}

/// `( ... )` or `factory.( ... )`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinSpec {
    /// The bin's type: `bin` for a bare bracket.
    pub factory: String,
    /// Where the type is written, or the bracket.
    pub factory_span: Span,
    /// The name given with `name=`, or set by [`assign_names`]; never empty.
    pub name: Option<String>,
    /// Where the given name is written; `None` for an automatic one.
    pub name_span: Option<Span>,
    /// All properties but `name`, in the order written.
    pub properties: Vec<PropertySpec>,
    /// From the opening to the closing bracket, both included.
    pub span: Span,
    /// Index of the bin around it; less than its own index.
    pub parent: Option<usize>,
}

/// A pad named in a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PadName {
    /// The name as written, as `sink_1`.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// One end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Index into [`Description::elements`].
    pub element: usize,
    /// The pad, if the text names one; otherwise the engine chooses.
    pub pad: Option<PadName>,
    /// Where this end is written: the element's type, the reference, or the caps.
    pub span: Span,
}

/// One link, from a source pad to a sink pad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSpec {
    /// The end that data comes from.
    pub from: End,
    /// The end that data goes to.
    pub to: End,
    /// Written with `:` instead of `!`: every further pair of pads that fits is linked too.
    pub all: bool,
    /// The `!` or `:`; with inline caps, from the first to the last of them.
    pub span: Span,
}

/// Something that is read as GStreamer reads it, and that is hardly what was meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WarningKind {
    /// One side of a link lists pads that the other side has no partner for.
    #[error("pad `{pad}` is not linked: the other side of the link names no pad for it")]
    PadNotLinked {
        /// The pad that is left out.
        pad: String,
    },
    /// A value starts with a quote, and does not end with the quote that closes it.
    #[error("the quote does not enclose the whole value of `{key}`: it is taken as part of it")]
    StrayQuote {
        /// The property.
        key: String,
    },
    /// An element is given a second name.
    #[error("the element has a name already: `{name}` is not used")]
    SecondName {
        /// The name that is left out.
        name: String,
    },
    /// A property of a bin's member, and no such member.
    #[error("the bin has no member `{path}`: its property is not set")]
    NoMember {
        /// The member's name, after those of the bins that it is in.
        path: String,
    },
    /// A value that GStreamer has and this element does not act on.
    #[error("{why}; it stays as it was")]
    NotImplemented {
        /// Why the property cannot have it.
        why: String,
    },
    /// A `:` between elements of which no pads can be linked.
    #[error("this `:` links nothing: no pads fit")]
    NothingLinked,
    /// An unquoted value holds `!`, which links nothing there.
    #[error("this `!` is part of the value of `{key}` and links nothing")]
    BangInValue {
        /// The property.
        key: String,
    },
}

/// A warning and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What is odd.
    pub kind: WarningKind,
    /// Where.
    pub span: Span,
}

/// What a launch text describes. Elements, bins and links are each in the order in which the text
/// completes them, and a bin's elements stand together: the first link written to an element is
/// its first. A link over a bracket's edge comes after the links inside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// All elements, those in bins included.
    pub elements: Vec<ElementSpec>,
    /// All links; `from` and `to` are always valid and never the same element.
    pub links: Vec<LinkSpec>,
    /// All bins, an outer one before those inside it.
    pub bins: Vec<BinSpec>,
    /// What was accepted but is worth a word.
    pub warnings: Vec<Warning>,
}

impl Description {
    /// A copy with all spans zero and no warnings: what two texts that mean the same agree on.
    #[must_use]
    pub fn without_spans(&self) -> Self {
        let zero = Span::default();
        let mut copy = self.clone();
        copy.warnings.clear();
        let blank = |properties: &mut Vec<PropertySpec>| {
            for property in properties {
                (property.key_span, property.value_span) = (zero, zero);
            }
        };
        for element in &mut copy.elements {
            (element.factory_span, element.span) = (zero, zero);
            element.name_span = element.name_span.map(|_| zero);
            blank(&mut element.properties);
        }
        for bin in &mut copy.bins {
            (bin.factory_span, bin.span) = (zero, zero);
            bin.name_span = bin.name_span.map(|_| zero);
            blank(&mut bin.properties);
        }
        for link in &mut copy.links {
            link.span = zero;
            for end in [&mut link.from, &mut link.to] {
                end.span = zero;
                if let Some(pad) = &mut end.pad {
                    pad.span = zero;
                }
            }
        }
        copy
    }
}

/// Automatic names of the elements and of the bins that have none: one entry per element and one
/// per bin, `None` where a name is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutomaticNames {
    /// Parallel to [`Description::elements`].
    pub elements: Vec<Option<String>>,
    /// Parallel to [`Description::bins`].
    pub bins: Vec<Option<String>>,
}

/// The names that [`assign_names`] would give: the factory and a counter from 0 for each factory
/// (`queue0`, `queue1`), in the order of the lists; a number that would repeat any other name of
/// the description is passed over.
#[must_use]
pub fn automatic_names(description: &Description) -> AutomaticNames {
    let mut taken: BTreeSet<String> = description
        .elements
        .iter()
        .filter_map(|element| element.name.clone())
        .chain(description.bins.iter().filter_map(|bin| bin.name.clone()))
        .collect();
    let mut counters: BTreeMap<&str, u64> = BTreeMap::new();
    let mut next = |factory, given: &Option<String>| {
        if given.is_some() {
            return None;
        }
        let counter = counters.entry(factory).or_insert(0);
        loop {
            let name = format!("{factory}{counter}");
            *counter += 1;
            if taken.insert(name.clone()) {
                return Some(name);
            }
        }
    };
    AutomaticNames {
        elements: description
            .elements
            .iter()
            .map(|element| next(element.factory.as_str(), &element.name))
            .collect(),
        bins: description
            .bins
            .iter()
            .map(|bin| next(bin.factory.as_str(), &bin.name))
            .collect(),
    }
}

/// Gives every element and bin without a name its automatic one, see [`automatic_names`].
pub fn assign_names(description: &mut Description) {
    let names = automatic_names(description);
    for (element, name) in description.elements.iter_mut().zip(names.elements) {
        if let Some(name) = name {
            element.name = Some(name);
        }
    }
    for (bin, name) in description.bins.iter_mut().zip(names.bins) {
        if let Some(name) = name {
            bin.name = Some(name);
        }
    }
}
