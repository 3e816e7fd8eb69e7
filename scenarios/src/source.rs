//! A scenario file's text and places in it. Plain data.

use core::ops::Range;
use std::sync::Arc;

/// A file's name and text.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: Arc<str>,
    pub text: Arc<str>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl core::fmt::Display for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Source {
    pub fn new(name: &str, text: &str) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
        }
    }

    /// The place of a byte of the text; one past its end, or inside a character, is moved back.
    pub fn place(&self, byte: usize) -> Place {
        let mut at = byte.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = self.text.get(..at).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let in_line = before.get(line_start..).unwrap_or("");
        Place {
            file: Arc::clone(&self.name),
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: in_line.chars().count() + 1,
        }
    }

    /// The text of a span.
    pub fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let source = Source::new("a.toml", "ä=1\r\nbé=2\n");
        let at = |byte| source.place(byte).to_string();
        assert_eq!(at(0), "a.toml:1:1");
        assert_eq!(at(1), "a.toml:1:1");
        assert_eq!(at(2), "a.toml:1:2");
        assert_eq!(at(6), "a.toml:2:1");
        assert_eq!(at(9), "a.toml:2:3");
        assert_eq!(at(99), "a.toml:3:1");
    }
}
