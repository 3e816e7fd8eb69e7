//! The queue between the application and its `appsrc`: what is in it, how much may be, and what the element
//! lets the application do.

use super::{AppBuffer, AppError, AppSource, locked};
use crate::outside::{Awaited, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::memory::Memory;
use tickpipe_components::video::VideoInfo;

/// What is in the queue.
pub(super) enum Given {
    Buffer(AppBuffer),
    Caps(Box<Caps>),
    End,
}

/// What the element lets the application do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// READY.
    #[default]
    Stopped,
    Running,
    /// What is on its way is being discarded.
    Flushing,
    /// Its run failed.
    Failed(Domain, Code),
    /// Nobody takes anything any more.
    Over,
    /// The element is not there any more.
    Gone,
}

/// How much the queue holds, and how much the application may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    pub buffers: usize,
    pub bytes: usize,
    /// Buffers that the application may have, those in the queue included.
    pub alloc: u32,
    pub blocks: bool,
}

/// A buffer as the pool of the element makes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub size: usize,
    pub align: usize,
    pub prefix: usize,
}

impl Shape {
    pub(super) fn make(self) -> Memory {
        Memory::with_prefix(self.size, self.align, self.prefix)
    }

    pub(super) fn is(self, memory: &Memory) -> bool {
        memory.len() == self.size && memory.prefix().len() == self.prefix
    }
}

/// What is in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Buffers.
    pub buffers: usize,
    /// Bytes of them.
    pub bytes: usize,
}

pub(super) type Told = Box<dyn FnMut(&AppSource) + Send>;

#[derive(Default)]
pub(super) struct State {
    pub mode: Mode,
    pub items: VecDeque<Given>,
    pub level: Level,
    pub shape: Shape,
    pub bounds: Bounds,
    /// Buffers that the application has, those in the queue included.
    pub out: u32,
    /// Memory for buffers to come.
    pub free: Vec<Memory>,
    /// The end is in the queue, or was taken from it.
    pub ended: bool,
    /// Handles of the application.
    pub handles: u32,
    /// Somebody had one at all.
    pub known: bool,
    /// Bytes of a picture of the caps that were given last.
    pub picture: Option<(String, usize)>,
    /// Pushes that were refused because the queue was full.
    pub refused: u64,
    /// Buffers that a start or a stop let go.
    pub discarded: u64,
    pub need: Option<Told>,
    pub enough: Option<Told>,
}

/// The queue between the application and its element.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Room, a free buffer, or the end of a wait.
    pub changed: Condvar,
    pub waker: Mutex<Option<Arc<Waker>>>,
}

impl core::fmt::Debug for Queue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// The element's end of a queue. All settings that were copied from one share it: when the last of them
/// goes, the element is gone, and who waits for it is told.
#[derive(Debug, Default)]
pub(super) struct OwnEnd(pub Arc<Queue>);

impl Drop for OwnEnd {
    fn drop(&mut self) {
        self.0.leave(Mode::Gone);
    }
}

/// Bytes of a picture of fixed raw caps.
pub(super) fn picture(caps: &Caps) -> Option<(String, usize)> {
    let info = VideoInfo::from_structure(caps.structures().first()?).ok()?;
    Some((caps.to_string(), info.layout.visible_bytes()))
}

impl State {
    pub(super) fn running(&self) -> Result<(), AppError> {
        match self.mode {
            Mode::Running => Ok(()),
            Mode::Stopped | Mode::Gone => Err(AppError::Stopped),
            Mode::Flushing => Err(AppError::Flushing),
            Mode::Failed(domain, code) => Err(AppError::Failed(domain, code)),
            Mode::Over => Err(AppError::Ended),
        }
    }

    /// Whether another buffer of so many bytes, or the end, finds a place.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let Bounds {
            buffers,
            bytes: most,
            ..
        } = self.bounds;
        let empty = self.items.is_empty();
        empty || (self.items.len() < buffers && (most == 0 || self.level.bytes + bytes <= most))
    }

    pub(super) fn full(&mut self) -> AppError {
        self.refused += 1;
        let Level { buffers, bytes } = self.level;
        AppError::Full { buffers, bytes }
    }

    /// All that is in the queue goes.
    fn discard(&mut self) -> Vec<Given> {
        self.level = Level::default();
        let items: Vec<Given> = self.items.drain(..).collect();
        let buffers = items.iter().filter(|i| matches!(i, Given::Buffer(_)));
        self.discarded += buffers.count() as u64;
        items
    }
}

impl Queue {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    pub(super) fn wake(&self) {
        if let Some(waker) = &*locked(&self.waker) {
            waker.wake();
        }
    }

    /// The element is opened: what is left of the run before is let go.
    pub(super) fn start(&self, bounds: Bounds) {
        let mut state = self.lock();
        state.mode = Mode::Running;
        state.bounds = bounds;
        (state.ended, state.picture) = (false, None);
        let left = state.discard();
        drop(state);
        drop(left);
        self.changed.notify_all();
    }

    /// The element is closed, fails, or is flushed: what is in the queue is let go, and who waits is
    /// told.
    pub(super) fn leave(&self, mode: Mode) {
        let mut state = self.lock();
        if state.mode != Mode::Gone {
            state.mode = mode;
        }
        let left = state.discard();
        if mode == Mode::Running {
            state.ended = false;
        }
        drop(state);
        drop(left);
        self.changed.notify_all();
    }

    /// The caps and the buffers of the element are agreed.
    pub(super) fn agree(&self, caps: &Caps) {
        let mut state = self.lock();
        let waits = state.items.iter().any(|i| matches!(i, Given::Caps(_)));
        if !waits {
            state.picture = picture(caps);
        }
    }

    /// The buffers of the element's pool are of this shape.
    pub(super) fn set_shape(&self, shape: Shape) {
        let mut state = self.lock();
        if state.shape != shape {
            state.shape = shape;
            state.free.clear();
            self.changed.notify_all();
        }
    }

    /// What comes next, if it is taken; a buffer leaves the queue with that.
    pub(super) fn take(&self) -> Option<Given> {
        let mut state = self.lock();
        let item = state.items.pop_front()?;
        if let Given::Buffer(buffer) = &item {
            state.level.buffers -= 1;
            state.level.bytes -= buffer.len();
        }
        self.changed.notify_all();
        Some(item)
    }

    pub(super) fn put_back(&self, item: Given) {
        let mut state = self.lock();
        if let Given::Buffer(buffer) = &item {
            state.level.buffers += 1;
            state.level.bytes += buffer.len();
        }
        state.items.push_front(item);
    }

    pub(super) fn awaited(&self) -> Awaited {
        let state = self.lock();
        match (state.items.is_empty(), state.handles) {
            (false, _) => Awaited::Ready,
            // That it is left alone is told by the element.
            (true, 0) => Awaited::Ready,
            (true, _) => Awaited::Pending,
        }
    }

    /// Whether the application let go of all handles, and nothing is left.
    pub(super) fn is_abandoned(&self) -> bool {
        let state = self.lock();
        state.handles == 0 && state.items.is_empty() && !state.ended
    }

    /// Tells the application that something is needed; it may give it at once.
    pub(super) fn call_need(self: &Arc<Self>) {
        self.call(|state| &mut state.need);
    }

    pub(super) fn call(self: &Arc<Self>, which: fn(&mut State) -> &mut Option<Told>) {
        let Some(mut told) = which(&mut self.lock()).take() else {
            return;
        };
        // A handle for the time of the call, which does not count as one that is left.
        let handle = AppSource::new(Arc::clone(self));
        told(&handle);
        let mut state = self.lock();
        which(&mut state).get_or_insert(told);
    }
}
