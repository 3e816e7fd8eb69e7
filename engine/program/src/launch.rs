//! `launch` and `run`: from arguments to a graph that can run.

use crate::cli::{LaunchArguments, LimitFlags, RunArguments};
use crate::console::Console;
use crate::failure::Failure;
use crate::run::run_graph;
use std::path::Path;
use tickpipe::components::limits::LimitError;
use tickpipe::launch::join_arguments;
use tickpipe::{Engine, EngineOptions, Limits, RunOptions};
use tickpipe_scenarios::{Job, Overrides, Scenario, ScenarioErrorKind};

/// What arguments name: a graph as text, or a scenario.
pub(crate) enum Graph {
    Text(String),
    File(Box<Scenario>),
}

/// `tickpipe launch`.
pub(crate) fn launch(arguments: &LaunchArguments, console: &mut Console) -> Result<(), Failure> {
    let graph = Graph::of(&arguments.description)?;
    run_graph(&graph, &arguments.run, &arguments.limits, console)
}

/// `tickpipe run`.
pub(crate) fn scenario(arguments: &RunArguments, console: &mut Console) -> Result<(), Failure> {
    let graph = load(&arguments.scenario, |kind| {
        let missing = matches!(kind, ScenarioErrorKind::Read(_));
        missing.then_some("`run` takes a scenario file; `tickpipe launch` takes a description")
    })?;
    run_graph(&graph, &arguments.run, &arguments.limits, console)
}

impl Graph {
    /// A single argument that ends in `.toml` is a scenario file; all else is a launch text.
    pub(crate) fn of(arguments: &[String]) -> Result<Graph, Failure> {
        match arguments {
            [file] if file.ends_with(".toml") => load(Path::new(file), |kind| {
                let text = matches!(kind, ScenarioErrorKind::Read(_)) && file.contains('!');
                text.then_some(
                    "an argument that ends in `.toml` is a scenario file; a description that does \
                     needs a space behind it",
                )
            }),
            arguments => Ok(Graph::Text(join_arguments(arguments))),
        }
    }

    /// How its engine is to be set up.
    pub(crate) fn engine_options(
        &self,
        overrides: &Overrides,
    ) -> Result<EngineOptions, LimitError> {
        match self {
            Graph::File(scenario) => scenario.engine_options(overrides),
            Graph::Text(_) => {
                let mut limits = Limits::default();
                for (name, value) in &overrides.limits {
                    limits.set_named(name, *value)?;
                }
                Ok(EngineOptions {
                    threads: overrides.threads.unwrap_or(1),
                    limits,
                    check: overrides.check,
                    ..EngineOptions::default()
                })
            }
        }
    }

    /// Builds it; warnings are part of the job.
    pub(crate) fn build(&self, engine: &mut Engine, overrides: &Overrides) -> Result<Job, Failure> {
        match self {
            Graph::File(scenario) => scenario
                .build(engine, overrides)
                .map_err(|error| Failure::Scenario { error, help: None }),
            Graph::Text(text) => {
                let (pipeline, warnings) =
                    engine
                        .launch("pipeline", text)
                        .map_err(|error| Failure::Launch {
                            error: Box::new(error),
                            text: text.clone(),
                        })?;
                if let Some(clock) = overrides.clock {
                    engine.set_clock(pipeline, clock);
                }
                let options = RunOptions {
                    max_ticks: overrides.max_ticks,
                    digests: overrides.digests,
                    record: overrides.record,
                };
                Ok(Job::new(pipeline, options, warnings))
            }
        }
    }
}

fn load(
    path: &Path,
    help: impl FnOnce(&ScenarioErrorKind) -> Option<&'static str>,
) -> Result<Graph, Failure> {
    match Scenario::load(path) {
        Ok(scenario) => Ok(Graph::File(Box::new(scenario))),
        Err(error) => Err(Failure::Scenario {
            help: help(error.kind()),
            error,
        }),
    }
}

/// What limits alone change.
pub(crate) fn only_limits(limits: &LimitFlags) -> Overrides {
    let memory = limits.max_memory.map(|bytes| ("memory".to_owned(), bytes));
    Overrides {
        limits: limits.limits.iter().cloned().chain(memory).collect(),
        ..Overrides::default()
    }
}
