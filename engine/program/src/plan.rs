//! `plan`: negotiates and prints caps and pools, or why that cannot be.

use crate::cli::PlanArguments;
use crate::console::Console;
use crate::failure::Failure;
use crate::launch::{Graph, only_limits};
use tickpipe::Engine;

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
    let plan = engine.plan(job.pipeline)?;
    if console.is_quiet() {
        return Ok(());
    }
    console.print(&plan.to_string())
}
