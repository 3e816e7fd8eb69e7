//! Elements and branches are unlinked, removed, added and linked while a graph runs: what is removed
//! drains or is discarded as asked, and the rest loses nothing.

use tickpipe::components::fabric::{Fabric, Progress};
use tickpipe::{
    ElementHandle, Engine, EngineOptions, Message, MessageKind, MessageMask, PipelineHandle,
    Removal, State, UnlinkError,
};

fn engine() -> Engine {
    Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine")
}

fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    pipeline
}

fn named(engine: &Engine, p: PipelineHandle, name: &str) -> ElementHandle {
    engine.element(p, name).expect("it is there")
}

fn play(engine: &mut Engine, p: PipelineHandle, ticks: u64) {
    engine.set_state(p, State::Playing);
    for _ in 0..ticks {
        engine.tick();
    }
}

/// Runs to the end; the messages but those of states.
fn to_end(engine: &mut Engine, p: PipelineHandle) -> Vec<Message> {
    let mut messages = Vec::new();
    for _ in 0..5000 {
        engine.tick();
        let left = MessageMask::all() - MessageMask::STATE_CHANGED - MessageMask::ASYNC_DONE;
        while let Some(message) = engine.next_message(p, left) {
            messages.push(message);
        }
        if engine.progress(p) != Progress::Running {
            return messages;
        }
    }
    panic!("it does not end; so far {messages:?}");
}

fn kinds(messages: &[Message]) -> Vec<MessageKind> {
    messages.iter().map(|m| m.kind).collect()
}

/// Buffers that an element took, by its lane.
fn taken(engine: &Engine, p: PipelineHandle, element: ElementHandle) -> u64 {
    let report = engine.report(p);
    let name = engine.name(element);
    let found = report.elements.iter().find(|e| e.name == name);
    found.map_or(0, |e| e.buffers_in)
}

/// Every buffer of every pool is home.
fn all_home(engine: &Engine, p: PipelineHandle) -> bool {
    let fabric = engine.world().resource::<Fabric>();
    let pools = &fabric.get(p.id()).expect("there").buffers.pools;
    pools.iter().all(|pool| pool.out() == 0)
}

#[test]
fn a_branch_that_is_removed_drains_and_the_other_gets_everything() {
    for at in 1..40 {
        let mut engine = engine();
        let p = launch(
            &mut engine,
            "fakesrc num-buffers=60 ! tee name=t ! queue name=q ! fakesink name=a t. ! fakesink name=b",
        );
        play(&mut engine, p, at);
        let [q, a, b] = ["q", "a", "b"].map(|n| named(&engine, p, n));
        let passed_on = {
            let report = engine.report(p);
            let t = report.elements.iter().find(|e| e.name == "t").expect("t");
            t.buffers_out / 2
        };
        engine.remove(p, q, Removal::Drain).expect("it is there");
        engine.remove(p, a, Removal::Drain).expect("it is there");
        let started = engine.state(p) != State::Ready;
        let fabric = engine.world().resource::<Fabric>();
        let sink = fabric.get(p.id()).expect("there").lanes.len();
        assert!(sink > 0 || !started);
        let mut drained = None;
        let mut messages = Vec::new();
        let mut left = 5000;
        while left > 0 {
            left -= 1;
            if engine.state(p) != State::Ready && engine.element_state(a) != State::Ready {
                drained = Some(taken(&engine, p, a));
            }
            engine.tick();
            while let Some(m) = engine.next_message(p, MessageMask::all()) {
                messages.push(m.kind);
            }
            // Where all ends in the same tick, the last one leaves in the next.
            if engine.progress(p) != Progress::Running {
                left = left.min(2);
            }
        }
        assert_eq!(engine.progress(p), Progress::Ended, "at {at}");
        assert_eq!(taken(&engine, p, b), 60, "at {at}");
        assert_eq!(
            drained,
            Some(passed_on),
            "at {at}: all that was sent, and no more"
        );
        let removed = messages
            .iter()
            .filter(|k| **k == MessageKind::Removed)
            .count();
        let ends = messages.iter().filter(|k| **k == MessageKind::Eos).count();
        assert_eq!((removed, ends), (2, 1), "at {at}");
        assert_eq!(engine.elements(p).len(), 3);
        assert!(all_home(&engine, p), "at {at}");
    }
}

#[test]
fn what_is_discarded_leaves_at_once() {
    for at in 1..20 {
        let mut engine = engine();
        let p = launch(
            &mut engine,
            "fakesrc num-buffers=60 ! tee name=t ! queue name=q ! hold buffers=3 name=h ! fakesink name=a t. ! fakesink name=b",
        );
        play(&mut engine, p, at);
        for name in ["q", "h", "a"] {
            let element = named(&engine, p, name);
            engine
                .remove(p, element, Removal::Discard)
                .expect("it is there");
        }
        engine.tick();
        assert_eq!(engine.elements(p).len(), 3, "at {at}");
        to_end(&mut engine, p);
        let b = named(&engine, p, "b");
        assert_eq!(taken(&engine, p, b), 60, "at {at}");
        assert!(all_home(&engine, p), "at {at}");
    }
}

#[test]
fn an_element_is_replaced_without_a_buffer_lost() {
    for at in 1..30 {
        let mut engine = engine();
        let p = launch(
            &mut engine,
            "fakesrc num-buffers=50 name=s ! identity name=old ! fakesink name=k",
        );
        play(&mut engine, p, at);
        let [s, old, k] = ["s", "old", "k"].map(|n| named(&engine, p, n));
        // What the old one was sent and did not pass on goes on from it: it drains into the sink.
        let fresh = engine.create("identity", 77).expect("a class");
        engine.add(p, fresh).expect("its id is free");
        engine.unlink(s, old).expect("linked");
        engine.unlink(old, k).expect("linked");
        engine
            .remove(p, old, Removal::Discard)
            .expect("it is there");
        engine.link(s, fresh).expect("free pads");
        engine.link(fresh, k).expect("free pads");
        let before = engine.report(p);
        let held: u64 = before
            .elements
            .iter()
            .find(|e| e.name == "s")
            .map_or(0, |e| e.buffers_out);
        let messages = to_end(&mut engine, p);
        assert_eq!(kinds(&messages), [MessageKind::Eos], "at {at}");
        // Only what stood before the old one is lost, at most a link's room.
        let got = taken(&engine, p, k);
        assert!(got <= 50 && got + 8 >= 50 && held <= 50, "at {at}: {got}");
        assert!(all_home(&engine, p), "at {at}");
    }
}

#[test]
fn an_element_is_put_between_two_without_a_buffer_lost() {
    for at in 0..30 {
        let mut engine = engine();
        let p = launch(
            &mut engine,
            "fakesrc num-buffers=50 name=s ! fakesink name=k",
        );
        play(&mut engine, p, at);
        let [s, k] = ["s", "k"].map(|n| named(&engine, p, n));
        let fresh = engine.create("identity", 77).expect("a class");
        engine.add(p, fresh).expect("its id is free");
        engine.unlink(s, k).expect("linked");
        engine.link(s, fresh).expect("free pads");
        engine.link(fresh, k).expect("free pads");
        let messages = to_end(&mut engine, p);
        assert_eq!(kinds(&messages), [MessageKind::Eos], "at {at}");
        assert_eq!(taken(&engine, p, k), 50, "at {at}");
        assert_eq!(engine.element_state(fresh), engine.state(p));
    }
}

#[test]
fn a_released_pad_of_a_join_counts_as_ended() {
    for at in 2..30 {
        let mut engine = engine();
        let p = launch(
            &mut engine,
            "join name=j ! fakesink name=k fakesrc num-buffers=10 name=a ! j. \
             fakesrc num-buffers=10 name=b ! j. fakesrc num-buffers=10 ! j.",
        );
        play(&mut engine, p, at);
        let [b, j, k] = ["b", "j", "k"].map(|n| named(&engine, p, n));
        let sent = {
            let report = engine.report(p);
            let b = report.elements.iter().find(|e| e.name == "b").expect("b");
            b.buffers_out
        };
        if engine.unlink(b, j).is_err() {
            panic!("they are linked");
        }
        let messages = to_end(&mut engine, p);
        assert_eq!(
            messages
                .iter()
                .filter(|m| m.kind == MessageKind::Eos)
                .count(),
            1
        );
        assert_eq!(taken(&engine, p, k), 20 + sent, "at {at}");
        assert!(all_home(&engine, p), "at {at}");
    }
}

#[test]
fn the_last_sink_may_leave() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc name=s ! identity name=i ! fakesink name=k",
    );
    play(&mut engine, p, 6);
    let k = named(&engine, p, "k");
    engine.remove(p, k, Removal::Drain).expect("it is there");
    let messages = to_end(&mut engine, p);
    assert!(kinds(&messages).contains(&MessageKind::Eos), "{messages:?}");
    engine.set_state(p, State::Ready);
    engine
        .wait_for_state(p, State::Ready)
        .expect("it gets there");
    assert_eq!(engine.elements(p).len(), 2);
    // Everything may.
    for name in ["s", "i"] {
        let element = named(&engine, p, name);
        engine
            .remove(p, element, Removal::Drain)
            .expect("it is there");
    }
    assert_eq!(engine.elements(p).len(), 0);
}

#[test]
fn what_is_not_there_cannot_be_taken_out() {
    let mut engine = engine();
    let p = launch(&mut engine, "fakesrc name=s ! fakesink name=k");
    let [s, k] = ["s", "k"].map(|n| named(&engine, p, n));
    let error = engine.unlink(k, s).expect_err("the other way round");
    assert_eq!(error.to_string(), "k does not feed s");
    engine
        .remove(p, s, Removal::Drain)
        .expect("in READY at once");
    let error = engine.remove(p, s, Removal::Drain).expect_err("it left");
    assert_eq!(error, UnlinkError::NotHere("s".to_owned()));
}
