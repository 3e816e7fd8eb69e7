//! `capssrc`, `capssink`, `capsmap` and `funnel` at work: every buffer arrives once, in order, with
//! its index, and there is one end.

use tickpipe::components::digest::hash_bytes;
use tickpipe::{Engine, EngineOptions, Report, RunOptions};

fn launch(engine: &mut Engine, text: &str) -> tickpipe::PipelineHandle {
    let result = engine.launch("main", text);
    result.map_err(|e| e.render(text)).expect("a graph").0
}

struct Digests(Vec<u64>);

impl tickpipe::Observer for Digests {
    fn tick(&mut self, pipeline: &tickpipe::components::fabric::PipelineFabric) {
        self.0.push(pipeline.digest);
    }
}

/// Runs a line on so many threads; also the digest of each tick.
fn run_on(text: &str, threads: usize) -> (Report, Vec<u64>) {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let pipeline = launch(&mut engine, text);
    let options = RunOptions {
        record: true,
        digests: true,
        max_ticks: Some(10_000),
    };
    let mut digests = Digests(Vec::new());
    let report = engine.run(pipeline, &options, &mut digests);
    (report, digests.0)
}

/// Runs a line to its end: the same on two threads as on one, and one end.
fn run(text: &str) -> Report {
    let (report, digests) = run_on(text, 1);
    assert_eq!(report.verdict.name(), "done", "{text}");
    let (other, others) = run_on(text, 2);
    assert_eq!(
        (report.to_json(), digests),
        (other.to_json(), others),
        "{text}"
    );
    let ends = report.messages.iter().filter(|m| m.kind == "eos").count();
    assert_eq!(ends, 1, "{text}");
    report
}

/// The indices of the buffers that a sink took, found by their hashes.
fn indices(report: &Report, sink: usize) -> Vec<u64> {
    let known: Vec<String> = (0..1000u64)
        .map(|i| format!("{:016x}", hash_bytes(&i.to_le_bytes())))
        .collect();
    let place = |hash: &String| known.iter().position(|k| k == hash);
    let frames = report.sinks[sink].frames.iter();
    frames
        .map(|f| place(&f.hash).expect("an index") as u64)
        .collect()
}

fn took(report: &Report, sink: usize) -> (u64, bool) {
    (report.sinks[sink].buffers, report.sinks[sink].eos)
}

#[test]
fn ten_buffers_unless_told_otherwise() {
    let report = run("capssrc ! capssink");
    assert_eq!(took(&report, 0), (10, true));
    assert_eq!(indices(&report, 0), (0..10).collect::<Vec<_>>());
    assert_eq!(report.sinks[0].frames[3].pts, None);
    assert_eq!(report.links[0].caps, "ANY");
    assert_eq!(took(&run("capssrc num-buffers=0 ! capssink"), 0), (0, true));
    let report = run("capssrc num-buffers=300 ! capssink sync=true");
    assert_eq!(took(&report, 0), (300, true));
}

#[test]
fn a_rate_gives_times() {
    let report = run("capssrc num-buffers=3 ! video/x-raw,framerate=30000/1001 ! capssink");
    let pts: Vec<Option<i64>> = report.sinks[0].frames.iter().map(|f| f.pts).collect();
    assert_eq!(pts, [Some(0), Some(1), Some(2)]);
    assert_eq!(report.sinks[0].time_base, [1001, 30000]);
    // A rate of 0/1 says nothing of times, and so do other caps.
    for caps in ["video/x-raw,framerate=0/1", "audio/x-raw,rate=48000"] {
        let report = run(&format!("capssrc num-buffers=3 ! {caps} ! capssink"));
        assert_eq!(report.sinks[0].frames[2].pts, None, "{caps}");
    }
}

#[test]
fn a_map_changes_caps_and_no_buffer() {
    let report = run("capssrc ! audio/x-raw,format=S16LE,rate=8000 \
         ! capsmap map=\"audio/x-raw,format=S16LE -> audio/x-raw,format=F32LE | a/b -> c/d\" \
         ! audio/x-raw,format=F32LE,rate=8000 ! capssink");
    assert_eq!(indices(&report, 0), (0..10).collect::<Vec<_>>());
    assert_eq!(
        report.links.last().map(|l| l.caps.as_str()),
        Some("audio/x-raw,format=F32LE,rate=8000")
    );
    // One without rows passes everything.
    let report = run("capssrc ! a/x,f=1 ! capsmap ! capssink");
    assert_eq!(took(&report, 0), (10, true));
    assert_eq!(report.links[2].caps, "a/x,f=1");
}

#[test]
fn a_funnel_joins_what_tees_split() {
    let report = run("capssrc num-buffers=500 ! tee name=a \
         capssrc num-buffers=70 ! tee name=b \
         funnel name=f ! capssink \
         a. ! f. a. ! queue ! f. b. ! f. b. ! identity ! f.");
    assert_eq!(took(&report, 0), (2 * 500 + 2 * 70, true));
    let mut seen = indices(&report, 0);
    seen.sort_unstable();
    let want: Vec<u64> = (0..500)
        .flat_map(|i| std::iter::repeat_n(i, if i < 70 { 4 } else { 2 }))
        .collect();
    assert_eq!(seen, want);
    for pool in &report.pools {
        assert!(pool.high_water <= pool.buffers, "{pool:?}");
    }
}

#[test]
fn sources_of_different_lengths_end_once() {
    let report = run("funnel name=f ! capssink \
         capssrc num-buffers=3 ! f. capssrc num-buffers=0 ! f. capssrc num-buffers=200 ! f. \
         capssrc num-buffers=33 ! f.");
    assert_eq!(took(&report, 0), (3 + 200 + 33, true));
    let seen = indices(&report, 0);
    // One of each in turn, in the order of pads, as long as there is one.
    assert_eq!(seen[..10], [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
    let funnel = report.elements.iter().find(|e| e.name == "f");
    let funnel = funnel.expect("it is there");
    assert_eq!((funnel.buffers_in, funnel.buffers_out), (236, 236));
    assert_eq!(funnel.dropped, 0);
}

#[test]
fn a_source_without_end_keeps_no_other_from_passing() {
    // The queue lets one buffer through at a time, and the first input always has one.
    let text = "funnel name=f ! queue max-size-buffers=1 ! capssink \
         capssrc num-buffers=-1 ! f. capssrc num-buffers=5 ! f.";
    let mut engine = Engine::new().expect("an engine");
    let pipeline = launch(&mut engine, text);
    let options = RunOptions {
        max_ticks: Some(200),
        record: true,
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut ());
    let seen = indices(&report, 0);
    assert_eq!(seen[..12], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6]);
    assert!(!report.sinks[0].eos);
}

#[test]
fn pads_that_were_never_made_count_for_nothing() {
    let report = run("funnel name=f ! capssink \
         capssrc num-buffers=1 ! f.sink_7 capssrc num-buffers=2 ! f.sink_2 \
         capssrc num-buffers=3 ! f.sink_%u");
    assert_eq!(took(&report, 0), (6, true));
    let to: Vec<&str> = report.links.iter().map(|l| l.to.as_str()).collect();
    assert_eq!(to, ["f.sink_7", "f.sink_2", "f.sink_8", "capssink0.sink"]);
}

#[test]
fn empty_buffers_harm_no_element_that_expects_pictures() {
    // The line is wrong, and says so; it neither panics nor hangs.
    let mut engine = Engine::new().expect("an engine");
    let text = "capssrc ! video/x-raw,format=I420,width=16,height=16,framerate=25/1 \
         ! videoconvert ! video/x-raw,format=RGB ! capssink";
    let Ok((pipeline, _)) = engine.launch("main", text) else {
        return; // A build without that element.
    };
    let options = RunOptions {
        max_ticks: Some(1000),
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut ());
    assert_eq!(report.verdict.name(), "failed");
    let error = report.messages.iter().find(|m| m.kind == "error");
    assert_eq!(
        error.and_then(|m| m.element.as_deref()),
        Some("videoconvert0")
    );
    assert_ne!(error.and_then(|m| m.code.as_deref()), Some("panic"));
}
