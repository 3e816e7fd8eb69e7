//! A scenario file's text and places in it. Plain data.

use core::ops::Range;
use std::sync::Arc;

/// A file's name and text.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: Arc<str>,
    pub text: Arc<str>,
    /// The first byte of each line.
    lines: Arc<[usize]>,
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
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let lines = core::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        Source {
            name: name.into(),
            text: text.into(),
            lines: lines.collect(),
        }
    }

    /// The place of a byte of the text; one past its end, or inside a character, is moved back.
    pub fn place(&self, byte: usize) -> Place {
        let mut at = byte.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.lines.partition_point(|&start| start <= at).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let in_line = self.text.get(start..at).unwrap_or("");
        Place {
            file: Arc::clone(&self.name),
            line,
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
