//! What an element does while it is not in READY.

use super::Process;
use core::any::Any;
use smallvec::SmallVec;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::ElementError;

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

    /// PAUSED to READY. It is dropped afterwards in any case.
    ///
    /// # Errors
    /// What went wrong on the way, such as a file that could not be completed.
    fn close(&mut self) -> Result<(), ElementError> {
        Ok(())
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
