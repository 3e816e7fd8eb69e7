//! A child process: started, talked to within a time, ended and waited for. It may start programs and wait
//! in wall time; this is the one place of the elements that does.
//!
//! A child is in a process group of its own, and all of that group is killed and the child waited for when
//! this is dropped, whatever happened before.

use super::shared::Shared;
use super::wire::MAX_MESSAGE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The argument with which a program is a child.
pub const CHILD_ARGUMENT: &str = "remote-child";
/// Set for children: one whose program does not serve must not start further ones.
pub const CHILD_VARIABLE: &str = "TICKPIPE_REMOTE_CHILD";
/// How much of what a child says on its standard error is kept for the report of its end, in bytes.
const LAST_WORDS: usize = 600;

/// How a child ended, and what it said last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    status: Option<ExitStatus>,
    words: String,
}

impl core::fmt::Display for End {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.status.map(|s| (s.code(), s.signal())) {
            Some((Some(code), _)) => write!(f, "exit status {code}")?,
            Some((_, Some(signal))) => match Signal::from_named_raw(signal) {
                Some(Signal::ABORT) => write!(f, "signal {signal} (SIGABRT)")?,
                Some(named) => {
                    let named = format!("{named:?}");
                    let name = named.trim_matches('"').trim_start_matches("Signal::");
                    write!(f, "signal {signal} (SIG{name})")?
                }
                None => write!(f, "signal {signal}")?,
            },
            _ => write!(f, "an unknown exit status")?,
        }
        match self.words.as_str() {
            "" => Ok(()),
            words => write!(f, "; it said: {words}"),
        }
    }
}

/// What went wrong with a child.
#[derive(Clone, Debug, Error)]
pub enum ChildError {
    /// It cannot be started.
    #[error("cannot start the program {program}: {error}")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        error: String,
        /// There is no such file.
        missing: bool,
    },
    /// This process is a child itself, of a program that does not serve.
    #[error(
        "this process was started to serve an element `remote` and does not; its main function must call `serve` first"
    )]
    Recursion,
    /// It ended.
    #[error("the child process ended with {0}")]
    Ended(End),
    /// It did not answer in time.
    #[error("the child process did not answer within {limit} ns, the time limit, and was killed")]
    Hung {
        /// The limit in nanoseconds.
        limit: u64,
    },
    /// What it answered is no answer.
    #[error("what the child process answered is no answer: {what}")]
    Garbled {
        /// What is wrong.
        what: String,
    },
    /// The socket or the shared memory failed.
    #[error("{what}: {error}")]
    System {
        /// What was done.
        what: &'static str,
        /// The system's error.
        error: String,
    },
}

impl ChildError {
    /// From a failure of the system.
    pub fn system(what: &'static str, error: &io::Error) -> ChildError {
        let error = error.to_string();
        ChildError::System { what, error }
    }
}

/// A running child.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    control: UnixStream,
    errors: Option<UnixStream>,
    ended: Option<OwnedFd>,
    words: Vec<u8>,
    status: Option<ExitStatus>,
    /// The memory that it shares.
    pub shared: Shared,
}

impl Child {
    /// Starts a program as a child; without one, the program of this process.
    ///
    /// # Errors
    /// [`ChildError::Start`] and others: nothing is left of it then.
    pub fn start(program: &str) -> Result<Child, ChildError> {
        if std::env::var_os(CHILD_VARIABLE).is_some() {
            return Err(ChildError::Recursion);
        }
        let system = |what| move |error: io::Error| ChildError::system(what, &error);
        let shared = Shared::new().map_err(system("cannot make shared memory"))?;
        let memory = shared.file().map_err(system("cannot share memory"))?;
        let pair = || UnixStream::pair().map_err(system("cannot make a socket pair"));
        let ((control, theirs), (errors, their_errors)) = (pair()?, pair()?);
        for own in [&control, &errors] {
            own.set_nonblocking(true)
                .map_err(system("cannot set up a socket"))?;
        }
        // The file itself, also if it was replaced since.
        let own = OsStr::new("/proc/self/exe");
        let mut command = Command::new(if program.is_empty() {
            own
        } else {
            program.as_ref()
        });
        command
            .arg(CHILD_ARGUMENT)
            .env(CHILD_VARIABLE, "1")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(memory))
            .stderr(Stdio::from(OwnedFd::from(their_errors)))
            .process_group(0);
        let process = command.spawn().map_err(|error| ChildError::Start {
            program: match program {
                "" => "of this process".to_owned(),
                program => format!("`{program}`"),
            },
            missing: error.kind() == io::ErrorKind::NotFound,
            error: error.to_string(),
        })?;
        // The parent's copies of the child's ends go with the command.
        drop(command);
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let ended = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok(Child {
            process,
            control,
            errors: Some(errors),
            ended,
            words: Vec::new(),
            status: None,
            shared,
        })
    }

    /// Sends a message and waits for its answer, which replaces what is in `answer`; both within a limit
    /// of nanoseconds of wall time.
    ///
    /// # Errors
    /// [`ChildError`]: the child is of no use then.
    pub fn ask(
        &mut self,
        message: &[u8],
        answer: &mut Vec<u8>,
        limit: u64,
    ) -> Result<(), ChildError> {
        let until = Until::of(limit);
        if message.len() > MAX_MESSAGE {
            let what = format!("a question of {} bytes is too long", message.len());
            return Err(ChildError::Garbled { what });
        }
        self.send(&(message.len() as u32).to_le_bytes(), until)?;
        self.send(message, until)?;
        let mut length = [0; 4];
        self.receive(&mut length, until)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_MESSAGE {
            let what = format!("it says that it is {length} bytes long; {MAX_MESSAGE} are allowed");
            return Err(ChildError::Garbled { what });
        }
        answer.clear();
        answer.resize(length, 0);
        self.receive(answer, until)
    }

    fn send(&mut self, mut bytes: &[u8], until: Until) -> Result<(), ChildError> {
        while !bytes.is_empty() {
            match (&self.control).write(bytes) {
                Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
                Err(error) => self.wait(&error, PollFlags::OUT, until)?,
            }
        }
        Ok(())
    }

    fn receive(&mut self, mut bytes: &mut [u8], until: Until) -> Result<(), ChildError> {
        while !bytes.is_empty() {
            match (&self.control).read(bytes) {
                Ok(0) => return Err(self.ended(until)),
                Ok(count) => bytes = bytes.get_mut(count..).unwrap_or_default(),
                Err(error) => self.wait(&error, PollFlags::IN, until)?,
            }
        }
        Ok(())
    }

    /// Waits until the socket can be used again, the child ends, or time is up.
    fn wait(&mut self, error: &io::Error, for_: PollFlags, until: Until) -> Result<(), ChildError> {
        match error.kind() {
            io::ErrorKind::Interrupted => return Ok(()),
            io::ErrorKind::WouldBlock => {}
            _ => return Err(self.ended(until)),
        }
        loop {
            let Some(left) = until.left() else {
                return Err(ChildError::Hung { limit: until.limit });
            };
            let mut watched = Vec::with_capacity(3);
            watched.push(PollFd::new(&self.control, for_));
            watched.extend(self.ended.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
            watched.extend(self.errors.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
            match poll(&mut watched, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(ChildError::system("cannot wait for it", &error.into())),
            }
            let answers = watched.first().is_some_and(|fd| !fd.revents().is_empty());
            let ended =
                self.ended.is_some() && watched.get(1).is_some_and(|fd| !fd.revents().is_empty());
            if !self.listen() {
                // It closed its standard error: nothing more is to be heard there, and it may go on.
                self.errors = None;
            }
            if answers {
                return Ok(());
            }
            if ended {
                return Err(self.ended(until));
            }
        }
    }

    /// Takes what it says on its standard error; `false` at the end of that.
    fn listen(&mut self) -> bool {
        let Some(mut errors) = self.errors.as_ref() else {
            return true;
        };
        let mut said = [0; 4096];
        // Not more than a bit at once, so that one who never stops talking stops nobody.
        for _ in 0..16 {
            match errors.read(&mut said) {
                Ok(0) => return false,
                Ok(count) => {
                    self.words.extend(said.iter().take(count));
                    let over = self.words.len().saturating_sub(LAST_WORDS);
                    self.words.drain(..over);
                }
                Err(_) => return true,
            }
        }
        true
    }

    /// It closed its end, or broke it: what became of it.
    fn ended(&mut self, until: Until) -> ChildError {
        if !self.wait_for_end(until) {
            let what = "it closed its socket and goes on".to_owned();
            return ChildError::Garbled { what };
        }
        self.kill();
        self.listen();
        let words = String::from_utf8_lossy(&self.words);
        let words: Vec<&str> = words.trim().lines().map(str::trim).collect();
        ChildError::Ended(End {
            status: self.status,
            words: words.join(" | "),
        })
    }

    /// Whether it ended, or does before time is up. It is not waited for yet, so that its number is its own.
    fn wait_for_end(&self, until: Until) -> bool {
        // A system that has no such descriptors does not say; then it is ended.
        let Some(ended) = &self.ended else {
            return true;
        };
        while let Some(left) = until.left() {
            let mut watched = [PollFd::new(ended, PollFlags::IN)];
            match poll(&mut watched, Some(&left)) {
                Ok(count) if count > 0 => return true,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        false
    }

    /// Ends it and all of its group, and waits for it; once. Until it is waited for its number is its own;
    /// those of its group can outlive it.
    fn kill(&mut self) {
        if self.status.is_some() {
            return;
        }
        let pid = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.process.kill();
        self.status = self.process.wait().ok();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Until when an answer is waited for.
#[derive(Clone, Copy)]
struct Until {
    at: Instant,
    limit: u64,
}

impl Until {
    fn of(limit: u64) -> Until {
        Until {
            at: Instant::now() + Duration::from_nanos(limit),
            limit,
        }
    }

    fn left(self) -> Option<Timespec> {
        let left = self.at.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then_some(())?;
        Timespec::try_from(left).ok()
    }
}
