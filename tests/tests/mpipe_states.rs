//! mpipe's rules of elements, bins, pipelines and their states, case by case.

mod acting;

use acting::{buffers, count, engine, fabric, go, launch, messages, named, out, taken, ticks};
use tickpipe::components::fabric::{Gate, Progress};
use tickpipe::components::fault::{Code, Domain};
use tickpipe::{
    BuildError, Engine, Filter, Flush, LinkError, Message, MessageKind, MessageMask,
    PipelineHandle, RunOptions, State, WhenFull,
};

/// The names of elements in the order in which they reached states.
fn order(engine: &mut Engine, pipeline: PipelineHandle, states: &[State]) -> Vec<String> {
    let filter = Filter::kinds(MessageMask::ELEMENT_STATE);
    let subscription = engine.subscribe(pipeline, filter, 0, WhenFull::DropNewest);
    for &state in states {
        go(engine, pipeline, state);
    }
    let told = core::iter::from_fn(|| engine.next_of(subscription));
    let ids: Vec<_> = told.filter_map(|m| m.element).collect();
    engine.unsubscribe(subscription);
    let elements = engine.elements(pipeline);
    let name = |id: &tickpipe::components::id::ElementId| {
        let found = elements.iter().find(|e| {
            let info = engine
                .world()
                .get::<tickpipe::components::graph::Element>(e.entity());
            info.is_some_and(|i| i.id == *id)
        });
        found.map_or_else(String::new, |e| engine.name(*e))
    };
    ids.iter().map(name).collect()
}

#[test]
fn element_link_two_elements() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    let mut make = |class: &str, id| {
        let element = engine.create(class, id).expect("a class");
        engine.add(p, element).expect("free");
        element
    };
    let (src, a, b, sink) = (
        make("fakesrc", 1),
        make("identity", 2),
        make("identity", 3),
        make("fakesink", 4),
    );
    engine.link(src, a).expect("first unlinked pads");
    // Neither has a pad of that direction left, or has one at all.
    for (from, to) in [(src, b), (b, a), (sink, b), (b, src)] {
        assert!(matches!(
            engine.link(from, to),
            Err(LinkError::NoFreePad { .. })
        ));
    }
    engine.link(a, b).expect("free");
    engine.link(b, sink).expect("free");
    assert_eq!(engine.plan(p).expect("whole").links.len(), 3);
}

#[cfg(feature = "video")]
#[test]
fn element_link_needs_caps_that_meet() {
    let mut engine = engine();
    let text = "videotestsrc ! audio/x-raw ! fakesink";
    let (p, _) = engine
        .launch("main", text)
        .expect("a filter is asked when it starts");
    engine.set_state(p, State::Paused);
    let error = engine.wait(p, MessageMask::ERROR).expect("an error");
    let not = MessageKind::Error(Domain::Caps, Code::NotNegotiated);
    assert_eq!(error.kind, not);
}

#[test]
fn element_get_bus_finds_the_nearest_group_that_has_one() {
    // Bins have no bus of their own: what is in them, however deep, posts to their pipeline's, and to no
    // other. What is in none posts to nobody.
    let mut engine = engine();
    let inner = "bin.( name=c actpass name=deep fail-at=2 )";
    let text = format!("bin.( name=a bin.( name=b actsrc ! {inner} ! fakesink ) )");
    let p = launch(&mut engine, &text);
    let other = launch(&mut engine, "actsrc script=be ! fakesink");
    let orphan = engine.create("actpass", 7).expect("a class");
    for pipeline in [p, other] {
        engine.set_state(pipeline, State::Playing);
    }
    ticks(&mut engine, 20);
    let deep = named(&engine, p, "deep");
    let id = engine
        .world()
        .get::<tickpipe::components::graph::Element>(deep.entity())
        .map(|e| e.id);
    let errors = |all: Vec<Message>| -> Vec<_> {
        let errors = all.into_iter().filter(|m| m.mask() == MessageMask::ERROR);
        errors.map(|m| (m.element, m.kind)).collect()
    };
    let failed = MessageKind::Error(Domain::Resource, Code::Refused);
    assert_eq!(errors(messages(&mut engine, p)), [(id, failed)]);
    assert_eq!(errors(messages(&mut engine, other)), []);
    assert_eq!(engine.element_state(orphan), State::Ready);
}

#[test]
fn element_a_failing_transition_leaves_what_was_reached() {
    // At each step up, for each element: it stays, those before it in the order keep what they reached,
    // and the next request goes on from there.
    let names = ["a", "b", "c"];
    for (hook, from, to) in [
        ("open", State::Ready, State::Paused),
        ("play", State::Paused, State::Playing),
    ] {
        for (at, bad) in names.iter().enumerate() {
            let mut engine = engine();
            let label = format!("fail-{hook}-{bad}");
            let one = |name: &str| {
                let fail = if name == *bad { hook } else { "none" };
                format!("actpass name={name} fail={fail} times=1 label={label}")
            };
            let text = format!(
                "actsrc name=src script=bb.bbe ! {} ! {} ! {} ! actsink label={label}",
                one("a"),
                one("b"),
                one("c")
            );
            let p = launch(&mut engine, &text);
            engine.set_state(p, State::Playing);
            let error = engine.wait(p, MessageMask::ERROR).expect("an error");
            assert_eq!(
                error.kind,
                MessageKind::ChangeFailed(from, to, Domain::Resource, Code::Refused)
            );
            ticks(&mut engine, 10);
            let states = names.map(|n| engine.element_state(named(&engine, p, n)));
            // Sinks first: those behind it are there, it and those before it are not.
            let want = [0, 1, 2].map(|n| if n > at { to } else { from });
            assert_eq!(states, want, "{hook} {bad}");
            assert_eq!(engine.state(p), from);
            assert_eq!(engine.state_change(p).pending, Some(State::Playing));
            assert_eq!(
                count(&messages(&mut engine, p), MessageMask::ERROR),
                0,
                "once"
            );
            // Nobody is asked twice for what it did.
            let log = taken(&label);
            let done = log.iter().filter(|l| *l == hook).count();
            assert_eq!(done, 1 + 3 - at, "{hook} {bad}: {log:?}");
            if hook == "open" {
                let bad = named(&engine, p, bad);
                engine.set(bad, "fail", "none").expect("it is in READY");
            }
            engine.set_state(p, State::Playing);
            ticks(&mut engine, 12);
            assert_eq!(engine.state(p), State::Playing);
            let source = named(&engine, p, "src");
            engine.device_ready(source);
            let end = engine.wait(p, MessageMask::EOS | MessageMask::ERROR);
            assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos), "{hook} {bad}");
            let after = taken(&label);
            // It, and those before it.
            assert_eq!(after.iter().filter(|l| *l == hook).count(), at + 1);
            let seen = buffers(&log).len() + buffers(&after).len();
            assert_eq!(seen, 16, "nothing was lost");
        }
    }
}

#[test]
fn element_down_goes_on_past_failures() {
    let mut engine = engine();
    let text = "actsrc fail=pause ! actpass fail=close ! actpass fail=pause ! actsink fail=close";
    let p = launch(&mut engine, text);
    go(&mut engine, p, State::Playing);
    messages(&mut engine, p);
    go(&mut engine, p, State::Ready);
    let told = messages(&mut engine, p);
    let refused = (Domain::Resource, Code::Refused);
    let down = |from, to| MessageKind::ChangeFailed(from, to, refused.0, refused.1);
    let failures: Vec<_> = told
        .iter()
        .filter(|m| m.mask() == MessageMask::ERROR)
        .map(|m| (m.element.map(|e| e.0), m.kind))
        .collect();
    let (to_paused, to_ready) = (
        down(State::Playing, State::Paused),
        down(State::Paused, State::Ready),
    );
    assert_eq!(
        failures,
        [
            (Some(0), to_paused),
            (Some(2), to_paused),
            (Some(1), to_ready),
            (Some(3), to_ready)
        ]
    );
    assert!(
        engine
            .elements(p)
            .into_iter()
            .all(|e| engine.element_state(e) == State::Ready)
    );
}

#[test]
fn bin_add_elements() {
    let mut engine = engine();
    let (p, q) = (engine.create_pipeline("p"), engine.create_pipeline("q"));
    let a = engine.create("fakesrc", 1).expect("a class");
    let b = engine.create("fakesink", 1).expect("a class");
    engine.add(p, a).expect("the first");
    for other in [p, q] {
        let error = engine.add(other, a).expect_err("it is in one");
        assert!(matches!(error, BuildError::Taken(_)), "{error}");
    }
    let error = engine.add(p, b).expect_err("the same id");
    assert!(matches!(error, BuildError::DuplicateId { .. }), "{error}");
    engine.add(q, b).expect("free there");
    assert_eq!((engine.elements(p).len(), engine.elements(q).len()), (1, 1));
}

#[test]
fn bin_add_several() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    engine.add_all(p, []).expect("none is fine");
    let made: Vec<_> = [1, 2, 2, 3]
        .map(|id| engine.create("identity", id).expect("a class"))
        .to_vec();
    engine
        .add_all(p, made.clone())
        .expect_err("one id is there twice");
    // Those before it are in, those behind it are not.
    assert_eq!(engine.elements(p), made[..2]);
}

#[test]
fn bin_changes_go_through_nested_bins_in_order() {
    let mut engine = engine();
    // Names by place; bins cut across the order of the stream.
    let text = "bin.( name=outer actsrc name=s ! tee name=t bin.( name=inner t. ! \
                actpass name=a ! actsink name=x ) ) t. ! bin.( name=late queue name=q ! \
                actpass name=b ) ! actsink name=y";
    let p = launch(&mut engine, text);
    let up = order(&mut engine, p, &[State::Paused, State::Playing]);
    let half = up.len() / 2;
    assert_eq!(up[..half], up[half..], "the same at each step");
    let at = |name: &str| up[..half].iter().position(|n| n == name).expect(name);
    let edges = [
        ("s", "t"),
        ("t", "a"),
        ("a", "x"),
        ("t", "q"),
        ("q", "b"),
        ("b", "y"),
    ];
    for (from, to) in edges {
        assert!(at(to) < at(from), "up: {to} before {from} in {up:?}");
    }
    for bin in ["outer", "inner", "late"] {
        assert_eq!(engine.bin_state(p, bin), Some(State::Playing), "{bin}");
    }
    let down = order(&mut engine, p, &[State::Paused, State::Ready]);
    let back: Vec<_> = up[..half].iter().rev().cloned().collect();
    assert_eq!(down[..half], back, "down: the other way");
    assert_eq!(down[half..], back);
    for bin in ["outer", "inner", "late"] {
        assert_eq!(engine.bin_state(p, bin), Some(State::Ready), "{bin}");
    }
}

#[test]
fn bin_is_in_the_lowest_state_of_what_is_in_it() {
    let mut engine = engine();
    let text = "bin.( name=bad actsrc ! actpass name=a fail=open times=1 ) ! \
                bin.( name=good actpass ! actsink )";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 5);
    assert_eq!(engine.bin_state(p, "good"), Some(State::Paused));
    assert_eq!(engine.bin_state(p, "bad"), Some(State::Ready));
    assert_eq!(engine.bin_state(p, "none"), None);
}

#[test]
fn bin_a_cycle_is_refused_by_name() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    let made = [
        (1, "tee"),
        (2, "queue"),
        (3, "funnel"),
        (4, "fakesink"),
        (5, "fakesrc"),
    ];
    let made = made.map(|(id, class)| {
        let element = engine.create(class, id).expect("a class");
        engine.add(p, element).expect("free");
        element
    });
    let [tee, queue, funnel, sink, src] = made;
    engine
        .link_all([src, funnel, tee, queue, funnel])
        .expect("pads on request");
    engine.link(tee, sink).expect("a pad on request");
    engine.set_state(p, State::Paused);
    let error = engine.wait(p, MessageMask::ERROR).expect("an error");
    assert_eq!(error.kind, MessageKind::Error(Domain::Flow, Code::Loop));
    assert_eq!(
        engine.plan(p).expect_err("a cycle").to_string(),
        "the links form a loop through tee1, queue2, funnel3"
    );
    assert!(
        made.iter()
            .all(|&e| engine.element_state(e) == State::Ready)
    );
}

#[test]
fn pipeline_fake_source_transform_sink_three_runs() {
    let mut engine = engine();
    let text = "fakesrc num-buffers=10 ! actpass label=mpipe-run ! actsink label=mpipe-run";
    let p = launch(&mut engine, text);
    for run in 0..3 {
        engine.set_state(p, State::Playing);
        let end = engine.wait(p, MessageMask::EOS | MessageMask::ERROR);
        assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos), "{run}");
        ticks(&mut engine, 10);
        assert_eq!(
            count(&messages(&mut engine, p), MessageMask::EOS),
            0,
            "one a run"
        );
        assert_eq!(buffers(&taken("mpipe-run")).len(), 20);
        go(&mut engine, p, State::Ready);
        messages(&mut engine, p);
    }
}

#[test]
fn pipeline_eos_is_counted_anew_each_run() {
    // Three sinks of which two end before the run is stopped: that counts nothing for the next.
    let mut engine = engine();
    let text = "actsrc script=be ! fakesink actsrc script=bbe ! fakesink \
                actsrc name=long script=bb.e ! fakesink";
    let p = launch(&mut engine, text);
    for run in 0..3 {
        go(&mut engine, p, State::Playing);
        ticks(&mut engine, 10);
        assert_eq!(fabric(&engine, p).live_sinks, 1, "{run}");
        assert_eq!(
            count(&messages(&mut engine, p), MessageMask::EOS),
            0,
            "{run}"
        );
        if run > 0 {
            let long = named(&engine, p, "long");
            engine.device_ready(long);
            ticks(&mut engine, 5);
            assert_eq!(
                count(&messages(&mut engine, p), MessageMask::EOS),
                1,
                "{run}"
            );
        }
        go(&mut engine, p, State::Ready);
        messages(&mut engine, p);
    }
}

#[test]
fn pipeline_queued_data_is_kept_from_playing_to_paused() {
    for at in 9..25 {
        let mut engine = engine();
        let script = "b".repeat(40);
        let text = format!(
            "actsrc label=kept counts=true script={script}e ! queue max-size-buffers=6 ! \
             hold buffers=2 ! actpass ! actsink label=kept"
        );
        let p = launch(&mut engine, &text);
        engine.set_state(p, State::Playing);
        ticks(&mut engine, at);
        assert_eq!(engine.state(p), State::Playing);
        go(&mut engine, p, State::Paused);
        let emitted = |engine: &Engine| fabric(engine, p).lanes[0].buffers_out();
        let made = emitted(&engine);
        ticks(&mut engine, 20);
        assert_eq!(emitted(&engine), made, "sources stop at once, at {at}");
        let seen = buffers(&taken("kept"));
        assert_eq!(
            out("kept").0,
            made as i64 - seen.len() as i64,
            "all else is kept"
        );
        engine.set_state(p, State::Playing);
        let end = engine.wait(p, MessageMask::EOS | MessageMask::ERROR);
        assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos), "at {at}");
        let all = [seen, buffers(&taken("kept"))].concat();
        assert_eq!(all, (0..40).collect::<Vec<u64>>(), "at {at}");
        go(&mut engine, p, State::Ready);
        assert_eq!(out("kept").0, 0);
    }
}

#[test]
fn pipeline_flush_gates() {
    // Raised, they swallow what comes, which is no error; lowered at the next start.
    let mut engine = engine();
    let text = "actsrc label=gates counts=true script=* ! queue ! actsink label=gates";
    let p = launch(&mut engine, text);
    go(&mut engine, p, State::Playing);
    ticks(&mut engine, 3);
    engine.flush(p, None, Flush::Start);
    engine.tick();
    taken("gates");
    messages(&mut engine, p);
    ticks(&mut engine, 20);
    assert_eq!((taken("gates").len(), out("gates").0), (0, 0));
    assert_eq!(messages(&mut engine, p), []);
    assert_eq!(engine.progress(p), Progress::Running);
    // Changes of state leave them as they are.
    for state in [State::Paused, State::Playing] {
        engine.set_state(p, state);
        ticks(&mut engine, 5);
        let gates: Vec<_> = fabric(&engine, p).lanes.iter().map(|l| l.gate).collect();
        assert_eq!(gates[1..], [Gate::Flushing, Gate::Flushing], "{state}");
    }
    go(&mut engine, p, State::Ready);
    go(&mut engine, p, State::Playing);
    ticks(&mut engine, 3);
    assert!(!buffers(&taken("gates")).is_empty());
}

#[test]
fn pipeline_an_empty_one_is_refused() {
    let mut engine = engine();
    let p = engine.create_pipeline("p");
    engine.set_state(p, State::Paused);
    let error = engine.wait(p, MessageMask::ERROR).expect("an error");
    assert_eq!(error.kind, MessageKind::Error(Domain::Flow, Code::Settings));
}

#[test]
fn pipeline_players_are_apart() {
    // mpipe's players: two pipelines, and the end of one is not that of the other.
    let mut engine = engine();
    let (a, b) = (
        launch(&mut engine, "actsrc script=be ! fakesink"),
        launch(&mut engine, "actsrc name=src script=bb.e ! fakesink"),
    );
    for p in [a, b] {
        engine.set_state(p, State::Playing);
    }
    ticks(&mut engine, 10);
    let ends = |engine: &mut Engine, p| count(&messages(engine, p), MessageMask::EOS);
    assert_eq!((ends(&mut engine, a), ends(&mut engine, b)), (1, 0));
    let source = named(&engine, b, "src");
    engine.device_ready(source);
    ticks(&mut engine, 5);
    assert_eq!((ends(&mut engine, a), ends(&mut engine, b)), (0, 1));
}

#[test]
fn queue_marks_are_in_order_and_the_end_needs_no_room() {
    // As many as it holds, and the end beyond: nothing of it is lost while the sink does not take.
    for size in [1, 2, 5] {
        let mut engine = engine();
        let script = "b".repeat(size);
        let text = format!(
            "actsrc label=room counts=true script={script}e ! queue max-size-buffers={size} ! \
             actsink label=room"
        );
        let p = launch(&mut engine, &text);
        go(&mut engine, p, State::Paused);
        ticks(&mut engine, 10);
        assert_eq!(
            fabric(&engine, p).lanes[0].readiness.name(),
            "done",
            "{size}"
        );
        let report = {
            engine.set_state(p, State::Ready);
            ticks(&mut engine, 2);
            engine.run(p, &RunOptions::default(), &mut ())
        };
        assert_eq!(report.sinks[0].buffers, size as u64);
    }
}
