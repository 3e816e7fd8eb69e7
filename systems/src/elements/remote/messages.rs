//! What the two ends say to each other: one request, one reply. Plain data.
//!
//! The child's element sees its lane as it is in the parent: what came, room, buffers to fill, what
//! it keeps. What it did to it goes back as a list of deeds, which the parent checks and does again.
//! Bytes of buffers are not here but in the shared memory.

use super::wire::{Reader, Wire, WireError, fields, kinds};
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::event::Event;
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::occurrence::{Deed, Occurrence, Reason};
use tickpipe_components::seek::{Answer, Query, Seek, SeekFormat};
use tickpipe_components::time::{Segment, TimeBase};
use tickpipe_components::video::Layout;

macro_rules! by_name {
    ($($type:ident),+) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                self.name().to_owned().put(out);
            }
            fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
                let named = $type::from_name(&String::get(r)?);
                named.ok_or_else(|| r.bad(stringify!($type), 0))
            }
        }
    )+};
}

by_name!(Domain, Code, Reason, Deed);

/// What the child is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The version of the messages.
    pub version: u32,
    /// The launch text of its element.
    pub transform: String,
    /// The most bytes of address space that it takes; 0 for no bound.
    pub max_memory: u64,
}
fields!(Setup {
    version,
    transform,
    max_memory
});

/// The caps of the pads, as texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PadTexts {
    /// Of the sink pads.
    pub sinks: Vec<String>,
    /// Of the source pads.
    pub sources: Vec<String>,
}
fields!(PadTexts { sinks, sources });

/// What came.
#[expect(clippy::large_enum_variant, reason = "one is made for each call")]
#[derive(Clone, Debug, PartialEq)]
pub enum Came {
    /// The end.
    End,
    /// A buffer; its bytes are in the shared memory.
    Buffer(CameBuffer),
}
kinds!(Came, "item" { 0 => End, 1 => Buffer(b) });

/// A buffer that came.
#[derive(Clone, Debug, PartialEq)]
pub struct CameBuffer {
    /// Its number between the two ends.
    pub slot: u32,
    /// Times, length, flags.
    pub meta: BufferMeta,
    /// Where the planes of a picture lie in it.
    pub layout: Option<Layout>,
}
fields!(CameBuffer { slot, meta, layout });

/// The sink pad.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    /// What may be taken now, oldest first.
    pub came: Vec<Came>,
    /// The end was taken.
    pub ended: bool,
    /// Nothing may ever come.
    pub may_be_silent: bool,
    /// The segment that counts.
    pub segment: Segment,
}
fields!(Sink {
    came,
    ended,
    may_be_silent,
    segment
});

/// The source pad.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// How much may be emitted.
    pub room: u32,
    /// The end was emitted.
    pub ended: bool,
    /// The segment that was emitted last.
    pub segment: Segment,
}
fields!(Source {
    room,
    ended,
    segment
});

/// What is asked of the element.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// To process.
    Process,
    /// To let go of what it keeps.
    Drain(Option<Event>),
    /// What it does with an event on its sink pad.
    FromUpstream(Event),
    /// The same on its source pad.
    FromDownstream(Event),
}
kinds!(Ask, "question" { 0 => Process, 1 => Drain(e), 2 => FromUpstream(e), 3 => FromDownstream(e) });

/// Its lane, and what is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is asked.
    pub ask: Ask,
    /// The element's number.
    pub element: u32,
    /// The tick.
    pub tick: u64,
    /// Virtual time, and at which running time was 0.
    pub time: (i64, i64),
    /// The clock is `free`; it is the real one.
    pub clock: (bool, bool),
    /// Buffers wait for their running time.
    pub timed: bool,
    /// Its sink pad, if it is linked.
    pub sink: Option<Sink>,
    /// Its source pad, if it is linked.
    pub source: Option<Source>,
    /// Buffers to fill, and their sizes.
    pub granted: Vec<(u32, usize)>,
    /// How many buffers its pool has, and where planes lie in them.
    pub pool: Option<(u32, Option<Layout>)>,
    /// Buffers that it keeps, and since which tick.
    pub kept: Vec<(u32, u64)>,
    /// The buffer that it put aside.
    pub aside: Option<u32>,
    /// What it announced and had answered.
    pub offers: Vec<(u32, String)>,
}
fields!(Call {
    ask,
    element,
    tick,
    time,
    clock,
    timed,
    sink,
    source,
    granted,
    pool,
    kept,
    aside,
    offers
});

/// What the parent asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// To become an element.
    Setup(Setup),
    /// Caps are agreed.
    Caps(PadTexts),
    /// To work.
    Call(Box<Call>),
    /// All that it took is gone.
    Flush(Vec<usize>),
    /// To play; to pause; to close.
    Step(u8),
    /// What it would do where the stream goes on elsewhere.
    PlanSeek(Seek),
    /// To go there.
    Seek(Seek),
    /// Where it is.
    Position,
    /// A question.
    Query(Query),
}
kinds!(Request, "request" {
    0 => Setup(s), 1 => Caps(c), 2 => Call(c), 3 => Flush(p), 4 => Step(s), 5 => PlanSeek(s),
    6 => Seek(s), 7 => Position, 8 => Query(q),
});

/// [`Request::Step`]: to play.
pub const PLAY: u8 = 0;
/// [`Request::Step`]: to pause.
pub const PAUSE: u8 = 1;
/// [`Request::Step`]: to close.
pub const CLOSE: u8 = 2;

/// What it emitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Emit {
    /// A buffer that it took or kept.
    Forward(u32),
    /// A buffer that it filled.
    Filled((u32, BufferMeta)),
    /// A buffer that shows another one.
    View((u32, u32, BufferMeta)),
    /// An event.
    Event(Event),
    /// The end.
    End,
}
kinds!(Emit, "emission" {
    0 => Forward(b), 1 => Filled(b), 2 => View(b), 3 => Event(e), 4 => End,
});

/// A failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of thing went wrong.
    pub domain: Domain,
    /// Why.
    pub code: Code,
    /// The sentence.
    pub text: String,
}
fields!(Failure { domain, code, text });

/// What it answered to [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// It worked.
    Done,
    /// It drained, did not yet, or leaves that to the framework.
    Drained(Option<bool>),
    /// It took the event, or it goes on.
    Taken(bool),
    /// It failed.
    Failed(Failure),
}
kinds!(Answered, "answer" { 0 => Done, 1 => Drained(d), 2 => Taken(t), 3 => Failed(f) });

/// Something that it said beside.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A warning.
    Warning((Domain, Code)),
    /// Something happened to one buffer.
    Occurrence(Occurrence),
    /// The same at another element.
    Before((u32, Occurrence)),
}
kinds!(Said, "saying" { 0 => Warning(w), 1 => Occurrence(o), 2 => Before(b) });
fields!(Occurrence {
    reason,
    deed,
    index,
    value,
    time_base
});

/// A value of its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A number.
    Number(u64),
    /// Bytes.
    Bytes(Vec<u8>),
}
kinds!(Shown, "state" { 0 => Number(n), 1 => Bytes(b) });

/// What it waits for now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// It works no more.
    pub done: bool,
    /// It wants to run again.
    pub again: bool,
    /// It waits for a device.
    pub device: bool,
    /// Any input wakes it before.
    pub eager: bool,
    /// Which source pads must have room: all, none, or one.
    pub room_for: (u8, u32),
    /// Nothing before this time.
    pub wake_at: Option<i64>,
    /// The sink pad that it waits for.
    pub awaits: Option<u32>,
    /// The source pad on which it waits for room.
    pub awaits_room: Option<u32>,
}
fields!(Waits {
    done,
    again,
    device,
    eager,
    room_for,
    wake_at,
    awaits,
    awaits_room
});

/// What it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it answered.
    pub answer: Answered,
    /// How much it took of what came.
    pub took: u32,
    /// What it emitted, in order.
    pub emitted: Vec<Emit>,
    /// Buffers that it let go.
    pub released: Vec<u32>,
    /// References that it added.
    pub retained: Vec<u32>,
    /// Buffers that it keeps now, and since when.
    pub kept: Vec<(u32, u64)>,
    /// The buffer that it put aside.
    pub aside: Option<u32>,
    /// What it waits for.
    pub waits: Waits,
    /// Buffers that it should have passed on and did not.
    pub dropped: u64,
    /// What happened to buffers, and how often.
    pub tally: Vec<(Reason, Deed, u64)>,
    /// What it said.
    pub said: Vec<Said>,
    /// The sentences about that, for the log.
    pub sentences: Vec<String>,
    /// Copies that it made, and bytes.
    pub copied: (u64, u64),
    /// The caps that it announced.
    pub announced: Option<(u32, String)>,
    /// Events that it sent upstream.
    pub upward: Vec<Event>,
}
fields!(Outcome {
    answer,
    took,
    emitted,
    released,
    retained,
    kept,
    aside,
    waits,
    dropped,
    tally,
    said,
    sentences,
    copied,
    announced,
    upward,
});

/// Where the stream goes on for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Planned {
    /// It leaves that to those upstream.
    Pass,
    /// It goes there.
    Here(Segment),
    /// So do those upstream.
    Through((Seek, Segment)),
}
kinds!(Planned, "plan" { 0 => Pass, 1 => Here(s), 2 => Through(t) });

/// What the child replies.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It is an element, and this is its version.
    Ready(u32),
    /// It was done.
    Done,
    /// It cannot, or failed.
    Failed(Failure),
    /// What a call did.
    Outcome(Box<Outcome>),
    /// What a seek would do.
    Planned(Planned),
    /// Where it is.
    Position(Option<(i64, TimeBase)>),
    /// The answer to a question.
    Answer(Option<Answer>),
}
kinds!(Reply, "reply" {
    0 => Ready(v), 1 => Done, 2 => Failed(f), 3 => Outcome(o), 4 => Planned(p), 5 => Position(p),
    6 => Answer(a),
});

/// A reply, and the state of the element after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replied {
    /// The reply.
    pub reply: Reply,
    /// The state.
    pub state: Vec<Shown>,
}
fields!(Replied { reply, state });

impl<T: Wire> Wire for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        T::get(r).map(Box::new)
    }
}

kinds!(SeekFormat, "seek format" { 0 => Time(b), 1 => Frames, 2 => Bytes });
fields!(Seek {
    format,
    start,
    stop,
    rate,
    flush
});
kinds!(Query, "query" { 0 => Duration, 1 => Seeking, 2 => Custom(c) });

impl Wire for Answer {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Answer::Duration(long, base) => (0u8, *long, *base).put(out),
            Answer::Seeking(can) => (1u8, *can).put(out),
            Answer::Custom(text) => (2u8, text.clone()).put(out),
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match u8::get(r)? {
            0 => {
                let (long, base) = <(i64, TimeBase)>::get(r)?;
                Answer::Duration(long, base)
            }
            1 => Answer::Seeking(bool::get(r)?),
            2 => Answer::Custom(String::get(r)?),
            other => return Err(r.bad("answer", other.into())),
        })
    }
}

/// Buffers in the shared memory begin at multiples of this.
pub const PAGE: u64 = 4096;

/// How much of the shared memory something takes.
pub const fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE).saturating_mul(PAGE)
}

/// Where in the shared memory that lies which came: both ends reckon the same.
pub fn came_at(call: &Call) -> impl Iterator<Item = (&Came, u64)> {
    let came = call.sink.iter().flat_map(|s| &s.came);
    let mut at = 0u64;
    came.map(move |came| {
        let start = at;
        if let Came::Buffer(buffer) = came {
            at = at.saturating_add(pages(buffer.meta.len as u64));
        }
        (came, start)
    })
}

/// The same of the buffers to fill, which lie behind: number, size and place.
pub fn regions(call: &Call) -> impl Iterator<Item = (u32, usize, u64)> {
    let came = call.sink.iter().flat_map(|s| &s.came);
    let mut at = came.fold(0u64, |at, came| match came {
        Came::Buffer(buffer) => at.saturating_add(pages(buffer.meta.len as u64)),
        Came::End => at,
    });
    call.granted.iter().map(move |&(slot, size)| {
        let start = at;
        at = at.saturating_add(pages(size as u64));
        (slot, size, start)
    })
}
