//! What the engine says of properties that are read as GStreamer reads them, and of bins.

use crate::engine::Engine;
use tickpipe_components::graph::{Pad, PadLink, Pads};
use tickpipe_components::property::PropertyValue;

/// The error or the warnings of a line, as a user sees them.
fn told(line: &str) -> String {
    let mut engine = Engine::new().expect("an engine");
    match engine.launch("main", line) {
        Ok((_, warnings)) => warnings.join("\n"),
        Err(error) => error.render(line),
    }
}

/// A property of the first element.
fn value(line: &str, key: &str) -> Option<PropertyValue> {
    let mut engine = Engine::new().expect("an engine");
    let launched = match engine.launched("main", line) {
        Ok(launched) => launched,
        Err(error) => panic!("{}", error.render(line)),
    };
    engine.get(launched.elements[0], key).expect("is there")
}

/// The names of the first element's pads.
fn pads(line: &str) -> Vec<String> {
    let mut engine = Engine::new().expect("an engine");
    let launched = engine.launched("main", line).expect("a graph");
    let world = engine.world();
    let pads = world.get::<Pads>(launched.elements[0].entity());
    let pads = pads.expect("has pads").0.iter();
    pads.filter_map(|&pad| world.get::<Pad>(pad))
        .map(|pad| pad.name.clone())
        .collect()
}

#[test]
fn numbers_are_read_as_in_gstreamer() {
    let whole = |line| value(line, "max-size-buffers");
    assert_eq!(whole("queue max-size-buffers=0x10"), Some(16.into()));
    assert_eq!(whole("queue max-size-buffers=010"), Some(8.into()));
    assert_eq!(whole("queue max-size-buffers=\"\""), Some(0.into()));
    let most = PropertyValue::from(i64::from(u32::MAX));
    assert_eq!(whole("queue max-size-buffers=-1"), Some(most));
    let count = |line| value(line, "num-buffers");
    assert_eq!(count("fakesrc num-buffers=4294967295"), Some((-1).into()));
    assert_eq!(count("fakesrc num_buffers=max"), Some(i32::MAX.into()));
}

#[test]
fn values_that_are_refused() {
    let lines = [
        "fakesrc num-buffers=08",
        "fakesrc num-buffers='5'",
        "fakesrc num-buffers=-5",
        "identity drop-probability=2",
        "identity drop-buffer-flags=nope",
        "fakesink state-error=sideways",
        "fakesink async=maybe",
        "fakesink max-lateness=-2",
        "fakesink parent=x",
        "filesrc location=\"\\\"\"",
        "capsfilter caps='video/x-raw'",
    ];
    insta::assert_snapshot!(lines.map(told).join("\n\n"), @r#"
    error: property num-buffers takes a whole number, not `08`
      fakesrc num-buffers=08
                          ^^

    error: property num-buffers takes a whole number, not `'5'`
      fakesrc num-buffers='5'
                          ^^^

    error: property num-buffers=-5 is outside -1..=2147483647
      fakesrc num-buffers=-5
                          ^^

    error: property drop-probability takes a number in its range, not `2`
      identity drop-probability=2
                                ^

    error: property drop-buffer-flags takes names joined by `+`, not `nope`
      identity drop-buffer-flags=nope
                                 ^^^^

    error: property state-error takes one of its names, not `sideways`
      fakesink state-error=sideways
                           ^^^^^^^^

    error: property async takes true or false, not `maybe`
      fakesink async=maybe
                     ^^^^^

    error: property max-lateness=-2 is outside -1..=9223372036854775807
      fakesink max-lateness=-2
                            ^^

    error: property parent takes an element, not `x`
      fakesink parent=x
                      ^

    error: property location takes text, with two double quotes around it or none, not `"`
      filesrc location="\""
                       ^^^^

    error: property caps takes caps, not `'video/x-raw'`
      capsfilter caps='video/x-raw'
                      ^^^^^^^^^^^^^
    "#);
}

#[test]
fn values_that_do_nothing() {
    let lines = [
        "videotestsrc pattern=circular",
        "videotestsrc animation-mode=2",
        "videotestsrc pattern=0x12",
        "fakesink : fakesrc",
        "fakesrc name=a : a.",
    ];
    insta::assert_snapshot!(lines.map(told).join("\n\n"), @r#"
    warning: property pattern=circular is none of: smpte, snow, black, white, red, green, blue, checkers-1, checkers-2, checkers-4, checkers-8, blink, ball, gradient; it stays as it was
      videotestsrc pattern=circular
                           ^^^^^^^^

    warning: videotestsrc: property `animation-mode` is accepted for compatibility and does nothing



    warning: this `:` links nothing: no pads fit
      fakesink : fakesrc
               ^

    warning: this `:` links nothing: no pads fit
      fakesrc name=a : a.
                     ^
    "#);
}

#[test]
fn properties_of_bins_and_of_their_members() {
    let lines = [
        "queue.( fakesrc ! fakesink )",
        "bin.( nosuch=1 fakesrc )",
        "bin.( async-handling=maybe fakesrc )",
        "pipeline.( delay=-1 async-handling=t fakesrc )",
        "bin.( a::num-buffers=x fakesrc name=a )",
        "bin.( a::nosuch=x fakesrc name=a )",
        "bin.( b::num-buffers=3 fakesrc name=a )",
    ];
    insta::assert_snapshot!(lines.map(told).join("\n\n"), @r#"
    error: `queue` is not a bin
      queue.( fakesrc ! fakesink )
      ^^^^^
      help: brackets make a `bin` or a `pipeline`

    error: element bin has no property `nosuch`
      bin.( nosuch=1 fakesrc )
            ^^^^^^
      help: a bin has: async-handling, message-forward

    error: property async-handling takes true or false, not `maybe`
      bin.( async-handling=maybe fakesrc )
                           ^^^^^

    warning: pipeline: property `delay` is accepted for compatibility and does nothing
    warning: pipeline: property `async-handling` is accepted for compatibility and does nothing

    error: property num-buffers takes a whole number, not `x`
      bin.( a::num-buffers=x fakesrc name=a )
                           ^

    error: element fakesrc has no property `nosuch`
      bin.( a::nosuch=x fakesrc name=a )
            ^^^^^^^^^
      help: `tickpipe inspect fakesrc` lists all

    warning: the bin has no member `b`: its property is not set
      bin.( b::num-buffers=3 fakesrc name=a )
            ^^^^^^^^^^^^^^
    "#);
    for line in [
        "bin.( a::num-buffers=3 fakesrc name=a )",
        "( a::num_buffers=3 fakesrc name=a num-buffers=4 )",
        "( fakesrc0::num-buffers=3 fakesrc )",
        "( b::a::num-buffers=3 ( name=b fakesrc name=a ) )",
    ] {
        assert_eq!(value(line, "num-buffers"), Some(3.into()), "{line}");
    }
}

/// Two elements that both make pads on request are linked once.
#[test]
fn all_links_come_to_an_end() {
    let line = "tee name=t : funnel name=f ! fakesink fakesrc ! t.";
    assert_eq!(pads(line), ["sink", "src_0"]);
}

/// `src_5` and then one without a name.
#[test]
fn pads_get_the_number_after_the_highest() {
    let line = "tee name=t t.src_5 ! fakesink t. ! fakesink t.src_01 ! fakesink";
    assert_eq!(pads(line), ["sink", "src_5", "src_6", "src_1"]);
    let again = "fakesrc ! tee name=t t.src_1 ! fakesink t.src_01 ! fakesink";
    assert!(told(again).starts_with("error: pad t.src_1 is linked already"));
    assert!(told("tee name=t t.src_+1 ! fakesink").starts_with("error: "));
}

/// GStreamer calls such pads otherwise, so a name that comes later is free.
#[test]
fn unnamed_pads_of_a_funnel_leave_named_ones_free() {
    let pads = |line: &str| {
        let mut engine = Engine::new().expect("an engine");
        let launched = match engine.launched("main", line) {
            Ok(launched) => launched,
            Err(error) => return error.to_string(),
        };
        let funnel = launched.elements[0].entity();
        let pads = engine.world().get::<Pads>(funnel).cloned();
        let pads = pads.unwrap_or_default().0.into_iter();
        let names = pads.filter_map(|pad| Some(engine.world().get::<Pad>(pad)?.name.clone()));
        names.collect::<Vec<_>>().join(" ")
    };
    let mixed =
        "funnel name=f ! fakesink fakesrc ! f. fakesrc ! f.sink_0 fakesrc ! f. fakesrc ! f.sink_2";
    assert_eq!(pads(mixed), "src sink_3 sink_0 sink_4 sink_2");
    let plain = "funnel name=f ! fakesink fakesrc ! f. fakesrc ! f.";
    assert_eq!(pads(plain), "src sink_0 sink_1");
    let twice = "funnel name=f ! fakesink fakesrc ! f. fakesrc ! f.sink_0 fakesrc ! f.sink_0";
    assert_eq!(pads(twice), "pad f.sink_0 is linked already");
}

/// Nothing is left of caps whose links could not both be made, so the rest of the line runs.
#[test]
fn caps_on_a_link_of_all_are_gone_where_they_link_nothing() {
    for line in [
        "fakesink : video/x-raw : videotestsrc",
        "fakesink ! video/x-raw : videotestsrc",
        "videotestsrc : video/x-raw ! videotestsrc",
    ] {
        let mut engine = Engine::new().expect("an engine");
        let launched = match engine.launched("main", line) {
            Ok(launched) => launched,
            Err(error) => panic!("{}", error.render(line)),
        };
        assert_eq!(launched.warnings.len(), 1, "{line}");
        assert_eq!(engine.elements(launched.pipeline).len(), 2, "{line}");
        let world = engine.world();
        let pads = launched.elements.iter();
        let mut pads =
            pads.flat_map(|e| world.get::<Pads>(e.entity()).cloned().unwrap_or_default().0);
        let linked = |pad| {
            world
                .get::<PadLink>(pad)
                .is_some_and(|link| link.0.is_some())
        };
        assert!(!pads.any(linked), "{line}");
    }
}
