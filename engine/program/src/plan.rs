//! `plan`: negotiates and prints caps and pools, or why that cannot be.

use crate::cli::PlanArguments;
use crate::console::Console;
use crate::failure::Failure;
use crate::launch::{Graph, only_limits};
use std::fmt::Write as _;
use tickpipe::{Engine, LinkTrace, PlanReport};

/// `tickpipe plan`.
pub(crate) fn plan(arguments: &PlanArguments, console: &mut Console) -> Result<(), Failure> {
    let graph = Graph::of(&arguments.description)?;
    let overrides = only_limits(&arguments.limits);
    let mut options = graph.engine_options(&overrides)?;
    options.threads = 1;
    let mut engine = Engine::with_options(options)?;
    let job = graph.build(&mut engine, &overrides)?;
    for warning in &job.warnings {
        console.warn(warning);
    }
    let outcome = engine.plan(job.pipeline);
    let trace = match arguments.trace {
        true => Some(engine.trace_negotiation(job.pipeline)?),
        false => None,
    };
    if arguments.json {
        let report = PlanReport {
            trace,
            ..PlanReport::of(&outcome)
        };
        let mut text = report.to_json();
        text.push('\n');
        console.print(&text)?;
    } else if !console.is_quiet() {
        let mut text = trace.as_deref().map_or_else(String::new, told);
        if let Ok(plan) = &outcome {
            let _ = write!(text, "{plan}");
        }
        console.print(&text)?;
    }
    outcome.map(drop).map_err(Failure::from)
}

/// The two passes, a paragraph a link.
fn told(trace: &[LinkTrace]) -> String {
    let mut text = String::new();
    for link in trace {
        let chosen = link.chosen.as_deref().unwrap_or("nothing");
        let _ = writeln!(
            text,
            "{} -> {}\n  asked:    {}\n  answered: {}\n  chosen:   {chosen}",
            link.from, link.to, link.asked, link.answered
        );
    }
    text
}
