//! Pools and stalls: what a buffer costs to take and give back, what things take in memory, and
//! what it costs to notice in each tick whether anybody can go on.
//!
//! `cargo bench -p tickpipe-benches --bench pools`
//!
//! Medians of nine repetitions that alternate with the peers'. Memory is what the process grows by
//! (resident pages), for many of a kind. Allocations of a tick are counted by the test
//! `steady_state_allocates_nothing`: there are none.

#[path = "negotiation/peer.rs"]
mod peer;

use peer::Peer;
use std::hint::black_box;
use std::time::Instant;
use tickpipe::components::fabric::BufferTable;
use tickpipe::components::id::LaneId;
use tickpipe::components::pool::{Heap, PoolConfig};
use tickpipe::{Engine, EngineOptions, Limits, PipelineHandle, State};

const REPETITIONS: usize = 9;

fn main() {
    // A figure of memory is taken in a process of its own: what was used before is used again.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [figure, count] = words.as_slice()
        && let Ok(count) = count.parse()
    {
        return println!("{}", alone(figure, count));
    }
    let gstreamer = Peer::build(
        "pool",
        &["gstreamer-1.0", "gstreamer-video-1.0"],
        "GStreamer's pool",
    );
    let libav = Peer::build("pool_av", &["libavutil"], "libavutil's pool");
    for peer in [&gstreamer, &libav].into_iter().flatten() {
        println!("beside {}", peer.version);
    }
    println!("\nacquire and release, nanoseconds a buffer (median, least, most)");
    for out in [1usize, 4] {
        let mut own = Vec::new();
        let mut gst = Vec::new();
        let mut av = Vec::new();
        for _ in 0..REPETITIONS {
            own.push(acquire_and_release(out));
            let figure = |peer: &Result<Peer, String>| {
                let figure = peer
                    .as_ref()
                    .ok()?
                    .run(&["acquire", &out.to_string()], 1)
                    .ok()?;
                figure.first().copied()
            };
            gst.extend(figure(&gstreamer));
            av.extend(figure(&libav));
        }
        println!("  {out} out at once, 720p");
        for (name, figures) in [("tickpipe", own), ("GStreamer", gst), ("libavutil", av)] {
            if let Some((median, least, most)) = spread(figures) {
                println!("    {name:<10} {median:8.1} [{least:.1}, {most:.1}]");
            }
        }
    }
    memory();
    println!("\na tick in which nobody can go on, nanoseconds");
    for elements in [10, 1_000, 100_000] {
        println!("  {elements:>7} elements: {:9.1}", idle_tick(elements));
    }
    println!("\na stall told with its chains, microseconds, once");
    for elements in [10, 1_000] {
        println!("  {elements:>7} elements: {:9.1}", told(elements));
    }
}

fn spread(mut figures: Vec<f64>) -> Option<(f64, f64, f64)> {
    figures.sort_by(f64::total_cmp);
    let median = figures.get(figures.len() / 2)?;
    Some((*median, *figures.first()?, *figures.last()?))
}

/// Takes `out` buffers of a pool and gives them back, again and again.
fn acquire_and_release(out: usize) -> f64 {
    let mut table = BufferTable::default();
    let pool = table.add_pool(LaneId(0), Box::new(Heap));
    let config = PoolConfig {
        size: 1280 * 720 * 3 / 2,
        align: 32,
        count: 4,
        ..PoolConfig::default()
    };
    if table.configure(pool, config).is_err() || table.commit(pool).is_err() {
        return f64::NAN;
    }
    let rounds = 4_000_000 / out;
    let mut taken = Vec::with_capacity(out);
    let start = Instant::now();
    for tick in 0..rounds {
        for _ in 0..out {
            taken.extend(table.acquire(black_box(pool), LaneId(0), tick as u64));
        }
        for buffer in taken.drain(..) {
            let _ = black_box(table.release(buffer, |_| {}));
        }
    }
    start.elapsed().as_nanos() as f64 / (rounds * out) as f64
}

/// Bytes of this process that are in memory.
fn resident() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|p| p.parse().ok());
    pages.unwrap_or(0.0) * 4096.0
}

fn started(text: &str, limits: Limits) -> Option<(Engine, PipelineHandle)> {
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        ..EngineOptions::default()
    })
    .ok()?;
    let (pipeline, _) = engine.launch("main", text).ok()?;
    engine.set_state(pipeline, State::Playing);
    engine.advance(0..1, 4);
    Some((engine, pipeline))
}

/// What a graph of so many of a kind makes the process grow by.
fn alone(figure: &str, count: usize) -> f64 {
    let mut limits = Limits::default();
    let text = match figure {
        "chain" => format!(
            "fakesrc num-buffers=0{} ! fakesink",
            " ! identity".repeat(count)
        ),
        "tee" => format!(
            "fakesrc num-buffers=0 ! tee name=t{}",
            " t. ! fakesink".repeat(count)
        ),
        "buffers" => {
            for (name, value) in [("pool-buffers", 65_536), ("pool-slack-bytes", 0)] {
                let _ = limits.set_named(name, value);
            }
            format!("fakesrc num-buffers=0 min-buffers={count} ! fakesink")
        }
        "idle" => return idle_tick(count),
        _ => return f64::NAN,
    };
    // The first pipeline of a process makes what all share.
    drop(black_box(started(
        "fakesrc num-buffers=0 ! fakesink",
        Limits::default(),
    )));
    let before = resident();
    let graph = started(&text, limits);
    let grown = resident() - before;
    drop(black_box(graph));
    grown
}

/// The growth by one more of a kind, between two numbers of them.
fn each(figure: &str, few: usize, many: usize) -> f64 {
    let take = |count: usize| -> Option<f64> {
        let program = std::env::current_exe().ok()?;
        let output = std::process::Command::new(program)
            .args([figure, &count.to_string()])
            .output()
            .ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    match (take(few), take(many)) {
        (Some(less), Some(more)) => (more - less) / (many - few) as f64,
        _ => f64::NAN,
    }
}

fn memory() {
    println!("\nbytes in memory of a started graph, each");
    println!(
        "  element with two pads and a link  {:8.0}",
        each("chain", 10_000, 60_000)
    );
    println!(
        "  branch of a tee: sink, link, pads {:8.0}",
        each("tee", 100, 1_000)
    );
    println!(
        "  buffer, without its bytes         {:8.0}",
        each("buffers", 5_000, 60_000)
    );
}

/// A pipeline in PAUSED whose sink holds its first buffer: nothing is to be done.
fn idle_tick(elements: usize) -> f64 {
    let text = format!("fakesrc{} ! fakesink", " ! identity".repeat(elements));
    let Some((mut engine, pipeline)) = started(&text, Limits::default()) else {
        return f64::NAN;
    };
    engine.advance(0..1, 4 * elements as u64 + 100);
    engine.set_state(pipeline, State::Paused);
    engine.advance(0..1, 4 * elements as u64 + 100);
    let ticks = 20_000;
    let figures = (0..REPETITIONS).map(|_| {
        let mut start = Instant::now();
        let mut took = 0.0;
        engine.advance_with(0..1, ticks, |done| match done {
            0 => start = Instant::now(),
            _ => took = start.elapsed().as_nanos() as f64 / ticks as f64,
        });
        took
    });
    spread(figures.collect()).map_or(f64::NAN, |s| s.0)
}

/// The report of a chain whose pool an element holds.
fn told(elements: usize) -> f64 {
    let text = format!(
        "fakesrc max-buffers=4{} ! hold buffers=4 declared=false ! fakesink",
        " ! identity".repeat(elements)
    );
    let Some((mut engine, pipeline)) = started(&text, Limits::default()) else {
        return f64::NAN;
    };
    engine.advance(0..1, 4 * elements as u64 + 100);
    let figures = (0..REPETITIONS).map(|_| {
        let start = Instant::now();
        black_box(engine.report(pipeline).stall);
        start.elapsed().as_nanos() as f64 / 1000.0
    });
    spread(figures.collect()).map_or(f64::NAN, |s| s.0)
}
