//! Conflicts and reasons of every kind: what is told is true, complete, and can be done.

mod negotiating;

use bevy_ecs::component::Component;
use negotiating::{agreed, failure, mended, plan, run, sides};
use tickpipe::components::caps::{Caps, Structure};
use tickpipe::components::fault::ElementError;
use tickpipe::systems::element::{
    CapsQuery, Element, Flow, PadAt, PadTemplate, PassThrough, Transformed, Work,
};
use tickpipe::systems::negotiate::Change;
use tickpipe::{Engine, EngineOptions, Limit, Limits, PlanError};

/// a change that is told must plan, elements' own refusals (`accept_caps`) included:
/// videoconvert does not know `jpeg`, and says so only when asked to accept.
#[test]
#[cfg(feature = "video")]
fn a_told_change_is_accepted_by_the_element_that_is_put_in() {
    let text = "capssrc caps=video/x-raw,format=NV12,width=16,height=16,framerate=30/1,colorimetry=jpeg \
                ! capssink caps=video/x-raw,format=NV12,colorimetry=bt709";
    let failure = failure(text);
    if failure.mended {
        agreed(&mended(text, &failure));
    }
}

/// the same where the change leaves a source open.
#[test]
#[cfg(feature = "video")]
fn a_told_change_leaves_no_source_open() {
    let text = "fakesrc ! video/x-raw,width=320 ! identity ! video/x-raw,width=640 ! fakesink";
    let failure = failure(text);
    if failure.mended {
        agreed(&mended(text, &failure));
    }
}

/// features are part of what is told.
#[test]
fn features_are_told() {
    let text = "capssrc caps=\"video/x-raw(memory:DMABuf),format=NV12\" \
                ! capssink caps=video/x-raw,format=NV12";
    let failure = failure(text);
    let sides = sides(&failure.conflicts[0]);
    assert_ne!(sides[0].1, sides[1].1, "{failure}");
    assert!(sides[0].1.contains("memory:DMABuf"), "{failure}");
}

/// empty meets nothing.
#[test]
fn empty_is_not_any() {
    for text in [
        "capssrc caps=EMPTY ! queue ! capssink",
        "capssrc caps=a/x ! queue ! capssink caps=EMPTY",
        "capssrc caps=a/x ! capsfilter caps=EMPTY ! capssink",
    ] {
        assert!(matches!(plan(text), Err(PlanError::Conflict(_))), "{text}");
    }
}

/// A converter of which a pad has a template and no caps.
#[derive(Component, Clone, Debug, Default)]
struct NoCaps;

impl Element for NoCaps {
    const NAME: &'static str = "nocaps";
    const SUMMARY: &'static str = "Has nothing to say";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Convert;

    fn pads() -> Vec<PadTemplate> {
        let caps: Caps = "t/a".parse().expect("caps");
        vec![
            PadTemplate::sink("sink", caps.clone()),
            PadTemplate::source("src", caps),
        ]
    }

    fn enum_caps(
        &self,
        _query: &CapsQuery<'_>,
        _pad: PadAt,
        _index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(None)
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        _caps: &Structure,
        _index: u32,
    ) -> Option<Transformed> {
        None
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}

/// no capability): the pad that has none is named, once.
#[test]
fn a_converter_without_any_caps_is_named() {
    let mut engine = Engine::new().expect("an engine");
    engine.register::<NoCaps>().expect("a free name");
    let pipeline = negotiating::launch(&mut engine, "capssrc caps=t/a ! nocaps ! capssink");
    match engine.plan(pipeline) {
        Err(PlanError::Conflict(failure)) => {
            assert_eq!(failure.conflicts.len(), 1, "{failure}");
            assert!(failure.to_string().contains("nocaps0"), "{failure}");
        }
        other => panic!("{other:?}"),
    }
}

/// a run that comes to a limit says `limit`, not
/// `not-negotiated`.
#[test]
fn the_message_of_a_limit() {
    let mut limits = Limits::default();
    limits.set(Limit::CapsWork, 1_000).expect("in range");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let rows: Vec<String> = (0..9)
        .map(|i| format!("a/x,f={i} -> a/x,f={}", (i * 2) % 9))
        .collect();
    let map = format!("capsmap map=\"{}\" ! ", rows.join(" | "));
    let text = format!("capssrc ! {} capssink", map.repeat(50));
    let pipeline = negotiating::launch(&mut engine, &text);
    let report = run(&mut engine, pipeline);
    let error = report.messages.iter().find(|m| m.kind == "error");
    let error = error.expect("an error");
    assert_eq!(error.domain.as_deref(), Some("caps"));
    assert_eq!(error.code.as_deref(), Some("limit"));
}

/// only links are written as `from -> to`, whatever converters have to do with it.
#[test]
fn reasons_have_no_arrows() {
    let plan = agreed(
        "capssrc caps=\"a/x,f={1,2,3}\" ! tee name=t t. ! capssink caps=\"a/x,f={2,3}\" \
         t. ! queue ! capsmap map=\"a/x,f=2 -> b/y,g=1 | a/x,f=3 -> b/y,g=2\" ! capssink caps=b/y,g=2 \
         t. ! identity ! capsmap map=\"a/x -> a/x | a/x,f=3 -> a/x,f=1\" ! capssink caps=a/x,f=1",
    );
    for conversion in &plan.conversions {
        let why = conversion.why.as_deref().expect("a reason");
        assert!(!why.contains("->"), "{why}");
        // What each side has, not what a table of it says of another field.
        assert!(!why.contains("any"), "{why}");
    }
}

/// a converter that passes nothing on is its own reason.
#[test]
fn a_converter_that_always_converts_says_so() {
    let plan = agreed("capssrc caps=a/x ! capsmap map=\"a/x -> b/y\" ! capssink");
    let why = plan.conversions[0].why.as_deref().expect("a reason");
    assert_ne!(why, "nothing else that works loses less");
}

/// after a change that drops an element, no later change names its pads.
#[test]
#[cfg(feature = "video")]
fn changes_can_be_made_one_after_the_other() {
    let text = "videotestsrc ! capsfilter caps=video/x-raw,width=[16,100],framerate=25/1 \
                ! capsfilter caps=video/x-raw,width=640,framerate=30/1 \
                ! capsfilter caps=video/x-raw,width=640 ! fakesink";
    let failure = failure(text);
    assert!(failure.mended, "{failure}");
    for (at, conflict) in failure.conflicts.iter().enumerate() {
        for change in &conflict.fix {
            let Change::Remove { element } = change else {
                continue;
            };
            for later in failure.conflicts[at + 1..].iter().flat_map(|c| &c.fix) {
                let later = later.to_string();
                assert!(!later.contains(&format!("{element}.")), "{failure}");
            }
        }
    }
    agreed(&mended(text, &failure));
}

/// a converter whose two sides are one wire by another way names both of its pads.
#[test]
fn a_converter_beside_a_wire_has_two_pads() {
    let text = "capssrc caps=\"a/x; b/y\" ! tee name=t funnel name=f ! capssink t. ! f. \
                t. ! capsmap map=\"a/x -> b/y\" ! f.";
    let failure = failure(text);
    let sides = sides(&failure.conflicts[0]);
    let pads: Vec<&str> = sides.iter().map(|s| s.0).collect();
    assert!(
        pads.contains(&"capsmap0.sink") && pads.contains(&"capsmap0.src"),
        "{failure}"
    );
}
