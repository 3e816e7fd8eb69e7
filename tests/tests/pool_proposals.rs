//! Pools are decided downstream first: what sinks ask for is merged into the pool of whoever fills
//! their buffers, and a pool that one offers is used by the first who can.

mod negotiating;

use negotiating::{agreed, engine, launch, told};
use tickpipe::components::fabric::{Fabric, PipelineFabric};
use tickpipe::systems::allocate::PoolPlan;
use tickpipe::systems::state::Graphs;
use tickpipe::{Engine, PipelineHandle, RunOptions, State};

/// Size, alignment, prefix, alignment of rows, fewest and most of each pool.
fn configs(text: &str) -> Vec<(usize, usize, usize, usize, u32, u32)> {
    let of = |p: &PoolPlan| {
        let c = p.config;
        (c.size, c.align, c.prefix, c.stride_align, c.min, c.max)
    };
    agreed(text).pools.iter().map(of).collect()
}

fn start(text: &str) -> (Engine, PipelineHandle) {
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    engine.set_state(pipeline, State::Playing);
    let wait = engine.wait_for_state(pipeline, State::Playing);
    wait.unwrap_or_else(|e| panic!("{text}: {e}"));
    (engine, pipeline)
}

fn fabric(engine: &Engine, pipeline: PipelineHandle) -> &PipelineFabric {
    let fabric = engine.world().resource::<Fabric>();
    fabric.get(pipeline.id()).expect("a started pipeline")
}

/// Who fills each pool and who started it.
fn owners(text: &str) -> Vec<(String, String)> {
    let (engine, pipeline) = start(text);
    let graphs = engine.world().resource::<Graphs>();
    let nodes = &graphs.running(pipeline.id()).expect("it runs").nodes;
    let pools = fabric(&engine, pipeline).buffers.pools.iter();
    let name = |lane: usize| nodes[lane].name.clone();
    let by = |p: &tickpipe::components::pool::Pool| {
        let started = p.started_by.expect("it is started");
        (name(p.owner.index()), name(started.index()))
    };
    pools.map(by).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs.map(|p| (p.0.to_owned(), p.1.to_owned())).collect()
}

#[test]
fn what_a_sink_asks_for_comes_to_who_fills_its_buffers() {
    let sink = "poolsink size=5000 align=64 prefix=10 stride-align=8 min-buffers=3 max-buffers=7";
    for way in ["", "identity !", "queue ! identity ! hold buffers=2 !"] {
        let text = format!("poolsrc ! {way} {sink}");
        // 5000 rounded up so that 10 + it is a multiple of 64.
        assert_eq!(configs(&text), [(5046, 64, 10, 8, 3, 7)], "{text}");
    }
    assert_eq!(configs("poolsrc ! poolsink"), [(4096, 1, 0, 0, 0, 0)]);
}

#[test]
fn what_several_ask_for_is_merged() {
    let sinks = [
        "poolsink size=5000 align=12 prefix=10 min-buffers=2 max-buffers=9",
        "poolsink size=100 align=8 prefix=16 stride-align=4 min-buffers=5",
        "poolsink stride-align=6 max-buffers=8",
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut text = "poolsrc size=6000 ! tee name=t".to_owned();
        for sink in order {
            text += &format!(" t. ! queue ! {}", sinks[sink]);
        }
        // Of 12 and 8: 24; 16 + 6008 is a multiple of it.
        assert_eq!(configs(&text), [(6008, 24, 16, 12, 5, 8)], "{text}");
    }
}

#[test]
fn a_run_has_what_was_planned() {
    let text = "poolsrc num-buffers=5 ! queue ! poolsink align=256 prefix=3 min-buffers=4 hold=1";
    let plan = agreed(text).pools.remove(0);
    let (engine, pipeline) = start(text);
    let table = &fabric(&engine, pipeline).buffers;
    let pool = &table.pools[0];
    assert_eq!(pool.live, plan.config);
    assert_eq!(pool.count, plan.config.count);
    let all = pool.first.index()..pool.first.index() + pool.count as usize;
    let mut seen = 0;
    for memory in table.memory[all].iter().flatten() {
        assert_eq!(memory.as_slice().as_ptr() as usize % 256, 0);
        assert_eq!((memory.prefix().len(), (3 + memory.len()) % 256), (3, 0));
        seen += 1;
    }
    assert_eq!(seen, pool.count);
}

#[test]
fn an_offered_pool_is_used_by_who_fills_it() {
    for way in ["", "identity !", "queue ! identity !", "hold !"] {
        let text = format!("fakesrc sizetype=fixed ! {way} poolsink name=s offer=true");
        assert_eq!(owners(&text), pairs(&[("fakesrc0", "s")]), "{text}");
    }
    let tee = "fakesrc ! tee name=t t. ! fakesink t. ! queue ! poolsink name=s offer=true";
    assert_eq!(owners(tee), pairs(&[("fakesrc0", "s")]));
    // Of two that offer the first is taken.
    let tee =
        "fakesrc ! tee name=t t. ! poolsink name=a offer=true t. ! poolsink name=b offer=true";
    assert_eq!(owners(tee), pairs(&[("fakesrc0", "a")]));
    let own = "fakesrc ! poolsink name=s";
    assert_eq!(owners(own), pairs(&[("fakesrc0", "fakesrc0")]));
}

#[cfg(feature = "video")]
#[test]
fn a_converter_takes_the_offered_pool_and_who_feeds_it_does_not() {
    let text = "videotestsrc ! video/x-raw,format=I420,width=8,height=8 ! videoconvert name=c \
                ! video/x-raw,format=RGB ! poolsink name=s offer=true";
    let want = [("videotestsrc0", "videotestsrc0"), ("c", "s")];
    assert_eq!(owners(text), pairs(&want));
}

#[test]
fn a_device_does_not_take_an_offered_pool() {
    let text = "poolsrc ! queue ! poolsink offer=true size=9000 min-buffers=4";
    assert_eq!(owners(text), pairs(&[("poolsrc0", "poolsrc0")]));
    assert_eq!(
        configs(text),
        [(9000, 1, 0, 0, 4, 0)],
        "what is asked counts"
    );
}

#[test]
fn an_offered_pool_is_taken_once() {
    let text = "funnel name=f ! poolsink name=s offer=true fakesrc name=a ! f. fakesrc name=b ! f.";
    assert_eq!(owners(text), pairs(&[("a", "s"), ("b", "b")]));
    let text = "funnel name=f ! poolsink name=s offer=true poolsrc name=a ! f. fakesrc name=b ! f.";
    assert_eq!(
        owners(text),
        pairs(&[("a", "a"), ("b", "s")]),
        "a device is skipped"
    );
}

#[test]
fn who_starts_a_pool_stops_it_and_a_second_run_equals_the_first() {
    for text in [
        "fakesrc num-buffers=9 sizetype=fixed sizemax=50 ! queue ! poolsink offer=true hold=2 align=16",
        "poolsrc num-buffers=9 buffers=5 grants=4 lose-every=4 ! tee name=t ! poolsink t. ! poolsink hold=1",
    ] {
        let mut engine = engine();
        let pipeline = launch(&mut engine, text);
        let options = RunOptions {
            digests: true,
            record: true,
            ..RunOptions::default()
        };
        let first = engine.run(pipeline, &options, &mut ());
        assert_eq!(first.verdict.name(), "done", "{text}");
        for pool in &fabric(&engine, pipeline).buffers.pools {
            assert_eq!((pool.committed, pool.started_by), (false, None), "{text}");
        }
        for _ in 0..2 {
            let next = engine.run(pipeline, &options, &mut ());
            assert_eq!(next.to_json(), first.to_json(), "{text}");
        }
    }
}

#[test]
fn more_at_least_than_at_most_is_refused() {
    assert_eq!(
        told("fakesrc ! queue ! poolsink min-buffers=5 max-buffers=3"),
        "fakesrc0: pool fakesrc0.src needs 5 buffers (fakesrc0 1, and at least 5 are asked for \
         downstream) and may have 3 (pool/refused)"
    );
    assert_eq!(
        told("fakesrc ! hold buffers=2 ! poolsink max-buffers=3 hold=1"),
        "fakesrc0: pool fakesrc0.src needs 4 buffers (fakesrc0 1 + hold0 2 + poolsink0 1) and may \
         have 3 (pool/refused)"
    );
    let two = "fakesrc ! tee name=t ! poolsink min-buffers=5 t. ! poolsink max-buffers=3";
    assert_eq!(
        told(two),
        "fakesrc0: pool fakesrc0.src needs 5 buffers (fakesrc0 1, and at least 5 are asked for \
         downstream) and may have 3 (pool/refused)"
    );
}

#[test]
fn an_alignment_that_cannot_be_is_refused() {
    let range = "is outside of 1..=65536";
    for (text, align) in [
        ("fakesrc ! poolsink align=65537", "65537"),
        ("poolsrc ! queue ! poolsink align=1000000", "1000000"),
        (
            "fakesrc ! tee name=t ! poolsink align=60000 t. ! poolsink align=7",
            "420000",
        ),
    ] {
        let told = told(text);
        let want = format!(
            "pool {}.src: alignment {align} {range} (pool/refused)",
            told.split(':').next().unwrap_or("")
        );
        assert!(told.ends_with(&want), "{told}");
        let mut engine = engine();
        let pipeline = launch(&mut engine, text);
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict.name(), "failed");
        let error = report.messages.iter().find(|m| m.kind == "error");
        let error = error.and_then(|m| m.domain.clone().zip(m.code.clone()));
        assert_eq!(error, Some(("pool".to_owned(), "refused".to_owned())));
    }
}
