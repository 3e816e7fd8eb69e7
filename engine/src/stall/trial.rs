//! A copy of a graph with changes, in an engine of its own, and what comes of running it. It writes
//! no file, logs nothing, and touches nothing of the engine that it was copied from.

use crate::build::{ElementHandle, PipelineHandle};
use crate::engine::{Engine, EngineOptions};
use crate::report::Report;
use bevy_ecs::entity::Entity;
use std::collections::BTreeMap;
use tickpipe_components::fabric::Progress;
use tickpipe_components::graph::{ClockMode, Element, Pad, Pads, Presence};
use tickpipe_components::property::PropertyValue;
use tickpipe_components::state::State;
use tickpipe_systems::element::{ClassRef, ElementClass, Registry};
use tickpipe_systems::state::Topology;

/// A change of a graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// A property of an element, by name.
    Set {
        element: String,
        property: &'static str,
        value: Box<PropertyValue>,
    },
    /// A queue in front of a sink pad.
    Insert {
        element: String,
        pad: String,
        size: u32,
    },
}

/// What came of a run.
pub(super) enum Outcome {
    /// It ended as it should, or goes on past where it stalled.
    Works(Box<Report>),
    /// It stalled.
    Stalls(Box<Report>),
    /// It cannot be built or failed.
    Fails,
}

/// What all trials of one stall may do together: ticks times elements, and bytes of buffers.
const WORK: u64 = 50_000_000;
const BYTES: u64 = 8 << 30;
/// Ticks past four times those of the stall that a trial runs at most, and at least.
const MOST_TICKS: u64 = 10_000;
const LEAST_TICKS: u64 = 64;

/// A graph that stalled, to be tried with changes.
pub(super) struct Trials<'a> {
    engine: &'a Engine,
    pipeline: PipelineHandle,
    topology: Topology,
    stalled: &'a Report,
    work: u64,
    bytes: u64,
}

impl<'a> Trials<'a> {
    /// `None` if the graph cannot be run twice: it reads what is no regular file.
    pub(super) fn new(
        engine: &'a Engine,
        pipeline: PipelineHandle,
        stalled: &'a Report,
    ) -> Option<Self> {
        let topology = Topology::read(&engine.world, pipeline.entity).ok()?;
        let twice = |n: &tickpipe_systems::state::Node| match location(engine, n.entity) {
            Some(path) if n.inputs.is_empty() => {
                std::fs::metadata(path).is_ok_and(|meta| meta.is_file())
            }
            _ => true,
        };
        topology.nodes.iter().all(twice).then_some(Trials {
            engine,
            pipeline,
            topology,
            stalled,
            work: WORK,
            bytes: BYTES,
        })
    }

    /// The class and handle of an element, by name.
    pub(super) fn element(&self, name: &str) -> Option<(&ElementClass, ElementHandle)> {
        let node = self.topology.nodes.iter().find(|n| n.name == name)?;
        Some((&node.class, ElementHandle(node.entity)))
    }

    /// A property of an element, if it has it.
    pub(super) fn property(&self, element: &str, name: &str) -> Option<PropertyValue> {
        let (class, handle) = self.element(element)?;
        class.properties.iter().find(|p| p.name == name)?;
        self.engine.get(handle, name).ok().flatten()
    }

    /// Runs the graph with changes, as long as the work that is left allows.
    pub(super) fn run(&mut self, changes: &[Change]) -> Outcome {
        if self.work == 0 || self.bytes == 0 {
            return Outcome::Fails;
        }
        // What happens in it is nobody's business.
        let quiet = tracing::subscriber::NoSubscriber::default();
        tracing::subscriber::with_default(quiet, || match self.built(changes) {
            Some((engine, pipeline)) => self.watched(engine, pipeline),
            None => Outcome::Fails,
        })
    }

    fn watched(&mut self, mut engine: Engine, pipeline: PipelineHandle) -> Outcome {
        let lanes = self.topology.nodes.len() as u64;
        let before = self.stalled.stall.as_ref().map_or(0, |s| s.tick);
        let mut most = None;
        engine.set_state(pipeline, State::Playing);
        loop {
            engine.step(pipeline);
            let Some(p) = engine.fabric(pipeline) else {
                return Outcome::Fails;
            };
            let per_tick: u64 = match p.progress {
                Progress::Running => {
                    let size = p.buffers.pools.iter().map(|pool| pool.live.size as u64);
                    size.sum::<u64>().saturating_mul(p.quantum.into()).max(1)
                }
                Progress::Ended => return Outcome::Works(Box::new(engine.report(pipeline))),
                Progress::Stalled => return Outcome::Stalls(Box::new(engine.report(pipeline))),
                Progress::Failed | Progress::Idle => return Outcome::Fails,
            };
            let most = *most.get_or_insert_with(|| {
                let extra = (1 << 30) / per_tick.max(lanes * 1024);
                before * 4 + extra.clamp(LEAST_TICKS, MOST_TICKS)
            });
            self.work = self.work.saturating_sub(lanes);
            self.bytes = self.bytes.saturating_sub(per_tick);
            let waits_for_device = p.idle;
            if waits_for_device || self.work == 0 || self.bytes == 0 {
                return Outcome::Fails;
            }
            if p.tick >= most {
                let report = engine.report(pipeline);
                return match self.goes_on(&report) {
                    true => Outcome::Works(Box::new(report)),
                    false => Outcome::Fails,
                };
            }
        }
    }

    /// Whether each sink that was not done took more.
    fn goes_on(&self, report: &Report) -> bool {
        let mut sinks = self.stalled.sinks.iter().filter(|s| !s.eos);
        sinks.all(|before| {
            let now = report.sinks.iter().find(|s| s.name == before.name);
            now.is_some_and(|now| now.eos || now.buffers > before.buffers)
        })
    }

    fn built(&self, changes: &[Change]) -> Option<(Engine, PipelineHandle)> {
        let options = EngineOptions {
            threads: 1,
            limits: self.engine.limits().clone(),
            shuffle_seed: None,
            // What a trial breaks is not this run's.
            check: Some(false),
        };
        let mut copy = Engine::with_options(options).ok()?;
        copy.world
            .insert_resource(self.engine.world.resource::<Registry>().clone());
        let pipeline = copy.create_pipeline("trial");
        copy.set_clock(
            pipeline,
            match self.engine.clock(self.pipeline) {
                // Nobody is to wait for it.
                ClockMode::Wall => ClockMode::Virtual,
                other => other,
            },
        );
        let mut made = BTreeMap::new();
        let mut by_id: Vec<&tickpipe_systems::state::Node> = self.topology.nodes.iter().collect();
        by_id.sort_by_key(|n| n.id);
        for node in &by_id {
            let element = self.copied(&mut copy, node.entity)?;
            copy.add(pipeline, element).ok()?;
            made.insert(node.entity, element);
        }
        let named = |name: &str| {
            let node = by_id.iter().find(|n| n.name == name)?;
            made.get(&node.entity).copied()
        };
        let mut next = by_id.last().map_or(0, |n| n.id.0) + 1;
        let mut queues = BTreeMap::new();
        for change in changes {
            match change {
                Change::Set {
                    element,
                    property,
                    value,
                } => {
                    copy.set(named(element)?, property, (**value).clone())
                        .ok()?;
                }
                Change::Insert { element, pad, size } => {
                    let queue = copy.create("queue", next).ok()?;
                    next += 1;
                    copy.set(queue, "max-size-buffers", i64::from(*size)).ok()?;
                    copy.add(pipeline, queue).ok()?;
                    queues.insert((element.as_str(), pad.clone()), queue);
                }
            }
        }
        let world = &self.engine.world;
        for link in &self.topology.links {
            let pad = |entity| world.get::<Pad>(entity).map(|p| p.name.clone());
            let (source, sink) = (pad(link.from.pad)?, pad(link.to.pad)?);
            let [from, to] = [link.from, link.to].map(|end| &self.topology.nodes[end.node]);
            let (from, to_name) = (*made.get(&from.entity)?, to.name.as_str());
            let to = *made.get(&to.entity)?;
            let made = match queues.get(&(to_name, sink.clone())) {
                None => copy.link_pads(from, Some(&source), to, Some(&sink)),
                Some(&queue) => copy
                    .link_pads(from, Some(&source), queue, None)
                    .and_then(|()| copy.link_pads(queue, None, to, Some(&sink))),
            };
            made.ok()?;
        }
        Some((copy, pipeline))
    }

    /// An element with its name, properties and pads; who writes files takes and forgets.
    fn copied(&self, copy: &mut Engine, entity: Entity) -> Option<ElementHandle> {
        let world = &self.engine.world;
        let info = world.get::<Element>(entity)?;
        let class = &world.get::<ClassRef>(entity)?.0;
        let node = self.topology.nodes.iter().find(|n| n.entity == entity)?;
        let writes = node.outputs.is_empty() && location(self.engine, entity).is_some();
        let kind = if writes { "fakesink" } else { class.name };
        let element = copy.create(kind, info.id.0).ok()?;
        copy.set_name(element, &info.name).ok()?;
        for property in &class.properties {
            let value = self.engine.get(ElementHandle(entity), property.name);
            match value {
                Ok(Some(value)) if value != property.default => {
                    let set = copy.set(element, property.name, value);
                    if set.is_err() && !writes {
                        return None;
                    }
                }
                _ => {}
            }
        }
        for &pad in &world.get::<Pads>(entity)?.0 {
            let pad = world.get::<Pad>(pad)?;
            let template = class.terms.pads.get(pad.template)?;
            if template.presence == Presence::Request {
                copy.request_pad(element, pad.direction, &pad.name).ok()?;
            }
        }
        Some(element)
    }
}

/// The file that an element has to do with.
fn location(engine: &Engine, entity: Entity) -> Option<String> {
    match engine.get(ElementHandle(entity), "location") {
        Ok(Some(PropertyValue::Text(path))) => Some(path),
        _ => None,
    }
}
