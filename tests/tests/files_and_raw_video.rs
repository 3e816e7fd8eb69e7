//! Files and raw video through whole graphs: packed rows, ranges, aspect, files in use.

#![cfg(all(feature = "file", feature = "video"))]

use std::path::PathBuf;
use tickpipe::{Engine, Report, RunOptions};

/// A file of this test in the build's own folder for such.
fn file(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

fn media(name: &str) -> String {
    format!("{}/../scenarios/media/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn run(text: &str) -> Report {
    let mut engine = Engine::new().expect("an engine");
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    let options = RunOptions {
        record: true,
        max_ticks: Some(100_000),
        ..RunOptions::default()
    };
    engine.run(pipeline, &options, &mut ())
}

/// B50: raw output carried the padding of rows along.
#[test]
fn b50_raw_files_have_packed_rows() {
    for (format, bytes) in [("GRAY8", 361), ("I420", 561), ("YUY2", 760), ("RGB", 1083)] {
        let out = file(&format!("b50-{format}.raw"));
        let report = run(&format!(
            "videotestsrc num-buffers=2 ! video/x-raw,format={format},width=19,height=19 ! tee name=t \
             t. ! filesink location={out} t. ! fakesink"
        ));
        assert_eq!(report.verdict.name(), "done");
        let written = std::fs::read(&out).expect("written");
        assert_eq!(written.len(), 2 * bytes, "{format}");
        // Both sinks saw the same pictures.
        let hashes = |i: usize| -> Vec<String> {
            report.sinks[i]
                .frames
                .iter()
                .map(|f| f.hash.clone())
                .collect()
        };
        assert_eq!(hashes(0), hashes(1));
    }
}

/// The range of grey survives a Y4M file: what comes back is what went in.
#[test]
fn grey_keeps_its_range_through_y4m() {
    let bunny = media("bunny-320x180.y4m");
    let out = file("grey.y4m");
    let report = run(&format!(
        "filesrc location={bunny} ! y4mdec ! videoconvert ! video/x-raw,format=GRAY8 ! tee name=t \
         t. ! y4menc ! filesink location={out} t. ! videoconvert ! video/x-raw,format=I420,colorimetry=bt601 ! fakesink name=direct"
    ));
    assert_eq!(report.verdict.name(), "done");
    let head = std::fs::read(&out).expect("written");
    let line = head.split(|b| *b == b'\n').next().expect("a header");
    let line = String::from_utf8_lossy(line);
    assert!(
        line.contains("Cmono") && line.contains("XCOLORRANGE=FULL"),
        "{line}"
    );
    let back = run(&format!(
        "filesrc location={out} ! y4mdec ! videoconvert ! video/x-raw,format=I420,colorimetry=bt601 ! fakesink name=direct"
    ));
    let frames = |r: &Report| -> Vec<String> {
        let sink = r.sinks.iter().find(|s| s.name == "direct").expect("there");
        sink.frames.iter().map(|f| f.hash.clone()).collect()
    };
    assert_eq!(frames(&report), frames(&back));
    assert_eq!(frames(&back).len(), 24);
}

/// A file that is read must not be written by the same graph, under any name.
#[test]
fn an_input_is_not_overwritten() {
    let input = file("same.y4m");
    std::fs::copy(media("bunny-320x180.y4m"), &input).expect("copied");
    let link = file("same-link.y4m");
    let _ = std::fs::remove_file(&link);
    std::fs::hard_link(&input, &link).expect("linked");
    let before = std::fs::read(&input).expect("there");
    for output in [&input, &link] {
        let report = run(&format!(
            "filesrc location={input} ! y4mdec ! y4menc ! filesink name=out location={output}"
        ));
        assert_eq!(report.verdict.name(), "failed");
        let error = report
            .messages
            .iter()
            .find(|m| m.kind == "error")
            .expect("told");
        assert_eq!(error.element.as_deref(), Some("out"));
        assert_eq!(error.code.as_deref(), Some("refused"));
        assert!(
            std::fs::read(&input).expect("there") == before,
            "it is as it was"
        );
    }
    // Two sinks do not share a file either.
    let twice = file("twice.raw");
    let report = run(&format!(
        "videotestsrc num-buffers=2 ! tee name=t t. ! filesink location={twice} t. ! filesink location={twice}"
    ));
    assert_eq!(report.verdict.name(), "failed");
}

/// GStreamer's videoscale: an open size stays, and the pixel aspect ratio makes up for it; where
/// that is fixed, the open size does. (Sizes as gst-launch-1.0 1.22 gives them for this clip.)
#[test]
fn scaling_keeps_the_shape_on_the_screen() {
    let clip = media("carphone-176x144.y4m");
    for (caps, want) in [
        ("pixel-aspect-ratio=1/1", "width=193,height=144"),
        ("width=352,pixel-aspect-ratio=1/1", "width=352,height=263"),
        (
            "width=352",
            "width=352,height=144,framerate=30000/1001,pixel-aspect-ratio=64/117",
        ),
        (
            "width=88,height=72",
            "width=88,height=72,framerate=30000/1001,pixel-aspect-ratio=128/117",
        ),
    ] {
        let report = run(&format!(
            "filesrc location={clip} ! y4mdec ! videoscale ! video/x-raw,{caps} ! fakesink"
        ));
        let got = &report.links.last().expect("links").caps;
        assert!(got.contains(want), "{caps}: {got}");
    }
}

/// The same pixels with other settings are another run: the digest tells them apart.
#[test]
fn settings_are_part_of_the_digest() {
    let digest = |text: &str| {
        let mut engine = Engine::new().expect("an engine");
        let (pipeline, _) = engine.launch("main", text).expect("a graph");
        let options = RunOptions {
            digests: true,
            ..RunOptions::default()
        };
        engine.run(pipeline, &options, &mut ()).digest
    };
    let of = |seed: u32| {
        digest(&format!(
            "videotestsrc num-buffers=1 pattern=black seed={seed} ! fakesink"
        ))
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
