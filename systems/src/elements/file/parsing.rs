//! What all parsers do: cut what comes into frames, each into a buffer of the own pool, with the caps that
//! the stream says. What differs between formats is a [`Parser`]. It works on the lane of its element.

use super::arriving::Stamp;
use super::cutting::{Cutting, Piece, Seen};
use crate::element::{PadAt, PadCapsOf, Process, Seeking, Work};
use core::ops::Range;
use smallvec::SmallVec;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::cut::{CutError, Span, Split, Truncated};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::{Event, Gap};
use tickpipe_components::fabric::{Granted, RoomFor};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::TimeBase;

/// Junk and such of which each is told; the rest of a stream's is counted only.
pub(super) const TOLD: u64 = 64;

/// What is wrong with a stream, whatever its format.
#[derive(Debug, Error)]
pub(super) enum ParseError {
    /// A frame does not fit into a buffer.
    #[error(
        "{what} at byte {offset} takes {}{size} bytes, and a buffer has {limit}: the property frame-bytes \
         says how many it has",
        if *.exact { "" } else { "at least " }
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Bytes of it.
        size: u64,
        /// Whether it has no more.
        exact: bool,
        /// Bytes of a buffer.
        limit: u64,
    },
    /// What was discarded on the way cannot be done without.
    #[error("bytes {from} to {} were discarded on the way: {why}", told(.to))]
    Lost {
        /// Where they begin.
        from: u64,
        /// Where the next byte stands.
        to: Option<u64>,
        /// Why it cannot go on.
        why: &'static str,
    },
    /// There is nothing of the kind.
    #[error("no {what} in {bytes} bytes")]
    Nothing {
        /// What there should be.
        what: &'static str,
        /// Bytes that came.
        bytes: u64,
    },
}

fn told(to: &Option<u64>) -> String {
    to.map_or_else(|| "somewhere".to_owned(), |to| to.to_string())
}

impl From<ParseError> for ElementError {
    fn from(error: ParseError) -> ElementError {
        let (domain, code) = match error {
            ParseError::TooLarge { .. } => (Domain::Pool, Code::Limit),
            ParseError::Lost { .. } => (Domain::Stream, Code::Damaged),
            ParseError::Nothing { .. } => (Domain::Stream, Code::Empty),
        };
        ElementError::new(domain, code, error)
    }
}

/// A stream that ends within something.
pub(super) fn truncated(rest: Truncated) -> ElementError {
    ElementError::new(Domain::Stream, Code::Truncated, rest)
}

/// A frame that is to be emitted.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// On this source pad.
    pub pad: usize,
    /// These bytes of the payload.
    pub range: Range<usize>,
    /// Bytes of the payload and its head in the stream.
    pub span: Span,
    /// Its times and marks.
    pub meta: BufferMeta,
    /// What the pad must have before it, if that may be new.
    pub caps: Option<Structure>,
}

/// What becomes of a frame.
#[derive(Clone, Debug)]
pub(super) enum Deal {
    /// It is emitted.
    Emit(Frame),
    /// It is passed over.
    Pass,
    /// It stands for an interval without content on a pad.
    Gap(usize, Gap),
    /// It lies behind what is to be played: that is the end.
    Stop,
}

/// Caps that source pads have from now on.
pub(super) type Offers = SmallVec<[(usize, Structure); 1]>;

/// Where a stream goes on: a machine, and the byte at which it begins.
pub(super) type Start<S> = (S, u64);

/// What a format adds.
pub(super) trait Parser: Send + Sync {
    /// Its machine.
    type Split: Split + Send + Sync;
    /// What stands in a frame besides its payload, in bytes.
    const HEAD: usize;
    /// Each frame goes to one of several source pads.
    const APART: bool = false;

    /// The caps are agreed.
    ///
    /// # Errors
    /// A refusal.
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError>;

    /// Most bytes of a payload.
    fn limit(&self) -> usize;

    /// Looks at its pads, before anything else in a tick.
    fn look(&mut self, process: &Process<'_>, split: &mut Self::Split) {
        let _ = (process, split);
    }

    /// Something other than a frame; what source pads have from there on.
    ///
    /// # Errors
    /// Why it cannot go on.
    fn part(
        &mut self,
        process: &mut Process<'_>,
        split: &mut Self::Split,
        span: Span,
        part: <Self::Split as Split>::Part,
    ) -> Result<Offers, ElementError>;

    /// A frame.
    ///
    /// # Errors
    /// Why it cannot go on.
    fn frame(
        &mut self,
        seen: &Seen<'_, <Self::Split as Split>::Info>,
    ) -> Result<Deal, ElementError>;

    /// Bytes that a frame takes in a buffer.
    fn size(&self, frame: &Frame) -> usize {
        frame.range.len()
    }

    /// Writes a frame, of so many bytes.
    ///
    /// # Errors
    /// Why it cannot be.
    fn fill(&self, frame: &Frame, payload: &[u8], to: &mut [u8]) -> Result<(), ElementError> {
        let payload = payload.get(frame.range.clone()).unwrap_or_default();
        if to.len() == payload.len() {
            to.copy_from_slice(payload);
        }
        Ok(())
    }

    /// The times of the block that a frame begins in, if it had any.
    fn stamp(&mut self, frame: &mut Frame, stamp: Option<Stamp>) {
        let _ = (frame, stamp);
    }

    /// Why it cannot be cut further.
    fn failed(&self, error: <Self::Split as Split>::Error) -> ElementError;

    /// The stream is over, `bytes` after its start.
    ///
    /// # Errors
    /// What is missing.
    fn end(&mut self, process: &mut Process<'_>, bytes: u64) -> Result<(), ElementError> {
        let _ = (process, bytes);
        Ok(())
    }

    /// Bytes were discarded on the way; `at` is where the next one stands, if that is known, else the next
    /// number is as good as any.
    ///
    /// # Errors
    /// Why it cannot go on.
    fn resume(&mut self, at: Option<u64>, next: u64) -> Result<Start<Self::Split>, &'static str>;

    /// See [`Work::plan_seek`]; `bytes` is what it pulls.
    ///
    /// # Errors
    /// Why it cannot.
    fn plan_seek(
        &self,
        seek: &Seek,
        bytes: Option<&Arc<dyn Bytes>>,
    ) -> Result<Seeking, ElementError>;

    /// Goes there; where its bytes go on, if elsewhere.
    fn seek(&mut self, seek: &Seek, bytes: Option<&Arc<dyn Bytes>>) -> Option<Start<Self::Split>>;

    /// See [`Work::position`].
    fn position(&self) -> Option<(i64, TimeBase)>;

    /// How long the stream is, as far as that is known.
    fn duration(&self, bytes: Option<&Arc<dyn Bytes>>) -> Option<(i64, TimeBase)> {
        let _ = bytes;
        None
    }

    /// Whether it can go elsewhere, where it pulls or does not; `None` leaves it to those upstream.
    fn seeks(&self, pulls: bool) -> Option<bool>;

    /// What can make a difference later.
    fn state(&self, visitor: &mut dyn StateVisitor);
}

/// Where a frame waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// In a buffer that is put aside.
    Aside,
    /// In memory of the parser's own: there was no buffer for it yet.
    Own,
}

/// A parser at work.
pub(super) struct Parsing<P: Parser> {
    parser: P,
    cutting: Cutting<P::Split>,
    /// The caps of its source pads.
    agreed: SmallVec<[Option<Structure>; 1]>,
    /// What is to be announced of them, one after the other.
    offers: Offers,
    /// A frame that could not be emitted yet.
    waiting: Option<(Frame, Kept)>,
    own: Vec<u8>,
    /// By source pad: what comes next does not follow what was before.
    apart: SmallVec<[bool; 1]>,
    /// Bytes of what is told so far.
    told: u64,
    /// Nothing more is to be played.
    stopped: bool,
}

impl<P: Parser> Parsing<P> {
    /// At the start of a stream.
    pub(super) fn new(parser: P, split: P::Split) -> Parsing<P> {
        let limit = parser.limit().saturating_add(P::HEAD);
        Parsing {
            parser,
            cutting: Cutting::new(split, limit),
            agreed: SmallVec::new(),
            offers: Offers::new(),
            waiting: None,
            own: Vec::new(),
            apart: SmallVec::new(),
            told: 0,
            stopped: false,
        }
    }

    /// Whether a source pad has these caps, and perhaps more.
    fn has(&self, pad: usize, caps: &Structure) -> bool {
        has(self.agreed.get(pad).and_then(Option::as_ref), caps)
    }

    /// Has source pads have what the stream says; false while that is not agreed.
    fn announce(&mut self, process: &mut Process<'_>) -> bool {
        while let Some((pad, caps)) = self.offers.first() {
            if !self.has(*pad, caps) && !process.announce(*pad, &Caps::from(caps.clone())) {
                return false;
            }
            self.offers.remove(0);
        }
        true
    }

    fn offer(&mut self, offers: Offers) {
        for (pad, caps) in offers {
            if !self.has(pad, &caps) {
                self.offers.push((pad, caps));
            }
        }
    }

    /// Emits the frame that waits; false if it waits on.
    fn emit(
        &mut self,
        process: &mut Process<'_>,
        aside: &mut Option<Granted>,
    ) -> Result<bool, ElementError> {
        let Some((frame, kept)) = &self.waiting else {
            return Ok(true);
        };
        if process.room(frame.pad) == 0 {
            process.wait_for_room(frame.pad as u32);
            return Ok(false);
        }
        let granted = match kept {
            Kept::Aside => aside.take(),
            Kept::Own => process.acquire(),
        };
        let Some(mut granted) = granted else {
            // What was put aside may be gone; else there is no buffer yet.
            let gone = *kept == Kept::Aside;
            self.waiting = self.waiting.take().filter(|_| !gone);
            return Ok(gone);
        };
        if *kept == Kept::Own {
            let to = granted.memory.as_mut_slice();
            match to.get_mut(..self.own.len()) {
                Some(to) => to.copy_from_slice(&self.own),
                None => {
                    let error = too_large(frame, to.len());
                    process.discard(granted);
                    return Err(error);
                }
            }
        }
        let Some((frame, _)) = self.waiting.take() else {
            return Ok(true);
        };
        self.push(process, frame, granted);
        Ok(true)
    }

    fn push(&mut self, process: &mut Process<'_>, frame: Frame, mut granted: Granted) {
        granted.meta = frame.meta;
        if let Some(apart) = self.apart.get_mut(frame.pad)
            && core::mem::take(apart)
        {
            granted.meta.flags |= BufferFlags::DISCONTINUITY;
        }
        process.push(frame.pad, granted);
    }

    /// What comes next does not follow what was before.
    fn part_from_before(&mut self) {
        self.apart.iter_mut().for_each(|apart| *apart = true);
    }

    /// Cuts the next piece, into a buffer if it is a frame; false if nothing more is to be done in this
    /// tick.
    fn step(&mut self, process: &mut Process<'_>) -> Result<bool, ElementError> {
        let mut granted = process.acquire();
        // An end needs no buffer.
        if granted.is_none()
            && process
                .peek(0)
                .is_none_or(|item| item.as_buffer().is_some())
        {
            return Ok(false);
        }
        let piece = self.cut(process, granted.as_mut());
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                granted.into_iter().for_each(|g| process.discard(g));
                return Err(error);
            }
        };
        if let Piece::Frame((Deal::Emit(mut frame), kept)) = piece {
            let stamp = self.cutting.arriving().stamp_of(frame.span.offset);
            self.parser.stamp(&mut frame, stamp);
            frame.meta.len = self.parser.size(&frame);
            if let Some(caps) = frame.caps.take() {
                self.offer(core::iter::once((frame.pad, caps)).collect());
            }
            match (kept, granted) {
                (Kept::Aside, Some(granted)) if process.room(frame.pad) > 0 => {
                    self.push(process, frame, granted);
                }
                (kept, granted) => {
                    match (kept, granted) {
                        (Kept::Aside, Some(granted)) => process.put_aside(granted),
                        (_, granted) => granted.into_iter().for_each(|g| process.discard(g)),
                    }
                    self.waiting = Some((frame, kept));
                }
            }
            return Ok(true);
        }
        granted.into_iter().for_each(|g| process.discard(g));
        self.follow(process, piece)
    }

    /// The next piece; a frame is in `granted`, or in memory of its own.
    #[allow(clippy::type_complexity, reason = "a piece of this parser")]
    fn cut(
        &mut self,
        process: &mut Process<'_>,
        mut granted: Option<&mut Granted>,
    ) -> Result<
        Piece<(Deal, Kept), <P::Split as Split>::Part, <P::Split as Split>::Error>,
        ElementError,
    > {
        let Parsing {
            parser,
            cutting,
            agreed,
            own,
            ..
        } = self;
        cutting.next(process, |seen| {
            let deal = parser.frame(&seen)?;
            let Deal::Emit(frame) = &deal else {
                return Ok((deal, Kept::Own));
            };
            let size = parser.size(frame);
            let has = |caps: &Structure| has(agreed.get(frame.pad).and_then(Option::as_ref), caps);
            let as_agreed = frame.caps.as_ref().is_none_or(has);
            if let (Some(granted), true) = (granted.as_deref_mut(), as_agreed) {
                let to = granted.memory.as_mut_slice();
                let most = to.len();
                let to = to.get_mut(..size);
                let to = to.ok_or_else(|| too_large_by(frame, size, most))?;
                parser.fill(frame, seen.data, to)?;
                return Ok((deal, Kept::Aside));
            }
            own.clear();
            own.resize(size, 0);
            parser.fill(frame, seen.data, own)?;
            Ok((deal, Kept::Own))
        })
    }

    /// Does what a piece that is no frame to emit asks for; false if nothing more is to be done in this
    /// tick.
    fn follow(
        &mut self,
        process: &mut Process<'_>,
        piece: Piece<(Deal, Kept), <P::Split as Split>::Part, <P::Split as Split>::Error>,
    ) -> Result<bool, ElementError> {
        match piece {
            Piece::Wait => return Ok(false),
            Piece::Frame((Deal::Gap(pad, gap), _)) => process.push_event(pad, Event::Gap(gap)),
            Piece::Frame((Deal::Stop, _)) => {
                self.stopped = true;
            }
            Piece::Frame(_) => {}
            Piece::Junk(span) => {
                self.part_from_before();
                self.tell(process, Reason::Junk, span);
            }
            Piece::Part(span, part) => {
                let split = self.cutting.split_mut();
                let offers = self.parser.part(process, split, span, part)?;
                self.offer(offers);
            }
            Piece::Lost(from, to) => {
                self.part_from_before();
                let next = self.cutting.next_position();
                let resumed = self.parser.resume(to, next);
                let lost = |why| ParseError::Lost { from, to, why };
                let (split, begins) = resumed.map_err(lost)?;
                self.cutting.start(split, to.unwrap_or(next), begins);
            }
            Piece::Rest(rest) => return Err(truncated(rest)),
            Piece::Failed(CutError::TooLarge {
                what,
                offset,
                size,
                exact,
                ..
            }) => {
                let error = ParseError::TooLarge {
                    what,
                    offset,
                    size: size.saturating_sub(P::HEAD as u64),
                    exact,
                    limit: self.parser.limit() as u64,
                };
                return Err(error.into());
            }
            Piece::Failed(CutError::Format(error)) => return Err(self.parser.failed(error)),
            Piece::Failed(error) => {
                return Err(ElementError::new(Domain::Stream, Code::Damaged, error));
            }
            Piece::End(excused) => {
                let bytes = self.cutting.next_position();
                if !excused {
                    self.parser.end(process, bytes)?;
                }
                process.finish();
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells of bytes that are no frame, and counts them.
    fn tell(&mut self, process: &mut Process<'_>, reason: Reason, span: Span) {
        self.told += 1;
        tell_bytes(process, reason, span, self.told <= TOLD);
    }

    fn go_on(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let mut aside = process.take_aside();
        loop {
            if !self.announce(process) || !self.emit(process, &mut aside)? {
                break;
            }
            if self.stopped {
                process.finish();
                break;
            }
            // Of several pads the one counts that the next frame is for.
            if !P::APART && process.room(0) == 0 {
                break;
            }
            if !self.step(process)? {
                break;
            }
            if aside.is_none() {
                aside = process.take_aside();
            }
        }
        match aside {
            Some(granted) if self.waiting.is_some() => process.put_aside(granted),
            Some(granted) => process.discard(granted),
            None => {}
        }
        Ok(())
    }
}

/// Whether agreed caps say all that these say.
pub(super) fn has(agreed: Option<&Structure>, caps: &Structure) -> bool {
    agreed.is_some_and(|agreed| {
        agreed.media() == caps.media()
            && caps
                .fields()
                .all(|(name, value)| agreed.get(name) == Some(value))
    })
}

fn too_large(frame: &Frame, most: usize) -> ElementError {
    too_large_by(frame, frame.meta.len, most)
}

fn too_large_by(frame: &Frame, size: usize, most: usize) -> ElementError {
    let error = ParseError::TooLarge {
        what: "frame",
        offset: frame.span.offset,
        size: size as u64,
        exact: true,
        limit: most as u64,
    };
    error.into()
}

/// Tells, or only counts, bytes of a stream that are no frame.
pub(super) fn tell_bytes(process: &mut Process<'_>, reason: Reason, span: Span, tells: bool) {
    let Span { offset, len } = span;
    if !tells {
        process.tally(reason, Deed::Dropped, 1);
        return;
    }
    tracing::warn!("{reason}: {len} bytes at byte {offset} are passed over");
    process.tell(Occurrence {
        reason,
        deed: Deed::Dropped,
        index: offset,
        value: i64::try_from(len).ok(),
        time_base: TimeBase::default(),
    });
}

impl<P: Parser> Work for Parsing<P> {
    fn grant(&mut self, bytes: Arc<dyn Bytes>) -> Result<(), ElementError> {
        self.cutting.pull(bytes);
        Ok(())
    }

    fn revoke(&mut self) {
        self.cutting.revoke();
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let first = |caps: &Caps| caps.structures().first().cloned();
        self.agreed = pads.sources.iter().map(first).collect();
        self.apart.resize(pads.sources.len(), false);
        self.parser.set_caps(pads)?;
        let limit = self.parser.limit().saturating_add(P::HEAD);
        self.cutting.set_limit(limit);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if P::APART {
            process.wants_room(RoomFor::None);
        }
        self.parser.look(process, self.cutting.split_mut());
        self.go_on(process)
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.cutting.flush();
        self.waiting = None;
        self.part_from_before();
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        self.parser.plan_seek(seek, self.cutting.pulled())
    }

    fn seek(&mut self, seek: &Seek) {
        if let Some((split, byte)) = self.parser.seek(seek, self.cutting.pulled()) {
            self.cutting.go_to(split, byte);
        }
        self.waiting = None;
        self.stopped = false;
        self.part_from_before();
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        self.parser.position()
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        match query {
            Query::Seeking => {
                let pulls = self.cutting.pulled().is_some();
                self.parser.seeks(pulls).map(Answer::Seeking)
            }
            Query::Duration => {
                let (long, base) = self.parser.duration(self.cutting.pulled())?;
                Some(Answer::Duration(long, base))
            }
            Query::Custom(_) => None,
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        self.parser.state(visitor);
        self.cutting.state(visitor);
        visitor.flag("stopped", self.stopped);
        visitor.unsigned("offers", self.offers.len() as u64);
        let apart = self.apart.iter().filter(|apart| **apart).count();
        visitor.unsigned("apart", apart as u64);
        if let Some((frame, kept)) = &self.waiting {
            visitor.unsigned("waiting", frame.span.offset);
            visitor.flag("aside", *kept == Kept::Aside);
        }
    }
}
