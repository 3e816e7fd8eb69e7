//! `wavparse`: samples out of a WAV file or stream (RIFF, RF64), in blocks of up to 4096 bytes, as in
//! GStreamer.
//!
//! It is sent blocks of any size, or reads a file by position: the same comes out. Caps are those of the
//! header; times count samples. Sizes in headers that lie are told and not believed (see
//! `components::wav`). It goes to any sample, and goes on with the next whole block after a loss.
//!
//! `tickpipe launch 'filesrc location=a.wav ! wavparse ! fakesink'`

use super::audio_caps::{block_of, caps_of, sample_time, samples_of, template};
use super::cutting::Seen;
use super::heading::{Head, blocks, blocks_for, kept, number, open, pool_of, read_head};
use super::parser::{Deal, Frame, Offers, Parser, Start};
use super::parsing::Parsing;
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Proposal,
    Seeking, Work,
};
use crate::elements::seeking::frames_of;
use bevy_ecs::component::Component;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::cut::Span;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::Seek;
use tickpipe_components::time::{Segment, TimeBase};
use tickpipe_components::wav::{Block, Format, Header, Part, Splitter, WavError};

/// Bytes of a block, at most, where a sample has not more.
const BLOCK: u32 = 4096;
/// Bytes of a header that planning looks at.
const HEAD: usize = 1 << 16;

/// Settings of `wavparse`.
#[derive(Component, Clone, Debug, Default)]
pub struct WavParse {
    /// Samples go on to the end, whatever the header says.
    pub ignore_length: bool,
}

#[derive(Debug, Error)]
enum WavParseError {
    #[error(
        "byte {offset}: sound of format tag {tag:#06x}, {bytes} bytes a sample, has no name in caps"
    )]
    Unsupported { offset: u64, tag: u16, bytes: u16 },
    #[error("sample {sample} would begin at byte {byte}, which lies behind the end at {end}")]
    Beyond { sample: i64, byte: u64, end: u64 },
}

impl From<WavParseError> for ElementError {
    fn from(error: WavParseError) -> ElementError {
        let (domain, code) = match error {
            WavParseError::Unsupported { .. } => (Domain::Stream, Code::Unsupported),
            WavParseError::Beyond { .. } => (Domain::Flow, Code::Refused),
        };
        ElementError::new(domain, code, error)
    }
}

fn failed(error: WavError) -> ElementError {
    let code = match &error {
        WavError::Empty => Code::Empty,
        WavError::NoData { .. } => Code::Truncated,
        _ => Code::Damaged,
    };
    ElementError::new(Domain::Stream, code, error)
}

/// The caps of a header.
fn caps_of_header(header: &Header) -> Result<Structure, WavParseError> {
    let Format {
        tag, sample_bytes, ..
    } = header.format;
    caps_of(&header.format).ok_or(WavParseError::Unsupported {
        offset: header.data_offset,
        tag,
        bytes: sample_bytes,
    })
}

/// Bytes of a block of the sound that caps describe.
fn block_bytes(caps: Option<&Structure>) -> usize {
    let whole = caps.and_then(block_of).map(|sample| {
        let sample = sample.max(1);
        (u64::from(BLOCK) / sample).max(1).saturating_mul(sample)
    });
    whole.map_or(HEAD, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

impl WavParse {
    fn splitter(&self) -> Splitter {
        let splitter = Splitter::fitting(BLOCK);
        match self.ignore_length {
            true => splitter.ignoring_length(),
            false => splitter,
        }
    }
}

impl Element for WavParse {
    const NAME: &'static str = "wavparse";
    const SUMMARY: &'static str = "Samples out of a WAV file or stream";
    const KLASS: &'static str = "Codec/Demuxer/Audio";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const READY_ONLY: &'static [&'static str] = &["ignore-length"];
    const IGNORED: &'static [&'static str] = &["name", "parent"];

    fn pads() -> Vec<PadTemplate> {
        let mut stream = Caps::from(Structure::new("audio/x-wav"));
        // Two are fewer than a list of caps holds.
        let _ = stream.push(Structure::new("audio/x-rf64"));
        vec![
            PadTemplate::sink("sink", stream).pulls(),
            PadTemplate::source("src", template(&[])),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Bool,
            "ignore-length",
            "Whether samples go on to the end, whatever the header says",
            ignore_length
        )]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        if pad.is_sink() {
            return Ok(query.template.structures().get(index as usize).cloned());
        }
        let header = |_: &Splitter, head: Head<'_, Splitter>| match head {
            Head::Part(Part::Header(header)) => Some(caps_of_header(header)),
            _ => None,
        };
        match read_head(query, self.splitter(), HEAD, failed, header)? {
            Some(caps) => Ok(Some(caps?).filter(|_| index == 0)),
            None => Ok(open(query.template, index)),
        }
    }

    fn propose_pool(&self, _pad: PadAt, _pads: &PadCapsOf) -> Proposal {
        blocks()
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(pool_of(block_bytes(pads.source(0)), downstream))
    }

    /// The block that is read.
    fn retains(&self, _pad: PadAt) -> u32 {
        1
    }

    fn takes_for(&self, _pad: PadAt, pads: &PadCapsOf, outputs: u64, bytes: usize) -> Option<u64> {
        blocks_for(outputs, block_bytes(pads.source(0)), HEAD, bytes)
    }

    fn memory(&self, pads: &PadCapsOf) -> u64 {
        kept(block_bytes(pads.source(0)), pads)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        let splitter = self.splitter();
        let wav = Wav {
            begin: splitter.clone(),
            limit: block_bytes(None),
            rate: None,
            header: None,
            next: 0,
            start: 0,
            stop: None,
            told: false,
        };
        Ok(Box::new(Parsing::new(wav, splitter)))
    }
}

/// WAV as a format to be parsed. Positions count what the format calls a block: a sample of all channels,
/// or what a codec makes of some.
struct Wav {
    /// A machine at the start.
    begin: Splitter,
    limit: usize,
    /// Samples a second, as agreed.
    rate: Option<u32>,
    header: Option<Header>,
    /// What comes next.
    next: u64,
    /// The first that is played, and the first that is not any more.
    start: u64,
    stop: Option<u64>,
    /// That something is odd.
    told: bool,
}

impl Wav {
    /// The unit of times.
    fn base(&self) -> Option<TimeBase> {
        let rate = self.header.map(|header| header.format.rate);
        rate.or(self.rate).and_then(sample_time)
    }

    /// Samples of a block, where they are known.
    fn samples(&self) -> Option<u64> {
        match &self.header {
            Some(header) => samples_of(&header.format),
            None => Some(1),
        }
    }

    /// The blocks that a seek leads to, and the first that is not played any more.
    fn blocks_of(&self, seek: &Seek) -> Result<(u64, Option<u64>), ElementError> {
        let samples = self.samples();
        let (start, stop) = frames_of(seek, samples.and_then(|_| self.base()))?;
        let per = samples.unwrap_or(1).max(1);
        let stop = stop.map(|stop| stop.unsigned_abs().div_ceil(per));
        Ok((start.unsigned_abs() / per, stop))
    }

    /// Where a block begins.
    fn byte_of(header: &Header, block: u64) -> u64 {
        let bytes = block.saturating_mul(header.format.block_align.max(1).into());
        bytes.saturating_add(header.data_offset)
    }
}

impl Parser for Wav {
    type Split = Splitter;
    const HEAD: usize = 0;

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.limit = block_bytes(pads.source(0));
        let rate = pads.source(0).and_then(|caps| number(caps, "rate"));
        self.rate = rate.and_then(|rate| u32::try_from(rate).ok());
        Ok(())
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn part(
        &mut self,
        process: &mut Process<'_>,
        _split: &mut Splitter,
        _span: Span,
        part: Part,
    ) -> Result<Offers, ElementError> {
        match part {
            Part::Header(header) => {
                self.header = Some(header);
                let caps = caps_of_header(&header)?;
                return Ok(core::iter::once((0, caps)).collect());
            }
            Part::Warning(warning) => {
                process.say(warning);
                if !core::mem::replace(&mut self.told, true) {
                    process.warn(Domain::Stream, Code::Damaged);
                }
            }
            Part::Riff | Part::Chunk { .. } | Part::Pad | Part::PartSample => {}
        }
        Ok(Offers::new())
    }

    fn frame(&mut self, seen: &Seen<'_, Block>) -> Result<Deal, ElementError> {
        let Block { first, samples, .. } = seen.info;
        let end = first.saturating_add(samples.into());
        let from = first.max(self.start);
        let to = end.min(self.stop.unwrap_or(u64::MAX));
        if self.stop.is_some_and(|stop| first >= stop) {
            return Ok(Deal::Stop);
        }
        if from >= to {
            return Ok(Deal::Pass);
        }
        let each = seen.data.len() / (samples.max(1) as usize);
        let place = |at: u64| usize::try_from(at - first).unwrap_or(0) * each;
        let mut meta = BufferMeta {
            index: from,
            flags: BufferFlags::KEY,
            ..BufferMeta::default()
        };
        if let (Some(base), Some(per)) = (self.base(), self.samples()) {
            let time = |count: u64| i64::try_from(count.saturating_mul(per)).ok();
            meta.time_base = base;
            meta.pts = time(from);
            meta.duration = time(to - from);
        }
        self.next = to;
        Ok(Deal::Emit(Frame {
            pad: 0,
            range: place(from)..place(to),
            span: seen.span,
            meta,
            caps: None,
        }))
    }

    fn failed(&self, error: WavError) -> ElementError {
        failed(error)
    }

    /// It goes on with the next block of the same blocks: what comes is what would have come.
    fn resume(&mut self, at: Option<u64>, _next: u64) -> Result<Start<Splitter>, &'static str> {
        let header = self.header.ok_or("the header was not read")?;
        let at = at.ok_or("where it goes on is not known")?;
        let align = u64::from(header.format.block_align.max(1));
        let block = (u64::from(BLOCK) / align).max(1) * align;
        let before = at.saturating_sub(header.data_offset).div_ceil(block);
        let begins = before
            .saturating_mul(block)
            .saturating_add(header.data_offset);
        Ok(self.begin.clone().going_on(header, begins))
    }

    fn plan_seek(
        &self,
        seek: &Seek,
        bytes: Option<&Arc<dyn Bytes>>,
    ) -> Result<Seeking, ElementError> {
        let base = self.base();
        let (block, _) = self.blocks_of(seek)?;
        let (start, stop) = frames_of(seek, base)?;
        let segment = Segment {
            start,
            stop,
            time: start,
            rate: seek.rate,
            base: 0,
            time_base: base.unwrap_or_default(),
        };
        // Before the header was read what is before is read too, and left out.
        let Some(header) = &self.header else {
            return Ok(match seek.flush && bytes.is_none() {
                true => Seeking::Through(Seek::byte(0), segment),
                false => Seeking::Here(segment),
            });
        };
        let byte = Wav::byte_of(header, block);
        let end = header
            .data_offset
            .saturating_add(header.data_len.unwrap_or(u64::MAX));
        let end = end.min(bytes.map_or(u64::MAX, |bytes| bytes.available().total));
        if byte > end {
            let sample = start;
            return Err(WavParseError::Beyond { sample, byte, end }.into());
        }
        if bytes.is_some() {
            return Ok(Seeking::Here(segment));
        }
        let upstream = Seek {
            flush: seek.flush,
            ..Seek::byte(i64::try_from(byte).unwrap_or(i64::MAX))
        };
        Ok(Seeking::Through(upstream, segment))
    }

    fn seek(&mut self, seek: &Seek, bytes: Option<&Arc<dyn Bytes>>) -> Option<Start<Splitter>> {
        let (start, stop) = self.blocks_of(seek).ok()?;
        (self.start, self.stop) = (start, stop);
        let Some(header) = self.header else {
            let anew = seek.flush || bytes.is_some();
            return anew.then(|| (self.begin.clone(), 0));
        };
        self.next = start;
        Some(
            self.begin
                .clone()
                .going_on(header, Wav::byte_of(&header, start)),
        )
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        let at = self.next.saturating_mul(self.samples()?);
        Some((i64::try_from(at).ok()?, self.base()?))
    }

    fn duration(&self, bytes: Option<&Arc<dyn Bytes>>) -> Option<(i64, TimeBase)> {
        let header = self.header?;
        let there = bytes.map(|bytes| bytes.available().total);
        let there = there.map(|total| total.saturating_sub(header.data_offset));
        let bytes = match (header.data_len, there) {
            (Some(said), Some(there)) => said.min(there),
            (said, there) => said.or(there)?,
        };
        let blocks = bytes / u64::from(header.format.block_align.max(1));
        let samples = blocks.saturating_mul(self.samples()?);
        Some((i64::try_from(samples).ok()?, self.base()?))
    }

    fn seeks(&self, _pulls: bool) -> Option<bool> {
        Some(true)
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("block", self.next);
        visitor.unsigned("start", self.start);
        visitor.unsigned("stop", self.stop.unwrap_or(u64::MAX));
        visitor.flag("headed", self.header.is_some());
    }
}
