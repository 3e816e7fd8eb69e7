//! Scenario files: a graph, how to run it, and what must come out of it, in one TOML file.
//!
//! ```
//! use tickpipe_scenarios::{Overrides, Scenario};
//!
//! let text = r#"
//! [graph]
//! launch = "fakesrc num-buffers=3 ! identity name=wire ! fakesink name=out"
//!
//! [[expect]]
//! element = "wire"
//! buffers-out = 3
//!
//! [[expect]]
//! sink = "out"
//! buffers = 4
//! "#;
//! let scenario = Scenario::from_toml("three.toml", text).expect("is right");
//! let outcome = scenario.run(&Overrides::default(), &mut ()).expect("can be built");
//! assert!(!outcome.as_expected());
//! let missed: Vec<String> = outcome.missed.iter().map(|m| m.to_string()).collect();
//! assert_eq!(missed, ["three.toml:9: sink out: buffers is 3, expected 4"]);
//! ```
//!
//! The format is described in `docs/scenarios.md`. A file is refused as a whole, with the place
//! of what is wrong in it, before anything runs: [`ScenarioError`].
//!
//! - `source`: the file's text and places in it; `reader`: TOML tables, key by key; `scenario`:
//!   the settings; `action`: what is done while it runs, and `acting`: doing it;
//!   `expect`: the expectations; `variables`: `${dir}`; `graph`: building, and
//!   whether what is expected can be there; `check`: comparing with a report; `error`.

mod acting;
mod action;
mod check;
mod error;
mod expect;
mod graph;
mod reader;
mod scenario;
mod source;
mod variables;

pub use action::{Action, Deed};
pub use check::{Miss, Missed};
pub use error::{ScenarioError, ScenarioErrorKind};
pub use expect::{Expectation, Expected, FrameHash, MessageExpected};
pub use graph::{Job, Outcome, Overrides, RunError};
pub use scenario::{RunSettings, Scenario};
pub use source::Place;

/// Limit: bytes of a scenario file.
pub const MAX_FILE_BYTES: u64 = 16 << 20;
/// The version of the format that this crate reads.
pub const VERSION: u64 = 1;
/// The most threads that a run can be given.
pub const MAX_THREADS: u64 = 256;
