//! Benchmarks; see the files beside this one.
