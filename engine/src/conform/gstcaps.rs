//! Suite `gstcaps`: what GStreamer answers about caps texts. Texts are compared as sets, all
//! structures open, as users write them.

use super::form::{ConformError, Node};
use super::{Answered, Suite, Tally, Verdict, differs, lists, shown};
use serde_json::Value as Json;
use tickpipe_components::caps::{Caps, CapsLimitError};

pub(super) const SUITE: Suite = Suite {
    name: "gstcaps",
    about: "GStreamer's answers about caps texts: `cases` of two, and `parse`",
    answer,
};

fn answer(file: &mut Json) -> Result<Tally, ConformError> {
    lists(file, &[("cases", pair), ("parse", parse)])
}

/// The questions about two caps that are answered by true or false, by answer field.
type Question = fn(&Caps, &Caps) -> Result<bool, CapsLimitError>;
const QUESTIONS: [(&str, Question); 4] = [
    ("can_intersect", |a, b| Ok(a.can_intersect(b))),
    ("a_subset_of_b", |a, b| a.is_subset(b)),
    ("b_subset_of_a", |a, b| b.is_subset(a)),
    ("equal", |a, b| a.is_equal(b)),
];

fn pair(case: &Node) -> Result<Answered, ConformError> {
    let (a_text, b_text) = (case.field("a")?.text()?, case.field("b")?.text()?);
    let (a, b) = (Caps::parse(a_text), Caps::parse(b_text));
    let mut wrong = Vec::new();
    for (name, caps) in [("a", &a), ("b", &b)] {
        if let Err(error) = caps {
            wrong.push(format!("{name}: {error}"));
        }
    }
    let both = a.as_ref().ok().zip(b.as_ref().ok());
    let (mut fields, mut has_answer) = (Vec::new(), false);
    for (key, question) in QUESTIONS {
        let given = case.answer(key).map(|node| node.truth()).transpose()?;
        has_answer |= given.is_some();
        let ours = match both.map(|(a, b)| question(a, b)) {
            Some(Ok(ours)) => {
                if let Some(given) = given.filter(|given| *given != ours) {
                    wrong.push(differs(key, &given.to_string(), &ours.to_string()));
                }
                Json::from(ours)
            }
            Some(Err(error)) => {
                wrong.push(format!("{key}: {error}"));
                Json::Null
            }
            None => Json::Null,
        };
        fields.push((key, ours));
    }
    let key = "intersect";
    let given = case.answer(key).map(|node| node.text()).transpose()?;
    has_answer |= given.is_some();
    let ours = match both.map(|(a, b)| a.intersect(b)) {
        Some(Ok(ours)) => {
            wrong.extend(given.and_then(|given| differ(key, given, &ours)));
            Json::from(ours.to_gst().to_string())
        }
        Some(Err(error)) => {
            wrong.push(format!("{key}: {error}"));
            Json::Null
        }
        None => Json::Null,
    };
    // Where the recorded files have it.
    fields.insert(1, (key, ours));
    if let Some(last) = wrong.last_mut() {
        last.push_str(&format!("; a: {}; b: {}", shown(a_text), shown(b_text)));
    }
    Ok(Answered {
        without: &[],
        verdict: Verdict::of(wrong, has_answer),
        fields,
    })
}

fn parse(case: &Node) -> Result<Answered, ConformError> {
    let text = case.field("text")?.text()?;
    let key = "caps";
    // Null is an answer here: the text is refused.
    let given = case.get(key);
    let expected = match given {
        Some(node) if !node.json.is_null() => Some(node.text()?),
        _ => None,
    };
    let read = Caps::parse(text);
    let mut wrong: Option<String> = match (given, expected, &read) {
        (None, ..) | (Some(_), None, Err(_)) => None,
        (Some(_), Some(expected), Ok(caps)) => differ(key, expected, caps),
        (Some(_), Some(expected), Err(error)) => {
            Some(differs(key, expected, &format!("an error: {error}")))
        }
        (Some(_), None, Ok(caps)) => Some(differs(key, "an error", &caps.to_gst().to_string())),
    };
    if let Some(wrong) = &mut wrong {
        wrong.push_str(&format!("; text: {}", shown(text)));
    }
    let ours = read.map_or(Json::Null, |caps| Json::from(caps.to_gst().to_string()));
    Ok(Answered {
        without: &[],
        verdict: Verdict::of(Vec::from_iter(wrong), given.is_some()),
        fields: vec![(key, ours)],
    })
}

/// Why caps are not, as a set, what a text says.
fn differ(key: &str, expected: &str, ours: &Caps) -> Option<String> {
    let told = |why: &str| {
        format!(
            "{}{why}",
            differs(key, expected, &ours.to_gst().to_string())
        )
    };
    match Caps::parse(expected).map(|expected| ours.is_equal(&expected)) {
        Ok(Ok(true)) => None,
        Ok(Ok(false)) => Some(told("")),
        Ok(Err(error)) => Some(told(&format!(" (not compared: {error})"))),
        Err(error) => Some(told(&format!(" (not read: {error})"))),
    }
}
