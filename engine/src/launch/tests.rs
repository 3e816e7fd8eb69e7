//! The launch syntax against GStreamer's own answers, the texts of all errors, limits, hostile
//! input, and the way from a description to text and back.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn ok(text: &str) -> Description {
    match parse(text) {
        Ok(description) => description,
        Err(error) => panic!("{}", error.render(text)),
    }
}

fn shown(text: &str) -> String {
    match parse(text) {
        Ok(description) => panic!("accepted: {description:?}"),
        Err(error) => error.render(text),
    }
}

fn warned(text: &str) -> String {
    let description = ok(text);
    let lines = description.warnings.iter();
    let lines: Vec<String> = lines.map(|w| render_warning(text, w)).collect();
    lines.join("\n")
}

/// `factory name key=value ...` of each element, then `from.pad -> to.pad` of each link.
fn told(text: &str) -> String {
    let mut description = ok(text);
    assign_names(&mut description);
    let mut out = String::new();
    let name = |index: usize| description.elements[index].name.clone().unwrap_or_default();
    for (index, element) in description.elements.iter().enumerate() {
        let bin = element.bin.map_or(String::new(), |bin| format!("[{bin}] "));
        out.push_str(&format!("{bin}{} {}", element.factory, name(index)));
        for property in &element.properties {
            out.push_str(&format!(" {}={:?}", property.key, property.value));
        }
        out.push('\n');
    }
    for link in &description.links {
        let end = |end: &End| match &end.pad {
            Some(pad) => format!("{}.{}", name(end.element), pad.name),
            None => name(end.element),
        };
        let mark = if link.all { "=>" } else { "->" };
        out.push_str(&format!("{} {mark} {}\n", end(&link.from), end(&link.to)));
    }
    out
}

mod cases;
mod errors;
mod hostile;
mod round_trip;
