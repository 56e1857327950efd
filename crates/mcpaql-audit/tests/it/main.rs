//! What an audit holds tools against: conventions of this version, and what a team decides in its configuration.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod configuration;
mod conventions;
