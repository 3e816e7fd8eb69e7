//! One structure of caps: a media type, features, and fields by name. Held by value, of fixed
//! size; only a name or text outside of the vocabulary lives elsewhere (counted, never copied).

use std::sync::Arc;

use super::features::Features;
use super::fraction::Fraction;
use super::limits::{CapsLimitError, CapsLimits, MAX_FIELDS};
use super::set::ValueSet;
use super::text::{FieldName, NameText, OTHER, Text, name_cmp, name_str};
use super::value::Value;
use super::vocab;

/// A media type with constraints on some fields; a field that is absent is unconstrained.
///
/// Fields are kept in the order of their [names](FieldName), whatever the order in which they were
/// set. About a kilobyte; neither a copy nor an intersection allocates.
pub struct Structure {
    pub(super) media: Text,
    pub(super) features: Features,
    pub(super) len: u8,
    pub(super) codes: [u8; MAX_FIELDS],
    pub(super) others: [Option<Arc<NameText>>; MAX_FIELDS],
    pub(super) sets: [ValueSet; MAX_FIELDS],
}

impl Structure {
    /// A media type without constraints. Allocates if the media type is not a known one.
    pub fn new(media: &str) -> Structure {
        Structure::blank(Text::new(media), Features::System)
    }

    /// A media type without constraints, for templates and other constants.
    pub const fn of(media: &'static str) -> Structure {
        Structure::blank(Text::of(media), Features::System)
    }

    #[inline]
    pub(super) const fn blank(media: Text, features: Features) -> Structure {
        Structure {
            media,
            features,
            len: 0,
            codes: [0; MAX_FIELDS],
            others: [const { None }; MAX_FIELDS],
            sets: [ValueSet::UNUSED; MAX_FIELDS],
        }
    }

    /// The media type, such as `video/x-raw`.
    pub fn media(&self) -> &str {
        self.media.as_str()
    }

    /// The media type as a value.
    pub fn media_text(&self) -> &Text {
        &self.media
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The same with other features.
    #[must_use]
    pub fn with_features(mut self, features: Features) -> Structure {
        self.features = features;
        self
    }

    /// The same with a field set, to write caps in code: `.with("width", 320)`.
    ///
    /// # Panics
    /// If there are more fields than [`MAX_FIELDS`]; [`Structure::set`] answers an error instead.
    #[must_use]
    pub fn with(mut self, name: &str, set: impl Into<ValueSet>) -> Structure {
        match self.set(name, set) {
            Ok(()) => self,
            Err(error) => panic!("{name}: {error}"),
        }
    }

    /// The same with a known field set that was not set before, for templates and other constants.
    ///
    /// # Panics
    /// If the name is not in the vocabulary or already there, or there are more fields than
    /// [`MAX_FIELDS`]; in a constant that is an error of the compiler.
    #[must_use]
    pub const fn field(mut self, name: &'static str, set: ValueSet) -> Structure {
        let code = match vocab::field_code(name) {
            Some(code) => code,
            None => panic!("not a known field name"),
        };
        let mut at = self.len as usize;
        assert!(at < MAX_FIELDS, "too many fields");
        self.codes[at] = code;
        std::mem::forget(std::mem::replace(&mut self.sets[at], set));
        self.len += 1;
        while at > 0 && self.codes[at - 1] >= code {
            assert!(self.codes[at - 1] != code, "the field is already there");
            self.codes.swap(at - 1, at);
            self.sets.swap(at - 1, at);
            at -= 1;
        }
        self
    }

    /// Sets a field, replacing what it was.
    ///
    /// # Errors
    /// `caps-fields`, if it would be one field too many; nothing is changed.
    pub fn set(&mut self, name: &str, set: impl Into<ValueSet>) -> Result<(), CapsLimitError> {
        self.set_named(FieldName::new(name), set.into(), &CapsLimits::DEFAULT)
    }

    /// As [`Structure::set`], with a name made before and within given limits.
    ///
    /// # Errors
    /// `caps-fields`, if it would be one field too many; nothing is changed.
    pub fn set_named(
        &mut self,
        name: FieldName,
        set: ValueSet,
        limits: &CapsLimits,
    ) -> Result<(), CapsLimitError> {
        match self.find(&name) {
            Ok(at) => self.sets[at] = set,
            Err(at) => {
                let len = usize::from(self.len);
                if len >= limits.fields.min(MAX_FIELDS) {
                    return Err(CapsLimitError::fields(len + 1, limits));
                }
                self.codes[at..=len].rotate_right(1);
                self.others[at..=len].rotate_right(1);
                self.sets[at..=len].rotate_right(1);
                self.codes[at] = name.code;
                self.others[at] = name.other;
                self.sets[at] = set;
                self.len += 1;
            }
        }
        Ok(())
    }

    /// Takes a field away; it is unconstrained afterwards.
    pub fn remove(&mut self, name: &str) -> Option<ValueSet> {
        let at = self.find(&FieldName::new(name)).ok()?;
        let len = usize::from(self.len);
        let set = std::mem::replace(&mut self.sets[at], ValueSet::UNUSED);
        self.others[at] = None;
        self.codes[at..len].rotate_left(1);
        self.others[at..len].rotate_left(1);
        self.sets[at..len].rotate_left(1);
        self.len -= 1;
        Some(set)
    }

    /// Takes all fields away; media type and features stay.
    pub fn clear(&mut self) {
        let (media, features) = (self.media.clone(), self.features.clone());
        *self = Structure::blank(media, features);
    }

    /// Keeps the fields for which `keep` answers true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &ValueSet) -> bool) {
        let (media, features) = (self.media.clone(), self.features.clone());
        let old = std::mem::replace(self, Structure::blank(media, features));
        let mut kept = 0;
        for at in 0..old.len() {
            if keep(name_str(old.codes[at], &old.others[at]), &old.sets[at]) {
                old.sets[at].clone_to(self.slot_for(kept, &old, at));
                kept += 1;
            }
        }
        self.len = kept as u8;
    }

    /// Names an unused slot after a field of another structure. The caller counts the slots and
    /// sets `len` when it is done: a count in memory would be waited for at each field.
    #[inline(always)]
    pub(super) fn slot_for(&mut self, at: usize, from: &Structure, slot: usize) -> &mut ValueSet {
        let code = from.codes[slot];
        self.codes[at] = code;
        if code == OTHER {
            self.others[at] = from.others[slot].clone();
        }
        &mut self.sets[at]
    }

    fn find(&self, name: &FieldName) -> Result<usize, usize> {
        for at in 0..self.len() {
            match name_cmp(self.codes[at], &self.others[at], name.code, &name.other) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Ok(at),
                std::cmp::Ordering::Greater => return Err(at),
            }
        }
        Err(self.len())
    }

    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        let len = self.len();
        match vocab::field_code(name) {
            Some(code) => self.codes[..len].iter().position(|c| *c == code),
            None => (0..len).find(|at| {
                self.others[*at]
                    .as_ref()
                    .is_some_and(|other| *other.0 == *name)
            }),
        }
    }

    /// What a field allows; `None` if it is unconstrained.
    pub fn get(&self, name: &str) -> Option<&ValueSet> {
        self.slot(name).map(|at| &self.sets[at])
    }

    /// As [`Structure::get`], with a name made before.
    pub fn get_named(&self, name: &FieldName) -> Option<&ValueSet> {
        self.find(name).ok().map(|at| &self.sets[at])
    }

    /// How many fields are constrained, at most [`MAX_FIELDS`].
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len).min(MAX_FIELDS)
    }

    /// Whether no field is constrained.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fields and what they allow, in the order of names.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &ValueSet)> {
        (0..self.len()).map(|at| (name_str(self.codes[at], &self.others[at]), &self.sets[at]))
    }

    /// Names of fields, in order.
    pub fn names(&self) -> impl Iterator<Item = FieldName> {
        (0..self.len()).map(|at| FieldName {
            code: self.codes[at],
            other: self.others[at].clone(),
        })
    }

    fn single(&self, name: &str) -> Option<Value> {
        self.get(name)?.single()
    }

    /// An integer field's value, if it is fixed.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.single(name)? {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// An unsigned field's value, if it is fixed.
    pub fn uint(&self, name: &str) -> Option<u32> {
        match self.single(name)? {
            Value::Uint(value) => Some(value),
            _ => None,
        }
    }

    /// A boolean field's value, if it is fixed.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.single(name)? {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A fraction field's value, if it is fixed.
    pub fn fraction(&self, name: &str) -> Option<Fraction> {
        match self.single(name)? {
            Value::Fraction(value) => Some(value),
            _ => None,
        }
    }

    /// A bit mask field's value, if it is fixed.
    pub fn bitmask(&self, name: &str) -> Option<u64> {
        match self.single(name)? {
            Value::Bitmask(value) => Some(value),
            _ => None,
        }
    }

    /// A string field's value, if it is fixed.
    pub fn string(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            ValueSet::One(Value::Text(text)) => Some(text.as_str()),
            ValueSet::List(list) => list.single_text(),
            _ => None,
        }
    }

    /// Whether every field that is there allows one value only and the features are not `ANY`.
    /// A structure without fields is fixed, as in GStreamer.
    pub fn is_fixed(&self) -> bool {
        self.features != Features::Any && self.sets[..self.len()].iter().all(ValueSet::is_fixed)
    }

    /// The same with each field fixed: the first of a list, the minimum of a range.
    #[must_use]
    pub fn fixated(&self) -> Structure {
        let mut out = self.clone();
        for set in &mut out.sets[..self.len()] {
            *set = set.fixated();
        }
        out
    }

    /// Fixes a field to the member nearest to `target` (see [`ValueSet::nearest`]); answers whether
    /// it did. Nothing changes if the field is absent or no member is of the target's kind.
    pub fn fixate_nearest(&mut self, name: &str, target: impl Into<Value>) -> bool {
        let target = target.into();
        let Some(at) = self.slot(name) else {
            return false;
        };
        match self.sets[at].nearest(&target) {
            Some(value) => {
                self.sets[at] = ValueSet::One(value);
                true
            }
            None => false,
        }
    }

    /// The same with each set in its [canonical form](ValueSet::canonical).
    #[must_use]
    pub fn canonical(&self) -> Structure {
        let mut out = self.clone();
        for set in &mut out.sets[..self.len()] {
            *set = set.canonical();
        }
        out
    }
}

impl Clone for Structure {
    fn clone(&self) -> Structure {
        let mut out = Structure::blank(self.media.clone(), self.features.clone());
        for at in 0..self.len() {
            self.sets[at].clone_to(out.slot_for(at, self, at));
        }
        out.len = self.len;
        out
    }
}

/// Set equality, field by field; the order in which fields were set does not count.
impl PartialEq for Structure {
    fn eq(&self, other: &Structure) -> bool {
        let len = self.len();
        len == other.len()
            && self.media == other.media
            && self.features == other.features
            && self.codes[..len] == other.codes[..len]
            && self.others[..len] == other.others[..len]
            && self.sets[..len] == other.sets[..len]
    }
}

impl Eq for Structure {}
