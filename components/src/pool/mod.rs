//! Pools: what is asked of one, what it has, what backs it, and which of its buffers are free.
//!
//! The rules of a pool's life (commit, decommit with buffers out, waiters) are those of
//! [`BufferTable`](crate::fabric::BufferTable), which has the buffers; here are the parts.

mod backing;
mod config;
mod free;
mod state;

pub use backing::{Backing, Heap, NotExportable, Refused};
pub use config::PoolConfig;
pub use free::FreeSet;
pub use state::{MAX_ALIGN, Pool, PoolUseError};
