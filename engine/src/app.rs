//! The application's ends of `appsrc` and `appsink`.

use crate::build::{ElementHandle, PipelineHandle};
use crate::engine::Engine;
use std::sync::Arc;
use tickpipe_components::fabric::Progress;
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::graph::Place;
use tickpipe_components::id::PipelineId;
use tickpipe_systems::Works;
use tickpipe_systems::elements::core::app::{
    AppError, AppSink, AppSinkElement, AppSource, AppSrcElement,
};
use tickpipe_systems::outside::SharedWaker;

impl Engine {
    /// The application's end of an `appsrc`. With none it does not start; when the last is dropped
    /// without an end, it fails.
    ///
    /// # Errors
    /// [`AppError::NotThat`]: the element is of another class.
    pub fn app_source(&mut self, element: ElementHandle) -> Result<AppSource, AppError> {
        let waker = Arc::clone(&self.world.resource::<SharedWaker>().0);
        let settings = self.world.get::<AppSrcElement>(element.0);
        let handle = settings.map(|s| s.handle(waker));
        self.app_end(element);
        handle.ok_or_else(|| AppError::NotThat(self.name(element), "appsrc"))
    }

    /// The application's end of an `appsink`. Without one what comes is let go.
    ///
    /// # Errors
    /// [`AppError::NotThat`]: the element is of another class.
    pub fn app_sink(&mut self, element: ElementHandle) -> Result<AppSink, AppError> {
        let waker = Arc::clone(&self.world.resource::<SharedWaker>().0);
        let settings = self.world.get::<AppSinkElement>(element.0);
        let handle = settings.map(|s| s.handle(waker));
        self.app_end(element);
        handle.ok_or_else(|| AppError::NotThat(self.name(element), "appsink"))
    }

    fn app_end(&mut self, element: ElementHandle) {
        if !self.app_ends.contains(&element) {
            self.app_ends.push(element);
        }
    }

    /// Tells the application's ends that their elements work no more.
    pub(crate) fn tell_app_ends(&mut self) {
        for element in &self.app_ends {
            let Some(&Place { pipeline, lane }) = self.world.get::<Place>(element.0) else {
                continue;
            };
            let fabric = self.world.resource::<tickpipe_components::fabric::Fabric>();
            let Some(p) = fabric.get(pipeline) else {
                continue;
            };
            let failed = p.failing || p.progress == Progress::Failed;
            let done = p.lanes.get(lane.index()).is_some_and(|l| l.done);
            if !failed && !done {
                continue;
            }
            let failure = failed.then(|| self.failure_of(pipeline));
            if let Some(source) = self.world.get::<AppSrcElement>(element.0) {
                source.over(failure);
            }
            if let Some(sink) = self.world.get::<AppSinkElement>(element.0) {
                sink.over(failure);
            }
        }
    }

    /// What made a pipeline fail.
    fn failure_of(&self, pipeline: PipelineId) -> (Domain, Code) {
        let works = self.world.resource::<Works>();
        let slots = works.pipelines.get(pipeline.index()).map(|w| &w.slots);
        let faults = slots.into_iter().flatten().filter_map(|s| s.fault.as_ref());
        let first = faults.map(|f| (f.domain, f.code)).next();
        first.unwrap_or((Domain::Core, Code::Failed))
    }

    /// Buffers that the application has of a pipeline's sinks, by sink.
    pub fn app_holds(&self, pipeline: PipelineHandle, sink: ElementHandle) -> usize {
        let place = self.world.get::<Place>(sink.0);
        let lane = place.filter(|p| p.pipeline == pipeline.id());
        let lane = lane.and_then(|p| self.fabric(pipeline)?.lanes.get(p.lane.index()));
        lane.map_or(0, |l| l.extras.kept.len())
    }
}
