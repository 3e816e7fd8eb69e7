//! `remote`: what reaches an element besides buffers reaches it in a child too: changes of caps, flushes,
//! seeks and segments, time, bytes of a file; and two such children in a row.

#![cfg(all(
    feature = "remote",
    feature = "file",
    feature = "video",
    target_os = "linux"
))]

mod remotes;

use proptest::prelude::*;
use remotes::{Run, remote, run, run_script};
use tickpipe::{ClockMode, Engine, Flush, PipelineHandle, Seek, Verdict};

const MEDIA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../scenarios/media/carphone-176x144.y4m"
);

fn both(
    before: &str,
    transform: &str,
    after: &str,
    clock: ClockMode,
    tick: Option<u64>,
    deed: impl Fn(&mut Engine, PipelineHandle) + Send + Sync,
) -> (Run, Run) {
    let here = format!("{before} ! {transform} ! {after}");
    let there = format!("{before} ! {} ! {after}", remote(transform, ""));
    let here = run_script(&here, 1, clock, tick, &deed);
    let there = run_script(&there, 1, clock, tick, &deed);
    assert_eq!(
        here.report.verdict,
        Verdict::Done,
        "{transform}: {:?}",
        here.fault
    );
    assert_eq!(
        there.report.verdict,
        Verdict::Done,
        "{transform}: {:?}",
        there.fault
    );
    (here, there)
}

fn same(
    before: &str,
    transform: &str,
    after: &str,
    clock: ClockMode,
    tick: Option<u64>,
    deed: impl Fn(&mut Engine, PipelineHandle) + Send + Sync,
) -> Run {
    let (here, there) = both(before, transform, after, clock, tick, deed);
    assert_eq!(here.frames(), there.frames(), "{transform} {tick:?}");
    assert_eq!(
        here.occurrences(),
        there.occurrences(),
        "{transform} {tick:?}"
    );
    for (tick, (here, there)) in here.states.iter().zip(&there.states).enumerate() {
        assert_eq!(here, there, "{transform}: tick {tick}");
    }
    assert_eq!(here.states.len(), there.states.len());
    there
}

#[test]
fn caps_that_change_at_the_source() {
    let caps = |w: u32| format!("video/x-raw,format=GRAY8,width={w},height=2,framerate=25/1");
    let source = format!(
        "capssrc num-buffers=20 caps=\"{}\" changes=\"4: {} | 9: {}\"",
        caps(2),
        caps(4),
        caps(6)
    );
    for transform in ["identity", "hold buffers=3", "capsfilter caps=video/x-raw"] {
        let got = same(
            &source,
            transform,
            "fakesink name=out",
            ClockMode::Free,
            None,
            |_, _| {},
        );
        assert_eq!(got.frames().len(), 20, "{transform}");
    }
}

#[test]
fn caps_that_a_filter_changes_in_mid_stream() {
    for tick in [1, 3, 6, 11] {
        let got = same(
            "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=32,height=24",
            "videoconvert",
            "capsfilter name=filter caps=video/x-raw,format=RGBA ! fakesink name=out",
            ClockMode::Free,
            Some(tick),
            |engine, pipeline| {
                let filter = engine.element(pipeline, "filter").expect("the filter");
                let set = engine.set_text(filter, "caps", "video/x-raw,format=GRAY8");
                set.expect("it takes caps");
            },
        );
        assert_eq!(got.frames().len(), 20);
        // A picture of another format has another hash, and the last ones are of that.
        assert_ne!(
            got.frames().first().map(|f| &f.1),
            got.frames().last().map(|f| &f.1)
        );
    }
}

#[test]
fn a_flush_at_any_tick() {
    for transform in ["hold buffers=4", "videorate", "videoconvert", "identity"] {
        for tick in [1, 4, 9] {
            same(
                "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=16,height=16,framerate=25/1",
                transform,
                "video/x-raw,format=I420,framerate=25/1 ! fakesink name=out",
                ClockMode::Free,
                Some(tick),
                |engine, pipeline| engine.flush(pipeline, None, Flush::Discard),
            );
        }
    }
}

#[test]
fn a_seek_and_its_segment() {
    for transform in ["videorate", "videoconvert", "stamps", "hold buffers=2"] {
        for seek in [
            Seek::frame(20).until(30),
            Seek::frame(40).until(44).without_flush(),
        ] {
            let got = same(
                "videotestsrc num-buffers=60 ! video/x-raw,format=I420,width=16,height=16,framerate=25/1",
                transform,
                "video/x-raw,framerate=25/1 ! fakesink name=out",
                ClockMode::Free,
                Some(5),
                move |engine, pipeline| engine.seek(pipeline, seek).expect("it can"),
            );
            let last = got.frames().last().and_then(|f| f.0);
            assert_eq!(last, Some(if seek.flush { 29 } else { 43 }), "{transform}");
        }
    }
}

#[test]
fn time_that_passes() {
    let before = "videotestsrc num-buffers=12 is-live=true ! video/x-raw,format=GRAY8,width=8,height=8,framerate=25/1";
    let after = "video/x-raw,framerate=25/1 ! fakesink name=out sync=true";
    let clock = ClockMode::Virtual;
    for transform in ["delay buffers=3", "videorate", "imagefreeze num-buffers=20"] {
        let got = same(before, transform, after, clock, None, |_, _| {});
        assert!(!got.frames().is_empty(), "{transform}");
    }
    // One that waits for a time with an item before it looks at that in another tick of the same instant.
    let (here, there) = both(before, "delay time=100ms", after, clock, None, |_, _| {});
    assert_eq!(here.frames(), there.frames());
    assert_eq!(here.frames().len(), 12);
}

#[test]
fn a_picture_that_is_frozen() {
    let before =
        "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=8,height=8,framerate=5/1";
    let after = "video/x-raw,framerate=10/1 ! fakesink name=out";
    let clock = ClockMode::Free;
    // It asks to be run again with something before it, and gets that a tick later.
    let still = "imagefreeze num-buffers=30";
    let (here, there) = both(before, still, after, clock, None, |_, _| {});
    assert_eq!(here.frames(), there.frames());
    assert_eq!(there.frames().len(), 30);
    let still = "imagefreeze num-buffers=60";
    let (_, there) = both(before, still, after, clock, Some(6), |engine, pipeline| {
        engine.seek(pipeline, Seek::frame(50)).expect("it can");
    });
    assert!(there.frames().iter().any(|f| f.0 == Some(50)));
}

#[test]
fn bytes_of_a_file() {
    // In process the decoder pulls; in a child it is sent the same bytes.
    let before = format!("filesrc location={MEDIA}");
    let (here, there) = both(
        &before,
        "y4mdec",
        "fakesink name=out",
        ClockMode::Free,
        None,
        |_, _| {},
    );
    assert!(here.frames().len() > 3);
    assert_eq!(here.frames(), there.frames());

    let folder = remotes::scratch("y4m");
    let written = |name: &str, encode: &str| {
        let path = folder.join(name);
        let got = run(&format!(
            "filesrc location={MEDIA} ! y4mdec ! {encode} ! filesink location={}",
            path.display()
        ));
        assert_eq!(got.report.verdict, Verdict::Done, "{:?}", got.fault);
        std::fs::read(path).expect("it was written")
    };
    let there = written("there.y4m", &remote("y4menc", ""));
    assert_eq!(written("here.y4m", "y4menc"), there);
    assert_eq!(std::fs::read(MEDIA).expect("it is there"), there);
}

#[test]
fn a_file_that_is_cut_fails_the_same() {
    let all = std::fs::read(MEDIA).expect("it is there");
    let folder = remotes::scratch("cut");
    let path = folder.join("cut.y4m");
    for cut in [0, 5, 40, 1000, 60_000] {
        std::fs::write(&path, &all[..cut.min(all.len())]).expect("it can be written");
        let line = |decoder: &str| {
            run(&format!(
                "filesrc location={} ! {decoder} ! fakesink name=out",
                path.display()
            ))
        };
        let (here, there) = (line("y4mdec"), line(&remote("y4mdec", "")));
        assert_eq!(here.report.verdict, there.report.verdict, "{cut}");
        assert_eq!(here.frames(), there.frames(), "{cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn children_in_a_row_are_as_elements_in_a_row(
        chain in prop::collection::vec(
            prop::sample::select(vec![
                "identity", "hold buffers=2", "videoconvert", "videoscale", "delay buffers=1", "stamps", "skip",
            ]),
            1..4,
        ),
        frames in 0u32..9,
        flush in prop::option::of(0u64..20),
        threads in 1usize..3,
    ) {
        let line = |child: bool| {
            let chain: String = chain.iter().map(|t| match child {
                true => format!(" ! {}", remote(t, "")),
                false => format!(" ! {t}"),
            }).collect();
            format!(
                "videotestsrc num-buffers={frames} ! video/x-raw,format=I420,width=20,height=10,framerate=25/1{chain} ! \
                 video/x-raw,format=I420,width=20,height=10 ! fakesink name=out"
            )
        };
        let run = |child| run_script(&line(child), threads, ClockMode::Free, flush, |engine, pipeline| {
            engine.flush(pipeline, None, Flush::Discard);
        });
        let (here, there) = (run(false), run(true));
        prop_assert_eq!(here.report.verdict, Verdict::Done);
        prop_assert_eq!(there.report.verdict, Verdict::Done);
        prop_assert_eq!(here.frames(), there.frames());
        prop_assert_eq!(here.states, there.states);
    }
}
