//! `conform`: runs a conformance file, and writes it again with tickpipe's own answers.

use crate::cli::ConformArguments;
use crate::console::Console;
use crate::failure::Failure;
use crate::outputs::Target;
use crate::run::same_file;
use std::path::Path;
use tickpipe::conform::{self, ConformError, Outcome, SUITES, Suite};

/// `tickpipe conform`.
pub(crate) fn conform(arguments: &ConformArguments, console: &mut Console) -> Result<(), Failure> {
    let answers_to = arguments.answers.as_deref().map(Target::of);
    if let Some(Target::File(path)) = &answers_to
        && same_file(path, &arguments.file)
    {
        return Err(Failure::AnswersInUse(path.clone()));
    }
    // The command line has no other name.
    let suite = conform::suite(&arguments.suite).unwrap_or(&SUITES[0]);
    let outcome = run(suite, &arguments.file).map_err(|error| Failure::Conform {
        file: arguments.file.clone(),
        error,
    })?;
    let mut text = String::new();
    for line in &outcome.lines {
        text.push_str(line);
        text.push('\n');
    }
    if !console.is_quiet() {
        text.push_str(&outcome.closing());
        text.push('\n');
    }
    if answers_to == Some(Target::Stdout) {
        if !text.is_empty() {
            console.tell(text.trim_end());
        }
    } else {
        console.print(&text)?;
    }
    if let Some(target) = answers_to {
        target.write(&outcome.answers(), console.out())?;
    }
    match outcome.failed {
        0 => Ok(()),
        _ => Err(Failure::Run),
    }
}

fn run(suite: &Suite, file: &Path) -> Result<Outcome, ConformError> {
    suite.run(&conform::read(file)?)
}
