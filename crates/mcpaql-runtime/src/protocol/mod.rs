//! The parts of MCP that both sides need: the server that our clients talk to, and the client that talks to other servers.
//!
//! Only data and reading: nothing here sends anything, and no type of a protocol library appears.

mod feature;
mod lines;
mod log;
mod scan;

pub use feature::{Feature, Features, RpcError};
pub(crate) use lines::{Line, LineReader};
pub(crate) use log::{LOG_LEVEL, LOG_MESSAGE, Level, LogWish, SET_LEVEL};
pub(crate) use scan::IdScan;

/// JSON-RPC's code for a method that does not exist.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
