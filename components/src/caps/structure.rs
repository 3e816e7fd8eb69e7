//! One structure of caps: a media type, features, and fields by name. Held by value, of fixed
//! size; only a name or text outside of the vocabulary lives elsewhere (counted, never copied).

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::features::Features;
use super::fraction::Fraction;
use super::limits::{CapsLimitError, CapsLimits, MAX_FIELDS};
use super::set::ValueSet;
use super::text::{FieldName, OTHER, Text};
use super::value::Value;
use super::vocab;

/// A media type with constraints on some fields; a field that is absent is unconstrained.
///
/// Fields are kept in the order of their [names](FieldName), whatever the order in which they were
/// set. About 640 bytes; neither a copy nor an intersection allocates.
pub struct Structure {
    pub(super) media: Text,
    pub(super) features: Features,
    /// How many fields there are.
    pub(super) len: u8,
    /// How many of them, the last ones, have names outside of the vocabulary.
    pub(super) spelled: u8,
    /// Codes of the fields' names, rising; [`OTHER`] for names outside of the vocabulary.
    pub(super) codes: [u8; MAX_FIELDS],
    slots: Slots,
}

const _: () = assert!(size_of::<Structure>() <= 664);

/// The fields' sets in order; after them the names outside of the vocabulary, as texts, in order.
enum Slots {
    /// As a constant has them, with unused ones at the end.
    Const([ValueSet; MAX_FIELDS]),
    /// Never more than fit in place.
    Inline(Inline),
}

pub(super) type Inline = SmallVec<[ValueSet; MAX_FIELDS]>;

/// What an unused slot of a constant holds.
const UNUSED: ValueSet = ValueSet::One(Value::Bool(false));

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
            len: 0,
            spelled: 0,
            codes: [0; MAX_FIELDS],
            slots: Slots::Const([UNUSED; MAX_FIELDS]),
        }
    }

    /// A structure of parts that fit together (see [`Structure::parts`]).
    #[inline]
    pub(super) fn assemble(
        media: Text,
        features: Features,
        codes: [u8; MAX_FIELDS],
        len: usize,
        slots: Inline,
    ) -> Structure {
        Structure {
            media,
            features,
            len: len as u8,
            spelled: (slots.len() - len) as u8,
            codes,
            slots: Slots::Inline(slots),
        }
    }

    /// A structure to be filled: [`Structure::parts`], then [`Structure::finish`].
    #[inline]
    pub(super) fn blank() -> Structure {
        Structure {
            media: Text::from_code(0),
            features: Features::System,
            len: 0,
            spelled: 0,
            codes: [0; MAX_FIELDS],
            slots: Slots::Inline(SmallVec::new()),
        }
    }

    /// Codes and slots of a blank structure, to be filled so that they fit together: rising codes
    /// and as many sets, and then a name for each code that stands for none.
    #[inline]
    pub(super) fn parts(&mut self) -> (&mut [u8; MAX_FIELDS], &mut Inline) {
        if let Slots::Const(_) = self.slots {
            self.slots = Slots::Inline(SmallVec::new());
        }
        match &mut self.slots {
            Slots::Inline(sets) => (&mut self.codes, sets),
            Slots::Const(_) => unreachable!("made inline above"),
        }
    }

    /// Makes what was filled a structure of `len` fields.
    #[inline]
    pub(super) fn finish(&mut self, media: Text, features: Features, len: usize) {
        self.media = media;
        self.features = features;
        self.len = len as u8;
        self.spelled = (self.sets().len() - len) as u8;
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
    fn inline(&mut self) -> &mut Inline {
        if let Slots::Const(sets) = &self.slots {
            let used = usize::from(self.len) + usize::from(self.spelled);
            self.slots = Slots::Inline(sets.iter().take(used).cloned().collect());
        }
        match &mut self.slots {
            Slots::Inline(sets) => sets,
            Slots::Const(_) => unreachable!("made inline above"),
        }
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
        let mut at = self.len as usize;
        assert!(at < MAX_FIELDS, "too many fields");
        let sets = match &mut self.slots {
            Slots::Const(sets) => sets,
            Slots::Inline(_) => panic!("not a constant: use Structure::with"),
        };
        self.codes[at] = code;
        std::mem::forget(std::mem::replace(&mut sets[at], set));
        self.len += 1;
        while at > 0 && self.codes[at - 1] >= code {
            assert!(self.codes[at - 1] != code, "the field is already there");
            self.codes.swap(at - 1, at);
            sets.swap(at - 1, at);
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
            Ok(at) => self.inline()[at] = set,
            Err(at) => {
                let len = self.len();
                let spelled = usize::from(self.spelled);
                let extra = spelled + usize::from(name.other.is_some());
                if len >= limits.fields || len + 1 + extra > MAX_FIELDS {
                    return Err(CapsLimitError::fields(len + 1 + extra, limits));
                }
                self.codes[at..=len].rotate_right(1);
                self.codes[at] = name.code;
                let slots = self.inline();
                slots.insert(at, set);
                if let Some(text) = name.other {
                    let place = len + 1 + at - (len - spelled);
                    slots.insert(place, ValueSet::One(Value::Text(text)));
                    self.spelled += 1;
                }
                self.len += 1;
            }
        }
        Ok(())
    }

    /// Takes a field away; it is unconstrained afterwards.
    pub fn remove(&mut self, name: &str) -> Option<ValueSet> {
        let at = self.slot(name)?;
        let len = self.len();
        if self.codes[at] == OTHER {
            let place = self.name_place(at);
            self.inline().remove(place);
            self.spelled -= 1;
        }
        let set = self.inline().remove(at);
        self.codes[at..len].rotate_left(1);
        self.len -= 1;
        Some(set)
    }

    /// Where the name of a field stands that is outside of the vocabulary.
    #[inline]
    fn name_place(&self, at: usize) -> usize {
        // After all sets, in the order of those fields, which are the last ones.
        at + usize::from(self.spelled)
    }

    /// The name of a field that is outside of the vocabulary.
    pub(super) fn spelled_name(&self, at: usize) -> Option<&Text> {
        if self.codes[at] != OTHER {
            return None;
        }
        match &self.sets()[self.name_place(at)] {
            ValueSet::One(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The text of a field's name.
    pub(super) fn name_at(&self, at: usize) -> &str {
        match self.spelled_name(at) {
            Some(text) => text.as_str(),
            None => vocab::field_name(self.codes[at]),
        }
    }

    /// A field's name.
    pub(super) fn field_name_at(&self, at: usize) -> FieldName {
        FieldName {
            code: self.codes[at],
            other: self.spelled_name(at).cloned(),
        }
    }

    /// Takes all fields away; media type and features stay.
    pub fn clear(&mut self) {
        self.inline().clear();
        (self.len, self.spelled) = (0, 0);
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
        for at in 0..self.len() {
            let order = match self.codes[at].cmp(&name.code) {
                Ordering::Equal if name.code == OTHER => {
                    self.spelled_name(at).cmp(&name.other.as_ref())
                }
                order => order,
            };
            match order {
                Ordering::Less => {}
                Ordering::Equal => return Ok(at),
                Ordering::Greater => return Err(at),
            }
        }
        Err(self.len())
    }

    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        let len = self.len();
        match vocab::field_code(name) {
            Some(code) => self.codes[..len].iter().position(|c| *c == code),
            None => (len - usize::from(self.spelled)..len).find(|at| self.name_at(*at) == name),
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
        let mut slots: Inline = SmallVec::new();
        let used = usize::from(self.len) + usize::from(self.spelled);
        for set in self.sets().iter().take(used) {
            set.clone_with(&mut slots);
        }
        Structure {
            media: self.media.clone(),
            features: self.features.clone(),
            len: self.len,
            spelled: self.spelled,
            codes: self.codes,
            slots: Slots::Inline(slots),
        }
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
            && self.sets()[..len] == other.sets()[..len]
            && (len - usize::from(self.spelled)..len)
                .all(|at| self.name_at(at) == other.name_at(at))
    }
}

impl Eq for Structure {}
