//! Changes of caps in mid-stream as a text: `100: A | 250: B`. Touches caps only.

use super::caps_text::cut;
use core::fmt::Write;
use thiserror::Error;
use tickpipe_components::caps::{Caps, CapsParseError, CapsParseErrorKind};
use tickpipe_components::property::FormError;

/// The most changes of one source, `capssrc-changes`.
pub const MAX_CHANGES: usize = 1024;

/// A text that is no list of changes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("changes text, byte {offset}: {kind}")]
pub struct ChangesError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ChangesErrorKind,
}

/// What is wrong in a text of changes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ChangesErrorKind {
    /// A change does not say from which buffer on.
    #[error("expected a change such as `100: video/x-raw`, found no `:`")]
    NoColon,
    /// The number is none, or none of a buffer after the first.
    #[error("`{0}` is not the index of a buffer; expected 1..={max}", max = u64::MAX)]
    NoIndex(String),
    /// Indices do not rise.
    #[error("a change at buffer {index} follows one at {before}; indices must rise")]
    NotRising {
        /// The index.
        index: u64,
        /// That of the change before.
        before: u64,
    },
    /// A change to nothing.
    #[error("expected caps after `:`, found none")]
    NoCaps,
    /// A quote or bracket has no end.
    #[error("`{0}` is not closed")]
    NotClosed(char),
    /// It changes to something that is not caps.
    #[error(transparent)]
    Caps(CapsParseErrorKind),
    /// There are too many.
    #[error("{0} changes are past the limit capssrc-changes={MAX_CHANGES}")]
    Limit(usize),
}

impl ChangesErrorKind {
    fn at(self, offset: usize) -> ChangesError {
        ChangesError { offset, kind: self }
    }
}

impl From<ChangesError> for FormError {
    fn from(error: ChangesError) -> FormError {
        FormError {
            offset: error.offset,
            problem: error.kind.to_string(),
        }
    }
}

/// Checks a text, as a property does.
pub(super) fn check_changes(text: &str) -> Result<(), FormError> {
    parse_changes(text).map(drop).map_err(FormError::from)
}

/// Reads `100: A | 250: B`: caps and the index of the buffer from which on they hold, rising. An
/// empty text is no change.
///
/// # Errors
/// Where it is not so, and why.
pub fn parse_changes(text: &str) -> Result<Vec<(u64, Caps)>, ChangesError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let pieces = cut(text, "|").map_err(|e| ChangesErrorKind::NotClosed(e.mark).at(e.offset))?;
    if pieces.len() > MAX_CHANGES {
        return Err(ChangesErrorKind::Limit(pieces.len()).at(pieces[MAX_CHANGES].0));
    }
    let mut changes: Vec<(u64, Caps)> = Vec::with_capacity(pieces.len());
    for (start, piece) in pieces {
        let offset = start + piece.len() - piece.trim_start().len();
        let Some((number, rest)) = piece.split_once(':') else {
            return Err(ChangesErrorKind::NoColon.at(offset));
        };
        let number = number.trim();
        let index = match number.parse::<u64>() {
            Ok(index) if index > 0 => index,
            _ => return Err(ChangesErrorKind::NoIndex(number.to_owned()).at(offset)),
        };
        if let Some(&(before, _)) = changes.last()
            && before >= index
        {
            return Err(ChangesErrorKind::NotRising { index, before }.at(offset));
        }
        let rest_at = start + piece.len() - rest.len();
        let caps: Caps = rest.parse().map_err(|error: CapsParseError| {
            ChangesErrorKind::Caps(error.kind).at(rest_at + error.offset)
        })?;
        if caps.is_empty() {
            return Err(ChangesErrorKind::NoCaps.at(rest_at));
        }
        changes.push((index, caps));
    }
    Ok(changes)
}

/// The text of changes; reads back as the same.
pub(super) fn print_changes(changes: &[(u64, Caps)]) -> String {
    let mut text = String::new();
    for (i, (index, caps)) in changes.iter().enumerate() {
        let mark = if i > 0 { " | " } else { "" };
        // Writing to a string does not fail.
        let _ = write!(text, "{mark}{index}: {caps}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        let text = r#" 3: video/x-raw(memory:DMABuf),width=[1,9]|10: a/x,t="|1:"; b/y | 11:ANY"#;
        let changes = parse_changes(text).expect("changes");
        let indices: Vec<u64> = changes.iter().map(|c| c.0).collect();
        assert_eq!(indices, [3, 10, 11]);
        assert_eq!(changes[1].1.structures()[0].string("t"), Some("|1:"));
        assert!(changes[2].1.is_any());
        let again = print_changes(&changes);
        assert_eq!(
            again,
            r#"3: video/x-raw(memory:DMABuf),width=[1,9] | 10: a/x,t="\|1:"; b/y | 11: ANY"#
        );
        assert_eq!(parse_changes(&again), Ok(changes));
        assert_eq!(parse_changes(" "), Ok(Vec::new()));
        assert_eq!(print_changes(&[]), "");
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, error) in [
            (
                " a/x",
                "byte 1: expected a change such as `100: video/x-raw`, found no `:`",
            ),
            (
                "1: a/x |",
                "byte 8: expected a change such as `100: video/x-raw`, found no `:`",
            ),
            (
                "0: a/x",
                "byte 0: `0` is not the index of a buffer; expected 1..=18446744073709551615",
            ),
            (
                "1: a/x | -2 : a/x",
                "byte 9: `-2` is not the index of a buffer; expected 1..=18446744073709551615",
            ),
            (
                "5: a/x | 5: b/y",
                "byte 9: a change at buffer 5 follows one at 5; indices must rise",
            ),
            ("5:", "byte 2: expected caps after `:`, found none"),
            ("5: EMPTY", "byte 2: expected caps after `:`, found none"),
            ("5: a/x,f={1", "byte 9: `{` is not closed"),
            ("5: a/x,f=", "byte 9: expected a value, found the end"),
        ] {
            let got = parse_changes(text).expect_err(text);
            assert_eq!(got.to_string(), format!("changes text, {error}"), "{text}");
            assert_eq!(check_changes(text).expect_err(text).to_string(), error);
        }
        let many: Vec<String> = (1..=1025).map(|i| format!("{i}:a/x")).collect();
        let got = parse_changes(&many.join("|")).expect_err("too many");
        assert_eq!(
            got.kind.to_string(),
            "1025 changes are past the limit capssrc-changes=1024"
        );
    }
}
