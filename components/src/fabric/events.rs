//! Events that stand in queues, and what of them counts for an element.

use crate::digest::StateVisitor;
use crate::event::Event;
use crate::state::State;
use crate::time::Segment;
use smallvec::SmallVec;

/// The events in a pipeline's queues, by the numbers that stand there. Each number stands in one
/// place.
#[derive(Debug, Default)]
pub struct Events {
    slots: Vec<Option<Event>>,
    count: usize,
}

impl Events {
    /// Enters an event; its number is the lowest that is free.
    pub fn insert(&mut self, event: Event) -> u32 {
        self.count += 1;
        match self.slots.iter().position(Option::is_none) {
            Some(at) => {
                self.slots[at] = Some(event);
                at as u32
            }
            None => {
                self.slots.push(Some(event));
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The event of a number.
    pub fn get(&self, number: u32) -> Option<&Event> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// Takes an event out; its number is free.
    pub fn remove(&mut self, number: u32) -> Option<Event> {
        let event = self.slots.get_mut(number as usize)?.take();
        self.count -= usize::from(event.is_some());
        event
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Shows all of them.
    pub fn visit(&self, visitor: &mut dyn StateVisitor) {
        for (number, event) in (0u64..).zip(&self.slots) {
            if let Some(event) = event {
                visitor.unsigned("event", number);
                event.visit(visitor);
            }
        }
    }
}

/// Events of a lane, and the segments of its pads: only where there are any.
#[derive(Debug, Default)]
pub struct Signals {
    /// Emitted in this tick, in the order in which their items were staged.
    pub staged: Vec<Event>,
    /// To be sent upstream after this tick, with the sink pad that they leave by.
    pub upward: Vec<(u32, Event)>,
    /// Numbers of events that were taken in this tick.
    pub spent: Vec<u32>,
    /// A state of the pipeline that the element asked for in this tick.
    pub asked_state: Option<State>,
    /// Of each sink pad the segment that counts now.
    pub inputs: SmallVec<[Segment; 1]>,
    /// Of each source pad the segment that was emitted last.
    pub outputs: SmallVec<[Segment; 1]>,
}

impl Signals {
    /// The segment of a sink pad.
    pub fn input(&self, pad: usize) -> Segment {
        self.inputs.get(pad).copied().unwrap_or_default()
    }

    /// The segment of a source pad.
    pub fn output(&self, pad: usize) -> Segment {
        self.outputs.get(pad).copied().unwrap_or_default()
    }

    /// Another segment counts for a sink pad.
    pub fn set_input(&mut self, pad: usize, segment: Segment) {
        set(&mut self.inputs, pad, segment);
    }

    /// Another segment was emitted on a source pad.
    pub fn set_output(&mut self, pad: usize, segment: Segment) {
        set(&mut self.outputs, pad, segment);
    }

    /// Shows what lasts longer than a tick.
    pub fn visit(&self, visitor: &mut dyn StateVisitor) {
        for segment in self.inputs.iter().chain(&self.outputs) {
            segment.visit(visitor);
        }
    }
}

fn set(segments: &mut SmallVec<[Segment; 1]>, pad: usize, segment: Segment) {
    if segments.len() <= pad {
        segments.resize(pad + 1, Segment::default());
    }
    segments[pad] = segment;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Gap;
    use crate::time::TimeBase;

    fn gap(start: i64) -> Event {
        Event::Gap(Gap {
            start,
            duration: None,
            time_base: TimeBase::NANOSECONDS,
        })
    }

    #[test]
    fn the_lowest_free_number_is_used() {
        let mut events = Events::default();
        assert_eq!([0, 1, 2].map(|i| events.insert(gap(i))), [0, 1, 2]);
        assert_eq!(events.remove(1), Some(gap(1)));
        assert_eq!(events.remove(1), None);
        assert_eq!(events.insert(gap(9)), 1);
        assert_eq!((events.get(1), events.len()), (Some(&gap(9)), 3));
    }

    #[test]
    fn a_pad_without_a_segment_has_the_default_one() {
        let mut signals = Signals::default();
        let segment = Segment {
            start: 5,
            ..Segment::default()
        };
        signals.set_input(1, segment);
        assert_eq!(signals.input(0), Segment::default());
        assert_eq!(
            (signals.input(1), signals.input(7)),
            (segment, Segment::default())
        );
    }
}
