//! All element classes of an engine, by name.

use super::{Element, ElementClass};
use bevy_ecs::component::Component;
use bevy_ecs::resource::Resource;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::closest::closest;

/// An element entity's class.
#[derive(Component, Clone, Debug)]
pub struct ClassRef(pub Arc<ElementClass>);

/// Why a class is not to be had or to be added.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RegistryError {
    /// No class has that name.
    #[error("no element named `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name that there is.
        closest: Option<&'static str>,
    },
    /// This build does not have it.
    #[error("element {name} is not in this build: it needs the cargo feature `{feature}`")]
    NotBuilt {
        /// What was asked for.
        name: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// Another class has that name already.
    #[error("an element named `{0}` is registered already")]
    Taken(&'static str),
}

/// The classes that an engine knows.
#[derive(Resource, Clone, Debug, Default)]
pub struct Registry {
    classes: BTreeMap<&'static str, Arc<ElementClass>>,
}

impl Registry {
    /// Adds the class of `T`: dispatch, properties, inspection and digests come with it.
    ///
    /// # Errors
    /// [`RegistryError::Taken`] if the name is.
    pub fn register<T: Element>(&mut self) -> Result<(), RegistryError> {
        if self.classes.contains_key(T::NAME) {
            return Err(RegistryError::Taken(T::NAME));
        }
        self.classes
            .insert(T::NAME, Arc::new(ElementClass::of::<T>()));
        Ok(())
    }

    /// The class of that name.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], with the nearest name; [`RegistryError::NotBuilt`].
    pub fn class(&self, name: &str) -> Result<&Arc<ElementClass>, RegistryError> {
        if let Some(class) = self.classes.get(name) {
            return Ok(class);
        }
        let features = crate::elements::FEATURES;
        Err(match features.iter().find(|f| f.0 == name) {
            Some(&(name, feature)) => RegistryError::NotBuilt { name, feature },
            None => RegistryError::Unknown {
                name: name.to_owned(),
                closest: closest(name, self.classes.keys().copied()),
            },
        })
    }

    /// All classes, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ElementClass>> {
        self.classes.values()
    }
}
