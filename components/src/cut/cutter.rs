//! The cutter for bytes that arrive in chunks of any size. No I/O.

use std::ops::Range;

use super::{Cut, CutError, CutResult, Span, Split, Step, Truncated};

/// Bytes added to a kept rest at a time when nobody knows how many are missing.
const BLOCK: usize = 4096;

/// Cuts a stream that arrives in chunks.
///
/// ```
/// # use tickpipe_components::{cut::{Cut, Cutter}, jpeg::Splitter};
/// # let chunks = [&b"\xFF\xD8 a \xFF"[..], b"\xD9\xFF\xD8"];
/// let mut cutter = Cutter::new(Splitter::new(), 1 << 20);
/// let mut frames = Vec::new();
/// for chunk in chunks {
///     let mut rest = chunk;
///     loop {
///         let (used, cut) = cutter.next(rest)?;
///         rest = &rest[used..];
///         match cut {
///             Cut::NeedInput => break,
///             Cut::Frame { data, .. } => frames.push(data.to_vec()),
///             _ => {}
///         }
///     }
/// }
/// let Cut::Rest(cut_off) = cutter.last()? else { panic!() };
/// assert_eq!(cut_off.to_string(), "truncated: JPEG frame at byte 7, 2 bytes");
/// assert_eq!(cutter.last()?, Cut::End);
/// # assert_eq!(frames, [b"\xFF\xD8 a \xFF\xD9"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cutter<S: Split> {
    split: S,
    limit: usize,
    /// Bytes that came and are not used up, after `start`.
    kept: Vec<u8>,
    start: usize,
    /// Offset in the stream of the first byte that is not used up.
    position: u64,
    /// Bytes that the window must have for the next step, and whether that is all that is due.
    need: (u64, bool),
    /// A run of junk that is not told yet.
    junk: Option<Span>,
    /// A part on its way past, with the bytes of it still to come.
    skip: Option<(S::Part, Span, u64)>,
    /// A frame in `kept` that waits until the junk before it is told.
    ready: Option<Frame<S::Info>>,
    failed: Option<CutError<S::Error>>,
    ended: bool,
}

/// Where a frame lies.
#[derive(Clone, Debug)]
pub(super) struct Frame<I> {
    span: Span,
    data_offset: u64,
    /// The payload's place in the kept bytes, or else in the input.
    kept: bool,
    range: Range<usize>,
    info: I,
}

/// A cut that does not borrow yet.
pub(super) enum Found<I, P> {
    NeedInput,
    Frame(Frame<I>),
    Junk(Span),
    Part { span: Span, part: P },
    Rest(Truncated),
    End,
}

type Answer<S> =
    Result<(usize, Found<<S as Split>::Info, <S as Split>::Part>), CutError<<S as Split>::Error>>;

impl<S: Split> Cutter<S> {
    /// A cutter at the start of a stream that keeps at most `limit` bytes.
    pub fn new(split: S, limit: usize) -> Cutter<S> {
        Cutter::starting_at(split, limit, 0)
    }

    /// A cutter whose first byte is byte `offset` of the stream.
    pub fn starting_at(split: S, limit: usize, offset: u64) -> Cutter<S> {
        Cutter {
            split,
            limit,
            kept: Vec::new(),
            start: 0,
            position: offset,
            need: (1, false),
            junk: None,
            skip: None,
            ready: None,
            failed: None,
            ended: false,
        }
    }

    /// The format's machine.
    pub const fn split(&self) -> &S {
        &self.split
    }

    /// The same, to tell it something.
    pub const fn split_mut(&mut self) -> &mut S {
        &mut self.split
    }

    /// Has it keep other than so many bytes, from now on.
    pub const fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Most bytes that are kept.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes kept at the moment, at most [`limit`](Cutter::limit).
    pub fn kept(&self) -> usize {
        self.kept.len().saturating_sub(self.start)
    }

    /// Bytes that must come until the next step, 1 or more.
    pub fn wanted(&self) -> u64 {
        self.need.0.saturating_sub(self.kept() as u64).max(1)
    }

    /// Whether [`wanted`](Cutter::wanted) is all of what is due.
    pub(super) fn wanted_is_exact(&self) -> bool {
        self.need.1
    }

    /// Bytes that are passed over next, whatever they are.
    pub fn passing(&self) -> u64 {
        match (&self.skip, &self.ready) {
            (Some((_, _, left)), None) => *left,
            _ => 0,
        }
    }

    /// Says that up to `count` of the bytes that are [passed over](Cutter::passing) will not be
    /// given; returns how many.
    pub fn pass(&mut self, count: u64) -> u64 {
        let count = count.min(self.passing());
        if let Some((_, _, left)) = &mut self.skip {
            *left -= count;
            self.position += count;
        }
        count
    }

    /// Uses input up to the next cut; returns how many bytes it used. Input that is not used is to
    /// be given again, first, in the next call.
    ///
    /// # Errors
    /// [`CutError`]; the same one for ever then.
    #[allow(clippy::type_complexity, reason = "a number beside CutResult's cut")]
    pub fn next<'a>(
        &'a mut self,
        input: &'a [u8],
    ) -> Result<(usize, Cut<'a, S::Info, S::Part>), CutError<S::Error>> {
        let (used, found) = self.find(input, false)?;
        Ok((used, self.give(input, found)))
    }

    /// Says that no more input comes: to be called until it gives [`Cut::End`].
    ///
    /// # Errors
    /// [`CutError`]; the same one for ever then.
    pub fn last(&mut self) -> CutResult<'_, S> {
        let (_, found) = self.find(&[], true)?;
        Ok(self.give(&[], found))
    }

    /// The cut with its bytes.
    pub(super) fn give<'a>(
        &'a self,
        input: &'a [u8],
        found: Found<S::Info, S::Part>,
    ) -> Cut<'a, S::Info, S::Part> {
        match found {
            Found::NeedInput => Cut::NeedInput,
            Found::Junk(span) => Cut::Junk(span),
            Found::Part { span, part } => Cut::Part { span, part },
            Found::Rest(rest) => Cut::Rest(rest),
            Found::End => Cut::End,
            Found::Frame(frame) => {
                let bytes = if frame.kept { &self.kept } else { input };
                Cut::Frame {
                    span: frame.span,
                    data_offset: frame.data_offset,
                    data: bytes.get(frame.range).unwrap_or(&[]),
                    info: frame.info,
                }
            }
        }
    }

    pub(super) fn find(&mut self, input: &[u8], last: bool) -> Answer<S> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let answer = self.search(input, last);
        if let Err(error) = &answer {
            self.failed = Some(error.clone());
            if let Some(junk) = self.junk.take() {
                // What was before the error is told before it.
                return Ok((0, Found::Junk(junk)));
            }
        }
        answer
    }

    fn search(&mut self, input: &[u8], last: bool) -> Answer<S> {
        let mut used = 0;
        loop {
            if let Some(frame) = self.ready.take() {
                return Ok((used, Found::Frame(frame)));
            }
            let rest = input.get(used..).unwrap_or(&[]);
            if let Some((part, span, left)) = self.skip.take() {
                let take = left.min(rest.len() as u64);
                used += take as usize;
                self.position += take;
                let left = left - take;
                if left == 0 {
                    return Ok((used, Found::Part { span, part }));
                }
                if last {
                    self.ended = true;
                    return Ok((used, Found::Rest(cut_off(&part, span, left, S::name))));
                }
                self.skip = Some((part, span, left));
                return Ok((used, Found::NeedInput));
            }
            if self.ended {
                return Ok((used, Found::End));
            }
            // The window: the input itself, or, after a rest, the rest and input added to it.
            let have = self.kept();
            let (step, seen) = if have == 0 {
                let window = rest.get(..self.limit).unwrap_or(rest);
                self.forget();
                (self.split.step(window, self.position, last)?, window.len())
            } else {
                let added = self.add(rest);
                let window = self.kept.get(self.start..).unwrap_or(&[]);
                (self.split.step(window, self.position, last)?, have + added)
            };
            match step {
                Step::More { need, exact, what } => {
                    // A format that asks for what it has would ask for ever.
                    let need = need.max(seen as u64 + 1);
                    if need > self.limit as u64 && !(last && seen == 0) {
                        return Err(CutError::TooLarge {
                            what,
                            offset: self.position,
                            size: need,
                            exact,
                            limit: self.limit,
                        });
                    }
                    self.need = (need, exact);
                    if have == 0 && !last {
                        self.kept.extend_from_slice(rest);
                        return Ok((used + rest.len(), Found::NeedInput));
                    }
                    used += seen - have;
                    if last {
                        return Ok((used, self.finish(seen, what, exact.then_some(need))));
                    }
                    if used == input.len() {
                        return Ok((used, Found::NeedInput));
                    }
                }
                Step::Junk { len } => {
                    let len = len.min(seen);
                    let offset = self.position;
                    let run = self.junk.get_or_insert(Span { offset, len: 0 });
                    run.len += len as u64;
                    used += self.consume(len, have);
                }
                Step::Part { len, part } => {
                    let span = Span {
                        offset: self.position,
                        len,
                    };
                    let take = len.min(seen as u64);
                    used += self.consume(take as usize, have);
                    self.skip = Some((part, span, len - take));
                    if let Some(junk) = self.junk.take() {
                        return Ok((used, Found::Junk(junk)));
                    }
                }
                Step::Frame { len, data, info } => {
                    let len = len.min(seen);
                    let base = if have == 0 { used } else { self.start };
                    let mut frame = Frame {
                        span: Span {
                            offset: self.position,
                            len: len as u64,
                        },
                        data_offset: self.position + data.start as u64,
                        kept: have > 0,
                        range: base + data.start..base + data.end.min(len),
                        info,
                    };
                    let Some(junk) = self.junk.take() else {
                        used += self.consume(len, have);
                        return Ok((used, Found::Frame(frame)));
                    };
                    if have == 0 {
                        // The input may be gone when the frame's turn comes.
                        self.kept.extend_from_slice(rest.get(..len).unwrap_or(&[]));
                        self.start = len;
                        self.position += len as u64;
                        used += len;
                        frame.kept = true;
                        frame.range = data.start..data.end.min(len);
                    } else {
                        used += self.consume(len, have);
                    }
                    self.ready = Some(frame);
                    return Ok((used, Found::Junk(junk)));
                }
            }
        }
    }

    /// Drops bytes that are used up, all of them.
    fn forget(&mut self) {
        self.kept.clear();
        self.start = 0;
    }

    /// Adds input to the kept rest, no more than is useful; returns how many bytes.
    fn add(&mut self, rest: &[u8]) -> usize {
        self.kept.drain(..self.start);
        self.start = 0;
        let have = self.kept.len();
        let useful = usize::try_from(self.need.0).unwrap_or(usize::MAX);
        let useful = useful.saturating_sub(have).max(BLOCK);
        let room = self.limit.saturating_sub(have);
        let take = rest.len().min(useful).min(room);
        self.kept.extend_from_slice(rest.get(..take).unwrap_or(&[]));
        take
    }

    /// Uses up the first `len` bytes of the window, of which `have` were kept before; returns how
    /// many bytes of input that takes. The bytes stay where they are until the next call.
    fn consume(&mut self, len: usize, have: usize) -> usize {
        self.position += len as u64;
        if have == 0 {
            return len;
        }
        // Input that was added and is not used up is left in the input.
        self.kept.truncate(self.start + len.max(have));
        self.start += len;
        len.saturating_sub(have)
    }

    /// The end: the run of junk, then the rest, then the end itself.
    fn finish(
        &mut self,
        have: usize,
        what: &'static str,
        need: Option<u64>,
    ) -> Found<S::Info, S::Part> {
        if let Some(junk) = self.junk.take() {
            return Found::Junk(junk);
        }
        self.ended = true;
        if have == 0 {
            return Found::End;
        }
        let offset = self.position;
        self.position += have as u64;
        self.forget();
        Found::Rest(Truncated {
            what,
            offset,
            have: have as u64,
            need,
        })
    }
}

fn cut_off<P>(part: &P, span: Span, left: u64, name: fn(&P) -> &'static str) -> Truncated {
    Truncated {
        what: name(part),
        offset: span.offset,
        have: span.len - left,
        need: Some(span.len),
    }
}
