//! Several named targets of one kind. Each call selects one.

use super::mcp::Upstream;
use super::{Args, FeatureRequest, Target, TargetCall};
use crate::protocol::{Features, RpcError};
use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use mcpaql_core::targets;
use serde_json::Value;
use std::sync::Arc;

/// Several targets of one kind.
#[derive(Debug)]
pub struct NamedTargets(IndexMap<String, Arc<dyn Target>>);

impl NamedTargets {
    /// Creates the set of targets, by the names that calls use.
    #[must_use]
    pub const fn new(targets: IndexMap<String, Arc<dyn Target>>) -> NamedTargets {
        NamedTargets(targets)
    }

    /// The only target with an MCP server. With several, a name would not identify one of them.
    fn only(&self) -> Option<&Arc<dyn Target>> {
        let mut with_servers = self.0.values().filter(|target| !target.upstreams().is_empty());
        with_servers.next().filter(|_| with_servers.next().is_none())
    }
}

fn no_target() -> OpError {
    OpError::new(Code::Internal, "The call selected no upstream; tell the user.")
}

impl Target for NamedTargets {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(async move {
            let mut args = call.args.clone();
            let chosen = targets::take_target(call.operation, &mut args);
            let target = chosen.and_then(|name| self.0.get(&name)).ok_or_else(no_target)?;
            target.perform(TargetCall { args: &args, ..call }).await
        })
    }

    fn preview<'a>(
        &'a self,
        operation: &'a Operation,
        args: &'a Args,
    ) -> BoxFuture<'a, Result<Value, OpError>> {
        Box::pin(async move {
            let mut args = args.clone();
            let name = targets::take_target(operation, &mut args).unwrap_or_default();
            let target = self.0.get(&name).ok_or_else(no_target)?;
            let mut shown = target.preview(operation, &args).await?;
            if let Some(members) = shown.as_object_mut() {
                members.insert("target".into(), name.into());
            }
            Ok(shown)
        })
    }

    fn features(&self) -> Features {
        match self.only() {
            Some(only) => only.features(),
            None => Features {
                logging: self.0.values().any(|target| target.features().logging),
                ..Features::default()
            },
        }
    }

    fn request<'a>(&'a self, request: FeatureRequest<'a>) -> BoxFuture<'a, Result<Value, RpcError>> {
        match self.only() {
            Some(only) => only.request(request),
            None => Box::pin(std::future::ready(Err(RpcError::method_not_found(request.feature)))),
        }
    }

    fn upstreams(&self) -> Vec<&Upstream> {
        self.0.values().flat_map(|target| target.upstreams()).collect()
    }

    fn can_be_down(&self) -> bool {
        self.0.values().any(|target| target.can_be_down())
    }

    fn is_open(&self) -> bool {
        self.0.values().all(|target| target.is_open())
    }
}
