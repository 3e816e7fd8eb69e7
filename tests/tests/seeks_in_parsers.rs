//! Parsers go elsewhere where the format says where that is: WAV to any sample, also where blocks are
//! sent; IVF where it is read by position, to the last key frame before; else it is refused and nothing
//! changes. After a flush the next whole frame goes on, or it is told why none can.

#![cfg(feature = "file")]

mod parsing;

use parsing::*;
use tickpipe::components::time::TimeBase;
use tickpipe::components::wav::{Format, Samples, header_bytes};
use tickpipe::{Answer, Engine, Flush, PipelineHandle, Query, Report, RunOptions, Script, Seek};

/// Samples of one channel, 2 bytes each; blocks of 2048.
const SAMPLES: i64 = 40_000;
const BLOCK: i64 = 2048;

fn wav() -> Vec<u8> {
    let format = Format::plain(Samples::S16, 1, 8000).expect("a format");
    let mut file = header_bytes(&format, Some(2 * SAMPLES as u64)).expect("a header");
    file.extend((0..SAMPLES).flat_map(|n| (n as u16).to_le_bytes()));
    file
}

/// Twenty frames of VP8, each fifth a key frame, two ticks from one to the next.
fn vp8() -> (Vec<u8>, Vec<Seen>) {
    let frame = |n: u64| {
        let mut frame = vec![u8::from(!n.is_multiple_of(5)), n as u8];
        frame.resize(50 + 10 * n as usize, 7);
        (2 * n, frame)
    };
    let frames: Vec<(u64, Vec<u8>)> = (0..20).map(frame).collect();
    let seen = expected(frames.iter().map(|(pts, f)| (Some(*pts as i64), &f[..])));
    (ivf(b"VP80", &frames), seen)
}

enum Act {
    Seek(Seek),
    Flush(Flush),
}

/// Does things at ticks; what was refused.
struct At(Vec<(u64, Act)>, Vec<Option<String>>);

impl Script for At {
    fn before(&mut self, engine: &mut Engine, pipeline: PipelineHandle, tick: u64) {
        while let Some((_, act)) = self.0.pop_if(|act| act.0 <= tick) {
            match act {
                Act::Seek(seek) => {
                    let refused = engine.seek(pipeline, seek).err();
                    self.1.push(refused.map(|e| e.to_string()));
                }
                Act::Flush(flush) => engine.flush(pipeline, None, flush),
            }
        }
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

fn run_with(text: &str, mut acts: Vec<(u64, Act)>) -> (Report, Vec<Option<String>>) {
    let mut engine = engine();
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    acts.sort_by_key(|act| act.0);
    acts.reverse();
    let mut script = At(acts, Vec::new());
    let options = RunOptions {
        record: true,
        max_ticks: Some(5000),
        ..RunOptions::default()
    };
    let report = engine.run_script(pipeline, &options, &mut (), &mut script);
    assert_eq!(report.invariant, None, "{text}");
    assert!(report.pools.iter().all(|p| p.out == 0), "{text}");
    (report, script.1)
}

fn seeks(text: &str, seeks: Vec<(u64, Seek)>) -> (Report, Vec<Option<String>>) {
    let acts = seeks.into_iter().map(|(at, seek)| (at, Act::Seek(seek)));
    run_with(text, acts.collect())
}

/// Blocks of samples from one up to another, the first on the grid of blocks that begins at `from`.
fn samples(from: i64, to: i64) -> Vec<Seen> {
    let file = wav();
    let data = &file[44..];
    let starts = (from..to).step_by(BLOCK as usize);
    let blocks = starts.map(|at| {
        let end = (at + BLOCK).min(to);
        (Some(at), &data[2 * at as usize..2 * end as usize])
    });
    expected(blocks)
}

#[test]
fn wav_goes_to_a_sample_at_every_tick() {
    let path = write("seek.wav", &wav());
    let all = samples(0, SAMPLES);
    let ms = TimeBase::new(1, 1000).expect("valid");
    for by in [By::Pull, By::Push(4096), By::Push(1000), By::Push(65_536)] {
        let text = format!("{} ! wavparse ! fakesink name=k", by.source(&path));
        let (plain, _) = seeks(&text, vec![]);
        assert_eq!(frames(&plain, "k"), all, "{by:?}");
        // Ticks of short blocks are many.
        let step = (plain.ticks / 40).max(1) as usize;
        for at in (0..=plain.ticks).step_by(step) {
            for (seek, from, to) in [
                (Seek::frame(10_001).until(20_003), 10_001, 20_003),
                (Seek::time(1000, ms).until(2000), 8000, 16_000),
                (Seek::frame(SAMPLES), SAMPLES, SAMPLES),
            ] {
                let (report, refused) = seeks(&text, vec![(at, seek)]);
                assert_eq!(refused, [None], "{by:?} at {at}");
                assert_eq!(report.verdict.name(), "done", "{by:?} at {at}");
                let got = frames(&report, "k");
                let after = got.iter().position(|f| f.0 == Some(from));
                if from == to {
                    assert_eq!(got, all[..got.len()], "{by:?} at {at}");
                } else {
                    let after = after.unwrap_or_else(|| panic!("{by:?} at {at}: {got:?}"));
                    assert_eq!(got[..after], all[..after], "{by:?} at {at}");
                    // Before the header came, blocks are those of the file, and the first is cut.
                    let grid = (from / BLOCK + 1) * BLOCK;
                    let cut = [samples(from, grid), samples(grid, to)].concat();
                    let want = [samples(from, to), cut];
                    assert!(want.contains(&got[after..].to_vec()), "{by:?} at {at}");
                }
            }
        }
    }
}

#[test]
fn without_a_flush_the_new_samples_follow() {
    let path = write("follow.wav", &wav());
    for by in [By::Pull, By::Push(4096)] {
        let text = format!("{} ! wavparse ! fakesink name=k", by.source(&path));
        for at in 4..8 {
            let seek = Seek::frame(30_000).until(32_000).without_flush();
            let (report, refused) = seeks(&text, vec![(at, seek)]);
            assert_eq!(refused, [None], "{by:?} at {at}");
            let got = frames(&report, "k");
            let first = got.iter().position(|f| f.0 == Some(30_000));
            let first = first.expect("it went there");
            assert_eq!(got[..first], samples(0, SAMPLES)[..first], "{by:?} at {at}");
            assert_eq!(got[first..], samples(30_000, 32_000), "{by:?} at {at}");
        }
    }
}

#[test]
fn ivf_goes_to_the_key_frame_before_and_plays_from_the_time_asked() {
    let (file, all) = vp8();
    let path = write("seek.ivf", &file);
    let text = format!("filesrc location={path} ! ivfparse ! watch last=999 ! fakesink name=k");
    let (plain, _) = seeks(&text, vec![]);
    assert_eq!(frames(&plain, "k"), all);
    let ticks = TimeBase::new(1, 25).expect("valid");
    for at in 0..=plain.ticks {
        for (seek, key, stop, start) in [
            (Seek::frame(12).until(15), 10, 15, 24),
            (Seek::time(25, ticks).until(29), 10, 15, 25),
            (Seek::frame(15), 15, 20, 30),
            (Seek::frame(0).until(1), 0, 1, 0),
        ] {
            let (report, refused) = seeks(&text, vec![(at, seek)]);
            assert_eq!(refused, [None], "at {at}");
            assert_eq!(report.verdict.name(), "done", "at {at}");
            let got = frames(&report, "k");
            assert!(got.ends_with(&all[key..stop]), "{seek} at {at}: {got:?}");
            let before = got.len() - (stop - key);
            assert_eq!(got[..before], all[..before], "{seek} at {at}");
            // The segment comes first, then what does not follow.
            let seen = watched(&report);
            let behind = seen.iter().position(|l| l.starts_with("segment"));
            let first = &seen[behind.expect("a segment") + 1];
            let first = match first.starts_with("caps") {
                true => &seen[behind.unwrap_or_default() + 2],
                false => first,
            };
            let buffer = format!("buffer {key} ");
            assert!(first.starts_with(&buffer), "{seek} at {at}: {seen:?}");
            assert!(
                first.ends_with("key+discontinuity"),
                "{seek} at {at}: {first}"
            );
            let _ = start;
        }
    }
}

#[test]
fn what_cannot_be_is_refused_and_nothing_changes() {
    let (file, all) = vp8();
    let path = write("refused.ivf", &file);
    let text = |by: &By| format!("{} ! ivfparse ! fakesink name=k", by.source(&path));
    let (report, refused) = seeks(
        &text(&By::Pull),
        vec![
            (5, Seek::frame(21)),
            (5, Seek::byte(3)),
            (5, Seek::frame(-1)),
        ],
    );
    assert_eq!(frames(&report, "k"), all);
    let refused: Vec<String> = refused.into_iter().flatten().collect();
    assert!(
        refused
            .iter()
            .any(|r| r.contains("frame 21, which lies behind the end at 20"))
    );
    assert!(
        refused
            .iter()
            .any(|r| r.contains("it counts frames and times, not bytes"))
    );
    assert_eq!(refused.len(), 3, "{refused:?}");
    for (tail, name, bytes, why) in [
        (
            "ivfparse",
            "r.ivf",
            &file,
            "known only where a file is read by position",
        ),
        (
            "avidemux",
            "r.avi",
            &MJPEG.to_vec(),
            "known only where a file is read by position",
        ),
        (
            "jpegparse",
            "r.jpg",
            &JPEG.to_vec(),
            "a file goes to a byte",
        ),
    ] {
        let path = write(name, bytes);
        let text = format!(
            "{} ! {tail} ! fakesink name=k",
            By::Push(4096).source(&path)
        );
        let (plain, _) = seeks(&text, vec![]);
        for at in [0, 1, 3, 5] {
            let (report, refused) = seeks(&text, vec![(at, Seek::frame(1))]);
            assert_eq!(report.verdict.name(), "done", "{tail} at {at}");
            assert_eq!(frames(&report, "k"), frames(&plain, "k"), "{tail} at {at}");
            // One that comes in READY is kept until it can be asked for.
            let refused = refused[0].as_deref();
            let refused = refused.is_some_and(|r| r.contains(why));
            assert_eq!(refused, at > 0, "{tail} at {at}");
        }
    }
    let path = write("p.jpg", JPEG);
    let text = format!("{} ! jpegparse ! fakesink name=k", By::Pull.source(&path));
    let (_, refused) = seeks(&text, vec![(1, Seek::frame(1))]);
    let refused = refused[0].as_deref().unwrap_or_default();
    assert!(refused.contains("JPEG stream"), "{refused}");
    let path = write("p.wav", &wav());
    for by in [By::Pull, By::Push(4096)] {
        let text = format!("{} ! wavparse ! fakesink name=k", by.source(&path));
        let (report, refused) = seeks(&text, vec![(8, Seek::frame(SAMPLES + 1))]);
        assert_eq!(frames(&report, "k"), samples(0, SAMPLES), "{by:?}");
        let refused = refused[0].as_deref().unwrap_or_default();
        assert!(refused.contains("lies behind the end"), "{by:?}: {refused}");
    }
}

#[test]
fn they_say_how_long_they_are_and_whether_they_can_go_elsewhere() {
    let path = write("long.wav", &wav());
    for (by, tail, seeking, long) in [
        (By::Pull, "wavparse", true, Some(SAMPLES)),
        (By::Push(4096), "wavparse", true, Some(SAMPLES)),
    ] {
        let mut engine = engine();
        let text = format!("{} ! {tail} name=p ! fakesink", by.source(&path));
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        engine.set_state(pipeline, tickpipe::State::Playing);
        (0..6).for_each(|_| engine.tick());
        let parser = engine.element(pipeline, "p").expect("it is there");
        let answer = engine.query(parser, &Query::Seeking);
        assert_eq!(answer, Some(Answer::Seeking(seeking)), "{by:?}");
        let rate = TimeBase::new(1, 8000).expect("valid");
        let answer = engine.query(parser, &Query::Duration);
        assert_eq!(
            answer,
            long.map(|long| Answer::Duration(long, rate)),
            "{by:?}"
        );
    }
}

#[test]
fn after_a_flush_the_next_whole_block_goes_on() {
    let path = write("flush.wav", &wav());
    let all = samples(0, SAMPLES);
    for by in [By::Pull, By::Push(4096), By::Push(700), By::Push(10_000)] {
        let text = format!("{} ! wavparse ! fakesink name=k", by.source(&path));
        for at in 0..40 {
            for held in [0, 3] {
                let acts = match held {
                    0 => vec![(at, Act::Flush(Flush::Discard))],
                    _ => vec![
                        (at, Act::Flush(Flush::Start)),
                        (at + held, Act::Flush(Flush::Stop)),
                    ],
                };
                let (report, _) = run_with(&text, acts);
                let place = format!("{by:?} at {at} for {held}");
                // Only the header cannot be lost.
                if report.verdict.name() != "done" {
                    let code = error_of(&report).map(|e| e.1);
                    assert_eq!(code.as_deref(), Some("damaged"), "{place}");
                    assert!(report.sinks.iter().all(|s| s.buffers == 0), "{place}");
                    continue;
                }
                let got = frames(&report, "k");
                assert!(got.iter().all(|f| all.contains(f)), "{place}");
                assert!(got.is_sorted_by_key(|f| f.0), "{place}");
            }
        }
    }
}

#[test]
fn after_a_flush_jpeg_finds_the_next_frame_by_its_mark() {
    let all: Vec<Vec<u8>> = (0..60).map(|n| jpeg(16, 16, &[n; 150])).collect();
    let path = write("flush.mjpeg", &all.concat());
    let hashes: Vec<String> = all.iter().map(|f| hash(f)).collect();
    for source in [
        By::Pull.source(&path),
        By::Push(64).source(&path),
        By::Push(500).source(&path),
        format!("blocks location={path} size=90"),
    ] {
        let text = format!("{source} ! jpegparse ! fakesink name=k");
        for at in 0..60 {
            let (report, _) = run_with(&text, vec![(at, Act::Flush(Flush::Discard))]);
            assert_eq!(report.verdict.name(), "done", "{source} at {at}");
            let got: Vec<String> = frames(&report, "k").into_iter().map(|f| f.1).collect();
            let places: Vec<Option<usize>> = got
                .iter()
                .map(|f| hashes.iter().position(|h| h == f))
                .collect();
            assert!(places.iter().all(Option::is_some), "{source} at {at}");
            assert!(places.is_sorted(), "{source} at {at}");
        }
    }
}

#[test]
fn ivf_cannot_go_on_where_blocks_are_lost_and_says_so() {
    let (file, all) = vp8();
    let path = write("flush.ivf", &file);
    let text = format!(
        "{} ! ivfparse ! fakesink name=k",
        By::Push(100).source(&path)
    );
    let mut lost = 0;
    for at in 0..50 {
        let (report, _) = run_with(&text, vec![(at, Act::Flush(Flush::Discard))]);
        let got = frames_or_none(&report);
        assert!(got.iter().all(|f| all.contains(f)), "at {at}");
        if report.verdict.name() == "failed" {
            lost += 1;
            let code = error_of(&report).map(|e| e.1);
            assert_eq!(code.as_deref(), Some("damaged"), "at {at}");
        }
    }
    assert!(lost >= 5, "{lost}");
    // What reads by position loses only what was under way.
    let text = format!("{} ! ivfparse ! fakesink name=k", By::Pull.source(&path));
    for at in 0..12 {
        let (report, _) = run_with(&text, vec![(at, Act::Flush(Flush::Discard))]);
        assert_eq!(report.verdict.name(), "done", "at {at}");
        let got = frames(&report, "k");
        assert!(got.iter().all(|f| all.contains(f)), "at {at}");
        assert!(got.is_sorted_by_key(|f| f.0), "at {at}");
    }
}

fn frames_or_none(report: &Report) -> Vec<Seen> {
    match report.sinks.is_empty() {
        true => Vec::new(),
        false => frames(report, "k"),
    }
}
