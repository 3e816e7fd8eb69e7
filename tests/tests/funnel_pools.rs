//! Pools whose buffers come to an element by several ways: each way is looked at, and counted once.

use tickpipe::Engine;

fn pools(text: &str) -> Vec<(String, u32)> {
    let mut engine = Engine::new().expect("an engine");
    let result = engine.launch("main", text);
    let (pipeline, _) = result.map_err(|e| e.render(text)).expect("a graph");
    let plan = engine.plan(pipeline).expect("an answer");
    let pools = plan.pools.into_iter();
    pools.map(|p| (p.name.clone(), p.need())).collect()
}

#[test]
fn sixty_diamonds_in_a_row_are_planned_at_once() {
    let mut text = "capssrc".to_owned();
    for i in 0..60 {
        text += &format!(" ! tee name=t{i} ! funnel name=f{i} t{i}. ! f{i}. f{i}.");
    }
    assert_eq!(
        pools(&(text + " ! capssink")),
        [("capssrc0.src".to_owned(), 1)]
    );
}

#[cfg(feature = "video")]
#[test]
fn what_a_tee_feeds_to_any_input_is_copied_before_it_is_written() {
    for order in ["a. ! f. b. ! f.", "b. ! f. a. ! f."] {
        let text = format!(
            "videotestsrc num-buffers=3 ! video/x-raw,format=I420 ! tee name=a a. ! fakesink \
             videotestsrc num-buffers=0 ! identity name=b funnel name=f ! overlay name=o ! fakesink name=out \
             {order} videotestsrc num-buffers=3 ! video/x-raw,width=8,height=8 ! o."
        );
        assert!(pools(&text).iter().any(|p| p.0 == "o.src"), "{order}");
        let mut engine = Engine::new().expect("an engine");
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        let report = engine.run(pipeline, &tickpipe::RunOptions::default(), &mut ());
        let out = report.sinks.iter().find(|s| s.name == "out");
        assert_eq!(out.map(|s| s.buffers), Some(3), "{order}");
        let mixer = report.elements.iter().find(|e| e.name == "o");
        assert_eq!(
            mixer.map(|e| (e.copied, e.dropped)),
            Some((3, 0)),
            "{order}"
        );
    }
}
