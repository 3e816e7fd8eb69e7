//! DirectShow's rules of a renderer, case by case: what a sink does in each state with data, flushes and
//! ends.

mod acting;

use acting::{
    buffers, count, engine, fabric, go, kinds, launch, messages, named, out, taken, ticks,
};
use tickpipe::components::fabric::Progress;
use tickpipe::components::occurrence::{Deed, Reason};
use tickpipe::{
    ChangeResult, ClockMode, Engine, Flush, MessageKind, MessageMask, PipelineHandle, State,
};

fn result(engine: &Engine, pipeline: PipelineHandle) -> ChangeResult {
    engine.state_change(pipeline).result
}

/// The source goes on over a `.` of its script.
fn serve(engine: &mut Engine, pipeline: PipelineHandle) {
    let source = named(engine, pipeline, "src");
    engine.device_ready(source);
    ticks(engine, 4);
}

#[test]
fn r1_receive_stopped() {
    // A stopped sink gets nothing: what was on its way when it was stopped comes home unseen.
    let mut engine = engine();
    let text = "actsrc name=src label=r1 counts=true script=bbbb.bb ! actsink label=r1";
    let pipeline = launch(&mut engine, text);
    go(&mut engine, pipeline, State::Paused);
    ticks(&mut engine, 3);
    assert!(out("r1").0 >= 4, "buffers wait for the sink");
    go(&mut engine, pipeline, State::Ready);
    serve(&mut engine, pipeline);
    assert_eq!(out("r1").0, 0);
    assert_eq!(buffers(&taken("r1")), [0; 0]);
}

#[test]
fn r2_pause_is_complete_with_the_first_sample() {
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "actsrc name=src script=.b.b ! actsink label=r2",
    );
    engine.set_state(pipeline, State::Paused);
    ticks(&mut engine, 10);
    let change = engine.state_change(pipeline);
    assert_eq!(
        (change.state, change.pending, change.result),
        (State::Paused, None, ChangeResult::Async)
    );
    assert_eq!(
        count(&messages(&mut engine, pipeline), MessageMask::ASYNC_DONE),
        0
    );
    serve(&mut engine, pipeline);
    assert_eq!(result(&engine, pipeline), ChangeResult::Success);
    assert_eq!(
        kinds(&messages(&mut engine, pipeline)),
        [MessageKind::AsyncDone]
    );
    // It shows what it holds, and has not taken it.
    let log = taken("r2");
    assert_eq!(log.last().map(String::as_str), Some("preroll 0"));
    let sink = named(&engine, pipeline, "actsink0");
    assert_eq!(engine.shown(sink).map(|s| s.meta.index), Some(0));
    assert_eq!(engine.taken(pipeline), 0);
}

#[test]
fn r3_receive_blocks_in_paused() {
    for free in ["play", "stop", "flush"] {
        let label = format!("r3-{free}");
        let mut engine = engine();
        let text = format!(
            "actsrc name=src label={label} counts=true script=bbb.bbe ! actsink name=out \
             label={label}"
        );
        let pipeline = launch(&mut engine, &text);
        go(&mut engine, pipeline, State::Paused);
        ticks(&mut engine, 20);
        let log = taken(&label);
        assert_eq!(buffers(&log), [0; 0], "it takes none");
        assert_eq!(log.iter().filter(|l| l.starts_with("preroll")).count(), 1);
        assert_eq!(out(&label).0, 3, "all wait");
        match free {
            "play" => {
                go(&mut engine, pipeline, State::Playing);
                serve(&mut engine, pipeline);
                assert_eq!(buffers(&taken(&label)), [0, 1, 2, 3, 4]);
            }
            "stop" => {
                go(&mut engine, pipeline, State::Ready);
                assert_eq!(buffers(&taken(&label)), [0; 0]);
            }
            _ => {
                engine.flush(pipeline, None, Flush::Discard);
                engine.tick();
                assert_eq!(out(&label).0, 0);
                serve(&mut engine, pipeline);
                let log = taken(&label);
                assert_eq!(log[..2], ["flush", "preroll 3"]);
                assert_eq!(buffers(&log), [0; 0]);
            }
        }
        go(&mut engine, pipeline, State::Ready);
        assert_eq!(out(&label).0, 0, "{free}");
    }
}

#[test]
fn r4_flush_in_paused_makes_it_wait_again() {
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "actsrc name=src script=bb.b.b.be ! actsink label=r4",
    );
    go(&mut engine, pipeline, State::Paused);
    ticks(&mut engine, 5);
    assert_eq!(result(&engine, pipeline), ChangeResult::Success);
    messages(&mut engine, pipeline);
    for how in [Flush::Discard, Flush::Start] {
        engine.flush(pipeline, None, how);
        ticks(&mut engine, 3);
        assert_eq!(result(&engine, pipeline), ChangeResult::Async, "{how:?}");
        if how == Flush::Start {
            // What comes now is refused, so that it does not complete anything.
            serve(&mut engine, pipeline);
            assert_eq!(result(&engine, pipeline), ChangeResult::Async);
            engine.flush(pipeline, None, Flush::Stop);
        }
        serve(&mut engine, pipeline);
        assert_eq!(result(&engine, pipeline), ChangeResult::Success, "{how:?}");
        let told = kinds(&messages(&mut engine, pipeline));
        assert_eq!(told, [MessageKind::AsyncDone], "{how:?}");
    }
    let log = taken("r4");
    let shown: Vec<_> = log.iter().filter(|l| l.starts_with("preroll")).collect();
    assert_eq!(shown, ["preroll 0", "preroll 2", "preroll 4"]);
}

#[test]
fn r5_eos_in_paused_is_told_in_playing() {
    let mut engine = engine();
    let pipeline = launch(&mut engine, "actsrc script=e ! actsink label=r5");
    engine.set_state(pipeline, State::Paused);
    ticks(&mut engine, 10);
    assert_eq!(
        result(&engine, pipeline),
        ChangeResult::Success,
        "the end makes it ready"
    );
    assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 0);
    go(&mut engine, pipeline, State::Playing);
    ticks(&mut engine, 10);
    assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 1);
    assert_eq!(engine.progress(pipeline), Progress::Ended);
}

#[test]
fn r6_eos_twice_is_one_event() {
    let mut engine = engine();
    for (script, outside) in [("bee", 0), ("b.", 1), ("b.", 2), ("bee", 2)] {
        let text = format!("actsrc name=src script={script} ! queue ! queue ! actsink label=r6");
        let pipeline = launch(&mut engine, &text);
        engine.set_state(pipeline, State::Playing);
        ticks(&mut engine, 3);
        // From outside, and before the end is there.
        assert_eq!(engine.progress(pipeline), Progress::Running);
        let source = named(&engine, pipeline, "src");
        for _ in 0..outside {
            engine.flush(pipeline, Some(source), Flush::DiscardAndEnd);
        }
        ticks(&mut engine, 20);
        let told = messages(&mut engine, pipeline);
        assert_eq!(count(&told, MessageMask::EOS), 1, "{script} {outside}");
        assert_eq!(taken("r6").iter().filter(|l| *l == "end").count(), 1);
    }
}

#[test]
fn r7_a_sample_after_eos_is_refused() {
    let mut engine = engine();
    let text = "actsrc name=src label=r7 counts=true script=bbebb ! queue ! actsink label=r7";
    let pipeline = launch(&mut engine, text);
    go(&mut engine, pipeline, State::Playing);
    ticks(&mut engine, 10);
    assert_eq!(buffers(&taken("r7")), [0, 1]);
    assert_eq!(out("r7").0, 0);
    let report = engine.report(pipeline);
    let source = report.elements.iter().find(|e| e.name == "src");
    assert_eq!(source.map(|e| (e.buffers_out, e.dropped)), Some((2, 2)));
}

#[test]
fn r8_eos_while_flushing_is_refused() {
    let mut engine = engine();
    let text = "actsrc name=src label=r8 counts=true script=b.be ! actsink name=out label=r8";
    let pipeline = launch(&mut engine, text);
    go(&mut engine, pipeline, State::Playing);
    engine.flush(pipeline, None, Flush::Start);
    engine.tick();
    serve(&mut engine, pipeline);
    ticks(&mut engine, 10);
    assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 0);
    assert_eq!(buffers(&taken("r8")), [0]);
    assert_eq!(out("r8").0, 0, "what came is home");
    let sink = named(&engine, pipeline, "out");
    let lane = fabric(&engine, pipeline).lanes.last().expect("a sink");
    assert_eq!(lane.extras.tally.count(Reason::Flush, Deed::Dropped), 1);
    assert!(engine.readiness(sink).is_some());
    // Its sender sent the end once and will not again: it is there when the flush is over.
    engine.flush(pipeline, None, Flush::Stop);
    ticks(&mut engine, 3);
    assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 1);
}

#[test]
fn r9_stop_clears_eos() {
    let mut engine = engine();
    let pipeline = launch(&mut engine, "actsrc script=bbbe ! actsink label=r9");
    for run in 0..3 {
        go(&mut engine, pipeline, State::Playing);
        ticks(&mut engine, 10);
        assert_eq!(
            count(&messages(&mut engine, pipeline), MessageMask::EOS),
            1,
            "{run}"
        );
        go(&mut engine, pipeline, State::Ready);
        messages(&mut engine, pipeline);
        assert_eq!(buffers(&taken("r9")), [0, 1, 2], "{run}");
    }
}

#[test]
fn r10_the_pool_is_committed_only_while_started() {
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "fakesrc sizetype=fixed ! poolsink offer=true hold=2",
    );
    let pools = |engine: &Engine| -> Vec<bool> {
        let pools = &fabric(engine, pipeline).buffers.pools;
        pools.iter().map(|p| p.committed).collect()
    };
    assert_eq!(pools(&engine), [false; 0]);
    for state in [State::Paused, State::Playing, State::Paused] {
        go(&mut engine, pipeline, state);
        assert_eq!(pools(&engine), [true], "{state}");
    }
    go(&mut engine, pipeline, State::Ready);
    assert_eq!(pools(&engine), [false; 0]);
}

#[test]
fn r11_the_end_comes_when_the_last_sample_is_over() {
    // Three of 40 ms: the last is shown at 80 ms and over at 120 ms.
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "actsrc script=bbbe ! actsink name=out sync=true",
    );
    engine.set_clock(pipeline, ClockMode::Virtual);
    engine.set_state(pipeline, State::Playing);
    let mut shown = None;
    for _ in 0..100 {
        engine.tick();
        let p = fabric(&engine, pipeline);
        if shown.is_none() && engine.taken(pipeline) == 3 {
            shown = Some(p.now);
        }
        if p.progress == Progress::Ended {
            break;
        }
    }
    let now = fabric(&engine, pipeline).now;
    assert_eq!(engine.progress(pipeline), Progress::Ended);
    assert_eq!((shown, now), (Some(80_000_000), 120_000_000));
}

#[test]
fn r12_run_with_nothing_linked() {
    // DirectShow tells the end at once; here a pad that must be linked is named instead.
    let mut engine = engine();
    let pipeline = engine.create_pipeline("p");
    let sink = engine.create("fakesink", 1).expect("a class");
    engine.add(pipeline, sink).expect("free");
    engine.set_state(pipeline, State::Playing);
    let error = engine.wait(pipeline, MessageMask::ERROR).expect("an error");
    let (domain, code) = error.kind.fault().expect("a fault");
    assert_eq!((domain.name(), code.name()), ("flow", "not-linked"));
    let plan = engine.plan(pipeline).expect_err("it is not linked");
    assert_eq!(plan.to_string(), "pad fakesink1.sink is not linked");
    // A sink that is added to a running graph and linked to nothing is waited for by nobody.
    let (running, _) = engine
        .launch("q", "fakesrc num-buffers=5 ! fakesink")
        .expect("a graph");
    go(&mut engine, running, State::Paused);
    let other = engine.create("fakesink", 9).expect("a class");
    engine.add(running, other).expect("free");
    go(&mut engine, running, State::Playing);
    ticks(&mut engine, 20);
    assert_eq!(engine.progress(running), Progress::Ended);
}
