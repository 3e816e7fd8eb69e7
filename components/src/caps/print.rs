//! Caps as text: GStreamer's full form, and the short form that people type. Both parse back to
//! the same sets. Reads caps and the lexer's rules for words.

use std::fmt::{self, Write};

use super::caps::Caps;
use super::features::Features;
use super::lexer::{Untyped, classify, is_media_word, is_word};
use super::list::List;
use super::range::IntRange;
use super::set::ValueSet;
use super::structure::Structure;
use super::value::Value;

/// Which form a text takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `video/x-raw, width=(int)[ 16, 1280, 2 ]`
    Full,
    /// `video/x-raw,width=[16,1280,2]`
    Short,
}

impl Form {
    fn pick(self, full: &'static str, short: &'static str) -> &'static str {
        match self {
            Form::Full => full,
            Form::Short => short,
        }
    }
}

/// Caps that print in GStreamer's full form.
#[derive(Clone, Copy)]
pub struct GstCaps<'a>(&'a Caps);

/// A structure that prints in GStreamer's full form.
#[derive(Clone, Copy)]
pub struct GstStructure<'a>(&'a Structure);

impl Caps {
    /// These caps in the form of `gst_caps_to_string`, as `video/x-raw, width=(int)320`. Fields are
    /// in the order of their names. Ranges are written with their maximum on the grid, and as one
    /// value if they have one; `(uint)` ranges are mpipe's and not known to GStreamer.
    pub const fn to_gst(&self) -> GstCaps<'_> {
        GstCaps(self)
    }
}

impl Structure {
    /// This structure in the form of `gst_structure_to_string`, without the closing semicolon.
    pub const fn to_gst(&self) -> GstStructure<'_> {
        GstStructure(self)
    }
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for byte in text.bytes() {
        match byte {
            b if super::lexer::is_word_byte(b) => f.write_char(char::from(b))?,
            b' '..=b'~' => write!(f, "\\{}", char::from(byte))?,
            _ => write!(f, "\\{byte:03o}")?,
        }
    }
    f.write_char('"')
}

fn text(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if is_word(text) && text != "NULL" {
        f.write_str(text)
    } else {
        quoted(text, f)
    }
}

/// A value without its type.
fn value(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Bool(v) => write!(f, "{v}"),
        Value::Int(v) => write!(f, "{v}"),
        Value::Uint(v) => write!(f, "{v}"),
        Value::Fraction(v) => write!(f, "{v}"),
        Value::Bitmask(v) => write!(f, "0x{v:016x}"),
        Value::Text(v) => text(v.as_str(), f),
    }
}

/// Whether a value reads back as itself without its type.
fn speaks_for_itself(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Fraction(_) => true,
        Value::Uint(_) | Value::Bitmask(_) => false,
        Value::Text(v) => !v.as_str().is_empty() && classify(v.as_str()) == Untyped::Text,
    }
}

fn typed(item: &Value, form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if form == Form::Full || !speaks_for_itself(item) {
        write!(f, "({})", item.kind())?;
    }
    value(item, f)
}

fn list(items: &List, form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let kind = items.iter().next().map_or("int", |item| item.kind());
    let uniform = items.iter().all(|item| item.kind() == kind);
    let plain = uniform && form == Form::Short && items.iter().all(|i| speaks_for_itself(&i));
    if uniform && !plain {
        write!(f, "({kind})")?;
    }
    f.write_str(form.pick("{ ", "{"))?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(form.pick(", ", ","))?;
        }
        if !uniform {
            write!(f, "({})", item.kind())?;
        }
        value(&item, f)?;
    }
    f.write_str(form.pick(" }", "}"))
}

fn range(parts: &[&dyn fmt::Display], form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(form.pick("[ ", "["))?;
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(form.pick(", ", ","))?;
        }
        write!(f, "{part}")?;
    }
    f.write_str(form.pick(" ]", "]"))
}

fn int_range(r: &IntRange, form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match r.step() {
        1 => range(&[&r.min(), &r.max()], form, f),
        step => range(&[&r.min(), &r.last(), &step], form, f),
    }
}

fn set(set: &ValueSet, form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(only) = set.single() {
        return typed(&only, form, f);
    }
    match set {
        ValueSet::One(only) => typed(only, form, f),
        ValueSet::IntRange(r) => {
            f.write_str(form.pick("(int)", ""))?;
            int_range(r, form, f)
        }
        ValueSet::UintRange(r) => {
            f.write_str("(uint)")?;
            int_range(r, form, f)
        }
        ValueSet::FractionRange(r) => {
            f.write_str(form.pick("(fraction)", ""))?;
            range(&[&r.min(), &r.max()], form, f)
        }
        ValueSet::Flags(flags) => write!(f, "(flagset){:x}:{:x}", flags.flags(), flags.mask()),
        ValueSet::List(values) => list(values, form, f),
    }
}

fn structure(s: &Structure, form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if is_media_word(s.media()) {
        f.write_str(s.media())?;
    } else {
        quoted(s.media(), f)?;
    }
    if *s.features() != Features::System {
        write!(f, "({})", s.features())?;
    }
    for (name, field) in s.fields() {
        f.write_str(form.pick(", ", ","))?;
        if is_word(name) {
            f.write_str(name)?;
        } else {
            quoted(name, f)?;
        }
        f.write_char('=')?;
        set(field, form, f)?;
    }
    Ok(())
}

fn caps(c: &Caps, form: Form, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if c.is_any() {
        return f.write_str("ANY");
    }
    if c.is_empty() {
        return f.write_str("EMPTY");
    }
    for (i, s) in c.structures().iter().enumerate() {
        if i > 0 {
            f.write_str("; ")?;
        }
        structure(s, form, f)?;
    }
    Ok(())
}

impl fmt::Display for GstCaps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        caps(self.0, Form::Full, f)
    }
}

impl fmt::Display for GstStructure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        structure(self.0, Form::Full, f)
    }
}

/// The short form, as `video/x-raw,format={I420,NV12},width=[16,1280,2],framerate=25/1`.
impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        caps(self, Form::Short, f)
    }
}

/// The short form, as `video/x-raw,format=I420,width=320`.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        structure(self, Form::Short, f)
    }
}

/// The short form, as `{I420,NV12}` or `[16,1280,2]`.
impl fmt::Display for ValueSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        set(self, Form::Short, f)
    }
}

/// The short form, as `I420` or `25/1`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        typed(self, Form::Short, f)
    }
}
