//! Operations that are functions of this program.
//!
//! A function receives arguments that are already validated and completed with defaults; dropping its future cancels it.

use super::{Args, Target, TargetCall, TargetKind};
use crate::caller::Caller;
use futures_util::future::BoxFuture;
use mcpaql_core::adapter;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::Answer;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A function that answers one operation.
pub type Function = Arc<dyn Fn(Args, Caller) -> BoxFuture<'static, Result<Answer, OpError>> + Send + Sync>;

/// The functions of an adapter, by the names of their operations.
#[derive(Clone, Default)]
pub struct Functions(HashMap<String, Function>);

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Functions {
    /// Sets the function of an operation. Replaces the previous function, if any.
    pub fn insert(&mut self, operation: impl Into<String>, function: Function) {
        self.0.insert(operation.into(), function);
    }
}

impl Target for Functions {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        match self.0.get(&call.operation.name) {
            Some(function) => function(call.args.clone(), call.caller.clone()),
            None => {
                let name = &call.operation.name;
                let message = format!("This program has no function for '{name}'; tell the user.");
                Box::pin(std::future::ready(Err(OpError::new(Code::Internal, message))))
            }
        }
    }
}

/// The error for an adapter whose operations are functions of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its operations are functions of another program, which must serve it")]
pub struct NotEmbedded;

/// The kind of code targets. Opening one from a document fails, because its functions are in another program.
pub(super) const TARGET_KIND: TargetKind = TargetKind {
    name: "code",
    open: |request| match request.target {
        adapter::TargetConfig::Code(_) => {
            let error = request.error(NotEmbedded, "its operations are functions of another program");
            Some(Box::pin(std::future::ready(Err(error))))
        }
        _ => None,
    },
};
