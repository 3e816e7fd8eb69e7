//! What a pool's memory is made of: the heap here, drivers' memory where devices come.

use super::PoolConfig;
use crate::memory::Memory;
use core::fmt::Debug;
use std::os::fd::OwnedFd;
use thiserror::Error;

/// A configuration that the owner of a pool does not take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// One value of it is out of what the owner can do.
    #[error("{what} {value} is outside of {min}..={max}")]
    Value {
        /// Which value.
        what: &'static str,
        /// What was wanted.
        value: u64,
        /// The least that can be.
        min: u64,
        /// The most that can be.
        max: u64,
    },
    /// The memory is not to be had.
    #[error("{0}")]
    Memory(String),
}

/// Buffers of this pool are no descriptors that another program could open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{backing} memory cannot be exported")]
pub struct NotExportable {
    /// What the pool is made of.
    pub backing: &'static str,
}

/// What backs a pool: mpipe's hooks of a pool's owner.
///
/// A pool calls `configure` with what is asked of it in the first place, `set_config` with what
/// was decided for a run, `start` when it is committed with a configuration that it has no memory
/// for, and `stop` when that memory is dropped: before it is made anew, or when the pool goes.
pub trait Backing: Send + Sync + Debug {
    /// What it is made of, for people: `heap`.
    fn name(&self) -> &'static str;

    /// Checks what is asked for all runs; what it answers is what a stop goes back to.
    ///
    /// # Errors
    /// [`Refused`]: the pool keeps what it had.
    fn configure(&mut self, asked: PoolConfig) -> Result<PoolConfig, Refused> {
        Ok(asked)
    }

    /// Checks what was decided for a run. It may answer with other values than were wanted, such
    /// as fewer buffers.
    ///
    /// # Errors
    /// [`Refused`]: the pool keeps what it had.
    fn set_config(&mut self, wanted: PoolConfig) -> Result<PoolConfig, Refused> {
        Ok(wanted)
    }

    /// Makes the memory of all buffers: `live.count` of them, or fewer where there are no more.
    ///
    /// # Errors
    /// [`Refused`]: nothing is committed.
    fn start(&mut self, live: &PoolConfig) -> Result<Vec<Memory>, Refused>;

    /// Whether the bytes of its buffers are to be had. If not, the memory that it makes is empty, and a
    /// buffer goes only where descriptors are taken.
    fn has_bytes(&self) -> bool {
        true
    }

    /// Nothing of the pool is out any more; its memory was dropped.
    fn stop(&mut self) {}

    /// Whether [`Backing::acquire`] and [`Backing::release`] are to be called.
    fn follows_buffers(&self) -> bool {
        false
    }

    /// A buffer goes out.
    fn acquire(&mut self, slot: u32) {
        let _ = slot;
    }

    /// A buffer is home.
    fn release(&mut self, slot: u32) {
        let _ = slot;
    }

    /// A descriptor of a buffer's memory.
    ///
    /// # Errors
    /// [`NotExportable`], where there is no such thing.
    fn export(&self, slot: u32) -> Result<OwnedFd, NotExportable> {
        let _ = slot;
        Err(NotExportable {
            backing: self.name(),
        })
    }
}

/// Aligned memory of the heap, zeroed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

impl Backing for Heap {
    fn name(&self) -> &'static str {
        "heap"
    }

    fn start(&mut self, live: &PoolConfig) -> Result<Vec<Memory>, Refused> {
        let (size, align, prefix) = (live.size, live.align, live.prefix);
        let made = (0..live.count).map(|_| Memory::with_prefix(size, align, prefix));
        Ok(made.collect())
    }
}
