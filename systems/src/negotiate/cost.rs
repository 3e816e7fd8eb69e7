//! What an answer costs: conversions first, then what is lost. Plain arithmetic on numbers.

use core::fmt;
use core::ops::Add;

/// How many kinds of cost there are, conversions included.
const KINDS: usize = 6;

/// Names of the kinds, as reports write them; the first counts most.
pub const COST_KINDS: [&str; KINDS] =
    ["conversions", "colour", "depth", "size", "rate", "channels"];

/// What a part of an answer costs. Costs are added, and compared kind by kind: one conversion more
/// is worse than any loss, and so on in the order of [`COST_KINDS`].
///
/// Conversions count as the rows of `transform_caps` say. Losses are in 65,536ths of a
/// doubling, but for colour (classes of formats) and depth (bits): see docs/negotiation.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(pub(super) [u64; KINDS]);

impl Cost {
    /// Nothing.
    pub const ZERO: Cost = Cost([0; KINDS]);

    /// So many conversions.
    pub const fn conversions(count: u64) -> Cost {
        let mut kinds = [0; KINDS];
        kinds[0] = count;
        Cost(kinds)
    }

    /// A loss of one kind.
    pub(super) const fn loss(kind: Loss, amount: u64) -> Cost {
        let mut kinds = [0; KINDS];
        kinds[kind as usize] = amount;
        Cost(kinds)
    }

    /// Conversions alone.
    pub const fn conversion_cost(&self) -> u64 {
        self.0[0]
    }

    /// Each kind that is not zero, by name.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COST_KINDS.into_iter().zip(self.0).filter(|(_, n)| *n > 0)
    }

    /// What is left when `other`, a part of it, is taken away.
    pub(super) fn minus(self, other: Cost) -> Cost {
        let mut kinds = self.0;
        for (kind, taken) in kinds.iter_mut().zip(other.0) {
            *kind = kind.saturating_sub(taken);
        }
        Cost(kinds)
    }
}

/// Kinds of loss, by their place in a [`Cost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Colour = 1,
    Depth = 2,
    Size = 3,
    Rate = 4,
    Channels = 5,
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        let mut kinds = self.0;
        for (kind, more) in kinds.iter_mut().zip(other.0) {
            *kind = kind.saturating_add(more);
        }
        Cost(kinds)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0[0])?;
        for (name, amount) in self.parts().filter(|p| p.0 != COST_KINDS[0]) {
            write!(f, ", {name} {amount}")?;
        }
        Ok(())
    }
}
