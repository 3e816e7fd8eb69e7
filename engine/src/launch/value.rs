//! Values: what is left of a written one without its quotes and escapes, and the way back; the path
//! of a URI; a text from arguments. Pure.

/// At most 64 characters of a text that goes into a message.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// What a written value means, and whether it opens a quote that does not close.
///
/// One pair of quotes around the whole is taken off. Then a backslash stands for the character
/// behind it, but not between double quotes that are left. What then still is a text in double
/// quotes loses them too, with `\ooo` an octal byte, as GStreamer reads strings.
pub(super) fn value(raw: &str) -> (String, bool) {
    // A lone quote is a pair of quotes around nothing.
    if raw == "\"" {
        return (String::new(), true);
    }
    let strip = |quote: char| {
        let inner = raw.strip_prefix(quote)?.strip_suffix(quote)?;
        (raw.len() >= 2).then_some(inner)
    };
    let stripped = strip('"').or_else(|| strip('\''));
    let open = stripped.is_none() && raw.starts_with(['"', '\'']);
    let plain = unescape(stripped.unwrap_or(raw));
    (unwrap_string(&plain).unwrap_or(plain), open)
}

/// Whether what is left of a written value without its quotes and escapes begins and ends with a
/// double quote, and is no text in them: GStreamer has no such text.
pub(crate) fn is_broken_text(raw: &str) -> bool {
    quoted_twice(raw).is_some_and(|plain| unwrap_string(&plain).is_none())
}

/// Whether what is left of a written value without its quotes and escapes is a text in double quotes,
/// which is no value of any type but text.
pub(crate) fn is_text_only(raw: &str) -> bool {
    quoted_twice(raw).is_some()
}

/// What is left of a written value without its quotes and escapes, if it begins and ends with a
/// double quote.
fn quoted_twice(raw: &str) -> Option<String> {
    if raw.starts_with('\'') || raw == "\"" {
        return None;
    }
    let inner = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let plain = unescape(inner.unwrap_or(raw));
    (plain.starts_with('"') && plain.ends_with('"')).then_some(plain)
}

/// Takes the escapes off, except between double quotes.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut before = ' ';
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && !inside {
            match chars.next() {
                Some(escaped) => out.push(escaped),
                None => break,
            }
            before = ' ';
        } else {
            if c == '"' && (!inside || before != '\\') {
                inside = !inside;
            }
            out.push(c);
            before = c;
        }
    }
    out
}

/// A text in double quotes without them; `None` if it is not wholly one.
fn unwrap_string(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if text.len() < 2 {
        return None;
    }
    let mut out: Vec<u8> = Vec::with_capacity(inner.len());
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return None,
            b'\\' => {
                let first = bytes.next()?;
                if !first.is_ascii_digit() {
                    out.push(first);
                    continue;
                }
                let mut code = u32::from(first.checked_sub(b'0').filter(|digit| *digit < 4)?);
                for _ in 0..2 {
                    let digit = bytes.next()?.checked_sub(b'0').filter(|digit| *digit < 8)?;
                    code = code * 8 + u32::from(digit);
                }
                out.push(u8::try_from(code).ok()?);
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

/// Inline caps as written, with a backslash before white space taken off (not between double quotes).
pub(super) fn caps_text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut inside = false;
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        if c == '\\' && !inside && next.is_some_and(|next| next.is_ascii_whitespace()) {
            continue;
        }
        out.push(c);
        if c == '\\' {
            out.extend(chars.next());
        } else if c == '"' {
            inside = !inside;
        }
    }
    out
}

/// The path of a `file:///...` URI, or one of `localhost`, `%` escapes resolved; `None` for any other.
pub(super) fn file_path(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    let host = rest.find('/')?;
    let (host, rest) = rest.split_at_checked(host)?;
    let here = host.is_empty() || host == "localhost";
    if !scheme.eq_ignore_ascii_case("file") || !here {
        return None;
    }
    let mut path = Vec::with_capacity(rest.len());
    let mut bytes = rest.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            path.push(
                u8::try_from(high * 16 + low)
                    .ok()
                    .filter(|&code| code != 0)?,
            );
        } else {
            path.push(byte);
        }
    }
    String::from_utf8(path).ok()
}

/// A value as it is written so that [`value`] gives it back: bare if it can be, else in double
/// quotes.
pub(super) fn quote(value: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_-+./:,%=[]{}<>@#~;*?&|^".contains(c);
    if !value.is_empty() && value.chars().all(bare) {
        return value.to_owned();
    }
    // A value in double quotes of its own would lose them: it is wrapped once more.
    if value.starts_with('"') {
        return wrap(&wrap(value));
    }
    wrap(value)
}

fn wrap(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// One launch text from the arguments of a command line: a single argument is the text; of several,
/// the spaces inside each are escaped (but not those between double quotes), as `gst-launch-1.0`
/// does it, and they are joined by spaces. So `launch filesrc location="a b" ! fakesink` means
/// the same after the shell took its quotes off.
#[must_use]
pub fn join_arguments<S: AsRef<str>>(arguments: &[S]) -> String {
    if let [only] = arguments {
        return only.as_ref().to_owned();
    }
    let mut out = String::new();
    for argument in arguments {
        let mut inside = false;
        let mut before = ' ';
        for c in argument.as_ref().chars() {
            if c == '"' && (!inside || before != '\\') {
                inside = !inside;
            }
            if c == ' ' && !inside {
                out.push('\\');
            }
            out.push(c);
            before = c;
        }
        out.push(' ');
    }
    out.truncate(out.trim_end_matches(' ').len());
    out
}
