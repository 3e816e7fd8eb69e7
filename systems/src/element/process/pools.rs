//! What an element may know of the buffers that it has, and of the pools that they are of.

use super::Process;
use std::os::fd::OwnedFd;
use tickpipe_components::id::BufferId;
use tickpipe_components::pool::{NotExportable, PoolConfig};
use tickpipe_components::video::{Layout, VideoInfo};

impl Process<'_> {
    /// The number of a buffer in its pool, from 0.
    pub fn slot(&self, buffer: BufferId) -> u32 {
        let pool = self.buffers.pool.get(buffer.index());
        let pool = pool.and_then(|p| self.buffers.pools.get(p.index()));
        pool.map_or(0, |p| buffer.0.saturating_sub(p.first.0))
    }

    /// A descriptor of a buffer's memory: of what came over a link between devices, or what such a pool
    /// has.
    ///
    /// # Errors
    /// [`NotExportable`]: its memory is no device's.
    pub fn descriptor(&self, buffer: BufferId) -> Result<OwnedFd, NotExportable> {
        let heap = NotExportable { backing: "heap" };
        let origin = self.buffers.origin(buffer);
        let pool = self.buffers.pool.get(origin.index());
        let pool = pool.and_then(|p| self.buffers.pools.get(p.index()));
        let pool = pool.ok_or(heap)?;
        pool.backing().export(origin.0.saturating_sub(pool.first.0))
    }

    /// Takes back a certain buffer that it keeps, if it does; it must be passed on or let go.
    pub fn take_kept_one(&mut self, buffer: BufferId) -> bool {
        let kept = self.lane.extras.made().map(|e| &mut e.kept);
        let at = kept.and_then(|kept| {
            let at = kept.iter().position(|k| k.buffer == buffer)?;
            kept.remove(at)
        });
        at.is_some()
    }

    /// How many buffers are free in the pool of a buffer.
    pub fn pool_free(&self, buffer: BufferId) -> u32 {
        let origin = self.buffers.origin(buffer);
        let pool = self.buffers.pool.get(origin.index());
        let pool = pool.and_then(|p| self.buffers.pools.get(p.index()));
        pool.map_or(0, |p| p.count.saturating_sub(p.out()))
    }

    /// What the buffers of its own pool are.
    pub fn pool_config(&self) -> Option<PoolConfig> {
        let pool = self.lane.pool.map(|p| p.index())?;
        self.buffers.pools.get(pool).map(|p| p.live)
    }

    /// How many buffers the element's own pool has.
    pub fn pool_size(&self) -> u32 {
        let pool = self.lane.pool.map(|p| p.index());
        let pool = pool.and_then(|p| self.buffers.pools.get(p));
        pool.map_or(0, |p| p.count)
    }

    /// Where the planes of a raw picture lie in a buffer, if its pool says so.
    #[inline]
    pub fn layout(&self, buffer: BufferId) -> Option<&Layout> {
        let origin = self.buffers.origin(buffer);
        let pool = self.buffers.pool.get(origin.index())?;
        self.buffers.pools.get(pool.index())?.layout.as_ref()
    }

    /// Where the planes of a picture of this stream lie in a buffer that it reads or fills: as the
    /// buffer's pool says, or as usual. The valid bytes of a picture are all of this layout.
    pub fn picture(&self, buffer: BufferId, stream: &VideoInfo) -> Layout {
        let usual = stream.layout;
        let picture = |l: &Layout| (l.format(), l.width(), l.height());
        let layout = self.layout(buffer);
        let layout = layout.filter(|l| picture(l) == picture(&usual));
        layout.copied().unwrap_or(usual)
    }

    /// How many buffers of its own pool it may still acquire this tick.
    pub fn granted(&self) -> usize {
        self.lane.extras.granted.len()
    }
}
