//! B28: a join ends when all its inputs have, not with the first; one that was asked for and is not linked
//! is waited for by nobody; one that is taken away while it runs counts no more; a flush loses only what was
//! under way.

mod acting;

use acting::{buffers, count, engine, go, launch, messages, named, out, taken, ticks};
use tickpipe::components::fabric::Progress;
use tickpipe::{Engine, Flush, MessageMask, PipelineHandle, Removal, State};

/// Three sources of ten, of which each is slower than the one before; what joins them.
fn start(label: &str, join: &str) -> (Engine, PipelineHandle) {
    let mut engine = engine();
    let script = |every: usize| ("b".repeat(every) + ".").repeat(10 / every) + "e";
    let text = format!(
        "{join} name=j ! actsink label={label} \
         actsrc name=a label={label} counts=true script={} ! j. \
         actsrc name=b label={label} counts=true script={} ! queue ! j. \
         actsrc name=c label={label} counts=true script={} ! identity ! j.",
        script(5),
        script(2),
        script(1)
    );
    let pipeline = launch(&mut engine, &text);
    (engine, pipeline)
}

/// A tick in which each of those sources may go on.
fn serve(engine: &mut Engine, pipeline: PipelineHandle) {
    for name in ["a", "b", "c"] {
        if let Some(source) = engine.element(pipeline, name) {
            engine.device_ready(source);
        }
    }
    engine.tick();
}

/// To the end: how many came, and of which there is one end behind them all.
fn to_end(engine: &mut Engine, pipeline: PipelineHandle, label: &str) -> usize {
    for _ in 0..200 {
        if engine.progress(pipeline) == Progress::Ended {
            break;
        }
        serve(engine, pipeline);
    }
    assert_eq!(engine.progress(pipeline), Progress::Ended);
    let log = taken(label);
    assert_eq!(log.iter().filter(|l| *l == "end").count(), 1);
    assert_eq!(log.last().map(String::as_str), Some("end"));
    assert_eq!(count(&messages(engine, pipeline), MessageMask::EOS), 1);
    go(engine, pipeline, State::Ready);
    assert_eq!(out(label).0, 0);
    buffers(&log).len()
}

#[test]
fn b28_it_ends_with_the_last_input() {
    for join in ["join", "funnel"] {
        let label = format!("b28-{join}");
        let (mut engine, pipeline) = start(&label, join);
        for _ in 0..2 {
            engine.set_state(pipeline, State::Playing);
            assert_eq!(to_end(&mut engine, pipeline, &label), 30, "{join}");
        }
    }
}

#[test]
fn b28_a_pad_that_is_not_linked_is_not_waited_for() {
    for join in ["join", "funnel"] {
        let label = format!("b28-pad-{join}");
        let (mut engine, pipeline) = start(&label, join);
        // A pad was asked for, and what was linked there is gone again.
        let (other, j) = (engine.create("fakesrc", 90), named(&engine, pipeline, "j"));
        let other = other.expect("a class");
        engine.add(pipeline, other).expect("free");
        engine.link(other, j).expect("a pad on request");
        engine.unlink(other, j).expect("they are linked");
        engine
            .remove(pipeline, other, Removal::Discard)
            .expect("it is there");
        engine.set_state(pipeline, State::Playing);
        assert_eq!(to_end(&mut engine, pipeline, &label), 30, "{join}");
    }
}

#[test]
fn b28_a_pad_that_is_released_at_t7_and_at_every_other() {
    for join in ["join", "funnel"] {
        for name in ["a", "b", "c"] {
            for at in (1..12).chain([7, 20]) {
                let label = format!("b28-release-{join}");
                let (mut engine, pipeline) = start(&label, join);
                engine.set_state(pipeline, State::Playing);
                (0..at).for_each(|_| serve(&mut engine, pipeline));
                let gone = named(&engine, pipeline, name);
                let report = engine.report(pipeline);
                let made = report.elements.iter().find(|e| e.name == name);
                let made = made.map_or(0, |e| e.buffers_out) as usize;
                engine
                    .remove(pipeline, gone, Removal::Discard)
                    .expect("it is there");
                // What it sent before is still taken; the others are whole.
                let came = to_end(&mut engine, pipeline, &label);
                assert_eq!(came, 20 + made, "{join}: {name} at {at}");
            }
        }
    }
}

#[test]
fn b28_a_flush_at_t9_and_at_every_other() {
    for join in ["join", "funnel"] {
        for at in (3..10).chain([9]) {
            let label = format!("b28-flush-{join}");
            let (mut engine, pipeline) = start(&label, join);
            engine.set_state(pipeline, State::Playing);
            (0..at).for_each(|_| serve(&mut engine, pipeline));
            let before = engine.report(pipeline);
            assert_eq!(engine.progress(pipeline), Progress::Running);
            engine.flush(pipeline, None, Flush::Discard);
            engine.tick();
            let after = engine.report(pipeline);
            let dropped = |report: &tickpipe::Report| -> u64 {
                report.elements.iter().map(|e| e.dropped).sum()
            };
            let lost = (dropped(&after) - dropped(&before)) as usize;
            let came = to_end(&mut engine, pipeline, &label);
            assert_eq!(came, 30 - lost, "{join} at {at}");
            ticks(&mut engine, 2);
        }
    }
}
