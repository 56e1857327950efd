//! Where calls go: one file per kind of target.
//!
//! A target receives an operation whose arguments are already validated and completed with defaults, and answers with data
//! or an `OpError`. Dropping the future of a call stops its work: that is how cancellation reaches every target.

use crate::mcp::Caller;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::{Map, Value};

pub(crate) mod auth;
mod closed;
pub mod command;
pub mod http;
pub mod mcp;
pub mod store;

pub use closed::Closed;

/// The arguments of one call, by parameter name.
pub type Args = Map<String, Value>;

/// Where calls go.
#[derive(Debug)]
pub enum Target {
    /// An HTTP API.
    Http(Box<http::HttpClient>),
    /// The embedded store.
    Store(store::Store),
    /// Local programs.
    Command(command::Runner),
    /// Another MCP server.
    Mcp(mcp::Proxy),
    /// One that could not be opened.
    Closed(Closed),
}

impl Target {
    /// Runs one validated call.
    ///
    /// # Errors
    /// What the target, or the way to it, had against the call.
    pub async fn call(&self, operation: &Operation, args: &Args, caller: &Caller) -> Result<Answer, OpError> {
        match self {
            Target::Http(client) => client.call(operation, args).await,
            Target::Store(store) => store.call(operation, args).await,
            Target::Command(runner) => runner.call(operation, args).await,
            Target::Mcp(server) => server.call(operation, args, caller).await,
            Target::Closed(closed) => Err(closed.refuse()),
        }
    }
}
