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
            },
            logging: Logging::Thread,
            quiet: false,
        }
    }

    pub(crate) fn logging(&self) -> &Logging {
        &self.logging
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

    /// `text` in a colour, on a terminal that is not asked for none.
    pub(crate) fn coloured(&self, colour: Colour, text: &str) -> String {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        if !self.terminal || plain {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Red => "1;31",
            Colour::Yellow => "1;33",
            Colour::Grey => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A colour of [`Stderr::coloured`].
#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red,
    Yellow,
    Grey,
}

/// A text without control characters but line ends, tabs, and the colours that the program sets.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = ["\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[2m", "\u{1b}[0m"]
            .into_iter()
            .find(|code| rest.starts_with(code));
        let taken = match colour {
            Some(code) => {
                out.push_str(code);
                code.len()
            }
            None => {
                out.push(match c {
                    '\n' | '\t' => c,
                    c if c.is_control() => '\u{fffd}',
                    c => c,
                });
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or("");
    }
    out
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
        assert_eq!(
            harmless("\u{1b}[1;31merror\u{1b}[0m"),
            "\u{1b}[1;31merror\u{1b}[0m"
        );
    }
}
