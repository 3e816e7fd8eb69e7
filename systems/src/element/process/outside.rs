//! How an element hands over work that is done outside the tick, and takes what came of it.

use super::Process;
use crate::outside::{Done, HandError, Item, Pace};

impl Process<'_> {
    /// Hands over an item of work, which is done outside the tick; its number among this element's.
    ///
    /// It is said to take `lasts` nanoseconds of virtual time; 0 is the most urgent `priority`. The
    /// element says with [`Element::outside`](super::super::Element::outside) how many may be out.
    ///
    /// # Errors
    /// [`HandError`]: nothing was handed over then.
    pub fn hand(&mut self, priority: u8, lasts: i64, item: Item) -> Result<u64, HandError> {
        let due = self.now.time.saturating_add(lasts.max(0));
        let tick = self.now.tick;
        let outside = self.beside.outside.as_mut();
        let outside = outside.ok_or(HandError::Unannounced)?;
        outside.hand(tick, due, priority, item)
    }

    /// Items that are out.
    pub fn items_out(&self) -> usize {
        self.beside.outside.as_ref().map_or(0, |o| o.len())
    }

    /// How many more may be out.
    pub fn items_room(&self) -> usize {
        self.beside.outside.as_ref().map_or(0, |o| o.room())
    }

    /// The next result that can be taken. With the clock `free` that is the oldest, from the tick after
    /// the one in which it was handed over; with `virtual` the one whose time came first; if it is not
    /// done yet it is waited for, here. With `wall` it is the one that was done first, if any is.
    pub fn take_done(&mut self) -> Option<Done> {
        let pace = match self.now {
            now if now.free => Pace::Free,
            now if now.wall => Pace::Wall,
            now => Pace::Virtual(now.time),
        };
        self.beside.outside.as_mut()?.take(self.now.tick, pace)
    }

    /// Whether the clock is the real one.
    pub fn is_wall(&self) -> bool {
        self.now.wall
    }

    /// Goes on when a result can be taken; with `or_input` also when something is on a sink pad, while
    /// another item may be out.
    pub fn wait_for_done(&mut self, or_input: bool) {
        let Some(due) = self.beside.outside.as_ref().and_then(|o| o.due()) else {
            return;
        };
        let or_input = or_input && self.items_room() > 0;
        self.lane.extras.make().owes = true;
        if self.now.free || (!self.now.wall && due <= self.now.time) {
            self.again();
        } else if self.now.wall {
            self.lane.device = true;
            self.lane.eager = or_input;
        } else {
            self.wait_until(due);
            self.lane.eager = or_input;
        }
    }
}
