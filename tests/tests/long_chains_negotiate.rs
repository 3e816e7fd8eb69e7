//! Long chains negotiate, and convert no more than they must.
//!
//! Converters of two kinds in a row once doubled the structures at each step.

#![cfg(feature = "video")]

use tickpipe::{Engine, RunOptions};

fn run(text: &str) -> (Vec<String>, tickpipe::Report) {
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    let plan = engine.plan(pipeline).expect("a plan");
    let converting = plan.conversions.into_iter().map(|c| c.element).collect();
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    (converting, report)
}

#[test]
fn converters_of_two_kinds_in_a_row() {
    let pair = "videoscale ! videoconvert ! queue ! ".repeat(150);
    let fixed = "video/x-raw,format=RGB,width=64,height=48";
    let (converting, report) = run(&format!(
        "videotestsrc num-buffers=2 ! {fixed} ! {pair} fakesink"
    ));
    assert_eq!(converting, Vec::<String>::new());
    assert_eq!(report.sinks[0].buffers, 2);
    let small = "video/x-raw,format=NV12,width=32";
    let (converting, report) = run(&format!(
        "videotestsrc num-buffers=2 ! {fixed} ! {pair} {small} ! fakesink"
    ));
    // One of each kind has something to do.
    assert_eq!(converting.len(), 2);
    let last = &report.links[report.links.len() - 1].caps;
    assert!(
        last.contains("format=NV12,width=32,height=48,framerate=30/1,pixel-aspect-ratio=2/1"),
        "{last}"
    );
}

#[test]
fn a_source_spares_the_converters() {
    let (converting, report) = run(
        "videotestsrc num-buffers=1 ! videoscale ! videoconvert ! video/x-raw,format=NV12,width=64,height=48 ! fakesink",
    );
    assert_eq!(converting, Vec::<String>::new());
    assert!(
        report.links[0]
            .caps
            .contains("format=NV12,width=64,height=48")
    );
}

#[test]
fn ten_thousand_identities() {
    let chain = "identity ! ".repeat(10_000);
    let (_, report) = run(&format!("fakesrc num-buffers=2 ! {chain} fakesink"));
    assert_eq!(report.sinks[0].buffers, 2);
}
