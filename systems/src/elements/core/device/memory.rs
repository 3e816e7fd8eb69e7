//! The memory of a device that is none: anonymous files of the system, which only descriptors name.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use tickpipe_components::memory::Memory;
use tickpipe_components::pool::{Backing, NotExportable, PoolConfig, Refused};

/// The frames of a device, by their number in its pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(Arc<Mutex<Vec<File>>>);

impl Frames {
    /// The device writes a whole frame.
    pub(super) fn write(&self, slot: u32, bytes: &[u8]) -> io::Result<()> {
        let frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = frames.get(slot as usize);
        let frame = frame.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        frame.write_all_at(bytes, 0)
    }

    fn make(&self, count: u32, size: usize) -> io::Result<()> {
        let made: io::Result<Vec<File>> = (0..count)
            .map(|_| {
                let memory = memfd_create("tickpipe-frame", MemfdFlags::CLOEXEC)?;
                let file = File::from(memory);
                file.set_len(size as u64)?;
                Ok(file)
            })
            .collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = made?;
        Ok(())
    }

    fn export(&self, slot: u32) -> Option<OwnedFd> {
        let frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = frames.get(slot as usize)?.try_clone().ok()?;
        Some(OwnedFd::from(frame))
    }
}

/// A pool of such frames: no more than the device grants.
#[derive(Debug)]
pub(super) struct DevicePool {
    pub(super) frames: Frames,
    /// Frames that the device grants at most; 0 is as many as are asked for.
    pub(super) grants: u32,
}

impl Backing for DevicePool {
    fn name(&self) -> &'static str {
        "device"
    }

    fn has_bytes(&self) -> bool {
        false
    }

    fn set_config(&mut self, wanted: PoolConfig) -> Result<PoolConfig, Refused> {
        let most = match self.grants {
            0 => u32::MAX,
            grants => grants,
        };
        let count = wanted.count.min(most);
        Ok(PoolConfig { count, ..wanted })
    }

    fn start(&mut self, live: &PoolConfig) -> Result<Vec<Memory>, Refused> {
        let made = self.frames.make(live.count, live.size);
        made.map_err(|error| Refused::Memory(format!("no memory of the device: {error}")))?;
        Ok((0..live.count).map(|_| Memory::new(0, 1)).collect())
    }

    fn stop(&mut self) {
        let mut frames = self.frames.0.lock().unwrap_or_else(PoisonError::into_inner);
        frames.clear();
    }

    fn export(&self, slot: u32) -> Result<OwnedFd, NotExportable> {
        self.frames.export(slot).ok_or(NotExportable {
            backing: self.name(),
        })
    }
}
