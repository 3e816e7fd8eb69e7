//! B29: a stream may end before its first buffer. Nobody waits for one; a file is there, valid, with a
//! header and no frames, and the report says 0 frames.

#![cfg(all(feature = "file", feature = "video"))]

mod acting;

use acting::{engine, launch};
use std::path::PathBuf;
use tickpipe::{Report, RunOptions, Verdict};

fn run(text: &str) -> Report {
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    let options = RunOptions {
        max_ticks: Some(1000),
        record: true,
        ..RunOptions::default()
    };
    engine.run(pipeline, &options, &mut ())
}

fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Left by a run before.
    let _ = std::fs::remove_file(&path);
    path
}

const RAW: &str = "video/x-raw,format=I420,width=16,height=8,framerate=25/1";

#[test]
fn b29_a_chain_to_a_file() {
    let file = scratch("b29-chain.y4m");
    let report = run(&format!(
        "videotestsrc num-buffers=0 ! {RAW} ! videoconvert ! video/x-raw,format=Y444 ! y4menc ! \
         filesink location={}",
        file.display()
    ));
    assert_eq!(report.verdict, Verdict::Done, "{:?}", report.messages);
    // No frame, and a valid file: its header.
    let menc = report.elements.iter().find(|e| e.kind == "y4menc");
    assert_eq!(menc.map(|e| e.buffers_in), Some(0));
    assert!(report.sinks[0].eos);
    let bytes = std::fs::read(&file).expect("made at the end");
    assert_eq!(
        String::from_utf8_lossy(&bytes),
        "YUV4MPEG2 W16 H8 F25:1 Ip A1:1 C444 XYSCSS=444\n"
    );
    // Read again it has no frames either.
    let report = run(&format!(
        "filesrc location={} ! y4mdec ! fakesink",
        file.display()
    ));
    assert_eq!(report.verdict, Verdict::Done);
    assert_eq!((report.sinks[0].buffers, report.sinks[0].eos), (0, true));
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn b29_through_a_synchroniser() {
    for (lead, other, out) in [(0, 5, 0), (5, 0, 5), (0, 0, 0), (1, 0, 1), (0, 1, 0)] {
        let file = scratch(&format!("b29-sync-{lead}-{other}.y4m"));
        let report = run(&format!(
            "videotestsrc num-buffers={lead} ! {RAW} ! overlay name=mix ! y4menc ! \
             filesink location={} \
             videotestsrc num-buffers={other} pattern=ball ! {RAW} ! videoconvert ! mix.",
            file.display()
        ));
        assert_eq!(
            report.verdict,
            Verdict::Done,
            "{lead} {other}: {:?}",
            report.messages
        );
        let mix = report.elements.iter().find(|e| e.name == "mix");
        assert_eq!(mix.map(|m| m.buffers_out), Some(out), "{lead} {other}");
        assert!(report.sinks[0].eos);
        assert!(report.ticks < 60, "{}", report.ticks);
        std::fs::remove_file(&file).expect("made at the end");
    }
}

#[test]
fn b29_through_everything_that_keeps_or_joins() {
    for middle in [
        "identity",
        "queue",
        "hold buffers=3",
        "join",
        "funnel",
        "work time=40ms",
        "skip every=2",
        "tee name=t ! queue ! join name=j t. ! queue ! j. j.",
        "imagefreeze",
        "videorate",
        "stamps",
        "videoconvert",
        "videoscale",
    ] {
        let text = format!("videotestsrc num-buffers=0 ! {RAW} ! {middle} ! fakesink");
        let report = run(&text);
        assert_eq!(
            report.verdict,
            Verdict::Done,
            "{middle}: {:?}",
            report.messages
        );
        let sink = &report.sinks[0];
        assert_eq!((sink.buffers, sink.eos), (0, true), "{middle}");
        assert!(report.ticks < 40, "{middle}: {}", report.ticks);
    }
}

#[test]
fn b29_a_source_that_ends_before_its_caps_are_known() {
    // Caps that only the stream could tell are not known when it ends: it ends all the same.
    for text in [
        "capssrc num-buffers=0 caps=video/x-raw ! fakesink".to_owned(),
        "fakesrc num-buffers=0 ! fakesink".to_owned(),
        "fakesrc num-buffers=0 ! tee name=t t. ! fakesink t. ! queue ! fakesink".to_owned(),
    ] {
        let report = run(&text);
        assert_eq!(report.verdict, Verdict::Done, "{text}");
        assert!(report.sinks.iter().all(|s| s.eos && s.buffers == 0));
    }
}
