//! A slow far side, or one that failed, never makes a queue grow: pushes are refused, with counts.

mod applying;

use applying::{engine, launch, sink, source, ticks};
use tickpipe::components::fault::{Code, Domain};
use tickpipe::{AppError, State};

#[test]
fn b18_whatever_the_application_does_queues_are_bounded() {
    let mut engine = engine();
    let text = "appsrc name=s blocksize=8 max-buffers=7 alloc-buffers=1000 ! queue max-size-buffers=5 \
         ! work time=100ms ! fakesink";
    let p = launch(&mut engine, text);
    engine.set_clock(p, tickpipe::ClockMode::Virtual);
    let s = source(&mut engine, p);
    engine.set_state(p, State::Playing);
    let (mut pushed, mut refused, mut peak) = (0, 0, 0);
    for _ in 0..2000 {
        for _ in 0..5 {
            match s.push_bytes(&[1; 8], None) {
                Ok(()) => pushed += 1,
                Err(AppError::Full { buffers: 7, .. }) => refused += 1,
                Err(AppError::Stopped) => {}
                Err(other) => panic!("{other}"),
            }
            peak = peak.max(s.level().buffers);
        }
        engine.tick();
    }
    assert_eq!(peak, 7);
    assert!(pushed > 100 && refused > 100, "{pushed} {refused}");
    assert_eq!(s.refused(), refused);
    let report = engine.report(p);
    assert!(
        report
            .pools
            .iter()
            .all(|pool| pool.high_water <= pool.buffers)
    );
    let queued: u64 = report.elements.iter().map(|e| e.queued).sum();
    assert!(queued <= 5 + 2 * 8, "{queued}");
}

#[test]
fn b18_when_the_far_side_failed_pushes_say_so() {
    let mut engine = engine();
    let p = launch(&mut engine, "appsrc name=s blocksize=8 ! appsink name=k");
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    let mut seen = 0;
    k.on_sample(move |_| {
        seen += 1;
        assert!(seen < 4, "the display is gone");
    });
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 2);
    let mut outcomes = Vec::new();
    for _ in 0..12 {
        outcomes.push(s.push_bytes(&[1; 8], None));
        ticks(&mut engine, 2);
    }
    let failed = AppError::Failed(Domain::Core, Code::Panic);
    let from = outcomes.iter().position(|o| o.is_err()).expect("it fails");
    assert!(from <= 5, "{from}");
    assert!(
        outcomes[from..].iter().all(|o| *o == Err(failed.clone())),
        "{outcomes:?}"
    );
}
