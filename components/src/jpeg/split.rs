//! JPEG as a format to be cut: a walk from marker to marker that goes on where it stood.

use crate::cut::{Split, Step};

use super::Never;

/// How a frame is coded, from the kind of its SOF marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Process {
    /// SOF0.
    Baseline,
    /// SOF1.
    Extended,
    /// SOF2: several scans.
    Progressive,
    /// SOF3.
    Lossless,
    /// SOF5 to SOF15: arithmetic or hierarchical coding.
    Other,
}

/// What a SOF segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels in a row.
    pub width: u16,
    /// Rows; from a DNL segment where SOF leaves it open, 0 if there is none.
    pub height: u16,
    /// Number of components: 1 grey, 3 colour, 4 CMYK.
    pub components: u8,
    /// Bits of a sample.
    pub bits: u8,
    /// How it is coded.
    pub process: Process,
}

/// What is known of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameInfo {
    /// Its number, from 0.
    pub number: u64,
    /// The size of the picture; `None` if there is no SOF segment.
    pub size: Option<Size>,
    /// Number of scans (SOS segments).
    pub scans: u32,
    /// Bytes between segments that belong to none; 0 in a proper frame.
    pub extraneous: u64,
}

/// What there is besides frames and junk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The start of a frame without its end: another frame begins, or a segment makes no sense.
    Unfinished {
        /// Offset from its start of the marker that ended it: `FF D8`, or a segment with a length
        /// below 2.
        len: u64,
        /// That marker.
        marker: u8,
    },
}

/// Cuts a stream of JPEG frames.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    /// Within a frame: the place after what is understood, from the frame's start. 0: before one.
    at: usize,
    /// Whether entropy-coded data is at that place.
    coded: bool,
    info: FrameInfo,
    frames: u64,
}

const SOI: u8 = 0xD8;
const EOI: u8 = 0xD9;
const SOS: u8 = 0xDA;
const DNL: u8 = 0xDC;

impl Splitter {
    /// Before the first frame.
    pub fn new() -> Splitter {
        Splitter::default()
    }

    /// Before a frame, after so many.
    pub fn after(frames: u64) -> Splitter {
        Splitter {
            frames,
            ..Splitter::default()
        }
    }

    /// Frames told so far.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// The size of the picture whose frame is being read, as soon as it is known.
    pub const fn size(&self) -> Option<Size> {
        self.info.size
    }

    /// Before a frame: junk, or the frame's start.
    fn outside(window: &[u8], last: bool) -> Result<(), Step<FrameInfo, Part>> {
        let start = window.windows(2).position(|w| w == [0xFF, SOI]);
        match (start, window.last()) {
            (Some(0), _) => Ok(()),
            (Some(len), _) => Err(Step::Junk { len }),
            (None, Some(0xFF)) if !last => Err(match window.len() {
                1 => more(2),
                len => Step::Junk { len: len - 1 },
            }),
            (None, Some(_)) => Err(Step::Junk { len: window.len() }),
            (None, None) => Err(more(2)),
        }
    }

    /// Passes over bytes that are no marker; false if the window ends before one.
    fn seek_marker(&mut self, window: &[u8]) -> bool {
        while let Some(rest) = window.get(self.at..) {
            let passed = rest.iter().position(|b| *b == 0xFF).unwrap_or(rest.len());
            self.at += passed;
            self.stray(passed);
            // Behind the FF: fill, stuffing, restart, or a marker.
            match rest.get(passed + 1) {
                None => return false,
                Some(0xFF) => self.at += 1,
                Some(0) => {
                    self.at += 2;
                    self.stray(2);
                }
                Some(0x01 | 0xD0..=0xD7) => self.at += 2,
                Some(_) => return true,
            }
        }
        false
    }

    fn stray(&mut self, bytes: usize) {
        if !self.coded {
            self.info.extraneous += bytes as u64;
        }
    }

    fn reset(&mut self) -> FrameInfo {
        self.at = 0;
        self.coded = false;
        std::mem::take(&mut self.info)
    }

    fn unfinished(&mut self, marker: u8) -> Step<FrameInfo, Part> {
        let len = self.at as u64;
        self.reset();
        Step::Part {
            len,
            part: Part::Unfinished { len, marker },
        }
    }

    /// What a segment says; `body` is behind its length.
    fn segment(&mut self, marker: u8, body: &[u8]) {
        match marker {
            SOS => self.info.scans = self.info.scans.saturating_add(1),
            DNL => {
                if let (Some(size), Some(height)) = (&mut self.info.size, wide(body, 0))
                    && size.height == 0
                {
                    size.height = height;
                }
            }
            // C4 is a table, C8 reserved, CC a table.
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) && self.info.size.is_none() => {
                self.info.size = picture(marker, body);
            }
            _ => {}
        }
    }
}

/// The big-endian number at a place.
fn wide(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// What a SOF segment says.
fn picture(marker: u8, body: &[u8]) -> Option<Size> {
    Some(Size {
        bits: *body.first()?,
        height: wide(body, 1)?,
        width: wide(body, 3)?,
        components: *body.get(5)?,
        process: match marker {
            0xC0 => Process::Baseline,
            0xC1 => Process::Extended,
            0xC2 => Process::Progressive,
            0xC3 => Process::Lossless,
            _ => Process::Other,
        },
    })
}

fn more(need: usize) -> Step<FrameInfo, Part> {
    Step::More {
        need: need as u64,
        exact: false,
        what: "JPEG frame",
    }
}

impl Split for Splitter {
    type Info = FrameInfo;
    type Part = Part;
    type Error = Never;

    fn step(
        &mut self,
        window: &[u8],
        _at: u64,
        last: bool,
    ) -> Result<Step<FrameInfo, Part>, Never> {
        if self.at == 0 {
            if let Err(step) = Splitter::outside(window, last) {
                return Ok(step);
            }
            self.at = 2;
        }
        loop {
            if !self.seek_marker(window) {
                return Ok(more(window.len() + 1));
            }
            let marker = window.get(self.at + 1).copied().unwrap_or(0);
            match marker {
                SOI => return Ok(self.unfinished(marker)),
                EOI => {
                    let len = self.at + 2;
                    let info = FrameInfo {
                        number: self.frames,
                        ..self.reset()
                    };
                    self.frames += 1;
                    return Ok(Step::Frame {
                        len,
                        data: 0..len,
                        info,
                    });
                }
                _ => {}
            }
            let body = self.at + 4;
            let Some([high, low]) = window.get(self.at + 2..body) else {
                return Ok(more(body));
            };
            let len = usize::from(u16::from_be_bytes([*high, *low]));
            if len < 2 {
                return Ok(self.unfinished(marker));
            }
            let end = self.at + 2 + len;
            let Some(bytes) = window.get(body..end) else {
                return Ok(more(end));
            };
            self.segment(marker, bytes);
            // Tables may stand between scans; data comes only behind SOS.
            self.coded = marker == SOS;
            self.at = end;
        }
    }

    fn name(part: &Part) -> &'static str {
        match part {
            Part::Unfinished { .. } => "JPEG frame",
        }
    }
}
