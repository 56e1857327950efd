//! One native adapter as a service.
//!
//! A [`Gateway`](crate::gateway::Gateway) would serve it as well. But a gateway can start MCP servers, and that code would make a
//! small program much larger.

use crate::caller::Caller;
use crate::dispatch::ServedAdapter;
use crate::execution::BackgroundTask;
use crate::run::RunService;
use crate::service::Service;
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use mcpaql_core::surface;
use serde_json::{Map, Value};
use std::sync::Arc;

/// One native adapter as a service.
pub(super) struct NativeService {
    served: ServedAdapter,
    tools: Arc<[Tool]>,
}

impl NativeService {
    pub(super) fn new(served: ServedAdapter) -> NativeService {
        let tools = served.catalog().tools.iter().cloned().collect();
        NativeService { served, tools }
    }
}

impl RunService for NativeService {
    async fn close(&self) {}
}

impl Service for NativeService {
    fn tools(&self) -> Arc<[Tool]> {
        Arc::clone(&self.tools)
    }

    fn instructions(&self) -> String {
        surface::instructions(&[self.served.catalog()])
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
        self.served.catalog().route(tool)?;
        Some(self.served.call(tool, arguments, caller).await)
    }

    fn has_tasks(&self) -> bool {
        self.served.has_executions()
    }

    async fn task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        self.served.task(id, caller).await
    }

    async fn cancel_task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        self.served.cancel_task(id, caller).await
    }
}
