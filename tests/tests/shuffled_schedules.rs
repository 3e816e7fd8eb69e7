//! The order in which systems run where the schedule leaves it open changes nothing.
//!
//! `bevy_ecs` shuffles that order by a seed; the digest of every tick must be the same for all
//! seeds. (B58: systems that touch the same data without an order ran in any order.)

use tickpipe::{Engine, EngineOptions, RunOptions};

const GRAPHS: [&str; 4] = [
    "fakesrc num-buffers=20 ! identity ! identity ! fakesink",
    "fakesrc num-buffers=20 sizetype=fixed sizemax=64 ! tee name=t t. ! queue ! fakesink t. ! identity ! fakesink",
    #[cfg(feature = "video")]
    "videotestsrc num-buffers=12 pattern=snow ! video/x-raw,width=32,height=32 ! tee name=t t. ! queue ! fakesink t. ! videoscale ! video/x-raw,width=16,height=16 ! fakesink",
    #[cfg(feature = "video")]
    "videotestsrc num-buffers=12 ! video/x-raw,format=I420,width=32,height=32 ! overlay name=mix x=2 y=2 ! fakesink videotestsrc pattern=ball num-buffers=9 ! video/x-raw,width=16,height=16,framerate=25/1 ! mix.",
    #[cfg(not(feature = "video"))]
    "fakesrc num-buffers=30 ! fakesink",
    #[cfg(not(feature = "video"))]
    "fakesrc num-buffers=30 ! queue ! fakesink",
];

struct Digests(Vec<u64>);

impl tickpipe::Observer for Digests {
    fn tick(&mut self, pipeline: &tickpipe::components::fabric::PipelineFabric) {
        self.0.push(pipeline.digest);
    }
}

fn digests(text: &str, seed: Option<u64>) -> Vec<u64> {
    let mut engine = Engine::with_options(EngineOptions {
        shuffle_seed: seed,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    let mut digests = Digests(Vec::new());
    let options = RunOptions {
        digests: true,
        max_ticks: Some(1000),
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut digests);
    assert_eq!(report.verdict.name(), "done", "{text}");
    digests.0
}

#[test]
fn digests_are_the_same_under_100_seeds() {
    for text in GRAPHS {
        let want = digests(text, None);
        assert!(want.len() > 3, "{text}");
        for seed in 0..100 {
            assert_eq!(digests(text, Some(seed)), want, "{text} with seed {seed}");
        }
    }
}
