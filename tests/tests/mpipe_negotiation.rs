//! The negotiation tests of Zephyr's mpipe (pads, transforms, pipeline, audio caps) as cases, by
//! their outcomes: what is agreed, what stands on pads before and after, and errors.
//!
//! mpipe's tests also count the offers that a transform makes to its peer, and their order. Those
//! are its algorithm's, which offers one candidate after the other; here all that elements can do
//! is known before anything is chosen, so there are no offers to count, and they are not checked.

mod negotiating;

use bevy_ecs::component::Component;
use negotiating::{agreed, all_caps, failure, launch, pad_caps, run};
use tickpipe::components::caps::{Caps, Structure};
use tickpipe::components::fault::ElementError;
use tickpipe::systems::element::{
    CapsQuery, Element, Flow, PadAt, PadTemplate, PassThrough, Peeked, Property, Transformed, Work,
};
use tickpipe::systems::field;
use tickpipe::{Engine, EngineOptions, Limit, Limits, LinkError, PlanError, PlanReport, State};

fn caps(text: &str) -> Caps {
    text.parse().expect("caps")
}

fn structure(text: &str) -> Structure {
    caps(text).structures()[0].clone()
}

/// A converter whose hooks answer as `hook` says: mpipe's fake transform.
#[derive(Component, Clone, Debug, Default)]
struct Hooked {
    hook: String,
}

impl Element for Hooked {
    const NAME: &'static str = "hooked";
    const SUMMARY: &'static str = "Answers as it is told to";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Convert;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", caps("t/a; t/b")),
            PadTemplate::source("src", caps("t/x; t/y; t/z")),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![field!(Text, "hook", "How it answers", hook)]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(match self.hook.as_str() {
            "endless-caps" => Some(structure("t/a")),
            "no-caps" if pad.is_sink() => None,
            _ => query.template.structures().get(index as usize).cloned(),
        })
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let made = |media: &str| Some(Transformed::converting(structure(media), &[]));
        match (self.hook.as_str(), caps.media(), index) {
            ("endless-map", _, _) => made("t/z"),
            ("finite-map", _, 0..=9) => made("t/x"),
            // Answers with which nothing can be done, before one that counts.
            ("skips", _, 0) => made("t/none"),
            ("skips", "t/a", 1) => made("t/x"),
            ("skips", "t/b", 1) => made("t/none"),
            ("skips", "t/b", 2) => made("t/y"),
            ("leads-nowhere", _, 0) => made("t/none"),
            _ => None,
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}

/// A source with the defaults of an element and a template of two structures.
#[derive(Component, Clone, Debug, Default)]
struct Plain {
    fix: String,
}

impl Element for Plain {
    const NAME: &'static str = "plain";
    const SUMMARY: &'static str = "Has a template only";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", caps("t/a,f=[3,9],g={2,1}; t/b"))]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![field!(
            Text,
            "fix",
            "What it fixes; empty for the default",
            fix
        )]
    }

    fn fixate(&self, _pad: PadAt, caps: &Structure, other: Option<&Structure>) -> Structure {
        match self.fix.as_str() {
            "" => tickpipe::systems::element::keep_values(caps, other),
            fix => structure(fix),
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}

fn engine_with(limits: &[(Limit, u64)]) -> Engine {
    let mut options = EngineOptions::default();
    let mut own = Limits::default();
    for &(limit, value) in limits {
        own.set(limit, value).expect("in range");
    }
    options.limits = own;
    let mut engine = Engine::with_options(options).expect("an engine");
    engine.register::<Hooked>().expect("a free name");
    engine.register::<Plain>().expect("a free name");
    engine
}

/// The error of a text, and what its run leaves behind: nothing on any pad.
fn refused(limits: &[(Limit, u64)], text: &str) -> PlanError {
    let mut engine = engine_with(limits);
    let pipeline = launch(&mut engine, text);
    let outcome = engine.plan(pipeline);
    assert!(pad_caps(&mut engine).iter().all(|p| p.1 == "ANY"), "{text}");
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "failed", "{text}");
    assert_eq!(engine.state(pipeline), State::Ready);
    assert!(pad_caps(&mut engine).iter().all(|p| p.1 == "ANY"), "{text}");
    match outcome {
        Err(error) => error,
        Ok(plan) => panic!("{text} has a plan:\n{plan}"),
    }
}

fn plan_of(text: &str) -> Vec<String> {
    let mut engine = engine_with(&[]);
    let pipeline = launch(&mut engine, text);
    let plan = engine
        .plan(pipeline)
        .unwrap_or_else(|e| panic!("{text}: {e}"));
    all_caps(&plan)
}

/// A to X or Y, B to Z.
const MAP: &str = "capsmap name=m map=\"t/a -> t/x; t/y | t/b -> t/z\"";

fn transform(source: &str, sink: &str) -> String {
    format!("capssrc caps=\"{source}\" ! {MAP} ! capssink caps=\"{sink}\"")
}

#[test]
fn transform_every_mapping() {
    for (peer, answer, published) in [
        ("t/x", "t/a", "t/x"),
        // The case of mpipe's test.
        ("t/y", "t/a", "t/y"),
        ("t/z", "t/b", "t/z"),
        ("t/w; t/z; t/y", "t/a", "t/y"),
        ("ANY", "t/a", "t/x"),
    ] {
        let text = transform("t/a; t/b", peer);
        assert_eq!(all_caps(&agreed(&text)), [answer, published], "{peer}");
        // What was planned is what pads have from PAUSED on, and ANY again in READY.
        let mut engine = engine_with(&[]);
        let pipeline = launch(&mut engine, &text);
        engine.set_state(pipeline, State::Paused);
        engine
            .wait_for_state(pipeline, State::Paused)
            .expect("it starts");
        let pads = pad_caps(&mut engine);
        let pads: Vec<(&str, &str)> = pads.iter().map(|p| (p.0.as_str(), p.1.as_str())).collect();
        assert_eq!(
            pads,
            [
                ("capssink0.sink", published),
                ("capssrc0.src", answer),
                ("m.sink", answer),
                ("m.src", published),
            ]
        );
        engine.set_state(pipeline, State::Ready);
        engine
            .wait_for_state(pipeline, State::Ready)
            .expect("it stops");
        assert!(pad_caps(&mut engine).iter().all(|p| p.1 == "ANY"));
    }
}

#[test]
fn transform_refused() {
    let error = refused(&[], &transform("t/a; t/b", "t/w"));
    let PlanError::Conflict(failure) = error else {
        panic!("{error}");
    };
    assert_eq!(failure.conflicts.len(), 1);
    let pads: Vec<&str> = failure.conflicts[0]
        .sides
        .iter()
        .map(|s| s.pad.as_str())
        .collect();
    assert!(pads.contains(&"capssink0.sink"), "{failure}");
    assert!(pads.len() >= 2, "{failure}");
}

#[test]
fn transform_index_with_nothing_is_skipped() {
    let text = |sink: &str| {
        format!("capssrc caps=\"t/a; t/b\" ! hooked hook=skips ! capssink caps={sink}")
    };
    assert_eq!(plan_of(&text("t/x")), ["t/a", "t/x"]);
    assert_eq!(plan_of(&text("t/y")), ["t/b", "t/y"]);
    assert!(matches!(
        refused(&[], &text("t/none")),
        PlanError::Conflict(_)
    ));
    // Answers that all lead nowhere are as good as none.
    let text = "capssrc caps=t/a ! hooked hook=leads-nowhere ! capssink";
    assert!(matches!(refused(&[], text), PlanError::Conflict(_)));
    // The same answer again changes nothing.
    let text = "capssrc caps=t/a ! hooked hook=finite-map ! capssink";
    assert_eq!(plan_of(text), ["t/a", "t/x"]);
}

#[test]
fn transform_endless_mapping_stops_at_the_limit() {
    let text = "capssrc caps=t/a ! hooked hook=endless-map ! capssink";
    for (limits, allowed) in [(&[][..], 65_535), (&[(Limit::EnumCaps, 100)][..], 100)] {
        let error = refused(limits, text);
        assert!(matches!(error, PlanError::Limit(_)), "{error:?}");
        let want = format!(
            "no answer within the limit: answers of hooked0 to transform_caps: {} is past the limit \
             enum-caps={allowed} (raise it with --limit enum-caps=N)",
            allowed + 1
        );
        assert_eq!(error.to_string(), want);
        assert_eq!(PlanReport::of(&Err(error)).verdict, "limit");
    }
    // Ten answers are within a limit of ten.
    let text = "capssrc caps=t/a ! hooked hook=finite-map ! capssink";
    let mut engine = engine_with(&[(Limit::EnumCaps, 10)]);
    let pipeline = launch(&mut engine, text);
    assert_eq!(
        all_caps(&engine.plan(pipeline).expect("a plan")),
        ["t/a", "t/x"]
    );
    assert!(matches!(
        refused(&[(Limit::EnumCaps, 9)], text),
        PlanError::Limit(_)
    ));
}

#[test]
fn pad_endless_enumeration_stops_at_the_limit() {
    let text = "capssrc caps=t/a ! hooked hook=endless-caps ! capssink";
    for (limits, allowed) in [(&[][..], 65_535), (&[(Limit::EnumCaps, 7)][..], 7)] {
        let error = refused(limits, text);
        assert!(matches!(error, PlanError::Limit(_)), "{error:?}");
        let want = format!(
            "answers of hooked0 to enum_caps: {} is past the limit enum-caps={allowed}",
            allowed + 1
        );
        assert!(error.to_string().contains(&want), "{error}");
    }
}

#[test]
fn transform_answer_leading_elsewhere_publishes_nothing() {
    // The peer takes Z only, which is made of B only, which the source does not have.
    let error = refused(&[], &transform("t/a", "t/z"));
    assert!(matches!(error, PlanError::Conflict(_)), "{error:?}");
    // By a field that passes through: what the peer takes leads to a rate that is not there.
    let error = refused(&[], &transform("t/a,rate=[1,9]", "t/y,rate=10"));
    let PlanError::Conflict(failure) = error else {
        panic!("{error}");
    };
    assert_eq!(failure.conflicts[0].field(), Some("rate"), "{failure}");
    let pads: Vec<&str> = failure.conflicts[0]
        .sides
        .iter()
        .map(|s| s.pad.as_str())
        .collect();
    assert_eq!(pads, ["capssrc0.src", "capssink0.sink"]);
}

#[test]
fn transform_answer_is_mapped_back_to_the_candidate() {
    let rates = "t/a,rate=[1,100]; t/b,rate=[1,100]";
    assert_eq!(
        all_caps(&agreed(&transform(rates, "t/z,rate=8"))),
        ["t/b,rate=8", "t/z,rate=8"]
    );
    assert_eq!(
        all_caps(&agreed(&transform(rates, "t/y,rate=[90,200]"))),
        ["t/a,rate=90", "t/y,rate=90"]
    );
    // Through several.
    let text = format!(
        "capssrc caps=\"{rates}\" ! {MAP} ! capsmap map=\"t/y -> t/v | t/z -> t/u\" ! capsmap \
         ! capssink caps=t/u,rate=[50,60]"
    );
    assert_eq!(
        all_caps(&agreed(&text)),
        ["t/b,rate=50", "t/z,rate=50", "t/u,rate=50", "t/u,rate=50"]
    );
}

#[test]
fn transform_filter_selects_the_candidate() {
    let text = |filter: &str| format!("capssrc caps=\"t/a; t/b\" ! {filter} ! {MAP} ! capssink");
    assert_eq!(all_caps(&agreed(&text("t/b"))), ["t/b", "t/b", "t/z"]);
    assert_eq!(all_caps(&agreed(&text("t/a"))), ["t/a", "t/a", "t/x"]);
    // Behind it as well.
    let text = format!(
        "capssrc caps=\"t/a; t/b\" ! {MAP} ! capsfilter caps=\"t/y; t/z\" ! capssink caps=t/z"
    );
    assert_eq!(all_caps(&agreed(&text)), ["t/b", "t/z", "t/z"]);
}

#[test]
fn pad_enumeration_by_index() {
    let mut engine = engine_with(&[]);
    let pipeline = launch(&mut engine, "plain ! capssink");
    let plain = engine.element(pipeline, "plain0").expect("it is there");
    let class = engine
        .registry()
        .class("plain")
        .expect("it is registered")
        .clone();
    let closed = core::cell::Cell::new(false);
    let query = CapsQuery {
        name: "",
        closed: &closed,
        template: &class.terms.pads[0].caps,
        peek: &|_| {
            Ok(Peeked {
                bytes: Vec::new(),
                whole: true,
            })
        },
    };
    let entity = engine.world().entity(plain.entity());
    let ask = |index| {
        let answer = class.enum_caps(entity, &query, PadAt::source(0), index);
        answer.expect("no error").map(|s| s.to_string())
    };
    assert_eq!(ask(0).as_deref(), Some("t/a,f=[3,9],g={2,1}"));
    assert_eq!(ask(1).as_deref(), Some("t/b"));
    assert_eq!(ask(2), None);
    assert_eq!(ask(65_536), None);
}

#[test]
fn source_fixates() {
    // The first of lists, the lowest of ranges.
    assert_eq!(plan_of("plain ! capssink"), ["t/a,f=3,g=2"]);
    assert_eq!(
        plan_of("plain ! capssink caps=\"t/b; t/a,g=1\""),
        ["t/a,f=3,g=1"]
    );
    // As the source wishes within a range, as long as that is possible.
    assert_eq!(plan_of("plain fix=t/a,f=7,g=2 ! capssink"), ["t/a,f=7,g=2"]);
    assert_eq!(
        plan_of("plain fix=t/a,f=7,g=2 ! capssink caps=t/a,f=[4,6]"),
        ["t/a,f=4,g=2"]
    );
    assert_eq!(plan_of("plain fix=t/a ! capssink"), ["t/a,f=3,g=2"]);
    assert_eq!(plan_of("plain fix=t/other ! capssink"), ["t/a,f=3,g=2"]);
}

#[test]
fn pads_that_do_not_meet_are_not_linked() {
    let mut engine = engine_with(&[]);
    let pipeline = engine.create_pipeline("main");
    let classes = ["plain", "hooked", "capssink", "hooked"];
    let made: Vec<tickpipe::ElementHandle> = (0u32..)
        .zip(classes)
        .map(|(id, class)| engine.create(class, id).expect("a class"))
        .collect();
    engine.add_all(pipeline, made.clone()).expect("room");
    // t/x; t/y; t/z against t/a; t/b.
    assert!(matches!(
        engine.link(made[1], made[3]),
        Err(LinkError::CannotMeet { .. })
    ));
    // No pad of that direction.
    assert!(matches!(
        engine.link(made[2], made[0]),
        Err(LinkError::NoFreePad { .. })
    ));
    // Nothing was changed by either.
    assert!(engine.link(made[1], made[2]).is_ok());
}

#[test]
fn tee_answers_with_what_all_branches_take() {
    let tee = |branches: &str| {
        format!("capssrc caps=\"t/a,f=[1,99]; t/b,f=[1,9]\" ! tee name=t {branches}")
    };
    let text = tee(
        "t. ! capssink caps=\"t/b; t/a,f=[5,50]\" t. ! queue ! capssink caps=t/a,f=[40,60] t. ! capssink",
    );
    for caps in all_caps(&agreed(&text)) {
        assert_eq!(caps, "t/a,f=40");
    }
    let text = tee(
        "t. ! capssink caps=t/a,f=[5,50] t. ! queue ! capssink caps=t/a,f=[51,60] t. ! capssink",
    );
    let failure = failure(&text);
    let pads: Vec<&str> = failure.conflicts[0]
        .sides
        .iter()
        .map(|s| s.pad.as_str())
        .collect();
    assert_eq!(pads, ["capssink0.sink", "capssink1.sink"], "{failure}");
}

#[test]
fn a_caps_filter_has_its_caps_on_both_pads() {
    let mut engine = engine_with(&[]);
    let pipeline = launch(
        &mut engine,
        "capssrc ! capsfilter name=c caps=t/a,f=4 ! capssink",
    );
    engine.set_state(pipeline, State::Paused);
    engine
        .wait_for_state(pipeline, State::Paused)
        .expect("it starts");
    for (pad, caps) in pad_caps(&mut engine) {
        assert_eq!(caps, "t/a,f=4", "{pad}");
    }
}

#[test]
fn pipeline_of_ten_buffers_three_times() {
    let mut engine = engine_with(&[]);
    let pipeline = launch(&mut engine, &transform("t/a; t/b", "t/y"));
    for _ in 0..3 {
        let report = run(&mut engine, pipeline);
        assert_eq!(report.verdict.name(), "done");
        assert_eq!((report.sinks[0].buffers, report.sinks[0].eos), (10, true));
        let ends = report.messages.iter().filter(|m| m.kind == "eos").count();
        assert_eq!(ends, 1);
        let links: Vec<&str> = report.links.iter().map(|l| l.caps.as_str()).collect();
        assert_eq!(links, ["t/a", "t/y"]);
        assert_eq!(engine.state(pipeline), State::Ready);
    }
}

#[test]
fn audio_caps_are_negotiated_anew_after_ready() {
    let mut engine = engine_with(&[]);
    let text = "capssrc name=mic ! queue \
         ! capsmap map=\"audio/x-raw,channels=2 -> audio/x-raw,channels=1 | audio/x-raw -> audio/x-raw\" \
         ! capssink caps=audio/x-raw,rate={48000,96000},channels=1";
    let pipeline = launch(&mut engine, text);
    let mic = engine.element(pipeline, "mic").expect("it is there");
    for (format, rate) in [("S16LE", 48_000), ("S32LE", 96_000), ("S16LE", 48_000)] {
        let offer = format!("audio/x-raw,format={format},rate={rate},channels=2");
        engine.set_text(mic, "caps", &offer).expect("in READY");
        engine.set_state(pipeline, State::Paused);
        engine
            .wait_for_state(pipeline, State::Paused)
            .expect("it starts");
        for (pad, got) in pad_caps(&mut engine) {
            let behind = ["capsmap0.src", "capssink0.sink"].contains(&pad.as_str());
            let want = caps(&offer.replace(
                "channels=2",
                if behind { "channels=1" } else { "channels=2" },
            ));
            assert_eq!(caps(&got), want, "{pad}");
        }
        engine.set_state(pipeline, State::Ready);
        engine
            .wait_for_state(pipeline, State::Ready)
            .expect("it stops");
        let report = run(&mut engine, pipeline);
        assert_eq!(
            (report.verdict.name(), report.sinks[0].buffers),
            ("done", 10)
        );
    }
    // What nobody takes is refused, and the next start is as good as the first.
    engine
        .set_text(mic, "caps", "audio/x-raw,rate=44100,channels=1")
        .expect("in READY");
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "failed");
    let conflict = report.conflict.expect("a conflict");
    assert_eq!(conflict.field.as_deref(), Some("rate"));
    engine
        .set_text(mic, "caps", "audio/x-raw,rate=96000,channels=1")
        .expect("in READY");
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "done");
    assert!(report.conflict.is_none());
}
