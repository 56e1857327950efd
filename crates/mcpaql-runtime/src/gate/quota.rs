//! Quotas that pause: the user decides whether to continue, with a token that the agent sends back.
//!
//! What always holds: a decision to continue is valid for its caller and its quota, until the quota's window is over. It never lifts the quota's end.

use super::confirm::TOKEN_LIFE;
use super::judge::refusal;
use super::{AdapterGate, GateRequest};
use crate::operator::ConfirmationScope;
use mcpaql_core::error::OpError;
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::gate::config::Quota;
use mcpaql_core::gate::decision::{Decision, Needs, SuccessKey};
use mcpaql_core::gate::token::{GateToken, QUOTA_PREFIX};

impl AdapterGate {
    /// Returns whether the user wants to continue although a quota pauses, or the error with the token for it.
    pub(super) async fn continue_quota(
        &self,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        quota: &Quota,
        decision: &Decision,
    ) -> Result<(), OpError> {
        if self.is_continued(call, quota).await {
            return Ok(());
        }
        let lost = |error| self.undecidable(call).with_cause(error);
        let key = continued_key(call, quota);
        let scope = ConfirmationScope {
            adapter: key.adapter,
            operation: key.operation,
            call_hash: quota.name.clone(),
            caller: key.caller,
        };
        if let Some(token) = request.confirmation.filter(|token| token.starts_with(QUOTA_PREFIX)) {
            self.redeem(call, &scope, token).await?;
            let state = self.gate.state();
            return state.record_success(&scope.adapter, &scope.operation, &scope.caller).await.map_err(lost);
        }
        let asked = (scope, decision.danger, TOKEN_LIFE);
        Err(self.offer_token(call, GateToken::quota, asked, refusal(call, decision)).await)
    }

    /// Whether the user has decided to continue within the window of the quota.
    pub(super) async fn is_continued(&self, call: &GatedCall<'_>, quota: &Quota) -> bool {
        let key = continued_key(call, quota);
        let needs = Needs { counters: Vec::new(), successes: vec![key.clone()] };
        self.gate.state().with_history(&needs, |history| (history.succeeded(&key) == Some(true), false)).await
    }
}

/// The decision to continue is stored like the success of an operation that no adapter has.
fn continued_key(call: &GatedCall<'_>, quota: &Quota) -> SuccessKey {
    SuccessKey {
        adapter: String::new(),
        operation: format!("quota {}", quota.name),
        caller: call.caller.to_owned(),
        within_seconds: quota.window_seconds,
    }
}
