//! A typed property of an element's settings.

use tickpipe_components::property::{PropertyKind, PropertyValue};

/// One property of the settings `T`: what it accepts and how it is read and written.
pub struct Property<T> {
    /// Its name, GStreamer's where the thing is the same.
    pub name: &'static str,
    /// What it does, in a sentence, with its unit.
    pub about: &'static str,
    /// What it accepts.
    pub kind: PropertyKind,
    /// Reads it.
    pub get: fn(&T) -> PropertyValue,
    /// Writes a value that was checked against `kind`.
    pub set: fn(&mut T, PropertyValue),
}

impl<T> Property<T> {
    /// A property.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        kind: PropertyKind,
        get: fn(&T) -> PropertyValue,
        set: fn(&mut T, PropertyValue),
    ) -> Property<T> {
        Property {
            name,
            about,
            kind,
            get,
            set,
        }
    }
}

/// A property that is one field of the settings: `field!(Bool, "name", "what it does", field)`,
/// `field!(Int(0..=9), …)`, `field!(Text, …)`.
#[macro_export]
macro_rules! field {
    (Bool, $name:literal, $about:literal, $field:ident) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Bool,
            |s| $crate::PropertyValue::Bool(s.$field),
            |s, v| {
                if let $crate::PropertyValue::Bool(v) = v {
                    s.$field = v;
                }
            },
        )
    };
    (Int($min:expr, $max:expr), $name:literal, $about:literal, $field:ident) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Int {
                min: $min,
                max: $max,
            },
            |s| $crate::PropertyValue::Int(s.$field as i64),
            |s, v| {
                if let $crate::PropertyValue::Int(v) = v {
                    s.$field = v as _;
                }
            },
        )
    };
    (Caps, $name:literal, $about:literal, $field:ident) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Caps,
            |s| $crate::PropertyValue::Caps(s.$field.clone()),
            |s, v| {
                if let $crate::PropertyValue::Caps(v) = v {
                    s.$field = v;
                }
            },
        )
    };
    (Text, $name:literal, $about:literal, $field:ident) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Text,
            |s| $crate::PropertyValue::Text(s.$field.clone()),
            |s, v| {
                if let $crate::PropertyValue::Text(v) = v {
                    s.$field = v;
                }
            },
        )
    };
    (Choice($list:expr), $name:literal, $about:literal, $field:ident: $type:ty) => {
        $crate::element::Property::new(
            $name,
            $about,
            $crate::PropertyKind::Choice($list),
            |s| $crate::PropertyValue::Text(s.$field.name().to_owned()),
            |s, v| {
                if let $crate::PropertyValue::Text(v) = v
                    && let Some(v) = <$type>::from_name(&v)
                {
                    s.$field = v;
                }
            },
        )
    };
}
