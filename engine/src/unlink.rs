//! Taking links and elements out of a graph, also while it runs.

use crate::build::{ElementHandle, PipelineHandle};
use crate::engine::Engine;
use bevy_ecs::entity::Entity;
use thiserror::Error;
use tickpipe_components::graph::{Link, Pad, PadLink, Pads, Place};
use tickpipe_components::state::State;
use tickpipe_systems::command::{Action, Actions};
use tickpipe_systems::negotiate::{Leaving, Removal, leave, take_link, unplug};

/// Why something cannot be taken out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnlinkError {
    /// They are not linked with each other.
    #[error("{from} does not feed {to}")]
    NotLinked {
        /// The element that was to be the feeder.
        from: String,
        /// The other.
        to: String,
    },
    /// It is in no pipeline, or in another.
    #[error("{0} is not in this pipeline")]
    NotHere(String),
}

impl Engine {
    /// Takes away the links from one element to another. What was sent over them is still taken.
    ///
    /// In a started pipeline it counts from the next tick on, together with what is linked until
    /// then: so an element can be put between two others without a buffer lost. A sink pad that
    /// nothing feeds then gets the end behind what is queued for it; an element whose source pads
    /// all lead nowhere works no more, and neither do those who feed only it.
    ///
    /// # Errors
    /// [`UnlinkError::NotLinked`].
    pub fn unlink(&mut self, from: ElementHandle, to: ElementHandle) -> Result<(), UnlinkError> {
        let owner = |pad| self.world.get::<Pad>(pad).map(|p| p.element);
        let links: Vec<Entity> = self
            .links_of(from)
            .into_iter()
            .filter(|&link| {
                let ends = self.world.get::<Link>(link);
                ends.is_some_and(|l| owner(l.from) == Some(from.0) && owner(l.to) == Some(to.0))
            })
            .collect();
        if links.is_empty() {
            return Err(UnlinkError::NotLinked {
                from: self.name(from),
                to: self.name(to),
            });
        }
        for link in links {
            take_link(&mut self.world, link);
        }
        self.cut(from);
        Ok(())
    }

    /// Takes an element out of its pipeline. In READY that is done at once. In a started pipeline
    /// what it holds is passed on first, and the end behind it; or discarded, and then it leaves in
    /// the next tick. Elements that are taken out together pass on what they hold to each other.
    /// [`MessageKind::Removed`](crate::MessageKind::Removed) says when an element that drains has left.
    ///
    /// # Errors
    /// [`UnlinkError::NotHere`].
    pub fn remove(
        &mut self,
        pipeline: PipelineHandle,
        element: ElementHandle,
        removal: Removal,
    ) -> Result<(), UnlinkError> {
        if self.pipeline_of(element) != Some(pipeline) {
            return Err(UnlinkError::NotHere(self.name(element)));
        }
        let runs = self.state(pipeline) != State::Ready;
        let runs = runs && self.world.get::<Place>(element.0).is_some();
        if runs && removal == Removal::Drain {
            if self.world.get::<Leaving>(element.0).is_some() {
                return Ok(());
            }
            self.world.entity_mut(element.0).insert(Leaving);
            let action = Action::Leave {
                pipeline: pipeline.entity,
                element: element.0,
            };
            self.world.resource_mut::<Actions>().queue.push(action);
            return Ok(());
        }
        for pad in self
            .world
            .get::<Pads>(element.0)
            .cloned()
            .unwrap_or_default()
            .0
        {
            unplug(&mut self.world, pad);
        }
        for link in self.links_of(element) {
            take_link(&mut self.world, link);
        }
        self.cut(element);
        leave(&mut self.world, element.0);
        Ok(())
    }

    /// What is cut off in a started pipeline counts from the next tick on.
    fn cut(&mut self, element: ElementHandle) {
        let Some(pipeline) = self.pipeline_of(element) else {
            return;
        };
        if self.state(pipeline) != State::Ready {
            let pipeline = pipeline.entity;
            let action = Action::Cut { pipeline };
            self.world.resource_mut::<Actions>().queue.push(action);
        }
    }

    /// The links at an element's pads.
    fn links_of(&self, element: ElementHandle) -> Vec<Entity> {
        let pads = self.world.get::<Pads>(element.0);
        let links = pads
            .iter()
            .flat_map(|p| &p.0)
            .filter_map(|&pad| self.world.get::<PadLink>(pad)?.0);
        links.collect()
    }
}
