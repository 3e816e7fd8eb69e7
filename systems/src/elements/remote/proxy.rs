//! The work of a `remote`: what is asked of it is asked of the child, and what becomes of a lost child and
//! of the buffer that it had is decided by the settings. It touches its lane and its child.

use super::apply::{self, Slots};
use super::link::{Fault, Link, reason};
use super::messages::{
    Answered, Ask, CLOSE, PAUSE, PLAY, PadTexts, Planned, Reply, Request, Shown,
};
use super::{OnCrash, Remote, Restart};
use crate::element::{Handled, PadAt, PadCapsOf, Process, Seeking, Work};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::seek::{self, Query, Seek};
use tickpipe_components::time::TimeBase;

/// Children that are lost one after the other before they were what the last one was, until that is an
/// error.
const MAX_FALSE_STARTS: u32 = 3;

/// How many buffers a call brings: one, so that what came before is there when a child is lost, it is known
/// which one cost it, and each has the whole time limit.
const AT_ONCE: usize = 1;

/// What speaks for an element that works elsewhere.
pub struct Proxy {
    /// Questions come through a shared reference too; nobody asks two at once.
    link: Mutex<Link>,
    slots: Slots,
    restart: Restart,
    left: u32,
    on_crash: OnCrash,
    /// The buffer that comes next was tried before.
    tried: bool,

    /// What went wrong where it could not be told.
    pending: Option<Fault>,
    restarts: u64,
}

/// Of a pad whose caps are ANY the text says so.
fn texts(pads: &PadCapsOf) -> PadTexts {
    let texts = |caps: &[Caps]| caps.iter().map(Caps::to_string).collect();
    PadTexts {
        sinks: texts(&pads.sinks),
        sources: texts(&pads.sources),
    }
}

impl Proxy {
    /// Over an open line.
    pub fn new(link: Link, settings: &Remote) -> Proxy {
        Proxy {
            link: Mutex::new(link),
            slots: Slots::default(),
            restart: settings.restart,
            left: settings.max_restarts,
            on_crash: settings.on_crash,
            tried: false,
            pending: None,
            restarts: 0,
        }
    }

    fn link(&mut self) -> &mut Link {
        self.link.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&mut self, fault: Fault) -> ElementError {
        self.link().error(fault)
    }

    /// One call; what it did is done to the lane. A child that is of no use is ended.
    fn call(&mut self, ask: Ask, process: &mut Process<'_>) -> Result<(u32, Answered), Fault> {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        let call = apply::call(process, &mut self.slots, link, ask, AT_ONCE)?;
        let request = Request::Call(Box::new(call));
        let reply = link.ask(&request)?;
        let (Request::Call(call), Reply::Outcome(outcome)) = (request, reply) else {
            return Err(link.lose(Fault::garbled("it is the answer to another question")));
        };
        if let Err(fault) = apply::apply(process, &self.slots, link, &call, &outcome) {
            return Err(link.lose(fault));
        }
        match outcome.answer {
            Answered::Failed(failure) => Err(Fault::Refused(failure)),
            answer => Ok((outcome.took, answer)),
        }
    }

    /// After a fault: another child, if the settings say so. What the old one kept is given up.
    fn recover(&mut self, fault: Fault, process: &mut Process<'_>) -> Result<(), ElementError> {
        if matches!(fault, Fault::Refused(_)) {
            return Err(self.error(fault));
        }
        let mut fault = fault;
        let why = reason(&fault);
        for start in 0.. {
            let may = match self.restart {
                Restart::Never => false,
                Restart::OnFailure => self.left > 0,
                Restart::Always => true,
            };
            if !may || start >= MAX_FALSE_STARTS {
                return Err(self.error(fault));
            }
            self.left = self.left.saturating_sub(1);
            self.restarts += 1;
            let error = self.link().error(fault);
            process.warn(error.domain, error.code);
            process.say(format_args!(
                "{}; another one is started ({}/{})",
                error.detail,
                error.domain.name(),
                error.code.name()
            ));
            match self.link().start() {
                Ok(()) => break,
                Err(Fault::Refused(failure)) => return Err(self.error(Fault::Refused(failure))),
                Err(lost) => fault = lost,
            }
        }
        while let Some(kept) = process.take_kept() {
            process.drop_for(kept, why);
        }
        while let Some(left) = process.take_aside() {
            process.discard(left);
        }
        Ok(())
    }

    /// What went wrong between two calls cost no buffer.
    fn settle(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        match self.pending.take() {
            Some(fault) => self.recover(fault, process),
            None => Ok(()),
        }
    }

    /// What becomes of the buffer that was on its way when the child was lost.
    fn give_up(&mut self, fault: Fault, process: &mut Process<'_>) -> Result<(), ElementError> {
        let why = reason(&fault);
        let items = apply::in_view(process, AT_ONCE);
        let buffer = items.first().and_then(|i| i.as_buffer());
        let retry = self.on_crash == OnCrash::Retry;
        if self.tried && buffer.is_none() {
            // The end cannot be dropped, and what is asked without a buffer cannot either.
            return Err(self.error(fault));
        }
        self.recover(fault, process)?;
        match buffer {
            Some(buffer) if retry && !self.tried => {
                tell_retried(process, buffer, why);
                self.tried = true;
            }
            Some(buffer) => {
                process.next(0);
                process.drop_for(buffer, why);
                self.tried = false;
            }
            None => self.tried = true,
        }
        Ok(())
    }

    /// Asks for something that is done between buffers; a lost child is replaced, and asked once more.
    fn ask_between(
        &mut self,
        ask: Ask,
        process: &mut Process<'_>,
    ) -> Result<Answered, ElementError> {
        self.settle(process)?;
        match self.call(ask.clone(), process) {
            Ok((_, answer)) => Ok(answer),
            Err(fault) => {
                self.recover(fault, process)?;
                let again = self.call(ask, process);
                again.map(|(_, a)| a).map_err(|fault| self.error(fault))
            }
        }
    }

    fn done(&mut self, request: &Request) -> Result<(), ElementError> {
        let done = self.link().done(request);
        done.map_err(|fault| self.error(fault))
    }
}

impl Work for Proxy {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let caps = texts(pads);
        let set = self.link().set_caps(caps);
        set.or_else(|fault| match fault {
            // A child that was lost here had no buffer; the next call starts another if it may.
            Fault::Lost(_) if self.restart != Restart::Never => {
                self.pending = Some(fault);
                Ok(())
            }
            fault => Err(self.error(fault)),
        })
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.settle(process)?;
        loop {
            match self.call(Ask::Process, process) {
                Ok((0, _)) => {
                    return Ok(());
                }
                Ok(_) => self.tried = false,
                Err(fault @ Fault::Refused(_)) => return Err(self.error(fault)),
                Err(fault) => self.give_up(fault, process)?,
            }
            let more = !apply::in_view(process, AT_ONCE).is_empty();
            let (lane, ..) = process.parts();
            let asks = lane.changes.as_ref().is_some_and(|c| c.asked.is_some());
            let waits = lane.again || lane.device || lane.extras.wake_at.is_some();
            if lane.done || asks || waits || (!more && !self.tried) {
                return Ok(());
            }
            // As before every call: what it waits for is what it says last.
            lane.eager = false;
            if let Some(extras) = lane.extras.made() {
                (extras.awaits, extras.awaits_room) = (None, None);
            }
        }
    }

    fn drain(
        &mut self,
        event: Option<&Event>,
        process: &mut Process<'_>,
    ) -> Result<Option<bool>, ElementError> {
        match self.ask_between(Ask::Drain(event.cloned()), process)? {
            Answered::Drained(drained) => Ok(drained),
            _ => Err(self.error(Fault::garbled("it is the answer to another question"))),
        }
    }

    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        let ask = match pad.is_sink() {
            true => Ask::FromUpstream(event.clone()),
            false => Ask::FromDownstream(event.clone()),
        };
        match self.ask_between(ask, process)? {
            Answered::Taken(true) => Ok(Handled::Taken),
            Answered::Taken(false) => Ok(Handled::Forward),
            _ => Err(self.error(Fault::garbled("it is the answer to another question"))),
        }
    }

    fn flush(&mut self, pads: &[usize]) {
        self.tried = false;
        let flushed = self.link().done(&Request::Flush(pads.to_vec()));
        if let Err(fault) = flushed {
            self.pending = Some(fault);
        }
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        let mut link = self.shared();
        match link.ask(&Request::PlanSeek(*seek)) {
            Ok(Reply::Planned(Planned::Pass)) => Ok(Seeking::Pass),
            Ok(Reply::Planned(Planned::Here(segment))) => Ok(Seeking::Here(segment)),
            Ok(Reply::Planned(Planned::Through((seek, segment)))) => {
                Ok(Seeking::Through(seek, segment))
            }
            Ok(_) => {
                let fault = link.lose(Fault::garbled("it is the answer to another question"));
                Err(link.error(fault))
            }
            Err(fault) => Err(link.error(fault)),
        }
    }

    fn seek(&mut self, seek: &Seek) {
        if let Err(fault) = self.link().done(&Request::Seek(*seek)) {
            self.pending = Some(fault);
        }
    }

    fn position(&self) -> Option<(i64, TimeBase)> {
        let mut link = self.shared();
        if !link.is_up() {
            return None;
        }
        match link.ask(&Request::Position) {
            Ok(Reply::Position(position)) => position,
            _ => None,
        }
    }

    fn query(&self, pad: PadAt, query: &Query) -> Option<seek::Answer> {
        let mut link = self.shared();
        if !link.is_up() || !pad.is_sink() {
            return None;
        }
        match link.ask(&Request::Query(query.clone())) {
            Ok(Reply::Answer(answer)) => answer,
            _ => None,
        }
    }

    fn play(&mut self) -> Result<(), ElementError> {
        self.done(&Request::Step(PLAY))
    }

    fn pause(&mut self) -> Result<(), ElementError> {
        // One that was lost before was told of then.
        match self.link().is_up() {
            true => self.done(&Request::Step(PAUSE)),
            false => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), ElementError> {
        match self.link().is_up() {
            true => self.done(&Request::Step(CLOSE)),
            false => Ok(()),
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        for shown in &self.shared().state {
            match shown {
                Shown::Number(number) => visitor.unsigned("state", *number),
                Shown::Bytes(bytes) => visitor.bytes("state", bytes),
            }
        }
        // Nothing of its own while no child was lost: as if the element were in its place.
        if self.restarts > 0 {
            visitor.unsigned("restarts", self.restarts);
            visitor.flag("tried", self.tried);
        }
    }
}

/// Tells that a buffer is worked on once more.
fn tell_retried(process: &mut Process<'_>, buffer: BufferId, reason: Reason) {
    let meta = *process.meta(buffer);
    process.tell(Occurrence {
        reason,
        deed: Deed::Retried,
        index: meta.index,
        value: meta.pts,
        time_base: meta.time_base,
    });
}
