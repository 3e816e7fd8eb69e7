//! B26: the end of a job follows the last of its sinks; each sink sees its end once, behind its last
//! buffer.

mod acting;

use acting::{buffers, count, engine_with, go, launch, messages, taken};
use tickpipe::components::fabric::Progress;
use tickpipe::{MessageKind, MessageMask, State};

/// Runs a graph on so many threads: the tick of the pipeline's end, and what each sink saw and when it
/// saw its end.
fn run(text: &str, sinks: &[&str], threads: usize) -> (u64, Vec<(usize, u64)>) {
    let mut engine = engine_with(threads);
    let pipeline = launch(&mut engine, text);
    engine.set_state(pipeline, State::Playing);
    let mut logs = vec![Vec::new(); sinks.len()];
    let mut ended = vec![None; sinks.len()];
    let mut all = Vec::new();
    for tick in 0..500 {
        engine.tick();
        for (at, sink) in sinks.iter().enumerate() {
            logs[at].extend(taken(sink));
            if ended[at].is_none() && logs[at].iter().any(|l| l == "end") {
                ended[at] = Some(tick);
            }
        }
        all.extend(messages(&mut engine, pipeline));
        let over = ended.iter().all(Option::is_some);
        assert_eq!(engine.progress(pipeline) == Progress::Ended, over, "{tick}");
        if over {
            break;
        }
    }
    assert_eq!(count(&all, MessageMask::EOS), 1);
    let end = all
        .iter()
        .find(|m| m.kind == MessageKind::Eos)
        .expect("one");
    let seen = logs.iter().zip(ended).map(|(log, ended)| {
        let ends = log.iter().filter(|l| *l == "end").count();
        assert_eq!((ends, log.last().map(String::as_str)), (1, Some("end")));
        let seen = buffers(log);
        assert_eq!(seen, (0..seen.len() as u64).collect::<Vec<_>>());
        (seen.len(), ended.unwrap_or_default())
    });
    let seen = seen.collect();
    go(&mut engine, pipeline, State::Ready);
    (end.tick, seen)
}

fn script(buffers: usize) -> String {
    "b".repeat(buffers) + "e"
}

#[test]
fn b26_the_job_ends_with_the_last_sink() {
    let text = format!(
        "actsrc script={} ! actsink label=b26-1 actsrc script={} ! actsink label=b26-2",
        script(10),
        script(50)
    );
    for threads in [1, 2] {
        let (end, seen) = run(&text, &["b26-1", "b26-2"], threads);
        let [(10, first), (50, last)] = seen[..] else {
            panic!("{seen:?}");
        };
        assert!(first < last);
        assert_eq!(end, last);
    }
}

#[test]
fn b26_nested_and_behind_a_tee() {
    let text = format!(
        "bin.( name=outer bin.( name=inner actsrc script={} ! tee name=t ) t. ! \
         actsink label=b26-n1 t. ! queue max-size-buffers=1 ! identity ! actsink label=b26-n3 ) \
         bin.( name=other actsrc script={} ! actsink label=b26-n2 )",
        script(10),
        script(50)
    );
    let (end, seen) = run(&text, &["b26-n1", "b26-n3", "b26-n2"], 1);
    let counts: Vec<usize> = seen.iter().map(|s| s.0).collect();
    assert_eq!(counts, [10, 10, 50]);
    assert_eq!(Some(end), seen.iter().map(|s| s.1).max());
}

#[test]
fn b26_whichever_is_shorter() {
    for (a, b) in [(0, 0), (0, 5), (5, 0), (1, 30), (30, 1), (12, 12)] {
        let text = format!(
            "actsrc script={} ! actsink label=b26-a actsrc script={} ! actsink label=b26-b",
            script(a),
            script(b)
        );
        let (end, seen) = run(&text, &["b26-a", "b26-b"], 1);
        let counts: Vec<usize> = seen.iter().map(|s| s.0).collect();
        assert_eq!(counts, [a, b]);
        assert_eq!(Some(end), seen.iter().map(|s| s.1).max(), "{a} {b}");
    }
}
