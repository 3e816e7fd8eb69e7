//! The engine: a world, the schedule of the tick, and the threads that it may use.

use crate::subscribe::Handler;
use bevy_ecs::schedule::{
    IntoScheduleConfigs, LogLevel, Schedule, ScheduleBuildSettings, SingleThreadedExecutor,
};
use bevy_ecs::world::World;
use core::ops::Range;
use std::collections::BTreeMap;
use std::time::Instant;
use thiserror::Error;
use tickpipe_components::fabric::Fabric;
use tickpipe_components::id::PipelineId;
use tickpipe_components::limits::Limits;
use tickpipe_systems::command::Actions;
use tickpipe_systems::element::{Element, Registry, RegistryError};
use tickpipe_systems::outside::{SharedWaker, SharedWorkers};
use tickpipe_systems::report::invariants::Checking;
use tickpipe_systems::state::Graphs;
use tickpipe_systems::{Phase, Works};

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Threads that a tick may use, at least 1. It changes no result.
    pub threads: usize,
    /// Named sizes.
    pub limits: Limits,
    /// Order of systems that the schedule leaves open, for tests: any value gives the same
    /// results.
    pub shuffle_seed: Option<u64>,
    /// Whether to look in every tick that all holds that always does (docs/invariants.md). Without
    /// a word it is looked at where debug assertions are on, in large graphs not in every tick.
    /// No result or digest depends on it.
    pub check: Option<bool>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            threads: 1,
            limits: Limits::default(),
            shuffle_seed: None,
            check: None,
        }
    }
}

/// An engine that cannot be set up.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Its threads cannot be started.
    #[error("cannot start {threads} threads: {error}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why.
        error: rayon::ThreadPoolBuildError,
    },
    /// Two elements have the same name.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// A world of pipelines, and what advances it tick by tick.
pub struct Engine {
    pub(crate) world: World,
    schedule: Schedule,
    threads: Option<rayon::ThreadPool>,
    /// Of playing pipelines with a `wall` clock: when their clock was 0.
    pub(crate) wall_start: BTreeMap<PipelineId, Instant>,
    /// Those who want messages as they come.
    pub(crate) handlers: Vec<Handler>,
    /// Elements of which the application has an end.
    pub(crate) app_ends: Vec<crate::build::ElementHandle>,
}

impl Engine {
    /// An engine with all elements of this build, one thread and the default limits.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn new() -> Result<Engine, EngineError> {
        Engine::with_options(EngineOptions::default())
    }

    /// An engine with all elements of this build.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn with_options(options: EngineOptions) -> Result<Engine, EngineError> {
        let threads = match options.threads {
            0 | 1 => None,
            n => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(n)
                    .build()
                    .map_err(|error| EngineError::Threads { threads: n, error })?,
            ),
        };
        let mut registry = Registry::default();
        tickpipe_systems::elements::register(&mut registry)?;
        let mut world = World::new();
        world.insert_resource(registry);
        let waker = SharedWaker::default();
        world.insert_resource(SharedWorkers::of(&options.limits, &waker));
        world.insert_resource(waker);
        world.insert_resource(options.limits);
        let checking = Checking::of(options.check);
        world.insert_resource(checking);
        world.insert_resource(Fabric {
            parallel: threads.is_some(),
            ..Fabric::default()
        });
        world.init_resource::<Works>();
        world.init_resource::<Graphs>();
        world.init_resource::<Actions>();
        Ok(Engine {
            world,
            schedule: schedule(options.shuffle_seed, checking),
            threads,
            wall_start: BTreeMap::new(),
            handlers: Vec::new(),
            app_ends: Vec::new(),
        })
    }

    /// Registers an element of the caller's own.
    ///
    /// # Errors
    /// [`RegistryError::Taken`] if its name is.
    pub fn register<T: Element>(&mut self) -> Result<(), RegistryError> {
        self.world.resource_mut::<Registry>().register::<T>()
    }

    /// All registered element classes.
    pub fn registry(&self) -> &Registry {
        self.world.resource::<Registry>()
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        self.world.resource::<Limits>()
    }

    /// The world, to query: entities and their components are described in
    /// [`components::graph`](crate::components::graph).
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to query with systems of one's own between ticks.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Advances all pipelines by one tick.
    pub fn tick(&mut self) {
        let count = self.world.resource::<Fabric>().pipelines.len();
        self.on_threads(|engine| engine.tick_window(0..count));
    }

    /// Advances some pipelines by one tick.
    pub(crate) fn tick_window(&mut self, window: Range<usize>) {
        self.world.resource_mut::<Fabric>().window = window.clone();
        self.schedule.run(&mut self.world);
        if !self.handlers.is_empty() {
            self.handle_messages(&window);
        }
        if !self.app_ends.is_empty() {
            self.tell_app_ends();
        }
    }

    /// Runs `f` where parallel work of a tick costs no allocation: inside the pool of threads.
    pub(crate) fn on_threads<T: Send>(&mut self, f: impl FnOnce(&mut Engine) -> T + Send) -> T {
        match self.threads.take() {
            None => f(self),
            Some(threads) => {
                let result = threads.install(|| f(self));
                self.threads = Some(threads);
                result
            }
        }
    }

    pub(crate) fn is_parallel(&self) -> bool {
        self.world.resource::<Fabric>().parallel
    }
}

/// The tick: eleven phases in order, a set each.
fn schedule(shuffle_seed: Option<u64>, checking: Checking) -> Schedule {
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    #[cfg_attr(
        not(feature = "shuffle"),
        expect(unused_mut, reason = "only the shuffle feature changes it")
    )]
    let mut settings = ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::new()
    };
    #[cfg(feature = "shuffle")]
    {
        settings.shuffle_seed = shuffle_seed;
    }
    #[cfg(not(feature = "shuffle"))]
    let _ = shuffle_seed;
    schedule.set_build_settings(settings);
    for pair in Phase::ALL.windows(2) {
        schedule.configure_sets((pair[0], pair[1]).chain());
    }
    let on_request = (
        Phase::Command,
        Phase::State,
        Phase::Negotiate,
        Phase::Allocate,
    );
    schedule.configure_sets(on_request.run_if(tickpipe_systems::state::is_asked));
    schedule.add_systems((
        tickpipe_systems::command::command.in_set(Phase::Command),
        tickpipe_systems::state::state.in_set(Phase::State),
        tickpipe_systems::negotiate::negotiate.in_set(Phase::Negotiate),
        tickpipe_systems::allocate::allocate.in_set(Phase::Allocate),
        tickpipe_systems::schedule::schedule.in_set(Phase::Schedule),
        tickpipe_systems::sync::sync.in_set(Phase::Sync),
        tickpipe_systems::process::process.in_set(Phase::Process),
        tickpipe_systems::deliver::deliver.in_set(Phase::Deliver),
        tickpipe_systems::reclaim::reclaim.in_set(Phase::Reclaim),
        (
            tickpipe_systems::report::report,
            tickpipe_systems::report::post,
        )
            .chain()
            .in_set(Phase::Report),
        tickpipe_systems::advance::advance.in_set(Phase::Advance),
    ));
    if checking != Checking::Off {
        schedule.add_systems(
            tickpipe_systems::report::invariants::invariants
                .after(tickpipe_systems::report::report)
                .before(tickpipe_systems::report::post)
                .in_set(Phase::Report),
        );
    }
    schedule
}
