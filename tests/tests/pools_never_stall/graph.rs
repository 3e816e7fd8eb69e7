//! Random graphs of elements that hold, drop, copy and compare, as launch texts; and what they
//! declare, worked out in a way of its own.

use crate::random::Random;

/// An element: its class, its properties, and what goes into it, in the order of its pads.
#[derive(Clone, Debug)]
pub struct Element {
    class: &'static str,
    properties: Vec<(&'static str, String)>,
    from: Vec<usize>,
}

impl Element {
    fn new(class: &'static str, from: &[usize]) -> Element {
        Element {
            class,
            properties: Vec::new(),
            from: from.to_vec(),
        }
    }

    fn with(mut self, name: &'static str, value: impl ToString) -> Element {
        self.properties.push((name, value.to_string()));
        self
    }

    fn number(&self, name: &str) -> u64 {
        let value = self.properties.iter().find(|p| p.0 == name);
        value.and_then(|p| p.1.parse().ok()).unwrap_or(0)
    }

    /// Whether it fills buffers of a pool of its own.
    fn fills(&self) -> bool {
        matches!(self.class, "fakesrc" | "videotestsrc" | "converter")
    }

    /// Buffers of a pad that it says it keeps.
    fn keeps(&self, pad: usize) -> u64 {
        match (self.class, pad) {
            ("hold", _) => self.number("buffers"),
            ("fakesink", _) => self.number("hold"),
            ("overlay", 0) => 1,
            ("overlay", _) => 3,
            _ => 0,
        }
    }
}

/// A graph: each element takes from earlier ones.
#[derive(Clone, Debug)]
pub struct Graph {
    elements: Vec<Element>,
}

/// An output that nobody takes yet, and which pictures it has.
#[derive(Clone, Copy)]
struct Open {
    element: usize,
    format: Option<&'static str>,
    /// Its times may go back.
    mixed: bool,
}

impl Graph {
    /// A graph of up to some fifteen elements.
    pub fn random(random: &mut Random) -> Graph {
        let mut graph = Graph {
            elements: Vec::new(),
        };
        let mut open = Vec::new();
        for _ in 0..*random.pick(&[1, 1, 1, 2, 2, 3]) {
            open.push(graph.source(random));
        }
        for _ in 0..random.between(0, 9) {
            graph.grow(random, &mut open);
        }
        for end in open {
            let hold = if random.chance(30) {
                random.below(6)
            } else {
                0
            };
            graph.add(Element::new("fakesink", &[end.element]).with("hold", hold));
        }
        graph
    }

    fn add(&mut self, element: Element) -> usize {
        self.elements.push(element);
        self.elements.len() - 1
    }

    /// Bounds of a pool: mostly tight ones, or none.
    fn bounded(random: &mut Random, element: Element) -> Element {
        let mut element = element;
        if random.chance(50) {
            element = element.with("max-buffers", random.between(1, 16));
        }
        if random.chance(25) {
            element = element.with("min-buffers", random.between(1, 4));
        }
        element
    }

    fn source(&mut self, random: &mut Random) -> Open {
        let count = *random.pick(&[0, 1, 2, 7, 30, 60, 90]);
        let video = random.chance(50);
        let class = if video { "videotestsrc" } else { "fakesrc" };
        let source = Element::new(class, &[]).with("num-buffers", count);
        let element = self.add(Self::bounded(random, source));
        Open {
            element,
            format: video.then_some("I420"),
            mixed: false,
        }
    }

    fn grow(&mut self, random: &mut Random, open: &mut Vec<Open>) {
        let at = random.below(open.len());
        let end = open[at];
        let from = &[end.element];
        let passed = match random.below(12) {
            0..=2 => Element::new("hold", from).with("buffers", random.below(9)),
            3 => Element::new("skip", from).with("every", *random.pick(&[0, 2, 2, 3, 5])),
            4 => Element::new("queue", from).with("max-size-buffers", random.between(1, 12)),
            5 => Element::new("work", from).with("time", "3ms"),
            6 if end.format.is_some() => {
                let format = *random.pick(&["I420", "NV12", "Y444"]);
                let other = Some(format) != end.format;
                let class = if other { "converter" } else { "identity" };
                let mut converter = Element::new(class, from);
                if other {
                    converter = Self::bounded(random, converter).with("format", format);
                }
                let element = self.add(converter);
                open[at] = Open {
                    element,
                    format: Some(format),
                    ..end
                };
                return;
            }
            6..=8 => {
                let tee = self.add(Element::new("tee", from));
                open[at].element = tee;
                for _ in 0..random.between(1, 2) {
                    open.push(Open {
                        element: tee,
                        ..end
                    });
                }
                return;
            }
            _ => return self.combine(random, open, at),
        };
        open[at].element = self.add(passed);
    }

    /// Two or more ends become one.
    fn combine(&mut self, random: &mut Random, open: &mut Vec<Open>, at: usize) {
        if open.len() < 2 {
            return;
        }
        let first = open.swap_remove(at);
        let second = open.swap_remove(random.below(open.len()));
        let mut from = vec![first.element, second.element];
        let same = first.format == second.format;
        let ordered = !first.mixed && !second.mixed;
        let (class, format, mixed) = match random.below(4) {
            0 if same => ("funnel", first.format, true),
            1 if same && first.format.is_some() && ordered => ("overlay", first.format, false),
            _ if ordered => ("join", None, false),
            _ if same => ("funnel", first.format, true),
            _ => return open.extend([first, second]),
        };
        if class == "join" && open.len() > 1 && random.chance(30) {
            let third = open.iter().position(|o| !o.mixed);
            from.extend(third.map(|at| open.swap_remove(at).element));
        }
        let element = self.add(Element::new(class, &from));
        // What a join or funnel passes on is of several streams.
        let mixed = mixed || class == "join";
        open.push(Open {
            element,
            format,
            mixed,
        });
    }

    /// Its launch text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (i, element) in self.elements.iter().enumerate() {
            let properties = element.properties.iter();
            let properties = properties.filter(|p| p.0 != "format");
            let properties: String = properties.map(|(n, v)| format!(" {n}={v}")).collect();
            text += &match element.class {
                "converter" => {
                    let format = element.properties.iter().find(|p| p.0 == "format");
                    let format = format.map_or("I420", |p| &p.1);
                    format!(
                        "videoconvert name=e{i}{properties} ! capsfilter name=f{i} caps=video/x-raw,format={format} "
                    )
                }
                "videotestsrc" => format!(
                    "videotestsrc name=e{i}{properties} ! capsfilter name=f{i} caps=video/x-raw,format=I420,width=8,height=8,framerate=25/1 "
                ),
                class => format!("{class} name=e{i}{properties} "),
            };
        }
        for (i, element) in self.elements.iter().enumerate() {
            for &from in &element.from {
                let filtered = matches!(self.elements[from].class, "converter" | "videotestsrc");
                let output = if filtered { 'f' } else { 'e' };
                text += &format!("{output}{from}. ! e{i}. ");
            }
        }
        text
    }

    /// The same without bounds on pools.
    pub fn unbounded(&self) -> Graph {
        let mut graph = self.clone();
        for element in &mut graph.elements {
            element.properties.retain(|p| p.0 != "max-buffers");
        }
        graph
    }

    /// Whether anything goes more than one way.
    pub fn forks(&self) -> bool {
        self.elements.iter().any(|e| e.class == "tee")
    }

    /// What the pool of an element needs by what is declared: its own, and what is kept wherever its
    /// buffers come to. 0 for one that copies only where it must.
    pub fn declared(&self, owner: &str) -> u64 {
        let Some(owner) = owner
            .strip_prefix('e')
            .and_then(|n| n.parse::<usize>().ok())
        else {
            return 0;
        };
        if !self.elements[owner].fills() {
            return 0;
        }
        let mut reached = vec![false; self.elements.len()];
        reached[owner] = true;
        let mut sum = self.elements[owner].number("min-buffers").max(1);
        for (i, element) in self.elements.iter().enumerate().skip(owner + 1) {
            for (pad, &from) in element.from.iter().enumerate() {
                if reached[from] {
                    sum += element.keeps(pad);
                    // Only what an overlay writes on goes on.
                    let passes = !(element.fills() || element.class == "overlay" && pad > 0);
                    reached[i] |= passes;
                }
            }
        }
        sum
    }

    /// Graphs with an element less, or smaller numbers.
    pub fn smaller(&self) -> Vec<Graph> {
        let mut list = Vec::new();
        for at in (0..self.elements.len()).rev() {
            let used = self
                .elements
                .iter()
                .filter(|e| e.from.contains(&at))
                .count();
            let element = &self.elements[at];
            if used == 0 {
                let mut graph = self.clone();
                graph.elements.remove(at);
                graph.renumber(at);
                list.push(graph);
            }
            if element.from.len() == 1 && used >= 1 && !element.fills() {
                let mut graph = self.clone();
                let from = element.from[0];
                for e in &mut graph.elements {
                    e.from
                        .iter_mut()
                        .filter(|f| **f == at)
                        .for_each(|f| *f = from);
                }
                graph.elements.remove(at);
                graph.renumber(at);
                list.push(graph);
            }
            for p in 0..element.properties.len() {
                if let Ok(number) = element.properties[p].1.parse::<u64>() {
                    for smaller in [number / 2, number.saturating_sub(1)] {
                        let least = match element.class {
                            "queue" => 1,
                            "skip" => 2,
                            _ => 0,
                        };
                        if smaller < number && smaller >= least {
                            let mut graph = self.clone();
                            graph.elements[at].properties[p].1 = smaller.to_string();
                            list.push(graph);
                        }
                    }
                }
            }
        }
        list.retain(Graph::is_whole);
        list
    }

    /// Whether each output goes where it must: a tee's anywhere, a sink's nowhere.
    fn is_whole(&self) -> bool {
        let right = |(i, element): (usize, &Element)| {
            let takers = self.elements.iter().flat_map(|e| &e.from);
            let takers = takers.filter(|from| **from == i).count();
            match element.class {
                "tee" => takers > 0,
                "fakesink" => takers == 0,
                _ => takers == 1,
            }
        };
        self.elements.iter().enumerate().all(right)
    }

    /// An element was taken out: later ones have lower numbers.
    fn renumber(&mut self, removed: usize) {
        for element in &mut self.elements {
            for from in &mut element.from {
                if *from > removed {
                    *from -= 1;
                }
            }
        }
    }
}
