//! An answer to `transform_caps`: what the other side can have, which fields are tied, the cost.

use smallvec::SmallVec;
use tickpipe_components::caps::{FieldName, Structure};

/// A choice of fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Fields {
    /// These.
    These(SmallVec<[FieldName; 4]>),
    /// All but these.
    AllBut(SmallVec<[FieldName; 4]>),
}

impl Fields {
    /// Whether a field is among them.
    pub fn contains(&self, name: &FieldName) -> bool {
        match self {
            Fields::These(names) => names.contains(name),
            Fields::AllBut(names) => !names.contains(name),
        }
    }
}

/// One way in which an element makes caps on one pad of caps on another.
///
/// A field is *tied* unless it is listed in [`Transformed::free`]: both pads have the same value of
/// it, or neither says anything of it, whether or not `caps` names it. A free field has on the one
/// side what was asked with, on the other what `caps` allows; where one of the two does not name
/// it, that side may have anything. Media type and features are tied where both sides have the
/// same, and converted where they differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Transformed {
    /// What the other pad can have.
    pub caps: Structure,
    /// Fields that may differ between the two pads.
    pub free: Fields,
    /// What it costs: 0 passes buffers on as they are, a conversion costs 1 unless it says more.
    pub cost: u32,
}

impl Transformed {
    /// A pass-through: every field is tied, and nothing is converted.
    pub fn same(caps: Structure) -> Transformed {
        Transformed {
            caps,
            free: Fields::These(SmallVec::new()),
            cost: 0,
        }
    }

    /// A conversion of the fields `free`, at cost 1.
    pub fn converting(caps: Structure, free: &[&str]) -> Transformed {
        Transformed {
            caps,
            free: Fields::These(free.iter().map(|name| FieldName::new(name)).collect()),
            cost: 1,
        }
    }

    /// A relation that ties the fields `tied` only and costs nothing: between the inputs of an
    /// element that synchronises them.
    pub fn tying(caps: Structure, tied: &[&str]) -> Transformed {
        Transformed {
            caps,
            free: Fields::AllBut(tied.iter().map(|name| FieldName::new(name)).collect()),
            cost: 0,
        }
    }

    /// The same at another cost.
    #[must_use]
    pub fn at_cost(self, cost: u32) -> Transformed {
        Transformed { cost, ..self }
    }
}
