//! The child's side: the element is made, and does what it is asked until the parent's end closes. It may
//! touch this process's standard streams, and ends the process.

use super::child::CHILD_ARGUMENT;
use super::inner::{Inner, InnerError};
use super::messages::{
    CLOSE, Failure, PAUSE, PLAY, PadTexts, Planned, Replied, Reply, Request, Setup, Shown,
};
use super::mirror::Mirror;
use super::shared::Shared;
use super::wire::{MAX_MESSAGE, Reader, VERSION, Wire};
use crate::element::{PadAt, PadCapsOf, Registry, Seeking, Work};
use crate::process::panicked;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::stdio::{dup2_stdin, dup2_stdout};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use thiserror::Error;
use tickpipe_components::caps::{Caps, CapsParseError};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};

/// Why a child cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Its standard streams are not what a parent gives.
    #[error("standard input is no socket of a parent: {0}")]
    Streams(io::Error),
}

/// Serves a parent over standard input, with the memory behind standard output, until it closes its end.
///
/// When the parent goes in any way, this process ends at once, whatever it is doing.
///
/// # Errors
/// [`ServeError`]: nobody is there to serve.
pub fn serve(registry: &Registry) -> Result<(), ServeError> {
    let control = io::stdin().as_fd().try_clone_to_owned();
    let control = UnixStream::from(control.map_err(ServeError::Streams)?);
    // A socket has a peer; a terminal or a file has not.
    control.peer_addr().map_err(ServeError::Streams)?;
    let memory = io::stdout().as_fd().try_clone_to_owned();
    let shared = Shared::from_file(File::from(memory.map_err(ServeError::Streams)?));
    // What the element prints must not come between frames.
    let nothing = File::open("/dev/null").map_err(ServeError::Streams)?;
    dup2_stdin(&nothing).map_err(|e| ServeError::Streams(e.into()))?;
    dup2_stdout(io::stderr()).map_err(|e| ServeError::Streams(e.into()))?;
    let watched = control.try_clone().map_err(ServeError::Streams)?;
    let watcher = std::thread::Builder::new().stack_size(64 << 10);
    watcher
        .spawn(move || end_with_parent(&watched))
        .map_err(ServeError::Streams)?;
    Server {
        registry,
        control,
        shared,
        element: None,
    }
    .run();
    Ok(())
}

/// Ends the process once the parent's end of the socket is closed.
fn end_with_parent(control: &UnixStream) {
    loop {
        let mut watched = [PollFd::new(control, PollFlags::RDHUP)];
        let polled = poll(&mut watched, None);
        let gone = watched.iter().any(|fd| !fd.revents().is_empty());
        if gone || !matches!(polled, Ok(_) | Err(rustix::io::Errno::INTR)) {
            std::process::exit(0);
        }
    }
}

/// Whether this process was started to be a child: the first thing that a main function asks.
pub fn is_child() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    let asked = arguments.next().is_some_and(|a| a == CHILD_ARGUMENT);
    asked && arguments.next().is_none()
}

struct Element {
    inner: Inner,
    work: Box<dyn Work>,
    mirror: Mirror,
}

struct Server<'a> {
    registry: &'a Registry,
    control: UnixStream,
    shared: Shared,
    element: Option<Element>,
}

/// The parent asks for what cannot be.
#[derive(Debug, Error)]
#[error("the parent process asks what cannot be: {0}")]
struct Unasked(String);

fn failed(error: &ElementError) -> Failure {
    Failure {
        domain: error.domain,
        code: error.code,
        text: error.detail.to_string(),
    }
}

fn protocol(what: impl core::fmt::Display) -> ElementError {
    ElementError::new(Domain::Resource, Code::Garbled, Unasked(what.to_string()))
}

impl Server<'_> {
    fn run(&mut self) {
        let mut message = Vec::new();
        let mut answer = Vec::new();
        loop {
            let mut length = [0; 4];
            if self.control.read_exact(&mut length).is_err() {
                return;
            }
            let length = u32::from_le_bytes(length) as usize;
            if length > MAX_MESSAGE {
                return;
            }
            message.resize(length, 0);
            if self.control.read_exact(&mut message).is_err() {
                return;
            }
            let mut reader = Reader::new(&message);
            let request = Request::get(&mut reader).and_then(|r| reader.end().map(|()| r));
            let reply = match request {
                Ok(request) => self.answer(request),
                Err(error) => Err(protocol(error)),
            };
            let mut state = States::default();
            if let Some(element) = &self.element {
                element.work.state(&mut state);
            }
            let reply = reply.unwrap_or_else(|error| Reply::Failed(failed(&error)));
            answer.clear();
            let state = state.0;
            Replied { reply, state }.put(&mut answer);
            if answer.len() > MAX_MESSAGE {
                let long = protocol(format_args!("an answer of {} bytes", answer.len()));
                let reply = Reply::Failed(failed(&long));
                answer.clear();
                let state = Vec::new();
                Replied { reply, state }.put(&mut answer);
            }
            let length = (answer.len() as u32).to_le_bytes();
            let sent = self.control.write_all(&length);
            if sent.and_then(|()| self.control.write_all(&answer)).is_err() {
                return;
            }
        }
    }

    fn answer(&mut self, request: Request) -> Result<Reply, ElementError> {
        if let Request::Setup(setup) = request {
            return self.set_up(&setup);
        }
        let Some(element) = &mut self.element else {
            return Err(protocol("there is no element yet"));
        };
        let shared = &self.shared;
        let asked = AssertUnwindSafe(|| element.answer(request, shared));
        catch_unwind(asked).unwrap_or_else(|panic| Err(panicked(&*panic)))
    }

    fn set_up(&mut self, setup: &Setup) -> Result<Reply, ElementError> {
        if setup.version != VERSION || self.element.is_some() {
            // The parent compares versions itself.
            return Ok(Reply::Ready(VERSION));
        }
        if setup.max_memory > 0 {
            let hard = getrlimit(Resource::As).maximum;
            let limit = Rlimit {
                current: Some(hard.map_or(setup.max_memory, |h| h.min(setup.max_memory))),
                maximum: hard,
            };
            setrlimit(Resource::As, limit).map_err(|e| protocol(io::Error::from(e)))?;
        }
        let inner = Inner::new(&setup.transform, self.registry)
            .map_err(|e: InnerError| ElementError::new(Domain::Core, Code::Settings, e))?;
        let opened = AssertUnwindSafe(|| inner.class.open(inner.settings()));
        let work = catch_unwind(opened).unwrap_or_else(|panic| Err(panicked(&*panic)))?;
        self.element = Some(Element {
            inner,
            work,
            mirror: Mirror::default(),
        });
        Ok(Reply::Ready(VERSION))
    }
}

/// The caps of pads that were sent as texts.
fn caps_of(pads: &PadTexts) -> Result<PadCapsOf, CapsParseError> {
    fn parse<T: FromIterator<Caps>>(texts: &[String]) -> Result<T, CapsParseError> {
        texts.iter().map(|t| t.parse::<Caps>()).collect()
    }
    Ok(PadCapsOf {
        sinks: parse(&pads.sinks)?,
        sources: parse(&pads.sources)?,
    })
}

impl Element {
    fn answer(&mut self, request: Request, shared: &Shared) -> Result<Reply, ElementError> {
        let work = &mut self.work;
        let done = |result: Result<(), ElementError>| result.map(|()| Reply::Done);
        match request {
            Request::Setup(_) => Ok(Reply::Ready(VERSION)),
            Request::Caps(pads) => done(work.set_caps(&caps_of(&pads).map_err(protocol)?)),
            Request::Call(call) => {
                let name = self.inner.class.name;
                let outcome = self.mirror.run(work.as_mut(), &call, shared, name)?;
                Ok(Reply::Outcome(Box::new(outcome)))
            }
            Request::Flush(pads) => {
                work.flush(&pads);
                Ok(Reply::Done)
            }
            Request::Step(PLAY) => done(work.play()),
            Request::Step(PAUSE) => done(work.pause()),
            Request::Step(CLOSE) => done(work.close()),
            Request::Step(other) => Err(protocol(format_args!("step {other}"))),
            Request::PlanSeek(seek) => Ok(Reply::Planned(match work.plan_seek(&seek)? {
                Seeking::Pass => Planned::Pass,
                Seeking::Here(segment) => Planned::Here(segment),
                Seeking::Through(seek, segment) => Planned::Through((seek, segment)),
            })),
            Request::Seek(seek) => {
                work.seek(&seek);
                Ok(Reply::Done)
            }
            Request::Position => Ok(Reply::Position(work.position())),
            Request::Query(query) => Ok(Reply::Answer(work.query(PadAt::sink(0), &query))),
        }
    }
}

/// Keeps what is shown of a state.
#[derive(Default)]
struct States(Vec<Shown>);

impl StateVisitor for States {
    fn unsigned(&mut self, _name: &'static str, value: u64) {
        self.0.push(Shown::Number(value));
    }

    fn bytes(&mut self, _name: &'static str, value: &[u8]) {
        self.0.push(Shown::Bytes(value.to_vec()));
    }
}
