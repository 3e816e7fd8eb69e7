//! Four-character codes, and little-endian numbers at a place in a slice.

use std::fmt;

/// A four-character code as it stands in a file.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FourCc(pub [u8; 4]);

impl FourCc {
    /// The code at a place in a slice, if it is all there.
    pub fn at(bytes: &[u8], at: usize) -> Option<FourCc> {
        array_at(bytes, at).map(FourCc)
    }

    /// Whether all four are letters, digits, spaces or such: what an id of a chunk looks like.
    pub fn is_printable(self) -> bool {
        self.0.iter().all(|b| matches!(b, b' '..=b'~'))
    }
}

impl fmt::Display for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Debug for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The 16-bit number at a place in a slice.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

/// The 32-bit number at a place in a slice.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

/// The 64-bit number at a place in a slice.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}
