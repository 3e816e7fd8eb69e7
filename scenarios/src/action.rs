//! What is done to a graph while it runs, and how a file says it: one `[[action]]` table each.

use crate::error::{Bad, ScenarioErrorKind as Kind};
use crate::reader::{Field, Reader};
use crate::source::Place;
use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::Arc;
use tickpipe::components::event::{Custom, Event};
use tickpipe::components::time::TimeBase;
use tickpipe::{Flush, Removal, Seek, SeekFormat, State};

/// Something that is done before a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// A state is asked for.
    State(State),
    /// The streams are to go on elsewhere.
    Seek(Seek),
    /// What is under way is discarded: behind this element, or in all of the graph.
    Flush(Flush, Option<String>),
    /// A property of an element is set, as on a launch line.
    Set {
        /// The element.
        element: String,
        /// The property.
        property: String,
        /// Its value.
        value: String,
    },
    /// The links from one element to another are taken away.
    Unlink {
        /// Who feeds.
        from: String,
        /// Who is fed.
        to: String,
    },
    /// Two elements are linked, by their first free pads.
    Link {
        /// Who feeds.
        from: String,
        /// Who is fed.
        to: String,
    },
    /// An element is taken out.
    Remove(String, Removal),
    /// A custom event is sent.
    Send {
        /// From this element.
        element: String,
        /// What it is.
        event: Event,
        /// Upstream.
        upstream: bool,
    },
}

/// A deed, when it is done, and where the file says so.
#[derive(Clone, Debug)]
pub struct Action {
    /// Before the tick of this number, from 0.
    pub at: u64,
    /// What.
    pub deed: Deed,
    /// The place of its table.
    pub place: Place,
    /// The elements that it names: key, place and name.
    pub(crate) names: Vec<(String, Range<usize>, String)>,
    /// Of a property that it sets, the key of the table and where name and value stand.
    pub(crate) setting: Option<(String, [Range<usize>; 2])>,
}

const DEEDS: [&str; 8] = [
    "state", "seek", "flush", "set", "unlink", "link", "remove", "send",
];

/// Reads an `[[action]]` table.
pub(crate) fn read(mut table: Reader<'_>, place: Place) -> Result<Action, Bad> {
    let at = table.need("at")?.number(0, i64::MAX as u64)?;
    let mut names = Vec::new();
    let mut setting = None;
    let mut found: Option<(&'static str, Deed)> = None;
    for name in DEEDS {
        let Some(field) = table.get(name) else {
            continue;
        };
        if let Some((first, _)) = found {
            let key = field.key.clone();
            return Err(Bad::new(Kind::TwoSubjects { key, first }, field.key_span));
        }
        let behind = table.get_if(name == "flush", "element");
        found = Some((name, deed(name, &field, behind.as_ref(), &mut names)?));
        if name == "set" {
            setting = Some(places(&field)?);
        }
    }
    let Some((_, deed)) = found else {
        let kind = Kind::NothingDone {
            table: table.path().to_owned(),
            known: DEEDS.to_vec(),
        };
        return Err(Bad::new(kind, table.span()));
    };
    table.finish()?;
    Ok(Action {
        at,
        deed,
        place,
        names,
        setting,
    })
}

/// Where a table that sets a property has name and value.
fn places(field: &Field<'_>) -> Result<(String, [Range<usize>; 2]), Bad> {
    let mut table = field.table()?;
    let places = [table.need("property")?.span(), table.need("value")?.span()];
    Ok((field.key.clone(), places))
}

type Names = Vec<(String, Range<usize>, String)>;

fn element(field: &Field<'_>, names: &mut Names) -> Result<String, Bad> {
    let name = field.text()?.to_owned();
    names.push((field.key.clone(), field.span(), name.clone()));
    Ok(name)
}

fn deed(
    name: &str,
    field: &Field<'_>,
    behind: Option<&Field<'_>>,
    names: &mut Names,
) -> Result<Deed, Bad> {
    const STATES: [State; 3] = [State::Ready, State::Paused, State::Playing];
    const FLUSHES: [(&str, Flush); 4] = [
        ("start", Flush::Start),
        ("stop", Flush::Stop),
        ("discard", Flush::Discard),
        ("discard-and-end", Flush::DiscardAndEnd),
    ];
    const REMOVALS: [(&str, Removal); 2] =
        [("drain", Removal::Drain), ("discard", Removal::Discard)];
    Ok(match name {
        "state" => Deed::State(field.word(
            || STATES.iter().map(|s| s.name()).collect(),
            |word| STATES.into_iter().find(|s| s.name() == word),
        )?),
        "flush" => {
            let flush = field.word(
                || FLUSHES.iter().map(|f| f.0).collect(),
                |word| FLUSHES.iter().find(|f| f.0 == word).map(|f| f.1),
            )?;
            let behind = behind.map(|field| element(field, names)).transpose()?;
            Deed::Flush(flush, behind)
        }
        "seek" => Deed::Seek(seek(field.table()?)?),
        "set" => {
            let mut table = field.table()?;
            let element = element(&table.need("element")?, names)?;
            let property = table.need("property")?.text()?.to_owned();
            let value = table.need("value")?.plain()?;
            table.finish()?;
            Deed::Set {
                element,
                property,
                value,
            }
        }
        "remove" => {
            let mut table = field.table()?;
            let name = element(&table.need("element")?, names)?;
            let removal = match table.get("removal") {
                None => Removal::Drain,
                Some(field) => field.word(
                    || REMOVALS.iter().map(|r| r.0).collect(),
                    |word| REMOVALS.iter().find(|r| r.0 == word).map(|r| r.1),
                )?,
            };
            table.finish()?;
            Deed::Remove(name, removal)
        }
        "send" => {
            let mut table = field.table()?;
            let element = element(&table.need("element")?, names)?;
            let name = table.need("name")?.text()?.to_owned();
            let upstream = table.get("upstream").map_or(Ok(false), |f| f.boolean())?;
            let mut fields = BTreeMap::new();
            if let Some(all) = table.get("fields") {
                for (name, field) in all.table()?.all() {
                    fields.insert(name.to_owned(), field.plain()?);
                }
            }
            table.finish()?;
            Deed::Send {
                element,
                event: Event::Custom(Arc::new(Custom { name, fields })),
                upstream,
            }
        }
        other => {
            let mut table = field.table()?;
            let from = element(&table.need("from")?, names)?;
            let to = element(&table.need("to")?, names)?;
            table.finish()?;
            match other {
                "link" => Deed::Link { from, to },
                _ => Deed::Unlink { from, to },
            }
        }
    })
}

/// `{ frame = 20 }`, `{ byte = 512 }` or `{ time = 1_000_000_000 }` in nanoseconds, and where it ends.
fn seek(mut table: Reader<'_>) -> Result<Seek, Bad> {
    let formats = [
        ("frame", SeekFormat::Frames),
        ("byte", SeekFormat::Bytes),
        ("time", SeekFormat::Time(TimeBase::NANOSECONDS)),
    ];
    let most = i64::MAX as u64;
    let mut found: Option<(&'static str, SeekFormat, u64)> = None;
    for (name, format) in formats {
        let Some(field) = table.get(name) else {
            continue;
        };
        if let Some((first, ..)) = found {
            let key = field.key.clone();
            return Err(Bad::new(Kind::TwoSubjects { key, first }, field.key_span));
        }
        found = Some((name, format, field.number(0, most)?));
    }
    let Some((_, format, start)) = found else {
        let kind = Kind::Nowhere {
            table: table.path().to_owned(),
            known: formats.map(|f| f.0).to_vec(),
        };
        return Err(Bad::new(kind, table.span()));
    };
    // It cannot end before it starts.
    let stop = table
        .get("stop")
        .map(|f| f.number(start, most))
        .transpose()?;
    let flush = table.get("flush").map_or(Ok(true), |f| f.boolean())?;
    table.finish()?;
    Ok(Seek {
        format,
        stop: stop.map(|stop| stop as i64),
        flush,
        ..Seek::frame(start as i64)
    })
}
