//! Caps as bytes, for digests: the same on any machine, whatever the order in which fields were
//! set and however the vocabulary numbers its words. Reads caps only.

use super::caps::Caps;
use super::limits::MAX_FIELDS;
use super::range::IntRange;
use super::set::ValueSet;
use super::structure::Structure;
use super::value::Value;

fn text(text: &str, out: &mut impl FnMut(&[u8])) {
    out(&(text.len() as u32).to_le_bytes());
    out(text.as_bytes());
}

fn value(value: &Value, out: &mut impl FnMut(&[u8])) {
    match value {
        Value::Bool(v) => out(&[1, u8::from(*v)]),
        Value::Int(v) => {
            out(&[2]);
            out(&v.to_le_bytes());
        }
        Value::Uint(v) => {
            out(&[3]);
            out(&v.to_le_bytes());
        }
        Value::Fraction(v) => {
            out(&[4]);
            out(&v.num().to_le_bytes());
            out(&v.den().to_le_bytes());
        }
        Value::Bitmask(v) => {
            out(&[5]);
            out(&v.to_le_bytes());
        }
        Value::Text(v) => {
            out(&[6]);
            text(v.as_str(), out);
        }
    }
}

fn range(tag: u8, range: &IntRange, out: &mut impl FnMut(&[u8])) {
    out(&[tag]);
    for part in [range.min(), range.last(), range.step()] {
        out(&part.to_le_bytes());
    }
}

impl ValueSet {
    /// Feeds the set to a hash, a few bytes at a time: little-endian numbers and texts with their
    /// lengths. Ranges go in canonical form, and lists in their order, which is part of what a
    /// negotiation depends on.
    pub fn hash_into(&self, out: &mut impl FnMut(&[u8])) {
        if let Some(only) = self.single() {
            return value(&only, out);
        }
        match self {
            ValueSet::One(_) => {}
            ValueSet::IntRange(r) => range(7, r, out),
            ValueSet::UintRange(r) => range(8, r, out),
            ValueSet::FractionRange(r) => {
                out(&[9]);
                for part in [r.min().num(), r.min().den(), r.max().num(), r.max().den()] {
                    out(&part.to_le_bytes());
                }
            }
            ValueSet::Flags(f) => {
                out(&[11]);
                out(&f.flags().to_le_bytes());
                out(&f.mask().to_le_bytes());
            }
            ValueSet::List(values) => {
                out(&[10]);
                out(&(values.count() as u32).to_le_bytes());
                for item in values {
                    value(&item, out);
                }
            }
        }
    }
}

impl Structure {
    /// Feeds the structure to a hash: media type, features, and the fields by name in the order of
    /// their bytes. Does not allocate.
    pub fn hash_into(&self, out: &mut impl FnMut(&[u8])) {
        text(self.media(), out);
        text(
            match self.features() {
                super::Features::System => super::SYSTEM_MEMORY,
                super::Features::Any => "ANY",
                super::Features::Named(names) => names.as_str(),
            },
            out,
        );
        let len = self.len();
        out(&[self.len]);
        let name = |slot: u8| self.name_at(usize::from(slot));
        let mut slots: [u8; MAX_FIELDS] = std::array::from_fn(|i| i as u8);
        slots[..len].sort_unstable_by(|a, b| name(*a).cmp(name(*b)));
        for slot in &slots[..len] {
            text(name(*slot), out);
            self.sets()[usize::from(*slot)].hash_into(out);
        }
    }
}

impl Caps {
    /// Feeds the caps to a hash: ANY or not, how many structures, and each in order.
    pub fn hash_into(&self, out: &mut impl FnMut(&[u8])) {
        out(&[u8::from(self.is_any())]);
        out(&(self.structures().len() as u32).to_le_bytes());
        for structure in self.structures() {
            structure.hash_into(out);
        }
    }
}
