//! What can be expected of a run, and how a file says it: one `[[expect]]` table each.

use crate::error::{Bad, ScenarioErrorKind as Kind};
use crate::reader::{Field, Reader};
use crate::source::Place;
use core::fmt;
use core::ops::Range;
use tickpipe::components::caps::Caps;
use tickpipe::components::fault::{Code, Domain};
use tickpipe::components::occurrence::Reason;
use tickpipe::{Cause, State, Verdict};

/// xxh3-64 of a frame's visible pixels: each plane's rows in order, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameHash(pub u64);

impl FrameHash {
    /// Reads 16 hexadecimal digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<FrameHash> {
        let digits = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let hash = digits.then(|| u64::from_str_radix(text, 16).ok())?;
        hash.map(FrameHash)
    }
}

impl fmt::Display for FrameHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A message that must have been posted; what is `None` is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageExpected {
    /// The element that posted it.
    pub element: Option<String>,
    /// Its kind, such as `error`.
    pub kind: Option<&'static str>,
    /// What kind of thing went wrong.
    pub domain: Option<&'static str>,
    /// Why; of `state-changed` the state.
    pub code: Option<&'static str>,
}

impl fmt::Display for MessageExpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("element", self.element.as_deref()),
            ("kind", self.kind),
            ("domain", self.domain),
            ("code", self.code),
        ];
        let mut first = true;
        for (name, value) in parts {
            if let Some(value) = value {
                let comma = if first { "" } else { ", " };
                write!(f, "{comma}{name} {value}")?;
                first = false;
            }
        }
        Ok(())
    }
}

/// A stall; what is `None` is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StallExpected {
    /// Why.
    pub cause: Option<Cause>,
    /// The element that is to blame.
    pub element: Option<String>,
}

impl fmt::Display for StallExpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cause, &self.element) {
            (None, None) => write!(f, "any cause"),
            (Some(cause), None) => write!(f, "cause {}", cause.name()),
            (None, Some(element)) => write!(f, "element {element}"),
            (Some(cause), Some(element)) => {
                write!(f, "cause {}, element {element}", cause.name())
            }
        }
    }
}

/// What is expected of one thing; what is `None` is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// How the run ends. Without one, [`Verdict::Done`] is expected.
    Verdict(Verdict),
    /// What an element counted.
    Element {
        /// Its name.
        name: String,
        /// Buffers that it took, on all pads.
        buffers_in: Option<u64>,
        /// Buffers that it passed on, over all pads.
        buffers_out: Option<u64>,
        /// Buffers that it let go instead of passing them on.
        dropped: Option<u64>,
        /// Buffers that it copied because another element held them too.
        copied: Option<u64>,
    },
    /// What a sink took.
    Sink {
        /// Its name.
        name: String,
        /// How many buffers.
        buffers: Option<u64>,
        /// Whether its end came.
        eos: Option<bool>,
        /// The hashes of all of its frames, in order.
        frames: Option<Vec<FrameHash>>,
    },
    /// What was agreed for a link: its caps are a subset of these. So a field that is not named
    /// is not compared.
    Link {
        /// `a.src`, or `a.src -> b.sink`.
        link: String,
        /// The caps that it may have.
        caps: Box<Caps>,
    },
    /// What a synchroniser counted, per input.
    Sync {
        /// The element.
        element: String,
        /// Sets in which the input showed a frame again.
        repeated: Option<Vec<u64>>,
        /// Frames that no set showed.
        dropped: Option<Vec<u64>>,
        /// Sets in which the input had nothing to show.
        absent: Option<Vec<u64>>,
    },
    /// A message that must be among those of the run.
    Message(MessageExpected),
    /// That it stalls, and how. Without a verdict, [`Verdict::Stalled`] is expected.
    Stall(StallExpected),
}

/// An expectation and its place.
#[derive(Clone, Debug)]
pub struct Expected {
    /// What is expected.
    pub what: Expectation,
    /// Where its table stands.
    pub place: Place,
    /// Spans of the values that name things of the graph, with their keys.
    pub(crate) places: Vec<(String, Range<usize>)>,
}

/// What an `[[expect]]` table can be about.
const SUBJECTS: [&str; 7] = [
    "verdict", "element", "sink", "link", "sync", "message", "stall",
];

/// What a message can be asked for.
const MESSAGE_KEYS: [&str; 4] = ["element", "kind", "domain", "code"];

/// Reads an `[[expect]]` table. `places` gets the spans of the names in it.
pub(crate) fn read(
    mut table: Reader<'_>,
    places: &mut Vec<(String, Range<usize>)>,
) -> Result<Expectation, Bad> {
    let mut subjects: Vec<(&'static str, Field<'_>)> = SUBJECTS
        .into_iter()
        .filter_map(|key| Some((key, table.get(key)?)))
        .collect();
    subjects.sort_by_key(|(_, field)| field.key_span.start);
    let mut subjects = subjects.into_iter();
    let Some((subject, field)) = subjects.next() else {
        return Err(Bad::new(
            Kind::NoSubject {
                table: table.path().to_owned(),
                known: SUBJECTS.to_vec(),
            },
            table.span(),
        ));
    };
    if let Some((_, second)) = subjects.next() {
        let kind = Kind::TwoSubjects {
            key: second.key.clone(),
            first: subject,
        };
        return Err(Bad::new(kind, second.key_span));
    }
    table.forget(SUBJECTS.as_slice());
    table.get(subject);
    let place = |field: &Field<'_>| (field.key.clone(), field.span());
    let name = |places: &mut Vec<_>| {
        places.push(place(&field));
        field.text().map(str::to_owned)
    };
    let what = match subject {
        "verdict" => Expectation::Verdict(verdict(&field)?),
        "element" => Expectation::Element {
            name: name(places)?,
            buffers_in: count(&mut table, "buffers-in")?,
            buffers_out: count(&mut table, "buffers-out")?,
            dropped: count(&mut table, "dropped")?,
            copied: count(&mut table, "copied")?,
        },
        "sink" => Expectation::Sink {
            name: name(places)?,
            buffers: count(&mut table, "buffers")?,
            eos: table.get("eos").map(|f| f.boolean()).transpose()?,
            frames: table.get("frames").map(|f| hashes(&f)).transpose()?,
        },
        "link" => Expectation::Link {
            link: name(places)?,
            caps: Box::new(caps(&table.need("caps")?)?),
        },
        "sync" => {
            let element = name(places)?;
            let mut per_input = |key| -> Result<Option<Vec<u64>>, Bad> {
                let Some(field) = table.get(key) else {
                    return Ok(None);
                };
                places.push(place(&field));
                let list = field.list()?;
                let numbers = list.iter().map(|f| f.number(0, u64::MAX));
                numbers.collect::<Result<_, _>>().map(Some)
            };
            Expectation::Sync {
                element,
                repeated: per_input("repeated")?,
                dropped: per_input("dropped")?,
                absent: per_input("absent")?,
            }
        }
        "stall" => Expectation::Stall(stall(field.table()?, places)?),
        _ => Expectation::Message(message(field.table()?, places)?),
    };
    let known = match what {
        Expectation::Message(_) => MESSAGE_KEYS.to_vec(),
        _ => table.known_besides(subject),
    };
    let path = table.path().to_owned();
    let span = table.span();
    table.finish()?;
    if is_idle(&what) {
        return Err(Bad::new(
            Kind::NothingExpected {
                table: path,
                subject,
                known,
            },
            span,
        ));
    }
    Ok(what)
}

/// Whether it expects nothing at all.
fn is_idle(what: &Expectation) -> bool {
    match what {
        Expectation::Element {
            buffers_in: None,
            buffers_out: None,
            dropped: None,
            copied: None,
            ..
        }
        | Expectation::Sink {
            buffers: None,
            eos: None,
            frames: None,
            ..
        }
        | Expectation::Sync {
            repeated: None,
            dropped: None,
            absent: None,
            ..
        } => true,
        Expectation::Message(message) => *message == MessageExpected::default(),
        _ => false,
    }
}

fn count(table: &mut Reader<'_>, key: &'static str) -> Result<Option<u64>, Bad> {
    let field = table.get(key);
    field.map(|f| f.number(0, u64::MAX)).transpose()
}

/// How a run ends by itself; `expectation-missed` is what an expectation makes of it.
fn verdict(field: &Field<'_>) -> Result<Verdict, Bad> {
    const ENDS: [Verdict; 3] = [Verdict::Done, Verdict::Failed, Verdict::Stalled];
    field.word(
        || ENDS.iter().map(|v| v.name()).collect(),
        |name| ENDS.into_iter().find(|v| v.name() == name),
    )
}

fn hashes(field: &Field<'_>) -> Result<Vec<FrameHash>, Bad> {
    let read = |field: &Field<'_>| {
        let text = field.text()?;
        FrameHash::parse(text).ok_or_else(|| {
            field.bad(Kind::NotAHash {
                key: field.key.clone(),
                value: text.to_owned(),
            })
        })
    };
    field.list()?.iter().map(read).collect()
}

fn caps(field: &Field<'_>) -> Result<Caps, Bad> {
    let read = Caps::parse(field.text()?);
    read.map_err(|error| {
        field.bad(Kind::Caps {
            key: field.key.clone(),
            error,
        })
    })
}

fn stall(
    mut table: Reader<'_>,
    places: &mut Vec<(String, Range<usize>)>,
) -> Result<StallExpected, Bad> {
    let mut stall = StallExpected::default();
    if let Some(field) = table.get("element") {
        places.push((field.key.clone(), field.span()));
        stall.element = Some(field.text()?.to_owned());
    }
    if let Some(field) = table.get("cause") {
        stall.cause = Some(field.word(
            || Cause::ALL.iter().map(|c| c.name()).collect(),
            |name| Cause::ALL.into_iter().find(|c| c.name() == name),
        )?);
    }
    table.finish()?;
    Ok(stall)
}

fn message(
    mut table: Reader<'_>,
    places: &mut Vec<(String, Range<usize>)>,
) -> Result<MessageExpected, Bad> {
    const KINDS: [&str; 9] = [
        "eos",
        "error",
        "warning",
        "state-changed",
        "stalled",
        "async-done",
        "seeked",
        "removed",
        "occurrence",
    ];
    const STATES: [State; 3] = [State::Ready, State::Paused, State::Playing];
    let one_of = |field: Field<'_>, known: Vec<&'static str>| {
        field.word(
            || known.clone(),
            |name| known.iter().copied().find(|k| *k == name),
        )
    };
    let mut message = MessageExpected::default();
    if let Some(field) = table.get("element") {
        places.push((field.key.clone(), field.span()));
        message.element = Some(field.text()?.to_owned());
    }
    if let Some(field) = table.get("kind") {
        message.kind = Some(one_of(field, KINDS.to_vec())?);
    }
    if let Some(field) = table.get("domain") {
        let known = Domain::ALL.iter().map(|d| d.name()).collect();
        message.domain = Some(one_of(field, known)?);
    }
    if let Some(field) = table.get("code") {
        let known = match message.kind {
            Some("state-changed") => STATES.iter().map(|s| s.name()).collect(),
            Some("occurrence") => Reason::ALL.iter().map(|r| r.name()).collect(),
            _ => Code::ALL.iter().map(|c| c.name()).collect(),
        };
        message.code = Some(one_of(field, known)?);
    }
    table.finish()?;
    Ok(message)
}
