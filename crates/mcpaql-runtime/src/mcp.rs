//! The MCP server: serves a [`Service`](crate::service::Service) in every MCP revision that clients use.
//!
//! ```
//! use mcpaql_runtime::mcp::ServerLimits;
//! use std::time::Duration;
//!
//! let limits = ServerLimits::default().with_grace(Duration::from_secs(2));
//! assert!(limits.grace < ServerLimits::default().grace);
//! ```
//!
//! What always holds:
//! - `tools/list` keeps the service's order, and each tool has exactly the hints and schema that the service gives
//!   it.
//! - Every `tools/call` is answered with the envelope's text and its content blocks, or with a JSON-RPC error, even
//!   if the service panics.
//! - A message that cannot be parsed is answered with a JSON-RPC error; the connection continues.
//! - A handshake is answered within a second, even while the service is still loading.
//! - A cancelled call drops the service's future.
//! - A method that is not declared as a capability is not available.
//!
//! The types of the protocol library do not leave this module.

mod call;
mod client;
#[cfg(feature = "http")]
mod conversation;
mod drain;
mod features;
mod handler;
#[cfg(feature = "http")]
mod http;
mod identity;
mod lines;
mod listing;
mod logging;
mod malformed;
#[cfg(not(feature = "http"))]
mod no_http;
mod parked;
mod pending;
#[cfg(feature = "http")]
mod questions;
mod subscriptions;
mod task;

#[cfg(not(feature = "http"))]
use no_http as conversation;

pub use drain::StreamError;
pub use pending::{PendingService, Preview, ServiceLoader};
use std::time::Duration;

pub(crate) use drain::serve as serve_stream;
#[cfg(feature = "http")]
pub(crate) use handler::McpServer;
#[cfg(feature = "http")]
pub(crate) use http::{Admission, route as http_route};
/// Standard input and output. On platforms that support it, pipes do not use the blocking thread pool.
pub(crate) use rmcp::transport::io::stdio_pipes as stdio;

/// Limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// How long running calls may continue after the server was asked to stop.
    pub grace: Duration,
}

impl ServerLimits {
    /// Returns these limits with another grace period.
    #[must_use]
    pub const fn with_grace(mut self, grace: Duration) -> ServerLimits {
        self.grace = grace;
        self
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        ServerLimits { grace: Duration::from_secs(10) }
    }
}

/// Log directives that keep requests and answers out of the log: the protocol library logs whole payloads below
/// `warn`, and logs every JSON-RPC error as a warning.
pub const LOG_DIRECTIVES: &str = "rmcp=warn,rmcp::service=error";

/// Maximum size of an HTTP request body; the same limit that the protocol publishes.
#[cfg(feature = "http")]
pub(crate) const MAX_REQUEST_BYTES: usize = mcpaql_core::validate::SizeLimits::DEFAULT.request_bytes;
