//! The command target.

use super::Args;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::Value;

/// The command target.
#[derive(Debug)]
pub struct Runner;

impl Runner {
    /// Runs one call.
    ///
    /// # Errors
    /// What went wrong.
    pub async fn call(&self, _operation: &Operation, _args: &Args) -> Result<Answer, OpError> {
        Ok(Answer::new(Value::Null))
    }
}
