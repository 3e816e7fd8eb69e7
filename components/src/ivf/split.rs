//! IVF as a format to be cut: header, warnings, frames. State is a place in the header and a count.

use crate::cut::{Split, Step, more, part};

use super::header::{
    FRAME_HEAD_BYTES, FrameHead, HEADER_BYTES, Header, IvfError, IvfWarning, check_magic,
};

/// What is known of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameInfo {
    /// Its number, from 0.
    pub number: u64,
    /// Its presentation time in ticks of [`Header::rate`].
    pub pts: u64,
}

/// What there is besides frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The header.
    Header(Header),
    /// Something odd in the header; takes no bytes.
    Warning(IvfWarning),
    /// A frame that is passed over, with its head: only from [`Splitter::heads`].
    Frame(FrameInfo),
}

#[derive(Clone, Debug)]
enum State {
    Header,
    /// Warnings still to be told, the last first.
    Warnings(Vec<IvfWarning>),
    Frames,
}

/// Cuts IVF.
#[derive(Clone, Debug)]
pub struct Splitter {
    state: State,
    header: Option<Header>,
    frames: u64,
    heads: bool,
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter::new()
    }
}

impl Splitter {
    /// At the start of a file.
    pub const fn new() -> Splitter {
        Splitter {
            state: State::Header,
            header: None,
            frames: 0,
            heads: false,
        }
    }

    /// The same, but frames are [passed over](Part::Frame), whatever their size.
    pub const fn heads() -> Splitter {
        let mut splitter = Splitter::new();
        splitter.heads = true;
        splitter
    }

    /// Behind the header of a file, at the head of frame `number`.
    pub const fn at_frame(header: Header, number: u64) -> Splitter {
        Splitter {
            state: State::Frames,
            header: Some(header),
            frames: number,
            heads: false,
        }
    }

    /// The header, once it was told.
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Frames told so far.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    fn frame(&mut self, window: &[u8]) -> Step<FrameInfo, Part> {
        let Some(head) = FrameHead::parse(window) else {
            return more(FRAME_HEAD_BYTES as u64, "IVF frame head");
        };
        let info = FrameInfo {
            number: self.frames,
            pts: head.pts,
        };
        if self.heads {
            self.frames += 1;
            return part(head.span(), Part::Frame(info));
        }
        if (window.len() as u64) < head.span() {
            return more(head.span(), "IVF frame");
        }
        self.frames += 1;
        let len = head.span() as usize;
        Step::Frame {
            len,
            data: FRAME_HEAD_BYTES..len,
            info,
        }
    }
}

impl Split for Splitter {
    type Info = FrameInfo;
    type Part = Part;
    type Error = IvfError;

    fn step(
        &mut self,
        window: &[u8],
        _at: u64,
        last: bool,
    ) -> Result<Step<FrameInfo, Part>, IvfError> {
        match &mut self.state {
            State::Header => {
                if last && window.is_empty() {
                    return Err(IvfError::Empty);
                }
                check_magic(window)?;
                let Some((header, mut warnings)) = Header::parse(window)? else {
                    return Ok(more(HEADER_BYTES as u64, "IVF header"));
                };
                self.header = Some(header);
                warnings.reverse();
                self.state = State::Warnings(warnings);
                Ok(part(u64::from(header.bytes), Part::Header(header)))
            }
            State::Warnings(warnings) => {
                if let Some(warning) = warnings.pop() {
                    return Ok(part(0, Part::Warning(warning)));
                }
                self.state = State::Frames;
                Ok(self.frame(window))
            }
            State::Frames => Ok(self.frame(window)),
        }
    }

    fn name(part: &Part) -> &'static str {
        match part {
            Part::Header(_) | Part::Warning(_) => "IVF header",
            Part::Frame(_) => "IVF frame",
        }
    }
}
