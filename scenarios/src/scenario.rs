//! A scenario: the launch text, how to run it, and what is expected, read from TOML.

use crate::action::{self, Action};
use crate::error::{Bad, ScenarioError, ScenarioErrorKind as Kind};
use crate::expect::{self, Expected};
use crate::reader::Reader;
use crate::source::Source;
use crate::variables::{Filled, fill};
use crate::{MAX_FILE_BYTES, MAX_THREADS, VERSION};
use core::ops::Range;
use std::io::Read;
use std::path::Path;
use tickpipe::{ClockMode, DownOrder, Limits};
use toml::de::DeTable;

/// How a scenario asks to be run: the `[run]` table. What is not said is left to the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSettings {
    /// How time passes.
    pub clock: Option<ClockMode>,
    /// Threads of a tick, in 1..=[`MAX_THREADS`]. They change no result.
    pub threads: Option<usize>,
    /// The run fails after so many ticks, at least 1.
    pub max_ticks: Option<u64>,
    /// In which order elements change on the way down.
    pub down_order: Option<DownOrder>,
    /// Whether to look in every tick that all holds that always does.
    pub check: Option<bool>,
    /// The seed of whatever is drawn at random. Kept: nothing draws yet.
    pub seed: Option<u64>,
    /// Named limits in order of their names; `quantum` is one of them.
    pub limits: Vec<(String, u64)>,
}

/// A scenario file that was read and is right in itself. Whether its graph can be built, and has
/// what is expected of it, is checked by [`Scenario::build`].
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) source: Source,
    pub(crate) launch: Filled,
    /// Where the launch text's value stands, and where its first character does if it is written
    /// without escapes.
    pub(crate) launch_span: Range<usize>,
    pub(crate) launch_start: Option<usize>,
    settings: RunSettings,
    actions: Vec<Action>,
    expected: Vec<Expected>,
}

impl Scenario {
    /// Reads a scenario. `name` is the file's path: it stands in messages, and its folder is
    /// what `${dir}` means.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place of the first thing that is wrong.
    pub fn from_toml(name: &str, text: &str) -> Result<Scenario, ScenarioError> {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        Scenario::read(name, folder, text)
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// [`ScenarioError`]: the file cannot be read, or something in it is wrong.
    pub fn load(path: impl AsRef<Path>) -> Result<Scenario, ScenarioError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let refused = |kind| Bad::new(kind, 0..0).at(&Source::new(&name, ""));
        let mut bytes = Vec::new();
        let read = std::fs::File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|error| refused(Kind::Read(error)))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let max = MAX_FILE_BYTES;
            return Err(refused(Kind::TooLong { max }));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let right = error.as_bytes().get(..offset).unwrap_or_default();
            let source = Source::new(&name, &String::from_utf8_lossy(right));
            Bad::new(Kind::NotUtf8 { offset }, offset..offset).at(&source)
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Scenario::read(&name, folder, &text)
    }

    fn read(name: &str, folder: &Path, text: &str) -> Result<Scenario, ScenarioError> {
        let source = Source::new(name, text);
        parse(&source, folder).map_err(|bad| bad.at(&source))
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The launch text, with its variables filled in.
    pub fn launch_text(&self) -> &str {
        &self.launch.text
    }

    /// How it asks to be run.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// What is done while it runs, in the order of the file.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// What is expected, in the order of the file.
    pub fn expected(&self) -> &[Expected] {
        &self.expected
    }
}

fn parse(source: &Source, folder: &Path) -> Result<Scenario, Bad> {
    let document = DeTable::parse(&source.text).map_err(|error| {
        let message = error.message().trim_end().to_owned();
        Bad::new(Kind::Syntax(message), error.span().unwrap_or(0..0))
    })?;
    let mut root = Reader::root(&document);
    if let Some(version) = root.get("version") {
        let found = version.number(0, u64::MAX)?;
        if found != VERSION {
            let found = found.to_string();
            return Err(version.bad(Kind::Version { found }));
        }
    }
    // Of the file's own table there is nothing to show: its start stands for what is missing.
    let mut graph = root.need("graph")?.table()?;
    let launch = graph.need("launch")?;
    let written = launch.text()?;
    let launch_span = launch.span();
    let inside = source.slice(&launch_span).find(written);
    let launch_start = inside.map(|at| launch_span.start + at);
    let filled = fill(written, folder).map_err(|bad| {
        let span = match launch_start {
            Some(start) => start + bad.span.start..start + bad.span.end,
            None => launch_span.clone(),
        };
        Bad { span, ..bad }
    })?;
    graph.finish()?;
    let settings = match root.get("run") {
        Some(run) => settings(run.table()?)?,
        None => RunSettings::default(),
    };
    let mut actions = Vec::new();
    if let Some(list) = root.get("action") {
        for field in list.list()? {
            let place = source.place(field.span().start);
            actions.push(action::read(field.table()?, place)?);
        }
    }
    let mut expected = Vec::new();
    if let Some(list) = root.get("expect") {
        for field in list.list()? {
            let mut places = Vec::new();
            let span = field.span();
            let what = expect::read(field.table()?, &mut places)?;
            expected.push(Expected {
                what,
                place: source.place(span.start),
                places,
            });
        }
    }
    root.finish()?;
    Ok(Scenario {
        source: source.clone(),
        launch: filled,
        launch_span,
        launch_start,
        settings,
        actions,
        expected,
    })
}

fn settings(mut run: Reader<'_>) -> Result<RunSettings, Bad> {
    const CLOCKS: [ClockMode; 3] = [ClockMode::Free, ClockMode::Virtual, ClockMode::Wall];
    let mut settings = RunSettings::default();
    if let Some(clock) = run.get("clock") {
        settings.clock = Some(clock.word(
            || CLOCKS.iter().map(|c| c.name()).collect(),
            |name| CLOCKS.into_iter().find(|c| c.name() == name),
        )?);
    }
    if let Some(threads) = run.get("threads") {
        // At most 256, so it fits.
        settings.threads = usize::try_from(threads.number(1, MAX_THREADS)?).ok();
    }
    if let Some(ticks) = run.get("max-ticks") {
        settings.max_ticks = Some(ticks.number(1, i64::MAX as u64)?);
    }
    if let Some(order) = run.get("down-order") {
        const ORDERS: [DownOrder; 2] = [DownOrder::SourcesFirst, DownOrder::SinksFirst];
        let known = || ORDERS.iter().map(|o| o.name()).collect();
        settings.down_order = Some(order.word(known, DownOrder::from_name)?);
    }
    if let Some(check) = run.get("check") {
        settings.check = Some(check.boolean()?);
    }
    if let Some(seed) = run.get("seed") {
        settings.seed = Some(seed.number(0, u64::MAX)?);
    }
    let mut limits = Limits::default();
    if let Some(quantum) = run.get("quantum") {
        let value = quantum.number(0, u64::MAX)?;
        limits
            .set_named("quantum", value)
            .map_err(|error| quantum.bad(Kind::Limit(error)))?;
        settings.limits.push(("quantum".to_owned(), value));
    }
    if let Some(table) = run.get("limits") {
        let mut all: Vec<_> = table.table()?.all().collect();
        all.sort_by_key(|(_, field)| field.key_span.start);
        for (name, field) in all {
            let value = field.number(0, u64::MAX)?;
            limits.set_named(name, value).map_err(|error| {
                use tickpipe::components::limits::LimitError;
                let span = match error {
                    LimitError::Unknown(_) => field.key_span.clone(),
                    LimitError::OutOfRange { .. } => field.span(),
                };
                Bad::new(Kind::Limit(error), span)
            })?;
            settings.limits.push((name.to_owned(), value));
        }
    }
    run.finish()?;
    Ok(settings)
}
