//! Targets against the real thing: a file, a process, an upstream.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

#[cfg(unix)]
mod command;
mod store;
