//! Where a seek leads in an AVI file that is read by position. Pure.

use super::avi_caps::tick_of;
use thiserror::Error;
use tickpipe_components::avi::{Kind, Movie, Stream};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::seek::{Seek, SeekFormat};
use tickpipe_components::time::{Rate, Rounding, Segment, TimeBase};

/// Why it cannot go there.
#[derive(Debug, Error)]
pub(super) enum AviSeekError {
    /// It is sent its bytes.
    #[error(
        "where frames of AVI stand is known only where a file is read by position, and its bytes are sent"
    )]
    Sent,
    /// It knows frames and times.
    #[error("it counts frames and times, not bytes")]
    Bytes,
    /// It plays as it is.
    #[error("it plays at rate 1/1 only, not at {0}")]
    Rate(Rate),
    /// No time is known.
    #[error("no stream says how long a tick is, so that no time is known")]
    NoRate,
    /// A time that is none.
    #[error("frame {0} is beyond what times can count")]
    TooFar(i64),
    /// It is over before.
    #[error("it would begin at {0} ns, which lies behind the end at {1} ns")]
    Beyond(i64, i64),
}

impl From<AviSeekError> for ElementError {
    fn from(error: AviSeekError) -> ElementError {
        let code = match &error {
            AviSeekError::Beyond(..) => Code::Refused,
            _ => Code::Unsupported,
        };
        ElementError::new(Domain::Flow, code, error)
    }
}

/// A stretch of time that is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Its start.
    pub start: i64,
    /// The first time that is not played any more.
    pub stop: Option<i64>,
    /// The unit of both.
    pub base: TimeBase,
}

impl Stretch {
    /// Of a seek; frames are those of the first stream of pictures, or of the first stream of all.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(seek: &Seek, movie: &Movie) -> Result<Stretch, AviSeekError> {
        if seek.rate != Rate::ONE {
            return Err(AviSeekError::Rate(seek.rate));
        }
        let stretch = match seek.format {
            SeekFormat::Bytes => return Err(AviSeekError::Bytes),
            SeekFormat::Time(base) => Stretch {
                start: seek.start,
                stop: seek.stop,
                base,
            },
            SeekFormat::Frames => frames(seek, movie)?,
        };
        let nanoseconds = |time| {
            let time = stretch
                .base
                .convert(time, TimeBase::NANOSECONDS, Rounding::Down);
            time.ok_or(AviSeekError::TooFar(seek.start))
        };
        let (start, end) = (nanoseconds(stretch.start)?, end_of(movie));
        match start > end {
            true => Err(AviSeekError::Beyond(start, end)),
            false => Ok(stretch),
        }
    }

    /// As a segment.
    pub(super) fn segment(&self, seek: &Seek) -> Segment {
        Segment {
            start: self.start,
            stop: self.stop,
            time: self.start,
            rate: seek.rate,
            base: 0,
            time_base: self.base,
        }
    }

    /// Which frames of a stream are played, as places in its list: from where it can be decoded, up to
    /// its stop.
    pub(super) fn places(&self, movie: &Movie, stream: u16) -> (usize, usize) {
        let list = movie.of_stream(stream);
        let said = movie.header.streams.get(usize::from(stream));
        let Some((said, tick)) = said.and_then(|said| Some((said, tick_of(said)?))) else {
            return (0, list.len());
        };
        let ticks = |time, rounding| {
            let ticks = self.base.convert(time, tick, rounding).unwrap_or(i64::MAX);
            u64::try_from(ticks).unwrap_or(0)
        };
        let stop = self.stop.map(|stop| ticks(stop, Rounding::Up));
        let stop = stop.map_or(list.len(), |stop| {
            list.partition_point(|at| time_of(movie, *at).is_some_and(|time| time < stop))
        });
        let start = ticks(self.start, Rounding::Down);
        if start >= end_of_stream(movie, stream) {
            return (list.len(), stop);
        }
        let place = match said.kind {
            Kind::Video => movie.key_at(stream, start),
            _ => movie.at(stream, start),
        };
        let place = place.and_then(|place| u32::try_from(place).ok());
        let from = place.and_then(|place| list.binary_search(&place).ok());
        (from.unwrap_or(0), stop)
    }
}

fn time_of(movie: &Movie, at: u32) -> Option<u64> {
    movie.frames.get(at as usize).map(|frame| frame.info.time)
}

/// The stretch that begins with a frame.
fn frames(seek: &Seek, movie: &Movie) -> Result<Stretch, AviSeekError> {
    let streams = || (0u16..).zip(&movie.header.streams);
    let timed = |s: &(u16, &Stream)| tick_of(s.1).is_some();
    let pictures = streams().find(|s| s.1.kind == Kind::Video && timed(s));
    let (number, stream) = pictures
        .or_else(|| streams().find(timed))
        .ok_or(AviSeekError::NoRate)?;
    let base = tick_of(stream).ok_or(AviSeekError::NoRate)?;
    let list = movie.of_stream(number);
    let time = |frame: i64| {
        let at = usize::try_from(frame).unwrap_or(usize::MAX);
        let there = list.get(at).and_then(|at| time_of(movie, *at));
        // Behind the end each frame would last a tick.
        let behind = at.saturating_sub(list.len()) as u64;
        let time = there.unwrap_or_else(|| end_of_stream(movie, number).saturating_add(behind));
        i64::try_from(time).map_err(|_| AviSeekError::TooFar(frame))
    };
    Ok(Stretch {
        start: time(seek.start)?,
        stop: seek.stop.map(time).transpose()?,
        base,
    })
}

/// Where a stream ends, in its ticks.
fn end_of_stream(movie: &Movie, stream: u16) -> u64 {
    let last = movie.of_stream(stream).last();
    let last = last.and_then(|at| movie.frames.get(*at as usize));
    last.map_or(0, |frame| frame.info.time.saturating_add(frame.info.ticks))
}

/// Where the last of all streams ends, in nanoseconds.
pub(super) fn end_of(movie: &Movie) -> i64 {
    let ends = (0u16..)
        .zip(&movie.header.streams)
        .filter_map(|(number, stream)| {
            let end = i64::try_from(end_of_stream(movie, number)).ok()?;
            tick_of(stream)?.convert(end, TimeBase::NANOSECONDS, Rounding::Up)
        });
    ends.max().unwrap_or(0)
}
