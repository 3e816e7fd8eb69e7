//! An AVI file by position: its streams and every frame's place and time, from an index that was
//! checked, or from a walk over the heads of chunks. No I/O of its own.

use crate::cut::{Cut, CutError, FourCc, ReadAt, ReadFault, Span, Truncated, WalkError, Walker};

use super::error::{AviError, AviWarning};
use super::header::{Clock, FrameInfo, Header, frame_id};
use super::index::{Failed, IndexFault, Listed, Lists, head_at};
use super::split::{Part, Splitter, is_known};

/// Bytes kept while walking; more than any chunk that is looked at has.
const LIMIT: usize = 4096;
/// Warnings, and runs of junk, that are listed; of a file that has more they are counted.
const MAX_LISTED: usize = 1024;
/// Chunks between the frames and `idx1` that are passed over.
const MAX_BETWEEN: usize = 64;

/// A frame in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its payload; the head of its chunk is the 8 bytes before.
    pub data: Span,
    /// What is known of it.
    pub info: FrameInfo,
}

impl Entry {
    /// Whether these 8 bytes, which stand before its payload, say that it is this frame.
    pub fn is_headed_by(&self, head: &[u8]) -> bool {
        let id = FourCc::at(head, 0).and_then(frame_id);
        let len = crate::cut::u32_at(head, 4).map(u64::from);
        id == Some((self.info.stream, true)) && len == Some(self.data.len)
    }
}

/// Where the places of frames are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Built {
    /// From `idx1`.
    Idx1 {
        /// Whether it counts from the file's start, not from `movi`.
        absolute: bool,
    },
    /// From OpenDML's `indx`.
    OpenDml,
    /// From the heads of all chunks.
    Walk {
        /// Why no index counts.
        because: IndexFault,
    },
}

/// An AVI file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movie {
    /// What is said of it.
    pub header: Header,
    /// Its frames, in its order.
    pub frames: Vec<Entry>,
    /// Where their places are from.
    pub built: Built,
    /// What is odd. From an index, oddities among the frames that it lists are not seen.
    pub warnings: Vec<AviWarning>,
    /// Bytes among the frames that belong to nothing.
    pub junk: Vec<Span>,
    /// Further runs of such bytes: the first 1024 are listed, as are as many warnings.
    pub more_junk: u64,
    /// What the file ends within, if it does not end behind a chunk.
    pub rest: Option<Truncated>,
    /// Why it cannot be read behind its last frame, if that is so.
    pub fault: Option<AviError>,
    /// Each stream's frames, as places in `frames`.
    of_stream: Vec<Vec<u32>>,
}

/// Why a file cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MovieError {
    /// It cannot be read.
    #[error(transparent)]
    Walk(#[from] WalkError<AviError>),
    /// It ends before its frames begin.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// It has more frames than may be listed.
    #[error("more than the {limit} frames that may be listed")]
    TooMany {
        /// Most frames.
        limit: usize,
    },
}

impl From<ReadFault> for MovieError {
    fn from(fault: ReadFault) -> MovieError {
        MovieError::Walk(fault.into())
    }
}

/// What a walk found.
#[derive(Default)]
struct Walked {
    warnings: Vec<AviWarning>,
    junk: Vec<Span>,
    more_junk: u64,
    rest: Option<Truncated>,
    fault: Option<AviError>,
}

impl Walked {
    fn warn(&mut self, warning: AviWarning) {
        if self.warnings.len() < MAX_LISTED {
            self.warnings.push(warning);
        }
    }

    fn junk(&mut self, span: Span) {
        match self.junk.len() < MAX_LISTED {
            true => self.junk.push(span),
            false => self.more_junk += 1,
        }
    }
}

type HeadWalker<'s, R> = Walker<'s, Splitter, R>;

impl Movie {
    /// Reads the header, and the places of at most `limit` frames.
    ///
    /// # Errors
    /// [`MovieError`]. An index that is wrong is no error: see [`Built`].
    pub fn open<R: ReadAt + ?Sized>(source: &R, limit: usize) -> Result<Movie, MovieError> {
        let limit = limit.min(u32::MAX as usize);
        let mut walker = Walker::new(source, Splitter::heads(), LIMIT, 0);
        let mut walked = Walked::default();
        let movie = loop {
            match walker.next_cut()? {
                Cut::Part { part, .. } => match part {
                    Part::Movie { offset, size } => break (offset, size),
                    Part::Warning(warning) => walked.warn(warning),
                    _ => {}
                },
                Cut::Rest(rest) => return Err(rest.into()),
                Cut::End => {
                    let offset = source.size();
                    return Err(WalkError::Cut(AviError::NoMovie { offset }.into()).into());
                }
                Cut::NeedInput | Cut::Frame { .. } | Cut::Junk(_) => {}
            }
        };
        let header = walker.split().header().clone();
        // An index says nothing of what stands behind the file as it is written.
        let end = walker.split().written_end();
        let behind = end.filter(|&end| end < source.size());
        let more = match behind {
            Some(end) => head_at(source, end)?.is_some_and(|(id, _)| id.0 == *b"RIFF"),
            None => true,
        };
        let indexed = match (behind, more) {
            (Some(offset), false) => Err(IndexFault::Unlisted { offset }.into()),
            _ => from_index(source, &header, movie, limit),
        };
        let built = match indexed {
            Ok((built, listed, rest)) => {
                walked.warnings.extend_from_slice(walker.split().due());
                walked.rest = rest;
                let offset = source.size();
                let end = walker.split().unfinished(offset);
                walked.fault = end.map(|end| AviError::Unfinished { offset, end });
                let frames = timed(&header, &listed);
                return Ok(Movie::new(header, frames, built, walked));
            }
            Err(Failed::Read(fault)) => return Err(fault.into()),
            Err(Failed::TooMany) => return Err(MovieError::TooMany { limit }),
            Err(Failed::Fault(because)) => Built::Walk { because },
        };
        let frames = walk_on(&mut walker, &mut walked, limit)?;
        Ok(Movie::new(header, frames, built, walked))
    }

    fn new(header: Header, frames: Vec<Entry>, built: Built, walked: Walked) -> Movie {
        let mut of_stream = vec![Vec::new(); header.streams.len()];
        for (at, frame) in (0u32..).zip(&frames) {
            if let Some(list) = of_stream.get_mut(usize::from(frame.info.stream)) {
                list.push(at);
            }
        }
        let Walked {
            warnings,
            junk,
            more_junk,
            rest,
            fault,
        } = walked;
        Movie {
            header,
            frames,
            built,
            warnings,
            junk,
            more_junk,
            rest,
            fault,
            of_stream,
        }
    }

    /// The frames of a stream, as places in [`frames`](Movie::frames).
    pub fn of_stream(&self, stream: u16) -> &[u32] {
        self.of_stream
            .get(usize::from(stream))
            .map_or(&[], Vec::as_slice)
    }

    /// The frame of a stream that is due at `time` (in its ticks), as a place in
    /// [`frames`](Movie::frames): the last one that is not later, or the first.
    pub fn at(&self, stream: u16, time: u64) -> Option<usize> {
        let (list, at) = self.place(stream, time)?;
        list.get(at).map(|at| *at as usize)
    }

    /// Where to begin for what is due at `time`: the last key frame that is not later. Where keys are
    /// not known, the stream's first frame.
    pub fn key_at(&self, stream: u16, time: u64) -> Option<usize> {
        let (list, at) = self.place(stream, time)?;
        let before = list.get(..=at)?;
        let is_key = |at: &&u32| {
            let frame = self.frames.get(**at as usize);
            frame.is_some_and(|f| f.info.key == Some(true))
        };
        let found = before.iter().rev().find(is_key).or(list.first());
        found.map(|at| *at as usize)
    }

    fn place(&self, stream: u16, time: u64) -> Option<(&[u32], usize)> {
        let list = self.of_stream(stream);
        let later = list.partition_point(|at| {
            let frame = self.frames.get(*at as usize);
            frame.is_some_and(|f| f.info.time <= time)
        });
        (!list.is_empty()).then(|| (list, later.saturating_sub(1)))
    }
}

/// The rest of the file, head by head.
fn walk_on<R: ReadAt + ?Sized>(
    walker: &mut HeadWalker<'_, R>,
    walked: &mut Walked,
    limit: usize,
) -> Result<Vec<Entry>, MovieError> {
    let mut frames = Vec::new();
    loop {
        let cut = match walker.next_cut() {
            Err(WalkError::Cut(CutError::Format(fault))) => {
                walked.fault = Some(fault);
                return Ok(frames);
            }
            cut => cut?,
        };
        match cut {
            Cut::Part { span, part } => match part {
                Part::Frame(_) if frames.len() >= limit => {
                    return Err(MovieError::TooMany { limit });
                }
                Part::Frame(info) => frames.push(Entry {
                    data: Span {
                        offset: span.offset + 8,
                        len: span.len.saturating_sub(8),
                    },
                    info,
                }),
                Part::Warning(warning) => walked.warn(warning),
                _ => {}
            },
            Cut::Junk(span) => walked.junk(span),
            Cut::Rest(rest) => walked.rest = Some(rest),
            Cut::End => return Ok(frames),
            Cut::NeedInput | Cut::Frame { .. } => {}
        }
    }
}

/// The frames that an index lists, with their times.
fn timed(header: &Header, listed: &[Listed]) -> Vec<Entry> {
    let mut clock = Clock::default();
    let entry = |listed: &Listed| {
        let len = u32::try_from(listed.data.len).unwrap_or(u32::MAX);
        let info = clock.next(header, listed.stream, len, Some(listed.key))?;
        Some(Entry {
            data: listed.data,
            info,
        })
    };
    listed.iter().filter_map(entry).collect()
}

/// A frame, or a chunk that nobody knows: it may be one by mistake, with frames in it.
fn hides_frames(part: &Part) -> bool {
    match part {
        Part::Frame(_) => true,
        Part::Chunk { id } => !is_known(*id) && frame_id(*id).is_none(),
        _ => false,
    }
}

type FromIndex = (Built, Vec<Listed>, Option<Truncated>);

/// The frames that an index lists, if it counts: OpenDML's, else `idx1`.
fn from_index<R: ReadAt + ?Sized>(
    source: &R,
    header: &Header,
    (movie, size): (u64, u32),
    limit: usize,
) -> Result<FromIndex, Failed> {
    let try_one = |built: Built, mut listed: Vec<Listed>| {
        listed.sort_by_key(|l| l.data.offset);
        let rest = check(source, header, movie, &listed)?;
        Ok((built, listed, rest))
    };
    let mut lists = Lists::new(header, limit);
    let opendml = lists
        .read_indx(source)
        .and_then(|()| try_one(Built::OpenDml, std::mem::take(&mut lists.listed)));
    let fault = match opendml {
        Err(Failed::Fault(fault)) => fault,
        other => return other,
    };
    let Some(body) = find_idx1(source, movie, size)? else {
        return Err(fault.into());
    };
    let mut lists = Lists::new(header, limit);
    let absolute = lists.read_idx1(source, body, movie)?;
    try_one(Built::Idx1 { absolute }, lists.listed)
}

/// The body of `idx1`, which stands behind the `movi` list.
fn find_idx1<R: ReadAt + ?Sized>(
    source: &R,
    movie: u64,
    size: u32,
) -> Result<Option<Span>, ReadFault> {
    let mut at = movie + 8 + u64::from(size) + u64::from(size % 2);
    for _ in 0..MAX_BETWEEN {
        match head_at(source, at)? {
            Some((FourCc(id), len)) if id == *b"idx1" => {
                return Ok(Some(Span {
                    offset: at + 8,
                    len: u64::from(len),
                }));
            }
            Some((id, len)) if id.is_printable() && id.0 != *b"RIFF" => {
                at += 8 + u64::from(len) + u64::from(len % 2);
            }
            _ => break,
        }
    }
    Ok(None)
}

/// Whether the frames are there, and all of them; what the file ends within, if anything.
fn check<R: ReadAt + ?Sized>(
    source: &R,
    header: &Header,
    movie: u64,
    listed: &[Listed],
) -> Result<Option<Truncated>, Failed> {
    if listed.is_empty() {
        return Err(IndexFault::Empty { offset: movie }.into());
    }
    // `movi` itself, then frames.
    let (mut next, mut odd) = (movie + 12, false);
    for entry in listed {
        let Span { offset, len } = entry.data;
        if offset < movie + 20 || entry.data.end() > source.size() {
            return Err(IndexFault::Outside { offset, len }.into());
        }
        let head = offset - 8;
        if head < next {
            return Err(IndexFault::Overlap { offset: head }.into());
        }
        // A pad byte is no gap.
        if head != next + u64::from(odd) {
            check_gap(source, header, (next, head), odd)?;
        }
        (next, odd) = (entry.data.end(), len % 2 == 1);
    }
    // Read here, they are not read again: the frames are those of a walk, byte for byte.
    for entry in listed {
        let Span { offset, len } = entry.data;
        let stands = head_at(source, offset - 8)?;
        let found = stands.map_or_else(FourCc::default, |(id, _)| id);
        let is_it = stands.is_some_and(|(id, size)| {
            frame_id(id) == Some((entry.stream, true)) && u64::from(size) == len
        });
        if !is_it {
            return Err(IndexFault::NoFrame { offset, found }.into());
        }
    }
    check_gap(source, header, (next, source.size()), odd)
}

/// Walks from a frame's end (its size may be `odd`) to `to`, where no frame may stand; what the file
/// ends within, if it does there.
fn check_gap<R: ReadAt + ?Sized>(
    source: &R,
    header: &Header,
    (from, to): (u64, u64),
    odd: bool,
) -> Result<Option<Truncated>, Failed> {
    let splitter = Splitter::behind_a_frame(header, odd);
    let mut walker = Walker::new(source, splitter, LIMIT, from);
    let mut at = from;
    while at < to {
        let cut = match walker.next_cut() {
            Ok(cut) => cut,
            Err(WalkError::Read(fault)) => return Err(fault.into()),
            Err(WalkError::Cut(_)) => return Err(IndexFault::Unlisted { offset: at }.into()),
        };
        match cut {
            Cut::Part { span, part } if !hides_frames(&part) => at = span.end(),
            Cut::Rest(rest) if to == source.size() => return Ok(Some(rest)),
            Cut::End => break,
            Cut::Part { span, .. } | Cut::Junk(span) => {
                return Err(IndexFault::Unlisted {
                    offset: span.offset,
                }
                .into());
            }
            Cut::NeedInput | Cut::Frame { .. } | Cut::Rest(_) => {
                return Err(IndexFault::Unlisted { offset: at }.into());
            }
        }
    }
    if at > to {
        return Err(IndexFault::Unlisted { offset: to }.into());
    }
    Ok(None)
}
