//! B25: a device that loses a buffer once in a long while is told of at the first one, while the run
//! goes on, and not only when all are gone.

mod lossy;

use lossy::{engine, launch};
use tickpipe::components::fabric::{Fabric, MAX_LEAKS, PipelineFabric, Progress};
use tickpipe::{
    ClockMode, Engine, LeakReport, MessageMask, Observer, PipelineHandle, RunOptions, State,
    Verdict,
};

/// What was told when, and how the run stood then.
#[derive(Default)]
struct Watch(Vec<(u64, Progress)>);

impl Observer for Watch {
    fn tick(&mut self, p: &PipelineFabric) {
        if p.leaks.told.len() > self.0.len() {
            // The tick is counted already.
            self.0.push((p.tick - 1, p.progress));
        }
    }
}

#[test]
fn the_first_loss_is_told_and_the_last_ends_the_run() {
    let scale = if cfg!(debug_assertions) { 10 } else { 1 };
    let (frames, every, age) = (1_000_000 / scale, 150_000 / scale, 10_000 / scale);
    let mut engine = engine(None, age);
    let pipeline = launch(
        &mut engine,
        &format!(
            "lossy name=cam frames={frames} lose-every={every} min-buffers=6 max-buffers=6 ! \
             fakesink name=out"
        ),
    );
    engine.set_clock(pipeline, ClockMode::Virtual);
    let mut watch = Watch::default();
    let report = engine.run(pipeline, &RunOptions::default(), &mut watch);
    assert_eq!(report.invariant, None);
    assert_eq!(report.verdict, Verdict::Stalled);
    // Six were lost, each after as many frames; the last one ended it at once.
    let sink = &report.sinks[0];
    assert_eq!((sink.buffers, sink.eos), (6 * (every - 1), false));
    assert_eq!((report.pools[0].buffers, report.pools[0].out), (6, 6));
    assert_eq!(report.leaks.len(), 5, "{:?}", report.leaks);
    let mut lost: Vec<u32> = report.leaks.iter().map(|l| l.buffer).collect();
    lost.sort_unstable();
    lost.dedup();
    assert_eq!(lost.len(), 5, "each is another buffer");
    for (leak, (tick, progress)) in report.leaks.iter().zip(&watch.0) {
        assert_eq!((&*leak.pool, &*leak.holder), ("cam.src", "cam"));
        assert_eq!(leak.tick, leak.since + age);
        assert_eq!((*tick, *progress), (leak.tick, Progress::Running));
    }
    assert!(report.leaks[0].tick < report.ticks / 3);
    let warnings = report.messages.iter().filter(|m| m.kind == "warning");
    let told: Vec<_> = warnings
        .map(|m| {
            (
                m.tick,
                m.element.as_deref(),
                m.domain.as_deref(),
                m.code.as_deref(),
            )
        })
        .collect();
    let want = report.leaks.iter();
    let want: Vec<_> = want
        .map(|l| (l.tick, Some("cam"), Some("pool"), Some("not-returned")))
        .collect();
    assert_eq!(told, want);
}

#[test]
fn a_device_that_has_lost_all_fails_and_what_was_lost_is_told() {
    for (buffers, every, age) in [(6, 1500, 100), (2, 400, 60), (3, 10, 2000)] {
        let mut engine = engine(Some(true), age);
        let pipeline = launch(
            &mut engine,
            &format!(
                "poolsrc name=cam num-buffers=-1 buffers={buffers} lose-every={every} ! queue ! \
                 fakesink"
            ),
        );
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        assert_eq!(report.invariant, None);
        assert_eq!(report.verdict, Verdict::Failed);
        // With a long bound all are lost before one is told.
        let told = if age < every { buffers - 1 } else { 0 };
        assert_eq!(report.leaks.len() as u64, told, "{:?}", report.leaks);
        for leak in &report.leaks {
            assert_eq!((&*leak.holder, leak.tick), ("cam", leak.since + age));
        }
        let error = report.messages.iter().find(|m| m.kind == "error");
        assert_eq!(error.and_then(|m| m.element.as_deref()), Some("cam"));
    }
}

#[test]
fn no_digest_depends_on_the_age() {
    let run = |age| {
        let mut engine = engine(Some(true), age);
        let text =
            "lossy name=cam frames=900 lose-every=300 min-buffers=6 max-buffers=6 ! fakesink";
        let pipeline = launch(&mut engine, text);
        let options = RunOptions {
            digests: true,
            ..RunOptions::default()
        };
        engine.run(pipeline, &options, &mut ())
    };
    let (off, early, late) = (run(0), run(5), run(50));
    assert_eq!((off.leaks.len(), off.verdict), (0, Verdict::Done));
    let since = |leaks: &[LeakReport]| leaks.iter().map(|l| l.since).collect::<Vec<_>>();
    assert_eq!(early.leaks.len(), 2, "{:?}", early.leaks);
    assert_eq!(since(&early.leaks), since(&late.leaks));
    assert!(early.leaks.iter().all(|l| l.tick == l.since + 5));
    assert!(late.leaks.iter().all(|l| l.tick == l.since + 50));
    assert_eq!((&off.digest, &off.digest), (&early.digest, &late.digest));
    // At the end an element lets go of all that it keeps.
    assert_eq!(off.pools[0].out, 0);
}

fn fabric(engine: &Engine) -> &PipelineFabric {
    &engine.world().resource::<Fabric>().pipelines[0]
}

fn play(engine: &mut Engine, pipeline: PipelineHandle) -> u64 {
    engine.set_state(pipeline, State::Playing);
    while engine.state(pipeline) != State::Playing {
        engine.tick();
    }
    // The tick in which it began to.
    fabric(engine).tick - 1
}

#[test]
fn ticks_in_paused_do_not_count() {
    let mut engine = engine(Some(true), 100);
    let pipeline = launch(&mut engine, "fakesrc ! keeper first=1 name=k ! fakesink");
    let start = play(&mut engine, pipeline);
    engine.advance(0..1, 20);
    engine.set_state(pipeline, State::Paused);
    engine
        .wait_for_state(pipeline, State::Paused)
        .expect("it is PAUSED");
    engine.advance(0..1, 500);
    assert!(engine.report(pipeline).leaks.is_empty());
    let again = play(&mut engine, pipeline);
    assert!(again > start + 500);
    engine.advance(0..1, 99);
    assert!(engine.report(pipeline).leaks.is_empty());
    engine.advance(0..1, 1);
    let leaks = engine.report(pipeline).leaks;
    assert_eq!(leaks.len(), 1);
    assert_eq!((&*leaks[0].holder, leaks[0].tick), ("k", again + 100));
    assert!(leaks[0].since <= start);
    // Once.
    engine.advance(0..1, 1000);
    assert_eq!(engine.report(pipeline).leaks, leaks);
    while let Some(message) = engine.next_message(pipeline, MessageMask::WARNING) {
        assert_eq!(message.tick, again + 100);
    }
}

#[test]
fn what_is_in_a_queue_for_too_long_is_told_of_who_should_take_it() {
    let mut engine = engine(Some(false), 50);
    // The join takes nothing from where buffers are, as the other pad has no more after two.
    let text = "fakesrc ! fakesink fakesrc name=a ! j.sink_0 \
                fakesrc max-buffers=1 ! thief nth=3 ! j.sink_1 join name=j ! fakesink";
    let pipeline = launch(&mut engine, text);
    engine.set_state(pipeline, State::Playing);
    engine.advance(0..1, 300);
    let report = engine.report(pipeline);
    let queued = report.leaks.iter().filter(|l| l.holder == "j");
    let queued: Vec<_> = queued.map(|l| (&*l.pool, l.tick - l.since)).collect();
    assert!(!queued.is_empty(), "{:?}", report.leaks);
    let told = |l: &(&str, u64)| l.0 == "a.src" && (50..300).contains(&l.1);
    assert!(queued.iter().all(told), "{queued:?}");
}

#[test]
fn what_is_nowhere_is_told_of_who_got_it_last() {
    let text = |frames: u32| {
        format!("fakesrc name=src num-buffers={frames} ! thief nth=3 name=t ! fakesink")
    };
    // While it runs.
    let mut running = engine(Some(false), 40);
    let pipeline = launch(&mut running, &text(10_000));
    let report = running.run(pipeline, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(report.leaks.len(), 1, "{:?}", report.leaks);
    let leak = &report.leaks[0];
    assert_eq!((&*leak.pool, &*leak.holder), ("src.src", "t"));
    assert!(leak.tick >= leak.since + 40 && leak.tick < leak.since + 50);
    assert_eq!(report.pools[0].out, 1);
    // At its end, with no age set.
    let mut ended = engine(Some(false), 0);
    let pipeline = launch(&mut ended, &text(10));
    let report = ended.run(pipeline, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(report.leaks.len(), 1);
    let leak = &report.leaks[0];
    assert_eq!(
        (&*leak.holder, leak.buffer, leak.tick),
        ("t", 2, report.ticks - 1)
    );
    let codes = report.messages.iter().filter_map(|m| m.code.as_deref());
    assert_eq!(codes.filter(|c| *c == "not-returned").count(), 1);
    assert_eq!(report.pools[0].out, 1);
}

#[test]
fn more_than_can_be_told_are_counted() {
    let mut engine = engine(Some(true), 30);
    let text = "fakesrc min-buffers=128 max-buffers=128 ! keeper first=100 name=k ! fakesink";
    let pipeline = launch(&mut engine, text);
    engine.set_state(pipeline, State::Playing);
    engine.advance(0..1, 200);
    let report = engine.report(pipeline);
    assert_eq!(report.leaks.len(), MAX_LEAKS);
    assert_eq!(report.leaks_left_out, 100 - MAX_LEAKS as u64);
}

#[test]
fn elements_that_hold_by_design_are_not_told() {
    let mut engine = engine(Some(true), 20);
    let text = "fakesrc num-buffers=2000 ! hold buffers=8 ! queue ! fakesink hold=3";
    let pipeline = launch(&mut engine, text);
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!((report.leaks, report.pools[0].out), (vec![], 0));
}
