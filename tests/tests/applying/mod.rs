//! Engines with the application's ends.
#![allow(dead_code, reason = "each test file uses its part")]

use tickpipe::{
    AppError, AppSink, AppSource, Engine, EngineOptions, PipelineHandle, RunOptions, Sample, State,
};

pub fn engine_on(threads: usize) -> Engine {
    Engine::with_options(EngineOptions {
        threads,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine")
}

pub fn engine() -> Engine {
    engine_on(1)
}

pub fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let built = engine.launch("main", text);
    built.map_err(|e| e.render(text)).expect("a graph").0
}

pub fn source(engine: &mut Engine, p: PipelineHandle) -> AppSource {
    let element = engine.element(p, "s").expect("it is there");
    engine.app_source(element).expect("an appsrc")
}

pub fn sink(engine: &mut Engine, p: PipelineHandle) -> AppSink {
    let element = engine.element(p, "k").expect("it is there");
    engine.app_sink(element).expect("an appsink")
}

/// A graph in PLAYING, a few ticks on.
pub fn playing(engine: &mut Engine, text: &str) -> PipelineHandle {
    let p = launch(engine, text);
    engine.set_state(p, State::Playing);
    p
}

pub fn ticks(engine: &mut Engine, count: usize) {
    (0..count).for_each(|_| engine.tick());
}

/// What a report says without frames.
pub fn options() -> RunOptions {
    RunOptions {
        record: true,
        digests: true,
        max_ticks: Some(20_000),
    }
}

pub fn pulled(sample: Result<Option<Sample>, AppError>) -> Option<Vec<u8>> {
    sample.expect("no error").map(|s| s.bytes().to_vec())
}
