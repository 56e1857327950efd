//! Where calls go: one folder for each kind of target, behind one trait, and one table that lists them.
//!
//! A target receives an operation whose arguments are already validated and completed with defaults, and answers with data
//! or an `OpError`. Dropping the future of a call stops its work: that is how cancellation reaches every target. Only the
//! dispatch path calls a target: a [`TargetCall`] needs a [`Pass`], which only the gate makes.
//!
//! A new kind is a folder with a [`TargetKind`], and a row in [`TARGET_KINDS`].

pub(crate) mod auth;
mod closed;
pub mod code;
pub mod command;
pub mod http;
mod kind;
pub mod mcp;
mod named;
mod program;
pub mod store;

pub use closed::ClosedTarget;
pub use kind::{NoDataFolder, OpenError, OpenFuture, OpenRequest, TARGET_KINDS, TargetKind, open};
pub use named::NamedTargets;

use crate::caller::Caller;
use crate::gate::Pass;
use crate::protocol::{Feature, Features, RpcError};
use futures_util::future::BoxFuture;
use mcp::Upstream;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::{Map, Value};
use std::fmt;

/// The arguments of one call, by parameter name.
pub type Args = Map<String, Value>;

/// Where the calls of an adapter go.
pub trait Target: fmt::Debug + Send + Sync + 'static {
    /// Runs one validated call. Dropping the future stops the work.
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>>;

    /// What it has besides operations.
    fn features(&self) -> Features {
        Features::default()
    }

    /// Answers a request for something besides operations, as the protocol has it; a list with all its entries.
    fn request<'a>(&'a self, request: FeatureRequest<'a>) -> BoxFuture<'a, Result<Value, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::method_not_found(request.feature))))
    }

    /// The MCP servers that calls are passed on to.
    fn upstreams(&self) -> Vec<&Upstream> {
        Vec::new()
    }

    /// Whether it could be opened.
    fn is_open(&self) -> bool {
        true
    }
}

/// One validated call that the gate let through.
#[derive(Debug)]
pub struct TargetCall<'a> {
    /// What to do.
    pub operation: &'a Operation,
    /// With which arguments: validated, and completed with defaults.
    pub args: &'a Args,
    /// For whom.
    pub caller: &'a Caller,
    #[expect(dead_code, reason = "the proof that the gate was asked")]
    pass: Pass,
}

impl<'a> TargetCall<'a> {
    /// The call that the gate let through.
    #[must_use]
    pub const fn new(
        pass: Pass,
        operation: &'a Operation,
        args: &'a Args,
        caller: &'a Caller,
    ) -> TargetCall<'a> {
        TargetCall { operation, args, caller, pass }
    }
}

/// A request for a prompt, a resource or a list of them that the gate let through.
#[derive(Debug)]
pub struct FeatureRequest<'a> {
    /// What is asked for.
    pub feature: Feature,
    /// The parameters as the client sent them.
    pub params: Map<String, Value>,
    /// For whom.
    pub caller: &'a Caller,
    #[expect(dead_code, reason = "the proof that the gate was asked")]
    pass: Pass,
}

impl<'a> FeatureRequest<'a> {
    /// The request that the gate let through.
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
