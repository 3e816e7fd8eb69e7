//! What GStreamer 1.22 has where this engine has an element of the same name: properties with
//! their types and defaults, how it reads their values, and the caps of pads that it asks for when
//! it links. Facts and pure functions; knows nothing of this engine's elements.

mod choices;
mod link_caps;
mod properties;
mod read;

pub(crate) use link_caps::{Across, Rates, across, template};
pub(crate) use properties::{Fact, FactoryFacts, Kind, factory, takes_no_text};
pub(crate) use read::{GstValue, NotRead};

#[cfg(test)]
mod tests;
