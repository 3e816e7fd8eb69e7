//! What can be wrong in a caps text, and where. Reads the limits and the errors of sets only.

use thiserror::Error;

use super::limits::CapsLimitError;
use super::range::SetError;

/// Lists inside one another that are read.
pub(super) const MAX_DEPTH: usize = 4;

/// A text that is not caps.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("caps text, byte {offset}: {kind}")]
pub struct CapsParseError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub kind: CapsParseErrorKind,
}

/// What is wrong in a caps text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CapsParseErrorKind {
    /// Something else should stand here.
    #[error("expected {expected}, found {}", .found.map_or("the end".to_owned(), |c| format!("`{c}`")))]
    Expected {
        /// What should.
        expected: &'static str,
        /// What does; `None` at the end.
        found: Option<char>,
    },
    /// A word that does not fit its type.
    #[error("`{text}` is not a value of type {kind}; expected {expected}")]
    BadValue {
        /// The type.
        kind: &'static str,
        /// The word.
        text: String,
        /// What the type's values look like.
        expected: &'static str,
    },
    /// A type that GStreamer has and caps here do not, or no type at all.
    #[error(
        "unknown type `{0}`; expected int, uint, string, fraction, boolean, bitmask or flagset"
    )]
    UnknownType(String),
    /// A set that cannot be.
    #[error(transparent)]
    Set(#[from] SetError),
    /// A range of one point, which GStreamer refuses.
    #[error("a range needs a minimum below its maximum; for one value write {0}")]
    OnePoint(String),
    /// A field that stands twice in a structure.
    #[error("field `{0}` is given twice")]
    DuplicateField(String),
    /// Features of another form than `group:Name`.
    #[error("`{0}` is not a feature; expected ANY or names such as memory:SystemMemory")]
    BadFeature(String),
    /// A quoted text whose escapes do not give UTF-8.
    #[error("the quoted text is not UTF-8")]
    NotUtf8,
    /// Lists too deep inside one another.
    #[error("lists are more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Too many fields, members, structures or bytes.
    #[error(transparent)]
    Limit(#[from] CapsLimitError),
}
