//! What is known of elements that left a running graph. Plain data; it is in no digest.

use super::lane::Lane;
use core::mem::take;

/// The most elements that left of which one run tells; more are counted.
pub const MAX_LEFT: usize = 1024;

/// An element that left, and what it did until then.
#[derive(Debug)]
pub struct Left {
    /// Its name.
    pub name: String,
    /// Its class.
    pub kind: &'static str,
    /// Whether the end had been taken on all its sink pads.
    pub ended: bool,
    /// Its counters; what it held went home.
    pub lane: Lane,
}

/// Elements that left a graph while that ran.
#[derive(Debug, Default)]
pub struct Leavers {
    /// In the order in which they left.
    pub told: Vec<Left>,
    /// How many more there were beyond [`MAX_LEFT`].
    pub left_out: u64,
}

impl Leavers {
    /// Keeps what is to be told of an element that left.
    pub fn add(&mut self, mut left: Left) {
        if self.told.len() >= MAX_LEFT {
            self.left_out += 1;
            return;
        }
        // Its queues are empty; what they stood in is not needed any more.
        for input in &mut left.lane.inputs {
            take(&mut input.queue);
        }
        for output in &mut left.lane.outputs {
            take(&mut output.staged);
        }
        self.told.push(left);
    }
}
