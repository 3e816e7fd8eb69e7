//! Scalar values of caps fields. Reads [`super::fraction`] and [`super::text`] only.

use super::fraction::Fraction;
use super::text::Text;

/// One value of a field. Values of different kinds are different, even if numerically equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer. GStreamer's `int` is 32 bits wide, and that is what caps texts can hold.
    Int(i64),
    /// mpipe's unsigned integer, GStreamer's `uint`.
    Uint(u32),
    /// An exact fraction, such as a frame rate.
    Fraction(Fraction),
    /// A bit mask that means itself, such as an audio channel mask.
    Bitmask(u64),
    /// A string.
    Text(Text),
}

impl Value {
    /// A string value; known words do not allocate.
    pub fn text(text: &str) -> Value {
        Value::Text(Text::new(text))
    }

    /// A known word, for constants (see [`Text::of`]).
    pub const fn of(word: &'static str) -> Value {
        Value::Text(Text::of(word))
    }

    /// The name of its kind as caps texts write it: `int`, `string`, …
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "boolean",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Fraction(_) => "fraction",
            Value::Bitmask(_) => "bitmask",
            Value::Text(_) => "string",
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(value.into())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Uint(value)
    }
}

impl From<Fraction> for Value {
    fn from(value: Fraction) -> Value {
        Value::Fraction(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::text(value)
    }
}

impl From<Text> for Value {
    fn from(value: Text) -> Value {
        Value::Text(value)
    }
}
