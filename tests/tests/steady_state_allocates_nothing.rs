//! A tick in steady state allocates nothing: 1,000 ticks of each graph, counted.

#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use tickpipe::{Engine, EngineOptions, MessageMask, State};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of 1,000 ticks after 200 ticks of warming up, and the buffers that moved.
fn count(text: &str, threads: usize) -> (u64, u64) {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    engine.set_state(pipeline, State::Playing);
    engine
        .wait_for_state(pipeline, State::Playing)
        .expect("it starts");
    while engine.next_message(pipeline, MessageMask::all()).is_some() {}
    let taken = |engine: &Engine| -> u64 {
        let report = engine.report(pipeline);
        report.sinks.iter().map(|s| s.buffers).sum()
    };
    engine.advance(0..1, 200);
    // A thread that helps for the first time sets up its own queue once, at a tick that nobody
    // can foretell; a tick that allocates does so in each of the three measurements.
    let mut fewest = (u64::MAX, 0);
    for _ in 0..3 {
        let moved = taken(&engine);
        let mut spent = 0;
        engine.advance_with(0..1, 1000, |ticks| {
            let so_far = ALLOCATIONS.load(Ordering::Relaxed);
            spent = if ticks == 0 { so_far } else { so_far - spent };
        });
        fewest = fewest.min((spent, taken(&engine) - moved));
        if spent == 0 {
            break;
        }
    }
    fewest
}

const CHAIN: &str = "fakesrc ! identity ! identity ! identity ! identity ! identity ! identity ! identity ! identity ! fakesink";
const TEE: &str =
    "fakesrc ! tee name=t t. ! queue ! fakesink t. ! identity ! fakesink t. ! fakesink";
#[cfg(feature = "video")]
const OVERLAY: &str = "videotestsrc ! video/x-raw,format=I420,width=64,height=64 ! overlay name=mix x=2 y=2 ! fakesink videotestsrc pattern=ball ! video/x-raw,width=16,height=16,framerate=25/1 ! mix.";
#[cfg(feature = "video")]
const TEE_OVERLAY: &str = "videotestsrc ! video/x-raw,format=I420,width=64,height=64 ! tee name=t t. ! overlay name=mix x=2 y=2 ! fakesink videotestsrc pattern=ball ! video/x-raw,width=16,height=16,framerate=25/1 ! mix. t. ! fakesink";
#[cfg(feature = "video")]
const CONVERT: &str = "videotestsrc ! video/x-raw,format=I420,width=64,height=64 ! videoconvert ! video/x-raw,format=RGBA ! fakesink";

const KEPT: &str = "fakesrc ! hold buffers=5 ! skip every=4 ! poolsink hold=3";
const QUEUED: &str = "fakesrc sizetype=fixed sizemax=100000 min-buffers=40 ! queue max-size-bytes=1000000 min-threshold-buffers=4 ! delay buffers=3 ! tee name=t t. ! valve ! fakesink t. ! queue max-size-time=100 ! output-selector name=o o. ! fakesink o. ! fakesink";
const SELECTED: &str =
    "input-selector name=s sync-streams=false ! watch ! fakesink fakesrc ! s. fakesrc ! s.";
const JOINED: &str = "join name=j ! fakesink fakesrc ! tee name=t t. ! hold buffers=9 ! j. t. ! skip every=3 ! j. silentsrc may-be-silent=true ! j.";
const STARVED: &str =
    "poolsrc num-buffers=-1 max-buffers=3 ! identity ! hold buffers=1 declared=false ! fakesink";
#[cfg(all(feature = "video", feature = "file"))]
const ENCODED: &str =
    "videotestsrc max-buffers=2 ! video/x-raw,width=16,height=16 ! y4menc max-buffers=2 ! fakesink";

/// Without the test runner, whose threads allocate too: the count is of the whole process.
fn main() {
    a_thousand_ticks_of_each_graph();
    println!("test result: ok. 1 passed; 0 failed");
}

fn a_thousand_ticks_of_each_graph() {
    let graphs = [
        CHAIN,
        TEE,
        KEPT,
        JOINED,
        QUEUED,
        SELECTED,
        STARVED,
        #[cfg(all(feature = "video", feature = "file"))]
        ENCODED,
        #[cfg(feature = "video")]
        OVERLAY,
        #[cfg(feature = "video")]
        TEE_OVERLAY,
        #[cfg(feature = "video")]
        CONVERT,
    ];
    for threads in [1, 2] {
        for text in graphs {
            let (allocations, buffers) = count(text, threads);
            assert!(buffers >= 400, "only {buffers} buffers moved in `{text}`");
            assert_eq!(allocations, 0, "`{text}` with {threads} threads");
        }
    }
}
