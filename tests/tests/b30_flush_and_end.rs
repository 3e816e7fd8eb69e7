//! B30: discard and end is one operation: behind it no stale buffer comes, the source sends none before
//! the end, and the end is there within two ticks.

mod acting;

use acting::{buffers, count, engine, fabric, go, launch, messages, named, out, taken, ticks};
use tickpipe::components::fabric::Progress;
use tickpipe::{ClockMode, ElementHandle, Engine, Flush, MessageMask, PipelineHandle, State};

fn start(label: &str, sync: bool) -> (Engine, PipelineHandle) {
    let mut engine = engine();
    let text = format!(
        "actsrc name=src label={label} counts=true script=* ! queue name=q max-size-buffers=50 ! \
         actsink name=out label={label} sync={sync}"
    );
    let pipeline = launch(&mut engine, &text);
    engine.set_clock(pipeline, ClockMode::Virtual);
    (engine, pipeline)
}

/// After the flush: what the sink saw before, then only the end, within two ticks.
fn ends(engine: &mut Engine, p: PipelineHandle, label: &str, behind: Option<ElementHandle>) {
    let before = buffers(&taken(label));
    messages(engine, p);
    engine.flush(p, behind, Flush::DiscardAndEnd);
    let mut end = None;
    for tick in 1..=2 {
        engine.tick();
        let log = taken(label);
        assert_eq!(buffers(&log), [0; 0], "stale, behind {before:?}");
        if log.iter().any(|l| l == "end") {
            end = Some(tick);
        }
    }
    assert!(end.is_some(), "behind {before:?}");
    assert_eq!(engine.progress(p), Progress::Ended);
    assert_eq!(count(&messages(engine, p), MessageMask::EOS), 1);
    assert_eq!(out(label).0, 0, "all is home");
    // And nothing comes later.
    ticks(engine, 20);
    assert_eq!(taken(label), [""; 0]);
    assert_eq!(messages(engine, p), []);
}

#[test]
fn b30_discard_and_end_at_t20_and_at_every_other() {
    for sync in [true, false] {
        for at in (0..40).chain([20, 100]) {
            let (mut engine, p) = start("b30", sync);
            engine.set_state(p, State::Playing);
            ticks(&mut engine, 4);
            assert_eq!(engine.state(p), State::Playing);
            ticks(&mut engine, at);
            let source = named(&engine, p, "src");
            let behind = if at % 2 == 0 { None } else { Some(source) };
            ends(&mut engine, p, "b30", behind);
        }
    }
}

#[test]
fn b30_behind_the_queue_what_is_before_it_goes_home_too() {
    // Nobody takes what the source makes any more: it ends, and so does the run.
    for at in 4..30 {
        let (mut engine, p) = start("b30-mid", true);
        engine.set_state(p, State::Playing);
        ticks(&mut engine, at);
        let queue = named(&engine, p, "q");
        ends(&mut engine, p, "b30-mid", Some(queue));
    }
}

#[test]
fn b30_in_paused_the_end_is_held() {
    let (mut engine, p) = start("b30-paused", true);
    go(&mut engine, p, State::Paused);
    ticks(&mut engine, 20);
    taken("b30-paused");
    engine.flush(p, None, Flush::DiscardAndEnd);
    ticks(&mut engine, 10);
    assert_eq!(buffers(&taken("b30-paused")), [0; 0]);
    assert_eq!(out("b30-paused").0, 0);
    assert_eq!(count(&messages(&mut engine, p), MessageMask::EOS), 0);
    go(&mut engine, p, State::Playing);
    ticks(&mut engine, 3);
    assert_eq!(taken("b30-paused").last().map(String::as_str), Some("end"));
    assert_eq!(count(&messages(&mut engine, p), MessageMask::EOS), 1);
}

#[test]
fn b30_in_a_stop_or_before_the_start_it_is_nothing() {
    let (mut engine, p) = start("b30-none", false);
    engine.flush(p, None, Flush::DiscardAndEnd);
    ticks(&mut engine, 3);
    assert_eq!(messages(&mut engine, p), []);
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 10);
    engine.flush(p, None, Flush::DiscardAndEnd);
    engine.set_state(p, State::Ready);
    ticks(&mut engine, 3);
    assert_eq!(engine.state(p), State::Ready);
    assert_eq!(out("b30-none").0, 0);
    assert!(fabric(&engine, p).lanes.is_empty());
    assert_eq!(count(&messages(&mut engine, p), MessageMask::EOS), 0);
}
