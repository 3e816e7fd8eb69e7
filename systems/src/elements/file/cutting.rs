//! Bytes in, pieces out: a cutter fed by the blocks that are sent to an element, or by what it pulls.
//! What a format is cut into is the same either way; only where bytes come from differs. It takes items
//! from sink pad 0 and emits nothing.

use super::arriving::{Arrived, Arriving};
use super::pulling::{Pulled, Pulling};
use crate::element::Process;
use std::sync::Arc;
use tickpipe_components::cut::{Cut, CutError, Cutter, Span, Split, Truncated};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Item;
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::BufferId;
use tickpipe_components::pull::{BLOCK, Bytes};

/// Blocks that are pulled in one tick, at most: a long stretch of junk is passed over in several.
const MOST_BLOCKS: u32 = 64;

/// A frame whose bytes are to be looked at.
pub(super) struct Seen<'a, I> {
    /// All its bytes in the stream, its head included.
    pub span: Span,
    /// Its payload.
    pub data: &'a [u8],
    /// What the format knows of it.
    pub info: I,
}

/// What comes next of a stream.
pub(super) enum Piece<T, P, E> {
    /// Nothing in this tick.
    Wait,
    /// A frame, and what was made of it.
    Frame(T),
    /// Bytes that belong to nothing.
    Junk(Span),
    /// Something other than a frame.
    Part(Span, P),
    /// Bytes from the one position to the other were discarded on the way. The second is not known
    /// where blocks do not say where they stand. It is to be [started anew](Cutting::start).
    Lost(u64, Option<u64>),
    /// The stream ends within something.
    Rest(Truncated),
    /// The stream is over. `true`: what was discarded before is the reason, so nothing is amiss.
    End(bool),
    /// It cannot be cut further.
    Failed(CutError<E>),
}

/// What one step came to: a piece, or more bytes are needed.
type Stepped<S, T> = Option<Piece<T, <S as Split>::Part, <S as Split>::Error>>;

/// A cutter and what feeds it.
pub(super) struct Cutting<S: Split> {
    cutter: Cutter<S>,
    pulling: Option<Pulling>,
    arriving: Arriving,
    /// Bytes of the oldest block that were used already, once it was met.
    used: Option<usize>,
    /// Position of the next byte that is used.
    next: u64,
    /// Bytes that are passed over before the next that counts.
    gap: u64,
    /// Blocks that may be pulled still in this tick.
    left: u32,
}

impl<S: Split> Cutting<S> {
    /// At the start of a stream; of a frame no more than `limit` bytes are kept.
    pub(super) fn new(split: S, limit: usize) -> Cutting<S> {
        Cutting {
            cutter: Cutter::new(split, limit),
            pulling: None,
            arriving: Arriving::default(),
            used: None,
            next: 0,
            gap: 0,
            left: MOST_BLOCKS,
        }
    }

    /// A tick begins.
    pub(super) fn begin(&mut self) {
        self.left = MOST_BLOCKS;
    }

    /// What it reads from now on, in place of blocks.
    pub(super) fn pull(&mut self, bytes: Arc<dyn Bytes>) {
        self.pulling = Some(Pulling::new(bytes));
    }

    /// What it reads by position.
    pub(super) fn pulled(&self) -> Option<&Arc<dyn Bytes>> {
        self.pulling.as_ref().map(Pulling::bytes)
    }

    /// What it read by position is not there any more.
    pub(super) fn revoke(&mut self) {
        self.pulling = None;
    }

    /// Position of the next byte that is used.
    pub(super) fn next_position(&self) -> u64 {
        self.next
    }

    /// The format's machine, to look at it and to tell it something.
    pub(super) fn split_mut(&mut self) -> &mut S {
        self.cutter.split_mut()
    }

    /// Has it keep at most so many bytes of a frame.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.cutter.set_limit(limit);
    }

    /// What was kept of the stream is gone. `at` is the position of the next byte, which the sender or
    /// the puller goes to.
    pub(super) fn go_to(&mut self, split: S, at: u64) {
        self.start(split, at, at);
        self.arriving.expect();
        self.used = None;
        if let Some(pulling) = &mut self.pulling {
            pulling.go_to(at);
        }
    }

    /// Begins anew: the bytes that come next stand at `at`, and those before `begins` do not count.
    pub(super) fn start(&mut self, split: S, at: u64, begins: u64) {
        self.cutter = Cutter::starting_at(split, self.cutter.limit(), begins);
        self.next = at;
        self.gap = begins.saturating_sub(at);
    }

    /// What is under way was discarded. Who pulls goes on where it was.
    pub(super) fn flush(&mut self) {
        if self.pulling.is_none() {
            self.arriving.flush();
            self.used = None;
        }
    }

    /// The next piece; of a frame, what `see` makes of it.
    ///
    /// # Errors
    /// What `see` says, or a read that failed.
    pub(super) fn next<T>(
        &mut self,
        process: &mut Process<'_>,
        mut see: impl FnMut(Seen<'_, S::Info>) -> Result<T, ElementError>,
    ) -> Result<Piece<T, S::Part, S::Error>, ElementError> {
        loop {
            let stepped = match self.pulling.take() {
                Some(mut pulling) => {
                    let stepped = self.pull_on(&mut pulling, process, &mut see);
                    self.pulling = Some(pulling);
                    stepped
                }
                None => self.take_on(process, &mut see),
            };
            if let Some(piece) = stepped? {
                return Ok(piece);
            }
        }
    }

    /// Uses what is pulled.
    fn pull_on<T>(
        &mut self,
        pulling: &mut Pulling,
        process: &mut Process<'_>,
        see: &mut impl FnMut(Seen<'_, S::Info>) -> Result<T, ElementError>,
    ) -> Result<Stepped<S, T>, ElementError> {
        let Some(left) = self.left.checked_sub(1) else {
            process.again();
            return Ok(Some(Piece::Wait));
        };
        match pulling.next()? {
            Pulled::Block(part) => {
                self.left = left;
                let (used, stepped) = self.cut(part.bytes(), see);
                pulling.used(part, used);
                // What is passed over need not be read.
                let left = pulling.length().total.saturating_sub(self.next);
                if self.cutter.passing() > BLOCK as u64 {
                    self.next += self.cutter.pass(left);
                    pulling.go_to(self.next);
                }
                stepped
            }
            Pulled::Wait => {
                process.again();
                Ok(Some(Piece::Wait))
            }
            Pulled::End => self.last(see),
        }
    }

    /// Uses the blocks that are sent.
    fn take_on<T>(
        &mut self,
        process: &mut Process<'_>,
        see: &mut impl FnMut(Seen<'_, S::Info>) -> Result<T, ElementError>,
    ) -> Result<Stepped<S, T>, ElementError> {
        let Some(item) = process.peek(0) else {
            return Ok(Some(Piece::Wait));
        };
        // The end stays where it is until all before it went: with it the element goes on.
        let Some(block) = item.as_buffer() else {
            // Of what was discarded nobody knows where it would have ended.
            let excused = self.arriving.is_flushed() || self.gap > 0;
            let last = match excused {
                true => Ok(Some(Piece::End(true))),
                false => self.last(see),
            };
            if !matches!(
                last,
                Ok(Some(Piece::Frame(_) | Piece::Junk(_) | Piece::Part(..)))
            ) {
                process.next(0);
            }
            return last;
        };
        let used = match self.used {
            Some(used) => used,
            None => {
                self.used = Some(0);
                let arrived = self.arriving.block(process.meta(block), self.next);
                if let Arrived::Elsewhere(at) = arrived {
                    let from = self.next.saturating_sub(self.cutter.kept() as u64);
                    return Ok(Some(Piece::Lost(from, at)));
                }
                0
            }
        };
        let bytes = process.bytes(block).get(used..).unwrap_or_default();
        let (more, stepped) = self.cut(bytes, see);
        self.used = Some(used + more);
        match stepped {
            Ok(Some(piece)) if !matches!(piece, Piece::Failed(_)) => Ok(Some(piece)),
            stepped => {
                self.let_go(process, block);
                stepped
            }
        }
    }

    fn let_go(&mut self, process: &mut Process<'_>, block: BufferId) {
        if process.next(0) == Some(Item::buffer(block)) {
            process.release(block);
        }
        self.used = None;
    }

    /// Cuts these bytes up to the next piece; how many it used.
    fn cut<T>(
        &mut self,
        bytes: &[u8],
        see: &mut impl FnMut(Seen<'_, S::Info>) -> Result<T, ElementError>,
    ) -> (usize, Result<Stepped<S, T>, ElementError>) {
        let passed = usize::try_from(self.gap).map_or(bytes.len(), |gap| gap.min(bytes.len()));
        let bytes = bytes.get(passed..).unwrap_or_default();
        self.gap -= passed as u64;
        if self.gap > 0 {
            self.next += passed as u64;
            return (passed, Ok(None));
        }
        let (used, piece) = match self.cutter.next(bytes) {
            Ok((used, cut)) => (used, piece_of::<S, T>(cut, see)),
            Err(error) => (0, Ok(Some(Piece::Failed(error)))),
        };
        let used = passed + used;
        self.next += used as u64;
        (used, piece)
    }

    /// Nothing more comes.
    fn last<T>(
        &mut self,
        see: &mut impl FnMut(Seen<'_, S::Info>) -> Result<T, ElementError>,
    ) -> Result<Stepped<S, T>, ElementError> {
        match self.cutter.last() {
            Ok(cut) => piece_of::<S, T>(cut, see),
            Err(error) => Ok(Some(Piece::Failed(error))),
        }
    }

    /// The times of the buffer that begins a frame at this position, once.
    pub(super) fn arriving(&mut self) -> &mut Arriving {
        &mut self.arriving
    }

    /// What can make a difference later.
    pub(super) fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("next", self.next);
        visitor.unsigned("used", self.used.unwrap_or(0) as u64);
        visitor.unsigned("kept", self.cutter.kept() as u64);
        visitor.unsigned("gap", self.gap);
        self.arriving.state(visitor);
        if let Some(pulling) = &self.pulling {
            pulling.state(visitor);
        }
    }
}

/// What a cut comes to; `None`: more bytes are needed.
fn piece_of<S, T>(
    cut: Cut<'_, S::Info, S::Part>,
    see: &mut impl FnMut(Seen<'_, S::Info>) -> Result<T, ElementError>,
) -> Result<Stepped<S, T>, ElementError>
where
    S: Split,
{
    Ok(Some(match cut {
        Cut::NeedInput => return Ok(None),
        Cut::Frame {
            span, data, info, ..
        } => Piece::Frame(see(Seen { span, data, info })?),
        Cut::Junk(span) => Piece::Junk(span),
        Cut::Part { span, part } => Piece::Part(span, part),
        Cut::Rest(rest) => Piece::Rest(rest),
        Cut::End => Piece::End(false),
    }))
}
