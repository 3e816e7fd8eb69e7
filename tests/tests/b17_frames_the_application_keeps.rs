//! An application that keeps frames is told as the holder of their buffers; one that comes back is filled
//! again, and where copies are asked for it goes on with those.

mod applying;

use applying::{engine, launch, sink};
use tickpipe::{MessageMask, Sample, State};

#[test]
fn b17_frames_that_the_application_keeps_are_told_as_held() {
    let mut engine = engine();
    let text = "poolsrc name=s num-buffers=40 size=16 buffers=6 grants=6 ! appsink name=k hold=1";
    let p = launch(&mut engine, text);
    let k = sink(&mut engine, p);
    engine.set_state(p, State::Playing);
    let mut kept = Vec::new();
    for _ in 0..30 {
        engine.tick();
        kept.extend(std::iter::from_fn(|| k.try_pull().ok().flatten()));
    }
    assert_eq!(kept.len(), 6);
    let report = engine.report(p);
    assert_eq!(report.verdict.name(), "stalled");
    let waits = report.elements[0].waits_for.as_ref().expect("it waits");
    assert_eq!(waits.waits_for, "buffer");
    let held: Vec<(String, u64, u64)> = waits
        .held
        .iter()
        .map(|h| (h.element.clone(), h.buffers as u64, h.kept as u64))
        .collect();
    assert_eq!(held, [("k".to_owned(), 6, 6)]);
    let k_element = engine.element(p, "k").expect("it is there");
    assert_eq!(engine.app_holds(p, k_element), 6);
    // One that comes back is filled again in the next tick, and what is kept stays as it is.
    let bytes: Vec<Vec<u8>> = kept.iter().map(|s| s.bytes().to_vec()).collect();
    let first = kept.remove(0);
    assert!(first.holds());
    drop(first);
    engine.tick();
    engine.tick();
    engine.tick();
    let next = k.try_pull().expect("no error").expect("the seventh");
    assert_eq!(next.info.index, 6);
    let now: Vec<Vec<u8>> = kept.iter().map(|s| s.bytes().to_vec()).collect();
    assert_eq!(now, bytes[1..]);
}

#[test]
fn b17_copies_below_a_level_let_it_go_on() {
    let mut engine = engine();
    let text = "poolsrc name=s num-buffers=40 size=16 buffers=6 grants=6 ! \
         appsink name=k hold=1 copy-when-below=2 max-buffers=64";
    let p = launch(&mut engine, text);
    let k = sink(&mut engine, p);
    engine.set_state(p, State::Playing);
    engine.wait(p, MessageMask::EOS).expect("it ends");
    let kept: Vec<Sample> = std::iter::from_fn(|| k.try_pull().ok().flatten()).collect();
    assert_eq!(kept.len(), 40);
    assert!(kept.iter().filter(|s| s.holds()).count() <= 5);
    let report = engine.report(p);
    let copied = report
        .elements
        .iter()
        .find(|e| e.name == "k")
        .map(|e| e.copied);
    assert!(copied >= Some(35), "{copied:?}");
}
