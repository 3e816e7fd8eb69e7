//! The line to one child after the other: starts them, asks them, and tells what was wrong as an
//! element's error. It touches children only.

use super::child::{Child, ChildError};
use super::messages::{Failure, PadTexts, Replied, Reply, Request, Setup, Shown};
use super::wire::{Reader, VERSION, Wire};
use thiserror::Error;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::occurrence::Reason;

/// What a child is to be.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The launch text of its element.
    pub transform: String,
    /// The name of that.
    pub name: &'static str,
    /// The program.
    pub program: String,
    /// How long it may take, in nanoseconds.
    pub time_limit: u64,
    /// The most address space.
    pub max_memory: u64,
}

/// An error of a child's element, as the child told it.
#[derive(Clone, Debug, Error)]
#[error("{0}")]
pub struct Told(String);

/// What went wrong, with the name of the element.
#[derive(Clone, Debug, Error)]
#[error("{name}: {error}")]
pub struct Lost {
    name: &'static str,
    error: ChildError,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The child is of no use any more; it is ended.
    Lost(ChildError),
    /// Its element refused or failed; the child goes on.
    Refused(Failure),
}

impl Fault {
    /// An answer that cannot be.
    pub fn garbled(what: impl core::fmt::Display) -> Fault {
        let what = what.to_string();
        Fault::Lost(ChildError::Garbled { what })
    }
}

/// The line to a child.
#[derive(Debug)]
pub struct Link {
    /// What its children are.
    pub terms: Terms,
    /// The present one, unless it is lost.
    child: Option<Child>,
    /// Why there is none.
    lost: Option<ChildError>,
    /// The caps that were agreed last.
    caps: Option<PadTexts>,
    /// The state of the element after the last answer.
    pub state: Vec<Shown>,
    out: Vec<u8>,
    answer: Vec<u8>,
}

impl Link {
    /// Starts a child.
    ///
    /// # Errors
    /// Why there is none.
    pub fn open(terms: Terms) -> Result<Link, ElementError> {
        let mut link = Link {
            terms,
            child: None,
            lost: None,
            caps: None,
            state: Vec::new(),
            out: Vec::new(),
            answer: Vec::new(),
        };
        match link.start() {
            Ok(()) => Ok(link),
            Err(fault) => Err(link.error(fault)),
        }
    }

    /// Starts a child and brings it to where the last one was, its element's state excepted.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn start(&mut self) -> Result<(), Fault> {
        self.child = None;
        self.lost = None;
        let child = Child::start(&self.terms.program);
        self.child = Some(child.map_err(|error| self.lose(Fault::Lost(error)))?);
        let setup = Setup {
            version: VERSION,
            transform: self.terms.transform.clone(),
            max_memory: self.terms.max_memory,
        };
        match self.ask(&Request::Setup(setup))? {
            Reply::Ready(VERSION) => {}
            Reply::Ready(other) => {
                let what = format!("it speaks version {other} of the messages, and not {VERSION}");
                return Err(self.lose(Fault::garbled(what)));
            }
            other => return Err(self.lose(Fault::garbled(format!("{other:?} to its setup")))),
        }
        match self.caps.clone() {
            Some(caps) => self.done(&Request::Caps(caps)),
            None => Ok(()),
        }
    }

    /// Agrees on caps, with this child and those after it.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn set_caps(&mut self, caps: PadTexts) -> Result<(), Fault> {
        self.caps = Some(caps.clone());
        self.done(&Request::Caps(caps))
    }

    /// Asks for what has no answer but that it was done.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn done(&mut self, request: &Request) -> Result<(), Fault> {
        match self.ask(request)? {
            Reply::Done => Ok(()),
            _ => Err(self.lose(Fault::garbled("it is the answer to another question"))),
        }
    }

    /// Asks a child.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn ask(&mut self, request: &Request) -> Result<Reply, Fault> {
        self.out.clear();
        request.put(&mut self.out);
        let limit = self.terms.time_limit;
        let asked = match &mut self.child {
            Some(child) => child.ask(&self.out, &mut self.answer, limit),
            None => Err(self.lost.clone().unwrap_or_else(|| ChildError::Garbled {
                what: "there is no child".to_owned(),
            })),
        };
        asked.map_err(|e| self.lose(Fault::Lost(e)))?;
        let mut reader = Reader::new(&self.answer);
        let replied = Replied::get(&mut reader).and_then(|r| reader.end().map(|()| r));
        let replied = replied.map_err(|e| self.lose(Fault::garbled(e)))?;
        self.state = replied.state;
        match replied.reply {
            Reply::Failed(failure) => Err(Fault::Refused(failure)),
            reply => Ok(reply),
        }
    }

    /// Writes into the shared memory.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        let child = self.child.as_ref();
        let written = child.map_or(Ok(()), |c| c.shared.write(at, bytes));
        written.map_err(|e| {
            self.lose(Fault::Lost(ChildError::system(
                "cannot write shared memory",
                &e,
            )))
        })
    }

    /// Reads from it.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        let child = self.child.as_ref();
        let read = child.map_or(Ok(()), |c| c.shared.read(at, bytes));
        read.map_err(|e| {
            self.lose(Fault::Lost(ChildError::system(
                "cannot read shared memory",
                &e,
            )))
        })
    }

    /// Whether there is a child.
    pub fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// Ends the child, and gives back why.
    pub fn lose(&mut self, fault: Fault) -> Fault {
        self.child = None;
        if let Fault::Lost(error) = &fault {
            self.lost.get_or_insert_with(|| error.clone());
        }
        fault
    }

    /// What went wrong, as the element's error.
    pub fn error(&self, fault: Fault) -> ElementError {
        let error = match fault {
            Fault::Refused(f) => return ElementError::new(f.domain, f.code, Told(f.text)),
            Fault::Lost(error) => error,
        };
        let code = match &error {
            ChildError::Start { missing: true, .. } => Code::NotFound,
            ChildError::Start { .. } => Code::Open,
            ChildError::Recursion => Code::Unsupported,
            ChildError::Ended(_) => Code::Crashed,
            ChildError::Hung { .. } => Code::Hung,
            ChildError::Garbled { .. } => Code::Garbled,
            ChildError::System { .. } => Code::Failed,
        };
        let name = self.terms.name;
        ElementError::new(Domain::Resource, code, Lost { name, error })
    }
}

/// Why a buffer was given up, as it is counted.
pub fn reason(fault: &Fault) -> Reason {
    match fault {
        Fault::Lost(ChildError::Hung { .. }) => Reason::Hung,
        Fault::Lost(ChildError::Garbled { .. }) => Reason::Garbled,
        _ => Reason::Crashed,
    }
}
