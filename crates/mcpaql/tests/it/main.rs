//! Tests the built binary from outside: with real MCP clients, and on the command line.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

mod audit;
mod cli;
mod clients;
#[cfg(unix)]
mod crowd;
mod doctor;
mod documents;
#[cfg(unix)]
mod durability;
#[cfg(unix)]
mod executions;
mod fixture;
mod gate;
mod gateway;
mod generate;
#[cfg(target_os = "linux")]
mod hostile;
mod imports;
mod init;
mod modes;
mod openapi;
mod outgoing;
#[cfg(unix)]
mod poison;
mod process;
mod rules;
mod settings;
mod status;
mod surfaces;
mod targets;
mod trust;
mod verdict;
