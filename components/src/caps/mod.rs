//! Caps: which media formats a pad allows, and the exact set algebra that negotiation computes
//! with. Plain data; touches nothing outside of this folder.
//!
//! | read first | for |
//! |---|---|
//! | [`Caps`] | ANY, empty, or structures in order of preference |
//! | [`Structure`] | a media type and fields by name; an absent field is unconstrained |
//! | [`ValueSet`] | what a field allows: a value, a list, or a range on a step grid |
//! | [`Fraction`] | exact frame rates and aspect ratios |
//! | [`pair`] | mpipe's rule for two pads that meet, and conflicts in words |
//! | [`CapsLimits`] | how large all of this may become |
//!
//! Texts are GStreamer's: [`Caps::parse`] reads them, [`Caps::to_gst`] writes them in full, and
//! `Display` in the short form that people type.
//!
//! Rules. Intersection is exact set intersection: a value must lie on a range's grid, two grids
//! meet on their common grid, grids are anchored at the minimum, step 0 counts as 1. Kinds never
//! meet each other: an `int` is not a `uint`, nor a fraction. Lists keep their order as preference
//! and compare as sets.

mod absorb;
mod algebra;
#[expect(
    clippy::module_inception,
    reason = "the folder is named after its main type"
)]
mod caps;
mod digest;
mod features;
mod fraction;
mod lexer;
mod limits;
mod list;
mod meet;
mod outline;
pub mod pair;
mod parse;
mod parse_error;
mod places;
mod print;
mod range;
mod set;
mod structure;
mod text;
mod value;
mod vocab;
mod words;

pub use caps::{Caps, FixateError};
pub use features::{FeatureNames, Features, SYSTEM_MEMORY};
pub use fraction::{Fraction, FractionParseError};
pub use limits::{
    CapsLimitError, CapsLimits, FIELDS_LIMIT, LIST_LIMIT, MAX_FIELDS, MAX_LIST, STEPS_LIMIT,
    STRUCTURES_LIMIT, TEXT_LIMIT,
};
pub use list::{List, ListIter, ValueItems, WordOrder};
pub use parse_error::{CapsParseError, CapsParseErrorKind};
pub use print::{GstCaps, GstStructure};
pub use range::{FlagSet, FractionRange, INT_BOUND, INT_SPAN, IntRange, SetError};
pub use set::{Pieces, ValueSet};
pub use structure::Structure;
pub use text::{FieldName, Text};
pub use value::Value;
pub use vocab::{audio_formats, video_formats};
