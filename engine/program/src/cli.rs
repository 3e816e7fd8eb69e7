//! The command line: subcommands and flags. Plain data.

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tickpipe::conform::SUITES;
use tickpipe::{ClockMode, Limits};

/// A media pipeline engine: runs, plans and inspects graphs.
#[derive(Debug, Parser)]
#[command(name = "tickpipe", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The log filter, and whether only errors are told.
    pub fn shared(&self) -> (&str, bool) {
        let shared = match &self.command {
            Command::Launch(a) => &a.shared,
            Command::Run(a) => &a.shared,
            Command::Plan(a) => &a.shared,
            Command::Inspect(a) => &a.shared,
            Command::Conform(a) => &a.shared,
        };
        (&shared.log, shared.quiet)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a graph: elements with `!` between them, as for gst-launch-1.0
    Launch(LaunchArguments),
    /// Run a scenario and check what it expects
    Run(RunArguments),
    /// Negotiate only: caps of each link, pools with their arithmetic, or the conflict
    Plan(PlanArguments),
    /// List elements; or pads, caps and properties of one
    Inspect(InspectArguments),
    /// Run a conformance file: recorded answers of other engines, compared with tickpipe's own
    Conform(ConformArguments),
}

#[derive(Debug, Args)]
pub(crate) struct LaunchArguments {
    /// The graph; several arguments are one text. A single one that ends in `.toml` is a scenario
    /// file
    #[arg(required = true, value_name = "DESCRIPTION")]
    pub description: Vec<String>,
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub limits: LimitFlags,
    #[command(flatten)]
    pub shared: SharedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub limits: LimitFlags,
    #[command(flatten)]
    pub shared: SharedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The graph, or a scenario file that ends in `.toml`
    #[arg(required = true, value_name = "DESCRIPTION|FILE")]
    pub description: Vec<String>,
    /// Print the plan, or the conflict, as JSON: caps and cost of each link, and the cost in all
    #[arg(long)]
    pub json: bool,
    /// Also tell what each link was asked, answered and given
    #[arg(long)]
    pub trace: bool,
    #[command(flatten)]
    pub limits: LimitFlags,
    #[command(flatten)]
    pub shared: SharedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The element; without it all are listed
    pub element: Option<String>,
    /// List the limits that --limit sets
    #[arg(long, conflicts_with = "element")]
    pub limits: bool,
    #[command(flatten)]
    pub shared: SharedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ConformArguments {
    /// What the file holds
    #[arg(value_parser = suites())]
    pub suite: String,
    /// The conformance file
    #[arg(value_name = "FILE.json")]
    pub file: PathBuf,
    /// Write the file with tickpipe's own answers to OUT.json; `-` is standard output, and what is
    /// told of the cases then goes to standard error
    #[arg(long, value_name = "OUT.json")]
    pub answers: Option<PathBuf>,
    #[command(flatten)]
    pub shared: SharedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    /// Write a JSON report to FILE; `-` is standard output, which then gets nothing else
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write tick and digest of the whole state, a line a tick, to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub digests: Option<PathBuf>,
    /// Threads of a tick, 1 to 256; as many as there are cores unless given. No result depends
    /// on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub threads: Option<usize>,
    /// Fail after so many ticks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_ticks: Option<u64>,
    /// How time passes: `free` never waits, `virtual` simulates, `wall` waits
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<ClockName>,
    /// Look in every tick that all holds that always does: docs/invariants.md. No result depends
    /// on it
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LimitFlags {
    /// Set a limit; `tickpipe inspect --limits` lists them
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    pub limits: Vec<(String, u64)>,
    /// Refuse a graph that takes more memory: bytes, or with K, M, G or T (of 1024); the same as
    /// --limit memory=N
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SharedFlags {
    /// What to log to standard error beside errors, such as `info` or `tickpipe_systems=debug`
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    pub log: String,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ClockName {
    Free,
    Virtual,
    Wall,
}

impl From<ClockName> for ClockMode {
    fn from(name: ClockName) -> ClockMode {
        match name {
            ClockName::Free => ClockMode::Free,
            ClockName::Virtual => ClockMode::Virtual,
            ClockName::Wall => ClockMode::Wall,
        }
    }
}

/// The suites that there are.
fn suites() -> PossibleValuesParser {
    let suites = SUITES.iter();
    PossibleValuesParser::new(suites.map(|s| PossibleValue::new(s.name).help(s.about)))
}

/// `NAME=N`, checked against the limits that there are.
fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("a limit is set as NAME=N")?;
    let value = value
        .parse()
        .map_err(|_| format!("`{value}` is not a whole number"))?;
    Limits::default()
        .set_named(name, value)
        .map_err(|error| error.to_string())?;
    Ok((name.to_owned(), value))
}

/// A number of bytes, `64M`, `64MiB` or `67108864`, within what the limit `memory` can be.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let shift = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(format!("`{unit}` is none of K, M, G, T")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("`{digits}` is not a whole number"))?;
    let value = number.saturating_mul(1 << shift);
    let mut limits = Limits::default();
    match limits.set_named("memory", value) {
        Ok(()) => Ok(value),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bytes_have_units() {
        for (text, want) in [
            ("1", 1),
            ("64M", 64 << 20),
            ("64MiB", 64 << 20),
            ("2kB", 2048),
            ("1T", 1 << 40),
        ] {
            assert_eq!(bytes(text), Ok(want), "{text}");
        }
        for (text, want) in [
            ("", "`` is not a whole number"),
            ("-1", "`-1` is not a whole number"),
            ("1.5G", "`1.5` is not a whole number"),
            ("3Q", "`Q` is none of K, M, G, T"),
            ("0", "limit memory=0 is outside 1..=1125899906842624"),
            (
                "99999999T",
                "limit memory=18446744073709551615 is outside 1..=1125899906842624",
            ),
        ] {
            assert_eq!(bytes(text), Err(want.to_owned()), "{text}");
        }
    }

    #[test]
    fn limits_are_checked() {
        assert_eq!(limit("quantum=8"), Ok(("quantum".to_owned(), 8)));
        assert_eq!(limit("quantum"), Err("a limit is set as NAME=N".to_owned()));
        assert_eq!(
            limit("quantum=x"),
            Err("`x` is not a whole number".to_owned())
        );
        assert_eq!(
            limit("quantum=0"),
            Err("limit quantum=0 is outside 1..=256".to_owned())
        );
    }
}
