//! `appsrc` and `appsink`: where the application gives buffers and takes them, from any thread.
//!
//! Each element has one end of a bounded queue, and the application's handles ([`AppSource`],
//! [`AppSink`]) the other. The rules are those of mpipe's app source and app sink; names and defaults of
//! properties are GStreamer's where the thing is the same. See docs/application.md.

mod appsink;
mod appsrc;
mod buffer;
mod error;
mod queue;
mod sink;
mod source;

pub use appsink::AppSinkElement;
pub use appsrc::AppSrcElement;
pub use buffer::{AppBuffer, NotPushed};
pub use error::AppError;
pub use queue::Level;
pub use sink::{AppSink, Sample, SampleInfo};
pub use source::AppSource;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is behind a lock, also where somebody panicked with it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
