//! Failures of files: the path, what was done, and what the system said.

use std::io::{Error, ErrorKind};
use thiserror::Error;
use tickpipe_components::fault::{Code, Domain, ElementError};

/// What went wrong with a file.
#[derive(Debug, Error)]
pub(super) enum FileError {
    /// The property `location` is not set.
    #[error("property location is not set")]
    NoLocation,
    /// It is a folder.
    #[error("`{0}` is a folder, not a file")]
    Folder(String),
    /// The system refused.
    #[error("cannot {verb} `{path}`: {error}")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The path.
        path: String,
        /// What the system said.
        error: Error,
    },
    /// Another element, or another program, works with it.
    #[error("`{0}` is being read or written already: writing it would destroy it")]
    InUse(String),
    /// Its header can be read only by the run itself.
    #[error("`{0}` is no regular file: its first bytes are known only when it runs")]
    NotRegular(String),
    /// It cannot be read from elsewhere.
    #[error("`{location}` is no regular file: it can only be read on")]
    NotSeekable {
        /// The path.
        location: String,
    },
    /// It counts bytes.
    #[error("a file goes to a byte, at rate 1/1")]
    BytesOnly,
    /// It ends before.
    #[error("byte {byte} lies behind the end of `{location}`, which has {len}")]
    Beyond {
        /// The path.
        location: String,
        /// Where it was to go on.
        byte: u64,
        /// How many it has.
        len: u64,
    },
}

impl FileError {
    pub(super) fn io(verb: &'static str, path: &str, error: Error) -> ElementError {
        FileError::Io {
            verb,
            path: path.to_owned(),
            error,
        }
        .into()
    }
}

impl From<FileError> for ElementError {
    fn from(error: FileError) -> ElementError {
        let code = match &error {
            FileError::NoLocation => Code::Settings,
            FileError::Folder(_) => Code::WrongKind,
            FileError::NotRegular(_) | FileError::NotSeekable { .. } | FileError::BytesOnly => {
                Code::Unsupported
            }
            FileError::Beyond { .. } => Code::Refused,
            FileError::InUse(_) => Code::Refused,
            FileError::Io { error, verb, .. } => match (error.kind(), *verb) {
                (ErrorKind::NotFound, _) => Code::NotFound,
                (ErrorKind::BrokenPipe, _) => Code::Closed,
                (ErrorKind::IsADirectory, _) => Code::WrongKind,
                (_, "read") => Code::Read,
                (_, "write") => Code::Write,
                _ => Code::Open,
            },
        };
        ElementError::new(Domain::Resource, code, error)
    }
}
