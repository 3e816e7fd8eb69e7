//! Tests across the crates of tickpipe; see the files in `tests/`.
