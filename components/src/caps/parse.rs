//! Caps from texts in GStreamer's syntax. Never panics; depth, length and counts are bounded.
//! Reads caps and the lexer.
//!
//! Wider than GStreamer 1.22: quoted media types and field names, `(uint)` ranges, ranges whose
//! minimum is not a multiple of the step. Stricter, where GStreamer takes the text and warns or
//! guesses: empty lists and ranges, doubles, numbers out of range, a field given twice, unclosed
//! features. A list that holds ranges or lists becomes several structures, which is the same set.

use std::borrow::Cow;
use std::str::FromStr;

use smallvec::SmallVec;

use super::caps::Caps;
use super::features::{Features, is_feature};
use super::fraction::Fraction;
use super::lexer::{self, QuoteError, Untyped, classify};
use super::limits::{CapsLimitError, CapsLimits, TEXT_LIMIT};
use super::parse_error::{CapsParseError, CapsParseErrorKind, MAX_DEPTH};
use super::range::{FlagSet, SetError};
use super::set::ValueSet;
use super::structure::Structure;
use super::text::FieldName;
use super::value::Value;

type Kind = CapsParseErrorKind;
type Parsed<T> = Result<T, CapsParseError>;
/// The sets that a field's value stands for; more than one where a list holds more than values.
type Sets = SmallVec<[ValueSet; 2]>;

/// A type that a value is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Uint,
    Text,
    Fraction,
    Bool,
    Bitmask,
    Flags,
}

impl Type {
    fn named(name: &str) -> Option<Type> {
        Some(match name {
            "int" | "i" | "gint" => Type::Int,
            "uint" | "u" | "guint" => Type::Uint,
            "string" | "str" | "s" | "gchararray" => Type::Text,
            "fraction" | "GstFraction" => Type::Fraction,
            "boolean" | "bool" | "b" | "gboolean" => Type::Bool,
            "bitmask" | "GstBitmask" => Type::Bitmask,
            "flagset" | "GstFlagSet" | "GstVideoMultiviewFlagsSet" => Type::Flags,
            _ => return None,
        })
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    limits: &'a CapsLimits,
}

impl<'a> Cursor<'a> {
    fn fail<T>(&self, at: usize, kind: impl Into<Kind>) -> Parsed<T> {
        Err(CapsParseError {
            offset: at,
            kind: kind.into(),
        })
    }

    fn expected<T>(&self, expected: &'static str) -> Parsed<T> {
        let found = self.rest().chars().next();
        self.fail(self.at, Kind::Expected { expected, found })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_whitespace() || b == 0x0b)
        {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|b| !lexer::is_word_byte(b))
            .unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    fn quoted(&mut self) -> Parsed<String> {
        let (said, length) = lexer::unquote(self.rest()).or_else(|error| match error {
            QuoteError::Open => {
                self.at = self.text.len();
                self.expected("a closing quote")
            }
            QuoteError::Utf8 => self.fail(self.at, Kind::NotUtf8),
        })?;
        self.at += length;
        Ok(said)
    }

    fn name(&mut self, expected: &'static str) -> Parsed<Cow<'a, str>> {
        if self.peek() == Some(b'"') {
            return self.quoted().map(Cow::Owned);
        }
        match self.word() {
            "" => self.expected(expected),
            word => Ok(Cow::Borrowed(word)),
        }
    }

    fn caps(&mut self) -> Parsed<Caps> {
        let mut caps = Caps::empty();
        let mut any = false;
        self.space();
        if self.peek().is_none() {
            return Ok(caps);
        }
        loop {
            let start = self.at;
            match self.word() {
                "ANY" => any = true,
                "EMPTY" | "NONE" => {}
                _ => {
                    self.at = start;
                    self.structure(&mut caps)?;
                }
            }
            self.space();
            if self.peek().is_some() && !self.eat(b';') {
                return self.expected("`,`, `;` or the end");
            }
            self.space();
            if self.peek().is_none() {
                return Ok(if any { Caps::any() } else { caps });
            }
        }
    }

    fn structure(&mut self, caps: &mut Caps) -> Parsed<()> {
        let start = self.at;
        let expected = "a media type such as video/x-raw";
        let plain = self.peek() != Some(b'"');
        if plain && !self.peek().is_some_and(|b| b.is_ascii_alphabetic()) {
            return self.expected(expected);
        }
        let mut base = Structure::new(&self.name(expected)?);
        if self.eat(b'(') {
            base = base.with_features(self.features()?);
        }
        let mut forks: Vec<(FieldName, Sets)> = Vec::new();
        loop {
            self.space();
            if !self.eat(b',') {
                break;
            }
            self.space();
            if matches!(self.peek(), None | Some(b';')) {
                break;
            }
            let at = self.at;
            let name = FieldName::new(&self.name("a field name")?);
            self.space();
            if !self.eat(b'=') {
                return self.expected("`=`");
            }
            self.space();
            let mut sets = self.field()?;
            let twice = forks.iter().any(|(n, _)| *n == name) || base.get_named(&name).is_some();
            if twice {
                return self.fail(at, Kind::DuplicateField(name.to_string()));
            }
            match (sets.pop(), sets.is_empty()) {
                (Some(only), true) => base
                    .set_named(name, only, self.limits)
                    .or_else(|error| self.fail(at, error))?,
                (last, _) => {
                    sets.extend(last);
                    forks.push((name, sets));
                }
            }
        }
        self.unfold(base, &forks, caps)
            .or_else(|error| self.fail(start, error))
    }

    /// One structure for each choice among the sets of the fields that have several.
    fn unfold(
        &self,
        base: Structure,
        forks: &[(FieldName, Sets)],
        caps: &mut Caps,
    ) -> Result<(), CapsLimitError> {
        if forks.is_empty() {
            return caps.push_within(base, self.limits);
        }
        let mut all = vec![base];
        for (name, sets) in forks {
            let count = all.len().saturating_mul(sets.len());
            if count > self.limits.structures {
                return Err(CapsLimitError::structures(count, self.limits));
            }
            let mut next = Vec::with_capacity(count);
            for structure in all {
                for set in sets {
                    let mut structure = structure.clone();
                    structure.set_named(name.clone(), set.clone(), self.limits)?;
                    next.push(structure);
                }
            }
            all = next;
        }
        all.into_iter()
            .try_for_each(|structure| caps.push_within(structure, self.limits))
    }

    fn features(&mut self) -> Parsed<Features> {
        let start = self.at;
        let Some(length) = self.rest().find(')') else {
            self.at = self.text.len();
            return self.expected("`)` after features");
        };
        let inside = self.rest().get(..length).unwrap_or("");
        self.at += length + 1;
        match inside {
            "" => return Ok(Features::System),
            "ANY" => return Ok(Features::Any),
            _ => {}
        }
        let mut at = start;
        for name in inside.split(',') {
            if !is_feature(name.trim()) {
                return self.fail(at, Kind::BadFeature(name.trim().to_owned()));
            }
            at += name.len() + 1;
        }
        match Features::named(inside.split(',').map(str::trim)) {
            Some(features) => Ok(features),
            None => self.fail(start, Kind::BadFeature(inside.to_owned())),
        }
    }

    fn type_name(&mut self) -> Parsed<Option<Type>> {
        if !self.eat(b'(') {
            return Ok(None);
        }
        self.space();
        let at = self.at;
        let name = self.word();
        self.space();
        if name.is_empty() || !self.eat(b')') {
            return self.expected("a type such as int, and `)`");
        }
        self.space();
        match Type::named(name) {
            Some(kind) => Ok(Some(kind)),
            None => self.fail(at, Kind::UnknownType(name.to_owned())),
        }
    }

    /// A field's value: one set, or several where a list holds more than plain values.
    fn field(&mut self) -> Parsed<Sets> {
        let kind = self.type_name()?;
        match self.peek() {
            Some(b'{') => self.list(kind),
            Some(b'[') => Ok(Sets::from_iter([self.range(kind)?])),
            _ => Ok(Sets::from_iter([self.scalar(kind)?])),
        }
    }

    fn list(&mut self, kind: Option<Type>) -> Parsed<Sets> {
        let start = self.at;
        let mut values: Vec<Value> = Vec::new();
        let mut sets = Sets::new();
        // Where among the sets the plain values stood.
        let mut place = None;
        self.members(kind, 1, &mut values, &mut sets, &mut place)?;
        if values.is_empty() && sets.is_empty() {
            return self.fail(start, SetError::EmptyList);
        }
        if !values.is_empty() {
            let set = ValueSet::list_within(values, self.limits)
                .or_else(|error| self.fail(start, error))?;
            sets.insert(place.unwrap_or(0), set);
        }
        Ok(sets)
    }

    fn members(
        &mut self,
        kind: Option<Type>,
        depth: usize,
        values: &mut Vec<Value>,
        sets: &mut Sets,
        place: &mut Option<usize>,
    ) -> Parsed<()> {
        if depth > MAX_DEPTH {
            return self.fail(self.at, Kind::TooDeep);
        }
        self.eat(b'{');
        self.space();
        // GStreamer lets a comma stand before the first member and after the last.
        self.eat(b',');
        loop {
            self.space();
            if self.eat(b'}') {
                return Ok(());
            }
            let kind = self.type_name()?.or(kind);
            match self.peek() {
                Some(b'{') => self.members(kind, depth + 1, values, sets, place)?,
                Some(b'[') => sets.push(self.range(kind)?),
                _ => match self.scalar(kind)? {
                    ValueSet::One(value) => {
                        place.get_or_insert(sets.len());
                        values.push(value);
                    }
                    set => sets.push(set),
                },
            }
            if values.len().max(sets.len()) > self.limits.structures {
                let error = CapsLimitError::list(values.len().max(sets.len()), self.limits);
                return self.fail(self.at, error);
            }
            self.space();
            if !self.eat(b',') && self.peek() != Some(b'}') {
                return self.expected("`,` or `}`");
            }
        }
    }

    fn range(&mut self, kind: Option<Type>) -> Parsed<ValueSet> {
        let start = self.at;
        self.eat(b'[');
        let mut parts: SmallVec<[(usize, Value); 3]> = SmallVec::new();
        loop {
            self.space();
            let kind = self.type_name()?.or(kind);
            let at = self.at;
            match self.scalar(kind)? {
                ValueSet::One(value) => parts.push((at, value)),
                _ => return self.fail(at, bad("range", "flags", "int, uint or fraction bounds")),
            }
            self.space();
            if self.eat(b']') {
                break;
            }
            if parts.len() == 3 || !self.eat(b',') {
                return self.expected(if parts.len() < 2 { "`,`" } else { "`]`" });
            }
        }
        let set = match &parts[..] {
            [(_, Value::Int(min)), (_, Value::Int(max))] => ValueSet::int_range(*min, *max, 1),
            [
                (_, Value::Int(min)),
                (_, Value::Int(max)),
                (_, Value::Int(step)),
            ] => ValueSet::int_range(*min, *max, *step),
            [(_, Value::Uint(min)), (_, Value::Uint(max))] => ValueSet::uint_range(*min, *max, 1),
            [
                (_, Value::Uint(min)),
                (_, Value::Uint(max)),
                (_, Value::Uint(step)),
            ] => ValueSet::uint_range(*min, *max, *step),
            [(_, Value::Fraction(min)), (_, Value::Fraction(max))] => {
                ValueSet::fraction_range(*min, *max)
            }
            [_] => return self.fail(start, bad("range", "one bound", "[min, max]")),
            _ => {
                let expected = "two int or uint bounds and a step, or two fractions";
                return self.fail(start, bad("range", "these bounds", expected));
            }
        };
        // One point is written as that value; GStreamer refuses it as a range.
        if let [(_, min), (_, max), ..] = &parts[..]
            && min == max
        {
            return self.fail(start, Kind::OnePoint(min.to_string()));
        }
        set.or_else(|error| self.fail(start, error))
    }

    fn scalar(&mut self, kind: Option<Type>) -> Parsed<ValueSet> {
        let at = self.at;
        let quote = self.peek() == Some(b'"');
        let text = if quote {
            Cow::Owned(self.quoted()?)
        } else {
            Cow::Borrowed(self.word())
        };
        if text.is_empty() && !quote {
            return self.expected("a value");
        }
        self.meaning(kind, &text)
            .or_else(|kind| self.fail(at, kind))
    }

    fn meaning(&self, kind: Option<Type>, text: &str) -> Result<ValueSet, Kind> {
        let value = match kind {
            Some(Type::Int) => int(text)?,
            Some(Type::Uint) => uint(text)?,
            Some(Type::Text) => Value::text(text),
            Some(Type::Fraction) => Value::Fraction(fraction(text, lexer::fraction(text))?),
            Some(Type::Bool) => match lexer::boolean(text) {
                Some(value) => Value::Bool(value),
                None => return Err(bad("boolean", text, "true, yes, t, 1, false, no, f or 0")),
            },
            Some(Type::Bitmask) => Value::Bitmask(bitmask(text)?),
            Some(Type::Flags) => return flagset(text).map(ValueSet::Flags),
            None => match classify(text) {
                Untyped::Int(_) => int(text)?,
                Untyped::Fraction(read) => Value::Fraction(fraction(text, Some(read))?),
                Untyped::Flags(flags) => return Ok(ValueSet::Flags(flags)),
                Untyped::Bool(value) => Value::Bool(value),
                Untyped::Double => {
                    return Err(bad(
                        "int",
                        text,
                        "no decimal point; a fraction such as 25/1",
                    ));
                }
                Untyped::Text => Value::text(text),
            },
        };
        Ok(ValueSet::One(value))
    }
}

fn bad(kind: &'static str, text: &str, expected: &'static str) -> Kind {
    Kind::BadValue {
        kind,
        text: text.to_owned(),
        expected,
    }
}

fn int(text: &str) -> Result<Value, Kind> {
    lexer::integer(text)
        .and_then(|value| i32::try_from(value).ok())
        .map(Value::from)
        .ok_or_else(|| bad("int", text, "a number from -2147483648 to 2147483647"))
}

fn uint(text: &str) -> Result<Value, Kind> {
    lexer::integer(text)
        .and_then(|value| u32::try_from(value).ok())
        .map(Value::Uint)
        .ok_or_else(|| bad("uint", text, "a number from 0 to 4294967295"))
}

fn fraction(text: &str, read: Option<Option<Fraction>>) -> Result<Fraction, Kind> {
    read.flatten().ok_or_else(|| {
        let expected = "N/D with |N| <= 2147483647 and 1 <= |D| <= 2147483647";
        bad("fraction", text, expected)
    })
}

/// Hexadecimal, with `0x` or without.
fn bitmask(text: &str) -> Result<u64, Kind> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let fits = digits.bytes().all(|b| b.is_ascii_hexdigit());
    fits.then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
        .ok_or_else(|| bad("bitmask", text, "up to 16 hexadecimal digits"))
}

/// `FLAGS:MASK` in hexadecimal; names of flags may follow and say the same.
fn flagset(text: &str) -> Result<FlagSet, Kind> {
    let second = text.find(':').map_or(0, |at| at + 1);
    let rest = text.get(second..).unwrap_or("");
    let numbers = match rest.split_once(':') {
        Some((mask, _)) => text.get(..second + mask.len()).unwrap_or(""),
        None => text,
    };
    lexer::flags(numbers).ok_or_else(|| bad("flagset", text, "FLAGS:MASK in hexadecimal"))
}

impl Caps {
    /// Reads caps in GStreamer's syntax: `ANY`, `EMPTY` or `NONE`, or structures separated by `;`.
    ///
    /// # Errors
    /// Where the text is wrong, and what should stand there.
    pub fn parse(text: &str) -> Result<Caps, CapsParseError> {
        Caps::parse_within(text, &CapsLimits::DEFAULT)
    }

    /// As [`Caps::parse`], within given limits.
    ///
    /// # Errors
    /// Where the text is wrong, and what should stand there.
    pub fn parse_within(text: &str, limits: &CapsLimits) -> Result<Caps, CapsParseError> {
        if text.len() > limits.text {
            return Err(CapsParseError {
                offset: limits.text,
                kind: Kind::Limit(CapsLimitError::Exceeded {
                    limit: TEXT_LIMIT,
                    unit: "bytes of a caps text",
                    needed: text.len() as u64,
                    allowed: limits.text as u64,
                }),
            });
        }
        Cursor {
            text,
            at: 0,
            limits,
        }
        .caps()
    }
}

impl FromStr for Caps {
    type Err = CapsParseError;

    fn from_str(text: &str) -> Result<Caps, CapsParseError> {
        Caps::parse(text)
    }
}
