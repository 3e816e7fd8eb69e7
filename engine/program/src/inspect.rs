//! `inspect`: the elements of this build, one of them in full, and the limits.

use crate::cli::InspectArguments;
use crate::console::Console;
use crate::failure::Failure;
use crate::table::{Side, table};
use tickpipe::components::graph::{Direction, Presence};
use tickpipe::components::property::{PropertyKind, PropertyValue};
use tickpipe::systems::element::{ElementClass, PadTemplate, PropertyInfo, Registry};
use tickpipe::{Engine, Limit};

/// `tickpipe inspect`.
pub(crate) fn inspect(arguments: &InspectArguments, console: &mut Console) -> Result<(), Failure> {
    if arguments.limits {
        return console.print(&limits());
    }
    let engine = Engine::new()?;
    let text = match &arguments.element {
        None => list(engine.registry()),
        Some(name) => element(engine.registry().class(name).map_err(Failure::Registry)?),
    };
    console.print(&text)
}

fn limits() -> String {
    let head = ["limit", "default", "range", "what it bounds", "mpipe"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(Limit::ALL.iter().map(|limit| {
        let spec = limit.spec();
        vec![
            spec.name.to_owned(),
            spec.default.to_string(),
            format!("{}..={}", spec.min, spec.max),
            spec.about.to_owned(),
            spec.mpipe.to_owned(),
        ]
    }));
    let (l, r) = (Side::Left, Side::Right);
    table(&[l, r, l, l, l], &rows)
}

fn list(registry: &Registry) -> String {
    let rows: Vec<Vec<String>> = registry
        .iter()
        .map(|class| [class.name, class.klass, class.summary])
        .map(|row| row.map(str::to_owned).to_vec())
        .collect();
    table(&[Side::Left; 3], &rows)
}

fn element(class: &ElementClass) -> String {
    let mut out = format!(
        "{}: {}\n{}\n\npads\n",
        class.name, class.summary, class.klass
    );
    for pad in &class.terms.pads {
        out.push_str(&describe_pad(pad));
    }
    if !class.properties.is_empty() {
        out.push_str("\nproperties\n");
    }
    for property in &class.properties {
        let default = match &property.default {
            PropertyValue::Text(text) if text.is_empty() => "\"\"".to_owned(),
            value => value.to_string(),
        };
        let kind = describe_kind(property);
        out.push_str(&format!(
            "  {}: {kind}; default {default}\n      {}\n",
            property.name, property.about
        ));
    }
    if !class.ignored.is_empty() {
        let ignored = class.ignored.join(", ");
        out.push_str(&format!("\naccepted and ignored: {ignored}\n"));
    }
    out
}

fn describe_pad(pad: &PadTemplate) -> String {
    let direction = match pad.direction {
        Direction::Sink => "sink",
        Direction::Source => "source",
    };
    let presence = match pad.presence {
        Presence::Always => "always",
        Presence::Request => "on request",
    };
    let mut out = format!("  {}: {direction}, {presence}\n", pad.name);
    let structures = pad.caps.structures();
    if structures.is_empty() {
        out.push_str(&format!("      {}\n", pad.caps));
    }
    for structure in structures {
        out.push_str(&format!("      {structure}\n"));
    }
    out
}

fn describe_kind(property: &PropertyInfo) -> String {
    match property.kind {
        PropertyKind::Bool => "true or false".to_owned(),
        PropertyKind::Int { min, max } => format!("a whole number in {min}..={max}"),
        PropertyKind::Choice(choices) => {
            let names = choices.iter().map(|c| format!("{} ({})", c.name, c.number));
            let names: Vec<String> = names.collect();
            format!("one of {}", names.join(", "))
        }
        PropertyKind::Text => "text".to_owned(),
        PropertyKind::Form(form) => format!("text as `{}`", form.example),
        PropertyKind::Fraction => "a fraction".to_owned(),
        PropertyKind::Caps => "caps".to_owned(),
    }
}
