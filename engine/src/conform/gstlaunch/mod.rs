//! Suite `gstlaunch`: how GStreamer reads launch lines. The engine builds each line; what it built,
//! and GStreamer's own question at each link, are compared with what GStreamer has.
//!
//! - `answer`: the engine's answer to a line; `link_check`: whether GStreamer would make its links;
//!   `same`: two answers compared up to automatic names.

mod answer;
mod link_check;
mod same;

#[cfg(test)]
mod tests;

use super::form::{ConformError, Node};
use super::{Answered, Suite, Tally, Verdict, lists, shown};
use answer::{Answer, Refused};
use serde_json::Value as Json;

pub(super) const SUITE: Suite = Suite {
    name: "gstlaunch",
    about: "GStreamer's reading of launch lines: `cases`",
    answer,
};

/// Answer fields of a line that is accepted.
const GRAPH: &[&str] = &["elements", "links", "properties"];

fn answer(file: &mut Json) -> Result<Tally, ConformError> {
    lists(file, &[("cases", line)])
}

/// What a file says of an accepted line.
pub(super) struct Expected {
    /// Factory and name.
    elements: Vec<(String, String)>,
    /// Element and pad, twice.
    links: Vec<[String; 4]>,
    /// Element, property, value.
    properties: Vec<(String, String, Json)>,
}

impl Expected {
    fn read(case: &Node) -> Result<Expected, ConformError> {
        fn texts<const N: usize>(node: &Node, form: &str) -> Result<[String; N], ConformError> {
            let mut out = [const { String::new() }; N];
            if node.list()?.len() != N {
                return Err(node.wrong(form));
            }
            for (i, text) in out.iter_mut().enumerate() {
                if let Some(item) = node.item(i) {
                    item.text()?.clone_into(text);
                }
            }
            Ok(out)
        }
        let mut expected = Expected {
            elements: Vec::new(),
            links: Vec::new(),
            properties: Vec::new(),
        };
        let elements = case.field("elements")?;
        elements.list()?;
        for item in (0..).map_while(|i| elements.item(i)) {
            let [factory, name] = texts(&item, "an element: [FACTORY, NAME]")?;
            expected.elements.push((factory, name));
        }
        let links = case.field("links")?;
        links.list()?;
        for item in (0..).map_while(|i| links.item(i)) {
            let form = "a link: [ELEMENT, PAD, ELEMENT, PAD]";
            expected.links.push(texts(&item, form)?);
        }
        if let Some(properties) = case.answer("properties") {
            for element in properties.object()?.keys() {
                let values = properties.field(element)?;
                for (key, value) in values.object()? {
                    let entry = (element.clone(), key.clone(), value.clone());
                    expected.properties.push(entry);
                }
            }
        }
        Ok(expected)
    }
}

fn line(case: &Node) -> Result<Answered, ConformError> {
    let line = case.field("line")?.text()?;
    let ok = case.answer("ok").map(|node| node.truth()).transpose()?;
    let free = case.answer("free").map(|node| node.truth()).transpose()?;
    let expected = match ok {
        Some(true) => Some(Expected::read(case)?),
        _ => None,
    };
    let ours = answer::answer(line);
    let told = |what: String| format!("{what}; line: {}", shown(line));
    let mut skipped = None;
    let verdict = match (ok, &expected, &ours) {
        (None, ..) => Verdict::Answered,
        // GStreamer's own answer is a gap: any will do.
        (Some(_), ..) if free == Some(true) => Verdict::Passed,
        (Some(true), Some(expected), Answer::Graph(graph)) => {
            match same::difference(expected, graph) {
                None => Verdict::Passed,
                Some(difference) => Verdict::Failed(told(difference)),
            }
        }
        (Some(true), expected, Answer::Refused(refused)) => {
            match missing(refused, expected.as_ref()) {
                Some(name) => {
                    skipped = Some(name.to_owned());
                    Verdict::Skipped(told(format!("no element `{name}`")))
                }
                None => Verdict::Failed(told(format!("ok: refused: {}", shown(&refused.told)))),
            }
        }
        (Some(true), None, Answer::Graph(_)) | (Some(false), _, Answer::Refused(_)) => {
            Verdict::Passed
        }
        (Some(false), _, Answer::Graph(_)) => {
            let why = case.answer("why").map(|node| node.text()).transpose()?;
            let why = why.map_or_else(String::new, |why| format!(" ({})", shown(why)));
            Verdict::Failed(told(format!("ok: expected a refusal{why}, got a graph")))
        }
    };
    let (fields, without): (_, &[_]) = match ours {
        Answer::Graph(graph) => {
            let [elements, links, properties] = graph.to_json();
            let fields = vec![
                ("ok", Json::from(true)),
                ("elements", elements),
                ("links", links),
                ("properties", properties),
            ];
            (fields, &["why"])
        }
        Answer::Refused(Refused { why, .. }) => {
            let mut fields = vec![("ok", Json::from(false)), ("why", Json::from(why))];
            // GStreamer accepts the line.
            fields.extend(skipped.map(|name| ("skipped", Json::from(name))));
            (fields, GRAPH)
        }
    };
    Ok(Answered {
        verdict,
        fields,
        without,
    })
}

/// The element that this engine does not have, if that is why a line is refused: one that the line
/// names, or one that GStreamer made of it.
fn missing<'a>(refused: &'a Refused, expected: Option<&'a Expected>) -> Option<&'a str> {
    if let Some(name) = &refused.unknown {
        return Some(name);
    }
    let made = expected.iter().flat_map(|expected| &expected.elements);
    let mut made = made.map(|element| element.0.as_str());
    made.find(|factory| answer::is_unknown(factory))
}
