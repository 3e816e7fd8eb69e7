//! Bounds of a structure's numbers, by which most pairs show at a glance that one does not lie in
//! the other. Reads structures only.

use super::fraction::Fraction;
use super::set::ValueSet;
use super::structure::Structure;
use super::value::Value;

/// How many fields have bounds: as many as raw video has numbers that differ.
const BOUNDS: usize = 4;

/// The least and the greatest value of a structure's first numbers, rounded: rounding keeps the
/// order, so what is less here is less.
#[derive(Clone, Copy)]
pub(super) struct Outline {
    known: u64,
    /// Which fields have bounds, a bit each.
    bounded: u32,
    low: [f64; BOUNDS],
    high: [f64; BOUNDS],
}

fn ratio(fraction: Fraction) -> f64 {
    f64::from(fraction.num()) / f64::from(fraction.den())
}

impl Outline {
    pub(super) fn of(structure: &Structure) -> Outline {
        let mut out = Outline {
            known: structure.known,
            bounded: 0,
            low: [0.0; BOUNDS],
            high: [0.0; BOUNDS],
        };
        let sets = &structure.sets()[..structure.known_len()];
        let mut places = out.low.iter_mut().zip(&mut out.high);
        for (at, set) in sets.iter().enumerate() {
            let (low, high) = match set {
                ValueSet::IntRange(range) | ValueSet::UintRange(range) => {
                    (range.min() as f64, range.last() as f64)
                }
                ValueSet::FractionRange(range) => (ratio(range.min()), ratio(range.max())),
                ValueSet::One(Value::Int(v)) => (*v as f64, *v as f64),
                ValueSet::One(Value::Uint(v)) => (f64::from(*v), f64::from(*v)),
                ValueSet::One(Value::Fraction(v)) => (ratio(*v), ratio(*v)),
                _ => continue,
            };
            let Some(place) = places.next() else { break };
            (*place.0, *place.1) = (low, high);
            out.bounded |= 1 << at;
        }
        out
    }

    /// Whether a structure of this outline may contain one of the other; if not, it does not.
    #[inline]
    pub(super) fn may_contain(&self, other: &Outline) -> bool {
        if self.known != other.known || self.bounded != other.bounded {
            return self.known & !other.known == 0;
        }
        let (mine, theirs) = (
            self.low.iter().zip(&self.high),
            other.low.iter().zip(&other.high),
        );
        mine.zip(theirs)
            .all(|((low, high), (other_low, other_high))| low <= other_low && other_high <= high)
    }
}
