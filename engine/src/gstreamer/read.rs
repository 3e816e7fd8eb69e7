//! A property's value as GStreamer 1.22 reads it from a launch line. Pure.

use super::properties::{Default, Fact, Kind, start};
use tickpipe_components::caps::Caps;

/// A value as GStreamer holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GstValue {
    /// A truth value.
    Truth(bool),
    /// A whole number, or flags.
    Whole(i128),
    /// A real number; one of 32 bits is rounded to them.
    Real(f64),
    /// The nick of a value of an enumeration.
    Nick(&'static str),
    /// Text.
    Text(String),
    /// Caps.
    Caps(Box<Caps>),
    /// No text, or no caps.
    Nothing,
}

/// Why a text is no value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// GStreamer refuses it.
    Refused,
    /// GStreamer reads it, warns that it is outside of the property's range, and leaves the
    /// property as it was.
    Outside,
}

impl Fact {
    /// Reads a value whose quotes and escapes are taken off.
    pub(crate) fn read(&self, text: &str) -> Result<GstValue, NotRead> {
        let value = match self.kind {
            Kind::Truth => GstValue::Truth(truth(text)?),
            Kind::Int | Kind::Uint | Kind::Int64 | Kind::Uint64 => {
                GstValue::Whole(whole(self.kind, text)?)
            }
            Kind::Float => GstValue::Real(f64::from(real(text)? as f32)),
            Kind::Double => GstValue::Real(real(text)?),
            Kind::Choice(values) => {
                let long = values.iter().find(|value| value.2 == text);
                let named = long.or_else(|| values.iter().find(|value| value.1 == text));
                let found = match named {
                    Some(found) => Some(found),
                    None => {
                        let number = i64::from(strtoull(text)? as i32);
                        values.iter().find(|value| value.0 == number)
                    }
                };
                GstValue::Nick(found.ok_or(NotRead::Refused)?.1)
            }
            Kind::Flags(values) => {
                let known = values.iter().fold(0, |all, value| all | value.0);
                let mut all = 0;
                for part in text.split('+') {
                    all |= match values.iter().find(|value| is_flag(value.1, part)) {
                        Some(value) => value.0,
                        None => i64::from(strtoull(part)? as u32),
                    };
                }
                GstValue::Whole(i128::from(all & known))
            }
            Kind::Text if self.forgets => GstValue::Nothing,
            Kind::Text => GstValue::Text(text.to_owned()),
            Kind::Caps => GstValue::Caps(Box::new(text.parse().map_err(|_| NotRead::Refused)?)),
        };
        let outside = match &value {
            GstValue::Whole(n) => self.range.is_some_and(|(min, max)| *n < min || *n > max),
            GstValue::Real(n) => self
                .real_range
                .is_some_and(|(min, max)| !(min..=max).contains(n)),
            _ => false,
        };
        match outside {
            true => Err(NotRead::Outside),
            false => Ok(value),
        }
    }

    /// The default that the property's description has.
    pub(crate) fn default(&self) -> GstValue {
        self.default.into()
    }

    /// The value that the property has in a new element of a factory.
    pub(crate) fn start(&self, factory: &str) -> GstValue {
        start(factory, self.name).map_or_else(|| self.default(), GstValue::from)
    }

    /// The names in C of the flags in a number, joined by `+`, as GStreamer prints them.
    pub(crate) fn flag_names(&self, value: i128) -> Option<String> {
        let Kind::Flags(values) = self.kind else {
            return None;
        };
        let set = values.iter().filter(|flag| value & i128::from(flag.0) != 0);
        let names: Vec<String> = set
            .map(|flag| format!("{FLAG_PREFIX}{}", flag_name(flag.1)))
            .collect();
        Some(names.join("+"))
    }
}

/// Whether a text is the nick of a buffer's flag, or its name in C.
fn is_flag(nick: &str, text: &str) -> bool {
    let name = text.strip_prefix(FLAG_PREFIX);
    text == nick || name.is_some_and(|name| name == flag_name(nick))
}

/// What names of a buffer's flags begin with in C.
const FLAG_PREFIX: &str = "GST_BUFFER_FLAG_";

fn flag_name(nick: &str) -> String {
    nick.to_ascii_uppercase().replace('-', "_")
}

fn truth(text: &str) -> Result<bool, NotRead> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    if ["true", "t", "yes", "1"].iter().any(is) {
        Ok(true)
    } else if ["false", "f", "no", "0"].iter().any(is) {
        Ok(false)
    } else {
        Err(NotRead::Refused)
    }
}

/// A whole number by C's `strtoull` with base 0 (`0x` hexadecimal, a leading 0 octal, a sign that
/// wraps around), or a word; then the rule by which it becomes one of its type.
fn whole(kind: Kind, text: &str) -> Result<i128, NotRead> {
    let (min, max): (i128, i128) = match kind {
        Kind::Int => (i32::MIN.into(), i32::MAX.into()),
        Kind::Uint => (0, u32::MAX.into()),
        Kind::Int64 => (i64::MIN.into(), i64::MAX.into()),
        _ => (0, u64::MAX.into()),
    };
    for (word, value) in [
        ("little_endian", 1234),
        ("big_endian", 4321),
        (
            "byte_order",
            if cfg!(target_endian = "big") {
                4321
            } else {
                1234
            },
        ),
        ("min", min),
        ("max", max),
    ] {
        if text.eq_ignore_ascii_case(word) {
            return Ok(value);
        }
    }
    let bits = strtoull(text)?;
    match kind {
        // Bits beyond the type must all be those of its sign, or the number one of 32 bits.
        Kind::Int => {
            let signed = bits as i64;
            let fits = match signed {
                0.. => signed <= i64::from(u32::MAX),
                _ => signed >= i64::from(i32::MIN),
            };
            fits.then_some(i128::from(signed as i32))
                .ok_or(NotRead::Refused)
        }
        Kind::Uint => Ok((bits as u32).into()),
        Kind::Int64 => Ok((bits as i64).into()),
        _ => Ok(bits.into()),
    }
}

/// C's `strtoull` with base 0 on a whole text. An empty text is 0.
fn strtoull(text: &str) -> Result<u64, NotRead> {
    if text.is_empty() {
        return Ok(0);
    }
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let (radix, digits) = match hex {
        Some(hex) => (16, hex),
        None if digits.len() > 1 && digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return Err(NotRead::Refused);
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| NotRead::Refused)?;
    Ok(match negative {
        true => value.wrapping_neg(),
        false => value,
    })
}

/// A real number as C's `strtod` reads it. An empty text is 0.
fn real(text: &str) -> Result<f64, NotRead> {
    if text.is_empty() {
        return Ok(0.0);
    }
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let number = trimmed.parse().ok();
    number.or_else(|| hex_real(trimmed)).ok_or(NotRead::Refused)
}

/// A real number in hexadecimal, `0x1.8p-1`. Digits that no number of that size has room for are cut
/// off.
fn hex_real(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X"))?;
    let (digits, power) = match digits.split_once(['p', 'P']) {
        Some((digits, power)) => (digits, power.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let (mut bits, mut power, mut any) = (0_u64, i64::from(power), false);
    for (fraction, digit) in before
        .chars()
        .map(|c| (false, c))
        .chain(after.chars().map(|c| (true, c)))
    {
        let digit = u64::from(digit.to_digit(16)?);
        any = true;
        let room = bits >> 52 == 0;
        if room {
            bits = bits << 4 | digit;
        }
        // A digit that is written moves the point behind it; one that is cut off moves it on.
        match (fraction, room) {
            (true, true) => power -= 4,
            (false, false) => power += 4,
            _ => {}
        }
    }
    let mut value = bits as f64;
    let power = power.clamp(-5000, 5000);
    for _ in 0..power.abs() {
        value = if power < 0 { value / 2.0 } else { value * 2.0 };
    }
    any.then_some(sign * value)
}

impl From<Default> for GstValue {
    fn from(value: Default) -> GstValue {
        match value {
            Default::Truth(value) => GstValue::Truth(value),
            Default::Whole(value) => GstValue::Whole(value),
            Default::Real(value) => GstValue::Real(value),
            Default::Nick(value) => GstValue::Nick(value),
            Default::Nothing => GstValue::Nothing,
        }
    }
}
