//! The MCP server: what a [`Service`] offers, spoken in every MCP revision that clients use.
//!
//! What always holds:
//! - `tools/list` has the service's own order, all four hints written out, and each schema exactly as given;
//! - every `tools/call` is answered with the envelope's text and what stands beside it, or a JSON-RPC error, a panic of the service included;
//! - a message that cannot be read is answered with a JSON-RPC error as well, and ends nothing;
//! - a handshake is answered at once, also while the service still loads what it serves;
//! - a cancelled call drops the service's future, and no more than [`Limits::running_calls`] run together;
//! - what is not declared as a capability is not a method.
//!
//! The protocol library's types do not leave this module.

mod call;
mod caller;
mod conversation;
mod drain;
mod handler;
mod health;
mod http;
mod lines;
mod listing;
mod logging;
mod malformed;
mod offers;
mod parked;
mod pending;
mod questions;
mod session;
mod task;

pub use caller::{Ability, Caller, News, Refused};
pub use health::{Health, Status};
pub use mcpaql_core::catalog::Tool;
use mcpaql_core::response::Reply;
pub use offers::{Declined, Offer, Offers};
pub use pending::{Loading, Pending, Preview};
use serde_json::{Map, Value};
pub use session::{Session, SessionEnd, SessionWork};
use std::sync::Arc;
use std::time::Duration;
pub use task::{Task, TaskState};
use tokio::sync::watch;

pub(crate) use drain::serve as serve_stream;
pub(crate) use handler::Server;
pub(crate) use http::{Admission, route as http_route};
pub(crate) use lines::{Line, LineReader};
pub(crate) use logging::{LOG_LEVEL, Level, MESSAGE as LOG_MESSAGE, SET_LEVEL, Wish};
pub(crate) use malformed::IdScan;
/// The standard streams; pipes without the blocking pool where the platform can.
pub(crate) use rmcp::transport::io::stdio_pipes as stdio;

/// What an MCP server serves.
pub trait Service: Send + Sync + 'static {
    /// The tools, in a fixed order; may be swapped while running.
    fn tools(&self) -> Arc<[Tool]>;

    /// What a client should know about the server as a whole; empty where there is nothing to say.
    fn instructions(&self) -> String;

    /// One call; `None` when there is no such tool. Dropping the future stops the work.
    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> impl Future<Output = Option<Reply>> + Send;

    /// What it offers besides tools; what is not offered is not a method.
    fn offers(&self) -> Offers {
        Offers::default()
    }

    /// The result of asking for something it offers, as the protocol has it. Dropping the future stops the work.
    fn offer(
        &self,
        offer: Offer,
        _params: Map<String, Value>,
        _caller: &Caller,
    ) -> impl Future<Output = Result<Value, Declined>> + Send {
        std::future::ready(Err(Declined::unknown(offer)))
    }

    /// Whether calls may go on in the background, to be asked after by [`Service::task`].
    fn has_tasks(&self) -> bool {
        false
    }

    /// What a call that went on in the background has come to; `None` where it is not known.
    fn task(&self, _id: &str) -> impl Future<Output = Option<Task>> + Send {
        std::future::ready(None)
    }

    /// Stops it; `None` where it is not known.
    fn cancel_task(&self, _id: &str) -> impl Future<Output = Option<Task>> + Send {
        std::future::ready(None)
    }

    /// Ends when [`Service::tools`] is known; the handshake does not wait for it long.
    fn listed(&self) -> impl Future<Output = ()> + Send {
        self.ready()
    }

    /// Ends when the service can be called.
    fn ready(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// How the service fares.
    fn health(&self) -> Health {
        Health::default()
    }

    /// Signals each time [`Service::tools`] has become different; `None` when it never does.
    fn changes(&self) -> Option<watch::Receiver<()>> {
        None
    }
}

/// What a server allows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls that run together; further ones wait.
    pub running_calls: usize,
    /// How long running calls may go on after the server was told to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { running_calls: 256, grace: Duration::from_secs(10) }
    }
}

/// Log directives that keep requests and answers out of the log: the protocol library writes whole payloads below `warn`,
/// and every JSON-RPC error as a warning.
pub const LOG_DIRECTIVES: &str = "rmcp=warn,rmcp::service=error";

/// The largest HTTP request body, as the protocol publishes it.
pub(crate) const MAX_REQUEST_BYTES: usize = mcpaql_core::validate::Limits::DEFAULT.request_bytes;
