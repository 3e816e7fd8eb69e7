//! `capsmap`: a converter of caps by a table, for planning and tests: it says what another element
//! would say, and passes every buffer on as it is.
//!
//! `map` has rows, separated by `|`: what is taken, `->`, and what can be made of it, best first.
//! A field named only on the left is consumed, one named only on the right is made, one named on
//! both may change, and one named on neither passes through; media types may differ. Two equal
//! structures pass everything through at cost 0, all else is a conversion at `cost`. Without rows
//! everything passes through. The order of rows means nothing.
//!
//! `tickpipe plan 'capssrc caps=audio/x-raw,format=S16LE ! capsmap map="audio/x-raw,format=S16LE -> audio/x-raw,format=F32LE" ! capssink'`

use super::Rows;
use crate::element::{
    CapsQuery, Element, Flow, PadAt, PadTemplate, PassThrough, Property, Transformed, Work,
};
use bevy_ecs::component::Component;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::fault::ElementError;
use tickpipe_components::property::{PropertyKind, PropertyValue, TextForm};

/// Settings of `capsmap`.
#[derive(Component, Clone, Debug)]
pub struct CapsMap {
    /// What it takes, and what it makes of it.
    pub rows: Rows,
    /// What a conversion costs.
    pub cost: u32,
}

impl Default for CapsMap {
    fn default() -> Self {
        CapsMap {
            rows: Rows::default(),
            cost: 1,
        }
    }
}

impl Element for CapsMap {
    const NAME: &'static str = "capsmap";
    const SUMMARY: &'static str = "Stands for a converter: changes caps by a table, buffers not";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Convert;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            Property::new(
                "map",
                "What is taken and what can be made of it, best first; without rows all passes",
                PropertyKind::Form(TextForm {
                    example: "A -> B; C | D -> E",
                    check: Rows::check,
                }),
                |s: &CapsMap| PropertyValue::Text(s.rows.to_string()),
                |s, v| {
                    if let PropertyValue::Text(text) = v
                        && let Ok(rows) = text.parse()
                    {
                        s.rows = rows;
                    }
                },
            ),
            crate::field!(
                Int(0, u32::MAX as i64),
                "cost",
                "What a conversion costs; a pass-through costs nothing",
                cost
            ),
        ]
    }

    fn enum_caps(
        &self,
        _query: &CapsQuery<'_>,
        pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        let all = match pad.is_sink() {
            true => self.rows.takes(),
            false => self.rows.makes(),
        };
        Ok(all.get(index as usize).cloned())
    }

    fn transform_caps(
        &self,
        from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        if self.rows.is_empty() {
            return (index == 0).then(|| Transformed::same(caps.clone()));
        }
        self.rows.answer(from.is_sink(), caps, index, self.cost)
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(PassThrough))
    }
}
