//! Figures that an element makes of what passes through it: of each frame, and of all. Plain data.

use crate::digest::StateVisitor;
use crate::time::TimeBase;

/// The figures of one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The frame's time.
    pub pts: i64,
    /// The unit of that.
    pub time_base: TimeBase,
    /// A value for each of [`Measures::names`].
    pub values: Vec<f64>,
}

/// All figures of an element. They follow from sums of whole numbers, so they are the same on every CPU.
#[derive(Debug, Default)]
pub struct Measures {
    /// What the figures of a frame are called.
    pub names: Vec<String>,
    /// Those of each frame, where the report wants them.
    pub frames: Vec<Measured>,
    /// Those of all frames, by name.
    pub total: Vec<(String, f64)>,
    /// How many frames were measured.
    pub count: u64,
}

impl Measures {
    /// Shows what can matter later.
    pub fn visit(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("measured", self.count);
        for (_, value) in &self.total {
            visitor.unsigned("figure", value.to_bits());
        }
    }
}
