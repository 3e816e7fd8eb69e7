//! Runs of graphs with an element `remote`, for tests of it: frames, digests of every tick, the fault.
#![allow(dead_code, reason = "each test uses its own part")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tickpipe::components::fabric::PipelineFabric;
use tickpipe::{ClockMode, Engine, EngineOptions, PipelineHandle, Report, RunOptions, Script};
use tickpipe_tests::faulty::Faulty;

/// The program that is the child.
pub const CHILD: &str = env!("CARGO_BIN_EXE_remote_child");

/// A run and what is known of it.
pub struct Run {
    /// Its report.
    pub report: Report,
    /// The digests of its ticks.
    pub ticks: Vec<u64>,
    /// The state after each tick.
    pub states: Vec<String>,
    /// The first sentence about a failure, with its domain and code; of a run on one thread.
    pub fault: Option<String>,
}

impl Run {
    /// Times and hashes of what the sink `out` took.
    pub fn frames(&self) -> Vec<(Option<i64>, String)> {
        let sinks = self.report.sinks.iter().filter(|s| s.name == "out");
        sinks
            .flat_map(|s| s.frames.iter().map(|f| (f.pts, f.hash.clone())))
            .collect()
    }

    /// What happened to buffers, in order of the elements.
    pub fn occurrences(&self) -> Vec<(String, String, u64)> {
        let all = self.report.elements.iter().flat_map(|e| &e.occurrences);
        all.map(|t| (t.reason.to_string(), t.deed.to_string(), t.count))
            .collect()
    }

    /// The same of the elements of a kind.
    pub fn tally(&self, kind: &str) -> Vec<(String, String, u64)> {
        let of = self
            .report
            .elements
            .iter()
            .filter(|e| e.name.starts_with(kind));
        of.flat_map(|e| &e.occurrences)
            .map(|t| (t.reason.to_string(), t.deed.to_string(), t.count))
            .collect()
    }

    /// Buffers that the elements of a kind dropped, by reason; others than those that nobody wanted when
    /// the run failed.
    pub fn dropped(&self, kind: &str) -> Vec<(String, u64)> {
        let rows = self.tally(kind).into_iter();
        rows.filter(|row| row.1 == "dropped" && row.0 != "not-wanted")
            .map(|row| (row.0, row.2))
            .collect()
    }

    /// The warnings on the bus.
    pub fn warnings(&self) -> Vec<String> {
        let all = self.report.messages.iter();
        let json = all.map(|m| serde_json::to_value(m).expect("a message"));
        json.filter(|m| m["kind"] == "warning")
            .map(|m| {
                let text = |name: &str| m[name].as_str().unwrap_or_default().to_owned();
                format!("{}/{}", text("domain"), text("code"))
            })
            .collect()
    }
}

/// Rows of a tally.
pub fn told(rows: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    let row = |r: &(&str, &str, u64)| (r.0.to_owned(), r.1.to_owned(), r.2);
    rows.iter().map(row).collect()
}

/// The text of a `remote` with the tests' own child.
pub fn remote(transform: &str, settings: &str) -> String {
    format!("remote program={CHILD} transform=\"{transform}\" {settings}")
}

/// A folder of a test, removed when it ends.
pub struct Folder(PathBuf);

impl Folder {
    /// The path of a file in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A folder of a test's own.
pub fn scratch(name: &str) -> Folder {
    let folder =
        std::env::temp_dir().join(format!("tickpipe-remote-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    Folder(folder)
}

struct Digests {
    digests: Vec<u64>,
    states: Vec<String>,
}

impl tickpipe::Observer for Digests {
    fn tick(&mut self, pipeline: &PipelineFabric) {
        self.digests.push(pipeline.digest);
        self.states.push(state_of(pipeline));
    }
}

/// What a digest covers, as text; but not which graph it is of, nor the elements' own state.
fn state_of(p: &PipelineFabric) -> String {
    use std::fmt::Write;
    let mut text = format!("{} {} {:?}", p.tick, p.now, p.progress);
    for l in &p.lanes {
        let _ = write!(
            text,
            "\n{} {:?} {} {} {:?} {:?} {} {} {:?}",
            l.element,
            l.readiness,
            l.done,
            l.dropped,
            l.room_for,
            l.extras.kept,
            l.again,
            l.device,
            l.extras.wake_at,
        );
        for i in &l.inputs {
            let queued: Vec<_> = i.queue.iter().collect();
            let _ = write!(text, " in {queued:?} {} {}", i.eos, i.taken);
        }
        for o in &l.outputs {
            let _ = write!(text, " out {} {}", o.eos, o.emitted);
        }
    }
    let b = &p.buffers;
    for (n, meta) in b.meta.iter().enumerate().filter(|m| b.refs[m.0] > 0) {
        let _ = write!(
            text,
            "\n{n} {} {meta:?} {:x} {:?}",
            b.refs[n], b.payload[n], b.shows[n]
        );
    }
    for pool in &b.pools {
        let _ = write!(text, "\n{:?}", pool.free.words());
    }
    text
}

/// Keeps sentences about failures.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Sentence {
    message: String,
    domain: String,
    code: String,
}

impl tracing::field::Visit for Sentence {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        match field.name() {
            "domain" => value.clone_into(&mut self.domain),
            "code" => value.clone_into(&mut self.code),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

impl tracing::Subscriber for Told {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _span: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut s = Sentence::default();
        event.record(&mut s);
        let text = format!("{} ({}/{})", s.message, s.domain, s.code);
        self.0.lock().expect("nobody panics").push(text);
    }

    fn enter(&self, _span: &tracing::span::Id) {}

    fn exit(&self, _span: &tracing::span::Id) {}
}

/// An engine with the element `faulty`, that checks what always holds.
pub fn engine(threads: usize) -> Engine {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<Faulty>().expect("no name is taken");
    engine
}

/// Runs a line on one thread.
pub fn run(text: &str) -> Run {
    run_on(text, 1)
}

/// Runs a line.
pub fn run_on(text: &str, threads: usize) -> Run {
    run_script(text, threads, ClockMode::Free, None, |_, _| {})
}

/// What is done to a pipeline before a tick.
struct At<F> {
    tick: Option<u64>,
    deed: F,
}

impl<F: FnMut(&mut Engine, PipelineHandle) + Send> Script for At<F> {
    fn before(&mut self, engine: &mut Engine, pipeline: PipelineHandle, tick: u64) {
        if self.tick.is_some_and(|at| at <= tick) {
            self.tick = None;
            (self.deed)(engine, pipeline);
        }
    }

    fn is_over(&self) -> bool {
        self.tick.is_none()
    }
}

/// Runs a line with a clock, and does something before a tick.
pub fn run_script(
    text: &str,
    threads: usize,
    clock: ClockMode,
    tick: Option<u64>,
    deed: impl FnMut(&mut Engine, PipelineHandle) + Send,
) -> Run {
    let mut engine = engine(threads);
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    engine.set_clock(pipeline, clock);
    let mut digests = Digests {
        digests: Vec::new(),
        states: Vec::new(),
    };
    let options = RunOptions {
        digests: true,
        record: true,
        max_ticks: Some(20_000),
    };
    let told = Told::default();
    let dispatch = tracing::Dispatch::new(told.clone());
    let report = tracing::dispatcher::with_default(&dispatch, || {
        engine.run_script(pipeline, &options, &mut digests, &mut At { tick, deed })
    });
    assert_eq!(report.invariant, None, "{text}");
    assert!(report.pools.iter().all(|p| p.out == 0), "{text}");
    let fault = told.0.lock().expect("nobody panics").first().cloned();
    Run {
        fault,
        report,
        ticks: digests.digests,
        states: digests.states,
    }
}

/// The digests of a run in which a child's element has counted frames.
pub fn digest_of_element(count: u32) -> Vec<u64> {
    run(&format!(
        "videotestsrc num-buffers={count} ! video/x-raw,format=GRAY8,width=4,height=4 ! {} ! fakesink name=out",
        remote("faulty", "")
    ))
    .ticks
}
