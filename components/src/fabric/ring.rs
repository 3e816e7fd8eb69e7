//! A bounded queue of items in one allocation.

/// What stands in a queue: a buffer, a mark (a change of caps, or an event), or the end of the
/// stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item(u32);

/// The bit that tells what is not a buffer.
const NO_BUFFER: u32 = 1 << 31;

/// The bit that tells an event from a change of caps.
const EVENT: u32 = 1 << 30;

impl Item {
    /// The end of the stream.
    pub const EOS: Item = Item(u32::MAX);

    /// A buffer.
    #[inline]
    pub const fn buffer(id: crate::id::BufferId) -> Item {
        Item(id.0)
    }

    /// The buffer, if it is one.
    #[inline]
    pub const fn as_buffer(self) -> Option<crate::id::BufferId> {
        if self.0 & NO_BUFFER != 0 {
            None
        } else {
            Some(crate::id::BufferId(self.0))
        }
    }

    /// What comes behind has the caps of this re-negotiation, which are counted from 1.
    pub const fn caps(epoch: u32) -> Item {
        Item(NO_BUFFER | (epoch % EVENT))
    }

    /// The event of this number, which are counted from 0.
    pub const fn event(number: u32) -> Item {
        Item(NO_BUFFER | EVENT | (number % (EVENT - 1)))
    }

    /// The number of the event, if it is one.
    #[inline]
    pub const fn as_event(self) -> Option<u32> {
        if self.0 >= NO_BUFFER | EVENT && self.0 != u32::MAX {
            Some(self.0 & !(NO_BUFFER | EVENT))
        } else {
            None
        }
    }

    /// Whether it is a change of caps or an event: what takes no room.
    #[inline]
    pub const fn is_mark(self) -> bool {
        self.0 & NO_BUFFER != 0 && self.0 != u32::MAX
    }

    /// The number of the re-negotiation, if it is a change of caps.
    #[inline]
    pub const fn as_caps(self) -> Option<u32> {
        if self.0 & (NO_BUFFER | EVENT) == NO_BUFFER {
            Some(self.0 & !NO_BUFFER)
        } else {
            None
        }
    }

    /// A number for digests.
    pub const fn code(self) -> u64 {
        self.0 as u64
    }
}

/// A first-in first-out queue whose capacity is fixed when it is made. Beyond the items that it
/// has room for it takes one more: the end, which never waits for room.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    items: Box<[Item]>,
    head: u32,
    len: u32,
    capacity: u32,
    /// What it held when its room was made smaller.
    before: u32,
    /// Changes of caps and events in it, which take no room.
    marks: u32,
    /// Buffers that it takes now at most, whatever room it has.
    allowance: u32,
}

impl Ring {
    /// An empty queue for `capacity` items.
    pub fn new(capacity: usize) -> Ring {
        Ring {
            items: vec![Item::EOS; (capacity + 1).next_power_of_two()].into_boxed_slice(),
            head: 0,
            len: 0,
            capacity: capacity as u32,
            before: 0,
            marks: 0,
            allowance: u32::MAX,
        }
    }

    /// Changes how many items it has room for; those in it stay.
    pub fn resize(&mut self, capacity: usize) {
        let mut other = Ring::new(capacity.max(self.len()));
        self.iter().for_each(|item| {
            other.push(item);
        });
        other.capacity = capacity as u32;
        other.before = other.len;
        other.allowance = self.allowance;
        *self = other;
    }

    /// Items in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Items that fit still.
    #[inline]
    pub fn room(&self) -> usize {
        let room = (self.capacity + self.marks).saturating_sub(self.len);
        room.min(self.allowance) as usize
    }

    /// Buffers in it.
    #[inline]
    pub fn buffers(&self) -> usize {
        let end = self.len > 0 && self.get(self.len as usize - 1) == Some(Item::EOS);
        (self.len - self.marks) as usize - usize::from(end)
    }

    /// The oldest buffer.
    #[inline]
    pub fn first_buffer(&self) -> Option<crate::id::BufferId> {
        self.iter().find_map(Item::as_buffer)
    }

    /// The newest buffer.
    #[inline]
    pub fn last_buffer(&self) -> Option<crate::id::BufferId> {
        let mut from_end = (0..self.len()).rev();
        from_end.find_map(|at| self.get(at)?.as_buffer())
    }

    /// How many buffers it takes now at most, though it may have more room: another measure of it
    /// is near its limit.
    pub fn set_allowance(&mut self, buffers: u32) {
        self.allowance = buffers;
    }

    /// How many buffers it takes now at most, whatever room it has.
    pub fn allowance(&self) -> u32 {
        self.allowance
    }

    /// Items that fit in all.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The most items that it can hold now: its room, or what it held when that was made smaller,
    /// and the end.
    pub fn most(&self) -> usize {
        (self.capacity.max(self.before) + self.marks) as usize + 1
    }

    /// The oldest item.
    #[inline]
    pub fn front(&self) -> Option<Item> {
        self.get(0)
    }

    /// The oldest item that is no mark.
    pub fn front_behind_marks(&self) -> Option<Item> {
        self.iter().find(|item| !item.is_mark())
    }

    /// The item at a distance from the oldest.
    #[inline]
    pub fn get(&self, at: usize) -> Option<Item> {
        if at >= self.len as usize {
            return None;
        }
        let mask = self.items.len() - 1;
        self.items
            .get((self.head as usize).wrapping_add(at) & mask)
            .copied()
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let item = self.front()?;
        if item.is_mark() {
            self.marks -= 1;
        }
        self.drop_front();
        Some(item)
    }

    /// Lets go of the oldest item, if there is one, which is no mark.
    #[inline]
    pub fn drop_front(&mut self) {
        if self.len > 0 {
            self.head = self.head.wrapping_add(1);
            self.len -= 1;
        }
    }

    /// Takes up to `most` of the oldest items and adds them to `out`; how many.
    #[inline]
    pub fn pop_into(&mut self, most: usize, out: &mut Vec<Item>) -> usize {
        let count = most.min(self.len as usize);
        if count == 1 {
            if let Some(item) = self.pop() {
                out.push(item);
            }
            return 1;
        }
        let size = self.items.len();
        let start = self.head as usize & size.wrapping_sub(1);
        let first = count.min(size - start);
        out.extend_from_slice(&self.items[start..start + first]);
        out.extend_from_slice(&self.items[..count - first]);
        if self.marks > 0 {
            let moved = out[out.len() - count..].iter();
            self.marks -= moved.filter(|item| item.is_mark()).count() as u32;
        }
        self.head = self.head.wrapping_add(count as u32);
        self.len -= count as u32;
        count
    }

    /// Adds an item, or the end or a mark beyond all room; `false`, and nothing done, if it
    /// does not fit.
    #[inline]
    pub fn push(&mut self, item: Item) -> bool {
        if item.is_mark() {
            self.marks += 1;
            self.make_place();
        } else if self.room() == 0 && (item != Item::EOS || self.is_filled()) {
            // Filled beyond its room only by an end, or where the room was made smaller.
            return false;
        }
        let mask = self.items.len() - 1;
        let at = (self.head.wrapping_add(self.len)) as usize & mask;
        self.items[at] = item;
        self.len += 1;
        true
    }

    #[cold]
    #[inline(never)]
    fn is_filled(&self) -> bool {
        let last = self.get(self.len().wrapping_sub(1));
        let over = self.len > self.capacity + self.marks;
        over && (last == Some(Item::EOS) || self.len() >= self.items.len())
    }

    /// Makes sure that there is a place for a change of caps that comes now beside all that may come
    /// behind it, and the end.
    #[cold]
    #[inline(never)]
    fn make_place(&mut self) {
        let places = self.most().max(self.len() + 2);
        if places <= self.items.len() {
            return;
        }
        let mut items = vec![Item::EOS; places.next_power_of_two()];
        for (place, item) in items.iter_mut().zip(self.iter()) {
            *place = item;
        }
        self.items = items.into_boxed_slice();
        self.head = 0;
    }

    /// Adds items in order while they fit, none of them a mark; how many did.
    #[inline]
    pub fn push_all(&mut self, items: &[Item]) -> usize {
        let free = self.room();
        if items.len() > free {
            // Rare: the end goes beyond all room, or the caller did not count.
            return items.iter().take_while(|item| self.push(**item)).count();
        }
        if let [item] = items {
            return usize::from(self.push(*item));
        }
        let size = self.items.len();
        let start = self.head.wrapping_add(self.len) as usize & (size - 1);
        let first = items.len().min(size - start);
        let (head, tail) = items.split_at(first);
        self.items[start..start + first].copy_from_slice(head);
        self.items[..tail.len()].copy_from_slice(tail);
        self.len += items.len() as u32;
        items.len()
    }

    /// Takes out the item at a distance from the oldest; the others close up.
    pub fn remove(&mut self, at: usize) -> Option<Item> {
        let item = self.get(at)?;
        let mask = self.items.len() - 1;
        let place = |head: u32, at: usize| (head as usize).wrapping_add(at) & mask;
        let (head, last) = (self.head, self.len() - 1);
        if at < last - at {
            for at in (0..at).rev() {
                self.items[place(head, at + 1)] = self.items[place(head, at)];
            }
            self.head = head.wrapping_add(1);
        } else {
            for at in at..last {
                self.items[place(head, at)] = self.items[place(head, at + 1)];
            }
        }
        self.len -= 1;
        self.marks -= u32::from(item.is_mark());
        Some(item)
    }

    /// All items, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Item> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::BufferId;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn an_item_is_one_of_four() {
        let marker = Item::caps(7);
        assert_eq!((marker.as_buffer(), marker.as_caps()), (None, Some(7)));
        assert_eq!((Item::EOS.as_buffer(), Item::EOS.as_caps()), (None, None));
        let event = Item::event(7);
        assert_eq!(
            (event.as_buffer(), event.as_caps(), event.as_event()),
            (None, None, Some(7))
        );
        assert_eq!((marker.as_event(), Item::EOS.as_event()), (None, None));
        assert!(event.is_mark() && marker.is_mark() && !Item::EOS.is_mark());
        assert!(Item::event((1 << 30) - 1) != Item::EOS && Item::event((1 << 30) - 2) != Item::EOS);
        let buffer = Item::buffer(BufferId(7));
        assert_eq!(
            (buffer.as_buffer(), buffer.as_caps()),
            (Some(BufferId(7)), None)
        );
        assert!(Item::caps((1 << 31) - 2) != Item::EOS && Item::caps((1 << 31) - 1) != Item::EOS);
        let mut ring = Ring::new(3);
        assert!(ring.push(marker) && ring.push(Item::caps(8)));
        assert_eq!(ring.front_behind_marks(), None);
        assert!(ring.push(buffer));
        assert_eq!(ring.front_behind_marks(), Some(buffer));
        ring.resize(1);
        assert_eq!((ring.len(), ring.room(), ring.most()), (3, 0, 6));
        assert!(!ring.push(buffer) && ring.clone().push(Item::EOS));
        ring.resize(5);
        assert_eq!((ring.front(), ring.room()), (Some(marker), 4));
    }

    proptest! {
        #[test]
        fn is_a_bounded_queue(capacity in 1usize..9, ops in prop::collection::vec(any::<Option<u16>>(), 0..200)) {
            let mut ring = Ring::new(capacity);
            let mut model = VecDeque::new();
            for op in ops {
                match op {
                    Some(v) => {
                        let item = match v {
                            0..6000 => Item::EOS,
                            6000..8000 => Item::event(v.into()),
                            8000..12000 => Item::caps(v.into()),
                            _ => Item::buffer(BufferId(v.into())),
                        };
                        let changes = model.iter().filter(|i: &&Item| i.is_mark()).count();
                        // Where changes were taken out, what came behind them may be beyond its room.
                        if item == Item::EOS && model.len() > capacity + changes {
                            continue;
                        }
                        let fits = item.is_mark()
                            || model.len() < capacity + changes + usize::from(item == Item::EOS);
                        prop_assert_eq!(ring.push(item), fits);
                        if fits { model.push_back(item); }
                    }
                    None => prop_assert_eq!(ring.pop(), model.pop_front()),
                }
                if let Some(v) = op.filter(|v| v % 11 == 0) {
                    let mut out = Vec::new();
                    let count = ring.pop_into(usize::from(v % 5), &mut out);
                    let want: Vec<Item> = (0..usize::from(v % 5)).map_while(|_| model.pop_front()).collect();
                    prop_assert_eq!((count, &out), (want.len(), &want));
                }
                if let Some(v) = op.filter(|v| v % 13 == 0) {
                    let at = usize::from(v % 5);
                    prop_assert_eq!(ring.remove(at), model.remove(at));
                }
                if let Some(v) = op.filter(|v| v % 7 == 0) {
                    let items = vec![Item::buffer(BufferId(v.into())); usize::from(v % 5)];
                    let fits = items.len().min(ring.room());
                    prop_assert_eq!(ring.push_all(&items), fits);
                    model.extend(&items[..fits]);
                }
                prop_assert_eq!(ring.len(), model.len());
                let changes = model.iter().filter(|i| i.is_mark()).count();
                let buffers = || model.iter().filter_map(|i| i.as_buffer());
                prop_assert_eq!(ring.first_buffer(), buffers().next());
                prop_assert_eq!(ring.last_buffer(), buffers().next_back());
                if model.iter().rev().skip(1).all(|i| *i != Item::EOS) {
                    prop_assert_eq!(ring.buffers(), buffers().count());
                }
                prop_assert_eq!(ring.room(), (capacity + changes).saturating_sub(model.len()));
                prop_assert!(ring.len() <= ring.most());
                prop_assert!(ring.iter().eq(model.iter().copied()));
            }
        }
    }
}
