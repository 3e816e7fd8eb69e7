//! AVI as a format to be cut: a walk from chunk to chunk, into the lists that matter.

use crate::cut::{FourCc, Span, Split, Step, more, part, u32_at};
use crate::wav;
use crate::y4m::Found;

use super::error::{AviError, AviWarning};
use super::header::{
    AVIH_BYTES, BITMAP_BYTES, Clock, FrameInfo, Header, Kind, MAX_NAME, MAX_STREAMS, STRH_BYTES,
    Stream, StreamFormat, frame_id,
};

/// Most lists within each other.
pub const MAX_DEPTH: usize = 8;

/// What there is besides frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The head of a list or of a RIFF: what follows is in it.
    List {
        /// Its kind: `AVI `, `hdrl`, `strl`, `rec `, …
        kind: FourCc,
    },
    /// The head of a `movi` list: [`Splitter::header`] is complete, frames follow.
    Movie {
        /// Its first byte.
        offset: u64,
        /// Its size as written.
        size: u32,
    },
    /// A chunk that is no frame.
    Chunk {
        /// Its id.
        id: FourCc,
    },
    /// A list that is passed over whole.
    OtherList {
        /// Its kind.
        kind: FourCc,
    },
    /// A frame that is passed over, with its head: from [`Splitter::heads`], or of a stream that is
    /// [passed over](Splitter::pass_over).
    Frame(FrameInfo),
    /// The pad byte behind a chunk of odd size.
    Pad,
    /// Something odd; takes no bytes.
    Warning(AviWarning),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start.
    Riff,
    /// In the header.
    Header,
    /// Among the frames.
    Movie,
}

/// Cuts AVI.
#[derive(Clone, Debug)]
pub struct Splitter {
    state: State,
    /// A pad byte is due.
    pad: bool,
    /// The streams whose frames are passed over, a bit each.
    passed: u128,
    header: Header,
    /// Rate and scale as written, of each stream.
    rates: Vec<(u32, u32)>,
    has_format: bool,
    clock: Clock,
    /// Ends of the lists that the place is in, outermost first, and whether it was told that one is
    /// too short.
    lists: Vec<(u64, bool)>,
    /// Told before anything else, the first first.
    warnings: Vec<AviWarning>,
    /// The chunk whose oddity was just told.
    told: Option<u64>,
    /// Among junk: only what is surely a chunk's head ends it.
    lost: bool,
    /// Behind the end of the file as it is written.
    behind: bool,
}

/// Some count a list's head as part of it.
const SLACK: u64 = 8;

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter::new()
    }
}

impl Splitter {
    /// At the start of a file.
    pub fn new() -> Splitter {
        Splitter {
            state: State::Riff,
            pad: false,
            passed: 0,
            header: Header::default(),
            rates: Vec::new(),
            has_format: false,
            clock: Clock::default(),
            lists: Vec::with_capacity(MAX_DEPTH),
            warnings: Vec::new(),
            told: None,
            lost: false,
            behind: false,
        }
    }

    /// The same, but frames are [passed over](Part::Frame), whatever their size.
    pub fn heads() -> Splitter {
        Splitter {
            passed: u128::MAX,
            ..Splitter::new()
        }
    }

    /// Behind a frame, whose size may be odd, of a file whose header is known; frames are passed over.
    pub(super) fn behind_a_frame(header: &Header, odd: bool) -> Splitter {
        Splitter {
            state: State::Movie,
            header: header.clone(),
            pad: odd,
            ..Splitter::heads()
        }
    }

    /// Says of which streams frames are [passed over](Part::Frame), whatever their size: bit 0 is the
    /// first stream.
    pub const fn pass_over(&mut self, streams: u128) {
        self.passed = streams;
    }

    /// Warnings that are not told yet.
    pub(super) fn due(&self) -> &[AviWarning] {
        &self.warnings
    }

    /// What was said so far; complete once [`Part::Movie`] was told.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    fn riff(&mut self, window: &[u8], last: bool) -> Result<Step<FrameInfo, Part>, AviError> {
        if last && window.is_empty() {
            return Err(AviError::Empty);
        }
        let wrong = window.iter().zip(b"RIFF").position(|(a, b)| a != b);
        if let Some(at) = wrong {
            let found = Found::new(window.get(..=at).unwrap_or(window));
            return Err(AviError::NotRiff { found });
        }
        match FourCc::at(window, 8) {
            None => Ok(more(12, "AVI header")),
            Some(kind) if kind.0 != *b"AVI " => Err(AviError::NotAvi { found: kind }),
            Some(kind) => {
                self.state = State::Header;
                self.enter(u32_at(window, 4).unwrap_or(0), 0)?;
                Ok(part(12, Part::List { kind }))
            }
        }
    }

    /// Into the list at byte `at`.
    fn enter(&mut self, size: u32, at: u64) -> Result<(), AviError> {
        if self.lists.len() >= MAX_DEPTH {
            return Err(AviError::TooDeep { offset: at });
        }
        let end = match size {
            // Never finished.
            0 | u32::MAX => u64::MAX,
            size => at + 8 + u64::from(size),
        };
        self.lists.push((end, false));
        Ok(())
    }

    /// Out of the lists that end here.
    fn leave(&mut self, at: u64) {
        while self.lists.last().is_some_and(|(end, _)| *end <= at) {
            self.lists.pop();
            self.behind |= self.lists.is_empty();
        }
    }

    /// Where the file ends as it is written, if that is said.
    pub(super) fn written_end(&self) -> Option<u64> {
        let end = self.lists.first().map(|(end, _)| *end);
        end.filter(|end| *end != u64::MAX)
    }

    /// Where the outermost list ends, if the stream ends before that at byte `at`.
    pub(super) fn unfinished(&self, at: u64) -> Option<u64> {
        let ends = self.lists.iter().map(|(end, _)| *end);
        let written = ends.filter(|end| *end != u64::MAX);
        written.filter(|end| end.saturating_sub(SLACK) > at).max()
    }

    /// Whether a chunk ends within its list.
    fn fits(&self, at: u64, size: u32) -> bool {
        let end = at + 8 + u64::from(size);
        !self.behind && self.lists.last().is_none_or(|(list, _)| end <= *list)
    }

    fn chunk(
        &mut self,
        window: &[u8],
        at: u64,
        last: bool,
    ) -> Result<Step<FrameInfo, Part>, AviError> {
        if last && window.is_empty() && self.state == State::Header {
            return Err(AviError::NoMovie { offset: at });
        }
        if last
            && window.is_empty()
            && let Some(end) = self.unfinished(at)
        {
            return Err(AviError::Unfinished { offset: at, end });
        }
        self.leave(at);
        if last && window.len() < 4 && (self.lost || self.behind) && !window.is_empty() {
            return Ok(self.resync(window, last));
        }
        let Some(id) = FourCc::at(window, 0) else {
            return Ok(more(8, "AVI chunk"));
        };
        if self.state == State::Header && !id.is_printable() {
            return Err(AviError::NoChunk {
                offset: at,
                found: id,
            });
        }
        if self.lost && self.is_head(id) {
            self.lost = false;
        }
        if self.lost || (self.state == State::Movie && !looks_like_chunk(id)) {
            return Ok(self.resync(window, last));
        }
        let Some(size) = u32_at(window, 4) else {
            if last && self.behind {
                return Ok(self.resync(window, last));
            }
            return Ok(more(8, "AVI chunk"));
        };
        match &id.0 {
            b"RIFF" | b"LIST" => return self.list(id, size, window, at),
            b"strh" if self.state == State::Header && self.header.streams.len() >= MAX_STREAMS => {
                return Err(AviError::TooManyStreams { offset: at });
            }
            _ if self.state == State::Header => return Ok(self.described(id, size, window, at)),
            _ => {}
        }
        let frame = frame_id(id);
        let exists = |stream: u16| usize::from(stream) < self.header.streams.len();
        let ours = frame.is_some_and(|(stream, _)| exists(stream));
        if !ours && !is_known(id) && !self.fits(at, size) {
            return Ok(self.resync(window, last));
        }
        if let Some(step) = self.beyond(id, size, at) {
            return Ok(step);
        }
        match frame {
            Some((stream, true)) if ours => Ok(self.frame(stream, size, window)),
            Some((stream, _)) if !ours && self.told.replace(at) != Some(at) => {
                let warning = AviWarning::NoSuchStream {
                    offset: at,
                    id,
                    stream,
                };
                Ok(part(0, Part::Warning(warning)))
            }
            _ => {
                self.pad = size % 2 == 1;
                Ok(part(8 + u64::from(size), Part::Chunk { id }))
            }
        }
    }

    /// Tells once a list that a chunk ends behind it.
    fn beyond(&mut self, id: FourCc, size: u32, at: u64) -> Option<Step<FrameInfo, Part>> {
        if self.fits(at, size) {
            return None;
        }
        let (end, told) = self.lists.last_mut()?;
        (!std::mem::replace(told, true)).then(|| {
            let warning = AviWarning::BeyondList {
                offset: at,
                id,
                end: *end,
            };
            part(0, Part::Warning(warning))
        })
    }

    fn list(
        &mut self,
        id: FourCc,
        size: u32,
        window: &[u8],
        at: u64,
    ) -> Result<Step<FrameInfo, Part>, AviError> {
        let Some(kind) = FourCc::at(window, 8) else {
            return Ok(more(12, "AVI list"));
        };
        match (&id.0, &kind.0, self.state) {
            (b"RIFF", _, _) => {
                self.lists.clear();
                self.behind = false;
            }
            (_, b"movi", _) => return self.movie(size, at),
            (_, b"hdrl" | b"strl", State::Header) | (_, b"rec ", State::Movie) => {}
            // Nothing in it matters.
            _ => {
                self.pad = size % 2 == 1;
                return Ok(part(8 + u64::from(size), Part::OtherList { kind }));
            }
        }
        // A list that was never finished ends where another begins.
        if size > 0 || id.0 == *b"RIFF" {
            self.enter(size, at)?;
        }
        Ok(part(12, Part::List { kind }))
    }

    fn movie(&mut self, size: u32, at: u64) -> Result<Step<FrameInfo, Part>, AviError> {
        if self.header.streams.is_empty() {
            return Err(AviError::NoStreams { offset: at });
        }
        self.enter(size, at)?;
        if self.state == State::Header {
            self.state = State::Movie;
            let micros = self.header.frame_micros;
            for (number, stream) in (0u16..).zip(&mut self.header.streams) {
                let (rate, scale) = self
                    .rates
                    .get(usize::from(number))
                    .copied()
                    .unwrap_or((0, 0));
                if stream.rate.is_none() {
                    stream.rate = stream.assumed_rate(micros);
                    self.warnings.push(AviWarning::NoRate {
                        stream: number,
                        rate,
                        scale,
                        taken: stream.rate.map(|r| (r.rate, r.scale)),
                    });
                }
            }
        }
        Ok(part(12, Part::Movie { offset: at, size }))
    }

    /// A chunk of the header.
    fn described(
        &mut self,
        id: FourCc,
        size: u32,
        window: &[u8],
        at: u64,
    ) -> Step<FrameInfo, Part> {
        let least = match &id.0 {
            b"avih" => AVIH_BYTES,
            b"strh" => STRH_BYTES,
            b"strf" => wav::format::LOOKED_AT,
            b"strn" => MAX_NAME,
            _ => 0,
        };
        let looked_at = least.min(size as usize);
        let Some(body) = window.get(8..8 + looked_at) else {
            return more(8 + looked_at as u64, "AVI chunk");
        };
        let is_short = match &id.0 {
            b"avih" => !self.header.read_avih(body),
            b"strh" => {
                let read = Stream::read_strh(body);
                let is_short = read.is_none();
                let (stream, rate) = read.unwrap_or_default();
                self.header.streams.push(stream);
                self.rates.push(rate);
                self.has_format = false;
                is_short
            }
            b"strf" | b"strn" | b"indx" => self.of_stream(id, size, body, at),
            _ => false,
        };
        if is_short {
            self.warnings.push(AviWarning::Short {
                offset: at,
                id,
                len: size,
                least: if id.0 == *b"strf" {
                    BITMAP_BYTES
                } else {
                    least
                } as u32,
            });
        }
        self.pad = size % 2 == 1;
        part(8 + u64::from(size), Part::Chunk { id })
    }

    /// A chunk that belongs to the last stream; true if it is too short.
    fn of_stream(&mut self, id: FourCc, size: u32, body: &[u8], at: u64) -> bool {
        let number = self.header.streams.len().saturating_sub(1) as u16;
        let Some(stream) = self.header.streams.last_mut() else {
            self.warnings.push(AviWarning::Stray { offset: at, id });
            return false;
        };
        match &id.0 {
            b"strf" if !self.has_format => {
                self.has_format = true;
                let mut oddities = Vec::new();
                let read = stream.read_strf(body, size, at, &mut oddities);
                let told = |oddity| AviWarning::AudioFormat {
                    stream: number,
                    oddity,
                };
                self.warnings.extend(oddities.into_iter().map(told));
                if let Err(problem) = read {
                    self.warnings.push(AviWarning::NoAudioFormat {
                        stream: number,
                        problem,
                    });
                }
                stream.kind == Kind::Video && stream.format == StreamFormat::Unknown
            }
            b"strn" if stream.name.is_none() => {
                let text = body.split(|b| *b == 0).next().unwrap_or(&[]);
                stream.name = Some(String::from_utf8_lossy(text).into_owned());
                false
            }
            b"indx" if stream.index.is_none() => {
                stream.index = Some(Span {
                    offset: at + 8,
                    len: u64::from(size),
                });
                false
            }
            _ => {
                self.warnings.push(AviWarning::Stray { offset: at, id });
                false
            }
        }
    }

    fn frame(&mut self, stream: u16, size: u32, window: &[u8]) -> Step<FrameInfo, Part> {
        let span = 8 + u64::from(size);
        let passed = self.passed.checked_shr(stream.into()).unwrap_or(0) & 1 == 1;
        if !passed && (window.len() as u64) < span {
            return more(span, "AVI frame");
        }
        let Some(info) = self.clock.next(&self.header, stream, size, None) else {
            // Never for a stream that is there.
            let id = FourCc::at(window, 0).unwrap_or_default();
            return part(span, Part::Chunk { id });
        };
        self.pad = size % 2 == 1;
        if passed {
            return part(span, Part::Frame(info));
        }
        let len = span as usize;
        Step::Frame {
            len,
            data: 8..len,
            info,
        }
    }

    /// Whether this is surely the head of a chunk.
    fn is_head(&self, id: FourCc) -> bool {
        let Some((stream, _)) = frame_id(id) else {
            return is_known(id);
        };
        let known: [&[u8]; 5] = [b"dc", b"db", b"wb", b"tx", b"pc"];
        let letters = id.0.get(2..).unwrap_or(&[]);
        usize::from(stream) < self.header.streams.len() && known.contains(&letters)
    }

    /// No chunk: junk up to the next head of one.
    fn resync(&mut self, window: &[u8], last: bool) -> Step<FrameInfo, Part> {
        self.lost = true;
        // The last three bytes may begin a head.
        let end = if last {
            window.len()
        } else {
            window.len().saturating_sub(3)
        };
        let is_head = |at: &usize| FourCc::at(window, *at).is_some_and(|id| self.is_head(id));
        let len = (1..end).find(is_head).unwrap_or(end).max(1);
        Step::Junk { len }
    }

    fn pad(&mut self, window: &[u8], at: u64, last: bool) -> Step<FrameInfo, Part> {
        let id = FourCc::at(window, 0);
        match (window.first(), id) {
            (None, _) => return more(1, "pad byte"),
            (Some(0), _) => {}
            (Some(_), None) if !last => return more(4, "pad byte"),
            (Some(_), Some(id)) if is_known(id) || frame_id(id).is_some() => {
                self.pad = false;
                let warning = AviWarning::NotPadded { offset: at };
                return part(0, Part::Warning(warning));
            }
            (Some(_), _) => {}
        }
        self.pad = false;
        part(1, Part::Pad)
    }
}

/// Ids that stand among frames and are none.
pub(super) fn is_known(id: FourCc) -> bool {
    matches!(
        &id.0,
        b"RIFF" | b"LIST" | b"JUNK" | b"junk" | b"idx1" | b"indx"
    ) || (id.0.starts_with(b"ix") && id.0.iter().skip(2).all(u8::is_ascii_digit))
}

/// Letters, digits, spaces, underscores: what ids are made of.
fn looks_like_chunk(id: FourCc) -> bool {
    id.0.iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_'))
}

impl Split for Splitter {
    type Info = FrameInfo;
    type Part = Part;
    type Error = AviError;

    fn step(
        &mut self,
        window: &[u8],
        at: u64,
        last: bool,
    ) -> Result<Step<FrameInfo, Part>, AviError> {
        if !self.warnings.is_empty() {
            return Ok(part(0, Part::Warning(self.warnings.remove(0))));
        }
        match self.state {
            State::Riff => self.riff(window, last),
            _ if self.pad && !(last && window.is_empty()) => Ok(self.pad(window, at, last)),
            _ => self.chunk(window, at, last),
        }
    }

    fn name(part: &Part) -> &'static str {
        match part {
            Part::List { .. } | Part::Movie { .. } | Part::OtherList { .. } => "AVI list",
            Part::Chunk { .. } => "AVI chunk",
            Part::Frame(_) => "AVI frame",
            Part::Pad => "pad byte",
            Part::Warning(_) => "AVI header",
        }
    }
}
