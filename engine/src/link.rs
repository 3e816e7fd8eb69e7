//! Linking elements: which pads, and whether they can meet at all.

use crate::build::{BuildError, ElementHandle};
use crate::engine::Engine;
use bevy_ecs::entity::Entity;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::caps::pair::{MeetError, meet};
use tickpipe_components::graph::{Direction, Link, Pad, PadCaps, PadLink, Pads, Presence};
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};
use tickpipe_systems::element::ClassRef;

/// Why two elements cannot be linked so.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The element has no pad of that name.
    #[error("element {element} has no {direction} pad `{pad}` (it has: {})", .known.join(", "))]
    NoPad {
        /// The element's name.
        element: String,
        /// Which way.
        direction: &'static str,
        /// What was asked for.
        pad: String,
        /// What there is.
        known: Vec<String>,
    },
    /// All pads of that direction are linked, or it has none.
    #[error("element {element} has no free {direction} pad")]
    NoFreePad {
        /// The element's name.
        element: String,
        /// Which way.
        direction: &'static str,
    },
    /// The pad is linked already.
    #[error("pad {element}.{pad} is linked already")]
    Linked {
        /// The element's name.
        element: String,
        /// The pad.
        pad: String,
    },
    /// The two pads have nothing in common.
    #[error("{from} and {to} cannot meet: {error}")]
    CannotMeet {
        /// The source pad.
        from: String,
        /// The sink pad.
        to: String,
        /// What keeps them apart.
        error: MeetError,
    },
    /// They are in different pipelines.
    #[error("{from} and {to} are in different pipelines")]
    Apart {
        /// The element that feeds.
        from: String,
        /// The element that is fed.
        to: String,
    },
    /// An element cannot feed itself.
    #[error("element {0} cannot be linked to itself")]
    Itself(String),
    /// A limit would be passed.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// The graph cannot be changed now.
    #[error(transparent)]
    Build(#[from] BuildError),
}

const fn name_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Sink => "sink",
        Direction::Source => "source",
    }
}

impl Engine {
    /// Links the first free source pad of one element with the first free sink pad of another;
    /// pads on request are made.
    ///
    /// # Errors
    /// [`LinkError`]; nothing is changed then.
    pub fn link(&mut self, from: ElementHandle, to: ElementHandle) -> Result<(), LinkError> {
        self.link_pads(from, None, to, None)
    }

    /// Links each element with the next.
    ///
    /// # Errors
    /// [`LinkError`]; the links before the one that failed stay.
    pub fn link_all(
        &mut self,
        elements: impl IntoIterator<Item = ElementHandle>,
    ) -> Result<(), LinkError> {
        let mut before = None;
        for element in elements {
            if let Some(before) = before {
                self.link(before, element)?;
            }
            before = Some(element);
        }
        Ok(())
    }

    /// Links two pads by name; `None` is the first free one.
    ///
    /// # Errors
    /// [`LinkError`]; nothing is changed then.
    pub fn link_pads(
        &mut self,
        from: ElementHandle,
        source: Option<&str>,
        to: ElementHandle,
        sink: Option<&str>,
    ) -> Result<(), LinkError> {
        if from == to {
            return Err(LinkError::Itself(self.name(from)));
        }
        let pipelines = [self.pipeline_of(from), self.pipeline_of(to)];
        for pipeline in pipelines.into_iter().flatten() {
            self.must_be_ready(pipeline)?;
        }
        if let [Some(a), Some(b)] = pipelines
            && a != b
        {
            return Err(LinkError::Apart {
                from: self.name(from),
                to: self.name(to),
            });
        }
        let a = self.find_pad(from, Direction::Source, source)?;
        let b = self.find_pad(to, Direction::Sink, sink)?;
        if let Err(error) = meet(&a.caps, false, &b.caps, false) {
            return Err(LinkError::CannotMeet {
                from: format!("{}.{}", self.name(from), a.name),
                to: format!("{}.{}", self.name(to), b.name),
                error,
            });
        }
        let a = self.make_pad(from, a);
        let b = self.make_pad(to, b);
        let link = self.world.spawn(Link { from: a, to: b }).id();
        for pad in [a, b] {
            if let Some(mut at) = self.world.get_mut::<PadLink>(pad) {
                at.0 = Some(link);
            }
        }
        Ok(())
    }

    /// Finds a pad, or the template that makes one; changes nothing.
    fn find_pad(
        &self,
        element: ElementHandle,
        direction: Direction,
        name: Option<&str>,
    ) -> Result<Found, LinkError> {
        let owner = || self.name(element);
        let no_free = || LinkError::NoFreePad {
            element: owner(),
            direction: name_of(direction),
        };
        let class = self.world.get::<ClassRef>(element.0).ok_or_else(no_free)?;
        let templates = &class.0.terms.pads;
        let pads = self.world.get::<Pads>(element.0);
        let mut known = Vec::new();
        let mut count = 0;
        for &pad in pads.iter().flat_map(|p| &p.0) {
            let Some(info) = self.world.get::<Pad>(pad) else {
                continue;
            };
            if info.direction != direction {
                continue;
            }
            count += 1;
            let linked = self
                .world
                .get::<PadLink>(pad)
                .is_some_and(|l| l.0.is_some());
            let wanted = name.map_or(!linked, |n| n == info.name);
            known.push(info.name.clone());
            if !wanted {
                continue;
            }
            if linked {
                return Err(LinkError::Linked {
                    element: owner(),
                    pad: info.name.clone(),
                });
            }
            return Ok(Found {
                entity: Some(pad),
                template: info.template,
                name: info.name.clone(),
                index: info.index,
                caps: templates
                    .get(info.template)
                    .map_or_else(Caps::any, |t| t.caps.clone()),
            });
        }
        let on_request = templates
            .iter()
            .enumerate()
            .find(|(_, t)| t.presence == Presence::Request && t.direction == direction);
        let Some((template, t)) = on_request else {
            return Err(match name {
                Some(pad) => LinkError::NoPad {
                    element: owner(),
                    direction: name_of(direction),
                    pad: pad.to_owned(),
                    known,
                },
                None => no_free(),
            });
        };
        let stem = t.name.trim_end_matches("%u");
        let pad = match name {
            None => {
                // Mostly the next number; a lower one is free only where pads were named.
                let mut numbers = (count..).chain(0..count);
                let free = |n: u64| Some(format!("{stem}{n}")).filter(|n| !known.contains(n));
                numbers.find_map(free).unwrap_or_default()
            }
            // The template's own name asks for any, as GStreamer's request does.
            Some(n) if n == t.name => return self.find_pad(element, direction, None),
            Some(n) => {
                let number = n.strip_prefix(stem).and_then(|d| d.parse::<u32>().ok());
                if number.is_none() {
                    known.push(t.name.to_owned());
                    return Err(LinkError::NoPad {
                        element: owner(),
                        direction: name_of(direction),
                        pad: n.to_owned(),
                        known,
                    });
                }
                n.to_owned()
            }
        };
        let limits = self.world.resource::<Limits>();
        limits.check(Limit::TeePads, &format!("pads of {}", owner()), count + 1)?;
        Ok(Found {
            entity: None,
            template,
            name: pad,
            index: count as usize,
            caps: t.caps.clone(),
        })
    }

    fn make_pad(&mut self, element: ElementHandle, found: Found) -> Entity {
        if let Some(pad) = found.entity {
            return pad;
        }
        let direction = self
            .world
            .get::<ClassRef>(element.0)
            .and_then(|c| c.0.terms.pads.get(found.template))
            .map_or(Direction::Source, |t| t.direction);
        let info = Pad {
            element: element.0,
            name: found.name,
            direction,
            template: found.template,
            index: found.index,
        };
        let pad = self
            .world
            .spawn((info, PadCaps::default(), PadLink(None)))
            .id();
        if let Some(mut pads) = self.world.get_mut::<Pads>(element.0) {
            pads.0.push(pad);
        }
        pad
    }
}

/// A pad that is there, or can be made.
struct Found {
    entity: Option<Entity>,
    template: usize,
    name: String,
    index: usize,
    caps: Caps,
}
