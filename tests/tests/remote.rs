//! `remote`: the same bytes, times and digests as in process; and what a child that fails costs.

#![cfg(all(feature = "remote", feature = "video", target_os = "linux"))]

mod remotes;

use proptest::prelude::*;
use remotes::{CHILD, Run, digest_of_element, remote, run, run_on, told};
use tickpipe::Verdict;

/// The same graph with a transform in process and in a child.
fn both(before: &str, transform: &str, after: &str) -> (Run, Run) {
    let quoted = transform.replace('"', "\\\"");
    let here = run(&format!("{before} ! {transform} ! {after}"));
    let there = run(&format!("{before} ! {} ! {after}", remote(&quoted, "")));
    (here, there)
}

fn same(before: &str, transform: &str, after: &str) {
    let (here, there) = both(before, transform, after);
    let text = format!("{before} ! {transform} ! {after}");
    assert_eq!(here.report.verdict, Verdict::Done, "{text}");
    assert_eq!(
        there.report.verdict,
        Verdict::Done,
        "{text}: {:?}",
        there.fault
    );
    assert!(!here.frames().is_empty(), "{text}");
    assert_eq!(here.frames(), there.frames(), "{text}");
    assert_eq!(here.occurrences(), there.occurrences(), "{text}");
    assert_eq!(here.states.len(), there.states.len(), "{text}");
    for (tick, (here, there)) in here.states.iter().zip(&there.states).enumerate() {
        assert_eq!(here, there, "{text}: tick {tick}");
    }
}

#[test]
fn three_frames_are_converted() {
    same(
        "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48",
        "videoconvert",
        "video/x-raw,format=RGBA ! fakesink name=out",
    );
}

#[test]
fn transforms_of_every_kind_are_the_same_at_every_tick() {
    let raw = |format: &str| {
        format!(
            "videotestsrc num-buffers=7 pattern=ball ! video/x-raw,format={format},width=34,height=18,framerate=25/1"
        )
    };
    for (format, transform, after) in [
        (
            "I420",
            "videoscale method=nearest-neighbour",
            "video/x-raw,width=20,height=30 ! fakesink name=out",
        ),
        (
            "RGBA",
            "videoscale",
            "video/x-raw,width=64,height=10 ! fakesink name=out",
        ),
        (
            "NV12",
            "videoconvert",
            "video/x-raw,format=YUY2 ! fakesink name=out",
        ),
        // Nothing to convert: it passes references on.
        ("I420", "videoconvert", "fakesink name=out"),
        ("I420", "identity", "fakesink name=out"),
        ("I420", "identity eos-after=4", "fakesink name=out"),
        (
            "I420",
            "videorate",
            "video/x-raw,framerate=50/1 ! fakesink name=out",
        ),
        (
            "I420",
            "videorate",
            "video/x-raw,framerate=7/1 ! fakesink name=out",
        ),
        (
            "I420",
            "videorate drop-only=true",
            "video/x-raw,framerate=10/1 ! fakesink name=out",
        ),
        ("I420", "hold buffers=3", "fakesink name=out"),
        ("I420", "delay time=100ms", "fakesink name=out"),
        ("I420", "skip", "fakesink name=out"),
        ("I420", "valve", "fakesink name=out"),
        ("I420", "stamps", "fakesink name=out"),
        (
            "I420",
            "capsfilter caps=\"video/x-raw,format=I420\"",
            "fakesink name=out",
        ),
    ] {
        same(&raw(format), transform, after);
    }
}

#[test]
fn formats_meet_in_a_tee_and_a_queue() {
    same(
        "videotestsrc num-buffers=9 ! video/x-raw,format=I420,width=32,height=32 ! tee name=t t. ! queue ! fakesink t.",
        "videoconvert",
        "video/x-raw,format=GRAY8 ! queue ! fakesink name=out",
    );
}

#[test]
fn caps_that_change_in_mid_stream_reach_the_child() {
    same(
        "capssrc caps=\"video/x-raw,format=I420,width=16,height=16,framerate=25/1\" num-buffers=4",
        "identity",
        "fakesink name=out",
    );
}

#[test]
fn the_program_is_its_own_child() {
    // The tests' own bin is the parent, so that what is started without a name is that.
    let text = "videotestsrc num-buffers=4 ! video/x-raw,format=GRAY8,width=8,height=8 ! remote transform=\"faulty\" ! fakesink";
    let out = std::process::Command::new(CHILD)
        .args(["launch", text])
        .output();
    let out = out.expect("it runs");
    assert_eq!(String::from_utf8_lossy(&out.stdout), "done 4\n");
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn two_pipelines_with_children_on_two_threads() {
    let line = format!(
        "videotestsrc num-buffers=8 ! video/x-raw,format=I420,width=64,height=64 ! tee name=t \
         t. ! {} ! video/x-raw,format=RGBA ! fakesink name=out t. ! {} ! video/x-raw,width=20,height=20 ! fakesink",
        remote("videoconvert", ""),
        remote("videoscale", ""),
    );
    let one = run_on(&line, 1);
    assert_eq!(one.report.verdict, Verdict::Done, "{:?}", one.fault);
    let two: Vec<Run> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| run_on(&line, 2))).collect();
        runs.into_iter().map(|r| r.join().expect("a run")).collect()
    });
    for other in two {
        assert_eq!(other.frames(), one.frames());
        assert_eq!(other.ticks, one.ticks);
    }
}

#[test]
fn what_cannot_run_elsewhere_is_refused_with_the_reason() {
    for (transform, why) in [
        ("", "must name an element"),
        ("nothing", "no element named `nothing`"),
        ("videoconvrt", "did you mean `videoconvert`?"),
        ("videotestsrc", "it is a source"),
        ("fakesink", "it is a sink"),
        ("overlay", "synchronises several inputs"),
        ("tee", "pads are made on request"),
        ("queue", "it is a queue"),
        ("remote", "it is one that runs another"),
        ("work outside=2", "outside the tick"),
        ("devicesink", "it is a sink"),
        ("videoconvert ! identity", "is no NAME=VALUE"),
        ("identity eos-after=many", "eos-after"),
        ("identity eos-aftr=3", "eos-aftr"),
        ("identity 'eos-after=3", "does not end"),
    ] {
        let quoted = transform.replace('"', "\\\"");
        let line = format!(
            "videotestsrc num-buffers=3 ! {} ! fakesink name=out",
            remote(&quoted, "")
        );
        let got = run(&line);
        assert_eq!(got.report.verdict, Verdict::Failed, "{transform}");
        let fault = got.fault.clone().unwrap_or_default();
        assert!(fault.contains(why), "{transform}: {fault}");
    }
}

#[test]
fn a_refusal_comes_back_with_its_domain_code_and_text() {
    let got = run(&frames(5, "faulty deed=error from=2 to=3", ""));
    assert_eq!(got.report.verdict, Verdict::Failed);
    let fault = got.fault.clone().expect("a fault");
    assert_eq!(
        fault,
        "it fails at frame 2, as it was told (stream/damaged)"
    );
    assert_eq!(got.frames().len(), 2);
    let got = run(&frames(5, "faulty deed=refuse", ""));
    let fault = got.fault.clone().expect("a fault");
    assert_eq!(fault, "it fails at frame 0, as it was told (resource/open)");
    // A panic is caught there as it is here.
    let got = run(&frames(
        5,
        "faulty deed=panic from=1 to=2",
        "restart=always",
    ));
    let fault = got.fault.clone().expect("a fault");
    assert_eq!(
        fault,
        "the element panicked: it panics at frame 1, as it was told (core/panic)"
    );
}

fn frames(count: u32, transform: &str, settings: &str) -> String {
    format!(
        "videotestsrc num-buffers={count} pattern=snow ! video/x-raw,format=GRAY8,width=16,height=16 ! {} ! fakesink name=out",
        remote(transform, settings)
    )
}

#[test]
fn a_crash_at_every_frame_is_told_with_the_exit_status() {
    let whole = run(&frames(6, "faulty", "")).frames();
    assert_eq!(whole.len(), 6);
    for at in 0..6u32 {
        let (from, to) = (at, at + 1);
        let deed = |deed: &str| format!("faulty deed={deed} from={from} to={to}");
        let got = run(&frames(6, &deed("exit"), ""));
        assert_eq!(got.report.verdict, Verdict::Failed);
        assert_eq!(
            got.fault.as_deref(),
            Some("faulty: the child process ended with exit status 7 (resource/crashed)")
        );
        assert_eq!(
            got.frames(),
            whole[..at as usize],
            "what came before is there"
        );
        let got = run(&frames(6, &deed("abort"), ""));
        let fault = got.fault.clone().expect("a fault");
        assert!(fault.contains("ended with signal 6 (SIGABRT)"), "{fault}");
        assert_eq!(got.frames(), whole[..at as usize]);

        let got = run(&frames(6, &deed("exit"), "restart=on-failure"));
        assert_eq!(got.report.verdict, Verdict::Done, "{:?}", got.fault);
        let mut rest = whole.clone();
        rest.remove(at as usize);
        assert_eq!(got.frames(), rest, "the others are there");
        assert_eq!(got.dropped("remote"), [("crashed".to_owned(), 1)]);

        // It fails on the same buffer again: then it is dropped.
        let got = run(&frames(6, &deed("exit"), "restart=always on-crash=retry"));
        assert_eq!(got.frames(), rest);
        assert_eq!(got.dropped("remote"), [("crashed".to_owned(), 1)]);
    }
}

#[test]
fn one_that_fails_once_loses_nothing_where_it_is_tried_again() {
    let whole = run(&frames(6, "faulty", "")).frames();
    let folder = remotes::scratch("once");
    let marker = folder.join("marker");
    let deed = format!("faulty deed=abort from=2 to=9 marker={}", marker.display());
    let got = run(&frames(6, &deed, "restart=on-failure on-crash=retry"));
    assert_eq!(got.report.verdict, Verdict::Done, "{:?}", got.fault);
    assert_eq!(got.frames(), whole);
    assert_eq!(got.tally("remote"), told(&[("crashed", "retried", 1)]));
    assert_eq!(got.warnings(), ["resource/crashed"]);
}

#[test]
fn restarts_have_a_limit() {
    let deed = "faulty deed=exit from=1 to=9";
    let got = run(&frames(9, deed, "restart=on-failure max-restarts=2"));
    assert_eq!(got.report.verdict, Verdict::Failed);
    assert!(
        got.fault
            .as_ref()
            .is_some_and(|f| f.contains("exit status 7"))
    );
    assert_eq!(got.dropped("remote"), [("crashed".to_owned(), 2)]);
    let got = run(&frames(9, deed, "restart=on-failure max-restarts=8"));
    assert_eq!(got.report.verdict, Verdict::Done, "{:?}", got.fault);
    assert_eq!(got.frames().len(), 1);
    assert_eq!(got.dropped("remote"), [("crashed".to_owned(), 8)]);
    // One that never gets as far as to work is not started for ever.
    let got = run(&frames(
        9,
        "faulty deed=exit at-caps=true",
        "restart=always",
    ));
    assert_eq!(got.report.verdict, Verdict::Failed);
    assert!(
        got.fault
            .as_ref()
            .is_some_and(|f| f.contains("exit status 7"))
    );
}

#[test]
fn a_hang_ends_at_the_time_limit() {
    for deed in ["hang", "spin"] {
        let transform = format!("faulty deed={deed} from=2 to=3");
        let got = run(&frames(5, &transform, "time-limit=300000000"));
        assert_eq!(got.report.verdict, Verdict::Failed);
        let fault = got.fault.clone().expect("a fault");
        assert_eq!(
            fault,
            "faulty: the child process did not answer within 300000000 ns, the time limit, and was killed (resource/hung)"
        );
        let got = run(&frames(
            5,
            &transform,
            "time-limit=300000000 restart=always",
        ));
        assert_eq!(got.report.verdict, Verdict::Done, "{:?}", got.fault);
        assert_eq!(got.frames().len(), 4);
        assert_eq!(got.dropped("remote"), [("hung".to_owned(), 1)]);
    }
}

#[test]
fn one_that_takes_all_memory_has_a_limit() {
    let deed = "faulty deed=memory from=1 to=2";
    let got = run(&frames(4, deed, "max-memory=400000000"));
    let fault = got.fault.clone().expect("a fault");
    assert!(fault.contains("ended with signal 6"), "{fault}");
    assert!(fault.contains("memory allocation of"), "{fault}");
    let got = run(&frames(4, deed, "max-memory=400000000 restart=on-failure"));
    assert_eq!(got.frames().len(), 3);
}

#[test]
fn one_that_talks_without_end_blocks_nobody_and_its_last_words_are_kept() {
    let got = run(&frames(4, "faulty deed=talk from=1 to=2", ""));
    let fault = got.fault.clone().expect("a fault");
    assert!(fault.contains("exit status 9"), "{fault}");
    assert!(fault.contains("line 19999 of many"), "{fault}");
    assert!(fault.len() < 1000, "{}", fault.len());
}

#[test]
fn programs_that_are_no_children() {
    for (name, why) in [
        ("garbage", "garbled"),
        ("too-long", "4294967295 bytes long"),
        ("empty", "is no answer"),
        ("half", "exit status 4"),
        ("silent", "did not answer within"),
        ("drip", "did not answer within"),
        ("deaf", "closed its socket and goes on"),
        ("other-version", "version 99"),
        ("quits", "exit status 3"),
        ("shrinks", "exit status 21"),
    ] {
        let folder = remotes::scratch(name);
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(CHILD, &link).expect("a link");
        let line = format!(
            "videotestsrc num-buffers=2 ! remote program={} transform=videoconvert time-limit=400000000 ! fakesink name=out",
            link.display()
        );
        let got = run(&line);
        assert_eq!(got.report.verdict, Verdict::Failed, "{name}");
        let fault = got.fault.clone().unwrap_or_default();
        assert!(fault.contains(why), "{name}: {fault}");
    }
    for (program, why) in [
        ("/nowhere/at/all", "resource/not-found"),
        ("/dev/null", "resource/open"),
        ("/bin/true", "exit status 0"),
        ("/bin/false", "exit status 1"),
    ] {
        let line = format!(
            "videotestsrc num-buffers=2 ! remote program={program} transform=videoconvert ! fakesink name=out"
        );
        let fault = run(&line).fault.unwrap_or_default();
        assert!(fault.contains(why), "{program}: {fault}");
    }
}

#[test]
fn state_is_in_the_digest() {
    let three = digest_of_element(3);
    assert_ne!(three, digest_of_element(4));
    assert_eq!(three, digest_of_element(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn any_size_and_format_gives_the_same_bytes_there_and_here(
        (w, h, to_w, to_h) in (1u32..70, 1u32..40, 1u32..70, 1u32..40),
        from in prop::sample::select(vec!["I420", "NV12", "RGBA", "GRAY8", "YUY2", "RGB"]),
        to in prop::sample::select(vec!["I420", "NV12", "RGBA", "GRAY8", "BGRA"]),
        frames in 1u32..6,
        scale: bool,
    ) {
        // Subsampled formats have even sizes.
        let (w, h, to_w, to_h) = (w * 2, h * 2, to_w * 2, to_h * 2);
        let before = format!("videotestsrc num-buffers={frames} pattern=snow ! video/x-raw,format={from},width={w},height={h}");
        match scale {
            true => same(&before, "videoscale", &format!("video/x-raw,width={to_w},height={to_h} ! fakesink name=out")),
            false => same(&before, "videoconvert", &format!("video/x-raw,format={to} ! fakesink name=out")),
        }
    }
}
