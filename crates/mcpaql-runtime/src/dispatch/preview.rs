//! Dry runs: what a call would send, and the gate's decision about it.
//!
//! What always holds: nothing is sent, no credentials are read, and the answer contains no secret. The gate issues no token.

use super::hide::hide;
use super::{Dispatcher, GateDecision};
use crate::target::{Args, preview};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_core::response::Answer;
use serde_json::{Value, json};

impl Dispatcher {
    /// Answers a dry run.
    pub(super) async fn preview(
        &self,
        operation: &Operation,
        args: &Args,
        decision: GateDecision,
    ) -> Result<Answer, OpError> {
        let refusal = match decision {
            // The pass is dropped unused, and a dry run has no record.
            GateDecision::Allow(_) => None,
            GateDecision::Refuse(error) => Some(error),
        };
        let decision = match &refusal {
            None => "allow",
            Some(error) if error.code == Code::ConfirmationRequired => "confirm",
            Some(error) => {
                // The request may say something about data that the caller may not see.
                return Ok(Answer::new(json!({"dry_run": true, "decision": "deny", "reason": error.message})));
            }
        };
        let request = match self.handlers.get(&operation.name) {
            // Only the handler knows what it sends.
            Some(_) => preview::arguments(operation, args),
            None => self.target.preview(operation, args).await?,
        };
        let answer = Answer::new(Value::from_iter([
            ("dry_run", json!(true)),
            ("request", request),
            ("decision", json!(decision)),
        ]));
        // The preview of a store has the stored record.
        hide(Ok(answer), &self.catalog.hidden_fields(operation))
    }
}
