//! Random graphs. In most of them an answer is hidden, so that more than a few can be solved.

use super::graph::{
    Domain, Element, FEATURES, Field, Graph, Kind, MEDIA, MapRow, NAMED, Set, Structure,
};
use super::random::Random;

/// What a graph looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Chain,
    Tee,
    Join,
    Diamond,
    Any,
}

/// How many digits fields have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Up to twelve widths, and a second field.
    Full,
    /// So few values that all pairs of them can be looked at.
    Few,
}

fn field(name: &'static str, values: &[&str]) -> Field {
    Field {
        name,
        values: values.iter().map(|&v| v.to_owned()).collect(),
        step: None,
        fractions: false,
    }
}

fn numbers(name: &'static str, count: usize) -> Field {
    Field {
        values: (1..=count).map(|n| n.to_string()).collect(),
        step: Some(1),
        ..field(name, &[])
    }
}

const FORMATS: [&str; 8] = [
    "RGB",
    "I420",
    "GRAY8",
    "RGBA",
    "NV12",
    "Y42B",
    "I420_10LE",
    "GRAY16_LE",
];

fn domain(random: &mut Random, size: Size) -> Domain {
    let few = size == Size::Few;
    let mut media = vec!["a/x", "b/y", "c/z"];
    random.shuffle(&mut media);
    media.truncate(*random.pick(if few { &[1, 1, 2] } else { &[1, 1, 2, 2, 3] }));
    let features = match !few && random.chance(12) {
        true => &["", "memory:DMABuf"][..],
        false => &[""],
    };
    let mut formats = if few || random.chance(50) {
        FORMATS.to_vec()
    } else {
        vec!["fa", "fb", "fc", "fd", "fe"]
    };
    random.shuffle(&mut formats);
    formats.truncate(random.between(2, if few { 4 } else { 5 }));
    let widths = *random.pick(if few { &[2, 4, 6] } else { &[4, 6, 8, 12, 12] });
    let mut fields = vec![
        field("", &media),
        field("", features),
        field("format", &formats),
        numbers("width", widths),
    ];
    match random.below(if few { 9 } else { 6 }) {
        0 => fields.push(numbers("height", 3)),
        1 => fields.push(numbers("rate", 4)),
        2 => fields.push(Field {
            step: Some(1),
            fractions: true,
            ..field("framerate", &["5/1", "25/2", "25/1", "30/1"])
        }),
        3 => fields.push(field("m", &["ma", "mb", "mc"])),
        _ => {}
    }
    Domain { fields }
}

/// A graph that is being made: elements without caps yet.
struct Builder {
    elements: Vec<Kind>,
    links: Vec<(usize, usize)>,
    maps: usize,
}

impl Builder {
    fn add(&mut self, kind: Kind, after: &[usize]) -> usize {
        let at = self.elements.len();
        self.elements.push(kind);
        self.links.extend(after.iter().map(|&from| (from, at)));
        at
    }

    fn source(&mut self) -> usize {
        self.add(Kind::Source(None), &[])
    }

    fn sink(&mut self, after: usize) {
        self.add(Kind::Sink(None), &[after]);
    }

    /// One of the elements with one pad on each side.
    fn middle(&mut self, random: &mut Random, after: usize) -> usize {
        let kind = match random.below(20) {
            0..12 if self.maps < 6 => {
                self.maps += 1;
                Kind::Map {
                    rows: Vec::new(),
                    cost: 0,
                }
            }
            0..16 => Kind::Filter(None),
            16..18 => Kind::Identity,
            _ => Kind::Queue,
        };
        self.add(kind, &[after])
    }

    fn middles(&mut self, random: &mut Random, after: usize, least: usize, most: usize) -> usize {
        let count = random.between(least, most);
        (0..count).fold(after, |at, _| self.middle(random, at))
    }

    fn any(&mut self, random: &mut Random) {
        let mut open = vec![self.source()];
        for _ in 0..random.between(2, 8) {
            let at = random.below(open.len());
            match random.below(10) {
                0..5 => open[at] = self.middle(random, open[at]),
                5..7 if open.len() < 4 => {
                    let tee = self.add(Kind::Tee, &[open[at]]);
                    open[at] = tee;
                    (0..random.between(1, 2)).for_each(|_| open.push(tee));
                }
                7..9 if open.len() > 1 => {
                    random.shuffle(&mut open);
                    let joined: Vec<usize> =
                        open.drain(..random.between(2, open.len().min(3))).collect();
                    open.push(self.add(Kind::Funnel, &joined));
                }
                9 if open.len() < 4 => open.push(self.source()),
                _ => {}
            }
        }
        for at in open {
            self.sink(at);
        }
    }
}

fn shape(random: &mut Random, shape: Shape) -> Builder {
    let mut b = Builder {
        elements: Vec::new(),
        links: Vec::new(),
        maps: 0,
    };
    match shape {
        Shape::Chain => {
            let source = b.source();
            let end = b.middles(random, source, 0, 4);
            b.sink(end);
        }
        Shape::Tee => {
            let source = b.source();
            let end = b.middles(random, source, 0, 1);
            let tee = b.add(Kind::Tee, &[end]);
            for _ in 0..random.between(2, 4) {
                let end = b.middles(random, tee, 0, 2);
                b.sink(end);
            }
        }
        Shape::Join => {
            let mut ends = Vec::new();
            for _ in 0..random.between(2, 3) {
                let source = b.source();
                ends.push(b.middles(random, source, 0, 2));
            }
            let funnel = b.add(Kind::Funnel, &ends);
            let end = b.middles(random, funnel, 0, 2);
            b.sink(end);
        }
        Shape::Diamond => {
            let source = b.source();
            let end = b.middles(random, source, 0, 1);
            let tee = b.add(Kind::Tee, &[end]);
            let mut ends: Vec<usize> = Vec::new();
            for _ in 0..random.between(2, 3) {
                ends.push(b.middles(random, tee, 0, 2));
            }
            if random.chance(20) {
                ends.push(b.source());
            }
            let funnel = b.add(Kind::Funnel, &ends);
            let end = b.middles(random, funnel, 0, 1);
            b.sink(end);
            if random.chance(25) {
                let end = b.middles(random, tee, 0, 1);
                b.sink(end);
            }
        }
        Shape::Any => b.any(random),
    }
    b
}

/// A graph of a shape, from a seed.
pub fn graph(seed: u64, looks: Shape, size: Size) -> Graph {
    let random = &mut Random::new(seed);
    let domain = domain(random, size);
    let shape = shape(random, looks);
    finished(random, domain, shape)
}

/// A graph of raw video, in which some converters of the catalogue stand already.
#[cfg(feature = "video")]
pub fn video_graph(seed: u64) -> Graph {
    let random = &mut Random::new(seed);
    let mut formats = FORMATS[..5].to_vec();
    random.shuffle(&mut formats);
    formats.truncate(3);
    let sixteens = |name, count: usize| Field {
        values: (1..=count).map(|n| (16 * n).to_string()).collect(),
        step: Some(16),
        ..field(name, &[])
    };
    let mut fields = vec![
        field(
            "",
            if random.chance(10) {
                &["video/x-raw", "image/jpeg"]
            } else {
                &["video/x-raw"]
            },
        ),
        field("", &[""]),
        field("format", &formats),
        sixteens("width", 4),
        sixteens("height", 2),
    ];
    if random.chance(20) {
        fields.push(field("framerate", &["25/1", "30/1"]));
    }
    let looks = *random.pick(&[
        Shape::Chain,
        Shape::Chain,
        Shape::Tee,
        Shape::Tee,
        Shape::Join,
        Shape::Diamond,
    ]);
    let mut shape = shape(random, looks);
    for kind in &mut shape.elements {
        if matches!(kind, Kind::Map { .. }) {
            *kind = match random.below(10) {
                0 => Kind::Class("videoconvert".to_owned()),
                1 => Kind::Class("videoscale".to_owned()),
                2..5 => Kind::Filter(None),
                _ => Kind::Identity,
            }
        }
    }
    finished(random, Domain { fields }, shape)
}

/// Gives the elements of a graph names, caps and rows.
fn finished(random: &mut Random, domain: Domain, shape: Builder) -> Graph {
    let Builder {
        elements, links, ..
    } = shape;
    let mut numbers: Vec<usize> = (0..elements.len()).collect();
    random.shuffle(&mut numbers);
    let elements = numbers.iter().zip(elements).map(|(n, kind)| Element {
        name: format!("{}{n}", random.pick(&["k", "b", "x"])),
        kind,
    });
    let mut graph = Graph {
        domain,
        elements: elements.collect(),
        links,
    };
    fill(random, &mut graph);
    graph
}

/// Gives the elements of a graph their caps and rows.
fn fill(random: &mut Random, graph: &mut Graph) {
    let domain = graph.domain.clone();
    let hidden = random.chance(70);
    let spoilt = match random.chance(35) {
        true => random.below(graph.elements.len()),
        false => usize::MAX,
    };
    let (wire_of, wires) = graph.wires();
    let digit =
        |random: &mut Random, place: usize| random.below(domain.fields[place].values.len()) as u8;
    let places = 0..domain.fields.len();
    let base: Vec<u8> = places.clone().map(|p| digit(random, p)).collect();
    let change = random.between(10, 60);
    let values: Vec<Vec<u8>> = (0..wires)
        .map(|_| {
            let one = |p: usize| match random.chance(change) {
                true => digit(random, p),
                false => base[p],
            };
            places.clone().map(one).collect()
        })
        .collect();
    for at in 0..graph.elements.len() {
        let (into, out) = graph.ends(at);
        let value = |link: Option<usize>| -> Option<&[u8]> {
            let link = link.filter(|_| hidden && at != spoilt)?;
            Some(&values[wire_of[link]])
        };
        let maker = &mut Maker {
            random: &mut *random,
            domain: &domain,
        };
        match &mut graph.elements[at].kind {
            Kind::Source(caps) => *caps = Some(maker.structures(value(out), 3)),
            Kind::Sink(caps) | Kind::Filter(caps) => {
                *caps = match maker.random.chance(8) {
                    true => None,
                    false => Some(maker.structures(value(into), 3)),
                }
            }
            Kind::Map { rows, cost } => {
                *cost = maker.random.below(4) as u32;
                *rows = maker.rows(value(into).zip(value(out)));
            }
            _ => {}
        }
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    domain: &'a Domain,
}

impl Maker<'_> {
    /// A few structures, one of which allows `value`.
    fn structures(&mut self, value: Option<&[u8]>, most: usize) -> Vec<Structure> {
        let count = self.random.between(1, most);
        let with = self.random.below(count);
        (0..count)
            .map(|i| {
                let name = self.named(75);
                self.structure(value.filter(|_| i == with), &name)
            })
            .collect()
    }

    fn named(&mut self, percent: usize) -> Vec<bool> {
        let places = self.domain.fields.len();
        (0..places).map(|_| self.random.chance(percent)).collect()
    }

    fn structure(&mut self, value: Option<&[u8]>, named: &[bool]) -> Structure {
        let mut digit = |place: usize| match value {
            Some(value) => value[place],
            None => self.random.below(self.domain.fields[place].values.len()) as u8,
        };
        let (media, features) = (digit(MEDIA), digit(FEATURES));
        let all = self.domain.fields[FEATURES].values.len() > 1 && self.random.chance(25);
        let sets = (NAMED..self.domain.fields.len())
            .map(|place| named[place].then(|| self.set(place, value.map(|v| v[place]))));
        Structure {
            sets: sets.collect(),
            media,
            features: (!all).then_some(features),
        }
    }

    /// Some values of a field, `with` among them.
    fn set(&mut self, place: usize, with: Option<u8>) -> Set {
        let field = &self.domain.fields[place];
        let count = field.values.len();
        let with = with.unwrap_or_else(|| self.random.below(count) as u8);
        match self.random.below(20) {
            0..6 if field.step.is_some() => {
                let step = match field.fractions {
                    true => 1,
                    false => *self.random.pick(&[1, 1, 2, 3, 4]),
                };
                let below = self.random.below(usize::from(with) / step + 1);
                let min = usize::from(with) - below * step;
                let max = self.random.between(usize::from(with), count - 1);
                if min == max {
                    return Set::List(vec![with]);
                }
                Set::Range {
                    min: min as u8,
                    max: max as u8,
                    step: step as u8,
                }
            }
            6..14 => {
                let mut digits: Vec<u8> = (0..count as u8).filter(|d| *d != with).collect();
                self.random.shuffle(&mut digits);
                digits.truncate(self.random.between(1, 3));
                digits.push(with);
                self.random.shuffle(&mut digits);
                Set::List(digits)
            }
            _ => Set::List(vec![with]),
        }
    }

    /// Rows of which one leads from one value to the other.
    fn rows(&mut self, values: Option<(&[u8], &[u8])>) -> Vec<MapRow> {
        if self.random.chance(5) && values.is_none_or(|(a, b)| a == b) {
            return Vec::new();
        }
        let count = self.random.between(1, 4);
        let with = self.random.below(count);
        (0..count)
            .map(|i| self.row(values.filter(|_| i == with)))
            .collect()
    }

    fn row(&mut self, values: Option<(&[u8], &[u8])>) -> MapRow {
        let passes = self.random.chance(20);
        if passes && values.is_none_or(|(a, b)| a == b) {
            let takes = self.structures(values.map(|v| v.0), 2);
            let mut makes = takes.clone();
            self.random.shuffle(&mut makes);
            return MapRow { takes, makes };
        }
        let places = self.domain.fields.len();
        let (mut left, mut right) = (vec![false; places], vec![false; places]);
        for place in NAMED..places {
            let (l, r) = match self.random.below(20) {
                0..7 => (true, true),
                7..10 => (true, false),
                10..13 => (false, true),
                _ => (false, false),
            };
            let differ = values.is_some_and(|(a, b)| a[place] != b[place]);
            (left[place], right[place]) = if differ && !l && !r {
                (true, true)
            } else {
                (l, r)
            };
        }
        let mut takes = vec![self.structure(values.map(|v| v.0), &left)];
        let mut makes = vec![self.structure(values.map(|v| v.1), &right)];
        for place in NAMED..places {
            // Often the same set on both sides, which is no pass-through of that field.
            let fits = values.is_none_or(|(a, b)| a[place] == b[place]);
            if left[place] && right[place] && fits && self.random.chance(25) {
                makes[0].sets[place - NAMED] = takes[0].sets[place - NAMED].clone();
            }
        }
        for side in [&mut takes, &mut makes] {
            if self.random.chance(25) {
                let named = self.named(50);
                let more = self.structure(None, &named);
                side.insert(self.random.below(2), more);
            }
        }
        MapRow { takes, makes }
    }
}

/// The same graph said in another order: elements, links, and the rows of maps with what they take.
pub fn reordered(graph: &Graph, random: &mut Random) -> Graph {
    let mut order: Vec<usize> = (0..graph.elements.len()).collect();
    random.shuffle(&mut order);
    let place = |at: usize| order.iter().position(|o| *o == at).unwrap_or(at);
    let mut links: Vec<(usize, usize)> = graph
        .links
        .iter()
        .map(|&(a, b)| (place(a), place(b)))
        .collect();
    random.shuffle(&mut links);
    let mut elements: Vec<Element> = order.iter().map(|&at| graph.elements[at].clone()).collect();
    for element in &mut elements {
        let Kind::Map { rows, .. } = &mut element.kind else {
            continue;
        };
        random.shuffle(rows);
        for row in rows {
            random.shuffle(&mut row.takes);
            for set in row.takes.iter_mut().flat_map(|s| &mut s.sets) {
                if let Some(Set::List(digits)) = set {
                    random.shuffle(digits);
                }
            }
        }
    }
    Graph {
        domain: graph.domain.clone(),
        elements,
        links,
    }
}
