//! Another MCP server as a target: a tool call here is a tool call there.

use super::Args;
use crate::mcp::Caller;
use mcpaql_core::adapter::{Auth, McpTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;

/// Why a server cannot be reached as the document wants.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A variable that is not set.
    #[error("the environment variable {0} is not set")]
    Unset(String),
}

/// The tools of one server.
#[derive(Debug)]
pub struct Proxy {}

impl Proxy {
    /// Gets ready to reach the server; nothing is started yet.
    ///
    /// # Errors
    /// What is missing.
    pub fn new(
        _target: &McpTarget,
        _auth: &Auth,
        _lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Proxy, SetupError> {
        Ok(Proxy {})
    }

    /// Runs one validated call.
    ///
    /// # Errors
    /// What the server, or the way to it, had against the call.
    pub async fn call(
        &self,
        _operation: &Operation,
        _args: &Args,
        _caller: &Caller,
    ) -> Result<Answer, OpError> {
        Err(OpError::new(Code::Internal, "MCP servers cannot be called yet; tell the user."))
    }
}
