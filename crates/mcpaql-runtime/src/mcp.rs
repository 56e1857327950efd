//! The MCP server: what a [`Service`](crate::service::Service) offers, spoken in every MCP revision that clients use.
//!
//! What always holds:
//! - `tools/list` has the service's own order, all four hints written out, and each schema exactly as given;
//! - every `tools/call` is answered with the envelope's text and what stands beside it, or a JSON-RPC error, a panic of the service included;
//! - a message that cannot be read is answered with a JSON-RPC error as well, and ends nothing;
//! - a handshake is answered at once, also while the service still loads what it serves;
//! - a cancelled call drops the service's future;
//! - what is not declared as a capability is not a method.
//!
//! The protocol library's types do not leave this module.

mod call;
mod client;
mod conversation;
mod drain;
mod features;
mod handler;
mod http;
mod lines;
mod listing;
mod logging;
mod malformed;
mod parked;
mod pending;
mod questions;
mod task;

pub use drain::StreamError;
pub use pending::{PendingService, Preview, ServiceLoader};
use std::time::Duration;

pub(crate) use drain::serve as serve_stream;
pub(crate) use handler::McpServer;
pub(crate) use http::{Admission, route as http_route};
/// The standard streams; pipes without the blocking pool where the platform can.
pub(crate) use rmcp::transport::io::stdio_pipes as stdio;

/// What a server allows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// How long running calls may go on after the server was told to stop.
    pub grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        ServerLimits { grace: Duration::from_secs(10) }
    }
}

/// Log directives that keep requests and answers out of the log: the protocol library writes whole payloads below `warn`,
/// and every JSON-RPC error as a warning.
pub const LOG_DIRECTIVES: &str = "rmcp=warn,rmcp::service=error";

/// The largest HTTP request body, as the protocol publishes it.
pub(crate) const MAX_REQUEST_BYTES: usize = mcpaql_core::validate::SizeLimits::DEFAULT.request_bytes;
