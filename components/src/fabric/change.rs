//! What changes for an element in mid-stream: new caps, settings or memory, each at a place in the
//! stream.
//!
//! A re-negotiation has a number, its *epoch*. It tells each lane that it concerns what becomes
//! due; where caps of a link change, an item with the epoch stands in the queue before the first
//! buffer that they apply to. A lane takes its changes in order, each when such an item is the
//! oldest on all sink pads that it waits for, and at once if it waits for none.

use crate::caps::Caps;
use crate::id::PoolId;
use crate::sync::Synchroniser;
use crate::time::TimeBase;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Where a lane's buffers come from after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMemory {
    /// The pool that it fills buffers of.
    pub pool: Option<PoolId>,
    /// It writes into the buffers of its first input where it alone holds them.
    pub in_place: bool,
    /// Running it beside others pays.
    pub heavy: bool,
}

/// A change that a lane has before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The re-negotiation.
    pub epoch: u32,
    /// Linked sink pads on which it must have arrived.
    pub inputs: SmallVec<[u32; 2]>,
    /// Linked source pads on which it goes on.
    pub outputs: SmallVec<[u32; 2]>,
    /// New memory, if that changes.
    pub memory: Option<NewMemory>,
    /// The time bases of `inputs` after it, for a synchroniser.
    pub bases: SmallVec<[TimeBase; 2]>,
}

/// A synchroniser has made a set that needs changes to take effect first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Sets that come before it.
    pub sets: u32,
    /// How many changes.
    pub count: u32,
}

/// Changes under way for a lane.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Those that did not take effect yet, oldest first.
    pub due: VecDeque<Due>,
    /// A source pad whose caps the element wants to change, and to what: it waits for the answer.
    pub asked: Option<(u32, Caps)>,
    /// The answer is no: it fails.
    pub refused: bool,
    /// The pool that it filled buffers of before a change of this tick.
    pub retired: Option<PoolId>,
    /// Where the next change takes effect among the sets of a synchroniser.
    pub switch: Option<Switch>,
    /// Per input of a synchroniser: the frame from which on an epoch holds.
    passed: SmallVec<[Vec<(u64, u32)>; 2]>,
    /// Per input of a synchroniser: the epoch that the element works with.
    now: SmallVec<[u32; 2]>,
}

impl Changes {
    /// None, for a lane with so many inputs.
    pub fn new(inputs: usize) -> Changes {
        Changes {
            passed: (0..inputs).map(|_| Vec::new()).collect(),
            now: (0..inputs).map(|_| 0).collect(),
            ..Changes::default()
        }
    }

    /// Whether nothing is under way any more.
    pub fn is_settled(&self, sync: Option<&Synchroniser>) -> bool {
        let told = self.due.is_empty() && self.asked.is_none() && !self.refused;
        told && self.retired.is_none() && self.switch.is_none() && self.caught_up(sync)
    }

    /// Whether the synchroniser holds only frames of the epochs that the element works with.
    fn caught_up(&self, sync: Option<&Synchroniser>) -> bool {
        let Some(sync) = sync else { return true };
        sync.inputs.iter().enumerate().all(|(k, input)| {
            let now = self.now.get(k).copied().unwrap_or_default();
            let last = self.passed.get(k).and_then(|p| p.last());
            let current = input.current.map_or(now, |f| self.epoch_of(k, f.index));
            current == now && last.map_or(0, |l| l.1) == now
        })
    }

    /// The epoch of a frame of a synchroniser's input.
    fn epoch_of(&self, input: usize, index: u64) -> u32 {
        let passed = self.passed.get(input).map_or(&[][..], |p| p);
        let before = passed.iter().rev().find(|p| p.0 <= index);
        before.map_or(0, |p| p.1)
    }

    /// A synchroniser's input is past a change: frames from now on are of `epoch`.
    pub fn pass(&mut self, sync: &mut Synchroniser, input: usize, epoch: u32) {
        let due = self.due.iter().find(|d| d.epoch == epoch);
        let base = due.and_then(|d| {
            let at = d.inputs.iter().position(|&k| k as usize == input)?;
            d.bases.get(at).copied()
        });
        let Some(slot) = sync.inputs.get_mut(input) else {
            return;
        };
        if let Some(passed) = self.passed.get_mut(input) {
            passed.push((slot.taken, epoch));
        }
        if let Some(base) = base {
            sync.set_base(input, base);
        }
    }

    /// Looks at the set that the synchroniser just made: frames that are not of the epoch that
    /// the element works with then are taken out of it and given to `release`. Whether changes
    /// must take effect before it.
    pub fn look_at_set(
        &mut self,
        sync: &mut Synchroniser,
        mut release: impl FnMut(crate::id::BufferId),
    ) -> bool {
        let lead = sync.inputs.first().map_or(0, |i| i.taken.saturating_sub(1));
        let shown = |k: usize| match k {
            0 => Some(self.epoch_of(0, lead)),
            k => Some(self.epoch_of(k, sync.inputs.get(k)?.current?.index)),
        };
        // The leading input decides where its caps change; elsewhere the first frame does. One
        // that never comes, as its input has ended, is passed with the next.
        let leads = |due: &&Due| !due.inputs.contains(&0) || shown(0) >= Some(due.epoch);
        let reached = |due: &Due| {
            let mut inputs = due.inputs.iter();
            inputs.any(|&k| shown(k as usize) >= Some(due.epoch))
        };
        let mut count = 0;
        for (at, due) in self.due.iter().take_while(leads).enumerate() {
            if reached(due) {
                count = at + 1;
            }
        }
        let shown: SmallVec<[Option<u32>; 4]> = (0..sync.inputs.len()).map(shown).collect();
        for due in self.due.iter().take(count) {
            for &k in &due.inputs {
                if let Some(now) = self.now.get_mut(k as usize) {
                    *now = due.epoch;
                }
            }
        }
        if let Some(set) = sync.sets.back_mut() {
            for (k, frame) in set.frames.iter_mut().enumerate().skip(1) {
                if shown[k].is_some_and(|e| self.now.get(k) != Some(&e))
                    && let Some(buffer) = frame.take()
                {
                    release(buffer);
                    sync.inputs[k].absent += 1;
                    let record = sync.records.as_mut().and_then(|r| r.last_mut());
                    if let Some(index) = record.and_then(|r| r.indexes.get_mut(k)) {
                        *index = None;
                    }
                }
            }
        }
        if count > 0 {
            self.switch = Some(Switch {
                sets: sync.sets.len().saturating_sub(1) as u32,
                count: count as u32,
            });
        }
        count > 0
    }

    /// Numbers for digests: the epochs that the element works with and those passed.
    pub fn epochs(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let now = self.now.iter().map(|&e| (u64::MAX, e));
        now.chain(self.passed.iter().flatten().copied())
    }

    /// A change took effect.
    pub fn took_effect(&mut self) {
        if let Some(switch) = &mut self.switch {
            switch.count -= 1;
            if switch.count == 0 {
                self.switch = None;
            }
        }
    }
}
