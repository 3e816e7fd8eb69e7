//! The elements that come with the engine, one folder per media domain.
//!
//! Each domain registers its own; adding an element means adding its file and its line there.

pub mod core;
#[cfg(feature = "file")]
pub mod file;
#[cfg(all(feature = "remote", target_os = "linux"))]
pub mod remote;
#[cfg(feature = "video")]
pub mod video;

#[cfg(any(feature = "file", feature = "video"))]
mod raw_video;
mod seeking;

use crate::element::{Registry, RegistryError};

/// Elements that a build has only with a cargo feature, and that feature.
pub const FEATURES: &[(&str, &str)] = &[
    ("avidemux", "file"),
    ("filesink", "file"),
    ("filesrc", "file"),
    ("ivfparse", "file"),
    ("jpegparse", "file"),
    ("overlay", "video"),
    ("remote", "remote"),
    ("videoconvert", "video"),
    ("videoscale", "video"),
    ("videotestsrc", "video"),
    ("wavparse", "file"),
    ("y4mdec", "file"),
    ("y4menc", "file"),
];

/// Registers all elements of this build.
///
/// # Errors
/// [`RegistryError::Taken`] if a name is registered already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    core::register(registry)?;
    #[cfg(feature = "file")]
    file::register(registry)?;
    #[cfg(all(feature = "remote", target_os = "linux"))]
    remote::register(registry)?;
    #[cfg(feature = "video")]
    video::register(registry)?;
    Ok(())
}
