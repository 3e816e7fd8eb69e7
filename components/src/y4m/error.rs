//! What can be wrong with a Y4M header line, and what is merely odd about it.
//! Errors carry the value, the allowed range and the byte offset; text is made when shown.

use std::fmt;

use super::tags::SUPPORTED_TAGS;

/// Bytes from a file, shown escaped and cut after 32 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Found(Vec<u8>);

impl Found {
    /// Keeps at most the first 33 bytes (the last says that there were more).
    pub fn new(bytes: &[u8]) -> Found {
        Found(bytes.iter().copied().take(33).collect())
    }

    /// The bytes kept.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        let shown = self.0.get(..32).unwrap_or(&self.0);
        let more = if self.0.len() > 32 { "…" } else { "" };
        write!(f, "\"{}{more}\"", shown.escape_ascii())
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A header that cannot be read: what is wrong, and at which byte of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Y4M header, byte {offset}: {problem}")]
pub struct HeaderError {
    /// Offset from the start of the file: the first byte of the field at fault, or the byte where
    /// something else should have stood.
    pub offset: u64,
    /// What is wrong there.
    pub problem: HeaderProblem,
}

/// The kinds of [`HeaderError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// The file does not begin with `YUV4MPEG2` and a space or end of line.
    #[error("not a Y4M file: expected \"YUV4MPEG2 \", found {found} from byte 0")]
    Magic {
        /// The first bytes of the file, up to and including the first wrong one.
        found: Found,
    },
    /// `W` or `H` is missing; the offset is that of the end of the line.
    #[error("the line ends without {letter} ({})", name(*.letter))]
    Missing {
        /// `W` or `H`.
        letter: char,
    },
    /// The value of `W` or `H` is not made of decimal digits alone.
    #[error("{letter} ({}) must be a whole number from {min} to {max}, found {value}", name(*.letter))]
    NotANumber {
        /// `W` or `H`.
        letter: char,
        /// The value as written.
        value: Found,
        /// Least value allowed.
        min: u32,
        /// Greatest value allowed.
        max: u32,
    },
    /// The value of `W` or `H` is a number, but zero or too large.
    #[error("{letter} ({}) must be from {min} to {max}, found {value}", name(*.letter))]
    OutOfRange {
        /// `W` or `H`.
        letter: char,
        /// The value as written.
        value: Found,
        /// Least value allowed.
        min: u32,
        /// Greatest value allowed.
        max: u32,
    },
    /// The value of `F` or `A` is not `n:d` with n and d from 0 to 2147483647.
    #[error("{letter} ({}) must be N:D with N and D from 0 to {max}, found {value}", name(*.letter))]
    NotARatio {
        /// `F` or `A`.
        letter: char,
        /// The value as written.
        value: Found,
        /// Greatest value of either part.
        max: u32,
    },
    /// `F` or `A` has a numerator over zero; only `0:0` means unknown.
    #[error("{letter} ({}) divides by zero in {value}; unknown is written {letter}0:0", name(*.letter))]
    ZeroDenominator {
        /// `F` or `A`.
        letter: char,
        /// The value as written.
        value: Found,
    },
    /// The value of `I` is not one of the five letters.
    #[error("I (interlacing) must be one of p, t, b, m, ?, found {value}")]
    Interlacing {
        /// The value as written.
        value: Found,
    },
    /// Nobody is known to write this `C` tag.
    #[error("unknown chroma tag, found {value} after C; supported: {SUPPORTED_TAGS}")]
    UnknownChroma {
        /// The value as written.
        value: Found,
    },
    /// No end of line within the limit.
    #[error("no end of line within {limit} bytes")]
    TooLong {
        /// [`MAX_HEADER_BYTES`](super::MAX_HEADER_BYTES).
        limit: usize,
    },
}

fn name(letter: char) -> &'static str {
    match letter {
        'W' => "width",
        'H' => "height",
        'F' => "frame rate",
        'A' => "pixel aspect ratio",
        _ => "field",
    }
}

/// Something odd in a header that can be read all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderWarning {
    /// A field is written more than once; the last one counts, as FFmpeg and GStreamer have it.
    #[error("byte {offset}: {field} is repeated (first at byte {first}); the last one counts")]
    Repeated {
        /// `W`, `H`, `F`, `I`, `A`, `C`, `XYSCSS` or `XCOLORRANGE`.
        field: &'static str,
        /// Offset of the occurrence before.
        first: u64,
        /// Offset of this one.
        offset: u64,
    },
    /// A field with a letter that the format does not define; kept, not understood.
    #[error("byte {offset}: unknown field {field}, kept as it is")]
    UnknownField {
        /// The field as written.
        field: Found,
        /// Its offset.
        offset: u64,
    },
    /// Two spaces in a row, or one before the end of the line.
    #[error("byte {offset}: empty field (two spaces, or one before the end of the line)")]
    EmptyField {
        /// Where a field should have begun.
        offset: u64,
    },
    /// The line ends with CR LF; the format asks for LF alone.
    #[error("byte {offset}: the line ends with CR LF instead of LF")]
    CarriageReturn {
        /// Offset of the CR.
        offset: u64,
    },
    /// `XYSCSS` names other planes or siting than `C`; `C` counts.
    #[error("byte {offset}: {comment} contradicts C{chroma}; C counts")]
    ChromaDisagrees {
        /// The comment as written.
        comment: Found,
        /// The tag after `C`.
        chroma: &'static str,
        /// Offset of the comment.
        offset: u64,
    },
    /// A `XYSCSS` or `XCOLORRANGE` with a value that nobody is known to write; ignored.
    #[error("byte {offset}: {comment} is not understood and ignored")]
    UnknownValue {
        /// The comment as written.
        comment: Found,
        /// Its offset.
        offset: u64,
    },
}
