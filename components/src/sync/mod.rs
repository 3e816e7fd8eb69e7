//! Frame synchronisation: which frames of several inputs go together.
//!
//! A *set* is one output: per input the frame that it shows at that time, or nothing. The rules are
//! those of FFmpeg's framesync, for any number of inputs: [`SyncTerms`] say what inputs ask for and what
//! options make of that, [`Synchroniser`] makes the sets. A set is made only once every input's next
//! frame, or its end, is known, or promised to be of no matter, so the order of arrival never matters.
//!
//! | input | shows |
//! |---|---|
//! | before its first frame | nothing, its first frame, or there is no output ([`Extend`]) |
//! | then | its last frame at or before the time, or the nearest ([`TsSyncMode`]) |
//! | after its last frame | nothing, its last frame, or the output ends |
//!
//! A set is made where an input of the highest level among those that go on gets a new frame.

mod input;
mod rules;
mod set;
mod synchroniser;
#[cfg(test)]
mod tests;

pub use input::{Phase, SyncInput};
pub use rules::{
    EofAction, Extend, OutBase, SyncOptions, SyncRule, SyncTerms, TsSyncMode, UnknownWord, Untimed,
};
pub use set::{Shown, SyncFrame, SyncRecord, SyncSet};
pub use synchroniser::Synchroniser;

use crate::time::TimeBase;

/// What stands next on an input and was not taken yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upcoming {
    /// Nothing, as far as is known.
    #[default]
    Unknown,
    /// A frame with this time.
    Frame(Option<i64>, TimeBase),
    /// Its end.
    End,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncStep {
    /// A set was added to [`Synchroniser::sets`].
    Set,
    /// This input's next frame or end must be known first.
    Wait(usize),
    /// No further set.
    End,
}

/// Why a synchroniser cannot work, or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    /// Nothing could ever make output.
    #[error("no time base: no input has a sync level")]
    NoLevel,
    /// Rules and inputs do not match.
    #[error("{inputs} inputs, and rules for {rules}")]
    Inputs {
        /// How many rules.
        rules: usize,
        /// How many inputs.
        inputs: usize,
    },
    /// No time at all.
    #[error("frame {index} of input {input} has no time")]
    NoTime {
        /// The input.
        input: usize,
        /// The how-manyth frame of it.
        index: u64,
    },
    /// A time that the time base cannot hold.
    #[error("frame {index} of input {input}: time {pts} does not fit time base {time_base}")]
    TooFar {
        /// The input.
        input: usize,
        /// The how-manyth frame of it.
        index: u64,
        /// Its time in its own time base.
        pts: i64,
        /// The time base that it was to be stated in.
        time_base: TimeBase,
    },
    /// An input is over while others go on, where that is not allowed.
    #[error(
        "input {input} ended after {frames} frames, and others go on at {time} in units of {time_base} s"
    )]
    EndedEarly {
        /// The input.
        input: usize,
        /// How many frames it had.
        frames: u64,
        /// The time of the frame that it has no match for, in the common time base.
        time: i64,
        /// The common time base.
        time_base: TimeBase,
    },
}
