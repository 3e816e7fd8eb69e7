//! AVI that is read by position: each pad goes on by itself, as far as it has room. Nothing waits for
//! another stream, whatever the order of the file.

use super::avi_caps::{bytes_of, tick_of};
use super::avi_frames::{Legs, avi_failed, deal};
use super::avi_seek::{Stretch, end_of};
use super::parse_error::{ParseError, TOLD, tell_bytes, truncated};
use super::parser::{Deal, Frame, Offers};
use super::pulling;
use crate::element::{PadAt, PadCapsOf, Process, Seeking, Work};
use std::sync::Arc;
use tickpipe_components::avi::{Entry, Movie, MovieError};
use tickpipe_components::buffer::BufferFlags;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::cut::{CutError, ReadFault, Span, WalkError};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{Granted, RoomFor};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::occurrence::{Deed, Reason};
use tickpipe_components::pull::{Bytes, Reader};
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::{Rounding, TimeBase};

/// How far a pad is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The next of its stream's frames, and the first that is not played any more.
    next: usize,
    stop: usize,
    /// It had one since it began.
    begun: bool,
    /// What comes next does not follow what was before.
    apart: bool,
    /// Its end was told.
    ended: bool,
}

/// A file that is played.
pub(super) struct Playing {
    reader: Reader,
    movie: Movie,
    legs: Legs,
    places: Vec<Place>,
    agreed: Vec<Option<Structure>>,
    offers: Offers,
    /// A seek that came before the pads were known.
    sought: Option<Seek>,
    /// Most bytes of a frame that are asked for; and what a buffer has.
    asked: u32,
    limit: usize,
    /// The first frame that cannot be played: where its payload begins, and why. `None` before it was
    /// looked for.
    fault: Option<Option<(u64, ElementError)>>,
    /// How far it has played, in nanoseconds.
    played: i64,
    /// A raw picture as it lies in the file.
    picture: Vec<u8>,
    /// What is odd about the file was told, and what is passed over.
    told: bool,
}

fn failed(error: MovieError) -> ElementError {
    let read = |fault: ReadFault| ElementError::new(Domain::Resource, Code::Read, fault);
    match error {
        MovieError::Walk(WalkError::Read(fault)) => read(fault),
        MovieError::Walk(WalkError::Cut(CutError::Format(error))) => avi_failed(error),
        MovieError::Truncated(rest) => truncated(rest),
        error @ MovieError::TooMany { .. } => ElementError::new(Domain::Stream, Code::Limit, error),
        error => ElementError::new(Domain::Stream, Code::Damaged, error),
    }
}

impl Playing {
    /// Reads the header of what was granted, and where its frames are: at most so many.
    ///
    /// # Errors
    /// Why that cannot be read.
    pub(super) fn open(
        bytes: Arc<dyn Bytes>,
        asked: u32,
        most: usize,
    ) -> Result<Playing, ElementError> {
        let movie = Movie::open(&*bytes, most).map_err(failed)?;
        Ok(Playing {
            reader: Reader::new(bytes, 0),
            movie,
            legs: Legs::default(),
            places: Vec::new(),
            agreed: Vec::new(),
            offers: Offers::new(),
            sought: None,
            asked,
            limit: bytes_of(asked, None),
            fault: None,
            played: 0,
            picture: Vec::new(),
            told: false,
        })
    }

    /// The frame that comes next on a pad.
    fn entry(&self, pad: usize) -> Option<&Entry> {
        let place = self.places.get(pad)?;
        if place.next >= place.stop {
            return None;
        }
        let list = self.movie.of_stream(self.legs.stream(pad)?);
        let entry = self.movie.frames.get(*list.get(place.next)? as usize)?;
        let fault = self.fault.as_ref().and_then(Option::as_ref);
        // Behind what cannot be played nothing is, on any pad.
        fault
            .is_none_or(|(at, _)| entry.data.offset < *at)
            .then_some(entry)
    }

    /// Looks for the first frame that cannot be played.
    fn examine(&mut self) {
        if self.fault.is_some() {
            return;
        }
        let fault = |entry: &Entry| {
            self.legs.pad(entry.info.stream)?;
            let error = self.fits(entry).err()?;
            Some((entry.data.offset, error))
        };
        self.fault = Some(self.movie.frames.iter().find_map(fault));
    }

    /// Whether a frame can be played.
    fn fits(&self, entry: &Entry) -> Result<(), ElementError> {
        let Span { offset, len } = entry.data;
        let limit = self.limit as u64;
        if len > limit {
            return Err(ParseError::TooLarge {
                what: "AVI frame",
                offset: offset.saturating_sub(8),
                size: len,
                exact: true,
                limit,
            }
            .into());
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        deal(&self.movie.header, &self.legs, &entry.info, entry.data, len).map(drop)
    }

    /// When the next frame of a pad is due, in nanoseconds.
    fn due(&self, pad: usize) -> Option<i64> {
        let entry = self.entry(pad)?;
        let stream = self
            .movie
            .header
            .streams
            .get(usize::from(entry.info.stream));
        let tick = stream.and_then(tick_of);
        let time = i64::try_from(entry.info.time).ok();
        let due = tick
            .zip(time)
            .and_then(|(tick, time)| tick.convert(time, TimeBase::NANOSECONDS, Rounding::Down));
        Some(due.unwrap_or(i64::MIN))
    }

    /// Gives each pad its stream and its place.
    fn look(&mut self, process: &Process<'_>) -> Result<(), ElementError> {
        if self.legs.look(process) {
            let known = self.places.len();
            // Who joins goes on with the others.
            let joins = (0..known).filter_map(|pad| self.due(pad)).min();
            let attached = self.legs.attach(&self.movie.header);
            if known == 0 {
                attached?;
            }
            let stretch = Stretch {
                start: joins.unwrap_or(0).max(0),
                stop: None,
                base: TimeBase::NANOSECONDS,
            };
            for pad in known..self.legs.len() {
                let stream = self.legs.stream(pad);
                let (next, stop) = match (stream, known) {
                    (None, _) => (0, 0),
                    (Some(stream), 0) => (0, self.movie.of_stream(stream).len()),
                    (Some(stream), _) => stretch.places(&self.movie, stream),
                };
                self.places.push(Place {
                    next,
                    stop,
                    ..Place::default()
                });
            }
            self.offers = self.legs.offers(&self.movie.header);
            self.fault = None;
        }
        if let Some(seek) = self.sought.take() {
            self.go_to(&seek);
        }
        Ok(())
    }

    /// Tells once what is odd about the file, and what of it is passed over.
    fn tell(&mut self, process: &mut Process<'_>) {
        if core::mem::replace(&mut self.told, true) {
            return;
        }
        for warning in self.movie.warnings.iter().take(TOLD as usize) {
            process.say(warning);
        }
        if !self.movie.warnings.is_empty() {
            process.warn(Domain::Stream, Code::Damaged);
        }
        for (number, span) in (0..).zip(&self.movie.junk) {
            tell_bytes(process, Reason::Junk, *span, number < TOLD);
        }
        process.tally(Reason::Junk, Deed::Dropped, self.movie.more_junk);
        let streams = 0..self.movie.header.streams.len() as u16;
        let passed = streams.filter(|stream| self.legs.pad(*stream).is_none());
        let frames: usize = passed.map(|s| self.movie.of_stream(s).len()).sum();
        process.tally(Reason::NotLinked, Deed::Dropped, frames as u64);
    }

    fn go_to(&mut self, seek: &Seek) {
        let Ok(stretch) = Stretch::of(seek, &self.movie) else {
            return;
        };
        for pad in 0..self.places.len() {
            let places = self.legs.stream(pad);
            let (next, stop) = places.map_or((0, 0), |s| stretch.places(&self.movie, s));
            if let Some(place) = self.places.get_mut(pad) {
                *place = Place {
                    next,
                    stop,
                    apart: true,
                    ..Place::default()
                };
            }
        }
        let at = stretch.base;
        let at = at.convert(stretch.start, TimeBase::NANOSECONDS, Rounding::Up);
        self.played = at.unwrap_or_default();
    }

    /// Has pads have what the streams say; false while that is not agreed.
    fn announce(&mut self, process: &mut Process<'_>) -> bool {
        while let Some((pad, caps)) = self.offers.first() {
            let agreed = self.agreed.get(*pad).and_then(Option::as_ref);
            let has = super::parsing::has(agreed, caps);
            if !has && !process.announce(*pad, &Caps::from(caps.clone())) {
                return false;
            }
            self.offers.remove(0);
        }
        true
    }

    /// The pad that is served next: one that had nothing yet, else the one whose next frame is due first.
    fn turn(&self, process: &Process<'_>, with_room: bool) -> Option<usize> {
        let open = |pad: &usize| !with_room || process.room(*pad) > 0;
        let order = |pad: usize| {
            let begun = self.places.get(pad).is_some_and(|place| place.begun);
            let entry = self.entry(pad)?;
            Some((begun, self.due(pad)?, entry.data.offset, pad))
        };
        let pads = (0..self.places.len()).filter(open);
        pads.filter_map(order).min().map(|order| order.3)
    }

    /// Tells the end on pads that are at it; whether all are.
    fn end_pads(&mut self, process: &mut Process<'_>) -> bool {
        let mut all = true;
        for pad in 0..self.places.len() {
            let over = self.entry(pad).is_none();
            all &= over;
            if let Some(place) = self
                .places
                .get_mut(pad)
                .filter(|place| over && !place.ended)
            {
                place.ended = true;
                process.end_pad(pad);
            }
        }
        all
    }

    /// What is missing where all was played.
    fn rest(&self) -> Result<(), ElementError> {
        let whole = |(pad, place): (usize, &Place)| {
            let list = self.legs.stream(pad).map(|s| self.movie.of_stream(s).len());
            list.is_none_or(|len| place.stop == len)
        };
        if !self.places.iter().enumerate().all(whole) {
            return Ok(());
        }
        let fault = self.fault.iter().flatten().next();
        match (fault, &self.movie.fault, self.movie.rest) {
            (Some((_, error)), ..) => Err(error.clone()),
            (None, Some(fault), _) => Err(avi_failed(fault.clone())),
            (None, None, Some(rest)) => Err(truncated(rest)),
            (None, None, None) => Ok(()),
        }
    }

    /// Reads a frame into a buffer and emits it.
    fn serve(&mut self, process: &mut Process<'_>, pad: usize) -> Result<bool, ElementError> {
        let Some(entry) = self.entry(pad).copied() else {
            return Ok(true);
        };
        let len = usize::try_from(entry.data.len).unwrap_or(usize::MAX);
        let header = &self.movie.header;
        let (deal, end) = deal(header, &self.legs, &entry.info, entry.data, len)?;
        match deal {
            Deal::Emit(frame) => {
                let Some(mut granted) = process.acquire() else {
                    return Ok(false);
                };
                if let Err(error) = self.read(&frame, len, &mut granted) {
                    process.discard(granted);
                    return Err(error);
                }
                let apart = self.places.get(pad).is_some_and(|place| place.apart);
                granted.meta.flags.set(BufferFlags::DISCONTINUITY, apart);
                process.push(pad, granted);
            }
            Deal::Gap(pad, gap) => process.push_event(pad, Event::Gap(gap)),
            Deal::Pass | Deal::Stop => {}
        }
        if let Some(place) = self.places.get_mut(pad) {
            place.next += 1;
            (place.begun, place.apart) = (true, false);
        }
        let end =
            end.and_then(|(end, base)| base.convert(end, TimeBase::NANOSECONDS, Rounding::Up));
        self.played = self.played.max(end.unwrap_or(0));
        Ok(true)
    }

    fn read(
        &mut self,
        frame: &Frame,
        len: usize,
        granted: &mut Granted,
    ) -> Result<(), ElementError> {
        let raw = self.legs.raw(frame.pad);
        let size = raw.map_or(len, |raw| raw.size());
        let to = granted.memory.as_mut_slice();
        let most = to.len();
        let to = to.get_mut(..size).ok_or(ParseError::TooLarge {
            what: "AVI frame",
            offset: frame.span.offset,
            size: size as u64,
            exact: true,
            limit: most as u64,
        })?;
        granted.meta = frame.meta;
        granted.meta.len = size;
        let Some(raw) = raw else {
            return whole(&self.reader, frame.span.offset, to);
        };
        // What stands behind a picture is none of it.
        self.picture.clear();
        self.picture.resize(raw.bytes(), 0);
        whole(&self.reader, frame.span.offset, &mut self.picture)?;
        self.legs.fill(frame, &self.picture, to)
    }
}

/// Reads all of a frame.
fn whole(reader: &Reader, at: u64, to: &mut [u8]) -> Result<(), ElementError> {
    let got = reader.read(at, to).map_err(pulling::failed)?;
    match got.len() == to.len() {
        true => Ok(()),
        false => Err(truncated(tickpipe_components::cut::Truncated {
            what: "AVI frame",
            offset: at,
            have: got.len() as u64,
            need: Some(to.len() as u64),
        })),
    }
}

impl Work for Playing {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let first = |caps: &Caps| caps.structures().first().cloned();
        self.agreed = pads.sources.iter().map(first).collect();
        let of = |pad: usize| bytes_of(self.asked, pads.source(pad));
        self.limit = (0..pads.sources.len()).map(of).max().unwrap_or(1);
        self.fault = None;
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        process.wants_room(RoomFor::None);
        self.look(process)?;
        self.tell(process);
        if !self.announce(process) {
            return Ok(());
        }
        self.examine();
        loop {
            if self.end_pads(process) {
                self.rest()?;
                process.finish();
                return Ok(());
            }
            let Some(pad) = self.turn(process, true) else {
                break;
            };
            if !self.serve(process, pad)? {
                return Ok(());
            }
        }
        if let Some(pad) = self.turn(process, false) {
            process.wait_for_room(pad as u32);
        }
        Ok(())
    }

    /// What was read is gone; each pad goes on where it is.
    fn flush(&mut self, _pads: &[usize]) {
        for place in &mut self.places {
            (place.apart, place.begun, place.ended) = (true, false, false);
        }
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        let stretch = Stretch::of(seek, &self.movie)?;
        Ok(Seeking::Here(stretch.segment(seek)))
    }

    fn seek(&mut self, seek: &Seek) {
        match self.places.is_empty() {
            true => self.sought = Some(*seek),
            false => self.go_to(seek),
        }
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        Some((self.played, TimeBase::NANOSECONDS))
    }

    fn query(&self, _pad: PadAt, query: &Query) -> Option<Answer> {
        match query {
            Query::Seeking => Some(Answer::Seeking(true)),
            Query::Duration => Some(Answer::Duration(end_of(&self.movie), TimeBase::NANOSECONDS)),
            Query::Custom(_) => None,
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("told", self.told);
        visitor.flag("sought", self.sought.is_some());
        visitor.signed("played", self.played);
        visitor.unsigned("offers", self.offers.len() as u64);
        for place in &self.places {
            visitor.unsigned("next", place.next as u64);
            visitor.unsigned("stop", place.stop as u64);
            visitor.flag("begun", place.begun);
            visitor.flag("apart", place.apart);
            visitor.flag("ended", place.ended);
        }
    }
}
