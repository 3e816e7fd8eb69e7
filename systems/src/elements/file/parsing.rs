//! What all parsers do: cut what comes into frames, each into a buffer of the own pool, with the caps that
//! the stream says. What differs between formats is a [`Parser`]. It works on the lane of its element.

use super::cutting::{Cutting, Piece};
use super::parse_error::{ParseError, TOLD, tell_bytes, truncated};
use super::parser::{Deal, Frame, Offers, Parser};
use crate::element::{PadAt, PadCapsOf, Process, Seeking, Work};
use smallvec::SmallVec;
use std::sync::Arc;
use tickpipe_components::buffer::BufferFlags;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::cut::{CutError, Span, Split};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{Granted, RoomFor};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::occurrence::Reason;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::TimeBase;

/// A piece of a parser's stream: of a frame, what becomes of it and where it is.
type PieceOf<P> = Piece<
    (Deal, Kept),
    <<P as Parser>::Split as Split>::Part,
    <<P as Parser>::Split as Split>::Error,
>;

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
                self.offer(core::iter::once((frame.pad, *caps)).collect());
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
    fn cut(
        &mut self,
        process: &mut Process<'_>,
        mut granted: Option<&mut Granted>,
    ) -> Result<PieceOf<P>, ElementError> {
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
            let as_agreed = frame.caps.as_deref().is_none_or(has);
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
        piece: PieceOf<P>,
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
                // What was kept of a frame is nothing without the rest.
                let (offset, len) = (from, next.saturating_sub(from));
                if len > 0 {
                    self.tell(process, Reason::Unfinished, Span { offset, len });
                }
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
        self.cutting.begin();
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
