//! An immutable source of bytes that is read by position. The trait only: who reads does the I/O.

use std::io::ErrorKind;

/// Bytes that can be read at any place, the same each time.
pub trait ReadAt {
    /// Total length in bytes.
    fn size(&self) -> u64;

    /// Reads into `out` from byte `offset` on; says how many bytes were read, 0 only at the end or
    /// for an empty `out`.
    ///
    /// # Errors
    /// What the system said.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, ReadFault>;
}

/// A read that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {len} bytes at byte {offset}: {kind}")]
pub struct ReadFault {
    /// Where it should have begun.
    pub offset: u64,
    /// Bytes asked for.
    pub len: u64,
    /// What the system said.
    pub kind: ErrorKind,
}

impl ReadAt for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, ReadFault> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..));
        let rest = rest.unwrap_or(&[]);
        let count = rest.len().min(out.len());
        if let (Some(from), Some(to)) = (rest.get(..count), out.get_mut(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }
}

/// A source made of a length and a function.
#[derive(Clone, Debug)]
pub struct FnSource<F> {
    size: u64,
    read: F,
}

impl<F: Fn(u64, &mut [u8]) -> Result<usize, ReadFault>> FnSource<F> {
    /// A source of `size` bytes; `read` does what [`ReadAt::read_at`] does.
    pub const fn new(size: u64, read: F) -> FnSource<F> {
        FnSource { size, read }
    }
}

impl<F: Fn(u64, &mut [u8]) -> Result<usize, ReadFault>> ReadAt for FnSource<F> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, ReadFault> {
        (self.read)(offset, out)
    }
}

/// Reads until `out` is full or the source ends; says how many bytes were read.
///
/// # Errors
/// What the source says.
pub fn read_exact_at<R: ReadAt + ?Sized>(
    source: &R,
    offset: u64,
    out: &mut [u8],
) -> Result<usize, ReadFault> {
    let mut done = 0;
    while let Some(rest) = out.get_mut(done..) {
        let room = rest.len();
        let count = source.read_at(offset.saturating_add(done as u64), rest)?;
        // A source that says that it read more than there is room is not believed.
        done += count.min(room);
        if count == 0 {
            break;
        }
    }
    Ok(done)
}
