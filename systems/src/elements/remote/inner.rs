//! The element that a `remote` runs elsewhere: its launch text, its class and its settings. Pure; it
//! touches only a world of its own.

use crate::element::{ElementClass, PadTemplate, Registry, RegistryError, SetOutcome};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::{EntityRef, World};
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::graph::{Direction, Presence, Transport};
use tickpipe_components::property::PropertyError;

/// The longest launch text of an element, in bytes.
pub const MAX_TEXT: usize = 65_536;

/// What is wrong with the launch text of an element.
#[derive(Clone, Debug, Error)]
pub enum InnerError {
    /// There is none.
    #[error("the property transform must name an element, such as transform=\"videoconvert\"")]
    Missing,
    /// It is too long.
    #[error("the property transform has {0} bytes; at most {MAX_TEXT} are allowed")]
    Long(usize),
    /// A quotation mark has no second.
    #[error("transform: the text that begins with {quote} at byte {at} does not end")]
    Quote {
        /// The mark.
        quote: char,
        /// Where.
        at: usize,
    },
    /// A word that sets no property.
    #[error("transform: `{word}` is no NAME=VALUE; a remote runs one element, and no graph")]
    Word {
        /// Which.
        word: String,
    },
    /// There is no such element.
    #[error("transform: {0}{near}", near = near(.0))]
    Class(RegistryError),
    /// A property that it has not, or a value that it does not take.
    #[error("transform: {0}")]
    Property(PropertyError),
    /// It cannot run elsewhere.
    #[error("transform: {name} cannot run in a child process: {why}")]
    Kind {
        /// Which.
        name: &'static str,
        /// Why.
        why: &'static str,
    },
}

/// The nearest name, where there is one.
fn near(error: &RegistryError) -> String {
    match error {
        RegistryError::Unknown {
            closest: Some(closest),
            ..
        } => format!("; did you mean `{closest}`?"),
        _ => String::new(),
    }
}

/// An element's class and settings.
pub struct Inner {
    /// Its class.
    pub class: Arc<ElementClass>,
    world: World,
    entity: Entity,
}

impl core::fmt::Debug for Inner {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Inner").field(&self.class.name).finish()
    }
}

impl Inner {
    /// Reads a launch text of one element: its name, and properties as `name=value`; values with spaces
    /// stand in quotation marks.
    ///
    /// # Errors
    /// [`InnerError`].
    pub fn new(text: &str, registry: &Registry) -> Result<Inner, InnerError> {
        let mut words = split(text)?.into_iter();
        let name = words.next().ok_or(InnerError::Missing)?;
        let class = Arc::clone(registry.class(&name).map_err(InnerError::Class)?);
        if let Some(why) = why_not(&class) {
            let name = class.name;
            return Err(InnerError::Kind { name, why });
        }
        let mut world = World::new();
        let mut entity = world.spawn_empty();
        class.insert(&mut entity);
        for word in words {
            let (name, value) = match word.split_once('=') {
                Some(both) => both,
                None => return Err(InnerError::Word { word }),
            };
            match class.set_property_text(&mut entity, name.trim(), value) {
                Ok(SetOutcome::Set) => {}
                Ok(SetOutcome::Ignored) => {
                    tracing::warn!(
                        "property `{name}` of {} is accepted and does nothing",
                        class.name
                    );
                }
                Err(error) => return Err(InnerError::Property(error)),
            }
        }
        let entity = entity.id();
        let inner = Inner {
            class,
            world,
            entity,
        };
        match inner.why_not_so() {
            Some(why) => Err(InnerError::Kind {
                name: inner.class.name,
                why,
            }),
            None => Ok(inner),
        }
    }

    /// Its settings.
    pub fn settings(&self) -> EntityRef<'_> {
        self.world.entity(self.entity)
    }

    /// Its pads, over which data is sent: a child cannot be read by position.
    pub fn pads(&self) -> Vec<PadTemplate> {
        let pads = self.class.terms.pads.iter().cloned();
        pads.map(|pad| pad.over(&[Transport::Push])).collect()
    }

    fn why_not_so(&self) -> Option<&'static str> {
        let (class, settings) = (&self.class, self.settings());
        let queue =
            class.queue_limits(settings).is_some() || class.link_capacity(settings).is_some();
        if queue {
            return Some("it is a queue, and what it holds stands in its link");
        }
        if class.outside(settings) > 0 {
            return Some("it hands over work that is done outside the tick");
        }
        if class.pool_backing(settings).is_some() {
            return Some("the memory that it fills is a device's");
        }
        None
    }
}

fn why_not(class: &ElementClass) -> Option<&'static str> {
    let pads = &class.terms.pads;
    let of = |direction| {
        pads.iter()
            .filter(move |p| p.direction == direction)
            .count()
    };
    if class.name == "remote" {
        return Some("it is one that runs another");
    }
    if class.terms.flow.synchronises() {
        return Some("it synchronises several inputs, which is done around it");
    }
    match (of(Direction::Sink), of(Direction::Source)) {
        (0, _) => return Some("it is a source; only what has a sink pad and a source pad can"),
        (_, 0) => return Some("it is a sink; only what has a sink pad and a source pad can"),
        (1, 1) => {}
        _ => return Some("it has more than one pad of a direction"),
    }
    if pads.iter().any(|p| p.presence != Presence::Always) {
        return Some("its pads are made on request");
    }
    if pads
        .iter()
        .any(|p| !p.transports.contains(&Transport::Push))
    {
        return Some("nothing is sent over its pads, but read by position or held by a device");
    }
    if pads.first().is_some_and(|p| p.direction != Direction::Sink) {
        return Some("its first pad is no sink pad");
    }
    None
}

/// Cuts a launch text at spaces outside of quotation marks; a backslash takes the next letter as it is.
fn split(text: &str) -> Result<Vec<String>, InnerError> {
    if text.len() > MAX_TEXT {
        return Err(InnerError::Long(text.len()));
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<(char, usize)> = None;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (letter, quote) {
            ('\\', _) => {
                if let Some((_, next)) = letters.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (letter, Some((open, _))) if letter == open => quote = None,
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('"' | '\'', None) => {
                quote = Some((letter, at));
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some((quote, at)) = quote {
        return Err(InnerError::Quote { quote, at });
    }
    words.extend(word);
    Ok(words)
}
