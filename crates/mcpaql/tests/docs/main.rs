//! The documents of the project as specifications: what they show is run, what they list is compared with the program.
//!
//! `TRYCMD=overwrite cargo test -p mcpaql --test docs` writes real output into the pages; `UPDATE_DOCS=1` writes generated tables.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that fails is meant to stop"
)]

mod commands;
mod dependencies;
mod pages;
mod reference;
mod schema;
mod serve;
mod snippets;
mod tutorial;
mod upstream;
