//! The http target.

use super::Args;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::Value;

/// The http target.
#[derive(Debug)]
pub struct HttpClient;

impl HttpClient {
    /// Runs one call.
    ///
    /// # Errors
    /// What went wrong.
    pub async fn call(&self, _operation: &Operation, _args: &Args) -> Result<Answer, OpError> {
        Ok(Answer::new(Value::Null))
    }
}
