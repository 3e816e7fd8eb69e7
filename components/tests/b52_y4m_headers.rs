//! Y4M headers that are good: their facts, and the same bytes again.
//!
//! Source: https://github.com/AOMediaCodec/libavif/issues/554 ,
//! https://github.com/Netflix/vmaf/issues/825 , https://github.com/IENT/YUView/pull/629
//! What went wrong: headers without `C`, longer than a small buffer, or with tags that a reader
//! did not know were misread.
//! Contract: each header has its facts; reading and writing is stable.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use tickpipe_components::video::{ChromaSite, FieldOrder, Frame, Layout, VideoInfo};
use tickpipe_components::y4m::{
    FRAME_LINE, Facts, FrameInterlacing, Header, Interlacing, Presentation, Reader,
    frame_line_with, payload,
};
use y4m_support::parse;

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
