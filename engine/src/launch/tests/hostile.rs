//! Limits, long texts, and arbitrary input: always an answer, never a panic.

use std::time::{Duration, Instant};

use super::*;

fn kind(text: &str) -> LaunchErrorKind {
    parse(text).unwrap_err().kind
}

#[test]
fn limits() {
    let text = "a".repeat(MAX_TEXT_BYTES);
    assert_eq!(parse(&text).unwrap().elements.len(), 1);
    let (bytes, max) = (MAX_TEXT_BYTES + 1, MAX_TEXT_BYTES);
    assert_eq!(
        kind(&format!("{text}b")),
        LaunchErrorKind::TooLong { bytes, max }
    );

    let text = "a ".repeat(MAX_ELEMENTS);
    assert_eq!(parse(&text).unwrap().elements.len(), MAX_ELEMENTS);
    let max = MAX_ELEMENTS;
    assert_eq!(
        kind(&format!("{text}b")),
        LaunchErrorKind::TooManyElements { max }
    );
    let over = LaunchErrorKind::TooManyElements { max };
    assert_eq!(kind(&format!("{text}( b )")), over);
    assert_eq!(kind(&format!("{text}! x/y ! t.")), over);

    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(parse(&nested(MAX_DEPTH)).unwrap().bins.len(), MAX_DEPTH);
    let max = MAX_DEPTH;
    assert_eq!(
        kind(&nested(MAX_DEPTH + 1)),
        LaunchErrorKind::TooDeep { max }
    );
    assert_eq!(
        kind(&"(".repeat(MAX_TEXT_BYTES)),
        LaunchErrorKind::TooDeep { max }
    );
}

/// Work grows with the length: a text at the limit of its kind takes a moment, not minutes. The
/// bound is far above what is measured (a few tens of milliseconds in release builds), and far
/// below what quadratic work would take.
#[test]
fn long_texts_are_read_in_linear_time() {
    let fill = |piece: &str| piece.repeat(MAX_TEXT_BYTES / piece.len());
    let chain = format!("a{}", "! b".repeat(100_000));
    let texts = [
        chain,
        fill("a k=\"x "),
        fill("a k='x "),
        fill("a k=\"\\\" "),
        format!("a {}", fill("! x/y ; ")),
        format!("a {}", fill("! x/y : ")),
        format!("a {}", fill("! x/y b")),
        fill("( a ) "),
        fill("a ! ( a ) "),
        fill("a.b,c "),
        fill("a .b,c"),
        fill("a      "),
        fill("a+b:"),
        fill("\\"),
        fill("a=\\ "),
        format!("a name=a {}", fill("a. ! b ")),
        format!("a name=a {}", fill("a0. ! a")),
        format!("a k={}", fill("\"")),
        format!("a k=\"{}\"", "\\\"".repeat(MAX_TEXT_BYTES / 2 - 10)),
        format!(
            "a .p{} ! .q{} b",
            ",x".repeat(200_000),
            ",y".repeat(200_000)
        ),
        format!(
            "a .p{} ! x/y ! .q{} b",
            ",x".repeat(60_000),
            ",y".repeat(60_000)
        ),
        format!(
            "{} nosuch. ! c",
            (0..60_000)
                .map(|n| format!("a name=n{n} "))
                .collect::<String>()
        ),
    ];
    for text in texts {
        let start = Instant::now();
        let result = parse(&text);
        if let Err(error) = &result {
            assert!(error.render(&text).len() < 2000);
        }
        if let Ok(description) = &result {
            let _ = to_text(description);
        }
        let head: String = text.chars().take(40).collect();
        assert!(start.elapsed() < Duration::from_secs(20), "{head}");
    }
}

/// Pieces that together reach every branch, and arbitrary text between them.
fn soup() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b name=b",
        " ",
        " ! ",
        "!",
        ":",
        "(",
        ")",
        "bin.(",
        "b.",
        "b.x",
        ".p",
        ",q",
        "k=",
        "=",
        "'",
        "\"",
        "\\",
        "video/x-raw",
        ";",
        "file:///",
        "@preset=",
        "é",
        "日",
        "\n",
        "\t",
        "\0",
        "\u{301}",
        "k=\"v w\"",
        "! x/y,z=1 !",
        "%",
        "%41",
        "/",
    ];
    let piece = prop_oneof![
        8 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn never_panics(text: &str) {
    match parse(text) {
        Ok(description) => {
            for link in &description.links {
                assert!(link.from.element < description.elements.len());
                assert!(link.to.element < description.elements.len());
                assert_ne!(link.from.element, link.to.element);
            }
            for warning in &description.warnings {
                assert!(render_warning(text, warning).starts_with("warning: "));
            }
            if let Ok(written) = to_text(&description) {
                let again = parse(&written).unwrap_or_else(|e| panic!("{}", e.render(&written)));
                assert_eq!(
                    again.without_spans(),
                    description.without_spans(),
                    "{written}"
                );
            }
        }
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len());
            assert!(text.get(error.span.start..error.span.end).is_some());
            assert!(error.render(text).starts_with("error: "));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..Default::default() })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        never_panics(&text);
    }

    #[test]
    fn any_soup_is_answered(text in soup()) {
        never_panics(&text);
    }

    #[test]
    fn any_span_is_rendered(text in soup(), start in 0usize..80, length in 0usize..80) {
        let shown = render(&text, Span::new(start, start + length), "m", Some("h"));
        prop_assert!(shown.starts_with("error: m") && shown.ends_with("help: h"));
    }

    /// Nothing nearer exists, and the order of candidates does not matter.
    #[test]
    fn closest_is_deterministic(
        name in "[a-c]{0,6}",
        mut names in proptest::collection::vec("[a-c]{0,6}", 0..8),
    ) {
        let found = closest(&name, names.iter().map(String::as_str)).map(str::to_owned);
        if !name.is_empty() && names.contains(&name) {
            prop_assert_eq!(found.as_deref(), Some(name.as_str()));
        }
        names.reverse();
        let again = closest(&name, names.iter().map(String::as_str)).map(str::to_owned);
        prop_assert_eq!(found, again);
    }
}
