//! Another MCP server as a target: a tool call here is a tool call there, and its result is taken out of its wrapping once.

mod failed;
mod unwrapped;

use super::Args;
use crate::caller::Caller;
use crate::environment::Environment;
pub use crate::upstream::SetupError;
use crate::upstream::{Upstream, UpstreamError};
use mcpaql_core::adapter::{Auth, McpTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Binding, Operation};
use mcpaql_core::response::Answer;

/// The tools of one server.
#[derive(Debug)]
pub struct Proxy {
    upstream: Upstream,
}

impl Proxy {
    /// Gets ready to reach the server; nothing is started yet.
    ///
    /// # Errors
    /// What is wrong with the target as it is written.
    pub fn new(target: &McpTarget, auth: &Auth, environment: &Environment) -> Result<Proxy, SetupError> {
        Upstream::new(target, auth, environment).map(Proxy::over)
    }

    /// The tools of a server that others talk to as well.
    #[must_use]
    pub const fn over(upstream: Upstream) -> Proxy {
        Proxy { upstream }
    }

    /// The server.
    #[must_use]
    pub const fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Runs one validated call.
    ///
    /// # Errors
    /// What the server, or the way to it, had against the call.
    pub async fn call(&self, operation: &Operation, args: &Args, caller: &Caller) -> Result<Answer, OpError> {
        let Binding::Mcp(binding) = &operation.binding else {
            return Err(OpError::new(Code::Internal, "The operation is not usable; tell the user.")
                .because("the operation is not bound to a tool"));
        };
        let wire = |name: &String| operation.param(name).map_or(name, |param| &param.wire).clone();
        let mut arguments: Args = args.iter().map(|(name, value)| (wire(name), value.clone())).collect();
        arguments.extend(binding.fixed.clone());
        let mut params = Args::new();
        params.insert("name".into(), binding.tool.as_str().into());
        params.insert("arguments".into(), arguments.into());
        let outcome = self.upstream.ask("tools/call", &params, caller).await;
        let mask = || {
            let mut mask = self.upstream.mask();
            let sensitive = operation.params.iter().filter(|param| param.sensitive);
            mask.add_values(sensitive.filter_map(|param| args.get(&param.name)));
            mask
        };
        match outcome {
            Ok(result) => unwrapped::answer(&result, mask),
            Err(UpstreamError::Refused { code, message, data, .. }) => {
                Err(failed::refused(code, &message, data, &mask()))
            }
            Err(error) => Err(error.to_op_error()),
        }
    }
}
