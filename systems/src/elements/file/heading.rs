//! What planning learns of a stream: what its first bytes say, and how large its frames may be. Pure, but
//! for the bytes that it asks for.

use super::parse_error::truncated;
use crate::element::{Buffers, CapsQuery, PadCapsOf, PeekError, Proposal};
use tickpipe_components::caps::{Caps, Fraction, Structure, ValueSet};
use tickpipe_components::cut::{Cut, CutError, Cutter, Split};
use tickpipe_components::fault::ElementError;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::BLOCK;

/// Least bytes of a buffer for frames whose sizes nothing says.
const LEAST: u64 = 256 << 10;
/// Most bytes of such a buffer, unless they are asked for.
const MOST: u64 = 32 << 20;
/// Bytes of such a buffer, at half a byte a pixel, where the picture's size is not known either.
const UNKNOWN: u64 = 340 << 10;

/// What was found at the head of a stream.
pub(super) enum Head<'a, S: Split> {
    /// Something other than a frame.
    Part(&'a S::Part),
    /// A frame.
    Frame(&'a S::Info),
    /// Nothing new.
    Nothing,
}

/// Reads the head of the stream, at most `most` bytes, until `look` finds what it looks for. `None` if it
/// is known only by a run: nobody upstream is a source of bytes, or there are more before it.
///
/// # Errors
/// Why the head cannot be read, or that the stream ends within it.
pub(super) fn read_head<S: Split, T>(
    query: &CapsQuery<'_>,
    split: S,
    most: usize,
    failed: impl Fn(S::Error) -> ElementError,
    mut look: impl FnMut(&S, Head<'_, S>) -> Option<T>,
) -> Result<Option<T>, ElementError> {
    let peeked = match (query.peek)(most) {
        Ok(peeked) => peeked,
        Err(PeekError::Failed(error)) => return Err(error),
        Err(PeekError::NotBytes(_)) => return Ok(None),
    };
    let mut cutter = Cutter::new(split, most);
    let mut rest = &peeked.bytes[..];
    let mut last = false;
    loop {
        let cut = match last {
            true => cutter.last().map(|cut| (0, cut)),
            false => cutter.next(rest),
        };
        let (mut part, mut frame) = (None, None);
        let used = match cut {
            Ok((used, cut)) => {
                match cut {
                    Cut::Part { part: found, .. } => part = Some(found),
                    Cut::Frame { info, .. } => frame = Some(info),
                    Cut::Junk(_) => {}
                    Cut::NeedInput => last = true,
                    Cut::Rest(rest) => return Err(truncated(rest)),
                    Cut::End => return Ok(None),
                }
                used
            }
            Err(CutError::Format(error)) => return Err(failed(error)),
            Err(_) => return Ok(None),
        };
        rest = rest.get(used..).unwrap_or_default();
        let head = match (&part, &frame) {
            (Some(part), _) => Head::Part(part),
            (None, Some(info)) => Head::Frame(info),
            (None, None) => Head::Nothing,
        };
        if let Some(found) = look(cutter.split(), head) {
            return Ok(Some(found));
        }
        if last && !peeked.whole {
            return Ok(None);
        }
    }
}

/// The caps of a template: of each media type with a size, and a rate, of any value. What has none of
/// these fields in common cannot be linked.
pub(super) fn sized(media: &[&str]) -> Caps {
    let side = || ValueSet::int_range(1, u16::MAX.into(), 1).unwrap_or(ValueSet::int(1));
    let rates = Fraction::new(0, 1)
        .zip(Fraction::new(i32::MAX, 1))
        .and_then(|(low, high)| ValueSet::fraction_range(low, high).ok());
    let mut caps = Caps::empty();
    for media in media {
        let mut structure = Structure::new(media)
            .with("width", side())
            .with("height", side());
        if let Some(rates) = &rates {
            structure = structure.with("framerate", rates.clone());
        }
        // There are fewer than a list of caps holds.
        let _ = caps.push(structure);
    }
    caps
}

/// What a pad can have where only the run knows it: a media type of its template, and any fields.
pub(super) fn open(template: &Caps, index: u32) -> Option<Structure> {
    let structure = template.structures().get(index as usize)?;
    Some(Structure::new(structure.media()))
}

/// A number that is not negative, of caps.
pub(super) fn number(caps: &Structure, name: &str) -> Option<u64> {
    caps.int(name).and_then(|number| u64::try_from(number).ok())
}

/// A rate as caps have it.
pub(super) fn framerate(num: u32, den: u32) -> Option<ValueSet> {
    let rate = Fraction::from_i64(num.into(), den.into())?;
    Some(ValueSet::from(rate))
}

/// Bytes of a buffer for a frame of compressed video: as many as are asked for; else as many as the picture
/// has at so many half bytes a pixel, within bounds.
pub(super) fn frame_bytes(asked: u32, caps: Option<&Structure>, halves: u64) -> usize {
    let side = |name| caps.and_then(|caps| number(caps, name));
    let picture = side("width").zip(side("height"));
    let picture = picture.filter(|(width, height)| width * height > 0);
    let bytes = match (asked, picture) {
        (0, Some((width, height))) => {
            let pixels = width.saturating_mul(height);
            (pixels.saturating_mul(halves) / 2).clamp(LEAST, MOST)
        }
        (0, None) => (UNKNOWN * halves).min(MOST),
        (asked, _) => asked.into(),
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The blocks that a parser would like to be sent.
pub(super) fn blocks() -> Proposal {
    Proposal::from(PoolConfig {
        size: BLOCK,
        ..PoolConfig::default()
    })
}

/// A pool of buffers of so many bytes that suits downstream too.
pub(super) fn pool_of(bytes: usize, downstream: PoolConfig) -> Buffers {
    let own = PoolConfig {
        size: bytes.max(1),
        ..PoolConfig::default()
    };
    Buffers::Own(own.merge(downstream))
}

/// Blocks of `bytes` that hold so many frames, behind a head: what comes in before the last of them goes.
pub(super) fn blocks_for(outputs: u64, frame: usize, head: usize, bytes: usize) -> Option<u64> {
    let all = outputs.saturating_mul(frame as u64);
    let all = all.saturating_add(head as u64);
    Some(all.div_ceil(bytes.max(1) as u64).saturating_add(1))
}

/// Bytes that a parser keeps: of a frame, and what it pulls.
pub(super) fn kept(frame: usize, pads: &PadCapsOf) -> u64 {
    super::pulling::Pulling::memory(pads).saturating_add(frame as u64)
}
