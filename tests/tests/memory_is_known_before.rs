//! What a plan says that a graph takes in memory is what it takes, counted at the allocator: from the
//! launch text to a run in steady state.

#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};
use tickpipe::{Engine, EngineOptions, Limits, State};

struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size as i64 - layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What is planned, and what is taken once the graph has run for a while.
fn planned_and_taken(text: &str) -> (u64, i64) {
    let mut limits = Limits::default();
    limits.set_named("pool-buffers", 65_536).expect("in range");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        check: Some(false),
        ..EngineOptions::default()
    })
    .expect("an engine");
    // What the first pipeline of an engine makes for all is not the graph's.
    let (first, _) = engine
        .launch("first", "fakesrc ! fakesink")
        .expect("a graph");
    engine.set_state(first, State::Playing);
    engine.advance(0..1, 10);
    let before = LIVE.load(Ordering::Relaxed);
    let (pipeline, _) = engine
        .launch("main", text)
        .map_err(|e| e.render(text))
        .expect("a graph");
    let planned = engine.plan(pipeline).expect("a plan").memory.total();
    engine.set_state(pipeline, State::Playing);
    engine.advance(1..2, 200);
    (planned, LIVE.load(Ordering::Relaxed) - before)
}

fn main() {
    let chain = format!("fakesrc{} ! fakesink", " ! identity".repeat(3_000));
    let tee = format!(
        "fakesrc ! tee name=t{}",
        " t. ! queue ! fakesink".repeat(300)
    );
    let mut graphs = vec![
        chain.as_str(),
        &tee,
        "fakesrc min-buffers=60000 ! fakesink",
        "fakesrc sizetype=fixed sizemax=100000 min-buffers=100 ! hold buffers=50 ! fakesink",
    ];
    if cfg!(feature = "video") {
        graphs.extend([
            "videotestsrc ! video/x-raw,width=1280,height=720 ! hold buffers=20 ! fakesink",
            "videotestsrc ! video/x-raw,format=I420,width=640,height=480 ! videoscale ! video/x-raw,width=1920,height=1080 ! fakesink",
            "videotestsrc ! video/x-raw,format=RGB,width=640,height=480 ! videoconvert ! video/x-raw,format=NV12 ! tee name=t ! fakesink t. ! fakesink hold=9",
        ]);
    }
    for text in graphs {
        let (planned, taken) = planned_and_taken(text);
        let start: String = text.chars().take(70).collect();
        println!("{planned:>10} planned, {taken:>10} taken: {start}");
        let (planned, taken) = (planned as f64, taken as f64);
        assert!(
            taken <= planned * 1.05 + 65_536.0,
            "more is taken than planned"
        );
        assert!(
            planned <= taken * 1.6 + 65_536.0,
            "far less is taken than planned"
        );
    }
    println!("test result: ok. memory is known before");
}
