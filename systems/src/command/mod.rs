//! Phase 1: applies the actions that were asked for since the last tick, in order.

pub(crate) mod flush;
pub mod seek;

use crate::element::Setting;
use crate::negotiate::{Asked, NewLink, Refusal, cut, leaving, linked, set_all, was_refused};
use crate::pipelines::{PipelineWorks, Works};
use crate::state::Graphs;
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use flush::Origin;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::{Fabric, Gate, PipelineFabric, Progress};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::graph::{Pipeline, Place, Target};
use tickpipe_components::id::{ElementId, PipelineId};
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::seek::{Flush, Seek};
use tickpipe_components::state::State;

/// Something to do at the start of a tick.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bring a pipeline to a state; the last one asked for wins.
    SetState(Entity, State),
    /// Set a property of an element of a pipeline; the last value of a tick wins, and all that is
    /// set in one tick is one re-negotiation.
    SetProperty {
        /// The pipeline.
        pipeline: Entity,
        /// The element.
        element: Entity,
        /// What was checked by its class.
        setting: Setting,
    },
    /// A link was made in a started pipeline: the elements behind it take part from now on, or it
    /// is taken away. All that was linked since the last tick goes together.
    Link {
        /// The pipeline.
        pipeline: Entity,
        /// The link.
        link: NewLink,
    },
    /// Links of a started pipeline were taken away.
    Cut {
        /// The pipeline.
        pipeline: Entity,
    },
    /// An element of a started pipeline leaves once it has passed on what it holds.
    Leave {
        /// The pipeline.
        pipeline: Entity,
        /// The element.
        element: Entity,
    },
    /// Discard what is under way: in all of a started pipeline, or in what is behind an element.
    Flush {
        /// The pipeline.
        pipeline: Entity,
        /// The element; all sources without one.
        element: Option<Entity>,
        /// How.
        flush: Flush,
    },
    /// Have a pipeline's streams go on elsewhere. In READY it is done at the next start; the last
    /// one asked for wins.
    Seek {
        /// The pipeline.
        pipeline: Entity,
        /// Where.
        seek: Seek,
    },
    /// Send an event from an element: downstream behind all that it emitted, on all source pads; or
    /// upstream.
    Send {
        /// The pipeline.
        pipeline: Entity,
        /// The element.
        element: Entity,
        /// What.
        event: Event,
        /// Upstream.
        upstream: bool,
    },
    /// The device of an element of a started pipeline is ready: the element runs again if it waits
    /// for it.
    DeviceReady(Entity),
}

/// Actions for the next tick.
#[derive(Resource, Default)]
pub struct Actions {
    /// In the order in which they were asked for.
    pub queue: Vec<Action>,
}

/// The command phase.
pub fn command(world: &mut World) {
    asked_by_elements(world);
    let actions = match world.get_resource_mut::<Actions>() {
        Some(mut actions) if !actions.queue.is_empty() => core::mem::take(&mut actions.queue),
        _ => return,
    };
    for action in actions {
        match action {
            Action::SetState(pipeline, state) => set_state(world, pipeline, state),
            Action::Flush {
                pipeline,
                element,
                flush,
            } => {
                let lane = element.and_then(|e| acting(world, e));
                // An element that does not run holds nothing.
                if lane.is_some() == element.is_some() {
                    with_running(world, pipeline, |p, works| {
                        flush_part(p, works, lane, flush)
                    });
                }
            }
            Action::Seek { pipeline, seek } => {
                if let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) {
                    perform_seek(world, id, seek);
                }
            }
            Action::Send {
                pipeline,
                element,
                event,
                upstream,
            } => {
                let lane = acting(world, element);
                with_running(world, pipeline, |p, _| {
                    if let Some(lane) = lane {
                        send(p, lane, &event, upstream);
                    }
                });
            }
            Action::SetProperty {
                pipeline,
                element,
                setting,
            } => set_property(world, pipeline, element, setting),
            Action::Cut { pipeline } => {
                if let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) {
                    cut(world, id);
                }
            }
            Action::Leave { pipeline, element } => {
                if let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) {
                    leaving(world, id, element);
                }
            }
            Action::DeviceReady(element) => device_ready(world, element),
            Action::Link { pipeline, link } => {
                if let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) {
                    linked(world, id, link);
                }
            }
        }
    }
}

/// The lane of an element, or of who reads what it serves: that is where its stream begins.
fn acting(world: &World, element: Entity) -> Option<u32> {
    let Place { pipeline, lane } = *world.get::<Place>(element)?;
    let running = world.resource::<Graphs>().running(pipeline);
    let reader = running.and_then(|t| t.reader_of(lane.index()));
    Some(reader.map_or(lane.0, |reader| reader as u32))
}

/// What elements asked for in the last tick comes before what anybody asked for since then.
fn asked_by_elements(world: &mut World) {
    let mut fabric = world.resource_mut::<Fabric>();
    let start = fabric.window.start;
    let asked: Vec<(usize, State)> = (start..)
        .zip(fabric.active())
        .filter_map(|(index, p)| Some((index, p.asked_state.take()?)))
        .collect();
    for (index, state) in asked {
        let pipeline = world.resource::<Graphs>().pipelines.get(index).copied();
        if let Some(pipeline) = pipeline {
            set_state(world, pipeline, state);
        }
    }
}

/// The last state asked for wins; asking again after a failure goes on from where it stopped.
fn set_state(world: &mut World, pipeline: Entity, target: State) {
    let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) else {
        return;
    };
    if let Some(mut asked) = world.get_mut::<Target>(pipeline) {
        asked.0 = target;
    }
    let state = world.get::<State>(pipeline).copied().unwrap_or_default();
    if let Some(p) = world.resource_mut::<Fabric>().get_mut(id) {
        p.attention = true;
        p.change_failed &= target <= state;
        if target > State::Ready && p.progress == Progress::Failed && p.lanes.is_empty() {
            p.progress = Progress::Idle;
        }
    }
}

/// Does something to the lanes and works of a started pipeline.
fn with_running(
    world: &mut World,
    pipeline: Entity,
    f: impl FnOnce(&mut PipelineFabric, &mut PipelineWorks),
) {
    let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) else {
        return;
    };
    world.resource_scope(|world, mut works: bevy_ecs::world::Mut<'_, Works>| {
        let mut fabric = world.resource_mut::<Fabric>();
        let p = fabric.get_mut(id).filter(|p| !p.lanes.is_empty());
        if let (Some(p), Some(works)) = (p, works.pipelines.get_mut(id.index())) {
            f(p, works);
        }
    });
}

/// Discards what is under way behind an element, or behind all sources.
fn flush_part(p: &mut PipelineFabric, works: &mut PipelineWorks, lane: Option<u32>, how: Flush) {
    let all = 0..p.lanes.len() as u32;
    let sources: Vec<u32> = match lane {
        Some(lane) => vec![lane],
        None => all
            .filter(|&l| p.lanes[l as usize].inputs.is_empty())
            .collect(),
    };
    let origins: Vec<Origin> = sources.iter().map(|&l| Origin::Behind(l)).collect();
    for &source in &sources {
        if let Some(slot) = works.slots.get_mut(source as usize) {
            slot.work.flushed(how == Flush::Start);
        }
    }
    match how {
        Flush::Start => {
            flush::discard(p, works, &origins);
            flush::set_flushing(p, &origins, true);
        }
        Flush::Stop => {
            flush::set_flushing(p, &origins, false);
            flush::discard(p, works, &origins);
        }
        Flush::Discard => flush::discard(p, works, &origins),
        Flush::DiscardAndEnd => {
            flush::discard(p, works, &origins);
            flush::end(p, &sources);
        }
    }
    if how != Flush::Start {
        prerolls_anew(p);
    }
}

/// In PAUSED sinks want a first buffer again, so that sources go on.
pub(crate) fn prerolls_anew(p: &mut PipelineFabric) {
    if p.sink_gate != Gate::Hold {
        return;
    }
    p.source_gate = Gate::Open;
    p.attention = true;
    for lane in 0..p.lanes.len() {
        let l = &mut p.lanes[lane];
        l.shows = false;
        if l.inputs.is_empty() && !l.live && l.gate == Gate::Closed {
            l.gate = Gate::Open;
        }
        p.touch(lane as u32);
    }
}

/// Has a pipeline's streams go on elsewhere, now or when it starts.
fn perform_seek(world: &mut World, id: PipelineId, seek: Seek) {
    let running = world.resource::<Fabric>().get(id);
    if running.is_none_or(|p| p.lanes.is_empty()) {
        world.resource_mut::<Graphs>().seeks.insert(id, seek);
        return;
    }
    let refused = world.resource_scope(|world, mut works: bevy_ecs::world::Mut<'_, Works>| {
        let mut fabric = world.resource_mut::<Fabric>();
        let (p, works) = (fabric.get_mut(id)?, works.pipelines.get_mut(id.index())?);
        seek_now(p, works, &seek)
    });
    if let Some(refusal) = refused {
        was_refused(world, id, refusal);
    }
}

/// A seek that was asked for in READY is done when the graph has started.
pub(crate) fn pending_seek(world: &mut World, id: PipelineId) {
    if let Some(seek) = world.resource_mut::<Graphs>().seeks.remove(&id) {
        perform_seek(world, id, seek);
    }
}

/// Why it is refused, if it is.
fn seek_now(p: &mut PipelineFabric, works: &mut PipelineWorks, seek: &Seek) -> Option<Refusal> {
    match seek::plan(p, works, seek) {
        Ok(plan) => {
            seek::apply(p, works, plan);
            if seek.flush {
                prerolls_anew(p);
            }
            post(p, None, MessageKind::Seeked);
            None
        }
        Err((element, error)) => {
            tracing::warn!(tick = p.tick, "all stays as it was: {error}");
            post(
                p,
                element,
                MessageKind::Warning(Domain::Flow, Code::Refused),
            );
            Some(Refusal {
                tick: p.tick,
                of: Asked::Seek,
                error: error.into(),
                conflict: None,
            })
        }
    }
}

fn post(p: &mut PipelineFabric, element: Option<ElementId>, kind: MessageKind) {
    let tick = p.tick;
    p.messages.push(Message {
        tick,
        element,
        kind,
    });
}

/// Sends an event from an element's pads.
fn send(p: &mut PipelineFabric, lane: u32, event: &Event, upstream: bool) {
    let l = &p.lanes[lane as usize];
    if upstream {
        let from = l
            .inputs
            .iter()
            .map(|i| (i.from.0.0, i.from.1, event.clone()));
        p.upward.extend(from.collect::<Vec<_>>());
        return p.touch(lane);
    }
    for pad in 0..l.outputs.len() {
        seek::inject(p, lane, pad, event.clone());
    }
}

/// An element that does not wait for its device is left as it is.
fn device_ready(world: &mut World, element: Entity) {
    let Some(&Place { pipeline, lane }) = world.get::<Place>(element) else {
        return;
    };
    let mut fabric = world.resource_mut::<Fabric>();
    let Some(p) = fabric.get_mut(pipeline) else {
        return;
    };
    if let Some(l) = p.lanes.get_mut(lane.index()).filter(|l| l.device) {
        l.device = false;
        l.again = true;
        p.touch(lane.0);
    }
}

/// Of a started pipeline the negotiate phase sets it, with all others of this tick.
fn set_property(world: &mut World, pipeline: Entity, element: Entity, setting: Setting) {
    let Some(id) = world.get::<Pipeline>(pipeline).map(|p| p.id) else {
        return;
    };
    match world.resource_mut::<Graphs>().motion_mut(id) {
        Some(motion) => motion.sets.push((element, setting)),
        None => {
            set_all(world, vec![(element, setting)]);
        }
    }
    if let Some(p) = world.resource_mut::<Fabric>().get_mut(id) {
        p.renegotiate = true;
    }
}
