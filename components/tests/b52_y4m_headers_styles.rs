//! Y4M headers through caps and styles.
//!
//! Source: https://github.com/AOMediaCodec/libavif/issues/554 ,
//! https://github.com/Netflix/vmaf/issues/825 , https://github.com/IENT/YUView/pull/629
//! What went wrong: headers with comments, or longer than a small buffer, came back changed.
//! Contract: what caps cannot carry goes in a style, and a header is written again from both;
//! whatever the style, a header says the facts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use proptest::prelude::*;
use tickpipe_components::video::{ChromaSite, Colorimetry, InterlaceMode, VideoFormat, VideoInfo};
use tickpipe_components::y4m::{Facts, Header, Interlacing, Loss, Range, Ratio};
use y4m_support::parse;

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
