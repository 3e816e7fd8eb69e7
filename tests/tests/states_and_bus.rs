//! States in their orders, PAUSED that holds the first buffer, one EOS for all sinks, errors on
//! the bus, panics that touch no other pipeline, and a second run that equals the first.

use std::sync::Mutex;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fabric::Progress;
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::readiness::Readiness;
use tickpipe::systems::element::{Element, Flow, PadTemplate, Process, Property, Work};
use tickpipe::{
    BuildError, Engine, Holder, MessageKind, MessageMask, PipelineHandle, PropertyError,
    RunOptions, State,
};

/// What the logging elements did, in order.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Passes on, logs its state changes, and fails or panics when told to.
#[derive(bevy_ecs::component::Component, Clone, Debug, Default)]
struct Probe {
    label: String,
    panic_at: i64,
    refuse: bool,
}

impl Element for Probe {
    const NAME: &'static str = "probe";
    const SUMMARY: &'static str = "Passes on and logs";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            tickpipe::systems::field!(Text, "label", "Logged; empty logs nothing", label),
            tickpipe::systems::field!(Int(0, 1000), "panic-at", "Buffer to panic at", panic_at),
            tickpipe::systems::field!(Bool, "refuse", "Refuse to start", refuse),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        log(&self.label, "open");
        if self.refuse {
            return Err(ElementError::new(
                Domain::Resource,
                Code::Open,
                std::io::Error::other("told to refuse"),
            ));
        }
        Ok(Box::new(Probing {
            settings: self.clone(),
            seen: 0,
        }))
    }
}

fn log(label: &str, what: &str) {
    if !label.is_empty() {
        LOG.lock()
            .expect("not poisoned")
            .push(format!("{label} {what}"));
    }
}

struct Probing {
    settings: Probe,
    seen: i64,
}

impl Work for Probing {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.seen += 1;
        assert!(
            self.settings.panic_at == 0 || self.seen < self.settings.panic_at,
            "told to panic"
        );
        process.pass_through();
        Ok(())
    }

    fn close(&mut self) -> Result<(), ElementError> {
        log(&self.settings.label, "close");
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.signed("seen", self.seen);
    }
}

fn engine() -> Engine {
    let mut engine = Engine::new().expect("an engine");
    engine.register::<Probe>().expect("a free name");
    engine
}

fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let result = engine.launch("main", text);
    result.map_err(|e| e.render(text)).expect("a graph").0
}

fn record() -> RunOptions {
    RunOptions {
        record: true,
        max_ticks: Some(10_000),
        ..RunOptions::default()
    }
}

#[test]
fn up_sinks_first_and_down_sources_first() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=2 ! probe label=a ! probe label=b ! probe label=c ! fakesink",
    );
    let report = engine.run(p, &record(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    let log = LOG.lock().expect("not poisoned").clone();
    assert_eq!(
        log,
        [
            "c open", "b open", "a open", "a close", "b close", "c close"
        ]
    );
    assert_eq!(engine.state(p), State::Ready);
}

#[test]
fn a_refusal_stops_the_way_up_there() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc ! probe name=first ! probe name=second refuse=true ! probe name=third ! fakesink",
    );
    engine.set_state(p, State::Playing);
    let message = engine.wait(p, MessageMask::ERROR).expect("an error");
    let step = (State::Ready, State::Paused);
    assert_eq!(
        message.kind,
        MessageKind::ChangeFailed(step.0, step.1, Domain::Resource, Code::Open)
    );
    let state = |name: &str| {
        let element = engine.element(p, name).expect("it is there");
        engine.world().get::<State>(element.entity()).copied()
    };
    let second = engine.element(p, "second").expect("it is there");
    let info = engine
        .world()
        .get::<tickpipe::components::graph::Element>(second.entity())
        .expect("an element");
    assert_eq!(message.element, Some(info.id));
    // What is downstream keeps what it reached; the one that refused, and those after it in the
    // order of changes, stay where they are.
    assert_eq!(state("third"), Some(State::Paused));
    assert_eq!(state("second"), Some(State::Ready));
    assert_eq!(state("first"), Some(State::Ready));
    assert_eq!(engine.progress(p), Progress::Failed);
    // READY undoes it all, and without the refusal the same graph runs.
    engine.set_state(p, State::Ready);
    engine
        .wait_for_state(p, State::Ready)
        .expect("it gets there");
    engine.set(second, "refuse", false).expect("in READY");
    let source = engine.element(p, "fakesrc0").expect("it is there");
    engine.set(source, "num-buffers", 3).expect("in READY");
    assert_eq!(engine.run(p, &record(), &mut ()).verdict.name(), "done");
}

#[test]
fn one_eos_for_all_sinks_after_the_last() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=10 ! fakesink name=short fakesrc num-buffers=50 ! tee name=t t. ! fakesink name=x t. ! queue ! fakesink name=y",
    );
    let report = engine.run(p, &record(), &mut ());
    let sinks: Vec<(&str, u64, bool)> = report
        .sinks
        .iter()
        .map(|s| (s.name.as_str(), s.buffers, s.eos))
        .collect();
    assert_eq!(
        sinks,
        [("short", 10, true), ("x", 50, true), ("y", 50, true)]
    );
    let ends: Vec<_> = report.messages.iter().filter(|m| m.kind == "eos").collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].element, None);
    assert_eq!(ends[0].tick, report.ticks - 1);
}

#[test]
fn no_buffer_at_all_is_an_end_too() {
    let mut engine = engine();
    let p = launch(&mut engine, "fakesrc num-buffers=0 ! identity ! fakesink");
    let report = engine.run(p, &record(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    assert_eq!((report.sinks[0].buffers, report.sinks[0].eos), (0, true));
}

#[test]
fn paused_holds_the_first_buffer_and_loses_none() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=40 name=src ! queue ! fakesink name=sink",
    );
    engine.set_state(p, State::Paused);
    engine
        .wait_for_state(p, State::Paused)
        .expect("it gets there");
    for _ in 0..50 {
        engine.tick();
    }
    assert_eq!(engine.taken(p), 0, "a sink in PAUSED takes nothing");
    let sink = engine.element(p, "sink").expect("it is there");
    assert_eq!(engine.readiness(sink).map(|r| r.0), Some(Readiness::Held));
    let queued = engine
        .buffers()
        .into_iter()
        .filter_map(|b| engine.buffer(b))
        .filter(|b| b.holders.contains(&Holder::Queued("sink".into())))
        .count();
    assert!(queued >= 1, "the first buffer is there to be looked at");
    assert_eq!(engine.progress(p), Progress::Running, "this is no stall");

    engine.set_state(p, State::Playing);
    engine
        .wait_for_state(p, State::Playing)
        .expect("it gets there");
    engine.tick();
    let some = engine.taken(p);
    assert!((1..40).contains(&some));
    engine.set_state(p, State::Paused);
    engine
        .wait_for_state(p, State::Paused)
        .expect("it gets there");
    let held = engine.taken(p);
    for _ in 0..50 {
        engine.tick();
    }
    assert_eq!(engine.taken(p), held);
    engine.set_state(p, State::Playing);
    let message = engine.wait(p, MessageMask::EOS | MessageMask::ERROR);
    assert_eq!(message.map(|m| m.kind), Ok(MessageKind::Eos));
    assert_eq!(engine.taken(p), 40);
}

#[test]
fn a_panic_fails_its_pipeline_and_no_other() {
    let mut engine = engine();
    let bad = launch(
        &mut engine,
        "fakesrc num-buffers=90 ! probe panic-at=3 name=bad ! fakesink",
    );
    let good = launch(&mut engine, "fakesrc num-buffers=90 ! probe ! fakesink");
    for p in [bad, good] {
        engine.set_state(p, State::Playing);
    }
    for _ in 0..200 {
        engine.tick();
    }
    let error = engine
        .next_message(bad, MessageMask::ERROR)
        .expect("an error");
    assert_eq!(error.kind, MessageKind::Error(Domain::Core, Code::Panic));
    assert_eq!(engine.progress(bad), Progress::Failed);
    assert!(
        engine.taken(bad) > 0,
        "what was passed on before still arrives"
    );
    assert!(engine.taken(bad) < 90);
    assert_eq!(engine.progress(good), Progress::Ended);
    assert_eq!(engine.taken(good), 90);
}

#[test]
fn a_second_run_equals_the_first() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=9 sizetype=fixed sizemax=100 ! tee name=t t. ! fakesink t. ! identity ! fakesink",
    );
    let options = RunOptions {
        digests: true,
        ..record()
    };
    let first = engine.run(p, &options, &mut ());
    let second = engine.run(p, &options, &mut ());
    assert_eq!(first.to_json(), second.to_json());
    assert_eq!(first.sinks[1].frames.len(), 9);
}

#[test]
fn the_first_bad_property_of_a_list_is_the_error() {
    let mut engine = engine();
    let src = engine.create("fakesrc", 7).expect("a class");
    let list = [
        ("num-buffers", 3.into()),
        ("sizemax", (-1).into()),
        ("sizetype", "fixed".into()),
    ];
    let error = engine.set_all(src, list).expect_err("sizemax is bad");
    assert_eq!(
        error.to_string(),
        "fakesrc7: property sizemax=-1 is outside 0..=2147483647"
    );
    assert_eq!(
        engine.get(src, "num-buffers").expect("known"),
        Some(3.into())
    );
    assert_eq!(
        engine.get(src, "sizetype").expect("known"),
        Some("empty".into())
    );
    let unknown = engine.set(src, "num-bufers", 3).expect_err("unknown");
    assert!(matches!(
        unknown,
        BuildError::Property {
            error: PropertyError::Unknown {
                closest: Some("num-buffers"),
                ..
            },
            ..
        }
    ));
}

#[test]
fn ids_and_names_are_unique_in_a_pipeline() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    let a = engine.create("fakesrc", 1).expect("a class");
    let b = engine.create("fakesink", 1).expect("a class");
    engine.add(p, a).expect("the first");
    assert_eq!(
        engine.add(p, b).expect_err("same id").to_string(),
        "id 1 is that of fakesrc1 already"
    );
    assert_eq!(
        engine.add(p, a).expect_err("twice").to_string(),
        "element fakesrc1 is in a pipeline already"
    );
    let c = engine.create("fakesink", 2).expect("a class");
    engine.set_name(c, "fakesrc1").expect("in no pipeline yet");
    assert_eq!(
        engine.add(p, c).expect_err("same name").to_string(),
        "an element named fakesrc1 is in the pipeline already"
    );
}

#[test]
fn a_loop_is_refused_by_name() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    let mut made = Vec::new();
    for (i, kind) in ["tee", "identity", "identity", "fakesink"]
        .into_iter()
        .enumerate()
    {
        let element = engine.create(kind, i as u32).expect("a class");
        engine.add(p, element).expect("free");
        made.push(element);
    }
    engine
        .link_all([made[0], made[1], made[2], made[0], made[3]])
        .expect("pads are free");
    engine.set_state(p, State::Playing);
    let error = engine.wait(p, MessageMask::ERROR).expect("an error");
    assert_eq!(error.kind, MessageKind::Error(Domain::Flow, Code::Loop));
    assert_eq!(
        engine.plan(p).expect_err("a loop").to_string(),
        "the links form a loop through tee0, identity1, identity2"
    );
}

#[test]
fn a_link_out_of_the_pipeline_is_told() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    let a = engine.create("fakesrc", 1).expect("a class");
    let b = engine.create("fakesink", 2).expect("a class");
    engine.add(p, a).expect("free");
    engine.link(a, b).expect("pads are free");
    assert_eq!(
        engine.plan(p).expect_err("not added").to_string(),
        "pad fakesrc1.src is linked to fakesink2, which is not in the pipeline"
    );
    engine.add(p, b).expect("free");
    assert_eq!(engine.plan(p).expect("whole").links.len(), 1);
    let q = engine.create_pipeline("q");
    let c = engine.create("identity", 1).expect("a class");
    engine.add(q, c).expect("free");
    let e = engine.create("fakesink", 3).expect("a class");
    engine.add(p, e).expect("free");
    assert_eq!(
        engine.link(c, e).expect_err("apart").to_string(),
        "identity1 and fakesink3 are in different pipelines"
    );
}

/// Says nothing, and no end either.
#[derive(bevy_ecs::component::Component, Clone, Debug, Default)]
struct Mute;

impl Element for Mute {
    const NAME: &'static str = "mute";
    const SUMMARY: &'static str = "Passes nothing on";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        Probe::pads()
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Muting))
    }
}

struct Muting;

impl Work for Muting {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            if let Some(buffer) = item.as_buffer() {
                process.drop_buffer(buffer);
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

#[test]
fn who_never_speaks_stalls_the_run() {
    let mut engine = engine();
    engine.register::<Mute>().expect("a free name");
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=5 ! mute name=mute ! fakesink name=never fakesrc num-buffers=5 ! fakesink",
    );
    let report = engine.run(p, &record(), &mut ());
    assert_eq!(report.verdict.name(), "stalled");
    let stall = report.stall.expect("told");
    assert_eq!(
        (stall.cause.name(), stall.element.as_str()),
        ("no-output", "mute")
    );
    let waits = |chain: usize| {
        let waits = stall.chains[chain].waits.iter();
        let told = waits.map(|w| (w.element.as_str(), w.waits_for, w.on.as_deref()));
        told.collect::<Vec<_>>()
    };
    let never = [
        ("never", "input", Some("mute")),
        // Its input has ended, and it has not.
        ("mute", "nothing", None),
    ];
    assert_eq!(waits(0), never);
    assert_eq!(waits(1)[0], ("fakesink0", "state", Some("never")));
    assert_eq!(waits(1)[1..], never);
    assert!(report.ticks < 20, "noticed at once");
}
