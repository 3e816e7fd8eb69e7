//! `remote`: after a thousand crashes there are as many descriptors, processes and as much memory as
//! before; and no child outlives its parent. Alone in its process: it counts what the process has.

#![cfg(all(feature = "remote", feature = "video", target_os = "linux"))]

mod remotes;

use remotes::{CHILD, engine, remote, run};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tickpipe::Verdict;

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("descriptors").count()
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("threads").count()
}

/// Resident memory in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|l| l.starts_with("VmRSS:"));
    let digits = line.and_then(|l| l.split_whitespace().nth(1));
    digits.and_then(|d| d.parse().ok()).expect("a number")
}

/// Processes by their numbers: parent and command line.
fn processes() -> Vec<(u32, u32, String)> {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Some((pid, parent.parse().ok()?, line))
    })
    .collect()
}

/// Children of this process, zombies included.
fn children() -> Vec<(u32, u32, String)> {
    let own = std::process::id();
    let mut all = processes();
    all.retain(|p| p.1 == own);
    all
}

/// Looks until something is so, for at most ten seconds.
fn within_ten_seconds(is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if is_so() {
            return true;
        }
        std::thread::yield_now();
    }
    is_so()
}

fn line(frames: u32, transform: &str, settings: &str) -> String {
    format!(
        "videotestsrc num-buffers={frames} ! video/x-raw,format=GRAY8,width=64,height=64 ! {} ! fakesink name=out",
        remote(transform, settings)
    )
}

/// One test, so that nothing else starts or ends beside it.
#[test]
fn nothing_is_left() {
    a_thousand_crashes();
    hangs_and_refusals();
    those_that_a_child_started();
    a_parent_that_is_killed();
}

fn a_thousand_crashes() {
    let crash = |frames: u32| {
        let deed = "faulty deed=exit from=0 to=1000000";
        let got = run(&line(frames, deed, "restart=always"));
        assert_eq!(got.report.verdict, Verdict::Done, "{:?}", got.fault);
        assert_eq!(
            got.dropped("remote"),
            [("crashed".to_owned(), u64::from(frames))]
        );
        assert!(got.frames().is_empty());
    };
    // What is made once is made.
    crash(50);
    let before = (descriptors(), threads(), children());
    let memory = resident();
    crash(1000);
    assert_eq!((descriptors(), threads(), children()), before);
    let after = resident();
    assert!(
        after < memory + 4096,
        "{memory} KiB before, {after} KiB after"
    );
}

fn hangs_and_refusals() {
    let before = (descriptors(), threads(), children());
    for _ in 0..20 {
        let hang = run(&line(
            3,
            "faulty deed=hang from=1 to=2",
            "time-limit=50000000",
        ));
        assert_eq!(hang.report.verdict, Verdict::Failed);
        let refusal = run(&line(3, "faulty deed=refuse", ""));
        assert_eq!(refusal.report.verdict, Verdict::Failed);
        let missing = run("videotestsrc ! remote program=/nowhere transform=identity ! fakesink");
        assert_eq!(missing.report.verdict, Verdict::Failed);
        let done = run(&line(3, "faulty", ""));
        assert_eq!(done.report.verdict, Verdict::Done);
    }
    assert_eq!((descriptors(), threads(), children()), before);
    // An engine that goes while its children work.
    let mut engine = engine(1);
    let text = line(100, "faulty", "");
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    engine.set_state(pipeline, tickpipe::State::Playing);
    for _ in 0..10 {
        engine.tick();
    }
    assert_eq!(children().len(), before.2.len() + 1);
    drop(engine);
    assert_eq!((descriptors(), threads(), children()), before);
}

fn those_that_a_child_started() {
    let sleeping = || processes().iter().any(|p| p.2.starts_with("sleep 600"));
    if sleeping() {
        println!("skipped: another sleeps for 600 seconds, as those that a child started would");
        return;
    }
    let got = run(&line(3, "faulty deed=orphan from=1 to=2", ""));
    assert!(
        got.fault
            .as_ref()
            .is_some_and(|f| f.contains("exit status 8"))
    );
    assert!(within_ten_seconds(|| !sleeping()));
}

fn a_parent_that_is_killed() {
    let folder = remotes::scratch("killed");
    let (host, child) = (folder.join("host"), folder.join("child"));
    for link in [&host, &child] {
        let _ = fs::remove_file(link);
        std::os::unix::fs::symlink(CHILD, link).expect("a link");
    }
    // It waits for a child that hangs, and is killed: nobody can tell that child to end.
    let mut parent = Command::new(&host)
        .stdout(Stdio::null())
        .env("CHILD", &child)
        .spawn()
        .expect("it starts");
    let own = format!("{} remote-child", child.display());
    let there = || processes().iter().any(|p| p.2.starts_with(&own));
    assert!(within_ten_seconds(there), "the child is there");
    parent.kill().expect("it is there");
    parent.wait().expect("it ends");
    assert!(
        within_ten_seconds(|| !there()),
        "the child went with its parent"
    );
}
