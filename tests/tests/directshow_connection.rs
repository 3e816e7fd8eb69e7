//! DirectShow's rules of connecting pins, where they translate: which types are tried and in which
//! order, which error is kept, what a late failure leaves behind, whose pool is used.

use bevy_ecs::component::Component;
use std::sync::{Arc, Mutex, PoisonError};
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::systems::element::{
    CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use tickpipe::{ElementHandle, Engine, EngineOptions, PipelineHandle, Report, RunOptions, State};

/// What was tried, in order.
type Tried = Arc<Mutex<Vec<String>>>;

/// A sink that says what it can do and refuses the first few that it is told.
#[derive(Component, Clone, Debug, Default)]
struct Receiver {
    caps: String,
    refuses: u32,
    tried: Tried,
}

impl Element for Receiver {
    const NAME: &'static str = "receiver";
    const SUMMARY: &'static str = "Refuses the first few types that it is told";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            tickpipe_systems::field!(Text, "caps", "What it can do", caps),
            tickpipe_systems::field!(Int(0, 100), "refuses", "How many it refuses", refuses),
        ]
    }

    fn enum_caps(
        &self,
        _query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<tickpipe::components::caps::Structure>, ElementError> {
        let caps: Caps = self.caps.parse().expect("caps");
        Ok(caps.structures().get(index as usize).cloned())
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Receiving {
            refuses: self.refuses as usize,
            tried: Arc::clone(&self.tried),
        }))
    }
}

struct Receiving {
    refuses: usize,
    tried: Tried,
}

impl Work for Receiving {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let caps = pads.sinks[0].to_string();
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.push(caps.clone());
        match tried.len() > self.refuses {
            true => Ok(()),
            false => Err(ElementError::new(
                Domain::Caps,
                Code::Refused,
                std::io::Error::other(format!("refusal {} of {caps}", tried.len())),
            )),
        }
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            match item.as_buffer() {
                Some(buffer) => process.release(buffer),
                None => process.finish(),
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

fn engine() -> Engine {
    let mut engine = Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<Receiver>().expect("a new name");
    engine
}

fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let built = engine.launch("main", text);
    built.map_err(|e| e.render(text)).expect("a graph").0
}

/// What a receiver named `k` was told, and how the run went.
fn tried(text: &str) -> (Vec<String>, Report) {
    let mut engine = engine();
    let p = launch(&mut engine, text);
    let report = engine.run(p, &RunOptions::default(), &mut ());
    let k = engine.element(p, "k").expect("it is there");
    let receiver = engine.world().get::<Receiver>(k.entity());
    let tried = receiver
        .expect("a receiver")
        .tried
        .lock()
        .expect("alone")
        .clone();
    (tried, report)
}

const OFFERS: &str = "capssrc caps=\"test/a,n=1;test/b,n=[1,3];test/c,n=2\" num-buffers=1";

#[test]
fn c1_of_a_type_that_is_fully_given_only_that_one_is_tried() {
    let sink = "receiver name=k refuses=9 caps=\"test/c;test/b;test/a\"";
    let (tried, report) = tried(&format!("{OFFERS} ! test/b,n=2 ! {sink}"));
    assert_eq!(tried, ["test/b,n=2"]);
    assert_eq!(report.verdict.name(), "failed");
}

#[test]
fn c2_all_that_both_can_are_tried_once_in_the_order_of_who_feeds() {
    let sink = "receiver name=k caps=\"test/c;test/b;test/a\"";
    let all = [
        "test/a,n=1",
        "test/b,n=1",
        "test/b,n=2",
        "test/b,n=3",
        "test/c,n=2",
    ];
    for refuses in 0..5 {
        let (tried, report) = tried(&format!("{OFFERS} ! {sink} refuses={refuses}"));
        assert_eq!(tried, all[..=refuses], "{refuses}");
        assert_eq!(report.verdict.name(), "done", "{refuses}");
    }
    // A pattern leaves out what does not match it, and nothing else.
    let (tried, _) = tried(&format!("{OFFERS} ! test/b ! {sink} refuses=2"));
    assert_eq!(tried, all[1..4]);
    let (tried, _) = self::tried(&format!("{OFFERS} ! {sink} refuses=9"));
    assert_eq!(tried, all);
}

#[test]
fn c3_the_first_refusal_is_what_is_told() {
    let sink = "receiver name=k refuses=9 caps=\"test/c;test/b;test/a\"";
    let (_, report) = tried(&format!("{OFFERS} ! {sink}"));
    let told = report
        .messages
        .iter()
        .find(|m| m.kind == "error")
        .expect("it failed");
    assert_eq!(told.element.as_deref(), Some("k"));
    assert_eq!(told.domain.as_deref(), Some("caps"));
    assert_eq!(told.code.as_deref(), Some("refused"));
    // Nothing in common is another error, of nobody in particular, and nothing was tried.
    let other = "receiver name=k caps=\"test/d\"";
    let (tried, report) = tried(&format!("{OFFERS} ! {other}"));
    assert_eq!(tried, Vec::<String>::new());
    let told = report
        .messages
        .iter()
        .find(|m| m.kind == "error")
        .expect("it failed");
    assert_eq!(told.code.as_deref(), Some("not-negotiated"));
}

#[test]
fn c4_a_late_failure_leaves_both_unlinked() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=40 name=s ! tee name=t ! queue ! fakesink name=a",
    );
    engine.set_state(p, State::Playing);
    (0..4).for_each(|_| engine.tick());
    let tee = engine.element(p, "t").expect("it is there");
    // Its pool could only be larger than may be: that is seen when all caps are agreed.
    let late = added(&mut engine, p, 70, "poolsink max-buffers=1 hold=9");
    engine.link(tee, late).expect("the templates meet");
    (0..3).for_each(|_| engine.tick());
    assert!(engine.refused(p).is_some());
    // Both ends are free: each can be linked elsewhere.
    let queue = added(&mut engine, p, 71, "queue");
    let other = added(&mut engine, p, 72, "fakesink");
    engine.link(tee, queue).expect("a free pad");
    engine.link(queue, other).expect("a free pad");
    engine.set_text(late, "max-buffers", "0").expect("a value");
    engine.set_text(late, "hold", "0").expect("a value");
    engine.link(tee, late).expect("a free pad");
    let report = run_on(&mut engine, p);
    assert_eq!(report.verdict.name(), "done");
    let buffers: Vec<(String, bool)> = report
        .sinks
        .iter()
        .map(|s| (s.name.clone(), s.eos && s.buffers > 0))
        .collect();
    assert_eq!(buffers.len(), 3, "{buffers:?}");
    assert!(buffers.iter().all(|s| s.1), "{buffers:?}");
}

/// An element of a running pipeline.
fn added(engine: &mut Engine, p: PipelineHandle, id: u32, text: &str) -> ElementHandle {
    let mut words = text.split(' ');
    let kind = words.next().expect("a kind");
    let element = engine.create(kind, id).expect("it is known");
    for word in words {
        let (name, value) = word.split_once('=').expect("a property");
        engine.set_text(element, name, value).expect("a value");
    }
    engine.add(p, element).expect("it can be added");
    element
}

/// What happens until the end.
fn run_on(engine: &mut Engine, p: PipelineHandle) -> Report {
    let end = engine.wait(p, tickpipe::MessageMask::EOS);
    end.expect("it ends");
    engine.report(p)
}

#[test]
fn c5_and_c6_where_an_offered_pool_will_not_do_the_own_one_is_used() {
    let text = |grants: i32| {
        format!(
            "poolsrc name=s num-buffers=9 size=100 ! \
             poolsink name=k offer=true size=300 align=64 hold=2 grants={grants}"
        )
    };
    for (grants, owner, told) in [
        (-1, "k", ""),
        (3, "k", ""),
        (
            2,
            "s",
            ", not of k: pool s.src needs 3 buffers (s 1 + k 2) and was granted 2",
        ),
    ] {
        let text = text(grants);
        let mut engine = engine();
        let p = launch(
            &mut engine,
            &text
                .replace("poolsrc", "fakesrc sizetype=2 sizemax=100")
                .replace("size=100 ", ""),
        );
        let plan = engine.plan(p).map_err(|e| e.to_string()).expect("a plan");
        let line = plan.to_string();
        assert!(line.contains(told), "{grants}: {line}");
        let pool = &plan.pools[0];
        // What the first was asked for is what the second is asked for.
        assert_eq!((pool.config.size, pool.config.align), (320, 64), "{grants}");
        assert_eq!(pool.owner == pool.node, owner == "s", "{grants}");
        let report = engine.run(p, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict.name(), "done", "{grants}");
        let warned = report.messages.iter().filter(|m| m.kind == "warning");
        let refused = warned
            .filter(|m| m.code.as_deref() == Some("refused"))
            .count();
        assert_eq!(refused, usize::from(owner == "s"), "{grants}");
    }
}
