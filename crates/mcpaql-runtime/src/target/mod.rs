//! Where calls go: one file per kind of target.
//!
//! A target receives an operation whose arguments are already validated and completed with defaults, and answers with data
//! or an `OpError`. Dropping the future of a call stops its work: that is how cancellation reaches every target.

use crate::caller::Caller;
use crate::document::Handled;
use crate::upstream::Upstream;
use indexmap::IndexMap;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use mcpaql_core::targets;
use serde_json::{Map, Value};

pub(crate) mod auth;
mod closed;
pub mod code;
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
    /// Functions of this program.
    Code(code::Functions),
    /// One of the others, with functions of this program in place of some operations.
    Handled(Box<Handled>),
    /// Several of one kind, by name; each call chooses one.
    Several(IndexMap<String, Target>),
    /// One that could not be opened.
    Closed(Closed),
}

impl Target {
    /// The MCP servers that calls are passed on to.
    pub(crate) fn upstreams(&self) -> Vec<&Upstream> {
        match self {
            Target::Mcp(proxy) => vec![proxy.upstream()],
            Target::Handled(handled) => handled.target().upstreams(),
            Target::Several(targets) => targets.values().flat_map(Target::upstreams).collect(),
            Target::Http(_) | Target::Store(_) | Target::Command(_) | Target::Code(_) | Target::Closed(_) => {
                Vec::new()
            }
        }
    }

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
            Target::Code(functions) => functions.call(operation, args, caller).await,
            Target::Handled(handled) => handled.call(operation, args, caller).await,
            Target::Several(targets) => {
                let mut args = args.clone();
                let chosen = targets::chosen(operation, &mut args);
                let target = chosen.and_then(|name| targets.get(&name)).ok_or_else(|| {
                    OpError::new(Code::Internal, "The call chose no upstream; tell the user.")
                })?;
                Box::pin(target.call(operation, &args, caller)).await
            }
            Target::Closed(closed) => Err(closed.refuse()),
        }
    }
}
