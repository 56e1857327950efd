//! What an MCP server serves, whatever stands behind it.

use crate::caller::Caller;
use crate::execution::BackgroundTask;
use crate::health::Health;
use crate::protocol::{Feature, Features, RpcError};
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::watch;

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
    ) -> impl Future<Output = Option<ToolReply>> + Send;

    /// What it has besides tools; what is not declared is not a method.
    fn features(&self) -> Features {
        Features::default()
    }

    /// The result of a request for something besides tools, as the protocol has it. Dropping the future stops the work.
    fn request(
        &self,
        feature: Feature,
        _params: Map<String, Value>,
        _caller: &Caller,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send {
        std::future::ready(Err(RpcError::method_not_found(feature)))
    }

    /// Whether calls may go on in the background, to be asked after by [`Service::task`].
    fn has_tasks(&self) -> bool {
        false
    }

    /// What a call that went on in the background has come to; `None` where it is not known.
    fn task(&self, _id: &str, _caller: &Caller) -> impl Future<Output = Option<BackgroundTask>> + Send {
        std::future::ready(None)
    }

    /// Stops it; `None` where it is not known.
    fn cancel_task(
        &self,
        _id: &str,
        _caller: &Caller,
    ) -> impl Future<Output = Option<BackgroundTask>> + Send {
        std::future::ready(None)
    }

    /// Ends when [`Service::tools`] is known; the handshake does not wait for it long.
    fn wait_for_tools(&self) -> impl Future<Output = ()> + Send {
        self.wait_until_ready()
    }

    /// Ends when the service can be called.
    fn wait_until_ready(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// The state of the service.
    fn health(&self) -> Health {
        Health::default()
    }

    /// Signals each time [`Service::tools`] has become different; `None` when it never does.
    fn changes(&self) -> Option<watch::Receiver<()>> {
        None
    }
}
