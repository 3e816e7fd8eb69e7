//! Running pipelines: until a message, until the end, or for a number of ticks.

use crate::build::{ElementHandle, PipelineHandle};
use crate::engine::Engine;
use crate::report::{Listed, Names, Report, Verdict};
use core::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;
use tickpipe_components::bus::Bus;
use tickpipe_components::fabric::{Fabric, Gate, Lane, PipelineFabric, Progress};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::graph::{Clock, ClockMode, Pipeline, Target};
use tickpipe_components::message::{Message, MessageKind, MessageMask};
use tickpipe_components::readiness::Readiness;
use tickpipe_components::state::State;
use tickpipe_systems::Works;
use tickpipe_systems::command::{Action, Actions};
use tickpipe_systems::outside::{Awaited, SharedWaker, Taken};
use tickpipe_systems::state::is_prerolled;

/// How [`Engine::run`] runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Stop with an error after so many ticks.
    pub max_ticks: Option<u64>,
    /// Compute a digest of the whole state at every tick.
    pub digests: bool,
    /// Keep what each sink took and what each synchroniser chose, for the report.
    pub record: bool,
}

/// Is told of each tick of a run.
pub trait Observer {
    /// A tick is over.
    fn tick(&mut self, pipeline: &PipelineFabric);
}

impl Observer for () {
    fn tick(&mut self, _pipeline: &PipelineFabric) {}
}

/// Does things to a pipeline while it runs.
pub trait Script {
    /// Called before each tick, with its number from 0.
    fn before(&mut self, engine: &mut Engine, pipeline: PipelineHandle, tick: u64);

    /// Whether nothing more is to be done. Before that a run that could end goes on.
    fn is_over(&self) -> bool;

    /// Called after each tick.
    fn after(&mut self, engine: &Engine, pipeline: PipelineHandle) {
        let _ = (engine, pipeline);
    }

    /// The tick before which something is to be done next, if that is known: ticks before it that
    /// would change nothing are then counted and not run.
    fn next(&self) -> Option<u64> {
        None
    }
}

impl Script for () {
    fn before(&mut self, _engine: &mut Engine, _pipeline: PipelineHandle, _tick: u64) {}

    fn is_over(&self) -> bool {
        true
    }
}

/// No message of the kind waited for can come.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the pipeline is {state} ({}) and nothing more happens in it", .progress.name())]
pub struct WaitError {
    /// The pipeline's state.
    pub state: State,
    /// How its run stands.
    pub progress: Progress,
}

/// Bytes of lanes and buffers that one thread advances together, so that they stay in its cache.
const CACHE: usize = 768 * 1024;

impl Engine {
    /// Asks for a state; the tick applies it, in the order in which elements must change.
    pub fn set_state(&mut self, pipeline: PipelineHandle, state: State) {
        self.world
            .resource_mut::<Actions>()
            .queue
            .push(Action::SetState(pipeline.entity, state));
    }

    /// Tells that the device of an element is ready: if the element waits for it, it runs in the
    /// next tick.
    pub fn device_ready(&mut self, element: ElementHandle) {
        self.world
            .resource_mut::<Actions>()
            .queue
            .push(Action::DeviceReady(element.0));
    }

    /// Takes the next message of a kind in `mask` from the pipeline's bus, without running.
    pub fn next_message(&mut self, pipeline: PipelineHandle, mask: MessageMask) -> Option<Message> {
        let bus = self.world.get::<Pipeline>(pipeline.entity)?.bus;
        self.world.get_mut::<Bus>(bus)?.pop(mask)
    }

    /// Runs ticks of the pipeline until a message of a kind in `mask` is on its bus.
    ///
    /// # Errors
    /// [`WaitError`] if nothing more happens in the pipeline, so that none can come.
    pub fn wait(
        &mut self,
        pipeline: PipelineHandle,
        mask: MessageMask,
    ) -> Result<Message, WaitError> {
        self.wait_until(pipeline, |engine| engine.next_message(pipeline, mask))
    }

    /// Runs ticks of the pipeline until `ready` has something.
    pub(crate) fn wait_until<T: Send>(
        &mut self,
        pipeline: PipelineHandle,
        mut ready: impl FnMut(&mut Engine) -> Option<T> + Send,
    ) -> Result<T, WaitError> {
        self.on_threads(move |engine| {
            loop {
                if let Some(found) = ready(engine) {
                    return Ok(found);
                }
                if engine.at_rest(pipeline) {
                    return Err(engine.wait_error(pipeline));
                }
                engine.turn(pipeline);
            }
        })
    }

    fn wait_error(&self, pipeline: PipelineHandle) -> WaitError {
        WaitError {
            state: self.state(pipeline),
            progress: self.progress(pipeline),
        }
    }

    /// Runs ticks until the pipeline is in the state that was asked for.
    ///
    /// # Errors
    /// [`WaitError`] if it does not get there.
    pub fn wait_for_state(
        &mut self,
        pipeline: PipelineHandle,
        state: State,
    ) -> Result<(), WaitError> {
        self.on_threads(|engine| {
            loop {
                engine.turn(pipeline);
                if engine.state(pipeline) == state && !engine.changing(pipeline) {
                    return Ok(());
                }
                let failed = engine.fabric(pipeline).is_some_and(|p| p.change_failed);
                if failed || engine.at_rest(pipeline) {
                    return Err(engine.wait_error(pipeline));
                }
            }
        })
    }

    /// Chooses, in READY, whether the next run computes a digest at every tick and keeps what
    /// sinks take and synchronisers choose for the report; counts its ticks from 0.
    pub fn observe(&mut self, pipeline: PipelineHandle, digests: bool, record: bool) {
        if let Some(p) = self.fabric_mut(pipeline) {
            p.digesting = digests;
            p.recording = record;
            p.run_digest = 0;
            p.digest = 0;
            p.tick = 0;
        }
    }

    /// Runs a pipeline from READY to its end and back, and tells what happened.
    pub fn run(
        &mut self,
        pipeline: PipelineHandle,
        options: &RunOptions,
        observer: &mut (dyn Observer + Send),
    ) -> Report {
        self.run_script(pipeline, options, observer, &mut ())
    }

    /// As [`Engine::run`], with things done to the pipeline on the way. It ends also where it was
    /// asked to go and nothing more is to be done: in PAUSED or READY. That is `done`.
    pub fn run_script(
        &mut self,
        pipeline: PipelineHandle,
        options: &RunOptions,
        observer: &mut (dyn Observer + Send),
        script: &mut (dyn Script + Send),
    ) -> Report {
        self.observe(pipeline, options.digests, options.record);
        while self.next_message(pipeline, MessageMask::all()).is_some() {}
        self.set_state(pipeline, State::Playing);
        let mut messages = Listed::default();
        let mut names = Names::new();
        let mut stopped: Option<Report> = None;
        let verdict = self.on_threads(|engine| {
            loop {
                let tick = engine.fabric(pipeline).map_or(0, |p| p.tick);
                script.before(engine, pipeline, tick);
                // In READY nothing is left to tell of.
                if engine.asked_for(pipeline) == State::Ready {
                    stopped = match engine.state(pipeline) {
                        State::Ready => stopped.take(),
                        _ => {
                            engine.add_names(pipeline, &mut names);
                            Some(engine.report(pipeline))
                        }
                    };
                }
                if !engine.turn(pipeline) {
                    engine.stall_unserved(pipeline);
                }
                while let Some(message) = engine.next_message(pipeline, MessageMask::all()) {
                    messages.push(message);
                }
                if let Some(p) = engine.fabric(pipeline) {
                    observer.tick(p);
                }
                script.after(engine, pipeline);
                if !script.is_over()
                    && let Some(next) = script.next()
                {
                    engine.skip_to(pipeline, next.min(options.max_ticks.unwrap_or(next)));
                }
                let tick = engine.fabric(pipeline).map_or(0, |p| p.tick);
                if engine.fabric(pipeline).is_some_and(|p| p.change_failed) {
                    return Verdict::Failed;
                }
                let stays = engine.asked_for(pipeline) != State::Playing;
                match engine.progress(pipeline) {
                    Progress::Failed => return Verdict::Failed,
                    Progress::Ended if script.is_over() => return Verdict::Done,
                    Progress::Stalled
                        if script.is_over() && engine.awaited(pipeline) == Awaited::Never =>
                    {
                        return Verdict::Stalled;
                    }
                    _ if stays && script.is_over() && engine.at_rest(pipeline) => {
                        return Verdict::Done;
                    }
                    _ if options.max_ticks.is_some_and(|max| tick >= max) => {
                        tracing::error!(tick, "still running after the ticks allowed");
                        messages.push(Message {
                            tick,
                            element: None,
                            kind: MessageKind::Error(Domain::Core, Code::Limit),
                        });
                        return Verdict::Failed;
                    }
                    _ => {}
                }
            }
        });
        let mut report = match self.state(pipeline) {
            State::Ready => stopped.unwrap_or_else(|| self.report(pipeline)),
            _ => self.report(pipeline),
        };
        self.add_names(pipeline, &mut names);
        self.set_state(pipeline, State::Ready);
        let _ = self.wait_for_state(pipeline, State::Ready);
        let before = messages.messages.len();
        while let Some(message) = self.next_message(pipeline, MessageMask::all()) {
            messages.push(message);
        }
        let failed = |m: &Message| m.kind.mask() == MessageMask::ERROR;
        report.verdict = match verdict {
            Verdict::Done if messages.messages[before..].iter().any(failed) => Verdict::Failed,
            other => other,
        };
        report.add_messages(&names, &messages.messages);
        report
    }

    /// Counts the ticks before another one, if they would change nothing.
    fn skip_to(&mut self, pipeline: PipelineHandle, tick: u64) {
        let failed = |p: &PipelineFabric| p.change_failed || p.progress == Progress::Failed;
        if !self.at_rest(pipeline) || self.fabric(pipeline).is_none_or(failed) {
            return;
        }
        if let Some(p) = self.fabric_mut(pipeline) {
            p.tick = p.tick.max(tick);
        }
    }

    /// One tick; where nothing moves then, waits for what somebody can bring from outside. Whether
    /// somebody can.
    fn turn(&mut self, pipeline: PipelineHandle) -> bool {
        let happened = self.world.resource::<SharedWaker>().0.happened();
        self.step(pipeline);
        self.wait_for_outside(pipeline, happened)
    }

    /// Whether what some element waits for outside the tick is there, or can come.
    fn awaited(&self, pipeline: PipelineHandle) -> Awaited {
        let works = self.world.resource::<Works>();
        let works = works.pipelines.get(pipeline.id.index());
        let both = works.zip(self.fabric(pipeline));
        both.map_or(Awaited::Never, |(works, p)| works.awaited(p))
    }

    /// Where nothing moves before something comes from outside: waits for that, if somebody can bring
    /// it, but not beyond the next deadline of a real clock. Whether somebody can.
    fn wait_for_outside(&mut self, pipeline: PipelineHandle, happened: u64) -> bool {
        let Some(p) = self.fabric(pipeline) else {
            return false;
        };
        let outside = p.waiting_outside > 0 || !p.lending.is_empty();
        let still = p.ready.is_empty() && p.touched.is_empty() && outside;
        if !still || !matches!(p.progress, Progress::Running | Progress::Stalled) {
            return false;
        }
        // Of a change of state only what waits for first buffers is waited for.
        let asked = p.renegotiate || p.asked_state.is_some() || (p.attention && is_prerolled(p));
        if asked || !self.world.resource::<Actions>().queue.is_empty() {
            return true;
        }
        let works = self.world.resource::<Works>();
        let works = works.pipelines.get(pipeline.id.index());
        if p.progress == Progress::Stalled && works.is_some_and(|works| works.relent(p)) {
            return true;
        }
        let awaited = self.awaited(pipeline);
        if awaited != Awaited::Pending {
            return awaited == Awaited::Ready;
        }
        // Without one nothing else is waited for: with another clock time has moved on by itself.
        let deadline = p
            .timers
            .iter()
            .filter_map(|lane| p.lanes.get(lane as usize));
        let deadline = deadline.filter_map(|l| match l.readiness {
            Readiness::Time(time) => Some(time),
            _ => None,
        });
        let left = match deadline.min() {
            None => None,
            Some(_) if !p.wall => return true,
            Some(time) => {
                let start = self.wall_start.get(&pipeline.id);
                let passed = start.map_or(Duration::ZERO, Instant::elapsed);
                Some(Duration::from_nanos(time.max(0).unsigned_abs()).saturating_sub(passed))
            }
        };
        let waker = Arc::clone(&self.world.resource::<SharedWaker>().0);
        waker.wait_for_more(happened, left);
        true
    }

    /// Ends a run in which nothing moves and a device is awaited: here is nobody who could serve
    /// it between two ticks.
    fn stall_unserved(&mut self, pipeline: PipelineHandle) {
        let Some(p) = self.fabric_mut(pipeline) else {
            return;
        };
        if !only_others_move(p) {
            return;
        }
        if p.failing {
            p.progress = Progress::Failed;
        } else {
            p.progress = Progress::Stalled;
            let message = Message {
                tick: p.tick.saturating_sub(1),
                element: None,
                kind: MessageKind::Stalled,
            };
            let bus = self.world.get::<Pipeline>(pipeline.entity).map(|p| p.bus);
            if let Some(mut bus) = bus.and_then(|bus| self.world.get_mut::<Bus>(bus)) {
                bus.post(message);
            }
        }
    }

    /// Advances several pipelines by so many ticks each, as many at a time as a cache holds.
    pub fn advance(&mut self, pipelines: Range<usize>, ticks: u64) {
        self.advance_with(pipelines, ticks, |_| {});
    }

    /// As [`Engine::advance`]; `f` is called before the first tick with 0 and after the last one
    /// with `ticks`, on the thread that runs them: for measurements.
    pub fn advance_with(
        &mut self,
        pipelines: Range<usize>,
        ticks: u64,
        mut f: impl FnMut(u64) + Send,
    ) {
        let count = self.world.resource::<Fabric>().pipelines.len();
        let pipelines = pipelines.start.min(count)..pipelines.end.min(count);
        let threads = if self.is_parallel() { 2 } else { 1 };
        self.on_threads(|engine| {
            f(0);
            let mut start = pipelines.start;
            while start < pipelines.end {
                let end = engine.window_from(start, pipelines.end, CACHE * threads);
                for _ in 0..ticks {
                    engine.tick_window(start..end);
                }
                start = end;
            }
            f(ticks);
        });
    }

    /// The end of a window of pipelines whose hot data fills `bytes`, at least one.
    fn window_from(&self, start: usize, end: usize, bytes: usize) -> usize {
        let fabric = self.world.resource::<Fabric>();
        let mut sum = 0;
        for (i, p) in fabric.pipelines[start..end].iter().enumerate() {
            sum += p.lanes.len() * 1024 + p.buffers.len() * 128;
            if sum > bytes && i > 0 {
                return start + i;
            }
        }
        end
    }

    /// One tick of one pipeline; with a `wall` clock, at its time.
    pub(crate) fn step(&mut self, pipeline: PipelineHandle) {
        let index = pipeline.id.index();
        let wall = self.clock(pipeline) == ClockMode::Wall;
        if wall {
            self.follow_wall(pipeline);
        }
        let before = self.fabric(pipeline).map_or(0, |p| p.now);
        self.tick_window(index..index + 1);
        if wall {
            self.wait_for_wall(pipeline, before);
        }
    }

    /// What really passed since the pipeline began to play counts, also where it could not keep up.
    fn follow_wall(&mut self, pipeline: PipelineHandle) {
        let Some(start) = self.wall_start.get(&pipeline.id) else {
            return;
        };
        let passed = i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX);
        if let Some(p) = self.fabric_mut(pipeline)
            && passed > p.now
        {
            p.now = passed;
            tickpipe_systems::advance::wake_due(p);
        }
    }

    /// The clock runs in PLAYING only; where it jumped to the next deadline, that is waited for.
    fn wait_for_wall(&mut self, pipeline: PipelineHandle, before: i64) {
        if self.state(pipeline) != State::Playing {
            self.wall_start.remove(&pipeline.id);
            return;
        }
        let now = self.fabric(pipeline).map_or(0, |p| p.now);
        // Its clock was 0 so long ago: what it was paused for does not count.
        let passed = |ns: i64| Duration::from_nanos(ns.unsigned_abs());
        let begin = || {
            Instant::now()
                .checked_sub(passed(before))
                .unwrap_or_else(Instant::now)
        };
        let start = *self.wall_start.entry(pipeline.id).or_insert_with(begin);
        if now > before
            && let Some(left) = passed(now).checked_sub(start.elapsed())
        {
            std::thread::sleep(left);
        }
    }

    pub(crate) fn clock(&self, pipeline: PipelineHandle) -> ClockMode {
        self.world
            .get::<Pipeline>(pipeline.entity)
            .and_then(|p| self.world.get::<Clock>(p.clock))
            .map_or(ClockMode::Free, |c| c.mode)
    }

    /// The state that a pipeline was asked for last.
    fn asked_for(&self, pipeline: PipelineHandle) -> State {
        let actions = self.world.resource::<Actions>().queue.iter();
        let asked = actions.rev().find_map(|action| match action {
            Action::SetState(entity, state) if *entity == pipeline.entity => Some(*state),
            _ => None,
        });
        let target = self.world.get::<Target>(pipeline.entity).map(|t| t.0);
        asked.or(target).unwrap_or_default()
    }

    /// Whether a change of state is asked for or under way.
    fn changing(&self, pipeline: PipelineHandle) -> bool {
        !self.world.resource::<Actions>().queue.is_empty()
            || self
                .fabric(pipeline)
                .is_some_and(|p| p.attention || p.renegotiate || p.asked_state.is_some())
    }

    /// Whether further ticks would change nothing.
    fn at_rest(&self, pipeline: PipelineHandle) -> bool {
        // A change of state that waits for a first buffer waits for the device then.
        let asked = !self.world.resource::<Actions>().queue.is_empty();
        if !asked && self.fabric(pipeline).is_some_and(only_others_move) {
            return self.awaited(pipeline) == Awaited::Never;
        }
        if self.changing(pipeline) {
            return false;
        }
        let stalled = self.progress(pipeline) == Progress::Stalled;
        if stalled && self.awaited(pipeline) != Awaited::Never {
            return false;
        }
        self.fabric(pipeline)
            .is_none_or(|p| p.progress != Progress::Running || p.idle)
    }

    pub(crate) fn fabric(&self, pipeline: PipelineHandle) -> Option<&PipelineFabric> {
        self.world.resource::<Fabric>().get(pipeline.id)
    }

    fn fabric_mut(&mut self, pipeline: PipelineHandle) -> Option<&mut PipelineFabric> {
        self.world
            .resource_mut::<Fabric>()
            .into_inner()
            .get_mut(pipeline.id)
    }

    /// Buffers that a started pipeline's sinks took so far.
    pub fn taken(&self, pipeline: PipelineHandle) -> u64 {
        let lanes = self.fabric(pipeline).map_or(&[][..], |p| &p.lanes);
        let sinks = lanes.iter().filter(|l| l.is_sink());
        sinks.map(|l| l.buffers_in()).sum()
    }

    /// What a pipeline's elements took of their work outside the tick with the clock `wall`, in order, where
    /// the run is recorded ([`Engine::observe`]): by element, the tick and the item's number.
    pub fn taken_outside(&self, pipeline: PipelineHandle) -> Vec<(String, Vec<Taken>)> {
        let works = self.world.resource::<Works>();
        let slots = works.pipelines.get(pipeline.id.index()).map(|w| &w.slots);
        let slots = slots.into_iter().flatten();
        let outside = slots.filter_map(|s| Some((s.name.to_string(), s.outside.as_ref()?)));
        outside
            .map(|(name, o)| (name, o.taken().to_vec()))
            .collect()
    }

    /// The clock's time of a started pipeline, in nanoseconds.
    pub fn now(&self, pipeline: PipelineHandle) -> i64 {
        self.fabric(pipeline).map_or(0, |p| p.now)
    }

    /// How a pipeline's run stands.
    pub fn progress(&self, pipeline: PipelineHandle) -> Progress {
        self.fabric(pipeline).map_or(Progress::Idle, |p| p.progress)
    }
}

/// Whether nothing moves before somebody tells that a device is ready, or a flush over.
fn only_others_move(p: &PipelineFabric) -> bool {
    let waits = |l: &Lane| l.readiness == Readiness::Device || l.gate == Gate::Flushing;
    p.progress == Progress::Running && p.idle && p.lanes.iter().any(waits)
}
