//! Where a seek leads in an IVF file that is read by position. It reads heads of frames, and their first
//! bytes.

use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::cut::read_exact_at;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::ivf::{
    Entry, FRAME_HEAD_BYTES, Index, IndexError, KEY_BYTES, Rate, is_key,
};
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::{Seek, SeekFormat};
use tickpipe_components::time::{Rate as Speed, Rounding, Segment, TimeBase};

/// Most frames of a file that goes elsewhere.
const MOST_FRAMES: usize = 1 << 22;

/// Why it cannot go there.
#[derive(Debug, Error)]
pub(super) enum IvfSeekError {
    /// It is sent its bytes.
    #[error(
        "where frames of IVF stand is known only where a file is read by position, and its bytes are sent"
    )]
    Sent,
    /// It knows frames and times.
    #[error("it counts frames and times, not bytes")]
    Bytes,
    /// It plays as it is.
    #[error("it plays at rate 1/1 only, not at {0}")]
    Rate(Speed),
    /// No time is known.
    #[error("its header gives no length of a tick, so that no time is known of its frames")]
    NoRate,
    /// A time that is none.
    #[error("time {0} is beyond what its ticks can count")]
    TooFar(i64),
    /// It is over before.
    #[error("it would begin at {what} {at}, which lies behind the end at {end}")]
    Beyond {
        /// `frame` or `tick`.
        what: &'static str,
        /// Where it would begin.
        at: u64,
        /// Where it ends.
        end: u64,
    },
    /// Where frames are cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl From<IvfSeekError> for ElementError {
    fn from(error: IvfSeekError) -> ElementError {
        let code = match &error {
            IvfSeekError::Beyond { .. } => Code::Refused,
            IvfSeekError::Index(_) => Code::Damaged,
            _ => Code::Unsupported,
        };
        ElementError::new(Domain::Flow, code, error)
    }
}

/// Where each frame of a file is.
///
/// # Errors
/// [`IvfSeekError::Index`].
pub(super) fn index_of(bytes: &Arc<dyn Bytes>) -> Result<Index, IvfSeekError> {
    Ok(Index::build(&**bytes, MOST_FRAMES)?)
}

/// Where a seek leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The frame that is asked for, in the file's order.
    pub asked: u64,
    /// The one that it goes on with: it can be decoded without others.
    pub from: u64,
    /// The first that is not played any more.
    pub stop: Option<u64>,
    /// Where it begins.
    pub byte: u64,
}

impl Target {
    /// Of a seek in a file.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(
        seek: &Seek,
        index: &Index,
        bytes: &Arc<dyn Bytes>,
    ) -> Result<Target, IvfSeekError> {
        if seek.rate != Speed::ONE {
            return Err(IvfSeekError::Rate(seek.rate));
        }
        let count = index.frames.len() as u64;
        let (asked, stop) = match seek.format {
            SeekFormat::Bytes => return Err(IvfSeekError::Bytes),
            SeekFormat::Frames => {
                let start = seek.start.unsigned_abs();
                if start > count {
                    return Err(IvfSeekError::Beyond {
                        what: "frame",
                        at: start,
                        end: count,
                    });
                }
                (start, seek.stop.map(i64::unsigned_abs))
            }
            SeekFormat::Time(unit) => at_time(seek, index, unit)?,
        };
        let from = key_before(index, bytes, asked);
        let end = index
            .frames
            .last()
            .map_or(u64::from(index.header.bytes), |f| f.data.end());
        let begins = |entry: &Entry| entry.data.offset.saturating_sub(FRAME_HEAD_BYTES as u64);
        let byte = usize::try_from(from).ok();
        let byte = byte.and_then(|at| index.frames.get(at)).map_or(end, begins);
        Ok(Target {
            asked,
            from,
            stop,
            byte,
        })
    }
}

/// The frame that is shown at the start of a seek, and the first that begins at its stop or later.
fn at_time(seek: &Seek, index: &Index, unit: TimeBase) -> Result<(u64, Option<u64>), IvfSeekError> {
    let tick = tick_of(index).ok_or(IvfSeekError::NoRate)?;
    let ticks = |time: i64, rounding| {
        let ticks = unit.convert(time, tick, rounding);
        let ticks = ticks.and_then(|ticks| u64::try_from(ticks).ok());
        ticks.ok_or(IvfSeekError::TooFar(time))
    };
    let start = ticks(seek.start, Rounding::Down)?;
    let end = index.frames.iter().map(|f| f.pts).max();
    let end = end.map_or(0, |last| last.saturating_add(1));
    if start > end {
        return Err(IvfSeekError::Beyond {
            what: "tick",
            at: start,
            end,
        });
    }
    let asked = match start == end {
        true => index.frames.len(),
        false => index.at(start).unwrap_or(0),
    };
    let stop = match seek.stop {
        None => None,
        Some(stop) => {
            let stop = ticks(stop, Rounding::Up)?;
            let first = index.frames.iter().position(|f| f.pts >= stop);
            first.map(|at| at as u64)
        }
    };
    Ok((asked as u64, stop))
}

fn tick_of(index: &Index) -> Option<TimeBase> {
    let Rate { num, den } = index.header.rate?;
    TimeBase::new(den, num)
}

/// The last frame up to `asked` that can be decoded without others. Where that cannot be told of a codec,
/// the first frame of all.
fn key_before(index: &Index, bytes: &Arc<dyn Bytes>, asked: u64) -> u64 {
    let count = index.frames.len() as u64;
    if asked >= count {
        return asked;
    }
    let mut head = [0; KEY_BYTES];
    for at in (0..=asked).rev() {
        let entry = usize::try_from(at).ok().and_then(|at| index.frames.get(at));
        let Some(entry) = entry else { continue };
        let len = usize::try_from(entry.data.len).map_or(head.len(), |len| len.min(head.len()));
        let Some(first) = head.get_mut(..len) else {
            continue;
        };
        let read = read_exact_at(&**bytes, entry.data.offset, first);
        let first = first.get(..read.unwrap_or(0)).unwrap_or_default();
        // A frame without a byte shows the one before it again.
        if first.is_empty() {
            continue;
        }
        match is_key(index.header.fourcc, first) {
            Some(true) => return at,
            Some(false) => {}
            None => return 0,
        }
    }
    0
}

/// The segment that is played then: what was asked for, in its unit; of frames, their times.
pub(super) fn segment_of(seek: &Seek, index: &Index, target: &Target) -> Segment {
    let time = |frame: u64| {
        let frame = usize::try_from(frame).ok();
        let entry = frame.and_then(|at| index.frames.get(at));
        let last = || index.frames.last().map_or(0, |f| f.pts.saturating_add(1));
        i64::try_from(entry.map_or_else(last, |f| f.pts)).ok()
    };
    let of = |start, stop, time_base| Segment {
        start,
        stop,
        time: start,
        rate: seek.rate,
        base: 0,
        time_base,
    };
    match (seek.format, tick_of(index)) {
        (SeekFormat::Time(unit), _) => of(seek.start, seek.stop, unit),
        (_, Some(tick)) => {
            let start = time(target.asked).unwrap_or_default();
            of(start, target.stop.and_then(time), tick)
        }
        (_, None) => Segment::default(),
    }
}
