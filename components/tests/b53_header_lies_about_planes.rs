//! Source: https://github.com/fraunhoferhhi/vvdec/pull/389
//! What went wrong: a luma-only file was tagged 4:2:0; of 49 frames 1 could be read, and nothing
//! said why.
//! Contract: the error is at frame 1, names the byte, what stands there and the tag that the file
//! really fits, however the input is cut; a writer derives the tag from the frames, so it cannot lie.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use tickpipe_components::video::{VideoFormat, VideoInfo};
use tickpipe_components::y4m::{ChromaTag, Facts, Header, ReadError};
use y4m_support::{file, read, read_chunked};

/// A file of `frames` frames that says `said` and holds `held`.
fn lying(said: &str, held: &str, (w, h): (u32, u32), frames: usize) -> (Vec<u8>, u64) {
    let header = format!("YUV4MPEG2 W{w} H{h} F25:1 Ip A1:1 C{said}\n");
    let planes = |tag: &str| ChromaTag::find(tag.as_bytes()).unwrap().planes(w, h);
    let expected_at = header.len() as u64 + 6 + planes(said).bytes();
    (
        file(&header, frames, planes(held).bytes() as usize),
        expected_at,
    )
}

#[test]
fn luma_only_tagged_420_is_named() {
    let (file, at) = lying("420jpeg", "mono", (16, 8), 49);
    let got = read(&file);
    assert_eq!(got.frames.len(), 1);
    let found = file[at as usize..at as usize + 6].escape_ascii();
    assert_eq!(at, 40 + 6 + 192);
    assert_eq!(
        got.end.unwrap_err().to_string(),
        format!(
            "frame 1: expected FRAME at byte 238, found \"{found}\"; \
             the spacing of FRAME markers fits Cmono"
        )
    );
}

/// Said, held, and the tags that fit: those with frames of that size (16x8), the likeliest first.
const LIES: &[(&str, &str, &str)] = &[
    ("420jpeg", "mono", "Cmono"),
    ("mono", "420jpeg", "C420"),
    ("mono", "420mpeg2", "C420"),
    ("420", "422", "C422"),
    ("422", "420", "C420"),
    ("444", "420paldv", "C420"),
    ("420", "444", "C444 or C420p10"),
    ("444", "mono", "Cmono"),
    ("mono", "444alpha", "C444alpha or C422p10 or C440p10"),
    ("420p10", "420", "C420"),
    ("420", "420p12", "C444 or C420p10"),
    ("420p10", "444p14", "C444p10"),
];

#[test]
fn every_lie_is_found_out_however_the_input_is_cut() {
    for &(said, held, fits) in LIES {
        for frames in [3, 4, 10] {
            let (file, at) = lying(said, held, (16, 8), frames);
            let whole = read(&file);
            let Err(ReadError::ExpectedFrame { frame, offset, .. }) = &whole.end else {
                panic!("{said} for {held}, {frames} frames: {:?}", whole.end);
            };
            assert_eq!((*frame, *offset), (1, at), "{said} for {held}");
            let text = whole.end.as_ref().unwrap_err().to_string();
            assert!(
                text.ends_with(&format!("; the spacing of FRAME markers fits {fits}")),
                "{said} for {held}: {text}"
            );
            for sizes in [&[1][..], &[5], &[6, 1], &[13, 200]] {
                assert_eq!(read_chunked(&file, sizes), whole, "{said} for {held}");
            }
        }
    }
}

#[test]
fn a_single_frame_is_known_by_the_length_of_the_file() {
    let (file, _) = lying("420jpeg", "mono", (19, 19), 1);
    assert_eq!(
        read(&file).end.unwrap_err().to_string(),
        "truncated: frame 0, 361 of 561 bytes; the length of the file fits Cmono"
    );
    let (file, at) = lying("mono", "420jpeg", (19, 19), 1);
    let text = read(&file).end.unwrap_err().to_string();
    assert!(
        text.starts_with(&format!("frame 1: expected FRAME at byte {at}, found"))
            && text.ends_with("; the length of the file fits C420"),
        "{text}"
    );
}

/// Faults of other writers, as seen in files made by them.
#[test]
fn known_faults_of_writers_are_named() {
    // GStreamer 1.22.0: videotestsrc ! video/x-raw,format=I420,width=66,height=34 ! y4menc
    let header = "YUV4MPEG2 C420 W66 H34 Ip F30:1 A1:1\n";
    let padded = file(header, 3, 68 * 34 + 2 * 36 * 17);
    let text = read(&padded).end.unwrap_err().to_string();
    assert!(
        text.starts_with("frame 1: expected FRAME at byte 3409, found"),
        "{text}"
    );
    assert!(
        text.ends_with("fits C420 with padded rows (as GStreamer 1.22 writes it)"),
        "{text}"
    );
    // FFmpeg 5.1: -pix_fmt yuv420p10le -s 67x35 -strict -1 -f yuv4mpegpipe
    let header = "YUV4MPEG2 W67 H35 F25:1 Ip A1:1 C420p10 XYSCSS=420P10\n";
    let short = file(header, 3, 2 * 67 * 35 + 2 * 67 * 18);
    let text = read(&short).end.unwrap_err().to_string();
    assert!(
        text.ends_with(
            "fits C420p10 with chroma rows a byte short (as FFmpeg 5.1 writes it at odd widths)"
        ),
        "{text}"
    );
}

#[test]
fn no_hint_where_nothing_fits() {
    // Junk after a frame: no marker anywhere.
    let mut junk = file("YUV4MPEG2 W4 H4 Cmono\n", 1, 16);
    junk.extend_from_slice(b"FRAMES and so on\n");
    let got = read(&junk);
    assert_eq!(
        got.end.unwrap_err().to_string(),
        "frame 1: expected FRAME at byte 44, found \"FRAMES\""
    );
    // Junk in place of frame 0, and after a marker in the right place: the tag is not to blame.
    let got = read(b"YUV4MPEG2 W4 H4 Cmono\nframe\n0123456789012345");
    assert_eq!(
        got.end.unwrap_err().to_string(),
        "frame 0: expected FRAME at byte 22, found \"frame\\n\""
    );
    let mut late = file("YUV4MPEG2 W4 H4 Cmono\n", 2, 16);
    late.extend_from_slice(b"\n");
    assert_eq!(
        read(&late).end.unwrap_err().to_string(),
        "frame 2: expected FRAME at byte 66, found \"\\n\""
    );
}

#[test]
fn a_written_tag_follows_from_the_format() {
    for (format, tag) in [
        (VideoFormat::I420, "420jpeg"),
        (VideoFormat::Y42b, "422"),
        (VideoFormat::Y444, "444"),
        (VideoFormat::Gray8, "mono"),
        (VideoFormat::I42010Le, "420p10"),
    ] {
        let info = VideoInfo::new(format, 19, 19).unwrap();
        let (facts, _) = Facts::from_info(&info).unwrap();
        assert_eq!(facts.chroma.text(), tag);
        // Whatever style the header is written in.
        for style in [
            "",
            "W H Cmono",
            "C444 XYSCSS=444 W1 H1",
            "W H F I A C422p10",
        ] {
            let header = Header::from_style(&facts, style).unwrap();
            let planes = header.planes().bytes();
            assert_eq!(planes, info.layout.visible_bytes() as u64, "{style}");
        }
    }
    for format in VideoFormat::ALL {
        let info = VideoInfo::new(format, 19, 19).unwrap();
        let text = match Facts::from_info(&info) {
            Ok(_) => continue,
            Err(error) => error.to_string(),
        };
        let name = format.name();
        assert_eq!(
            text,
            format!("Y4M cannot carry {name}; supported: I420, Y42B, Y444, GRAY8, I420_10LE")
        );
    }
}
