//! The named limits of caps and the error that states them. Touches nothing else.

use thiserror::Error;

/// The most that [`CapsLimits::fields`] can be: the slots of a structure. A field whose name is not in
/// the vocabulary takes two.
pub const MAX_FIELDS: usize = 24;
/// The most that [`CapsLimits::list`] can be: the members of a list.
pub const MAX_LIST: usize = 120;

/// Name of the limit on the fields of a structure.
pub const FIELDS_LIMIT: &str = "caps-fields";
/// Name of the limit on the members of a list.
pub const LIST_LIMIT: &str = "caps-list";
/// Name of the limit on the structures of caps, and on the pieces that a set falls into.
pub const STRUCTURES_LIMIT: &str = "caps-structures";
/// Name of the limit on the steps of a subset test or a subtraction.
pub const STEPS_LIMIT: &str = "caps-steps";
/// Name of the limit on the bytes of a caps text.
pub const TEXT_LIMIT: &str = "caps-text";

/// How large caps may become. All operations that take none use [`CapsLimits::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapsLimits {
    /// `caps-fields`: fields of one structure, counted on the union of two that meet; one whose name
    /// is not in the vocabulary counts twice towards the maximum. Default and maximum 24:
    /// GStreamer's raw video has 16 and raw audio 5 (mpipe: `CONFIG` fields per structure, 5).
    pub fields: usize,
    /// `caps-list`: members of one list. Default and maximum 120; GStreamer names 111 raw video
    /// formats.
    pub list: usize,
    /// `caps-structures`: structures of one caps value, and pieces of a subtraction. Default 1024.
    pub structures: usize,
    /// `caps-steps`: structures compared in one subset test or subtraction. Default 100000.
    pub steps: usize,
    /// `caps-text`: bytes of a caps text. Default 65536.
    pub text: usize,
}

impl CapsLimits {
    /// The limits that hold unless others are given.
    pub const DEFAULT: CapsLimits = CapsLimits {
        fields: MAX_FIELDS,
        list: MAX_LIST,
        structures: 1024,
        steps: 100_000,
        text: 65_536,
    };
}

impl Default for CapsLimits {
    fn default() -> Self {
        CapsLimits::DEFAULT
    }
}

/// An answer that does not fit the limits, or that caps cannot express.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CapsLimitError {
    /// A size went past its limit.
    #[error("{needed} {unit} are past the limit {limit}={allowed}")]
    Exceeded {
        /// The limit's name, such as `caps-fields`.
        limit: &'static str,
        /// What is counted.
        unit: &'static str,
        /// How many there would be, or the first count that was too high.
        needed: u64,
        /// How many there may be.
        allowed: u64,
    },
    /// The difference of two caps needs "anything but" on a field (or feature, or media type) that
    /// the left side leaves open; caps have no such form.
    #[error("the difference is \"any {what} but\" some, which caps cannot express")]
    Unbounded {
        /// The field's name, or `feature` or `media type`.
        what: String,
    },
}

impl CapsLimitError {
    pub(super) fn fields(needed: usize, limits: &CapsLimits) -> CapsLimitError {
        CapsLimitError::Exceeded {
            limit: FIELDS_LIMIT,
            unit: "fields of a structure",
            needed: needed as u64,
            allowed: limits.fields.min(MAX_FIELDS) as u64,
        }
    }

    pub(super) fn list(needed: usize, limits: &CapsLimits) -> CapsLimitError {
        CapsLimitError::Exceeded {
            limit: LIST_LIMIT,
            unit: "members of a list",
            needed: needed as u64,
            allowed: limits.list.min(MAX_LIST) as u64,
        }
    }

    pub(super) fn structures(needed: usize, limits: &CapsLimits) -> CapsLimitError {
        CapsLimitError::Exceeded {
            limit: STRUCTURES_LIMIT,
            unit: "structures or pieces",
            needed: needed as u64,
            allowed: limits.structures as u64,
        }
    }

    pub(super) fn steps(limits: &CapsLimits) -> CapsLimitError {
        CapsLimitError::Exceeded {
            limit: STEPS_LIMIT,
            unit: "comparisons of structures",
            needed: limits.steps as u64 + 1,
            allowed: limits.steps as u64,
        }
    }
}
