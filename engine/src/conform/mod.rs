//! Conformance files: questions with the answers of GStreamer, FFmpeg, mpipe or a kernel, asked of
//! this engine and compared. Reads one file; writes nothing.
//!
//! | read first | for |
//! |---|---|
//! | [`SUITES`], [`suite`] | which kinds of file there are |
//! | [`read`], [`Suite::run`] | a file's bytes, and what came of its cases |
//! | [`Outcome`] | how many passed, a line for each that failed, and the engine's own answers |
//!
//! A suite is a file of this folder and one entry of [`SUITES`]. Most files are lists of cases;
//! such a suite gives a function per list (`lists`), and the walk, the counting, the lines and the
//! mirror of the file come from here.
//!
//! ```
//! let gstcaps = tickpipe::conform::suite("gstcaps").unwrap();
//! let file = r#"{"parse": [{"text": "video/x-raw,width=0x10", "caps": "video/x-raw,width=16"},
//!                          {"text": "video/x-raw,width=[9,1]", "caps": "video/x-raw"}]}"#;
//! let outcome = gstcaps.run(file.as_bytes()).unwrap();
//! assert_eq!(outcome.closing(), "1 passed, 1 failed");
//! assert!(outcome.lines[0].starts_with("parse[1]: caps: expected"));
//! ```

mod caps;
mod form;
mod framesync;
mod grid;
mod gstcaps;
mod gstlaunch;

pub use form::ConformError;

use form::Node;
use serde_json::{Map, Value as Json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most bytes of a conformance file; its name is `conform-bytes`.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// The most bytes of a text that a line shows.
const MAX_SHOWN: usize = 240;

/// A kind of conformance file.
#[derive(Debug)]
pub struct Suite {
    /// Its name on the command line.
    pub name: &'static str,
    /// What its files hold.
    pub about: &'static str,
    /// Answers a whole file in place.
    answer: fn(&mut Json) -> Result<Tally, ConformError>,
}

/// All suites, in the order in which they are listed.
pub const SUITES: &[Suite] = &[
    caps::SUITE,
    framesync::SUITE,
    gstcaps::SUITE,
    gstlaunch::SUITE,
];

/// The suite of that name.
pub fn suite(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

/// Reads a file of at most [`MAX_FILE_BYTES`].
///
/// # Errors
/// If it cannot be read or is larger.
pub fn read(path: &Path) -> Result<Vec<u8>, ConformError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(ConformError::Read)?;
    Ok(bytes)
}

impl Suite {
    /// Answers the cases of a file and compares the answers with those that it has.
    ///
    /// # Errors
    /// If the bytes are no JSON, too many, or not a file of this suite.
    pub fn run(&self, bytes: &[u8]) -> Result<Outcome, ConformError> {
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(ConformError::TooLong {
                max: MAX_FILE_BYTES,
            });
        }
        let mut file: Json = serde_json::from_slice(bytes).map_err(ConformError::not_json)?;
        let tally = (self.answer)(&mut file)?;
        Ok(Outcome {
            passed: tally.passed,
            failed: tally.failed,
            exact: tally.exact,
            skipped: tally.skipped,
            answered: tally.answered,
            lines: tally.lines,
            answers: file,
        })
    }
}

/// What came of a file's cases.
#[derive(Debug)]
pub struct Outcome {
    /// Cases with the answers that the file has, [`Outcome::exact`] ones included.
    pub passed: usize,
    /// Cases with another answer, or with none.
    pub failed: usize,
    /// Cases that passed because this engine's answer is the exact one.
    pub exact: usize,
    /// Cases that ask for what this engine does not have.
    pub skipped: usize,
    /// Cases without answers in the file, which were answered.
    pub answered: usize,
    /// A line, without its end, for each case that failed or was skipped.
    pub lines: Vec<String>,
    answers: Json,
}

impl Outcome {
    /// The line that closes a run, such as `10 passed, 0 failed`.
    pub fn closing(&self) -> String {
        let mut out = String::new();
        if self.answered == 0 || self.passed + self.failed > 0 {
            out = format!("{} passed, {} failed", self.passed, self.failed);
        }
        for (count, word) in [
            (self.exact, "exact"),
            (self.answered, "answered"),
            (self.skipped, "skipped"),
        ] {
            if count > 0 {
                let comma = if out.is_empty() { "" } else { ", " };
                out.push_str(&format!("{comma}{count} {word}"));
            }
        }
        out
    }

    /// The file with this engine's answers in place of its own: a case a line.
    pub fn answers(&self) -> String {
        let Json::Object(fields) = &self.answers else {
            return format!("{}\n", self.answers);
        };
        let mut out = String::from("{\n");
        for (i, (key, value)) in fields.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ",\n" });
            out.push_str(&format!("{}: ", Json::from(key.as_str())));
            match value {
                Json::Array(items) if !items.is_empty() => {
                    for (i, item) in items.iter().enumerate() {
                        out.push_str(if i == 0 { "[\n" } else { ",\n" });
                        out.push_str(&item.to_string());
                    }
                    out.push_str("\n]");
                }
                value => out.push_str(&value.to_string()),
            }
        }
        out.push_str("\n}\n");
        out
    }
}

/// Counts and lines while a file is answered.
#[derive(Debug, Default)]
struct Tally {
    passed: usize,
    failed: usize,
    exact: usize,
    skipped: usize,
    answered: usize,
    lines: Vec<String>,
}

/// How an answer compares with the file's.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// The same.
    Passed,
    /// Another, and right: the exact one.
    Exact,
    /// Another, or none: what differs.
    Failed(String),
    /// The file has no answer.
    Answered,
    /// The case asks for what this engine does not have: for what.
    Skipped(String),
}

impl Verdict {
    /// Of what differs, if the file has any answer.
    fn of(differs: Vec<String>, has_answer: bool) -> Verdict {
        match (differs.is_empty(), has_answer) {
            (false, _) => Verdict::Failed(differs.join("; ")),
            (true, true) => Verdict::Passed,
            (true, false) => Verdict::Answered,
        }
    }
}

/// A case's verdict, and what its answer fields get.
struct Answered {
    verdict: Verdict,
    fields: Vec<(&'static str, Json)>,
    /// Answer fields that the entry is not to have.
    without: &'static [&'static str],
}

/// Answers one case.
type Case = fn(&Node) -> Result<Answered, ConformError>;

/// Answers a file that is lists of cases, at least one of those named. Other fields stay as they are.
fn lists(file: &mut Json, cases: &[(&'static str, Case)]) -> Result<Tally, ConformError> {
    let names: Vec<String> = cases.iter().map(|(name, _)| format!("`{name}`")).collect();
    let expected = format!("a list {}", names.join(" or "));
    let root = Node::root(file);
    let fields = root.object()?;
    if !cases.iter().any(|(name, _)| fields.contains_key(*name)) {
        return Err(root.wrong(&expected));
    }
    let mut tally = Tally::default();
    for (name, case) in cases {
        let mut i = 0;
        loop {
            let root = Node::root(file);
            let Some(list) = root.get(name) else { break };
            list.list()?;
            let Some(entry) = list.item(i) else { break };
            let object = entry.object()?;
            let answered = case(&entry)?;
            let label = match object.get("id").or_else(|| object.get("name")) {
                Some(Json::String(label)) => format!(" ({})", shown(label)),
                _ => String::new(),
            };
            tally.add(answered.verdict, || format!("{name}[{i}]{label}"));
            let entry = file.get_mut(name).and_then(|list| list.get_mut(i));
            if let Some(Json::Object(entry)) = entry {
                for key in answered.without {
                    entry.shift_remove(*key);
                }
                fill(entry, answered.fields);
            }
            i += 1;
        }
    }
    Ok(tally)
}

/// Puts answers where the entry's own are, or after all else.
fn fill(entry: &mut Map<String, Json>, fields: Vec<(&'static str, Json)>) {
    for (key, value) in fields {
        entry.insert(key.to_owned(), value);
    }
}

impl Tally {
    fn add(&mut self, verdict: Verdict, place: impl FnOnce() -> String) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Exact => {
                self.passed += 1;
                self.exact += 1;
            }
            Verdict::Answered => self.answered += 1,
            Verdict::Skipped(what) => {
                self.skipped += 1;
                let line = format!("{}: skipped: {what}", place());
                self.lines.push(one_line(&line));
            }
            Verdict::Failed(why) => {
                self.failed += 1;
                self.lines.push(one_line(&format!("{}: {why}", place())));
            }
        }
    }
}

/// A text without control characters, which could make several lines of one.
fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// A text, cut if it is long.
fn shown(text: &str) -> String {
    if text.len() <= MAX_SHOWN {
        return text.to_owned();
    }
    let mut end = MAX_SHOWN;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// What is told of an answer that is not the file's.
fn differs(what: &str, expected: &str, got: &str) -> String {
    format!("{what}: expected {}, got {}", shown(expected), shown(got))
}
