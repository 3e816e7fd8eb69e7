//! Sinks with `sync` hold buffers until their running time, measure how late they come, say so
//! upstream, and drop what is too late where the graph says so. Latency of live sources is added.

use bevy_ecs::component::Component;
use std::sync::{Arc, Mutex};
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::event::{Event, QualityKind};
use tickpipe::components::fabric::Latency;
use tickpipe::components::fault::ElementError;
use tickpipe::systems::element::{Element, Flow, Handled, PadAt, PadTemplate, Process, Work};
use tickpipe::{ClockMode, Engine, EngineOptions, PipelineHandle, Report, RunOptions, Seek, State};

/// What came upstream: proportion, jitter, timestamp.
type Heard = Arc<Mutex<Vec<(u32, i64, i64)>>>;

/// Passes everything on, and keeps the quality events that come from downstream.
#[derive(Component, Clone, Debug, Default)]
struct Listen {
    heard: Heard,
}

impl Element for Listen {
    const NAME: &'static str = "listen";
    const SUMMARY: &'static str = "Keeps the quality events that pass";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Listening(Arc::clone(&self.heard))))
    }
}

struct Listening(Heard);

impl Work for Listening {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        process.pass_through();
        Ok(())
    }

    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        if let Event::Quality(q) = event {
            assert_eq!(pad, PadAt::source(0), "it comes from downstream");
            assert_eq!(q.kind == QualityKind::TooLate, q.jitter > 0);
            let mut heard = self.0.lock().expect("nobody panicked with it");
            heard.push((q.proportion, q.jitter, q.timestamp));
        }
        Ok(Handled::Forward)
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

fn engine() -> Engine {
    let mut engine = Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<Listen>().expect("a name of its own");
    engine
}

fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let (p, warnings) = engine.launch("main", text).expect("a graph");
    assert_eq!(warnings, Vec::<String>::new());
    engine.set_clock(p, ClockMode::Virtual);
    p
}

fn run(text: &str) -> Report {
    let mut engine = engine();
    let p = launch(&mut engine, text);
    let options = RunOptions {
        record: true,
        ..RunOptions::default()
    };
    engine.run(p, &options, &mut ())
}

const MS: i64 = 1_000_000;

/// Twenty pictures of 40 ms, each worked on for this long.
fn slow(work: &str, sink: &str) -> String {
    format!(
        "videotestsrc num-buffers=20 ! video/x-raw,width=16,height=16,framerate=25/1 ! work time={work} \
         ! fakesink name=k sync=true {sink}"
    )
}

#[test]
fn nothing_is_late_where_the_work_keeps_up() {
    let report = run(&slow("30ms", "max-lateness=0 qos=true"));
    let timing = report.sinks[0].timing.as_ref().expect("it keeps time");
    // Picture n is there at 30 (n + 1) and due at 40 n: the first three are late.
    assert_eq!((timing.late, timing.max_late), (3, 30 * MS));
    assert_eq!(report.elements.iter().map(|e| e.dropped).sum::<u64>(), 3);
}

#[test]
fn lateness_grows_where_it_does_not() {
    let report = run(&slow("50ms", ""));
    let timing = report.sinks[0].timing.as_ref().expect("it keeps time");
    // Picture n is there at 50 (n + 1) and due at 40 n.
    assert_eq!((timing.late, timing.max_late), (20, (50 + 19 * 10) * MS));
    assert_eq!(
        report.sinks[0].frames.len(),
        20,
        "nothing is dropped unless it is said"
    );
}

#[test]
fn what_is_later_than_it_may_is_dropped_and_told() {
    let report = run(&slow("50ms", "max-lateness=100000000"));
    let late: Vec<(u64, Option<i64>)> = report
        .messages
        .iter()
        .filter(|m| m.code.as_deref() == Some("late"))
        .filter_map(|m| m.occurrence.as_ref())
        .map(|o| (o.index, o.value))
        .collect();
    // 50 + 10 n is more than 100 from picture 6 on.
    let want: Vec<_> = (6..20)
        .map(|n| (n as u64, Some((50 + 10 * n) * MS)))
        .collect();
    assert_eq!(late, want);
    let sink = report.elements.iter().find(|e| e.name == "k").expect("k");
    assert_eq!((sink.dropped, sink.occurrences[0].count), (14, 14));
    assert_eq!(report.sinks[0].frames.len(), 6);
}

#[test]
fn upstream_hears_how_late_each_buffer_came() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "videotestsrc num-buffers=4 ! video/x-raw,width=16,height=16,framerate=25/1 ! listen name=l \
         ! identity ! work time=700ms ! fakesink sync=true qos=true",
    );
    engine.run(p, &RunOptions::default(), &mut ());
    let l = engine.element(p, "l").expect("it is there");
    let heard = engine.world().get::<Listen>(l.entity()).expect("it is one");
    let heard = heard.heard.lock().expect("nobody panicked").clone();
    let late = |n: i64| (700 * (n + 1) - 40 * n) * MS;
    let want: Vec<_> = (0..4)
        .map(|n| (500.max(1000 - late(n) / MS) as u32, late(n), 40 * n * MS))
        .collect();
    // The last one may still be on its way when the end is there.
    assert!(
        heard.len() >= 3 && want.starts_with(&heard),
        "{heard:?}, not {want:?}"
    );
}

#[test]
fn offsets_and_delays_move_when_a_buffer_is_due() {
    for (sink, first) in [
        ("", 0),
        ("ts-offset=5000000", 5),
        ("render-delay=7000000", -7),
    ] {
        let mut engine = engine();
        let text = format!(
            "videotestsrc num-buffers=3 ! video/x-raw,width=16,height=16,framerate=25/1 ! fakesink name=k \
             sync=true {sink}"
        );
        let p = launch(&mut engine, &text);
        engine.set_state(p, State::Playing);
        let fabric = |engine: &Engine| {
            let fabric = engine
                .world()
                .resource::<tickpipe::components::fabric::Fabric>();
            fabric.get(p.id()).map(|f| f.now).expect("it is there")
        };
        let mut seen = vec![];
        for _ in 0..60 {
            let before = engine.taken(p);
            engine.tick();
            if engine.taken(p) > before {
                seen.push(fabric(&engine) / MS);
            }
        }
        // What is due before the start is shown at once.
        let want: Vec<i64> = (0..3).map(|n| (40 * n + first).max(0)).collect();
        assert_eq!(seen[..2], want[..2], "{sink}");
    }
}

#[test]
fn buffers_that_follow_too_closely_are_dropped() {
    let report = run(
        "videotestsrc num-buffers=10 ! video/x-raw,width=16,height=16,framerate=25/1 ! fakesink sync=true \
         throttle-time=100000000",
    );
    let pts: Vec<_> = report.sinks[0]
        .frames
        .iter()
        .filter_map(|f| f.pts)
        .collect();
    assert_eq!(pts, [0, 3, 6, 9]);
}

#[test]
fn latency_of_a_live_source_is_added_and_reported() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "videotestsrc is-live=true num-buffers=5 name=s ! video/x-raw,width=16,height=16,framerate=25/1 \
         ! fakesink name=k sync=true",
    );
    engine.set_state(p, State::Playing);
    engine.wait_for_state(p, State::Playing).expect("at once");
    let live = Latency {
        live: true,
        ..Latency::elastic(40 * MS)
    };
    assert_eq!(engine.latency(p), live);
    let k = engine.element(p, "k").expect("it is there");
    assert_eq!(engine.sink_timing(k).map(|t| t.latency), Some(40 * MS));
    engine.wait(p, tickpipe::MessageMask::EOS).expect("it ends");
    let report = engine.report(p);
    let latency = report.latency.expect("it is live");
    let all: Vec<_> = latency
        .elements
        .iter()
        .map(|e| (e.name.as_str(), e.min))
        .collect();
    assert_eq!(
        all,
        [("s", 40 * MS), ("capsfilter0", 40 * MS), ("k", 40 * MS)]
    );
    assert_eq!(report.sinks[0].timing.as_ref().map(|t| t.late), Some(0));
}

#[test]
fn what_elements_hold_back_counts_as_latency() {
    let caps = "video/x-raw,format=I420,width=16,height=16,framerate=25/1";
    let live = format!("videotestsrc is-live=true num-buffers=20 ! {caps}");
    for (behind, frames) in [
        ("hold buffers=3 !", 3),
        ("hold buffers=3 declared=false !", 0),
        ("delay buffers=2 !", 2),
        ("videorate ! video/x-raw,framerate=50/1 !", 1),
        (
            "hold buffers=2 ! videorate ! video/x-raw,framerate=10/1 !",
            3,
        ),
        ("join !", 0),
    ] {
        let report = run(&format!("{live} ! {behind} fakesink sync=true"));
        let timing = report.sinks[0].timing.as_ref().expect("it keeps time");
        assert_eq!(timing.latency, (1 + frames) * 40 * MS, "{behind}");
        // What does not say what it holds is what makes a sink late.
        let late = if behind.contains("declared") { 18 } else { 0 };
        assert_eq!(timing.late, late, "{behind}");
    }
    for meet in ["join", "overlay"] {
        let report = run(&format!(
            "{meet} name=m ! fakesink sync=true {live} ! m. \
             videotestsrc is-live=true num-buffers=8 ! {} ! m.",
            caps.replace("25/1", "10/1")
        ));
        let timing = report.sinks[0].timing.as_ref().expect("it keeps time");
        assert_eq!(timing.latency, 200 * MS, "{meet}: its frame, and the next");
        assert_eq!(timing.late, 0, "{meet}");
    }
}

#[test]
fn a_flushing_seek_begins_running_time_anew() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "videotestsrc num-buffers=200 ! video/x-raw,width=16,height=16,framerate=25/1 ! fakesink name=k \
         sync=true max-lateness=0",
    );
    engine.set_state(p, State::Playing);
    for _ in 0..80 {
        engine.tick();
    }
    let before = engine.taken(p);
    engine.seek(p, Seek::frame(150)).expect("it can");
    engine.wait(p, tickpipe::MessageMask::EOS).expect("it ends");
    // Neither is one dropped as late, nor does it wait for the times of the stream.
    assert_eq!(engine.taken(p), before + 50);
    let now = engine
        .world()
        .resource::<tickpipe::components::fabric::Fabric>();
    let p = now.get(p.id()).expect("it is there");
    assert_eq!(p.now - p.base_time, 50 * 40 * MS);
}

#[test]
fn a_tick_of_real_time_is_one_of_virtual_time() {
    // A graph that waits for time only is ticked a few times a buffer, and never spins.
    let report = run(
        "videotestsrc is-live=true num-buffers=250 ! video/x-raw,width=16,height=16,framerate=25/1 \
         ! fakesink sync=true",
    );
    assert_eq!(report.sinks[0].buffers, 250);
    assert!(
        report.ticks < 250 * 8,
        "{} ticks for 250 buffers",
        report.ticks
    );
}

#[test]
fn who_waits_for_room_behind_a_timed_sink_does_not_spin() {
    let caps = "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1";
    for (graph, frames) in [
        // The picture's source has ended, and the records of views are all out.
        (
            format!("videotestsrc num-buffers=1 ! {caps} ! imagefreeze num-buffers=60"),
            60,
        ),
        // The pads that are not active need no room.
        (
            format!(
                "videotestsrc num-buffers=20 ! {caps} ! s. videotestsrc num-buffers=20 ! {caps} ! s. \
                 input-selector name=s"
            ),
            20,
        ),
        // One frame is shown for a second.
        (
            "stampsrc stamps=0,1 time-base=1/1 duration=1 \
             caps=video/x-raw,format=GRAY8,width=16,height=16,framerate=1/1 ! videorate ! \
             video/x-raw,framerate=50/1"
                .to_owned(),
            100,
        ),
        (
            format!("videotestsrc num-buffers=30 ! {caps} ! hold buffers=9"),
            30,
        ),
        (
            format!("videotestsrc num-buffers=30 ! {caps} ! delay buffers=9"),
            30,
        ),
    ] {
        let report = run(&format!("{graph} ! fakesink sync=true"));
        assert_eq!(report.sinks[0].buffers, frames, "{graph}");
        let most = frames * 8 + 40;
        assert!(report.ticks < most, "{graph}: {} ticks", report.ticks);
    }
}

#[test]
fn a_queue_that_is_to_hold_bytes_or_time_gets_the_buffers_for_it() {
    let caps = "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1";
    for minimum in [
        "min-threshold-bytes=5000",
        "min-threshold-time=800000000",
        "min-threshold-buffers=20",
        "min-threshold-bytes=5120 min-threshold-time=300000000",
    ] {
        let report = run(&format!(
            "videotestsrc num-buffers=100 ! {caps} ! queue max-size-buffers=0 {minimum} ! fakesink"
        ));
        assert_eq!(report.verdict, tickpipe::Verdict::Done, "{minimum}");
        assert_eq!(report.sinks[0].buffers, 100, "{minimum}");
    }
}
