//! Runs a graph: outputs, progress, what is told of it, and the exit status.

use crate::cli::{LimitFlags, RunFlags};
use crate::console::Console;
use crate::failure::Failure;
use crate::launch::{Graph, only_limits};
use crate::outputs::{Outputs, Target};
use crate::progress::Progress;
use crate::summary::Summary;
use std::path::Path;
use std::time::Instant;
use tickpipe::components::fabric::PipelineFabric;
use tickpipe::{Engine, Observer, PipelineHandle, PropertyValue, Report, Verdict};
use tickpipe_scenarios::{Outcome, Overrides};

/// The most threads that a run gets unless asked for more.
const MAX_DEFAULT_THREADS: usize = 256;

/// Builds and runs a graph.
pub(crate) fn run_graph(
    graph: &Graph,
    flags: &RunFlags,
    limits: &LimitFlags,
    console: &mut Console,
) -> Result<(), Failure> {
    let report_to = flags.report.as_deref().map(Target::of);
    let digests_to = flags.digests.as_deref().map(Target::of);
    if let (Some(report), Some(digests)) = (&report_to, &digests_to)
        && report == digests
    {
        let path = flags.report.clone().unwrap_or_default();
        return Err(Failure::SameOutput(path));
    }
    let overrides = Overrides {
        clock: flags.clock.map(Into::into),
        threads: flags.threads.or_else(|| threads(graph)),
        max_ticks: flags.max_ticks,
        digests: flags.digests.is_some(),
        check: flags.check.then_some(true),
        record: flags.report.is_some(),
        ..only_limits(limits)
    };
    if let Graph::File(scenario) = graph {
        for target in [&report_to, &digests_to].into_iter().flatten() {
            if let Target::File(path) = target
                && same_file(path, Path::new(scenario.name()))
            {
                return Err(Failure::ScenarioInUse(path.display().to_string()));
            }
        }
    }
    let mut engine = Engine::with_options(graph.engine_options(&overrides)?)?;
    let job = graph.build(&mut engine, &overrides)?;
    for warning in &job.warnings {
        console.warn(warning);
    }
    let locations = locations(&engine, job.pipeline);
    for target in [&report_to, &digests_to].into_iter().flatten() {
        if let Target::File(path) = target
            && locations.iter().any(|(_, l)| same_file(path, Path::new(l)))
        {
            return Err(Failure::OutputInUse(path.display().to_string()));
        }
    }
    // What a sink writes to standard output is not to be mixed with words for people.
    let to_stdout = |(_, l): &(_, String)| l == "/dev/stdout" || l == "/dev/fd/1";
    let printed = locations.iter().any(to_stdout)
        || [&report_to, &digests_to]
            .into_iter()
            .flatten()
            .any(|t| *t == Target::Stdout);
    let err = console.stderr();
    let shows_progress = err.is_terminal() && !console.is_quiet();
    let (mut outcome, took, mut outputs) = {
        let mut watch = Watch {
            outputs: Outputs::open(report_to, digests_to, console.out())?,
            progress: shows_progress.then(|| Progress::new(&err)),
        };
        let start = Instant::now();
        let outcome = job.run(&mut engine, &mut watch);
        let took = start.elapsed();
        if let Some(progress) = watch.progress {
            progress.end(&err);
        }
        (outcome, took, watch.outputs.finish())
    };
    let suggestions = engine.suggest(job.pipeline, &outcome.report);
    if let Some(stall) = &mut outcome.report.stall {
        stall.suggestions = suggestions;
    }
    tell(&outcome, console);
    let written = outputs.report(&outcome.report, console.out());
    if !printed && !console.is_quiet() {
        let files = files_written(&engine, job.pipeline, &outcome.report);
        let summary = Summary {
            report: &outcome.report,
            took,
            files: &files,
        };
        console.print(&summary.to_string())?;
    }
    written?;
    match outcome.as_expected() {
        true => Ok(()),
        false => Err(Failure::Run),
    }
}

/// As many threads as there are cores, unless the scenario says how many.
fn threads(graph: &Graph) -> Option<usize> {
    if let Graph::File(scenario) = graph
        && scenario.settings().threads.is_some()
    {
        return None;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Some(cores.min(MAX_DEFAULT_THREADS))
}

/// Tells on standard error what no element told: a stall, and what is not as expected.
fn tell(outcome: &Outcome, console: &Console) {
    if let Some(stall) = &outcome.report.stall
        && outcome.expected_verdict != Verdict::Stalled
    {
        let tick = stall.tick;
        let mut text = format!("error: stalled at tick {tick}: nobody can go on");
        for line in stall.lines() {
            text.push_str("\n  ");
            text.push_str(&line);
        }
        console.tell(&text);
    }
    for missed in &outcome.missed {
        console.tell(&format!("error: {missed}"));
    }
}

/// The elements that have a `location`, by name, and what it is.
fn locations(engine: &Engine, pipeline: PipelineHandle) -> Vec<(String, String)> {
    let elements = engine.elements(pipeline).into_iter();
    elements
        .filter_map(|e| match engine.get(e, "location") {
            Ok(Some(PropertyValue::Text(path))) if !path.is_empty() => Some((engine.name(e), path)),
            _ => None,
        })
        .collect()
}

/// Whether two paths lead to one regular file, whatever they are called.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
            return a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino());
        }
    }
    match (std::path::absolute(a), std::path::absolute(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// Files that sinks wrote: of those that something reached.
fn files_written(engine: &Engine, pipeline: PipelineHandle, report: &Report) -> Vec<String> {
    let reached = |name: &str| {
        let mut sinks = report.sinks.iter();
        sinks.any(|s| s.name == name && (s.eos || s.buffers > 0))
    };
    let written = locations(engine, pipeline).into_iter();
    written
        .filter(|(name, _)| reached(name))
        .map(|(_, path)| path)
        .collect()
}

/// What looks at a run tick by tick.
struct Watch<'a> {
    outputs: Outputs<'a>,
    progress: Option<Progress>,
}

impl Observer for Watch<'_> {
    fn tick(&mut self, pipeline: &PipelineFabric) {
        self.outputs.tick(pipeline);
        if let Some(progress) = &mut self.progress {
            progress.tick(pipeline);
        }
    }
}
