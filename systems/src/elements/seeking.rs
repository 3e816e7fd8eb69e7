//! Where a seek leads in a stream of frames of one length. Pure arithmetic.

use thiserror::Error;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::seek::{Seek, SeekFormat};
use tickpipe_components::time::{Rate, Rounding, TimeBase};

/// Why a stream of frames cannot go there.
#[derive(Debug, Error)]
pub(super) enum FrameSeekError {
    #[error("its frames have no length, so that no time is known of them")]
    NoRate,
    #[error("time {0} is beyond what its frames can count")]
    TooFar(i64),
    #[error("it counts frames and times, not bytes")]
    Bytes,
    #[error("it plays at rate 1/1 only, not at {0}")]
    Rate(Rate),
}

impl From<FrameSeekError> for ElementError {
    fn from(error: FrameSeekError) -> ElementError {
        ElementError::new(Domain::Flow, Code::Unsupported, error)
    }
}

/// The first frame that a seek plays, the one that is shown at its start; and the first that it does
/// not play any more. `base` is the length of a frame.
///
/// # Errors
/// [`FrameSeekError`].
pub(super) fn frames_of(
    seek: &Seek,
    base: Option<TimeBase>,
) -> Result<(i64, Option<i64>), FrameSeekError> {
    if seek.rate != Rate::ONE {
        return Err(FrameSeekError::Rate(seek.rate));
    }
    match seek.format {
        SeekFormat::Frames => Ok((seek.start, seek.stop)),
        SeekFormat::Bytes => Err(FrameSeekError::Bytes),
        SeekFormat::Time(unit) => {
            let base = base.ok_or(FrameSeekError::NoRate)?;
            let frame = |time, rounding| {
                let frame = unit.convert(time, base, rounding);
                frame.ok_or(FrameSeekError::TooFar(time))
            };
            let start = frame(seek.start, Rounding::Down)?;
            let stop = seek
                .stop
                .map(|stop| frame(stop, Rounding::Up))
                .transpose()?;
            Ok((start, stop))
        }
    }
}
