//! A target that could not be opened. Every call fails with the reason.

use super::{Args, OpenError, Target, TargetCall};
use futures_util::future::BoxFuture;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::Value;

/// A target that could not be opened.
#[derive(Debug, Clone)]
pub struct ClosedTarget {
    adapter: String,
    reason: String,
    cause: String,
}

impl ClosedTarget {
    /// Returns the target of an adapter with this error.
    #[must_use]
    pub fn new(adapter: &str, error: &OpenError) -> ClosedTarget {
        ClosedTarget {
            adapter: adapter.to_owned(),
            reason: error.user_message().to_owned(),
            cause: error.to_string(),
        }
    }

    fn refusal(&self) -> OpError {
        let ClosedTarget { adapter, reason, cause } = self;
        let message = format!(
            "The adapter '{adapter}' is not available: {reason}. Tell the user; the operator must fix it. The server retries automatically."
        );
        OpError::new(Code::Internal, message).with_cause(cause)
    }
}

impl Target for ClosedTarget {
    fn perform<'a>(&'a self, _: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(std::future::ready(Err(self.refusal())))
    }

    fn preview<'a>(&'a self, _: &'a Operation, _: &'a Args) -> BoxFuture<'a, Result<Value, OpError>> {
        Box::pin(std::future::ready(Err(self.refusal())))
    }

    fn is_open(&self) -> bool {
        false
    }
}
