//! The application's end of `appsink`, and the queue between the two.

use super::{AppError, locked};
use crate::outside::Waker;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tickpipe_components::buffer::BufferFlags;
use tickpipe_components::caps::Caps;
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::id::BufferId;
use tickpipe_components::time::TimeBase;

/// What is known of a sample besides its bytes.
#[derive(Clone, Debug)]
pub struct SampleInfo {
    /// Its caps.
    pub caps: Arc<Caps>,
    /// Its time.
    pub pts: Option<i64>,
    /// How long it lasts.
    pub duration: Option<i64>,
    /// The unit of both.
    pub time_base: TimeBase,
    /// Its number in its stream.
    pub index: u64,
    /// What it is.
    pub flags: BufferFlags,
}

/// A frame that the application has. Until it is dropped the application is a holder of its buffer, like
/// any element, unless the sink let that go (`copy-when-below`).
#[derive(Debug)]
pub struct Sample {
    bytes: Arc<[u8]>,
    /// What is known of it.
    pub info: SampleInfo,
    held: Option<Held>,
}

impl Sample {
    /// Its bytes: of raw video the visible ones, rows without padding.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to keep: the buffer is let go, the bytes stay.
    pub fn into_bytes(self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }

    /// Whether it holds a buffer of a pool.
    pub fn holds(&self) -> bool {
        self.held.is_some()
    }
}

/// A buffer that is held; dropped, it goes back.
#[derive(Debug)]
struct Held {
    buffer: BufferId,
    /// The run that it is of.
    run: u64,
    queue: Arc<Queue>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if state.run == self.run {
            state.returned.push(self.buffer);
        }
        drop(state);
        self.queue.wake();
    }
}

type Told = Box<dyn FnMut(Sample) + Send>;
type Ended = Box<dyn FnMut() + Send>;

#[derive(Default)]
pub(super) struct State {
    running: bool,
    /// The element is not there any more.
    gone: bool,
    /// Counts runs: what is of another comes back to nobody.
    run: u64,
    samples: VecDeque<Sample>,
    most: usize,
    ended: bool,
    failed: Option<(Domain, Code)>,
    /// Buffers that the application let go.
    pub returned: Vec<BufferId>,
    handles: u32,
    dropped: u64,
    sample: Option<Told>,
    end: Option<Ended>,
}

/// The queue between an element and the application.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    comes: Condvar,
    waker: Mutex<Option<Arc<Waker>>>,
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
        self.0.lock().gone = true;
        self.0.stop();
    }
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// The application has it, or finds it in the queue.
    Taken,
    /// The queue is full.
    Full,
    /// No application is there.
    Nobody,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn wake(&self) {
        if let Some(waker) = &*locked(&self.waker) {
            waker.wake();
        }
    }

    /// The element is opened: what is left of the run before is let go.
    pub(super) fn start(&self, most: usize) {
        let mut state = self.lock();
        let left = core::mem::take(&mut state.samples);
        state.run += 1;
        state.most = most;
        (state.running, state.ended, state.failed) = (true, false, None);
        state.returned.clear();
        drop(state);
        drop(left);
        self.comes.notify_all();
    }

    /// The element is closed: what the application has comes back to nobody. What waits for it can be
    /// pulled still, until the next start.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.run += 1;
        state.running = false;
        state.returned.clear();
        drop(state);
        self.comes.notify_all();
    }

    /// What waits for the application is let go.
    pub(super) fn flush(&self) {
        let mut state = self.lock();
        let left = core::mem::take(&mut state.samples);
        state.run += 1;
        state.ended = false;
        state.returned.clear();
        drop(state);
        drop(left);
    }

    pub(super) fn over(&self, failed: Option<(Domain, Code)>) {
        let mut state = self.lock();
        if state.running && !state.ended {
            state.ended = true;
            state.failed = failed;
        }
        drop(state);
        self.comes.notify_all();
    }

    /// Whether a frame would be taken.
    pub(super) fn offers(&self) -> Offered {
        let state = self.lock();
        if state.sample.is_some() {
            return Offered::Taken;
        }
        match (state.handles, state.samples.len() < state.most) {
            (0, _) => Offered::Nobody,
            (_, true) => Offered::Taken,
            (_, false) => Offered::Full,
        }
    }

    /// Lets the newest go that waits, if there is one: a full queue has no place for more.
    pub(super) fn count_dropped(&self) {
        self.lock().dropped += 1;
    }

    /// Gives a frame to the application; `buffer` is what it holds with that.
    pub(super) fn give(
        self: &Arc<Self>,
        bytes: Arc<[u8]>,
        info: SampleInfo,
        buffer: Option<BufferId>,
    ) {
        let mut state = self.lock();
        let run = state.run;
        let queue = Arc::clone(self);
        let held = buffer.map(|buffer| Held { buffer, run, queue });
        let sample = Sample { bytes, info, held };
        match state.sample.take() {
            Some(mut told) => {
                drop(state);
                told(sample);
                self.lock().sample.get_or_insert(told);
            }
            None => {
                state.samples.push_back(sample);
                drop(state);
                self.comes.notify_all();
            }
        }
    }

    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        let told = state.end.take();
        drop(state);
        self.comes.notify_all();
        if let Some(mut told) = told {
            told();
            self.lock().end.get_or_insert(told);
        }
    }

    /// Buffers that the application let go since the last time.
    pub(super) fn returned(&self, to: &mut Vec<BufferId>) {
        to.append(&mut self.lock().returned);
    }

    pub(super) fn has_returned(&self) -> bool {
        !self.lock().returned.is_empty()
    }

    /// Frames that wait hold no buffers any more. Whether one did.
    pub(super) fn let_go(&self) -> bool {
        let mut state = self.lock();
        let held: Vec<Held> = state
            .samples
            .iter_mut()
            .filter_map(|s| s.held.take())
            .collect();
        drop(state);
        !held.is_empty()
    }

    /// Frames that wait for the application.
    pub(super) fn waiting(&self) -> usize {
        self.lock().samples.len()
    }

    pub(super) fn handles(&self) -> u32 {
        self.lock().handles
    }
}

/// The application's end of an `appsink`. It can be cloned and given to other threads.
pub struct AppSink {
    queue: Arc<Queue>,
}

impl core::fmt::Debug for AppSink {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AppSink").finish_non_exhaustive()
    }
}

impl Clone for AppSink {
    fn clone(&self) -> Self {
        self.queue.lock().handles += 1;
        AppSink {
            queue: Arc::clone(&self.queue),
        }
    }
}

impl Drop for AppSink {
    fn drop(&mut self) {
        let left = {
            let mut state = self.queue.lock();
            state.handles -= 1;
            match state.handles {
                0 => core::mem::take(&mut state.samples),
                _ => VecDeque::new(),
            }
        };
        drop(left);
        self.queue.wake();
    }
}

impl AppSink {
    pub(super) fn of(queue: &Arc<Queue>, waker: Arc<Waker>) -> AppSink {
        *locked(&queue.waker) = Some(waker);
        queue.lock().handles += 1;
        AppSink {
            queue: Arc::clone(queue),
        }
    }

    /// The oldest frame that waits; `None` at the end.
    ///
    /// # Errors
    /// [`AppError::TimedOut`] if none is there, [`AppError::Stopped`], [`AppError::Failed`].
    pub fn try_pull(&self) -> Result<Option<Sample>, AppError> {
        let taken = take(&mut self.queue.lock());
        self.woken(taken.unwrap_or(Err(AppError::TimedOut)))
    }

    /// The same, but waits for so long until one is there; without a limit for ever. The engine must run
    /// on another thread then.
    ///
    /// # Errors
    /// As [`AppSink::try_pull`].
    pub fn pull_within(&self, most: Option<Duration>) -> Result<Option<Sample>, AppError> {
        let until = most.and_then(|most| Instant::now().checked_add(most));
        let mut state = self.queue.lock();
        let outcome = loop {
            if let Some(outcome) = take(&mut state) {
                break outcome;
            }
            let comes = &self.queue.comes;
            state = match (most, until) {
                (Some(_), Some(until)) => {
                    let Some(left) = until.checked_duration_since(Instant::now()) else {
                        break Err(AppError::TimedOut);
                    };
                    let waited = comes.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                _ => comes.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        };
        drop(state);
        self.woken(outcome)
    }

    /// The same, without a limit.
    ///
    /// # Errors
    /// As [`AppSink::try_pull`].
    pub fn pull(&self) -> Result<Option<Sample>, AppError> {
        self.pull_within(None)
    }

    /// A place in the queue may be what the element waits for.
    fn woken<T>(&self, outcome: Result<T, AppError>) -> Result<T, AppError> {
        if outcome.is_ok() {
            self.queue.wake();
        }
        outcome
    }

    /// Waits for so long until the element runs; without a limit for ever. Whether it does.
    pub fn wait_for_start(&self, most: Option<Duration>) -> bool {
        let until = most.and_then(|most| Instant::now().checked_add(most));
        let mut state = self.queue.lock();
        while !state.running && !state.ended {
            if state.gone {
                return false;
            }
            let comes = &self.queue.comes;
            state = match (most, until) {
                (Some(_), Some(until)) => {
                    let Some(left) = until.checked_duration_since(Instant::now()) else {
                        return false;
                    };
                    let waited = comes.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                _ => comes.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        true
    }

    /// Is given each frame as it comes, in place of the queue. It is called while the element works, so
    /// it must not wait.
    pub fn on_sample(&self, told: impl FnMut(Sample) + Send + 'static) {
        self.queue.lock().sample = Some(Box::new(told));
    }

    /// Is told of the end.
    pub fn on_end(&self, told: impl FnMut() + Send + 'static) {
        self.queue.lock().end = Some(Box::new(told));
    }

    /// Frames that wait.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Frames that were let go because the queue was full, since the element was made.
    pub fn dropped(&self) -> u64 {
        self.queue.lock().dropped
    }
}

fn take(state: &mut State) -> Option<Result<Option<Sample>, AppError>> {
    if let Some(sample) = state.samples.pop_front() {
        return Some(Ok(Some(sample)));
    }
    match (state.ended, state.failed) {
        (true, None) => Some(Ok(None)),
        (true, Some((domain, code))) => Some(Err(AppError::Failed(domain, code))),
        _ if !state.running => Some(Err(AppError::Stopped)),
        _ => None,
    }
}
