//! Keeps calls from a target that has failed too often in a row.

use super::Dispatcher;
use crate::limits::BreakerPass;
use crate::target::TargetCall;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::ParamLocation;
use serde_json::Value;

impl Dispatcher {
    /// Asks the circuit breaker of the target. A target in this process has none.
    ///
    /// # Errors
    /// When the target is left alone.
    pub(super) fn enter_breaker(&self, call: &TargetCall<'_>) -> Result<Option<BreakerPass>, OpError> {
        if !self.target.can_be_down() {
            return Ok(None);
        }
        let selector = call.operation.params.iter().find(|param| param.location == ParamLocation::Target);
        let named = selector.and_then(|param| call.args.get(&param.name)).and_then(Value::as_str);
        let breaker = self.breakers.of(named.unwrap_or_default());
        breaker.enter(&call.operation.name, &call.caller.share()).map(Some)
    }
}
