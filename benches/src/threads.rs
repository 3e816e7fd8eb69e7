//! From which size a second thread pays: inside one pipeline by the bytes of a frame, and over
//! many pipelines by the elements that run in a tick.
//!
//! `cargo bench -p tickpipe-benches --bench threads`
//!
//! Printed is the time on one thread divided by that on two, in one process, the median of seven
//! pairs: above 1 the second thread pays. The engine decides by two constants, `HEAVY` (bytes of
//! a buffer, `systems/src/allocate/mod.rs`) and `GRAIN` (lanes, `systems/src/pipelines.rs`);
//! below them it does not ask, so there the ratio shows the cost of having threads at all.

use std::time::Instant;
use tickpipe::{Engine, EngineOptions, State};

fn main() {
    println!("one pipeline, two branches that convert each frame; bytes a frame: ratio");
    for side in [16, 32, 64, 96, 128, 192, 256, 512, 1024] {
        let text = format!(
            "videotestsrc pattern=black ! video/x-raw,format=I420,width={side},height={side} ! tee name=t \
             t. ! queue ! videoconvert ! video/x-raw,format=RGBA ! fakesink \
             t. ! queue ! videoconvert ! video/x-raw,format=BGRA ! fakesink"
        );
        let ticks = (40_000_000 / (side * side * 40)).clamp(20, 4_000) as u64;
        println!(
            "  {:>8}: {:.2}",
            side * side * 3 / 2,
            ratio(&text, 1, ticks)
        );
    }
    println!("many pipelines of `fakesrc ! identity ! fakesink`; elements a tick: ratio");
    for count in [10, 40, 100, 170, 340, 680, 1_400, 3_000] {
        let text = "fakesrc ! identity ! fakesink";
        let ticks = (2_000_000 / (count * 3)).clamp(50, 20_000) as u64;
        println!("  {:>8}: {:.2}", count * 3, ratio(text, count, ticks));
    }
}

/// Time on one thread over time on two.
fn ratio(text: &str, pipelines: usize, ticks: u64) -> f64 {
    let mut ratios: Vec<f64> = (0..7)
        .filter_map(|_| Some(time(text, pipelines, ticks, 1)? / time(text, pipelines, ticks, 2)?))
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}

fn time(text: &str, pipelines: usize, ticks: u64, threads: usize) -> Option<f64> {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        ..EngineOptions::default()
    })
    .ok()?;
    for i in 0..pipelines {
        let (pipeline, _) = engine.launch(&format!("p{i}"), text).ok()?;
        engine.set_state(pipeline, State::Playing);
    }
    engine.advance(0..pipelines, 20);
    let mut start = Instant::now();
    let mut elapsed = 0.0;
    engine.advance_with(0..pipelines, ticks, |done| match done {
        0 => start = Instant::now(),
        _ => elapsed = start.elapsed().as_secs_f64(),
    });
    Some(elapsed)
}
