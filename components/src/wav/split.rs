//! WAV as a format to be cut: chunks, then blocks of samples, then what is behind them.

use crate::cut::{FourCc, Split, Step, more, part, u32_at, u64_at};
use crate::y4m::Found;

use super::error::{WavError, WavWarning};
use super::format::{Format, LOOKED_AT};

/// What is known of a block of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number, from 0.
    pub number: u64,
    /// Its first sample's number, which is its time in samples.
    pub first: u64,
    /// Number of samples: as many as asked for, fewer only at the end.
    pub samples: u32,
}

/// What there is besides samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `RIFF`, its size, `WAVE`.
    Riff,
    /// A chunk, its head included; `fmt ` and `ds64` too.
    Chunk {
        /// Its id.
        id: FourCc,
    },
    /// The pad byte behind something of odd size.
    Pad,
    /// Something odd; takes no bytes.
    Warning(WavWarning),
    /// The head of `data`: samples follow.
    Header(Header),
    /// Bytes at the end of `data` that are no whole sample; a warning says so before.
    PartSample,
}

/// What is known before the first sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the samples are.
    pub format: Format,
    /// Where the first one stands.
    pub data_offset: u64,
    /// Bytes of samples as written; `None` if they go on to the end. The stream may have fewer.
    pub data_len: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Riff,
    /// At the head of a chunk before `data`.
    Chunk,
    /// Behind something of odd size.
    Pad,
    /// Within the samples: bytes of them still to come, if known.
    Data(Header, Option<u64>),
    /// Behind the samples.
    After,
    /// Behind what can be read.
    Garbage,
}

/// Cuts WAV.
#[derive(Clone, Debug)]
pub struct Splitter {
    state: State,
    /// Samples of a block; or, if those are to be as many as fit, so many bytes.
    block: u32,
    bytes: Option<u32>,
    /// Told before anything else, the first first.
    warnings: Vec<WavWarning>,
    riff_size: u64,
    /// RIFF size and `data` size of a `ds64`.
    ds64: Option<(u64, u64)>,
    format: Option<Format>,
    header: Option<Header>,
    blocks: u64,
    samples: u64,
    cut_told: bool,
    /// Whether samples go on to the end, whatever the header says.
    open: bool,
}

/// Sizes that stand for "not known".
const OPEN: [u64; 3] = [0, u32::MAX as u64, u64::MAX];

impl Splitter {
    /// At the start of a file, with blocks of so many samples (at least 1 is taken).
    pub fn new(samples: u32) -> Splitter {
        Splitter {
            state: State::Riff,
            block: samples.max(1),
            bytes: None,
            warnings: Vec::new(),
            riff_size: 0,
            ds64: None,
            format: None,
            header: None,
            blocks: 0,
            samples: 0,
            cut_told: false,
            open: false,
        }
    }

    /// At the start of a file, with blocks of as many samples as fit into so many bytes, at least 1.
    pub fn fitting(bytes: u32) -> Splitter {
        Splitter {
            bytes: Some(bytes),
            ..Splitter::new(1)
        }
    }

    /// Samples of a block of a format.
    fn block_of(&self, format: &Format) -> u32 {
        match self.bytes {
            Some(bytes) => (bytes / format.block_align.max(1)).max(1),
            None => self.block,
        }
    }

    /// The same, but samples go on to the end of the stream, whatever the header says.
    #[must_use]
    pub fn ignoring_length(self) -> Splitter {
        Splitter { open: true, ..self }
    }

    /// The same for a stream whose header is known, and that goes on at byte `at` of it; the first
    /// block begins at the byte that is answered too. That is `at` where a sample begins there, else it
    /// lies behind it.
    pub fn going_on(self, header: Header, at: u64) -> (Splitter, u64) {
        let align = u64::from(header.format.block_align.max(1));
        let end = header
            .data_offset
            .saturating_add(header.data_len.unwrap_or(u64::MAX));
        let first = at.saturating_sub(header.data_offset).div_ceil(align);
        let begins = first
            .saturating_mul(align)
            .saturating_add(header.data_offset);
        // Behind the samples it is not known where a chunk begins.
        let (state, begins) = match begins <= end {
            true => (
                State::Data(header, header.data_len.map(|_| end - begins)),
                begins,
            ),
            false => (State::Garbage, at),
        };
        let block = self.block_of(&header.format);
        let splitter = Splitter {
            state,
            block,
            header: Some(header),
            format: Some(header.format),
            samples: first,
            blocks: first.div_ceil(block.into()),
            ..self
        };
        (splitter, begins)
    }

    /// The header, once it was told.
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Warnings that are not told yet.
    pub(super) fn due(&self) -> &[WavWarning] {
        &self.warnings
    }

    fn riff(&mut self, window: &[u8], last: bool) -> Result<Step<Block, Part>, WavError> {
        if last && window.is_empty() {
            return Err(WavError::Empty);
        }
        let kinds: [&[u8]; 3] = [b"RIFF", b"RF64", b"BW64"];
        let begins = window.get(..4).unwrap_or(window);
        // As soon as the first wrong byte is there, however the stream is cut.
        let known = |bytes: &[u8]| kinds.iter().any(|kind| kind.starts_with(bytes));
        let mut begun = (1..=begins.len()).filter_map(|len| begins.get(..len));
        if let Some(wrong) = begun.find(|bytes| !known(bytes)) {
            let found = Found::new(wrong);
            return Err(WavError::NotRiff { found });
        }
        let (Some(size), Some(kind)) = (u32_at(window, 4), FourCc::at(window, 8)) else {
            return Ok(more(12, "WAV header"));
        };
        if kind.0 != *b"WAVE" {
            return Err(WavError::NotWave { found: kind });
        }
        self.riff_size = u64::from(size);
        self.state = State::Chunk;
        Ok(part(12, Part::Riff))
    }

    fn chunk(&mut self, window: &[u8], at: u64, last: bool) -> Result<Step<Block, Part>, WavError> {
        if last && window.is_empty() {
            return Err(WavError::NoData { offset: at });
        }
        let (Some(id), Some(size)) = (FourCc::at(window, 0), u32_at(window, 4)) else {
            return Ok(more(8, "WAV chunk"));
        };
        if !id.is_printable() {
            return Err(WavError::NoChunk {
                offset: at,
                found: id,
            });
        }
        match &id.0 {
            b"data" => return self.data_head(size, at),
            b"fmt " | b"ds64" => {
                let looked_at = (size as usize).min(LOOKED_AT);
                let Some(body) = window.get(8..8 + looked_at) else {
                    return Ok(more(8 + u64::from(size).min(LOOKED_AT as u64), "WAV chunk"));
                };
                self.known_chunk(id, body, size, at)?;
            }
            _ => {}
        }
        if size % 2 == 1 {
            self.state = State::Pad;
        }
        Ok(part(8 + u64::from(size), Part::Chunk { id }))
    }

    fn known_chunk(&mut self, id: FourCc, body: &[u8], len: u32, at: u64) -> Result<(), WavError> {
        let first = match &id.0 {
            b"fmt " => self.format.is_none(),
            _ => self.ds64.is_none(),
        };
        if !first {
            self.warnings.push(WavWarning::Repeated { offset: at, id });
        } else if id.0 == *b"fmt " {
            self.format = Some(Format::parse(body, len, at, &mut self.warnings)?);
        } else {
            self.ds64 = u64_at(body, 0).zip(u64_at(body, 8));
        }
        Ok(())
    }

    fn data_head(&mut self, size: u32, at: u64) -> Result<Step<Block, Part>, WavError> {
        let format = self.format.ok_or(WavError::NoFormat { offset: at })?;
        let open = |written: u64| {
            (written == u64::from(u32::MAX))
                .then_some(self.ds64)
                .flatten()
        };
        let riff_size = open(self.riff_size).map_or(self.riff_size, |(riff, _)| riff);
        let written = open(u64::from(size)).map_or(u64::from(size), |(_, data)| data);
        let data_offset = at + 8;
        let data_len = (!OPEN.contains(&written) && !self.open).then_some(written);
        match data_len {
            None if self.open => {}
            None => self.warnings.push(WavWarning::DataOpen {
                offset: at,
                written,
            }),
            Some(len) => {
                let least = data_offset.saturating_add(len) - 8;
                if OPEN.contains(&riff_size) || riff_size < least {
                    self.warnings.push(WavWarning::RiffSize {
                        written: riff_size,
                        least,
                    });
                }
            }
        }
        let header = Header {
            format,
            data_offset,
            data_len,
        };
        self.block = self.block_of(&format);
        self.header = Some(header);
        self.state = State::Data(header, data_len);
        Ok(part(8, Part::Header(header)))
    }

    fn data(
        &mut self,
        (header, left): (Header, Option<u64>),
        window: &[u8],
        at: u64,
        last: bool,
    ) -> Step<Block, Part> {
        let align = u64::from(header.format.block_align.max(1));
        if let Some(len) = left.filter(|left| *left < align) {
            return self.data_end(len, window, at, last);
        }
        let whole = left.map_or(u64::MAX, |left| left / align);
        let samples = u64::from(self.block).min(whole);
        let due = samples * align;
        let have = window.len() as u64;
        let take = match (have >= due, last) {
            (true, _) => samples,
            (false, true) => have / align,
            (false, false) => 0,
        };
        if take == 0 {
            if let (true, Some(left), Some(written)) = (last, left, header.data_len)
                && !std::mem::replace(&mut self.cut_told, true)
            {
                return part(
                    0,
                    Part::Warning(WavWarning::DataCut {
                        offset: header.data_offset,
                        have: written - left + have,
                        written,
                    }),
                );
            }
            return match last {
                true => more(align, "sample"),
                false => more(due, "samples"),
            };
        }
        let len = take * align;
        let info = Block {
            number: self.blocks,
            first: self.samples,
            samples: take as u32,
        };
        self.blocks += 1;
        self.samples += take;
        self.state = State::Data(header, left.map(|left| left - len));
        Step::Frame {
            len: len as usize,
            data: 0..len as usize,
            info,
        }
    }

    /// Behind the last whole sample, with `len` bytes of `data` left.
    fn data_end(&mut self, len: u64, window: &[u8], at: u64, last: bool) -> Step<Block, Part> {
        let header = self.header;
        if len > 0 && !std::mem::replace(&mut self.cut_told, true) {
            let warning = WavWarning::PartSample {
                offset: at,
                len,
                align: header.map_or(1, |h| h.format.block_align),
            };
            return part(0, Part::Warning(warning));
        }
        let odd = header
            .and_then(|h| h.data_len)
            .is_some_and(|len| len % 2 == 1);
        self.state = if odd { State::Pad } else { State::After };
        match len {
            0 if odd => self.pad(window, at, last),
            0 => self.behind(window, at),
            len => part(len, Part::PartSample),
        }
    }

    fn pad(&mut self, window: &[u8], at: u64, last: bool) -> Step<Block, Part> {
        let next = match self.header {
            Some(_) => State::After,
            None => State::Chunk,
        };
        match (window.first(), FourCc::at(window, 0)) {
            (None, _) => return more(1, "pad byte"),
            (Some(0), _) => {}
            (Some(_), None) if !last => return more(4, "WAV chunk"),
            (Some(_), Some(id)) if id.is_printable() => {
                self.state = next;
                let warning = WavWarning::NotPadded { offset: at };
                return part(0, Part::Warning(warning));
            }
            (Some(_), _) => {}
        }
        self.state = next;
        part(1, Part::Pad)
    }

    /// Behind the samples.
    fn behind(&mut self, window: &[u8], at: u64) -> Step<Block, Part> {
        // Behind the file as it is written stands nothing of it, where that is believed.
        let written = self.ds64.map_or(self.riff_size, |(riff, _)| riff);
        let end = written.saturating_add(8);
        let data = self
            .header
            .and_then(|h| h.data_offset.checked_add(h.data_len?));
        let believed = !OPEN.contains(&written) && data.is_none_or(|data| data <= end);
        if believed && at >= end && !window.is_empty() {
            self.state = State::Garbage;
            return Step::Junk { len: window.len() };
        }
        let (Some(id), Some(size)) = (FourCc::at(window, 0), u32_at(window, 4)) else {
            return more(8, "WAV chunk");
        };
        if !id.is_printable() {
            self.state = State::Garbage;
            return Step::Junk { len: window.len() };
        }
        if size % 2 == 1 {
            self.state = State::Pad;
        }
        part(8 + u64::from(size), Part::Chunk { id })
    }
}

impl Split for Splitter {
    type Info = Block;
    type Part = Part;
    type Error = WavError;

    fn step(&mut self, window: &[u8], at: u64, last: bool) -> Result<Step<Block, Part>, WavError> {
        if !self.warnings.is_empty() {
            let warning = self.warnings.remove(0);
            return Ok(part(0, Part::Warning(warning)));
        }
        match self.state {
            State::Riff => self.riff(window, last),
            State::Chunk => self.chunk(window, at, last),
            State::Pad if last && window.is_empty() && self.header.is_none() => {
                Err(WavError::NoData { offset: at })
            }
            State::Pad => Ok(self.pad(window, at, last)),
            State::Data(header, left) => Ok(self.data((header, left), window, at, last)),
            State::After => Ok(self.behind(window, at)),
            State::Garbage if window.is_empty() => Ok(more(1, "nothing")),
            State::Garbage => Ok(Step::Junk { len: window.len() }),
        }
    }

    fn name(part: &Part) -> &'static str {
        match part {
            Part::Riff | Part::Header(_) | Part::Warning(_) => "WAV header",
            Part::Chunk { .. } => "WAV chunk",
            Part::Pad => "pad byte",
            Part::PartSample => "sample",
        }
    }
}
