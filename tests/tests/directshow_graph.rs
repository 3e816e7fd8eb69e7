//! DirectShow's rules of a filter graph, case by case.

mod acting;

use acting::{buffers, count, engine, go, launch, messages, named, taken, ticks};
use tickpipe::components::fabric::Progress;
use tickpipe::components::fault::{Code, Domain};
use tickpipe::{
    ChangeResult, ClockMode, DownOrder, Engine, Filter, MessageKind, MessageMask, PipelineHandle,
    Removal, State, WhenFull,
};

/// The names of elements in the order in which they reached states.
fn order(engine: &mut Engine, pipeline: PipelineHandle, states: &[State]) -> Vec<String> {
    let filter = Filter::kinds(MessageMask::ELEMENT_STATE);
    let subscription = engine.subscribe(pipeline, filter, 0, WhenFull::DropNewest);
    for &state in states {
        go(engine, pipeline, state);
    }
    let mut order = Vec::new();
    while let Some(message) = engine.next_of(subscription) {
        let element = message.element.expect("an element's");
        let MessageKind::StateChanged(state) = message.kind else {
            panic!("{message:?}");
        };
        order.push(format!("{} {state}", element.0));
    }
    engine.unsubscribe(subscription);
    order
}

#[test]
fn g1_sinks_change_before_sources() {
    let mut engine = engine();
    // By id: the source is 0, the tee 1, then queue and sink of each branch.
    let text = "fakesrc ! tee name=t t. ! queue ! fakesink t. ! queue ! fakesink";
    let pipeline = launch(&mut engine, text);
    engine.set_down_order(pipeline, DownOrder::SinksFirst);
    let states = [State::Paused, State::Playing, State::Paused, State::Ready];
    let order = order(&mut engine, pipeline, &states);
    let each = |state: State| {
        let order = [5, 4, 3, 2, 1, 0];
        order.map(|id| format!("{id} {state}")).to_vec()
    };
    assert_eq!(order, states.map(each).concat());
}

#[test]
fn g2_a_run_before_preroll_waits_for_it() {
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "actsrc name=src script=.bbe ! actsink label=g2",
    );
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 20);
    let change = engine.state_change(pipeline);
    assert_eq!(
        (change.state, change.pending, change.result),
        (State::Paused, Some(State::Playing), ChangeResult::Async)
    );
    let source = named(&engine, pipeline, "src");
    engine.device_ready(source);
    ticks(&mut engine, 4);
    assert_eq!(engine.state(pipeline), State::Playing);
    let told: Vec<_> = messages(&mut engine, pipeline)
        .iter()
        .map(|m| m.kind)
        .collect();
    assert_eq!(
        told[..3],
        [
            MessageKind::StateChanged(State::Paused),
            MessageKind::AsyncDone,
            MessageKind::StateChanged(State::Playing)
        ]
    );
}

#[test]
fn g3_pause_or_stop_cancels_a_run_that_waits() {
    for other in [State::Paused, State::Ready] {
        let mut engine = engine();
        let pipeline = launch(
            &mut engine,
            "actsrc name=src script=.bbe ! actsink label=g3",
        );
        engine.set_state(pipeline, State::Playing);
        ticks(&mut engine, 10);
        engine.set_state(pipeline, other);
        ticks(&mut engine, 2);
        let change = engine.state_change(pipeline);
        assert_eq!((change.state, change.pending), (other, None));
        let source = named(&engine, pipeline, "src");
        engine.device_ready(source);
        ticks(&mut engine, 10);
        assert_eq!(engine.state(pipeline), other, "it does not run after all");
        let played = MessageKind::StateChanged(State::Playing);
        let told = messages(&mut engine, pipeline);
        assert!(told.iter().all(|m| m.kind != played));
        assert_eq!(buffers(&taken("g3")), [0; 0]);
    }
}

#[test]
fn g4_cannot_cue_wins_wherever_it_is() {
    // Live and not, in either order; the other sink waits for a first buffer that does not come.
    let live = "actsrc is-live=true script=bbe ! fakesink";
    let waits = "actsrc name=src script=.be ! fakesink";
    for text in [format!("{live} {waits}"), format!("{waits} {live}")] {
        let mut engine = engine();
        let pipeline = launch(&mut engine, &text);
        engine.set_state(pipeline, State::Paused);
        ticks(&mut engine, 2);
        let change = engine.state_change(pipeline);
        assert_eq!(
            (change.state, change.pending, change.result),
            (State::Paused, None, ChangeResult::NoPreroll)
        );
        engine.set_state(pipeline, State::Playing);
        ticks(&mut engine, 1);
        assert_eq!(engine.state(pipeline), State::Playing, "at once");
        let source = named(&engine, pipeline, "src");
        engine.device_ready(source);
        ticks(&mut engine, 10);
        assert_eq!(engine.progress(pipeline), Progress::Ended);
    }
}

#[test]
fn g5_one_end_of_two_renderers() {
    let mut engine = engine();
    let text = "actsrc script=bbe ! fakesink actsrc name=long script=bbbb.be ! fakesink";
    let pipeline = launch(&mut engine, text);
    go(&mut engine, pipeline, State::Playing);
    ticks(&mut engine, 20);
    assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 0);
    let long = named(&engine, pipeline, "long");
    engine.device_ready(long);
    ticks(&mut engine, 10);
    let told = messages(&mut engine, pipeline);
    let ends: Vec<_> = told.iter().filter(|m| m.kind == MessageKind::Eos).collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].element, None);
}

#[test]
fn g6_ends_before_run_count_when_it_runs() {
    // One sink has its end in PAUSED already, the other later: one end, and not before both.
    let mut engine = engine();
    let text = "actsrc script=e ! fakesink actsrc name=long script=b.be ! fakesink";
    let pipeline = launch(&mut engine, text);
    for run in 0..3 {
        go(&mut engine, pipeline, State::Paused);
        ticks(&mut engine, 10);
        assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 0);
        go(&mut engine, pipeline, State::Playing);
        ticks(&mut engine, 10);
        assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 0);
        let long = named(&engine, pipeline, "long");
        engine.device_ready(long);
        ticks(&mut engine, 10);
        let told = messages(&mut engine, pipeline);
        assert_eq!(count(&told, MessageMask::EOS), 1, "{run}");
        go(&mut engine, pipeline, State::Ready);
    }
}

#[test]
fn g7_the_position_at_the_end_is_the_last_frame() {
    // DirectShow answers with the stop position; here it is that of the frame that is shown, and the
    // duration is asked for by itself.
    let mut engine = engine();
    let text = "videotestsrc num-buffers=10 ! video/x-raw,width=16,height=8,framerate=25/1 ! \
                fakesink name=out sync=true";
    let pipeline = launch(&mut engine, text);
    engine.set_clock(pipeline, ClockMode::Virtual);
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 60);
    assert_eq!(engine.progress(pipeline), Progress::Ended);
    let sink = named(&engine, pipeline, "out");
    let (at, base) = engine.position(sink).expect("it showed some");
    assert_eq!((at, base.num(), base.den()), (9, 1, 25));
    let (lasts, base) = engine.duration(pipeline).expect("it is known");
    assert_eq!((lasts, base.num(), base.den()), (10, 1, 25));
}

#[test]
fn g8_a_filter_added_while_running_keeps_its_state_until_it_is_linked() {
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "actsrc script=bbbb.* ! tee name=t t. ! fakesink",
    );
    go(&mut engine, pipeline, State::Playing);
    let queue = engine.create("queue", 50).expect("a class");
    let sink = engine.create("fakesink", 51).expect("a class");
    for element in [queue, sink] {
        engine.add(pipeline, element).expect("free");
    }
    ticks(&mut engine, 10);
    assert_eq!(engine.element_state(queue), State::Ready);
    assert_eq!(engine.element_state(sink), State::Ready);
    // Linked, it follows the pipeline.
    let tee = named(&engine, pipeline, "t");
    engine.link_all([tee, queue, sink]).expect("they meet");
    ticks(&mut engine, 3);
    assert_eq!(engine.element_state(queue), State::Playing);
    assert_eq!(engine.element_state(sink), State::Playing);
    go(&mut engine, pipeline, State::Ready);
    assert_eq!(engine.element_state(sink), State::Ready);
}

#[test]
fn g9_a_loop_is_refused() {
    let mut engine = engine();
    let pipeline = engine.create_pipeline("p");
    let made: Vec<_> = (0u32..)
        .zip(["tee", "identity", "fakesink"])
        .map(|(id, class)| {
            let element = engine.create(class, id).expect("a class");
            engine.add(pipeline, element).expect("free");
            element
        })
        .collect();
    engine
        .link_all([made[0], made[1], made[0], made[2]])
        .expect("pads are free");
    engine.set_state(pipeline, State::Paused);
    let error = engine.wait(pipeline, MessageMask::ERROR).expect("an error");
    assert_eq!(error.kind, MessageKind::Error(Domain::Flow, Code::Loop));
    assert_eq!(engine.state(pipeline), State::Ready);
    let plan = engine.plan(pipeline).expect_err("a loop");
    assert_eq!(
        plan.to_string(),
        "the links form a loop through tee0, identity1"
    );
}

#[test]
fn g10_a_filter_removed_while_running() {
    for removal in [Removal::Drain, Removal::Discard] {
        let mut engine = engine();
        let text = "actsrc label=g10 counts=true script=bbbbbbbbbbbbbbbbbbbbe ! tee name=t t. ! \
                    queue ! fakesink name=stays t. ! queue name=q ! fakesink name=goes";
        let pipeline = launch(&mut engine, text);
        engine.set_state(pipeline, State::Playing);
        ticks(&mut engine, 4);
        for name in ["q", "goes"] {
            let element = named(&engine, pipeline, name);
            engine
                .remove(pipeline, element, removal)
                .expect("it is there");
        }
        ticks(&mut engine, 30);
        assert_eq!(engine.progress(pipeline), Progress::Ended, "{removal:?}");
        assert!(engine.element(pipeline, "goes").is_none());
        let report = engine.report(pipeline);
        // Who left keeps its line.
        let left: Vec<_> = report.elements.iter().filter(|e| e.removed).collect();
        let left: Vec<_> = left.iter().map(|e| &*e.name).collect();
        assert_eq!(left, ["q", "goes"], "{removal:?}");
        let sinks = report.sinks.iter().filter(|s| !left.contains(&&*s.name));
        let sinks: Vec<_> = sinks.map(|s| (&*s.name, s.buffers)).collect();
        assert_eq!(sinks, [("stays", 20)], "{removal:?}");
        assert_eq!(count(&messages(&mut engine, pipeline), MessageMask::EOS), 1);
        go(&mut engine, pipeline, State::Ready);
        assert_eq!(acting::out("g10").0, 0);
    }
}

/// What a graph's clock does belongs to its time: it stands while paused.
#[test]
fn g2_what_was_paused_does_not_count() {
    let mut engine = engine();
    let pipeline = launch(
        &mut engine,
        "actsrc script=bbbbe ! fakesink name=out sync=true",
    );
    engine.set_clock(pipeline, ClockMode::Virtual);
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 6);
    let before = acting::fabric(&engine, pipeline).now;
    go(&mut engine, pipeline, State::Paused);
    ticks(&mut engine, 50);
    assert_eq!(acting::fabric(&engine, pipeline).now, before);
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 50);
    assert_eq!(engine.progress(pipeline), Progress::Ended);
    let timing = engine.sink_timing(named(&engine, pipeline, "out"));
    assert_eq!(timing.map(|t| (t.late, t.max_late)), Some((0, 0)));
}
