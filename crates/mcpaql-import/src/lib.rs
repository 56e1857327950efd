//! Imports OpenAPI descriptions and MCP tool lists as adapters.
//!
//! The crate does no I/O: the caller reads files and fetches URLs.

pub mod emit;
pub mod mcp;
mod naming;
pub mod openapi;
pub mod report;
pub mod select;
