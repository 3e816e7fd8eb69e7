//! Caps of what is made of several pictures at once: they follow from all inputs, or it is told why not.

#![cfg(feature = "video")]

use tickpipe::{Engine, RunOptions};

fn engine() -> Engine {
    Engine::new().expect("an engine")
}

/// The caps of a link after planning, or the error.
fn plan(text: &str, from: &str) -> Result<String, String> {
    let mut engine = engine();
    let (p, _) = engine
        .launch("main", text)
        .map_err(|e| e.render(text))
        .expect("a graph");
    let plan = engine.plan(p).map_err(|e| e.to_string())?;
    let report = plan.links.iter().find(|l| l.from == from).expect("a link");
    Ok(report.caps.to_string())
}

const TWO: &str = "! fakesink videotestsrc num-buffers=2 ! video/x-raw,width=30,height=20 ! s.";

#[test]
fn sizes_and_rates_follow_from_all_inputs() {
    let size = |element: &str| {
        let first = "videotestsrc num-buffers=2 ! video/x-raw,width=30,height=20,framerate=10/1";
        let caps = plan(&format!("{first} ! {element} name=s {TWO}"), "s.src").expect("it works");
        let fields: Vec<&str> = caps
            .split(',')
            .filter(|f| f.contains("width=") || f.contains("height="))
            .collect();
        fields.join(",")
    };
    assert_eq!(size("hstack"), "width=60,height=20");
    assert_eq!(size("vstack"), "width=30,height=40");
    assert_eq!(size("xstack"), "width=60,height=20");
    assert_eq!(size("xstack layout=0_0|5_7"), "width=35,height=27");
    assert_eq!(size("xstack grid=1x2"), "width=30,height=40");
    assert_eq!(size("hstack ! hstack"), "width=60,height=20");
    let rate = |a: &str, b: &str| {
        let text = format!(
            "videotestsrc ! video/x-raw,framerate={a} ! hstack name=s ! fakesink videotestsrc ! video/x-raw,framerate={b} ! s."
        );
        plan(&text, "s.src").expect("it works")
    };
    assert!(rate("10/1", "10/1").contains("framerate=10/1"));
    assert!(rate("10/1", "25/1").contains("framerate=0/1"));
}

#[test]
fn what_cannot_be_put_together_is_told_at_once() {
    for (element, told) in [
        (
            "xstack layout=0_0",
            "the layout has 1 places, and there are 2 inputs",
        ),
        (
            "xstack layout=0_0|40000_0",
            "input 1 reaches to 40030, a picture has at most 32767",
        ),
        (
            "xstack layout=0_0|w5_0",
            "the layout names input 5, and there are 2",
        ),
        (
            "xstack grid=3x1",
            "the layout has 3 places, and there are 2 inputs",
        ),
        ("hstack inputs=3", "2 inputs are linked, and inputs=3"),
    ] {
        let text = format!("videotestsrc num-buffers=2 ! {element} name=s {TWO}");
        let error = plan(&text, "s.src").expect_err(element);
        assert!(error.contains(told), "{element}: {error}");
    }
    let text = format!(
        "videotestsrc num-buffers=2 ! video/x-raw,width=30 ! hstack name=s ! video/x-raw,width=50 {TWO}"
    );
    let error = plan(&text, "s.src").expect_err("too narrow");
    assert!(
        error.contains("the pictures together are 60x20, and downstream wants 50x20"),
        "{error}"
    );
    // What follows may scale it.
    let text = format!(
        "videotestsrc num-buffers=2 ! video/x-raw,width=30 ! hstack name=s ! videoscale ! video/x-raw,width=50 {TWO}"
    );
    let mut engine = engine();
    let (p, _) = engine.launch("main", &text).expect("a graph");
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "done");
}
