//! DirectShow's rules of a transform, case by case.

mod acting;

use acting::{buffers, count, engine, fabric, go, launch, messages, named, out, taken, ticks};
use tickpipe::components::event::{Event, Quality, QualityKind};
use tickpipe::components::fabric::Progress;
use tickpipe::{ClockMode, Flush, MessageMask, State};

#[test]
fn t1_its_pool_is_committed_only_while_started() {
    let mut engine = engine();
    let text = "fakesrc num-buffers=40 ! actpass name=dec copies=true min-buffers=8 \
                max-buffers=8 ! fakesink";
    let pipeline = launch(&mut engine, text);
    for run in 0..2 {
        assert!(fabric(&engine, pipeline).buffers.pools.is_empty(), "{run}");
        for state in [State::Paused, State::Playing, State::Paused] {
            go(&mut engine, pipeline, state);
            let pools = &fabric(&engine, pipeline).buffers.pools;
            let own = pools.iter().find(|p| p.count == 8).expect("its pool");
            assert!(own.committed, "{state}");
        }
        go(&mut engine, pipeline, State::Ready);
    }
}

#[test]
fn t2_stopped_it_takes_nothing_and_flushing_it_drops() {
    let mut engine = engine();
    let text = "actsrc name=src label=t2 counts=true script=b.bb.be ! actpass name=t \
                label=t2-passed ! actsink label=t2";
    let pipeline = launch(&mut engine, text);
    go(&mut engine, pipeline, State::Playing);
    ticks(&mut engine, 4);
    engine.flush(pipeline, None, Flush::Start);
    let source = named(&engine, pipeline, "src");
    engine.device_ready(source);
    ticks(&mut engine, 4);
    // What came is no error, and is home.
    assert_eq!(
        (engine.progress(pipeline), out("t2").0),
        (Progress::Running, 0)
    );
    assert_eq!(buffers(&taken("t2-passed")), [0]);
    engine.flush(pipeline, None, Flush::Stop);
    engine.device_ready(source);
    ticks(&mut engine, 6);
    assert_eq!(buffers(&taken("t2-passed")), [3]);
    assert_eq!(buffers(&taken("t2")), [0, 3]);
    go(&mut engine, pipeline, State::Ready);
    engine.device_ready(source);
    ticks(&mut engine, 4);
    assert_eq!(buffers(&taken("t2-passed")), [0; 0]);
}

#[test]
fn t3_an_end_passes_each_time_that_it_is_sent() {
    // A second end comes only behind a flush or a stop: between the two nothing more is taken.
    let mut engine = engine();
    let text = "actsrc name=src script=bbe ! actpass label=t3 ! actsink label=t3-out";
    let pipeline = launch(&mut engine, text);
    for run in 0..2 {
        go(&mut engine, pipeline, State::Playing);
        ticks(&mut engine, 8);
        assert_eq!(engine.progress(pipeline), Progress::Ended);
        engine.flush(pipeline, None, Flush::Discard);
        ticks(&mut engine, 8);
        let told = messages(&mut engine, pipeline);
        assert_eq!(count(&told, MessageMask::EOS), 2, "{run}");
        for label in ["t3", "t3-out"] {
            let log = taken(label);
            assert_eq!(
                log.iter().filter(|l| *l == "end").count(),
                2,
                "{label} {run}"
            );
        }
        go(&mut engine, pipeline, State::Ready);
    }
}

#[test]
fn t4_quality_goes_upstream() {
    let mut engine = engine();
    let text = "actsrc label=t4-src script=bbbbbbbbb.e ! actpass name=a label=t4-a ! queue ! \
                actpass name=b label=t4-b ! work time=100ms ! \
                fakesink name=out sync=true qos=true";
    let pipeline = launch(&mut engine, text);
    engine.set_clock(pipeline, ClockMode::Virtual);
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 200);
    assert_eq!(engine.taken(pipeline), 9);
    // One of each buffer, and who does nothing with it passes it on, up to the source.
    for label in ["t4-b", "t4-a", "t4-src"] {
        let log = taken(label);
        assert_eq!(log.iter().filter(|l| *l == "quality").count(), 9, "{label}");
    }
    // Sent by hand from the middle it passes only those upstream of there.
    go(&mut engine, pipeline, State::Ready);
    let upper = named(&engine, pipeline, "b");
    go(&mut engine, pipeline, State::Playing);
    for label in ["t4-a", "t4-b"] {
        taken(label);
    }
    let late = Event::Quality(Quality {
        kind: QualityKind::TooLate,
        proportion: 500,
        jitter: 7,
        timestamp: 0,
    });
    engine.send_event(pipeline, upper, late, true);
    engine.tick();
    let passed = |label: &str| taken(label).iter().filter(|l| *l == "quality").count();
    assert_eq!((passed("t4-a"), passed("t4-b")), (1, 0));
}
