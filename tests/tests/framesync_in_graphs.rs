//! Frame synchronisation in graphs: the recorded cases of FFmpeg's real filters, on any number of threads and
//! with any number of buffers a tick; inputs that promise or say nothing; inputs that end early; what
//! the report tells.

#![cfg(feature = "video")]

use serde_json::Value as Json;
use tickpipe::components::limits::{Limit, Limits};
use tickpipe::{Engine, EngineOptions, Report, RunOptions, Verdict};

fn run_as(text: &str, threads: usize, quantum: u64) -> Report {
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum).expect("a quantum");
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        limits,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (p, _) = engine
        .launch("main", text)
        .map_err(|e| e.render(text))
        .expect("a graph");
    let options = RunOptions {
        record: true,
        digests: true,
        max_ticks: Some(20_000),
    };
    engine.run(p, &options, &mut ())
}

fn run(text: &str) -> Report {
    run_as(text, 1, 16)
}

fn sets(report: &Report) -> Vec<(i64, Vec<Option<u64>>)> {
    report.sync[0].sets.clone()
}

fn words(list: &Json) -> String {
    let word = |v: &Json| match v {
        Json::String(word) => word.clone(),
        other => other.to_string(),
    };
    list.as_array()
        .expect("a list")
        .iter()
        .map(word)
        .collect::<Vec<_>>()
        .join(",")
}

/// The case as a graph, and the times and sets that it must have; `None` where it has a frame without a
/// time, or is refused.
fn graph(case: &Json) -> Option<(String, Json)> {
    let config = &case["config"];
    let mut text = format!(
        "framesync-probe name=p levels={} before={} after={}",
        words(&config["sync"]),
        words(&config["before"]),
        words(&config["after"])
    );
    for (name, value) in case["options"].as_object()? {
        if name != "duration" {
            text += &format!(
                " {name}={}",
                value.as_str().map_or(value.to_string(), str::to_owned)
            );
        }
    }
    text += " ! fakesink name=k";
    for (k, input) in case["inputs"].as_array()?.iter().enumerate() {
        let pts = input["pts"].as_array()?;
        if pts.iter().any(Json::is_null) {
            return None;
        }
        let stamps: Vec<String> = pts.iter().map(Json::to_string).collect();
        let (num, den) = (&input["time_base"][0], &input["time_base"][1]);
        let source = match stamps.is_empty() {
            true => "num-buffers=0".to_owned(),
            false => format!("stamps={}", stamps.join(",")),
        };
        text += &format!(
            " stampsrc name=i{k} {source} time-base={num}/{den} \
             caps=application/x-test,framerate={den}/{num} ! p.sink_{k}"
        );
    }
    let mut want = case["expected"].clone();
    let frames = want.get_mut("frames")?.as_array_mut()?;
    if let Some(events) = case.get("events") {
        for (frame, time) in frames.iter_mut().zip(events["pts"].as_array()?) {
            frame[0] = time.clone();
        }
    }
    Some((text, want["frames"].clone()))
}

#[test]
fn recorded_cases_in_a_graph() {
    let files = [
        include_str!("../../components/tests/data/framesync-dev.json"),
        include_str!("../../components/tests/data/framesync-generic-dev.json"),
    ];
    let mut count = 0;
    for file in files {
        let file: Json = serde_json::from_str(file).expect("JSON");
        for case in file["cases"].as_array().expect("a list") {
            let Some((text, want)) = graph(case) else {
                continue;
            };
            let mut digest = None;
            for (threads, quantum) in [(1, 16), (2, 16), (1, 1)] {
                let report = run_as(&text, threads, quantum);
                let got = serde_json::to_value(sets(&report)).expect("JSON");
                assert_eq!(got, want, "{} {text}", case["id"]);
                assert_eq!(report.verdict, Verdict::Done, "{} {text}", case["id"]);
                assert!(report.leaks.is_empty(), "{}", case["id"]);
                if quantum == 16 {
                    let first = digest.get_or_insert(report.digest.clone());
                    assert_eq!(*first, report.digest, "{} on {threads} threads", case["id"]);
                }
                let copied: u64 = report.elements.iter().map(|e| e.copied).sum();
                assert_eq!(copied, 0);
            }
            count += 1;
        }
    }
    assert!(count > 350, "{count}");
}

/// Counts per input follow from the sets.
#[test]
fn the_report_counts_each_frame() {
    let text = "stampsrc stamps=0..9 caps=application/x-test,framerate=25/1 ! framesync-probe name=p ! fakesink \
         stampsrc stamps=3,4,5,5,5,7 caps=application/x-test,framerate=25/1 ! p.";
    let report = run(text);
    let sync = &report.sync[0];
    assert_eq!(sync.time_base, [1, 25]);
    let shown: Vec<Option<u64>> = sync.sets.iter().map(|s| s.1[1]).collect();
    let want = [
        None,
        None,
        None,
        Some(0),
        Some(1),
        Some(2),
        Some(4),
        Some(5),
        Some(5),
        Some(5),
    ];
    assert_eq!(shown, want);
    assert_eq!(sync.taken, [10, 6]);
    assert_eq!(sync.repeated, [0, 2]);
    assert_eq!(sync.dropped, [0, 1]);
    assert_eq!(sync.absent, [0, 3]);
}

/// An input that is silent and says so holds nobody back; one that does not say so is named.
#[test]
fn a_silent_input_that_says_so_is_not_waited_for() {
    let text = |silent: bool| {
        format!(
            "stampsrc stamps=0..9 caps=application/x-test,framerate=25/1 ! framesync-probe name=p ! fakesink \
             silentsrc name=quiet may-be-silent={silent} ! \
             capsfilter caps=application/x-test,framerate=25/1 ! p."
        )
    };
    let report = run(&text(true));
    assert_eq!(report.verdict, Verdict::Done);
    let all: Vec<_> = (0..10).map(|n| (n, vec![Some(n as u64), None])).collect();
    assert_eq!(sets(&report), all);
    let report = run(&text(false));
    assert_eq!(report.verdict, Verdict::Stalled);
    assert_eq!(sets(&report), []);
    let stall = report.stall.expect("told");
    assert!(format!("{stall:?}").contains("quiet"), "{stall:?}");
}

/// With `silent` all equal inputs: no output without its first frame, as with one that is empty.
#[test]
fn a_silent_input_is_as_one_that_is_empty() {
    for levels in ["2,1", "1,1", "1,2", "2,1,0", "0,1,1"] {
        for before in ["stop", "null", "stop,null"] {
            let text = |second: &str| {
                format!(
                    "stampsrc stamps=0..9 caps=application/x-test,framerate=25/1 ! \
                     framesync-probe name=p levels={levels} before={before} ! fakesink \
                     {second} ! p.sink_1 stampsrc stamps=2..12 caps=application/x-test,framerate=25/1 ! p.sink_2"
                )
            };
            let empty = run(&text(
                "stampsrc num-buffers=0 caps=application/x-test,framerate=25/1",
            ));
            let silent = run(&text(
                "silentsrc may-be-silent=true ! capsfilter caps=application/x-test,framerate=25/1",
            ));
            assert_eq!(silent.verdict, Verdict::Done, "{levels} {before}");
            assert_eq!(sets(&silent), sets(&empty), "{levels} {before}");
        }
    }
}

#[test]
fn strict_is_an_error_at_the_first_set_that_misses_a_frame() {
    let text = |a: &str, b: &str, options: &str| {
        format!(
            "stampsrc stamps={a} caps=application/x-test,framerate=25/1 ! framesync-probe name=p {options} ! \
             fakesink name=k stampsrc stamps={b} caps=application/x-test,framerate=25/1 ! p."
        )
    };
    let as_long = run(&text("0..9", "0..9", "strict=true"));
    assert_eq!(as_long.verdict, Verdict::Done);
    for (a, b, input, made) in [("0..9", "0..6", 1, 7), ("0..6", "0..9", 0, 7)] {
        let report = run(&text(a, b, "strict=true"));
        assert_eq!(report.verdict, Verdict::Failed, "{a} {b}");
        assert_eq!(sets(&report).len(), made, "{a} {b}");
        assert_eq!(report.sinks[0].buffers, made as u64);
        let error = report
            .messages
            .iter()
            .find(|m| m.kind == "error")
            .expect("one");
        assert_eq!(error.code.as_deref(), Some("truncated"), "input {input}");
    }
    // The last frames last until 10/25: half of that rate is no shorter.
    let half = "stampsrc stamps=0..9 caps=application/x-test,framerate=50/1 ! framesync-probe name=p strict=true ! \
         fakesink stampsrc stamps=0..4 caps=application/x-test,framerate=25/1 ! p.";
    assert_eq!(run(half).verdict, Verdict::Done);
    // Whoever ends all with the shortest may still want to know.
    let report = run(&text("0..9", "0..6", "strict=true shortest=true"));
    assert_eq!(report.verdict, Verdict::Failed);
}

#[test]
fn what_compares_makes_nothing_up() {
    let text = |second: u32, options: &str| {
        format!(
            "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=16,height=16 ! psnr name=p {options} ! \
             fakesink name=k videotestsrc num-buffers={second} pattern=black ! p."
        )
    };
    let measured = |report: &Report| {
        let p = report
            .elements
            .iter()
            .find(|e| e.name == "p")
            .expect("it is there");
        p.measures.as_ref().map(|m| (m.count, m.frames.len()))
    };
    let report = run(&text(4, ""));
    assert_eq!(
        (report.verdict, measured(&report)),
        (Verdict::Done, Some((4, 4)))
    );
    let report = run(&text(2, ""));
    assert_eq!(
        (report.verdict, measured(&report)),
        (Verdict::Failed, Some((2, 2)))
    );
    assert_eq!(report.sinks[0].buffers, 2);
    let report = run(&text(2, "repeated=measure"));
    assert_eq!(
        (report.verdict, measured(&report)),
        (Verdict::Done, Some((4, 4)))
    );
    let report = run(&text(2, "repeated=skip"));
    assert_eq!(
        (report.verdict, measured(&report)),
        (Verdict::Done, Some((2, 2)))
    );
    assert_eq!(report.sinks[0].buffers, 4);
    let report = run(&text(2, "eof_action=pass"));
    assert_eq!(
        (report.verdict, measured(&report)),
        (Verdict::Done, Some((2, 2)))
    );
}

/// Buffering is bounded: a sparse input out of the same source stalls, and the report has the number that does.
#[test]
fn a_sparse_input_is_told_with_the_number_that_it_needs() {
    let text = |queue: &str| {
        format!(
            "videotestsrc num-buffers=100 ! video/x-raw,width=16,height=16 ! tee name=t ! queue name=q {queue} ! \
             framesync-probe name=p ! fakesink t. ! skip every=2 ! skip every=2 ! skip every=2 ! p."
        )
    };
    let report = run(&text("max-size-buffers=0 max-size-bytes=0 max-size-time=0"));
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!(report.sync[0].taken[0], 100);
}
