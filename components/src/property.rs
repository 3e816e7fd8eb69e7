//! Property values, what a property accepts, and the errors of setting one.

use crate::caps::{Caps, Fraction};
use thiserror::Error;

/// The value of a property.
#[expect(
    clippy::large_enum_variant,
    reason = "one lives as long as a property is being set"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text, or the name of a choice.
    Text(String),
    /// A fraction.
    Fraction(Fraction),
    /// Caps.
    Caps(Caps),
}

impl From<bool> for PropertyValue {
    fn from(v: bool) -> Self {
        PropertyValue::Bool(v)
    }
}

impl From<i64> for PropertyValue {
    fn from(v: i64) -> Self {
        PropertyValue::Int(v)
    }
}

impl From<i32> for PropertyValue {
    fn from(v: i32) -> Self {
        PropertyValue::Int(v.into())
    }
}

impl From<&str> for PropertyValue {
    fn from(v: &str) -> Self {
        PropertyValue::Text(v.to_owned())
    }
}

impl From<String> for PropertyValue {
    fn from(v: String) -> Self {
        PropertyValue::Text(v)
    }
}

impl From<Caps> for PropertyValue {
    fn from(v: Caps) -> Self {
        PropertyValue::Caps(v)
    }
}

impl core::fmt::Display for PropertyValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            PropertyValue::Bool(v) => write!(f, "{v}"),
            PropertyValue::Int(v) => write!(f, "{v}"),
            PropertyValue::Text(v) => f.write_str(v),
            PropertyValue::Fraction(v) => write!(f, "{v}"),
            PropertyValue::Caps(v) => write!(f, "{v}"),
        }
    }
}

/// One name of a choice: its number and nick (GStreamer accepts both).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The number, as in GStreamer.
    pub number: i64,
    /// The name.
    pub name: &'static str,
}

/// What a property accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PropertyKind {
    /// `true` or `false`.
    Bool,
    /// A whole number in `min..=max`.
    Int {
        /// Lowest.
        min: i64,
        /// Highest.
        max: i64,
    },
    /// One of some names.
    Choice(&'static [Choice]),
    /// Any text.
    Text,
    /// Text of a form of its own.
    Form(TextForm),
    /// A fraction.
    Fraction,
    /// Caps.
    Caps,
}

/// A form that a text must have. An element reads the text once more when it is set.
#[derive(Clone, Copy, Debug)]
pub struct TextForm {
    /// What such a text looks like, such as `A -> B | C -> D`.
    pub example: &'static str,
    /// Says where a text is not so, and why.
    pub check: fn(&str) -> Result<(), FormError>,
}

/// Equal if they look the same: addresses of functions say nothing.
impl PartialEq for TextForm {
    fn eq(&self, other: &TextForm) -> bool {
        self.example == other.example
    }
}

/// A text that does not have the form of its property.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("byte {offset}: {problem}")]
pub struct FormError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there, with the value and what is allowed.
    pub problem: String,
}

/// Why a property could not be set.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PropertyError {
    /// The element has no such property.
    #[error("element {element} has no property `{name}`")]
    Unknown {
        /// The element's kind.
        element: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest name that it has.
        closest: Option<&'static str>,
    },
    /// The value is of another kind.
    #[error("property {name} takes {expected}, not `{value}`")]
    WrongType {
        /// The property.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is taken.
        expected: &'static str,
    },
    /// The number is outside of its range.
    #[error("property {name}={value} is outside {min}..={max}")]
    OutOfRange {
        /// The property.
        name: &'static str,
        /// What was given.
        value: String,
        /// Lowest.
        min: i64,
        /// Highest.
        max: i64,
    },
    /// The name is none of the choices.
    #[error("property {name}={value} is none of: {}", choice_names(.choices))]
    NotAChoice {
        /// The property.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is taken.
        choices: &'static [Choice],
    },
    /// The caps cannot be read.
    #[error("property {name}: {source}")]
    Caps {
        /// The property.
        name: &'static str,
        /// Where and why.
        source: crate::caps::CapsParseError,
    },
    /// The text does not have the form of this property.
    #[error("property {name}: {source}")]
    Form {
        /// The property.
        name: &'static str,
        /// Where and why.
        source: FormError,
    },
}

fn choice_names(list: &[Choice]) -> String {
    let names: Vec<&str> = list.iter().map(|c| c.name).collect();
    names.join(", ")
}

impl PropertyKind {
    /// Reads a value from text, as on a launch line, and checks it.
    ///
    /// Numbers may be decimal or `0x` hexadecimal; truth values are `true`, `false`, `yes`,
    /// `no`, `1`, `0` in any case (GStreamer's deserialisation of booleans); choices are names
    /// or numbers.
    ///
    /// # Errors
    /// All of [`PropertyError`] but `Unknown`.
    pub fn parse(&self, name: &'static str, text: &str) -> Result<PropertyValue, PropertyError> {
        let wrong = |expected| PropertyError::WrongType {
            name,
            value: text.to_owned(),
            expected,
        };
        match *self {
            PropertyKind::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "t" | "1" => Ok(PropertyValue::Bool(true)),
                "false" | "no" | "f" | "0" => Ok(PropertyValue::Bool(false)),
                _ => Err(wrong("true or false")),
            },
            PropertyKind::Int { min, max } => match whole_number(text) {
                Some(v) => i64::try_from(v)
                    .ok()
                    .filter(|v| (min..=max).contains(v))
                    .map(PropertyValue::Int)
                    .ok_or_else(|| PropertyError::OutOfRange {
                        name,
                        value: text.to_owned(),
                        min,
                        max,
                    }),
                None => Err(wrong("a whole number")),
            },
            PropertyKind::Fraction => text
                .parse::<Fraction>()
                .map(PropertyValue::Fraction)
                .map_err(|_| wrong("a fraction such as 25/1")),
            PropertyKind::Caps => text
                .parse::<Caps>()
                .map(PropertyValue::Caps)
                .map_err(|source| PropertyError::Caps { name, source }),
            PropertyKind::Choice(_) | PropertyKind::Text | PropertyKind::Form(_) => {
                self.check(name, PropertyValue::Text(text.to_owned()))
            }
        }
    }

    /// Checks a value, and gives it in the form in which elements get it: a choice as its name.
    ///
    /// # Errors
    /// All of [`PropertyError`] but `Unknown`.
    pub fn check(
        &self,
        name: &'static str,
        value: PropertyValue,
    ) -> Result<PropertyValue, PropertyError> {
        let expected = match (self, &value) {
            (PropertyKind::Bool, PropertyValue::Bool(_))
            | (PropertyKind::Text, PropertyValue::Text(_))
            | (PropertyKind::Fraction, PropertyValue::Fraction(_))
            | (PropertyKind::Caps, PropertyValue::Caps(_)) => return Ok(value),
            (PropertyKind::Form(form), PropertyValue::Text(text)) => {
                return match (form.check)(text) {
                    Ok(()) => Ok(value),
                    Err(source) => Err(PropertyError::Form { name, source }),
                };
            }
            (PropertyKind::Choice(list), PropertyValue::Text(text)) => {
                let number = text.parse::<i64>().ok();
                return list
                    .iter()
                    .find(|c| c.name == text || Some(c.number) == number)
                    .map(|c| PropertyValue::Text(c.name.to_owned()))
                    .ok_or_else(|| PropertyError::NotAChoice {
                        name,
                        value: text.clone(),
                        choices: list,
                    });
            }
            (PropertyKind::Choice(_), PropertyValue::Int(v)) => {
                return self.check(name, PropertyValue::Text(v.to_string()));
            }
            (PropertyKind::Int { min, max }, PropertyValue::Int(v)) => {
                if (*min..=*max).contains(v) {
                    return Ok(value);
                }
                return Err(PropertyError::OutOfRange {
                    name,
                    value: v.to_string(),
                    min: *min,
                    max: *max,
                });
            }
            (PropertyKind::Caps | PropertyKind::Fraction, PropertyValue::Text(text)) => {
                return self.parse(name, text);
            }
            (PropertyKind::Bool, _) => "true or false",
            (PropertyKind::Int { .. }, _) => "a whole number",
            (PropertyKind::Choice(_), _) => "one of its names",
            (PropertyKind::Text | PropertyKind::Form(_), _) => "text",
            (PropertyKind::Fraction, _) => "a fraction such as 25/1",
            (PropertyKind::Caps, _) => "caps",
        };
        Err(PropertyError::WrongType {
            name,
            value: value.to_string(),
            expected,
        })
    }
}

/// A decimal or `0x` hexadecimal number of any size up to 128 bits.
fn whole_number(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    Some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURS: PropertyKind = PropertyKind::Choice(&[
        Choice {
            number: 0,
            name: "red",
        },
        Choice {
            number: 7,
            name: "blue",
        },
    ]);

    const EVEN: PropertyKind = PropertyKind::Form(TextForm {
        example: "ab",
        check: |text| match text.len() % 2 {
            0 => Ok(()),
            _ => Err(FormError {
                offset: text.len(),
                problem: format!("{} bytes are odd", text.len()),
            }),
        },
    });

    #[test]
    fn a_text_of_a_form_is_checked_from_both_sides() {
        assert_eq!(EVEN.parse("e", "abcd"), Ok("abcd".into()));
        assert_eq!(EVEN.check("e", "ab".into()), Ok("ab".into()));
        let bad = PropertyError::Form {
            name: "e",
            source: FormError {
                offset: 3,
                problem: "3 bytes are odd".to_owned(),
            },
        };
        assert_eq!(bad.to_string(), "property e: byte 3: 3 bytes are odd");
        assert_eq!(EVEN.parse("e", "abc"), Err(bad.clone()));
        assert_eq!(EVEN.check("e", "abc".into()), Err(bad));
        let wrong = EVEN.check("e", 7.into()).expect_err("no text");
        assert_eq!(wrong.to_string(), "property e takes text, not `7`");
    }

    #[test]
    fn reads_and_checks() {
        let int = PropertyKind::Int { min: -1, max: 10 };
        assert_eq!(int.parse("n", "-1"), Ok(PropertyValue::Int(-1)));
        assert_eq!(int.parse("n", "0x0a"), Ok(PropertyValue::Int(10)));
        let text = |r: Result<PropertyValue, PropertyError>| r.expect_err("bad").to_string();
        assert_eq!(
            text(int.parse("n", "11")),
            "property n=11 is outside -1..=10"
        );
        assert_eq!(
            text(int.parse("n", "99999999999999999999999")),
            "property n=99999999999999999999999 is outside -1..=10"
        );
        for bad in ["", "1.5", "--1", "x", "1 2"] {
            assert_eq!(
                text(int.parse("n", bad)),
                format!("property n takes a whole number, not `{bad}`")
            );
        }
        assert_eq!(COLOURS.parse("c", "7"), Ok("blue".into()));
        assert_eq!(COLOURS.parse("c", "red"), Ok("red".into()));
        assert_eq!(
            text(COLOURS.parse("c", "green")),
            "property c=green is none of: red, blue"
        );
        assert_eq!(PropertyKind::Bool.parse("b", "TRUE"), Ok(true.into()));
        assert_eq!(
            text(PropertyKind::Bool.parse("b", "maybe")),
            "property b takes true or false, not `maybe`"
        );
    }
}
