//! Tokens of caps texts: which bytes a word has, quoting, and what an untyped word means. All as
//! GStreamer 1.22's parser was seen to do. Touches no other part of caps but values.

use super::fraction::Fraction;
use super::range::FlagSet;

/// Bytes that a word needs no quotes for.
pub(super) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b':' | b'.')
}

/// Whether a text can stand without quotes.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_word_byte)
}

/// Whether a text can stand as a media type without quotes: a word that starts with a letter and
/// is none of the words for all or nothing.
pub(super) fn is_media_word(text: &str) -> bool {
    is_word(text)
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && !matches!(text, "ANY" | "EMPTY" | "NONE")
}

/// What a word without a type means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Untyped {
    /// An integer, not checked for its range.
    Int(i128),
    /// A fraction; `None` if its denominator is zero or a part does not fit.
    Fraction(Option<Fraction>),
    Flags(FlagSet),
    Bool(bool),
    /// A number with a point or an exponent, which caps cannot hold.
    Double,
    Text,
}

/// What a word without a type means.
pub(super) fn classify(word: &str) -> Untyped {
    if let Some(value) = integer(word) {
        return Untyped::Int(value);
    }
    if is_double(word) {
        return Untyped::Double;
    }
    if let Some((num, den)) = ratio(word) {
        return Untyped::Fraction(
            i64::try_from(num)
                .ok()
                .zip(i64::try_from(den).ok())
                .and_then(|(num, den)| Fraction::from_i64(num, den)),
        );
    }
    if let Some(flags) = flags(word) {
        return Untyped::Flags(flags);
    }
    match boolean(word) {
        // 0 and 1 were taken as integers above.
        Some(value) => Untyped::Bool(value),
        None => Untyped::Text,
    }
}

/// An integer as C's `strtoll` with base 0 reads it, or one of GStreamer's names for one.
pub(super) fn integer(word: &str) -> Option<i128> {
    for (name, value) in [
        ("min", i32::MIN),
        ("max", i32::MAX),
        ("little_endian", 1234),
        ("big_endian", 4321),
        // The order of the machine's bytes; caps must not depend on it.
        ("byte_order", 1234),
    ] {
        if word.eq_ignore_ascii_case(name) {
            return Some(value.into());
        }
    }
    let (negative, digits) = match word.as_bytes().first()? {
        b'-' => (true, word.get(1..)?),
        b'+' => (false, word.get(1..)?),
        _ => (false, word),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // More digits than any kind has are out of range, whatever their value.
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).unwrap_or(i128::MAX);
    Some(if negative { -value } else { value })
}

/// A decimal integer with an optional sign.
fn decimal(word: &str) -> Option<i128> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(word.parse().unwrap_or(i128::MAX))
}

fn ratio(word: &str) -> Option<(i128, i128)> {
    let (num, den) = word.split_once('/')?;
    Some((decimal(num)?, decimal(den)?))
}

/// A fraction where one is expected: `N/D`, `N`, `min` or `max`; `Some(None)` if it
/// has that form and is out of range.
pub(super) fn fraction(word: &str) -> Option<Option<Fraction>> {
    if word.eq_ignore_ascii_case("max") {
        return Some(Some(Fraction::MAX));
    }
    if word.eq_ignore_ascii_case("min") {
        return Some(Some(Fraction::MIN));
    }
    let (num, den) = match ratio(word) {
        Some(parts) => parts,
        None => (decimal(word)?, 1),
    };
    let parts = i64::try_from(num).ok().zip(i64::try_from(den).ok());
    Some(parts.and_then(|(num, den)| Fraction::from_i64(num, den)))
}

/// A truth value.
pub(super) fn boolean(word: &str) -> Option<bool> {
    let is = |names: [&str; 4]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    if is(["true", "t", "yes", "1"]) {
        return Some(true);
    }
    is(["false", "f", "no", "0"]).then_some(false)
}

/// Flags as `FLAGS:MASK` in hexadecimal.
pub(super) fn flags(word: &str) -> Option<FlagSet> {
    let (flags, mask) = word.split_once(':')?;
    let hex = |text: &str| {
        let fits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
        fits.then(|| u32::from_str_radix(text, 16).ok())?
    };
    Some(FlagSet::new(hex(flags)?, hex(mask)?))
}

fn is_double(word: &str) -> bool {
    let body = word.strip_prefix(['+', '-']).unwrap_or(word);
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let exponent_fits = exponent.is_none_or(|e| decimal(e).is_some());
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let points = mantissa.bytes().filter(|b| *b == b'.').count();
    exponent_fits && digits > 0 && points <= 1 && digits + points == mantissa.len()
}

/// Why a quoted text cannot be read; the number is the byte offset within the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteError {
    /// It has no closing quote.
    Open,
    /// Its escapes do not give UTF-8.
    Utf8,
}

/// Reads a quoted text from its opening quote: what it says, and how many bytes it took.
///
/// A backslash and three octal digits are a byte; a backslash and anything else are that itself.
pub(super) fn unquote(text: &str) -> Result<(String, usize), QuoteError> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 1;
    loop {
        match *bytes.get(at).ok_or(QuoteError::Open)? {
            b'"' => break,
            b'\\' => match bytes.get(at + 1..at + 4) {
                Some([a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7']) => {
                    out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                    at += 4;
                }
                _ => {
                    out.push(*bytes.get(at + 1).ok_or(QuoteError::Open)?);
                    at += 2;
                }
            },
            byte => {
                out.push(byte);
                at += 1;
            }
        }
    }
    let said = String::from_utf8(out).map_err(|_| QuoteError::Utf8)?;
    Ok((said, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untyped_words_mean_what_gstreamer_makes_of_them() {
        for (word, meaning) in [
            ("16", Untyped::Int(16)),
            ("0x10", Untyped::Int(16)),
            ("010", Untyped::Int(8)),
            ("+5", Untyped::Int(5)),
            ("-5", Untyped::Int(-5)),
            ("max", Untyped::Int(2_147_483_647)),
            ("08", Untyped::Double),
            ("1.5", Untyped::Double),
            ("5.", Untyped::Double),
            ("1e5", Untyped::Double),
            ("e5", Untyped::Text),
            ("-", Untyped::Text),
            (".", Untyped::Text),
            ("0x", Untyped::Text),
            ("5x", Untyped::Text),
            ("n", Untyped::Text),
            ("no", Untyped::Bool(false)),
            ("T", Untyped::Bool(true)),
            ("2/4", Untyped::Fraction(Fraction::new(1, 2))),
            ("1/-2", Untyped::Fraction(Fraction::new(-1, 2))),
            ("25/0", Untyped::Fraction(None)),
            ("1/2/3", Untyped::Text),
            ("2:4:5:1", Untyped::Text),
            ("1:3", Untyped::Flags(FlagSet::new(1, 3))),
            ("", Untyped::Text),
        ] {
            assert_eq!(classify(word), meaning, "{word}");
        }
    }

    #[test]
    fn quotes_are_undone() {
        assert_eq!(unquote(r#""a\"b" c"#), Ok((r#"a"b"#.to_owned(), 6)));
        assert_eq!(unquote(r#""caf\303\251""#), Ok(("café".to_owned(), 13)));
        assert_eq!(unquote(r#""a"#), Err(QuoteError::Open));
        assert_eq!(unquote(r#""a\"#), Err(QuoteError::Open));
        assert_eq!(unquote(r#""\377""#), Err(QuoteError::Utf8));
    }
}
