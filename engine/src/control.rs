//! What is asked of a started pipeline: other states, other places, discarding, events, questions.

use crate::build::{ElementHandle, PipelineHandle};
use crate::engine::Engine;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{Gate, Input, Item, Latency, Progress, SinkTiming};
use tickpipe_components::graph::{Bin, DownOrder, Element, Members, Place, Target};
use tickpipe_components::id::ElementId;
use tickpipe_components::seek::{Answer, Flush, Query, Seek};
use tickpipe_components::state::State;
use tickpipe_components::time::{Rounding, Segment, TimeBase};
use tickpipe_systems::Works;
use tickpipe_systems::command::seek::{SeekError, plan};
use tickpipe_systems::command::{Action, Actions};
use tickpipe_systems::element::PadAt;
use tickpipe_systems::state::is_prerolled;

/// How a change of state stands (GStreamer: the answer of `get_state`; DirectShow: `S_OK`,
/// `INTERMEDIATE`, `CANT_CUE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeResult {
    /// It is where it was asked to be.
    Success,
    /// It is on its way, or a sink has nothing to hold yet.
    Async,
    /// It is in PAUSED, and a live source gives nothing there.
    NoPreroll,
    /// A step failed, and nothing more is tried before somebody asks again.
    Failure,
}

/// Where a pipeline is and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// Where it is.
    pub state: State,
    /// Where it was asked to be, if that is elsewhere.
    pub pending: Option<State>,
    /// How that stands.
    pub result: ChangeResult,
}

/// The buffer that a sink in PAUSED shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its times, length and flags.
    pub meta: BufferMeta,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// How long it takes from the sources to behind an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementLatency {
    /// The element's name.
    pub element: String,
    /// How long, in all.
    pub latency: Latency,
}

impl Engine {
    fn act(&mut self, action: Action) {
        self.world.resource_mut::<Actions>().queue.push(action);
    }

    /// Where a pipeline is, where it goes, and how that stands.
    pub fn state_change(&self, pipeline: PipelineHandle) -> StateChange {
        let state = self.state(pipeline);
        let target = self.world.get::<Target>(pipeline.entity);
        let target = target.map_or(state, |t| t.0);
        let p = self.fabric(pipeline);
        let failed = |p: &&tickpipe_components::fabric::PipelineFabric| {
            p.change_failed || p.progress == Progress::Failed
        };
        let holds = state == State::Paused && target == State::Paused;
        let result = match p {
            Some(p) if failed(&p) && state != State::Ready => ChangeResult::Failure,
            Some(p) if failed(&p) && target != State::Ready => ChangeResult::Failure,
            Some(p) if holds && p.live => ChangeResult::NoPreroll,
            Some(p) if holds && !is_prerolled(p) => ChangeResult::Async,
            _ if state != target => ChangeResult::Async,
            _ => ChangeResult::Success,
        };
        StateChange {
            state,
            pending: (state != target).then_some(target),
            result,
        }
    }

    /// The state of an element by itself.
    pub fn element_state(&self, element: ElementHandle) -> State {
        let state = self.world.get::<State>(element.0);
        state.copied().unwrap_or_default()
    }

    /// The state of a bin of a pipeline, by its name: the lowest that something in it is in.
    pub fn bin_state(&self, pipeline: PipelineHandle, name: &str) -> Option<State> {
        let mut open = vec![pipeline.entity];
        while let Some(group) = open.pop() {
            if self.world.get::<Bin>(group).is_some_and(|b| b.name == name) {
                return self.world.get::<State>(group).copied();
            }
            let members = self.world.get::<Members>(group);
            open.extend(members.iter().flat_map(|m| m.0.iter().copied()));
        }
        None
    }

    /// In which order elements change on the way down, from the next change on.
    pub fn set_down_order(&mut self, pipeline: PipelineHandle, order: DownOrder) {
        self.world.entity_mut(pipeline.entity).insert(order);
    }

    /// Has a pipeline's streams go on elsewhere. All who are concerned are asked now, and it is done
    /// in the next tick, at once; what is under way is discarded unless the seek says otherwise. In
    /// READY it is kept, and done when the pipeline starts; the last one counts.
    ///
    /// # Errors
    /// [`SeekError`]: nothing changes.
    pub fn seek(&mut self, pipeline: PipelineHandle, seek: Seek) -> Result<(), SeekError> {
        let works = self.world.resource::<Works>();
        let works = works.pipelines.get(pipeline.id.index());
        let p = self.fabric(pipeline).filter(|p| !p.lanes.is_empty());
        if let (Some(p), Some(works)) = (p, works) {
            plan(p, works, &seek).map_err(|e| e.1)?;
        }
        self.act(Action::Seek {
            pipeline: pipeline.entity,
            seek,
        });
        Ok(())
    }

    /// Discards what is under way in a started pipeline: behind an element, or in all of it.
    pub fn flush(&mut self, pipeline: PipelineHandle, behind: Option<ElementHandle>, flush: Flush) {
        self.act(Action::Flush {
            pipeline: pipeline.entity,
            element: behind.map(|e| e.0),
            flush,
        });
    }

    /// Sends an event from an element in the next tick: downstream, behind all that it emitted; or
    /// upstream.
    pub fn send_event(
        &mut self,
        pipeline: PipelineHandle,
        element: ElementHandle,
        event: Event,
        upstream: bool,
    ) {
        self.act(Action::Send {
            pipeline: pipeline.entity,
            element: element.0,
            event,
            upstream,
        });
    }

    /// Asks an element, and those upstream of it until one answers.
    pub fn query(&self, element: ElementHandle, query: &Query) -> Option<Answer> {
        let place = *self.world.get::<Place>(element.0)?;
        let p = self.world.resource::<tickpipe_components::fabric::Fabric>();
        let p = p.get(place.pipeline)?;
        let works = self.world.resource::<Works>();
        let works = works.pipelines.get(place.pipeline.index())?;
        let first = p.lanes.get(place.lane.index())?;
        let pad = match first.inputs.is_empty() {
            true => PadAt::source(0),
            false => PadAt::sink(0),
        };
        let mut open = vec![(place.lane.index(), pad)];
        let mut asked = vec![false; p.lanes.len()];
        let mut answers = Vec::new();
        while let Some((lane, pad)) = open.pop() {
            if core::mem::replace(asked.get_mut(lane)?, true) {
                continue;
            }
            match works.slots.get(lane)?.work.query(pad, query) {
                Some(answer) => answers.push(answer),
                None => {
                    let from = p.lanes[lane].inputs.iter().map(|i| i.from);
                    open.extend(
                        from.map(|(lane, pad)| (lane.index(), PadAt::source(pad as usize))),
                    );
                }
            }
        }
        answers.into_iter().reduce(agree)
    }

    /// How long a pipeline's streams are: the longest that one of its sinks gets.
    pub fn duration(&self, pipeline: PipelineHandle) -> Option<(i64, TimeBase)> {
        let sinks = self.elements(pipeline).into_iter().filter(|e| {
            let place = self.world.get::<Place>(e.0);
            let lane = place.and_then(|l| self.fabric(pipeline)?.lanes.get(l.lane.index()));
            lane.is_some_and(|l| l.is_sink())
        });
        let answers = sinks.filter_map(|sink| self.query(sink, &Query::Duration));
        match answers.reduce(agree)? {
            Answer::Duration(value, base) => Some((value, base)),
            _ => None,
        }
    }

    /// The stream time of the buffer that a sink shows, or showed last.
    pub fn position(&self, sink: ElementHandle) -> Option<(i64, TimeBase)> {
        let place = *self.world.get::<Place>(sink.0)?;
        let p = self.world.resource::<tickpipe_components::fabric::Fabric>();
        let p = p.get(place.pipeline)?;
        let lane = p.lanes.get(place.lane.index())?;
        let first = |i: &Input| i.queue.front_behind_marks().and_then(Item::as_buffer);
        let held = lane.inputs.iter().find_map(first);
        let held = held.filter(|_| lane.gate == Gate::Hold);
        let held = held.map(|b| &p.buffers.meta[b.index()]);
        let held = held.and_then(|m| Some((m.pts?, m.time_base)));
        let (pts, base) = held.or(lane.extras.shown.map(|s| (s.0, s.2)))?;
        let segment = lane.signals.as_ref().map(|s| s.input(0));
        let Some(segment) = segment.filter(|s| *s != Segment::default()) else {
            return Some((pts, base));
        };
        let at = base.convert(pts, segment.time_base, Rounding::Down)?;
        Some((segment.to_stream(at)?, segment.time_base))
    }

    /// The buffer that a sink in PAUSED shows; it can be read as often as wanted.
    pub fn shown(&self, sink: ElementHandle) -> Option<Shown> {
        let place = *self.world.get::<Place>(sink.0)?;
        let p = self.world.resource::<tickpipe_components::fabric::Fabric>();
        let p = p.get(place.pipeline)?;
        let lane = p.lanes.get(place.lane.index())?;
        let first = |i: &Input| i.queue.front_behind_marks().and_then(Item::as_buffer);
        let buffer = lane.inputs.iter().find_map(first);
        let buffer = buffer.filter(|_| lane.gate == Gate::Hold)?;
        Some(Shown {
            meta: p.buffers.meta[buffer.index()],
            bytes: p.buffers.bytes(buffer).to_vec(),
        })
    }

    /// How a sink kept time so far.
    pub fn sink_timing(&self, sink: ElementHandle) -> Option<SinkTiming> {
        let place = *self.world.get::<Place>(sink.0)?;
        let p = self.world.resource::<tickpipe_components::fabric::Fabric>();
        let lane = p.get(place.pipeline)?.lanes.get(place.lane.index())?;
        lane.extras.timing
    }

    /// How long it takes in a started pipeline from the sources to behind each element, in graph
    /// order.
    pub fn latencies(&self, pipeline: PipelineHandle) -> Vec<ElementLatency> {
        let Some(p) = self.fabric(pipeline) else {
            return Vec::new();
        };
        let names: std::collections::BTreeMap<ElementId, String> = self
            .elements(pipeline)
            .into_iter()
            .filter_map(|e| self.world.get::<Element>(e.0))
            .map(|e| (e.id, e.name.clone()))
            .collect();
        let each = p.lanes.iter().zip(&p.latencies);
        each.map(|(lane, latency)| ElementLatency {
            element: names.get(&lane.element).cloned().unwrap_or_default(),
            latency: *latency,
        })
        .collect()
    }

    /// The latency of a started pipeline: what its slowest live sink needs.
    pub fn latency(&self, pipeline: PipelineHandle) -> Latency {
        let p = self.fabric(pipeline);
        let sinks = p.iter().flat_map(|p| p.sinks.iter().map(|&s| s as usize));
        let of = |s: usize| p.and_then(|p| p.latencies.get(s).copied());
        sinks
            .filter_map(of)
            .reduce(Latency::meet)
            .unwrap_or_default()
    }
}

/// What two streams together are: as long as the longer, and able to do what both can.
fn agree(a: Answer, b: Answer) -> Answer {
    match (&a, &b) {
        (Answer::Duration(x, p), Answer::Duration(y, q)) => match p.compare(*x, *q, *y).is_lt() {
            true => b,
            false => a,
        },
        (Answer::Seeking(x), Answer::Seeking(y)) => Answer::Seeking(*x && *y),
        _ => a,
    }
}
