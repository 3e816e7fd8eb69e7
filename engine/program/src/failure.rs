//! Why the program ends with another status than 0. Sentences are made when shown.

use std::io::ErrorKind;
use std::path::PathBuf;
use thiserror::Error;
use tickpipe::components::limits::LimitError;
use tickpipe::conform::ConformError;
use tickpipe::systems::element::RegistryError;
use tickpipe::{EngineError, LaunchGraphError, PlanError};
use tickpipe_scenarios::ScenarioError;

/// Exit status: failed, stalled, or an expectation missed.
pub(crate) const FAILED: u8 = 1;
/// Exit status: the command line, the launch text or a scenario file is wrong.
pub(crate) const USAGE: u8 = 2;

/// Why the program fails.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The filter of `--log` cannot be read.
    #[error("--log {filter}: {error}")]
    Log {
        filter: String,
        error: tracing_subscriber::filter::ParseError,
    },
    /// Two outputs have one target.
    #[error("{0} is a file of the graph: a report or digests written there would destroy it")]
    OutputInUse(String),
    /// An output would destroy the scenario.
    #[error("{0} is the scenario file: a report or digests written there would destroy it")]
    ScenarioInUse(String),
    /// Two outputs would go to one place.
    #[error("--report and --digests cannot both go to {}", .0.display())]
    SameOutput(PathBuf),
    /// The launch text is wrong.
    #[error("{error}")]
    Launch {
        error: Box<LaunchGraphError>,
        text: String,
    },
    /// A scenario file is wrong.
    #[error("{error}")]
    Scenario {
        error: ScenarioError,
        /// What to do instead, if it is clear.
        help: Option<&'static str>,
    },
    /// A conformance file cannot be used.
    #[error("{}: {error}", .file.display())]
    Conform { file: PathBuf, error: ConformError },
    /// Answers would be written over the questions.
    #[error("--answers: {} is the file that is read; writing there would destroy it", .0.display())]
    AnswersInUse(PathBuf),
    /// A limit cannot be.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// No element has that name.
    #[error(transparent)]
    Registry(RegistryError),
    /// The engine cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The graph cannot run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An output cannot be written.
    #[error("{name}: cannot be written: {error}")]
    Output { name: String, error: std::io::Error },
    /// Standard output cannot be written.
    #[error("standard output cannot be written: {0}")]
    Stdout(std::io::Error),
    /// The run is not as it should be; that was told where it was noticed.
    #[error("the run failed")]
    Run,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Log { .. }
            | Failure::SameOutput(_)
            | Failure::OutputInUse(_)
            | Failure::ScenarioInUse(_)
            | Failure::Launch { .. }
            | Failure::Scenario { .. }
            | Failure::Conform { .. }
            | Failure::AnswersInUse(_)
            | Failure::Limit(_)
            | Failure::Registry(_) => USAGE,
            Failure::Engine(_)
            | Failure::Plan(_)
            | Failure::Output { .. }
            | Failure::Stdout(_)
            | Failure::Run => FAILED,
        }
    }

    /// What to tell; `None` if nobody wants to hear it.
    pub(crate) fn render(&self) -> Option<String> {
        match self {
            Failure::Run => None,
            Failure::Stdout(error) if error.kind() == ErrorKind::BrokenPipe => None,
            Failure::Launch { error, text } => Some(error.render(text)),
            Failure::Scenario { error, help } => {
                let help = help.map_or_else(String::new, |help| format!("\n  help: {help}"));
                Some(error.render() + &help)
            }
            Failure::Registry(RegistryError::Unknown {
                closest: Some(closest),
                ..
            }) => Some(format!("error: {self}\n  help: did you mean `{closest}`?")),
            Failure::Registry(_) => Some(format!(
                "error: {self}\n  help: `tickpipe inspect` lists all elements"
            )),
            _ => Some(format!("error: {self}")),
        }
    }
}
