//! Reports and digests: JSON of what happened, a line a tick, and the same on any number of
//! threads.

mod support;

use support::{Folder, here, process};

const LINE: &str =
    "fakesrc num-buffers=20 ! tee name=t t. ! queue ! fakesink t. ! identity ! fakesink";

#[test]
fn a_report_is_json_and_alone_on_standard_output() {
    let ran = process(&["launch", LINE, "--report", "-"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("is JSON");
    assert_eq!(report["verdict"], "done");
    let sinks = report["sinks"].as_array().expect("is a list");
    assert_eq!(sinks.len(), 2);
    for sink in sinks {
        assert_eq!(sink["buffers"], 20);
        assert_eq!(sink["eos"], true);
        assert_eq!(sink["frames"].as_array().expect("is a list").len(), 20);
    }
}

#[test]
fn threads_change_nothing_and_graphs_do() {
    let digest = |line: &str, threads| {
        let ran = process(&["launch", line, "--threads", threads, "--report", "-"]);
        let report: serde_json::Value = serde_json::from_str(&ran.out).expect("is JSON");
        report["digest"].as_str().expect("is a text").to_owned()
    };
    assert_eq!(digest(LINE, "1"), digest(LINE, "4"));
    assert_ne!(
        digest(LINE, "1"),
        digest("fakesrc num-buffers=20 ! fakesink", "1")
    );
    let digests = |threads| {
        let ran = process(&["launch", LINE, "--threads", threads, "--digests", "-"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.out
    };
    assert_eq!(digests("1"), digests("2"));
}

#[test]
fn digests_are_a_line_a_tick_and_change() {
    let folder = Folder::new("digests");
    let (digests, report) = (folder.path("digests"), folder.path("report.json"));
    let ran = process(&["launch", LINE, "--digests", &digests, "--report", &report]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("done after "), "{}", ran.out);
    let text = std::fs::read_to_string(&digests).expect("is written");
    let lines: Vec<(u64, &str)> = text
        .lines()
        .map(|line| {
            let (tick, digest) = line.split_once(' ').expect("two words");
            assert_eq!(digest.len(), 16, "{line}");
            assert!(u64::from_str_radix(digest, 16).is_ok(), "{line}");
            (tick.parse().expect("a number"), digest)
        })
        .collect();
    assert!(
        lines.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1),
        "{text}"
    );
    let different: std::collections::BTreeSet<&str> = lines.iter().map(|l| l.1).collect();
    assert!(different.len() > lines.len() / 2, "{text}");
    let report = std::fs::read_to_string(&report).expect("is written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("is JSON");
    assert_eq!(report["ticks"].as_u64(), lines.last().map(|l| l.0));
}

#[test]
fn flags_reach_the_run() {
    let folder = Folder::new("flags");
    let report = |flags: &[&str]| {
        let path = folder.path("report.json");
        let mut arguments = vec!["launch", LINE, "-q", "--report", &path];
        arguments.extend(flags);
        let ran = here(&arguments);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        let text = std::fs::read_to_string(&path).expect("is written");
        serde_json::from_str::<serde_json::Value>(&text).expect("is JSON")
    };
    let ticks = |flags: &[&str]| report(flags)["ticks"].as_u64().expect("a number");
    assert!(ticks(&["--limit", "quantum=1"]) > ticks(&["--limit", "quantum=16"]));
    assert_eq!(ticks(&["--clock", "virtual"]), ticks(&["--clock", "free"]));
}

#[test]
fn logs_are_lines_without_times() {
    let text = "fakesrc ! video/x-raw,width=1 ! identity ! video/x-raw,width=2 ! fakesink";
    let once = process(&["launch", text, "--log", "trace"]);
    assert_eq!(once.code, 1);
    assert_eq!(once.err, process(&["launch", text, "--log", "trace"]).err);
    let errors: Vec<&str> = once
        .err
        .lines()
        .filter(|l| l.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{}", once.err);
    assert!(errors[0].ends_with("(caps/not-negotiated)"), "{}", once.err);
}

/// A report over a file of the graph would destroy it: refused before anything is opened.
#[cfg(feature = "file")]
#[test]
fn an_input_is_no_place_for_a_report() {
    let folder = Folder::new("report-over-input");
    let path = folder.path("clip.bin");
    std::fs::write(&path, b"precious").expect("written");
    let line = format!("filesrc location={path} ! fakesink");
    for flag in ["--report", "--digests"] {
        let ran = process(&["launch", &line, flag, &path]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("would destroy it"), "{}", ran.err);
        assert_eq!(std::fs::read(&path).expect("there"), b"precious");
    }
}

/// What a sink writes to standard output is not mixed with the summary.
#[cfg(feature = "file")]
#[test]
fn media_on_standard_output_stay_alone() {
    let ran = process(&[
        "launch",
        "fakesrc num-buffers=2 sizetype=fixed sizemax=3 ! filesink location=/dev/stdout",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "\0\0\0\0\0\0"));
}

/// It left an empty report behind.
#[cfg(feature = "file")]
#[test]
fn a_run_that_is_broken_off_leaves_no_half_file() {
    use std::io::Read;
    let folder = Folder::new("broken-off");
    let (digests, report) = (folder.path("digests"), folder.path("report.json"));
    let line = "fakesrc num-buffers=-1 sizetype=fixed sizemax=4096 ! filesink location=/dev/stdout";
    std::fs::write(&digests, "before").expect("written");
    let arguments = ["launch", line, "--digests", &digests, "--report", &report];
    let mut running = support::command(&arguments)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let mut out = running.stdout.take().expect("is piped");
    let mut first = [1u8];
    out.read_exact(&mut first).expect("it runs");
    running.kill().expect("it still runs");
    running.wait().expect("it ended");
    assert_eq!(std::fs::read_to_string(&digests).expect("there"), "before");
    let names = std::fs::read_dir(folder.path("")).expect("there");
    let names: Vec<_> = names.map(|e| e.expect("there").file_name()).collect();
    assert_eq!(names, ["digests"]);
}
