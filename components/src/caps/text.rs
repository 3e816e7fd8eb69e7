//! Strings and field names of caps: known words as codes, others as shared text. A copy of
//! either never allocates. Reads the vocabulary only.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::vocab;

#[derive(Clone)]
enum TextRepr {
    /// A known word; a text that is one is always stored so.
    Word(u16),
    Static(&'static str),
    Shared(Arc<str>),
}

/// A string value. Any UTF-8 text; words that media formats use cost two bytes and compare as
/// numbers.
#[derive(Clone)]
pub struct Text(TextRepr);

impl Text {
    /// A text of any kind. Allocates if it is not a known word.
    pub fn new(text: &str) -> Text {
        Text(match vocab::word_code(text) {
            Some(code) => TextRepr::Word(code),
            None => TextRepr::Shared(Arc::from(text)),
        })
    }

    /// A text that lives as long as the program. Never allocates.
    pub const fn of(text: &'static str) -> Text {
        Text(match vocab::word_code(text) {
            Some(code) => TextRepr::Word(code),
            None => TextRepr::Static(text),
        })
    }

    pub(super) const fn from_code(code: u16) -> Text {
        Text(TextRepr::Word(code))
    }

    /// Its code, if it is a known word.
    pub(super) const fn code(&self) -> Option<u16> {
        match self.0 {
            TextRepr::Word(code) => Some(code),
            _ => None,
        }
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            TextRepr::Word(code) => vocab::word_text(*code),
            TextRepr::Static(text) => text,
            TextRepr::Shared(text) => text,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        match (&self.0, &other.0) {
            (TextRepr::Word(a), TextRepr::Word(b)) => a == b,
            (TextRepr::Word(_), _) | (_, TextRepr::Word(_)) => false,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl Eq for Text {}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::new(text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// The text of a name that is not in the vocabulary.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameText(pub(super) Box<str>);

/// The code that stands for "not in the vocabulary".
pub(super) const OTHER: u8 = u8::MAX;

/// The name of a field. Known names (`width`, `framerate`, …) cost a byte and compare as numbers.
///
/// Names are ordered: known ones as in the vocabulary (`format` first), then others by text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldName {
    pub(super) code: u8,
    pub(super) other: Option<Arc<NameText>>,
}

impl FieldName {
    /// A name of any kind. Allocates if it is not a known one.
    pub fn new(name: &str) -> FieldName {
        match vocab::field_code(name) {
            Some(code) => FieldName { code, other: None },
            None => FieldName {
                code: OTHER,
                other: Some(Arc::new(NameText(name.into()))),
            },
        }
    }

    /// A known name, for constants.
    ///
    /// # Panics
    /// If the name is not in the vocabulary; in a constant that is an error of the compiler.
    pub const fn known(name: &'static str) -> FieldName {
        match vocab::field_code(name) {
            Some(code) => FieldName { code, other: None },
            None => panic!("not a known field name: make it with FieldName::new"),
        }
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        name_str(self.code, &self.other)
    }
}

/// The text of a name that is kept in its two parts.
pub(super) fn name_str(code: u8, other: &Option<Arc<NameText>>) -> &str {
    match other {
        Some(text) => &text.0,
        None => vocab::field_name(code),
    }
}

/// The order of two names that are kept in their parts.
pub(super) fn name_cmp(
    a: u8,
    a_other: &Option<Arc<NameText>>,
    b: u8,
    b_other: &Option<Arc<NameText>>,
) -> Ordering {
    match a.cmp(&b) {
        Ordering::Equal if a == OTHER => a_other.cmp(b_other),
        order => order,
    }
}

impl From<&str> for FieldName {
    fn from(name: &str) -> FieldName {
        FieldName::new(name)
    }
}

impl From<&FieldName> for FieldName {
    fn from(name: &FieldName) -> FieldName {
        name.clone()
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
