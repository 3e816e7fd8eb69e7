//! Conflicts of a negotiation as reports write them. Reads the negotiation's own values only.

use serde::Serialize;
use tickpipe_systems::negotiate::{Conflict, Failure};

/// Pads that could not agree.
#[derive(Clone, Debug, Serialize)]
pub struct ConflictReport {
    /// The field, or null if it is the media type or several fields together.
    pub field: Option<String>,
    /// All fields that it takes.
    pub fields: Vec<String>,
    /// The pads and what each can have of the fields.
    pub pads: Vec<(String, String)>,
    /// Everything that each pad can have.
    pub caps: Vec<(String, String)>,
    /// Elements between them, both ends included.
    pub path: Vec<String>,
    /// Changes that settle it; none if nothing in the catalogue does.
    pub fix: Vec<String>,
    /// With the changes for all conflicts the whole graph was checked to work.
    pub mended: bool,
    /// Conflicts that were met when this one was settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<ConflictReport>,
}

impl ConflictReport {
    /// A report of a failed negotiation: its first conflict, the others inside of it.
    pub(crate) fn of(failure: &Failure) -> Option<ConflictReport> {
        let mut reports = failure.conflicts.iter().map(|c| one(c, failure.mended));
        let mut first = reports.next()?;
        first.further = reports.collect();
        Some(first)
    }
}

fn one(conflict: &Conflict, mended: bool) -> ConflictReport {
    let sides = conflict.sides.iter();
    ConflictReport {
        field: conflict.field().map(str::to_owned),
        fields: conflict.fields.clone(),
        pads: sides
            .clone()
            .map(|s| (s.pad.clone(), s.value.clone()))
            .collect(),
        caps: sides.map(|s| (s.pad.clone(), s.caps.clone())).collect(),
        path: conflict.path.clone(),
        fix: conflict.fix.iter().map(ToString::to_string).collect(),
        mended,
        further: Vec::new(),
    }
}
