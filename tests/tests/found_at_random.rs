//! What `actions_at_random` found, each as small as it became.

#![cfg(feature = "video")]

mod acting;

use acting::{buffers, count, engine, fabric, go, launch, messages, named, taken, ticks};
use tickpipe::components::fabric::Progress;
use tickpipe::{ChangeResult, ClockMode, Engine, Flush, MessageMask, PipelineHandle, Seek, State};

fn to_end(engine: &mut Engine, pipeline: PipelineHandle) {
    for _ in 0..500 {
        engine.tick();
        if engine.progress(pipeline) != Progress::Running {
            break;
        }
    }
    assert_eq!(engine.progress(pipeline), Progress::Ended);
}

#[test]
fn a_property_set_at_the_end_counts_when_the_run_goes_on() {
    let mut engine = engine();
    let text = "fakesrc name=src num-buffers=5 ! queue name=q ! actsink label=set-at-end";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    to_end(&mut engine, p);
    let source = named(&engine, p, "src");
    engine.set(source, "num-buffers", 9).expect("a value");
    ticks(&mut engine, 3);
    engine.seek(p, Seek::frame(2)).expect("it can");
    to_end(&mut engine, p);
    let seen = buffers(&taken("set-at-end"));
    assert_eq!(seen, [0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 7, 8]);
    // Once that made the pipeline one that could not be stopped.
    go(&mut engine, p, State::Ready);
}

#[test]
fn caps_set_at_the_end_count_when_the_run_goes_on() {
    let mut engine = engine();
    let text = "videotestsrc num-buffers=5 ! \
                capsfilter name=f caps=video/x-raw,format=I420,width=16,height=8 ! \
                videoconvert ! video/x-raw,format=RGB ! fakesink name=out";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    to_end(&mut engine, p);
    let filter = named(&engine, p, "f");
    let caps = "video/x-raw,format=I420,width=32,height=8";
    engine.set_text(filter, "caps", caps).expect("a value");
    ticks(&mut engine, 3);
    engine.seek(p, Seek::frame(0)).expect("it can");
    to_end(&mut engine, p);
    let told = messages(&mut engine, p);
    assert_eq!(count(&told, MessageMask::ERROR), 0);
    assert_eq!(count(&told, MessageMask::EOS), 2);
    let sizes = fabric(&engine, p).buffers.pools.iter().map(|p| p.live.size);
    assert!(
        sizes.clone().any(|s| s >= 32 * 8 * 3),
        "{:?}",
        sizes.collect::<Vec<_>>()
    );
}

#[test]
fn caps_change_where_one_of_two_inputs_has_ended() {
    let mut engine = engine();
    let text = "funnel name=m ! capsfilter name=f caps=video/x-raw,format=I420,width=16,height=8 ! \
                fakesink videotestsrc num-buffers=2 ! m. videotestsrc num-buffers=90 ! m.";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 12);
    let filter = named(&engine, p, "f");
    let caps = "video/x-raw,format=I420,width=32,height=8";
    engine.set_text(filter, "caps", caps).expect("a value");
    to_end(&mut engine, p);
    assert_eq!(engine.taken(p), 92);
}

#[test]
fn a_way_that_is_flushed_is_no_stall() {
    let mut engine = engine();
    let p = launch(&mut engine, "fakesrc num-buffers=3 ! fakesink");
    engine.set_state(p, State::Playing);
    to_end(&mut engine, p);
    engine.flush(p, None, Flush::Start);
    ticks(&mut engine, 10);
    assert_eq!(engine.progress(p), Progress::Running);
    // But nobody waits for ever for what only another can do.
    let waited = engine.wait(p, MessageMask::STALLED | MessageMask::ERROR);
    assert_eq!(waited.map_err(|e| e.progress), Err(Progress::Running));
    engine.flush(p, None, Flush::Stop);
    to_end(&mut engine, p);
}

#[test]
fn a_lookahead_at_its_end_goes_on_after_a_seek() {
    for element in [
        "hold buffers=3",
        "join",
        "funnel",
        "work time=10ms",
        "skip every=5",
    ] {
        let mut engine = engine();
        let text = format!("fakesrc num-buffers=20 ! {element} ! actsink label=again");
        let p = launch(&mut engine, &text);
        engine.set_clock(p, ClockMode::Virtual);
        engine.set_state(p, State::Playing);
        to_end(&mut engine, p);
        let first = buffers(&taken("again"));
        engine.seek(p, Seek::frame(0)).expect("it can");
        to_end(&mut engine, p);
        assert_eq!(buffers(&taken("again")), first, "{element}");
    }
}

#[test]
fn a_pause_in_the_tick_of_a_seek_or_behind_it_shows_where_it_went() {
    for wait in 0..4 {
        for first in [true, false] {
            let mut engine = engine();
            let p = launch(
                &mut engine,
                "fakesrc num-buffers=900 ! queue ! fakesink name=out",
            );
            engine.set_state(p, State::Playing);
            ticks(&mut engine, 10);
            if wait == 0 && first {
                engine.set_state(p, State::Paused);
            }
            engine.seek(p, Seek::frame(500)).expect("it can");
            ticks(&mut engine, wait);
            engine.set_state(p, State::Paused);
            ticks(&mut engine, 10);
            let result = engine.state_change(p).result;
            assert_eq!(result, ChangeResult::Success, "{wait} {first}");
            let shown = engine.shown(named(&engine, p, "out")).map(|s| s.meta.index);
            assert!(shown.is_some_and(|i| (500..540).contains(&i)), "{shown:?}");
            engine.set_state(p, State::Playing);
            to_end(&mut engine, p);
        }
    }
}

#[test]
fn who_stopped_for_want_of_takers_goes_on_with_them() {
    let mut engine = engine();
    let text = "fakesrc num-buffers=40 ! queue max-size-buffers=1 ! identity name=mid ! fakesink";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 6);
    let mid = named(&engine, p, "mid");
    engine.flush(p, Some(mid), Flush::DiscardAndEnd);
    to_end(&mut engine, p);
    let before = engine.taken(p);
    engine.flush(p, None, Flush::Discard);
    to_end(&mut engine, p);
    assert!(engine.taken(p) > before, "the source went on");
    assert_eq!(count(&messages(&mut engine, p), MessageMask::EOS), 2);
}

#[test]
fn an_event_behind_what_is_kept_waits_for_room_without_spinning() {
    let mut engine = engine();
    let text = "videotestsrc num-buffers=200 ! video/x-raw,width=16,height=8 ! hold buffers=1 ! \
                hold buffers=2 ! fakesink sync=true";
    let p = launch(&mut engine, text);
    engine.set_clock(p, ClockMode::Virtual);
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 12);
    engine
        .seek(p, Seek::frame(190).without_flush())
        .expect("it can");
    to_end(&mut engine, p);
}

#[test]
fn a_branch_flushed_alone_in_paused_holds_nobody_up() {
    let mut engine = engine();
    let text = "fakesrc num-buffers=32 ! tee name=t t. ! queue ! fakesink t. ! identity name=mid ! \
                identity ! queue ! fakesink";
    let p = launch(&mut engine, text);
    go(&mut engine, p, State::Paused);
    ticks(&mut engine, 20);
    let mid = named(&engine, p, "mid");
    engine.flush(p, Some(mid), Flush::Discard);
    ticks(&mut engine, 20);
    assert_eq!(engine.state_change(p).result, ChangeResult::Success);
    engine.set_state(p, State::Playing);
    to_end(&mut engine, p);
}

#[test]
fn a_sink_that_is_removed_in_paused_drains_when_it_plays() {
    let mut engine = engine();
    let text = "fakesrc num-buffers=50 ! actsink label=removed-in-paused";
    let p = launch(&mut engine, text);
    go(&mut engine, p, State::Playing);
    ticks(&mut engine, 5);
    go(&mut engine, p, State::Paused);
    ticks(&mut engine, 3);
    let held = fabric(&engine, p).lanes[1].inputs[0].queue.buffers();
    let before = taken("removed-in-paused");
    let sink = named(&engine, p, "actsink0");
    engine
        .remove(p, sink, tickpipe::Removal::Drain)
        .expect("it is there");
    // Once the plug at its pad was taken for a feeder in each tick, and nothing was ever at rest.
    let waited = engine.wait(p, MessageMask::REMOVED);
    assert!(waited.is_err(), "it holds its first buffer in PAUSED");
    assert_eq!(buffers(&taken("removed-in-paused")), [0u64; 0]);
    engine.set_state(p, State::Playing);
    engine.wait(p, MessageMask::REMOVED).expect("it drains");
    let seen = buffers(&before).len();
    let drained: Vec<u64> = (seen as u64..(seen + held) as u64).collect();
    assert!(held > 0);
    assert_eq!(buffers(&taken("removed-in-paused")), drained);
}

#[test]
fn a_flush_wakes_nobody_that_leads_nowhere() {
    let mut engine = engine();
    let text = "funnel name=m ! fakesink name=s fakesrc num-buffers=1 is-live=true ! m. \
                fakesrc num-buffers=0 ! m.";
    let p = launch(&mut engine, text);
    go(&mut engine, p, State::Paused);
    let (m, s) = (named(&engine, p, "m"), named(&engine, p, "s"));
    engine.unlink(m, s).expect("they are linked");
    ticks(&mut engine, 3);
    engine.flush(p, None, Flush::Discard);
    ticks(&mut engine, 3);
    engine.set_state(p, State::Playing);
    to_end(&mut engine, p);
    let told = messages(&mut engine, p);
    assert_eq!(count(&told, MessageMask::EOS), 1);
    // Once the live source was woken and sent a buffer that nobody took.
    assert_eq!(count(&told, MessageMask::WARNING), 0);
    assert!(fabric(&engine, p).lanes.iter().all(|l| l.done));
    go(&mut engine, p, State::Ready);
}

#[test]
fn what_is_put_before_an_ended_element_ends_once() {
    let mut engine = engine();
    let text = "funnel name=m ! fakesink name=s fakesrc num-buffers=2 ! m. \
                fakesrc name=f num-buffers=0 ! identity name=a ! identity name=b ! m.";
    let p = launch(&mut engine, text);
    go(&mut engine, p, State::Playing);
    let (f, a) = (named(&engine, p, "f"), named(&engine, p, "a"));
    engine.unlink(f, a).expect("they are linked");
    to_end(&mut engine, p);
    let c = engine.create("identity", 1000).expect("a class");
    engine.add(p, c).expect("a new id");
    let (b, m) = (named(&engine, p, "b"), named(&engine, p, "m"));
    engine.unlink(b, m).expect("they are linked");
    engine.link_all([b, c, m]).expect("they meet");
    ticks(&mut engine, 1);
    engine.seek(p, Seek::frame(0)).expect("it can");
    to_end(&mut engine, p);
    // Once two ends came to one pad.
    let told = messages(&mut engine, p);
    assert_eq!(count(&told, MessageMask::EOS), 2);
    assert_eq!(count(&told, MessageMask::ERROR), 0);
}

#[test]
fn concat_goes_on_behind_an_input_whose_end_was_taken_before_a_seek() {
    let mut engine = engine();
    let text = "concat name=c ! actsink label=concat-removed fakesrc num-buffers=3 name=x ! c. \
                fakesrc num-buffers=3 name=y ! queue ! c.";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    to_end(&mut engine, p);
    let y = named(&engine, p, "y");
    engine
        .remove(p, y, tickpipe::Removal::Discard)
        .expect("it is there");
    ticks(&mut engine, 3);
    engine.seek(p, Seek::frame(1)).expect("x can");
    to_end(&mut engine, p);
    let seen = buffers(&taken("concat-removed"));
    assert_eq!(seen, [0, 1, 2, 0, 1, 2, 1, 2]);
}
