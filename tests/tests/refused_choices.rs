//! An element that refuses what was chosen excludes that choice only, and the search goes on to the
//! next best; one that refuses everything gives the answer; what cannot be decided within a limit is
//! answered with that limit, never with "none".

mod negotiating;

use bevy_ecs::component::Component;
use negotiating::{all_caps, launch, pad_caps, run};
use std::sync::Mutex;
use tickpipe::components::caps::{Caps, Structure};
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::systems::element::{
    CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Transformed, Work,
};
use tickpipe::systems::field;
use tickpipe::{Engine, EngineOptions, Limit, Limits, Plan, PlanError, PlanReport, Report};

/// What the elements with a label were told, in order, and whether they refused it.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn parsed(text: &str) -> Option<Caps> {
    (!text.is_empty()).then(|| text.parse().expect("caps"))
}

fn refusal(text: String) -> ElementError {
    ElementError::new(Domain::Caps, Code::Refused, std::io::Error::other(text))
}

/// Refuses if any pad has caps that lie in `refused`.
fn check(refused: &str, pads: &PadCapsOf) -> Result<(), ElementError> {
    let Some(refused) = parsed(refused) else {
        return Ok(());
    };
    let mut all = pads.sinks.iter().chain(&pads.sources);
    match all.find(|caps| caps.is_subset(&refused).expect("within limits")) {
        Some(caps) => Err(refusal(format!("told to refuse {caps}"))),
        None => Ok(()),
    }
}

/// An element that says that it can do `caps`, and refuses some of it: `refuse` while planning,
/// `refuse-told` when it starts.
macro_rules! picky {
    ($type:ident, $name:literal, $flow:expr, [$($pad:expr),+]) => {
        #[derive(Component, Clone, Debug, Default)]
        struct $type {
            label: String,
            caps: String,
            refuse: String,
            refuse_told: String,
        }

        impl Element for $type {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = "Refuses some of what it says that it can do";
            const KLASS: &'static str = "Test";
            const FLOW: Flow = $flow;

            fn pads() -> Vec<PadTemplate> {
                vec![$($pad),+]
            }

            fn properties() -> Vec<Property<Self>> {
                vec![
                    field!(Text, "label", "What it is called in the log; empty logs nothing", label),
                    field!(Text, "caps", "What it says that it can do", caps),
                    field!(Text, "refuse", "What it refuses while planning", refuse),
                    field!(Text, "refuse-told", "What it refuses when it starts", refuse_told),
                ]
            }

            fn enum_caps(
                &self,
                _query: &CapsQuery<'_>,
                _pad: PadAt,
                index: u32,
            ) -> Result<Option<Structure>, ElementError> {
                let caps = parsed(&self.caps);
                Ok(caps.and_then(|c| c.structures().get(index as usize).cloned()))
            }

            fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
                check(&self.refuse, pads)
            }

            fn open(&self) -> Result<Box<dyn Work>, ElementError> {
                let (label, refuse) = (self.label.clone(), self.refuse_told.clone());
                Ok(Box::new(Picky { label, refuse }))
            }
        }
    };
}

picky!(
    PickySink,
    "pickysink",
    Flow::Separate,
    [PadTemplate::sink("sink", Caps::any())]
);
picky!(
    PickySource,
    "pickysrc",
    Flow::Separate,
    [PadTemplate::source("src", Caps::any())]
);
picky!(
    PickyPass,
    "pickypass",
    Flow::Wire,
    [
        PadTemplate::sink("sink", Caps::any()),
        PadTemplate::source("src", Caps::any())
    ]
);

struct Picky {
    label: String,
    refuse: String,
}

impl Work for Picky {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let answer = check(&self.refuse, pads);
        if !self.label.is_empty() {
            let had: Vec<String> = pads
                .sinks
                .iter()
                .chain(&pads.sources)
                .map(Caps::to_string)
                .collect();
            let outcome = if answer.is_ok() { "takes" } else { "refuses" };
            let line = format!("{} {outcome} {}", self.label, had.join(" and "));
            TOLD.lock().expect("not poisoned").push(line);
        }
        answer
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if process.inputs() == 0 {
            process.finish();
        } else if process.outputs() > 0 {
            process.pass_through();
        } else {
            while let Some(item) = process.next(0) {
                match item.as_buffer() {
                    Some(buffer) => process.release(buffer),
                    None => process.finish(),
                }
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

/// Changes the field `f` of `t/x`, but by no more than `most`: what no list of caps can say.
#[derive(Component, Clone, Debug, Default)]
struct Stepper {
    most: i64,
}

impl Element for Stepper {
    const NAME: &'static str = "stepper";
    const SUMMARY: &'static str = "Changes a number by a little";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Convert;

    fn pads() -> Vec<PadTemplate> {
        let caps: Caps = "t/x,f=[0,99]".parse().expect("caps");
        vec![
            PadTemplate::sink("sink", caps.clone()),
            PadTemplate::source("src", caps),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![field!(Int(0, 99), "most", "How far it can go", most)]
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        match index {
            0 => Some(Transformed::same(caps.clone())),
            1 => Some(Transformed::converting(caps.clone(), &["f"])),
            _ => None,
        }
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let of = |s: Option<&Structure>| s.and_then(|s| s.int("f")).unwrap_or(0);
        let (from, to) = (of(pads.sink(0)), of(pads.source(0)));
        match (from - to).abs() <= self.most {
            true => Ok(()),
            false => Err(refusal(format!(
                "from {from} to {to} is more than {}",
                self.most
            ))),
        }
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(tickpipe::systems::element::PassThrough))
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
    engine.register::<PickySink>().expect("a free name");
    engine.register::<PickySource>().expect("a free name");
    engine.register::<PickyPass>().expect("a free name");
    engine.register::<Stepper>().expect("a free name");
    engine
}

fn plan_within(limits: &[(Limit, u64)], text: &str) -> Result<Plan, PlanError> {
    let mut engine = engine_with(limits);
    let pipeline = launch(&mut engine, text);
    engine.plan(pipeline)
}

fn plan(text: &str) -> Result<Plan, PlanError> {
    plan_within(&[], text)
}

#[track_caller]
fn agrees(text: &str, want: &[&str]) {
    match plan(text) {
        Ok(plan) => assert_eq!(all_caps(&plan), want, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Runs a text to its end.
fn ran(text: &str) -> (Report, Engine) {
    let mut engine = engine_with(&[]);
    let pipeline = launch(&mut engine, text);
    let report = run(&mut engine, pipeline);
    (report, engine)
}

#[test]
fn the_next_of_a_list_is_taken() {
    let source = "capssrc caps=\"t/x,f={3,1,2}\"";
    agrees(&format!("{source} ! pickysink"), &["t/x,f=3"]);
    agrees(
        &format!("{source} ! pickysink refuse=t/x,f=3"),
        &["t/x,f=1"],
    );
    agrees(
        &format!("{source} ! pickysink refuse=\"t/x,f={{1,3}}\""),
        &["t/x,f=2"],
    );
    // Whoever it is that refuses.
    agrees(
        &format!("{source} ! pickypass refuse=t/x,f=3 ! capssink"),
        &["t/x,f=1"; 2],
    );
    agrees(
        "pickysrc caps=\"t/x,f={3,1,2}\" refuse=\"t/x,f={1,3}\" ! capssink",
        &["t/x,f=2"],
    );
    // Several, each something else.
    agrees(
        &format!("{source} ! pickypass refuse=t/x,f=3 ! queue ! pickysink refuse=t/x,f=1"),
        &["t/x,f=2"; 3],
    );
}

#[test]
fn the_next_structure_is_taken() {
    let source = "capssrc caps=\"t/a; t/b,f={1,2}; t/c\"";
    agrees(&format!("{source} ! pickysink refuse=t/a"), &["t/b,f=1"]);
    agrees(
        &format!("{source} ! pickysink refuse=\"t/a; t/b,f=1\""),
        &["t/b,f=2"],
    );
    agrees(
        &format!("{source} ! pickysink refuse=\"t/a; t/b\""),
        &["t/c"],
    );
    // Only that choice is excluded, not all that has a value of it.
    agrees(
        "capssrc caps=\"t/x,f={1,2},g={1,2}\" ! pickysink refuse=\"t/x,f=1; t/x,g=1\"",
        &["t/x,f=2,g=2"],
    );
}

#[test]
fn a_range_is_searched_from_below() {
    agrees(
        "capssrc caps=t/x,f=[1,100] ! pickysink refuse=t/x,f=[1,20]",
        &["t/x,f=21"],
    );
    agrees(
        "capssrc caps=t/x,f=[1,100,3] ! pickysink refuse=t/x,f=[1,20]",
        &["t/x,f=22"],
    );
    agrees(
        "capssrc caps=t/x,f=[1/1,3/1] ! pickysink refuse=\"t/x,f={1/1}\" caps=\"t/x,f={3/1,1/1,2/1}\"",
        &["t/x,f=3/1"],
    );
}

#[test]
fn a_dearer_answer_is_taken_if_the_cheaper_ones_are_refused() {
    let text = |refuse: &str| {
        format!(
            "capssrc caps=t/x,f=1 ! capsmap map=\"t/x,f=1 -> t/x,f=2; t/x,f=3 | t/x -> t/x\" \
             ! pickysink caps=t/x,f=[0,9] refuse=\"{refuse}\""
        )
    };
    agrees(&text(""), &["t/x,f=1", "t/x,f=1"]);
    agrees(&text("t/x,f=1"), &["t/x,f=1", "t/x,f=2"]);
    agrees(&text("t/x,f={1,2}"), &["t/x,f=1", "t/x,f=3"]);
    // A branch that refuses changes what all have.
    agrees(
        "capssrc caps=\"t/x,f={1,2,3}\" ! tee name=t t. ! capssink t. ! queue ! pickysink refuse=t/x,f=1 \
         t. ! pickysink refuse=t/x,f=2",
        &["t/x,f=3"; 5],
    );
}

#[test]
fn a_pair_that_a_converter_refuses_is_excluded_not_its_members() {
    // 1 to 9 is too far; from 7 it is not.
    let text = |most: u32| {
        format!(
            "capssrc caps=\"t/x,f={{1,7}}\" ! stepper most={most} ! capssink caps=\"t/x,f={{9,4}}\""
        )
    };
    agrees(&text(9), &["t/x,f=1", "t/x,f=9"]);
    agrees(&text(5), &["t/x,f=1", "t/x,f=4"]);
    agrees(&text(2), &["t/x,f=7", "t/x,f=9"]);
    match plan(&text(1)) {
        Err(PlanError::Element { element, error }) => {
            assert_eq!(element, "stepper0");
            assert_eq!(error.code, Code::Refused);
            assert_eq!(error.detail.to_string(), "from 1 to 9 is more than 1");
        }
        other => panic!("{other:?}"),
    }
    // Two in a row share the way.
    agrees(
        "capssrc caps=t/x,f=1 ! stepper most=3 ! stepper most=3 ! capssink caps=t/x,f=7",
        &["t/x,f=1", "t/x,f=4", "t/x,f=7"],
    );
}

#[test]
fn an_element_that_refuses_everything_gives_the_answer() {
    for (text, name, said) in [
        (
            "capssrc caps=\"t/x,f={1,2,3}\" ! queue ! pickysink refuse=t/x",
            "pickysink0",
            "told to refuse t/x,f=1",
        ),
        (
            "capssrc caps=\"t/a; t/b\" ! pickypass refuse=\"t/b; t/a\" ! capssink",
            "pickypass0",
            "told to refuse t/a",
        ),
        (
            "pickysrc caps=t/a refuse=ANY ! capssink",
            "pickysrc0",
            "told to refuse t/a",
        ),
    ] {
        match plan(text) {
            Err(PlanError::Element { element, error }) => {
                assert_eq!(element, name, "{text}");
                assert_eq!(
                    (error.domain, error.code),
                    (Domain::Caps, Code::Refused),
                    "{text}"
                );
                assert_eq!(error.detail.to_string(), said, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
        // A run ends with the same, and says whose it is.
        let (report, mut engine) = ran(text);
        assert_eq!(report.verdict.name(), "failed", "{text}");
        assert!(report.conflict.is_none(), "{text}");
        let errors: Vec<_> = report
            .messages
            .iter()
            .filter(|m| m.kind == "error")
            .collect();
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(errors[0].element.as_deref(), Some(name), "{text}");
        assert_eq!(errors[0].code.as_deref(), Some("refused"), "{text}");
        assert!(pad_caps(&mut engine).iter().all(|p| p.1 == "ANY"), "{text}");
    }
}

#[test]
fn a_run_uses_what_was_planned_after_refusals() {
    for text in [
        "capssrc caps=\"t/x,f={3,1,2}\" ! queue ! pickysink refuse=\"t/x,f={1,3}\"",
        "capssrc caps=\"t/x,f={1,7}\" ! stepper most=2 ! capssink caps=\"t/x,f={9,4}\"",
    ] {
        let want = all_caps(&plan(text).expect("a plan"));
        let (report, _) = ran(text);
        assert_eq!(report.verdict.name(), "done", "{text}");
        let got: Vec<String> = report.links.iter().map(|l| l.caps.clone()).collect();
        assert_eq!(got, want, "{text}");
    }
}

fn limit_of(outcome: &Result<Plan, PlanError>) -> String {
    match outcome {
        Err(error @ PlanError::Limit(_)) => {
            assert_eq!(PlanReport::of(outcome).verdict, "limit");
            assert!(PlanReport::of(outcome).conflict.is_none());
            error.to_string()
        }
        other => panic!("no limit: {other:?}"),
    }
}

#[test]
fn the_limit_of_refusals() {
    let text = "capssrc caps=t/x,f=[1,100000] ! pickysink refuse=t/x,f=[1,300]";
    let told = limit_of(&plan(text));
    assert!(told.starts_with("no answer within the limit: "), "{told}");
    assert!(
        told.contains("257 is past the limit caps-refusals=256"),
        "{told}"
    );
    let told = limit_of(&plan_within(&[(Limit::CapsRefusals, 299)], text));
    assert!(
        told.contains("300 is past the limit caps-refusals=299"),
        "{told}"
    );
    let enough = plan_within(&[(Limit::CapsRefusals, 300)], text).expect("a plan");
    assert_eq!(all_caps(&enough), ["t/x,f=301"]);
    // As many as the limit, and nothing left: none, not a limit.
    let three = "capssrc caps=\"t/x,f={1,2,3}\" ! pickysink refuse=t/x";
    let none = plan_within(&[(Limit::CapsRefusals, 3)], three);
    assert!(matches!(none, Err(PlanError::Element { .. })), "{none:?}");
    limit_of(&plan_within(&[(Limit::CapsRefusals, 2)], three));
}

#[test]
fn what_is_refused_when_it_starts_is_excluded_too() {
    let text = "capssrc caps=\"t/x,f={3,1,2}\" ! pickypass label=pass ! pickysink label=sink refuse-told=\"t/x,f={3,1}\"";
    let (report, _) = ran(text);
    assert_eq!(report.verdict.name(), "done", "{:?}", report.messages);
    let got: Vec<&str> = report.links.iter().map(|l| l.caps.as_str()).collect();
    assert_eq!(got, ["t/x,f=2"; 2]);
    assert_eq!(report.sinks[0].buffers, 10);
    // Sinks are told first; what was told before a refusal is told anew.
    let told = std::mem::take(&mut *TOLD.lock().expect("not poisoned"));
    assert_eq!(
        told,
        [
            "sink refuses t/x,f=3",
            "sink refuses t/x,f=1",
            "sink takes t/x,f=2",
            "pass takes t/x,f=2 and t/x,f=2",
        ]
    );
    // The next best, and a dearer one if that is all there is.
    let text = "capssrc caps=t/x,f=1 ! capsmap map=\"t/x,f=1 -> t/x,f=2; t/x,f=3 | t/x -> t/x\" \
                ! pickysink caps=t/x,f=[0,9] refuse-told=\"t/x,f={1,2}\"";
    let (report, _) = ran(text);
    let got: Vec<&str> = report.links.iter().map(|l| l.caps.as_str()).collect();
    assert_eq!(
        (report.verdict.name(), got),
        ("done", vec!["t/x,f=1", "t/x,f=3"])
    );
}

#[test]
fn everything_refused_when_it_starts() {
    let text = "capssrc caps=\"t/x,f={1,2}\" ! queue ! pickysink refuse-told=t/x";
    assert_eq!(all_caps(&plan(text).expect("a plan")), ["t/x,f=1"; 2]);
    let (report, mut engine) = ran(text);
    assert_eq!(report.verdict.name(), "failed");
    let errors: Vec<_> = report
        .messages
        .iter()
        .filter(|m| m.kind == "error")
        .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].element.as_deref(), Some("pickysink0"));
    assert_eq!(errors[0].code.as_deref(), Some("refused"));
    for element in &report.elements {
        assert_eq!((element.buffers_in, element.buffers_out), (0, 0));
    }
    assert!(pad_caps(&mut engine).iter().all(|p| p.1 == "ANY"));
}

#[test]
fn refusals_when_it_starts_are_counted() {
    let mut engine = engine_with(&[(Limit::CapsRefusals, 5)]);
    let text = "capssrc caps=t/x,f=[1,100] ! pickysink refuse-told=t/x,f=[1,6]";
    let pipeline = launch(&mut engine, text);
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "failed");
    let mut engine = engine_with(&[(Limit::CapsRefusals, 6)]);
    let pipeline = launch(&mut engine, text);
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "done");
    assert_eq!(report.links[0].caps, "t/x,f=7");
}

#[test]
fn a_second_start_is_told_anew() {
    let mut engine = engine_with(&[]);
    let text = "capssrc caps=\"t/x,f={3,1,2}\" ! pickysink name=k refuse-told=t/x,f=3";
    let pipeline = launch(&mut engine, text);
    for (refuse, want) in [
        ("t/x,f=3", "t/x,f=1"),
        ("t/x,f={1,3}", "t/x,f=2"),
        ("", "t/x,f=3"),
    ] {
        let sink = engine.element(pipeline, "k").expect("it is there");
        engine
            .set_text(sink, "refuse-told", refuse)
            .expect("a text");
        let report = run(&mut engine, pipeline);
        assert_eq!(report.verdict.name(), "done", "{refuse}");
        assert_eq!(report.links[0].caps, want, "{refuse}");
        engine.set_state(pipeline, tickpipe::State::Ready);
        engine
            .wait_for_state(pipeline, tickpipe::State::Ready)
            .expect("it stops");
    }
}
