//! A release at the sink frees the converter, the decoder and the reader before it in the ticks that
//! follow, nearest first, and always in the same ones.

#![cfg(all(feature = "file", feature = "video"))]

use tickpipe::components::fabric::{Fabric, PipelineFabric};
use tickpipe::components::readiness::Readiness;
use tickpipe::{Engine, PipelineHandle, State};

const CLIP: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../scenarios/media/carphone-176x144.y4m"
);

/// The ticks after the sink's first in which each element runs for the first time once more, in
/// graph order.
fn first_runs(bound: u32) -> Vec<u64> {
    let text = format!(
        "filesrc location={CLIP} max-buffers={bound} blocksize=38022 ! y4mdec max-buffers={bound} \
         ! videoconvert max-buffers={bound} ! video/x-raw,format=RGB ! fakesink"
    );
    let mut engine = Engine::new().expect("an engine");
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    engine.set_state(pipeline, State::Paused);
    engine
        .wait_for_state(pipeline, State::Paused)
        .expect("it starts");
    engine.advance(0..1, 200);
    {
        let p = fabric(&engine, pipeline);
        let waiting: Vec<&str> = p.lanes.iter().map(|l| l.readiness.name()).collect();
        // The capsfilter has passed on all that came.
        assert_eq!(waiting[..3], ["buffer", "buffer", "buffer"], "{bound}");
        assert_eq!(waiting[4], "state");
        let held = |l: usize| matches!(p.lanes[l].readiness, Readiness::Buffer(_));
        assert!(held(0) && held(1) && held(2));
    }
    engine.set_state(pipeline, State::Playing);
    let mut first = vec![None; 5];
    for tick in 0..40 {
        engine.advance(0..1, 1);
        for lane in &fabric(&engine, pipeline).ready {
            first[*lane as usize].get_or_insert(tick);
        }
    }
    let first: Vec<u64> = first.into_iter().map(|f| f.expect("each runs")).collect();
    let sink = first[4];
    first.into_iter().map(|f| f - sink).collect()
}

fn fabric(engine: &Engine, pipeline: PipelineHandle) -> &PipelineFabric {
    let fabric = engine.world().resource::<Fabric>();
    fabric.get(pipeline.id()).expect("it is there")
}

#[test]
fn a_release_at_the_sink_frees_one_after_the_other() {
    for bound in [2, 3] {
        let first = first_runs(bound);
        // Reader, decoder, converter, filter, sink.
        assert_eq!(
            first[2], 1,
            "the converter gets its buffer in the next tick"
        );
        assert!(first[1] > first[2] && first[0] >= first[1], "{first:?}");
        assert_eq!(first_runs(bound), first, "always the same");
    }
}
