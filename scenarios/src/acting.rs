//! Does the actions of a scenario while its graph runs, and keeps what could not be done.
//!
//! Some is refused at once, some by the tick that does it: then all that was asked for together is
//! told, each with its place.

use crate::action::{Action, Deed};
use crate::check::{Miss, Missed};
use crate::source::Place;
use std::collections::BTreeMap;
use tickpipe::systems::negotiate::{Asked, Refusal};
use tickpipe::{ElementHandle, Engine, PipelineHandle, Script, State};

/// The actions of a scenario on their way, in order of their ticks and of the file.
pub(crate) struct Acting {
    left: Vec<Action>,
    /// By name, as they were before anything ran.
    elements: BTreeMap<String, ElementHandle>,
    /// What was asked for last and could still be refused, of each kind that is refused as a whole.
    asked: Vec<(Asked, u64, Place)>,
    /// Since which tick refusals were not looked at.
    looked: u64,
    /// What could not be done.
    pub failed: Vec<Missed>,
}

/// What is refused together with the deed, and by whom.
fn kind(deed: &Deed) -> Option<Asked> {
    match deed {
        Deed::Set { .. } => Some(Asked::Settings),
        Deed::Link { .. } | Deed::Unlink { .. } | Deed::Remove(..) => Some(Asked::Links),
        Deed::Seek(_) => Some(Asked::Seek),
        Deed::State(_) | Deed::Flush(..) | Deed::Send { .. } => None,
    }
}

impl Acting {
    pub fn new(engine: &Engine, pipeline: PipelineHandle, actions: &[Action]) -> Acting {
        let mut left = actions.to_vec();
        left.sort_by_key(|a| a.at);
        left.reverse();
        let elements = engine.elements(pipeline).into_iter();
        Acting {
            left,
            elements: elements.map(|e| (engine.name(e), e)).collect(),
            asked: Vec::new(),
            looked: 0,
            failed: Vec::new(),
        }
    }

    fn act(
        &self,
        engine: &mut Engine,
        pipeline: PipelineHandle,
        deed: &Deed,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let of = |name: &String| {
            let element = self.elements.get(name).copied();
            element.ok_or_else(|| format!("there is no element {name}"))
        };
        match deed {
            Deed::State(state) => engine.set_state(pipeline, *state),
            Deed::Seek(seek) => engine.seek(pipeline, *seek)?,
            Deed::Flush(flush, behind) => {
                let behind = behind.as_ref().map(of).transpose()?;
                engine.flush(pipeline, behind, *flush);
            }
            Deed::Set {
                element,
                property,
                value,
            } => {
                engine.set_text(of(element)?, property, value)?;
            }
            Deed::Unlink { from, to } => engine.unlink(of(from)?, of(to)?)?,
            Deed::Link { from, to } => engine.link(of(from)?, of(to)?)?,
            Deed::Remove(element, removal) => engine.remove(pipeline, of(element)?, *removal)?,
            Deed::Send {
                element,
                event,
                upstream,
            } => engine.send_event(pipeline, of(element)?, event.clone(), *upstream),
        }
        Ok(())
    }

    fn miss(&mut self, place: Place, why: String) {
        let what = Miss::NotDone { why };
        self.failed.push(Missed { place, what });
    }

    /// All that was asked for together and is refused is told; once.
    fn blame(&mut self, refusal: &Refusal) {
        let last = self.asked.iter().filter(|a| a.0 == refusal.of);
        let Some(tick) = last.map(|a| a.1).max() else {
            return;
        };
        let why = refusal.error.to_string();
        for (kind, at, place) in core::mem::take(&mut self.asked) {
            match kind == refusal.of {
                true if at == tick => self.miss(place, why.clone()),
                true => {}
                false => self.asked.push((kind, at, place)),
            }
        }
    }
}

impl Script for Acting {
    fn before(&mut self, engine: &mut Engine, pipeline: PipelineHandle, tick: u64) {
        // What makes a graph that does not run one that cannot.
        let mut broken = None;
        while let Some(action) = self.left.pop_if(|a| a.at <= tick) {
            let kind = kind(&action.deed);
            if let Err(error) = self.act(engine, pipeline, &action.deed) {
                self.miss(action.place, error.to_string());
                continue;
            }
            if kind == Some(Asked::Links) && engine.state(pipeline) == State::Ready {
                broken = match (engine.check_links(pipeline), broken) {
                    (Ok(()), _) => None,
                    (Err(_), Some(before)) => Some(before),
                    (Err(error), None) => Some((action.place.clone(), error.to_string())),
                };
            }
            if let Some(kind) = kind {
                // A seek counts alone, the last one.
                self.asked
                    .retain(|a| a.0 != kind || (kind != Asked::Seek && a.1 == tick));
                self.asked.push((kind, tick, action.place));
            }
        }
        if let Some((place, why)) = broken {
            self.miss(place, why);
        }
    }

    fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    fn after(&mut self, engine: &Engine, pipeline: PipelineHandle) {
        let refusals = engine.refusals(pipeline);
        let new = refusals.iter().filter(|r| r.tick >= self.looked);
        let new: Vec<Refusal> = new.cloned().collect();
        for refusal in new {
            self.looked = refusal.tick + 1;
            self.blame(&refusal);
        }
    }

    fn next(&self) -> Option<u64> {
        self.left.last().map(|a| a.at)
    }
}
