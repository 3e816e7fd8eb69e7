//! B31: seeks that come close together. Each finds the one before done: one segment is active, no frame of
//! an earlier seek comes behind a later one, all sinks end at the same place, and nothing is left pending.

#![cfg(all(feature = "file", feature = "video"))]

mod acting;

use acting::{buffers, count, engine, fabric, launch, messages, named, taken, ticks};
use std::path::PathBuf;
use std::sync::Once;
use tickpipe::components::fabric::Progress;
use tickpipe::{
    ChangeResult, ClockMode, Engine, MessageKind, MessageMask, PipelineHandle, RunOptions, Seek,
    State,
};

const FRAMES: u64 = 300;

/// A file of so many frames, made once.
fn file() -> PathBuf {
    static MADE: Once = Once::new();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("b31.y4m");
    MADE.call_once(|| {
        let mut engine = engine();
        let text = format!(
            "videotestsrc num-buffers={FRAMES} ! \
             video/x-raw,format=I420,width=16,height=8,framerate=25/1 ! y4menc ! \
             filesink location={}",
            path.display()
        );
        let pipeline = launch(&mut engine, &text);
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict.name(), "done");
    });
    path
}

/// The sources that can go elsewhere; whether a segment says where.
fn sources() -> [(String, bool); 3] {
    let file = file();
    [
        (
            format!(
                "videotestsrc num-buffers={FRAMES} ! \
                 video/x-raw,format=I420,width=16,height=8,framerate=25/1"
            ),
            true,
        ),
        (format!("fakesrc num-buffers={FRAMES}"), false),
        (
            format!("filesrc location={} ! y4mdec", file.display()),
            true,
        ),
    ]
}

fn start(source: &str, label: &str) -> (Engine, PipelineHandle) {
    let mut engine = engine();
    let text = format!(
        "{source} ! identity ! tee name=t t. ! queue max-size-buffers=7 ! hold buffers=2 ! \
         actsink name=one label={label}-1 t. ! actsink name=two label={label}-2"
    );
    let pipeline = launch(&mut engine, &text);
    engine.set_clock(pipeline, ClockMode::Virtual);
    (engine, pipeline)
}

fn seek(engine: &mut Engine, pipeline: PipelineHandle, frame: i64) {
    engine
        .seek(pipeline, Seek::frame(frame))
        .unwrap_or_else(|e| panic!("to {frame}: {e}"));
}

/// From the tick in which the last seek is done: only its frames, to the end, on both sinks.
fn to_end(
    engine: &mut Engine,
    p: PipelineHandle,
    (label, frame, segments): (&str, u64, bool),
    what: &str,
) {
    let labels = [format!("{label}-1"), format!("{label}-2")];
    labels.iter().for_each(|l| drop(taken(l)));
    messages(engine, p);
    engine.tick();
    let told = messages(engine, p);
    assert!(count(&told, MessageMask::SEEKED) >= 1, "{what}");
    if engine.state(p) != State::Playing {
        for _ in 0..20 {
            engine.tick();
        }
        let change = engine.state_change(p);
        assert_eq!(change.result, ChangeResult::Success, "{what}");
        for name in ["one", "two"] {
            let shown = engine.shown(named(engine, p, name));
            assert_eq!(shown.map(|s| s.meta.index), Some(frame), "{what}: shown");
        }
        engine.set_state(p, State::Playing);
    }
    for _ in 0..1000 {
        if engine.progress(p) == Progress::Ended {
            break;
        }
        engine.tick();
    }
    assert_eq!(engine.progress(p), Progress::Ended, "{what}");
    let told = messages(engine, p);
    assert_eq!(count(&told, MessageMask::EOS), 1, "{what}");
    assert_eq!(
        count(&told, MessageMask::SEEKED),
        0,
        "{what}: a seek was done later"
    );
    for label in &labels {
        let log = taken(label);
        let want: Vec<u64> = (frame..FRAMES).collect();
        assert_eq!(buffers(&log), want, "{what}");
        if segments {
            let all = log.iter().filter(|l| l.starts_with("segment"));
            let all: Vec<_> = all.collect();
            assert_eq!(all, [&format!("segment {frame}")], "{what}");
        }
        assert_eq!(log.iter().filter(|l| *l == "end").count(), 1, "{what}");
    }
    if segments {
        for name in ["one", "two"] {
            let at = engine.position(named(engine, p, name)).map(|p| p.0);
            assert_eq!(at, Some(FRAMES as i64 - 1), "{what}");
        }
    }
    let p = fabric(engine, p);
    assert!(p.events.is_empty() && p.upward.is_empty(), "{what}");
    assert!(p.lanes.iter().all(|l| l.marked == 0), "{what}");
}

#[test]
fn b31_two_seeks_any_ticks_apart() {
    for (source, segments) in sources() {
        for k in 0..=8 {
            let what = format!("{source}, {k} apart");
            let (mut engine, p) = start(&source, "b31");
            engine.set_state(p, State::Playing);
            ticks(&mut engine, 10);
            assert!(engine.taken(p) > 0, "{what}");
            seek(&mut engine, p, 200);
            ticks(&mut engine, k);
            seek(&mut engine, p, 50);
            to_end(&mut engine, p, ("b31", 50, segments), &what);
        }
    }
}

#[test]
fn b31_a_third_before_the_first_buffer_of_the_second() {
    for (source, segments) in sources() {
        for (k, l) in [(0, 0), (0, 1), (1, 0), (1, 1), (3, 1), (3, 2), (8, 1)] {
            let what = format!("{source}, {k} and {l} apart");
            let (mut engine, p) = start(&source, "b31-third");
            engine.set_state(p, State::Playing);
            ticks(&mut engine, 10);
            seek(&mut engine, p, 200);
            ticks(&mut engine, k);
            seek(&mut engine, p, 50);
            ticks(&mut engine, l);
            seek(&mut engine, p, 120);
            to_end(&mut engine, p, ("b31-third", 120, segments), &what);
        }
    }
}

#[test]
fn b31_in_paused_and_while_it_prerolls() {
    for (source, segments) in sources() {
        for wait in 0..8 {
            for k in [0, 1, 2, 5] {
                let what = format!("{source}, {wait} into PAUSED, {k} apart");
                let (mut engine, p) = start(&source, "b31-paused");
                engine.set_state(p, State::Paused);
                engine.tick();
                ticks(&mut engine, wait);
                seek(&mut engine, p, 200);
                ticks(&mut engine, k);
                seek(&mut engine, p, 50);
                to_end(&mut engine, p, ("b31-paused", 50, segments), &what);
            }
        }
    }
}

#[test]
fn b31_in_ready_the_last_counts() {
    for (source, segments) in sources() {
        for second in [0, 1, 50] {
            let what = format!("{source}, {second}");
            let (mut engine, p) = start(&source, "b31-ready");
            seek(&mut engine, p, 200);
            engine.tick();
            seek(&mut engine, p, second);
            // It is done with the start.
            engine.set_state(p, State::Paused);
            let frame = second.unsigned_abs();
            to_end(&mut engine, p, ("b31-ready", frame, segments), &what);
            // And only with that one.
            engine.set_state(p, State::Ready);
            ticks(&mut engine, 3);
            for label in ["b31-ready-1", "b31-ready-2"] {
                taken(label);
            }
            engine.set_state(p, State::Playing);
            let end = engine.wait(p, MessageMask::EOS | MessageMask::ERROR);
            assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos));
            let all = buffers(&taken("b31-ready-1"));
            assert_eq!(all.len() as u64, FRAMES, "{what}");
        }
    }
}

#[test]
fn b31_at_the_end() {
    for (source, segments) in sources() {
        for k in [0, 1, 2, 3, 8, 30] {
            let what = format!("{source}, {k} apart");
            let (mut engine, p) = start(&source, "b31-end");
            engine.set_state(p, State::Playing);
            let end = engine.wait(p, MessageMask::EOS);
            assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos), "{what}");
            seek(&mut engine, p, 290);
            ticks(&mut engine, k);
            seek(&mut engine, p, 50);
            to_end(&mut engine, p, ("b31-end", 50, segments), &what);
        }
    }
}

#[test]
fn b31_with_a_change_of_state_between() {
    for (source, segments) in sources() {
        for k in 0..5 {
            for state in [State::Paused, State::Ready] {
                let what = format!("{source}, {k} apart, {state} between");
                let (mut engine, p) = start(&source, "b31-state");
                engine.set_state(p, State::Playing);
                ticks(&mut engine, 10);
                seek(&mut engine, p, 200);
                engine.set_state(p, state);
                ticks(&mut engine, k);
                engine.set_state(p, State::Paused);
                if state == State::Ready {
                    // On its way down it may still be done to what runs, and be gone with it.
                    ticks(&mut engine, 4);
                }
                seek(&mut engine, p, 50);
                to_end(&mut engine, p, ("b31-state", 50, segments), &what);
            }
        }
    }
}
