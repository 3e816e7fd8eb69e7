//! Pulling: what a link grants in place of a stream of buffers. Who pulls reads at any position,
//! several requests at a time if it likes; nothing is sent, and so nothing waits in between.
//!
//! [`Bytes`] is what is granted, [`Reader`] how it is read. The rules are DirectShow's
//! `IAsyncReader`.

mod order;
mod reader;
mod source;
mod worker;

pub use order::Order;
pub use reader::{
    Completion, Outcome, PullError, Reader, Request, Short, agree_align, agree_buffers,
};
pub use source::{Available, Bytes, Slice};
pub use worker::{BLOCK, BLOCKS, Block, Step, Worker};
