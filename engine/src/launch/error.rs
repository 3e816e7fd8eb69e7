//! Why a launch text is refused, and where. Sentences are made when shown.

use super::describe::Span;
use super::render::render;

/// The reason for which a launch text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchErrorKind {
    /// Nothing but white space.
    #[error("the description is empty")]
    Empty,
    /// More than [`MAX_TEXT_BYTES`](super::MAX_TEXT_BYTES).
    #[error("the description has {bytes} bytes, the limit is {max}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// More than [`MAX_ELEMENTS`](super::MAX_ELEMENTS) elements and bins.
    #[error("the description has more than {max} elements")]
    TooManyElements {
        /// The limit.
        max: usize,
    },
    /// More than [`MAX_DEPTH`](super::MAX_DEPTH) bins inside each other.
    #[error("bins are nested deeper than {max}")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// A character that starts nothing.
    #[error("unexpected character {0:?}")]
    UnexpectedCharacter(char),
    /// A mark that has a meaning, but not here.
    #[error("unexpected `{0}`")]
    Unexpected(String),
    /// A quote where an element or caps should stand.
    #[error("quoted text is neither an element nor caps")]
    QuotedText,
    /// `key=` with nothing behind it.
    #[error("`{key}` has no value")]
    MissingValue {
        /// The property.
        key: String,
    },
    /// `!` with nothing before it.
    #[error("nothing stands before this link")]
    LinkWithoutSource,
    /// `!` with nothing behind it.
    #[error("nothing follows this link")]
    LinkWithoutSink,
    /// `! name. ! ...`: a reference ends its chain.
    #[error("a link cannot go on from the reference `{name}.`")]
    LinkAfterReference {
        /// The name referred to.
        name: String,
    },
    /// `! uri ! ...`: a URI ends its chain.
    #[error("a link cannot go on from a URI")]
    LinkAfterUri,
    /// `key=value` that follows no element.
    #[error("property `{key}` belongs to no element")]
    PropertyWithoutElement {
        /// The property.
        key: String,
    },
    /// `.pad` that follows no element and no link.
    #[error("pad `{pad}` belongs to no element")]
    PadWithoutElement {
        /// The pad.
        pad: String,
    },
    /// A comma in a list of pads, and no name behind it.
    #[error("a pad name is missing after this comma")]
    MissingPad,
    /// `name.` that is not linked to anything.
    #[error("the reference `{name}.` is not part of a link")]
    LooseReference {
        /// The name referred to.
        name: String,
    },
    /// `element .pad` without a link behind it.
    #[error("pad `{pad}` is not part of a link")]
    LoosePad {
        /// The pad.
        pad: String,
    },
    /// Caps that do not stand between two links.
    #[error("caps `{caps}` do not stand between two linked elements")]
    LooseCaps {
        /// The caps, or their beginning.
        caps: String,
    },
    /// A path where an element should stand.
    #[error("a path is not an element")]
    BarePath,
    /// A URI that no element of this program answers to.
    #[error("no element reads or writes `{uri}`")]
    UnsupportedUri {
        /// The URI, or its beginning.
        uri: String,
    },
    /// `@preset=...`.
    #[error("presets are not supported")]
    Preset,
    /// `( )`.
    #[error("the bin `{factory}` is empty")]
    EmptyBin {
        /// The bin's type.
        factory: String,
    },
    /// `factory.( ... )` with a type that is no bin.
    #[error("`{factory}` is not a bin")]
    NotABin {
        /// The type.
        factory: String,
    },
    /// A bracket that never closes.
    #[error("this bin is not closed")]
    UnclosedBin {
        /// A value inside the bin that ends with `)`, if there is one.
        swallowed_by: Option<String>,
    },
    /// A bracket that was never opened.
    #[error("this bracket closes nothing")]
    UnmatchedClose,
    /// A link out of a bin whose last chain ends with a reference or a URI.
    #[error("the bin before this link ends with a reference or URI, not with an element")]
    BinWithoutSource,
    /// A link into a bin whose first chain starts with a reference or a URI.
    #[error("the bin after this link starts with a reference or URI, not with an element")]
    BinWithoutSink,
    /// A reference to a name that no element has.
    #[error("no element named `{name}`")]
    UnknownName {
        /// The name.
        name: String,
        /// A name that exists and is nearly the same.
        suggestion: Option<String>,
    },
    /// A reference to a bin.
    #[error("`{name}` is a bin, which has no pads of its own")]
    BinReferenced {
        /// The bin's name.
        name: String,
    },
    /// Two elements or bins of one name.
    #[error("the name `{name}` is given twice")]
    DuplicateName {
        /// The name.
        name: String,
        /// Where it is given first.
        first: Span,
    },
    /// `name=""`.
    #[error("a name cannot be empty")]
    EmptyName,
    /// A name in double quotes twice over that is no text.
    #[error("a name has two double quotes around it or none")]
    BrokenName,
    /// A link from an element to itself.
    #[error("an element cannot be linked to itself")]
    LinkToSelf,
    /// Two lists of pads of different length.
    #[error("{from} pads are linked to {to}")]
    PadCount {
        /// Pads before the link.
        from: usize,
        /// Pads after the link.
        to: usize,
    },
}

/// A refused launch text: the reason and the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct LaunchError {
    /// Why.
    pub kind: LaunchErrorKind,
    /// Where, in bytes of the text.
    pub span: Span,
}

impl LaunchError {
    pub(crate) fn new(kind: LaunchErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// What may help, if anything can be said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        use LaunchErrorKind as K;
        let fixed = match &self.kind {
            K::Empty => "write elements with `!` between them, as `videotestsrc ! fakesink`",
            K::QuotedText => {
                "quotes belong around values (`location=\"a b\"`); caps are written without them"
            }
            K::MissingValue { .. } => "an empty value is written `\"\"`",
            K::LinkAfterReference { name } => {
                return Some(format!(
                    "start anew from it: `... ! {name}.  {name}. ! ...`"
                ));
            }
            K::PropertyWithoutElement { .. } => {
                "properties follow their element at once, before any pad or link"
            }
            K::LooseReference { name } => return Some(format!("link it: `{name}. ! ...`")),
            K::LooseCaps { .. } => {
                "caps have an element and a link on either side: `videotestsrc ! video/x-raw ! fakesink`"
            }
            K::BarePath => "a file is read by `filesrc location=...`",
            K::UnsupportedUri { .. } => "only `file:///...` is known",
            K::UnclosedBin {
                swallowed_by: Some(value),
            } => {
                return Some(format!(
                    "the bracket in `{value}` is part of the value: put a space before it"
                ));
            }
            K::UnknownName {
                suggestion: Some(name),
                ..
            } => return Some(format!("did you mean `{name}`?")),
            K::UnknownName { .. } => "a name is given with `name=` on the element",
            K::NotABin { .. } => "brackets make a `bin` or a `pipeline`",
            K::BinReferenced { .. } => "refer to an element inside it",
            _ => return None,
        };
        Some(fixed.to_owned())
    }

    /// The error as text, with a mark under its place; see [`render`].
    #[must_use]
    pub fn render(&self, text: &str) -> String {
        render(text, self.span, &self.to_string(), self.help().as_deref())
    }
}
