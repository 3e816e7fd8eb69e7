//! Elements at work, beside the fabric's lanes, and walking the pipelines on several threads.

use crate::element::{Beside, Offers, PadCapsOf, PadNames, PassThrough, Work};
use crate::outside::{Awaited, Outside};
use crate::state::Node;
use bevy_ecs::resource::Resource;
use core::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use tickpipe_components::fabric::{Fabric, PipelineFabric};
use tickpipe_components::fault::ElementError;
use tickpipe_components::readiness::Readiness;

/// An element at work and what is told of it.
pub struct WorkSlot {
    /// What runs.
    pub work: Box<dyn Work>,
    /// The element's name.
    pub name: Box<str>,
    /// The element's entity.
    pub entity: bevy_ecs::entity::Entity,
    /// It was opened.
    pub opened: bool,
    /// Why it failed, if it did.
    pub fault: Option<ElementError>,
    /// What it is told when the changes of its lane take effect, one each.
    pub(crate) changes: VecDeque<Told>,
    /// What it announced and had answered.
    pub(crate) offers: Offers,
    /// The names of its linked pads, where pads are made on request.
    pub(crate) pads: Option<Arc<PadNames>>,
    /// Why caps that it announced cannot be.
    pub(crate) refused: Option<ElementError>,
    /// Its items of work outside the tick, where it hands over any.
    pub outside: Option<Box<Outside>>,
}

/// What an element is told when a change takes effect.
pub(crate) struct Told {
    /// New settings, if it cares.
    pub(crate) settings: Option<Arc<dyn Any + Send + Sync>>,
    /// The caps of all its pads, if one has others.
    pub(crate) pads: Option<PadCapsOf>,
}

impl Told {
    /// The same with what comes after it.
    pub(crate) fn follow(&mut self, next: Told) {
        self.settings = next.settings.or(self.settings.take());
        self.pads = next.pads.or(self.pads.take());
    }
}

impl WorkSlot {
    /// A slot for an element that was not opened yet.
    pub fn closed(node: &Node) -> WorkSlot {
        WorkSlot {
            work: Box::new(PassThrough),
            name: node.name.as_str().into(),
            entity: node.entity,
            opened: false,
            fault: None,
            changes: VecDeque::new(),
            offers: Offers::new(),
            pads: node.names.clone(),
            refused: None,
            outside: None,
        }
    }

    /// Whether what it waits for outside the tick is there.
    pub fn awaited(&self) -> Awaited {
        let items = self.outside.as_ref().map(|o| o.awaited());
        items.unwrap_or_default().max(self.work.awaited())
    }

    /// Its work, and what that has beside its lane.
    pub(crate) fn at_work(&mut self) -> (&mut Box<dyn Work>, Beside<'_>) {
        let beside = Beside {
            name: &self.name,
            said: None,
            offers: &self.offers,
            pads: self.pads.as_deref(),
            outside: self.outside.as_deref_mut(),
        };
        (&mut self.work, beside)
    }
}

/// The elements of one pipeline, by lane.
#[derive(Default)]
pub struct PipelineWorks {
    /// By [`LaneId`](tickpipe_components::id::LaneId).
    pub slots: Vec<WorkSlot>,
}

impl PipelineWorks {
    /// Has those that lend give up what they can do without. Whether there was any.
    pub fn relent(&self, p: &PipelineFabric) -> bool {
        let lending = p.lending.iter().filter_map(|l| self.slots.get(*l as usize));
        lending.filter(|slot| slot.work.relents()).count() > 0
    }

    /// Whether what some lane waits for outside the tick is there, or can come.
    pub fn awaited(&self, p: &PipelineFabric) -> Awaited {
        let lending = p.lending.iter().filter_map(|l| self.slots.get(*l as usize));
        let lent = lending.map(WorkSlot::awaited).max().unwrap_or_default();
        if p.waiting_outside == 0 {
            return lent;
        }
        let lanes = p.lanes.iter().zip(&self.slots);
        let waiting = lanes.filter(|(l, _)| l.readiness == Readiness::Device);
        let awaited = waiting.map(|(_, slot)| slot.awaited());
        awaited.max().unwrap_or_default().max(lent)
    }
}

/// The elements at work of all pipelines.
#[derive(Resource, Default)]
pub struct Works {
    /// By [`PipelineId`](tickpipe_components::id::PipelineId).
    pub pipelines: Vec<PipelineWorks>,
}

/// Lanes that must have run in the last tick for another thread to be asked to help: below, a
/// pipeline's share of a phase costs less than waking it (measured: see docs/architecture.md).
const GRAIN: usize = 512;

/// Runs `f` for each pipeline of the window, on several threads where that pays. Pipelines share
/// nothing, so the order makes no difference.
pub(crate) fn each(fabric: &mut Fabric, f: impl Fn(&mut PipelineFabric) + Sync + Copy) {
    let parallel = fabric.parallel;
    let active = fabric.active();
    if parallel && worth_it(active) {
        split(active, f);
    } else {
        active.iter_mut().for_each(f);
    }
}

/// As [`each`], with the elements at work.
pub(crate) fn each_with_works(
    fabric: &mut Fabric,
    works: &mut Works,
    f: impl Fn(&mut PipelineFabric, &mut PipelineWorks, bool) + Sync + Copy,
) {
    let parallel = fabric.parallel;
    let end = fabric.window.end.min(works.pipelines.len());
    let start = fabric.window.start.min(end);
    let active = fabric.active();
    let works = &mut works.pipelines[start..end];
    if parallel && worth_it(active) {
        split_with_works(active, works, f);
    } else {
        for (p, w) in active.iter_mut().zip(works) {
            f(p, w, parallel);
        }
    }
}

fn worth_it(active: &[PipelineFabric]) -> bool {
    active.len() > 1 && active.iter().map(|p| p.ready.len()).sum::<usize>() >= GRAIN
}

/// Halves until a piece is a single pipeline or small; `join` allocates nothing.
fn split(pipelines: &mut [PipelineFabric], f: impl Fn(&mut PipelineFabric) + Sync + Copy) {
    if pipelines.len() > 1 && worth_it(pipelines) {
        let (left, right) = pipelines.split_at_mut(pipelines.len() / 2);
        rayon::join(|| split(left, f), || split(right, f));
    } else {
        pipelines.iter_mut().for_each(f);
    }
}

fn split_with_works(
    pipelines: &mut [PipelineFabric],
    works: &mut [PipelineWorks],
    f: impl Fn(&mut PipelineFabric, &mut PipelineWorks, bool) + Sync + Copy,
) {
    if pipelines.len() > 1 && worth_it(pipelines) {
        let middle = pipelines.len() / 2;
        let (left, right) = pipelines.split_at_mut(middle);
        let (left_works, right_works) = works.split_at_mut(middle.min(works.len()));
        rayon::join(
            || split_with_works(left, left_works, f),
            || split_with_works(right, right_works, f),
        );
    } else {
        for (p, w) in pipelines.iter_mut().zip(works) {
            f(p, w, true);
        }
    }
}
