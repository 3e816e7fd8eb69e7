//! An immutable byte source that is read by position.

use super::Order;
use crate::cut::{ReadAt, ReadFault};
use core::fmt;
use std::io;
use std::sync::Arc;

/// How much of a source there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// Bytes in all, or as many as are expected.
    pub total: u64,
    /// Bytes that can be read now. Less than `total` means that more arrives still.
    pub now: u64,
}

impl Available {
    /// All of it is there.
    pub const fn all(total: u64) -> Available {
        Available { total, now: total }
    }

    /// Whether more arrives still, so that the total is an estimate.
    pub const fn arrives(self) -> bool {
        self.now < self.total
    }
}

/// Bytes that are read by position and never change while they are granted. So a read depends on
/// nothing that happens in the tick, and every reader sees the same.
pub trait Bytes: Send + Sync + fmt::Debug {
    /// How much there is.
    fn available(&self) -> Available;

    /// Fills `to` with what stands from `at` on, and says how much of it: all, or as much as there
    /// is.
    ///
    /// # Errors
    /// The medium's own.
    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize>;

    /// What positions, lengths and addresses of aligned reads must be a multiple of; at least 1.
    fn align(&self) -> u32 {
        1
    }

    /// In which order requests of it are done.
    fn order(&self) -> Order {
        Order::Asked
    }
}

/// So formats that are read by position are read from what a link grants.
impl ReadAt for dyn Bytes {
    fn size(&self) -> u64 {
        self.available().total
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, ReadFault> {
        Bytes::read_at(self, offset, out).map_err(|error| ReadFault {
            offset,
            len: out.len() as u64,
            kind: error.kind(),
        })
    }
}

/// Bytes in memory.
#[derive(Clone)]
pub struct Slice {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// Its alignment; 0 counts as 1.
    pub align: u32,
}

impl fmt::Debug for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes aligned to {}", self.bytes.len(), self.align)
    }
}

impl From<&[u8]> for Slice {
    fn from(bytes: &[u8]) -> Slice {
        Slice {
            bytes: bytes.into(),
            align: 1,
        }
    }
}

impl Bytes for Slice {
    fn available(&self) -> Available {
        Available::all(self.bytes.len() as u64)
    }

    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        let from = usize::try_from(at).unwrap_or(usize::MAX);
        let rest = self.bytes.get(from..).unwrap_or_default();
        let count = rest.len().min(to.len());
        to[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn align(&self) -> u32 {
        self.align.max(1)
    }
}
