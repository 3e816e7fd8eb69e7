//! Where the program's output goes: buffered standard output, and a standard error that events,
//! errors and the progress bar share.

use crate::failure::Failure;
use indicatif::ProgressBar;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Who gets the events of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logging {
    /// The whole process, once: for the program itself.
    Process,
    /// The calling thread only: for tests that run several in one process. Events of worker
    /// threads are not seen then.
    Thread,
}

impl Logging {
    pub(crate) fn with<T>(self, dispatch: tracing::Dispatch, f: impl FnOnce() -> T) -> T {
        match self {
            Logging::Thread => tracing::dispatcher::with_default(&dispatch, f),
            Logging::Process => {
                // A second one in a process would be the program called twice: the first stays.
                let _ = tracing::dispatcher::set_global_default(dispatch);
                f()
            }
        }
    }
}

/// Standard output and standard error of a run of the program.
pub struct Console {
    out: Box<dyn Write + Send>,
    err: Stderr,
    logging: Logging,
    quiet: bool,
}

/// Standard error, shared.
#[derive(Clone)]
pub(crate) struct Stderr {
    shared: Arc<Mutex<Shared>>,
    terminal: bool,
    colour: bool,
}

struct Shared {
    writer: Box<dyn Write + Send>,
    bar: Option<ProgressBar>,
}

impl Console {
    /// The process's own streams.
    pub fn process() -> Console {
        let out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout());
        let mut console = Console::new(Box::new(out), Box::new(std::io::stderr()));
        console.logging = Logging::Process;
        console.err.terminal = std::io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        console.err.colour = console.err.terminal && !plain;
        console
    }

    /// Streams that are no terminals.
    pub fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Console {
        let shared = Shared {
            writer: err,
            bar: None,
        };
        Console {
            out,
            err: Stderr {
                shared: Arc::new(Mutex::new(shared)),
                terminal: false,
                colour: false,
            },
            logging: Logging::Thread,
            quiet: false,
        }
    }

    pub(crate) fn logging(&self) -> Logging {
        self.logging
    }

    pub(crate) fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Whether nothing but errors is to be told.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(crate) fn stderr(&self) -> Stderr {
        self.err.clone()
    }

    /// Standard output for data, whose errors count.
    pub(crate) fn out(&mut self) -> &mut (dyn Write + Send) {
        &mut *self.out
    }

    /// Prints text for people. If nobody reads it any more, that is their choice and no error.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        let written = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
            _ => Ok(()),
        }
    }

    /// Writes out what is buffered.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.print("")
    }

    /// Tells a line, or several, on standard error.
    pub(crate) fn tell(&self, text: &str) {
        self.err.tell(text);
    }

    /// Tells a warning, unless only errors are to be told.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            self.err.tell(text);
        }
    }
}

impl Stderr {
    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Shows a progress bar from now on, or none.
    pub(crate) fn set_bar(&self, bar: Option<ProgressBar>) {
        self.shared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .bar = bar;
    }

    /// Writes a text and a line end, around the progress bar. Control characters, which names of
    /// files may hold, do not reach the terminal. If it cannot be written nobody can be told.
    pub(crate) fn tell(&self, text: &str) {
        let text = harmless(text) + "\n";
        let text = if self.colour { coloured(text) } else { text };
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let Shared { writer, bar } = &mut *shared;
        let mut write = || {
            let _ = writer
                .write_all(text.as_bytes())
                .and_then(|()| writer.flush());
        };
        match bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// A text without control characters but line ends and tabs.
fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// The text with its first word in colour, if that is what kind of thing is told.
fn coloured(text: String) -> String {
    for (word, colour) in [("error:", "1;31"), ("warning:", "1;33")] {
        if let Some(rest) = text.strip_prefix(word) {
            return format!("\u{1b}[{colour}m{word}\u{1b}[0m{rest}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_such() {
        assert_eq!(
            harmless("a\u{1b}[2J\r\nb\t\u{7}"),
            "a\u{fffd}[2J\u{fffd}\nb\t\u{fffd}"
        );
    }

    #[test]
    fn errors_are_red_on_a_terminal() {
        let red = coloured("error: no error: here".to_owned());
        assert_eq!(red, "\u{1b}[1;31merror:\u{1b}[0m no error: here");
        assert_eq!(coloured("an error: x".to_owned()), "an error: x");
    }
}
