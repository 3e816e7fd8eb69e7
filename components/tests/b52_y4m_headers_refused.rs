//! Y4M headers that are refused or odd, and what is said of them.
//!
//! Source: https://github.com/AOMediaCodec/libavif/issues/554 ,
//! https://github.com/Netflix/vmaf/issues/825 , https://github.com/IENT/YUView/pull/629
//! What went wrong: headers with tags that a reader did not know, or broken ones, were refused
//! without a place.
//! Contract: an error, or a warning for what is only odd, with the byte.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use tickpipe_components::y4m::{Header, Reader};
use y4m_support::parse;

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
