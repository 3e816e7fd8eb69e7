//! Aligned heap memory, without unsafe code: a boxed slice with slack in front.

/// Bytes whose start is aligned as asked. Owned by a pool, lent to one writer at a time.
#[derive(Debug)]
pub struct Memory {
    bytes: Box<[u8]>,
    offset: usize,
    len: usize,
}

impl Memory {
    /// `len` zeroed bytes starting at a multiple of `align` (0 and 1 mean any; others are taken
    /// as the next power of two).
    pub fn new(len: usize, align: usize) -> Memory {
        let align = align.max(1).next_power_of_two();
        let bytes = vec![0u8; len + align - 1].into_boxed_slice();
        let address = bytes.as_ptr() as usize;
        let offset = address.wrapping_neg() & (align - 1);
        Memory { bytes, offset, len }
    }

    /// All bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[self.offset..self.offset + self.len]
    }

    /// All bytes, to write.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes[self.offset..self.offset + self.len]
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no byte at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned() {
        for align in [0, 1, 16, 32, 64, 100, 4096] {
            for len in [0, 1, 31, 4096] {
                let m = Memory::new(len, align);
                assert_eq!(m.len(), len);
                if len > 0 {
                    let want = align.max(1).next_power_of_two();
                    assert_eq!(m.as_slice().as_ptr() as usize % want, 0);
                }
            }
        }
    }
}
