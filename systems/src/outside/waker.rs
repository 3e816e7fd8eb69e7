//! Wakes who runs an engine while nothing moves: an item of work is done, or an application brought
//! something. It counts, so that nothing that happens between a look and the wait is missed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts what happened outside the tick.
#[derive(Debug, Default)]
pub struct Waker {
    happened: Mutex<u64>,
    more: Condvar,
}

impl Waker {
    fn locked(&self) -> MutexGuard<'_, u64> {
        self.happened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened.
    pub fn wake(&self) {
        *self.locked() += 1;
        self.more.notify_all();
    }

    /// How much has happened. Look at this before looking at what there is, and wait for more than it.
    pub fn happened(&self) -> u64 {
        *self.locked()
    }

    /// Waits until more than `known` has happened, or for so long. Whether it has.
    pub fn wait_for_more(&self, known: u64, most: Option<Duration>) -> bool {
        let happened = self.locked();
        let none = |happened: &mut u64| *happened <= known;
        let happened = match most {
            None => self
                .more
                .wait_while(happened, none)
                .unwrap_or_else(PoisonError::into_inner),
            Some(most) => {
                let waited = self.more.wait_timeout_while(happened, most, none);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        *happened > known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_happened_before_the_wait_is_not_missed() {
        let waker = Waker::default();
        let known = waker.happened();
        waker.wake();
        assert!(waker.wait_for_more(known, None));
        let known = waker.happened();
        assert!(!waker.wait_for_more(known, Some(Duration::ZERO)));
    }

    #[test]
    fn another_thread_wakes() {
        let waker = Arc::new(Waker::default());
        let known = waker.happened();
        let other = Arc::clone(&waker);
        let thread = std::thread::spawn(move || other.wake());
        assert!(waker.wait_for_more(known, None));
        thread.join().expect("it ends");
    }
}
