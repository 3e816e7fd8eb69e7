//! What the elements of a graph say about caps, asked once: demands of pads, ways across
//! converters, and which links must have the same. Everything after this is arithmetic.

use super::rows::{Way, Ways};
use super::solve::{NegotiationError, Request};
use crate::element::{CapsQuery, ElementClass, Flow, PadAt, PeekError, Peeked};
use crate::state::Topology;
use bevy_ecs::world::{EntityRef, World};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::Arc;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::graph::Pad;
use tickpipe_components::limits::{Limit, Limits};

/// One thing that an element says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The element, as an index into the topology's nodes; those that were tried as a mend of the
    /// graph come after them.
    pub(super) node: usize,
    pub(super) what: What,
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// A pad can have these, in order of preference.
    Demand {
        link: usize,
        pad: PadAt,
        caps: Rc<Vec<Structure>>,
        /// It is a source's offer, of which a poorer choice costs something.
        charged: bool,
    },
    /// One pad follows from another.
    Ways {
        from: (usize, PadAt),
        to: (usize, PadAt),
        ways: Ways,
        /// What is lost on the way counts: it is a conversion, not one of several pictures that are put
        /// together.
        converts: bool,
    },
    /// Links that have the same caps.
    Wire { links: SmallVec<[usize; 2]> },
    /// A link has these caps already.
    Pinned { link: usize, caps: Box<Structure> },
}

/// All that the elements of a graph say.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    pub(super) links: usize,
    /// Per link, the rank of the element that feeds it and the number of its pad.
    pub(super) feeder: Vec<(usize, usize)>,
    /// Per element its place in an order that follows links, and names where those leave it open.
    pub(super) rank: Vec<usize>,
}

impl Parts {
    /// Asks every element.
    pub(super) fn ask(
        request: &Request<'_>,
        world: &World,
        limits: &Limits,
    ) -> Result<Parts, NegotiationError> {
        let topology = request.topology;
        let rank = canonical_order(topology);
        let mut parts = Parts {
            parts: Vec::with_capacity(topology.nodes.len()),
            links: topology.links.len(),
            feeder: topology
                .links
                .iter()
                .map(|l| (rank[l.from.node], l.from.index))
                .collect(),
            rank,
        };
        for &(link, ref caps) in request.pinned {
            if let Some(caps) = caps.first() {
                let node = topology.links[link].from.node;
                let what = What::Pinned {
                    link,
                    caps: Box::new(caps.clone()),
                };
                parts.parts.push(Part { node, what });
            }
        }
        let asker = Asker {
            world,
            request,
            limits,
            known: RefCell::default(),
        };
        for node in 0..topology.nodes.len() {
            asker.element(node, &mut parts.parts)?;
        }
        Ok(parts)
    }

    /// The same with an element put into a link, behind its feeder. What it says is told of `node`,
    /// which is none of the topology's; the link's lower half gets a number of its own.
    pub(super) fn with_insert(&self, link: usize, feeder: usize, node: usize, ways: Ways) -> Parts {
        let mut changed = self.clone();
        let lower = changed.links;
        changed.links += 1;
        changed.rank.resize(node + 1, node);
        changed.feeder.push((node, 0));
        for part in changed.parts.iter_mut().filter(|p| p.node != feeder) {
            let at = |l: &mut usize| {
                if *l == link {
                    *l = lower;
                }
            };
            match &mut part.what {
                What::Demand { link, pad, .. } if pad.is_sink() => at(link),
                What::Ways { from, to, .. } => {
                    for end in [from, to] {
                        if end.1.is_sink() {
                            at(&mut end.0);
                        }
                    }
                }
                What::Wire { links } => links.iter_mut().for_each(at),
                What::Demand { .. } | What::Pinned { .. } => {}
            }
        }
        changed.parts.push(Part {
            node,
            what: What::Ways {
                from: (link, PadAt::sink(0)),
                to: (lower, PadAt::source(0)),
                ways,
                converts: true,
            },
        });
        changed
    }

    /// Whether a part can be taken away to see whether the rest agrees.
    pub(super) fn is_member(&self, part: usize) -> bool {
        !matches!(self.parts[part].what, What::Wire { .. })
    }
}

/// The ways across one converter of a class with settings, without a graph around it.
pub(super) fn ways_of(
    class: &ElementClass,
    entity: EntityRef<'_>,
    limits: &Limits,
) -> Result<Vec<Way>, NegotiationError> {
    let nothing = |_: usize| Err(PeekError::NotBytes(class.name.to_owned()));
    let of = |pad: PadAt| {
        let template = class
            .terms
            .pads
            .iter()
            .find(|t| t.direction == pad.direction)
            .map_or_else(Caps::any, |t| t.caps.clone());
        let closed = Cell::new(false);
        let query = CapsQuery {
            template: &template,
            name: "",
            peek: &nothing,
            closed: &closed,
        };
        enumerate(class, class.name, 0, entity, &query, pad, limits)
    };
    let (sink, source) = (of(PadAt::sink(0))?, of(PadAt::source(0))?);
    ways(
        class,
        class.name,
        entity,
        (PadAt::sink(0), sink.as_deref()),
        (PadAt::source(0), source.as_deref()),
        limits,
    )
}

struct Asker<'a> {
    world: &'a World,
    request: &'a Request<'a>,
    limits: &'a Limits,
    /// What elements said before, by class: those of one class mostly say the same.
    known: RefCell<Vec<(usize, Ways)>>,
}

/// How many different answers are kept to be shared.
const KNOWN: usize = 16;

impl Asker<'_> {
    /// These ways, shared with an element that said the same before.
    fn shared(&self, node: usize, ways: Vec<Way>) -> Ways {
        let class = Arc::as_ptr(&self.request.topology.nodes[node].class) as usize;
        let mut known = self.known.borrow_mut();
        if let Some(same) = known.iter().find(|k| k.0 == class && *k.1 == ways) {
            return Rc::clone(&same.1);
        }
        let ways = Rc::new(ways);
        if known.len() == KNOWN {
            known.remove(0);
        }
        known.push((class, Rc::clone(&ways)));
        ways
    }

    fn element(&self, node: usize, parts: &mut Vec<Part>) -> Result<(), NegotiationError> {
        let topology = self.request.topology;
        let n = &topology.nodes[node];
        let flow = n.class.terms.flow;
        let entity = self.world.entity(n.entity);
        let mut said: SmallVec<[Option<Rc<Vec<Structure>>>; 2]> = SmallVec::new();
        let sinks = n
            .inputs
            .iter()
            .enumerate()
            .map(|(i, &l)| (l, PadAt::sink(i)));
        let sources = n.outputs.iter().enumerate();
        let sources = sources.map(|(i, &l)| (l, PadAt::source(i)));
        let pads: SmallVec<[(usize, PadAt); 2]> = sinks.chain(sources).collect();
        for &(link, pad) in &pads {
            let caps = self.pad(node, pad, entity)?.map(Rc::new);
            if let (Some(caps), false) = (&caps, flow == Flow::Convert) {
                let charged = !pad.is_sink() && flow == Flow::Separate && !n.class.terms.made_up;
                parts.push(Part {
                    node,
                    what: What::Demand {
                        link,
                        pad,
                        caps: Rc::clone(caps),
                        charged,
                    },
                });
            }
            said.push(caps);
        }
        let of = |pad: &(usize, PadAt)| {
            pads.iter()
                .position(|p| p == pad)
                .and_then(|i| said[i].clone())
        };
        match flow {
            Flow::Separate => {}
            Flow::Wire => parts.push(Part {
                node,
                what: What::Wire {
                    links: pads.iter().map(|p| p.0).collect(),
                },
            }),
            Flow::Lead | Flow::LeadAlone | Flow::Sets => {
                let leads = flow != Flow::Sets;
                if leads {
                    let lead = pads
                        .iter()
                        .filter(|p| p.1 == PadAt::sink(0) || !p.1.is_sink());
                    parts.push(Part {
                        node,
                        what: What::Wire {
                            links: lead.map(|p| p.0).collect(),
                        },
                    });
                }
                let follows = |pad: PadAt| match pad.is_sink() {
                    true => pad.index > 0 && flow != Flow::LeadAlone,
                    false => !leads,
                };
                for other in pads.iter().filter(|p| follows(p.1)) {
                    let (from, to) = (of(&pads[0]), of(other));
                    let ways = ways(
                        &n.class,
                        &n.name,
                        entity,
                        (pads[0].1, from.as_ref().map(|c| &c[..])),
                        (other.1, to.as_ref().map(|c| &c[..])),
                        self.limits,
                    )?;
                    parts.push(Part {
                        node,
                        what: What::Ways {
                            from: pads[0],
                            to: *other,
                            ways: self.shared(node, ways),
                            converts: false,
                        },
                    });
                }
            }
            Flow::Convert => {
                for sink in pads.iter().filter(|p| p.1.is_sink()) {
                    for source in pads.iter().filter(|p| !p.1.is_sink()) {
                        let (from, to) = (of(sink), of(source));
                        let ways = ways(
                            &n.class,
                            &n.name,
                            entity,
                            (sink.1, from.as_ref().map(|c| &c[..])),
                            (source.1, to.as_ref().map(|c| &c[..])),
                            self.limits,
                        )?;
                        let ways = self.shared(node, ways);
                        parts.push(Part {
                            node,
                            what: What::Ways {
                                from: *sink,
                                to: *source,
                                ways,
                                converts: true,
                            },
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// What a pad says, or `None` where it says nothing.
    fn pad(
        &self,
        node: usize,
        pad: PadAt,
        entity: EntityRef<'_>,
    ) -> Result<Option<Vec<Structure>>, NegotiationError> {
        let topology = self.request.topology;
        let n = &topology.nodes[node];
        if let Some(offer) = self.request.offers.get(&(n.id, pad)) {
            return Ok((!offer.is_any()).then(|| offer.structures().to_vec()));
        }
        let template = template(topology, self.world, node, pad);
        let end = topology.end(node, pad);
        let end = end.and_then(|end| self.world.get::<Pad>(end.pad));
        let peek = |max: usize| peek(self.world, topology, node, max);
        let closed = Cell::new(false);
        let query = CapsQuery {
            template,
            name: end.map_or("", |pad| &pad.name),
            peek: &peek,
            closed: &closed,
        };
        enumerate(&n.class, &n.name, node, entity, &query, pad, self.limits)
    }
}

/// Asks a pad by index until it has no more; `None` where it says nothing at all.
fn enumerate(
    class: &ElementClass,
    name: &str,
    node: usize,
    entity: EntityRef<'_>,
    query: &CapsQuery<'_>,
    pad: PadAt,
    limits: &Limits,
) -> Result<Option<Vec<Structure>>, NegotiationError> {
    let mut answers = Vec::new();
    loop {
        let index = answers.len() as u32;
        match class
            .enum_caps(entity, query, pad, index)
            .map_err(|error| NegotiationError::Element { node, error })?
        {
            Some(structure) => answers.push(structure),
            None => break,
        }
        check_answers(limits, name, "enum_caps", answers.len())?;
    }
    if answers.is_empty() && query.template.is_any() && !query.closed.get() {
        return Ok(None);
    }
    Ok(Some(answers))
}

fn check_answers(
    limits: &Limits,
    name: &str,
    what: &str,
    answers: usize,
) -> Result<(), NegotiationError> {
    if answers as u64 <= limits.get(Limit::EnumCaps) {
        return Ok(());
    }
    let what = format!("answers of {name} to {what}");
    Ok(limits.check(Limit::EnumCaps, &what, answers as u64)?)
}

/// Every way from what one pad can have to what another can.
fn ways(
    class: &ElementClass,
    name: &str,
    entity: EntityRef<'_>,
    from: (PadAt, Option<&[Structure]>),
    to: (PadAt, Option<&[Structure]>),
    limits: &Limits,
) -> Result<Vec<Way>, NegotiationError> {
    let Some(takes) = from.1 else {
        // Nothing to ask with: what says nothing of itself passes everything on.
        let all = to.1.map_or_else(
            || vec![None],
            |all| all.iter().cloned().map(Some).collect::<Vec<_>>(),
        );
        let way = |makes| Way {
            makes,
            ..Way::passing()
        };
        return Ok(all.into_iter().map(way).collect());
    };
    let mut found = Vec::new();
    for take in takes {
        let mut index = 0;
        while let Some(answer) = class.transform_caps(entity, from.0, to.0, take, index) {
            index += 1;
            check_answers(limits, name, "transform_caps", index as usize)?;
            let mut add = |makes: Structure| {
                // Features that both sides have alike stay alike where the other pad has fewer.
                let takes = match answer.caps.features() == take.features() {
                    true => take.clone().with_features(makes.features().clone()),
                    false => take.clone(),
                };
                found.push(Way {
                    retypes: [
                        takes.media() != makes.media(),
                        takes.features() != makes.features(),
                    ],
                    takes: Some(takes),
                    makes: Some(makes),
                    free: answer.free.clone(),
                    cost: answer.cost,
                });
            };
            match to.1 {
                None => add(answer.caps.clone()),
                Some(all) => {
                    for own in all {
                        if let Some(met) = answer.caps.intersect(own)? {
                            add(met);
                        }
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Places of elements in an order that follows links; where links leave it open, by name.
fn canonical_order(topology: &Topology) -> Vec<usize> {
    let nodes = &topology.nodes;
    let mut by_name: Vec<usize> = (0..nodes.len()).collect();
    by_name.sort_by(|&a, &b| (&nodes[a].name, nodes[a].id).cmp(&(&nodes[b].name, nodes[b].id)));
    let mut alphabetical = vec![0; nodes.len()];
    for (place, &node) in by_name.iter().enumerate() {
        alphabetical[node] = place;
    }
    let mut missing: Vec<usize> = nodes.iter().map(|n| n.inputs.len()).collect();
    let free = (0..nodes.len()).filter(|&n| missing[n] == 0);
    let mut free: BinaryHeap<Reverse<(usize, usize)>> =
        free.map(|n| Reverse((alphabetical[n], n))).collect();
    let mut rank = vec![usize::MAX; nodes.len()];
    let mut place = 0;
    while let Some(Reverse((_, node))) = free.pop() {
        rank[node] = place;
        place += 1;
        for &link in &nodes[node].outputs {
            let next = topology.links[link].to.node;
            missing[next] -= 1;
            if missing[next] == 0 {
                free.push(Reverse((alphabetical[next], next)));
            }
        }
    }
    rank
}

static ANY: Caps = Caps::any();

/// The caps of a pad's template.
fn template<'a>(topology: &'a Topology, world: &World, node: usize, pad: PadAt) -> &'a Caps {
    let info = topology
        .end(node, pad)
        .and_then(|end| world.get::<Pad>(end.pad));
    let templates = &topology.nodes[node].class.terms.pads;
    info.and_then(|i| templates.get(i.template))
        .map_or(&ANY, |t| &t.caps)
}

/// The first bytes that will arrive on sink pad 0 of a node.
fn peek(world: &World, topology: &Topology, node: usize, max: usize) -> Result<Peeked, PeekError> {
    let mut at = node;
    loop {
        let n = &topology.nodes[at];
        let not_bytes = || PeekError::NotBytes(topology.nodes[node].name.clone());
        if let Some(bytes) = n.class.peek(world.entity(n.entity), max)? {
            let whole = bytes.len() < max;
            return Ok(Peeked { bytes, whole });
        }
        if at != node && n.class.terms.flow != Flow::Wire {
            return Err(not_bytes());
        }
        let &link = n.inputs.first().ok_or_else(not_bytes)?;
        at = topology.links[link].from.node;
    }
}
