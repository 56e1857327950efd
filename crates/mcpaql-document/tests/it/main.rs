//! Specifications of the core: the input is the text of a document, the output is what authors, clients and models see.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod answer_fields;
mod credentials;
mod discovery;
mod exchange;
mod executions;
mod families;
mod forms;
mod fuzz;
mod generated;
mod hints;
mod http_keys;
mod introspection;
mod library;
mod messages;
mod names;
mod plans;
mod policies;
mod problems;
mod requests;
mod servers;
mod specification;
mod support;
mod surface;
mod targets;
mod tolerance;
mod unified;
