//! What is wrong with a stream, whatever its format, and how that is told. It touches the lane that tells.

use crate::element::Process;
use thiserror::Error;
use tickpipe_components::cut::{Span, Truncated};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::time::TimeBase;

/// Junk and such of which each is told; the rest of a stream's is counted only.
pub(super) const TOLD: u64 = 64;

/// What is wrong with a stream, whatever its format.
#[derive(Debug, Error)]
pub(super) enum ParseError {
    /// A frame does not fit into a buffer.
    #[error(
        "{what} at byte {offset} takes {}{size} bytes, and a buffer has {limit}: the property frame-bytes \
         says how many it has",
        if *.exact { "" } else { "at least " }
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Bytes of it.
        size: u64,
        /// Whether it has no more.
        exact: bool,
        /// Bytes of a buffer.
        limit: u64,
    },
    /// What was discarded on the way cannot be done without.
    #[error("bytes {from} to {} were discarded on the way: {why}", told(.to))]
    Lost {
        /// Where they begin.
        from: u64,
        /// Where the next byte stands.
        to: Option<u64>,
        /// Why it cannot go on.
        why: &'static str,
    },
    /// There is nothing of the kind.
    #[error("no {what} in {bytes} bytes")]
    Nothing {
        /// What there should be.
        what: &'static str,
        /// Bytes that came.
        bytes: u64,
    },
}

fn told(to: &Option<u64>) -> String {
    to.map_or_else(|| "somewhere".to_owned(), |to| to.to_string())
}

impl From<ParseError> for ElementError {
    fn from(error: ParseError) -> ElementError {
        let (domain, code) = match error {
            ParseError::TooLarge { .. } => (Domain::Pool, Code::Limit),
            ParseError::Lost { .. } => (Domain::Stream, Code::Damaged),
            ParseError::Nothing { .. } => (Domain::Stream, Code::Empty),
        };
        ElementError::new(domain, code, error)
    }
}

/// A stream that ends within something.
pub(super) fn truncated(rest: Truncated) -> ElementError {
    ElementError::new(Domain::Stream, Code::Truncated, rest)
}

/// Tells, or only counts, bytes of a stream that are no frame.
pub(super) fn tell_bytes(process: &mut Process<'_>, reason: Reason, span: Span, tells: bool) {
    let Span { offset, len } = span;
    if !tells {
        process.tally(reason, Deed::Dropped, 1);
        return;
    }
    process.say(format_args!(
        "{reason}: {len} bytes at byte {offset} are passed over"
    ));
    process.tell(Occurrence {
        reason,
        deed: Deed::Dropped,
        index: offset,
        value: i64::try_from(len).ok(),
        time_base: TimeBase::default(),
    });
}
