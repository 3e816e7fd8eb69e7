//! State as a sequence of named values: what digests, comparison and inspection all read.

use xxhash_rust::xxh3::Xxh3;

/// Receives an object's state, value by value, each with its name.
///
/// An element shows its state once, through this trait, and gets hashing and inspection for it.
/// Names are field paths for people; order and values alone decide a digest.
pub trait StateVisitor {
    /// An unsigned number.
    fn unsigned(&mut self, name: &'static str, value: u64);
    /// A signed number.
    fn signed(&mut self, name: &'static str, value: i64) {
        self.unsigned(name, value as u64);
    }
    /// A truth value.
    fn flag(&mut self, name: &'static str, value: bool) {
        self.unsigned(name, u64::from(value));
    }
    /// Bytes or text.
    fn bytes(&mut self, name: &'static str, value: &[u8]);
}

/// A streaming xxh3-64 of a state. The algorithm is part of the contract of every digest file.
#[derive(Clone, Default)]
pub struct StateHasher {
    hash: Xxh3,
}

impl StateHasher {
    /// An empty hasher.
    pub fn new() -> StateHasher {
        StateHasher::default()
    }

    /// Forgets everything, keeping its memory.
    pub fn reset(&mut self) {
        self.hash.reset();
    }

    /// The hash of all that was shown so far.
    pub fn digest(&self) -> u64 {
        self.hash.digest()
    }
}

impl StateVisitor for StateHasher {
    fn unsigned(&mut self, _name: &'static str, value: u64) {
        self.hash.update(&value.to_le_bytes());
    }

    fn bytes(&mut self, _name: &'static str, value: &[u8]) {
        self.hash.update(&(value.len() as u64).to_le_bytes());
        self.hash.update(value);
    }
}

/// xxh3-64 of some bytes, as used for frame hashes.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_part_of_the_hash() {
        let of = |parts: &[&[u8]]| {
            let mut h = StateHasher::new();
            parts.iter().for_each(|p| h.bytes("p", p));
            h.digest()
        };
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"ab", b"c"]));
    }
}
