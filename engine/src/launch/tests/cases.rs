//! GStreamer's answers: the recorded cases at the level of the syntax, and single rules.

use super::*;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gstlaunch-dev.json");
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn pair(value: &Value, index: usize) -> String {
    value[index].as_str().unwrap().to_owned()
}

/// Elements, links and property values of every accepted case, up to automatic names. Pads that
/// GStreamer chose are not part of the syntax; those that the text names are compared.
#[test]
fn accepted_cases() {
    let mut checked = 0;
    for case in cases() {
        let line = case["line"].as_str().unwrap();
        if !case["ok"].as_bool().unwrap() {
            continue;
        }
        let mut description = ok(line);
        assign_names(&mut description);
        let theirs = case["elements"].as_array().unwrap();
        assert_eq!(description.elements.len(), theirs.len(), "{line}");
        // The n-th element of a type here is the n-th of that type there, inline caps included.
        let mut used = vec![false; theirs.len()];
        let mut names = Vec::new();
        for element in &description.elements {
            let place = (0..theirs.len())
                .find(|&place| !used[place] && pair(&theirs[place], 0) == element.factory)
                .unwrap_or_else(|| panic!("{line}: no {}", element.factory));
            used[place] = true;
            names.push(pair(&theirs[place], 1));
            if element.name_span.is_some() {
                assert_eq!(element.name, names.last().cloned(), "{line}");
            }
        }
        let key = |end: &End| names[end.element].clone();
        let mut ours: Vec<(String, String)> = description
            .links
            .iter()
            .map(|link| (key(&link.from), key(&link.to)))
            .collect();
        let links = case["links"].as_array().unwrap();
        for link in &description.links {
            let (from, to) = (key(&link.from), key(&link.to));
            let same = |their: &&Value| pair(their, 0) == from && pair(their, 2) == to;
            let their = links.iter().find(same).unwrap();
            for (end, index) in [(&link.from, 1), (&link.to, 3)] {
                if let Some(pad) = &end.pad {
                    assert_eq!(pad.name, pair(their, index), "{line}");
                }
            }
        }
        let mut theirs: Vec<(String, String)> = links
            .iter()
            .map(|link| (pair(link, 0), pair(link, 2)))
            .collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{line}");
        for (name, properties) in case["properties"].as_object().unwrap() {
            let index = names.iter().position(|n| n == name).unwrap();
            for (key, value) in properties.as_object().unwrap() {
                let found = description.elements[index]
                    .properties
                    .iter()
                    .rfind(|property| property.canonical_key() == *key);
                let found = found.unwrap_or_else(|| panic!("{line}: no {key}"));
                // Numbers, enumerations and caps are read by the elements.
                if key == "location" && !case["free"].as_bool().unwrap() {
                    assert_eq!(found.value, value.as_str().unwrap(), "{line}");
                }
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 42);
}

/// Every line that GStreamer refuses for its syntax or for a name is refused.
#[test]
fn refused_cases() {
    let mut refused = Vec::new();
    for case in cases() {
        let line = case["line"].as_str().unwrap();
        if case["ok"].as_bool().unwrap() {
            continue;
        }
        match parse(line) {
            Err(_) => refused.push(line.to_owned()),
            Ok(_) => assert_ne!(case["why"], "syntax", "{line}"),
        }
    }
    insta::assert_snapshot!(refused.join("\n"), @r##"
videotestsrc ! "video/x-raw,width=320,height=240" ! fakesink
videotestsrc !
! fakesink
videotestsrc ! ! fakesink
videotestsrc ! x. fakesink name=y
videotestsrc name=a ! fakesink name=a
t.
videotestsrc ! "fakesink
videotestsrc ! fakesink "
fakesrc ! fakesink name=
"##);
}

#[test]
fn order_of_links() {
    insta::assert_snapshot!(told("a ! ( b ! c  d ! e ) ! f"), @r##"
a a0
[0] b b0
[0] c c0
[0] d d0
[0] e e0
f f0
b0 -> c0
d0 -> e0
a0 -> b0
e0 -> f0
"##);
    insta::assert_snapshot!(told("tee name=t ! q t. ! q t.src_7 ! q"), @r##"
tee t
q q0
q q1
q q2
t -> q0
t -> q1
t.src_7 -> q2
"##);
}

#[test]
fn pads_and_references() {
    insta::assert_snapshot!(told("a .x ! .y b"), @r##"
a a0
b b0
a0.x -> b0.y
"##);
    insta::assert_snapshot!(told("m.s_0 , s_1 ! .a,b q mux name=m"), @r##"
q q0
mux m
m.s_0 -> q0.a
m.s_1 -> q0.b
"##);
    insta::assert_snapshot!(told("m.x,y ! video/x-raw,width=3 ! n.p,q m name=m n name=n"), @r##"
capsfilter capsfilter0 caps="video/x-raw,width=3"
capsfilter capsfilter1 caps="video/x-raw,width=3"
m m
n n
m.x -> capsfilter0
capsfilter0 -> n.p
m.y -> capsfilter1
capsfilter1 -> n.q
"##);
    insta::assert_snapshot!(told("fakesrc ! fakesink0. fakesink"), @r##"
fakesrc fakesrc0
fakesink fakesink0
fakesrc0 -> fakesink0
"##);
    insta::assert_snapshot!(told("a : video/x-raw : b"), @r##"
a a0
capsfilter capsfilter0 caps="video/x-raw"
b b0
a0 => capsfilter0
capsfilter0 => b0
"##);
    insta::assert_snapshot!(told("queue name=queue0 ! queue ! ( name=queue2 queue ) ! queue"), @r##"
queue queue0
queue queue1
[0] queue queue3
queue queue4
queue0 -> queue1
queue1 -> queue3
queue3 -> queue4
"##);
}

#[test]
fn inline_caps() {
    insta::assert_snapshot!(
        told("a!video/x-raw(memory:X) , width = 3 ;audio/x-raw!b ! text/x-raw : c"),
        @r##"
a a0
capsfilter capsfilter0 caps="video/x-raw(memory:X) , width = 3 ;audio/x-raw"
b b0
capsfilter capsfilter1 caps="text/x-raw"
c c0
a0 -> capsfilter0
capsfilter0 -> b0
b0 => capsfilter1
capsfilter1 => c0
"##
    );
    insta::assert_snapshot!(told(r#"a ! video/x-raw,\ n="x\ y" ! b"#), @r##"
a a0
capsfilter capsfilter0 caps="video/x-raw, n=\"x\\ y\""
b b0
a0 -> capsfilter0
capsfilter0 -> b0
"##);
}

#[test]
fn values() {
    let value = |written: &str| {
        let description = ok(&format!("e k={written} ! f"));
        assert_eq!(description.links.len(), 1, "{written}");
        description.elements[0].properties[0].value.clone()
    };
    // Each as GStreamer 1.22 gives it to a string property.
    for (written, meant) in [
        ("a", "a"),
        (r"a\ b", "a b"),
        (r"a\\ b", r"a\ b"),
        (r#""a b""#, "a b"),
        (r#""a\"b""#, "a\"b"),
        (r#""a"b""#, "a\"b"),
        (r#""a\b""#, "ab"),
        (r#""a\\b""#, r"a\b"),
        (r#""a\\""#, r"a\"),
        (r#""""#, ""),
        (r#""a"b"#, r#""a"b"#),
        (r#""abc"#, r#""abc"#),
        ("it's", "it's"),
        ("=a", "=a"),
        (r#"x"b\c"d\e"#, r#"x"b\c"de"#),
        (r#""\"ab\"""#, "ab"),
        (r#"\"a\""#, "a"),
        (r#""\"a\\\"b\"""#, "a\"b"),
        (r#""\"\\141\"""#, "a"),
        (r#""\"a\" b""#, r#""a" b"#),
        ("\"a\tb\nc\"", "a\tb\nc"),
        (r#"""#, ""),
        (r#""a, \""#, "a, "),
        // Wider than GStreamer, which keeps the quotes.
        ("'a b'", "a b"),
        (r"'a\'b'", "a'b"),
    ] {
        assert_eq!(value(written), meant, "{written}");
    }
    let description = ok("e k = 5 num_x=6 c::a_b=7 k=8");
    let keys: Vec<String> = description.elements[0]
        .properties
        .iter()
        .map(|property| format!("{}={}", property.canonical_key(), property.value))
        .collect();
    assert_eq!(keys, ["k=5", "num-x=6", "c::a-b=7", "k=8"]);
}

#[test]
fn uris() {
    insta::assert_snapshot!(told("file:///a%20b ! x  y ! FILE://localhost/c"), @r##"
filesrc filesrc0 location="/a b"
x x0
y y0
filesink filesink0 location="/c"
filesrc0 -> x0
y0 -> filesink0
"##);
}

#[test]
fn spans_cover_what_they_name() {
    let text = "é name=\"x y\" caps = 'v' .p ! video/x-raw, width=3 ! q.s é";
    assert!(parse(text).is_err());
    let text = "ab name=\"x y\" caps = 'v' .p ! video/x-raw, width=3 ! q.s qq name=q";
    let description = ok(text);
    let cut = |span: Span| &text[span.start..span.end];
    let element = &description.elements[0];
    assert_eq!(cut(element.span), "ab name=\"x y\" caps = 'v'");
    assert_eq!(cut(element.name_span.unwrap()), "\"x y\"");
    assert_eq!(cut(element.properties[0].key_span), "caps");
    assert_eq!(cut(element.properties[0].value_span), "'v'");
    assert_eq!(cut(description.elements[1].span), "video/x-raw, width=3");
    let link = &description.links[0];
    assert_eq!(cut(link.span), "! video/x-raw, width=3 !");
    assert_eq!(cut(link.from.pad.as_ref().unwrap().span), "p");
    assert_eq!(cut(description.links[1].to.span), "q.s");
}

#[test]
fn arguments_of_a_command_line() {
    let args = [
        "filesrc",
        "location=a b",
        "!",
        "video/x-raw, width=3",
        "!",
        "s",
    ];
    let text = join_arguments(&args);
    assert_eq!(text, r"filesrc location=a\ b ! video/x-raw,\ width=3 ! s");
    let description = ok(&text);
    assert_eq!(description.elements[0].properties[0].value, "a b");
    let caps = &description.elements[1].properties[0].value;
    assert_eq!(caps, "video/x-raw, width=3");
    assert_eq!(join_arguments(&["a ! b"]), "a ! b");
    assert_eq!(join_arguments(&["a", "k=\"b c\""]), "a k=\"b c\"");
}
