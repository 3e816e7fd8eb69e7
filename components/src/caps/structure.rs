//! One structure of caps: a media type, features, and fields by name. Held by value, of fixed
//! size; only a name or text outside of the vocabulary lives elsewhere (counted, never copied).

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::features::Features;
use super::fraction::Fraction;
use super::limits::{CapsLimitError, CapsLimits, MAX_FIELDS};
use super::set::{UNUSED, ValueSet};
use super::text::{FieldName, OTHER, Text};
use super::value::Value;
use super::vocab;

/// A media type with constraints on some fields; a field that is absent is unconstrained.
///
/// Fields are kept in the order of their [names](FieldName), whatever the order in which they were
/// set. 640 bytes, of which an intersection writes only those that its fields need; neither a copy
/// nor an intersection allocates.
// In this order, so that few fields lie on few cache lines, and each structure of caps alike.
#[repr(C)]
pub struct Structure {
    pub(super) media: Text,
    pub(super) features: Features,
    /// The codes of the fields' names that are in the vocabulary, a bit each.
    pub(super) known: u64,
    /// How many fields there are.
    pub(super) len: u8,
    /// How many of them, the last ones, have names outside of the vocabulary.
    pub(super) spelled: u8,
    slots: Slots,
}

const _: () = assert!(size_of::<Structure>() == 640);
const _: () = assert!(vocab::FIELD_COUNT <= u64::BITS as usize);

/// The fields' sets in order; after them the names outside of the vocabulary, as texts, in order.
enum Slots {
    /// As a constant has them, with unused ones at the end.
    Const([ValueSet; MAX_FIELDS]),
    /// Never more than fit in place.
    Inline(Inline),
}

pub(super) type Inline = SmallVec<[ValueSet; MAX_FIELDS]>;

/// Appends slots to be filled.
#[inline(always)]
pub(super) fn append(slots: &mut Inline, count: usize) -> &mut [ValueSet] {
    let len = slots.len();
    slots.extend((0..count).map(|_| UNUSED));
    &mut slots[len..]
}

impl Structure {
    /// A media type without constraints. Allocates if the media type is not a known one.
    pub fn new(media: &str) -> Structure {
        let mut out = Structure::blank();
        out.media = Text::new(media);
        out
    }

    /// A known media type without constraints, for templates and other constants (see
    /// [`Text::of`]).
    pub const fn of(media: &'static str) -> Structure {
        Structure {
            media: Text::of(media),
            features: Features::System,
            known: 0,
            len: 0,
            spelled: 0,
            slots: Slots::Const([UNUSED; MAX_FIELDS]),
        }
    }

    /// A structure without anything, which [`Structure::intersect_to`] makes one.
    #[inline(always)]
    pub(super) fn blank() -> Structure {
        Structure {
            media: Text::from_code(0),
            features: Features::System,
            known: 0,
            len: 0,
            spelled: 0,
            slots: Slots::Inline(SmallVec::new()),
        }
    }

    /// Makes a blank structure a copy.
    pub(super) fn clone_to(&self, out: &mut Structure) {
        let sets = &self.sets()[..self.used()];
        for (set, place) in sets.iter().zip(append(out.inline(), sets.len())) {
            set.clone_with(place);
        }
        out.media = self.media.clone();
        out.features = self.features.clone();
        (out.known, out.len, out.spelled) = (self.known, self.len, self.spelled);
    }

    /// All slots; the first `len` are the fields' sets.
    #[inline]
    pub(super) fn sets(&self) -> &[ValueSet] {
        match &self.slots {
            Slots::Const(sets) => sets,
            Slots::Inline(sets) => sets,
        }
    }

    /// The slots to edit.
    #[inline]
    pub(super) fn inline(&mut self) -> &mut Inline {
        if let Slots::Const(sets) = &self.slots {
            self.slots = Slots::Inline(sets[..self.used()].iter().cloned().collect());
        }
        match &mut self.slots {
            Slots::Inline(sets) => sets,
            Slots::Const(_) => unreachable!("made inline above"),
        }
    }

    /// How many slots are in use.
    #[inline]
    pub(super) fn used(&self) -> usize {
        (usize::from(self.len) + usize::from(self.spelled)).min(MAX_FIELDS)
    }

    /// The fields' sets to edit.
    pub(super) fn sets_mut(&mut self) -> &mut [ValueSet] {
        let len = self.len();
        &mut self.inline()[..len]
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

    /// The same with a known field set that was not set before, for templates and other constants
    /// that begin with [`Structure::of`].
    ///
    /// # Panics
    /// If the name is not in the vocabulary or already there, if there are more fields than
    /// [`MAX_FIELDS`], or after [`Structure::new`]; in a constant that is an error of the compiler.
    #[must_use]
    pub const fn field(mut self, name: &'static str, set: ValueSet) -> Structure {
        let code = match vocab::field_code(name) {
            Some(code) => code,
            None => panic!("not a known field name"),
        };
        let bit = 1 << code;
        assert!(self.known & bit == 0, "the field is already there");
        let mut at = self.len as usize;
        assert!(at < MAX_FIELDS, "too many fields");
        let sets = match &mut self.slots {
            Slots::Const(sets) => sets,
            Slots::Inline(_) => panic!("not a constant: use Structure::with"),
        };
        std::mem::forget(std::mem::replace(&mut sets[at], set));
        let place = (self.known & (bit - 1)).count_ones() as usize;
        while at > place {
            sets.swap(at - 1, at);
            at -= 1;
        }
        self.known |= bit;
        self.len += 1;
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
            Ok(at) => self.inline()[at] = set,
            Err(at) => {
                let len = self.len();
                let spelled = usize::from(self.spelled);
                let extra = spelled + usize::from(name.other.is_some());
                if len >= limits.fields || len + 1 + extra > MAX_FIELDS {
                    return Err(CapsLimitError::fields(len + 1 + extra, limits));
                }
                let slots = self.inline();
                slots.insert(at, set);
                match name.other {
                    Some(text) => {
                        let place = len + 1 + at - (len - spelled);
                        slots.insert(place, ValueSet::One(Value::Text(text)));
                        self.spelled += 1;
                    }
                    None => self.known |= 1 << name.code,
                }
                self.len += 1;
            }
        }
        Ok(())
    }

    /// Takes a field away; it is unconstrained afterwards.
    pub fn remove(&mut self, name: &str) -> Option<ValueSet> {
        let at = self.slot(name)?;
        match self.code_at(at) {
            Some(code) => self.known &= !(1 << code),
            None => {
                let place = self.name_place(at);
                self.inline().remove(place);
                self.spelled -= 1;
            }
        }
        let set = self.inline().remove(at);
        self.len -= 1;
        Some(set)
    }

    /// How many fields have names in the vocabulary; they are the first ones.
    #[inline]
    pub(super) fn known_len(&self) -> usize {
        self.len().saturating_sub(usize::from(self.spelled))
    }

    /// The code of a field's name, if it is in the vocabulary.
    fn code_at(&self, at: usize) -> Option<u8> {
        if at >= self.known_len() {
            return None;
        }
        let below = (0..at).fold(self.known, |known, _| known & known.wrapping_sub(1));
        Some(below.trailing_zeros() as u8)
    }

    /// How many known names come before that one.
    fn place(&self, code: u8) -> usize {
        (self.known & ((1 << code) - 1)).count_ones() as usize
    }

    /// Where the name of a field stands that is outside of the vocabulary.
    #[inline]
    fn name_place(&self, at: usize) -> usize {
        // After all sets, in the order of those fields, which are the last ones.
        at + usize::from(self.spelled)
    }

    /// The name of a field that is outside of the vocabulary.
    pub(super) fn spelled_name(&self, at: usize) -> Option<&Text> {
        if at < self.known_len() {
            return None;
        }
        match &self.sets()[self.name_place(at)] {
            ValueSet::One(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The text of a field's name.
    pub(super) fn name_at(&self, at: usize) -> &str {
        match self.code_at(at) {
            Some(code) => vocab::field_name(code),
            None => self.spelled_name(at).map_or("", Text::as_str),
        }
    }

    /// A field's name.
    pub(super) fn field_name_at(&self, at: usize) -> FieldName {
        FieldName {
            code: self.code_at(at).unwrap_or(OTHER),
            other: self.spelled_name(at).cloned(),
        }
    }

    /// Takes all fields away; media type and features stay.
    pub fn clear(&mut self) {
        self.inline().clear();
        (self.known, self.len, self.spelled) = (0, 0, 0);
    }

    /// Keeps the fields for which `keep` answers true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &ValueSet) -> bool) {
        let mut at = 0;
        while at < self.len() {
            if keep(self.name_at(at), &self.sets()[at]) {
                at += 1;
            } else {
                let name = self.name_at(at).to_owned();
                self.remove(&name);
            }
        }
    }

    fn find(&self, name: &FieldName) -> Result<usize, usize> {
        let Some(text) = &name.other else {
            let place = self.place(name.code);
            return match self.known >> name.code & 1 {
                1 => Ok(place),
                _ => Err(place),
            };
        };
        let known = self.known_len();
        let spelled = &self.sets()[self.len()..self.used()];
        let found = spelled.binary_search_by(|set| match set {
            ValueSet::One(Value::Text(other)) => other.cmp(text),
            _ => Ordering::Less,
        });
        found.map(|at| known + at).map_err(|at| known + at)
    }

    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        match vocab::field_code(name) {
            Some(code) => (self.known >> code & 1 == 1).then(|| self.place(code)),
            None => (self.known_len()..self.len()).find(|at| self.name_at(*at) == name),
        }
    }

    /// What a field allows; `None` if it is unconstrained.
    pub fn get(&self, name: &str) -> Option<&ValueSet> {
        self.slot(name).map(|at| &self.sets()[at])
    }

    /// As [`Structure::get`], with a name made before.
    pub fn get_named(&self, name: &FieldName) -> Option<&ValueSet> {
        self.find(name).ok().map(|at| &self.sets()[at])
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
        (0..self.len()).map(|at| (self.name_at(at), &self.sets()[at]))
    }

    /// Names of fields, in order.
    pub fn names(&self) -> impl Iterator<Item = FieldName> {
        (0..self.len()).map(|at| self.field_name_at(at))
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
        self.features != Features::Any && self.sets()[..self.len()].iter().all(ValueSet::is_fixed)
    }

    /// The same with each field fixed: the first of a list, the minimum of a range.
    #[must_use]
    pub fn fixated(&self) -> Structure {
        let mut out = self.clone();
        for set in out.sets_mut() {
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
        match self.sets()[at].nearest(&target) {
            Some(value) => {
                self.sets_mut()[at] = ValueSet::One(value);
                true
            }
            None => false,
        }
    }

    /// The same with each set in its [canonical form](ValueSet::canonical).
    #[must_use]
    pub fn canonical(&self) -> Structure {
        let mut out = self.clone();
        for set in out.sets_mut() {
            *set = set.canonical();
        }
        out
    }
}

impl Clone for Structure {
    fn clone(&self) -> Structure {
        let mut out = Structure::blank();
        self.clone_to(&mut out);
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
            && self.known == other.known
            && self.sets()[..len] == other.sets()[..len]
            && (self.known_len()..len).all(|at| self.name_at(at) == other.name_at(at))
    }
}

impl Eq for Structure {}
