//! A launch text to marks, one at a time and without state, so that a mark's meaning depends on its
//! first character and on what follows, as in GStreamer. Each place is looked at a bounded number of
//! times.

use super::describe::Span;
use super::error::{LaunchError, LaunchErrorKind};
use super::value::short;

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// An element's type.
    Word,
    /// `key=value`.
    Assign { key: Span, value: Span },
    /// `name.` or `name.pad`.
    Reference { name: Span, pad: Option<Span> },
    /// `.pad`; the span without the dot.
    Pad(Span),
    /// `factory.(`.
    OpenNamed(Span),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `,`.
    Comma,
    /// `!` or `:` (`all`), with the caps between it and the next one.
    Link { all: bool, caps: Option<Span> },
    /// `scheme://...`.
    Uri,
}

/// A mark and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub mark: Mark,
    pub span: Span,
}

/// White space between marks: that of ASCII and the vertical tab.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn at(text: &str, place: usize) -> u8 {
    text.as_bytes().get(place).copied().unwrap_or(0)
}

/// The first place from `place` on whose byte fails the test.
fn skip(text: &str, place: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(place..).unwrap_or(&[]);
    place + rest.iter().take_while(|&&byte| test(byte)).count()
}

fn spaces(text: &str, place: usize) -> usize {
    skip(text, place, is_space)
}

/// The end of a name (letters, digits, `_`, and further on `-`, `%`, `:`) that starts at `place`;
/// `place` itself if none does.
fn word(text: &str, place: usize) -> usize {
    let first = at(text, place);
    if first.is_ascii_alphanumeric() || first == b'_' {
        skip(text, place, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'%' | b':')
        })
    } else {
        place
    }
}

/// Whether `name` can stand as an element's type, a property's key, or in a reference.
pub(super) fn is_word(name: &str) -> bool {
    !name.is_empty() && word(name, 0) == name.len()
}

/// The end of a media type (`video/x-raw`) that starts at `place`, if one does.
fn media_type(text: &str, place: usize) -> Option<usize> {
    let part = |place| {
        skip(text, place, |byte| {
            byte.is_ascii_alphanumeric() || byte == b'-'
        })
    };
    let slash = part(place);
    let end = part(slash + 1);
    (slash > place && at(text, slash) == b'/' && end > slash + 1).then_some(end)
}

/// The end of the value that starts at `place`: the longer of a quoted text and a run without white
/// space, in which a backslash keeps a following space.
fn value_end(text: &str, place: usize) -> usize {
    let bytes = text.as_bytes().get(place..).unwrap_or(&[]);
    let mut before = 0;
    let run = bytes
        .iter()
        .take_while(|&&byte| {
            let kept = !is_space(byte) || (before == b'\\' && byte != b'\n');
            before = byte;
            kept
        })
        .count();
    place + run.max(quoted(bytes).unwrap_or(0))
}

/// Length of the quoted text at the start, both quotes included, if it is closed: by a quote without
/// a backslash before it, or, where none comes, by the last double one with it.
fn quoted(bytes: &[u8]) -> Option<usize> {
    let quote = *bytes.first()?;
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    let mut escaped = false;
    let mut last = None;
    for (place, &byte) in bytes.iter().enumerate().skip(1) {
        if escaped {
            escaped = false;
            if byte == quote && quote == b'"' {
                last = Some(place + 1);
            }
        } else if byte == b'\\' {
            escaped = true;
        } else if byte == quote {
            return Some(place + 1);
        }
    }
    last
}

/// The caps between a link's mark and the next, and the place after that next mark: a media type
/// and anything up to an unescaped `!`, further ones after `;`. Where no `!` comes, the last `:`
/// ends them.
fn caps(text: &str, mark: usize) -> Option<(Span, usize)> {
    let start = spaces(text, mark + 1);
    let mut place = media_type(text, start)?;
    let mut colon = None;
    let bytes = text.as_bytes();
    let close = loop {
        match *bytes.get(place)? {
            b'!' => break place,
            b'\\' => place += 1,
            b',' if at(text, place + 1) == b';' => place += 1,
            b';' => match media_type(text, spaces(text, place + 1)) {
                Some(end) => {
                    place = end;
                    continue;
                }
                None => break colon?,
            },
            b':' => colon = Some(place),
            _ => {}
        }
        place += 1;
        if place >= bytes.len() {
            break colon?;
        }
    };
    let body = text.get(start..close)?;
    let end = start
        + body
            .trim_end_matches(|c: char| c.is_ascii() && is_space(c as u8))
            .len();
    Some((Span::new(start, end), close + 1))
}

/// The end of `scheme://...` that starts at `place`, if one does.
fn uri(text: &str, place: usize) -> Option<usize> {
    if !at(text, place).is_ascii_alphabetic() {
        return None;
    }
    let scheme = skip(text, place, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
    });
    let body = scheme + 3;
    (text.as_bytes().get(scheme..body) == Some(b"://")).then(|| value_end(text, body))
}

/// The mark at the first place from `place` on that is not white space; `None` at the end.
pub(super) fn next(text: &str, place: usize) -> Result<Option<Token>, LaunchError> {
    let start = spaces(text, place);
    let Some(c) = text.get(start..).and_then(|rest| rest.chars().next()) else {
        return Ok(None);
    };
    let token = |mark, end| {
        let span = Span::new(start, end);
        Ok(Some(Token { mark, span }))
    };
    let fail = |kind, end| Err(LaunchError::new(kind, Span::new(start, end)));
    match c {
        '!' | ':' => {
            let all = c == ':';
            match caps(text, start) {
                Some((caps, end)) => token(
                    Mark::Link {
                        // One of the two is enough.
                        all: all || at(text, end - 1) == b':',
                        caps: Some(caps),
                    },
                    end,
                ),
                None => token(Mark::Link { all, caps: None }, start + 1),
            }
        }
        '(' => token(Mark::Open, start + 1),
        ')' => token(Mark::Close, start + 1),
        ',' => token(Mark::Comma, start + 1),
        '.' if word(text, start + 1) > start + 1 => {
            let end = word(text, start + 1);
            token(Mark::Pad(Span::new(start + 1, end)), end)
        }
        '/' => fail(LaunchErrorKind::BarePath, value_end(text, start)),
        '.' | '_' if at(text, start + 1) == b'/' => {
            fail(LaunchErrorKind::BarePath, value_end(text, start))
        }
        '.' | ';' | '=' | '{' | '}' => fail(LaunchErrorKind::Unexpected(c.to_string()), start + 1),
        '"' | '\'' => fail(LaunchErrorKind::QuotedText, value_end(text, start)),
        '@' if text.get(start..start + 7) == Some("@preset") => {
            fail(LaunchErrorKind::Preset, value_end(text, start))
        }
        c if c.is_ascii_alphanumeric() || c == '_' => worded(text, start),
        c => fail(
            LaunchErrorKind::UnexpectedCharacter(c),
            start + c.len_utf8(),
        ),
    }
}

/// A mark that starts with a name.
fn worded(text: &str, start: usize) -> Result<Option<Token>, LaunchError> {
    let end = word(text, start);
    let token = |mark, end| {
        let span = Span::new(start, end);
        Ok(Some(Token { mark, span }))
    };
    let name = Span::new(start, end);
    if let Some(end) = uri(text, start) {
        return token(Mark::Uri, end);
    }
    let after = spaces(text, end);
    if at(text, after) == b'=' {
        let value = spaces(text, after + 1);
        if value >= text.len() {
            let key = text.get(start..end).unwrap_or("").to_owned();
            let span = Span::new(start, after + 1);
            return Err(LaunchError::new(
                LaunchErrorKind::MissingValue { key },
                span,
            ));
        }
        let value = Span::new(value, value_end(text, value));
        return token(Mark::Assign { key: name, value }, value.end);
    }
    if at(text, after) == b'.' {
        let bracket = spaces(text, after + 1);
        if at(text, bracket) == b'(' {
            return token(Mark::OpenNamed(name), bracket + 1);
        }
    }
    if at(text, end) == b'.' {
        let pad = Span::new(end + 1, word(text, end + 1));
        let pad = (pad.end > pad.start).then_some(pad);
        let end = pad.map_or(end + 1, |pad| pad.end);
        return token(Mark::Reference { name, pad }, end);
    }
    if at(text, end) == b'/'
        && let Some(caps_end) = media_type(text, start)
    {
        let caps_end = skip(text, caps_end, |byte| {
            !is_space(byte) && !matches!(byte, b'!' | b',' | b';')
        });
        let caps = text.get(start..caps_end).unwrap_or("").to_owned();
        let kind = LaunchErrorKind::LooseCaps { caps: short(&caps) };
        return Err(LaunchError::new(kind, Span::new(start, caps_end)));
    }
    token(Mark::Word, end)
}

/// Inline caps as they can be written between two links so that they are read back unchanged.
pub(super) fn is_inline_caps(text: &str) -> bool {
    let written = format!("!{text}!");
    !text.contains(['\\', '!'])
        && caps(&written, 0) == Some((Span::new(1, text.len() + 1), written.len()))
}
