//! Plans launch texts, makes the changes that a conflict proposes in them, and runs them. Touches
//! the public engine and launch texts only.
#![allow(dead_code, reason = "each test file uses its part")]

use tickpipe::components::graph::{Pad, PadCaps};
use tickpipe::launch::{
    Description, ElementSpec, End, LinkSpec, Span, assign_names, parse, to_text,
};
use tickpipe::systems::negotiate::{Change, Conflict, Failure};
use tickpipe::{Engine, PipelineHandle, Plan, PlanError, Report, RunOptions};

/// An engine of which all elements are known.
pub fn engine() -> Engine {
    Engine::new().expect("an engine")
}

/// Builds a graph from a text that is right.
pub fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let result = engine.launch("main", text);
    result.map_err(|e| e.render(text)).expect("a graph").0
}

/// What planning a text answers.
pub fn plan(text: &str) -> Result<Plan, PlanError> {
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    engine.plan(pipeline)
}

/// The plan of a text that has one.
pub fn agreed(text: &str) -> Plan {
    plan(text).unwrap_or_else(|error| panic!("{text}\nhas no plan: {error}"))
}

/// The conflicts of a text that has some.
pub fn failure(text: &str) -> Failure {
    match plan(text) {
        Err(PlanError::Conflict(failure)) => *failure,
        Err(error) => panic!("{text}\nfails otherwise: {error}"),
        Ok(plan) => panic!("{text}\nhas a plan:\n{plan}"),
    }
}

/// The error of a text that has no plan, as people read it.
pub fn told(text: &str) -> String {
    match plan(text) {
        Err(error) => error.to_string(),
        Ok(plan) => panic!("{text}\nhas a plan:\n{plan}"),
    }
}

/// The caps of the link that starts at a pad, named `element.pad`.
pub fn caps_at(plan: &Plan, from: &str) -> String {
    let link = plan.links.iter().find(|l| l.from == from);
    let link = link.unwrap_or_else(|| panic!("no link starts at {from}:\n{plan}"));
    link.caps.to_string()
}

/// The caps of all links, in graph order.
pub fn all_caps(plan: &Plan) -> Vec<String> {
    plan.links.iter().map(|l| l.caps.to_string()).collect()
}

/// The pads of a conflict and what each can have of its fields.
pub fn sides(conflict: &Conflict) -> Vec<(&str, &str)> {
    let sides = conflict.sides.iter();
    sides.map(|s| (s.pad.as_str(), s.value.as_str())).collect()
}

/// The changes for a conflict, as people read them.
pub fn fixes(conflict: &Conflict) -> Vec<String> {
    conflict.fix.iter().map(ToString::to_string).collect()
}

/// A text with all changes made that its conflicts propose.
pub fn mended(text: &str, failure: &Failure) -> String {
    let mut description = named(text);
    for change in failure.conflicts.iter().flat_map(|c| &c.fix) {
        match change {
            Change::Insert { class, from, to } => insert(&mut description, class, from, to),
            Change::Remove { element } => remove(&mut description, element),
        }
        assign_names(&mut description);
    }
    to_text(&description).expect("the syntax has words for it")
}

/// A text with the caps of one element taken away: it takes or offers anything.
pub fn without_caps(text: &str, element: &str) -> String {
    let mut description = named(text);
    let at = index(&description, element);
    let properties = &mut description.elements[at].properties;
    properties.retain(|p| p.key != "caps");
    to_text(&description).expect("the syntax has words for it")
}

/// Asserts that a conflict is minimal: without any one of its members the others can agree. All
/// members must be elements with a property `caps`, and the graph must have no other conflict.
pub fn assert_minimal(text: &str, conflict: &Conflict) {
    for side in &conflict.sides {
        let (element, _) = side.pad.split_once('.').expect("a pad of an element");
        let fewer = without_caps(text, element);
        if let Err(PlanError::Conflict(left)) = plan(&fewer) {
            panic!("{text}\nwithout {element} has a conflict still: {left}");
        }
    }
}

fn named(text: &str) -> Description {
    let mut description = parse(text).expect("a launch text");
    assign_names(&mut description);
    description
}

fn index(description: &Description, name: &str) -> usize {
    let found = |e: &ElementSpec| e.name.as_deref() == Some(name);
    let at = description.elements.iter().position(found);
    at.unwrap_or_else(|| panic!("no element {name}"))
}

/// Puts an element before a sink pad, on the link that comes from a source pad or, if something was
/// put there already, from that.
fn insert(description: &mut Description, class: &str, from: &str, to: &str) {
    let (from_element, from_pad) = from.split_once('.').expect("a source pad");
    let (to_element, to_pad) = to.split_once('.').expect("a sink pad");
    let (feeder, fed) = (
        index(description, from_element),
        index(description, to_element),
    );
    // Of several links between the same two, that of the pad with this number.
    let number = |pad: &str| pad.rsplit_once('_').and_then(|n| n.1.parse::<usize>().ok());
    let out: Vec<usize> = links(description, |l| l.from.element == feeder);
    let into: Vec<usize> = links(description, |l| l.to.element == fed);
    let both = |l: &usize| out.contains(l) && into.contains(l);
    let at = match (number(from_pad), number(to_pad)) {
        (_, Some(n)) if into.len() > 1 => into.get(n).copied(),
        (Some(n), _) => out.get(n).copied().filter(|l| into.contains(l)),
        _ => out.iter().copied().find(both),
    };
    let at = at.or_else(|| into.first().copied()).expect("a link");
    let new = description.elements.len();
    let end = |element: usize| End {
        element,
        pad: None,
        span: Span::default(),
    };
    description.elements.push(ElementSpec {
        factory: class.to_owned(),
        factory_span: Span::default(),
        name: None,
        name_span: None,
        properties: Vec::new(),
        span: Span::default(),
        bin: None,
    });
    let old = std::mem::replace(&mut description.links[at].to, end(new));
    let lower = LinkSpec {
        from: end(new),
        to: old,
        all: false,
        span: Span::default(),
    };
    description.links.insert(at + 1, lower);
}

/// Takes an element out, and links what it was between.
fn remove(description: &mut Description, element: &str) {
    let at = index(description, element);
    let into = links(description, |l| l.to.element == at);
    let out = links(description, |l| l.from.element == at);
    let (&[into], &[out]) = (&into[..], &out[..]) else {
        panic!("{element} has not one link on either side");
    };
    description.links[into].to = description.links[out].to.clone();
    description.links.remove(out);
    description.elements.remove(at);
    for link in &mut description.links {
        for end in [&mut link.from, &mut link.to] {
            end.element -= usize::from(end.element > at);
        }
    }
}

fn links(description: &Description, is: impl Fn(&LinkSpec) -> bool) -> Vec<usize> {
    let all = description.links.iter().enumerate();
    all.filter(|(_, l)| is(l)).map(|(i, _)| i).collect()
}

/// Runs a pipeline to its end or failure.
pub fn run(engine: &mut Engine, pipeline: PipelineHandle) -> Report {
    let options = RunOptions {
        record: true,
        max_ticks: Some(10_000),
        ..RunOptions::default()
    };
    engine.run(pipeline, &options, &mut ())
}

/// The caps that each pad has now, as `element.pad` and text, by name.
pub fn pad_caps(engine: &mut Engine) -> Vec<(String, String)> {
    let world = engine.world_mut();
    let mut pads = world.query::<(&Pad, &PadCaps)>();
    let mut elements = world.query::<&tickpipe::components::graph::Element>();
    let named = |(pad, caps): (&Pad, &PadCaps)| {
        let element = elements.get(world, pad.element);
        let element = element.map_or_else(|_| String::new(), |e| e.name.clone());
        (format!("{element}.{}", pad.name), caps.get().to_string())
    };
    let mut all: Vec<(String, String)> = pads.iter(world).map(named).collect();
    all.sort();
    all
}

/// Numbers that look random and are always the same.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut n = self.0;
        n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((n ^ (n >> 31)) % count.max(1) as u64) as usize
    }

    /// A list in another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
