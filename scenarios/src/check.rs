//! Compares a report with what was expected of the run. Pure.

use crate::expect::{Expectation, Expected, FrameHash, MessageExpected, StallExpected};
use crate::graph::is_link;
use crate::source::Place;
use core::fmt;
use thiserror::Error;
use tickpipe::components::caps::Caps;
use tickpipe::{Report, SinkReport, Verdict};

/// Something that is not as expected, and the place of the expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The table in the scenario file.
    pub place: Place,
    /// What was expected and what was found.
    pub what: Miss,
}

/// What was expected and what was found.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Miss {
    /// The run ended otherwise.
    #[error("verdict is {}, expected {}", .found.name(), .expected.name())]
    Verdict {
        /// How it had to end.
        expected: Verdict,
        /// How it ended.
        found: Verdict,
    },
    /// An action could not be done.
    #[error("it could not be done: {why}")]
    NotDone {
        /// Why.
        why: String,
    },
    /// The run ended before the thing was set up.
    #[error("{subject} is not in the report: the run ended before it was set up")]
    Absent {
        /// What, such as `sink out`.
        subject: String,
    },
    /// A count is another.
    #[error("{subject}: {field} is {found}, expected {expected}")]
    Count {
        /// Of what, such as `element mix`.
        subject: String,
        /// The key.
        field: &'static str,
        /// What it had to be.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// The counts of an element's inputs are others.
    #[error("{subject}: {field} is {found:?}, expected {expected:?}")]
    Counts {
        /// Of what.
        subject: String,
        /// The key.
        field: &'static str,
        /// What they had to be, per input.
        expected: Vec<u64>,
        /// What they are.
        found: Vec<u64>,
    },
    /// A sink's end came, or did not.
    #[error("{subject}: eos is {found}, expected {expected}")]
    Eos {
        /// Of which sink.
        subject: String,
        /// What it had to be.
        expected: bool,
        /// What it is.
        found: bool,
    },
    /// A frame is another: the first that is.
    #[error(
        "{subject}: frame {index} is {found}, expected {expected} ({differ} of {frames} frames differ)"
    )]
    Frame {
        /// Of which sink.
        subject: String,
        /// Its number, from 0.
        index: usize,
        /// What it had to be.
        expected: FrameHash,
        /// What it is.
        found: FrameHash,
        /// How many frames differ, of those that both have.
        differ: usize,
        /// How many frames both have.
        frames: usize,
    },
    /// There are more or fewer frames.
    #[error("{subject}: {found} frames, expected {expected}")]
    Frames {
        /// Of which sink.
        subject: String,
        /// How many there had to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A link has caps that it may not have.
    #[error("{subject}: caps are {found}, expected {expected}")]
    Caps {
        /// Which link.
        subject: String,
        /// The caps that it may have.
        expected: Box<Caps>,
        /// The caps that it has.
        found: String,
    },
    /// No such message was posted.
    #[error("no message with {expected} was posted; of errors there were: {}", listed(.errors))]
    Message {
        /// What it had to say.
        expected: MessageExpected,
        /// The errors that were posted, as `element domain/code`.
        errors: Vec<String>,
    },
    /// It did not stall, or for another reason.
    #[error("{}, expected a stall with {expected}", stalled(.found.as_ref()))]
    Stall {
        /// The stall that had to be.
        expected: StallExpected,
        /// The one that was.
        found: Option<StallExpected>,
    },
}

fn stalled(found: Option<&StallExpected>) -> String {
    match found {
        None => "the run did not stall".to_owned(),
        Some(found) => format!("the run stalled with {found}"),
    }
}

fn listed(errors: &[String]) -> String {
    match errors {
        [] => "none".to_owned(),
        errors => errors.join(", "),
    }
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.file, self.place.line, self.what)
    }
}

/// What of a report is not as one expectation says.
pub(crate) fn check(expected: &Expected, report: &Report) -> Vec<Missed> {
    let mut list = List {
        place: &expected.place,
        missed: Vec::new(),
    };
    list.compare(&expected.what, report);
    list.missed
}

struct List<'a> {
    place: &'a Place,
    missed: Vec<Missed>,
}

impl List<'_> {
    fn add(&mut self, what: Miss) {
        self.missed.push(Missed {
            place: self.place.clone(),
            what,
        });
    }

    fn count(&mut self, subject: &str, field: &'static str, expected: Option<u64>, found: u64) {
        if let Some(expected) = expected.filter(|e| *e != found) {
            self.add(Miss::Count {
                subject: subject.to_owned(),
                field,
                expected,
                found,
            });
        }
    }

    fn counts(
        &mut self,
        subject: &str,
        field: &'static str,
        expected: &Option<Vec<u64>>,
        found: &[u64],
    ) {
        if let Some(expected) = expected.as_ref().filter(|e| *e != found) {
            self.add(Miss::Counts {
                subject: subject.to_owned(),
                field,
                expected: expected.clone(),
                found: found.to_vec(),
            });
        }
    }

    fn compare(&mut self, what: &Expectation, report: &Report) {
        match what {
            Expectation::Verdict(expected) => {
                let (expected, found) = (*expected, report.verdict);
                if expected != found {
                    self.add(Miss::Verdict { expected, found });
                }
            }
            Expectation::Element {
                name,
                buffers_in,
                buffers_out,
                dropped,
                copied,
            } => {
                let subject = format!("element {name}");
                let Some(found) = report.elements.iter().find(|e| e.name == *name) else {
                    return self.add(Miss::Absent { subject });
                };
                self.count(&subject, "buffers-in", *buffers_in, found.buffers_in);
                self.count(&subject, "buffers-out", *buffers_out, found.buffers_out);
                self.count(&subject, "dropped", *dropped, found.dropped);
                self.count(&subject, "copied", *copied, found.copied);
            }
            Expectation::Sink {
                name,
                buffers,
                eos,
                frames,
            } => {
                let subject = format!("sink {name}");
                let Some(found) = report.sinks.iter().find(|s| s.name == *name) else {
                    return self.add(Miss::Absent { subject });
                };
                self.count(&subject, "buffers", *buffers, found.buffers);
                if let Some(expected) = eos.filter(|e| *e != found.eos) {
                    let found = found.eos;
                    self.add(Miss::Eos {
                        subject: subject.clone(),
                        expected,
                        found,
                    });
                }
                if let Some(frames) = frames {
                    self.frames(&subject, frames, found);
                }
            }
            Expectation::Link { link, caps } => {
                let subject = format!("link {link}");
                let found = report.links.iter().find(|l| is_link(link, &l.from, &l.to));
                let Some(found) = found else {
                    return self.add(Miss::Absent { subject });
                };
                let holds = Caps::parse(&found.caps)
                    .is_ok_and(|found| found.is_subset(caps).unwrap_or(false));
                if !holds {
                    self.add(Miss::Caps {
                        subject,
                        expected: caps.clone(),
                        found: found.caps.clone(),
                    });
                }
            }
            Expectation::Sync {
                element,
                repeated,
                dropped,
                absent,
            } => {
                let subject = format!("synchroniser {element}");
                let Some(found) = report.sync.iter().find(|s| s.element == *element) else {
                    return self.add(Miss::Absent { subject });
                };
                self.counts(&subject, "repeated", repeated, &found.repeated);
                self.counts(&subject, "dropped", dropped, &found.dropped);
                self.counts(&subject, "absent", absent, &found.absent);
            }
            Expectation::Message(expected) => self.message(expected, report),
            Expectation::Stall(expected) => {
                let found = report.stall.as_ref().map(|s| StallExpected {
                    cause: Some(s.cause),
                    element: Some(s.element.clone()),
                });
                let is = |found: &StallExpected| {
                    let cause = expected.cause.is_none() || expected.cause == found.cause;
                    let element = expected.element.is_none() || expected.element == found.element;
                    cause && element
                };
                if !found.as_ref().is_some_and(is) {
                    let expected = expected.clone();
                    self.add(Miss::Stall { expected, found });
                }
            }
        }
    }

    fn frames(&mut self, subject: &str, expected: &[FrameHash], sink: &SinkReport) {
        let found: Vec<Option<FrameHash>> = sink
            .frames
            .iter()
            .map(|f| FrameHash::parse(&f.hash))
            .collect();
        let pairs = expected.iter().zip(&found).enumerate();
        let mut differing = pairs.filter(|(_, (e, f))| Some(**e) != **f);
        if let Some((index, (expected_hash, found_hash))) = differing.next() {
            let differ = 1 + differing.count();
            self.add(Miss::Frame {
                subject: subject.to_owned(),
                index,
                expected: *expected_hash,
                found: found_hash.unwrap_or(FrameHash(0)),
                differ,
                frames: expected.len().min(found.len()),
            });
        }
        if expected.len() != found.len() {
            self.add(Miss::Frames {
                subject: subject.to_owned(),
                expected: expected.len(),
                found: found.len(),
            });
        }
    }

    fn message(&mut self, expected: &MessageExpected, report: &Report) {
        fn is(expected: Option<&str>, found: Option<&str>) -> bool {
            expected.is_none() || expected == found
        }
        let posted = report.messages.iter().any(|m| {
            is(expected.element.as_deref(), m.element.as_deref())
                && is(expected.kind, Some(&m.kind))
                && is(expected.domain, m.domain.as_deref())
                && is(expected.code, m.code.as_deref())
        });
        if posted {
            return;
        }
        let errors = report.messages.iter().filter(|m| m.kind == "error");
        let errors = errors.map(|m| {
            format!(
                "{} {}/{}",
                m.element.as_deref().unwrap_or("pipeline"),
                m.domain.as_deref().unwrap_or("?"),
                m.code.as_deref().unwrap_or("?")
            )
        });
        self.add(Miss::Message {
            expected: expected.clone(),
            errors: errors.collect(),
        });
    }
}
