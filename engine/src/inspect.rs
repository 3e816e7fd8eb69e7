//! Looking at a running graph: a buffer through its entity.

use crate::build::ElementHandle;
use crate::engine::Engine;
use bevy_ecs::entity::Entity;
use tickpipe_components::buffer::{BufferMeta, BufferSlot};
use tickpipe_components::fabric::{Fabric, PipelineFabric};
use tickpipe_components::graph::{OfPipeline, Place};
use tickpipe_components::id::{BufferId, LaneId};
use tickpipe_components::readiness::Readiness;
use tickpipe_systems::state::Graphs;

/// Who holds a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Its pool: it is free.
    Pool,
    /// It waits on a sink pad of this element.
    Queued(String),
    /// This element works with it.
    Element(String),
}

/// A buffer, as a person looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferView {
    /// The element and pad whose pool it is from, as `element.pad` of the report.
    pub pool: String,
    /// Its number in that pool.
    pub slot: u32,
    /// Times, valid bytes, flags.
    pub meta: BufferMeta,
    /// How many hold it.
    pub references: u32,
    /// Those who do.
    pub holders: Vec<Holder>,
}

impl Engine {
    /// All buffer entities of all pipelines.
    pub fn buffers(&mut self) -> Vec<Entity> {
        let mut query = self.world.query::<(Entity, &BufferSlot, &OfPipeline)>();
        let mut all: Vec<_> = query
            .iter(&self.world)
            .map(|(entity, slot, of)| ((of.0, slot.buffer), entity))
            .collect();
        all.sort_by_key(|b| b.0);
        all.into_iter().map(|b| b.1).collect()
    }

    /// Looks at a buffer through its entity; `None` if it is none, or gone.
    pub fn buffer(&self, entity: Entity) -> Option<BufferView> {
        let entity = self.world.get_entity(entity).ok()?;
        let slot = *entity.get::<BufferSlot>()?;
        let pipeline = entity.get::<OfPipeline>()?.0;
        let p = self.world.resource::<Fabric>().get(pipeline)?;
        let pool = p.buffers.pools.get(slot.pool.index())?;
        let topology = self.world.resource::<Graphs>().running(pipeline)?;
        let owner = topology.nodes.get(pool.owner.index())?;
        let name = match owner.outputs.first() {
            Some(&link) => topology.from_name(&self.world, link),
            None => owner.name.clone(),
        };
        let i = slot.buffer.index();
        let lane_name = |lane: LaneId| {
            topology
                .nodes
                .get(lane.index())
                .map_or_else(String::new, |n| n.name.clone())
        };
        Some(BufferView {
            pool: name,
            slot: slot.buffer.0 - pool.first.0,
            meta: *p.buffers.meta.get(i)?,
            references: *p.buffers.refs.get(i)?,
            holders: holders(p, slot.buffer, &lane_name),
        })
    }

    /// Whether an element can run, or what it waits for, and since which tick; `None` in READY.
    pub fn readiness(&self, element: ElementHandle) -> Option<(Readiness, u64)> {
        let place = self.world.get::<Place>(element.0)?;
        let fabric = self.world.resource::<Fabric>().get(place.pipeline)?;
        let lane = fabric.lanes.get(place.lane.index())?;
        Some((lane.readiness, lane.since))
    }
}

fn holders(p: &PipelineFabric, buffer: BufferId, name: &dyn Fn(LaneId) -> String) -> Vec<Holder> {
    let references = p.buffers.refs[buffer.index()];
    if references == 0 {
        return vec![Holder::Pool];
    }
    let mut found = Vec::new();
    for (i, lane) in p.lanes.iter().enumerate() {
        let name = || name(LaneId(i as u32));
        for input in &lane.inputs {
            let here = input.queue.iter().filter(|q| q.as_buffer() == Some(buffer));
            found.extend(here.map(|_| Holder::Queued(name())));
        }
        let kept = lane.extras.kept.iter().map(|k| k.buffer);
        let here = kept.chain(lane.extras.filling.iter().map(|g| g.buffer));
        found.extend(
            here.filter(|b| *b == buffer)
                .map(|_| Holder::Element(name())),
        );
        if let Some(sync) = &lane.extras.sync {
            let sets = sync
                .sets
                .iter()
                .flat_map(|s| s.frames.iter().flatten().copied());
            let here = sync.held().chain(sets).filter(|b| *b == buffer);
            found.extend(here.map(|_| Holder::Element(name())));
        }
    }
    for (view, shown) in (0..).map(BufferId).zip(&p.buffers.shows) {
        if *shown == Some(buffer) {
            found.extend(holders(p, view, name));
        }
    }
    // What is in no place that is known is inside the element that got it last.
    if found.len() < references as usize {
        found.push(Holder::Element(name(p.buffers.held[buffer.index()].by)));
    }
    found
}
