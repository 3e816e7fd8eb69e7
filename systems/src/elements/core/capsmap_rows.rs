//! The rows of `capsmap`: what a converter takes and what it makes of it, as a text and as answers
//! to `transform_caps`. Touches caps only.

use super::caps_text::{NotClosed, cut};
use crate::element::{Fields, Transformed};
use core::fmt;
use core::str::FromStr;
use thiserror::Error;
use tickpipe_components::caps::{
    Caps, CapsLimits, CapsParseError, CapsParseErrorKind, FieldName, Structure, ValueSet,
};
use tickpipe_components::property::FormError;

/// The most rows of a map, `capsmap-rows`.
pub const MAX_ROWS: usize = 256;
/// The most pairs of a structure taken and one made, over all rows, `capsmap-pairs`.
pub const MAX_PAIRS: usize = 1024;

/// What a converter takes and what it makes of it: `A -> B; C | D -> E`.
///
/// Rows are kept in one order, by their texts in their own form, and so are the structures and
/// lists of what they take; so neither has a meaning. The order of what a row makes has one: the
/// first is preferred.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    takes: Vec<Structure>,
    makes: Vec<Structure>,
}

#[derive(Clone, Debug)]
struct Row {
    takes: Caps,
    makes: Caps,
}

/// A text that is no map.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("map text, byte {offset}: {kind}")]
pub struct MapError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub kind: MapErrorKind,
}

/// What is wrong in the text of a map.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MapErrorKind {
    /// A row does not say what is made.
    #[error("expected a row such as `A -> B`, found no `->`")]
    NoArrow,
    /// A row has too many sides.
    #[error("a second `->` in a row; rows are separated by `|`")]
    SecondArrow,
    /// A side says nothing.
    #[error("expected a structure such as video/x-raw on each side of `->`, found none")]
    EmptySide,
    /// A side says all or nothing.
    #[error("expected a structure such as video/x-raw, found {0}")]
    NoStructure(&'static str),
    /// A quote or bracket has no end.
    #[error("`{0}` is not closed")]
    NotClosed(char),
    /// A side is not caps.
    #[error(transparent)]
    Caps(CapsParseErrorKind),
    /// There is too much of something.
    #[error("{needed} {unit} are past the limit {limit}={allowed}")]
    Limit {
        /// The limit's name.
        limit: &'static str,
        /// What is counted.
        unit: &'static str,
        /// How many there are.
        needed: usize,
        /// How many there may be.
        allowed: usize,
    },
}

impl MapErrorKind {
    fn at(self, offset: usize) -> MapError {
        MapError { offset, kind: self }
    }
}

impl From<MapError> for FormError {
    fn from(error: MapError) -> FormError {
        FormError {
            offset: error.offset,
            problem: error.kind.to_string(),
        }
    }
}

impl FromStr for Rows {
    type Err = MapError;

    /// Reads `A -> B; C | D -> E`; an empty text is no row.
    fn from_str(text: &str) -> Result<Rows, MapError> {
        if text.trim().is_empty() {
            return Ok(Rows::default());
        }
        let pieces = cut(text, "|").map_err(|e| not_closed(0, e))?;
        if pieces.len() > MAX_ROWS {
            let kind = MapErrorKind::Limit {
                limit: "capsmap-rows",
                unit: "rows",
                needed: pieces.len(),
                allowed: MAX_ROWS,
            };
            return Err(kind.at(pieces[MAX_ROWS].0));
        }
        let mut rows = Vec::with_capacity(pieces.len());
        let mut pairs = 0;
        for (offset, piece) in pieces {
            let row = row(offset, piece)?;
            pairs += row.takes.structures().len() * row.makes.structures().len();
            if pairs > MAX_PAIRS {
                let kind = MapErrorKind::Limit {
                    limit: "capsmap-pairs",
                    unit: "pairs of what is taken and made",
                    needed: pairs,
                    allowed: MAX_PAIRS,
                };
                return Err(kind.at(offset));
            }
            rows.push(row);
        }
        rows.sort_by_cached_key(Row::to_string);
        rows.dedup_by_key(|row| row.to_string());
        Ok(Rows {
            takes: without_repetition(rows.iter().flat_map(|row| row.takes.structures().to_vec())),
            makes: without_repetition(rows.iter().flat_map(|row| row.makes.structures().to_vec())),
            rows,
        })
    }
}

fn not_closed(offset: usize, error: NotClosed) -> MapError {
    MapErrorKind::NotClosed(error.mark).at(offset + error.offset)
}

fn row(offset: usize, text: &str) -> Result<Row, MapError> {
    let sides = cut(text, "->").map_err(|e| not_closed(offset, e))?;
    let ((left_at, left), (right_at, right)) = match *sides.as_slice() {
        [left, right] => (left, right),
        [_, _, (third, _), ..] => {
            return Err(MapErrorKind::SecondArrow.at(offset + third - "->".len()));
        }
        _ => {
            let blank = text.len() - text.trim_start().len();
            return Err(MapErrorKind::NoArrow.at(offset + blank));
        }
    };
    let takes = side(offset + left_at, left)?.into_iter().map(unordered);
    let mut takes: Vec<Structure> = takes.collect();
    takes.sort_by_cached_key(Structure::to_string);
    Ok(Row {
        takes: without_repetition(takes).into_iter().collect(),
        makes: without_repetition(side(offset + right_at, right)?)
            .into_iter()
            .collect(),
    })
}

/// The structures of one side of a row, each set in its canonical form.
fn side(offset: usize, text: &str) -> Result<Vec<Structure>, MapError> {
    if text.trim().is_empty() {
        return Err(MapErrorKind::EmptySide.at(offset));
    }
    let caps: Caps = text.parse().map_err(|error: CapsParseError| {
        MapErrorKind::Caps(error.kind).at(offset + error.offset)
    })?;
    let blank = text.len() - text.trim_start().len();
    if caps.is_any() {
        return Err(MapErrorKind::NoStructure("ANY").at(offset + blank));
    }
    if caps.is_empty() {
        return Err(MapErrorKind::NoStructure("EMPTY").at(offset + blank));
    }
    Ok(caps.structures().iter().map(Structure::canonical).collect())
}

/// The same with its lists in the order of their members' texts.
fn unordered(mut structure: Structure) -> Structure {
    let fields = structure.clone();
    for (name, set) in fields.names().zip(fields.fields().map(|field| field.1)) {
        let Some(mut members) = set.members() else {
            continue;
        };
        members.sort_by_cached_key(|value| value.to_string());
        if let Ok(sorted) = ValueSet::list(members) {
            // The field is there already, so no limit can be passed.
            let _ = structure.set_named(name, sorted, &CapsLimits::DEFAULT);
        }
    }
    structure
}

/// Of equal ones the first.
fn without_repetition(structures: impl IntoIterator<Item = Structure>) -> Vec<Structure> {
    let mut kept: Vec<Structure> = Vec::new();
    for structure in structures {
        if !kept.contains(&structure) {
            kept.push(structure);
        }
    }
    kept
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.takes, self.makes)
    }
}

/// The rows in their own order and form; reads back as the same.
impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, row) in self.rows.iter().enumerate() {
            if i > 0 {
                f.write_str(" | ")?;
            }
            write!(f, "{row}")?;
        }
        Ok(())
    }
}

impl Rows {
    /// Checks a text, as a property does.
    ///
    /// # Errors
    /// Where it is no map, and why.
    pub fn check(text: &str) -> Result<(), FormError> {
        text.parse::<Rows>().map(drop).map_err(FormError::from)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All structures that are taken, each once.
    pub fn takes(&self) -> &[Structure] {
        &self.takes
    }

    /// All structures that are made, each once.
    pub fn makes(&self) -> &[Structure] {
        &self.makes
    }

    /// What the other pad can have where one has `caps`, all of which the row must take or make:
    /// `down` from sink to source. A conversion costs `cost`.
    pub fn answer(
        &self,
        down: bool,
        caps: &Structure,
        index: u32,
        cost: u32,
    ) -> Option<Transformed> {
        let mut left = index as usize;
        for row in &self.rows {
            let (near, far) = match down {
                true => (&row.takes, &row.makes),
                false => (&row.makes, &row.takes),
            };
            let far = far.structures();
            for from in near.structures().iter().filter(|s| caps.is_subset(s)) {
                match far.get(left) {
                    Some(to) => return Some(cross(from, to, caps, cost)),
                    None => left -= far.len(),
                }
            }
        }
        None
    }
}

/// What becomes of `caps`, which `from` contains, on the side of `to`.
fn cross(from: &Structure, to: &Structure, caps: &Structure, cost: u32) -> Transformed {
    if from == to {
        return Transformed::same(caps.clone());
    }
    let mut across = to.clone();
    if from.features() == to.features() {
        across = across.with_features(caps.features().clone());
    }
    let named = |name: &FieldName| [from, to].iter().any(|side| side.get_named(name).is_some());
    for (name, (_, set)) in caps.names().zip(caps.fields()) {
        if !named(&name) {
            // What does not fit stays tied all the same, by not being free.
            let _ = across.set_named(name, set.clone(), &CapsLimits::DEFAULT);
        }
    }
    let more = to.names().filter(|name| from.get_named(name).is_none());
    Transformed {
        caps: across,
        free: Fields::These(from.names().chain(more).collect()),
        cost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str) -> Rows {
        text.parse().expect("a map")
    }

    fn structure(text: &str) -> Structure {
        let caps: Caps = text.parse().expect("caps");
        caps.first().expect("one").clone()
    }

    /// All answers as `caps free=… cost=…`.
    fn answers(rows: &Rows, down: bool, caps: &str) -> Vec<String> {
        let caps = structure(caps);
        (0..)
            .map_while(|index| rows.answer(down, &caps, index, 3))
            .map(|t| match t.free {
                Fields::These(names) => {
                    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
                    format!("{} free={} cost={}", t.caps, names.join(","), t.cost)
                }
                Fields::AllBut(_) => format!("{} all but", t.caps),
            })
            .collect()
    }

    #[test]
    fn a_field_is_consumed_made_changed_or_tied() {
        let r = rows("a/x,c=1,d={1,2} -> b/y,d={4,3},m=7");
        assert_eq!(
            answers(&r, true, "a/x,c=1,d=2,t=9"),
            ["b/y,d={4,3},m=7,t=9 free=c,d,m cost=3"]
        );
        assert_eq!(
            answers(&r, false, "b/y,d=3,m=7,t=9"),
            ["a/x,c=1,d={1,2},t=9 free=d,m,c cost=3"]
        );
        // Not all of this is taken, so nothing holds for all of it.
        assert!(answers(&r, true, "a/x,c=1,d={2,3}").is_empty());
        assert!(answers(&r, true, "a/x,c=1").is_empty());
        assert!(answers(&r, true, "b/y,c=1,d=1").is_empty());
    }

    #[test]
    fn equal_structures_pass_through() {
        let r = rows("a/x,f={1,2} -> a/x,f={2,1}");
        assert_eq!(
            answers(&r, true, "a/x,f=2,t=9"),
            ["a/x,f=2,t=9 free= cost=0"]
        );
        let r = rows("a/x; b/y,f=1 -> b/y,f=1; a/x");
        assert_eq!(
            answers(&r, true, "a/x,t=9"),
            ["b/y,f=1,t=9 free=f cost=3", "a/x,t=9 free= cost=0"]
        );
        assert_eq!(
            answers(&r, false, "b/y,f=1"),
            ["a/x free=f cost=3", "b/y,f=1 free= cost=0"]
        );
    }

    #[test]
    fn what_is_made_keeps_its_order_and_what_is_taken_has_none() {
        let one = rows("a/x,f={2,1}; a/y -> b/z; b/a,g={2,1} | a/b -> b/c; b/z | a/b -> b/c; b/z");
        let other = rows("a/b -> b/c; b/z | a/y; a/x,f={1,2} -> b/z; b/a,g={2,1}");
        assert_eq!(one.to_string(), other.to_string());
        assert_eq!(
            one.to_string(),
            "a/b -> b/c; b/z | a/x,f={1,2}; a/y -> b/z; b/a,g={2,1}"
        );
        let texts = |list: &[Structure]| list.iter().map(Structure::to_string).collect::<Vec<_>>();
        assert_eq!(texts(one.takes()), ["a/b", "a/x,f={1,2}", "a/y"]);
        assert_eq!(texts(one.makes()), ["b/c", "b/z", "b/a,g={2,1}"]);
        let turned = rows("a/x -> b/a,g={1,2}");
        assert_ne!(turned.to_string(), rows("a/x -> b/a,g={2,1}").to_string());
    }

    #[test]
    fn marks_within_quotes_are_text() {
        let r = rows(r#"a/x,t="p|q -> r; s" -> b/y,l={ "|", "->" }"#);
        assert_eq!(r.takes()[0].string("t"), Some("p|q -> r; s"));
        assert_eq!(r.makes().len(), 1);
        assert_eq!(rows(&r.to_string()).to_string(), r.to_string());
        assert!(rows("  ").is_empty());
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, error) in [
            (
                "a/x",
                "byte 0: expected a row such as `A -> B`, found no `->`",
            ),
            (
                "a/x -> b/y |  a/z",
                "byte 14: expected a row such as `A -> B`, found no `->`",
            ),
            (
                "a/x -> b/y |",
                "byte 12: expected a row such as `A -> B`, found no `->`",
            ),
            (
                "a/x -> b/y -> c/z",
                "byte 11: a second `->` in a row; rows are separated by `|`",
            ),
            (
                "-> b/y",
                "byte 0: expected a structure such as video/x-raw on each side of `->`, found none",
            ),
            (
                "a/x -> ",
                "byte 6: expected a structure such as video/x-raw on each side of `->`, found none",
            ),
            (
                "a/x -> ANY",
                "byte 7: expected a structure such as video/x-raw, found ANY",
            ),
            (
                "EMPTY -> a/x",
                "byte 0: expected a structure such as video/x-raw, found EMPTY",
            ),
            ("a/x,f={1 -> b/y", "byte 6: `{` is not closed"),
            ("a/x -> b/y | c/z,t=\"p", "byte 19: `\"` is not closed"),
            (
                "a/x -> b/y | c/z -> d/w,f=",
                "byte 26: expected a value, found the end",
            ),
            (
                "a/x,f=[2,1] -> b/y",
                "byte 6: range [2, 1] is empty: its minimum is above its maximum",
            ),
        ] {
            let got = text.parse::<Rows>().expect_err(text);
            assert_eq!(got.to_string(), format!("map text, {error}"), "{text}");
            assert_eq!(FormError::from(got).to_string(), error, "{text}");
        }
    }

    #[test]
    fn limits_are_stated() {
        let many = vec!["a/x -> b/y"; MAX_ROWS + 1].join("|");
        let got = many.parse::<Rows>().expect_err("too many").to_string();
        let at = MAX_ROWS * "a/x -> b/y|".len();
        assert_eq!(
            got,
            format!("map text, byte {at}: 257 rows are past the limit capsmap-rows=256")
        );
        let side = |kind: &str| {
            let list: Vec<String> = (0..33).map(|i| format!("{kind}/x,f={i}")).collect();
            list.join(";")
        };
        let got = format!("{} -> {}", side("a"), side("b")).parse::<Rows>();
        assert_eq!(
            got.expect_err("too many").to_string(),
            "map text, byte 0: 1089 pairs of what is taken and made are past the limit capsmap-pairs=1024"
        );
    }

    #[test]
    fn more_fields_than_fit_are_tied_all_the_same() {
        let fields = |from: usize, to: usize| {
            let list: Vec<String> = (from..to).map(|i| format!(",f{i}=1")).collect();
            list.concat()
        };
        let r = rows(&format!("a/x -> b/y{}", fields(0, 10)));
        let answer = r.answer(true, &structure(&format!("a/x{}", fields(5, 15))), 0, 1);
        let answer = answer.expect("one");
        assert_eq!(answer.caps.len(), 12);
        assert!(!answer.free.contains(&FieldName::new("f14")));
        assert!(answer.free.contains(&FieldName::new("f9")));
    }

    fn side_text() -> impl Strategy<Value = String> {
        let set = prop_oneof![
            (0..5i32).prop_map(|v| v.to_string()),
            proptest::sample::subsequence(vec!["5", "1", "a", "\"|\"", "25/1", "\"->\""], 1..4)
                .prop_shuffle()
                .prop_map(|list| format!("{{{}}}", list.join(","))),
            (0..9i32, 1..9i32, 1..3i32).prop_map(|(a, n, s)| format!("[{a},{},{s}]", a + n)),
        ];
        let fields = proptest::collection::btree_map("[fgh]", set, 0..3);
        let structure = ("[ab]/[xy]", fields).prop_map(|(media, fields)| {
            let fields: Vec<String> = fields.iter().map(|(k, v)| format!(",{k}={v}")).collect();
            media + &fields.concat()
        });
        proptest::collection::vec(structure, 1..4).prop_map(|list| list.join("; "))
    }

    proptest! {
        #[test]
        fn texts_read_back_and_the_order_of_rows_does_not_matter(
            (list, turned) in proptest::collection::vec((side_text(), side_text()), 1..5)
                .prop_map(|list| list.iter().map(|(a, b)| format!("{a}->{b}")).collect::<Vec<_>>())
                .prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        ) {
            let one = rows(&list.join("|"));
            prop_assert_eq!(rows(&one.to_string()).to_string(), one.to_string());
            let other = rows(&turned.join(" | "));
            prop_assert_eq!(one.to_string(), other.to_string());
            for (down, near) in [(true, one.takes()), (false, one.makes())] {
                for s in near {
                    let all = answers(&one, down, &s.to_string());
                    prop_assert!(!all.is_empty());
                    prop_assert_eq!(&all, &answers(&other, down, &s.to_string()));
                }
            }
        }

        #[test]
        fn no_text_panics(text in r#"[a/x,=1{}()\[\]|>; "\\-]{0,60}"#) {
            let _ = text.parse::<Rows>();
        }
    }
}
