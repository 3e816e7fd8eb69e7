//! Of small random graphs that stall: all that is told of who waits for whom and who holds what is
//! true of the fabric, counted naively, and each change that is suggested works when it is made.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use tickpipe::components::fabric::{Fabric, Lane, PipelineFabric};
use tickpipe::components::id::BufferId;
use tickpipe::components::readiness::Readiness;
use tickpipe::systems::state::{Graphs, Topology};
use tickpipe::{
    ChangeReport, Engine, EngineOptions, Limits, MessageMask, PipelineHandle, Report, RunOptions,
    State, WaitReport,
};

/// A branch of the fork: what it goes through, and whether it ends in the muxer.
#[derive(Clone, Debug)]
struct Leg {
    through: Vec<String>,
    joins: bool,
}

fn element() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("identity".to_owned()),
        (1u32..9).prop_map(|n| format!("queue max-size-buffers={n}")),
        (1u32..14).prop_map(|n| format!("hold declared=false buffers={n}")),
        Just("skip every=1".to_owned()),
        Just("skip every=2".to_owned()),
    ]
}

fn leg() -> impl Strategy<Value = Leg> {
    let through = prop::collection::vec(element(), 0..3);
    (through, prop::bool::weighted(0.7)).prop_map(|(through, joins)| Leg { through, joins })
}

fn graph() -> impl Strategy<Value = String> {
    let legs = prop::collection::vec(leg(), 1..4);
    (legs, 1u32..60, 0u32..9, 0usize..3, any::<bool>()).prop_map(
        |(legs, frames, most, silent, other)| {
            let mut text = format!(
                "fakesrc name=s num-buffers={frames} max-buffers={most} ! tee name=t join name=j ! fakesink name=out"
            );
            let mut pad = 0;
            let mut into = || {
                pad += 1;
                format!("j.sink_{}", pad - 1)
            };
            for (l, leg) in legs.iter().enumerate() {
                text.push_str(" t.");
                for (i, element) in leg.through.iter().enumerate() {
                    text.push_str(&format!(" ! {element} name=e{l}{i}"));
                }
                match leg.joins {
                    true => text.push_str(&format!(" ! {}", into())),
                    false => text.push_str(&format!(" ! fakesink name=own{l}")),
                }
            }
            for n in 0..silent {
                text.push_str(&format!(" silentsrc name=silent{n} ! {}", into()));
            }
            if other || pad_is_unused(&text) {
                text.push_str(&format!(" fakesrc name=o num-buffers=20 ! {}", into()));
            }
            text
        },
    )
}

fn pad_is_unused(text: &str) -> bool {
    !text.contains("j.sink_0")
}

fn launched(text: &str) -> (Engine, PipelineHandle) {
    let mut limits = Limits::default();
    limits.set_named("quantum", 3).expect("in range");
    let options = EngineOptions {
        limits,
        ..EngineOptions::default()
    };
    let mut engine = Engine::with_options(options).expect("starts");
    let (pipeline, _) = engine.launch("random", text).expect("a graph");
    (engine, pipeline)
}

/// How many buffers of a pool a lane has, by looking at everything that it has.
fn buffers_of(p: &PipelineFabric, l: &Lane, pool: usize) -> usize {
    let mut all: BTreeSet<BufferId> = l.extras.kept.iter().map(|k| k.buffer).collect();
    for input in &l.inputs {
        all.extend(input.queue.iter().filter_map(|item| item.as_buffer()));
    }
    all.extend(l.extras.filling.iter().map(|g| g.buffer));
    if let Some(sync) = &l.extras.sync {
        all.extend(sync.held());
        all.extend(sync.sets.iter().flat_map(|s| s.frames.iter().flatten()));
    }
    let of_pool = all.iter().filter(|b| p.buffers.pools[pool].owns(**b));
    of_pool.count()
}

fn check_wait(p: &PipelineFabric, topology: &Topology, wait: &WaitReport) {
    let lane = |name: &str| topology.nodes.iter().position(|n| n.name == name);
    let at = lane(&wait.element).expect("is there");
    let l = &p.lanes[at];
    let on = wait.on.as_deref().map(|name| lane(name).expect("is there"));
    assert!(!l.done && wait.since < p.tick, "{wait:?}");
    match wait.waits_for {
        "input" => {
            let pads = l.inputs.iter().enumerate();
            let pad = wait.pad.as_deref().expect("told");
            let number = pad
                .strip_prefix("sink_")
                .map_or(0, |n| n.parse().expect("a number"));
            let (_, input) = { pads }.nth(number).expect("is there");
            assert!(!input.eos && input.queue.is_empty(), "{wait:?}");
            assert_eq!(on, Some(input.from.0.index()), "{wait:?}");
            assert_eq!(wait.came, Some(input.taken));
        }
        "room" => {
            let full = l.outputs.iter().find(|o| {
                Some(o.to.0.index()) == on && {
                    p.lanes[o.to.0.index()].inputs[o.to.1 as usize].queue.room() == 0
                }
            });
            assert!(full.is_some(), "{wait:?}");
            let queued = wait.queued.expect("told");
            assert_eq!(queued.buffers, queued.of);
        }
        "buffer" => {
            let pool = l.pool.expect("it has one").index();
            let of = p.buffers.pools[pool].count;
            assert_eq!(p.buffers.pools[pool].out(), of, "{wait:?}");
            let naive: BTreeMap<&str, usize> = topology
                .nodes
                .iter()
                .zip(&p.lanes)
                .map(|(n, l)| (n.name.as_str(), buffers_of(p, l, pool)))
                .filter(|(_, n)| *n > 0)
                .collect();
            let told: BTreeMap<&str, usize> = wait
                .held
                .iter()
                .map(|h| (h.element.as_str(), h.buffers as usize))
                .collect();
            assert_eq!(told, naive);
            let most = naive.values().max();
            for h in &wait.held {
                assert!(h.of == of && h.since < p.tick && h.lost == 0, "{h:?}");
            }
            assert_eq!(wait.on.as_deref().map(|on| &naive[on]), most);
        }
        "state" => {
            assert_eq!(l.readiness, Readiness::Held);
            let lacks = &p.lanes[on.expect("who has none")];
            assert!(lacks.is_sink() && lacks.inputs.iter().all(|i| i.queue.is_empty()));
            assert!(l.inputs.iter().any(|i| !i.queue.is_empty()));
        }
        "nothing" => {
            assert!(on.is_none());
            assert!(l.readiness == Readiness::Silent || l.inputs.iter().all(|i| i.eos));
        }
        other => panic!("nothing here waits for {other}"),
    }
}

fn check(engine: &Engine, pipeline: PipelineHandle, report: &Report) {
    let fabric = engine.world().resource::<Fabric>();
    let p = fabric.get(pipeline.id()).expect("started");
    let graphs = engine.world().resource::<Graphs>();
    let topology = graphs.running(pipeline.id()).expect("started");
    let stall = report.stall.as_ref().expect("told");
    let waits = || stall.chains.iter().flat_map(|c| &c.waits);
    for wait in waits().chain(&stall.others) {
        check_wait(p, topology, wait);
    }
    for chain in &stall.chains {
        for pair in chain.waits.windows(2) {
            assert_eq!(pair[0].on.as_ref(), Some(&pair[1].element));
        }
        let end = chain.waits.last().and_then(|w| w.on.as_ref());
        assert_eq!(end, chain.cycle.map(|at| &chain.waits[at].element));
        let names: BTreeSet<_> = chain.waits.iter().map(|w| &w.element).collect();
        assert_eq!(names.len(), chain.waits.len(), "each is told once");
    }
    let nodes = || topology.nodes.iter().zip(&p.lanes).filter(|(_, l)| !l.done);
    let sinks: Vec<_> = nodes()
        .filter(|(_, l)| l.is_sink())
        .map(|n| &n.0.name)
        .collect();
    let heads: Vec<_> = stall.chains.iter().map(|c| &c.waits[0].element).collect();
    assert_eq!(heads, sinks);
    let told: BTreeSet<_> = waits().map(|w| &w.element).collect();
    let others: Vec<_> = stall.others.iter().map(|w| &w.element).collect();
    let rest: Vec<_> = nodes()
        .map(|n| &n.0.name)
        .filter(|n| !told.contains(n))
        .collect();
    assert_eq!(others, rest);
    assert_ne!(stall.cause.name(), "blocked", "{:?}", stall.lines());
    assert!(topology.nodes.iter().any(|n| n.name == stall.element));
}

/// Runs the text with changes made to it by hand.
fn changed(text: &str, changes: &[&ChangeReport]) -> Report {
    let mut text = text.to_owned();
    for change in changes.iter().filter(|c| c.change == "insert") {
        let queue = format!("! queue max-size-buffers={} !", change.value);
        let pad = change.pad.as_deref().unwrap_or_default();
        let named = format!("name={}", change.element);
        text = match change.element == "j" {
            true => {
                let end = format!("! j.{pad}");
                let at = text.find(&end).expect("is there");
                format!("{}{queue}{}", &text[..at], &text[at + 1..])
            }
            false => {
                let at = text.find(&named).expect("is there");
                let at = text[..at].rfind('!').expect("is fed");
                format!("{}{queue}{}", &text[..at], &text[at + 1..])
            }
        };
    }
    let (mut engine, pipeline) = launched(&text);
    for change in changes.iter().filter(|c| c.change == "set") {
        let element = engine.element(pipeline, &change.element).expect("is there");
        let set = engine.set_text(element, change.property, &change.value);
        set.expect("can be set");
    }
    engine.run(pipeline, &RunOptions::default(), &mut ())
}

#[test]
fn what_is_told_of_a_stall_is_true() {
    let (stalled, suggested) = (Cell::new(0), Cell::new(0));
    let config = Config {
        cases: 256,
        failure_persistence: None,
        ..Config::default()
    };
    let rule = |text: String| {
        let (mut engine, pipeline) = launched(&text);
        engine.set_state(pipeline, State::Playing);
        let ends = MessageMask::EOS | MessageMask::ERROR | MessageMask::STALLED;
        let message = engine.wait(pipeline, ends).expect("it ends somehow");
        if message.kind.mask() != MessageMask::STALLED {
            prop_assert!(engine.report(pipeline).stall.is_none());
            return Ok(());
        }
        stalled.set(stalled.get() + 1);
        let report = engine.report(pipeline);
        check(&engine, pipeline, &report);
        for told in engine.suggest(pipeline, &report) {
            suggested.set(suggested.get() + 1);
            let changes: Vec<_> = core::iter::once(&told.first).chain(&told.and).collect();
            let ran = changed(&text, &changes);
            prop_assert_eq!(
                ran.verdict.name(),
                "done",
                "{} with {:?}",
                &text,
                told.text()
            );
        }
        Ok(())
    };
    let outcome = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
    .run(&graph(), rule);
    assert!(outcome.is_ok(), "{}", outcome.expect_err("a failure"));
    assert!(stalled.get() > 60, "{} stalled", stalled.get());
    assert!(suggested.get() > 60, "{} suggested", suggested.get());
}
