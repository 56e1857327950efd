//! Tests of the runtime from outside: real transports and clients, real files, processes and upstreams.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

mod all_pages;
mod batches;
mod bulkheads;
#[cfg(unix)]
mod command;
mod document;
mod dry_runs;
mod examples;
#[cfg(unix)]
mod execution;
mod fixture;
mod gateway;
mod hide;
mod hostile_http;
mod hostile_stream;
mod http;
mod native;
mod new_kind;
#[cfg(unix)]
mod operator;
mod queries;
mod revisions;
mod serve_http;
mod stdio;
mod store;
mod stream;
mod tls;
#[cfg(unix)]
mod upstream;
#[cfg(unix)]
mod values;
