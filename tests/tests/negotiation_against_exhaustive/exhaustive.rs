//! Solvability and the least cost by looking at every value of every wire. Written from what caps
//! mean, not from how the engine looks for an answer.
//!
//! A wire's value gives each field a digit, so with three media types, five formats, twelve widths
//! and four heights a wire has some 3,000 values. Where wires form a tree, the cheapest way to have
//! each value of a wire is handed on, value by value. Where they form circles, one wire of a circle
//! is set to each of its values in turn.
//!
//! Caps only ever say that a value is in a set or that two values are equal, never that they differ.
//! So all values that nobody names are alike, and one digit for them is enough.

use super::graph::{FEATURES, Graph, Kind, MEDIA, NAMED, Structure};
use super::loss::{Cost, Losses};

/// What of an element counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// All that it says.
    Whole,
    /// A converter hands on what it does, and says nothing of what it takes and makes.
    Passing,
    /// Nothing: a pad can have anything, a converter makes anything out of anything.
    Free,
}

/// A digit for each field.
pub type Value = Vec<u8>;

/// One structure made of another.
#[derive(Clone, Debug)]
pub struct Way {
    takes: Vec<u32>,
    makes: Vec<u32>,
    /// Fields that are the same on both sides.
    tied: Vec<bool>,
    pub cost: u32,
}

impl Way {
    /// All fields named on neither side are the same on both, and so are equal media types and
    /// features. If the sides are equal altogether everything passes, at no cost.
    fn new(graph: &Graph, takes: &Structure, makes: &Structure, cost: u32) -> Way {
        let domain = &graph.domain;
        let (a, b) = (takes.masks(domain), makes.masks(domain));
        let places = 0..domain.fields.len();
        let alike = |place: usize| {
            let same = takes.names(place) == makes.names(place) && a[place] == b[place];
            // Between two fractions there are always more.
            let ranges = |s: &Structure| domain.fields[place].fractions && s.is_range(place);
            same && ranges(takes) == ranges(makes)
        };
        let passes = places.clone().all(alike);
        let tied = |place: usize| match place {
            MEDIA | FEATURES => alike(place),
            _ => passes || (!takes.names(place) && !makes.names(place)),
        };
        Way {
            tied: places.map(tied).collect(),
            takes: a,
            makes: b,
            cost: if passes { 0 } else { cost },
        }
    }

    /// Everything as it is.
    fn open(graph: &Graph) -> Way {
        let all: Vec<u32> = graph.domain.fields.iter().map(|f| f.all()).collect();
        Way {
            tied: vec![true; all.len()],
            takes: all.clone(),
            makes: all,
            cost: 0,
        }
    }

    /// What it costs to make one value of another.
    pub fn spends(&self, from: &[u8], to: &[u8], losses: Option<&Losses>) -> Cost {
        let mut cost = losses.map_or(Cost::default(), |l| l.between(from, to));
        cost[0] = self.cost.into();
        cost
    }

    /// What it hands on, and nothing of what it takes and makes.
    fn passing(self, graph: &Graph) -> Way {
        let all: Vec<u32> = graph.domain.fields.iter().map(|f| f.all()).collect();
        Way {
            takes: all.clone(),
            makes: all,
            ..self
        }
    }

    /// The same without what it says of some fields; what it ties stays tied.
    fn without(mut self, graph: &Graph, keep: &dyn Fn(usize) -> bool) -> Way {
        for place in (NAMED..self.takes.len()).filter(|p| !keep(*p)) {
            let all = graph.domain.fields[place].all();
            self.takes[place] = all;
            self.makes[place] = all;
        }
        self
    }

    /// Whether it leads from one value to another.
    pub fn leads(&self, from: &[u8], to: &[u8]) -> bool {
        allows(&self.takes, from)
            && allows(&self.makes, to)
            && (0..from.len()).all(|p| !self.tied[p] || from[p] == to[p])
    }
}

fn allows(masks: &[u32], value: &[u8]) -> bool {
    masks
        .iter()
        .zip(value)
        .all(|(mask, digit)| mask >> digit & 1 == 1)
}

/// What the rows of a map can do; `None` if it is no map.
pub fn ways(graph: &Graph, kind: &Kind) -> Option<Vec<Way>> {
    let Kind::Map { rows, cost } = kind else {
        return None;
    };
    if rows.is_empty() {
        return Some(vec![Way::open(graph)]);
    }
    let mut ways = Vec::new();
    for row in rows {
        for takes in &row.takes {
            let makes = row.makes.iter();
            ways.extend(makes.map(|makes| Way::new(graph, takes, makes, *cost)));
        }
    }
    Some(ways)
}

/// Whether caps allow a value.
pub fn in_caps(graph: &Graph, caps: &[Structure], value: &[u8]) -> bool {
    caps.iter().any(|s| allows(&s.masks(&graph.domain), value))
}

#[derive(Clone)]
struct Edge {
    from: usize,
    to: usize,
    /// An index into the ways of the problem.
    ways: usize,
}

/// Values that a wire can have, as numbers, and the cheapest way to each.
type Live = Vec<(u32, Cost)>;

/// What has not been looked at yet.
#[derive(Clone)]
struct Open {
    live: Vec<Live>,
    gone: Vec<bool>,
    edges: Vec<Edge>,
    cost: Cost,
}

struct Problem<'a> {
    values: Vec<Value>,
    strides: Vec<u32>,
    ways: Vec<Vec<Way>>,
    losses: Option<&'a Losses>,
}

/// The least cost of an answer; `None` if there is none.
pub fn least(graph: &Graph) -> Option<u64> {
    least_of(graph, &|_| Role::Whole, &|_| true)
}

/// The same with all that is lost; only for domains of few values.
pub fn least_with(graph: &Graph, losses: &Losses) -> Option<Cost> {
    solve(graph, &|_| Role::Whole, &|_| true, Some(losses))
}

/// The same of a graph in which only some of what elements say counts: by element, and by field.
pub fn least_of(
    graph: &Graph,
    role: &dyn Fn(usize) -> Role,
    keep: &dyn Fn(usize) -> bool,
) -> Option<u64> {
    solve(graph, role, keep, None).map(|cost| cost[0])
}

fn solve(
    graph: &Graph,
    role: &dyn Fn(usize) -> Role,
    keep: &dyn Fn(usize) -> bool,
    losses: Option<&Losses>,
) -> Option<Cost> {
    let (wire_of, wires) = graph.wires();
    let sizes: Vec<u32> = graph
        .domain
        .fields
        .iter()
        .map(|f| u32::from(f.other()) + 1)
        .collect();
    let strides = sizes.iter().scan(1, |next, size| {
        let stride = *next;
        *next *= size;
        Some(stride)
    });
    let strides: Vec<u32> = strides.collect();
    let digits = |number: u32| -> Value {
        let places = strides.iter().zip(&sizes);
        places
            .map(|(stride, size)| (number / stride % size) as u8)
            .collect()
    };
    let values: Vec<Value> = (0..sizes.iter().product()).map(digits).collect();
    let mut live: Vec<Live> = vec![
        (0..)
            .zip(&values)
            .map(|(n, _)| (n, Cost::default()))
            .collect();
        wires
    ];
    let mut problem = Problem {
        values,
        strides,
        ways: Vec::new(),
        losses,
    };
    let mut edges = Vec::new();
    for (at, element) in graph.elements.iter().enumerate() {
        let role = role(at);
        let (into, out) = graph.ends(at);
        if role == Role::Free {
            continue;
        }
        if let (Some(caps), Role::Whole) = (element.kind.caps(), role) {
            let wire = wire_of[into.or(out).expect("a link")];
            let mut masks: Vec<Vec<u32>> = caps.iter().map(|s| s.masks(&graph.domain)).collect();
            for masks in &mut masks {
                for place in (NAMED..masks.len()).filter(|p| !keep(*p)) {
                    masks[place] = graph.domain.fields[place].all();
                }
            }
            live[wire].retain(|(n, _)| {
                masks
                    .iter()
                    .any(|m| allows(m, &problem.values[*n as usize]))
            });
            if let (Kind::Source(_), Some(losses)) = (&element.kind, losses) {
                for (n, cost) in &mut live[wire] {
                    *cost = add(
                        *cost,
                        losses.without(graph, caps, &problem.values[*n as usize]),
                    );
                }
            }
        }
        if let Some(ways) = ways(graph, &element.kind) {
            edges.push(Edge {
                from: wire_of[into.expect("a link")],
                to: wire_of[out.expect("a link")],
                ways: problem.ways.len(),
            });
            let ways = ways.into_iter().map(|way| match role {
                Role::Passing => way.passing(graph),
                _ => way.without(graph, keep),
            });
            problem.ways.push(ways.collect());
        }
    }
    let open = Open {
        gone: vec![false; wires],
        live,
        edges,
        cost: Cost::default(),
    };
    problem.least(open)
}

fn add(a: Cost, b: Cost) -> Cost {
    core::array::from_fn(|i| a[i] + b[i])
}

impl Problem<'_> {
    fn value(&self, number: u32) -> &[u8] {
        &self.values[number as usize]
    }

    fn least(&self, mut open: Open) -> Option<Cost> {
        // Both ends of a converter on one wire: only values that it lets pass.
        let loops: Vec<Edge> = open
            .edges
            .iter()
            .filter(|e| e.from == e.to)
            .cloned()
            .collect();
        open.edges.retain(|e| e.from != e.to);
        for edge in loops {
            let pass = |(n, cost): (u32, Cost)| {
                let value = self.value(n);
                let ways = self.ways[edge.ways]
                    .iter()
                    .filter(|w| w.leads(value, value));
                let spent = ways.map(|w| w.spends(value, value, self.losses)).min()?;
                Some((n, add(cost, spent)))
            };
            let live = core::mem::take(&mut open.live[edge.from]);
            open.live[edge.from] = live.into_iter().filter_map(pass).collect();
        }
        self.hand_on(&mut open)?;
        if open.edges.is_empty() {
            return Some(open.cost);
        }
        self.narrow(&mut open)?;
        let on_circle = |wire: &usize| open.edges.iter().any(|e| e.from == *wire || e.to == *wire);
        let wire = (0..open.live.len())
            .filter(on_circle)
            .min_by_key(|&w| open.live[w].len())
            .expect("edges have wires");
        let mut least: Option<Cost> = None;
        for &chosen in &open.live[wire] {
            let mut rest = open.clone();
            rest.live[wire] = vec![chosen];
            let around: Vec<Edge> = open
                .edges
                .iter()
                .filter(|e| e.from == wire || e.to == wire)
                .cloned()
                .collect();
            rest.edges.retain(|e| e.from != wire && e.to != wire);
            let zero = [(chosen.0, Cost::default())];
            for edge in around {
                let down = edge.from == wire;
                let other = if down { edge.to } else { edge.from };
                rest.live[other] = self.cross(&edge, down, &zero, &rest.live[other]);
            }
            let found = self.least(rest);
            least = match (least, found) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (one, other) => one.or(other),
            };
        }
        least
    }

    /// Takes wires away that have one neighbour or none, until only circles are left.
    fn hand_on(&self, open: &mut Open) -> Option<()> {
        loop {
            let degree = |wire: usize| {
                let ends = open.edges.iter().flat_map(|e| [e.from, e.to]);
                ends.filter(|w| *w == wire).count()
            };
            let wire = (0..open.live.len()).find(|&w| !open.gone[w] && degree(w) <= 1);
            let Some(wire) = wire else {
                return Some(());
            };
            open.gone[wire] = true;
            let live = core::mem::take(&mut open.live[wire]);
            match open
                .edges
                .iter()
                .position(|e| e.from == wire || e.to == wire)
            {
                None => open.cost = add(open.cost, live.iter().map(|l| l.1).min()?),
                Some(at) => {
                    let edge = open.edges.remove(at);
                    let down = edge.from == wire;
                    let other = if down { edge.to } else { edge.from };
                    open.live[other] = self.cross(&edge, down, &live, &open.live[other]);
                }
            }
        }
    }

    /// Drops values that no value of a neighbour goes with, until nothing changes.
    fn narrow(&self, open: &mut Open) -> Option<()> {
        loop {
            let before: usize = open.live.iter().map(Vec::len).sum();
            for edge in &open.edges {
                for (down, near, far) in [(true, edge.from, edge.to), (false, edge.to, edge.from)] {
                    let stays = self.cross(edge, down, &open.live[near], &open.live[far]);
                    let stays: Vec<u32> = stays.into_iter().map(|l| l.0).collect();
                    open.live[far].retain(|l| stays.binary_search(&l.0).is_ok());
                    if open.live[far].is_empty() {
                        return None;
                    }
                }
            }
            if before == open.live.iter().map(Vec::len).sum::<usize>() {
                return Some(());
            }
        }
    }

    /// What is left of the values of `far`, each with the cheapest way to it from `near` added.
    fn cross(&self, edge: &Edge, down: bool, near: &[(u32, Cost)], far: &[(u32, Cost)]) -> Live {
        let mut cheapest: Vec<Option<Cost>> = vec![None; far.len()];
        let mut by_key: Vec<Option<Cost>> = vec![None; self.values.len()];
        let better = |old: &mut Option<Cost>, new: Cost| {
            if old.is_none_or(|old| new < old) {
                *old = Some(new);
            }
        };
        for way in &self.ways[edge.ways] {
            let (here, there) = match down {
                true => (&way.takes, &way.makes),
                false => (&way.makes, &way.takes),
            };
            let spent = conversions(way.cost);
            let here = near.iter().filter(|l| allows(here, self.value(l.0)));
            if self.losses.is_some() {
                let here: Vec<_> = here.collect();
                for (i, (n, _)) in far
                    .iter()
                    .enumerate()
                    .filter(|(_, l)| allows(there, self.value(l.0)))
                {
                    for (m, cost) in &here {
                        let (a, b) = if down { (*m, *n) } else { (*n, *m) };
                        if way.leads(self.value(a), self.value(b)) {
                            let spent = way.spends(self.value(a), self.value(b), self.losses);
                            better(&mut cheapest[i], add(*cost, spent));
                        }
                    }
                }
                continue;
            }
            // Values that are alike in what is tied lead to the same values.
            let key = |value: &[u8]| -> usize {
                let tied = (0..value.len()).filter(|p| way.tied[*p]);
                tied.map(|p| u32::from(value[p]) * self.strides[p])
                    .sum::<u32>() as usize
            };
            let mut keys = Vec::new();
            for (n, cost) in here {
                let key = key(self.value(*n));
                keys.push(key);
                better(&mut by_key[key], *cost);
            }
            for (i, (n, _)) in far.iter().enumerate() {
                let value = self.value(*n);
                if let (true, Some(cost)) = (allows(there, value), by_key[key(value)]) {
                    better(&mut cheapest[i], add(cost, spent));
                }
            }
            keys.into_iter().for_each(|key| by_key[key] = None);
        }
        let both = far.iter().zip(cheapest);
        both.filter_map(|(&(n, own), way)| Some((n, add(own, way?))))
            .collect()
    }
}

fn conversions(count: u32) -> Cost {
    let mut cost = Cost::default();
    cost[0] = count.into();
    cost
}
