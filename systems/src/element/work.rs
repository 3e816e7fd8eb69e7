//! What an element does while it is not in READY.

use super::{PadAt, Process};
use crate::outside::Awaited;
use core::any::Any;
use smallvec::SmallVec;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Event;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::BufferId;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::{Answer, Query, Seek};
use tickpipe_components::time::{Rounding, Segment, TimeBase};

/// The caps agreed for an element's linked pads, by pad number.
#[derive(Clone, Debug, Default)]
pub struct PadCapsOf {
    /// Of its sink pads.
    pub sinks: SmallVec<[Caps; 1]>,
    /// Of its source pads.
    pub sources: SmallVec<[Caps; 1]>,
}

impl PadCapsOf {
    /// The structure of a sink pad, unless that pad has ANY.
    pub fn sink(&self, index: usize) -> Option<&Structure> {
        self.sinks.get(index)?.structures().first()
    }

    /// The structure of a source pad, unless that pad has ANY.
    pub fn source(&self, index: usize) -> Option<&Structure> {
        self.sources.get(index)?.structures().first()
    }

    /// How long so many frames of a sink pad take, in nanoseconds, rounded up; 0 where its caps
    /// give no rate.
    pub fn frames_last(&self, sink: usize, frames: u32) -> i64 {
        let rate = self.sink(sink).and_then(|s| s.fraction("framerate"));
        let frame = rate.and_then(|r| TimeBase::of_rate(r.num(), r.den()));
        let long =
            frame.and_then(|f| f.convert(frames.into(), TimeBase::NANOSECONDS, Rounding::Up));
        long.unwrap_or_default()
    }

    /// The longest frame of some sink pads, as [`PadCapsOf::frames_last`] gives it: how long who
    /// compares them may wait for one.
    pub fn longest_frame(&self, sinks: core::ops::Range<usize>) -> i64 {
        sinks
            .map(|pad| self.frames_last(pad, 1))
            .max()
            .unwrap_or_default()
    }
}

/// An element whose pad says that it pulls or serves, and that does not.
#[derive(Clone, Copy, Debug, Error)]
#[error("{0}: the element says that it can, and does not")]
struct Unserved(&'static str);

/// What an element does where the stream is to go on elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeking {
    /// It leaves that to those upstream. A source cannot.
    Pass,
    /// It goes there, and what it emits then is this segment. Its running time is filled in.
    Here(Segment),
    /// The same, and those upstream go elsewhere for it.
    Through(Seek, Segment),
}

/// What an element did with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// It goes on.
    Forward,
    /// It ends here.
    Taken,
}

/// An element at work: made by [`Element::open`](super::Element::open), dropped in READY.
///
/// It may keep anything but the clock's time or a source of randomness of its own: what it emits
/// must follow from its settings, its caps and what it was given.
pub trait Work: Send + Sync {
    /// The caps are agreed; called before any buffer, sinks first, and again when they change in
    /// mid-stream, before the first buffer that they apply to.
    ///
    /// # Errors
    /// A refusal: the graph does not start, or the element fails.
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let _ = pads;
        Ok(())
    }

    /// What it serves on its source pad to who pulls there; asked once, before caps are agreed.
    /// Nothing is asked of it afterwards: what it grants is read without it.
    ///
    /// # Errors
    /// Why it cannot: the graph does not start.
    fn serve(&mut self) -> Result<Arc<dyn Bytes>, ElementError> {
        let what = "what was to be pulled is not served";
        Err(ElementError::new(
            Domain::Flow,
            Code::Refused,
            Unserved(what),
        ))
    }

    /// What it pulls on its sink pad: called once, before its caps are agreed. Then nothing is sent to
    /// it, it has no linked sink pad when it runs, and it is a source like others: it emits when there
    /// is room, and answers seeks itself.
    ///
    /// # Errors
    /// Why it cannot use it: the graph does not start.
    fn grant(&mut self, bytes: Arc<dyn Bytes>) -> Result<(), ElementError> {
        let _ = bytes;
        let what = "what is granted is not pulled";
        Err(ElementError::new(
            Domain::Flow,
            Code::Refused,
            Unserved(what),
        ))
    }

    /// What was granted to it is not there any more: it ends, and reads no more of it.
    fn revoke(&mut self) {}

    /// Its settings changed: they are what [`Element::live`](super::Element::live) gave. Called
    /// between two buffers, and before [`Work::set_caps`] where caps change with them.
    ///
    /// # Errors
    /// A failure.
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        let _ = settings;
        Ok(())
    }

    /// Takes what it can from its inputs and emits what it can, within the room there is. It
    /// owns each buffer that it takes, also when it fails.
    ///
    /// # Errors
    /// A failure: the pipeline stops and says so.
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError>;

    /// What it keeps goes on before an event that comes next, or before a change of caps where there
    /// is none. Whether it is done with that: if not, there was no room, and it is asked again.
    /// `None` leaves it to the framework, which passes on all that is kept as it is.
    ///
    /// # Errors
    /// A failure, as of [`Work::process`].
    fn drain(
        &mut self,
        event: Option<&Event>,
        process: &mut Process<'_>,
    ) -> Result<Option<bool>, ElementError> {
        let _ = (event, process);
        Ok(None)
    }

    /// An event is here: in order with buffers on a sink pad, or from downstream on a source pad.
    /// The default passes it on, to all pads of the other direction. Of several sink pads a segment
    /// is not passed on: see [`Process::follow_segment`].
    ///
    /// # Errors
    /// A failure, as of [`Work::process`].
    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        let _ = (pad, event, process);
        Ok(Handled::Forward)
    }

    /// All that it took in, on these sink pads, and did not pass on is gone; what comes next does
    /// not follow from it. What it keeps in the fabric is let go by the framework.
    fn flush(&mut self, pads: &[usize]) {
        let _ = pads;
    }

    /// Of a source: what it emitted was discarded on its way. With `flushing` all that it would emit is,
    /// until it is called again without.
    fn flushed(&mut self, flushing: bool) {
        let _ = flushing;
    }

    /// Of a sink: shows the first buffer in PAUSED, which stays where it is. The same buffer is
    /// processed in PLAYING.
    ///
    /// # Errors
    /// A failure, as of [`Work::process`].
    fn preroll(&mut self, buffer: BufferId, process: &Process<'_>) -> Result<(), ElementError> {
        let _ = (buffer, process);
        Ok(())
    }

    /// What it would do where the stream is to go on elsewhere. Nothing is done yet: all that are
    /// concerned must agree first.
    ///
    /// # Errors
    /// Why it cannot.
    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        let _ = seek;
        Ok(Seeking::Pass)
    }

    /// Goes on where it planned to. A flush, if it is one, was done before.
    fn seek(&mut self, seek: &Seek) {
        let _ = seek;
    }

    /// The stream time of what it emits next, where it makes the stream's times.
    fn position(&self) -> Option<(i64, TimeBase)> {
        None
    }

    /// The answer to a question that came to a pad, or none: then those upstream are asked. What is
    /// asked of an element itself comes to its first sink pad, or source pad where it has none.
    fn query(&self, pad: PadAt, query: &Query) -> Option<Answer> {
        let _ = (pad, query);
        None
    }

    /// PAUSED to PLAYING.
    ///
    /// # Errors
    /// Why it cannot: it stays in PAUSED, and the message says so.
    fn play(&mut self) -> Result<(), ElementError> {
        Ok(())
    }

    /// PLAYING to PAUSED.
    ///
    /// # Errors
    /// What went wrong: it is in PAUSED in any case, and the message says so.
    fn pause(&mut self) -> Result<(), ElementError> {
        Ok(())
    }

    /// PAUSED to READY. It is dropped afterwards in any case.
    ///
    /// # Errors
    /// What went wrong on the way, such as a file that could not be completed.
    fn close(&mut self) -> Result<(), ElementError> {
        Ok(())
    }

    /// While it waits for its device ([`Process::wait_for_device`]): whether what it waits for is there.
    /// Asked in each tick; who brings it wakes the engine ([`SharedWaker`](crate::outside::SharedWaker)).
    fn awaited(&self) -> Awaited {
        Awaited::Never
    }

    /// Of an element that [lends](super::Element::LENDS): where nobody can go on, gives up what it keeps and
    /// can do without. Whether there was any; it comes back as what is awaited does.
    fn relents(&self) -> bool {
        false
    }

    /// Shows all that it keeps and that can make a difference later.
    fn state(&self, visitor: &mut dyn StateVisitor);
}

/// Passes everything on, from the first input to the first output.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassThrough;

impl Work for PassThrough {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        process.pass_through();
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
