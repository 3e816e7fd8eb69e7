//! Pictures lie in buffers as the pool of each says: rows are aligned as downstream asks, and what
//! is shown, written and hashed is the same.
#![cfg(all(feature = "file", feature = "video"))]

mod negotiating;

use negotiating::{agreed, engine, launch, told};
use proptest::prelude::*;
use tickpipe::components::fabric::{Fabric, PipelineFabric};
use tickpipe::components::video::{Frame, Layout, VideoFormat};
use tickpipe::{Observer, Report, RunOptions};

/// Looks at each tick whether valid bytes and memory are as the pool says.
#[derive(Default)]
struct Checked {
    buffers: usize,
}

impl Observer for Checked {
    fn tick(&mut self, p: &PipelineFabric) {
        for pool in &p.buffers.pools {
            for at in pool.first.index()..pool.first.index() + pool.count as usize {
                let Some(memory) = &p.buffers.memory[at] else {
                    continue;
                };
                let address = memory.as_slice().as_ptr() as usize;
                assert_eq!(address % pool.live.align, 0);
                assert_eq!(memory.prefix().len(), pool.live.prefix);
                if let Some(layout) = pool.layout.filter(|_| p.buffers.refs[at] > 0) {
                    assert_eq!(p.buffers.meta[at].len, layout.size());
                    self.buffers += 1;
                    let align = pool.live.stride_align.max(4);
                    let stride = |l: &tickpipe::components::video::PlaneLayout| l.stride();
                    assert!(layout.planes().iter().all(|l| stride(l) % align == 0));
                }
            }
        }
    }
}

fn run(text: &str) -> (Report, Checked) {
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    let mut checked = Checked::default();
    let options = RunOptions {
        record: true,
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut checked);
    assert_eq!(
        report.verdict.name(),
        "done",
        "{text}: {:?}",
        report.messages
    );
    (report, checked)
}

/// The hashes of the frames of each sink.
fn frames(report: &Report) -> Vec<Vec<String>> {
    let sinks = report.sinks.iter();
    let hashes = |s: &tickpipe::SinkReport| s.frames.iter().map(|f| f.hash.clone()).collect();
    sinks.map(hashes).collect()
}

/// Graphs of pictures of a format and size, which end in sinks that ask for `asked`.
fn graphs(format: &str, width: u32, height: u32, asked: &str) -> Vec<String> {
    let source = |pattern: &str| {
        format!(
            "videotestsrc num-buffers=2 pattern={pattern} \
             ! video/x-raw,format={format},width={width},height={height},framerate=25/1"
        )
    };
    let main = source("smpte");
    let (more, less) = (width + 7, height.div_ceil(2));
    let mut graphs = vec![
        format!("{main} ! poolsink {asked}"),
        format!("{main} ! queue ! tee name=t ! fakesink t. ! identity ! poolsink {asked}"),
        format!("{main} ! videoconvert ! video/x-raw,format=RGBA ! poolsink {asked}"),
        format!(
            "{main} ! tee name=t ! poolsink {asked} t. ! videoconvert ! video/x-raw,format=I420 ! poolsink {asked}"
        ),
        format!("{main} ! videoscale ! video/x-raw,width={more},height={less} ! poolsink {asked}"),
        format!(
            "{main} ! tee name=t ! poolsink {asked} t. ! videoscale ! video/x-raw,width={less},height={more} ! poolsink {asked}"
        ),
    ];
    if !matches!(format, "RGBA" | "BGRA" | "ARGB" | "ABGR") {
        let top = source("ball");
        graphs.push(format!(
            "{main} ! overlay name=o x=3 y=1 ! poolsink {asked} {top} ! o."
        ));
        // Both inputs are shared: of the one a copy is written.
        graphs.push(format!(
            "overlay name=o x=-2 y=2 ! poolsink {asked} {main} ! tee name=a ! o. \
             {top} ! tee name=b ! o. a. ! fakesink b. ! poolsink {asked}"
        ));
        graphs.push(format!(
            "overlay name=o ! poolsink {asked} {main} ! tee name=a ! o. {top} ! o. \
             a. ! queue ! videoscale ! video/x-raw,width={more} ! fakesink"
        ));
    }
    if matches!(format, "I420" | "Y42B" | "Y444" | "GRAY8") {
        graphs.push(format!(
            "{main} ! tee name=t ! poolsink {asked} t. ! y4menc ! fakesink"
        ));
    }
    graphs
}

fn formats() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "I420",
        "YV12",
        "NV12",
        "NV21",
        "Y42B",
        "Y444",
        "YUY2",
        "UYVY",
        "GRAY8",
        "RGB",
        "BGR",
        "RGBA",
        "BGRA",
        "ARGB",
        "ABGR",
        "I420_10LE",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn frames_are_the_same_however_rows_are_aligned(
        format in formats(),
        width in 1u32..70,
        height in 1u32..40,
        stride in 0u32..=8,
        prefix in 0u32..40,
        align in prop::sample::select(vec![0u32, 1, 3, 16, 64, 4096]),
    ) {
        let asked = format!("stride-align={} prefix={prefix} align={align}", 1 << stride);
        for (plain, aligned) in graphs(format, width, height, "")
            .iter()
            .zip(graphs(format, width, height, &asked))
        {
            let (want, _) = run(plain);
            let (got, checked) = run(&aligned);
            prop_assert_eq!(frames(&got), frames(&want), "{}", aligned);
            prop_assert!(checked.buffers > 0);
            prop_assert!(frames(&got).iter().all(|f| f.len() >= 2));
        }
    }
}

#[test]
fn rows_lie_as_the_sink_asks() {
    let text = "videotestsrc num-buffers=-1 ! video/x-raw,format=I420,width=19,height=5 \
                ! queue ! poolsink stride-align=64 prefix=24 align=128";
    let plan = agreed(text).pools.remove(0);
    let layout = Layout::aligned(VideoFormat::I420, 19, 5, 64).expect("a picture");
    assert_eq!(plan.layout, Some(layout));
    let mut engine = engine();
    let pipeline = launch(&mut engine, text);
    engine.set_state(pipeline, tickpipe::State::Playing);
    let playing = engine.wait_for_state(pipeline, tickpipe::State::Playing);
    assert_eq!(playing, Ok(()));
    let p = engine.world().resource::<Fabric>().get(pipeline.id());
    let buffers = &p.expect("it runs").buffers;
    let strides: Vec<usize> = layout.planes().iter().map(|l| l.stride()).collect();
    assert_eq!(strides, [64, 64, 64]);
    let mut seen = 0;
    for at in (0..buffers.len()).filter(|at| buffers.refs[*at] > 0) {
        let Some(memory) = &buffers.memory[at] else {
            continue;
        };
        let address = memory.as_slice().as_ptr() as usize;
        assert_eq!((address % 128, memory.prefix().len()), (0, 24));
        assert_eq!((24 + memory.len()) % 128, 0);
        let picture = Frame::new(&layout, memory.as_slice()).expect("room");
        let row = picture.plane(0).expect("luma").row(4);
        // Its bars are not black memory that was never written.
        assert!(row.iter().any(|b| *b != 0), "the last row was written");
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn an_alignment_of_rows_that_is_no_power_of_two_is_refused() {
    for (asked, align) in [("3", "3"), ("48", "48"), ("8192", "8192")] {
        let text = format!(
            "videotestsrc ! video/x-raw,format=I420,width=8,height=8 ! poolsink stride-align={asked}"
        );
        let want = format!(
            "videotestsrc0: stride alignment {align} is not a power of two from 1 to 4096 (pool/refused)"
        );
        assert_eq!(told(&text), want);
    }
}

#[test]
fn what_makes_bytes_of_any_kind_lays_them_out_as_usual() {
    let text = "poolsrc num-buffers=3 size=300 ! video/x-raw,format=GRAY8,width=13,height=5,framerate=1/1 \
                ! poolsink stride-align=32";
    assert_eq!(agreed(text).pools[0].layout, None);
    let (report, _) = run(text);
    let (plain, _) = run(&text.replace("stride-align=32", ""));
    assert_eq!(frames(&report), frames(&plain));
}

#[test]
fn a_decoder_and_files_do_not_show_how_rows_are_aligned() {
    let media = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../scenarios/media/carphone-176x144.y4m"
    );
    let id = std::process::id();
    let out = |part: &str| std::env::temp_dir().join(format!("tickpipe-layouts-{part}-{id}"));
    let (raw, y4m) = (out("raw"), out("y4m"));
    let graph = |asked: &str| {
        let (raw, y4m) = (raw.display(), y4m.display());
        format!(
            "filesrc location=\"{media}\" ! y4mdec ! tee name=t ! poolsink {asked} \
             t. ! filesink location=\"{raw}\" t. ! y4menc ! filesink location=\"{y4m}\""
        )
    };
    let read = || [&raw, &y4m].map(|file| std::fs::read(file).expect("is written"));
    let (want, _) = run(&graph(""));
    let written = read();
    let frame = 176 * 144 * 3 / 2;
    assert!(written[0].len() > frame && written[0].len().is_multiple_of(frame));
    for stride in [8, 64, 256] {
        let (got, checked) = run(&graph(&format!("stride-align={stride} prefix=5")));
        assert_eq!(frames(&got), frames(&want));
        assert!(checked.buffers > 0);
        assert!(
            read() == written,
            "other bytes with rows aligned to {stride}"
        );
    }
    for file in [raw, y4m] {
        std::fs::remove_file(file).expect("removed");
    }
}
