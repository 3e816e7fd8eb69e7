//! The lane of an element that works in a child, as it is in the parent, made anew for each call; and what
//! the element did to it. It touches lanes and buffers of its own, and the shared memory.

use super::messages::{
    Answered, Ask, Call, Came, CameBuffer, Emit, Failure, Outcome, Said, Waits, came_at, regions,
};
use super::shared::{SHARED_BYTES, Shared};
use crate::element::{Beside, Handled, Now, Offers, PadAt, Process, Work};
use smallvec::SmallVec;
use thiserror::Error;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::caps::Caps;
use tickpipe_components::fabric::{
    BufferTable, Granted, Held, Input, Item, Kept, Lane, Output, Posted, Ring, RoomFor, Trigger,
};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::{BufferId, ElementId, LaneId, LinkId, PoolId};
use tickpipe_components::memory::Memory;
use tickpipe_components::pool::Heap;

/// How many buffers the two ends can name.
pub const MAX_SLOTS: usize = 1 << 16;

/// What a call cannot be.
#[derive(Clone, Debug, Error)]
pub enum MirrorError {
    /// A buffer has a number that is too large.
    #[error("buffer {0} is beyond {MAX_SLOTS}")]
    Slot(u32),
    /// Buffers do not fit into the shared memory.
    #[error("buffers of {0} bytes do not fit into the {SHARED_BYTES} bytes of shared memory")]
    Bytes(u64),
    /// Its bytes cannot be read or written.
    #[error("the shared memory cannot be used: {0}")]
    Shared(String),
    /// Caps that are none.
    #[error("caps that were answered are none")]
    Caps,
    /// The element did what cannot be done in a child.
    #[error("{name} cannot run in a child process: it {what}")]
    Unable {
        /// Which element.
        name: &'static str,
        /// What it did.
        what: &'static str,
    },
}

impl From<MirrorError> for ElementError {
    fn from(error: MirrorError) -> ElementError {
        let code = match error {
            MirrorError::Unable { .. } => Code::Unsupported,
            MirrorError::Bytes(_) => Code::Limit,
            _ => Code::Garbled,
        };
        ElementError::new(Domain::Resource, code, error)
    }
}

/// The buffers of a child's element.
#[derive(Default)]
pub struct Mirror {
    table: BufferTable,
    /// Memory to fill, by slot, while it is not lent.
    blank: Vec<Option<Memory>>,
}

impl Mirror {
    /// Runs one call on an element.
    ///
    /// # Errors
    /// A call that cannot be, or an element that cannot work here. Its own failure is in the outcome.
    pub fn run(
        &mut self,
        work: &mut dyn Work,
        call: &Call,
        shared: &Shared,
        name: &'static str,
    ) -> Result<Outcome, ElementError> {
        let mut lane = self.lane(call, shared)?;
        let offers = call.offers.iter().map(|(pad, caps)| {
            let caps = caps.parse::<Caps>().map_err(|_| MirrorError::Caps)?;
            Ok((*pad, Box::new(caps)))
        });
        let offers: Offers = offers.collect::<Result<SmallVec<_>, MirrorError>>()?;
        let now = Now {
            tick: call.tick,
            time: call.time.0,
            base: call.time.1,
            free: call.clock.0,
            wall: call.clock.1,
            recording: false,
        };
        let mut sentences = Vec::new();
        let beside = Beside {
            name,
            said: Some(&mut sentences),
            offers: &offers,
            pads: None,
            outside: None,
        };
        let mut process = Process::new(&mut lane, &self.table, now, beside);
        let handled = |h: Handled| Answered::Taken(h == Handled::Taken);
        let answer = match &call.ask {
            Ask::Process => work.process(&mut process).map(|()| Answered::Done),
            Ask::Drain(event) => {
                let drained = work.drain(event.as_ref(), &mut process);
                drained.map(Answered::Drained)
            }
            Ask::FromUpstream(event) => {
                work.event(PadAt::sink(0), event, &mut process).map(handled)
            }
            Ask::FromDownstream(event) => work
                .event(PadAt::source(0), event, &mut process)
                .map(handled),
        };
        let answer = answer.unwrap_or_else(|error| {
            Answered::Failed(Failure {
                domain: error.domain,
                code: error.code,
                text: error.detail.to_string(),
            })
        });
        let outcome = self.outcome(lane, answer, call, shared, name)?;
        Ok(Outcome {
            sentences,
            ..outcome
        })
    }

    /// Makes a slot that can be named.
    fn slot(&mut self, slot: u32) -> Result<BufferId, MirrorError> {
        if slot as usize >= MAX_SLOTS {
            return Err(MirrorError::Slot(slot));
        }
        let all = (slot as usize + 1).max(self.table.len());
        let t = &mut self.table;
        // Pool 0 is the element's own; each slot has one besides, for where planes lie in it.
        while t.pools.len() <= all {
            t.add_pool(LaneId(0), Box::new(Heap));
        }
        t.meta.resize(all, BufferMeta::default());
        t.refs.resize(all, 1);
        let held = Held {
            by: LaneId(0),
            since: 0,
        };
        t.held.resize(all, held);
        while t.pool.len() < all {
            t.pool.push(PoolId(t.pool.len() as u32 + 1));
        }
        t.memory.resize_with(all, || None);
        t.payload.resize(all, 0);
        t.shows.resize(all, None);
        self.blank.resize_with(all, || None);
        Ok(BufferId(slot))
    }

    /// A buffer that came, with its bytes.
    fn came(
        &mut self,
        came: &CameBuffer,
        start: u64,
        shared: &Shared,
    ) -> Result<BufferId, MirrorError> {
        let buffer = self.slot(came.slot)?;
        let size = came.meta.len;
        let end = start.saturating_add(size as u64);
        if end > SHARED_BYTES {
            return Err(MirrorError::Bytes(end));
        }
        let i = buffer.index();
        let pool = PoolId(came.slot + 1);
        self.table.pool[i] = pool;
        self.table.pools[pool.index()].layout = came.layout;
        let memory = self.table.memory[i].take().filter(|m| m.len() >= size);
        let mut memory = memory.unwrap_or_else(|| Memory::new(size, 64));
        if let Some(bytes) = memory.as_mut_slice().get_mut(..size) {
            let read = shared.read(start, bytes);
            read.map_err(|e| MirrorError::Shared(e.to_string()))?;
        }
        self.table.memory[i] = Some(memory);
        self.table.meta[i] = came.meta;
        Ok(buffer)
    }

    fn lane(&mut self, call: &Call, shared: &Shared) -> Result<Lane, MirrorError> {
        let mut lane = Lane::new(ElementId(call.element), Trigger::Any);
        self.slot(0)?;
        if let Some(sink) = &call.sink {
            let mut queue = Ring::new(sink.came.len() + 1);
            for (came, start) in came_at(call) {
                match came {
                    Came::End => {
                        queue.push(Item::EOS);
                    }
                    Came::Buffer(came) => {
                        queue.push(Item::buffer(self.came(came, start, shared)?));
                    }
                }
            }
            lane.inputs.push(Input {
                allowed: queue.len() as u32,
                queue,
                link: LinkId(0),
                from: (LaneId(0), 0),
                eos: sink.ended,
                taken: 0,
                discarded: 0,
                carried: 0,
                may_be_silent: sink.may_be_silent,
            });
        }
        if let Some(source) = &call.source {
            lane.outputs.push(Output {
                staged: Vec::new(),
                link: LinkId(0),
                to: (LaneId(0), 0),
                room: source.room,
                eos: source.ended,
                emitted: 0,
                waited: (0, 0),
            });
        }
        let segments = (call.sink.as_ref(), call.source.as_ref());
        let segments = (segments.0.map(|s| s.segment), segments.1.map(|s| s.segment));
        if segments.0.is_some_and(|s| s != Default::default())
            || segments.1.is_some_and(|s| s != Default::default())
        {
            let signals = lane.signals_mut();
            if let Some(segment) = segments.0 {
                signals.set_input(0, segment);
            }
            if let Some(segment) = segments.1 {
                signals.set_output(0, segment);
            }
        }
        lane.timed = call.timed;
        if let Some((count, layout)) = call.pool {
            lane.pool = Some(PoolId(0));
            self.table.pools[0].count = count;
            self.table.pools[0].layout = layout;
        }
        for (slot, size, start) in regions(call) {
            if start.saturating_add(size as u64) > SHARED_BYTES {
                return Err(MirrorError::Bytes(start.saturating_add(size as u64)));
            }
            let buffer = self.slot(slot)?;
            let aside = call.aside == Some(slot);
            let memory = self.blank[buffer.index()].take();
            // As in a pool: zeroed once, and then as it was left.
            let memory = memory.filter(|m| m.len() == size);
            let memory = memory.unwrap_or_else(|| Memory::new(size, 64));
            let granted = Granted {
                buffer,
                memory,
                meta: self.table.meta[buffer.index()],
            };
            self.table.pool[buffer.index()] = PoolId(0);
            let extras = lane.extras.make();
            match aside {
                true => extras.filling.push(granted),
                false => extras.granted.push_back(granted),
            }
        }
        for &(slot, since) in &call.kept {
            let buffer = self.slot(slot)?;
            lane.extras.make().kept.push_back(Kept { buffer, since });
        }
        Ok(lane)
    }

    fn outcome(
        &mut self,
        mut lane: Lane,
        answer: Answered,
        call: &Call,
        shared: &Shared,
        name: &'static str,
    ) -> Result<Outcome, ElementError> {
        let unable = |what| Err(MirrorError::Unable { name, what }.into());
        let unwritable = |e: std::io::Error| MirrorError::Shared(e.to_string());
        let asked_state = lane.signals.as_ref().and_then(|s| s.asked_state);
        if asked_state.is_some() {
            return unable("asks for a state of the pipeline");
        }
        if lane.extras.watched.is_some() {
            return unable("tells the report of all that passes");
        }
        let said = core::mem::take(&mut lane.extras.make().posted);
        let mut events = lane
            .signals
            .as_mut()
            .map(|s| core::mem::take(&mut s.staged));
        let mut events = events.iter_mut().flat_map(|e| e.drain(..));
        let places: Vec<(u32, usize, u64)> = regions(call).collect();
        let extras = lane.extras.make();
        let views = core::mem::take(&mut extras.views);
        let mut published = core::mem::take(&mut extras.published);
        let mut emitted = Vec::new();
        let staged = lane.outputs.iter_mut().flat_map(|o| o.staged.drain(..));
        for item in staged {
            let Some(buffer) = item.as_buffer() else {
                match item {
                    Item::EOS => emitted.push(Emit::End),
                    _ => emitted.extend(events.next().map(Emit::Event)),
                }
                continue;
            };
            let filled = published.iter().position(|g| g.buffer == buffer);
            let Some(filled) = filled.map(|at| published.remove(at)) else {
                emitted.push(Emit::Forward(buffer.0));
                continue;
            };
            let meta = filled.meta;
            let shown = views.iter().find(|v| v.0 == buffer).map(|v| v.1);
            if let Some(shown) = shown {
                emitted.push(Emit::View((buffer.0, shown.0, meta)));
            } else {
                let place = places.iter().find(|p| p.0 == buffer.0);
                let bytes = filled.memory.as_slice();
                let bytes = bytes.get(..meta.len).unwrap_or(bytes);
                if let Some(place) = place {
                    shared.write(place.2, bytes).map_err(unwritable)?;
                }
                emitted.push(Emit::Filled((buffer.0, meta)));
            }
            self.blank[buffer.index()] = Some(filled.memory);
        }
        if !published.is_empty() {
            return unable("keeps buffers for a device that fills them later");
        }
        let extras = lane.extras.make();
        let mut aside = None;
        for left in extras.filling.drain(..) {
            aside = Some(left.buffer.0);
            self.blank[left.buffer.index()] = Some(left.memory);
        }
        for left in extras.granted.drain(..) {
            self.blank[left.buffer.index()] = Some(left.memory);
        }
        let said = said.iter().filter_map(|posted| match *posted {
            Posted::Warning(domain, code) => Some(Said::Warning((domain, code))),
            Posted::Occurrence(o) => Some(Said::Occurrence(o)),
            Posted::Before(element, o) => Some(Said::Before((element.0, o))),
            Posted::Eos | Posted::Error(..) => None,
        });
        let room_for = match lane.room_for {
            RoomFor::All => (0, 0),
            RoomFor::One(pad) => (1, pad),
            RoomFor::None => (2, 0),
        };
        let announced = lane.changes.as_ref().and_then(|c| c.asked.as_ref());
        let upward = lane
            .signals
            .as_mut()
            .map(|s| core::mem::take(&mut s.upward));
        let numbers = |buffers: &[BufferId]| buffers.iter().map(|b| b.0).collect();
        let extras = &lane.extras;
        Ok(Outcome {
            answer,
            took: lane.inputs.first().map_or(0, |input| {
                let came = call.sink.as_ref().map_or(0, |s| s.came.len());
                came.saturating_sub(input.queue.len()) as u32
            }),
            emitted,
            sentences: Vec::new(),
            released: numbers(&lane.released),
            retained: numbers(&extras.retained),
            kept: extras.kept.iter().map(|k| (k.buffer.0, k.since)).collect(),
            aside,
            waits: Waits {
                done: lane.done,
                again: lane.again,
                device: lane.device,
                eager: lane.eager,
                room_for,
                wake_at: extras.wake_at,
                awaits: extras.awaits,
                awaits_room: extras.awaits_room,
            },
            dropped: lane.dropped,
            tally: extras.tally.iter().collect(),
            said: said.collect(),
            copied: extras.copied,
            announced: announced.map(|(pad, caps)| (*pad, caps.to_string())),
            upward: upward.into_iter().flatten().map(|(_, e)| e).collect(),
        })
    }
}
