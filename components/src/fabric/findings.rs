//! What the report phase finds wrong in a run: an invariant that does not hold, and buffers that do
//! not come back. Plain data; it is in no digest.

/// Something that always holds does not: see docs/invariants.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which invariant, by its stable name.
    pub id: &'static str,
    /// The tick at whose end it was found.
    pub tick: u64,
    /// Names of the elements that it concerns.
    pub elements: Vec<String>,
    /// The buffers that it concerns, as `element.pad[slot]`.
    pub buffers: Vec<String>,
    /// What was found.
    pub text: String,
}

/// The most leaks that are told of one run; more are counted.
pub const MAX_LEAKS: usize = 64;

/// A buffer that one holder has had for a long time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Its pool, as `element.pad`.
    pub pool: String,
    /// Which of the pool's buffers, from 0.
    pub buffer: u32,
    /// The element that has it, or had it last if nobody knows of it any more.
    pub holder: String,
    /// The tick since which that has been so.
    pub since: u64,
    /// The tick in which it was told.
    pub tick: u64,
}

/// Buffers that did not come back, and when to look again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaks {
    /// Those that were told, in order of the ticks in which they were.
    pub told: Vec<Leak>,
    /// How many more there were beyond [`MAX_LEAKS`].
    pub left_out: u64,
    /// The tick since which the pipeline has been in PLAYING.
    pub playing: Option<u64>,
    /// Nothing can be due before this tick.
    pub next: u64,
    /// All that was due in this tick or before has been told.
    pub looked: u64,
    /// Buffers that nobody knows of any more and that were told, ascending.
    pub lost: Vec<u32>,
    /// The buffers that were out at the end of the run were told.
    pub ended: bool,
}
