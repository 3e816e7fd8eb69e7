//! `avidemux`: each stream on its pad, whatever the order of the file and without a queue; S1 to S5 of
//! DirectShow's splitter.

#![cfg(feature = "file")]

mod parsing;

use parsing::*;
use tickpipe::components::readiness::Readiness;
use tickpipe::components::time::TimeBase;
use tickpipe::{
    ClockMode, Engine, MessageMask, PipelineHandle, Report, RunOptions, Script, Seek, State,
};

const TRACKS: [Track; 2] = [Track::Video(*b"XVID", 24), Track::Pcm];
const LEGS: &str = "avidemux name=d d.video_0 ! watch last=999 ! fakesink name=v \
                    d.audio_0 ! fakesink name=a";

/// So many pictures, each fifth a key frame; and as many chunks of sound, each as long as a picture.
fn frame(track: usize, n: usize) -> Vec<u8> {
    match track {
        0 => vec![n as u8; 40 + n],
        _ => [(n as u16).to_le_bytes(); 320].concat(),
    }
}

fn movie(order: impl IntoIterator<Item = (usize, usize)>) -> Vec<u8> {
    let frames = order.into_iter().map(|(t, n)| (t, frame(t, n)));
    let frames: Vec<_> = frames.collect();
    avi(&TRACKS, &frames, Index::Idx1(5))
}

/// Picture by picture.
fn interleaved(count: usize) -> Vec<u8> {
    movie((0..count).flat_map(|n| [(0, n), (1, n)]))
}

/// All pictures, then all sound.
fn apart(count: usize) -> Vec<u8> {
    let pictures = (0..count).map(|n| (0, n));
    movie(pictures.chain((0..count).map(|n| (1, n))))
}

fn pictures(range: core::ops::Range<usize>) -> Vec<Seen> {
    let all: Vec<(usize, Vec<u8>)> = range.map(|n| (n, frame(0, n))).collect();
    expected(all.iter().map(|(n, f)| (Some(*n as i64), &f[..])))
}

fn sound(range: core::ops::Range<usize>) -> Vec<Seen> {
    let all: Vec<(usize, Vec<u8>)> = range.map(|n| (n, frame(1, n))).collect();
    expected(all.iter().map(|(n, f)| (Some(320 * *n as i64), &f[..])))
}

fn run_on(text: &str, clock: ClockMode) -> Report {
    let mut engine = engine();
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    engine.set_clock(pipeline, clock);
    let options = RunOptions {
        record: true,
        max_ticks: Some(100_000),
        ..RunOptions::default()
    };
    engine.run(pipeline, &options, &mut ())
}

#[test]
fn each_stream_has_its_pad_by_name_or_by_what_follows() {
    let tracks = [
        Track::Pcm,
        Track::Video(*b"MJPG", 24),
        Track::Text,
        Track::Coded(0x55),
        Track::Video(*b"????", 24),
        Track::Coded(0x4321),
    ];
    let frames: Vec<(usize, Vec<u8>)> = (0..6).map(|n| (n, vec![n as u8; 4])).collect();
    let path = write("names.avi", &avi(&tracks, &frames, Index::None));
    for by in [By::Pull, By::Push(99)] {
        let text = format!(
            "{} ! avidemux name=d d.audio_1 ! fakesink name=a d.video_1 ! fakesink name=b \
             d.subtitle_0 ! fakesink name=c d.video_0 ! fakesink name=e d.audio_2 ! fakesink name=f \
             d. ! audio/x-raw ! fakesink name=g",
            by.source(&path)
        );
        // Without a name: the number after the highest, and there is no fourth stream of sound.
        let error = plan_error(&text);
        assert!(
            error.contains("there is no audio_3: of that kind the file has 3 streams"),
            "{error}"
        );
        let text = text.replace("d.audio_1 ! fakesink name=a", "d.audio_0 ! fakesink name=a");
        let text = text.replace("d. ! audio/x-raw", "d.audio_1");
        let report = run(&text);
        assert_eq!(report.verdict.name(), "done", "{by:?}");
        for (sink, caps, number) in [
            (
                "a",
                "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved",
                0,
            ),
            ("e", "image/jpeg,width=16,height=16,framerate=25/1", 1),
            ("c", "application/x-subtitle-avi", 2),
            (
                "g",
                "audio/mpeg,rate=8000,channels=1,mpegversion=1,layer=3",
                3,
            ),
            (
                "b",
                "video/x-avi-unknown,width=16,height=16,framerate=25/1,fourcc=1061109567",
                4,
            ),
            ("f", "audio/x-avi-unknown,codec_id=17185", 5),
        ] {
            assert_eq!(caps_at(&report, &format!("{sink}.sink")), caps, "{by:?}");
            let want = expected([(Some(0), &frames[number].1[..])]);
            assert_eq!(frames_of(&report, sink), want, "{by:?} {sink}");
        }
    }
    // The kind that what follows takes.
    let text = format!(
        "filesrc location={path} ! avidemux name=d d. ! audio/x-raw ! fakesink name=a d. ! image/jpeg ! fakesink name=v"
    );
    let report = run(&text);
    assert_eq!(report.verdict.name(), "done");
    let from = |pad: &str| report.links.iter().any(|l| l.from == pad);
    assert!(from("d.audio_0") && from("d.video_0"));
    // The kinds take turns where any would do.
    let text = format!(
        "filesrc location={path} ! avidemux name=d d. ! fakesink name=v d. ! fakesink name=a"
    );
    let report = run(&text);
    assert_eq!(report.verdict.name(), "done");
    let link = |sink: &str| {
        report
            .links
            .iter()
            .find(|l| l.to == sink)
            .map(|l| l.from.clone())
    };
    assert_eq!(link("v.sink").as_deref(), Some("d.video_0"));
    assert_eq!(link("a.sink").as_deref(), Some("d.audio_0"));
}

fn frames_of(report: &Report, sink: &str) -> Vec<Seen> {
    frames(report, sink)
}

#[test]
fn a_stream_without_a_pad_is_passed_over_and_counted() {
    let path = write("alone.avi", &interleaved(30));
    for by in [By::Pull, By::Push(1000), By::Push(1)] {
        let text = format!(
            "{} ! avidemux name=d d.audio_0 ! fakesink name=a",
            by.source(&path)
        );
        let report = run(&text);
        assert_eq!(frames(&report, "a"), sound(0..30), "{by:?}");
        assert_eq!(count(&report, "d", "not-linked"), 30, "{by:?}");
    }
    // However large its frames are.
    let frames = [(0, vec![1; 5000]), (1, vec![2; 100]), (0, vec![3; 5000])];
    let path = write("large.avi", &avi(&TRACKS, &frames, Index::None));
    for by in [By::Pull, By::Push(100)] {
        let text = format!(
            "{} ! avidemux name=d frame-bytes=200 d.audio_0 ! fakesink name=a",
            by.source(&path)
        );
        let report = run(&text);
        assert_eq!(report.verdict.name(), "done", "{by:?}");
        assert_eq!(count(&report, "d", "not-linked"), 2, "{by:?}");
    }
}

#[test]
fn by_position_no_leg_waits_for_another_whatever_the_order() {
    for (name, file) in [("i.avi", interleaved(200)), ("b.avi", apart(200))] {
        let path = write(name, &file);
        for sync in ["", "sync=true"] {
            for clock in [ClockMode::Free, ClockMode::Virtual] {
                let text = format!(
                    "filesrc location={path} ! avidemux name=d d.video_0 ! fakesink name=v {sync} \
                     d.audio_0 ! fakesink name=a {sync}"
                );
                let report = run_on(&text, clock);
                assert_eq!(report.verdict.name(), "done", "{name} {clock:?}");
                assert_eq!(frames(&report, "v"), pictures(0..200), "{name} {clock:?}");
                assert_eq!(frames(&report, "a"), sound(0..200), "{name} {clock:?}");
                // No more than the links hold.
                let pool = &report.pools[0];
                assert!(pool.high_water <= 20, "{}", pool.high_water);
            }
        }
    }
}

#[test]
fn by_position_a_small_pool_does() {
    let path = write("small.avi", &apart(50));
    let text = format!(
        "filesrc location={path} ! avidemux name=d max-buffers=2 d.video_0 ! fakesink name=v sync=true \
         d.audio_0 ! fakesink name=a sync=true"
    );
    let report = run_on(&text, ClockMode::Virtual);
    assert_eq!(report.verdict.name(), "done");
    assert_eq!(report.pools[0].buffers, 2);
    assert_eq!(frames(&report, "v"), pictures(0..50));
    // One buffer for each leg is needed, and that is told.
    let error = plan_error(&text.replace("max-buffers=2", "max-buffers=1"));
    assert!(
        error.contains("needs 2 buffers (d 2) and may have 1"),
        "{error}"
    );
}

/// Sound begins behind so many pictures.
fn late(pictures: usize) -> Vec<u8> {
    let first = (0..pictures).map(|n| (0, n));
    movie(first.chain((0..10).flat_map(|n| [(1, n), (0, pictures + n)])))
}

#[test]
fn what_is_sent_waits_for_room_within_a_declared_bound() {
    let path = write("late.avi", &late(32));
    let source = By::Push(4096).source(&path);
    for sync in ["", "sync=true"] {
        let text = format!(
            "{source} ! avidemux name=d d.video_0 ! fakesink name=v {sync} d.audio_0 ! fakesink name=a {sync}"
        );
        let report = run_on(&text, ClockMode::Virtual);
        assert_eq!(report.verdict.name(), "done", "{sync}");
        assert_eq!(frames(&report, "v"), pictures(0..42));
        assert_eq!(frames(&report, "a"), sound(0..10));
    }
    // More than was declared: it waits for room, and that is told.
    let text = format!(
        "{source} ! avidemux name=d interleave=16 d.video_0 ! fakesink name=v d.audio_0 ! fakesink name=a"
    );
    let report = run(&text);
    assert_eq!(report.verdict.name(), "stalled");
    let stall = format!("{:?}", report.stall);
    assert!(
        stall.contains("d.video_0") || stall.contains("v"),
        "{stall}"
    );
    // What the bound takes is part of the plan, and what is too much is refused.
    let mut engine = engine();
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    let plan = engine.plan(pipeline).expect("a plan");
    let pool = plan.pools.iter().find(|p| p.name == "d.video_0");
    let pool = pool.expect("a pool");
    let needs: Vec<String> = pool.needs.iter().map(|n| n.to_string()).collect();
    assert_eq!(
        needs,
        ["d 2", "v 15 waiting for a.sink", "a 15 waiting for v.sink"]
    );
    let text = text.replace("interleave=16", "interleave=60000 max-buffers=100");
    let error = plan_error(&text);
    assert!(error.contains("and may have 100"), "{error}");
    let error = plan_error(&text.replace("max-buffers=100", ""));
    assert!(error.contains("pool-buffers=1024"), "{error}");
}

#[test]
fn a_leg_without_room_is_what_it_waits_for() {
    let path = write("room.avi", &interleaved(100));
    for by in [By::Pull, By::Push(4096)] {
        let mut engine = engine();
        let text = format!(
            "{} ! avidemux name=d d.video_0 ! fakesink name=v d.audio_0 ! fakesink name=a",
            by.source(&path)
        );
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        engine.set_state(pipeline, State::Paused);
        engine
            .wait_for_state(pipeline, State::Paused)
            .expect("it gets there");
        (0..200).for_each(|_| engine.tick());
        let demuxer = engine.element(pipeline, "d").expect("it is there");
        let waits = engine.readiness(demuxer).map(|r| r.0);
        assert!(
            matches!(waits, Some(Readiness::Room(0 | 1) | Readiness::Buffer(_))),
            "{by:?}: {waits:?}"
        );
        // S5: a stop comes through all the same.
        engine.set_state(pipeline, State::Ready);
        let stopped = engine.wait_for_state(pipeline, State::Ready);
        assert_eq!(stopped, Ok(()), "{by:?}");
    }
}

struct SeekAt(Vec<(u64, Seek)>, Vec<Option<String>>);

impl Script for SeekAt {
    fn before(&mut self, engine: &mut Engine, pipeline: PipelineHandle, tick: u64) {
        while let Some((_, seek)) = self.0.pop_if(|s| s.0 <= tick) {
            let refused = engine.seek(pipeline, seek).err();
            self.1.push(refused.map(|e| e.to_string()));
        }
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

fn sought(text: &str, at: u64, seek: Seek) -> (Report, Option<String>) {
    let mut engine = engine();
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    let mut script = SeekAt(vec![(at, seek)], Vec::new());
    let options = RunOptions {
        record: true,
        max_ticks: Some(5000),
        ..RunOptions::default()
    };
    let report = engine.run_script(pipeline, &options, &mut (), &mut script);
    assert_eq!(report.invariant, None);
    assert!(report.pools.iter().all(|p| p.out == 0));
    (report, script.1.pop().flatten())
}

/// S1 and S3: it goes to the last key frame, the segment that was asked for comes first, and what comes
/// behind it is marked.
#[test]
fn s1_s3_it_goes_to_the_key_frame_before_at_every_tick() {
    let path = write("seek.avi", &interleaved(40));
    let text = format!("filesrc location={path} ! {LEGS}");
    let (plain, _) = sought(&text, 0, Seek::frame(0));
    assert_eq!(frames(&plain, "v"), pictures(0..40));
    let ms = TimeBase::new(1, 1000).expect("valid");
    for at in 0..=plain.ticks {
        for (seek, from, stop) in [
            (Seek::frame(12).until(20), 12, 20),
            (Seek::time(490, ms).until(800), 12, 20),
            (Seek::frame(39), 39, 40),
        ] {
            let (report, refused) = sought(&text, at, seek);
            let place = format!("{seek} at {at}");
            assert_eq!(refused, None, "{place}");
            assert_eq!(report.verdict.name(), "done", "{place}");
            let key = from / 5 * 5;
            let (video, audio) = (frames(&report, "v"), frames(&report, "a"));
            let want = pictures(key..stop);
            assert!(video.ends_with(&want), "{place}: {video:?}");
            let before = video.len() - want.len();
            assert_eq!(video[..before], pictures(0..40)[..before], "{place}");
            assert!(audio.ends_with(&sound(from..stop)), "{place}: {audio:?}");
            let seen = watched(&report);
            let segment = seen.iter().rposition(|l| l.starts_with("segment"));
            let segment = segment.expect("a segment");
            let behind = seen[segment + 1..].iter().find(|l| l.starts_with("buffer"));
            let behind = behind.expect("a buffer");
            let start = format!("buffer {key} ");
            assert!(behind.starts_with(&start), "{place}: {behind}");
            assert!(behind.contains("discontinuity"), "{place}: {behind}");
            // S2: one end of what is played then.
            let behind = seen[segment..].iter();
            let ends = behind.filter(|l| *l == "end").count();
            assert_eq!(ends, 1, "{place}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let path = write("beyond.avi", &interleaved(20));
    let text = format!("filesrc location={path} ! {LEGS}");
    for (seek, says) in [
        (Seek::frame(21), "lies behind the end at 800000000 ns"),
        (
            Seek::time(900, TimeBase::new(1, 1000).expect("valid")),
            "begin at 900000000 ns, which lies behind the end",
        ),
        (Seek::byte(3), "it counts frames and times, not bytes"),
    ] {
        let (report, refused) = sought(&text, 6, seek);
        assert_eq!(frames(&report, "v"), pictures(0..20));
        assert_eq!(frames(&report, "a"), sound(0..20));
        let refused = refused.unwrap_or_default();
        assert!(refused.contains(says), "{refused}");
    }
    // At the end there is nothing more, and no error.
    let (report, refused) = sought(&text, 6, Seek::frame(20));
    assert_eq!(refused, None);
    assert_eq!(report.verdict.name(), "done");
}

#[test]
fn s2_one_end_a_run_and_s4_a_second_run_replays() {
    let path = write("again.avi", &interleaved(20));
    for by in [By::Pull, By::Push(500)] {
        let mut engine = engine();
        let text = format!("{} ! {LEGS}", by.source(&path));
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        for _ in 0..3 {
            engine.set_state(pipeline, State::Playing);
            let end = engine.wait(pipeline, MessageMask::EOS);
            assert!(end.is_ok(), "{by:?}");
            assert_eq!(engine.taken(pipeline), 40, "{by:?}");
            (0..10).for_each(|_| engine.tick());
            let more = engine.next_message(pipeline, MessageMask::EOS);
            assert!(more.is_none(), "{by:?}: one end for all sinks");
            engine.set_state(pipeline, State::Ready);
            let stopped = engine.wait_for_state(pipeline, State::Ready);
            assert_eq!(stopped, Ok(()), "{by:?}");
        }
    }
}

#[test]
fn after_its_end_it_goes_back() {
    let path = write("back.avi", &interleaved(20));
    let mut engine = engine();
    let text = format!("filesrc location={path} ! {LEGS}");
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    engine.set_state(pipeline, State::Playing);
    engine.wait(pipeline, MessageMask::EOS).expect("it ends");
    engine
        .seek(pipeline, Seek::frame(15).until(17))
        .expect("it can");
    engine.wait(pipeline, MessageMask::EOS).expect("it ends");
    assert_eq!(engine.taken(pipeline), 40 + 2 + 2);
}

#[test]
fn an_empty_picture_is_a_gap_and_its_time_passes() {
    let frames = [(0, vec![1; 9]), (0, vec![]), (0, vec![2; 9])];
    let path = write("gap.avi", &avi(&TRACKS, &frames, Index::None));
    for by in [By::Pull, By::Push(50)] {
        let text = format!(
            "{} ! avidemux ! watch last=9 ! fakesink name=v",
            by.source(&path)
        );
        let report = run(&text);
        let kinds: Vec<String> = watched(&report)
            .iter()
            .map(|l| l.split(" duration").next().unwrap_or_default().to_owned())
            .collect();
        let caps =
            "caps video/mpeg,width=16,height=16,framerate=25/1,mpegversion=4,systemstream=false";
        assert_eq!(kinds[0], caps, "{by:?}");
        assert_eq!(kinds[1], "buffer 0 pts 0");
        assert!(kinds[2].starts_with("gap"), "{by:?}: {kinds:?}");
        assert_eq!(kinds[3], "buffer 2 pts 2");
    }
}

#[test]
fn raw_pictures_are_upright() {
    // From the bottom up, rows of 48 bytes.
    let file: Vec<u8> = (0..16u8).rev().flat_map(|row| [row; 48]).collect();
    let upright: Vec<u8> = (0..16u8).flat_map(|row| [row; 48]).collect();
    for (bits, height, want) in [(24u16, 16, &upright), (24, -16, &file)] {
        let track = Track::Sized([0; 4], bits, 16, height);
        let path = write("raw.avi", &avi(&[track], &[(0, file.clone())], Index::None));
        for by in [By::Pull, By::Push(100)] {
            let text = format!("{} ! avidemux ! fakesink name=v", by.source(&path));
            let report = run(&text);
            let caps = "video/x-raw,format=BGR,width=16,height=16,framerate=25/1";
            assert_eq!(caps_at(&report, "v.sink"), caps);
            assert_eq!(frames(&report, "v"), expected([(Some(0), &want[..])]));
        }
    }
    // One that is too short is told with its place, and what was before it comes out.
    let track = Track::Video([0; 4], 24);
    let frames = [(0, file.clone()), (0, file[..700].to_vec())];
    let path = write("short.avi", &avi(&[track], &frames, Index::None));
    for by in [By::Pull, By::Push(100)] {
        let text = format!("{} ! avidemux ! fakesink name=v", by.source(&path));
        let (report, error) = run_and_say(&text);
        assert_eq!(report.sinks[0].buffers, 1);
        let code = Some(("stream".to_owned(), "damaged".to_owned()));
        assert_eq!(error_of(&report), code, "{by:?}");
        let error = error.expect("told");
        assert!(
            error.contains("a raw picture of 700 bytes at byte"),
            "{error}"
        );
        assert!(error.contains("one of its size has 768"), "{error}");
    }
}

#[test]
fn times_of_a_demuxer_go_through_a_parser_behind_it() {
    let all: Vec<(usize, Vec<u8>)> = (0..5).map(|n| (0, jpeg(16, 16, &[n; 40]))).collect();
    let path = write(
        "chain.avi",
        &avi(&[Track::Video(*b"MJPG", 24)], &all, Index::Idx1(1)),
    );
    let want = expected((0..).zip(&all).map(|(n, f)| (Some(n), &f.1[..])));
    for by in [By::Pull, By::Push(64)] {
        let text = format!(
            "{} ! avidemux ! jpegparse name=p ! fakesink name=v",
            by.source(&path)
        );
        let report = run(&text);
        assert_eq!(frames(&report, "v"), want, "{by:?}");
        assert_eq!(
            caps_at(&report, "v.sink"),
            "image/jpeg,width=16,height=16,framerate=25/1,parsed=true"
        );
    }
    let text = format!("filesrc location={path} ! avidemux ! jpegparse ! fakesink name=v");
    for at in 1..8 {
        let (report, refused) = sought(&text, at, Seek::frame(3));
        assert_eq!(refused, None, "at {at}");
        assert!(frames(&report, "v").ends_with(&want[3..]), "at {at}");
    }
}

#[test]
fn an_index_has_no_more_frames_than_it_may() {
    let path = write("many.avi", &interleaved(20));
    let text = format!("filesrc location={path} ! avidemux index-frames=39 ! fakesink name=v");
    let report = run(&text);
    let code = Some(("stream".to_owned(), "limit".to_owned()));
    assert_eq!(error_of(&report), code);
    let report = run(&text.replace("39", "40"));
    assert_eq!(report.verdict.name(), "done");
}

#[test]
fn junk_in_a_file_is_told_and_counted_either_way() {
    let mut file = avi(&TRACKS, &[], Index::None);
    let place = file.len();
    for n in 0..1500u32 {
        file.extend(b"\0\0xyzw\0\0");
        file.extend(chunk(b"00dc", &n.to_le_bytes()));
    }
    // The list is as long as what is in it.
    let movi = file.windows(4).position(|w| w == b"movi").expect("a list");
    let size = (file.len() - movi) as u32;
    file[movi - 4..movi].copy_from_slice(&size.to_le_bytes());
    let path = write("junk.avi", &file);
    for by in [By::Pull, By::Push(4096)] {
        let text = format!("{} ! avidemux name=d ! fakesink name=v", by.source(&path));
        let report = run(&text);
        assert_eq!(report.sinks[0].buffers, 1500, "{by:?}");
        assert_eq!(count(&report, "d", "junk"), 1500, "{by:?}");
        let told = report.messages.iter().filter_map(|m| m.occurrence.as_ref());
        let first = told.map(|o| (o.index, o.value)).next();
        assert_eq!(first, Some((place as u64, Some(8))), "{by:?}");
        assert!(report.messages.len() < 100, "{by:?}");
    }
}

#[test]
fn a_leg_can_be_linked_while_it_runs() {
    let path = write("join.avi", &interleaved(100));
    for by in [By::Pull, By::Push(1000)] {
        let mut engine = engine();
        let text = format!(
            "{} ! avidemux name=d d.video_0 ! fakesink name=v",
            by.source(&path)
        );
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        engine.set_state(pipeline, State::Playing);
        (0..12).for_each(|_| engine.tick());
        let sink = engine.create("fakesink", 77).expect("a class");
        engine.add(pipeline, sink).expect("its id is free");
        let demuxer = engine.element(pipeline, "d").expect("it is there");
        let linked = engine.link_pads(demuxer, Some("audio_0"), sink, None);
        linked.expect("they are linked");
        engine.wait(pipeline, MessageMask::EOS).expect("it ends");
        // All pictures, and the sound from then on.
        let taken = engine.taken(pipeline);
        assert!((101..=200).contains(&taken), "{by:?}: {taken}");
    }
}
