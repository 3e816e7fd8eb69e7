//! Nanoseconds per hop: 1, 1,000 and 10,000 chains of 10 `identity` at 1, 4 and 16 buffers a
//! tick, on one thread and on two, and GStreamer's own line beside it where it is installed.
//!
//! `cargo bench -p tickpipe-benches --bench hops [-- --quick]`
//!
//! A hop is one buffer through one link: a chain of `fakesrc`, 10 `identity` and `fakesink` has
//! 11. Each figure is the median of five runs of the same engine in steady state; the spread is
//! the lowest and highest of them. The machine's load is printed, as figures across threads
//! depend on it.

use std::process::Command;
use std::time::Instant;
use tickpipe::{Engine, EngineOptions, Limit, Limits, State};

const IDENTITIES: usize = 10;
const HOPS: usize = IDENTITIES + 1;
const RUNS: usize = 5;

struct Figure {
    median: f64,
    low: f64,
    high: f64,
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    // One case alone, for a profiler: `--one CHAINS BUFFERS THREADS`.
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--one") {
        let number = |i: usize| {
            arguments
                .get(at + i)
                .and_then(|a| a.parse().ok())
                .unwrap_or(1)
        };
        match measure(number(1), number(2) as u64, number(3), true) {
            Ok(f) => println!("{:.1} ns/hop ({:.1}..{:.1})", f.median, f.low, f.high),
            Err(error) => println!("{error}"),
        }
        return;
    }
    let chains: &[usize] = if quick {
        &[1, 1_000]
    } else {
        &[1, 1_000, 10_000]
    };
    println!(
        "tickpipe {}, {} identity a chain; load {}",
        env!("CARGO_PKG_VERSION"),
        IDENTITIES,
        load()
    );
    println!("chains  buffers/tick  threads  ns/hop (low..high)  million hops/s");
    for &count in chains {
        for quantum in [1, 4, 16] {
            for threads in [1, 2] {
                match measure(count, quantum, threads, quick) {
                    Ok(f) => println!(
                        "{count:>6}  {quantum:>12}  {threads:>7}  {:>6.1} ({:.1}..{:.1})  {:>10.1}",
                        f.median,
                        f.low,
                        f.high,
                        1e3 / f.median
                    ),
                    Err(error) => println!("{count} chains: {error}"),
                }
            }
        }
    }
    gstreamer(if quick { 100_000 } else { 1_000_000 });
}

fn measure(
    chains: usize,
    quantum: u64,
    threads: usize,
    quick: bool,
) -> Result<Figure, Box<dyn std::error::Error>> {
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum)?;
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        limits,
        ..EngineOptions::default()
    })?;
    let identities = "identity ! ".repeat(IDENTITIES);
    let text = format!("fakesrc ! {identities}fakesink");
    let mut pipelines = Vec::with_capacity(chains);
    for i in 0..chains {
        let (pipeline, _) = engine.launch(&format!("chain{i}"), &text)?;
        engine.set_state(pipeline, State::Playing);
        pipelines.push(pipeline);
    }
    // Start, then fill the chains.
    engine.advance(0..chains, 40);
    let budget: usize = std::env::var("TICKPIPE_BENCH_HOPS")
        .ok()
        .and_then(|hops| hops.parse().ok())
        .unwrap_or(if quick { 4_000_000 } else { 20_000_000 });
    let ticks = (budget / (chains * HOPS * quantum as usize)).max(20) as u64;
    let taken = |engine: &Engine| -> u64 {
        let of = |p: &tickpipe::PipelineHandle| engine.taken(*p);
        pipelines.iter().map(of).sum()
    };
    let mut figures = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let before = taken(&engine);
        let mut elapsed = 0.0;
        let mut start = Instant::now();
        engine.advance_with(0..chains, ticks, |done| match done {
            0 => start = Instant::now(),
            _ => elapsed = start.elapsed().as_secs_f64(),
        });
        let buffers = taken(&engine) - before;
        let expected = ticks * chains as u64 * quantum;
        if buffers < expected * 9 / 10 {
            return Err(format!("only {buffers} of {expected} buffers moved").into());
        }
        figures.push(elapsed * 1e9 / (buffers * HOPS as u64) as f64);
    }
    figures.sort_by(f64::total_cmp);
    Ok(Figure {
        median: figures[RUNS / 2],
        low: figures[0],
        high: figures[RUNS - 1],
    })
}

/// The machine's load, as the system tells it.
fn load() -> String {
    std::fs::read_to_string("/proc/loadavg")
        .map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" "))
        .unwrap_or_else(|_| "unknown".to_owned())
}

/// GStreamer's own line with and without the ten `identity`: the difference is their hops.
fn gstreamer(buffers: u32) {
    let version = Command::new("gst-launch-1.0").arg("--version").output();
    let Ok(version) = version else {
        println!("gst-launch-1.0 is not installed: no figure beside");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.lines().nth(1).unwrap_or("GStreamer").to_owned();
    let time = |identities: usize, buffers: u32| -> Option<f64> {
        let mut line = vec![
            "-q".to_owned(),
            "fakesrc".into(),
            format!("num-buffers={buffers}"),
        ];
        line.extend(["silent=true".to_owned(), "!".into()]);
        for _ in 0..identities {
            line.extend(["identity".to_owned(), "silent=true".into(), "!".into()]);
        }
        line.extend([
            "fakesink".to_owned(),
            "silent=true".into(),
            "sync=false".into(),
        ]);
        let start = Instant::now();
        let status = Command::new("gst-launch-1.0").args(line).status().ok()?;
        status.success().then(|| start.elapsed().as_secs_f64())
    };
    let median = |identities: usize| -> Option<f64> {
        // Start-up is taken out by a run of few buffers.
        let mut runs = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            runs.push(time(identities, buffers)? - time(identities, 10)?);
        }
        runs.sort_by(f64::total_cmp);
        Some(runs[RUNS / 2])
    };
    match (median(IDENTITIES), median(0)) {
        (Some(with), Some(without)) => println!(
            "{version}, gst-launch-1.0, one chain, {buffers} buffers: {:.1} ns/hop (median of {RUNS})",
            (with - without) * 1e9 / (f64::from(buffers) * IDENTITIES as f64)
        ),
        _ => println!("{version}: the line did not run"),
    }
}
