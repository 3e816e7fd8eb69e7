//! TOML tables read key by key, so that every error has the place of its key or value. Reads
//! parsed TOML; touches nothing else.

use crate::error::{Bad, ScenarioErrorKind as Kind};
use core::ops::Range;
use tickpipe::launch::closest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Read<T> = Result<T, Bad>;

/// A table, and which of its keys are known.
pub(crate) struct Reader<'a> {
    path: String,
    span: Range<usize>,
    table: &'a DeTable<'a>,
    known: Vec<&'static str>,
}

/// A value, with its key for messages.
pub(crate) struct Field<'a> {
    /// The key with its tables.
    pub key: String,
    /// Where the key stands.
    pub key_span: Range<usize>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Reader<'a> {
    /// The file's own table.
    pub fn root(table: &'a Spanned<DeTable<'a>>) -> Reader<'a> {
        Reader {
            path: String::new(),
            span: table.span(),
            table: table.get_ref(),
            known: Vec::new(),
        }
    }

    /// The key with the tables that it is in.
    pub fn key(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// This table's name.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where this table starts.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The value of a key, which is known from now on.
    pub fn get(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let (found, value) = self.table.get_key_value(key)?;
        Some(Field {
            key: self.key(key),
            key_span: found.span(),
            value,
        })
    }

    /// The value of a key that is known only where something else is there.
    pub fn get_if(&mut self, known: bool, key: &'static str) -> Option<Field<'a>> {
        known.then(|| self.get(key)).flatten()
    }

    /// The value of a key that must be there.
    pub fn need(&mut self, key: &'static str) -> Read<Field<'a>> {
        match self.get(key) {
            Some(field) => Ok(field),
            None => Err(Bad::new(
                Kind::Missing { key: self.key(key) },
                self.span.clone(),
            )),
        }
    }

    /// All keys and values, whatever they are called; for a table of free names.
    pub fn all(self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        let path = self.path.clone();
        self.table.iter().map(move |(key, value)| {
            let field = Field {
                key: format!("{path}.{}", key.get_ref()),
                key_span: key.span(),
                value,
            };
            (key.get_ref().as_ref(), field)
        })
    }

    /// Some keys are not known here after all.
    pub fn forget(&mut self, keys: &[&str]) {
        self.known.retain(|known| !keys.contains(known));
    }

    /// The known keys but one.
    pub fn known_besides(&self, key: &str) -> Vec<&'static str> {
        let others = self.known.iter().copied().filter(|k| *k != key);
        others.collect()
    }

    /// Refuses keys that were not asked for, the first in the file.
    pub fn finish(mut self) -> Read<()> {
        let unknown = self
            .table
            .iter()
            .filter(|(key, _)| !self.known.contains(&key.get_ref().as_ref()))
            .min_by_key(|(key, _)| key.span().start);
        let Some((key, _)) = unknown else {
            return Ok(());
        };
        self.known.sort_unstable();
        Err(Bad::new(
            Kind::UnknownKey {
                key: self.key(key.get_ref()),
                closest: closest(key.get_ref(), self.known.iter().copied()),
                known: self.known,
            },
            key.span(),
        ))
    }
}

impl<'a> Field<'a> {
    /// Where the value stands.
    pub fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// An error about the value.
    pub fn bad(&self, kind: Kind) -> Bad {
        Bad::new(kind, self.span())
    }

    fn wrong(&self, expected: &'static str) -> Bad {
        self.bad(Kind::WrongType {
            key: self.key.clone(),
            expected,
            found: described(self.value.get_ref()),
        })
    }

    /// A text.
    pub fn text(&self) -> Read<&'a str> {
        self.value
            .get_ref()
            .as_str()
            .ok_or_else(|| self.wrong("a text"))
    }

    /// One of some words.
    pub fn word<T>(
        &self,
        known: impl FnOnce() -> Vec<&'static str>,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Read<T> {
        let text = self.text()?;
        from_name(text).ok_or_else(|| {
            self.bad(Kind::NotAWord {
                key: self.key.clone(),
                value: text.to_owned(),
                known: known(),
            })
        })
    }

    /// `true` or `false`.
    pub fn boolean(&self) -> Read<bool> {
        self.value
            .get_ref()
            .as_bool()
            .ok_or_else(|| self.wrong("true or false"))
    }

    /// A text, a number or a truth value, as it is written on a launch line.
    pub fn plain(&self) -> Read<String> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => Ok(number.to_string()),
            DeValue::Float(number) => Ok(number.to_string()),
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            _ => Err(self.wrong("a text, a number, true or false")),
        }
    }

    /// A whole number in `min..=max`.
    pub fn number(&self, min: u64, max: u64) -> Read<u64> {
        let Some(number) = self.value.get_ref().as_integer() else {
            return Err(self.wrong("a whole number"));
        };
        u64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .filter(|n| (min..=max).contains(n))
            .ok_or_else(|| {
                self.bad(Kind::OutOfRange {
                    key: self.key.clone(),
                    value: number.to_string(),
                    min,
                    max,
                })
            })
    }

    /// A table.
    pub fn table(&self) -> Read<Reader<'a>> {
        let table = self.value.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong("a table"))?;
        Ok(Reader {
            path: self.key.clone(),
            span: self.span(),
            table,
            known: Vec::new(),
        })
    }

    /// The members of a list.
    pub fn list(&self) -> Read<Vec<Field<'a>>> {
        let list = self.value.get_ref().as_array();
        let list = list.ok_or_else(|| self.wrong("a list"))?;
        let member = |(index, value)| Field {
            key: format!("{}[{index}]", self.key),
            key_span: self.key_span.clone(),
            value,
        };
        Ok(list.iter().enumerate().map(member).collect())
    }
}

fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
