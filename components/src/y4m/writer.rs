//! Writing frames: a `FRAME` line and packed rows, never padding. No I/O: bytes go to a slice or
//! come as pieces that a sink writes in turn.

use crate::video::Frame;

use super::frame_line::FrameInterlacing;

/// The pieces of a frame's payload in file order, to be written one after the other: a whole plane
/// where it has no padding, else row by row. Their lengths add up to `Layout::visible_bytes`.
pub fn payload<'a>(frame: &Frame<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    frame.planes().flat_map(|plane| {
        let tight = plane.layout().stride() == plane.layout().row_bytes();
        let whole = tight.then(|| plane.data());
        let rows = (!tight).then(|| plane.rows());
        whole.into_iter().chain(rows.into_iter().flatten())
    })
}

/// The `FRAME` line with the frame's interlacing, which an `Im` stream needs; without parameters
/// it is [`FRAME_LINE`](super::FRAME_LINE).
pub fn frame_line(interlacing: FrameInterlacing) -> [u8; 11] {
    let [x, y, z] = interlacing.letters();
    [b'F', b'R', b'A', b'M', b'E', b' ', b'I', x, y, z, b'\n']
}

/// Bytes that [`write_frame`] needs for a frame.
pub fn frame_len(line: &[u8], frame: &Frame<'_>) -> usize {
    line.len() + frame.layout().visible_bytes()
}

/// `out` is shorter than the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a Y4M frame of {need} bytes does not fit in {got} bytes")]
pub struct TooShort {
    /// Bytes that the frame needs, its line included.
    pub need: usize,
    /// Bytes given.
    pub got: usize,
}

/// Writes `line` and the frame's packed rows to the start of `out`; returns the bytes written.
///
/// # Errors
/// [`TooShort`]; nothing is written then.
pub fn write_frame(line: &[u8], frame: &Frame<'_>, out: &mut [u8]) -> Result<usize, TooShort> {
    let need = frame_len(line, frame);
    let got = out.len();
    let mut rest = out.get_mut(..need).ok_or(TooShort { need, got })?;
    for piece in std::iter::once(line).chain(payload(frame)) {
        let (target, tail) = rest
            .split_at_mut_checked(piece.len())
            .ok_or(TooShort { need, got })?;
        target.copy_from_slice(piece);
        rest = tail;
    }
    Ok(need)
}
