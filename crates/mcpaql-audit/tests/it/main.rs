//! Tests of built-in conventions and of a team's configuration.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod configuration;
mod conventions;
mod recall;
