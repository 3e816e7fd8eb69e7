//! Building a scenario's graph, checking that what is expected can be there, and running it.

use crate::acting::Acting;
use crate::action::{Action, Deed};
use crate::check::{Missed, check};
use crate::error::{Bad, ScenarioError, ScenarioErrorKind as Kind};
use crate::expect::{Expectation, Expected};
use crate::scenario::Scenario;
use core::ops::Range;
use thiserror::Error;
use tickpipe::components::graph::{Direction, Element, Link, Pad, PadLink, Pads};
use tickpipe::components::limits::LimitError;
use tickpipe::components::property::PropertyError;
use tickpipe::launch::closest;
use tickpipe::systems::element::ClassRef;
use tickpipe::{
    ClockMode, ElementHandle, Engine, EngineError, EngineOptions, LaunchGraphError, Limits,
    Observer, PipelineHandle, Report, RunOptions, Verdict,
};

/// What a caller wants otherwise than the scenario, such as from a command line.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// How time passes.
    pub clock: Option<ClockMode>,
    /// Threads of a tick, at least 1.
    pub threads: Option<usize>,
    /// The run fails after so many ticks.
    pub max_ticks: Option<u64>,
    /// Named limits, set after those of the scenario.
    pub limits: Vec<(String, u64)>,
    /// Compute a digest of the whole state at every tick.
    pub digests: bool,
    /// Whether to look in every tick that all holds that always does.
    pub check: Option<bool>,
    /// Keep frames and sets for the report, also where nothing is expected of them.
    pub record: bool,
}

/// A run that cannot be set up.
#[derive(Debug, Error)]
pub enum RunError {
    /// The file is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The engine cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A limit of the caller's cannot be.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// A scenario whose graph is built in an engine.
#[derive(Debug)]
pub struct Job {
    /// The pipeline.
    pub pipeline: PipelineHandle,
    /// How it runs.
    pub options: RunOptions,
    /// What is odd in the launch text, each rendered with a mark under its place.
    pub warnings: Vec<String>,
    actions: Vec<Action>,
    expected: Vec<Expected>,
}

/// What a run did, and what of that is not as expected.
#[derive(Debug)]
pub struct Outcome {
    /// What it did. Its verdict is `expectation-missed` if the run ended as it should and
    /// something else is not as expected.
    pub report: Report,
    /// What is not as expected, in the order of the file.
    pub missed: Vec<Missed>,
    /// How it had to end.
    pub expected_verdict: Verdict,
}

impl Outcome {
    /// Whether it ended as it should, and all is as expected.
    pub fn as_expected(&self) -> bool {
        self.missed.is_empty() && self.report.verdict == self.expected_verdict
    }
}

impl Scenario {
    /// How the engine that runs this scenario is to be set up.
    ///
    /// # Errors
    /// [`LimitError`] for a limit of `overrides` that cannot be.
    pub fn engine_options(&self, overrides: &Overrides) -> Result<EngineOptions, LimitError> {
        let mut limits = Limits::default();
        for (name, value) in self.settings().limits.iter().chain(&overrides.limits) {
            limits.set_named(name, *value)?;
        }
        let threads = overrides.threads.or(self.settings().threads);
        Ok(EngineOptions {
            threads: threads.unwrap_or(1).max(1),
            limits,
            check: overrides.check.or(self.settings().check),
            ..EngineOptions::default()
        })
    }

    /// Builds the graph, and checks that everything that something is expected of is in it.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place in the file.
    pub fn build(&self, engine: &mut Engine, overrides: &Overrides) -> Result<Job, ScenarioError> {
        let text = &self.launch.text;
        let (pipeline, warnings) = engine
            .launch(self.name(), text)
            .map_err(|error| self.refused(error))?;
        for expected in self.expected() {
            let graph = Graph { engine, pipeline };
            graph.has(expected).map_err(|bad| bad.at(&self.source))?;
        }
        for action in self.actions() {
            let graph = Graph { engine, pipeline };
            for (key, span, name) in &action.names {
                let found = graph.element(name, key, span);
                found.map_err(|bad| bad.at(&self.source))?;
            }
            graph.can_set(action).map_err(|bad| bad.at(&self.source))?;
        }
        if let Some(order) = self.settings().down_order {
            engine.set_down_order(pipeline, order);
        }
        if let Some(clock) = overrides.clock.or(self.settings().clock) {
            engine.set_clock(pipeline, clock);
        }
        let records = |e: &Expected| {
            matches!(
                e.what,
                Expectation::Sink {
                    frames: Some(_),
                    ..
                }
            )
        };
        Ok(Job {
            pipeline,
            options: RunOptions {
                max_ticks: overrides.max_ticks.or(self.settings().max_ticks),
                digests: overrides.digests,
                record: overrides.record || self.expected().iter().any(records),
            },
            warnings,
            actions: self.actions().to_vec(),
            expected: self.expected().to_vec(),
        })
    }

    /// Sets up an engine, builds the graph, runs it, and compares.
    ///
    /// # Errors
    /// [`RunError`] before anything runs. A run that fails is an [`Outcome`].
    pub fn run(
        &self,
        overrides: &Overrides,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Outcome, RunError> {
        let mut engine = Engine::with_options(self.engine_options(overrides)?)?;
        let job = self.build(&mut engine, overrides)?;
        Ok(job.run(&mut engine, observer))
    }

    fn refused(&self, error: LaunchGraphError) -> ScenarioError {
        let inside = match &error {
            LaunchGraphError::Syntax(error) => error.span,
            LaunchGraphError::Build { span, .. } | LaunchGraphError::Link { span, .. } => *span,
        };
        let span = match self.launch_start {
            Some(start) => {
                let at = |byte| start + self.launch.written(byte);
                at(inside.start)..at(inside.end)
            }
            None => self.launch_span.clone(),
        };
        let text = self.launch.text.clone();
        Bad::new(Kind::Launch { error, text }, span).at(&self.source)
    }
}

impl Job {
    /// A graph of which nothing is expected but that it is done.
    pub fn new(pipeline: PipelineHandle, options: RunOptions, warnings: Vec<String>) -> Job {
        Job {
            pipeline,
            options,
            warnings,
            actions: Vec::new(),
            expected: Vec::new(),
        }
    }

    /// Runs the graph to its end and compares what came out.
    pub fn run(&self, engine: &mut Engine, observer: &mut (dyn Observer + Send)) -> Outcome {
        let mut acting = Acting::new(engine, self.pipeline, &self.actions);
        let mut report = engine.run_script(self.pipeline, &self.options, observer, &mut acting);
        let verdict = self.expected.iter().find_map(|e| match e.what {
            Expectation::Verdict(verdict) => Some(verdict),
            _ => None,
        });
        let stalls = |e: &Expected| matches!(e.what, Expectation::Stall(_));
        let expected_verdict = verdict.unwrap_or(match self.expected.iter().any(stalls) {
            true => Verdict::Stalled,
            false => Verdict::Done,
        });
        let mut missed = acting.failed;
        missed.extend(self.expected.iter().flat_map(|e| check(e, &report)));
        // A run that had to fail and did not is missed too; one that failed and had not to is
        // just that, a failure.
        let ended = report.verdict == expected_verdict || report.verdict == Verdict::Done;
        if !missed.is_empty() && ended {
            report.verdict = Verdict::ExpectationMissed;
        }
        Outcome {
            report,
            missed,
            expected_verdict,
        }
    }
}

/// The most links that an error lists.
const LINKS_SHOWN: usize = 8;

/// A built graph, to ask what it has.
struct Graph<'a> {
    engine: &'a Engine,
    pipeline: PipelineHandle,
}

impl Graph<'_> {
    /// Checks that a graph has what something is expected of.
    fn has(&self, expected: &Expected) -> Result<(), Bad> {
        let mut places = expected.places.iter();
        let Some((key, span)) = places.next() else {
            return Ok(());
        };
        match &expected.what {
            Expectation::Verdict(_) => {}
            Expectation::Element { name, .. } => {
                self.element(name, key, span)?;
            }
            Expectation::Message(message) => {
                let name = message.element.as_deref();
                name.map(|name| self.element(name, key, span)).transpose()?;
            }
            Expectation::Stall(stall) => {
                let name = stall.element.as_deref();
                name.map(|name| self.element(name, key, span)).transpose()?;
            }
            Expectation::Sink { name, .. } => {
                let element = self.element(name, key, span)?;
                if self.pads(element, Direction::Source) > 0 {
                    let kind = Kind::NotASink {
                        key: key.clone(),
                        name: name.clone(),
                        class: self.class(element),
                    };
                    return Err(Bad::new(kind, span.clone()));
                }
            }
            Expectation::Link { link, .. } => self.link(link, key, span)?,
            Expectation::Sync {
                element: name,
                repeated,
                dropped,
                absent,
            } => {
                let element = self.element(name, key, span)?;
                let class = self.engine.world().get::<ClassRef>(element.entity());
                if !class.is_some_and(|c| c.0.terms.flow.synchronises()) {
                    let kind = Kind::NotSynchronised {
                        key: key.clone(),
                        name: name.clone(),
                        class: self.class(element),
                    };
                    return Err(Bad::new(kind, span.clone()));
                }
                let inputs = self.pads(element, Direction::Sink);
                let lists = [repeated, dropped, absent].into_iter().flatten();
                for (list, (key, span)) in lists.zip(places) {
                    if list.len() != inputs {
                        let kind = Kind::Inputs {
                            key: key.clone(),
                            name: name.clone(),
                            found: list.len(),
                            inputs,
                        };
                        return Err(Bad::new(kind, span.clone()));
                    }
                }
            }
        }
        Ok(())
    }

    fn element(&self, name: &str, key: &str, span: &Range<usize>) -> Result<ElementHandle, Bad> {
        if let Some(element) = self.engine.element(self.pipeline, name) {
            return Ok(element);
        }
        let elements = self.engine.elements(self.pipeline);
        let names: Vec<String> = elements.iter().map(|&e| self.engine.name(e)).collect();
        let nearest = closest(name, names.iter().map(String::as_str));
        let kind = Kind::NoElement {
            key: key.to_owned(),
            name: name.to_owned(),
            closest: nearest.map(str::to_owned),
        };
        Err(Bad::new(kind, span.clone()))
    }

    /// Checks that the property that an action sets is there, and takes the value.
    fn can_set(&self, action: &Action) -> Result<(), Bad> {
        let (
            Some((key, [name, value_at])),
            Deed::Set {
                element,
                property,
                value,
            },
        ) = (&action.setting, &action.deed)
        else {
            return Ok(());
        };
        let Some(element) = self.engine.element(self.pipeline, element) else {
            return Ok(());
        };
        let checked = self.engine.check_text(element, property, value);
        checked.map_err(|error| {
            let span = match error {
                PropertyError::Unknown { .. } => name,
                _ => value_at,
            };
            let key = key.clone();
            Bad::new(Kind::Property { key, error }, span.clone())
        })
    }

    fn class(&self, element: ElementHandle) -> &'static str {
        let info = self.engine.world().get::<Element>(element.entity());
        info.map_or("element", |i| i.kind)
    }

    /// How many pads of a direction an element has, or could be given.
    fn pads(&self, element: ElementHandle, direction: Direction) -> usize {
        let world = self.engine.world();
        let pads = world.get::<Pads>(element.entity());
        let pads = pads.iter().flat_map(|p| &p.0);
        let made = pads
            .filter_map(|&pad| world.get::<Pad>(pad))
            .filter(|pad| pad.direction == direction);
        let class = world.get::<ClassRef>(element.entity());
        let can = class.is_some_and(|c| c.0.terms.pads.iter().any(|t| t.direction == direction));
        made.count().max(usize::from(can))
    }

    fn link(&self, link: &str, key: &str, span: &Range<usize>) -> Result<(), Bad> {
        let world = self.engine.world();
        let pad_name = |pad| {
            let pad = world.get::<Pad>(pad)?;
            let element = world.get::<Element>(pad.element)?;
            Some(format!("{}.{}", element.name, pad.name))
        };
        let mut known = Vec::new();
        for element in self.engine.elements(self.pipeline) {
            let pads = world.get::<Pads>(element.entity());
            for &pad in pads.iter().flat_map(|p| &p.0) {
                let at = world.get::<PadLink>(pad).and_then(|l| l.0);
                let ends = at.and_then(|l| world.get::<Link>(l));
                let Some(ends) = ends.filter(|l| l.from == pad) else {
                    continue;
                };
                let (Some(from), Some(to)) = (pad_name(ends.from), pad_name(ends.to)) else {
                    continue;
                };
                if is_link(link, &from, &to) {
                    return Ok(());
                }
                if known.len() < LINKS_SHOWN {
                    known.push(format!("{from} -> {to}"));
                }
            }
        }
        let kind = Kind::NoLink {
            key: key.to_owned(),
            link: link.to_owned(),
            known,
        };
        Err(Bad::new(kind, span.clone()))
    }
}

/// Whether `asked`, as `a.src` or `a.src -> b.sink`, is the link between two pads.
pub(crate) fn is_link(asked: &str, from: &str, to: &str) -> bool {
    match asked.split_once("->") {
        Some((source, sink)) => source.trim() == from && sink.trim() == to,
        None => asked.trim() == from,
    }
}
