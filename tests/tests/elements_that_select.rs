//! `valve`, `input-selector`, `output-selector`, `concat`, `funnel`, `delay`, `watch` and `identity`: what
//! comes out of them, and what they say of what does not.

#![cfg(feature = "video")]

use tickpipe::components::fabric::{Fabric, PipelineFabric};
use tickpipe::components::time::Segment;
use tickpipe::{
    ClockMode, Engine, EngineOptions, Observer, PipelineHandle, Report, RunOptions, State, Verdict,
};

fn start(text: &str, clock: ClockMode) -> (Engine, PipelineHandle) {
    let mut engine = Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    engine.set_clock(pipeline, clock);
    (engine, pipeline)
}

fn finished(engine: &mut Engine, pipeline: PipelineHandle) -> Report {
    let options = RunOptions {
        max_ticks: Some(20_000),
        record: true,
        ..RunOptions::default()
    };
    engine.run(pipeline, &options, &mut ())
}

fn run_on(text: &str, clock: ClockMode) -> Report {
    let (mut engine, pipeline) = start(text, clock);
    let report = finished(&mut engine, pipeline);
    assert_eq!(report.verdict, Verdict::Done, "{text}: {:?}", report.stall);
    assert_eq!(report.invariant, None);
    assert!(report.pools.iter().all(|p| p.out == 0));
    assert!(report.sinks.iter().all(|s| s.eos));
    report
}

fn run(text: &str) -> Report {
    run_on(text, ClockMode::Free)
}

fn frames(report: &Report, sink: &str) -> Vec<i64> {
    let sink = report.sinks.iter().find(|s| s.name == sink).expect("it");
    sink.frames.iter().filter_map(|f| f.pts).collect()
}

fn told(report: &Report, element: &str) -> Vec<(&'static str, u64)> {
    let element = report
        .elements
        .iter()
        .find(|e| e.name == element)
        .expect("it");
    element
        .occurrences
        .iter()
        .map(|o| (o.reason, o.count))
        .collect()
}

/// What `watch` saw last, a line each, without the parts of a buffer behind its index.
fn watched(report: &Report) -> Vec<String> {
    let watched = report
        .elements
        .iter()
        .find_map(|e| e.watched.as_ref())
        .expect("a watch");
    let short = |l: &String| match l.starts_with("buffer") {
        true => l.split(" pts").next().unwrap_or_default().to_owned(),
        false => l.split(' ').next().unwrap_or_default().to_owned(),
    };
    watched.last.iter().map(short).collect()
}

fn source(frames: u32) -> String {
    format!(
        "videotestsrc num-buffers={frames} ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1"
    )
}

fn upto(n: i64) -> Vec<i64> {
    (0..n).collect()
}

#[test]
fn a_closed_valve_lets_all_go_and_passes_the_end() {
    let report = run(&format!(
        "{} ! valve name=v drop=true ! fakesink",
        source(30)
    ));
    assert_eq!(report.sinks[0].buffers, 0);
    assert_eq!(told(&report, "v"), [("closed", 30)]);
    let report = run(&format!("{} ! valve name=v ! fakesink", source(30)));
    assert_eq!(report.sinks[0].buffers, 30);
    assert_eq!(told(&report, "v"), []);
}

#[test]
fn a_closed_valve_needs_no_room() {
    // The sink behind it takes nothing before its time; the other one goes on.
    let text = format!(
        "{} ! tee name=t t. ! valve name=v drop=true drop-mode=transform-to-gap ! fakesink name=a t. ! fakesink name=b",
        source(50)
    );
    let report = run(&text);
    assert_eq!(
        (frames(&report, "a").len(), frames(&report, "b")),
        (0, upto(50))
    );
}

#[test]
fn the_mode_says_which_events_a_closed_valve_passes() {
    let seen = |mode: &str| {
        let text = format!(
            "concat name=c ! valve drop=true drop-mode={mode} ! watch last=99 ! fakesink {} ! c. {} ! c.",
            source(2),
            source(2)
        );
        watched(&run(&text))
    };
    assert_eq!(seen("drop-all"), ["caps", "end"]);
    assert_eq!(seen("forward-sticky-events"), ["caps", "segment", "end"]);
    assert_eq!(
        seen("transform-to-gap"),
        ["caps", "gap", "gap", "segment", "gap", "gap", "end"]
    );
}

#[test]
fn a_valve_that_opens_gives_the_segment_that_it_kept_back() {
    let text = format!(
        "concat name=c ! valve name=v drop=true ! watch last=99 ! fakesink {} ! c. {} ! c.",
        source(8),
        source(40)
    );
    let (mut engine, pipeline) = start(&text, ClockMode::Free);
    let valve = engine.element(pipeline, "v").expect("it");
    // It is open when the second stream is under way.
    engine.set_state(pipeline, State::Playing);
    let dropped = |engine: &Engine| {
        let report = engine.report(pipeline);
        report
            .elements
            .iter()
            .find(|e| e.name == "v")
            .map_or(0, |e| e.dropped)
    };
    while dropped(&engine) < 12 {
        engine.tick();
    }
    engine.set(valve, "drop", false).expect("set");
    let report = finished(&mut engine, pipeline);
    let seen = watched(&report);
    assert_eq!(seen[..2], ["caps", "segment"], "{seen:?}");
    assert!(seen[2].starts_with("buffer") && seen.last().is_some_and(|l| l == "end"));
    assert_eq!(report.sinks[0].buffers + told(&report, "v")[0].1, 48);
}

#[test]
fn an_input_selector_passes_one_input_and_tells_of_the_others() {
    let text = |active: &str| {
        format!(
            "input-selector name=s {active} ! fakesink name=out {} ! s.sink_0 {} ! s.sink_1",
            source(30),
            source(12)
        )
    };
    let report = run(&text(""));
    assert_eq!(frames(&report, "out"), upto(30));
    assert_eq!(told(&report, "s"), [("not-selected", 12)]);
    // It ends with the active one; the longer one is not read to its end.
    let report = run(&text("active-pad=sink_1"));
    assert_eq!(frames(&report, "out"), upto(12));
    let kept_step = told(&report, "s")[0].1;
    assert!((11..=12).contains(&kept_step), "{kept_step}");
    // A pad that is not there is the first.
    assert_eq!(frames(&run(&text("active-pad=sink_7")), "out"), upto(30));
}

#[test]
fn a_switch_of_inputs_is_seamless_at_every_tick() {
    let text = "input-selector name=s ! fakesink name=out videotestsrc num-buffers=40 pattern=white ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! s.sink_0 videotestsrc num-buffers=40 pattern=black ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! s.sink_1";
    let mut switched = Vec::new();
    for at in 0..16 {
        let (mut engine, pipeline) = start(text, ClockMode::Free);
        engine.observe(pipeline, false, true);
        engine.set_state(pipeline, State::Playing);
        let selector = engine.element(pipeline, "s").expect("it");
        for _ in 0..at {
            engine.tick();
        }
        engine
            .set_text(selector, "active-pad", "sink_1")
            .expect("set");
        let report = finished(&mut engine, pipeline);
        let out = &report.sinks[0].frames;
        assert_eq!(frames(&report, "out"), upto(40), "set at tick {at}");
        let black = out.iter().filter(|f| f.hash == out[39].hash).count();
        switched.push(40 - black % 40);
        // What is not from one is from the other.
        let not_selected = told(&report, "s").iter().map(|t| t.1).sum::<u64>();
        assert!(not_selected >= 36, "{not_selected}");
    }
    assert!(switched.iter().any(|s| (1..40).contains(s)), "{switched:?}");
}

#[test]
fn an_output_selector_gives_to_one_and_ends_all() {
    let text = |settings: &str| {
        format!(
            "{} ! output-selector name=s {settings} s.src_0 ! fakesink name=a s.src_1 ! fakesink name=b",
            source(30)
        )
    };
    let report = run(&text(""));
    assert_eq!(
        (frames(&report, "a"), frames(&report, "b")),
        (upto(30), vec![])
    );
    let report = run(&text("active-pad=src_1 pad-negotiation-mode=active"));
    assert_eq!(
        (frames(&report, "a"), frames(&report, "b")),
        (vec![], upto(30))
    );
}

#[test]
fn a_switch_of_outputs_loses_nothing_and_can_send_the_latest_again() {
    for (resend, again) in [("", 0), ("resend-latest=true", 1)] {
        let text = format!(
            "{} ! output-selector name=s {resend} s.src_0 ! fakesink name=a s.src_1 ! fakesink name=b",
            source(40)
        );
        let mut both = 0;
        for at in 4..12 {
            let (mut engine, pipeline) = start(&text, ClockMode::Free);
            engine.observe(pipeline, false, true);
            engine.set_state(pipeline, State::Playing);
            let selector = engine.element(pipeline, "s").expect("it");
            for _ in 0..at {
                engine.tick();
            }
            engine
                .set_text(selector, "active-pad", "src_1")
                .expect("set");
            let report = finished(&mut engine, pipeline);
            assert_eq!(report.verdict, Verdict::Done);
            assert!(report.pools.iter().all(|p| p.out == 0));
            let (a, b) = (frames(&report, "a"), frames(&report, "b"));
            if !a.is_empty() && !b.is_empty() {
                both += 1;
                assert_eq!(b[0], a[a.len() - 1] + 1 - again, "{a:?} {b:?}");
            }
            let mut all = [a, b].concat();
            all.dedup();
            assert_eq!(all, upto(40), "set at tick {at}");
        }
        assert!(both > 3, "{both}");
    }
}

/// The running time at the end of the last tick.
#[derive(Default)]
struct Last(i64);

impl Observer for Last {
    fn tick(&mut self, p: &PipelineFabric) {
        self.0 = p.now - p.base_time;
    }
}

#[test]
fn concat_gives_one_after_the_other_and_running_time_goes_on() {
    let text = |settings: &str| {
        format!(
            "concat name=c {settings} ! fakesink name=out sync=true {} ! c. {} ! c. {} ! c.",
            source(3),
            source(20),
            source(5)
        )
    };
    let end = |settings: &str| {
        let (mut engine, pipeline) = start(&text(settings), ClockMode::Virtual);
        let options = RunOptions {
            record: true,
            ..RunOptions::default()
        };
        let mut last = Last::default();
        let report = engine.run(pipeline, &options, &mut last);
        assert_eq!(
            frames(&report, "out"),
            [upto(3), upto(20), upto(5)].concat()
        );
        last.0
    };
    // The last of 28 frames of 40 ms is over after all of them.
    assert_eq!(end(""), 28 * 40_000_000);
    // Otherwise each begins anew, and what is late is shown at once.
    assert_eq!(end("adjust-base=false"), 19 * 40_000_000);
}

#[test]
fn the_base_of_a_segment_is_what_was_played_before() {
    let text = format!(
        "concat name=c ! fakesink name=out {} ! c. videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! c.",
        source(7)
    );
    let (mut engine, pipeline) = start(&text, ClockMode::Free);
    engine.set_state(pipeline, State::Playing);
    let mut last = Segment::default();
    for _ in 0..40 {
        engine.tick();
        let fabric = engine.world().resource::<Fabric>();
        let sink = fabric.pipelines[0].lanes.iter().find(|l| l.is_sink());
        if let Some(signals) = sink.and_then(|l| l.signals.as_ref()) {
            last = signals.input(0);
        }
    }
    assert_eq!(
        (last.base, last.time_base.num(), last.time_base.den()),
        (7, 1, 25)
    );
    assert_eq!(last.to_running(1), Some(8));
}

#[test]
fn a_delay_keeps_each_for_its_time_and_its_number() {
    let text = |settings: &str| {
        format!(
            "videotestsrc is-live=true num-buffers=20 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! delay name=d {settings} ! fakesink name=out"
        )
    };
    // Running times at which frames came to the sink, in frames.
    let came = |settings: &str| {
        let (mut engine, pipeline) = start(&text(settings), ClockMode::Virtual);
        engine.set_state(pipeline, State::Playing);
        let mut came = Vec::new();
        for _ in 0..400 {
            engine.tick();
            let p = &engine.world().resource::<Fabric>().pipelines[0];
            let taken = p.lanes.last().map_or(0, |l| l.buffers_in());
            while (came.len() as u64) < taken {
                came.push((p.now - p.base_time) / 40_000_000);
            }
        }
        assert_eq!(came.len(), 20, "{settings}");
        came
    };
    let plain = came("");
    let later = |by: i64| -> Vec<i64> { plain.iter().map(|t| t + by).collect() };
    // The last few go at the end, which comes right behind the last frame.
    let delayed = came("time=200ms");
    assert_eq!(delayed[..14], later(5)[..14], "{plain:?}");
    let delayed = came("buffers=3");
    assert_eq!(delayed[..16], later(3)[..16]);
    // Both must be so.
    assert_eq!(came("buffers=3 time=200ms")[..14], later(5)[..14]);
    assert_eq!(came("buffers=5 time=40ms")[..14], later(5)[..14]);
}

#[test]
fn a_delay_says_what_it_keeps_and_how_late_it_is() {
    let text = format!("{} ! delay name=d buffers=6 ! fakesink", source(40));
    let report = run(&text.replace("num-buffers=40", "num-buffers=40 max-buffers=7"));
    assert_eq!(report.sinks[0].buffers, 40);
    let (mut engine, pipeline) = start(
        &text.replace("num-buffers=40", "num-buffers=40 max-buffers=6"),
        ClockMode::Free,
    );
    let report = finished(&mut engine, pipeline);
    assert_eq!(report.verdict, Verdict::Failed);
    // With the clock `free` there is no time to wait for.
    let report = run(&format!(
        "{} ! delay time=10s ! fakesink name=out",
        source(100)
    ));
    assert_eq!(frames(&report, "out"), upto(100));
}

#[test]
fn watch_tells_the_last_few_and_counts_all() {
    let report = run(&format!("{} ! watch last=2 ! fakesink", source(30)));
    let watched = report
        .elements
        .iter()
        .find_map(|e| e.watched.as_ref())
        .expect("it");
    assert_eq!(
        (watched.buffers, watched.bytes, watched.events),
        (30, 30 * 256, 0)
    );
    assert_eq!(
        watched.last,
        ["buffer 29 pts 29 duration 1 of 1/25 s, 256 bytes", "end"]
    );
    let report = run(&format!("{} ! watch last=0 ! fakesink", source(30)));
    let watched = report
        .elements
        .iter()
        .find_map(|e| e.watched.as_ref())
        .expect("it");
    assert_eq!((watched.buffers, watched.last.len()), (30, 0));
}

#[test]
fn identity_can_end_or_fail_after_some() {
    let report = run(&format!(
        "{} ! identity eos-after=7 ! fakesink name=out",
        source(30)
    ));
    assert_eq!(frames(&report, "out"), upto(7));
    let (mut engine, pipeline) = start(
        &format!(
            "{} ! identity name=i error-after=7 ! fakesink name=out",
            source(30)
        ),
        ClockMode::Free,
    );
    let report = finished(&mut engine, pipeline);
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(frames(&report, "out"), upto(7));
    let error = report
        .messages
        .iter()
        .find(|m| m.kind == "error")
        .expect("an error");
    assert_eq!(error.element.as_deref(), Some("i"));
}

#[test]
fn a_funnel_follows_the_segments_of_its_inputs_unless_told_not_to() {
    let seen = |settings: &str| {
        let text = format!(
            "funnel name=f {settings} ! watch last=99 ! fakesink {} ! f. concat name=c ! f. {} ! c. {} ! c.",
            source(20),
            source(2),
            source(20)
        );
        let seen = watched(&run(&text));
        assert_eq!(seen.iter().filter(|l| l.starts_with("buffer")).count(), 42);
        seen.iter().filter(|l| *l == "segment").count()
    };
    assert!(seen("") > 2);
    assert_eq!(seen("forward-sticky-events=false"), 0);
}

#[test]
fn an_event_waits_for_what_an_element_is_busy_with() {
    let text = format!(
        "concat name=c ! work time=100ms ! watch last=9 ! fakesink name=out {} ! c. {} ! c.",
        source(3),
        source(2)
    );
    let report = run_on(&text, ClockMode::Virtual);
    assert_eq!(frames(&report, "out"), [0, 1, 2, 0, 1]);
    assert_eq!(
        watched(&report),
        [
            "caps", "buffer 0", "buffer 1", "buffer 2", "segment", "buffer 0", "buffer 1", "end"
        ]
    );
}

#[test]
fn an_active_pad_that_is_not_there_is_told_once() {
    for text in [
        "input-selector name=s active-pad=sink_9 ! fakesink videotestsrc num-buffers=30 ! s.",
        "videotestsrc num-buffers=30 ! output-selector name=s active-pad=nope ! fakesink",
    ] {
        let report = run(text);
        let warned = report.messages.iter().filter(|m| m.kind == "warning");
        let warned: Vec<_> = warned
            .map(|m| (m.element.as_deref(), m.code.as_deref()))
            .collect();
        assert_eq!(warned, [(Some("s"), Some("settings"))], "{text}");
        assert_eq!(report.sinks[0].buffers, 30, "{text}");
    }
}
