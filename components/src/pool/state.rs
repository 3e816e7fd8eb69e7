//! A pool: its configurations, whether it is committed, which buffers are free and who waits.

use super::{Backing, FreeSet, PoolConfig, Refused};
use crate::id::{BufferId, LaneId};
use crate::video::Layout;
use smallvec::SmallVec;
use thiserror::Error;

/// The largest alignment that a pool has, in bytes (DirectShow: the allocation granularity).
pub const MAX_ALIGN: usize = 65_536;

/// A call that a pool's state does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PoolUseError {
    /// The alignment is not decided, or too large (DirectShow: `BADALIGN`).
    #[error("alignment {align} is outside of 1..={MAX_ALIGN}")]
    BadAlign {
        /// What was asked.
        align: usize,
    },
    /// The configuration of a committed pool cannot change (DirectShow: `ALREADY_COMMITTED`).
    #[error("the pool is committed; its configuration can change when it is not")]
    AlreadyCommitted,
    /// Nor while buffers are out (DirectShow: `BUFFERS_OUTSTANDING`).
    #[error("{out} of {count} buffers are out; the configuration can change when all are home")]
    BuffersOutstanding {
        /// How many are out.
        out: u32,
        /// How many there are.
        count: u32,
    },
    /// Size, number or alignment is not decided (DirectShow: `SIZENOTSET`).
    #[error("the pool's {what} is not set")]
    SizeNotSet {
        /// Which.
        what: &'static str,
    },
    /// The pool gives no buffers now (DirectShow: `NOT_COMMITTED`).
    #[error("the pool is not committed")]
    NotCommitted,
    /// No buffer is free (DirectShow with `NOWAIT`: `TIMEOUT`).
    #[error("none of the pool's {count} buffers is free")]
    NoneFree {
        /// How many there are.
        count: u32,
    },
    /// Another started it, and stops it.
    #[error("element {started} started the pool, and {stopped} cannot stop it", started = .started_by.0, stopped = .by.0)]
    NotYours {
        /// Who wants to stop it.
        by: LaneId,
        /// Who started it.
        started_by: LaneId,
    },
    /// There is no such pool.
    #[error("there is no such pool")]
    NoPool,
    /// The buffer is free already, or none of the pool.
    #[error("buffer {} is not out", .buffer.0)]
    NotOut {
        /// Which.
        buffer: BufferId,
    },
    /// The owner refused the configuration.
    #[error("{0}")]
    Refused(Box<Refused>),
}

impl From<Refused> for PoolUseError {
    fn from(refused: Refused) -> PoolUseError {
        PoolUseError::Refused(Box::new(refused))
    }
}

/// A pool of a [`BufferTable`](crate::fabric::BufferTable).
#[derive(Debug)]
pub struct Pool {
    /// What is asked of it for all runs.
    pub requested: PoolConfig,
    /// What it was decided to be.
    pub live: PoolConfig,
    /// Its buffers are `first .. first + count`.
    pub first: BufferId,
    /// How many buffers it has; 0 until it is committed for the first time.
    pub count: u32,
    /// Which of them are free, counted from `first`.
    pub free: FreeSet,
    /// The element that fills its buffers.
    pub owner: LaneId,
    /// The most buffers that were ever out at once.
    pub high_water: u32,
    /// It gives buffers.
    pub committed: bool,
    /// It was decommitted, and its memory goes when its last buffer is home.
    pub decommitting: bool,
    /// Who waits for a buffer, lowest first.
    pub waiting: SmallVec<[LaneId; 1]>,
    /// Who started it, and stops it.
    pub started_by: Option<LaneId>,
    /// Where the planes of a raw picture lie in its buffers.
    pub layout: Option<Layout>,
    /// What its memory was made for.
    pub(crate) allocated: Option<PoolConfig>,
    /// Buffer numbers that are its own, from `first`.
    pub(crate) capacity: u32,
    pub(crate) backing: Box<dyn Backing>,
    /// Some of its buffers show the bytes of others.
    pub(crate) views: bool,
    /// The backing wants to know of each buffer.
    pub(crate) follows: bool,
}

impl Pool {
    /// A pool without buffers.
    pub(crate) fn new(owner: LaneId, backing: Box<dyn Backing>) -> Pool {
        Pool {
            requested: PoolConfig::default(),
            live: PoolConfig::default(),
            first: BufferId(0),
            count: 0,
            free: FreeSet::default(),
            owner,
            high_water: 0,
            committed: false,
            decommitting: false,
            waiting: SmallVec::new(),
            started_by: None,
            layout: None,
            allocated: None,
            capacity: 0,
            views: false,
            follows: backing.follows_buffers(),
            backing,
        }
    }

    /// Whether a buffer is one of this pool's.
    pub fn owns(&self, buffer: BufferId) -> bool {
        (self.first.0..self.first.0 + self.count).contains(&buffer.0)
    }

    /// Buffers that are out.
    pub fn out(&self) -> u32 {
        self.count - self.free.len()
    }

    /// Buffers that could be had (DirectShow `GetFreeCount`): those not made yet count as free.
    pub fn free_count(&self) -> u32 {
        self.live.count.saturating_sub(self.out())
    }

    /// What backs it.
    pub fn backing(&self) -> &dyn Backing {
        &*self.backing
    }
}
