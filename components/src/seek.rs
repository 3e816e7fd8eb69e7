//! What is asked of a stream that goes on elsewhere, and what is asked about it. Plain data.

use crate::time::{Rate, TimeBase};

/// In what a position is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekFormat {
    /// In units of this time base, of stream time.
    Time(TimeBase),
    /// In frames, from 0.
    Frames,
    /// In bytes, from 0.
    Bytes,
}

/// A stream is to go on elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// In what `start` and `stop` are counted.
    pub format: SeekFormat,
    /// Where it goes on, at least 0.
    pub start: i64,
    /// Where it ends, if not at its own end: the first position that is not played any more.
    pub stop: Option<i64>,
    /// How fast and which way.
    pub rate: Rate,
    /// Whether what is under way is discarded. If not, the new part follows it.
    pub flush: bool,
}

impl Seek {
    /// To a stream time, discarding what is under way.
    pub fn time(start: i64, time_base: TimeBase) -> Seek {
        Seek {
            format: SeekFormat::Time(time_base),
            ..Seek::frame(start)
        }
    }

    /// To a frame, discarding what is under way.
    pub fn frame(start: i64) -> Seek {
        Seek {
            format: SeekFormat::Frames,
            start,
            stop: None,
            rate: Rate::ONE,
            flush: true,
        }
    }

    /// To a byte, discarding what is under way.
    pub fn byte(start: i64) -> Seek {
        Seek {
            format: SeekFormat::Bytes,
            ..Seek::frame(start)
        }
    }

    /// The same, ending before a position.
    #[must_use]
    pub fn until(self, stop: i64) -> Seek {
        Seek {
            stop: Some(stop),
            ..self
        }
    }

    /// The same, behind what is under way.
    #[must_use]
    pub fn without_flush(self) -> Seek {
        Seek {
            flush: false,
            ..self
        }
    }
}

/// Such as `frame 20 until 30`.
impl core::fmt::Display for Seek {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.format {
            SeekFormat::Frames => write!(f, "frame {}", self.start)?,
            SeekFormat::Bytes => write!(f, "byte {}", self.start)?,
            SeekFormat::Time(base) if base == TimeBase::NANOSECONDS => {
                write!(f, "{} ns", self.start)?;
            }
            SeekFormat::Time(base) => {
                write!(f, "time {} of {}/{} s", self.start, base.num(), base.den())?;
            }
        }
        match self.stop {
            Some(stop) => write!(f, " until {stop}"),
            None => Ok(()),
        }
    }
}

/// Something asked about a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// How long it is.
    Duration,
    /// Whether it can go on elsewhere.
    Seeking,
    /// Something that only those know who use it.
    Custom(String),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// So long, in units of a time base.
    Duration(i64, TimeBase),
    /// Whether it can.
    Seeking(bool),
    /// Something that only those know who use it.
    Custom(String),
}

/// What a flush does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// What is under way is discarded, and what comes is refused until the flush stops.
    Start,
    /// What comes is taken again.
    Stop,
    /// What is under way is discarded; what comes next is taken. Both in one.
    Discard,
    /// What is under way is discarded, and the end comes next: nothing can get between the two.
    DiscardAndEnd,
}
