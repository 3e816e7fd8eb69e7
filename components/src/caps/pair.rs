//! mpipe's pair rule, for two pads that meet, and its edits of a structure; conflicts between
//! caps as values for error messages. Stands on the set algebra and changes nothing in it.
//!
//! Two structures meet as sets if all fields that both have do. On top of that, two *closed*
//! structures (pads' templates) must have a field in common, or nothing was compared; one that is
//! *open* (what a user writes as a filter) may leave all to the other. ANY meets everything, empty
//! caps meet nothing. (Zephyr mpipe, structure intersection; spec of the engine, "Caps".)

use thiserror::Error;

use super::caps::Caps;
use super::features::Features;
use super::limits::{CapsLimitError, CapsLimits};
use super::set::ValueSet;
use super::structure::Structure;
use super::text::{FieldName, Text};

/// One field on which two sides have no value in common.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field}: {a} and {b} have no value in common")]
pub struct FieldConflict {
    /// The field.
    pub field: FieldName,
    /// What the first side allows.
    pub a: ValueSet,
    /// What the second side allows.
    pub b: ValueSet,
}

/// Why two sides do not meet.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MeetError {
    /// One side allows nothing at all (both may).
    #[error("{} nothing", if *.a && *.b { "both sides allow" } else if *.a { "the first side allows" } else { "the second side allows" })]
    Empty {
        /// The first side does.
        a: bool,
        /// The second side does.
        b: bool,
    },
    /// The media types differ.
    #[error("media type {a} is not {b}")]
    MediaType {
        /// The first side's.
        a: Text,
        /// The second side's.
        b: Text,
    },
    /// The features differ.
    #[error("{media}({a}) is not {media}({b})")]
    Features {
        /// The media type of both.
        media: Text,
        /// The first side's.
        a: Features,
        /// The second side's.
        b: Features,
    },
    /// Fields have no value in common; never without a field.
    #[error("{media}: {}", list(.fields))]
    Fields {
        /// The media type of both.
        media: Text,
        /// The fields, in order of names.
        fields: Vec<FieldConflict>,
    },
    /// Both sides are templates that say nothing about a common field.
    #[error("{media}: the two templates have no field in common, and neither is open")]
    NoCommonField {
        /// The media type of both.
        media: Text,
    },
    /// They meet in a structure that is too large.
    #[error(transparent)]
    Limit(#[from] CapsLimitError),
}

fn list(fields: &[FieldConflict]) -> String {
    let each: Vec<String> = fields.iter().map(ToString::to_string).collect();
    each.join("; ")
}

impl MeetError {
    /// The error that mpipe answers in this case, by its errno name.
    pub const fn errno(&self) -> &'static str {
        match self {
            MeetError::MediaType { .. } => "EINVAL",
            MeetError::Limit(_) => "ENOSPC",
            MeetError::Empty { .. }
            | MeetError::Features { .. }
            | MeetError::Fields { .. }
            | MeetError::NoCommonField { .. } => "ENOENT",
        }
    }

    /// How near the two sides came: media type, then features, then the fewest fields.
    fn rank(&self) -> (u8, usize) {
        match self {
            MeetError::Limit(_) => (0, 0),
            MeetError::Fields { fields, .. } => (1, fields.len()),
            MeetError::NoCommonField { .. } => (2, 0),
            MeetError::Features { .. } => (3, 0),
            MeetError::MediaType { .. } => (4, 0),
            MeetError::Empty { .. } => (5, 0),
        }
    }
}

/// All fields on which two structures have no value in common, in order of names.
pub fn field_conflicts(a: &Structure, b: &Structure) -> Vec<FieldConflict> {
    let mut found = Vec::new();
    a.conflicting(b, |i, j| {
        found.push(FieldConflict {
            field: a.field_name_at(i),
            a: a.sets()[i].clone(),
            b: b.sets()[j].clone(),
        });
    });
    found
}

/// Why two structures do not meet as sets; `None` if they do.
pub fn conflict(a: &Structure, b: &Structure) -> Option<MeetError> {
    let media = || a.media_text().clone();
    if a.media_text() != b.media_text() {
        return Some(MeetError::MediaType {
            a: media(),
            b: b.media_text().clone(),
        });
    }
    if !a.features.meets(&b.features) {
        return Some(MeetError::Features {
            media: media(),
            a: a.features.clone(),
            b: b.features.clone(),
        });
    }
    let fields = field_conflicts(a, b);
    (!fields.is_empty()).then(|| MeetError::Fields {
        media: media(),
        fields,
    })
}

/// Why two caps do not meet as sets, told by the two structures that come nearest (the first such
/// pair); `None` if they do.
pub fn caps_conflict(a: &Caps, b: &Caps) -> Option<MeetError> {
    if a.is_empty() || b.is_empty() {
        return Some(MeetError::Empty {
            a: a.is_empty(),
            b: b.is_empty(),
        });
    }
    if a.can_intersect(b) {
        return None;
    }
    let mut nearest: Option<MeetError> = None;
    for x in a.structures() {
        for error in b.structures().iter().filter_map(|y| conflict(x, y)) {
            if nearest
                .as_ref()
                .is_none_or(|held| error.rank() < held.rank())
            {
                nearest = Some(error);
            }
        }
    }
    nearest
}

/// What two structures have in common by the pair rule.
///
/// # Errors
/// Why they do not meet.
pub fn meet_structures(
    a: &Structure,
    a_open: bool,
    b: &Structure,
    b_open: bool,
    limits: &CapsLimits,
) -> Result<Structure, MeetError> {
    if let Some(error) = conflict(a, b) {
        return Err(error);
    }
    if !a_open && !b_open && a.common_fields(b) == 0 {
        return Err(MeetError::NoCommonField {
            media: a.media_text().clone(),
        });
    }
    match a.intersect_within(b, limits)? {
        Some(both) => Ok(both),
        None => Err(MeetError::Fields {
            media: a.media_text().clone(),
            fields: field_conflicts(a, b),
        }),
    }
}

/// What two caps have in common by the pair rule, in order of the left structures.
///
/// # Errors
/// Why they do not meet, told by the two structures that come nearest.
pub fn meet(a: &Caps, a_open: bool, b: &Caps, b_open: bool) -> Result<Caps, MeetError> {
    meet_within(a, a_open, b, b_open, &CapsLimits::DEFAULT)
}

/// As [`meet`], within given limits.
///
/// # Errors
/// As [`meet`].
pub fn meet_within(
    a: &Caps,
    a_open: bool,
    b: &Caps,
    b_open: bool,
    limits: &CapsLimits,
) -> Result<Caps, MeetError> {
    // mpipe: ANY answers a copy of the other side, an empty one included, which then meets nothing.
    if a.is_empty() || b.is_empty() {
        return Err(MeetError::Empty {
            a: a.is_empty(),
            b: b.is_empty(),
        });
    }
    if a.is_any() {
        return Ok(b.clone());
    }
    if b.is_any() {
        return Ok(a.clone());
    }
    let mut both = Caps::empty();
    let mut nearest: Option<MeetError> = None;
    for x in a.structures() {
        for y in b.structures() {
            match meet_structures(x, a_open, y, b_open, limits) {
                Ok(structure) => both.push_within(structure, limits)?,
                Err(error) => {
                    if nearest
                        .as_ref()
                        .is_none_or(|held| error.rank() < held.rank())
                    {
                        nearest = Some(error);
                    }
                }
            }
        }
    }
    match nearest {
        // A pair that meets and is too large must not be lost beside others that fit.
        Some(error @ MeetError::Limit(_)) => Err(error),
        Some(error) if both.is_empty() => Err(error),
        _ => Ok(both),
    }
}

/// mpipe's field identifiers in their order; its media types are `unknown`, `audio_pcm`, `video`.
pub const MPIPE_FIELDS: [&str; 8] = [
    "pixel_format",
    "width",
    "height",
    "sample_rate",
    "bit_width",
    "channels",
    "interleaved",
    "frame_interval",
];

/// An edit of a structure that mpipe refuses.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EditError {
    /// The field is already there.
    #[error("field {0} is already there")]
    Exists(String),
    /// The field is not there.
    #[error("field {0} is not there")]
    Missing(String),
    /// No field has that name.
    #[error("no field is called {0}")]
    NoSuchField(String),
    /// The structure is full.
    #[error(transparent)]
    Full(#[from] CapsLimitError),
}

impl EditError {
    /// The error that mpipe answers in this case, by its errno name.
    pub const fn errno(&self) -> &'static str {
        match self {
            EditError::Exists(_) => "EEXIST",
            EditError::Missing(_) => "ENOENT",
            EditError::NoSuchField(_) => "EINVAL",
            EditError::Full(_) => "ENOSPC",
        }
    }
}

impl Structure {
    /// Appends a field that must not be there yet; mpipe's append, with its fields only.
    ///
    /// # Errors
    /// [`EditError::NoSuchField`], [`EditError::Exists`] or [`EditError::Full`], in that order.
    pub fn append_mpipe(
        &mut self,
        name: &str,
        set: ValueSet,
        limits: &CapsLimits,
    ) -> Result<(), EditError> {
        if !MPIPE_FIELDS.contains(&name) {
            return Err(EditError::NoSuchField(name.to_owned()));
        }
        if self.get(name).is_some() {
            return Err(EditError::Exists(name.to_owned()));
        }
        Ok(self.set_named(FieldName::new(name), set, limits)?)
    }

    /// Removes a field that must be there; mpipe's remove.
    ///
    /// # Errors
    /// [`EditError::Missing`], also for a name that no field has.
    pub fn remove_mpipe(&mut self, name: &str) -> Result<ValueSet, EditError> {
        self.remove(name)
            .ok_or_else(|| EditError::Missing(name.to_owned()))
    }

    /// mpipe's "is fixed": at least one field, and each written as one value.
    pub fn is_primitive(&self) -> bool {
        !self.is_empty() && self.fields().all(|(_, set)| set.is_scalar())
    }

    /// mpipe's fixation: each range becomes its minimum; `None` (its `ENOENT`) without a field.
    pub fn fixate_mpipe(&self) -> Option<Structure> {
        (!self.is_empty()).then(|| self.fixated())
    }
}
