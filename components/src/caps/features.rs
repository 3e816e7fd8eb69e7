//! Caps features: which memory and which metas a media type is carried in. Reads
//! [`super::text`] only.

use std::fmt;

use super::text::Text;

/// The features of a structure, as in `video/x-raw(memory:DMABuf)`. Two structures meet only if
/// their features are equal as sets, or one has [`Features::Any`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Features {
    /// `memory:SystemMemory`, which is what no features at all mean.
    #[default]
    System,
    /// `ANY`: whatever the other side has.
    Any,
    /// Others, made by [`Features::named`].
    Named(FeatureNames),
}

/// Names of features, sorted and without repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureNames(Text);

impl FeatureNames {
    /// The names as they are written, separated by `, `.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// How GStreamer's default feature is called.
pub const SYSTEM_MEMORY: &str = "memory:SystemMemory";

impl Features {
    /// Features by name. None, or `memory:SystemMemory` alone, are [`Features::System`]. Allocates.
    ///
    /// `None` if a name is not of the form `group:Name` (lower-case letters, a colon, letters and
    /// digits), which is GStreamer's rule.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Features> {
        let mut sorted: Vec<&str> = names.into_iter().collect();
        if !sorted.iter().all(|name| is_feature(name)) {
            return None;
        }
        sorted.sort_unstable();
        sorted.dedup();
        Some(match sorted[..] {
            [] | [SYSTEM_MEMORY] => Features::System,
            _ => Features::Named(FeatureNames(Text::new(&sorted.join(", ")))),
        })
    }

    /// Whether both have some in common: they are equal, or one is `ANY`.
    #[inline]
    pub(super) fn meets(&self, other: &Features) -> bool {
        match (self, other) {
            (Features::System, Features::System) => true,
            (Features::Any, _) | (_, Features::Any) => true,
            _ => self == other,
        }
    }

    #[inline]
    pub(super) fn is_subset(&self, other: &Features) -> bool {
        match (self, other) {
            (Features::System, Features::System) | (_, Features::Any) => true,
            _ => self == other,
        }
    }
}

/// Whether a name has the form `group:Name`.
pub(super) fn is_feature(name: &str) -> bool {
    name.split_once(':').is_some_and(|(group, rest)| {
        !group.is_empty()
            && !rest.is_empty()
            && group.bytes().all(|b| b.is_ascii_lowercase())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// `memory:SystemMemory`, `ANY`, or the names.
impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Features::System => SYSTEM_MEMORY,
            Features::Any => "ANY",
            Features::Named(names) => names.as_str(),
        })
    }
}
