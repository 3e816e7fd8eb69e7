//! Properties of elements by their class: checked, set, read.

use super::{ClassRef, ElementClass, SetOutcome, Setting};
use bevy_ecs::world::{EntityRef, EntityWorldMut};
use std::sync::Arc;
use tickpipe_components::closest::closest;
use tickpipe_components::property::{PropertyError, PropertyValue};

impl ElementClass {
    /// Sets a property of an element of this class.
    ///
    /// # Errors
    /// [`PropertyError`]: no such property, or a value that it does not take.
    pub fn set_property(
        &self,
        entity: &mut EntityWorldMut<'_>,
        name: &str,
        value: PropertyValue,
    ) -> Result<SetOutcome, PropertyError> {
        Ok(match self.check(name, value)? {
            None => SetOutcome::Ignored,
            Some(setting) => {
                self.apply(entity, setting);
                SetOutcome::Set
            }
        })
    }

    /// Checks a value for a property, to set it later; `None` for one that is ignored.
    ///
    /// # Errors
    /// As [`ElementClass::set_property`].
    pub fn check(
        &self,
        name: &str,
        value: PropertyValue,
    ) -> Result<Option<Setting>, PropertyError> {
        let Some(index) = self.find(name)? else {
            return Ok(None);
        };
        let info = &self.properties[index];
        let value = info.kind.check(info.name, value)?;
        Ok(Some(Setting::new(index, value)))
    }

    /// Checks a property's text, as on a launch line, to set it later.
    ///
    /// # Errors
    /// As [`ElementClass::set_property`].
    pub fn check_text(&self, name: &str, text: &str) -> Result<Option<Setting>, PropertyError> {
        let Some(index) = self.find(name)? else {
            return Ok(None);
        };
        let info = &self.properties[index];
        let value = info.kind.parse(info.name, text)?;
        Ok(Some(Setting::new(index, value)))
    }

    /// Sets what was checked by this class.
    pub fn apply(&self, entity: &mut EntityWorldMut<'_>, setting: Setting) {
        (self.set)(entity, setting.index, *setting.value);
        if let Some(terms) = self.settle.and_then(|settle| settle(entity)) {
            let class = ElementClass {
                terms,
                ..self.clone()
            };
            entity.insert(ClassRef(Arc::new(class)));
        }
    }

    /// What sets the property of `setting` back to what it is now.
    pub(crate) fn undo(&self, entity: EntityRef<'_>, setting: &Setting) -> Option<Setting> {
        let index = setting.index;
        let value = (self.get)(entity, index)?;
        Some(Setting::new(index, value))
    }

    /// Sets a property from its text, as on a launch line.
    ///
    /// # Errors
    /// As [`ElementClass::set_property`].
    pub fn set_property_text(
        &self,
        entity: &mut EntityWorldMut<'_>,
        name: &str,
        text: &str,
    ) -> Result<SetOutcome, PropertyError> {
        Ok(match self.check_text(name, text)? {
            None => SetOutcome::Ignored,
            Some(setting) => {
                self.apply(entity, setting);
                SetOutcome::Set
            }
        })
    }

    /// The property of an element of this class.
    ///
    /// # Errors
    /// [`PropertyError::Unknown`].
    pub fn property(
        &self,
        entity: EntityRef<'_>,
        name: &str,
    ) -> Result<Option<PropertyValue>, PropertyError> {
        Ok(match self.find(name)? {
            Some(index) => (self.get)(entity, index),
            None => None,
        })
    }

    fn find(&self, name: &str) -> Result<Option<usize>, PropertyError> {
        if let Some(index) = self.properties.iter().position(|p| p.name == name) {
            return Ok(Some(index));
        }
        // FFmpeg writes `_` where GStreamer writes `-`.
        let alike = |a: &str| {
            let same = |(a, b): (char, char)| a == b || a == '-' && b == '_';
            a.len() == name.len() && a.chars().zip(name.chars()).all(same)
        };
        if let Some(index) = self.properties.iter().position(|p| alike(p.name)) {
            return Ok(Some(index));
        }
        if self.ignored.contains(&name) {
            return Ok(None);
        }
        Err(PropertyError::Unknown {
            element: self.name,
            name: name.to_owned(),
            closest: closest(name, self.properties.iter().map(|p| p.name)),
        })
    }
}
