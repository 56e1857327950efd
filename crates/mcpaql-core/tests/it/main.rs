//! What the protocol's core promises, as specifications: a document goes in as text, and what an author, a client and a model see
//! comes out.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod configuration;
mod conventions;
mod credentials;
mod discovery;
mod executions;
mod families;
mod forms;
mod fuzz;
mod generated;
mod hints;
mod http_keys;
mod introspection;
mod library;
mod names;
mod policies;
mod problems;
mod requests;
mod servers;
mod support;
mod surface;
mod targets;
mod tolerance;
mod unified;
