//! Reads the JSON of conformance files, so that what is not of the form is told with its place.

use core::fmt;
use serde_json::{Map, Value as Json};
use thiserror::Error;

/// Why a conformance file is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConformError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// The file is larger than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error("the file has more than conform-bytes={max} bytes")]
    TooLong {
        /// The limit.
        max: u64,
    },
    /// It is not JSON.
    #[error("line {line}, column {column}: not JSON: {what}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 at the end of the line before.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// Something else should stand there.
    #[error("{place}: expected {expected}, found {found}")]
    Form {
        /// Where, as `cases[3].a`.
        place: String,
        /// What should.
        expected: String,
        /// What does.
        found: String,
    },
}

impl ConformError {
    pub(super) fn not_json(error: serde_json::Error) -> ConformError {
        let (line, column) = (error.line(), error.column());
        let what = error.to_string();
        let place = format!(" at line {line} column {column}");
        ConformError::NotJson {
            line,
            column,
            what: what.strip_suffix(&place).unwrap_or(&what).to_owned(),
        }
    }
}

/// A value of the file and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub json: &'a Json,
    place: Place<'a>,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Key(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Key(Place::Root, key) => f.write_str(key),
            Place::Key(parent, key) => write!(f, "{parent}.{key}"),
            Place::Item(parent, i) => write!(f, "{parent}[{i}]"),
        }
    }
}

impl<'a> Node<'a> {
    pub(super) fn root(json: &'a Json) -> Node<'a> {
        let place = Place::Root;
        Node { json, place }
    }

    /// The error that `expected` should stand here.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> ConformError {
        ConformError::Form {
            place: match self.place {
                Place::Root => "the file".to_owned(),
                place => place.to_string(),
            },
            expected: expected.into(),
            found: found(self.json),
        }
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Json>, ConformError> {
        self.json.as_object().ok_or_else(|| self.wrong("an object"))
    }

    pub(super) fn list(&self) -> Result<&'a [Json], ConformError> {
        let items = self.json.as_array().ok_or_else(|| self.wrong("a list"))?;
        Ok(items)
    }

    /// A member of a list, if there are so many.
    pub(super) fn item(&'a self, i: usize) -> Option<Node<'a>> {
        let place = Place::Item(&self.place, i);
        self.json.get(i).map(|json| Node { json, place })
    }

    /// A field of an object, if it is there.
    pub(super) fn get(&'a self, key: &'a str) -> Option<Node<'a>> {
        let place = Place::Key(&self.place, key);
        self.json.get(key).map(|json| Node { json, place })
    }

    /// A field of an object that must be there.
    pub(super) fn field(&'a self, key: &'a str) -> Result<Node<'a>, ConformError> {
        self.object()?;
        self.get(key)
            .ok_or_else(|| self.wrong(format!("an object with `{key}`")))
    }

    /// An answer that is never null: null stands for none.
    pub(super) fn answer(&'a self, key: &'a str) -> Option<Node<'a>> {
        self.get(key).filter(|node| !node.json.is_null())
    }

    pub(super) fn text(&self) -> Result<&'a str, ConformError> {
        self.json.as_str().ok_or_else(|| self.wrong("a text"))
    }

    pub(super) fn truth(&self) -> Result<bool, ConformError> {
        self.json
            .as_bool()
            .ok_or_else(|| self.wrong("true or false"))
    }

    /// A whole number from `min` to `max`.
    pub(super) fn whole(&self, min: i64, max: i64) -> Result<i64, ConformError> {
        self.json
            .as_i64()
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| self.wrong(format!("a whole number in {min}..={max}")))
    }
}

/// What stands somewhere, in a few words.
fn found(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(value) => value.to_string(),
        Json::String(text) if text.len() <= 40 => Json::from(text.as_str()).to_string(),
        Json::String(text) => format!("a text of {} bytes", text.len()),
        Json::Array(items) => format!("a list of {}", items.len()),
        Json::Object(fields) => match fields.keys().next() {
            None => "an object without fields".to_owned(),
            Some(first) => format!(
                "an object of {} fields, the first {}",
                fields.len(),
                super::shown(&Json::from(first.as_str()).to_string())
            ),
        },
    }
}
