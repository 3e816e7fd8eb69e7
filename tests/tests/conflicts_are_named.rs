//! A graph whose pads cannot agree: the two pads, the field and both values are named. (B01)

#![cfg(feature = "video")]

use tickpipe::Engine;

fn plan(text: &str) -> String {
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = match engine.launch("main", text) {
        Ok(built) => built,
        Err(error) => return error.to_string(),
    };
    match engine.plan(pipeline) {
        Ok(plan) => panic!("{text} has a plan:\n{plan}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn pads_field_and_values() {
    for (text, want) in [
        (
            "videotestsrc ! video/x-raw,width=320 ! identity ! video/x-raw,width=640 ! fakesink",
            "capsfilter0.src and capsfilter1.sink cannot agree on width: 320 against 640 \
             (path: capsfilter0 -> identity0 -> capsfilter1)",
        ),
        (
            // The source, the queue and the converter are innocent.
            "videotestsrc ! queue ! identity ! video/x-raw,width=320 ! videoconvert ! video/x-raw,width=640 ! fakesink",
            "capsfilter0.src and capsfilter1.sink cannot agree on width: 320 against 640 \
             (path: capsfilter0 -> videoconvert0 -> capsfilter1)",
        ),
        (
            "videotestsrc ! video/x-raw,format=I420 ! videoscale ! queue ! video/x-raw,format=NV12 ! fakesink",
            "capsfilter0.src and capsfilter1.sink cannot agree on format: I420 against NV12 \
             (path: capsfilter0 -> videoscale0 -> queue0 -> capsfilter1)",
        ),
        (
            "videotestsrc ! tee name=t t. ! video/x-raw,height=100 ! fakesink t. ! video/x-raw,height=200 ! fakesink",
            "capsfilter0.sink and capsfilter1.sink cannot agree on height: 100 against 200 \
             (path: capsfilter0 -> t -> capsfilter1)",
        ),
        (
            "videotestsrc ! audio/x-raw ! fakesink",
            "videotestsrc0.src and capsfilter0.sink cannot agree",
        ),
        (
            "videotestsrc ! video/x-raw,format=I420 ! overlay name=mix ! fakesink videotestsrc ! video/x-raw,format=NV12 ! mix.",
            "capsfilter0.src and capsfilter1.src cannot agree on format: I420 against NV12",
        ),
    ] {
        let got = plan(text);
        assert!(got.starts_with(want), "{text}\n got: {got}\nwant: {want}");
    }
}

#[test]
fn a_source_that_says_nothing_is_not_guessed_for() {
    let got = plan("fakesrc ! videoconvert ! fakesink");
    assert!(
        got.starts_with("fakesrc0.src does not say what it emits, and what follows leaves it open"),
        "{got}"
    );
}
