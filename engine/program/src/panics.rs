//! Who tells of a panic. The engine catches one of an element and reports it as that element's
//! error, so the runtime's own text would only repeat it; any other ends the program, which then
//! tells what was kept here.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Keeps what a panic says instead of printing it, and logs it at debug level.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let text = described(info);
        tracing::debug!(target: "tickpipe_program::panics", "{text}");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }));
}

/// What the last panic said, and where; with `RUST_BACKTRACE` set also how it came there.
pub fn last() -> String {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.clone()
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

fn described(info: &PanicHookInfo<'_>) -> String {
    let place = info
        .location()
        .map_or_else(String::new, |place| format!(" at {place}"));
    let message = message(info.payload());
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    let mut text = format!("thread '{name}' panicked{place}: {message}");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    text
}

fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
