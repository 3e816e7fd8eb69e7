//! A pipeline's graph as dense arrays in graph order: what planning and starting work on.
//!
//! Read from the entities, nothing is changed. Graph order is topological, ties by element id,
//! so it does not depend on the order in which elements were added or links made.

use crate::element::{ClassRef, ElementClass, PadAt, PadNames};
use crate::negotiate::Plug;
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::graph::{
    Bin, Direction, Element, Link, Members, Pad, PadLink, Pads, Pipeline, Place, Presence,
    Transport,
};
use tickpipe_components::id::{ElementId, PipelineId};

/// An element.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its entity.
    pub entity: Entity,
    /// Its id.
    pub id: ElementId,
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Arc<ElementClass>,
    /// The links at its linked sink pads.
    pub inputs: SmallVec<[usize; 2]>,
    /// The links at its linked source pads.
    pub outputs: SmallVec<[usize; 2]>,
    /// The names of its linked pads, where pads are made on request.
    pub names: Option<Arc<PadNames>>,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The element, as an index into [`Topology::nodes`].
    pub node: usize,
    /// The pad's number among the linked ones of its direction.
    pub index: usize,
    /// The pad.
    pub pad: Entity,
}

/// A link.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its entity.
    pub entity: Entity,
    /// Where it starts.
    pub from: End,
    /// Where it ends.
    pub to: End,
    /// How bytes get over it.
    pub transport: Transport,
}

/// A pipeline's graph.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The pipeline's entity.
    pub pipeline: Entity,
    /// The pipeline's number.
    pub id: PipelineId,
    /// Elements in graph order.
    pub nodes: Vec<Node>,
    /// Links, in order of the elements and pads that feed them.
    pub links: Vec<Edge>,
}

/// Why a graph cannot start at all.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TopologyError {
    /// It has no element.
    #[error("the pipeline has no element")]
    Empty,
    /// A pad that must be linked is not.
    #[error("pad {element}.{pad} is not linked")]
    NotLinked {
        /// The element's name.
        element: String,
        /// The pad's name.
        pad: String,
    },
    /// A link leads to an element that is not in the pipeline.
    #[error("pad {pad} is linked to {other}, which is not in the pipeline")]
    NotAdded {
        /// The pad, as `element.pad`.
        pad: String,
        /// The other element.
        other: String,
    },
    /// An element that passes things on has nowhere to pass them to.
    #[error("element {element} has no linked source pad")]
    NoOutput {
        /// The element's name.
        element: String,
    },
    /// Two pads that are linked have no transport in common, as they are set.
    #[error(
        "{to} reads by position what {from} should grant, and {from} cannot now: what can be is a \
         regular file that is read whole, in blocks of any size"
    )]
    CannotServe {
        /// The source pad.
        from: String,
        /// The sink pad.
        to: String,
    },
    /// Links form a loop.
    #[error("the links form a loop through {}", .elements.join(", "))]
    Loop {
        /// Names of the elements in it.
        elements: Vec<String>,
    },
}

impl From<TopologyError> for ElementError {
    fn from(error: TopologyError) -> ElementError {
        let code = match error {
            TopologyError::Empty => Code::Settings,
            TopologyError::NotLinked { .. }
            | TopologyError::NotAdded { .. }
            | TopologyError::NoOutput { .. } => Code::NotLinked,
            TopologyError::CannotServe { .. } => Code::Refused,
            TopologyError::Loop { .. } => Code::Loop,
        };
        ElementError::new(Domain::Flow, code, error)
    }
}

impl Topology {
    /// Reads a pipeline's graph.
    ///
    /// # Errors
    /// [`TopologyError`].
    pub fn read(world: &World, pipeline: Entity) -> Result<Topology, TopologyError> {
        Topology::of(world, pipeline, elements(world, pipeline), false)
    }

    /// Reads a running pipeline's graph: elements that were added and not linked are left out.
    ///
    /// # Errors
    /// [`TopologyError`].
    pub(crate) fn read_linked(world: &World, pipeline: Entity) -> Result<Topology, TopologyError> {
        let linked = |pad: &Entity| world.get::<PadLink>(*pad).is_some_and(|l| l.0.is_some());
        let mut nodes = elements(world, pipeline);
        nodes.retain(|n| {
            let pads = world.get::<Pads>(n.entity);
            pads.iter().flat_map(|p| &p.0).any(linked)
        });
        Topology::of(world, pipeline, nodes, true)
    }

    fn of(
        world: &World,
        pipeline: Entity,
        mut nodes: Vec<Node>,
        running: bool,
    ) -> Result<Topology, TopologyError> {
        let id = world
            .get::<Pipeline>(pipeline)
            .map_or(PipelineId(0), |p| p.id);
        if nodes.is_empty() {
            return Err(TopologyError::Empty);
        }
        nodes.sort_by_key(|n| n.id);
        let mut wiring = wiring(world, &nodes)?;
        transports(world, &nodes, &mut wiring, running)?;
        let order = order(&nodes, &wiring)?;
        let mut place = vec![0; nodes.len()];
        for (to, &from) in order.iter().enumerate() {
            place[from] = to;
        }
        let mut slots: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
        let mut nodes: Vec<Node> = order.iter().filter_map(|&i| slots[i].take()).collect();
        let mut links: Vec<Edge> = wiring
            .into_iter()
            .map(|edge| Edge {
                from: End {
                    node: place[edge.from.node],
                    ..edge.from
                },
                to: End {
                    node: place[edge.to.node],
                    ..edge.to
                },
                ..edge
            })
            .collect();
        links.sort_by_key(|l| (l.from.node, l.from.index));
        for (i, link) in links.iter().enumerate() {
            nodes[link.from.node].outputs.push(i);
        }
        let mut by_input: Vec<usize> = (0..links.len()).collect();
        by_input.sort_by_key(|&i| (links[i].to.node, links[i].to.index));
        for i in by_input {
            nodes[links[i].to.node].inputs.push(i);
        }
        for node in &mut nodes {
            let mut pads = node.class.terms.pads.iter();
            if pads.any(|t| t.presence == Presence::Request) {
                let name = |pad| {
                    world
                        .get::<Pad>(pad)
                        .map_or_else(String::new, |p| p.name.clone())
                };
                node.names = Some(Arc::new(PadNames {
                    sinks: node.inputs.iter().map(|&l| name(links[l].to.pad)).collect(),
                    sources: node
                        .outputs
                        .iter()
                        .map(|&l| name(links[l].from.pad))
                        .collect(),
                }));
            }
        }
        Ok(Topology {
            pipeline,
            id,
            nodes,
            links,
        })
    }

    /// The graph over which buffers are sent: as it is, but without the links that are pulled over,
    /// which keep their numbers and are at no pad. So who pulls is a source, and who serves is alone.
    pub fn flowing(&self) -> Cow<'_, Topology> {
        let pulled = |l: &usize| self.links[*l].transport == Transport::Pull;
        if !(0..self.links.len()).any(|l| pulled(&l)) {
            return Cow::Borrowed(self);
        }
        let mut flowing = self.clone();
        for node in &mut flowing.nodes {
            node.inputs.retain(|l| !pulled(l));
            node.outputs.retain(|l| !pulled(l));
        }
        Cow::Owned(flowing)
    }

    /// Whether a node serves bytes: buffers are neither sent to it nor by it.
    pub fn serves(&self, node: usize) -> bool {
        self.reader_of(node).is_some()
    }

    /// Who reads by position what a node serves.
    pub fn reader_of(&self, node: usize) -> Option<usize> {
        let outputs = self.nodes.get(node)?.outputs.iter();
        let mut links = outputs.map(|&l| &self.links[l]);
        let pulled = links.find(|l| l.transport == Transport::Pull)?;
        Some(pulled.to.node)
    }

    /// A link's source pad, as `element.pad`.
    pub fn from_name(&self, world: &World, link: usize) -> String {
        self.end_name(world, self.links[link].from)
    }

    /// A link's sink pad, as `element.pad`.
    pub fn to_name(&self, world: &World, link: usize) -> String {
        self.end_name(world, self.links[link].to)
    }

    /// A pad as `element.pad`.
    pub fn end_name(&self, world: &World, end: End) -> String {
        let pad = world.get::<Pad>(end.pad).map_or("?", |p| p.name.as_str());
        format!("{}.{pad}", self.nodes[end.node].name)
    }

    /// The end of a link at a node's pad.
    pub fn end(&self, node: usize, pad: PadAt) -> Option<End> {
        let n = &self.nodes[node];
        Some(if pad.is_sink() {
            self.links[*n.inputs.get(pad.index)?].to
        } else {
            self.links[*n.outputs.get(pad.index)?].from
        })
    }
}

/// All elements of a pipeline, those inside bins too.
fn elements(world: &World, pipeline: Entity) -> Vec<Node> {
    let count = world.get::<Members>(pipeline).map_or(0, |m| m.0.len());
    let mut nodes = Vec::with_capacity(count);
    let mut open = vec![pipeline];
    while let Some(group) = open.pop() {
        let Some(members) = world.get::<Members>(group) else {
            continue;
        };
        for &member in &members.0 {
            if world.get::<Bin>(member).is_some() {
                open.push(member);
            } else if let (Some(element), Some(class)) =
                (world.get::<Element>(member), world.get::<ClassRef>(member))
            {
                nodes.push(Node {
                    entity: member,
                    id: element.id,
                    name: element.name.clone(),
                    class: Arc::clone(&class.0),
                    inputs: SmallVec::new(),
                    outputs: SmallVec::new(),
                    names: None,
                });
            }
        }
    }
    nodes
}

/// All links between the nodes, and whether each pad that must be linked is.
fn wiring(world: &World, nodes: &[Node]) -> Result<Vec<Edge>, TopologyError> {
    // Linked pads by entity: their node and number.
    let mut ends: BTreeMap<Entity, End> = BTreeMap::new();
    let mut links = Vec::new();
    for (node, n) in nodes.iter().enumerate() {
        let mut counts = [0usize; 2];
        let pads = world.get::<Pads>(n.entity).map_or(&[][..], |p| &p.0);
        for &pad in pads {
            let (Some(info), Some(link)) = (world.get::<Pad>(pad), world.get::<PadLink>(pad))
            else {
                continue;
            };
            let Some(link) = link.0 else {
                let always = n
                    .class
                    .terms
                    .pads
                    .get(info.template)
                    .is_some_and(|t| t.presence == Presence::Always);
                if always {
                    return Err(TopologyError::NotLinked {
                        element: n.name.clone(),
                        pad: info.name.clone(),
                    });
                }
                continue;
            };
            let count = &mut counts[usize::from(info.direction == Direction::Source)];
            let end = End {
                node,
                index: *count,
                pad,
            };
            *count += 1;
            ends.insert(pad, end);
            links.push(link);
        }
        let passes_on = n
            .class
            .terms
            .pads
            .iter()
            .any(|t| t.direction == Direction::Source);
        if passes_on && counts[1] == 0 {
            return Err(TopologyError::NoOutput {
                element: n.name.clone(),
            });
        }
        let takes = |t: &crate::element::PadTemplate| t.direction == Direction::Sink;
        if n.class.terms.pads.iter().any(takes) && counts[0] == 0 {
            return Err(TopologyError::NotLinked {
                element: n.name.clone(),
                pad: n
                    .class
                    .terms
                    .pads
                    .iter()
                    .find(|t| takes(t))
                    .map_or_else(String::new, |t| t.name.to_owned()),
            });
        }
    }
    links.sort_unstable();
    links.dedup();
    let mut edges = Vec::with_capacity(links.len());
    for entity in links {
        let Some(link) = world.get::<Link>(entity) else {
            continue;
        };
        match (ends.get(&link.from), ends.get(&link.to)) {
            (Some(&from), Some(&to)) => edges.push(Edge {
                entity,
                from,
                to,
                transport: Transport::Push,
            }),
            (Some(_), None) => return Err(not_added(world, link.from, link.to)),
            _ => return Err(not_added(world, link.to, link.from)),
        }
    }
    Ok(edges)
}

/// Chooses how bytes get over each link: what the one that is fed likes best of what both can. In a
/// running graph what was chosen stays, and who takes buffers already goes on so.
fn transports(
    world: &World,
    nodes: &[Node],
    links: &mut [Edge],
    running: bool,
) -> Result<(), TopologyError> {
    let mut counts = vec![[0usize; 2]; nodes.len()];
    for link in &*links {
        counts[link.from.node][1] += 1;
        counts[link.to.node][0] += 1;
    }
    for link in links {
        let (from, to) = (&nodes[link.from.node], &nodes[link.to.node]);
        let chosen = world.get::<Link>(link.entity).and_then(|l| l.transport);
        if let Some(chosen) = chosen.filter(|_| running) {
            link.transport = chosen;
            continue;
        }
        let template = |node: &Node, end: &End| {
            let pad = world.get::<Pad>(end.pad)?;
            node.class.terms.pads.get(pad.template).cloned()
        };
        let (Some(a), Some(b)) = (template(from, &link.from), template(to, &link.to)) else {
            continue;
        };
        // What stands where nothing is linked does not care.
        let plug = |node: &Node| world.get::<Plug>(node.entity).is_some();
        if a.transports == [Transport::Push] || plug(from) || plug(to) {
            continue;
        }
        // Both ends are new, and have no other link on that side.
        let works = |node: &Node| running && world.get::<Place>(node.entity).is_some();
        let alone = counts[link.from.node][1] == 1 && counts[link.to.node][0] == 1;
        let pulls =
            || alone && !works(from) && !works(to) && from.class.serves(world.entity(from.entity));
        let found = a
            .common_transports(&b)
            .find(|t| *t != Transport::Pull || pulls());
        link.transport = found.ok_or_else(|| TopologyError::CannotServe {
            from: format!("{}.{}", from.name, a.name),
            to: format!("{}.{}", to.name, b.name),
        })?;
    }
    Ok(())
}

/// A link that leads out of the pipeline.
fn not_added(world: &World, pad: Entity, other: Entity) -> TopologyError {
    let owner = |pad: Entity| {
        let info = world.get::<Pad>(pad)?;
        let element = world.get::<Element>(info.element)?;
        Some((element.name.clone(), info.name.clone()))
    };
    let (element, pad) = owner(pad).unwrap_or_default();
    TopologyError::NotAdded {
        pad: format!("{element}.{pad}"),
        other: owner(other).unwrap_or_default().0,
    }
}

/// Topological order of the nodes, which are sorted by id; the lowest id first where free.
fn order(nodes: &[Node], links: &[Edge]) -> Result<Vec<usize>, TopologyError> {
    let mut missing = vec![0usize; nodes.len()];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for link in links {
        missing[link.to.node] += 1;
        followers[link.from.node].push(link.to.node);
    }
    let free = (0..nodes.len()).filter(|&i| missing[i] == 0);
    let mut free: BinaryHeap<Reverse<usize>> = free.map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(node)) = free.pop() {
        order.push(node);
        for &next in &followers[node] {
            missing[next] -= 1;
            if missing[next] == 0 {
                free.push(Reverse(next));
            }
        }
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    // Of what is left only those count that lead back into it: the rest merely follows the loop.
    let mut inside: Vec<bool> = missing.iter().map(|&m| m > 0).collect();
    let mut leads: Vec<usize> = vec![0; nodes.len()];
    let both = |inside: &[bool], l: &Edge| inside[l.from.node] && inside[l.to.node];
    links
        .iter()
        .filter(|l| both(&inside, l))
        .for_each(|l| leads[l.from.node] += 1);
    let mut feeders: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for link in links.iter().filter(|l| both(&inside, l)) {
        feeders[link.to.node].push(link.from.node);
    }
    let mut ends: Vec<usize> = (0..nodes.len())
        .filter(|&i| inside[i] && leads[i] == 0)
        .collect();
    while let Some(end) = ends.pop() {
        inside[end] = false;
        for &feeder in &feeders[end] {
            leads[feeder] -= 1;
            if leads[feeder] == 0 {
                ends.push(feeder);
            }
        }
    }
    let elements = (0..nodes.len())
        .filter(|&i| inside[i])
        .map(|i| nodes[i].name.clone())
        .collect();
    Err(TopologyError::Loop { elements })
}
