//! Where `FRAME` markers would stand if the header named other planes, or if the writer had one of
//! two known faults: a hint for a file whose frames are not what its header says. Sees every byte
//! once; allocates when it is made, not per frame.

use std::fmt;

use crate::video::Layout;

use super::info::format_of;
use super::tags::{ChromaTag, Planes};

/// The marker with the byte after it.
const MARKER_BYTES: usize = 6;

/// Whether six bytes are `FRAME` and a byte that may follow it.
pub(super) fn is_marker(bytes: &[u8]) -> bool {
    matches!(bytes, [b'F', b'R', b'A', b'M', b'E', b' ' | b'\n' | b'\r'])
}

/// What the frames of a file may really be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fit {
    /// Frames of another tag.
    Tag(ChromaTag),
    /// Frames of the tag in the header, with rows padded as in memory: what GStreamer 1.22's
    /// `y4menc` writes at sizes where its default layout has padding (seen with `videotestsrc`).
    PaddedRows(ChromaTag),
    /// Frames of the tag in the header, with each chroma row a byte short: what FFmpeg 5.1 writes
    /// at odd widths and more than 8 bits.
    ShortChromaRows(ChromaTag),
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fit::Tag(tag) => write!(f, "{tag}"),
            Fit::PaddedRows(tag) => {
                write!(f, "{tag} with padded rows (as GStreamer 1.22 writes it)")
            }
            Fit::ShortChromaRows(tag) => write!(
                f,
                "{tag} with chroma rows a byte short (as FFmpeg 5.1 writes it at odd widths)"
            ),
        }
    }
}

/// What fits a file better than its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpacingHint {
    /// What has frames of the size found, the likeliest first; tags of equal planes once, and
    /// those without a raw format only if there is nothing else.
    pub fits: Vec<Fit>,
    /// Whether a second `FRAME` marker was found at that distance; if not, the file ends there.
    pub by_marker: bool,
}

impl fmt::Display for SpacingHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.by_marker {
            "the spacing of FRAME markers fits"
        } else {
            "the length of the file fits"
        })?;
        for (i, fit) in self.fits.iter().enumerate() {
            write!(f, "{} {fit}", if i > 0 { " or" } else { "" })?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct Candidate {
    payload: u64,
    fit: Fit,
}

fn likely<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Vec<Fit> {
    let mut fits: Vec<Fit> = candidates.map(|c| c.fit).collect();
    let good = |fit: &Fit| !matches!(fit, Fit::Tag(tag) if !tag.is_supported());
    if fits.iter().any(good) {
        fits.retain(good);
    }
    fits
}

/// Frame sizes of the two known faults of writers.
fn faults(declared: ChromaTag, width: u32, height: u32) -> Vec<Candidate> {
    let mut faults = Vec::new();
    let padded = format_of(declared).and_then(|f| Layout::gstreamer(f, width, height).ok());
    if let Some(layout) = padded {
        faults.push(Candidate {
            payload: layout.size() as u64,
            fit: Fit::PaddedRows(declared),
        });
    }
    if declared.bits() > 8
        && width % 2 == 1
        && matches!(declared.sampling().divisors(), Some((2, _)))
    {
        let planes = declared.planes(width, height);
        let chroma_rows: usize = planes.as_slice().iter().skip(1).map(|p| p.rows).sum();
        faults.push(Candidate {
            payload: planes.bytes() - chroma_rows as u64,
            fit: Fit::ShortChromaRows(declared),
        });
    }
    faults
}

/// Watches the bytes from the first payload byte of frame 0 on.
#[derive(Clone, Debug)]
pub(super) struct SpacingProbe {
    /// Sorted by payload size, ties in order of preference.
    candidates: Vec<Candidate>,
    next: usize,
    seen: u64,
    /// The last bytes seen, the newest at the end.
    tail: [u8; MARKER_BYTES],
    fits: Vec<Fit>,
}

impl SpacingProbe {
    /// Candidates are the known faults and all known tags whose frames differ in size from those
    /// that the header declares.
    pub(super) fn new(declared: ChromaTag, width: u32, height: u32) -> SpacingProbe {
        let bytes = declared.planes(width, height).bytes();
        let mut candidates = faults(declared, width, height);
        candidates.retain(|c| c.payload != bytes);
        let mut planes: Vec<Planes> = Vec::new();
        for tag in ChromaTag::known() {
            let p = tag.planes(width, height);
            if p.bytes() != bytes && !planes.contains(&p) {
                planes.push(p);
                candidates.push(Candidate {
                    payload: p.bytes(),
                    fit: Fit::Tag(tag),
                });
            }
        }
        candidates.sort_by_key(|c| c.payload);
        SpacingProbe {
            candidates,
            next: 0,
            seen: 0,
            tail: [0; MARKER_BYTES],
            fits: Vec::new(),
        }
    }

    /// Whether more bytes could change the answer.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.candidates.len()
    }

    /// Takes in the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        while let Some(c) = self.candidates.get(self.next) {
            let end = c.payload + MARKER_BYTES as u64;
            if end > self.seen + bytes.len() as u64 {
                break;
            }
            if self
                .window(end, bytes)
                .is_some_and(|window| is_marker(&window))
            {
                let payload = c.payload;
                let group = self.candidates.iter().skip(self.next);
                self.fits = likely(group.take_while(|c| c.payload == payload));
                self.next = self.candidates.len();
            } else {
                self.next += 1;
            }
        }
        self.seen += bytes.len() as u64;
        let new = bytes.len().min(MARKER_BYTES);
        self.tail.rotate_left(new);
        let fresh = self.tail.iter_mut().rev().zip(bytes.iter().rev());
        for (slot, byte) in fresh {
            *slot = *byte;
        }
    }

    /// The six bytes before position `end`, the last of which lies in `bytes` or just before it.
    fn window(&self, end: u64, bytes: &[u8]) -> Option<[u8; MARKER_BYTES]> {
        let new = usize::try_from(end.checked_sub(self.seen)?).ok()?;
        let mut window = self.tail;
        let take = new.min(MARKER_BYTES);
        window.rotate_left(take);
        let fresh = bytes.get(new - take..new)?;
        for (slot, byte) in window.iter_mut().rev().zip(fresh.iter().rev()) {
            *slot = *byte;
        }
        Some(window)
    }

    /// The answer when no more bytes come (`at_end`), or when enough were seen.
    pub(super) fn hint(&self, at_end: bool) -> Option<SpacingHint> {
        if !self.fits.is_empty() {
            return Some(SpacingHint {
                fits: self.fits.clone(),
                by_marker: true,
            });
        }
        let fits = likely(self.candidates.iter().filter(|c| c.payload == self.seen));
        (at_end && !fits.is_empty()).then_some(SpacingHint {
            fits,
            by_marker: false,
        })
    }
}
