//! Batches through the tools that all adapters share: each item goes to its own adapter.

use super::{Gateway, GatewaySnapshot};
use crate::caller::Caller;
use crate::dispatch::{BatchLimits, BatchRoute, BatchRouter, run_batch};
use crate::gateway::snapshot::SharedRoute;
use mcpaql_core::batch::Batch;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{self, ToolReply};
use mcpaql_core::shape::DEFAULT_ANSWER_BUDGET;
use mcpaql_core::validate::SizeLimits;
use serde_json::{Map, Value};

/// Routes items through a shared tool.
struct SharedRouter<'a> {
    gateway: &'a Gateway,
    snapshot: &'a GatewaySnapshot,
    tool: &'a str,
}

impl BatchRouter for SharedRouter<'_> {
    fn route(&self, arguments: Map<String, Value>) -> BatchRoute<'_> {
        let SharedRouter { gateway, snapshot, tool } = self;
        if let Some(error) = gateway.unavailable_error(snapshot, tool, &arguments) {
            return BatchRoute::Answered(Box::new(Err(error)));
        }
        match snapshot.shared_route(tool, arguments) {
            Some(SharedRoute::To(adapter, arguments)) => BatchRoute::To(adapter, arguments),
            Some(SharedRoute::Answered(outcome)) => BatchRoute::Answered(outcome),
            None => {
                let error = OpError::new(Code::NotFoundOperation, "This server no longer has the tool.");
                BatchRoute::Answered(Box::new(Err(error)))
            }
        }
    }
}

impl Gateway {
    /// Calls a shared tool with a batch.
    pub(super) async fn call_batch(
        &self,
        snapshot: &GatewaySnapshot,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> ToolReply {
        let SizeLimits { request_bytes, response_bytes, .. } = SizeLimits::DEFAULT;
        match Batch::read(arguments) {
            Ok(batch) => {
                let router = SharedRouter { gateway: self, snapshot, tool };
                let answer_budget = DEFAULT_ANSWER_BUDGET;
                let limits = BatchLimits { answer_budget, request_bytes, response_bytes };
                run_batch(batch, tool, &router, limits, caller).await
            }
            Err(error) => response::envelope(&Err(error), snapshot.shared_errors()),
        }
    }
}
