//! B14: frames that an encoder skips go back to their pool; none is lost, and at each tick free,
//! queued and held buffers are all that there are.

use tickpipe::components::fabric::{Item, PipelineFabric};
use tickpipe::{Engine, EngineOptions, Limit, Limits, Observer, Report, RunOptions, Verdict};

/// Adds up, tick by tick, where the buffers of all pools are.
#[derive(Default)]
struct Sums {
    ticks: u64,
    most_out: usize,
    wrong: Option<String>,
}

impl Observer for Sums {
    fn tick(&mut self, p: &PipelineFabric) {
        self.ticks += 1;
        for pool in &p.buffers.pools {
            let mut known: Vec<u32> = Vec::new();
            for lane in &p.lanes {
                let queues = lane.inputs.iter().flat_map(|i| i.queue.iter());
                known.extend(queues.filter_map(Item::as_buffer).map(|b| b.0));
                known.extend(lane.extras.kept.iter().map(|k| k.buffer.0));
            }
            known.retain(|b| pool.owns(tickpipe::components::id::BufferId(*b)));
            known.sort_unstable();
            known.dedup();
            self.most_out = self.most_out.max(known.len());
            if pool.free.len() as usize + known.len() != pool.count as usize {
                let (tick, free) = (p.tick, pool.free.len());
                self.wrong = Some(format!("tick {tick}: {free} free, {known:?} out"));
            }
        }
    }
}

fn run(text: &str, quantum: u64) -> (Report, Sums) {
    let mut limits = Limits::default();
    limits.set(Limit::Quantum, quantum).expect("a quantum");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    let mut sums = Sums::default();
    let options = RunOptions {
        max_ticks: Some(10_000),
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut sums);
    assert_eq!(report.invariant, None, "{text}");
    assert_eq!(report.verdict, Verdict::Done, "{text}, quantum {quantum}");
    assert_eq!(sums.wrong, None, "{text}");
    assert!(sums.ticks > 10);
    let pools = report.pools.iter();
    assert!(pools.clone().all(|p| p.out == 0), "{text}");
    assert!(report.leaks.is_empty(), "{text}");
    (report, sums)
}

fn came_out(report: &Report) -> Vec<u64> {
    report.sinks.iter().map(|s| s.buffers).collect()
}

#[test]
fn sixty_seven_of_a_hundred_come_out() {
    let text =
        "fakesrc num-buffers=100 min-buffers=4 max-buffers=4 ! skip every=3 name=enc ! fakesink";
    let (report, sums) = run(text, 4);
    assert_eq!(came_out(&report), [67]);
    assert_eq!(
        (report.pools[0].buffers, report.pools[0].high_water),
        (4, 4)
    );
    assert_eq!(sums.most_out, 4);
    let skip = report.elements.iter().find(|e| e.name == "enc");
    assert_eq!(skip.map(|e| (e.buffers_in, e.dropped)), Some((100, 33)));
}

#[test]
fn whatever_is_skipped_and_however_small_the_pool() {
    for every in 1..=10 {
        let out = 100 - 100 / every;
        for pool in [1, 2, 4, 9] {
            for quantum in [1, 2, 4, 16] {
                let (report, _) = run(
                    &format!(
                        "fakesrc num-buffers=100 min-buffers={pool} max-buffers={pool} ! skip \
                         every={every} ! fakesink"
                    ),
                    quantum,
                );
                assert_eq!(came_out(&report), [out], "{every} {pool} {quantum}");
            }
        }
    }
}

#[test]
fn beside_queues_tees_and_what_holds() {
    for every in [2, 3, 7] {
        let out = 60 - 60 / every;
        let source = "fakesrc num-buffers=60 max-buffers=16";
        let skip = format!("skip every={every}");
        let shapes = [
            (
                format!("{source} ! queue max-size-buffers=2 ! {skip} ! queue ! fakesink"),
                vec![out],
            ),
            (
                format!("{source} ! {skip} ! hold buffers=3 ! fakesink"),
                vec![out],
            ),
            (
                format!("{source} ! hold buffers=3 ! {skip} ! fakesink hold=2"),
                vec![out],
            ),
            (
                format!("{source} ! tee name=t t. ! {skip} ! fakesink t. ! queue ! fakesink"),
                vec![out, 60],
            ),
            (
                format!("{source} ! {skip} ! tee name=t t. ! fakesink t. ! {skip} ! fakesink"),
                vec![out, out - out / every],
            ),
        ];
        for (text, mut want) in shapes {
            for quantum in [1, 4] {
                let (report, _) = run(&text, quantum);
                let mut got = came_out(&report);
                got.sort_unstable();
                want.sort_unstable();
                assert_eq!(got, want, "{text}");
            }
        }
    }
}

#[cfg(feature = "video")]
#[test]
fn of_pictures_too() {
    for size in ["16", "64", "322"] {
        let (report, _) = run(
            &format!(
                "videotestsrc num-buffers=30 min-buffers=4 max-buffers=4 ! \
                 video/x-raw,format=I420,width={size},height=32 ! skip every=3 ! fakesink"
            ),
            4,
        );
        assert_eq!(came_out(&report), [20]);
    }
}
