//! Answers to any line, compared with themselves.

use super::answer::{Answer, answer};
use super::same::difference;
use super::{Expected, line};
use crate::conform::form::Node;
use crate::conform::{Answered, Verdict};
use crate::launch::{parse, to_text};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn judged(case: &Json) -> Answered {
    match line(&Node::root(case)) {
        Ok(answered) => answered,
        Err(error) => panic!("{error}"),
    }
}

/// The case of a line with the engine's own answer.
fn answered(text: &str) -> Json {
    let mut case = json!({ "line": text });
    let answered = judged(&case);
    assert_eq!(answered.verdict, Verdict::Answered);
    for (key, value) in answered.fields {
        case[key] = value;
    }
    case
}

/// Pieces of lines that reach every part: elements that are there, names, pads, values.
fn lines() -> impl Strategy<Value = String> {
    let pieces = [
        "fakesrc",
        "videotestsrc name=v",
        "fakesink",
        "fakesink name=s",
        "tee name=t",
        "queue",
        "funnel name=f",
        "videoconvert",
        "videoscale name=w",
        "identity name=i",
        "y4menc",
        "num-buffers=3",
        "leaky=2",
        "sync=false",
        "silent=\"yes\"",
        "max-size-time=-1",
        "v::num-buffers=4",
        "location=\"a b\"",
        " ! ",
        " ! ",
        " ! ",
        " : ",
        " ! video/x-raw,width=64 ! ",
        " ! video/x-raw,format=NV12 ! ",
        " ! audio/x-raw ! ",
        "(",
        "bin.(",
        ")",
        "t.",
        "f.",
        "i.",
        "w.",
        "v.",
        "s.",
        "t.src_3",
        "f.sink_0",
        ".src",
        "a",
        "\"",
        "'",
        "\\",
        ",",
        "=",
        "é",
    ];
    let piece = proptest::sample::select(pieces.to_vec());
    let loose = proptest::collection::vec(piece, 1..14).prop_map(|pieces| pieces.join(" "));
    // Lines that are mostly accepted.
    let middle = [
        "queue",
        "identity",
        "tee",
        "funnel",
        "videoconvert",
        "queue leaky=1",
    ];
    let middle = proptest::collection::vec(proptest::sample::select(middle.to_vec()), 0..4);
    let chain = (middle, 0u8..4).prop_map(|(middle, end)| {
        let start = [
            "videotestsrc ! ",
            "fakesrc ! ",
            "fakesrc num-buffers=2 ! ",
            "t. ! ",
        ];
        let mut out = start[usize::from(end)].to_owned();
        for element in middle {
            out.push_str(element);
            out.push_str(" ! ");
        }
        out + ["fakesink", "fakesink sync=false", "tee name=t", "f."][usize::from(end)]
    });
    let firm = proptest::collection::vec(chain, 1..4)
        .prop_map(|chains| format!("{} funnel name=f ! fakesink", chains.join(" ")));
    prop_oneof![2 => loose, 2 => firm, 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..Default::default() })]

    /// Each line has an answer, which conforms; and so does that of the same line written anew.
    #[test]
    fn any_line_is_answered(text in lines()) {
        let case = answered(&text);
        let verdict = judged(&case).verdict;
        prop_assert_eq!(&verdict, &Verdict::Passed);
        if let (Answer::Graph(graph), Ok(description)) = (answer(&text), parse(&text)) {
            // What cannot be written is told by an error.
            if let Ok(written) = to_text(&description) {
                let mut again = case.clone();
                again["line"] = Json::from(written.as_str());
                prop_assert_eq!(judged(&again).verdict, Verdict::Passed, "{}", written);
            }
            let expected = Expected::read(&Node::root(&case)).expect("is of the form");
            prop_assert_eq!(difference(&expected, &graph), None);
        }
    }

    /// Automatic names and the order of the lists say nothing; a link that is taken away does.
    #[test]
    fn names_and_order_say_nothing(text in lines(), turn in 0usize..7) {
        let mut case = answered(&text);
        if case["ok"] == json!(false) {
            return Ok(());
        }
        let given: Vec<String> = {
            let description = parse(&text).expect("is accepted");
            let elements = description.elements.iter().filter(|e| e.name_span.is_some());
            elements.filter_map(|e| e.name.clone()).collect()
        };
        let other = |name: &str| match given.iter().any(|g| g == name) {
            true => name.to_owned(),
            false => format!("x-{name}"),
        };
        for element in case["elements"].as_array_mut().expect("a list") {
            element[1] = Json::from(other(element[1].as_str().expect("a text")));
        }
        for link in case["links"].as_array_mut().expect("a list") {
            for end in [0, 2] {
                link[end] = Json::from(other(link[end].as_str().expect("a text")));
            }
        }
        let properties = case["properties"].as_object().expect("an object").clone();
        let properties = properties.into_iter().map(|(k, v)| (other(&k), v));
        case["properties"] = Json::Object(properties.collect());
        for list in ["elements", "links"] {
            let list = case[list].as_array_mut().expect("a list");
            let by = turn.min(list.len());
            list.rotate_left(by);
        }
        prop_assert_eq!(judged(&case).verdict, Verdict::Passed, "{}", case);
        let links = case["links"].as_array_mut().expect("a list");
        if links.pop().is_some() {
            let verdict = judged(&case).verdict;
            prop_assert!(matches!(verdict, Verdict::Failed(_)), "{}", case);
        }
    }
}
