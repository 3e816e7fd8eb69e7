//! Why a scenario file is refused, and where. Sentences are made when shown.

use crate::source::{Place, Source};
use core::fmt;
use core::ops::Range;
use thiserror::Error;
use tickpipe::LaunchGraphError;
use tickpipe::components::caps::CapsParseError;
use tickpipe::components::limits::LimitError;
use tickpipe::components::property::PropertyError;
use tickpipe::launch::{self, Span};

/// The reason for which a scenario file is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScenarioErrorKind {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// The file is larger than [`MAX_FILE_BYTES`](crate::MAX_FILE_BYTES).
    #[error("the file has more than {max} bytes")]
    TooLong {
        /// The limit.
        max: u64,
    },
    /// The file is no UTF-8 text.
    #[error("byte {offset} is not UTF-8 text")]
    NotUtf8 {
        /// The first byte that is not.
        offset: usize,
    },
    /// It is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// It is written for another version of the format.
    #[error(
        "version {found} is not known; this program reads version {}",
        crate::VERSION
    )]
    Version {
        /// What the file says.
        found: String,
    },
    /// A key that means nothing.
    #[error("unknown key `{key}`; known here: {}", .known.join(", "))]
    UnknownKey {
        /// The key with its tables, such as `run.thread`.
        key: String,
        /// The nearest that there is.
        closest: Option<&'static str>,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// A key that must be there.
    #[error("`{key}` is missing")]
    Missing {
        /// The key with its tables.
        key: String,
    },
    /// A value of another type.
    #[error("`{key}` takes {expected}, not {found}")]
    WrongType {
        /// The key with its tables.
        key: String,
        /// What it takes.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A number outside of its range.
    #[error("`{key}` = {value} is outside {min}..={max}")]
    OutOfRange {
        /// The key with its tables.
        key: String,
        /// What is there.
        value: String,
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
    /// A word that is none of those that are known.
    #[error("`{key}` = \"{value}\" is none of: {}", .known.join(", "))]
    NotAWord {
        /// The key with its tables.
        key: String,
        /// What is there.
        value: String,
        /// What can be.
        known: Vec<&'static str>,
    },
    /// A text that is no frame hash.
    #[error("`{key}`: \"{value}\" is not a frame hash of 16 hexadecimal digits")]
    NotAHash {
        /// The key with its tables.
        key: String,
        /// What is there.
        value: String,
    },
    /// Caps that cannot be read.
    #[error("`{key}`: {error}")]
    Caps {
        /// The key with its tables.
        key: String,
        /// Why.
        error: CapsParseError,
    },
    /// A limit that there is not, or cannot be set so.
    #[error("{0}")]
    Limit(LimitError),
    /// An expectation without a subject.
    #[error("`{table}` says of nothing what is expected; it needs one of: {}", .known.join(", "))]
    NoSubject {
        /// The table, such as `expect[0]`.
        table: String,
        /// What can be expected of.
        known: Vec<&'static str>,
    },
    /// An action that does nothing.
    #[error("`{table}` says nothing that is to be done; it needs one of: {}", .known.join(", "))]
    NothingDone {
        /// The table, such as `action[0]`.
        table: String,
        /// What can be done.
        known: Vec<&'static str>,
    },
    /// A seek that does not say where to.
    #[error("`{table}` does not say where to; it needs one of: {}", .known.join(", "))]
    Nowhere {
        /// The table, such as `action[0].seek`.
        table: String,
        /// How that can be said.
        known: Vec<&'static str>,
    },
    /// A property that an element does not have, or a value that it does not take.
    #[error("`{key}`: {error}")]
    Property {
        /// The table, such as `action[0].set`.
        key: String,
        /// Why.
        error: PropertyError,
    },
    /// An expectation with two subjects.
    #[error("`{key}` does not go with `{first}`: a table is about one thing")]
    TwoSubjects {
        /// The second, with its table.
        key: String,
        /// The first.
        first: &'static str,
    },
    /// An expectation that expects nothing.
    #[error("`{table}` expects nothing of its `{subject}`; it needs one of: {}", .known.join(", "))]
    NothingExpected {
        /// The table.
        table: String,
        /// What it is about.
        subject: &'static str,
        /// What can be expected of it.
        known: Vec<&'static str>,
    },
    /// `${...}` with another name than those that are known.
    #[error("`${{{name}}}` is not known in a launch text; known: `${{dir}}`")]
    UnknownVariable {
        /// What stands between the braces.
        name: String,
    },
    /// `${dir}` where the folder's name cannot stand in a launch text.
    #[error("`${{dir}}`: the folder's name {0:?} has a line break, or is no UTF-8 text")]
    Folder(String),
    /// The graph has no such element.
    #[error("`{key}`: the graph has no element named `{name}`")]
    NoElement {
        /// The key with its tables.
        key: String,
        /// What is expected.
        name: String,
        /// The nearest that there is.
        closest: Option<String>,
    },
    /// The element passes buffers on.
    #[error("`{key}`: element `{name}` is a {class}, which is no sink")]
    NotASink {
        /// The key with its tables.
        key: String,
        /// The element.
        name: String,
        /// Its class.
        class: &'static str,
    },
    /// The element does not synchronise its inputs.
    #[error("`{key}`: element `{name}` is a {class}, which does not synchronise its inputs")]
    NotSynchronised {
        /// The key with its tables.
        key: String,
        /// The element.
        name: String,
        /// Its class.
        class: &'static str,
    },
    /// A list that needs a number per input.
    #[error("`{key}` has {found} numbers, and `{name}` has {inputs} inputs")]
    Inputs {
        /// The key with its tables.
        key: String,
        /// The element.
        name: String,
        /// How many there are.
        found: usize,
        /// How many are needed.
        inputs: usize,
    },
    /// The graph has no such link.
    #[error("`{key}`: the graph has no link `{link}` (it has: {})", .known.join(", "))]
    NoLink {
        /// The key with its tables.
        key: String,
        /// What is expected.
        link: String,
        /// The links that there are, as `a.src -> b.sink`, at most eight of them.
        known: Vec<String>,
    },
    /// The launch text is wrong.
    #[error("launch text: {error}")]
    Launch {
        /// Why.
        error: LaunchGraphError,
        /// The launch text, with its variables filled in.
        text: String,
    },
}

/// A refused scenario file: the reason and the place.
#[derive(Debug)]
pub struct ScenarioError {
    kind: Box<ScenarioErrorKind>,
    source: Source,
    span: Range<usize>,
}

/// A reason and its span, before the file is known.
#[derive(Debug)]
pub(crate) struct Bad {
    pub kind: Box<ScenarioErrorKind>,
    pub span: Range<usize>,
}

impl Bad {
    pub fn new(kind: ScenarioErrorKind, span: Range<usize>) -> Bad {
        let kind = Box::new(kind);
        Bad { kind, span }
    }

    pub fn at(self, source: &Source) -> ScenarioError {
        ScenarioError {
            kind: self.kind,
            source: source.clone(),
            span: self.span,
        }
    }
}

impl ScenarioError {
    /// Why.
    pub fn kind(&self) -> &ScenarioErrorKind {
        &self.kind
    }

    /// Where: the first byte of what is wrong. Line 1, column 1 if the file could not be read.
    pub fn place(&self) -> Place {
        self.source.place(self.span.start)
    }

    /// What may help, if anything can be said.
    pub fn help(&self) -> Option<String> {
        use ScenarioErrorKind as K;
        match &*self.kind {
            K::UnknownKey {
                closest: Some(closest),
                ..
            } => Some(format!("did you mean `{closest}`?")),
            K::NoElement {
                closest: Some(closest),
                ..
            } => Some(format!("did you mean `{closest}`?")),
            K::Property {
                error:
                    PropertyError::Unknown {
                        closest: Some(closest),
                        ..
                    },
                ..
            } => Some(format!("did you mean `{closest}`?")),
            K::NoElement { .. } => {
                Some("an element is named by `name=` in the launch text".to_owned())
            }
            K::Folder(_) => Some("write the whole path instead".to_owned()),
            _ => None,
        }
    }

    /// The error with the line of the file that it is about and a mark under the place; a wrong
    /// launch text is shown with a mark of its own.
    pub fn render(&self) -> String {
        if let ScenarioErrorKind::Read(_) | ScenarioErrorKind::TooLong { .. } = &*self.kind {
            return format!("error: {}: {}", self.source.name, self.kind);
        }
        if let ScenarioErrorKind::Launch { error, text } = &*self.kind {
            let inner = error.render(text);
            let inner = inner.strip_prefix("error: ").unwrap_or(&inner);
            return format!("error: {}: launch text: {inner}", self.place());
        }
        let span = Span::new(self.span.start, self.span.end);
        let help = self.help();
        launch::render(&self.source.text, span, &self.to_string(), help.as_deref())
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.kind)
    }
}

impl core::error::Error for ScenarioError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&*self.kind)
    }
}
