//! The command line program `tickpipe`: `launch`, `run`, `plan`, `inspect`, `conform`.
//!
//! Exit status: 0 done and all as expected; 1 failed, stalled, or an expectation missed, a media
//! file that is missing or broken included; 2 the command line, the launch text, a scenario or a
//! conformance file is wrong.
//!
//! - `cli`: arguments; `console`: where output goes; `failure`: errors and exit statuses; `log`:
//!   events as lines; `panics`: who tells of a panic;
//! - `launch`, `run`, `plan`, `inspect`, `conform`: the commands; `outputs`: files that they write;
//!   `progress`, `summary`, `table`: what a person sees.

mod cli;
mod conform;
mod console;
mod failure;
mod inspect;
mod launch;
mod log;
mod outputs;
pub mod panics;
mod plan;
mod progress;
mod run;
mod summary;
mod table;
mod whole;

pub use console::{Console, Logging};

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Runs the program on the process's arguments and streams.
pub fn main() -> ExitCode {
    #[cfg(all(feature = "remote", target_os = "linux"))]
    if tickpipe::remote::is_child() {
        let code = tickpipe::remote::serve(|_| Ok(()));
        return ExitCode::from(u8::try_from(code).unwrap_or(failure::USAGE));
    }
    panics::install();
    let mut console = Console::process();
    let code = catch_unwind(AssertUnwindSafe(|| run(std::env::args_os(), &mut console)));
    match code {
        Ok(code) => ExitCode::from(code),
        Err(_) => {
            console.tell(&panics::last());
            ExitCode::from(101)
        }
    }
}

/// Runs the program on arguments, the program's own name first, and gives its exit status.
pub fn run<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    console: &mut Console,
) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error, console),
    };
    let (log, quiet) = cli.shared();
    let dispatch = match log::dispatch(log, console.stderr()) {
        Ok(dispatch) => dispatch,
        Err(failure) => return ended(Err(failure), console),
    };
    console.set_quiet(quiet);
    let result = console.logging().with(dispatch, || match &cli.command {
        Command::Launch(arguments) => launch::launch(arguments, console),
        Command::Run(arguments) => launch::scenario(arguments, console),
        Command::Plan(arguments) => plan::plan(arguments, console),
        Command::Inspect(arguments) => inspect::inspect(arguments, console),
        Command::Conform(arguments) => conform::conform(arguments, console),
    });
    ended(result, console)
}

/// Help and version, or what clap says of a wrong command line.
fn not_understood(error: &clap::Error, console: &mut Console) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        console.tell(text.trim_end());
        return failure::USAGE;
    }
    ended(console.print(&text), console)
}

fn ended(result: Result<(), Failure>, console: &mut Console) -> u8 {
    let result = result.and_then(|()| console.flush());
    match result {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(text) = failure.render() {
                console.tell(&text);
            }
            failure.exit_code()
        }
    }
}
