//! Linking elements: which pads, and whether they can meet at all.

use crate::build::{BuildError, ElementHandle};
use crate::engine::Engine;
use bevy_ecs::entity::Entity;
use thiserror::Error;
use tickpipe_components::caps::pair::{MeetError, meet};
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::graph::{
    Direction, Link, Pad, PadCaps, PadLink, Pads, Presence, Transport,
};
use tickpipe_components::limits::{Limit, LimitExceeded, Limits};
use tickpipe_components::state::State;
use tickpipe_systems::command::{Action, Actions};
use tickpipe_systems::element::{ClassRef, PadTemplate};
use tickpipe_systems::elements::core::CapsFilter;
use tickpipe_systems::negotiate::{NewLink, is_plugged, unplug};

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
    /// Bytes get over no link between them.
    #[error("{from} gives by {}, and {to} takes by {}: they have no transport in common", listed(.gives), listed(.takes))]
    NoTransport {
        /// The source pad.
        from: String,
        /// How it gives.
        gives: &'static [Transport],
        /// The sink pad.
        to: String,
        /// How it takes.
        takes: &'static [Transport],
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

fn listed(transports: &[Transport]) -> String {
    let names: Vec<&str> = transports.iter().map(|t| t.name()).collect();
    names.join(" or ")
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
    /// In a started pipeline the elements behind the link take part from the next tick on, with
    /// all that was linked since the last one. The caps of what runs stay; if there are none for
    /// the rest with them, the links are taken away, a warning is posted, and
    /// [`Engine::refused`] says why.
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
        if let [Some(a), Some(b)] = pipelines
            && a != b
        {
            return Err(LinkError::Apart {
                from: self.name(from),
                to: self.name(to),
            });
        }
        let b = self.find_pad(to, Direction::Sink, sink, &Caps::any());
        let takes = b
            .as_ref()
            .map_or_else(|_| Caps::any(), |b| self.takes(to, b));
        let a = self.find_pad(from, Direction::Source, source, &takes)?;
        let b = b?;
        self.must_meet((from, &a), (to, &b))?;
        let made = [&a, &b].map(|found| matches!(found, Found::New { .. }));
        let a = self.make_pad(from, a);
        let b = self.make_pad(to, b);
        for pad in [a, b] {
            unplug(&mut self.world, pad);
        }
        let link = self.world.spawn(Link::new(a, b)).id();
        for pad in [a, b] {
            if let Some(mut at) = self.world.get_mut::<PadLink>(pad) {
                at.0 = Some(link);
            }
        }
        let started = pipelines
            .into_iter()
            .flatten()
            .find(|&p| self.state(p) != State::Ready);
        if let Some(pipeline) = started {
            let pads = [a, b].into_iter().zip(made);
            let action = Action::Link {
                pipeline: pipeline.entity(),
                link: NewLink {
                    link,
                    pads: pads.filter(|p| p.1).map(|p| p.0).collect(),
                },
            };
            self.world.resource_mut::<Actions>().queue.push(action);
        }
        Ok(())
    }

    /// Whether the templates of two pads meet.
    fn must_meet(
        &self,
        (from, a): (ElementHandle, &Found),
        (to, b): (ElementHandle, &Found),
    ) -> Result<(), LinkError> {
        let transports = [self.template(from, a), self.template(to, b)];
        if let [Some(gives), Some(takes)] = transports
            && gives.common_transports(takes).next().is_none()
        {
            return Err(LinkError::NoTransport {
                from: format!("{}.{}", self.name(from), self.name_of(a)),
                gives: gives.transports,
                to: format!("{}.{}", self.name(to), self.name_of(b)),
                takes: takes.transports,
            });
        }
        let (a_caps, b_caps) = (self.template_caps(from, a), self.template_caps(to, b));
        if do_meet(a_caps, b_caps) {
            return Ok(());
        }
        meet(a_caps, false, b_caps, false)
            .map(|_| ())
            .map_err(|error| LinkError::CannotMeet {
                from: format!("{}.{}", self.name(from), self.name_of(a)),
                to: format!("{}.{}", self.name(to), self.name_of(b)),
                error,
            })
    }

    fn template_caps(&self, element: ElementHandle, found: &Found) -> &Caps {
        static ANY: Caps = Caps::any();
        self.template(element, found).map_or(&ANY, |t| &t.caps)
    }

    /// What a pad takes, as far as it is known without a graph: a filter says it by its settings.
    fn takes(&self, element: ElementHandle, found: &Found) -> Caps {
        let filter = self.world.get::<CapsFilter>(element.0);
        let caps = filter.map_or_else(|| self.template_caps(element, found), |f| &f.caps);
        caps.clone()
    }

    fn template(&self, element: ElementHandle, found: &Found) -> Option<&PadTemplate> {
        let class = self.world.get::<ClassRef>(element.0)?;
        class.0.terms.pads.get(found.template())
    }

    fn name_of<'a>(&'a self, found: &'a Found) -> &'a str {
        match found {
            Found::There { pad, .. } => self.world.get::<Pad>(*pad).map_or("", |p| &p.name),
            Found::New { name, .. } => name,
        }
    }

    /// Finds a pad, or the template that makes one; changes nothing. Of several templates that make pads
    /// the name decides; without one, of those that meet the caps of `other` the first that has made the fewest.
    fn find_pad(
        &self,
        element: ElementHandle,
        direction: Direction,
        name: Option<&str>,
        other: &Caps,
    ) -> Result<Found, LinkError> {
        let owner = || self.name(element);
        let no_free = || LinkError::NoFreePad {
            element: owner(),
            direction: name_of(direction),
        };
        let class = self.world.get::<ClassRef>(element.0).ok_or_else(no_free)?;
        let templates = &class.0.terms.pads;
        let pads = self.world.get::<Pads>(element.0).map_or(&[][..], |p| &p.0);
        let pads = || {
            let infos = pads.iter().map(|&pad| (pad, self.world.get::<Pad>(pad)));
            infos.filter_map(|(pad, info)| Some((pad, info.filter(|i| i.direction == direction)?)))
        };
        // A template's own name asks for any of its pads, as GStreamer's request does.
        let made = |t: &PadTemplate| t.presence == Presence::Request && t.direction == direction;
        let asked = |t: &PadTemplate| made(t) && name == Some(t.name);
        let any_of = templates.iter().position(asked);
        let name = name.filter(|_| any_of.is_none());
        let mut count = 0;
        for (pad, info) in pads() {
            count += 1;
            if name.is_some_and(|n| n != info.name) || any_of.is_some_and(|t| t != info.template) {
                continue;
            }
            let link = self.world.get::<PadLink>(pad).and_then(|l| l.0);
            if link.is_none() || is_plugged(&self.world, pad) {
                return Ok(Found::There {
                    pad,
                    template: info.template,
                });
            }
            if name.is_some() {
                return Err(LinkError::Linked {
                    element: owner(),
                    pad: info.name.clone(),
                });
            }
        }
        let no_pad = |asked: &str, on_request: Option<&str>| LinkError::NoPad {
            element: owner(),
            direction: name_of(direction),
            pad: asked.to_owned(),
            known: pads()
                .map(|(_, info)| info.name.as_str())
                .chain(on_request)
                .map(str::to_owned)
                .collect(),
        };
        let made = || templates.iter().enumerate().filter(|(_, t)| made(t));
        let wanted = |at: usize, t: &PadTemplate| match (any_of, name) {
            (Some(any_of), _) => at == any_of,
            (None, Some(name)) => name.starts_with(stem_of(t)),
            (None, None) => t.caps.can_intersect(other),
        };
        // Without a name the kinds take turns: of a file the first stream of each before a second one.
        let made_of = |at: usize| pads().filter(|(_, info)| info.template == at).count();
        let on_request = made()
            .filter(|(at, t)| wanted(*at, t))
            .min_by_key(|(at, _)| made_of(*at));
        let on_request = on_request.or_else(|| made().next());
        let Some((template, t)) = on_request else {
            return Err(name.map_or_else(no_free, |asked| no_pad(asked, None)));
        };
        let stem = stem_of(t);
        let name = match name {
            None => {
                // The number after the highest, as in GStreamer; where there is none, any free one.
                let number = |name: &str| name.strip_prefix(stem)?.parse::<u32>().ok();
                let numbers = pads().filter_map(|(_, info)| number(&info.name));
                let next = numbers.max().map_or(Some(0), |n| n.checked_add(1));
                let mut names = next.into_iter().chain(0..).map(|n| format!("{stem}{n}"));
                let is_free = |name: &String| pads().all(|(_, info)| info.name != *name);
                names.find(is_free).unwrap_or_default()
            }
            Some(n) => {
                let digits = n.strip_prefix(stem).filter(|d| !d.starts_with('+'));
                let number = digits.and_then(|d| d.parse::<u32>().ok());
                let Some(number) = number else {
                    return Err(no_pad(n, Some(t.name)));
                };
                // As in GStreamer `src_01` is the pad `src_1`.
                let own = format!("{stem}{number}");
                if own != n {
                    return self.find_pad(element, direction, Some(&own), other);
                }
                own
            }
        };
        let limits = self.world.resource::<Limits>();
        limits.check(Limit::TeePads, &format!("pads of {}", owner()), count + 1)?;
        Ok(Found::New {
            template,
            name,
            index: count as usize,
        })
    }

    /// Makes a pad of a name that is made on request, if it is not there.
    pub(crate) fn request_pad(
        &mut self,
        element: ElementHandle,
        direction: Direction,
        name: &str,
    ) -> Result<(), LinkError> {
        let found = self.find_pad(element, direction, Some(name), &Caps::any())?;
        self.make_pad(element, found);
        Ok(())
    }

    fn make_pad(&mut self, element: ElementHandle, found: Found) -> Entity {
        let (template, name, index) = match found {
            Found::There { pad, .. } => return pad,
            Found::New {
                template,
                name,
                index,
            } => (template, name, index),
        };
        let direction = self
            .world
            .get::<ClassRef>(element.0)
            .and_then(|c| c.0.terms.pads.get(template))
            .map_or(Direction::Source, |t| t.direction);
        let info = Pad {
            element: element.0,
            name,
            direction,
            template,
            index,
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

/// A pad that can be linked.
enum Found {
    /// It is there.
    There { pad: Entity, template: usize },
    /// It can be made.
    New {
        template: usize,
        name: String,
        index: usize,
    },
}

impl Found {
    const fn template(&self) -> usize {
        match self {
            Found::There { template, .. } | Found::New { template, .. } => *template,
        }
    }
}

/// Whether two closed templates meet by the pair rule, without working out in what.
/// What the names of pads that a template makes begin with.
fn stem_of(template: &PadTemplate) -> &'static str {
    template.name.trim_end_matches("%u")
}

fn do_meet(a: &Caps, b: &Caps) -> bool {
    if a.is_any() || b.is_any() {
        return !a.is_empty() && !b.is_empty();
    }
    let meets = |x: &Structure, y: &Structure| x.can_intersect(y) && x.common_fields(y) > 0;
    let mut mine = a.structures().iter();
    mine.any(|x| b.structures().iter().any(|y| meets(x, y)))
}
