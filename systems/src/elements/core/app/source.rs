//! The application's end of `appsrc`, and the queue between the two.

use super::{AppError, locked};
use crate::outside::{Awaited, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;
use tickpipe_components::buffer::BufferFlags;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::memory::Memory;
use tickpipe_components::time::TimeBase;
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
    fn make(self) -> Memory {
        Memory::with_prefix(self.size, self.align, self.prefix)
    }

    fn is(self, memory: &Memory) -> bool {
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

type Told = Box<dyn FnMut(&AppSource) + Send>;

#[derive(Default)]
pub(super) struct State {
    pub mode: Mode,
    pub items: VecDeque<Given>,
    pub level: Level,
    pub shape: Shape,
    pub bounds: Bounds,
    /// Buffers that the application has, those in the queue included.
    out: u32,
    /// Memory for buffers to come.
    free: Vec<Memory>,
    /// The end is in the queue, or was taken from it.
    ended: bool,
    /// Handles of the application.
    handles: u32,
    /// Somebody had one at all.
    pub known: bool,
    /// Bytes of a picture of the caps that were given last.
    picture: Option<(String, usize)>,
    /// Pushes that were refused because the queue was full.
    refused: u64,
    /// Buffers that a start or a stop let go.
    discarded: u64,
    need: Option<Told>,
    enough: Option<Told>,
}

/// The queue between the application and its element.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Room, a free buffer, or the end of a wait.
    changed: Condvar,
    waker: Mutex<Option<Arc<Waker>>>,
}

impl core::fmt::Debug for Queue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// Bytes of a picture of fixed raw caps.
fn picture(caps: &Caps) -> Option<(String, usize)> {
    let info = VideoInfo::from_structure(caps.structures().first()?).ok()?;
    Some((caps.to_string(), info.layout.visible_bytes()))
}

impl State {
    fn running(&self) -> Result<(), AppError> {
        match self.mode {
            Mode::Running => Ok(()),
            Mode::Stopped => Err(AppError::Stopped),
            Mode::Flushing => Err(AppError::Flushing),
            Mode::Failed(domain, code) => Err(AppError::Failed(domain, code)),
            Mode::Over => Err(AppError::Ended),
        }
    }

    /// Whether another buffer of so many bytes, or the end, finds a place.
    fn has_room(&self, bytes: usize) -> bool {
        let Bounds {
            buffers,
            bytes: most,
            ..
        } = self.bounds;
        let empty = self.items.is_empty();
        empty || (self.items.len() < buffers && (most == 0 || self.level.bytes + bytes <= most))
    }

    fn full(&mut self) -> AppError {
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

    fn wake(&self) {
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
        state.mode = mode;
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
            state.level.bytes -= buffer.len;
        }
        self.changed.notify_all();
        Some(item)
    }

    pub(super) fn put_back(&self, item: Given) {
        let mut state = self.lock();
        if let Given::Buffer(buffer) = &item {
            state.level.buffers += 1;
            state.level.bytes += buffer.len;
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

    fn call(self: &Arc<Self>, which: fn(&mut State) -> &mut Option<Told>) {
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

/// The application's end of an `appsrc`. It can be cloned and given to other threads; when the last one
/// is dropped without [`AppSource::end`], the element fails: nobody could give anything any more.
pub struct AppSource {
    queue: Arc<Queue>,
}

impl core::fmt::Debug for AppSource {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AppSource")
            .field("level", &self.level())
            .finish_non_exhaustive()
    }
}

impl Clone for AppSource {
    fn clone(&self) -> Self {
        AppSource::new(Arc::clone(&self.queue))
    }
}

impl Drop for AppSource {
    fn drop(&mut self) {
        let left = {
            let mut state = self.queue.lock();
            state.handles -= 1;
            state.handles
        };
        if left == 0 {
            self.queue.wake();
        }
    }
}

impl AppSource {
    fn new(queue: Arc<Queue>) -> AppSource {
        {
            let mut state = queue.lock();
            state.handles += 1;
            state.known = true;
        }
        AppSource { queue }
    }

    pub(super) fn of(queue: &Arc<Queue>, waker: Arc<Waker>) -> AppSource {
        *locked(&queue.waker) = Some(waker);
        AppSource::new(Arc::clone(queue))
    }

    /// A buffer of `len` bytes to fill.
    ///
    /// # Errors
    /// [`AppError::Size`] for 0 bytes or more than a buffer has; [`AppError::NoBuffers`] if the
    /// application has all that it may have; and if the element does not run.
    pub fn alloc(&self, len: usize) -> Result<AppBuffer, AppError> {
        let mut state = self.queue.lock();
        self.try_alloc(&mut state, len)
    }

    /// As [`AppSource::alloc`], but waits for so long until there is one; without a limit for ever.
    ///
    /// # Errors
    /// As [`AppSource::alloc`].
    pub fn alloc_within(&self, len: usize, most: Option<Duration>) -> Result<AppBuffer, AppError> {
        self.wait(most, |state| match self.try_alloc(state, len) {
            Err(AppError::NoBuffers { .. }) => None,
            // It runs, and does not know its buffers yet.
            Err(AppError::Stopped) if state.mode == Mode::Running => None,
            outcome => Some(outcome),
        })
        .unwrap_or_else(|| self.alloc(len))
    }

    fn try_alloc(&self, state: &mut State, len: usize) -> Result<AppBuffer, AppError> {
        state.running()?;
        let max = state.shape.size;
        if max == 0 {
            return Err(AppError::Stopped);
        }
        if len == 0 || len > max {
            return Err(AppError::Size { len, max });
        }
        if state.out >= state.bounds.alloc {
            return Err(AppError::NoBuffers { out: state.out });
        }
        state.out += 1;
        let shape = state.shape;
        Ok(AppBuffer {
            memory: Some(state.free.pop().unwrap_or_else(|| shape.make())),
            len,
            pts: None,
            duration: None,
            time_base: TimeBase::NANOSECONDS,
            flags: BufferFlags::empty(),
            owner: Some(Arc::clone(&self.queue)),
        })
    }

    /// Gives a buffer. It is sent when the element has room. With the property `block` it waits as long
    /// as the queue is full.
    ///
    /// # Errors
    /// [`AppError::Full`] and the others; the buffer comes back with it.
    pub fn push(&self, buffer: AppBuffer) -> Result<(), Box<NotPushed>> {
        if self.queue.lock().bounds.blocks {
            return self.push_within(buffer, None);
        }
        let outcome = {
            let mut state = self.queue.lock();
            self.give(&mut state, buffer)
        };
        match &outcome {
            Ok(()) => self.queue.wake(),
            Err(refused) if matches!(refused.error, AppError::Full { .. }) => {
                self.queue.call(|state| &mut state.enough);
            }
            Err(_) => {}
        }
        outcome
    }

    /// As [`AppSource::push`], but waits for so long while the queue is full; without a limit for ever.
    ///
    /// # Errors
    /// As [`AppSource::push`].
    pub fn push_within(
        &self,
        buffer: AppBuffer,
        most: Option<Duration>,
    ) -> Result<(), Box<NotPushed>> {
        let mut waiting = Some(buffer);
        let done = self.wait(most, |state| {
            let buffer = waiting.take()?;
            match self.give(state, buffer) {
                Err(refused) if matches!(refused.error, AppError::Full { .. }) => {
                    state.refused -= 1;
                    waiting = Some(refused.buffer);
                    None
                }
                outcome => Some(outcome),
            }
        });
        let outcome = match (done, waiting) {
            (Some(outcome), _) => outcome,
            (None, Some(buffer)) => {
                let mut state = self.queue.lock();
                self.give(&mut state, buffer)
            }
            (None, None) => Ok(()),
        };
        outcome.inspect(|()| self.queue.wake())
    }

    fn give(&self, state: &mut State, buffer: AppBuffer) -> Result<(), Box<NotPushed>> {
        if let Err(error) = self.admit(state, &buffer) {
            return Err(Box::new(NotPushed { error, buffer }));
        }
        state.level.buffers += 1;
        state.level.bytes += buffer.len;
        state.items.push_back(Given::Buffer(buffer));
        Ok(())
    }

    fn admit(&self, state: &mut State, buffer: &AppBuffer) -> Result<(), AppError> {
        state.running()?;
        if state.ended {
            return Err(AppError::Ended);
        }
        let (len, max) = (buffer.len, state.shape.size);
        if len == 0 || len > max {
            return Err(AppError::Size { len, max });
        }
        if let Some((caps, want)) = state.picture.as_ref().filter(|p| p.1 != len) {
            let (caps, want) = (caps.clone(), *want);
            return Err(AppError::Picture { caps, want, len });
        }
        match state.has_room(len) {
            true => Ok(()),
            false => Err(state.full()),
        }
    }

    /// Gives bytes: a buffer of them, with a time in nanoseconds if it has one.
    ///
    /// # Errors
    /// As [`AppSource::alloc`] and [`AppSource::push`].
    pub fn push_bytes(&self, bytes: &[u8], pts: Option<i64>) -> Result<(), AppError> {
        let mut buffer = self.alloc(bytes.len())?;
        buffer.bytes_mut().copy_from_slice(bytes);
        buffer.pts = pts;
        self.push(buffer).map_err(|refused| refused.error)
    }

    /// Says that what comes from here on has other caps.
    ///
    /// # Errors
    /// As [`AppSource::push`].
    pub fn set_caps(&self, caps: Caps) -> Result<(), AppError> {
        let mut state = self.queue.lock();
        state.running()?;
        if state.ended {
            return Err(AppError::Ended);
        }
        if !state.has_room(0) {
            return Err(state.full());
        }
        state.picture = picture(&caps);
        state.items.push_back(Given::Caps(Box::new(caps)));
        drop(state);
        self.queue.wake();
        Ok(())
    }

    /// Gives the end: nothing comes behind it.
    ///
    /// # Errors
    /// [`AppError::Full`], as for a buffer; [`AppError::Ended`] the second time.
    pub fn end(&self) -> Result<(), AppError> {
        let mut state = self.queue.lock();
        self.try_end(&mut state)?;
        drop(state);
        self.queue.wake();
        Ok(())
    }

    /// As [`AppSource::end`], but waits for so long while the queue is full.
    ///
    /// # Errors
    /// As [`AppSource::end`].
    pub fn end_within(&self, most: Option<Duration>) -> Result<(), AppError> {
        let done = self.wait(most, |state| match self.try_end(state) {
            Err(AppError::Full { .. }) => {
                state.refused -= 1;
                None
            }
            outcome => Some(outcome),
        });
        let outcome = done.unwrap_or_else(|| self.end());
        outcome.inspect(|()| self.queue.wake())
    }

    fn try_end(&self, state: &mut State) -> Result<(), AppError> {
        state.running()?;
        if state.ended {
            return Err(AppError::Ended);
        }
        if !state.has_room(0) {
            return Err(state.full());
        }
        state.ended = true;
        state.items.push_back(Given::End);
        Ok(())
    }

    /// Waits until `f` has an answer; `None` if that does not come in time.
    fn wait<T>(
        &self,
        most: Option<Duration>,
        mut f: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let until = most.and_then(|most| Instant::now().checked_add(most));
        let mut state = self.queue.lock();
        loop {
            if let Some(answer) = f(&mut state) {
                return Some(answer);
            }
            let changed = &self.queue.changed;
            state = match (most, until) {
                (Some(_), Some(until)) => {
                    let left = until.checked_duration_since(Instant::now())?;
                    let waited = changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                _ => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits for so long until the element runs and knows its buffers; without a limit for ever.
    /// Whether it does.
    pub fn wait_for_start(&self, most: Option<Duration>) -> bool {
        let started = |state: &mut State| {
            let runs = state.mode == Mode::Running && state.shape.size > 0;
            runs.then_some(())
        };
        self.wait(most, started).is_some()
    }

    /// Is told when the element has nothing to send; it may give something at once. It is called while
    /// the element works, so it must not wait.
    pub fn on_need_data(&self, told: impl FnMut(&AppSource) + Send + 'static) {
        self.queue.lock().need = Some(Box::new(told));
    }

    /// Is told when a push finds the queue full.
    pub fn on_enough_data(&self, told: impl FnMut(&AppSource) + Send + 'static) {
        self.queue.lock().enough = Some(Box::new(told));
    }

    /// What is in the queue.
    pub fn level(&self) -> Level {
        self.queue.lock().level
    }

    /// Pushes that were refused because the queue was full, since the element was made.
    pub fn refused(&self) -> u64 {
        self.queue.lock().refused
    }

    /// Buffers that were in the queue when the element started, stopped or was flushed, and were let go.
    pub fn discarded(&self) -> u64 {
        self.queue.lock().discarded
    }

    /// Bytes of a buffer; 0 before it is known.
    pub fn buffer_size(&self) -> usize {
        self.queue.lock().shape.size
    }
}

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
