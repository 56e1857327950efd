//! The parts of MCP that both sides need: the server for our clients, and the client of upstream servers.
//!
//! ```
//! use mcpaql_runtime::protocol::Feature;
//!
//! assert_eq!(Feature::Prompts.method(), "prompts/list");
//! assert_eq!(Feature::Prompts.capability(), "prompts");
//! ```
//!
//! Only data and parsing: nothing here sends messages, and no type of a protocol library appears.

mod feature;
mod lines;
mod log;
mod scan;

pub use feature::{Feature, FeatureChange, Features, RpcError};
pub(crate) use lines::{InputLine, LineReader};
pub(crate) use log::{LOG_LEVEL, LOG_MESSAGE, LogFilter, LogLevel, SET_LEVEL};
pub(crate) use scan::IdScan;

/// JSON-RPC error code: the method does not exist.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC error code: the parameters are invalid.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC error code: the server failed.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// MCP error code: the client lacks a capability that the request needs.
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
/// MCP error code: the resource does not exist.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
