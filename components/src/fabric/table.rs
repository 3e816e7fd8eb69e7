//! The buffers of a pipeline, as dense arrays indexed by [`BufferId`], and their pools.

use crate::buffer::BufferMeta;
use crate::id::{BufferId, LaneId, PoolId};
use crate::memory::Memory;
use crate::pool::Pool;

/// Who got a buffer last, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The element.
    pub by: LaneId,
    /// The tick.
    pub since: u64,
}

/// Times, references, holders and memory of all buffers of a pipeline, and its pools.
#[derive(Debug, Default)]
pub struct BufferTable {
    /// Times, length, flags.
    pub meta: Vec<BufferMeta>,
    /// How many hold it; 0 is free.
    pub refs: Vec<u32>,
    /// The element that got it last, and the tick at which that was.
    pub held: Vec<Held>,
    /// Its pool.
    pub pool: Vec<PoolId>,
    /// Its bytes; `None` while a writer has them.
    pub memory: Vec<Option<Memory>>,
    /// xxh3-64 of its valid bytes when they were last written, if digests are asked for.
    pub payload: Vec<u64>,
    /// Of a view, the buffer whose bytes it shows: it holds a reference on it. That one is no view
    /// itself.
    pub shows: Vec<Option<BufferId>>,
    /// The pools whose buffers these are, by [`PoolId`].
    pub pools: Vec<Pool>,
}

impl BufferTable {
    /// Adds `count` numbers for buffers of a pool, without memory.
    pub(super) fn add(&mut self, pool: PoolId, owner: LaneId, count: u32) -> BufferId {
        let first = BufferId(self.meta.len() as u32);
        let all = self.meta.len() + count as usize;
        self.meta.resize(all, BufferMeta::default());
        self.refs.resize(all, 0);
        let held = Held {
            by: owner,
            since: 0,
        };
        self.held.resize(all, held);
        self.pool.resize(all, pool);
        self.memory.resize_with(all, || None);
        self.payload.resize(all, 0);
        self.shows.resize(all, None);
        first
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.meta.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.meta.is_empty()
    }

    /// The buffer whose memory has the bytes of this one: itself, or the one that it shows.
    #[inline]
    pub fn origin(&self, buffer: BufferId) -> BufferId {
        self.shows[buffer.index()].unwrap_or(buffer)
    }

    /// Makes a buffer that is out a view of the bytes of another one that is out, with a reference
    /// of its own. A view of a view shows what that shows, so it keeps none but the memory.
    pub fn show(&mut self, view: BufferId, shown: BufferId) {
        let of = self.origin(shown);
        self.refs[of.index()] += 1;
        self.payload[view.index()] = self.payload[of.index()];
        self.shows[view.index()] = Some(of);
        let pool = self.pool[view.index()];
        self.pools[pool.index()].views = true;
    }

    /// The valid bytes of a buffer, wherever they are; empty while a writer has them.
    #[inline]
    pub fn bytes(&self, buffer: BufferId) -> &[u8] {
        let i = buffer.index();
        match &self.memory[self.origin(buffer).index()] {
            Some(memory) => {
                let all = memory.as_slice();
                &all[..self.meta[i].len.min(all.len())]
            }
            None => &[],
        }
    }
}
