//! Reading Y4M from bytes that arrive in pieces of any size: a state machine without I/O.
//!
//! The same bytes give the same events and errors however they are cut. Nothing is allocated per
//! frame: payload goes straight into the caller's frame, whatever its strides.
//!
//! ```
//! use tickpipe_components::video::FrameMut;
//! use tickpipe_components::y4m::{Event, Reader};
//!
//! let file = b"YUV4MPEG2 W2 H2 F25:1 Cmono\nFRAME\n\x10\x20\x30\x40";
//! let mut reader = Reader::new();
//! let (mut rest, mut frames) = (&file[..], Vec::new());
//! loop {
//!     let (used, event) = reader.next(rest)?;
//!     rest = &rest[used..];
//!     match event {
//!         Event::NeedInput => break, // read more from the file, or stop at its end
//!         Event::Header | Event::FrameStart { .. } => {}
//!         Event::Payload { .. } => {
//!             let info = reader.header().unwrap().to_info()?;
//!             let mut data = vec![0; info.layout.size()];
//!             let mut frame = FrameMut::new(&info.layout, &mut data)?;
//!             let filled = reader.fill(rest, &mut frame)?;
//!             rest = &rest[filled.used..];
//!             assert!(filled.complete);
//!             frames.push(data);
//!         }
//!     }
//! }
//! assert_eq!(reader.end()?, 1);
//! # assert_eq!(frames, [[0x10, 0x20, 0, 0, 0x30, 0x40, 0, 0]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::video::FrameMut;

use super::error::{Found, HeaderError};
use super::frame_line::{FRAME_LINE, FrameLine, MAX_FRAME_LINE_BYTES};
use super::header::{Header, MAX_HEADER_BYTES, check_magic, too_long};
use super::spacing::{SpacingHint, SpacingProbe, is_marker};
use super::tags::Planes;

/// Why a Y4M stream cannot be read on. Frames are counted from 0, bytes from the file's start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is not one byte.
    #[error("empty: no Y4M header")]
    Empty,
    /// The header is wrong.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The input ends within the header.
    #[error("truncated: header, {have} bytes without end of line")]
    HeaderTruncated {
        /// Bytes that were there.
        have: u64,
    },
    /// The input ends within a `FRAME` line.
    #[error("truncated: frame {frame}, {have} bytes of its FRAME line at byte {offset}")]
    FrameLineTruncated {
        /// The frame's number.
        frame: u64,
        /// Bytes of the line that were there, 1 or more.
        have: u64,
        /// Where the line begins.
        offset: u64,
    },
    /// The input ends within a frame's payload.
    #[error("truncated: frame {frame}, {have} of {need} bytes{}", tail(.hint))]
    Truncated {
        /// The frame's number.
        frame: u64,
        /// Bytes of payload that were there.
        have: u64,
        /// Bytes that a frame has.
        need: u64,
        /// Where the payload begins; the input ends `have` bytes later.
        offset: u64,
        /// For frame 0: what fits the bytes that are there.
        hint: Option<SpacingHint>,
    },
    /// Something else stands where a `FRAME` line should begin.
    #[error("frame {frame}: expected FRAME at byte {offset}, found {found}{}", tail(.hint))]
    ExpectedFrame {
        /// Number of the frame that should begin there.
        frame: u64,
        /// Where it should begin.
        offset: u64,
        /// The bytes there, 6 unless the input ends before.
        found: Found,
        /// For frame 1: what fits the distance to the next marker.
        hint: Option<SpacingHint>,
    },
    /// A `FRAME` line does not end.
    #[error("frame {frame}: FRAME line at byte {offset} is longer than {limit} bytes")]
    FrameLineTooLong {
        /// The frame's number.
        frame: u64,
        /// Where the line begins.
        offset: u64,
        /// [`MAX_FRAME_LINE_BYTES`].
        limit: usize,
    },
    /// The frame given to [`Reader::fill`] has other planes than the stream. A caller's mistake;
    /// the reader can go on with a frame that fits.
    #[error("frame {frame}: its buffer is {given}, which does not have the planes of {header}")]
    FrameMismatch {
        /// The frame's number.
        frame: u64,
        /// Format and size of the frame given.
        given: String,
        /// Tag and size in the header.
        header: String,
    },
    /// [`Reader::fill`] or [`Reader::skip`] outside a frame's payload. A caller's mistake; the
    /// reader can go on.
    #[error("no frame payload is due at byte {offset}")]
    NotInPayload {
        /// Where the reader stands.
        offset: u64,
    },
}

fn tail(hint: &Option<SpacingHint>) -> String {
    hint.as_ref().map_or_else(String::new, |h| format!("; {h}"))
}

/// What [`Reader::next`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All input is used up; call again with more, or [`Reader::end`].
    NeedInput,
    /// The header is complete: see [`Reader::header`].
    Header,
    /// A frame begins: see [`Reader::frame_line`] for its parameters.
    FrameStart {
        /// The frame's number, from 0.
        frame: u64,
        /// Where its `FRAME` line begins in the file.
        offset: u64,
    },
    /// Payload comes next: call [`Reader::fill`] or [`Reader::skip`]. No input was used.
    Payload {
        /// Bytes of this frame still to come, 1 or more.
        remaining: u64,
    },
}

/// What [`Reader::fill`] or [`Reader::skip`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Bytes of input used, from its start.
    pub used: usize,
    /// Whether the frame is complete.
    pub complete: bool,
}

#[derive(Clone, Debug)]
enum State {
    Header,
    FrameLine,
    Payload(Cursor),
    /// No `FRAME` where one was due; the input is only looked at for a hint.
    Lost,
    Failed(Box<ReadError>),
}

/// The place in a payload. Invariant while in [`State::Payload`]: plane, row and column exist.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    plane: usize,
    row: usize,
    col: usize,
    done: u64,
}

/// The state machine. See the [module](self) for a loop around it.
#[derive(Clone, Debug)]
pub struct Reader {
    state: State,
    header: Option<Header>,
    planes: Planes,
    frame_bytes: u64,
    /// The header's or `FRAME` line's bytes so far.
    line: Vec<u8>,
    /// Where the current line or payload begins.
    start: u64,
    /// Bytes used so far.
    position: u64,
    /// Frames completed.
    frames: u64,
    probe: Option<SpacingProbe>,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::new()
    }
}

impl Reader {
    /// A reader at the start of a file.
    pub fn new() -> Reader {
        Reader {
            state: State::Header,
            header: None,
            planes: Planes::default(),
            frame_bytes: 0,
            line: Vec::new(),
            start: 0,
            position: 0,
            frames: 0,
            probe: None,
        }
    }

    /// The header, once [`Event::Header`] was given.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Frames completed so far.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Bytes used so far: the offset in the file of the next one.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The `FRAME` line of the frame whose payload is being read.
    pub fn frame_line(&self) -> Option<FrameLine<'_>> {
        matches!(self.state, State::Payload(_)).then(|| FrameLine::new(&self.line))
    }

    /// Bytes of a frame's payload, once the header was given.
    pub const fn frame_bytes(&self) -> u64 {
        self.frame_bytes
    }

    /// Goes on with another frame, once the header was given: the input that comes next begins with
    /// its `FRAME` line, which stands at byte `offset` of the file.
    pub fn go_to(&mut self, frame: u64, offset: u64) {
        if self.header.is_some() {
            self.state = State::FrameLine;
            self.line.clear();
            (self.start, self.position) = (offset, offset);
            self.frames = frame;
            self.probe = None;
        }
    }

    /// Uses input up to the next event; returns how many bytes it used.
    ///
    /// # Errors
    /// See [`ReadError`]. After an error from here the same one is given for ever.
    pub fn next(&mut self, input: &[u8]) -> Result<(usize, Event), ReadError> {
        let before = self.position;
        let event = match &self.state {
            State::Header => self.read_header(input),
            State::FrameLine => self.read_frame_line(input),
            State::Payload(cursor) => Ok(Event::Payload {
                remaining: self.frame_bytes - cursor.done,
            }),
            State::Lost => self.look_ahead(input),
            State::Failed(error) => return Err((**error).clone()),
        };
        match event {
            Ok(event) => Ok(((self.position - before) as usize, event)),
            Err(error) => {
                self.state = State::Failed(Box::new(error.clone()));
                Err(error)
            }
        }
    }

    /// Appends input to the line until `limit` bytes or the end of line; says whether it ended.
    fn take_line(&mut self, input: &[u8], limit: usize) -> bool {
        let room = limit.saturating_sub(self.line.len());
        let window = input.get(..room).unwrap_or(input);
        let end = window.iter().position(|b| *b == b'\n');
        let take = end.map_or(window.len(), |at| at + 1);
        self.line
            .extend_from_slice(window.get(..take).unwrap_or(window));
        self.position += take as u64;
        end.is_some()
    }

    fn read_header(&mut self, input: &[u8]) -> Result<Event, ReadError> {
        let ended = self.take_line(input, MAX_HEADER_BYTES);
        if !ended {
            check_magic(&self.line)?;
            if self.line.len() >= MAX_HEADER_BYTES {
                return Err(too_long().into());
            }
            return Ok(Event::NeedInput);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let header = Header::parse_line(line)?;
        self.planes = header.planes();
        self.frame_bytes = self.planes.bytes();
        let facts = header.facts();
        self.probe = Some(SpacingProbe::new(facts.chroma, facts.width, facts.height));
        self.header = Some(header);
        self.await_frame();
        Ok(Event::Header)
    }

    fn await_frame(&mut self) {
        self.line.clear();
        self.start = self.position;
        self.state = State::FrameLine;
    }

    fn read_frame_line(&mut self, input: &[u8]) -> Result<Event, ReadError> {
        let missing = FRAME_LINE.len().saturating_sub(self.line.len());
        let (head, rest) = input.split_at_checked(missing).unwrap_or((input, &[]));
        self.line.extend_from_slice(head);
        self.position += head.len() as u64;
        if self.line.len() < FRAME_LINE.len() {
            return Ok(Event::NeedInput);
        }
        if missing > 0 && !is_marker(&self.line) {
            if let Some(probe) = &mut self.probe {
                probe.feed(&self.line);
            }
            self.state = State::Lost;
            return self.look_ahead(rest);
        }
        if self.line.last() != Some(&b'\n') && !self.take_line(rest, MAX_FRAME_LINE_BYTES) {
            if self.line.len() >= MAX_FRAME_LINE_BYTES {
                return Err(ReadError::FrameLineTooLong {
                    frame: self.frames,
                    offset: self.start,
                    limit: MAX_FRAME_LINE_BYTES,
                });
            }
            return Ok(Event::NeedInput);
        }
        if self.frames > 0 {
            // The first two markers stand where the tag says: it does not lie about sizes.
            self.probe = None;
        }
        let offset = self.start;
        self.start = self.position;
        self.state = State::Payload(Cursor::default());
        Ok(Event::FrameStart {
            frame: self.frames,
            offset,
        })
    }

    fn look_ahead(&mut self, input: &[u8]) -> Result<Event, ReadError> {
        let done = match &mut self.probe {
            Some(probe) if self.frames > 0 => {
                probe.feed(input);
                self.position += input.len() as u64;
                probe.is_done()
            }
            _ => true,
        };
        if done {
            Err(self.expected_frame(self.probe.as_ref(), false))
        } else {
            Ok(Event::NeedInput)
        }
    }

    fn expected_frame(&self, probe: Option<&SpacingProbe>, at_end: bool) -> ReadError {
        // Before frame 0 there is no payload to measure.
        let probe = probe.filter(|_| self.frames > 0);
        ReadError::ExpectedFrame {
            frame: self.frames,
            offset: self.start,
            found: Found::new(&self.line),
            hint: probe.and_then(|p| p.hint(at_end)),
        }
    }

    /// Copies payload from `input` into `frame`, row by row; its padding is left alone.
    ///
    /// Called until `complete`, each time with the same frame.
    ///
    /// # Errors
    /// [`ReadError::FrameMismatch`], [`ReadError::NotInPayload`]; nothing is used then.
    pub fn fill(&mut self, input: &[u8], frame: &mut FrameMut<'_>) -> Result<Filled, ReadError> {
        let layout = *frame.layout();
        let fits = layout.planes().len() == self.planes.as_slice().len()
            && layout
                .planes()
                .iter()
                .zip(self.planes.as_slice())
                .all(|(a, b)| a.row_bytes() == b.row_bytes && a.rows() == b.rows);
        if !fits && matches!(self.state, State::Payload(_)) {
            return Err(self.mismatch(&layout));
        }
        let data = frame.data_mut();
        self.consume(input, |plane, at, bytes| {
            let target = layout.plane(plane).and_then(|p| {
                let from = p.offset() + at.row * p.stride() + at.col;
                data.get_mut(from..from + bytes.len())
            });
            if let Some(target) = target {
                target.copy_from_slice(bytes);
            }
        })
    }

    /// Passes over payload without copying it.
    ///
    /// # Errors
    /// [`ReadError::NotInPayload`]; nothing is used then.
    pub fn skip(&mut self, input: &[u8]) -> Result<Filled, ReadError> {
        self.consume(input, |_, _, _| {})
    }

    /// Walks the payload row by row and gives each piece of a row to `put`.
    fn consume(
        &mut self,
        input: &[u8],
        mut put: impl FnMut(usize, Cursor, &[u8]),
    ) -> Result<Filled, ReadError> {
        let State::Payload(mut at) = self.state else {
            return Err(ReadError::NotInPayload {
                offset: self.position,
            });
        };
        let mut rest = input;
        while let Some(shape) = self.planes.as_slice().get(at.plane) {
            if rest.is_empty() {
                break;
            }
            let left = shape.row_bytes.saturating_sub(at.col);
            let (piece, tail) = rest.split_at_checked(left).unwrap_or((rest, &[]));
            put(at.plane, at, piece);
            rest = tail;
            at.done += piece.len() as u64;
            at.col += piece.len();
            if at.col == shape.row_bytes {
                at.col = 0;
                at.row += 1;
            }
            if at.row == shape.rows {
                at.row = 0;
                at.plane += 1;
            }
        }
        let used = input.len() - rest.len();
        self.position += used as u64;
        if self.frames == 0
            && let (Some(probe), Some(seen)) = (&mut self.probe, input.get(..used))
        {
            probe.feed(seen);
        }
        let complete = at.done == self.frame_bytes;
        if complete {
            self.frames += 1;
            self.await_frame();
        } else {
            self.state = State::Payload(at);
        }
        Ok(Filled { used, complete })
    }

    fn mismatch(&self, layout: &crate::video::Layout) -> ReadError {
        let header = self.header.as_ref().map_or_else(String::new, |h| {
            let facts = h.facts();
            format!("{} {}x{}", facts.chroma, facts.width, facts.height)
        });
        ReadError::FrameMismatch {
            frame: self.frames,
            given: format!(
                "{} {}x{}",
                layout.format().name(),
                layout.width(),
                layout.height()
            ),
            header,
        }
    }

    /// Says that no more input comes: the number of frames if the input ends at a frame's end (or
    /// right after the header), else what is cut off.
    ///
    /// # Errors
    /// See [`ReadError`]; an earlier error from [`Reader::next`] is given again.
    pub fn end(&self) -> Result<u64, ReadError> {
        let frame = self.frames;
        match &self.state {
            State::Header if self.line.is_empty() => Err(ReadError::Empty),
            State::Header => Err(ReadError::HeaderTruncated {
                have: self.position,
            }),
            State::FrameLine if self.line.is_empty() => Ok(frame),
            State::FrameLine
                if self
                    .line
                    .iter()
                    .zip(FRAME_LINE)
                    .take(5)
                    .all(|(a, b)| a == b) =>
            {
                Err(ReadError::FrameLineTruncated {
                    frame,
                    have: self.position - self.start,
                    offset: self.start,
                })
            }
            State::FrameLine => {
                let mut probe = self.probe.clone();
                if let Some(probe) = &mut probe {
                    probe.feed(&self.line);
                }
                Err(self.expected_frame(probe.as_ref(), true))
            }
            State::Payload(at) => Err(ReadError::Truncated {
                frame,
                have: at.done,
                need: self.frame_bytes,
                offset: self.start,
                hint: self
                    .probe
                    .as_ref()
                    .filter(|_| frame == 0)
                    .and_then(|p| p.hint(true)),
            }),
            State::Lost => Err(self.expected_frame(self.probe.as_ref(), true)),
            State::Failed(error) => Err((**error).clone()),
        }
    }
}
