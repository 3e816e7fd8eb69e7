//! Work outside the tick: with the clocks `free` and `virtual` results are taken at ticks that follow
//! from virtual time alone, whatever the workers do; with `wall` the rest of the graph goes on.

use bevy_ecs::component::Component;
use proptest::prelude::*;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fault::ElementError;
use tickpipe::components::pool::PoolConfig;
use tickpipe::components::time::TimeBase;
use tickpipe::systems::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use tickpipe::systems::outside::Output;
use tickpipe::{
    ClockMode, Engine, EngineOptions, Limits, PipelineHandle, Report, RunOptions, Script, State,
};

/// Gives each buffer to the workers, who write its bytes backwards; some take long, some none.
#[derive(Component, Clone, Debug, Default)]
struct Backwards {
    /// Buffers that are out at most.
    out: u32,
    /// The item that panics, counted from 1.
    panics: u32,
    /// One more is handed over than may be.
    greedy: bool,
    /// The priority of the items.
    priority: u32,
}

impl Element for Backwards {
    const NAME: &'static str = "backwards";
    const SUMMARY: &'static str = "Writes bytes backwards";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Wire;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            tickpipe_systems::field!(Int(0, 100), "out", "Buffers that are out", out),
            tickpipe_systems::field!(Int(0, 100), "panics", "The item that panics", panics),
            tickpipe_systems::field!(Bool, "greedy", "Hands over too much", greedy),
            tickpipe_systems::field!(Int(0, 255), "priority", "The priority", priority),
        ]
    }

    fn outside(&self) -> u32 {
        self.out
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let size = downstream.size.max(4096);
        Ok(Buffers::Own(PoolConfig { size, ..downstream }))
    }

    fn takes_for(&self, _: PadAt, _: &PadCapsOf, outputs: u64, _: usize) -> Option<u64> {
        Some(outputs + u64::from(self.out))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Turning {
            settings: self.clone(),
            handed: 0,
            ended: false,
        }))
    }
}

struct Turning {
    settings: Backwards,
    handed: u32,
    ended: bool,
}

impl Work for Turning {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 && process.granted() > 0 {
            let Some(done) = process.take_done() else {
                break;
            };
            let bytes = *done.result?.downcast::<Vec<u8>>().expect("bytes");
            let mut buffer = process.acquire().expect("it was granted");
            buffer.memory.as_mut_slice()[..bytes.len()].copy_from_slice(&bytes);
            buffer.meta.len = bytes.len();
            buffer.meta.index = done.ticket;
            buffer.meta.pts = i64::try_from(done.ticket).ok();
            buffer.meta.time_base = TimeBase::new(1, 25).expect("valid");
            process.push(0, buffer);
        }
        while self.settings.greedy || process.items_room() > 0 {
            if process.end_is_next(0) {
                self.ended = true;
            }
            let Some(buffer) = process.next(0).and_then(|i| i.as_buffer()) else {
                break;
            };
            let mut bytes = process.bytes(buffer).to_vec();
            self.handed += 1;
            let panics = self.handed == self.settings.panics;
            let spins = (self.handed % 5) * 2_000;
            let item = move || -> Output {
                assert!(!panics, "this one cannot be turned");
                (0..spins).for_each(|n| {
                    std::hint::black_box(n);
                });
                bytes.reverse();
                Box::new(bytes)
            };
            let priority = self.settings.priority as u8;
            let handed = process.hand(priority, 30_000_000, Box::new(item));
            process.release(buffer);
            handed?;
        }
        if self.ended && process.items_out() == 0 {
            process.finish();
        }
        process.wait_for_done(true);
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("handed", self.handed.into());
        visitor.flag("ended", self.ended);
    }
}

fn engine(threads: usize, limits: &[(&str, u64)]) -> Engine {
    let mut set = Limits::default();
    for (name, value) in limits {
        set.set_named(name, *value).expect("in range");
    }
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        limits: set,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<Backwards>().expect("a new name");
    engine
}

fn run(engine: &mut Engine, text: &str, clock: ClockMode) -> Report {
    let (p, _) = engine.launch("main", text).expect("a graph");
    engine.set_clock(p, clock);
    let options = RunOptions {
        record: true,
        digests: true,
        max_ticks: Some(5_000),
    };
    engine.run(p, &options, &mut ())
}

fn times(report: &Report) -> Vec<i64> {
    let frames = report.sinks[0].frames.iter();
    frames.filter_map(|f| f.pts).collect()
}

fn failure(report: &Report) -> Option<(String, String, String)> {
    let told = report.messages.iter().find(|m| m.kind == "error")?;
    Some((
        told.element.clone()?,
        told.domain.clone()?.to_string(),
        told.code.clone()?.to_string(),
    ))
}

const SOURCE: &str = "videotestsrc pattern=snow num-buffers=12 ! \
     video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1";

#[test]
fn the_workers_make_no_difference() {
    for clock in [ClockMode::Free, ClockMode::Virtual] {
        for out in [1, 3] {
            let text = format!("{SOURCE} ! backwards out={out} ! fakesink name=k sync=true");
            let digest = |threads, workers| {
                let report = run(&mut engine(threads, &[("workers", workers)]), &text, clock);
                assert_eq!(report.verdict.name(), "done", "{:?}", report.messages);
                (report.digest.clone(), report.ticks, times(&report))
            };
            let one = digest(1, 1);
            assert_eq!(one.2, (0..12).collect::<Vec<_>>());
            for (threads, workers) in [(1, 2), (2, 1), (4, 8), (1, 1)] {
                assert_eq!(
                    digest(threads, workers),
                    one,
                    "{clock:?} {threads} {workers}"
                );
            }
        }
    }
}

#[test]
fn what_comes_back_is_what_a_worker_made() {
    let plain = run(
        &mut engine(1, &[]),
        &format!("{SOURCE} ! fakesink"),
        ClockMode::Free,
    );
    let twice = format!("{SOURCE} ! backwards out=2 ! backwards out=3 ! fakesink");
    let twice = run(&mut engine(1, &[]), &twice, ClockMode::Free);
    let hashes = |r: &Report| -> Vec<String> {
        let frames = r.sinks[0].frames.iter();
        frames.map(|f| f.hash.clone()).collect()
    };
    assert_eq!(hashes(&plain), hashes(&twice));
    let once = format!("{SOURCE} ! backwards out=2 ! fakesink");
    let once = run(&mut engine(1, &[]), &once, ClockMode::Free);
    let same = hashes(&plain).into_iter().zip(hashes(&once));
    assert_eq!(same.filter(|(a, b)| a == b).count(), 0);
}

/// The latest virtual time at which a sink took something.
struct Watch(Vec<i64>);

impl Script for Watch {
    fn before(&mut self, _engine: &mut Engine, _pipeline: PipelineHandle, _tick: u64) {}

    fn is_over(&self) -> bool {
        true
    }

    fn after(&mut self, engine: &Engine, pipeline: PipelineHandle) {
        let taken = engine.taken(pipeline) as usize;
        self.0.resize(taken, engine.now(pipeline));
    }
}

/// When each buffer reached a sink that does not keep time, in milliseconds of virtual time.
fn arrivals(text: &str) -> Vec<i64> {
    let mut engine = engine(1, &[]);
    let (p, _) = engine.launch("main", text).expect("a graph");
    engine.set_clock(p, ClockMode::Virtual);
    let mut watch = Watch(Vec::new());
    let report = engine.run_script(p, &RunOptions::default(), &mut (), &mut watch);
    assert_eq!(report.verdict.name(), "done");
    watch.0.iter().map(|ns| ns / 1_000_000).collect()
}

#[test]
fn in_virtual_time_each_takes_as_long_as_it_is_said_to() {
    let text =
        |out| format!("fakesrc num-buffers=6 sizetype=2 ! work time=40ms outside={out} ! fakesink");
    // Those of one tick come together, one after the other where only one is out.
    assert_eq!(arrivals(&text(1)), [40, 80, 120, 160, 200, 240]);
    assert_eq!(arrivals(&text(2)), [40, 40, 80, 80, 120, 120]);
    assert_eq!(arrivals(&text(6)), [40, 40, 40, 40, 40, 40]);
    assert_eq!(arrivals(&text(0)), [40, 80, 120, 160, 200, 240]);
}

/// What the fast sink had when the slow one got its second buffer.
#[derive(Default)]
struct Meanwhile {
    fast: Option<u64>,
}

impl Script for Meanwhile {
    fn before(&mut self, _engine: &mut Engine, _pipeline: PipelineHandle, _tick: u64) {}

    fn is_over(&self) -> bool {
        true
    }

    fn after(&mut self, engine: &Engine, pipeline: PipelineHandle) {
        let report = engine.report(pipeline);
        let taken = |name: &str| {
            let sink = report.sinks.iter().find(|s| s.name == name);
            sink.map_or(0, |s| s.buffers)
        };
        // The first one is waited for in PAUSED.
        if taken("slow") > 1 {
            self.fast.get_or_insert(taken("fast"));
        }
    }
}

#[test]
fn in_real_time_the_rest_goes_on_and_nobody_spins() {
    let text = "fakesrc num-buffers=200 ! fakesink name=fast \
         fakesrc num-buffers=3 ! work time=60ms outside=1 ! fakesink name=slow async=false";
    let mut engine = engine(1, &[]);
    let (p, _) = engine.launch("main", text).expect("a graph");
    engine.set_clock(p, ClockMode::Wall);
    let mut meanwhile = Meanwhile::default();
    let report = engine.run_script(p, &RunOptions::default(), &mut (), &mut meanwhile);
    assert_eq!(report.verdict.name(), "done", "{report:?}");
    let buffers: Vec<u64> = report.sinks.iter().map(|s| s.buffers).collect();
    assert_eq!(buffers.iter().sum::<u64>(), 203);
    // A ninth of a second of waiting, and hardly more ticks than 200 buffers take.
    assert!(report.ticks < 150, "{}", report.ticks);
    assert_eq!(meanwhile.fast, Some(200));
}

/// In PAUSED no real time passes: who waits for time there does not wait for who waits for something else.
#[test]
fn in_paused_time_does_not_wait_for_what_comes_from_outside() {
    let mut engine = engine(1, &[]);
    let text = "fakesrc num-buffers=2 ! work time=3600s ! fakesink name=a \
         appsrc name=s blocksize=4 ! fakesink name=b";
    let (p, _) = engine.launch("main", text).expect("a graph");
    let s = engine.element(p, "s").expect("it is there");
    let s = engine.app_source(s).expect("an appsrc");
    engine.set_clock(p, ClockMode::Wall);
    engine.set_state(p, State::Paused);
    (0..12).for_each(|_| engine.tick());
    s.push_bytes(&[1], None).expect("room");
    engine
        .wait_for_state(p, State::Paused)
        .expect("both are there");
    assert!(engine.now(p) >= 3_600_000_000_000, "{}", engine.now(p));
}

/// The order in which results were taken is what a run took from outside: it is kept.
#[test]
fn in_real_time_what_was_taken_is_kept_in_order() {
    let mut engine = engine(1, &[("workers", 3)]);
    let text = "fakesrc num-buffers=9 ! work name=w time=2ms outside=3 ! fakesink";
    let (p, _) = engine.launch("main", text).expect("a graph");
    engine.set_clock(p, ClockMode::Wall);
    engine.observe(p, false, true);
    engine.set_state(p, State::Playing);
    engine.wait(p, tickpipe::MessageMask::EOS).expect("it ends");
    let taken = engine.taken_outside(p);
    assert_eq!(taken.len(), 1);
    let (name, taken) = &taken[0];
    assert_eq!(name, "w");
    assert!(taken.is_sorted_by_key(|t| t.tick), "{taken:?}");
    let mut tickets: Vec<u64> = taken.iter().map(|t| t.ticket).collect();
    tickets.sort_unstable();
    assert_eq!(tickets, (0..9).collect::<Vec<_>>());
}

#[test]
fn an_item_that_panics_fails_its_element_and_no_other_pipeline() {
    let text = format!("{SOURCE} ! backwards out=3 panics=5 name=b ! fakesink");
    let mut engine = engine(1, &[]);
    let report = run(&mut engine, &text, ClockMode::Free);
    assert_eq!(report.verdict.name(), "failed");
    assert_eq!(
        failure(&report),
        Some(("b".into(), "core".into(), "panic".into()))
    );
    // Those before it went their way.
    assert_eq!(times(&report), [0, 1, 2, 3]);
    let good = format!("{SOURCE} ! backwards out=3 ! fakesink");
    let (p, _) = engine.launch("other", &good).expect("a graph");
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "done");
}

#[test]
fn more_than_may_be_is_refused_by_name() {
    let text = format!("{SOURCE} ! backwards out=3 name=b ! fakesink");
    let mut small = engine(1, &[("work-items", 2)]);
    let (p, _) = small.launch("main", &text).expect("a graph");
    let refused = small.plan(p).expect_err("too many");
    assert_eq!(
        refused.to_string(),
        "b: items of work of b that are out: 3 is past the limit work-items=2 (raise it with \
         --limit work-items=N) (pool/limit)"
    );
    for (settings, code) in [
        ("out=2 greedy=true", "limit"),
        ("out=2 priority=8", "limit"),
        ("out=0 greedy=true", "limit"),
    ] {
        let text = format!("{SOURCE} ! backwards {settings} name=b ! fakesink");
        let report = run(&mut engine(1, &[]), &text, ClockMode::Free);
        assert_eq!(report.verdict.name(), "failed", "{settings}");
        assert_eq!(
            failure(&report),
            Some(("b".into(), "core".into(), code.into())),
            "{settings}"
        );
    }
    let text = format!("{SOURCE} ! backwards out=2 priority=8 ! fakesink");
    let mut more = engine(1, &[("work-priorities", 9)]);
    assert_eq!(
        run(&mut more, &text, ClockMode::Free).verdict.name(),
        "done"
    );
}

#[test]
fn a_stop_with_items_out_leaves_nothing_behind() {
    let text = format!("{SOURCE} ! backwards out=4 ! work outside=3 time=10ms ! fakesink");
    for clock in [ClockMode::Free, ClockMode::Virtual] {
        for ticks in 0..12 {
            let mut engine = engine(1, &[]);
            let (p, _) = engine.launch("main", &text).expect("a graph");
            engine.set_clock(p, clock);
            engine.set_state(p, State::Playing);
            (0..ticks).for_each(|_| engine.tick());
            engine.set_state(p, State::Ready);
            engine.wait_for_state(p, State::Ready).expect("it stops");
            // And again, from the first buffer on.
            let report = engine.run(
                p,
                &RunOptions {
                    record: true,
                    ..RunOptions::default()
                },
                &mut (),
            );
            assert_eq!(report.verdict.name(), "done", "{clock:?} {ticks}");
            assert_eq!(
                times(&report),
                (0..12).collect::<Vec<_>>(),
                "{clock:?} {ticks}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_graph_of_them_gives_all_in_order(
        outs in proptest::collection::vec(1u32..5, 1..4),
        workers in 1u64..5,
        quantum in 1u64..6,
        buffers in 0u32..20,
        time in 0u32..90,
        virtual_time: bool,
        flush in 0u64..30,
    ) {
        let chain: String = outs.iter().map(|out| format!(" ! work outside={out} time={time}ms")).collect();
        let text = format!(
            "videotestsrc num-buffers={buffers} ! video/x-raw,format=GRAY8,width=8,height=8,\
             framerate=25/1{chain} ! fakesink name=k"
        );
        let clock = if virtual_time { ClockMode::Virtual } else { ClockMode::Free };
        let limits = [("workers", workers), ("quantum", quantum)];
        let all = run(&mut engine(1, &limits), &text, clock);
        prop_assert_eq!(all.verdict.name(), "done");
        prop_assert_eq!(times(&all), (0..i64::from(buffers)).collect::<Vec<_>>());
        // What is discarded on the way is gone, the rest comes in order.
        let mut engine = engine(1, &limits);
        let (p, _) = engine.launch("main", &text).expect("a graph");
        engine.set_clock(p, clock);
        let mut script = FlushAt(Some(flush));
        let options = RunOptions { record: true, max_ticks: Some(5_000), ..RunOptions::default() };
        let report = engine.run_script(p, &options, &mut (), &mut script);
        prop_assert_eq!(report.verdict.name(), "done");
        prop_assert!(times(&report).is_sorted());
    }
}

struct FlushAt(Option<u64>);

impl Script for FlushAt {
    fn before(&mut self, engine: &mut Engine, pipeline: PipelineHandle, tick: u64) {
        if self.0.is_some_and(|at| at <= tick) {
            self.0 = None;
            engine.flush(pipeline, None, tickpipe::Flush::Discard);
        }
    }

    fn is_over(&self) -> bool {
        self.0.is_none()
    }
}
