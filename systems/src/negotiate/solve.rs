//! The caps of each link of a graph: asks the elements, finds the cheapest answer, and has each
//! element accept it. Where one refuses, that choice is excluded and the search goes on.

use super::choose::{Fix, choose};
use super::conflict::Failure;
use super::cost::Cost;
use super::eliminate::{Bounds, Elimination, Joiner, Stop, eliminate};
use super::exclude::{Refusal, without};
use super::loss::with_losses;
use super::parts::{Parts, What};
use super::problem::{Factor, Frame, Problem};
use super::region::regions;
use super::relation::{Row, Shape};
use super::{explain, put_together, repair};
use crate::element::{Flow, PadAt, PadCapsOf, keep_values};
use crate::state::Topology;
use bevy_ecs::world::World;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::{Caps, CapsLimitError, Features, Structure};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::ElementId;
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};

/// What is to be solved.
pub struct Request<'a> {
    /// The graph.
    pub topology: &'a Topology,
    /// Links that have their caps already.
    pub pinned: &'a [(usize, Arc<Caps>)],
    /// What a pad offers in place of what its element's `enum_caps` says.
    pub offers: &'a BTreeMap<(ElementId, PadAt), Caps>,
    /// Choices that elements refused when they were told, with what they said: they are excluded.
    pub refused: &'a [Refused],
}

/// A choice that an element refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The element, as an index into the topology's nodes.
    pub node: usize,
    /// What its pads would have had.
    pub pads: PadCapsOf,
    /// What it said.
    pub error: ElementError,
}

/// The caps of each link.
#[derive(Clone, Debug)]
pub struct Solution {
    /// By link; ANY where nothing constrains it.
    pub links: Vec<Arc<Caps>>,
    /// By link, what making its caps costs: the conversion of the element that feeds it, and what a
    /// source does without.
    pub costs: Vec<Cost>,
    /// All of it together.
    pub cost: Cost,
    /// Steps that it took.
    pub work: u64,
}

impl Solution {
    /// The caps of an element's linked pads.
    pub fn pads_of(&self, topology: &Topology, node: usize) -> PadCapsOf {
        let of = |links: &[usize]| links.iter().map(|&l| (*self.links[l]).clone()).collect();
        PadCapsOf {
            sinks: of(&topology.nodes[node].inputs),
            sources: of(&topology.nodes[node].outputs),
        }
    }
}

/// Why there are no caps for a graph.
#[derive(Debug, Error)]
pub enum NegotiationError {
    /// Pads cannot agree.
    #[error("{0}")]
    Conflict(Box<Failure>),
    /// An element could not say what it can do, or refused every choice.
    #[error("{error}")]
    Element {
        /// The element, as an index into the topology's nodes.
        node: usize,
        /// Why.
        error: ElementError,
    },
    /// A source does not say what it emits, and nothing else settles it.
    #[error("{pad} does not say what it emits, and what follows leaves it open: {caps}")]
    Open {
        /// The source pad.
        pad: String,
        /// What is left.
        caps: String,
    },
    /// The search took more steps than it may; whether there is an answer is not known.
    #[error("no answer within the limit: {0}")]
    Limit(#[from] LimitExceeded),
    /// A caps operation went past a limit of caps.
    #[error(transparent)]
    Caps(#[from] CapsLimitError),
}

impl NegotiationError {
    /// The same as an element's error, for the bus: in one line, with the code of its kind.
    pub(crate) fn into_element_error(self) -> ElementError {
        let code = match self {
            NegotiationError::Element { error, .. } => return error,
            NegotiationError::Limit(_) | NegotiationError::Caps(_) => Code::Limit,
            NegotiationError::Conflict(_) | NegotiationError::Open { .. } => Code::NotNegotiated,
        };
        ElementError::new(Domain::Caps, code, OneLine(self))
    }
}

/// An error whose lines are told as one.
#[derive(Debug, Error)]
#[error("{}", .0.to_string().replace("\n  ", "; ").replace('\n', "; "))]
struct OneLine(NegotiationError);

/// Solves the caps of a graph.
///
/// # Errors
/// [`NegotiationError`].
pub fn solve(
    world: &World,
    topology: &Topology,
    limits: &Limits,
) -> Result<Solution, NegotiationError> {
    let request = Request {
        topology,
        pinned: &[],
        offers: &BTreeMap::new(),
        refused: &[],
    };
    solve_request(world, &request, limits)
}

/// Solves the caps of a graph of which some things are given.
///
/// # Errors
/// [`NegotiationError`].
pub fn solve_request(
    world: &World,
    request: &Request<'_>,
    limits: &Limits,
) -> Result<Solution, NegotiationError> {
    let sets = |n: &crate::state::Node| n.class.terms.flow == Flow::Sets && !n.outputs.is_empty();
    if !request.topology.nodes.iter().any(sets) {
        return Search::new(world, request, limits)?.run();
    }
    let pinned = put_together::pins(world, request, limits)?;
    let request = Request {
        pinned: &pinned,
        ..*request
    };
    Search::new(world, &request, limits)?.run()
}

/// One search: what was asked, and what was found and refused so far.
pub(super) struct Search<'a> {
    pub(super) world: &'a World,
    pub(super) request: &'a Request<'a>,
    pub(super) limits: &'a Limits,
    pub(super) parts: Parts,
    pub(super) joiner: Joiner,
    problem: Problem,
    refused: Option<NegotiationError>,
    refusals: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        world: &'a World,
        request: &'a Request<'a>,
        limits: &'a Limits,
    ) -> Result<Search<'a>, NegotiationError> {
        let parts = Parts::ask(request, world, limits)?;
        let frame = Frame::new(&parts);
        frame.check()?;
        let mut joiner = Joiner::new(Bounds::of(limits), frame.fields.len());
        let problem = frame.problem(&parts, &mut joiner, |_| true)?;
        let mut search = Search {
            world,
            request,
            limits,
            parts,
            joiner,
            problem,
            refused: None,
            refusals: 0,
        };
        for refused in request.refused {
            search.refuse(refused.clone())?;
        }
        Ok(search)
    }

    /// The best answer that every element accepts.
    pub(super) fn run(mut self) -> Result<Solution, NegotiationError> {
        loop {
            let solution = self.next()?;
            match self.ask_to_accept(&solution) {
                None => return Ok(solution),
                Some(refused) => self.refuse(refused)?,
            }
        }
    }

    /// The best answer that was not refused.
    pub(super) fn next(&mut self) -> Result<Solution, NegotiationError> {
        let found = eliminate(
            &mut self.joiner,
            self.problem.relations(),
            self.problem.wires(),
            false,
        );
        let elimination = match found {
            Ok(elimination) => elimination,
            Err(Stop::Limit(limit)) => return Err(limit.into()),
            Err(Stop::Dead(dead)) => {
                // What an element said when it refused tells more than that nothing is left.
                if let Some(refused) = self.refused.take() {
                    return Err(refused);
                }
                let dead = dead.into_iter().map(|f| self.problem.factors[f].part);
                return Err(explain::failure(self, dead.collect()));
            }
        };
        let lossy = if can_lose(&self.problem, &self.parts) {
            let regions = regions(&self.problem, &elimination, &mut self.joiner)?;
            with_losses(&self.problem, &self.parts, &regions, &mut self.joiner)?
        } else {
            None
        };
        let Some(lossy) = lossy else {
            return self.answer(None, &elimination);
        };
        match eliminate(&mut self.joiner, lossy.relations(), lossy.wires(), false) {
            Ok(elimination) => self.answer(Some(&lossy), &elimination),
            Err(Stop::Limit(limit)) => Err(limit.into()),
            // Cannot be: splitting rows keeps the answers of the least cost.
            Err(Stop::Dead(_)) => self.answer(None, &elimination),
        }
    }

    /// The answer that an elimination leads to, of the problem with losses if there are any.
    fn answer(
        &mut self,
        lossy: Option<&Problem>,
        elimination: &Elimination,
    ) -> Result<Solution, NegotiationError> {
        let problem = lossy.unwrap_or(&self.problem);
        let fixer = Fixer::new(self.world, self.request.topology, problem, &self.parts);
        let fixed = choose(problem, elimination, &mut self.joiner, &fixer)?;
        let wires: Vec<Arc<Caps>> = fixed
            .iter()
            .map(|s| Arc::new(s.clone().map_or_else(Caps::any, Caps::from)))
            .collect();
        if let Some((wire, caps)) = fixer.open.take() {
            let topology = self.request.topology;
            let from = topology.links[problem.first_link[wire as usize]].from;
            return Err(NegotiationError::Open {
                pad: topology.end_name(self.world, from),
                caps,
            });
        }
        let links = self.request.topology.links.len();
        let mut costs = vec![Cost::ZERO; links];
        for factor in &problem.factors {
            let cost = spent(problem, factor, &fixed);
            if cost != Cost::ZERO {
                let link = told_at(&self.parts, factor.part);
                if let Some(at) = costs.get_mut(link) {
                    *at = *at + cost;
                }
            }
        }
        let wire_of = &problem.wire_of[..links];
        Ok(Solution {
            links: wire_of
                .iter()
                .map(|&w| Arc::clone(&wires[w as usize]))
                .collect(),
            cost: elimination.cost,
            costs,
            work: self.joiner.work,
        })
    }

    /// The first element that refuses an answer, sinks first.
    fn ask_to_accept(&self, solution: &Solution) -> Option<Refused> {
        let topology = self.request.topology;
        for (node, n) in topology.nodes.iter().enumerate().rev() {
            let pads = solution.pads_of(topology, node);
            let entity = self.world.entity(n.entity);
            if let Err(error) = n.class.accept_caps(entity, &pads) {
                return Some(Refused { node, pads, error });
            }
        }
        None
    }

    /// Excludes what an element refused.
    pub(super) fn refuse(&mut self, refused: Refused) -> Result<(), NegotiationError> {
        let Refused { node, pads, error } = refused;
        self.refusals += 1;
        self.limits.check(
            Limit::CapsRefusals,
            "choices that elements refused",
            self.refusals,
        )?;
        let n = &self.request.topology.nodes[node];
        let links = n.inputs.iter().chain(&n.outputs);
        let had = pads.sinks.iter().chain(&pads.sources);
        let mut caps: Vec<(u32, Structure)> = links
            .zip(had)
            .filter_map(|(&l, caps)| Some((self.problem.wire_of[l], caps.first()?.clone())))
            .collect();
        caps.sort_by_key(|c| c.0);
        caps.dedup_by_key(|c| c.0);
        if caps.is_empty() {
            // It refuses what nobody says anything of: there is no other choice.
            return Err(NegotiationError::Element { node, error });
        }
        self.refused
            .get_or_insert(NegotiationError::Element { node, error });
        let parts = &self.parts;
        let of_node = |part: usize| parts.parts.get(part).is_some_and(|p| p.node == node);
        let refusal = Refusal { caps };
        let relation = without(&self.problem, &mut self.joiner, &refusal, &of_node)?;
        self.problem.factors.push(Factor {
            part: usize::MAX,
            rank: self.parts.rank[node],
            relation,
            said: None,
            forward: None,
        });
        Ok(())
    }
}

/// Whether any row converts, or any source has a choice that may be poorer.
fn can_lose(problem: &Problem, parts: &Parts) -> bool {
    problem.factors.iter().any(|f| {
        let charged = matches!(
            parts.parts.get(f.part).map(|p| &p.what),
            Some(What::Demand { charged: true, .. })
        );
        f.forward.is_some() || charged
    })
}

/// The link at which the cost of a part is told.
fn told_at(parts: &Parts, part: usize) -> usize {
    match parts.parts.get(part).map(|p| &p.what) {
        Some(What::Ways { to, .. }) => to.0,
        Some(What::Demand { link, .. }) => *link,
        _ => usize::MAX,
    }
}

/// What a relation costs with fixed caps: its cheapest row that allows them.
fn spent(problem: &Problem, factor: &Factor, fixed: &[Option<Structure>]) -> Cost {
    let relation = &factor.relation;
    if relation.rows.iter().all(|r| r.cost == Cost::ZERO) {
        return Cost::ZERO;
    }
    let fields = problem.fields.len();
    let allowed = |row: &Row| {
        let mut row = row.clone();
        for &wire in &relation.scope {
            let Some(caps) = &fixed[wire as usize] else {
                continue;
            };
            let value = problem.fields.agreed(caps);
            let shape = Shape::new(&relation.scope, &[wire], None, fields);
            row = shape.join(&row, &value)?;
        }
        Some(row.cost)
    };
    // The first that is allowed, of those that cost least.
    let mut rows: Vec<&Row> = relation.rows.iter().collect();
    rows.sort_by_key(|r| r.cost);
    rows.into_iter().find_map(allowed).unwrap_or_default()
}

/// The same with any features made plain memory, which every element has.
fn settled(allowed: &Structure) -> Structure {
    match allowed.features() {
        Features::Any => allowed.clone().with_features(Features::System),
        _ => allowed.clone(),
    }
}

/// Fixes wires as the elements that feed them say.
pub(super) struct Fixer<'a> {
    world: &'a World,
    topology: &'a Topology,
    problem: &'a Problem,
    /// By wire, whether what feeds it says anything of it.
    spoken: Vec<bool>,
    /// The first wire that was left open by all, and what is left of it.
    open: Cell<Option<(u32, String)>>,
}

/// By wire, whether what feeds it says anything of it.
fn spoken(parts: &Parts, problem: &Problem) -> Vec<bool> {
    let mut spoken = vec![false; problem.wires()];
    for part in &parts.parts {
        let link = match &part.what {
            What::Demand { link, pad, .. } if !pad.is_sink() => *link,
            What::Ways { to, .. } if !to.1.is_sink() => to.0,
            What::Pinned { link, .. } => *link,
            _ => continue,
        };
        let wire = problem.wire_of[link] as usize;
        spoken[wire] |=
            problem.first_link[wire] == link || matches!(part.what, What::Pinned { .. });
    }
    spoken
}

impl<'a> Fixer<'a> {
    pub(super) fn new(
        world: &'a World,
        topology: &'a Topology,
        problem: &'a Problem,
        parts: &Parts,
    ) -> Fixer<'a> {
        Fixer {
            world,
            topology,
            problem,
            spoken: spoken(parts, problem),
            open: Cell::new(None),
        }
    }

    /// Whether some wire was left open by all.
    pub(super) fn left_open(&self) -> bool {
        let open = self.open.take();
        let left = open.is_some();
        self.open.set(open);
        left
    }
}

impl Fix for Fixer<'_> {
    fn fix(&self, wire: u32, allowed: &Structure, fixed: &[Option<Structure>]) -> Structure {
        let link = self.problem.first_link[wire as usize];
        let Some(edge) = self.topology.links.get(link) else {
            // The lower half of a link into which something was put.
            return keep_values(allowed, None);
        };
        if !self.spoken[wire as usize] && !allowed.is_fixed() {
            let earlier = self.open.take();
            self.open
                .set(earlier.or_else(|| Some((wire, allowed.to_string()))));
        }
        let allowed = &settled(allowed);
        let node = &self.topology.nodes[edge.from.node];
        let pad = PadAt::source(edge.from.index);
        let before = node.inputs.first().map(|&l| self.problem.wire_of[l]);
        let other = before
            .filter(|w| *w != wire)
            .and_then(|w| fixed[w as usize].as_ref());
        let entity = self.world.entity(node.entity);
        let chosen = node.class.fixate(entity, pad, allowed, other);
        let inside = chosen.is_fixed() && chosen.is_subset(allowed);
        if inside {
            chosen
        } else {
            keep_values(allowed, other)
        }
    }
}

impl Search<'_> {
    /// The catalogue of changes that may make a graph work.
    pub(super) fn catalogue(&self) -> repair::Catalogue {
        repair::catalogue(self.world, self.limits)
    }
}
