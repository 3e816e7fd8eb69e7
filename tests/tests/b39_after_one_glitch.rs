//! B39: 60 frames a second arrive 24 and 8 ms apart by turns; once nothing comes for 3 s. Frames are
//! late during the outage only: within ten frames after it each set has a new frame again, and the
//! synchroniser is in the state in which it was before.

#![cfg(feature = "video")]

mod stamped;

use stamped::{run_with, sink};
use std::collections::BTreeSet;
use tickpipe::components::fabric::Fabric;
use tickpipe::{ClockMode, Engine, Report, State, Verdict};

/// Frames before the outage; then those that would have come in 3 s are lost, as by a device.
const BEFORE: i64 = 100;
const LOST: i64 = 180;
const AFTER: i64 = 200;

fn text(sync: bool) -> String {
    let all = BEFORE + LOST + AFTER;
    let last = BEFORE - 1;
    format!(
        "stampsrc name=lead stamps=0..{} arrivals=16666667ns caps=video/x-raw,format=I420,width=16,height=16,framerate=60/1 \
         ! overlay name=mix ! fakesink name=out sync={sync} max-lateness=-1 \
         stampsrc name=camera stamps=0..{last},{}..{} arrivals=24/8ms*{last},3016ms,24/8ms \
         caps=video/x-raw,format=I420,width=8,height=8,framerate=60/1 ! mix.",
        all - 1,
        BEFORE + LOST,
        all - 1,
    )
}

/// What each set showed of the camera.
fn camera(report: &Report) -> Vec<Option<u64>> {
    report.sync[0].sets.iter().map(|s| s.1[1]).collect()
}

#[test]
fn b39_frames_are_repeated_during_the_outage_only() {
    for sync in [false, true] {
        let (_, report) = run_with(&text(sync), ClockMode::Virtual);
        assert_eq!(report.verdict, Verdict::Done);
        let all = BEFORE + LOST + AFTER;
        assert_eq!(sink(&report, "out").buffers, all as u64);
        let want: Vec<Option<u64>> = (0..all)
            .map(|i| match i {
                _ if i < BEFORE => i,
                _ if i < BEFORE + LOST => BEFORE - 1,
                _ => i - LOST,
            })
            .map(|i| u64::try_from(i).ok())
            .collect();
        assert_eq!(camera(&report), want, "sync={sync}");
        let mix = &report.sync[0];
        assert_eq!(mix.dropped, [0, 0], "sync={sync}");
        assert_eq!(mix.repeated[1], LOST as u64, "sync={sync}");
    }
}

/// What the synchroniser keeps of the camera, in frames from the set that was made last: the frame
/// that is shown, and the next if it is there.
fn cache(engine: &Engine, pipeline: tickpipe::PipelineHandle, set: i64) -> (i64, Option<i64>) {
    let p = engine.world().resource::<Fabric>();
    let p = p.get(pipeline.id()).expect("a pipeline");
    let sync = p.lanes.iter().find_map(|l| l.extras.sync.as_deref());
    let input = &sync.expect("a synchroniser").inputs[1];
    let shown = input.current.map_or(i64::MIN, |f| f.time - set);
    (shown, input.next.map(|f| f.time - set))
}

#[test]
fn b39_the_cache_is_as_before() {
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = engine.launch("main", &text(false)).expect("a graph");
    engine.set_clock(pipeline, ClockMode::Virtual);
    engine.observe(pipeline, false, true);
    engine.set_state(pipeline, State::Playing);
    let (mut before, mut during, mut after) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..20_000 {
        engine.tick();
        let report = engine.report(pipeline);
        let Some(&(set, _)) = report.sync.first().and_then(|s| s.sets.last()) else {
            continue;
        };
        let seen = cache(&engine, pipeline, set);
        match set {
            10..90 => before.insert(seen),
            110..270 => during.insert(seen),
            // Ten frames after the outage, until short before the end.
            290..470 => after.insert(seen),
            _ => false,
        };
        if set == BEFORE + LOST + AFTER - 1 {
            break;
        }
    }
    assert!(
        !before.is_empty() && before.iter().all(|c| c.0 == 0),
        "{before:?}"
    );
    assert_eq!(before, after);
    assert!(during.iter().all(|c| c.0 < 0), "{during:?}");
}
