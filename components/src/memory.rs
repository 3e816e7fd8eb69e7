//! Aligned heap memory, without unsafe code: a boxed slice with slack in front.

/// Bytes whose start is aligned as asked. Owned by a pool, lent to one writer at a time.
#[derive(Debug)]
pub struct Memory {
    bytes: Box<[u8]>,
    offset: usize,
    len: usize,
    prefix: usize,
}

impl Memory {
    /// `len` zeroed bytes starting at a multiple of `align` (0 and 1 mean any).
    pub fn new(len: usize, align: usize) -> Memory {
        Memory::with_prefix(len, align, 0)
    }

    /// As [`Memory::new`], with `prefix` zeroed bytes in front of the first.
    pub fn with_prefix(len: usize, align: usize, prefix: usize) -> Memory {
        let align = align.max(1);
        let bytes = vec![0u8; prefix + len + align - 1].into_boxed_slice();
        let first = bytes.as_ptr() as usize + prefix;
        let offset = prefix + (align - first % align) % align;
        Memory {
            bytes,
            offset,
            len,
            prefix,
        }
    }

    /// The bytes in front of the first.
    pub fn prefix(&self) -> &[u8] {
        &self.bytes[self.offset - self.prefix..self.offset]
    }

    /// The same, to write.
    pub fn prefix_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.offset - self.prefix..self.offset]
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
        for align in [0, 1, 12, 16, 32, 64, 100, 4096] {
            for len in [0, 1, 31, 4096] {
                for prefix in [0, 1, 40] {
                    let mut m = Memory::with_prefix(len, align, prefix);
                    assert_eq!((m.len(), m.prefix().len()), (len, prefix));
                    assert_eq!(m.as_slice().as_ptr() as usize % align.max(1), 0);
                    m.prefix_mut().fill(1);
                    m.as_mut_slice().fill(2);
                    assert!(m.prefix().iter().all(|b| *b == 1));
                    assert!(m.as_slice().iter().all(|b| *b == 2));
                }
            }
        }
    }
}
