//! A buffer that the application fills, and what becomes of one that is not taken.

use super::AppError;
use super::queue::{Queue, Shape};
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::buffer::BufferFlags;
use tickpipe_components::memory::Memory;
use tickpipe_components::time::TimeBase;

/// A buffer that was not taken, and why.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct NotPushed {
    /// Why.
    pub error: AppError,
    /// The buffer: it stays the caller's.
    pub buffer: AppBuffer,
}

/// A buffer that the application fills.
pub struct AppBuffer {
    memory: Option<Memory>,
    len: usize,
    /// Its time.
    pub pts: Option<i64>,
    /// How long it lasts.
    pub duration: Option<i64>,
    /// The unit of both: nanoseconds unless set.
    pub time_base: TimeBase,
    /// What it is, such as a discontinuity.
    pub flags: BufferFlags,
    owner: Option<Arc<Queue>>,
}

impl core::fmt::Debug for AppBuffer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AppBuffer")
            .field("len", &self.len)
            .field("pts", &self.pts)
            .finish_non_exhaustive()
    }
}

impl AppBuffer {
    pub(super) fn new(memory: Memory, len: usize, owner: &Arc<Queue>) -> AppBuffer {
        AppBuffer {
            memory: Some(memory),
            len,
            pts: None,
            duration: None,
            time_base: TimeBase::NANOSECONDS,
            flags: BufferFlags::empty(),
            owner: Some(Arc::clone(owner)),
        }
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        let memory = self.memory.as_ref().map(Memory::as_slice);
        memory.and_then(|m| m.get(..self.len)).unwrap_or_default()
    }

    /// Its bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let memory = self.memory.as_mut().map(Memory::as_mut_slice);
        memory
            .and_then(|m| m.get_mut(..self.len))
            .unwrap_or_default()
    }

    /// It has so many bytes from now on.
    ///
    /// # Errors
    /// [`AppError::Size`].
    pub fn set_len(&mut self, len: usize) -> Result<(), AppError> {
        let max = self.memory.as_ref().map_or(0, Memory::len);
        if len == 0 || len > max {
            return Err(AppError::Size { len, max });
        }
        self.len = len;
        Ok(())
    }

    /// Its memory for another of the same shape.
    pub(super) fn swap(&mut self, other: &mut Memory) -> bool {
        let shape = Shape {
            size: other.len(),
            align: 0,
            prefix: other.prefix().len(),
        };
        match &mut self.memory {
            Some(memory) if shape.is(memory) => {
                core::mem::swap(memory, other);
                true
            }
            _ => false,
        }
    }
}

impl Drop for AppBuffer {
    fn drop(&mut self) {
        let Some(queue) = self.owner.take() else {
            return;
        };
        let mut state = queue.lock();
        state.out = state.out.saturating_sub(1);
        if let Some(memory) = self.memory.take()
            && state.shape.is(&memory)
            && state.free.len() < state.bounds.alloc as usize
        {
            state.free.push(memory);
        }
        drop(state);
        queue.changed.notify_all();
    }
}
