//! The application's end of `appsrc`.

use super::queue::{Given, Mode, Queue, State, picture};
use super::{AppBuffer, AppError, Level, NotPushed, locked};
use crate::outside::Waker;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tickpipe_components::caps::Caps;

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
    pub(super) fn new(queue: Arc<Queue>) -> AppSource {
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
        let memory = state.free.pop().unwrap_or_else(|| shape.make());
        Ok(AppBuffer::new(memory, len, &self.queue))
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
        state.level.bytes += buffer.len();
        state.items.push_back(Given::Buffer(buffer));
        Ok(())
    }

    fn admit(&self, state: &mut State, buffer: &AppBuffer) -> Result<(), AppError> {
        state.running()?;
        if state.ended {
            return Err(AppError::Ended);
        }
        let (len, max) = (buffer.len(), state.shape.size);
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
        let started = |state: &mut State| match state.mode {
            Mode::Running if state.shape.size > 0 => Some(true),
            Mode::Gone => Some(false),
            _ => None,
        };
        self.wait(most, started).unwrap_or(false)
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
