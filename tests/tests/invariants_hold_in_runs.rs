//! In runs of graphs of all shapes nothing is found that does not hold, and looking changes no result.

mod lossy;

use lossy::{engine, launch};
use tickpipe::{ClockMode, RunOptions, Verdict};

/// Lines of all shapes; each ends.
const LINES: &[&str] = &[
    "fakesrc num-buffers=40 ! identity ! fakesink",
    "fakesrc num-buffers=40 max-buffers=2 ! queue ! fakesink hold=1",
    "fakesrc num-buffers=40 ! tee name=t t. ! queue ! fakesink t. ! identity ! fakesink t. ! fakesink",
    "fakesrc num-buffers=40 ! hold buffers=5 ! skip every=3 ! fakesink",
    "fakesrc num-buffers=40 ! j.sink_0 fakesrc num-buffers=7 ! hold buffers=2 ! j.sink_1 join name=j ! fakesink",
    "fakesrc num-buffers=40 ! f. fakesrc num-buffers=7 ! f. funnel name=f ! fakesink",
    "capssrc ! capssink",
];

#[cfg(feature = "video")]
const VIDEO: &[&str] = &[
    "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48 ! videoconvert ! videoscale ! video/x-raw,format=RGB,width=32 ! fakesink sync=true",
    "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=64,height=64 ! tee name=t t. ! overlay name=mix x=2 y=2 ! fakesink videotestsrc pattern=ball num-buffers=9 ! video/x-raw,width=16,height=16,framerate=25/1 ! mix. t. ! fakesink",
];
#[cfg(not(feature = "video"))]
const VIDEO: &[&str] = &[];

#[test]
fn nothing_is_found_in_runs_and_no_digest_depends_on_looking() {
    for text in LINES.iter().chain(VIDEO) {
        for clock in [ClockMode::Free, ClockMode::Virtual] {
            let run = |check| {
                let mut engine = engine(Some(check), 0);
                let pipeline = launch(&mut engine, text);
                engine.set_clock(pipeline, clock);
                let options = RunOptions {
                    digests: true,
                    max_ticks: Some(5000),
                    ..RunOptions::default()
                };
                engine.run(pipeline, &options, &mut ())
            };
            let (with, without) = (run(true), run(false));
            assert_eq!(with.invariant, None, "{text}");
            assert_eq!(with.verdict, Verdict::Done, "{text}");
            assert!(with.pools.iter().all(|p| p.out == 0), "{text}");
            assert_eq!(with.to_json(), without.to_json(), "{text}");
        }
    }
}
