//! In which order requests that are out are done: a setting of who serves, so that a scenario can say it.
//! Plain data.

use crate::property::Choice;

/// In which order requests are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were made, all at once.
    #[default]
    Asked,
    /// The last one first, one at a time.
    Newest,
    /// One at a time, any, by a seed.
    Shuffled(u64),
}

impl Order {
    /// The names in properties.
    pub const CHOICES: &'static [Choice] = &[
        Choice {
            number: 0,
            name: "asked",
        },
        Choice {
            number: 1,
            name: "newest-first",
        },
        Choice {
            number: 2,
            name: "shuffled",
        },
    ];

    /// Its name in properties.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Asked => "asked",
            Order::Newest => "newest-first",
            Order::Shuffled(_) => "shuffled",
        }
    }

    /// Which of `out` requests is done next, the oldest being 0. `turn` counts those that were done
    /// one at a time.
    pub fn next(self, out: usize, turn: u64) -> usize {
        let last = out.saturating_sub(1);
        match self {
            Order::Asked => 0,
            Order::Newest => last,
            Order::Shuffled(seed) => (mixed(seed.wrapping_add(turn)) % out.max(1) as u64) as usize,
        }
    }
}

/// A number that has nothing to do with the one before it (SplitMix64).
const fn mixed(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn each_order_says_which_is_next() {
        assert_eq!(Order::Asked.next(3, 5), 0);
        assert_eq!(Order::Newest.next(3, 5), 2);
        let shuffled: Vec<usize> = (0..12).map(|t| Order::Shuffled(7).next(2, t)).collect();
        assert_eq!(shuffled, [1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0]);
    }

    #[test]
    fn of_none_it_is_the_first() {
        for order in [Order::Asked, Order::Newest, Order::Shuffled(3)] {
            assert_eq!(order.next(0, 1), 0, "{order:?}");
        }
    }
}
