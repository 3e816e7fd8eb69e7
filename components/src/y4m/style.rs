//! How a header was written, as one word list that fits in a caps field, and headers written in
//! that way for other facts. Pure functions on text.

use super::error::HeaderError;
use super::fields::{Facts, Key, Seen};
use super::header::{Header, MAX_HEADER_BYTES, disagree, interpret};

impl Header {
    /// How this header is written, apart from what `carried` says anyway: `None` if the canonical
    /// header for `carried` is this very line.
    ///
    /// `carried` are the facts that will be at hand when the header is written again, after a way
    /// through caps. The text lists the fields in order: a label alone (`W`, `XYSCSS`) stands for
    /// a field in canonical form, anything else is the field itself. Bytes other than printable
    /// ASCII, and `%`, are written `%XX`, so the text is one line of ASCII.
    pub fn style(&self, carried: &Facts) -> Option<String> {
        if Header::from_facts(carried).is_ok_and(|h| h.fields == self.fields)
            && !self.carriage_return
        {
            return None;
        }
        let mut style = String::new();
        for (i, field) in self.fields.iter().enumerate() {
            if i > 0 {
                style.push(' ');
            }
            let canonical = Key::of(field)
                .filter(|(key, _)| {
                    key.canonical(carried)
                        .is_some_and(|text| text.as_bytes() == field.as_slice())
                })
                .map(|(key, _)| key.label());
            match canonical {
                Some(label) => style.push_str(label),
                None => escape_into(field, carried, &mut style),
            }
        }
        if self.carriage_return {
            style.push_str("%0D");
        }
        Some(style)
    }

    /// A header for `facts`, written in the way that [`style`](Header::style) recorded.
    ///
    /// A field kept by the style stays as it was if it still says the same; one that does not is
    /// written canonically; one that is missing is added at the end. With the facts of the header
    /// that the style came from, the result is that header byte for byte. A style that cannot be
    /// used (not made by `style`) gives the canonical header. Errors as
    /// [`from_facts`](Header::from_facts).
    pub fn from_style(facts: &Facts, style: &str) -> Result<Header, HeaderError> {
        Ok(match restyle(facts, style) {
            Some(header) => header,
            None => Header::from_facts(facts)?,
        })
    }
}

/// Writes a field so that it is one word of printable ASCII. An escaped first byte also marks a
/// field that is to be kept whatever it says: a comment that is a bare label, or that contradicted
/// the facts all along.
fn escape_into(bytes: &[u8], carried: &Facts, text: &mut String) {
    let bare = Key::ALL.iter().any(|k| k.label().as_bytes() == bytes);
    let contradicts =
        matches!(Key::of(bytes), Some((Key::Xyscss, _))) && !agrees(Key::Xyscss, bytes, carried);
    for (i, byte) in bytes.iter().enumerate() {
        let mark = i == 0 && (bare || contradicts);
        if (0x21..=0x7e).contains(byte) && *byte != b'%' && !mark {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (code, tail) = tail.split_at_checked(2)?;
        let code = std::str::from_utf8(code).ok()?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        rest = tail;
    }
    Some(bytes)
}

/// The header that [`Header::from_style`] describes; `None` if the style is of no use.
fn restyle(facts: &Facts, style: &str) -> Option<Header> {
    let (style, carriage_return) = match style.strip_suffix("%0D") {
        Some(style) => (style, true),
        None => (style, false),
    };
    let mut fields: Vec<Field> = Vec::new();
    for word in style.split(' ') {
        match Key::ALL.iter().find(|key| key.label() == word) {
            Some(key) => fields.extend(Field::canonical(*key, facts)),
            None => fields.push(Field {
                text: unescape(word)?,
                kept: word.starts_with("%58"),
            }),
        }
    }
    let foreign = |b: &u8| matches!(b, b' ' | b'\n');
    if fields.iter().any(|f| f.text.iter().any(foreign)) {
        return None;
    }
    // Replace what contradicts the facts, field by field; earlier repeats do not count.
    for key in Key::ALL {
        let says = |f: &Field| Key::of(&f.text).is_some_and(|(k, _)| k == key);
        let Some(last) = fields.iter_mut().rfind(|f| says(f)) else {
            continue;
        };
        if last.kept || agrees(key, &last.text, facts) {
            continue;
        }
        match Field::canonical(key, facts) {
            Some(field) => *last = field,
            // Comments alone may be left out.
            None => fields.retain(|f| !says(f)),
        }
    }
    let mut fields: Vec<Vec<u8>> = fields.into_iter().map(|f| f.text).collect();
    // Add what is still not said.
    for key in Key::ALL {
        let (seen, _) = interpret(&fields).ok()?;
        if !same(key, &seen.facts_or(&UNSAID), facts) {
            fields.extend(key.canonical(facts).map(String::into_bytes));
        }
    }
    let mut carriage_return = carriage_return;
    if let (false, Some(last)) = (carriage_return, fields.last_mut())
        && last.last() == Some(&b'\r')
    {
        // At the end of the line it is read as part of the line's end.
        last.pop();
        carriage_return = true;
    }
    let header = Header::from_fields(fields, carriage_return).ok()?;
    let fits = header.to_bytes().len() <= MAX_HEADER_BYTES;
    (fits && header.facts().filled() == facts.filled()).then_some(header)
}

/// A field on its way into a header.
struct Field {
    text: Vec<u8>,
    /// Not to be replaced, whatever it says.
    kept: bool,
}

impl Field {
    fn canonical(key: Key, facts: &Facts) -> Option<Field> {
        Some(Field {
            text: key.canonical(facts)?.into_bytes(),
            kept: false,
        })
    }
}

/// Dimensions that no header has, for fields that do not give them.
const UNSAID: (u32, u32) = (0, 0);

/// Whether a field, read alone, says what the facts say about it.
fn agrees(key: Key, field: &[u8], facts: &Facts) -> bool {
    let mut seen = Seen::default();
    if seen.take(field, 0).is_err() {
        return false;
    }
    let said = seen.facts_or(&UNSAID);
    match key {
        // Beside a `C` that counts, it may say less (FFmpeg writes XYSCSS=444 beside C444alpha).
        Key::Xyscss => seen.xyscss.is_none() || !disagree(said.chroma, facts.chroma),
        // An XCOLORRANGE that is not understood says nothing and stays.
        Key::Range => seen.range.is_none() || same(key, &said, facts),
        _ => same(key, &said, facts),
    }
}

/// Whether two sets of facts mean the same as far as one field goes, assumptions included.
fn same(key: Key, a: &Facts, b: &Facts) -> bool {
    let (a, b) = (a.filled(), b.filled());
    match key {
        Key::Width => a.width == b.width,
        Key::Height => a.height == b.height,
        Key::Rate => a.rate == b.rate,
        Key::Interlacing => a.interlacing == b.interlacing,
        Key::Aspect => a.aspect == b.aspect,
        Key::Chroma => a.chroma == b.chroma,
        // Never added on its own.
        Key::Xyscss => true,
        Key::Range => a.range == b.range,
    }
}
