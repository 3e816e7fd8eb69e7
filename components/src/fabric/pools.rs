//! The life of a pool: configuration, commit and decommit, buffers out and home, waiters.
//!
//! The rules are DirectShow's of an allocator, and mpipe's of who starts and stops a pool and of
//! its two configurations. It may touch the buffer table.
//!
//! Otherwise than in DirectShow: any alignment up to [`MAX_ALIGN`] is good, not only powers of
//! two; waiting is noted and no thread is blocked, and all who wait are woken, lowest first; caps
//! travel between buffers, so none is reset; a media time there is none. Otherwise than in mpipe:
//! a backing cannot fail to stop, and a pool that was decommitted but not stopped can be given
//! another configuration.

use super::table::{BufferTable, Held};
use crate::id::{BufferId, LaneId, PoolId};
use crate::memory::Memory;
use crate::pool::{Backing, MAX_ALIGN, Pool, PoolConfig, PoolUseError, Refused};

/// The most bytes that a buffer has with its prefix.
const MAX_BYTES: usize = isize::MAX as usize / 4;

impl BufferTable {
    /// Adds a pool without buffers, whose buffers `owner` fills.
    pub fn add_pool(&mut self, owner: LaneId, backing: Box<dyn Backing>) -> PoolId {
        let id = PoolId(self.pools.len() as u32);
        self.pools.push(Pool::new(owner, backing));
        id
    }

    fn pool_mut(&mut self, pool: PoolId) -> Result<&mut Pool, PoolUseError> {
        self.pools.get_mut(pool.index()).ok_or(PoolUseError::NoPool)
    }

    /// Sets what is asked of a pool for all its runs; a stop goes back to it. What holds then,
    /// which may differ.
    ///
    /// # Errors
    /// [`PoolUseError`], as [`BufferTable::set_config`]; what held before holds on.
    pub fn configure(
        &mut self,
        pool: PoolId,
        asked: PoolConfig,
    ) -> Result<PoolConfig, PoolUseError> {
        let pool = self.pool_mut(pool)?;
        let asked = checked(pool, asked)?;
        let granted = pool.backing.configure(asked)?.rounded();
        pool.requested = granted;
        pool.live = granted;
        Ok(granted)
    }

    /// Sets what a pool is from its next commit on. What holds then, which may differ: the size is
    /// rounded up so that prefix and size are a multiple of the alignment, and the owner may grant
    /// other values.
    ///
    /// # Errors
    /// [`PoolUseError`]: a bad alignment, a pool that is committed or has buffers out, or a
    /// refusal; what held before holds on.
    pub fn set_config(
        &mut self,
        pool: PoolId,
        wanted: PoolConfig,
    ) -> Result<PoolConfig, PoolUseError> {
        let pool = self.pool_mut(pool)?;
        let wanted = checked(pool, wanted)?;
        pool.live = pool.backing.set_config(wanted)?.rounded();
        Ok(pool.live)
    }

    /// Lets a pool give buffers. Memory that was made for the same configuration is used again,
    /// and a pending decommit is cancelled.
    ///
    /// # Errors
    /// [`PoolUseError::SizeNotSet`] or a refusal; the pool is not committed then.
    pub fn commit(&mut self, id: PoolId) -> Result<(), PoolUseError> {
        let pool = self.pool_mut(id)?;
        if pool.committed {
            return Ok(());
        }
        if pool.decommitting {
            // A stop in between does not change what the memory was made for.
            pool.live = pool.allocated.unwrap_or(pool.live);
        } else if pool.allocated != Some(pool.live) {
            self.allocate(id)?;
        }
        let pool = self.pool_mut(id)?;
        pool.decommitting = false;
        pool.committed = true;
        Ok(())
    }

    fn allocate(&mut self, id: PoolId) -> Result<(), PoolUseError> {
        let pool = self.pool_mut(id)?;
        let live = pool.live;
        let unset = [
            (live.size == 0, "size"),
            (live.count == 0, "count"),
            (live.align == 0, "alignment"),
        ];
        if let Some((_, what)) = unset.into_iter().find(|u| u.0) {
            return Err(PoolUseError::SizeNotSet { what });
        }
        self.drop_memory(id);
        let pool = self.pool_mut(id)?;
        let mut memory = pool.backing.start(&live)?;
        memory.truncate(live.count as usize);
        let least = if pool.backing.has_bytes() {
            live.size
        } else {
            0
        };
        if let Some(error) = unusable(&memory, least) {
            pool.backing.stop();
            return Err(error.into());
        }
        let count = memory.len() as u32;
        let owner = pool.owner;
        if count > pool.capacity {
            let first = self.add(id, owner, count);
            let pool = self.pool_mut(id)?;
            (pool.first, pool.capacity) = (first, count);
        }
        let pool = self.pool_mut(id)?;
        pool.live.count = count;
        pool.allocated = Some(pool.live);
        pool.count = count;
        pool.free = crate::pool::FreeSet::full(count);
        let first = pool.first.index();
        for (at, memory) in memory.into_iter().enumerate() {
            // A buffer that was never used is valid as a whole.
            self.meta[first + at].len = memory.len();
            self.memory[first + at] = Some(memory);
        }
        Ok(())
    }

    /// Lets a pool give no more buffers. Those that are out stay valid; when the last is home the
    /// decommit is complete. Whoever waits is told in `woken`, and finds the pool not committed.
    ///
    /// # Errors
    /// [`PoolUseError::NoPool`].
    pub fn decommit(
        &mut self,
        pool: PoolId,
        woken: impl FnMut(LaneId),
    ) -> Result<(), PoolUseError> {
        let pool = self.pool_mut(pool)?;
        if pool.committed {
            pool.committed = false;
            pool.decommitting = pool.out() > 0;
        }
        pool.waiting.drain(..).for_each(woken);
        Ok(())
    }

    /// Commits a pool for an element, who must stop it. Starting one that is started does nothing.
    ///
    /// # Errors
    /// As [`BufferTable::commit`].
    pub fn start(&mut self, pool: PoolId, by: LaneId) -> Result<(), PoolUseError> {
        self.commit(pool)?;
        let pool = self.pool_mut(pool)?;
        pool.started_by = pool.started_by.or(Some(by));
        Ok(())
    }

    /// Decommits a pool that the element started, and goes back to what was asked of it for all
    /// runs, also if it never was started.
    ///
    /// # Errors
    /// [`PoolUseError::NotYours`].
    pub fn stop(
        &mut self,
        id: PoolId,
        by: LaneId,
        woken: impl FnMut(LaneId),
    ) -> Result<(), PoolUseError> {
        let pool = self.pool_mut(id)?;
        if let Some(started_by) = pool.started_by.filter(|s| *s != by) {
            return Err(PoolUseError::NotYours { by, started_by });
        }
        pool.started_by = None;
        self.decommit(id, woken)?;
        let pool = self.pool_mut(id)?;
        pool.live = pool.requested;
        Ok(())
    }

    /// Lets go of the memory of a pool that is not committed, if all its buffers are home; whether
    /// that is so.
    pub fn drop_memory(&mut self, pool: PoolId) -> bool {
        let Some(pool) = self.pools.get_mut(pool.index()) else {
            return true;
        };
        if pool.committed || pool.out() > 0 {
            return false;
        }
        if pool.allocated.take().is_some() {
            let first = pool.first.index();
            self.memory[first..first + pool.count as usize].fill_with(|| None);
            pool.backing.stop();
        }
        true
    }

    /// Takes the lowest free buffer of a pool for an element, with one reference.
    ///
    /// # Errors
    /// [`PoolUseError::NotCommitted`], [`PoolUseError::NoneFree`]: the caller may
    /// [wait](BufferTable::wait).
    #[inline]
    pub fn acquire(
        &mut self,
        pool: PoolId,
        by: LaneId,
        tick: u64,
    ) -> Result<BufferId, PoolUseError> {
        let Some(of) = self.pools.get_mut(pool.index()) else {
            return Err(PoolUseError::NoPool);
        };
        if !of.committed {
            return Err(PoolUseError::NotCommitted);
        }
        let Some(slot) = of.free.take_lowest() else {
            return Err(PoolUseError::NoneFree { count: of.count });
        };
        of.high_water = of.high_water.max(of.out());
        if of.follows {
            of.backing.acquire(slot);
        }
        let buffer = BufferId(of.first.0 + slot);
        let i = buffer.index();
        self.refs[i] = 1;
        self.held[i] = Held { by, since: tick };
        Ok(buffer)
    }

    /// Notes that an element waits for a buffer of a pool: it is told when one is home, or the
    /// pool is decommitted. Waiting is a state, no thread is blocked.
    ///
    /// # Errors
    /// [`PoolUseError::NotCommitted`]: there is nothing to wait for.
    pub fn wait(&mut self, pool: PoolId, lane: LaneId) -> Result<(), PoolUseError> {
        let pool = self.pool_mut(pool)?;
        if !pool.committed {
            return Err(PoolUseError::NotCommitted);
        }
        if let Err(at) = pool.waiting.binary_search(&lane) {
            pool.waiting.insert(at, lane);
        }
        Ok(())
    }

    /// Lets go of one reference to a buffer. With the last one it is home: its times and flags are
    /// forgotten, its length stays, and whoever waits is told in `woken`, lowest first. A view lets
    /// go of what it shows.
    ///
    /// # Errors
    /// [`PoolUseError::NotOut`]: nobody holds it; nothing is changed.
    #[inline]
    pub fn release(
        &mut self,
        buffer: BufferId,
        mut woken: impl FnMut(LaneId),
    ) -> Result<(), PoolUseError> {
        match self.let_go(buffer, &mut woken)? {
            // What is shown is no view.
            Some(shown) => self.let_go(shown, &mut woken).map(drop),
            None => Ok(()),
        }
    }

    /// The same of one buffer; what it showed.
    #[inline]
    fn let_go(
        &mut self,
        buffer: BufferId,
        woken: &mut impl FnMut(LaneId),
    ) -> Result<Option<BufferId>, PoolUseError> {
        let i = buffer.index();
        let Some(refs) = self.refs.get_mut(i).filter(|r| **r > 0) else {
            return Err(PoolUseError::NotOut { buffer });
        };
        *refs -= 1;
        if *refs > 0 {
            return Ok(None);
        }
        self.meta[i].reset();
        let pool = &mut self.pools[self.pool[i].index()];
        let slot = buffer.0 - pool.first.0;
        pool.free.insert(slot);
        if pool.follows {
            pool.backing.release(slot);
        }
        if pool.decommitting && pool.out() == 0 {
            pool.decommitting = false;
        }
        if !pool.waiting.is_empty() {
            pool.waiting.drain(..).for_each(woken);
        }
        Ok(match pool.views {
            true => self.shows[i].take(),
            false => None,
        })
    }
}

/// Why a pool cannot work with the memory that its backing made.
fn unusable(memory: &[Memory], least: usize) -> Option<Refused> {
    if memory.is_empty() {
        let none = "none of its buffers could be made".to_owned();
        return Some(Refused::Memory(none));
    }
    let short = memory.iter().map(Memory::len).find(|l| *l < least)?;
    Some(Refused::Value {
        what: "bytes of a buffer that was made",
        value: short as u64,
        min: least as u64,
        max: MAX_BYTES as u64,
    })
}

/// Whether a pool can be given a configuration now: alignment first, then its state (DirectShow).
fn checked(pool: &Pool, config: PoolConfig) -> Result<PoolConfig, PoolUseError> {
    let align = config.align;
    if !(1..=MAX_ALIGN).contains(&align) {
        return Err(PoolUseError::BadAlign { align });
    }
    let bytes = config.prefix.checked_add(config.size);
    if bytes.is_none_or(|b| b > MAX_BYTES) {
        return Err(PoolUseError::from(Refused::Value {
            what: "bytes of a buffer",
            value: config.prefix.saturating_add(config.size) as u64,
            min: 1,
            max: MAX_BYTES as u64,
        }));
    }
    if pool.committed {
        return Err(PoolUseError::AlreadyCommitted);
    }
    if pool.out() > 0 {
        return Err(PoolUseError::BuffersOutstanding {
            out: pool.out(),
            count: pool.count,
        });
    }
    Ok(config)
}
