//! Graphs as data over small domains, and their launch texts. Knows nothing of the engine.
//!
//! A value is a digit: its place in the list of its field. One digit more, [`Field::other`], stands
//! for every value that no caps name; it is in no set, and only where nothing names the field.

use std::fmt::Write;

/// The place of the media type among the fields.
pub const MEDIA: usize = 0;
/// The place of the features.
pub const FEATURES: usize = 1;
/// The place of the first named field.
pub const NAMED: usize = 2;

/// A field and what it can be.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: &'static str,
    /// The text of each digit.
    pub values: Vec<String>,
    /// What lies between two digits, if ranges make sense.
    pub step: Option<u32>,
    /// Ranges have no step: these are fractions.
    pub fractions: bool,
}

impl Field {
    pub fn other(&self) -> u8 {
        self.values.len() as u8
    }

    /// All digits, the unnamed one included.
    pub fn all(&self) -> u32 {
        (2 << self.values.len()) - 1
    }
}

/// Media types, features, then named fields.
#[derive(Clone, Debug)]
pub struct Domain {
    pub fields: Vec<Field>,
}

/// Some values of a field.
#[derive(Clone, Debug)]
pub enum Set {
    /// In order of preference; one alone is written without braces.
    List(Vec<u8>),
    Range {
        min: u8,
        max: u8,
        step: u8,
    },
}

impl Set {
    /// The digits in it, as bits.
    pub fn mask(&self) -> u32 {
        match self {
            Set::List(digits) => digits.iter().fold(0, |mask, d| mask | 1 << d),
            Set::Range { min, max, step } => (*min..=*max)
                .step_by((*step).into())
                .fold(0, |mask, d| mask | 1 << d),
        }
    }

    fn text(&self, field: &Field) -> String {
        match self {
            Set::List(digits) if digits.len() == 1 => field.values[usize::from(digits[0])].clone(),
            Set::List(digits) => {
                let values = digits.iter().map(|&d| &*field.values[usize::from(d)]);
                format!("{{{}}}", values.collect::<Vec<_>>().join(","))
            }
            Set::Range { min, max, step } => {
                let [min, max] = [min, max].map(|&d| &field.values[usize::from(d)]);
                match u32::from(*step) * field.step.unwrap_or(1) {
                    1 => format!("[{min},{max}]"),
                    step => format!("[{min},{max},{step}]"),
                }
            }
        }
    }
}

/// A structure of caps.
#[derive(Clone, Debug)]
pub struct Structure {
    pub media: u8,
    /// `None` is any features; the first digit is plain memory.
    pub features: Option<u8>,
    /// By field, from [`NAMED`] on.
    pub sets: Vec<Option<Set>>,
}

impl Structure {
    /// By field the digits that it allows.
    pub fn masks(&self, domain: &Domain) -> Vec<u32> {
        let named = (NAMED..).zip(&self.sets).map(|(place, set)| match set {
            Some(set) => set.mask(),
            None => domain.fields[place].all(),
        });
        let features = self
            .features
            .map_or(domain.fields[FEATURES].all(), |f| 1 << f);
        [1 << self.media, features]
            .into_iter()
            .chain(named)
            .collect()
    }

    /// Whether it says something of a field.
    pub fn names(&self, place: usize) -> bool {
        match place {
            MEDIA => true,
            FEATURES => self.features.is_some(),
            _ => self.sets[place - NAMED].is_some(),
        }
    }

    pub fn is_range(&self, place: usize) -> bool {
        place >= NAMED && matches!(self.sets[place - NAMED], Some(Set::Range { .. }))
    }

    pub fn text(&self, domain: &Domain) -> String {
        let mut text = domain.fields[MEDIA].values[usize::from(self.media)].clone();
        match self.features {
            None => text.push_str("(ANY)"),
            Some(0) => {}
            Some(named) => {
                let _ = write!(
                    text,
                    "({})",
                    domain.fields[FEATURES].values[usize::from(named)]
                );
            }
        }
        for (field, set) in domain.fields[NAMED..].iter().zip(&self.sets) {
            if let Some(set) = set {
                let _ = write!(text, ",{}={}", field.name, set.text(field));
            }
        }
        text
    }
}

/// Structures in order of preference; `None` is ANY.
pub type Caps = Option<Vec<Structure>>;

/// A row of a `capsmap`.
#[derive(Clone, Debug)]
pub struct MapRow {
    pub takes: Vec<Structure>,
    pub makes: Vec<Structure>,
}

/// What an element is.
#[derive(Clone, Debug)]
pub enum Kind {
    Source(Caps),
    Sink(Caps),
    Filter(Caps),
    Identity,
    Queue,
    Tee,
    Funnel,
    /// Without rows it passes everything on.
    Map {
        rows: Vec<MapRow>,
        cost: u32,
    },
    /// Another one-in, one-out element, by its class.
    Class(String),
}

impl Kind {
    /// Whether all its pads have the same caps.
    pub fn is_wire(&self) -> bool {
        use Kind::{Filter, Funnel, Identity, Queue, Tee};
        matches!(self, Filter(_) | Identity | Queue | Tee | Funnel)
    }

    /// What it demands of the caps of its pads.
    pub fn caps(&self) -> Option<&Vec<Structure>> {
        match self {
            Kind::Source(caps) | Kind::Sink(caps) | Kind::Filter(caps) => caps.as_ref(),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub struct Graph {
    pub domain: Domain,
    pub elements: Vec<Element>,
    /// From and to, as indices of elements.
    pub links: Vec<(usize, usize)>,
}

impl Graph {
    /// Per link the number of its wire: links that must have the same caps have the same; and how
    /// many wires there are.
    pub fn wires(&self) -> (Vec<usize>, usize) {
        let mut wire: Vec<usize> = (0..self.links.len()).collect();
        for (at, element) in self.elements.iter().enumerate() {
            if !element.kind.is_wire() {
                continue;
            }
            let touches = |l: &usize| self.links[*l].0 == at || self.links[*l].1 == at;
            let touched: Vec<usize> = (0..self.links.len()).filter(touches).collect();
            for pair in touched.windows(2) {
                let (keep, gone) = (wire[pair[0]], wire[pair[1]]);
                wire.iter_mut()
                    .filter(|w| **w == gone)
                    .for_each(|w| *w = keep);
            }
        }
        let mut known: Vec<usize> = wire.clone();
        known.sort_unstable();
        known.dedup();
        let number = |w: &usize| known.binary_search(w).unwrap_or(0);
        (wire.iter().map(number).collect(), known.len())
    }

    /// The link that goes into an element, and the one that goes out.
    pub fn ends(&self, element: usize) -> (Option<usize>, Option<usize>) {
        let into = self.links.iter().position(|l| l.1 == element);
        (into, self.links.iter().position(|l| l.0 == element))
    }

    /// The elements as launch text, each alone.
    fn declared(&self, element: &Element) -> String {
        let quoted = |caps: &Caps| match caps {
            None => "ANY".to_owned(),
            Some(list) => {
                let texts: Vec<String> = list.iter().map(|s| s.text(&self.domain)).collect();
                format!("\"{}\"", texts.join("; "))
            }
        };
        let name = &element.name;
        match &element.kind {
            Kind::Source(caps) => format!("capssrc name={name} caps={}", quoted(caps)),
            Kind::Sink(caps) => format!("capssink name={name} caps={}", quoted(caps)),
            Kind::Filter(caps) => format!("capsfilter name={name} caps={}", quoted(caps)),
            Kind::Identity => format!("identity name={name}"),
            Kind::Queue => format!("queue name={name}"),
            Kind::Tee => format!("tee name={name}"),
            Kind::Funnel => format!("funnel name={name}"),
            Kind::Class(class) => format!("{class} name={name}"),
            Kind::Map { rows, cost } => {
                let side = |list: &[Structure]| {
                    let texts: Vec<String> = list.iter().map(|s| s.text(&self.domain)).collect();
                    texts.join("; ")
                };
                let rows: Vec<String> = rows
                    .iter()
                    .map(|r| format!("{} -> {}", side(&r.takes), side(&r.makes)))
                    .collect();
                match rows.is_empty() {
                    true => format!("capsmap name={name}"),
                    false => format!(
                        "capsmap name={name} cost={cost} map=\"{}\"",
                        rows.join(" | ")
                    ),
                }
            }
        }
    }

    /// Pieces of a launch text: elements, then links. Joined in any order they make the graph.
    pub fn pieces(&self) -> Vec<String> {
        let name = |at: usize| &self.elements[at].name;
        let links = self.links.iter();
        let elements = self.elements.iter().map(|e| self.declared(e));
        elements
            .chain(links.map(|&(from, to)| format!("{}. ! {}.", name(from), name(to))))
            .collect()
    }

    pub fn text(&self) -> String {
        self.pieces().join(" ")
    }
}
