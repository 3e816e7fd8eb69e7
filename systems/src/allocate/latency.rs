//! How long things take from the sources of a graph to behind each element.

use crate::negotiate::Solution;
use crate::state::Topology;
use bevy_ecs::world::World;
use tickpipe_components::fabric::{Lane, Latency, PipelineFabric};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::message::{Message, MessageKind};

/// Of each node how long it takes from the sources to behind it.
pub(super) fn latencies(world: &World, topology: &Topology, solution: &Solution) -> Vec<Latency> {
    let mut all: Vec<Latency> = Vec::with_capacity(topology.nodes.len());
    for (node, n) in topology.nodes.iter().enumerate() {
        let entity = world.entity(n.entity);
        let own = n.class.latency(entity, &solution.pads_of(topology, node));
        let before = n.inputs.iter().map(|&l| all[topology.links[l].from.node]);
        let mut latency = before.reduce(Latency::meet).unwrap_or_default().then(own);
        if n.inputs.is_empty() {
            latency.live = n.class.is_live(entity);
        } else if n.outputs.is_empty() {
            let shown = i64::try_from(n.class.sink_terms(entity).render_delay);
            latency.min = latency.min.saturating_add(shown.unwrap_or(i64::MAX));
        }
        all.push(latency);
    }
    all
}

/// What sinks wait beyond running time, so that a live source's buffers are there in time: the most
/// that any live sink needs.
pub(super) fn tell_sinks(lanes: &mut [Lane], latencies: &[Latency]) {
    let live = latencies
        .iter()
        .zip(&*lanes)
        .filter(|(t, l)| t.live && l.is_sink());
    let most = live.map(|(t, _)| t.min).max().unwrap_or_default();
    for timing in lanes
        .iter_mut()
        .filter_map(|l| l.extras.made()?.timing.as_mut())
    {
        timing.latency = most;
    }
}

/// Tells of sinks that can never get their buffers in time: what is live needs longer than others on
/// the way can hold it.
pub(super) fn warn_of_impossible(p: &mut PipelineFabric) {
    let sinks = p.sinks.iter().filter_map(|&s| {
        let latency = p.latencies.get(s as usize)?;
        latency
            .is_impossible()
            .then(|| (p.lanes[s as usize].element, *latency))
    });
    for (element, latency) in sinks.collect::<Vec<_>>() {
        let tick = p.tick;
        tracing::warn!(
            tick,
            element = element.0,
            min = latency.min,
            max = latency.max,
            "the latency of a live source is more than what is between can hold"
        );
        p.messages.push(Message {
            tick,
            element: Some(element),
            kind: MessageKind::Warning(Domain::Flow, Code::Late),
        });
    }
}
