//! Names of pools and buffers, as reports have them.

use crate::state::Topology;
use bevy_ecs::system::Query;
use tickpipe_components::fabric::BufferTable;
use tickpipe_components::graph::Pad;
use tickpipe_components::id::BufferId;
use tickpipe_components::pool::Pool;

/// A pool's name: the source pad of the element that fills it, as `element.pad`.
pub(super) fn pool(topology: &Topology, pads: &Query<'_, '_, &'static Pad>, pool: &Pool) -> String {
    let Some(node) = topology.nodes.get(pool.owner.index()) else {
        return "?".to_owned();
    };
    let link = node.outputs.first().and_then(|&l| topology.links.get(l));
    let pad = link.and_then(|link| pads.get(link.from.pad).ok());
    format!("{}.{}", node.name, pad.map_or("?", |p| p.name.as_str()))
}

/// A buffer's name: its pool's and its number in it, as `element.pad[slot]`.
pub(super) fn buffer(
    topology: &Topology,
    pads: &Query<'_, '_, &'static Pad>,
    table: &BufferTable,
    buffer: BufferId,
) -> String {
    let of = table.pool.get(buffer.index());
    match of.and_then(|of| table.pools.get(of.index())) {
        Some(of) => {
            let slot = buffer.0.wrapping_sub(of.first.0);
            format!("{}[{slot}]", pool(topology, pads, of))
        }
        None => format!("?[{}]", buffer.0),
    }
}
