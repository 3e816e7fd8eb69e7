//! `ivfparse`, `wavparse` and `jpegparse`: caps, times and marks of what they give; what is wrong with a
//! stream is told with its place; what goes before a fault comes out. `avidemux` has a file of its own.

#![cfg(feature = "file")]

mod parsing;

use parsing::*;
use tickpipe::Report;
use tickpipe::components::wav::{Format, Samples, header_bytes};

const F32: &[u8] = include_bytes!("../../components/tests/data/media/f32.wav");
const S24: &[u8] = include_bytes!("../../components/tests/data/media/s24.wav");
const U8: &[u8] = include_bytes!("../../components/tests/data/media/u8.wav");
const RF64: &[u8] = include_bytes!("../../components/tests/data/media/rf64.wav");

/// Over both transports: the report, and what the element that failed says.
fn both(name: &str, bytes: &[u8], tail: &str) -> Vec<(Report, Option<String>)> {
    let path = write(name, bytes);
    let ways = [By::Pull, By::Push(4096), By::Push(7)];
    let text = |by: &By| format!("{} ! {tail}", by.source(&path));
    ways.iter().map(|by| run_and_say(&text(by))).collect()
}

fn vp8_frames() -> Vec<(Option<i64>, &'static [u8])> {
    let places = [(44, 663), (719, 140), (871, 118), (1001, 117), (1130, 108)];
    let frames = (0..).zip(places);
    frames
        .map(|(pts, (at, len))| (Some(pts), &VP8[at..at + len]))
        .collect()
}

#[test]
fn ivf_of_ffmpeg_gives_its_packets_with_keys_marked() {
    for (report, _) in both(
        "v.ivf",
        VP8,
        "ivfparse name=p ! watch last=99 ! fakesink name=k",
    ) {
        assert_eq!(report.verdict.name(), "done");
        let caps = report.links.iter().find(|l| l.from == "p.src");
        assert_eq!(
            caps.map(|l| &l.caps[..]),
            Some("video/x-vp8,width=32,height=24,framerate=25/1")
        );
        assert_eq!(frames(&report, "k"), expected(vp8_frames()));
        let seen = watched(&report);
        assert_eq!(
            seen[1..],
            [
                "buffer 0 pts 0 duration 1 of 1/25 s, 663 bytes, key",
                "buffer 1 pts 1 duration 1 of 1/25 s, 140 bytes",
                "buffer 2 pts 2 duration 1 of 1/25 s, 118 bytes",
                "buffer 3 pts 3 duration 1 of 1/25 s, 117 bytes",
                "buffer 4 pts 4 duration 1 of 1/25 s, 108 bytes",
                "end"
            ]
        );
    }
    for (report, _) in both("a.ivf", AV1, "ivfparse ! fakesink name=k") {
        let caps = caps_at(&report, "k.sink");
        assert_eq!(caps, "video/x-av1,width=32,height=24,framerate=30000/1001");
    }
}

#[test]
fn codecs_of_ivf_have_names() {
    for (codec, media) in [
        (*b"VP80", "video/x-vp8"),
        (*b"VP90", "video/x-vp9"),
        (*b"AV01", "video/x-av1"),
        (*b"H264", "video/x-ivf-h264"),
        ([0, 1, 0xFE, b'/'], "video/x-ivf-0001fe2f"),
    ] {
        let file = ivf(&codec, &[(0, vec![1])]);
        for (report, _) in both("c.ivf", &file, "ivfparse ! fakesink name=k") {
            let want = format!("{media},width=16,height=16,framerate=25/1");
            assert_eq!(caps_at(&report, "k.sink"), want);
        }
    }
}

#[test]
fn samples_have_gstreamers_names() {
    for (name, bytes, want) in [
        ("u8", U8, "format=U8"),
        ("s16", S16, "format=S16LE"),
        ("s24", S24, "format=S24LE"),
        ("f32", F32, "format=F32LE"),
        ("rf64", RF64, "format=S16LE"),
        ("stream", STREAM, "format=S16LE"),
    ] {
        let file = format!("{name}.wav");
        for (report, _) in both(&file, bytes, "wavparse ! fakesink name=k") {
            assert_eq!(report.verdict.name(), "done", "{name}");
            let caps = caps_at(&report, "k.sink");
            assert!(caps.starts_with("audio/x-raw,"), "{name}: {caps}");
            for field in [want, "rate=8000", "layout=interleaved"] {
                assert!(caps.contains(field), "{name}: {caps}");
            }
        }
    }
    let mut law = Format::plain(Samples::U8, 2, 8000).expect("a format");
    for (tag, media) in [(6, "audio/x-alaw"), (7, "audio/x-mulaw")] {
        law.tag = tag;
        let mut file = header_bytes(&law, Some(4)).expect("a header");
        file.extend([1, 2, 3, 4]);
        for (report, _) in both(
            "law.wav",
            &file,
            "wavparse ! watch last=9 ! fakesink name=k",
        ) {
            let caps = caps_at(&report, "k.sink");
            assert_eq!(caps, format!("{media},rate=8000,channels=2"));
            let buffer = "buffer 0 pts 0 duration 2 of 1/8000 s, 4 bytes, key";
            assert_eq!(watched(&report)[1], buffer);
        }
    }
    law.tag = 0x1234;
    let mut file = header_bytes(&law, Some(4)).expect("a header");
    file.extend([1, 2, 3, 4]);
    let path = write("odd.wav", &file);
    let error = plan_error(&format!("filesrc location={path} ! wavparse ! fakesink"));
    assert!(error.contains("format tag 0x1234"), "{error}");
    assert!(error.contains("stream/unsupported"), "{error}");
}

#[test]
fn a_size_that_lies_is_told_and_samples_go_on_to_the_end() {
    let format = Format::plain(Samples::S16, 1, 8000).expect("a format");
    let data: Vec<u8> = (0..100).collect();
    for said in [None, Some(4000)] {
        let mut file = header_bytes(&format, said).expect("a header");
        file.extend(&data);
        for (report, _) in both("lies.wav", &file, "wavparse name=p ! fakesink name=k") {
            assert_eq!(report.verdict.name(), "done");
            assert_eq!(frames(&report, "k"), expected([(Some(0), &data[..])]));
            let warned = |m: &&tickpipe::MessageReport| m.kind == "warning";
            assert_eq!(report.messages.iter().filter(warned).count(), 1);
        }
    }
    // A whole file of which only the first half is said to be there.
    let mut file = header_bytes(&format, Some(50)).expect("a header");
    file.extend(&data);
    let tail = "wavparse ignore-length=true ! fakesink name=k";
    for (report, _) in both("half.wav", &file, tail) {
        assert_eq!(frames(&report, "k"), expected([(Some(0), &data[..])]));
    }
    for (report, _) in both("half.wav", &file, "wavparse ! fakesink name=k") {
        assert_eq!(frames(&report, "k"), expected([(Some(0), &data[..50])]));
    }
}

#[test]
fn a_sample_of_very_many_channels_is_a_block_of_its_own() {
    let format = Format::plain(Samples::F64, u16::MAX, 1).expect("a format");
    let sample = format.block_align as usize;
    let mut file = header_bytes(&format, Some(2 * sample as u64)).expect("a header");
    file.extend((0..2 * sample).map(|n| n as u8));
    let data = file[file.len() - 2 * sample..].to_vec();
    for (report, _) in both("wide.wav", &file, "wavparse ! fakesink name=k") {
        assert_eq!(report.verdict.name(), "done");
        let blocks = (0..).zip(data.chunks(sample));
        let want = expected(blocks.map(|(n, block)| (Some(n), block)));
        assert_eq!(frames(&report, "k"), want);
    }
}

#[test]
fn jpeg_frames_have_the_rate_from_upstream() {
    let file = [JPEG, PROGRESSIVE].concat();
    let path = write("r.mjpeg", &file);
    let text = format!(
        "filesrc location={path} blocksize=50 ! image/jpeg,framerate=30/1 ! jpegparse ! watch last=9 ! fakesink name=k"
    );
    let report = run(&text);
    let seen = watched(&report);
    assert_eq!(
        seen[0],
        "caps image/jpeg,width=16,height=16,framerate=30/1,parsed=true"
    );
    assert_eq!(
        seen[2],
        "caps image/jpeg,width=17,height=9,framerate=30/1,parsed=true"
    );
    let want = expected([(Some(0), JPEG), (Some(1), PROGRESSIVE)]);
    assert_eq!(frames(&report, "k"), want);
    let first = format!(
        "buffer 0 pts 0 duration 1 of 1/30 s, {} bytes, key",
        JPEG.len()
    );
    assert_eq!(watched(&report)[1], first);
}

#[test]
fn frames_of_jpeg_have_the_times_of_their_blocks() {
    let all: Vec<Vec<u8>> = (0..4).map(|n| jpeg(16, 16, &[n; 50])).collect();
    let each = all[0].len();
    let path = write("t.mjpeg", &all.concat());
    let times = |size: usize, filter: &str| {
        let text = format!(
            "blocks location={path} size={size} step=1000 ! {filter}jpegparse ! fakesink name=k"
        );
        let report = run(&text);
        assert_eq!(report.verdict.name(), "done");
        let seen = frames(&report, "k");
        seen.iter().map(|f| f.0).collect::<Vec<_>>()
    };
    // A block each; two blocks a frame; two frames a block, the second without a time of its own.
    assert_eq!(
        times(each, ""),
        [Some(0), Some(1000), Some(2000), Some(3000)]
    );
    assert_eq!(
        times(each / 2, ""),
        [Some(0), Some(2000), Some(4000), Some(6000)]
    );
    assert_eq!(times(2 * each, ""), [Some(0), None, Some(1000), None]);
    let rate = "image/jpeg,framerate=1000000/1 ! ";
    assert_eq!(
        times(2 * each, rate),
        [Some(0), Some(1000), Some(1000), Some(2000)]
    );
}

#[test]
fn what_belongs_to_no_jpeg_frame_is_told_with_its_place() {
    let frame = |n: u8| jpeg(16, 16, &[n; 20]);
    let mut cut = frame(2);
    cut.truncate(cut.len() - 2);
    let file = [&b"junk"[..], &frame(0), b"more junk", &cut, &frame(3), b"!"].concat();
    let tail = "jpegparse name=p ! watch last=9 ! fakesink name=k";
    for (report, _) in both("j.mjpeg", &file, tail) {
        assert_eq!(report.verdict.name(), "done");
        let want = [frame(0), frame(3)];
        assert_eq!(
            frames(&report, "k"),
            expected(want.iter().map(|f| (None, &f[..])))
        );
        let each = frame(0).len() as u64;
        let told = report.messages.iter().filter_map(|m| {
            let o = m.occurrence.as_ref()?;
            Some((m.code.as_deref()?, o.index, o.value))
        });
        let told: Vec<(&str, u64, Option<i64>)> = told.collect();
        assert_eq!(
            told,
            [
                ("junk", 0, Some(4)),
                ("junk", 4 + each, Some(9)),
                ("unfinished", 13 + each, Some(cut.len() as i64)),
                ("junk", 13 + 2 * each + cut.len() as u64, Some(1)),
            ]
        );
        let seen = watched(&report);
        assert!(seen[1].ends_with("key+discontinuity"), "{}", seen[1]);
        assert!(seen[2].ends_with("key+discontinuity"), "{}", seen[2]);
    }
}

#[test]
fn junk_without_end_is_counted_and_not_told_for_ever() {
    let one = [&b"x"[..], &jpeg(1, 1, &[])].concat();
    let path = write("much.mjpeg", &one.repeat(2000));
    for by in [By::Pull, By::Push(4096)] {
        let report = run(&format!(
            "{} ! jpegparse name=p ! fakesink name=k",
            by.source(&path)
        ));
        assert_eq!(report.sinks[0].buffers, 2000);
        assert_eq!(count(&report, "p", "junk"), 2000);
        assert!(report.messages.len() < 100, "{}", report.messages.len());
    }
}

#[test]
fn much_junk_is_passed_over_in_several_ticks() {
    let mut file = vec![b'x'; 20 << 20];
    file.extend(jpeg(16, 16, &[1; 20]));
    let path = write("long.mjpeg", &file);
    for by in [By::Pull, By::Push(1 << 20)] {
        let line = format!("{} ! jpegparse name=p ! fakesink", by.source(&path));
        let report = run(&line);
        assert_eq!(report.sinks[0].buffers, 1);
        assert_eq!(count(&report, "p", "junk"), 1);
        assert!(report.ticks >= 5, "{by:?}: {}", report.ticks);
    }
}

#[test]
fn pictures_of_another_size_have_other_caps() {
    let sizes = [(16, 16), (16, 16), (32, 8), (16, 16)];
    let all: Vec<Vec<u8>> = (0u8..)
        .zip(sizes)
        .map(|(n, (w, h))| jpeg(w, h, &[n; 30]))
        .collect();
    for (report, _) in both(
        "s.mjpeg",
        &all.concat(),
        "jpegparse ! watch last=20 ! fakesink name=k",
    ) {
        assert_eq!(report.verdict.name(), "done");
        let want = expected(all.iter().map(|f| (None, &f[..])));
        assert_eq!(frames(&report, "k"), want);
        let caps: Vec<String> = watched(&report)
            .into_iter()
            .filter(|line| line.starts_with("caps"))
            .collect();
        let of = |w: u32, h: u32| format!("caps image/jpeg,width={w},height={h},parsed=true");
        assert_eq!(caps, [of(16, 16), of(32, 8), of(16, 16)]);
    }
}

#[test]
fn caps_that_only_the_run_can_know_come_with_the_header() {
    let wav = S16;
    for (name, bytes, tail, caps) in [
        (
            "u.ivf",
            VP8,
            "ivfparse",
            "video/x-vp8,width=32,height=24,framerate=25/1",
        ),
        (
            "u.wav",
            wav,
            "wavparse",
            "audio/x-raw,format=S16LE,rate=8000,channels=2,layout=interleaved",
        ),
        (
            "u.jpg",
            JPEG,
            "jpegparse",
            "image/jpeg,width=16,height=16,parsed=true",
        ),
        (
            "u.avi",
            MJPEG,
            "avidemux",
            "image/jpeg,width=16,height=16,framerate=25/1",
        ),
    ] {
        let path = write(name, bytes);
        let known = run(&format!(
            "filesrc location={path} ! {tail} ! fakesink name=k"
        ));
        for size in [1, 13, 4096] {
            let text = format!("blocks location={path} size={size} ! {tail} ! fakesink name=k");
            let report = run(&text);
            assert_eq!(report.verdict.name(), "done", "{name} {size}");
            assert_eq!(caps_at(&report, "k.sink"), caps, "{name} {size}");
            assert_eq!(frames(&report, "k"), frames(&known, "k"), "{name} {size}");
        }
    }
    // What follows cannot have them: that is told, and not before they are known.
    let path = write("n.ivf", VP8);
    let line = "ivfparse name=p ! video/x-vp9 ! fakesink";
    let report = run(&format!("blocks location={path} ! {line}"));
    assert_eq!(report.verdict.name(), "failed");
    let error = plan_error(&format!("filesrc location={path} ! {line}"));
    assert!(error.contains("video/x-vp8"), "{error}");
}

#[test]
fn an_application_can_send_the_bytes() {
    for (name, bytes, tail) in [
        ("s.ivf", AV1, "ivfparse"),
        ("s.wav", STREAM, "wavparse"),
        ("s.jpg", PROGRESSIVE, "jpegparse"),
        ("s.avi", MP3, "avidemux"),
    ] {
        let path = write(name, bytes);
        let read = run(&format!(
            "filesrc location={path} ! {tail} ! fakesink name=k"
        ));
        for size in [1, 100, 5000] {
            let mut engine = engine();
            let text = format!("appsrc name=s blocksize={size} ! {tail} ! fakesink name=k");
            let (pipeline, _) = engine.launch("main", &text).expect("a graph");
            let element = engine.element(pipeline, "s").expect("it is there");
            let source = engine.app_source(element).expect("it is one");
            let mut chunks = bytes.chunks(size);
            source.on_need_data(move |source| match chunks.next() {
                Some(chunk) => source.push_bytes(chunk, None).expect("room"),
                None => drop(source.end()),
            });
            let options = tickpipe::RunOptions {
                record: true,
                max_ticks: Some(200_000),
                ..tickpipe::RunOptions::default()
            };
            let report = engine.run(pipeline, &options, &mut ());
            assert_eq!(report.verdict.name(), "done", "{name} {size}");
            assert_eq!(frames(&report, "k"), frames(&read, "k"), "{name} {size}");
            let caps = caps_at(&read, "k.sink");
            assert_eq!(caps_at(&report, "k.sink"), caps, "{name} {size}");
        }
    }
}

#[test]
fn a_stream_that_ends_within_something_gives_all_before() {
    let wav = {
        let format = Format::plain(Samples::S24, 1, 8000).expect("a format");
        let mut file = header_bytes(&format, None).expect("a header");
        file.extend([1, 2, 3, 4, 5]);
        file
    };
    let jpegs = [jpeg(16, 16, &[1; 30]), jpeg(16, 16, &[2; 30])].concat();
    for (name, bytes, tail, whole, says) in [
        (
            "t.ivf",
            &VP8[..1230],
            "ivfparse",
            4,
            "truncated: IVF frame at byte 1118, 112 of 120 bytes",
        ),
        (
            "h.ivf",
            &VP8[..1121],
            "ivfparse",
            4,
            "truncated: IVF frame head at byte 1118, 3 of 12 bytes",
        ),
        (
            "t.wav",
            &wav,
            "wavparse",
            1,
            "truncated: sample at byte 47, 2 of 3 bytes",
        ),
        (
            "t.mjpeg",
            &jpegs[..jpegs.len() - 1],
            "jpegparse",
            1,
            "truncated: JPEG frame at byte 57, 56 bytes",
        ),
    ] {
        for (report, error) in both(name, bytes, &format!("{tail} ! fakesink name=k")) {
            assert_eq!(report.verdict.name(), "failed", "{name}");
            let code = Some(("stream".to_owned(), "truncated".to_owned()));
            assert_eq!(error_of(&report), code, "{name}");
            assert_eq!(report.sinks[0].buffers, whole, "{name}");
            assert_eq!(error.as_deref(), Some(says), "{name}");
        }
    }
}

#[test]
fn what_is_no_such_stream_is_refused_before_it_runs() {
    for (tail, says) in [
        ("ivfparse", "not an IVF file"),
        ("wavparse", "not a WAV file"),
        ("avidemux", "not an AVI file"),
    ] {
        let path = write("no.bin", b"nothing of the kind, but long enough");
        let text = format!("filesrc location={path} ! {tail} ! fakesink name=k");
        let error = plan_error(&text);
        assert!(error.contains(says), "{error}");
        let report = run(&text);
        let code = Some(("stream".to_owned(), "damaged".to_owned()));
        assert_eq!(error_of(&report), code, "{tail}");
        // In a run that cannot look before, too.
        let report = run(&format!("blocks location={path} ! {tail} ! fakesink"));
        assert_eq!(error_of(&report), code, "{tail}");
        for source in ["filesrc", "blocks"] {
            let path = write("empty.bin", b"");
            let report = run(&format!("{source} location={path} ! {tail} ! fakesink"));
            let code = Some(("stream".to_owned(), "empty".to_owned()));
            assert_eq!(error_of(&report), code, "{tail}");
        }
    }
    for bytes in [&b""[..], b"nothing of the kind"] {
        for (report, error) in both("no.jpg", bytes, "jpegparse ! fakesink") {
            let code = Some(("stream".to_owned(), "empty".to_owned()));
            assert_eq!(error_of(&report), code);
            let says = format!("no JPEG frame in {} bytes", bytes.len());
            assert_eq!(error, Some(says));
        }
    }
}

#[test]
fn a_frame_larger_than_a_buffer_says_both_and_what_raises_it() {
    let ivf = ivf(b"VP80", &[(0, vec![0; 1000]), (1, vec![0; 1001])]);
    let jpegs = [jpeg(16, 16, &[1; 968]), jpeg(16, 16, &[1; 2000])].concat();
    let avi = {
        let frames = [(0, vec![0; 1000]), (0, vec![0; 1001])];
        avi(&[Track::Video(*b"XVID", 24)], &frames, Index::Idx1(1))
    };
    let chunks = avi.windows(4).enumerate().filter(|(_, w)| w == b"00dc");
    let second = chunks.map(|(at, _)| at).nth(1).expect("two frames");
    let avi_says = format!("AVI frame at byte {second} takes 1001 bytes");
    for (name, bytes, tail, says) in [
        (
            "l.ivf",
            &ivf,
            "ivfparse",
            "IVF frame at byte 1044 takes 1001 bytes",
        ),
        (
            "l.mjpeg",
            &jpegs,
            "jpegparse",
            "JPEG frame at byte 995 takes at least 1001 bytes",
        ),
        ("l.avi", &avi, "avidemux", &avi_says[..]),
    ] {
        let line = format!("{tail} frame-bytes=1000 ! fakesink name=k");
        for (report, error) in both(name, bytes, &line) {
            let code = Some(("pool".to_owned(), "limit".to_owned()));
            assert_eq!(error_of(&report), code, "{name}");
            assert_eq!(report.sinks[0].buffers, 1, "{name}");
            let error = error.expect("told");
            let rest = ", and a buffer has 1000: the property frame-bytes says how many it has";
            assert_eq!(error, format!("{says}{rest}"));
        }
        let line = format!("{tail} frame-bytes=3000 ! fakesink name=k");
        for (report, _) in both(name, bytes, &line) {
            assert_eq!(report.verdict.name(), "done", "{name}");
            assert_eq!(report.sinks[0].buffers, 2, "{name}");
        }
    }
}

#[test]
fn a_second_run_gives_the_same() {
    use tickpipe::{MessageMask, State};
    for (name, bytes, tail) in [
        ("two.ivf", VP8, "ivfparse"),
        ("two.wav", S16, "wavparse"),
        ("two.jpg", JPEG, "jpegparse"),
        ("two.avi", MJPEG, "avidemux"),
    ] {
        let path = write(name, bytes);
        for by in [By::Pull, By::Push(33)] {
            let mut engine = engine();
            let text = format!("{} ! {tail} ! fakesink name=k", by.source(&path));
            let (pipeline, _) = engine.launch("main", &text).expect("a graph");
            // Stopped in the middle of a frame: the rest of it is gone.
            engine.set_state(pipeline, State::Playing);
            (0..4).for_each(|_| engine.tick());
            engine.set_state(pipeline, State::Ready);
            let stopped = engine.wait_for_state(pipeline, State::Ready);
            assert_eq!(stopped, Ok(()));
            while engine.next_message(pipeline, MessageMask::all()).is_some() {}
            let mut counts = Vec::new();
            for _ in 0..2 {
                engine.set_state(pipeline, State::Playing);
                let end = engine.wait(pipeline, MessageMask::EOS);
                assert!(end.is_ok(), "{name} {by:?}: {end:?} {counts:?}");
                counts.push(engine.taken(pipeline));
                engine.set_state(pipeline, State::Ready);
                let stopped = engine.wait_for_state(pipeline, State::Ready);
                assert_eq!(stopped, Ok(()));
            }
            let once = run(&text).sinks[0].buffers;
            assert_eq!(counts, [once, once], "{name} {by:?}");
        }
    }
}

#[test]
fn digests_are_equal_on_any_threads() {
    use tickpipe::{Engine, EngineOptions, RunOptions};
    for (name, bytes, tail) in [
        ("d.ivf", VP8, "ivfparse ! fakesink"),
        ("d.wav", S16, "wavparse ! fakesink"),
        ("d.jpg", JPEG, "jpegparse ! fakesink"),
        (
            "d.avi",
            MJPEG,
            "avidemux name=d d.video_0 ! fakesink d.audio_0 ! fakesink",
        ),
    ] {
        let path = write(name, bytes);
        for by in [By::Pull, By::Push(100)] {
            let digest = |threads| {
                let mut engine = Engine::with_options(EngineOptions {
                    threads,
                    ..EngineOptions::default()
                })
                .expect("an engine");
                let text = format!("{} ! {tail}", by.source(&path));
                let (pipeline, _) = engine.launch("main", &text).expect("a graph");
                let options = RunOptions {
                    digests: true,
                    ..RunOptions::default()
                };
                engine.run(pipeline, &options, &mut ()).digest
            };
            let one = digest(1);
            assert_eq!([digest(2), digest(4)], [one.clone(), one], "{name}");
        }
    }
}
