//! Strings and field names of caps: known words as codes, others as shared text. A copy of
//! either never allocates. Reads the vocabulary only.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::vocab;

/// A text outside of the vocabulary. One pointer away, so that a [`Text`] is small.
#[derive(Debug)]
struct Spelled(Box<str>);

#[derive(Clone)]
enum TextRepr {
    /// A known word; a text that is one is always stored so.
    Word(u16),
    Static(&'static &'static str),
    Shared(Arc<Spelled>),
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
            None => TextRepr::Shared(Arc::new(Spelled(text.into()))),
        })
    }

    /// A known word, for constants.
    ///
    /// # Panics
    /// If the word is not in the vocabulary; in a constant that is an error of the compiler. Others
    /// are made with [`Text::by_ref`].
    pub const fn of(word: &'static str) -> Text {
        match vocab::word_code(word) {
            Some(code) => Text(TextRepr::Word(code)),
            None => panic!("not a known word: make it with Text::by_ref"),
        }
    }

    /// A text of any kind that lives as long as the program, for constants. Never allocates.
    pub const fn by_ref(text: &'static &'static str) -> Text {
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

    #[inline(never)]
    fn same_spelling(&self, other: &Text) -> bool {
        self.as_str() == other.as_str()
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            TextRepr::Word(code) => vocab::word_text(*code),
            TextRepr::Static(text) => text,
            TextRepr::Shared(text) => &text.0,
        }
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Text) -> bool {
        match (&self.0, &other.0) {
            (TextRepr::Word(a), TextRepr::Word(b)) => a == b,
            (TextRepr::Word(_), _) | (_, TextRepr::Word(_)) => false,
            _ => self.same_spelling(other),
        }
    }
}

impl Eq for Text {}

/// By bytes.
impl Ord for Text {
    fn cmp(&self, other: &Text) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

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

/// The code that stands for "not in the vocabulary".
pub(super) const OTHER: u8 = u8::MAX;

/// The name of a field. Known names (`width`, `framerate`, …) cost a byte and compare as numbers.
///
/// Names are ordered: known ones as in the vocabulary (`format` first), then others by text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldName {
    pub(super) code: u8,
    pub(super) other: Option<Text>,
}

impl FieldName {
    /// A name of any kind. Allocates if it is not a known one.
    pub fn new(name: &str) -> FieldName {
        match vocab::field_code(name) {
            Some(code) => FieldName { code, other: None },
            None => FieldName {
                code: OTHER,
                other: Some(Text::new(name)),
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
        match &self.other {
            Some(text) => text.as_str(),
            None => vocab::field_name(self.code),
        }
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
