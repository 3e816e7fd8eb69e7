//! Exact time: a value and a rational time base, and what is computed with them in 128 bits.
//!
//! No float takes part; each conversion states how it rounds, and what does not fit is `None`.
//! [`Segment`] says which running and stream time a stamp has.

mod base;
mod instant;
mod segment;
mod unwrap;

pub use base::{Rounding, TimeBase, gcd};
pub use instant::Time;
pub use segment::{Rate, Segment};
pub use unwrap::{Unwrap, Unwrapped};
