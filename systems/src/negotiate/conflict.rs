//! Why a graph has no caps, as data: pads that cannot agree, on what, how they are connected, and
//! what would make the graph work. Knows nothing of how it was found.

use core::fmt;

/// Elements of a path that are all named.
const LONG_PATH: usize = 12;
/// Elements that are named at each end of a longer one.
const ENDS: usize = 3;

/// A pad of a conflict, and what it can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The pad, as `element.pad`.
    pub pad: String,
    /// What it can have of the conflict's fields: a set for one field, fields and sets for several,
    /// its media types if it is about those, its table if it is a converter.
    pub value: String,
    /// All of its caps.
    pub caps: String,
}

/// A change of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Put an element between two pads.
    Insert {
        /// The class.
        class: String,
        /// The source pad.
        from: String,
        /// The sink pad.
        to: String,
    },
    /// Take an element out, and link what it was between.
    Remove {
        /// Its name.
        element: String,
    },
}

/// Pads that cannot agree. It is minimal: without any one of them the others agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The fields that they differ in, none if it is the media type.
    pub fields: Vec<String>,
    /// The pads, upstream first; two, or more if it takes more than two to disagree.
    pub sides: Vec<Side>,
    /// Names of the elements from the first to the last, both included.
    pub path: Vec<String>,
    /// Changes that settle it. None: nothing in the catalogue does.
    pub fix: Vec<Change>,
}

/// Why there are no caps for a graph: all conflicts, those included that were met while the changes
/// for others were tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The conflicts, in the order in which they were found; at least one.
    pub conflicts: Vec<Conflict>,
    /// With all changes together the whole graph was checked to have caps.
    pub mended: bool,
    /// The search for conflicts ended at its limit, so there may be more, or smaller ones.
    pub cut_short: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Insert { class, from, to } => {
                write!(f, "insert {class} between {from} and {to}")
            }
            Change::Remove { element } => write!(f, "drop {element}"),
        }
    }
}

impl Conflict {
    /// The field, if it is one alone.
    pub fn field(&self) -> Option<&str> {
        match &self.fields[..] {
            [field] => Some(field),
            _ => None,
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[String], last: &str| {
            for (i, item) in items.iter().enumerate() {
                match i {
                    0 => {}
                    _ if i + 1 == items.len() => f.write_str(last)?,
                    _ => f.write_str(", ")?,
                }
                f.write_str(item)?;
            }
            Ok(())
        };
        let pads: Vec<String> = self.sides.iter().map(|s| s.pad.clone()).collect();
        if pads.len() == 1 {
            write!(
                f,
                "{} has nothing that can be used: {}",
                pads[0], self.sides[0].value
            )?;
        } else {
            list(f, &pads, " and ")?;
            f.write_str(" cannot agree")?;
            if self.fields.is_empty() {
                f.write_str(" on the media type: ")?;
            } else {
                f.write_str(" on ")?;
                list(f, &self.fields, " and ")?;
                f.write_str(": ")?;
            }
            let values: Vec<&str> = self.sides.iter().map(|s| s.value.as_str()).collect();
            f.write_str(&values.join(" against "))?;
        }
        match &self.path[..] {
            [] | [_] => {}
            path if path.len() <= LONG_PATH => write!(f, " (path: {})", path.join(" -> "))?,
            path => {
                let (head, tail) = (&path[..ENDS], &path[path.len() - ENDS..]);
                let between = path.len() - 2 * ENDS;
                let (head, tail) = (head.join(" -> "), tail.join(" -> "));
                write!(f, " (path: {head} -> {between} more -> {tail})")?;
            }
        }
        Ok(())
    }
}

/// Changes as one phrase; of elements put between the same pads the order is that of the stream.
fn together(changes: &[Change]) -> String {
    if let [
        Change::Insert { class: a, from, to },
        Change::Insert {
            class: b,
            from: f,
            to: t,
        },
    ] = changes
        && (from, to) == (f, t)
    {
        return format!("insert {a} ! {b} between {from} and {to}");
    }
    let changes: Vec<String> = changes.iter().map(Change::to_string).collect();
    changes.join(", and ")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, conflict) in self.conflicts.iter().enumerate() {
            if i > 0 {
                f.write_str("\nand then ")?;
            }
            write!(f, "{conflict}")?;
            match (&conflict.fix[..], self.mended) {
                ([], _) => f.write_str("\n  no change in the catalogue settles it")?,
                (changes, mended) => {
                    let changes = together(changes);
                    match mended {
                        true => write!(f, "\n  it works if you {changes}")?,
                        false => write!(f, "\n  this one is settled if you {changes}")?,
                    }
                }
            }
        }
        if self.conflicts.len() > 1 && self.mended {
            f.write_str("\nwith all of these together the graph works")?;
        }
        if self.cut_short {
            f.write_str("\nthe search for the cause ended at its limit: there may be more")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
