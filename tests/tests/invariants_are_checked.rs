//! Each invariant of docs/invariants.md is looked at in every tick: what breaks one fails the
//! pipeline in that tick, and is named.

mod lossy;

use bevy_ecs::entity::Entity;
use lossy::{engine, launch};
use std::sync::Arc;
use tickpipe::components::caps::Caps;
use tickpipe::components::fabric::{
    Fabric, Gate, Granted, Item, Kept, PipelineFabric, Posted, Progress,
};
use tickpipe::components::fault::{Code, Domain};
use tickpipe::components::graph::PadCaps;
use tickpipe::components::id::{BufferId, LaneId, PoolId};
use tickpipe::components::message::MessageKind;
use tickpipe::systems::report::invariants::Invariant;
use tickpipe::systems::state::Graphs;
use tickpipe::{BreachReport, Engine, MessageMask, PipelineHandle, RunOptions, State, Verdict};

const SRC: usize = 0;
const VIA: usize = 1;
const OUT: usize = 2;

/// A pipeline in PAUSED of which all that could move has: the sink has 8 buffers in its queue and
/// `via` 8; of a pool of 6 the sink has all.
fn paused(buffers: u32) -> (Engine, PipelineHandle) {
    let mut engine = engine(Some(true), 0);
    let pipeline = launch(
        &mut engine,
        &format!(
            "fakesrc name=src min-buffers={buffers} max-buffers={buffers} ! identity name=via ! \
             fakesink name=out"
        ),
    );
    engine.set_state(pipeline, State::Paused);
    engine
        .wait_for_state(pipeline, State::Paused)
        .expect("it is PAUSED");
    engine.advance(0..1, 40);
    while engine.next_message(pipeline, MessageMask::all()).is_some() {}
    assert_eq!(engine.progress(pipeline), Progress::Running);
    (engine, pipeline)
}

fn fabric(engine: &mut Engine) -> &mut PipelineFabric {
    let fabric = engine.world_mut().resource_mut::<Fabric>().into_inner();
    &mut fabric.pipelines[0]
}

/// What is found in the tick after something was broken; the pipeline must have failed by it.
fn found(mut engine: Engine, pipeline: PipelineHandle) -> BreachReport {
    let tick = fabric(&mut engine).tick;
    engine.tick();
    let report = engine.report(pipeline);
    let breach = report.invariant.expect("something was found");
    assert_eq!(breach.tick, tick, "{breach:?}");
    assert_eq!(report.verdict, Verdict::Failed);
    let message = engine.next_message(pipeline, MessageMask::ERROR);
    let message = message.expect("a message");
    assert_eq!(
        (message.tick, message.kind),
        (tick, MessageKind::Error(Domain::Core, Code::Invariant))
    );
    assert_eq!(message.element.is_some(), !breach.elements.is_empty());
    assert_eq!(engine.next_message(pipeline, MessageMask::ERROR), None);
    breach
}

#[track_caller]
fn breaks(
    buffers: u32,
    break_it: impl FnOnce(&mut PipelineFabric),
    id: Invariant,
    elements: &[&str],
    of: &[&str],
    text: &str,
) {
    let (mut engine, pipeline) = paused(buffers);
    break_it(fabric(&mut engine));
    let breach = found(engine, pipeline);
    assert_eq!(breach.id, id.name(), "{breach:?}");
    assert_eq!(breach.text, text);
    assert_eq!(
        (&*breach.elements, &*breach.buffers),
        (&own(elements)[..], &own(of)[..])
    );
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// The oldest buffer in a lane's queue.
fn oldest(p: &PipelineFabric, lane: usize) -> BufferId {
    let item = p.lanes[lane].inputs[0].queue.front();
    item.and_then(Item::as_buffer).expect("a buffer")
}

#[test]
fn nothing_is_found_in_what_was_not_broken() {
    for buffers in [1, 6, 32] {
        let (mut engine, pipeline) = paused(buffers);
        engine.advance(0..1, 10);
        assert_eq!(engine.report(pipeline).invariant, None);
        assert_eq!(engine.progress(pipeline), Progress::Running);
        let p = fabric(&mut engine);
        let queued = [VIA, OUT].map(|l| p.lanes[l].inputs[0].queue.len());
        let want = match buffers {
            32 => [8, 8],
            n => [0, n as usize],
        };
        assert_eq!(queued, want);
    }
}

#[test]
fn references() {
    breaks(
        6,
        |p| p.buffers.refs[0] += 1,
        Invariant::References,
        &["out"],
        &["src.src[0]"],
        "src.src[0] has 2 references and is in 1 places",
    );
}

#[test]
fn pool_balance() {
    breaks(
        6,
        |p| {
            p.lanes[OUT].inputs[0].queue.drop_front();
            p.lanes[OUT].inputs[0].taken += 1;
            p.buffers.held[0].since = 3;
        },
        Invariant::PoolBalance,
        &["out"],
        &["src.src[0]"],
        "src.src: 0 free + 5 queued + 0 held of 6 buffers; src.src[0] is nowhere: out got it last, \
         in tick 3",
    );
    breaks(
        32,
        |p| {
            p.buffers.pools[0].free.take_lowest();
            p.buffers.held[16].since = 3;
        },
        Invariant::PoolBalance,
        &["src"],
        &["src.src[16]"],
        "src.src: 15 free + 16 queued + 0 held of 32 buffers; src.src[16] is nowhere: src got it \
         last, in tick 3",
    );
}

#[test]
fn one_place() {
    let twice = |p: &mut PipelineFabric| {
        let (buffer, since) = (oldest(p, OUT), p.tick);
        p.lanes[VIA]
            .extras
            .make()
            .kept
            .push_back(Kept { buffer, since });
    };
    breaks(
        32,
        twice,
        Invariant::OnePlace,
        &["via", "out"],
        &["src.src[0]"],
        "src.src[0] is in 2 places and has 1 references",
    );
    breaks(
        32,
        |p| p.buffers.refs[20] = 1,
        Invariant::OnePlace,
        &["src"],
        &["src.src[20]"],
        "src.src[20] is free, with 1 references and in 0 places",
    );
    breaks(
        32,
        |p| {
            let buffer = oldest(p, OUT);
            p.buffers.pools[0].free.insert(buffer.0);
        },
        Invariant::OnePlace,
        &["out"],
        &["src.src[0]"],
        "src.src[0] is free, with 1 references and in 1 places",
    );
}

#[test]
fn pool_index() {
    breaks(
        6,
        |p| {
            p.lanes[OUT].inputs[0].queue.drop_front();
            p.lanes[OUT].inputs[0]
                .queue
                .push(Item::buffer(BufferId(99)));
        },
        Invariant::PoolIndex,
        &["out"],
        &[],
        "out has buffer 99, which is no pool's",
    );
    breaks(
        32,
        |p| p.buffers.pool[31] = PoolId(1),
        Invariant::PoolIndex,
        &["src"],
        &[],
        "not all of buffers 0..32 are those of src.src",
    );
}

#[test]
fn pool_state() {
    breaks(
        32,
        |p| p.buffers.pools[0].committed = false,
        Invariant::PoolState,
        &["src"],
        &[],
        "src fills buffers of a pool that is not committed: src.src",
    );
    breaks(
        6,
        |p| p.buffers.pools[0].committed = false,
        Invariant::PoolState,
        &["src"],
        &[],
        "src.src has a list of who waits that cannot be",
    );
    breaks(
        6,
        |p| p.buffers.pools[0].waiting.clear(),
        Invariant::PoolState,
        &["src"],
        &[],
        "src waits for a buffer and nobody will tell it: src.src",
    );
    breaks(
        6,
        |p| p.buffers.pools[0].waiting.push(LaneId(77)),
        Invariant::PoolState,
        &["src"],
        &[],
        "src.src has a list of who waits that cannot be",
    );
    breaks(
        6,
        |p| p.buffers.pools[0].decommitting = true,
        Invariant::PoolState,
        &["src"],
        &[],
        "src.src is decommitting with 6 buffers out, and committed is true",
    );
    breaks(
        32,
        |p| p.buffers.memory[30] = None,
        Invariant::PoolState,
        &["src"],
        &["src.src[30]"],
        "src.src[30] has no bytes",
    );
    breaks(
        32,
        |p| p.buffers.memory[0] = None,
        Invariant::PoolState,
        &["out"],
        &["src.src[0]"],
        "src.src[0] has no bytes",
    );
}

#[test]
fn one_tick() {
    let left = |what: &str| format!("via has {what} left at the end of a tick");
    let check = |break_it: &dyn Fn(&mut PipelineFabric), what: &str| {
        breaks(6, break_it, Invariant::OneTick, &["via"], &[], &left(what));
    };
    let grant = |p: &mut PipelineFabric| Granted {
        buffer: BufferId(0),
        memory: p.buffers.memory[0].take().expect("bytes"),
        meta: p.buffers.meta[0],
    };
    check(
        &|p| {
            let granted = grant(p);
            p.lanes[VIA].extras.make().granted.push_back(granted);
        },
        "buffers that were granted",
    );
    check(
        &|p| {
            let granted = grant(p);
            p.lanes[VIA].extras.make().borrowed.push(granted);
        },
        "memory that was lent",
    );
    check(
        &|p| {
            let granted = grant(p);
            p.lanes[VIA].extras.make().published.push(granted);
        },
        "buffers that it filled",
    );
    check(
        &|p| p.lanes[VIA].released.push(BufferId(0)),
        "references that it let go",
    );
    check(
        &|p| p.lanes[VIA].extras.make().retained.push(BufferId(0)),
        "references that it added",
    );
    check(
        &|p| p.lanes[VIA].extras.make().posted.push(Posted::Eos),
        "lines for the bus",
    );
    check(
        &|p| p.lanes[VIA].outputs[0].staged.push(Item::EOS),
        "buffers that it emitted",
    );
}

#[test]
fn links() {
    breaks(
        6,
        |p| p.lanes[VIA].inputs[0].from.1 = 7,
        Invariant::Links,
        &["src"],
        &[],
        "source pad 0 of src leads nowhere",
    );
    breaks(
        6,
        |p| p.lanes[OUT].inputs[0].from = (LaneId(9), 0),
        Invariant::Links,
        &["via"],
        &[],
        "source pad 0 of via leads nowhere",
    );
    breaks(
        6,
        |p| p.lanes[OUT].outputs = p.lanes[VIA].outputs.clone(),
        Invariant::Links,
        &["out"],
        &[],
        "source pad 0 of out leads nowhere",
    );
}

#[test]
fn bounds() {
    breaks(
        6,
        |p| {
            p.lanes[OUT].inputs[0].queue.push(Item::EOS);
            p.lanes[OUT].inputs[0].queue.push(Item::EOS);
        },
        Invariant::Bounds,
        &["out", "via"],
        &[],
        "an end from via to out is not the last item, or not the only one",
    );
}

#[test]
fn counters() {
    breaks(
        6,
        |p| p.lanes[SRC].outputs[0].emitted += 1,
        Invariant::Counters,
        &["via", "src"],
        &[],
        "src emitted 7 buffers and no end to via, which took 6 and has no end; 0 are queued",
    );
    breaks(
        6,
        |p| p.lanes[VIA].outputs[0].eos = true,
        Invariant::Counters,
        &["out", "via"],
        &[],
        "via emitted 6 buffers and the end to out, which took 0 and has no end; 6 are queued",
    );
}

#[test]
fn done() {
    breaks(
        32,
        |p| p.lanes[VIA].done = true,
        Invariant::Done,
        &["via"],
        &[],
        "via is done and holds buffers in its queues",
    );
}

#[test]
fn marks() {
    let check = |break_it: &dyn Fn(&mut PipelineFabric), elements: &[&str], text: &str| {
        breaks(6, break_it, Invariant::Marks, elements, &[], text);
    };
    check(
        &|p| p.waiting_for_room += 1,
        &[],
        "0 lanes wait for room, and 1 are counted",
    );
    check(
        &|p| p.live_sinks += 1,
        &[],
        "1 sinks are not at their end, and 2 are counted",
    );
    check(
        &|p| p.timers.insert(VIA as u32),
        &["via"],
        "via does not wait for time, and its mark differs",
    );
    check(
        &|p| p.sinks.clear(),
        &["out"],
        "out is a sink, and not listed as one",
    );
    check(
        &|p| p.sinks.push(SRC as u32),
        &[],
        "0 lanes are listed as sinks beyond, and 1 are counted",
    );
}

#[test]
fn gates() {
    breaks(
        6,
        |p| p.lanes[VIA].gate = Gate::Closed,
        Invariant::Gates,
        &["via"],
        &[],
        "via is paused in a pipeline that is paused, and its gate is closed",
    );
    breaks(
        6,
        |p| p.sink_gate = Gate::Closed,
        Invariant::Gates,
        &[],
        &[],
        "the pipeline is paused, and gates of sources are open, of sinks closed",
    );
    let (mut engine, pipeline) = paused(6);
    let via = pad_of(&engine, VIA).0;
    *engine.world_mut().get_mut::<State>(via).expect("a state") = State::Playing;
    let breach = found(engine, pipeline);
    assert_eq!(
        (&*breach.id, &*breach.elements),
        ("gates", &own(&["via"])[..])
    );
    assert_eq!(
        breach.text,
        "via is playing in a pipeline that is paused, and its gate is open"
    );
}

/// The entities of the element of a lane and of its sink pad.
fn pad_of(engine: &Engine, lane: usize) -> (Entity, Entity) {
    let graphs = engine.world().resource::<Graphs>();
    let graph = graphs.running.iter().flatten().next().expect("it runs");
    let link = graph.links[graph.nodes[lane].inputs[0]];
    (graph.nodes[lane].entity, link.to.pad)
}

#[test]
fn caps() {
    let (mut engine, pipeline) = paused(6);
    let pad = pad_of(&engine, VIA).1;
    let other: Caps = "audio/x-raw".parse().expect("caps");
    *engine.world_mut().get_mut::<PadCaps>(pad).expect("caps") = PadCaps(Some(Arc::new(other)));
    let breach = found(engine, pipeline);
    assert_eq!(
        (&*breach.id, &*breach.elements),
        ("caps", &own(&["via", "src"])[..])
    );
    assert_eq!(
        breach.text,
        "a pad of via has caps audio/x-raw, and ANY was agreed"
    );
}

#[test]
fn an_element_that_swallows_a_buffer_is_named() {
    for nth in [1, 7, 50] {
        let mut engine = engine(Some(true), 0);
        let pipeline = launch(
            &mut engine,
            &format!("fakesrc name=src num-buffers=100 ! thief nth={nth} name=t ! fakesink"),
        );
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict, Verdict::Failed);
        let breach = report.invariant.expect("found");
        assert_eq!(
            (&*breach.id, &*breach.elements),
            ("pool-balance", &own(&["t"])[..])
        );
        assert_eq!(breach.buffers.len(), 1);
        assert!(
            breach.text.contains("is nowhere: t got it last"),
            "{}",
            breach.text
        );
        let error = report.messages.iter().find(|m| m.kind == "error");
        let error = error.expect("a message");
        assert_eq!(
            (error.tick, error.element.as_deref()),
            (breach.tick, Some("t"))
        );
        assert_eq!(error.code.as_deref(), Some("invariant"));
        // It is found in the tick in which the buffer was taken, before the next one is.
        let thief = report.elements.iter().find(|e| e.name == "t");
        let taken = thief.map_or(0, |e| e.buffers_in);
        assert!((nth..nth + 4).contains(&taken), "{taken}");
    }
}

#[test]
fn a_buffer_in_an_elements_own_pocket_is_found() {
    for nth in [1, 9] {
        let mut engine = engine(Some(true), 0);
        let pipeline = launch(&mut engine, &format!("pocket nth={nth} name=p ! fakesink"));
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        let breach = report.invariant.expect("found");
        assert_eq!(
            (&*breach.id, &*breach.elements),
            ("pool-balance", &own(&["p"])[..])
        );
        assert!(breach.buffers[0].starts_with("p.src["), "{breach:?}");
    }
}

#[test]
fn a_large_graph_is_looked_at_less_often_unless_asked() {
    let chain = "identity ! ".repeat(600);
    let ticks_until_found = |check| {
        let mut engine = engine(check, 0);
        let pipeline = launch(&mut engine, &format!("fakesrc ! {chain} fakesink"));
        engine.set_state(pipeline, State::Paused);
        engine.advance(0..1, 20);
        fabric(&mut engine).live_sinks = 5;
        let from = fabric(&mut engine).tick;
        engine.advance(0..1, 20);
        let breach = engine.report(pipeline).invariant;
        breach.map(|b| b.tick - from)
    };
    assert_eq!(ticks_until_found(Some(true)), Some(0));
    assert_eq!(ticks_until_found(Some(false)), None);
    if cfg!(debug_assertions) {
        assert!(ticks_until_found(None).is_some_and(|t| t < 20));
    }
}

#[test]
fn the_page_has_a_section_for_each() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/invariants.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'))
        .collect();
    let ids: Vec<&str> = Invariant::ALL.iter().map(|i| i.name()).collect();
    assert_eq!(sections, ids);
}
