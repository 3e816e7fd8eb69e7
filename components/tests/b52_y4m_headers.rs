//! Source: https://github.com/AOMediaCodec/libavif/issues/554 ,
//! https://github.com/Netflix/vmaf/issues/825 , https://github.com/IENT/YUView/pull/629
//! What went wrong: headers without `C`, longer than a small buffer, or with tags that a reader
//! did not know were misread or refused without a place.
//! Contract: each header has its facts, or an error with the byte; reading and writing is stable.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use proptest::prelude::*;
use tickpipe_components::video::{
    ChromaSite, Colorimetry, FieldOrder, Frame, InterlaceMode, Layout, VideoFormat, VideoInfo,
};
use tickpipe_components::y4m::{
    FRAME_LINE, Facts, FrameInterlacing, Header, Interlacing, Loss, Presentation, Range, Ratio,
    Reader, frame_line_with, payload,
};

fn parse(line: &str) -> Header {
    let bytes = line.as_bytes();
    let (header, len) = Header::parse(bytes).unwrap().expect("a whole line");
    assert_eq!(len, bytes.len(), "{line:?}");
    header
}

/// What caps get, in one line: format, size, rate, par, interlacing, range or "assumed", site or
/// "assumed".
fn caps(info: &VideoInfo) -> String {
    let (n, d) = info.framerate.unwrap();
    let order = match info.field_order {
        FieldOrder::Unknown => "",
        FieldOrder::TopFieldFirst => " tff",
        FieldOrder::BottomFieldFirst => " bff",
    };
    format!(
        "{} {}x{} {n}/{d} {}:{} {}{order} {} {}",
        info.format().name(),
        info.width(),
        info.height(),
        info.par.0,
        info.par.1,
        info.interlace.name(),
        info.colorimetry
            .map_or("assumed".to_owned(), |c| c.to_string()),
        info.chroma_site.map_or("assumed", ChromaSite::name),
    )
}

/// Fields after the magic, what caps say, and the canonical header that these caps give.
const GOOD: &[(&str, &str, &str)] = &[
    // The two clips under scenarios/media.
    (
        " W320 H180 F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED",
        "I420 320x180 25/1 1:1 progressive bt601 mpeg2",
        " W320 H180 F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED",
    ),
    (
        " W176 H144 F30000:1001 Ip A128:117 C420mpeg2 XYSCSS=420MPEG2",
        "I420 176x144 30000/1001 128:117 progressive assumed mpeg2",
        " W176 H144 F30000:1001 Ip A128:117 C420mpeg2 XYSCSS=420MPEG2",
    ),
    // libavif 554: no C.
    (
        " W176 H144 F15:1 Ip A128:117",
        "I420 176x144 15/1 128:117 progressive assumed assumed",
        " W176 H144 F15:1 Ip A128:117 C420jpeg XYSCSS=420JPEG",
    ),
    // vmaf 825.
    (
        " W1920 H1080 F24:1 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED",
        "I420 1920x1080 24/1 1:1 progressive bt709 jpeg",
        " W1920 H1080 F24:1 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED",
    ),
    // FFmpeg: full range, every raw format.
    (
        " W6 H4 F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL",
        "I420 6x4 25/1 1:1 progressive 1:4:16:4 jpeg",
        " W6 H4 F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL",
    ),
    (
        " W6 H4 F25:1 Ib A1:1 C420paldv XYSCSS=420PALDV XCOLORRANGE=LIMITED",
        "I420 6x4 25/1 1:1 interleaved bff bt601 dv",
        " W6 H4 F25:1 Ib A1:1 C420paldv XYSCSS=420PALDV XCOLORRANGE=LIMITED",
    ),
    (
        " W6 H4 F25:1 Ip A1:1 C422 XYSCSS=422 XCOLORRANGE=LIMITED",
        "Y42B 6x4 25/1 1:1 progressive bt601 mpeg2",
        " W6 H4 F25:1 Ip A1:1 C422 XYSCSS=422 XCOLORRANGE=LIMITED",
    ),
    (
        " W6 H4 F25:1 It A1:1 C444 XYSCSS=444 XCOLORRANGE=LIMITED",
        "Y444 6x4 25/1 1:1 interleaved tff bt601 assumed",
        " W6 H4 F25:1 It A1:1 C444 XYSCSS=444 XCOLORRANGE=LIMITED",
    ),
    (
        " W6 H4 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL",
        "GRAY8 6x4 25/1 1:1 progressive 1:4:16:4 assumed",
        " W6 H4 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL",
    ),
    (
        " W6 H4 F25:1 Ip A0:0 C420p10 XYSCSS=420P10 XCOLORRANGE=LIMITED",
        "I420_10LE 6x4 25/1 1:1 progressive bt601 assumed",
        " W6 H4 F25:1 Ip A1:1 C420p10 XYSCSS=420P10 XCOLORRANGE=LIMITED",
    ),
    // GStreamer: other order, C420 whatever the siting, F0:1 for a variable rate.
    (
        " C420 W5 H3 Ip F30:1 A1:1",
        "I420 5x3 30/1 1:1 progressive assumed assumed",
        " W5 H3 F30:1 Ip A1:1 C420jpeg XYSCSS=420JPEG",
    ),
    (
        " C422 W5 H3 Ib F0:1 A1:1",
        "Y42B 5x3 0/1 1:1 interleaved bff assumed mpeg2",
        " W5 H3 F0:0 Ib A1:1 C422 XYSCSS=422",
    ),
    // The least, and what is unknown.
    (
        " W1 H1",
        "I420 1x1 0/1 1:1 progressive assumed assumed",
        " W1 H1 F0:0 Ip A1:1 C420jpeg XYSCSS=420JPEG",
    ),
    (
        " W6 H4 F0:0 A0:0 I? Cmono",
        "GRAY8 6x4 0/1 1:1 progressive bt601 assumed",
        " W6 H4 F0:0 Ip A1:1 Cmono XCOLORRANGE=LIMITED",
    ),
    (
        " W6 H4 F50:2 Im C420mpeg2",
        "I420 6x4 50/2 1:1 mixed assumed mpeg2",
        " W6 H4 F50:2 Im A1:1 C420mpeg2 XYSCSS=420MPEG2",
    ),
    // Planes by comment only; libvpx's tag; the largest values.
    (
        " W6 H4 F25:1 XYSCSS=422",
        "Y42B 6x4 25/1 1:1 progressive assumed mpeg2",
        " W6 H4 F25:1 Ip A1:1 C422 XYSCSS=422",
    ),
    (
        " W6 H4 F25:1 C422jpeg",
        "Y42B 6x4 25/1 1:1 progressive assumed jpeg",
        " W6 H4 F25:1 Ip A1:1 C422 XYSCSS=422",
    ),
    (
        " W32767 H1 F2147483647:2147483647 A2147483647:1 Cmono XCOLORRANGE=LIMITED",
        "GRAY8 32767x1 2147483647/2147483647 2147483647:1 progressive bt601 assumed",
        " W32767 H1 F2147483647:2147483647 Ip A2147483647:1 Cmono XCOLORRANGE=LIMITED",
    ),
    // Comments and unknown letters are kept, repeats and spaces too.
    (
        " Xfirst W6 Xsecond=\u{e9}% H4 Q12 F25:1 C444 X",
        "Y444 6x4 25/1 1:1 progressive assumed assumed",
        " W6 H4 F25:1 Ip A1:1 C444 XYSCSS=444",
    ),
    (
        " W6 H4 W8 F25:1 F30:1 Ip It C444 C422 XCOLORRANGE=FULL XCOLORRANGE=LIMITED",
        "Y42B 8x4 30/1 1:1 interleaved tff bt601 mpeg2",
        " W8 H4 F30:1 It A1:1 C422 XYSCSS=422 XCOLORRANGE=LIMITED",
    ),
    (
        "  W06  H4 F25:1 Cmono XCOLORRANGE=FULL ",
        "GRAY8 6x4 25/1 1:1 progressive 1:4:16:4 assumed",
        " W6 H4 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL",
    ),
    (
        " W6 H4 F25:1 C420mpeg2\r",
        "I420 6x4 25/1 1:1 progressive assumed mpeg2",
        " W6 H4 F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2",
    ),
    (
        " W6 H4 F25:1 C420mpeg2 XYSCSS=444 XCOLORRANGE=full XYSCSS X%41",
        "I420 6x4 25/1 1:1 progressive assumed mpeg2",
        " W6 H4 F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2",
    ),
];

#[test]
fn good_headers_reach_caps_and_come_back_byte_for_byte() {
    for &(fields, expected, canonical) in GOOD {
        let line = format!("YUV4MPEG2{fields}\n");
        let header = parse(&line);
        let info = header.to_info().unwrap();
        assert_eq!(caps(&info), expected, "{line}");
        assert_eq!(header.to_bytes(), line.as_bytes(), "kept as read");

        let (facts, _) = Facts::from_info(&info).unwrap();
        let made = Header::from_facts(&facts).unwrap();
        let canonical = format!("YUV4MPEG2{canonical}\n");
        assert_eq!(String::from_utf8_lossy(&made.to_bytes()), canonical);
        // Written, read and written again it is the same: nothing drifts.
        let again = parse(&canonical).to_info().unwrap();
        let (facts_again, _) = Facts::from_info(&again).unwrap();
        assert_eq!(facts_again.filled(), facts.filled(), "{line}");

        // Through caps: the style is there only if the canonical header is another.
        let style = header.style(&facts);
        assert_eq!(style.is_none(), canonical == line, "{line} {style:?}");
        let back = match &style {
            None => made,
            Some(style) => {
                assert!(style.is_ascii() && !style.contains('\n'));
                Header::from_style(&facts, style).unwrap()
            }
        };
        assert_eq!(back.to_bytes(), line.as_bytes(), "{style:?}");
    }
}

/// Fields after the magic (the first is at byte 10), and the error.
const BAD: &[(&str, &str)] = &[
    ("", "byte 9: the line ends without W (width)"),
    ("\r", "byte 9: the line ends without W (width)"),
    (" ", "byte 10: the line ends without W (width)"),
    (" H4 F25:1", "byte 18: the line ends without W (width)"),
    (" W6 F25:1", "byte 18: the line ends without H (height)"),
    (
        " W0 H4",
        "byte 10: W (width) must be from 1 to 32767, found \"0\"",
    ),
    (
        " W6 H32768",
        "byte 13: H (height) must be from 1 to 32767, found \"32768\"",
    ),
    (
        " W6 H4294967296",
        "byte 13: H (height) must be from 1 to 32767, found \"4294967296\"",
    ),
    (
        " W99999999999999999999999999999999999 H4",
        "byte 10: W (width) must be from 1 to 32767, found \"99999999999999999999999999999999…\"",
    ),
    (
        " W-6 H4",
        "byte 10: W (width) must be a whole number from 1 to 32767, found \"-6\"",
    ),
    (
        " W+6 H4",
        "byte 10: W (width) must be a whole number from 1 to 32767, found \"+6\"",
    ),
    (
        " W6 H4x",
        "byte 13: H (height) must be a whole number from 1 to 32767, found \"4x\"",
    ),
    (
        " W6 H4 W",
        "byte 16: W (width) must be a whole number from 1 to 32767, found nothing",
    ),
    (
        " W6\tH4 F25:1",
        "byte 10: W (width) must be a whole number from 1 to 32767, found \"6\\tH4\"",
    ),
    (
        " W6 H4 F25",
        "byte 16: F (frame rate) must be N:D with N and D from 0 to 2147483647, found \"25\"",
    ),
    (
        " W6 H4 F-25:1",
        "byte 16: F (frame rate) must be N:D with N and D from 0 to 2147483647, found \"-25:1\"",
    ),
    (
        " W6 H4 F2147483648:1",
        "byte 16: F (frame rate) must be N:D with N and D from 0 to 2147483647, \
         found \"2147483648:1\"",
    ),
    (
        " W6 H4 F1:2:3",
        "byte 16: F (frame rate) must be N:D with N and D from 0 to 2147483647, found \"1:2:3\"",
    ),
    (
        " W6 H4 F25:0",
        "byte 16: F (frame rate) divides by zero in \"25:0\"; unknown is written F0:0",
    ),
    (
        " W6 H4 F25:1 A1",
        "byte 22: A (pixel aspect ratio) must be N:D with N and D from 0 to 2147483647, \
         found \"1\"",
    ),
    (
        " W6 H4 A1:0",
        "byte 16: A (pixel aspect ratio) divides by zero in \"1:0\"; unknown is written A0:0",
    ),
    (
        " W6 H4 Ix",
        "byte 16: I (interlacing) must be one of p, t, b, m, ?, found \"x\"",
    ),
    (
        " W6 H4 I",
        "byte 16: I (interlacing) must be one of p, t, b, m, ?, found nothing",
    ),
    (
        " W6 H4 Ipp",
        "byte 16: I (interlacing) must be one of p, t, b, m, ?, found \"pp\"",
    ),
    (
        " W6 H4 F25:1 C420xyz",
        "byte 22: unknown chroma tag, found \"420xyz\" after C; supported: 420jpeg, 420mpeg2, \
         420paldv, 420, 422, 422jpeg, 444, mono, 420p10",
    ),
    (
        " W6 H4 F25:1 C444 C420MPEG2 C420",
        "byte 27: unknown chroma tag, found \"420MPEG2\" after C; supported: 420jpeg, 420mpeg2, \
         420paldv, 420, 422, 422jpeg, 444, mono, 420p10",
    ),
    (
        "X W6 H4",
        "byte 9: not a Y4M file: expected \"YUV4MPEG2 \", found \"YUV4MPEG2X\" from byte 0",
    ),
    (
        "\rW6 H4",
        "byte 9: not a Y4M file: expected \"YUV4MPEG2 \", found \"YUV4MPEG2\\r\" from byte 0",
    ),
];

#[test]
fn bad_headers_say_what_and_where_in_pieces_of_any_size() {
    for &(fields, expected) in BAD {
        let line = format!("YUV4MPEG2{fields}\n");
        let expected = format!("Y4M header, {expected}");
        let error = Header::parse(line.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{line:?}");
        for size in [1, 3, usize::MAX] {
            let got = y4m_support::read_chunked(line.as_bytes(), &[size]).end;
            assert_eq!(got.unwrap_err().to_string(), expected, "{line:?}");
        }
    }
    for (bytes, at) in [
        (&b"YUV4MPEG W6 H4\n"[..], 8),
        (b"\x89PNG\r\n\x1a\n", 0),
        (b"yuv4mpeg2 W6 H4\n", 0),
        (b"YUV4MPEG3 W6 H4\n", 8),
        (b"\n", 0),
    ] {
        let error = Header::parse(bytes).unwrap_err();
        assert_eq!(error.offset, at);
        // A wrong magic is found at its byte, not at the end of a line that may never come.
        let mut reader = Reader::new();
        for (i, byte) in bytes.iter().enumerate() {
            let step = reader.next(std::slice::from_ref(byte));
            assert_eq!(step.is_err(), i as u64 >= at, "{bytes:?} {i}");
        }
    }
}

#[test]
fn known_tags_without_a_raw_format_are_named_with_what_is_supported() {
    for tag in [
        "411", "440", "444alpha", "422p10", "444p10", "440p10", "420p9", "422p9", "444p9",
        "420p12", "422p12", "444p12", "420p14", "422p14", "444p14", "420p16", "422p16", "444p16",
        "mono9", "mono10", "mono12", "mono14", "mono16",
    ] {
        let header = parse(&format!("YUV4MPEG2 W6 H4 F25:1 C{tag}\n"));
        assert_eq!(
            header.to_info().unwrap_err().to_string(),
            format!(
                "Y4M header, byte 22: C{tag} is not supported; supported: 420jpeg, 420mpeg2, \
                 420paldv, 420, 422, 422jpeg, 444, mono, 420p10"
            )
        );
    }
    let header = parse("YUV4MPEG2 W6 H4 F25:1 XYSCSS=444P12\n");
    let text = header.to_info().unwrap_err().to_string();
    assert!(text.starts_with("Y4M header, byte 22: C444p12 is not supported"));
    // Well formed, but a frame of 3 GiB.
    let header = parse("YUV4MPEG2 W32767 H32767 F25:1 C444\n");
    assert!(header.to_info().is_err());
}

#[test]
fn what_is_odd_is_a_warning_with_its_place() {
    for (line, expected) in [
        (
            "YUV4MPEG2 W6 H4 F25:1 Ip A1:1 C420 Xa XYSCSS=420JPEG\n",
            &[][..],
        ),
        (
            "YUV4MPEG2 W6 W8 H4 W9\n",
            &[
                "byte 13: W is repeated (first at byte 10); the last one counts",
                "byte 19: W is repeated (first at byte 13); the last one counts",
            ],
        ),
        (
            "YUV4MPEG2  W6 H4 \n",
            &[
                "byte 10: empty field (two spaces, or one before the end of the line)",
                "byte 17: empty field (two spaces, or one before the end of the line)",
            ],
        ),
        (
            "YUV4MPEG2 W6 H4 Q12 w6\r\n",
            &[
                "byte 16: unknown field \"Q12\", kept as it is",
                "byte 20: unknown field \"w6\", kept as it is",
                "byte 22: the line ends with CR LF instead of LF",
            ],
        ),
        (
            "YUV4MPEG2 W6 H4 C420mpeg2 XYSCSS=420JPEG\n",
            &["byte 26: \"XYSCSS=420JPEG\" contradicts C420mpeg2; C counts"],
        ),
        (
            "YUV4MPEG2 W6 H4 XCOLORRANGE=PC XYSCSS=999\n",
            &[
                "byte 16: \"XCOLORRANGE=PC\" is not understood and ignored",
                "byte 31: \"XYSCSS=999\" is not understood and ignored",
            ],
        ),
        ("YUV4MPEG2 W6 H4 C444alpha XYSCSS=444\n", &[]),
    ] {
        let header = parse(line);
        let texts: Vec<String> = header.warnings().iter().map(|w| w.to_string()).collect();
        assert_eq!(texts, expected, "{line}");
    }
}

#[test]
fn what_is_assumed_is_said() {
    let assumed = |line: &str| {
        let a = parse(line).assumed();
        (a.chroma, a.siting, a.range, a.interlacing)
    };
    assert_eq!(assumed("YUV4MPEG2 W6 H4\n"), (true, true, true, true));
    assert_eq!(
        assumed("YUV4MPEG2 W6 H4 Ip C420 XCOLORRANGE=FULL\n"),
        (false, true, false, false)
    );
    assert_eq!(
        assumed("YUV4MPEG2 W6 H4 I? C420mpeg2 XCOLORRANGE=?\n"),
        (false, false, true, true)
    );
    assert_eq!(
        assumed("YUV4MPEG2 W6 H4 It C444\n"),
        (false, false, true, false)
    );
}

#[test]
fn long_comments_are_kept_verbatim() {
    for len in [4 * 1024, 60 * 1024] {
        let comment = "x".repeat(len);
        let line = format!("YUV4MPEG2 W6 H4 F25:1 X{comment} C444\n");
        let header = parse(&line);
        assert_eq!(header.comments().next(), Some(comment.as_bytes()));
        let (facts, _) = Facts::from_info(&header.to_info().unwrap()).unwrap();
        let style = header.style(&facts).unwrap();
        let back = Header::from_style(&facts, &style).unwrap();
        assert_eq!(back.to_bytes(), line.as_bytes());
    }
}

#[test]
fn the_clips_headers_survive_byte_for_byte_without_a_style() {
    for clip in ["bunny-320x180.y4m", "carphone-176x144.y4m"] {
        let path = format!("{}/../scenarios/media/{clip}", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read(&path).unwrap();
        let (header, len) = Header::parse(&file).unwrap().unwrap();
        let (facts, losses) = Facts::from_info(&header.to_info().unwrap()).unwrap();
        assert_eq!((header.style(&facts), losses), (None, vec![]));
        assert_eq!(Header::from_facts(&facts).unwrap().to_bytes(), file[..len]);
        assert!(header.warnings().is_empty());
    }
}

/// The whole clips, read into padded frames and written again.
#[test]
fn the_clips_survive_byte_for_byte() {
    for (clip, frames) in [("bunny-320x180.y4m", 24), ("carphone-176x144.y4m", 30)] {
        let path = format!("{}/../scenarios/media/{clip}", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read(&path).unwrap();
        let (header, _) = Header::parse(&file).unwrap().unwrap();
        let info = header.to_info().unwrap();
        let got = y4m_support::read_chunked(&file, &[65_536, 4_096, 1]);
        assert_eq!(got.end, Ok(frames), "{clip}");
        let (facts, _) = Facts::from_info(&info).unwrap();
        let mut written = Header::from_facts(&facts).unwrap().to_bytes();
        let layout = Layout::packed(info.format(), info.width(), info.height()).unwrap();
        for frame in &got.frames {
            let frame = Frame::new(&layout, frame).unwrap();
            written.extend_from_slice(FRAME_LINE);
            written.extend(payload(&frame).flatten());
        }
        assert!(written == file, "{clip} differs");
    }
}

#[test]
fn a_style_follows_changed_facts() {
    let header = parse("YUV4MPEG2 C420 W176 H144 Ip F50:2 A1:1 Xmade=here XCOLORRANGE=FULL\n");
    let info = header.to_info().unwrap();
    let (facts, _) = Facts::from_info(&info).unwrap();
    let style = header.style(&facts).unwrap();
    assert_eq!(style, "C420 W H I F A Xmade=here XCOLORRANGE");
    let rewritten = |change: &dyn Fn(&mut Facts)| {
        let mut facts = facts;
        change(&mut facts);
        let header = Header::from_style(&facts, &style).unwrap();
        assert_eq!(header.facts().filled(), facts.filled());
        String::from_utf8(header.to_bytes()).unwrap()
    };
    let tag = |text: &str| tickpipe_components::y4m::ChromaTag::find(text.as_bytes()).unwrap();
    assert_eq!(
        rewritten(&|f| (f.width, f.height) = (160, 90)),
        "YUV4MPEG2 C420 W160 H90 Ip F50:2 A1:1 Xmade=here XCOLORRANGE=FULL\n"
    );
    assert_eq!(
        rewritten(&|f| f.rate = Some(Ratio { num: 30, den: 1 })),
        "YUV4MPEG2 C420 W176 H144 Ip F30:1 A1:1 Xmade=here XCOLORRANGE=FULL\n"
    );
    assert_eq!(
        rewritten(&|f| f.chroma = tag("mono")),
        "YUV4MPEG2 Cmono W176 H144 Ip F50:2 A1:1 Xmade=here XCOLORRANGE=FULL\n"
    );
    assert_eq!(
        rewritten(&|f| f.range = None),
        "YUV4MPEG2 C420 W176 H144 Ip F50:2 A1:1 Xmade=here\n"
    );
    assert_eq!(
        rewritten(&|f| f.interlacing = Interlacing::Mixed),
        "YUV4MPEG2 C420 W176 H144 Im F50:2 A1:1 Xmade=here XCOLORRANGE=FULL\n"
    );
    // A style from a header that said less: what is needed is added.
    let full = Facts {
        range: Some(Range::Full),
        ..facts
    };
    let header = Header::from_style(&full, "W H").unwrap();
    assert_eq!(
        String::from_utf8(header.to_bytes()).unwrap(),
        "YUV4MPEG2 W176 H144 F50:2 XCOLORRANGE=FULL\n"
    );
    // A comment that contradicted the tag all along is no reason to touch it.
    let line = "YUV4MPEG2 W6 H4 F25:1 XYSCSS=444 C420mpeg2 XYSCSS\n";
    let header = parse(line);
    let (facts, _) = Facts::from_info(&header.to_info().unwrap()).unwrap();
    let style = header.style(&facts).unwrap();
    assert_eq!(style, "W H F %58YSCSS=444 C %58YSCSS");
    let back = Header::from_style(&facts, &style).unwrap();
    assert_eq!(back.to_bytes(), line.as_bytes());
    // Styles that nobody wrote give the canonical header.
    for style in ["%", "%4", "%zz", "W6 H4 %0A", "a%20b", "%C3%A", "\n"] {
        let header = Header::from_style(&facts, style).unwrap();
        assert_eq!(header, Header::from_facts(&facts).unwrap(), "{style}");
    }
}

#[test]
fn what_a_tag_cannot_say_is_reported() {
    let info = |format, site| {
        let mut info = VideoInfo::new(format, 64, 48).unwrap();
        info.chroma_site = site;
        info
    };
    use ChromaSite::{AltLine, Cosited, Dv, Jpeg, Mpeg2, VCosited};
    for (format, site, tag, lost) in [
        (VideoFormat::I420, Some(Jpeg), "420jpeg", false),
        (VideoFormat::I420, Some(Mpeg2), "420mpeg2", false),
        (VideoFormat::I420, Some(Dv), "420paldv", false),
        (VideoFormat::I420, Some(Cosited), "420paldv", true),
        (VideoFormat::I420, Some(VCosited), "420jpeg", true),
        (VideoFormat::I420, Some(AltLine), "420jpeg", true),
        (VideoFormat::I420, None, "420jpeg", false),
        (VideoFormat::Y42b, Some(Mpeg2), "422", false),
        (VideoFormat::Y42b, Some(Jpeg), "422", true),
        (VideoFormat::I42010Le, Some(Mpeg2), "420p10", true),
        (VideoFormat::Y444, Some(Jpeg), "444", false),
        (VideoFormat::Gray8, Some(Jpeg), "mono", false),
    ] {
        let (facts, losses) = Facts::from_info(&info(format, site)).unwrap();
        assert_eq!(facts.chroma.text(), tag);
        let expected: Vec<Loss> = match (lost, site) {
            (true, Some(site)) => vec![Loss::Siting {
                site,
                tag: facts.chroma,
            }],
            _ => vec![],
        };
        assert_eq!(losses, expected, "{format} {site:?}");
    }
    let mut odd = info(VideoFormat::I420, None);
    odd.interlace = InterlaceMode::Interleaved;
    let (facts, losses) = Facts::from_info(&odd).unwrap();
    assert_eq!(facts.interlacing, Interlacing::TopFirst);
    assert_eq!(losses, [Loss::FieldOrder]);
    odd.interlace = InterlaceMode::Alternate;
    assert_eq!(
        Facts::from_info(&odd).unwrap_err().to_string(),
        "Y4M cannot carry interlace-mode alternate; supported: progressive, interleaved, mixed"
    );
    let mut odd = info(VideoFormat::I420, None);
    odd.par = (1, 0);
    assert_eq!(
        Facts::from_info(&odd).unwrap_err().to_string(),
        "pixel-aspect-ratio 1/0 must have parts from 0 to 2147483647, the second over 0"
    );
    odd.par = (1, 1);
    odd.colorimetry = Some(Colorimetry::UNKNOWN);
    assert_eq!(Facts::from_info(&odd).unwrap().0.range, None);
}

#[test]
fn frame_lines_say_how_fields_are_shown() {
    let file = b"YUV4MPEG2 W1 H1 Im Cmono\nFRAME Itip Xnote=1\n\x80FRAME\n\x81\
                 FRAME I2p? I9pp  Z\r\n\x82";
    let mut reader = Reader::new();
    let mut rest = &file[..];
    let mut seen = Vec::new();
    while !rest.is_empty() {
        let (used, _) = reader.next(rest).unwrap();
        rest = &rest[used..];
        if let Some(line) = reader.frame_line() {
            let text = String::from_utf8_lossy(line.text()).into_owned();
            seen.push((text, line.interlacing(), line.odd().map(<[u8]>::to_vec)));
            rest = &rest[reader.skip(rest).unwrap().used..];
        }
    }
    assert_eq!(reader.end(), Ok(3));
    let first = FrameInterlacing {
        presentation: Presentation::TopFirst,
        progressive: false,
        chroma_progressive: Some(true),
    };
    let third = FrameInterlacing {
        presentation: Presentation::Double,
        progressive: true,
        chroma_progressive: None,
    };
    assert_eq!(
        seen,
        [
            ("FRAME Itip Xnote=1".to_owned(), Some(first), None),
            ("FRAME".to_owned(), None, None),
            (
                "FRAME I2p? I9pp  Z".to_owned(),
                Some(third),
                Some(b"I9pp".to_vec())
            ),
        ]
    );
    assert_eq!(frame_line_with(first), *b"FRAME Itip\n");
    assert_eq!(frame_line_with(third), *b"FRAME I2p?\n");
    assert_eq!(first.as_stream(), Interlacing::TopFirst);
    assert_eq!(third.as_stream(), Interlacing::Progressive);
}

/// The `y4m` crate reads the same width, height and rate.
#[test]
fn agrees_with_the_y4m_crate() {
    let mut compared = 0;
    for &(fields, _, _) in GOOD {
        let line = format!("YUV4MPEG2{fields}\n");
        let Ok(theirs) = y4m::decode(line.as_bytes()) else {
            continue; // it wants F, and knows fewer tags
        };
        let facts = *parse(&line).facts();
        let size = (facts.width as usize, facts.height as usize);
        assert_eq!((theirs.get_width(), theirs.get_height()), size, "{line}");
        if let Some(rate) = facts.rate {
            let theirs = theirs.get_framerate();
            let theirs = (theirs.num as u32, theirs.den as u32);
            assert_eq!(theirs, (rate.num, rate.den), "{line}");
        }
        compared += 1;
    }
    assert!(compared >= 12, "{compared}");
}

fn any_field() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..=32767).prop_map(|n| format!("W{n}")),
        (1u32..=32767).prop_map(|n| format!("H{n}")),
        (0u32..100, 1u32..100).prop_map(|(n, d)| format!("F{n}:{d}")),
        (0u32..100, 1u32..100).prop_map(|(n, d)| format!("A{n}:{d}")),
        Just("F0:0".to_owned()),
        Just("A0:0".to_owned()),
        prop::sample::select(vec!["p", "t", "b", "m", "?"]).prop_map(|l| format!("I{l}")),
        prop::sample::select(vec![
            "420jpeg", "420mpeg2", "420paldv", "420", "422", "422jpeg", "444", "mono", "420p10"
        ])
        .prop_map(|t| format!("C{t}")),
        prop::sample::select(vec!["420JPEG", "420MPEG2", "422", "444", "420P10", "odd"])
            .prop_map(|t| format!("XYSCSS={t}")),
        prop::sample::select(vec!["LIMITED", "FULL", "odd", ""])
            .prop_map(|t| format!("XCOLORRANGE={t}")),
        "[QXZ][a-zA-Z0-9=%\u{e9}\r]{0,12}",
        Just(String::new()),
    ]
}

proptest! {
    /// Any header that can be read is kept, and comes back from caps byte for byte.
    #[test]
    fn headers_round_trip(
        mut fields in prop::collection::vec(any_field(), 0..12),
        (width, height) in (1u32..5000, 1u32..5000),
        at in (0usize..13, 0usize..13),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        fields.insert(at.0.min(fields.len()), format!("W{width}"));
        fields.insert(at.1.min(fields.len()), format!("H{height}"));
        let line = format!("YUV4MPEG2 {}{end}", fields.join(" "));
        let header = parse(&line);
        prop_assert_eq!(header.to_bytes(), line.as_bytes());
        let Ok(info) = header.to_info() else { return Ok(()) };
        let (facts, _) = Facts::from_info(&info).unwrap();
        let back = match header.style(&facts) {
            None => Header::from_facts(&facts).unwrap(),
            Some(style) => Header::from_style(&facts, &style).unwrap(),
        };
        let written = String::from_utf8_lossy(&back.to_bytes()).into_owned();
        prop_assert_eq!(written, line);
    }

    /// Whatever the style, the header says the facts.
    #[test]
    fn a_header_never_lies(
        fields in prop::collection::vec(any_field(), 0..12),
        style in prop_oneof![".{0,40}", "[WHFIAC0-9:% ]{0,40}"],
        use_style: bool,
        (width, height) in (1u32..5000, 1u32..5000),
        rate in prop::option::of((1u32..100, 1u32..100)),
        tag in prop::sample::select(vec!["420mpeg2", "422", "mono", "444", "420p10"]),
        range in prop::sample::select(vec![None, Some(Range::Full), Some(Range::Limited)]),
    ) {
        let facts = Facts {
            width,
            height,
            rate: rate.map(|(num, den)| Ratio { num, den }),
            interlacing: Interlacing::TopFirst,
            aspect: None,
            chroma: tickpipe_components::y4m::ChromaTag::find(tag.as_bytes()).unwrap(),
            range,
        };
        let style = if use_style { style } else { fields.join(" ") };
        let header = Header::from_style(&facts, &style).unwrap();
        prop_assert_eq!(header.facts().filled(), facts.filled());
        let bytes = header.to_bytes();
        let (again, len) = Header::parse(&bytes).unwrap().unwrap();
        prop_assert_eq!((again, len), (header, bytes.len()));
    }
}
