//! The same graph gives the same digest at every tick on 1, 2 and 4 threads, in debug and release.
//!
//! The digests of the runs are kept here, so a debug and a release build are compared through
//! them. They change when the state that a tick has changes on purpose, and only then.

#![cfg(feature = "video")]

use tickpipe::{Engine, EngineOptions, RunOptions};

const GRAPHS: [(&str, &str); 2] = [
    (
        "videotestsrc num-buffers=10 pattern=snow seed=5 ! video/x-raw,format=I420,width=320,height=240 ! tee name=t t. ! queue ! videoconvert ! video/x-raw,format=RGBA ! fakesink t. ! videoscale ! video/x-raw,width=160,height=120 ! fakesink",
        "20a618e61b367788",
    ),
    (
        "videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=320,height=240 ! overlay name=mix x=16 y=8 ! fakesink videotestsrc pattern=ball num-buffers=12 ! video/x-raw,width=176,height=144,framerate=30000/1001 ! mix.",
        "c813753bd994a766",
    ),
];

struct Digests(Vec<u64>);

impl tickpipe::Observer for Digests {
    fn tick(&mut self, pipeline: &tickpipe::components::fabric::PipelineFabric) {
        self.0.push(pipeline.digest);
    }
}

fn run(text: &str, threads: usize) -> (Vec<u64>, String) {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    let mut digests = Digests(Vec::new());
    let options = RunOptions {
        digests: true,
        record: true,
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut digests);
    assert_eq!(report.verdict.name(), "done");
    (digests.0, report.digest)
}

#[test]
fn digests_of_every_tick() {
    for (text, golden) in GRAPHS {
        let (ticks, digest) = run(text, 1);
        assert!(ticks.windows(2).all(|w| w[0] != w[1]), "each tick differs");
        assert_eq!(digest, golden, "{text}");
        for threads in [2, 4] {
            assert_eq!(run(text, threads), (ticks.clone(), digest.clone()));
        }
    }
}
