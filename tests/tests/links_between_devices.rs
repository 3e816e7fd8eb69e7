//! A link between devices carries descriptors and control: no byte of a frame is in the program.

use tickpipe::components::digest::hash_bytes;
use tickpipe::{Engine, EngineOptions, Report, RunOptions};

fn engine(threads: usize) -> Engine {
    Engine::with_options(EngineOptions {
        threads,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine")
}

fn run(threads: usize, text: &str) -> Report {
    let mut engine = engine(threads);
    let (p, _) = engine.launch("main", text).expect("a graph");
    let options = RunOptions {
        record: true,
        digests: true,
        max_ticks: Some(1000),
    };
    engine.run(p, &options, &mut ())
}

/// What the device fills frame `n` with.
fn frame(n: u8, size: usize) -> String {
    let bytes: Vec<u8> = (0u8..=255)
        .cycle()
        .take(size)
        .map(|b| b.wrapping_add(n))
        .collect();
    format!("{:016x}", hash_bytes(&bytes))
}

#[test]
fn the_second_device_shows_what_the_first_one_filled() {
    for (count, size, hold) in [(0, 4096, 0), (1, 1, 0), (9, 5000, 0), (300, 33, 3)] {
        let text = format!("devicesrc num-buffers={count} size={size} ! devicesink hold={hold}");
        let report = run(1, &text);
        assert_eq!(report.verdict.name(), "done", "{text}");
        let got: Vec<&str> = report.sinks[0].frames.iter().map(|f| &*f.hash).collect();
        let want: Vec<String> = (0..count).map(|n: u32| frame(n as u8, size)).collect();
        assert_eq!(got, want, "{text}");
        assert_eq!(report.links[0].transport, "device");
        let copied: u64 = report
            .elements
            .iter()
            .map(|e| e.copied + e.copied_bytes)
            .sum();
        assert_eq!(copied, 0);
        for threads in [2, 4] {
            assert_eq!(run(threads, &text).digest, report.digest, "{text}");
        }
    }
}

#[test]
fn control_goes_with_it_and_a_second_run_starts_anew() {
    let mut engine = engine(1);
    let (p, _) = engine
        .launch(
            "main",
            "devicesrc num-buffers=40 name=s ! devicesink name=k",
        )
        .expect("a graph");
    for _ in 0..3 {
        let report = engine.run(p, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict.name(), "done");
        assert_eq!(report.sinks[0].buffers, 40);
        assert!(report.sinks[0].eos);
    }
}

#[test]
fn the_need_of_frames_counts_as_for_any_pool() {
    let report = run(
        1,
        "devicesrc num-buffers=20 grants=3 size=64 ! devicesink hold=2",
    );
    assert_eq!(report.verdict.name(), "done");
    assert_eq!((report.pools[0].buffers, report.pools[0].size), (3, 64));
    let mut engine = engine(1);
    let text = "devicesrc grants=2 size=64 name=s ! devicesink hold=2 name=k";
    let (p, _) = engine.launch("main", text).expect("a graph");
    let refused = engine.plan(p).expect_err("too few").to_string();
    assert_eq!(
        refused,
        "s: pool s.src needs 3 buffers (s 1 + k 2) and was granted 2 (pool/refused)"
    );
}

#[test]
fn what_works_on_bytes_is_refused_at_the_link() {
    let cases = [
        (
            "devicesrc name=s ! fakesink name=k",
            "s.src gives by device, and k.sink takes by push: they have no transport in common",
        ),
        (
            "fakesrc name=s ! devicesink name=k",
            "s.src gives by push, and k.sink takes by device: they have no transport in common",
        ),
        (
            "filesrc location=a name=s ! devicesink name=k",
            "s.src gives by pull or push, and k.sink takes by device: they have no transport in common",
        ),
    ];
    for (text, want) in cases {
        let error = engine(1)
            .launch("main", text)
            .expect_err("it cannot be linked");
        let told = error.render(text);
        assert!(told.contains(want), "{told}");
    }
}
