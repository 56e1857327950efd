//! Targets of calls: one folder per kind of target, one trait for all, and one table of kinds.
//!
//! A target gets an operation with validated arguments, completed with defaults. It answers with data or an
//! `OpError`. Dropping the future of a call stops its work; this is how cancellation reaches every target. Only
//! dispatch calls a target: a [`TargetCall`] needs a [`Pass`], which only the gate creates.
//!
//! To add a kind, write a folder with a [`TargetKind`] and add a row to [`TARGET_KINDS`].
//!
//! A program can also add a kind of its own, with [`open_with`](crate::open::open_with):
//!
//! ```
//! use futures_util::future::BoxFuture;
//! use mcpaql_core::adapter::TargetConfig;
//! use mcpaql_runtime::prelude::*;
//! use mcpaql_runtime::target::{Target, TargetCall, TargetKind};
//! use serde_json::json;
//! use std::sync::Arc;
//!
//! #[derive(Debug)]
//! struct Echo;
//!
//! impl Target for Echo {
//!     fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
//!         Box::pin(async move { Ok(Answer::new(json!({"operation": call.operation.name, "args": call.args}))) })
//!     }
//! }
//!
//! /// Opens targets of documents with the name `echo`.
//! const ECHO: TargetKind = TargetKind {
//!     name: "echo",
//!     open: |request| match request.target {
//!         TargetConfig::Code(_) if request.catalog.adapter.name == "echo" => {
//!             Some(Box::pin(async { Ok(Arc::new(Echo) as Arc<dyn Target>) }))
//!         }
//!         _ => None,
//!     },
//! };
//! # let _ = ECHO;
//! ```

#[cfg(feature = "http")]
pub(crate) mod auth;
mod closed;
pub mod code;
pub mod command;
#[cfg(feature = "http")]
pub mod http;
mod kind;
pub mod mcp;
mod missing_feature;
mod named;
pub(crate) mod preview;
mod program;
#[cfg(feature = "store")]
pub mod store;
mod upstream_text;

pub use closed::ClosedTarget;
pub use kind::{NoDataFolder, OpenError, OpenFuture, OpenRequest, TARGET_KINDS, TargetKind, open};
pub use missing_feature::MissingFeature;
pub use named::NamedTargets;

use crate::caller::Caller;
use crate::gate::Pass;
use crate::protocol::{Feature, Features, RpcError};
use futures_util::future::BoxFuture;
use mcp::Upstream;
use mcpaql_core::adapter::ResultForm;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::{Map, Value};
use std::fmt;

/// The arguments of one call, by parameter name.
pub type Args = Map<String, Value>;

/// A target of calls.
pub trait Target: fmt::Debug + Send + Sync + 'static {
    /// Runs a validated call. Dropping the future stops the work.
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>>;

    /// Describes what a validated call would send, without sending it and without credentials. By default, that is its
    /// arguments. Sensitive parameters must not be shown.
    fn preview<'a>(
        &'a self,
        operation: &'a Operation,
        args: &'a Args,
    ) -> BoxFuture<'a, Result<Value, OpError>> {
        Box::pin(std::future::ready(Ok(preview::arguments(operation, args))))
    }

    /// The MCP features besides tools: prompts, resources, logging.
    fn features(&self) -> Features {
        Features::default()
    }

    /// Answers a request for prompts or resources with the protocol's result; a list has all its entries.
    fn request<'a>(&'a self, request: FeatureRequest<'a>) -> BoxFuture<'a, Result<Value, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::method_not_found(request.feature))))
    }

    /// The MCP servers that the calls go to.
    fn upstreams(&self) -> Vec<&Upstream> {
        Vec::new()
    }

    /// Returns whether questions of the target are passed on to clients of revisions without a handshake, which answer
    /// with their next request.
    fn passes_input(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Returns whether calls go to another program or machine that may be down. Then calls are not sent for a while after several
    /// failures in a row.
    fn can_be_down(&self) -> bool {
        false
    }

    /// Returns whether the target could be opened.
    fn is_open(&self) -> bool {
        true
    }
}

/// A validated call that passed the gate.
#[derive(Debug)]
pub struct TargetCall<'a> {
    /// The operation to run.
    pub operation: &'a Operation,
    /// Its arguments, validated and completed with defaults.
    pub args: &'a Args,
    /// The client that calls.
    pub caller: &'a Caller,
    /// What the caller gets. For plain results, the result of an MCP server is kept unchanged.
    pub results: ResultForm,
    /// The caller's query needs the whole list. A target that pages through its items itself returns as many as it can.
    pub whole_list: bool,
    /// The address of the page to return, which an earlier page of the same list named.
    pub next_page: Option<&'a str>,
    #[expect(dead_code, reason = "proves that the call passed the gate")]
    pass: Pass,
}

impl<'a> TargetCall<'a> {
    /// Creates the call with the gate's pass.
    #[must_use]
    pub const fn new(
        pass: Pass,
        operation: &'a Operation,
        args: &'a Args,
        caller: &'a Caller,
    ) -> TargetCall<'a> {
        TargetCall {
            operation,
            args,
            caller,
            results: ResultForm::Envelope,
            whole_list: false,
            next_page: None,
            pass,
        }
    }
}

/// A request for prompts or resources that passed the gate.
#[derive(Debug)]
pub struct FeatureRequest<'a> {
    /// The requested feature.
    pub feature: Feature,
    /// The parameters as the client sent them.
    pub params: Map<String, Value>,
    /// The client that asks.
    pub caller: &'a Caller,
    #[expect(dead_code, reason = "proves that the request passed the gate")]
    pass: Pass,
}

impl<'a> FeatureRequest<'a> {
    /// Creates the request with the gate's pass.
    #[must_use]
    pub const fn new(
        pass: Pass,
        feature: Feature,
        params: Map<String, Value>,
        caller: &'a Caller,
    ) -> FeatureRequest<'a> {
        FeatureRequest { feature, params, caller, pass }
    }
}
