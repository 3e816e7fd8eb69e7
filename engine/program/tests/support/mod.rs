//! Runs the program in this process, or as a process of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use tickpipe_program::Console;

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .expect("not poisoned")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("is text")
    }
}

/// What a run of the program gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program in this process.
pub fn here(arguments: &[&str]) -> Ran {
    let (out, err) = (Buffer::default(), Buffer::default());
    let mut console = Console::new(Box::new(out.clone()), Box::new(err.clone()));
    let arguments = ["tickpipe"].into_iter().chain(arguments.iter().copied());
    let code = tickpipe_program::run(arguments, &mut console);
    Ran {
        code: code.into(),
        out: out.text(),
        err: err.text(),
    }
}

/// The program as a command, without input.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickpipe"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE")
        .env_remove("RUST_LOG");
    command
}

/// Runs the program as a process. It must end by itself, without a panic.
pub fn process(arguments: &[&str]) -> Ran {
    ran(command(arguments).output().expect("starts"))
}

/// What a process gave.
pub fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("is text");
    let ran = Ran {
        code: output.status.code().expect("was not killed"),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}

/// A folder of a test, removed when it ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tickpipe-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("made");
        Folder(path)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("is text").to_owned()
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A summary without the time that the run took.
pub fn without_time(text: &str) -> String {
    let first = text.lines().next().unwrap_or("");
    let at = first.rfind(", ").unwrap_or(first.len());
    format!("{}, TIME{}", &first[..at], &text[first.len()..])
}

/// A plan without the numbers of bytes that depend on how large the engine's own records are.
pub fn without_records(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("memory: ") {
        None => line.to_owned(),
        Some(rest) => {
            let mut words: Vec<&str> = rest.split(' ').collect();
            for at in [0, 5, 12] {
                if let Some(number) = words.get_mut(at) {
                    *number = "…";
                }
            }
            format!("memory: {}", words.join(" "))
        }
    };
    text.lines().map(|l| line(l) + "\n").collect()
}
