//! The interface between an MCP server and what it serves.
//!
//! [`Gateway`](crate::gateway::Gateway) implements it for adapters. A program can implement it for tools of its own:
//!
//! ```
//! use mcpaql_core::catalog::Tool;
//! use mcpaql_core::response::ToolReply;
//! use mcpaql_runtime::prelude::*;
//! use mcpaql_runtime::service::Service;
//! use serde_json::{Map, Value};
//! use std::sync::Arc;
//!
//! /// A gateway that rejects calls at night.
//! struct OpeningHours(Gateway, fn() -> bool);
//!
//! impl Service for OpeningHours {
//!     fn tools(&self) -> Arc<[Tool]> {
//!         self.0.tools()
//!     }
//!
//!     fn instructions(&self) -> String {
//!         self.0.instructions()
//!     }
//!
//!     async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
//!         if !(self.1)() {
//!             let error = OpError::new(Code::PermissionDenied, "Closed for the night; try tomorrow.");
//!             return Some(mcpaql_core::response::envelope(&Err(error), Default::default()));
//!         }
//!         self.0.call(tool, arguments, caller).await
//!     }
//! }
//! ```

use crate::caller::Caller;
use crate::execution::BackgroundTask;
use crate::health::Health;
use crate::protocol::{Feature, FeatureChange, Features, RpcError};
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::{broadcast, watch};

/// What an MCP server serves: tools, and optionally prompts, resources and background tasks.
pub trait Service: Send + Sync + 'static {
    /// The tools, in a fixed order. The list may be replaced while the server runs.
    fn tools(&self) -> Arc<[Tool]>;

    /// Instructions for the client's model; empty for none.
    fn instructions(&self) -> String;

    /// Calls a tool; `None` if there is no such tool. Dropping the future stops the work.
    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> impl Future<Output = Option<ToolReply>> + Send;

    /// The features besides tools. Methods of other features are not available.
    fn features(&self) -> Features {
        Features::default()
    }

    /// Answers a request for prompts or resources with the protocol's result. Dropping the future stops the work.
    fn request(
        &self,
        feature: Feature,
        _params: Map<String, Value>,
        _caller: &Caller,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send {
        std::future::ready(Err(RpcError::method_not_found(feature)))
    }

    /// Returns whether the questions of a tool are passed on to clients of revisions without a handshake. Such a client
    /// calls the tool again with its answers.
    fn passes_input(&self, _tool: &str) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// Returns whether calls can run in the background. [`Service::task`] returns their state.
    fn has_tasks(&self) -> bool {
        false
    }

    /// Returns a background call and its state; `None` if it is unknown.
    fn task(&self, _id: &str, _caller: &Caller) -> impl Future<Output = Option<BackgroundTask>> + Send {
        std::future::ready(None)
    }

    /// Cancels a background call; `None` if it is unknown.
    fn cancel_task(
        &self,
        _id: &str,
        _caller: &Caller,
    ) -> impl Future<Output = Option<BackgroundTask>> + Send {
        std::future::ready(None)
    }

    /// Completes when [`Service::tools`] is known. The handshake waits for it only a short time.
    fn wait_for_tools(&self) -> impl Future<Output = ()> + Send {
        self.wait_until_ready()
    }

    /// Completes when the service can be called.
    fn wait_until_ready(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// The state of the service.
    fn health(&self) -> Health {
        Health::default()
    }

    /// Signals each change of [`Service::tools`]; `None` if they never change.
    fn changes(&self) -> Option<watch::Receiver<()>> {
        None
    }

    /// Receives changes of prompts and resources; `None` if they never change. Changes of a single resource are sent
    /// only while it is subscribed to with [`Feature::Subscribe`].
    fn feature_changes(&self) -> Option<broadcast::Receiver<FeatureChange>> {
        None
    }
}
