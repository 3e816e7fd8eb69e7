//! From what elements answer to rows: which place a field has, and rows of demands and conversions.

use super::cost::Cost;
use super::relation::{FREE, Row, Rows};
use crate::element::Fields;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;
use tickpipe_components::caps::{
    CapsLimitError, CapsLimits, Features, FieldName, Structure, Text, Value, ValueSet,
};

/// The place of the media type among the fields of a wire.
pub(super) const MEDIA: usize = 0;
/// The place of the features.
pub(super) const FEATURES: usize = 1;
/// How many places come before those of named fields.
const BEFORE: usize = 2;

/// A way from one pad to another: one answer to `transform_caps` met with what the other pad says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way {
    /// What it takes; `None` is ANY.
    pub(super) takes: Option<Structure>,
    /// What it makes; `None` is ANY.
    pub(super) makes: Option<Structure>,
    pub(super) free: Fields,
    pub(super) cost: u32,
    /// Whether it changes the media type, and the features: by their places.
    pub(super) retypes: [bool; BEFORE],
}

impl Way {
    /// A way that passes everything on.
    pub(super) fn passing() -> Way {
        Way {
            takes: None,
            makes: None,
            free: Fields::These(SmallVec::new()),
            cost: 0,
            retypes: [false; BEFORE],
        }
    }

    /// The same with nothing said of what it takes and makes, only of what it ties.
    pub(super) fn bare(&self) -> Way {
        Way {
            takes: None,
            makes: None,
            ..self.clone()
        }
    }
}

/// All ways from one pad to another, shared by converters that are alike.
pub(super) type Ways = Rc<Vec<Way>>;

/// The same ways changed, each list of them once.
#[derive(Default)]
pub(super) struct Changed {
    known: Vec<(Ways, Ways)>,
}

impl Changed {
    /// What `change` makes of a list.
    pub(super) fn of(&mut self, ways: &Ways, change: impl Fn(&[Way]) -> Vec<Way>) -> Ways {
        if let Some(known) = self.known.iter().find(|k| Rc::ptr_eq(&k.0, ways)) {
            return Rc::clone(&known.1);
        }
        let changed = Rc::new(change(ways));
        self.known.push((Rc::clone(ways), Rc::clone(&changed)));
        changed
    }
}

/// The fields that a problem knows, in the order of names.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldTable {
    names: Vec<FieldName>,
}

impl FieldTable {
    /// Takes in the fields of a structure.
    pub(super) fn add(&mut self, structure: &Structure) {
        for name in structure.names() {
            if let Err(at) = self.names.binary_search(&name) {
                self.names.insert(at, name);
            }
        }
    }

    /// Places of one wire.
    pub(super) fn len(&self) -> usize {
        self.names.len() + BEFORE
    }

    /// The name of a place that is a field's.
    pub(super) fn name(&self, place: usize) -> Option<&FieldName> {
        self.names.get(place.checked_sub(BEFORE)?)
    }

    /// The place of a field.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        let name = FieldName::new(name);
        Some(self.names.binary_search(&name).ok()? + BEFORE)
    }

    /// What a structure says of a place.
    fn set_at(&self, structure: &Structure, place: usize) -> Option<ValueSet> {
        match place {
            MEDIA => Some(ValueSet::One(Value::Text(structure.media_text().clone()))),
            FEATURES => match structure.features() {
                Features::Any => None,
                // What no text of features can be.
                Features::System => Some(ValueSet::One(Value::Uint(0))),
                Features::Named(names) => Some(ValueSet::One(Value::text(names.as_str()))),
            },
            _ => structure.get_named(self.name(place)?).cloned(),
        }
    }

    /// A structure as a row of one wire.
    pub(super) fn row(&self, structure: &Structure) -> Row {
        let mut row = Row::open(self.len());
        for place in 0..self.len() {
            if let Some(set) = self.set_at(structure, place) {
                row.put(place, set);
            }
        }
        row
    }

    /// Caps that were agreed as a row of one wire: what they do not name has a value that nobody
    /// names, so nothing that is decided later can give it one.
    pub(super) fn agreed(&self, structure: &Structure) -> Row {
        let mut row = self.row(structure);
        for place in BEFORE..self.len() {
            if row.class[place] == FREE {
                row.put(place, unnamed());
            }
        }
        row
    }

    /// A way as a row over the two wires of a scope; `None` if it leads nowhere.
    /// `from` and `to` say which wire of the scope each pad has: 0 or 1, or both 0.
    pub(super) fn way_row(&self, way: &Way, from: usize, to: usize) -> Option<Row> {
        let count = self.len();
        let mut row = Row::open(count * (1 + from.max(to)));
        row.cost = Cost::conversions(way.cost.into());
        for place in 0..count {
            let takes = way.takes.as_ref().and_then(|s| self.set_at(s, place));
            let makes = way.makes.as_ref().and_then(|s| self.set_at(s, place));
            let tied = match self.name(place) {
                Some(name) => !way.free.contains(name),
                None => takes == makes && !way.retypes[place],
            };
            let (a, b) = (from * count + place, to * count + place);
            if tied || from == to {
                let both = match (takes, makes) {
                    (Some(a), Some(b)) => Some(a.intersect(&b)?),
                    (one, other) => one.or(other),
                };
                match both {
                    Some(set) if from == to => row.put(a, set),
                    None if from == to => {}
                    both => row.tie([a, b], both),
                }
            } else {
                if let Some(set) = takes {
                    row.put(a, set);
                }
                if let Some(set) = makes {
                    row.put(b, set);
                }
            }
        }
        Some(row)
    }

    /// The structure that a row of one wire describes; `None` if the media type is open.
    ///
    /// # Errors
    /// `caps-fields`, if those who meet there name more fields than a structure can have.
    pub(super) fn structure(&self, row: &Row) -> Result<Option<Structure>, CapsLimitError> {
        let at = |place: usize| row.get(place);
        let first = at(MEDIA).and_then(|set| set.members()?.first().cloned());
        let Some(Value::Text(media)) = first else {
            return Ok(None);
        };
        let mut structure = Structure::new(media.as_str());
        structure = structure.with_features(match at(FEATURES) {
            None => Features::Any,
            Some(ValueSet::One(Value::Text(names))) => named(names),
            Some(_) => Features::System,
        });
        for (i, name) in self.names.iter().enumerate() {
            if let Some(set) = at(i + BEFORE).filter(|set| !is_unnamed(set)) {
                structure.set_named(name.clone(), set.clone(), &CapsLimits::DEFAULT)?;
            }
        }
        Ok(Some(structure))
    }
}

/// The value of a field that was agreed to be left out. It is no text that caps can have.
const UNNAMED: &str = "\0";

/// That a field is left out, as a set.
pub(super) fn unnamed() -> ValueSet {
    ValueSet::One(Value::text(UNNAMED))
}

/// Whether a set says that a field is left out.
pub(super) fn is_unnamed(set: &ValueSet) -> bool {
    matches!(set, ValueSet::One(Value::Text(text)) if text.as_str() == UNNAMED)
}

fn named(names: &Text) -> Features {
    Features::named(names.as_str().split(", ")).unwrap_or(Features::Any)
}

/// Keeps one copy of equal lists of rows, so that joins made before are found again.
#[derive(Default)]
pub(super) struct Interner {
    known: HashMap<u64, Vec<Rows>>,
}

impl Interner {
    /// The shared copy of these rows.
    pub(super) fn intern(&mut self, rows: Vec<Row>) -> Rows {
        let alike = self.known.entry(hash(&rows)).or_default();
        if let Some(same) = alike.iter().find(|known| ***known == rows) {
            return Rc::clone(same);
        }
        let shared = Rc::new(rows);
        alike.push(Rc::clone(&shared));
        shared
    }
}

/// A hash in which the order of lists counts, which equality of sets leaves out.
fn hash(rows: &[Row]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for row in rows {
        row.cost.0.iter().for_each(|n| hasher.write_u64(*n));
        row.class.iter().for_each(|c| hasher.write_u16(*c));
        for set in &row.sets {
            match set {
                Some(set) => set.hash_into(&mut |bytes| hasher.write(bytes)),
                None => hasher.write_u8(0),
            }
        }
    }
    hasher.finish()
}
