//! The runtime from outside: real transports, real clients.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod fixture;
mod http;
mod revisions;
mod stdio;
mod stream;
