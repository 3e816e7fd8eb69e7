//! What a format adds to what all parsers do. Plain data, and a trait.

use super::arriving::Stamp;
use super::cutting::Seen;
use crate::element::{PadCapsOf, Process, Seeking};
use core::ops::Range;
use smallvec::SmallVec;
use std::sync::Arc;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::caps::Structure;
use tickpipe_components::cut::{Span, Split};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::Gap;
use tickpipe_components::fault::ElementError;
use tickpipe_components::pull::Bytes;
use tickpipe_components::seek::Seek;
use tickpipe_components::time::TimeBase;

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
    pub caps: Option<Box<Structure>>,
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
