//! The parts of MCP that both sides need: the server that our clients talk to, and the client that talks to other servers.
//!
//! Only data and reading: nothing here sends anything, and no type of a protocol library appears.

mod feature;
mod lines;
mod log;
mod scan;

pub use feature::{Feature, Features, RpcError};
pub(crate) use lines::{InputLine, LineReader};
pub(crate) use log::{LOG_LEVEL, LOG_MESSAGE, LogFilter, LogLevel, SET_LEVEL};
pub(crate) use scan::IdScan;

/// JSON-RPC's code for a method that does not exist.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC's code for parameters that are wrong.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC's code for a failure inside.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// MCP's code for a resource that does not exist.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
