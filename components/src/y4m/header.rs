//! The header line of a Y4M file: read with byte offsets, kept as it was written. Pure functions
//! on bytes.
//!
//! Rules, where yuv4mpeg(5) leaves room:
//! - A repeated field is no error; the last one counts (as FFmpeg and GStreamer read it), with a
//!   warning. Earlier ones are still checked and kept.
//! - Without `C`, a `XYSCSS` comment decides the planes (as in FFmpeg); without both it is 4:2:0,
//!   8 bit, with `420jpeg` siting *assumed*.
//! - Without `XCOLORRANGE` the range is limited, *assumed*; without `I` the stream is progressive,
//!   *assumed*.
//! - Values are taken whole: `W6x` is an error, not 6.

use super::error::{Found, HeaderError, HeaderProblem, HeaderWarning};
use super::fields::{Facts, Key, Seen};
use super::tags::{ChromaTag, Interlacing, Planes, Siting};

/// Longest header line that is read, its end of line included.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;

/// What a Y4M file begins with, followed by a space (or the end of the line).
pub const MAGIC: &[u8] = b"YUV4MPEG2";

/// Where the chroma tag of a header comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChromaSource {
    /// A `C` field, which begins at this byte.
    Tag(u64),
    /// A `XYSCSS` comment, which begins at this byte.
    Comment(u64),
    /// Nothing in the header: the format's default.
    Assumed,
}

impl ChromaSource {
    /// Offset of the field that decided, or of the end of the magic if none did.
    pub const fn offset(self) -> u64 {
        match self {
            ChromaSource::Tag(offset) | ChromaSource::Comment(offset) => offset,
            ChromaSource::Assumed => MAGIC.len() as u64,
        }
    }
}

/// What a reader assumes because a header does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// Planes and depth: there is neither `C` nor `XYSCSS`.
    pub chroma: bool,
    /// Siting of 4:2:0 chroma: no tag, or one that names none (`420`, `420p10`).
    pub siting: bool,
    /// Range of sample values: no `XCOLORRANGE` that is understood.
    pub range: bool,
    /// Progressive: no `I`, or `I?`.
    pub interlacing: bool,
}

/// A header line. Made by [`Header::parse`] from a file, by [`Header::from_facts`] canonically, or
/// by [`Header::from_style`] from facts and the way in which another header was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The fields after the magic, as written, without the spaces between them.
    pub(super) fields: Vec<Vec<u8>>,
    pub(super) carriage_return: bool,
    facts: Facts,
    source: ChromaSource,
    warnings: Vec<HeaderWarning>,
}

impl Header {
    /// Reads the header line at the start of `bytes`, which are the first of a file.
    ///
    /// Returns the header and the length of its line, end of line included; `None` if the bytes
    /// are a good beginning and more are needed. Errors carry the offset; see [`HeaderProblem`].
    pub fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>, HeaderError> {
        check_magic(bytes)?;
        let window = bytes.get(..MAX_HEADER_BYTES).unwrap_or(bytes);
        match window.iter().position(|b| *b == b'\n') {
            Some(end) => {
                let line = window.get(..end).unwrap_or(window);
                Ok(Some((Header::parse_line(line)?, end + 1)))
            }
            None if bytes.len() >= MAX_HEADER_BYTES => Err(too_long()),
            None => Ok(None),
        }
    }

    /// Reads a header line without its `\n`.
    pub fn parse_line(line: &[u8]) -> Result<Header, HeaderError> {
        check_magic(line)?;
        if line.len() >= MAX_HEADER_BYTES {
            return Err(too_long());
        }
        let rest = line.get(MAGIC.len()..).unwrap_or(&[]);
        let (rest, carriage_return) = match rest.strip_suffix(b"\r") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let fields: Vec<Vec<u8>> = match rest.split_first() {
            None => Vec::new(),
            Some((b' ', rest)) => rest.split(|b| *b == b' ').map(<[u8]>::to_vec).collect(),
            // Only "YUV4MPEG2\r" followed by more gets here: the byte is not a separator.
            Some(_) => return Err(magic_error(line, MAGIC.len())),
        };
        Header::from_fields(fields, carriage_return)
    }

    pub(super) fn from_fields(
        fields: Vec<Vec<u8>>,
        carriage_return: bool,
    ) -> Result<Header, HeaderError> {
        let (mut seen, end) = interpret(&fields)?;
        let facts = seen.facts().map_err(|letter| HeaderError {
            offset: end,
            problem: HeaderProblem::Missing { letter },
        })?;
        let source = match (&seen.chroma, &seen.xyscss) {
            (Some((_, offset)), _) => ChromaSource::Tag(*offset),
            (None, Some((_, offset, _))) => ChromaSource::Comment(*offset),
            (None, None) => ChromaSource::Assumed,
        };
        if let (Some((tag, _)), Some((comment_tag, offset, comment))) = (&seen.chroma, &seen.xyscss)
            && disagree(*tag, *comment_tag)
        {
            seen.warnings.push(HeaderWarning::ChromaDisagrees {
                comment: comment.clone(),
                chroma: tag.text(),
                offset: *offset,
            });
        }
        if carriage_return {
            seen.warnings
                .push(HeaderWarning::CarriageReturn { offset: end });
        }
        Ok(Header {
            fields,
            carriage_return,
            facts,
            source,
            warnings: seen.warnings,
        })
    }

    /// The canonical header for these facts, as FFmpeg writes it: `W H F I A C XYSCSS
    /// XCOLORRANGE`, the last left out if the range is unknown.
    ///
    /// Errors if a dimension is out of range.
    pub fn from_facts(facts: &Facts) -> Result<Header, HeaderError> {
        let fields = Key::ALL
            .iter()
            .filter_map(|key| key.canonical(facts))
            .map(String::into_bytes)
            .collect();
        Header::from_fields(fields, false)
    }

    /// What the header says.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Which of the facts that a reader needs are assumed.
    pub fn assumed(&self) -> Assumed {
        let tag = self.facts.chroma;
        let halved = tag.sampling() == super::Sampling::S420;
        let chroma = self.source == ChromaSource::Assumed;
        Assumed {
            chroma,
            siting: chroma || (halved && tag.siting() == Siting::Unstated),
            range: self.facts.range.is_none(),
            interlacing: self.facts.interlacing == Interlacing::Unknown,
        }
    }

    /// Where the chroma tag comes from.
    pub const fn chroma_source(&self) -> ChromaSource {
        self.source
    }

    /// What is odd about the line, in the order of its bytes (contradictions last).
    pub fn warnings(&self) -> &[HeaderWarning] {
        &self.warnings
    }

    /// All fields after the magic as written, in order.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.fields.iter().map(Vec::as_slice)
    }

    /// The comments (`X` fields) as written, without the `X`, in order; those that are understood
    /// included.
    pub fn comments(&self) -> impl Iterator<Item = &[u8]> {
        self.fields().filter_map(|f| f.strip_prefix(b"X"))
    }

    /// The planes of each frame, in file order.
    pub fn planes(&self) -> Planes {
        self.facts
            .chroma
            .planes(self.facts.width, self.facts.height)
    }

    /// The line, end of line included: what was read, byte for byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut line = MAGIC.to_vec();
        for field in &self.fields {
            line.push(b' ');
            line.extend_from_slice(field);
        }
        if self.carriage_return {
            line.push(b'\r');
        }
        line.push(b'\n');
        line
    }
}

/// The offset and the first wrong byte matter, not how much of the file has arrived.
pub(super) fn check_magic(bytes: &[u8]) -> Result<(), HeaderError> {
    for (i, (found, expected)) in bytes.iter().zip(MAGIC).enumerate() {
        if found != expected {
            return Err(magic_error(bytes, i));
        }
    }
    match bytes.get(MAGIC.len()) {
        None | Some(b' ' | b'\n' | b'\r') => Ok(()),
        Some(_) => Err(magic_error(bytes, MAGIC.len())),
    }
}

fn magic_error(bytes: &[u8], at: usize) -> HeaderError {
    HeaderError {
        offset: at as u64,
        problem: HeaderProblem::Magic {
            found: Found::new(bytes.get(..=at).unwrap_or(bytes)),
        },
    }
}

pub(super) fn too_long() -> HeaderError {
    HeaderError {
        offset: MAX_HEADER_BYTES as u64,
        problem: HeaderProblem::TooLong {
            limit: MAX_HEADER_BYTES,
        },
    }
}

/// Reads all fields; returns what they say and the offset at which the line ends.
pub(super) fn interpret(fields: &[Vec<u8>]) -> Result<(Seen, u64), HeaderError> {
    let mut seen = Seen::default();
    let mut end = MAGIC.len() as u64;
    for field in fields {
        seen.take(field, end + 1)?;
        end += 1 + field.len() as u64;
    }
    Ok((seen, end))
}

/// Whether two tags say different things about planes, or about siting where both speak.
pub(super) fn disagree(a: ChromaTag, b: ChromaTag) -> bool {
    a.sampling() != b.sampling()
        || a.bits() != b.bits()
        || (a.siting() != b.siting()
            && a.siting() != Siting::Unstated
            && b.siting() != Siting::Unstated)
}
