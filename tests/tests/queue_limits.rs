//! What a queue holds, by buffers, bytes and time; what it lets go; what it holds back.

#![cfg(feature = "video")]

use proptest::prelude::*;
use tickpipe::components::fabric::{Item, PipelineFabric};
use tickpipe::components::message::MessageKind;
use tickpipe::components::occurrence::{Deed, Reason};
use tickpipe::{
    ClockMode, Engine, EngineOptions, Limit, Limits, MessageMask, Observer, PipelineHandle, Report,
    RunOptions, State, Verdict,
};

/// The most that the queues of a run held at the end of a tick, and that without the newest buffer of
/// each: buffers, bytes, and time in milliseconds.
#[derive(Debug, Default)]
struct Most {
    all: [u64; 3],
    without_newest: [u64; 3],
}

impl Observer for Most {
    fn tick(&mut self, p: &PipelineFabric) {
        for lane in p.lanes.iter().filter(|l| l.extras.bounds.is_some()) {
            let queued = lane.inputs[0].queue.iter().filter_map(Item::as_buffer);
            let metas: Vec<_> = queued.map(|b| p.buffers.meta[b.index()]).collect();
            let level = |metas: &[tickpipe::components::buffer::BufferMeta]| {
                let time = metas.iter().map(|m| {
                    let lasts = m.duration.unwrap_or_default() as u64;
                    lasts * 1000 * u64::from(m.time_base.num()) / u64::from(m.time_base.den())
                });
                let bytes = metas.iter().map(|m| m.len as u64).sum();
                [metas.len() as u64, bytes, time.sum()]
            };
            let before = &metas[..metas.len().saturating_sub(1)];
            for (most, now) in [
                (&mut self.all, level(&metas)),
                (&mut self.without_newest, level(before)),
            ] {
                for (most, now) in most.iter_mut().zip(now) {
                    *most = (*most).max(now);
                }
            }
        }
    }
}

fn start(text: &str, clock: ClockMode, quantum: u64) -> (Engine, PipelineHandle) {
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum).expect("a quantum");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    engine.set_clock(pipeline, clock);
    (engine, pipeline)
}

fn run_with(text: &str, clock: ClockMode, quantum: u64) -> (Report, Most) {
    let (mut engine, pipeline) = start(text, clock, quantum);
    let options = RunOptions {
        max_ticks: Some(20_000),
        record: true,
        ..RunOptions::default()
    };
    let mut most = Most::default();
    let report = engine.run(pipeline, &options, &mut most);
    assert_eq!(report.invariant, None, "{text}");
    (report, most)
}

fn virtual_run(text: &str) -> (Report, Most) {
    let (report, most) = run_with(text, ClockMode::Virtual, 4);
    assert_eq!(report.verdict, Verdict::Done, "{text} {:?}", report.stall);
    (report, most)
}

fn stamps(report: &Report) -> Vec<i64> {
    let frames = report.sinks[0].frames.iter();
    frames.map(|f| f.pts.expect("a time")).collect()
}

/// Index and time of each buffer that was told as leaked, in order.
fn leaked(report: &Report) -> Vec<(u64, Option<i64>)> {
    let told = report
        .messages
        .iter()
        .filter(|m| m.code.as_deref() == Some("leak"));
    told.filter_map(|m| m.occurrence.as_ref())
        .map(|o| (o.index, o.value))
        .collect()
}

const SOURCE: &str = "videotestsrc num-buffers=40 min-buffers=64 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1";

#[test]
fn queue_size_property_bounds() {
    let (mut engine, pipeline) = start(
        "fakesrc num-buffers=9 ! queue name=q ! fakesink",
        ClockMode::Free,
        4,
    );
    let queue = engine.element(pipeline, "q").expect("the queue");
    let mut refused = |name: &str, value: i64| {
        let error = engine.set(queue, name, value).expect_err("out of range");
        error.to_string()
    };
    assert_eq!(
        refused("max-size-buffers", -1),
        "q: property max-size-buffers=-1 is outside 0..=4294967295"
    );
    assert_eq!(
        refused("max-size-bytes", 1 << 32),
        "q: property max-size-bytes=4294967296 is outside 0..=4294967295"
    );
    assert_eq!(
        refused("max-size-time", -1),
        "q: property max-size-time=-1 is outside 0..=9223372036854775807"
    );
    assert_eq!(
        refused("leaky", 3),
        "q: property leaky=3 is none of: no, upstream, downstream"
    );
    // What was refused changed nothing.
    let get = |name| {
        engine
            .get(queue, name)
            .expect("it has it")
            .map(|v| v.to_string())
    };
    assert_eq!(
        [
            "max-size-buffers",
            "max-size-bytes",
            "max-size-time",
            "leaky"
        ]
        .map(get),
        ["200", "10485760", "1000000000", "no"].map(|v| Some(v.to_owned()))
    );
    // Beyond the limit of all queues it is refused when the graph starts, with how to raise that.
    engine
        .set(queue, "max-size-buffers", 70_000)
        .expect("in range");
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict, Verdict::Failed);
    let error = report
        .messages
        .iter()
        .find(|m| m.kind == "error")
        .expect("an error");
    assert_eq!(
        (error.element.as_deref(), error.code.as_deref()),
        (Some("q"), Some("limit"))
    );
}

#[test]
fn each_measure_alone_makes_it_full() {
    // 256 bytes and 40 ms a frame. It is full once it has reached the limit.
    for (limits, want) in [
        ("max-size-buffers=5", [5, 5 * 256, 200]),
        ("max-size-bytes=1280", [5, 1280, 200]),
        ("max-size-bytes=1281", [6, 6 * 256, 240]),
        ("max-size-bytes=1", [1, 256, 40]),
        ("max-size-time=200000000", [5, 1280, 200]),
        ("max-size-time=200000001", [6, 6 * 256, 240]),
        ("max-size-time=1", [1, 256, 40]),
        (
            "max-size-buffers=9 max-size-bytes=1281 max-size-time=120000000",
            [3, 768, 120],
        ),
        (
            "max-size-time=0 max-size-bytes=0 max-size-buffers=7",
            [7, 7 * 256, 280],
        ),
    ] {
        for quantum in [1, 4, 16] {
            let text = format!("{SOURCE} ! queue {limits} ! work time=40ms ! fakesink");
            let (report, most) = run_with(&text, ClockMode::Virtual, quantum);
            assert_eq!(stamps(&report), (0..40).collect::<Vec<_>>(), "{text}");
            assert_eq!(most.all, want, "{text}, quantum {quantum}");
        }
    }
}

#[test]
fn the_default_holds_a_second() {
    let source = SOURCE.replace("=40", "=100");
    let (_, most) = virtual_run(&format!("{source} ! queue ! work time=1s ! fakesink"));
    assert_eq!(most.all, [25, 25 * 256, 1000]);
}

#[test]
fn queue_leak_oldest() {
    // The element behind it takes frame 0 at once, and is busy until all others have come.
    let text =
        format!("{SOURCE} ! queue leaky=downstream max-size-buffers=3 ! work time=10s ! fakesink");
    let (report, most) = virtual_run(&text);
    assert_eq!(stamps(&report)[1..], [37, 38, 39]);
    assert_eq!(report.sinks[0].buffers, 4);
    let gone: Vec<_> = leaked(&report);
    let first = stamps(&report)[0];
    let want: Vec<_> = (0..37)
        .filter(|i| *i != first)
        .map(|i| (i as u64, Some(i)))
        .collect();
    assert_eq!(gone, want);
    assert_eq!(most.all[0], 3);
}

#[test]
fn queue_leak_newest() {
    let text =
        format!("{SOURCE} ! queue leaky=upstream max-size-buffers=3 ! work time=10s ! fakesink");
    let (report, most) = virtual_run(&text);
    assert_eq!(stamps(&report), [0, 1, 2, 3]);
    let want: Vec<_> = (4..40).map(|i| (i as u64, Some(i))).collect();
    assert_eq!(leaked(&report), want);
    assert_eq!(most.all[0], 3);
    let queue = report
        .elements
        .iter()
        .find(|e| e.name == "queue0")
        .expect("it");
    let told = &queue.occurrences[0];
    assert_eq!(
        (told.reason, told.deed, told.count, queue.dropped),
        ("leak", "dropped", 36, 36)
    );
}

#[test]
fn queue_leak_never_drops_eos() {
    for leaky in ["upstream", "downstream"] {
        for size in 1..5 {
            for quantum in [1, 3, 4] {
                let text = format!(
                    "concat name=c ! queue leaky={leaky} max-size-buffers={size} ! watch name=w last=99 ! work time=1s ! fakesink {SOURCE} ! c. {SOURCE} ! c."
                );
                let (report, most) = run_with(&text, ClockMode::Virtual, quantum);
                assert_eq!(report.verdict, Verdict::Done, "{text}");
                assert!(report.sinks[0].eos);
                assert!(most.all[0] <= size);
                let watched = report
                    .elements
                    .iter()
                    .find_map(|e| e.watched.as_ref())
                    .expect("it");
                // The segment of the second stream, and the end, which is no event.
                assert_eq!(watched.events, 1, "{text}: {watched:?}");
                assert_eq!(watched.last.iter().filter(|l| *l == "end").count(), 1);
                assert_eq!(watched.buffers + leaked(&report).len() as u64, 80);
            }
        }
    }
}

#[test]
fn what_follows_a_gap_is_marked_unless_it_is_shared() {
    let marked = |text: &str| -> Vec<String> {
        let (report, _) = virtual_run(text);
        let watched = report
            .elements
            .iter()
            .find_map(|e| e.watched.as_ref())
            .expect("it");
        let marked = watched.last.iter().filter(|l| l.ends_with("discontinuity"));
        marked
            .map(|l| l.split(' ').nth(1).unwrap_or_default().to_owned())
            .collect()
    };
    let newest = format!(
        "{SOURCE} ! queue leaky=downstream max-size-buffers=3 ! work time=10s ! watch last=99 ! fakesink"
    );
    assert_eq!(marked(&newest), ["37"]);
    // Once it drops the newest nothing comes behind.
    assert_eq!(marked(&newest.replace("downstream", "upstream")), [""; 0]);
    let live = newest
        .replace("videotestsrc", "videotestsrc is-live=true")
        .replace("10s", "200ms");
    let upstream = live.replace(
        "downstream max-size-buffers=3",
        "upstream max-size-buffers=1",
    );
    let all: Vec<u64> = marked(&upstream)
        .iter()
        .filter_map(|i| i.parse().ok())
        .collect();
    assert!(
        all.len() > 3 && all.windows(2).all(|w| w[1] - w[0] >= 4),
        "{all:?}"
    );
    let shared = upstream.replace("! queue", "! tee name=t t. ! fakesink hold=5 t. ! queue");
    let fewer = marked(&shared);
    assert!(fewer.len() < all.len(), "{fewer:?}");
}

#[test]
fn with_the_clock_free_nothing_leaks() {
    for leaky in ["upstream", "downstream"] {
        for quantum in [1, 4, 9] {
            let text = format!(
                "{SOURCE} ! queue leaky={leaky} max-size-buffers=1 ! work time=1s ! fakesink"
            );
            let (report, _) = run_with(&text, ClockMode::Free, quantum);
            assert_eq!(stamps(&report), (0..40).collect::<Vec<_>>());
        }
    }
}

#[test]
fn nothing_is_passed_on_below_the_minimum() {
    // Frames that are in the queue when the sink takes its first one, and that are left at the end.
    let least = |limits: &str| {
        let text = format!(
            "videotestsrc num-buffers=40 is-live=true min-buffers=20 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! queue name=q {limits} ! fakesink"
        );
        let (mut engine, pipeline) = start(&text, ClockMode::Virtual, 4);
        let options = RunOptions {
            record: true,
            ..RunOptions::default()
        };
        #[derive(Default)]
        struct Least {
            at_first: Option<u64>,
            after: Vec<u64>,
        }
        impl Observer for Least {
            fn tick(&mut self, p: &PipelineFabric) {
                let queue = p
                    .lanes
                    .iter()
                    .find(|l| l.extras.bounds.is_some())
                    .expect("it");
                let emitted = queue.outputs[0].emitted;
                if emitted > 0
                    && !queue.inputs[0].eos
                    && queue.inputs[0].queue.iter().all(|i| i != Item::EOS)
                {
                    let here = queue.inputs[0].queue.buffers() as u64;
                    self.at_first.get_or_insert(here + emitted);
                    self.after.push(here);
                }
            }
        }
        let mut seen = Least::default();
        let report = engine.run(pipeline, &options, &mut seen);
        assert_eq!(stamps(&report), (0..40).collect::<Vec<_>>(), "{limits}");
        (seen.at_first, seen.after.iter().min().copied())
    };
    assert_eq!(least("min-threshold-buffers=6"), (Some(6), Some(5)));
    assert_eq!(least("min-threshold-bytes=1500"), (Some(6), Some(5)));
    assert_eq!(least("min-threshold-time=240000000"), (Some(6), Some(5)));
    assert_eq!(least("min-threshold-time=240000001"), (Some(7), Some(6)));
    // All of them count; and full is enough.
    assert_eq!(
        least("min-threshold-buffers=6 min-threshold-time=400000000"),
        (Some(10), Some(9))
    );
    assert_eq!(
        least("min-threshold-buffers=9 max-size-buffers=3"),
        (Some(3), Some(2))
    );
    assert_eq!(least("min-threshold-buffers=1"), (Some(1), Some(0)));
}

#[test]
fn the_end_discards_with_flush_on_eos() {
    let text = format!(
        "{SOURCE} ! queue flush-on-eos=true max-size-buffers=100 max-size-time=0 ! work time=1s ! fakesink"
    );
    let (report, _) = virtual_run(&text);
    let queue = report
        .elements
        .iter()
        .find(|e| e.name == "queue0")
        .expect("it");
    let told = &queue.occurrences[0];
    assert_eq!((told.reason, told.deed), ("flush", "dropped"));
    assert_eq!(told.count + report.sinks[0].buffers, 40);
    assert!(told.count > 20 && report.sinks[0].eos);
    let (report, _) = virtual_run(&text.replace("flush-on-eos=true", ""));
    assert_eq!(report.sinks[0].buffers, 40);
}

#[test]
fn limits_can_be_set_while_it_runs() {
    let text = "videotestsrc num-buffers=400 min-buffers=64 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! queue name=q max-size-buffers=2 ! work time=40ms ! fakesink";
    let (mut engine, pipeline) = start(text, ClockMode::Virtual, 4);
    engine.set_state(pipeline, State::Playing);
    let queue = engine.element(pipeline, "q").expect("the queue");
    let level = |engine: &mut Engine, ticks: u64| {
        engine.advance(0..1, ticks);
        let p = engine
            .world()
            .resource::<tickpipe::components::fabric::Fabric>();
        let lane = p.pipelines[0]
            .lanes
            .iter()
            .find(|l| l.extras.bounds.is_some());
        lane.map_or(0, |l| l.inputs[0].queue.buffers())
    };
    assert_eq!(level(&mut engine, 80), 2);
    engine.set(queue, "max-size-buffers", 20).expect("set");
    assert_eq!(level(&mut engine, 80), 20);
    engine
        .set(queue, "max-size-time", 400_000_000)
        .expect("set");
    assert_eq!(level(&mut engine, 80), 10);
    engine.set(queue, "max-size-bytes", 256 * 4).expect("set");
    assert_eq!(level(&mut engine, 80), 4);
    engine.set(queue, "max-size-bytes", 0).expect("set");
    assert_eq!(level(&mut engine, 80), 10);
    let leaks = |engine: &mut Engine| {
        let mut leaks = 0;
        while let Some(message) = engine.next_message(pipeline, MessageMask::OCCURRENCE) {
            let MessageKind::Occurrence(o) = message.kind else {
                continue;
            };
            assert_eq!((o.reason, o.deed), (Reason::Leak, Deed::Dropped));
            leaks += 1;
        }
        leaks
    };
    assert_eq!(leaks(&mut engine), 0);
    engine.set_text(queue, "leaky", "downstream").expect("set");
    assert_eq!(level(&mut engine, 80), 10);
    assert!(leaks(&mut engine) > 20);
}

#[test]
fn a_stall_says_which_measure_is_full() {
    let text = "join name=j ! fakesink videotestsrc min-buffers=64 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! tee name=t t. ! queue max-size-time=80000000 ! j. t. ! skip every=1 ! j.";
    let (report, _) = run_with(text, ClockMode::Free, 1);
    assert_eq!(report.verdict, Verdict::Stalled);
    let lines = report.stall.expect("a stall").lines();
    let full: Vec<_> = lines.iter().filter(|l| l.contains("full by")).collect();
    assert!(
        full.iter()
            .any(|l| l.contains("queue0.sink (2 of 200, full by time)")),
        "{lines:#?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// No more than one buffer beyond each limit, and what goes in comes out or is told as leaked.
    #[test]
    fn never_beyond_its_limits_and_nothing_is_lost(
        buffers in 0u64..8, bytes in 0u64..1500, time in 0u64..300, leaky in 0..3,
        work in 0u64..200, live in any::<bool>(), quantum in 1u64..9, branch in any::<bool>(),
    ) {
        let branch = if branch { "tee name=t t. ! fakesink sync=true t. !" } else { "" };
        let text = format!(
            "videotestsrc num-buffers=60 is-live={live} ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! {branch} queue name=q leaky={leaky} max-size-buffers={buffers} max-size-bytes={bytes} max-size-time={time}000000 ! work time={work}ms ! fakesink name=out"
        );
        let (report, most) = run_with(&text, ClockMode::Virtual, quantum);
        prop_assert_eq!(report.verdict, Verdict::Done, "{}", text);
        let limits = [buffers, bytes, time];
        for (limit, level) in limits.into_iter().zip(most.without_newest) {
            prop_assert!(limit == 0 || level < limit, "{}: {:?}", text, most);
        }
        prop_assert!(buffers == 0 || most.all[0] <= buffers);
        let out = report.sinks.iter().find(|s| s.name == "out").expect("it");
        let gone = leaked(&report);
        prop_assert_eq!(out.buffers + gone.len() as u64, 60);
        prop_assert!(leaky > 0 || gone.is_empty());
        let came: Vec<i64> = out.frames.iter().filter_map(|f| f.pts).collect();
        prop_assert!(came.is_sorted());
        prop_assert!(report.sinks.iter().all(|s| s.eos));
    }
}
