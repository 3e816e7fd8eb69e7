//! Tests across the crates of tickpipe; see the files in `tests/`.

#[cfg(all(feature = "remote", target_os = "linux"))]
pub mod faulty;
pub mod framesync_by_places;
pub mod framesync_model;
