//! Plain data of the tickpipe media engine and its algebra.
//!
//! Nothing here runs: no system, no I/O, no clock. What is hot lives in the [`fabric`]'s dense
//! arrays, what a person inspects lives in the components of [`graph`]; everything else is a
//! value with its own rules. Start with [`graph`] for the shape of the world, then [`caps`] and
//! [`fabric`].

pub mod avi;
pub mod buffer;
pub mod bus;
pub mod caps;
pub mod closest;
pub mod cut;
pub mod digest;
pub mod event;
pub mod fabric;
pub mod fault;
pub mod graph;
pub mod id;
pub mod ivf;
pub mod jpeg;
pub mod limits;
pub mod memory;
pub mod message;
pub mod occurrence;
pub mod pool;
pub mod property;
pub mod pull;
pub mod readiness;
pub mod seek;
pub mod stamps;
pub mod state;
pub mod sync;
pub mod time;
pub mod video;
pub mod wav;
pub mod y4m;
