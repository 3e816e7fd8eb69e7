//! What is asked of a pool, and what it has. Pure.

/// Size, number and alignment of a pool's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolConfig {
    /// Bytes of one buffer.
    pub size: usize,
    /// Alignment of its first byte; 0 means any, and is not decided in a pool.
    pub align: usize,
    /// Bytes in front of the first, for headers of whoever gets the buffer.
    pub prefix: usize,
    /// Alignment of each row of a raw picture, a power of two; 0 means the usual one.
    pub stride_align: usize,
    /// Fewest buffers that will do.
    pub min: u32,
    /// Most buffers wanted; 0 means no bound of its own.
    pub max: u32,
    /// How many there are to be; 0 is not decided.
    pub count: u32,
}

impl PoolConfig {
    /// What satisfies both (mpipe: size and min are the larger, align the common multiple);
    /// the smaller of two bounds on the number. An alignment that no number can say is
    /// `usize::MAX`, which every pool refuses.
    pub fn merge(self, other: PoolConfig) -> PoolConfig {
        let max = match (self.max, other.max) {
            (0, m) | (m, 0) => m,
            (a, b) => a.min(b),
        };
        PoolConfig {
            size: self.size.max(other.size),
            align: lcm(self.align, other.align),
            prefix: self.prefix.max(other.prefix),
            stride_align: lcm(self.stride_align, other.stride_align),
            min: self.min.max(other.min),
            max,
            count: self.count.max(other.count),
        }
    }

    /// With the size rounded up so that prefix and size are a multiple of the alignment
    /// (DirectShow); a size of 0 stays unset.
    pub fn rounded(self) -> PoolConfig {
        let end = self.prefix.saturating_add(self.size);
        let end = end.checked_next_multiple_of(self.align.max(1));
        let size = match (self.size, end) {
            (0, _) => 0,
            (_, Some(end)) => end - self.prefix,
            (size, None) => size,
        };
        PoolConfig { size, ..self }
    }
}

/// Least common multiple where 0 counts as none.
fn lcm(a: usize, b: usize) -> usize {
    if a == 0 || b == 0 {
        return a.max(b);
    }
    let g = crate::time::gcd(a as u64, b as u64) as usize;
    (a / g).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_takes_what_satisfies_both() {
        let a = PoolConfig {
            size: 10,
            align: 4,
            prefix: 3,
            min: 1,
            ..PoolConfig::default()
        };
        let b = PoolConfig {
            size: 8,
            align: 6,
            stride_align: 16,
            min: 3,
            max: 5,
            ..PoolConfig::default()
        };
        let want = PoolConfig {
            size: 10,
            align: 12,
            prefix: 3,
            stride_align: 16,
            min: 3,
            max: 5,
            count: 0,
        };
        assert_eq!(a.merge(b), want);
        assert_eq!(b.merge(a), want);
        let wide = |align| PoolConfig {
            align,
            ..PoolConfig::default()
        };
        let both = wide(usize::MAX - 1).merge(wide(usize::MAX - 2));
        assert_eq!(both.align, usize::MAX);
    }
}
