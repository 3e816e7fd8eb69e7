//! Each cause of a stall by its name, with the chain that leads to it; and what is no stall.

use bevy_ecs::component::Component;
use tickpipe::{
    ChainReport, Engine, EngineOptions, Limits, MessageMask, PipelineHandle, Report, RunOptions,
    StallReport, State,
};
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Progress;
use tickpipe_components::fault::ElementError;
use tickpipe_systems::element::{Element, Flow, PadTemplate, Process, Work};

/// A quantum of 4, so that all numbers below are small.
fn engine() -> Engine {
    let mut limits = Limits::default();
    limits.set_named("quantum", 4).expect("in range");
    let options = EngineOptions {
        limits,
        ..EngineOptions::default()
    };
    let mut engine = Engine::with_options(options).expect("starts");
    engine.register::<Lazy>().expect("a free name");
    engine.register::<Driven>().expect("a free name");
    engine
}

fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let (pipeline, warnings) = engine.launch("stalls", text).expect("a graph");
    assert_eq!(warnings, Vec::<String>::new());
    pipeline
}

fn run(text: &str) -> (Report, Vec<String>) {
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    let tried = engine.suggest(pipeline, &report);
    (report, tried.iter().map(|s| s.text()).collect())
}

fn stall(text: &str) -> (StallReport, Vec<String>) {
    let (report, tried) = run(text);
    assert_eq!(report.verdict.name(), "stalled", "{text}");
    (report.stall.expect("told"), tried)
}

fn blame(stall: &StallReport) -> (&str, &str) {
    (stall.cause.name(), &stall.element)
}

fn names(chain: &ChainReport) -> Vec<(&str, &str)> {
    let waits = chain.waits.iter();
    waits.map(|w| (w.element.as_str(), w.waits_for)).collect()
}

/// Takes nothing, ever.
#[derive(Component, Clone, Debug, Default)]
struct Lazy;

impl Element for Lazy {
    const NAME: &'static str = "lazy";
    const SUMMARY: &'static str = "Has input and does nothing";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Idling))
    }
}

struct Idling;

impl Work for Idling {
    fn process(&mut self, _process: &mut Process<'_>) -> Result<(), ElementError> {
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

/// Passes one item on each time its device is ready.
#[derive(Component, Clone, Debug, Default)]
struct Driven;

impl Element for Driven {
    const NAME: &'static str = "driven";
    const SUMMARY: &'static str = "Passes an item on when its device is ready";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        Lazy::pads()
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Driving { asked: false }))
    }
}

struct Driving {
    asked: bool,
}

impl Work for Driving {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if !core::mem::replace(&mut self.asked, true) {
            process.wait_for_device();
            return Ok(());
        }
        match process.next(0).map(|item| item.as_buffer()) {
            Some(Some(buffer)) => process.forward(0, buffer),
            Some(None) => process.finish(),
            None => {}
        }
        self.asked = false;
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("asked", self.asked);
    }
}

#[test]
fn a_source_that_never_speaks() {
    let (stall, tried) = stall("silentsrc name=s ! queue name=q ! fakesink name=out");
    assert_eq!(blame(&stall), ("silent-source", "s"));
    assert_eq!(
        names(&stall.chains[0]),
        [("out", "input"), ("q", "input"), ("s", "nothing")]
    );
    assert_eq!(stall.chains[0].cycle, None);
    assert!(stall.others.is_empty());
    // That it may be silent does not give the sink an end.
    assert_eq!(tried, Vec::<String>::new());
}

#[test]
fn of_several_inputs_the_silent_one_is_followed() {
    // Input 0 of the mixer starves because the fork is full; input 1 can never come.
    let (stall, tried) = stall(
        "fakesrc num-buffers=90 ! tee name=t ! join name=mux ! fakesink \
         t. ! skip every=1 ! join name=mixer ! mux. silentsrc name=s ! mixer.",
    );
    assert_eq!(blame(&stall), ("silent-source", "s"));
    let pads = stall.chains[0].waits.iter().map(|w| w.pad.as_deref());
    let pads: Vec<_> = pads.collect();
    assert_eq!(pads[2], Some("sink_1"), "{:?}", stall.chains);
    // It would still stall: the other branch says nothing either.
    assert_eq!(tried, Vec::<String>::new());
}

#[test]
fn several_silent_sources_are_changed_together() {
    let (stall, _) = stall(
        "join name=j ! fakesink fakesrc num-buffers=9 ! j. silentsrc name=a ! j. silentsrc name=b ! j.",
    );
    assert_eq!(blame(&stall), ("silent-source", "a"));
    let others: Vec<_> = stall.others.iter().map(|w| w.element.as_str()).collect();
    assert_eq!(others, ["fakesrc0", "b"]);
    let (_, tried) = run(
        "join name=j ! fakesink fakesrc num-buffers=9 ! j. silentsrc name=a ! j. silentsrc name=b ! j.",
    );
    assert_eq!(tried, ["a may-be-silent=true and b may-be-silent=true"]);
}

#[test]
fn an_element_that_emits_nothing() {
    let (stall, tried) = stall(
        "fakesrc name=s num-buffers=90 ! tee name=t ! queue name=q max-size-buffers=4 ! join name=j ! fakesink name=out \
         t. ! skip name=drop every=1 ! j.",
    );
    assert_eq!(blame(&stall), ("no-output", "drop"));
    assert_eq!(
        names(&stall.chains[0]),
        [
            ("out", "input"),
            ("j", "input"),
            ("drop", "input"),
            ("t", "room"),
            ("q", "room"),
        ]
    );
    assert_eq!(stall.chains[0].cycle, Some(1));
    assert_eq!(
        stall.text,
        "drop took 12 buffers, gave none, and does not say that nothing comes"
    );
    // A queue for all that will ever come is enough, as the source ends.
    assert!(
        tried.iter().all(|t| t.contains("q max-size-buffers=")),
        "{tried:?}"
    );
}

#[test]
fn an_element_that_does_nothing() {
    let (stall, tried) = stall("fakesrc num-buffers=90 ! lazy name=z ! fakesink name=out");
    assert_eq!(blame(&stall), ("does-nothing", "z"));
    assert_eq!(
        names(&stall.chains[0]),
        [("out", "input"), ("z", "nothing")]
    );
    let z = &stall.chains[0].waits[1];
    let queued = z.queued.expect("told");
    assert_eq!((queued.buffers, queued.of, z.came), (8, 8, Some(0)));
    let others: Vec<_> = stall.others.iter().map(|w| w.line()).collect();
    assert_eq!(
        others,
        [format!(
            "fakesrc0 waits for room on z.sink (8 of 8) since tick {}",
            stall.others[0].since
        )]
    );
    assert_eq!(tried, Vec::<String>::new());
}

#[test]
fn one_leg_of_a_fork_before_a_join() {
    let (stall, tried) = stall(
        "fakesrc name=s num-buffers=90 min-buffers=60 ! tee name=t ! join name=j ! fakesink name=out \
         t. ! hold name=h buffers=20 declared=false ! j.",
    );
    assert_eq!(blame(&stall), ("one-leg", "t"));
    assert_eq!(
        stall.text,
        "t cannot feed h.sink, which waits, because j.sink_0 is full: both are branches of it"
    );
    assert_eq!(
        names(&stall.chains[0]),
        [
            ("out", "input"),
            ("j", "input"),
            ("h", "input"),
            ("t", "room")
        ]
    );
    assert_eq!(stall.chains[0].cycle, Some(1));
    let room = stall.chains[0].waits[3].queued.expect("told");
    assert_eq!((room.buffers, room.of), (8, 8));
    assert_eq!(tried, ["queue max-size-buffers=13 in front of j.sink_0"]);
}

#[test]
fn one_leg_of_a_fork_in_preroll() {
    let (stall, _) = stall(
        "fakesrc num-buffers=90 min-buffers=60 ! tee name=t ! fakesink name=a t. ! hold name=h buffers=20 declared=false ! fakesink name=b",
    );
    assert_eq!(blame(&stall), ("one-leg", "t"));
    assert_eq!(
        names(&stall.chains[0]),
        [
            ("a", "state"),
            ("b", "input"),
            ("h", "input"),
            ("t", "room")
        ]
    );
    assert_eq!(stall.chains[0].cycle, Some(0));
    assert_eq!(names(&stall.chains[1])[0], ("b", "input"));
    assert_eq!(stall.chains.len(), 2);
}

#[test]
fn a_stall_after_a_while() {
    // The holder goes on until the pool of eight is out.
    let (report, tried) = run(
        "fakesrc name=s num-buffers=90 max-buffers=8 ! tee name=t ! fakesink name=all t. ! hold name=h buffers=8 declared=false ! fakesink name=late fakesrc num-buffers=30 ! fakesink name=other",
    );
    let stall = report.stall.as_ref().expect("told");
    assert_eq!(blame(stall), ("pool-held", "h"));
    assert_eq!(
        tried,
        ["queue max-size-buffers=1 in front of all.sink and s max-buffers=9"]
    );
}

/// Elements that have ended are no waits, and a stall is told while PLAYING too.
#[test]
fn a_stall_while_playing() {
    // The first buffer of each branch is there, then one branch drops what follows.
    let (report, _) = run("fakesrc num-buffers=9 ! fakesink name=done \
         fakesrc name=s num-buffers=90 max-buffers=16 ! hold name=h buffers=3 declared=false ! tee name=t \
         t. ! join name=j ! fakesink name=out t. ! hold name=g buffers=12 declared=false ! j. \
         fakesrc num-buffers=90 ! fakesink name=long");
    let stall = report.stall.as_ref().expect("told");
    let unfinished: Vec<_> = stall
        .chains
        .iter()
        .map(|c| c.waits[0].element.as_str())
        .collect();
    assert!(unfinished.contains(&"out"), "{unfinished:?}");
    for wait in stall
        .chains
        .iter()
        .flat_map(|c| &c.waits)
        .chain(&stall.others)
    {
        let of = report.elements.iter().find(|e| e.name == wait.element);
        assert_ne!(of.expect("is there").readiness, "done");
    }
}

#[test]
fn nobody_can_serve_a_device_in_a_run() {
    let (stall, tried) = stall("fakesrc num-buffers=9 ! driven name=d ! fakesink name=out");
    assert_eq!(blame(&stall), ("device", "d"));
    assert_eq!(stall.text, "d waits for its device, and nobody serves it");
    assert_eq!(names(&stall.chains[0]), [("out", "input"), ("d", "device")]);
    assert_eq!(tried, Vec::<String>::new());
}

#[test]
fn a_device_that_is_served_is_no_stall() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=5 ! driven name=d ! fakesink name=out",
    );
    let d = engine.element(p, "d").expect("is there");
    engine.set_state(p, State::Playing);
    let mut served = 0;
    loop {
        match engine.wait(p, MessageMask::EOS | MessageMask::STALLED) {
            Ok(message) => {
                assert_eq!(message.kind.mask(), MessageMask::EOS);
                break;
            }
            // Nothing moves, and it is no stall.
            Err(error) => assert_eq!(error.progress, Progress::Running),
        }
        let report = engine.report(p);
        assert!(report.stall.is_none());
        let of = report
            .elements
            .iter()
            .find(|e| e.name == "d")
            .expect("told");
        assert_eq!(of.readiness, "device");
        let wait = of.waits_for.as_ref().expect("it waits");
        assert_eq!((wait.waits_for, wait.since), ("device", of.since));
        engine.device_ready(d);
        served += 1;
        assert!(served < 20);
    }
    // Five buffers and the end.
    assert_eq!(served, 6);
    assert_eq!(engine.report(p).sinks[0].buffers, 5);
}

#[test]
fn who_does_not_wait_for_a_device_is_left_alone() {
    let mut engine = engine();
    let p = launch(&mut engine, "fakesrc num-buffers=5 ! fakesink name=out");
    let out = engine.element(p, "out").expect("is there");
    engine.device_ready(out);
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(
        (report.verdict.name(), report.sinks[0].buffers),
        ("done", 5)
    );
}

/// What each element of a running graph waits for is in the report of any tick.
#[test]
fn readiness_at_any_tick() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc name=s max-buffers=3 ! queue name=q ! fakesink name=out",
    );
    let seen = |engine: &Engine| {
        let report = engine.report(p);
        let told = report.elements.iter().map(|e| {
            let on = e.waits_for.as_ref().and_then(|w| w.on.clone());
            (e.readiness.clone(), e.since, on)
        });
        told.collect::<Vec<_>>()
    };
    let state = |since| ("state".to_owned(), since, None);
    assert_eq!(seen(&engine), [state(0), state(0), state(0)]);
    engine.set_state(p, State::Paused);
    engine.wait_for_state(p, State::Paused).expect("gets there");
    for _ in 0..20 {
        engine.tick();
    }
    // The sink holds the first of three, and the queue has passed on the others.
    let report = engine.report(p);
    let s = report
        .elements
        .iter()
        .find(|e| e.name == "s")
        .expect("told");
    let wait = s.waits_for.as_ref().expect("it waits");
    assert_eq!(
        (wait.waits_for, wait.pool.as_deref()),
        ("buffer", Some("s.src"))
    );
    let held: Vec<_> = wait
        .held
        .iter()
        .map(|h| (h.element.as_str(), h.buffers, h.of))
        .collect();
    assert_eq!(held, [("out", 3, 3)]);
    assert_eq!(wait.on.as_deref(), Some("out"));
    assert!(report.stall.is_none(), "PAUSED is complete");
}

/// Trying changes leaves the pipeline and its next run as they were.
#[test]
fn suggestions_change_nothing() {
    let text =
        "fakesrc name=s num-buffers=90 max-buffers=4 ! hold buffers=4 declared=false ! fakesink";
    let options = RunOptions {
        digests: true,
        ..RunOptions::default()
    };
    let mut engine = engine();
    let p = launch(&mut engine, text);
    let first = engine.run(p, &options, &mut ());
    let tried = engine.suggest(p, &first);
    assert_eq!(tried, engine.suggest(p, &first));
    let json = serde_json::to_value(&tried).expect("plain data");
    assert_eq!(
        json,
        serde_json::json!([{
            "change": "set",
            "text": "s max-buffers=5",
            "element": "s",
            "property": "max-buffers",
            "value": "5",
        }])
    );
    let second = engine.run(p, &options, &mut ());
    assert_eq!(
        (&first.digest, &first.stall),
        (&second.digest, &second.stall)
    );
}

/// A pool that may be large, but is made small, must be asked for and allowed.
#[test]
fn a_pool_that_must_be_asked_for() {
    let text = "fakesrc name=s num-buffers=90 max-buffers=30 ! hold name=h buffers=40 declared=false ! fakesink";
    let (stall, tried) = stall(text);
    assert_eq!(blame(&stall), ("pool-held", "h"));
    let [told] = &tried[..] else {
        panic!("{tried:?}");
    };
    assert!(told.starts_with("s min-buffers="), "{told}");
    let changed = text.replace(
        "max-buffers=30",
        &told.replace("s ", "").replace(" and ", " "),
    );
    assert_eq!(run(&changed).0.verdict.name(), "done", "{changed}");
}

/// Of a graph that reads a pipe nothing is tried.
#[cfg(all(unix, feature = "file"))]
#[test]
fn what_cannot_be_read_twice_is_not_tried() {
    let (report, tried) = run("join name=j ! fakesink fakesrc num-buffers=9 ! j. silentsrc ! j.");
    assert!(report.stall.is_some() && tried.len() == 1);
    let (report, tried) = run(
        "join name=j ! fakesink filesrc location=/dev/zero ! j. silentsrc ! j. fakesrc num-buffers=9 ! j.",
    );
    assert!(report.stall.is_some() && tried.is_empty(), "{tried:?}");
}
