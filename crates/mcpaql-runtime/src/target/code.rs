//! Operations that are functions of this program.
//!
//! A function receives arguments that are already validated and completed with defaults; dropping its future cancels it.

use super::Args;
use crate::caller::Caller;
use futures_util::future::BoxFuture;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// What answers one operation.
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
    /// The function of an operation, in place of the one there was.
    pub fn insert(&mut self, operation: impl Into<String>, function: Function) {
        self.0.insert(operation.into(), function);
    }

    pub(crate) async fn call(
        &self,
        operation: &Operation,
        args: &Args,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let Some(function) = self.0.get(&operation.name) else {
            let message = format!("Nothing answers '{}' in this program; tell the user.", operation.name);
            return Err(OpError::new(Code::Internal, message));
        };
        function(args.clone(), caller.clone()).await
    }
}
