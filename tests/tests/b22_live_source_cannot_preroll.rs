//! B22: a live source gives nothing in PAUSED, and nobody waits for it there. What it did not give is one
//! discontinuity, of as many ticks as it was paused for; a file beside it has none.

mod acting;

use acting::{buffers, engine, kinds, launch, messages, named, taken, ticks};
use std::path::PathBuf;
use tickpipe::components::buffer::BufferFlags;
use tickpipe::components::fabric::Progress;
use tickpipe::components::occurrence::{Deed, Reason};
use tickpipe::{ChangeResult, Message, MessageKind, State};

fn discontinuities(messages: &[Message]) -> Vec<(u32, Option<i64>, Deed)> {
    let found = messages.iter().filter_map(|m| match m.kind {
        MessageKind::Occurrence(o) if o.reason == Reason::Discontinuity => {
            Some((m.element?.0, o.value, o.deed))
        }
        _ => None,
    });
    found.collect()
}

#[test]
fn b22_paused_is_reached_at_once_and_the_gap_is_told() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("b22.bytes");
    std::fs::write(&file, vec![7u8; 4096 * 200]).expect("written");
    let mut engine = engine();
    let text = format!(
        "actsrc name=live is-live=true label=b22-live script=* ! tee name=t t. ! queue ! \
         actsink name=sink1 label=b22-1 t. ! queue ! fakesink name=sink2 \
         filesrc name=file location={} ! actsink name=sink3 label=b22-3",
        file.display()
    );
    let pipeline = launch(&mut engine, &text);
    engine.set_state(pipeline, State::Paused);
    engine.tick();
    let change = engine.state_change(pipeline);
    assert_eq!(
        (change.state, change.pending, change.result),
        (State::Paused, None, ChangeResult::NoPreroll)
    );
    ticks(&mut engine, 20);
    let live = named(&engine, pipeline, "live");
    let made = |engine: &tickpipe::Engine| {
        let report = engine.report(pipeline);
        let live = report.elements.iter().find(|e| e.name == "live");
        live.map_or(0, |e| e.buffers_out)
    };
    assert_eq!(made(&engine), 0, "nothing in PAUSED");
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 6);
    assert_eq!(engine.state(pipeline), State::Playing);
    let before = made(&engine);
    assert!(before > 0);
    assert_eq!(discontinuities(&messages(&mut engine, pipeline)), []);

    // Paused again for 10 ticks.
    engine.set_state(pipeline, State::Paused);
    engine.tick();
    assert_eq!(engine.state(pipeline), State::Paused);
    let stopped = made(&engine);
    assert_eq!(stopped, before, "it stops at once");
    ticks(&mut engine, 9);
    assert_eq!(made(&engine), stopped);
    engine.set_state(pipeline, State::Playing);
    ticks(&mut engine, 10);
    let told = messages(&mut engine, pipeline);
    let id = engine
        .world()
        .get::<tickpipe::components::graph::Element>(live.entity())
        .map_or(u32::MAX, |e| e.id.0);
    assert_eq!(discontinuities(&told), [(id, Some(10), Deed::Gap)]);
    let other = kinds(&told);
    assert!(
        other
            .iter()
            .all(|k| matches!(k, MessageKind::Occurrence(_)))
    );
    // What was made before is not lost, and neither is anything of the file.
    // Blocks of a file are known by their position.
    for (label, step) in [("b22-1", 1), ("b22-3", 4096)] {
        let seen = buffers(&taken(label));
        let all: Vec<u64> = (0..seen.len() as u64).map(|i| i * step).collect();
        assert_eq!(seen, all, "{label}");
        assert!(!seen.is_empty());
    }
    engine.set_state(pipeline, State::Ready);
    ticks(&mut engine, 3);
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn b22_the_first_buffer_behind_the_gap_is_marked() {
    for paused in [1, 10, 37] {
        let mut engine = engine();
        let text = "actsrc is-live=true script=bbb.bbb.bbbe name=live ! fakesink name=out";
        let pipeline = launch(&mut engine, text);
        engine.set_state(pipeline, State::Playing);
        ticks(&mut engine, 6);
        engine.set_state(pipeline, State::Paused);
        ticks(&mut engine, paused);
        let live = named(&engine, pipeline, "live");
        engine.device_ready(live);
        engine.set_state(pipeline, State::Playing);
        let mut marked = Vec::new();
        for _ in 0..12 {
            engine.tick();
            let p = acting::fabric(&engine, pipeline);
            let queued = p.lanes[1].inputs[0].queue.iter();
            let flags = queued.filter_map(|i| i.as_buffer()).map(|b| {
                let meta = &p.buffers.meta[b.index()];
                (meta.index, meta.flags.contains(BufferFlags::DISCONTINUITY))
            });
            marked.extend(flags.filter(|f| f.1).map(|f| f.0));
            engine.device_ready(live);
        }
        assert_eq!(marked, [3], "paused for {paused}");
        assert_eq!(engine.progress(pipeline), Progress::Ended);
        let told = discontinuities(&messages(&mut engine, pipeline));
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].1, Some(paused as i64));
    }
}
